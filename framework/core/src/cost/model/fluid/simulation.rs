//! The simulation of the model `fluid`: the ranks, and the times at which they post messages.
//!
//! # Events
//!
//! A message starts when both ranks have posted it: its sender after a start-up, and its receiver
//! by entering the step. All events are ordered by one clock. Simultaneous events are processed in
//! this order:
//!
//! 1. A start-up ends: the rank posts its send, and the next start-up begins. A late rank enters.
//! 2. A reduction ends: the rank enters the next step.
//! 3. The latency of a message ends, or its last byte arrives ([`MessagesInFlight`]).
//! 4. With `order=data`: ranks with such events begin their reductions and their next sends.
//! 5. If the set of messages that share links has changed, their rates are computed again.
//! 6. The clock advances to the next event.
//!
//! The result does not depend on the order of simultaneous events of the same kind. If several of
//! them together let a rank or a message continue, its critical path is the largest of the paths of
//! these events, compared part by part, in the order of [`Kind`].
//!
//! # Data order
//!
//! With `order=data`, a rank sends its messages one after another, each as soon as its data and a
//! port are available. Events only record what they make available, and *touch* their ranks. The
//! touched ranks continue when all simultaneous events have been processed. So a rank reduces all
//! data that arrives at the same time together, in any order of the arrivals.
//!
//! # Folding
//!
//! If the schedule is symmetric, only one rank of each orbit is simulated ([`super::fold`]). An
//! orbit is a set of nodes that the symmetries map to each other, and ranks have the numbers of
//! their orbits. If a step has fewer symmetries than the steps before it, the orbits are split
//! first.

use super::fold::{Fold, Symmetry, sum};
use super::in_flight::{InFlight, MessagesInFlight, NewMessage};
use super::{Fluid, Grouped, KIND};
use crate::cost::kind::{Kind, Times};
use crate::cost::model::asynchronous::Noise;
use crate::cost::model::asynchronous::data_order::Next;
use crate::cost::model::asynchronous::repetition::State;
use crate::cost::model::asynchronous::{Order, Refinement, StepMessage};
use crate::cost::model::asynchronous::{Progress, RankModel};
use crate::cost::model::clock::Clock;
use crate::cost::model::ticks::Timers;
use crate::cost::model::ticks::{LAST, NEVER, Ticks, mean_us, ticks, too_long, us};
use crate::cost::model::time_space::{RankClock, TimeLine, TimeSpace};
use crate::cost::model::{PricingContext, RankTimes};
use crate::cost::parameter::PortLimit;
use crate::simulation::listener::Summed;
use crate::simulation::step::Step;
use std::sync::Arc;

/// Steps with at most this number of messages have no windows of time ([`super::shares`]).
const MOST_EXACT: usize = 10_000;
/// Steps with at most this number of messages per rank have no windows, either. If ranks have few
/// messages, an arrival often lets a rank start more messages, which ends a window.
const MOST_EXACT_PER_RANK: usize = 8;
/// A large step of n messages on a network that is folded by t translations remains folded if n / t
/// is at most this number. Otherwise it is unfolded, and has windows. The time to compute exact
/// shares grows with n^2, that of windows without folding with n t. In measurements, they were
/// equal at about this quotient.
const MOST_FOLDED: usize = 2_000;

#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    sending: u32,
    is_starting: bool,
    is_touched: bool,
    clock: RankClock<Ticks>,
    /// The time at which the rank entered its step. With `order=data`, the time at which a late
    /// rank entered the schedule.
    entered: Clock<Ticks>,
    /// The time at which the rank last posted sends. `first_posted` is the first of these sends.
    posted: Ticks,
    first_posted: usize,
    ended: Clock<Ticks>,
}

impl Rank {
    fn reach(&mut self, event: Clock<Ticks>) {
        self.ended = self.ended.max(event);
    }
}

#[derive(Debug, Clone, Copy)]
struct HeldMessage {
    from: usize,
    to: usize,
    step: u64,
    index: u32,
    posted: Clock<Ticks>,
}

#[derive(Clone)]
pub(super) struct Simulation {
    pub machine: Fluid,
    progress: Progress,
    ranks: Vec<Rank>,
    in_flight: MessagesInFlight,
    symmetry: Symmetry,
    now: Ticks,
    /// For each rank, the end of its start-up or the entry of a late rank. After these, the
    /// barrier's end.
    startups: Timers,
    starts: Vec<Ticks>,
    /// The time at which each rank enters its job's schedule. Empty if all ranks enter at time 0.
    late: Vec<Ticks>,
    held: Vec<HeldMessage>,
    touched: Vec<usize>,
    reductions: Timers,
    reduction_clocks: Vec<RankClock<Ticks>>,
    barrier: Option<Ticks>,
    at_barrier: usize,
    recorded_node: Option<usize>,
    most_exact: usize,
    most_folded: usize,
    pub makes_copy: bool,
    pub copy: Option<Box<Self>>,
}

impl Simulation {
    pub(super) fn new(machine: Fluid, context: PricingContext<'_>) -> Self {
        let topology = context.topology;
        let barrier_us = machine.barrier_us.us(topology.nodes());
        let mut in_flight = MessagesInFlight::new(&machine, context);
        match (machine.background.is_some(), context.background) {
            (true, Some(background)) => {
                in_flight.start_background(background, context.starts.len().max(1) as u64);
            }
            (true, None) => {
                in_flight.refused = Some("the file of `background` has not been read".to_owned());
            }
            (false, _) => {}
        }
        let limits_ports = machine.order == Order::Data && machine.ports != PortLimit::All;
        if limits_ports && topology.shares_nodes() {
            in_flight.refused = Some("with `order=data` the model `fluid` counts the ports of ranks, not of nodes that several share: it needs ports=all or order=step".to_owned());
        }
        let ranks = in_flight.fold.orbits();
        let starts: Vec<Ticks> = match context.starts {
            [] => vec![0],
            starts => starts.iter().map(|us| ticks(*us)).collect(),
        };
        assert!(starts.len() == 1 || in_flight.fold.is_plain(), "the ranks of jobs share nodes");
        let of_job = ranks / starts.len();
        let has_late = !machine.late.is_none() || starts.iter().any(|start| *start > 0);
        let mut late: Vec<Ticks> = match has_late {
            true => starts.iter().flat_map(|start| vec![*start; of_job]).collect(),
            false => Vec::new(),
        };
        match machine.late.ranks(topology.nodes() / starts.len() as u64, context.seed) {
            Ok(listed) => listed.into_iter().for_each(|(rank, us)| {
                late.iter_mut().skip(rank).step_by(of_job).for_each(|at| *at += ticks(us));
            }),
            Err(why) => in_flight.refused = Some(why),
        }
        let noise = Noise::new(machine.noise, context.seed);
        let (order, max_events) = (machine.order, machine.most_events);
        Self {
            barrier: (order == Order::Barrier || barrier_us > 0.0).then_some(ticks(barrier_us)),
            progress: Progress::new(ranks, order, context.unit_bytes, noise, max_events),
            ranks: vec![Rank::default(); ranks],
            symmetry: Symmetry::new(machine.has_startups()),
            in_flight,
            now: 0,
            startups: Timers::new(ranks + 1),
            starts,
            late,
            held: Vec::new(),
            touched: Vec::new(),
            reductions: Timers::new(ranks),
            reduction_clocks: Vec::new(),
            at_barrier: 0,
            recorded_node: None,
            most_exact: MOST_EXACT.max(MOST_EXACT_PER_RANK * topology.nodes() as usize),
            most_folded: MOST_FOLDED,
            makes_copy: true,
            copy: None,
            machine,
        }
    }

    #[cfg(test)]
    pub(super) fn with_windows_in_all_steps(self) -> Self {
        Self { most_exact: 0, most_folded: 0, ..self }
    }

    pub(super) fn clear(&mut self) {
        self.in_flight.clear();
    }

    fn begin_startup(&mut self, rank: usize, step: u64, index: u32) {
        let known = self.progress.steps.current(step);
        let message = &known.sends(rank)[index as usize];
        let StepMessage { from, to, .. } = *message;
        let us = match self.machine.grouped {
            Grouped::Yes if index > 0 => 0.0,
            _ => {
                self.machine.startup_us + self.machine.protocols().startup_us(known.bytes(message))
            }
        };
        let startup = ticks(us * self.progress.noise.factor(step, from, to));
        self.startups.set(rank, self.now + startup);
    }

    fn end_startup(&mut self, rank: usize) {
        let line = &mut TimeLine::of(&mut self.progress.record, rank);
        let clock = &mut self.ranks[rank].clock;
        clock.spend(Kind::Startup, self.now - clock.at(), line);
        line.sent();
        if self.progress.data_order.is_some() {
            self.post_by_data(rank);
            self.touch(rank, *self.ranks[rank].clock);
        } else {
            self.post(rank);
        }
    }

    fn post(&mut self, rank: usize) {
        let position = &mut self.progress.ranks[rank];
        let (number, index) = (position.step, position.sent);
        position.sent += 1;
        let r = &mut self.ranks[rank];
        if r.posted != self.now {
            (r.posted, r.first_posted) = (self.now, index);
        }
        let sends = self.progress.steps.current(number).sends(rank);
        let to = sends[index].to as usize;
        let receiver = self.progress.ranks[to];
        let has_next_startup = self.machine.has_startups() && index + 1 < sends.len();
        if receiver.step == number && receiver.pending > 0 {
            let start = self.ranks[rank].clock.max(self.ranks[to].entered);
            self.start_message(rank, number, index as u32, start);
        }
        if has_next_startup {
            self.begin_startup(rank, number, index as u32 + 1);
        }
    }

    fn start_message(&mut self, from: usize, number: u64, index: u32, start: Clock<Ticks>) {
        assert_eq!(start.at(), self.now, "a message starts when it is posted");
        let step = self.progress.steps.current(number);
        let message = step.sends(from)[index as usize];
        let noise = self.progress.noise.factor(number, message.from, message.to);
        let bytes = step.bytes(&message) * noise;
        let route = step.route(&message);
        let StepMessage { from, to, .. } = message;
        let (target, source) = (step.target(from as usize, index), Some((number, index)));
        let message = NewMessage { from, to, target, source, bytes, noise };
        self.in_flight.start(message, route, start);
    }

    fn arrive(&mut self, message: &InFlight, arrival: Clock<Ticks>) {
        let ends = [message.from, message.to].map(|rank| rank as usize);
        let by_data = self.progress.data_order.is_some();
        if let (true, Some((step, _))) = (by_data, message.source()) {
            self.arrive_by_data(ends, step, message, arrival);
            return;
        }
        for rank in ends {
            self.ranks[rank].reach(arrival);
            if self.progress.ranks[rank].pending == 1 {
                self.end_wait(rank, message, self.ranks[rank].ended);
            }
            self.complete(rank);
        }
    }

    fn end_wait(&mut self, rank: usize, message: &InFlight, end: Clock<Ticks>) {
        let phases = self.progress.record.is_some().then(|| self.phases_of_wait(rank, message));
        let line = &mut TimeLine::of(&mut self.progress.record, rank);
        let phases = phases.into_iter().flatten();
        self.ranks[rank].clock.follow(end, phases, Kind::Contention, line);
    }

    fn begin_reduction(&mut self, rank: usize, bytes: f64, start: Clock<Ticks>) -> bool {
        assert_eq!(start.at(), self.now, "a reduction begins when its data has arrived");
        let duration = ticks(bytes * self.machine.reduce_byte_us);
        if duration > 0 {
            self.reduction_clocks.resize(self.ranks.len(), RankClock::default());
            self.reduction_clocks[rank] = RankClock::beginning(start);
            self.reductions.set(rank, self.now + duration);
        }
        duration > 0
    }

    fn end_reduction(&mut self, rank: usize) {
        let line = &mut TimeLine::of(&mut self.progress.record, rank);
        let clock = &mut self.reduction_clocks[rank];
        clock.spend(Kind::Reduction, self.now - clock.at(), line);
        let clock = *clock;
        if let Some(order) = &mut self.progress.data_order {
            order.end_reduction(rank);
            self.touch(rank, *clock);
            return;
        }
        self.ranks[rank].clock = clock;
        if self.reach_barrier(rank) {
            self.next_step(rank);
        }
    }

    fn share(&mut self) {
        // On a folded network, orbits could not be split while their messages are in windows.
        let is_large =
            self.in_flight.fold.is_plain() && self.progress.steps.has_larger_than(self.most_exact);
        let fraction = if is_large { self.machine.flow_window } else { 0.0 };
        if self.in_flight.shares.begins_windows(fraction) {
            self.in_flight.begin_windows(self.now);
            // The copy is made now, because no message is attached to links yet. The lists of
            // messages on links take much memory.
            if std::mem::take(&mut self.makes_copy) {
                let mut copy = self.clone();
                copy.machine.flow_window *= 2.0;
                copy.progress.record = None;
                self.copy = Some(Box::new(copy));
            }
        }
        let Progress { steps, events, .. } = &mut self.progress;
        self.in_flight.share(fraction, self.now, steps, events.remaining());
    }

    fn reach_barrier(&mut self, rank: usize) -> bool {
        let r = &mut self.ranks[rank];
        assert_eq!(r.clock.at(), self.now, "a rank reaches the barrier at its own time");
        r.reach(*r.clock);
        if self.barrier.is_none() {
            return true;
        }
        self.at_barrier += 1;
        if self.at_barrier == self.ranks.len() {
            self.progress.steps.set_all_waiting(true);
        }
        false
    }

    fn begin_barrier(&mut self) {
        if let Some(barrier) = self.barrier.filter(|_| self.at_barrier == self.ranks.len()) {
            self.startups.set(self.ranks.len(), self.now + barrier);
            self.progress.steps.set_all_waiting(false);
        }
    }

    fn pass_barrier(&mut self) {
        self.at_barrier = 0;
        let Some(barrier) = self.barrier else { unreachable!("there is no barrier between steps") };
        let last = self.last_end();
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            let line = &mut TimeLine::of(&mut self.progress.record, rank);
            r.clock.follow(last, [], Kind::Peer, line);
            r.clock.spend(Kind::Barrier, barrier, line);
            r.reach(*r.clock);
            self.progress.leave_step(rank);
        }
        (0..self.ranks.len()).for_each(|rank| self.enter_step(rank));
    }

    fn last_end(&self) -> Clock<Ticks> {
        self.ranks.iter().map(|rank| rank.ended).max().unwrap_or_default()
    }
}

impl Simulation {
    fn touch(&mut self, rank: usize, event: Clock<Ticks>) {
        let r = &mut self.ranks[rank];
        r.reach(event);
        if !std::mem::replace(&mut r.is_touched, true) {
            self.touched.push(rank);
        }
    }

    fn continue_touched(&mut self) {
        for rank in std::mem::take(&mut self.touched) {
            self.ranks[rank].is_touched = false;
            self.reduce_arrived(rank);
            self.send_by_data(rank);
        }
    }

    fn post_by_data(&mut self, rank: usize) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else {
            unreachable!("only order=data sends by data");
        };
        let Next::Send(step, index) = order.next(rank, steps) else {
            unreachable!("rank {rank} has begun a send whose data is not available");
        };
        order.sent(rank);
        let to = steps.current(step).sends(rank)[index as usize].to as usize;
        let r = &mut self.ranks[rank];
        (r.is_starting, r.sending) = (false, r.sending + 1);
        let posted = *r.clock;
        if self.is_late(to) {
            self.held.push(HeldMessage { from: rank, to, step, index, posted });
        } else {
            self.start_message(rank, step, index, posted.max(self.ranks[to].entered));
        }
    }

    fn send_by_data(&mut self, rank: usize) {
        while !self.ranks[rank].is_starting
            && let Some((step, index)) = self.progress.next_send(rank)
        {
            let r = &mut self.ranks[rank];
            if u64::from(r.sending) >= self.machine.ports.count() {
                return;
            }
            (r.is_starting, r.clock) = (true, RankClock::beginning(r.ended));
            if self.machine.has_startups() {
                self.begin_startup(rank, step, index);
            } else {
                self.post_by_data(rank);
            }
        }
    }

    fn arrive_by_data(
        &mut self,
        [from, to]: [usize; 2],
        step: u64,
        message: &InFlight,
        arrival: Clock<Ticks>,
    ) {
        for rank in [from, to] {
            if !self.ranks[rank].is_starting {
                self.end_wait(rank, message, arrival);
            }
        }
        self.progress.steps.received(step, to);
        self.ranks[from].sending -= 1;
        self.touch(from, arrival);
        self.touch(to, arrival);
    }

    fn reduce_arrived(&mut self, rank: usize) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else {
            unreachable!("only order=data reduces at arrivals");
        };
        let bytes = order.begin_reduction(rank, steps);
        if bytes > 0.0
            && !self.begin_reduction(rank, bytes, self.ranks[rank].ended)
            && let Some(order) = &mut self.progress.data_order
        {
            order.end_reduction(rank);
        }
    }

    fn is_late(&self, rank: usize) -> bool {
        self.late.get(rank).is_some_and(|at| *at > 0)
    }

    fn enter_late(&mut self, rank: usize) {
        self.late[rank] = 0;
        let r = &mut self.ranks[rank];
        r.clock.wait_until(
            self.now,
            Kind::Peer,
            &mut TimeLine::of(&mut self.progress.record, rank),
        );
        let entered = *r.clock;
        r.entered = entered;
        if self.progress.data_order.is_none() {
            r.reach(entered);
            return self.enter_step(rank);
        }
        self.touch(rank, entered);
        let held: Vec<HeldMessage> = self.held.extract_if(.., |held| held.to == rank).collect();
        for HeldMessage { from, step, index, posted, .. } in held {
            self.start_message(from, step, index, entered.max(posted));
        }
    }
}

impl Simulation {
    fn add_folded_step(&mut self, step: &Step<'_>) {
        if self.in_flight.fold.is_plain() && step.symmetry.is_none() {
            return self.progress.steps.add(step);
        }
        if self.progress.steps.known() == 0 {
            self.choose_group(step);
        }
        let periods = self.symmetry.periods(&self.in_flight.fold, step);
        self.set_periods(periods);
        let mut sends = self.symmetry.sends(&self.in_flight.fold, step);
        if self.needs_windows(sends.transfers.len()) {
            self.set_periods(self.in_flight.fold.sides().to_vec());
            sends = self.symmetry.sends(&self.in_flight.fold, step);
        }
        let routes = sends.routes.as_deref().unwrap_or(step.routes);
        let folded = Step { transfers: &sends.transfers, routes, ..*step };
        self.progress.steps.add_folded(&folded, sends.targets);
    }

    /// Folds the network by exclusive-ors instead of translations, if this leaves fewer orbits in
    /// the first step, or equally many and ranks exchange messages in pairs.
    fn choose_group(&mut self, first: &Step<'_>) {
        let translations = &self.in_flight.fold;
        let Some(other) = self.in_flight.by_exclusive_or() else { return };
        let mut symmetry = Symmetry::new(self.machine.has_startups());
        let orbits = |periods: Vec<u32>| periods.iter().product::<u32>();
        let of_other = orbits(symmetry.periods(&other, first));
        let now = orbits(self.symmetry.periods(translations, first));
        let is_better = of_other < now || of_other == now && !first.facts.one_directional;
        if is_better && other.orbits() == translations.orbits() {
            self.in_flight.unfold(Arc::new(other), &self.progress.steps, self.now);
            self.symmetry = symmetry;
        }
    }

    /// Adds the loads that nodes reduce. First splits orbits whose nodes reduce different loads.
    fn add_folded_sums(&mut self, summed: Summed<'_>) {
        if self.in_flight.fold.is_plain() && summed.symmetry.is_none() {
            return self.progress.steps.sum(summed);
        }
        let periods = self.symmetry.summation_periods(&self.in_flight.fold, summed);
        self.set_periods(periods);
        let fold = &self.in_flight.fold;
        let of: Vec<u64> =
            (0..fold.orbits() as u32).map(|orbit| sum(summed, fold.first(orbit))).collect();
        self.progress.steps.sum(Summed { of: &of, ..summed });
    }

    /// Returns whether a step of `messages` folded messages is faster with windows on the unfolded
    /// network.
    fn needs_windows(&self, messages: usize) -> bool {
        let fold = &self.in_flight.fold;
        let translations = fold.nodes() as usize / fold.orbits();
        self.machine.flow_window > 0.0
            && messages * translations > self.most_exact
            && messages > self.most_folded * translations
    }

    /// Splits orbits if `periods` are new. The events of the known steps are processed before the
    /// split, because this is faster with larger orbits.
    fn set_periods(&mut self, periods: Vec<u32>) {
        if periods != self.in_flight.fold.periods() {
            self.run(false);
            self.unfold(self.in_flight.folded(periods));
        }
    }

    /// Splits orbits. Each new rank copies the state of the old rank whose orbit contains the new
    /// orbit.
    fn unfold(&mut self, fold: Fold) {
        let before = Arc::clone(&self.in_flight.fold);
        if fold.orbits() == before.orbits() {
            return;
        }
        let fold = Arc::new(fold);
        self.in_flight.unfold(Arc::clone(&fold), &self.progress.steps, self.now);
        let firsts = (0..fold.orbits() as u32).map(|orbit| fold.first(orbit));
        let of: Vec<usize> = firsts.map(|node| before.orbit(node) as usize).collect();
        self.ranks = of.iter().map(|rank| self.ranks[*rank]).collect();
        self.progress.ranks = of.iter().map(|rank| self.progress.ranks[*rank]).collect();
        if !self.reduction_clocks.is_empty() {
            self.reduction_clocks = of.iter().map(|rank| self.reduction_clocks[*rank]).collect();
        }
        let only = self.recorded_orbit();
        if let Some(record) = &mut self.progress.record {
            record.remap(&of, only);
        }
        self.reductions = self.reductions.remap(&of);
        let with_barrier: Vec<usize> = of.iter().copied().chain([before.orbits()]).collect();
        self.startups = self.startups.remap(&with_barrier);
        self.at_barrier *= fold.orbits() / before.orbits();
        let ranks = &self.progress.ranks;
        self.progress.steps.refine(&Refinement {
            of: &of,
            moved: &|rank, target| {
                fold.moved(target, before.first(of[rank] as u32), fold.first(rank as u32))
            },
            rank: &|node| fold.orbit(node),
            inside: &|number| ranks.iter().filter(|rank| rank.step <= number).count(),
        });
    }

    #[cfg(test)]
    pub(super) fn unfolded(mut self) -> Self {
        self.unfold(self.in_flight.folded(self.in_flight.fold.sides().to_vec()));
        self
    }

    #[cfg(test)]
    pub(super) fn skipped_steps(&self) -> u64 {
        self.progress.repetition.skipped().steps
    }

    #[cfg(test)]
    pub(super) fn orbits(&self) -> usize {
        self.ranks.len()
    }
}

impl Simulation {
    fn recorded_orbit(&self) -> Option<usize> {
        self.recorded_node.map(|node| self.in_flight.fold.orbit(node as u32) as usize)
    }

    /// Divides a wait for a message that has arrived now into the phases of the message. Returns
    /// the end of each phase except the last one, which is contention.
    #[cold]
    fn phases_of_wait(&mut self, rank: usize, message: &InFlight) -> [(Kind, f64); 3] {
        let (now, arrived) = (us(self.now), message.started + message.latency);
        let has_no_known_send = self.progress.has_no_known_send(rank);
        let Some(record) = &mut self.progress.record else {
            unreachable!("a wait is divided only for a record");
        };
        // If the rank has no further send in the known steps, it is in the step of the message.
        if let (true, Some((step, _))) = (has_no_known_send, message.source()) {
            record.enter(rank, step);
        }
        let (started, propagated) = (us(message.started), us(arrived).min(now));
        // Transmission is the time without sharing. Contention is the time that sharing adds.
        let charged = record.charged_until(rank).max(started).max(propagated);
        let lasted = self.now - arrived;
        let is_longer = lasted > message.alone;
        let alone = if is_longer { message.alone as f64 / lasted as f64 } else { 1.0 };
        let transmitted = charged + (now - charged) * alone;
        [(Kind::Peer, started), (Kind::Propagation, propagated), (Kind::Transmission, transmitted)]
    }
}

impl RankModel for Simulation {
    const NAME: &'static str = KIND.name;

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn add_step(&mut self, step: &Step<'_>) {
        self.add_folded_step(step);
        self.begin_barrier();
    }

    fn add_sums(&mut self, summed: Summed<'_>) {
        self.add_folded_sums(summed);
    }

    fn state(&self) -> Option<State> {
        let mut state = State::new(self.now);
        if !self.progress.add_state(&mut state) {
            return None;
        }
        for (rank, r) in self.ranks.iter().enumerate() {
            state.add_path(*r.clock.path());
            state.add_path(*r.ended.path());
            state.add_time(r.ended.at());
            state.add_time(self.startups.get(rank));
            let reduction = self.reductions.get(rank);
            state.add_time(reduction);
            if reduction < NEVER {
                state.add_path(*self.reduction_clocks[rank].path());
            }
            state.add_number(u8::from(r.entered.at() == self.now));
            if r.entered.at() == self.now {
                state.add_path(*r.entered.path());
            }
            let first_posted = if r.posted == self.now { r.first_posted } else { usize::MAX };
            state.add_number(first_posted as u64);
        }
        state.add_time(self.startups.get(self.ranks.len()));
        state.add_number(self.at_barrier as u64);
        let known = self.progress.steps.known();
        self.in_flight.add_state(&mut state, known, self.now).then_some(state)
    }

    fn start_step(&mut self, rank: usize) {
        let number = self.progress.ranks[rank].step;
        let step = self.progress.steps.current(number);
        let (sends, receives) = (step.sends(rank).len(), step.receives(rank).len());
        let r = &mut self.ranks[rank];
        (r.entered, r.posted) = (*r.clock, NEVER);
        for receive in 0..receives {
            let step = self.progress.steps.current(number);
            let (index, &StepMessage { from, .. }) = step.receive(rank, receive);
            let sender = self.progress.ranks[from as usize];
            if sender.step == number && sender.pending > 0 && sender.sent > index as usize {
                let (clock, other) = (*self.ranks[rank].clock, self.ranks[from as usize]);
                let is_tie = other.posted == self.now && other.first_posted <= index as usize;
                let start = if is_tie { clock.max(*other.clock) } else { clock };
                self.start_message(from as usize, number, index, start);
            }
        }
        if sends > 0 && self.machine.has_startups() {
            self.begin_startup(rank, number, 0);
        } else {
            (0..sends).for_each(|_| self.post(rank));
        }
    }

    fn delays_entry(&mut self, rank: usize) -> bool {
        let is_late = self.is_late(rank);
        if is_late {
            self.startups.set(rank, self.late[rank]);
        }
        is_late
    }

    fn resume(&mut self, rank: usize) {
        self.send_by_data(rank);
    }

    fn finish_step(&mut self, rank: usize, _: bool) -> bool {
        let bytes = self.progress.steps.current(self.progress.ranks[rank].step).summed(rank);
        !self.begin_reduction(rank, bytes, *self.ranks[rank].clock) && self.reach_barrier(rank)
    }

    fn process_event(&mut self) -> bool {
        let now = self.now;
        self.progress.events.count();
        if let Some(rank) = self.startups.pop(now) {
            match rank {
                barrier if barrier == self.ranks.len() => self.pass_barrier(),
                late if self.is_late(late) => self.enter_late(late),
                _ => self.end_startup(rank),
            }
        } else if let Some(rank) = self.reductions.pop(now) {
            self.end_reduction(rank);
        } else if let Some(message) = self.in_flight.ends.pop(now) {
            let steps = &self.progress.steps;
            if let Some((message, arrival)) = self.in_flight.next_phase(message, now, steps) {
                self.arrive(&message, arrival);
            }
        } else if !self.touched.is_empty() {
            self.continue_touched();
        } else if self.in_flight.shares.is_disturbed(now) {
            self.share();
        } else {
            // At the end, no timer is set, all ranks wait for a step, and only background traffic
            // is left.
            let of_ranks = self.startups.earliest().min(self.reductions.earliest());
            let is_over = of_ranks == NEVER
                && self.progress.steps.all_ranks_wait()
                && self.in_flight.are_background();
            let next = self.in_flight.ends.earliest().min(of_ranks);
            let next = next.min(self.in_flight.shares.window_end());
            if is_over || next == NEVER {
                return false;
            }
            if next > LAST {
                self.in_flight.refused = Some(too_long(Self::NAME));
                return false;
            }
            assert!(next > now, "no event is left out");
            self.now = next;
        }
        true
    }

    fn refusal(&self) -> Option<&String> {
        self.in_flight.refused.as_ref()
    }

    fn now_us(&self) -> f64 {
        us(self.now.saturating_add(self.progress.repetition.skipped().time))
    }

    fn finish(&mut self) -> Result<Vec<(Times, Option<RankTimes>)>, String> {
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            // With `order=data`, a reduction begins when the next message arrives, so the last
            // reduction of each rank is pending.
            let Progress { data_order, steps, .. } = &mut self.progress;
            let pending =
                data_order.as_mut().map_or(0.0, |order| order.begin_reduction(rank, steps));
            let bytes = pending + steps.summed_last(rank);
            let duration = ticks(bytes * self.machine.reduce_byte_us);
            let mut clock = RankClock::beginning(r.ended);
            let line = &mut TimeLine::of(&mut self.progress.record, rank);
            clock.spend(Kind::Reduction, duration, line);
            r.ended = *clock;
        }
        let skipped = self.progress.repetition.skipped();
        let last = self.last_end();
        if last.at().saturating_add(skipped.time) > LAST {
            return Err(too_long(Self::NAME));
        }
        let of_job = |(ranks, start): (&[Rank], &Ticks)| {
            let ends = || {
                let ends = ranks.iter().map(|rank| rank.ended.at() + skipped.time);
                ends.map(|end| (end - start).max(0))
            };
            let times = ends().min();
            let times = times.map(|first| RankTimes { first: us(first), mean: mean_us(ends()) });
            let last = ranks.iter().map(|rank| rank.ended).max().unwrap_or_default();
            let mut path = last.path().zip(skipped.path, Ticks::saturating_add);
            path[Kind::Contention] = (path[Kind::Contention] - start).max(0);
            (path.map(us), times)
        };
        let jobs = self.ranks.chunks(self.ranks.len() / self.starts.len());
        Ok(jobs.zip(&self.starts).map(of_job).collect())
    }

    fn is_folded(&self) -> bool {
        !self.in_flight.fold.is_plain()
    }

    fn start_record(&mut self, mut record: TimeSpace) {
        self.recorded_node = record.only();
        record.remap(&vec![0; self.ranks.len()], self.recorded_orbit());
        self.progress.record = Some(Box::new(record));
    }

    fn take_record(&mut self) -> Option<TimeSpace> {
        let mut record = self.progress.record.take()?.finish();
        let fold = &self.in_flight.fold;
        let orbits: Vec<usize> = (0..fold.nodes()).map(|node| fold.orbit(node) as usize).collect();
        record.remap(&orbits, self.recorded_node);
        Some(record)
    }
}
