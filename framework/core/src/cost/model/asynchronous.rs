//! The engine of the models `loggp` and `fluid`. Each rank has its own clock, and does not wait
//! until other ranks end a step.
//!
//! A step is *known* when the simulation of the schedule has reported it. Known steps are stored
//! until all ranks have ended them ([`Steps`]). [`Progress`] has the position of each rank in the
//! schedule. A model decides when messages are sent and received ([`RankModel`]).
//!
//! 1. A rank *enters* a step. The model starts its sends and matches its receives.
//! 2. The model reports each send and each receive that is *complete*.
//! 3. When all of them are complete, the rank reduces the received data and enters the next step.
//!
//! With `order=data`, each send starts when its data is available, without steps ([`DataOrder`]).
//!
//! Events are processed only while no rank waits for an unknown step, because an event of such a
//! step could be earlier than all known events.
//!
//! In a *folded* simulation, each rank represents an orbit, which is a set of nodes that symmetries
//! map to each other. The nodes of an orbit do the same work at the same time.

use super::time_space::TimeSpace;
use super::{Cost, Evaluator, RankTimes, segment_bytes};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{
    BARRIER_US, Barrier, DefaultValue, ParameterError, TypedParameter, parse_count, parse_number,
    parse_word,
};
use crate::cost::settings::word_enum;
use crate::network::topology::{Route, SplitMix64};
use crate::places::Places;
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent, Summed};
use crate::simulation::step::{Step, Transfer};
use data_order::{DataOrder, Next};
use repetition::{Repetition, State};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

pub(super) mod data_order;
pub(super) mod repetition;

word_enum! {
    pub(crate) enum Order {
        /// The rank waits for its own sends and receives of the previous step.
        Step = "step",
        /// The rank waits for the data of its next send ([`data_order`]).
        Data = "data",
        /// The rank waits for the sends and receives of all ranks in the previous step.
        Barrier = "barrier",
    }
}

impl Order {
    pub(super) fn with(self, barrier_us: Barrier) -> Result<(), ParameterError> {
        if self != Self::Data || barrier_us.us(2) == 0.0 {
            return Ok(());
        }
        let expected = "0 with order=data, where ranks have no steps".to_owned();
        Err(ParameterError::Bad { key: BARRIER_US.key, expected, found: barrier_us.to_string() })
    }
}

pub(super) static ORDER: TypedParameter<Order> = TypedParameter {
    key: "order",
    meaning: "what a rank waits for: `step`, before a step, its own sends and receives of the previous step; `barrier`, before a step, the sends and receives of all ranks in the previous step; `data`, before each send, the data to be sent",
    symbols: "",
    default: DefaultValue::Text("step"),
    read: |text| parse_word(text, Order::WORDS),
};

/// Converts the loads that nodes reduce at the end of a step to bytes, and adds them to `bytes`,
/// which has an entry for each node.
pub(super) fn add_sums(bytes: &mut Vec<f64>, summed: Summed<'_>, nodes: usize, unit_bytes: f64) {
    let unit_bytes = segment_bytes(unit_bytes, summed.segments);
    bytes.resize(nodes, 0.0);
    bytes.iter_mut().zip(summed.of).for_each(|(sum, load)| *sum += *load as f64 * unit_bytes);
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StepMessage {
    pub from: u32,
    pub to: u32,
    pub route: u32,
    /// The number of known steps from the latest arrival of the message's data to the step of the
    /// message. It is 0 without `order=data`, if the sender had the data from the start, or if all
    /// ranks had ended the step of the arrival.
    pub back: u32,
    pub load: u64,
}

#[derive(Debug, Clone)]
pub(super) struct StepIndex {
    /// All messages of the step by sender. Copies of a simulation share this list.
    messages: Arc<Vec<StepMessage>>,
    first_send: Vec<u32>,
    received: Arc<Vec<u32>>,
    first_receive: Vec<u32>,
    /// If folded, the destination of each message when the first node of the sender's orbit sends
    /// it.
    targets: Vec<u32>,
    pub routes: Vec<Route>,
    unit_bytes: f64,
    schedule_step: u64,
    missing: Vec<u32>,
    summed: Vec<f64>,
    inside: usize,
}

impl StepIndex {
    fn new(nodes: usize, step: &Step<'_>, unit_bytes: f64, back: impl Fn(u32) -> u32) -> Self {
        let message = |(i, t): (usize, &Transfer)| {
            let back = step.latest_arrivals.get(i).map_or(0, |after| back(*after));
            StepMessage { from: t.from, to: t.to, route: t.route, back, load: t.load }
        };
        let messages: Vec<StepMessage> = step.transfers.iter().enumerate().map(message).collect();
        let mut arranged = Self {
            summed: Vec::new(),
            targets: Vec::new(),
            messages: Arc::default(),
            first_send: Vec::new(),
            received: Arc::default(),
            first_receive: Vec::new(),
            routes: step.routes.to_vec(),
            unit_bytes: segment_bytes(unit_bytes, step.segments),
            schedule_step: step.schedule_step,
            missing: Vec::new(),
            inside: nodes,
        };
        arranged.arrange(nodes, &messages);
        if !step.latest_arrivals.is_empty() {
            arranged.missing =
                arranged.first_receive.windows(2).map(|ends| ends[1] - ends[0]).collect();
        }
        arranged
    }

    fn arrange(&mut self, nodes: usize, messages: &[StepMessage]) {
        let mut sends = Places::of(nodes, messages.iter().map(|message| message.from as usize));
        let mut receives = Places::of(nodes, messages.iter().map(|message| message.to as usize));
        let none = StepMessage { from: 0, to: 0, route: 0, back: 0, load: 0 };
        let (mut sent, mut received) = (vec![none; messages.len()], vec![0; messages.len()]);
        for message in messages {
            let number = sends.take(message.from as usize);
            sent[number] = *message;
            received[receives.take(message.to as usize)] = number as u32;
        }
        (self.first_send, self.first_receive) = (sends.first, receives.first);
        (self.messages, self.received) = (Arc::new(sent), Arc::new(received));
    }

    pub(super) fn sends(&self, rank: usize) -> &[StepMessage] {
        &self.messages[self.first_send[rank] as usize..self.first_send[rank + 1] as usize]
    }

    pub(super) fn target(&self, rank: usize, place: u32) -> u32 {
        let at = (self.first_send[rank] + place) as usize;
        self.targets.get(at).copied().unwrap_or(self.messages[at].to)
    }

    pub(super) fn route(&self, message: &StepMessage) -> Option<&Route> {
        message.route.checked_sub(1).map(|number| &self.routes[number as usize])
    }

    pub(super) fn receives(
        &self,
        rank: usize,
    ) -> impl ExactSizeIterator<Item = (u32, &StepMessage)> {
        let receives = self.first_receive[rank + 1] - self.first_receive[rank];
        (0..receives as usize).map(move |place| self.receive(rank, place))
    }

    pub(super) fn receive(&self, rank: usize, place: usize) -> (u32, &StepMessage) {
        let number = self.received[self.first_receive[rank] as usize + place];
        let message = &self.messages[number as usize];
        (number - self.first_send[message.from as usize], message)
    }

    pub(super) fn summed(&self, rank: usize) -> f64 {
        self.summed.get(rank).copied().unwrap_or(0.0)
    }

    pub(super) fn bytes(&self, message: &StepMessage) -> f64 {
        message.load as f64 * self.unit_bytes
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Steps {
    nodes: usize,
    unit_bytes: f64,
    steps: VecDeque<StepIndex>,
    first: u64,
    messages: usize,
    too_many: bool,
    waiting: usize,
    has_sums: bool,
    /// For each rank, the bytes that it reduces at the end of the step that is added next.
    summed: Vec<f64>,
}

impl Steps {
    pub(super) fn new(nodes: usize, unit_bytes: f64) -> Self {
        Self {
            nodes,
            unit_bytes,
            steps: VecDeque::new(),
            first: 0,
            messages: 0,
            too_many: false,
            waiting: nodes,
            has_sums: false,
            summed: Vec::new(),
        }
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn known(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    pub(super) fn add(&mut self, step: &Step<'_>) {
        /// This number of messages takes 2 GiB.
        const MAX_MESSAGES: usize = 1 << 26;
        self.too_many |= self.messages + step.transfers.len() > MAX_MESSAGES;
        if self.too_many {
            self.steps.clear();
            return;
        }
        self.messages += step.transfers.len();
        // Converts the number of a step to the distance of this step from the new step; 0 if all
        // ranks have ended that step.
        let back = |after: u32| {
            let come = self.steps.partition_point(|earlier| earlier.schedule_step <= after.into());
            if come == 0 { 0 } else { (self.steps.len() + 1 - come) as u32 }
        };
        let step = StepIndex::new(self.nodes, step, self.unit_bytes, back);
        self.steps.push_back(StepIndex { summed: std::mem::take(&mut self.summed), ..step });
    }

    pub(super) fn sum(&mut self, summed: Summed<'_>) {
        self.has_sums = true;
        add_sums(&mut self.summed, summed, self.nodes, self.unit_bytes);
    }

    fn next_sums(&self) -> &[f64] {
        &self.summed
    }

    fn clear_next_sums(&mut self) {
        self.summed.clear();
    }

    pub(super) fn has_sums(&self) -> bool {
        self.has_sums
    }

    pub(super) fn summed_last(&self, rank: usize) -> f64 {
        self.summed.get(rank).copied().unwrap_or(0.0)
    }

    pub(super) fn has_larger_than(&self, least: usize) -> bool {
        self.messages > least && self.steps.iter().any(|step| step.messages.len() > least)
    }

    fn no_rank_waits(&self) -> bool {
        self.waiting == 0
    }

    pub(super) fn all_ranks_wait(&self) -> bool {
        self.waiting == self.nodes
    }

    pub(super) fn wait(&mut self) {
        self.waiting += 1;
    }

    pub(super) fn set_all_waiting(&mut self, are_waiting: bool) {
        self.waiting = if are_waiting { self.nodes } else { 0 };
    }

    /// Returns the step that a rank enters. If the step is not known yet, counts the rank as
    /// waiting.
    pub(super) fn enter(&mut self, number: u64) -> Option<&StepIndex> {
        if number >= self.known() {
            self.wait();
        }
        self.get(number)
    }

    /// Returns the ranks that can continue after a step was added. With `order=data`, these are all
    /// ranks, otherwise those whose position is the added step. They no longer count as waiting.
    fn wake_ranks(&mut self, by_data: bool, positions: impl Iterator<Item = u64>) -> Vec<usize> {
        let last = self.known().saturating_sub(1);
        let awake: Vec<usize> = (0..)
            .zip(positions)
            .filter(|(_, step)| by_data || *step == last)
            .map(|(rank, _)| rank)
            .collect();
        self.waiting = if by_data { 0 } else { self.waiting - awake.len() };
        awake
    }

    pub(super) fn get(&self, number: u64) -> Option<&StepIndex> {
        self.steps.get((number - self.first) as usize)
    }

    pub(super) fn current(&self, number: u64) -> &StepIndex {
        let step = number.checked_sub(self.first).and_then(|at| self.steps.get(at as usize));
        let Some(step) = step else {
            unreachable!(
                "step {number} is needed, but {} to {} are stored",
                self.first,
                self.known()
            );
        };
        step
    }

    pub(super) fn leave(&mut self, number: u64) {
        let Some(step) = self.steps.get_mut((number - self.first) as usize) else {
            unreachable!("a rank ends step {number}, which is not stored");
        };
        step.inside -= 1;
        while self.steps.front().is_some_and(|step| step.inside == 0) {
            self.messages -= self.steps.pop_front().map_or(0, |step| step.messages.len());
            self.first += 1;
        }
    }

    pub(super) fn received(&mut self, number: u64, rank: usize) {
        let Some(step) = self.steps.get_mut((number - self.first) as usize) else {
            unreachable!("rank {rank} receives a message of step {number}, which is not stored");
        };
        step.missing[rank] -= 1;
    }

    fn limit_reached(&self) -> bool {
        self.too_many
    }

    fn check_limit(&self, model: &str) -> Result<(), String> {
        if self.too_many {
            return Err(format!(
                "the model `{model}` stores up to 67108864 messages of steps that some rank has not ended, this schedule has more"
            ));
        }
        Ok(())
    }
}

/// A refinement of a folded simulation before a step with fewer symmetries. The orbits of the *old*
/// ranks are split into smaller orbits, each of which a *new* rank represents.
pub(super) struct Refinement<'a> {
    /// For each new rank, the old rank whose orbit contains the orbit of the new rank.
    pub of: &'a [usize],
    /// Maps a new rank, and the destination of a message of its old rank, to the destination of the
    /// corresponding message of the new rank.
    pub moved: &'a dyn Fn(usize, u32) -> u32,
    /// Maps a node to the new rank that represents it.
    pub rank: &'a dyn Fn(u32) -> u32,
    /// Maps the number of a step to the number of new ranks that have not ended it.
    pub inside: &'a dyn Fn(u64) -> usize,
}

impl Steps {
    pub(super) fn add_folded(&mut self, step: &Step<'_>, targets: Vec<u32>) {
        self.add(step);
        if let Some(last) = self.steps.back_mut() {
            last.targets = targets;
        }
    }

    pub(super) fn refine(&mut self, to: &Refinement<'_>) {
        self.waiting *= to.of.len() / self.nodes;
        self.nodes = to.of.len();
        self.messages = 0;
        for (number, step) in (self.first..).zip(&mut self.steps) {
            step.refine(to);
            step.inside = (to.inside)(number);
            self.messages += step.messages.len();
        }
        copy_from_old(&mut self.summed, to.of);
    }
}

impl StepIndex {
    fn refine(&mut self, to: &Refinement<'_>) {
        let (mut messages, mut targets) = (Vec::new(), Vec::new());
        for (rank, &of) in to.of.iter().enumerate() {
            for (place, message) in (0..).zip(self.sends(of)) {
                let target = (to.moved)(rank, self.target(of, place));
                messages.push(StepMessage { from: rank as u32, to: (to.rank)(target), ..*message });
                targets.push(target);
            }
        }
        self.arrange(to.of.len(), &messages);
        self.targets = targets;
        copy_from_old(&mut self.summed, to.of);
    }
}

fn copy_from_old(of_each: &mut Vec<f64>, of: &[usize]) {
    if !of_each.is_empty() {
        *of_each = of.iter().map(|rank| of_each[*rank]).collect();
    }
}

pub(crate) static MOST_EVENTS: TypedParameter<u64> = TypedParameter {
    key: "most_events",
    meaning: "events after which a case is given up: starts, ends and retries of messages, and links whose shares are computed",
    symbols: "",
    default: DefaultValue::Text("10000000000"),
    read: |text| parse_count(text, "a whole number from 1"),
};

/// The number of events between two readings of the clock. It is smaller in tests, so that small
/// cases pause, too.
const BETWEEN_READINGS: u64 = if cfg!(test) { 1 << 6 } else { 1 << 12 };

#[derive(Debug, Clone, Copy)]
pub(crate) struct EventLimit {
    most: u64,
    left: u64,
    deadline: Option<Instant>,
    next_reading: u64,
    is_paused: bool,
}

impl EventLimit {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, left: most, deadline: None, next_reading: 0, is_paused: false }
    }

    pub(crate) fn pause_at(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
        self.next_reading = self.left.saturating_sub(BETWEEN_READINGS);
        self.is_paused = false;
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused
    }

    fn check_clock(&mut self) -> bool {
        let Some(deadline) = self.deadline.filter(|_| self.left <= self.next_reading) else {
            return self.is_paused;
        };
        self.next_reading = self.left.saturating_sub(BETWEEN_READINGS);
        self.is_paused |= Instant::now() >= deadline;
        self.is_paused
    }

    pub(crate) fn reached(&self) -> bool {
        self.left == 0
    }

    pub(crate) fn remaining(&mut self) -> &mut u64 {
        &mut self.left
    }

    pub(crate) fn count(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Errors if the limit is reached. The message has the simulated time and the slowest rank's
    /// step.
    fn check_limit(&self, model: &str, us: f64, step: u64) -> Result<(), String> {
        if !self.reached() {
            return Ok(());
        }
        Err(format!(
            "the model `{model}` gives up after {} events, at {us:.3} us with the slowest rank in step {}; set a larger `{}`",
            self.most,
            step + 1,
            MOST_EVENTS.key
        ))
    }
}

pub(crate) static NOISE: TypedParameter<f64> = TypedParameter {
    key: "noise",
    meaning: "jitter: coefficient of variation (standard deviation / mean) of a log-normal factor for the start-up, latency and bytes of each message, seeded by repetition; there is no lower bound then",
    symbols: "",
    default: DefaultValue::Text("0"),
    read: |text| {
        let cv = parse_number(text).filter(|cv| (0.0..=10.0).contains(cv));
        cv.map(|cv| cv + 0.0).ok_or_else(|| "a number from 0 to 10".to_owned())
    },
};

/// The jitter of a case: a random factor for the costs of each message, with a log-normal
/// distribution of mean 1. The factor depends only on seed, step, sender and receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    seed: u64,
    sigma: f64,
}

impl Noise {
    pub(crate) fn new(cv: f64, seed: u64) -> Self {
        Self { seed, sigma: (cv * cv).ln_1p().sqrt() }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.sigma == 0.0
    }

    pub(crate) fn factor(&self, step: u64, from: u32, to: u32) -> f64 {
        if self.is_none() {
            return 1.0;
        }
        let ends = u64::from(from) << 32 | u64::from(to);
        let mixed = |word| SplitMix64::new(word).bits();
        let word = mixed(mixed(mixed(self.seed) ^ step) ^ ends);
        // A normally distributed sample from two uniform samples (Box & Muller, 1958).
        let [u, v] =
            [word, mixed(word)].map(|word| ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64);
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        (self.sigma * normal - self.sigma * self.sigma / 2.0).exp()
    }
}

/// The position of a rank in the schedule, except with `order=data` ([`DataOrder`]).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    /// The current step, which may not be known yet.
    pub step: u64,
    pub sent: usize,
    pub pending: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub steps: Steps,
    /// Whether a step has been added, but the ranks that wait for it have not been resumed.
    has_new_step: bool,
    pub ranks: Vec<Position>,
    pub data_order: Option<DataOrder>,
    pub noise: Noise,
    pub events: EventLimit,
    pub record: Option<Box<TimeSpace>>,
    pub repetition: Repetition,
}

impl Progress {
    pub(crate) fn new(
        ranks: usize,
        order: Order,
        unit_bytes: f64,
        noise: Noise,
        max_events: u64,
    ) -> Self {
        Self {
            steps: Steps::new(ranks, unit_bytes),
            has_new_step: false,
            ranks: vec![Position::default(); ranks],
            data_order: (order == Order::Data).then(|| DataOrder::new(ranks)),
            noise,
            events: EventLimit::new(max_events),
            record: None,
            repetition: Repetition::default(),
        }
    }

    /// Adds the positions of all ranks to `state`, relative to the last known step. Returns `false`
    /// if the simulation also depends on other values. No step may be skipped then.
    pub(crate) fn add_state(&self, state: &mut State) -> bool {
        for Position { step, sent, pending } in &self.ranks {
            state.add_number(self.steps.known() - step);
            state.add_number(*sent as u64);
            state.add_number(*pending as u64);
        }
        let Self { data_order, noise, record, .. } = self;
        data_order.is_none() && noise.is_none() && record.is_none()
    }

    pub(crate) fn leave_step(&mut self, rank: usize) {
        self.steps.leave(self.ranks[rank].step);
        self.ranks[rank].step += 1;
    }

    /// With `order=data`, returns the step and index of the rank's next send, if the data of this
    /// send is available. If the known steps have no further send, the rank waits for a step.
    pub(crate) fn next_send(&mut self, rank: usize) -> Option<(u64, u32)> {
        let order = self.data_order.as_mut()?;
        if order.waits(rank) {
            return None;
        }
        let next = order.next(rank, &mut self.steps);
        if let (Some(record), Next::Send(..) | Next::Blocked) = (&mut self.record, next) {
            record.enter(rank, order.step(rank));
        }
        match next {
            Next::Send(step, index) => return Some((step, index)),
            Next::Blocked => {}
            Next::Unknown => {
                order.wait(rank);
                self.steps.wait();
            }
        }
        None
    }

    pub(crate) fn has_no_known_send(&self, rank: usize) -> bool {
        let order = self.data_order.as_ref();
        order.is_some_and(|order| self.steps.get(order.step(rank)).is_none())
    }
}

/// A model in which ranks have their own clocks. It decides when messages are sent and received.
pub(crate) trait RankModel: Send {
    const NAME: &'static str;

    fn progress(&self) -> &Progress;

    fn progress_mut(&mut self) -> &mut Progress;

    fn add_step(&mut self, step: &Step<'_>);

    fn add_sums(&mut self, summed: Summed<'_>) {
        self.progress_mut().steps.sum(summed);
    }

    /// Returns all values on which the rest of the simulation depends, relative to the current time
    /// and step. If they repeat, steps can be skipped. `None` if the simulation also depends on
    /// other values.
    fn state(&self) -> Option<State> {
        None
    }

    fn start_step(&mut self, rank: usize);

    fn delays_entry(&mut self, _rank: usize) -> bool {
        false
    }

    fn resume(&mut self, rank: usize);

    /// Reduces the data of a step after the rank's last send and receive of this step. `is_empty`
    /// is set if the rank has none. Returns whether the rank enters the next step now; otherwise
    /// the model calls [`RankModel::next_step`] later.
    fn finish_step(&mut self, rank: usize, is_empty: bool) -> bool;

    fn process_event(&mut self) -> bool;

    /// Returns whether no event of the known steps depends on a later step.
    fn drains_each_step(&self) -> bool {
        false
    }

    fn refusal(&self) -> Option<&String> {
        None
    }

    fn now_us(&self) -> f64;

    /// Executes the last reductions. Returns the critical path of each job, and the times at which
    /// the ranks of the job end. Errors if the model cannot represent these times.
    fn finish(&mut self) -> Result<Vec<(Times, Option<RankTimes>)>, String>;

    fn is_folded(&self) -> bool {
        false
    }

    fn start_record(&mut self, record: TimeSpace) {
        self.progress_mut().record = Some(Box::new(record));
    }

    fn take_record(&mut self) -> Option<TimeSpace> {
        self.progress_mut().record.take().map(|record| record.finish())
    }

    fn enter_step(&mut self, rank: usize) {
        loop {
            let progress = self.progress_mut();
            let position = &mut progress.ranks[rank];
            let Some(step) = progress.steps.enter(position.step) else { return };
            let pending = step.sends(rank).len() + step.receives(rank).len();
            (position.sent, position.pending) = (0, pending);
            if let Some(record) = &mut progress.record {
                record.enter(rank, position.step);
            }
            if pending > 0 {
                self.start_step(rank);
                return;
            }
            if !self.finish_step(rank, true) {
                return;
            }
            self.progress_mut().leave_step(rank);
        }
    }

    fn next_step(&mut self, rank: usize) {
        self.progress_mut().leave_step(rank);
        self.enter_step(rank);
    }

    fn complete(&mut self, rank: usize) {
        let position = &mut self.progress_mut().ranks[rank];
        position.pending -= 1;
        if position.pending == 0 && self.finish_step(rank, false) {
            self.next_step(rank);
        }
    }

    fn is_stopped(&self) -> bool {
        let Progress { events, steps, .. } = self.progress();
        self.refusal().is_some() || events.reached() || steps.limit_reached()
    }

    /// Processes events until a rank waits for the next step, then adds or skips this step. The
    /// events that remain after the last step are processed later, when the simulation of the
    /// schedule has ended and its memory is free.
    fn step(&mut self, step: &Step<'_>) {
        self.run(false);
        if !self.is_stopped() && !self.progress().events.is_paused() && !self.skips(step) {
            self.add_step(step);
            self.progress_mut().has_new_step = true;
        }
    }

    fn skips(&mut self, step: &Step<'_>) -> bool {
        let Progress { repetition, steps, .. } = self.progress_mut();
        if repetition.count(step, steps.next_sums()) {
            // A state can also repeat while some ranks are still in an earlier sequence of equal
            // steps. So states are compared only if all stored steps are in the current sequence.
            let Progress { repetition, steps, .. } = self.progress();
            let is_uniform = repetition.includes(steps.known() - steps.first());
            let state = if is_uniform { self.state() } else { None };
            self.progress_mut().repetition.compare(state);
        }
        let Progress { repetition, steps, .. } = self.progress_mut();
        let skips = repetition.skips();
        if skips {
            steps.clear_next_sums();
        }
        skips
    }

    fn wake_ranks(&mut self) {
        let Progress { steps, ranks, data_order, .. } = self.progress_mut();
        let by_data = data_order.is_some();
        if let Some(order) = data_order {
            order.wake();
        }
        for rank in steps.wake_ranks(by_data, ranks.iter().map(|rank| rank.step)) {
            if self.delays_entry(rank) {
                continue;
            }
            if by_data { self.resume(rank) } else { self.enter_step(rank) }
        }
    }

    /// Processes events until a rank waits for an unknown step or, with `to_the_end`, all events.
    /// Pauses at the deadline of [`Evaluator::pause_at`].
    fn run(&mut self, to_the_end: bool) {
        if !self.is_stopped() && std::mem::take(&mut self.progress_mut().has_new_step) {
            self.wake_ranks();
        }
        let drains = to_the_end || self.drains_each_step();
        while !self.is_stopped()
            && !self.progress_mut().events.check_clock()
            && (drains || self.progress().steps.no_rank_waits())
            && self.process_event()
        {}
    }
}

impl<M: RankModel> Listener for M {
    fn interests(&self) -> Interests {
        let detail = if self.is_folded() { Detail::Representatives } else { Detail::AllNodes };
        let arrivals = self.progress().data_order.is_some();
        Interests { detail, arrivals, ..Interests::FACTS }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) if !self.is_stopped() => self.add_sums(summed),
            _ => {}
        }
    }
}

impl<M: RankModel> Evaluator for M {
    fn cost(&mut self) -> Result<Cost, String> {
        self.progress().steps.check_limit(M::NAME)?;
        self.run(true);
        if let Some(why) = self.refusal() {
            return Err(why.clone());
        }
        let Progress { events, steps, repetition, .. } = self.progress();
        let first = steps.first() + repetition.skipped().steps;
        events.check_limit(M::NAME, self.now_us(), first)?;
        let jobs = self.finish()?;
        let has = |kind| match kind {
            Kind::Rearrangement => false,
            Kind::Reduction => self.progress().steps.has_sums(),
            Kind::Startup
            | Kind::Transmission
            | Kind::Propagation
            | Kind::Barrier
            | Kind::Contention
            | Kind::Peer => true,
        };
        let cost =
            |(path, ranks): (Times, _)| Cost { parts: path.parts(has), ranks, ..Cost::default() };
        let mut jobs: Vec<Cost> = jobs.into_iter().map(cost).collect();
        let longest = jobs.iter().map(|job| job.parts.total()).enumerate();
        let longest = longest.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(job, _)| job);
        match jobs.len() {
            1 => Ok(jobs.remove(0)),
            _ => Ok(Cost { jobs: jobs.clone(), ..jobs.swap_remove(longest) }),
        }
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        self.progress_mut().events.pause_at(deadline);
        true
    }

    fn is_paused(&self) -> bool {
        self.progress().events.is_paused()
    }

    fn advance(&mut self) -> bool {
        self.run(true);
        !self.progress().events.is_paused()
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.start_record(record);
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.take_record()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::machine::Machine;
    use crate::cost::model::PricingContext;
    use crate::cost::model::test_steps::{run, try_cost};
    use crate::network::topology::parse;
    use std::time::Instant;

    #[test]
    fn a_case_that_pauses_has_the_same_cost() {
        let topology = parse("mesh:4x5").unwrap();
        let others = |from: u32| (1..20).map(move |d| (from, (from + d) % 20, 1000, 0));
        let steps = vec![(0..20).flat_map(others).collect::<Vec<_>>()];
        for model in ["", ",order=data"] {
            let fluid = "free:model=fluid,startup_us=1,byte_us=0.001,hop_us=1";
            let machine = Machine::parse(&format!("{fluid}{model}")).unwrap();
            let [at_once, in_turns] = [false, true].map(|pauses| {
                let mut evaluator = machine.evaluator(PricingContext::new(&topology, 1.0));
                run(&topology, evaluator.as_mut(), &steps, &[], |_, _| 0);
                let mut turns = 0;
                assert!(!evaluator.is_paused(), "{model}");
                while pauses && evaluator.pause_at(Some(Instant::now())) && !evaluator.advance() {
                    assert!(evaluator.is_paused(), "{model}");
                    turns += 1;
                }
                assert_eq!(turns > 0, pauses, "{model}");
                evaluator.cost().unwrap()
            });
            assert_eq!(at_once, in_turns, "{model}");
        }
    }

    #[test]
    fn a_case_with_too_many_events_is_given_up() {
        let steps = vec![(0..4).map(|r| (r, (r + 1) % 4, 100, 0)).collect::<Vec<_>>(); 3];
        for model in ["loggp,latency_us=1", "fluid,byte_us=0.1,hop_us=1"] {
            for order in ["step", "data", "barrier"] {
                let priced = |most: u64| {
                    try_cost(
                        "ring:4",
                        &format!("free:model={model},order={order},most_events={most}"),
                        &steps,
                    )
                };
                let enough = (2..200).find(|most| priced(*most).is_ok()).unwrap();
                let (us, us_of_many) = (priced(enough).unwrap(), priced(1_000_000).unwrap());
                assert_eq!(us.parts, us_of_many.parts, "{model} {order}");
                for most in [1, enough / 2, enough - 1] {
                    let why = priced(most).unwrap_err();
                    let expected = format!("gives up after {most} events, at ");
                    assert!(
                        why.contains(&expected) && why.ends_with("; set a larger `most_events`"),
                        "{why}"
                    );
                }
            }
        }
    }

    #[test]
    fn factors_have_a_mean_of_one_and_the_requested_variation() {
        for cv in [0.05, 0.3, 1.0] {
            let noise = Noise::new(cv, 42);
            let draws: Vec<f64> =
                (0..200_000).map(|i| noise.factor(i / 1000, (i % 1000) as u32, 7)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance =
                draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!((mean - 1.0).abs() < 0.01 * cv.max(0.3), "{cv}: mean {mean}");
            assert!((variance.sqrt() / cv - 1.0).abs() < 0.05, "{cv}: {}", variance.sqrt());
            // The median of the log-normal distribution is exp(-sigma^2 / 2).
            let median = (1.0 + cv * cv).sqrt().recip();
            let below =
                draws.iter().filter(|draw| **draw < median).count() as f64 / draws.len() as f64;
            assert!((below - 0.5).abs() < 0.01, "{cv}: {below}");
        }
    }

    #[test]
    fn factors_differ_by_message_and_seed() {
        let of = |seed, step, from, to| Noise::new(0.5, seed).factor(step, from, to);
        let all = [of(1, 1, 2, 3), of(2, 1, 2, 3), of(1, 2, 2, 3), of(1, 1, 3, 2), of(1, 1, 2, 4)];
        assert!((0..5).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
        assert_eq!(of(1, 1, 2, 3), all[0]);
        assert_eq!(Noise::new(0.0, 1).factor(1, 2, 3), 1.0);
    }
}
