//! Code that the models `loggp` and `fluid` share. In these models each rank has its own clock, and
//! does not wait until other ranks end a step.
//!
//! The simulation reports the steps of a schedule one by one. A step that has been reported is
//! *known*. Each rank works through the known steps at its own pace. A step is stored until all
//! ranks have ended it.
//!
//! In a *folded* simulation, one rank represents all nodes of an orbit. An orbit is a set of nodes
//! that symmetries map to each other, so these nodes do the same work at the same time.

use super::segment_bytes;
use crate::cost::parameter::{
    BARRIER_US, Barrier, DefaultValue, ParameterError, TypedParameter, parse_word,
};
use crate::cost::settings::word_enum;
use crate::network::topology::Route;
use crate::places::Places;
use crate::simulation::listener::Summed;
use crate::simulation::step::{Step, Transfer};
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) mod data_order;
pub(super) mod engine;
pub(super) mod event_limit;
pub(super) mod noise;
pub(super) mod repetition;

word_enum! {
    /// The events for which a rank waits before it continues.
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
    /// Errors if the machine has barriers (`barrier_us`) and the order is `data`. With this order,
    /// ranks do not work step by step, so no barrier could separate steps.
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

/// Adds loads that nodes reduce to the bytes that each of them reduces at the end of a step.
pub(super) fn add_sums(bytes: &mut Vec<f64>, summed: Summed<'_>, nodes: usize, unit_bytes: f64) {
    let unit_bytes = segment_bytes(unit_bytes, summed.segments);
    bytes.resize(nodes, 0.0);
    bytes.iter_mut().zip(summed.of).for_each(|(sum, load)| *sum += *load as f64 * unit_bytes);
}

/// A message of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepMessage {
    pub from: u32,
    pub to: u32,
    /// Number of the message's route, as in [`crate::simulation::step::Transfer::route`].
    pub route: u32,
    /// The number of known steps from the arrival of the message's data at its sender to the step
    /// of the message. The arrival is the latest step in which the sender received any of this
    /// data. The value is 0 if the order is not `data`, if the sender has the data from the start,
    /// or if all ranks had ended the step of the arrival when the step of the message became known.
    pub back: u32,
    pub load: u64,
}

/// The messages of a step, indexed by sender and by receiver.
#[derive(Debug, Clone)]
pub(super) struct StepIndex {
    /// All messages of the step, sorted by sender. Messages of the same sender are in the order of
    /// the schedule. Copies of a simulation share this list.
    messages: Arc<Vec<StepMessage>>,
    /// For each sender, the index of its first message in `messages`.
    first_send: Vec<u32>,
    /// Indices into `messages`, sorted by receiver.
    received: Arc<Vec<u32>>,
    /// For each receiver, the position of its first message in `received`.
    first_receive: Vec<u32>,
    /// The destination node of each message in a folded simulation, in which one rank represents an
    /// orbit of nodes. It is the destination if the first node of the sender's orbit sends the
    /// message. Empty if the simulation is not folded.
    targets: Vec<u32>,
    pub routes: Vec<Route>,
    unit_bytes: f64,
    /// The number that the schedule gives the step.
    schedule_step: u64,
    /// For each rank, the number of messages of this step that it has not received yet. Empty
    /// unless the order is `data`.
    missing: Vec<u32>,
    /// For each rank, the bytes that it reduces at the end of the step. Empty if no rank reduces
    /// anything.
    summed: Vec<f64>,
    /// Number of ranks that have not ended the step.
    inside: usize,
}

impl StepIndex {
    /// Creates the index of a step. `back` converts a value of [`Step::latest_arrivals`] to
    /// [`StepMessage::back`].
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

    /// Sorts `messages`, which are in the order of the schedule, by sender and by receiver.
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

    /// Returns the messages that a rank sends, in the order in which it sends them.
    pub(super) fn sends(&self, rank: usize) -> &[StepMessage] {
        &self.messages[self.first_send[rank] as usize..self.first_send[rank + 1] as usize]
    }

    /// Returns the destination node of a message. `place` is the index of the message among the
    /// sends of the rank.
    pub(super) fn target(&self, rank: usize, place: u32) -> u32 {
        let at = (self.first_send[rank] + place) as usize;
        self.targets.get(at).copied().unwrap_or(self.messages[at].to)
    }

    /// Returns the route of a message of the step; `None` if it has the route of the network.
    pub(super) fn route(&self, message: &StepMessage) -> Option<&Route> {
        message.route.checked_sub(1).map(|number| &self.routes[number as usize])
    }

    /// Returns the messages that a rank receives. Each message comes with its index among the sends
    /// of its sender.
    pub(super) fn receives(
        &self,
        rank: usize,
    ) -> impl ExactSizeIterator<Item = (u32, &StepMessage)> {
        let receives = self.first_receive[rank + 1] - self.first_receive[rank];
        (0..receives as usize).map(move |place| self.receive(rank, place))
    }

    /// Returns a message that a rank receives, and the index of this message among the sends of its
    /// sender. `place` is the index of the message among the receives of the rank.
    pub(super) fn receive(&self, rank: usize, place: usize) -> (u32, &StepMessage) {
        let number = self.received[self.first_receive[rank] as usize + place];
        let message = &self.messages[number as usize];
        (number - self.first_send[message.from as usize], message)
    }

    /// Returns the bytes that a rank reduces at the end of the step.
    pub(super) fn summed(&self, rank: usize) -> f64 {
        self.summed.get(rank).copied().unwrap_or(0.0)
    }

    pub(super) fn bytes(&self, message: &StepMessage) -> f64 {
        message.load as f64 * self.unit_bytes
    }
}

/// The known steps that at least one rank has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    nodes: usize,
    unit_bytes: f64,
    steps: VecDeque<StepIndex>,
    /// Number of the first stored step, counted from 0.
    first: u64,
    messages: usize,
    too_many: bool,
    /// The number of ranks that wait until a further step becomes known.
    waiting: usize,
    /// Whether any rank reduces data.
    has_sums: bool,
    /// For each rank, the bytes that it reduces at the end of the step that will be added next.
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

    /// Returns the number of the first step that at least one rank has not ended.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of steps that have become known.
    pub(super) fn known(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    pub(super) fn add(&mut self, step: &Step<'_>) {
        /// The limit on stored messages. A message takes about 32 bytes, so this is 2 GiB.
        const MAX_MESSAGES: usize = 1 << 26;
        self.too_many |= self.messages + step.transfers.len() > MAX_MESSAGES;
        if self.too_many {
            self.steps.clear();
            return;
        }
        self.messages += step.transfers.len();
        // Convert the number of a step to a distance from the new step. Steps that are no longer
        // stored count as 0: all ranks have ended them, so they cannot delay a send.
        let back = |after: u32| {
            let come = self.steps.partition_point(|earlier| earlier.schedule_step <= after.into());
            if come == 0 { 0 } else { (self.steps.len() + 1 - come) as u32 }
        };
        let step = StepIndex::new(self.nodes, step, self.unit_bytes, back);
        self.steps.push_back(StepIndex { summed: std::mem::take(&mut self.summed), ..step });
    }

    /// Adds loads that ranks reduce at the end of the step that will be added next. A step of the
    /// schedule without messages is never added, so its reductions take place in a later step.
    pub(super) fn sum(&mut self, summed: Summed<'_>) {
        self.has_sums = true;
        add_sums(&mut self.summed, summed, self.nodes, self.unit_bytes);
    }

    /// Returns the bytes that each rank reduces at the end of the step that is added next. Empty if
    /// no rank reduces anything.
    pub(super) fn next_sums(&self) -> &[f64] {
        &self.summed
    }

    /// Forgets the reductions of the step that would be added next.
    pub(super) fn clear_next_sums(&mut self) {
        self.summed.clear();
    }

    pub(super) fn has_sums(&self) -> bool {
        self.has_sums
    }

    /// Returns the bytes that a rank reduces after the last step of the schedule.
    pub(super) fn summed_last(&self, rank: usize) -> f64 {
        self.summed.get(rank).copied().unwrap_or(0.0)
    }

    /// Returns whether any stored step has more than `least` messages.
    pub(super) fn has_larger_than(&self, least: usize) -> bool {
        self.messages > least && self.steps.iter().any(|step| step.messages.len() > least)
    }

    pub(super) fn no_rank_waits(&self) -> bool {
        self.waiting == 0
    }

    pub(super) fn all_ranks_wait(&self) -> bool {
        self.waiting == self.nodes
    }

    /// Increments the number of ranks that wait until a further step becomes known.
    pub(super) fn wait(&mut self) {
        self.waiting += 1;
    }

    /// Sets the number of ranks that wait until a further step becomes known: all ranks, or 0.
    pub(super) fn set_all_waiting(&mut self, are_waiting: bool) {
        self.waiting = if are_waiting { self.nodes } else { 0 };
    }

    /// Returns the step with this number, which a rank enters. If the step is not known yet, counts
    /// the rank as waiting and returns `None`.
    pub(super) fn enter(&mut self, number: u64) -> Option<&StepIndex> {
        if number >= self.known() {
            self.wait();
        }
        self.get(number)
    }

    /// Returns the ranks that can continue after a step has been added. With `order=data`, these
    /// are all ranks. With the other orders, these are the ranks that wait for this step. The
    /// returned ranks no longer count as waiting. `positions` has the number of the current step of
    /// each rank.
    pub(super) fn wake_ranks(
        &mut self,
        by_data: bool,
        positions: impl Iterator<Item = u64>,
    ) -> Vec<usize> {
        let last = self.known().saturating_sub(1);
        let awake: Vec<usize> = (0..)
            .zip(positions)
            .filter(|(_, step)| by_data || *step == last)
            .map(|(rank, _)| rank)
            .collect();
        self.waiting = if by_data { 0 } else { self.waiting - awake.len() };
        awake
    }

    /// Returns the step with this number. Returns `None` if it is not known yet.
    pub(super) fn get(&self, number: u64) -> Option<&StepIndex> {
        self.steps.get((number - self.first) as usize)
    }

    /// Returns a step that some rank has entered and not ended, or of which a message is in flight.
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

    /// Records that one rank has ended a step. Removes the steps that all ranks have ended.
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

    /// Records that a rank has received a message of a step. Only for `order=data`.
    pub(super) fn received(&mut self, number: u64, rank: usize) {
        let Some(step) = self.steps.get_mut((number - self.first) as usize) else {
            unreachable!("rank {rank} receives a message of step {number}, which is not stored");
        };
        step.missing[rank] -= 1;
    }

    pub(super) fn limit_reached(&self) -> bool {
        self.too_many
    }

    /// Errors if more messages had to be stored than the limit allows.
    pub(super) fn check_limit(&self, model: &str) -> Result<(), String> {
        if self.too_many {
            return Err(format!(
                "the model `{model}` stores up to 67108864 messages of steps that some rank has not ended, this schedule has more"
            ));
        }
        Ok(())
    }
}

/// A split of orbits into smaller orbits. Orbits are split before a step that has fewer symmetries
/// than the steps before it. The old ranks represent the orbits before the split, and the new ranks
/// represent the orbits after it.
pub(super) struct Refinement<'a> {
    /// For each new rank, the old rank whose orbit contained the orbit of the new rank.
    pub of: &'a [usize],
    /// Returns the destination of a message of a new rank. The arguments are the new rank, and the
    /// destination of the same message of its old rank.
    pub moved: &'a dyn Fn(usize, u32) -> u32,
    /// Returns the new rank that represents a node.
    pub rank: &'a dyn Fn(u32) -> u32,
    /// Returns the number of new ranks that have not ended the step with this number.
    pub inside: &'a dyn Fn(u64) -> usize,
}

impl Steps {
    /// Adds a step that has only the messages of one node of each orbit, sorted by sender.
    /// `targets` has the destination node of each message.
    pub(super) fn add_folded(&mut self, step: &Step<'_>, targets: Vec<u32>) {
        self.add(step);
        if let Some(last) = self.steps.back_mut() {
            last.targets = targets;
        }
    }

    /// Replaces the old ranks by the new ranks in all stored steps, after a split of orbits.
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
