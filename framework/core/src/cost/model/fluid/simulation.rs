//! Event-driven simulation of the model `fluid`: the ranks, and the times at which they post their
//! messages.
//!
//! A message starts when its sender and its receiver have posted it. A sender posts a message after
//! a start-up. A receiver posts all receives of a step when it enters the step. A message that only
//! one of the two ranks has posted is not stored, because the positions of the ranks in the
//! schedule show which messages they have posted. All events are ordered by one clock. Simultaneous
//! events are processed in this order:
//!
//! 1. A start-up ends: the rank posts its send, and the next start-up begins.
//! 2. A reduction ends: the rank enters the next step.
//! 3. The latency of a message ends, or its last byte arrives ([`MessagesInFlight`]).
//! 4. If the set of messages that share links has changed, their rates are computed again.
//! 5. The clock advances to the next event.
//!
//! If the schedule is symmetric, one rank of each orbit is simulated ([`super::fold`]). An orbit is
//! a set of nodes that the symmetries map to each other. The number of a rank is then the number of
//! its orbit. If a step has fewer symmetries than the steps before it, [`folding`] splits the
//! orbits.

use super::in_flight::{InFlight, MessagesInFlight, NewMessage};
use super::symmetry::Symmetry;
use super::timers::Timers;
use super::{Fluid, KIND};
use crate::cost::model::PricingContext;
use crate::cost::model::asynchronous::data_order::Next;
use crate::cost::model::asynchronous::engine::{Progress, RankModel};
use crate::cost::model::asynchronous::noise::Noise;
use crate::cost::model::asynchronous::repetition::State;
use crate::cost::model::asynchronous::{Order, StepMessage};
use crate::cost::model::path::Path;
use crate::cost::model::time_space::{TimeKind, TimeSpace};
use crate::cost::parameter::PortLimit;
use crate::simulation::listener::Summed;
use crate::simulation::step::Step;
use late::HeldMessage;

mod accounting;
mod by_data;
mod folding;
mod late;

/// The largest number of messages of a step for which shares of links are always exact. In larger
/// steps, shares can be approximate: they are then computed once for each window of time
/// ([`super::shares`]).
const MOST_EXACT: usize = 10_000;
/// The largest number of messages per rank for which shares are always exact. If ranks have few
/// messages, an arrival often lets a rank start further messages, and each of these starts would
/// end a window.
const MOST_EXACT_PER_RANK: usize = 8;
/// The largest quotient n / t for which a large step remains folded, with exact shares. Here n is
/// the number of its folded messages, and t is the number of translations. Exact shares take a time
/// proportional to n^2, and windows without folding take a time proportional to n * t. In
/// measurements, the two times were equal when n / t was about this number.
const MOST_FOLDED: usize = 2_000;

#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    /// The number of the rank's sends that are in flight. Used only with `order=data`.
    sending: u32,
    /// Whether a start-up is in progress. Used only with `order=data`.
    is_starting: bool,
    /// Duration of the start-up in progress, in µs.
    startup_us: f64,
    /// The critical path to the rank's most recent event, such as the end of a start-up or a step.
    path: Path,
    /// The time at which the rank ended its most recent step, in µs.
    ended: f64,
    /// The critical path to the time `ended`. Used only with `order=data`.
    end_path: Path,
}

#[derive(Clone)]
pub(super) struct Simulation {
    pub machine: Fluid,
    progress: Progress,
    ranks: Vec<Rank>,
    in_flight: MessagesInFlight,
    symmetry: Symmetry,
    now: f64,
    /// The largest difference of times, in µs, at which two events count as simultaneous.
    epsilon_us: f64,
    /// For each rank, the time at which its start-up ends. If the rank is late, this is first the
    /// time at which the rank enters the schedule. One further timer is for the end of the barrier.
    startups: Timers,
    /// For each rank, the time in µs at which it enters the schedule; 0 if it has entered. Empty if
    /// no rank is late.
    late: Vec<f64>,
    /// The messages to late ranks that were posted before these ranks entered, with `order=data`.
    held: Vec<HeldMessage>,
    /// For each rank, the time at which its reduction ends.
    reductions: Timers,
    /// For each rank, the critical path to the end of its reduction.
    reduction_paths: Vec<Path>,
    barrier_us: Option<f64>,
    /// Number of ranks that wait at the barrier.
    at_barrier: usize,
    /// The critical path to the time at which the last rank reached the barrier. With `order=data`,
    /// the critical path to the last arrival or reduction.
    last_path: Path,
    /// The only node that the time-space record includes; `None` if it includes all nodes.
    recorded_node: Option<usize>,
    /// The largest number of messages of a step for which shares are always exact, and not computed
    /// in windows of time ([`super::shares`]).
    most_exact: usize,
    /// Equal to [`MOST_FOLDED`], or 0 in some tests.
    most_folded: usize,
    /// Whether the simulation makes a copy of itself when it begins to use windows of time.
    pub makes_copy: bool,
    /// The copy, which continues with windows of twice the length.
    pub copy: Option<Box<Self>>,
}

impl Simulation {
    pub(super) fn new(machine: Fluid, context: PricingContext<'_>, epsilon_us: f64) -> Self {
        let topology = context.topology;
        let barrier_us = machine.barrier_us.us(topology.nodes());
        let mut in_flight = MessagesInFlight::new(&machine, context);
        match (machine.background.is_some(), context.background) {
            (true, Some(background)) => in_flight.start_background(background),
            (true, None) => {
                in_flight.refused = Some("the file of `background` has not been read".to_owned());
            }
            (false, _) => {}
        }
        let limits_ports = machine.order == Order::Data && machine.ports != PortLimit::All;
        if limits_ports && topology.node_network().is_some() {
            in_flight.refused = Some("with `order=data` the model `fluid` counts the ports of ranks, not of nodes that several share: it needs ports=all or order=step".to_owned());
        }
        let ranks = in_flight.fold.orbits();
        let mut late = vec![0.0; if machine.late.is_none() { 0 } else { ranks }];
        match machine.late.ranks(topology.nodes(), context.seed) {
            Ok(listed) => listed.into_iter().for_each(|(rank, us)| late[rank] = us),
            Err(why) => in_flight.refused = Some(why),
        }
        let noise = Noise::new(machine.noise, context.seed);
        let (order, max_events) = (machine.order, machine.most_events);
        Self {
            barrier_us: (order == Order::Barrier || barrier_us > 0.0).then_some(barrier_us),
            progress: Progress::new(ranks, order, context.unit_bytes, noise, max_events),
            ranks: vec![Rank::default(); ranks],
            symmetry: Symmetry::new(machine.has_startups()),
            in_flight,
            now: 0.0,
            epsilon_us,
            startups: Timers::new(ranks + 1),
            late,
            held: Vec::new(),
            reductions: Timers::new(ranks),
            reduction_paths: Vec::new(),
            at_barrier: 0,
            last_path: Path::default(),
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

    /// Frees the memory of messages. The simulation must have ended.
    pub(super) fn clear(&mut self) {
        self.in_flight.clear();
    }

    /// Begins the start-up of a rank's send.
    fn begin_startup(&mut self, rank: usize, step: u64, index: u32) {
        let Some(known) = self.progress.steps.get(step) else { return };
        let message = &known.sends(rank)[index as usize];
        let StepMessage { from, to, .. } = *message;
        let us =
            self.machine.startup_us + self.machine.protocols().startup_us(known.bytes(message));
        let us = us * self.progress.noise.factor(step, from, to);
        self.ranks[rank].startup_us = us;
        self.startups.set(rank, self.now + us);
    }

    /// Ends a start-up: the rank posts its send.
    fn end_startup(&mut self, rank: usize) {
        self.ranks[rank].path.startup += self.ranks[rank].startup_us;
        if let Some(record) = &mut self.progress.record {
            record.charge(rank, TimeKind::Startup, self.now);
            record.sent(rank);
        }
        match self.progress.data_order {
            Some(_) => self.post_by_data(rank),
            None => self.post(rank),
        }
    }

    /// Posts the next send of the rank's step, and begins the start-up of the send after this one.
    fn post(&mut self, rank: usize) {
        let position = &mut self.progress.ranks[rank];
        let (number, index) = (position.step, position.sent);
        position.sent += 1;
        let Some(step) = self.progress.steps.get(number) else { return };
        let sends = step.sends(rank);
        let receiver = self.progress.ranks[sends[index].to as usize];
        let has_next_startup = self.machine.has_startups() && index + 1 < sends.len();
        if receiver.step == number && receiver.pending > 0 {
            self.start_message(rank, number, index as u32, self.ranks[rank].path);
        }
        if has_next_startup {
            self.begin_startup(rank, number, index as u32 + 1);
        }
    }

    /// Starts a message that its sender and its receiver have posted. `path` is the critical path
    /// of the rank that posted it later.
    fn start_message(&mut self, from: usize, number: u64, index: u32, path: Path) {
        let Some(step) = self.progress.steps.get(number) else { return };
        let message = step.sends(from)[index as usize];
        let noise = self.progress.noise.factor(number, message.from, message.to);
        let bytes = step.bytes(&message) * noise;
        let route = step.route(&message);
        let StepMessage { from, to, .. } = message;
        let (target, source) = (step.target(from as usize, index), Some((number, index)));
        let message = NewMessage { from, to, target, source, bytes, noise };
        self.in_flight.start(message, route, self.now, path);
    }

    /// Completes a message at its sender and its receiver. `path` is the critical path to its
    /// arrival.
    fn arrive(&mut self, message: &InFlight, path: Path) {
        let ends = [message.from, message.to].map(|rank| rank as usize);
        let by_data = self.progress.data_order.is_some();
        if let (true, Some((step, _))) = (by_data, message.source()) {
            if self.progress.record.is_some() {
                ends.into_iter().for_each(|rank| self.charge_message(rank, message));
            }
            self.arrive_by_data(ends, step, path);
            return;
        }
        for rank in ends {
            // If this is the last message that the rank waits for in its step, the rank's critical
            // path leads through this message.
            if self.progress.ranks[rank].pending == 1 {
                self.ranks[rank].path = path;
                if self.progress.record.is_some() {
                    self.charge_message(rank, message);
                }
            }
            self.complete(rank);
        }
    }

    /// Begins a reduction. Returns `false` if the reduction takes no time.
    fn begin_reduction(&mut self, rank: usize, bytes: f64, path: Path) -> bool {
        let us = bytes * self.machine.reduce_byte_us;
        if us > 0.0 {
            self.reduction_paths.resize(self.ranks.len(), Path::default());
            self.reduction_paths[rank] = Path { reduction: path.reduction + us, ..path };
            self.reductions.set(rank, self.now + us);
        }
        us > 0.0
    }

    fn end_reduction(&mut self, rank: usize) {
        self.progress.charge(rank, TimeKind::Reduction, self.now);
        let path = self.reduction_paths[rank];
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else {
            self.ranks[rank].path = path;
            if self.reach_barrier(rank) {
                self.next_step(rank);
            }
            return;
        };
        let has_send = matches!(order.next(rank, steps), Next::Send(..) | Next::Blocked);
        order.end_reduction(rank);
        (self.ranks[rank].ended, self.ranks[rank].end_path) = (self.now, path);
        self.last_path = path;
        self.reduce_arrived(rank, path);
        if has_send {
            self.resume_by(rank, path);
        }
    }

    /// Computes the rates of all messages in flight.
    fn share(&mut self) {
        // Windows are not used on a folded network, because they do not support the split of an
        // orbit while its messages are in flight.
        let is_large =
            self.in_flight.fold.is_plain() && self.progress.steps.has_larger_than(self.most_exact);
        let fraction = if is_large { self.machine.flow_window } else { 0.0 };
        if self.in_flight.shares.begins_windows(fraction) {
            self.in_flight.begin_windows(self.now);
            // Copy the simulation now, because no message is attached to links at this time. Lists
            // of links would take much memory.
            if std::mem::take(&mut self.makes_copy) {
                let mut copy = self.clone();
                copy.machine.flow_window *= 2.0;
                copy.progress.record = None;
                self.copy = Some(Box::new(copy));
            }
        }
        let (of_ranks, Progress { steps, events, .. }) =
            ([&self.startups, &self.reductions], &mut self.progress);
        self.in_flight.share(fraction, self.now, of_ranks, steps, events.remaining());
    }

    /// Ends the rank's step. Returns `false` if the rank has to wait at a barrier.
    fn reach_barrier(&mut self, rank: usize) -> bool {
        self.ranks[rank].ended = self.now;
        if self.barrier_us.is_none() {
            return true;
        }
        self.at_barrier += 1;
        self.last_path = self.ranks[rank].path;
        if self.at_barrier == self.ranks.len() {
            // Begin the barrier only when a next step is known, because there is no barrier after
            // the last step.
            self.progress.steps.set_all_waiting(true);
        }
        false
    }

    /// Begins the barrier before the step that has just been added, if all ranks have reached it.
    fn begin_barrier(&mut self) {
        if let Some(barrier_us) = self.barrier_us.filter(|_| self.at_barrier == self.ranks.len()) {
            self.startups.set(self.ranks.len(), self.now + barrier_us);
            self.progress.steps.set_all_waiting(false);
        }
    }

    /// Ends the barrier: all ranks enter the next step.
    fn pass_barrier(&mut self) {
        self.at_barrier = 0;
        let barrier_us = self.barrier_us.unwrap_or_default();
        let path = Path { barrier: self.last_path.barrier + barrier_us, ..self.last_path };
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            self.progress.charge(rank, TimeKind::Peer, self.now - barrier_us);
            self.progress.charge(rank, TimeKind::Barrier, self.now);
            (r.path, r.ended) = (path, self.now);
            self.progress.leave_step(rank);
        }
        (0..self.ranks.len()).for_each(|rank| self.enter_step(rank));
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

    fn add_state(&self, state: &mut State) -> bool {
        for (rank, r) in self.ranks.iter().enumerate() {
            state.add_path(r.path);
            state.add_time(r.ended);
            state.add_time(self.startups.get(rank));
            let reduction = self.reductions.get(rank);
            state.add_time(reduction);
            if reduction < f64::INFINITY {
                state.add_path(self.reduction_paths[rank]);
            }
        }
        state.add_time(self.startups.get(self.ranks.len()));
        state.add_number(self.at_barrier as u64);
        if self.at_barrier > 0 {
            state.add_path(self.last_path);
        }
        self.in_flight.add_state(state, self.progress.steps.known())
    }

    fn start_step(&mut self, rank: usize) {
        let number = self.progress.ranks[rank].step;
        let Some(step) = self.progress.steps.get(number) else { return };
        let (sends, receives) = (step.sends(rank).len(), step.receives(rank).len());
        // Start the messages to this rank whose senders have posted them already.
        for receive in 0..receives {
            let Some(step) = self.progress.steps.get(number) else { return };
            let (index, &StepMessage { from, .. }) = step.receive(rank, receive);
            let sender = self.progress.ranks[from as usize];
            if sender.step == number && sender.pending > 0 && sender.sent > index as usize {
                self.start_message(from as usize, number, index, self.ranks[rank].path);
            }
        }
        // Post the sends, each after a start-up.
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
        self.resume_by(rank, self.ranks[rank].path);
    }

    fn finish_step(&mut self, rank: usize, _: bool) -> bool {
        let step = self.progress.steps.get(self.progress.ranks[rank].step);
        let bytes = step.map_or(0.0, |step| step.summed(rank));
        !self.begin_reduction(rank, bytes, self.ranks[rank].path) && self.reach_barrier(rank)
    }

    fn process_event(&mut self) -> bool {
        let limit = self.now + self.epsilon_us;
        self.progress.events.count();
        if let Some(rank) = self.startups.pop(limit) {
            match rank {
                barrier if barrier == self.ranks.len() => self.pass_barrier(),
                late if self.is_late(late) => self.enter_late(late),
                _ => self.end_startup(rank),
            }
        } else if let Some(rank) = self.reductions.pop(limit) {
            self.end_reduction(rank);
        } else if let Some(message) = self.in_flight.ends.pop(limit) {
            let steps = &self.progress.steps;
            if let Some((message, path)) = self.in_flight.next_phase(message, self.now, steps) {
                self.arrive(&message, path);
            }
        } else if self.in_flight.shares.is_disturbed(self.now) {
            self.share();
        } else {
            // Advance the clock to the next event. The schedule has ended if no timer of a rank is
            // set, all ranks wait for a further step, and only background traffic is in flight.
            let of_ranks = self.startups.earliest().min(self.reductions.earliest());
            let is_over = of_ranks == f64::INFINITY
                && self.progress.steps.all_ranks_wait()
                && self.in_flight.are_background();
            let next = self.in_flight.ends.earliest().min(of_ranks);
            let next = next.min(self.in_flight.shares.window_end());
            if is_over || next == f64::INFINITY {
                return false;
            }
            self.now = next;
        }
        true
    }

    fn refusal(&self) -> Option<&String> {
        self.in_flight.refused.as_ref()
    }

    fn now_us(&self) -> f64 {
        self.now
    }

    fn finish(&mut self) -> (Path, Vec<f64>) {
        let is_by_data = self.progress.data_order.is_some();
        let mut has_reductions = false;
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            // With `order=data`, the arrival of a message begins a reduction. If a rank has data to
            // reduce but receives no further message, it reduces this data now.
            let Progress { data_order, steps, .. } = &mut self.progress;
            let pending =
                data_order.as_mut().map_or(0.0, |order| order.begin_reduction(rank, steps));
            let us = (pending + steps.summed_last(rank)) * self.machine.reduce_byte_us;
            has_reductions |= us > 0.0;
            let path = if is_by_data { &mut r.end_path } else { &mut r.path };
            (r.ended, path.reduction) = (r.ended + us, path.reduction + us);
            self.progress.charge(rank, TimeKind::Reduction, r.ended);
        }
        let last = self.ranks.iter().max_by(|a, b| a.ended.total_cmp(&b.ended));
        let path = match last {
            Some(rank) if !is_by_data => rank.path,
            Some(rank) if has_reductions => rank.end_path,
            _ => self.last_path,
        };
        (path, self.ranks.iter().map(|rank| rank.ended).collect())
    }

    fn is_folded(&self) -> bool {
        !self.in_flight.fold.is_plain()
    }

    fn start_record(&mut self, record: TimeSpace) {
        self.start_folded_record(record);
    }

    fn take_record(&mut self) -> Option<TimeSpace> {
        self.take_unfolded_record()
    }
}
