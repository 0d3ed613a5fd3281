//! What models have in common in which ranks don't wait for each other's steps: which messages a
//! rank has in which step.
//!
//! A schedule comes step by step, each rank goes its own way through it: what is kept are the steps
//! that some rank has not ended.

use super::segment_bytes;
use crate::cost::parameter::{
    BARRIER_US, Barrier, DefaultValue, ParameterError, TypedParameter, parse_word,
};
use crate::network::topology::Route;
use crate::simulation::listener::Summed;
use crate::simulation::step::{Step, Transfer};
use std::collections::VecDeque;
use std::fmt::{self, Display};

pub(super) mod data_order;
pub(super) mod event_limit;
pub(super) mod noise;
pub(super) mod refine;

/// What a rank waits for before it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// All its sends and receives of the step before.
    Step,
    Barrier,
    /// What it passes on ([`forwarding`]).
    Data,
}

impl Order {
    const WORDS: [(&'static str, Self); 3] =
        [("step", Self::Step), ("data", Self::Data), ("barrier", Self::Barrier)];

    /// That there are steps to put barriers between, if barriers take time.
    pub(super) fn with(self, barrier_us: Barrier) -> Result<(), ParameterError> {
        if self != Self::Data || barrier_us.us(2) == 0.0 {
            return Ok(());
        }
        let expected =
            "0 with order=data, where ranks have no steps to put barriers between".to_owned();
        Err(ParameterError::Bad { key: BARRIER_US.key, expected, found: barrier_us.to_string() })
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            Self::WORDS.iter().find(|(_, order)| order == self).map_or("", |(word, _)| word),
        )
    }
}

pub(super) static ORDER: TypedParameter<Order> = TypedParameter {
    key: "order",
    meaning: "what a rank waits for before its next step: `step`, its own sends and receives of the one before; `barrier`, everybody's; `data`, before each send, for what it passes on",
    symbols: "",
    default: DefaultValue::Text("step"),
    read: |text| parse_word(text, &Order::WORDS),
};

/// A message of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepMessage {
    pub from: u32,
    pub to: u32,
    /// Its route, numbered as [`crate::simulation::step::Transfer::route`] is.
    pub route: u32,
    /// How many steps before its own the last of what it carries comes to its sender; 0 if that has
    /// it from the beginning, or if arrivals are not followed.
    pub back: u32,
    pub load: u64,
}

/// The messages of a step, by sender and by receiver.
#[derive(Debug)]
pub(super) struct StepIndex {
    /// In the order of senders, and of each sender in the schedule's order.
    messages: Vec<StepMessage>,
    /// Where each sender's begin.
    first_send: Vec<u32>,
    /// Numbers of messages, in the order of receivers, and of each in the schedule's.
    received: Vec<u32>,
    first_receive: Vec<u32>,
    /// Where one node of each orbit is followed: the node that each message goes to, if its sender
    /// is the first of its orbit. Else empty.
    targets: Vec<u32>,
    pub routes: Vec<Route>,
    unit_bytes: f64,
    /// The schedule's own number of it.
    schedule_step: u64,
    /// For each rank what it receives that has not come, where arrivals are followed.
    missing: Vec<u32>,
    /// Bytes that each rank adds to what it has, once all that it receives has come; empty if none
    /// does.
    summed: Vec<f64>,
    /// Ranks that have not ended the step.
    inside: usize,
}

impl StepIndex {
    /// `back` says of a message's [`Step::latest_arrivals`] how many steps that is.
    fn new(nodes: usize, step: &Step<'_>, unit_bytes: f64, back: impl Fn(u32) -> u32) -> Self {
        let message = |(i, t): (usize, &Transfer)| {
            let back = step.latest_arrivals.get(i).map_or(0, |after| back(*after));
            StepMessage { from: t.from, to: t.to, route: t.route, back, load: t.load }
        };
        let messages: Vec<StepMessage> = step.transfers.iter().enumerate().map(message).collect();
        let mut arranged = Self {
            summed: Vec::new(),
            targets: Vec::new(),
            messages: Vec::new(),
            first_send: Vec::new(),
            received: Vec::new(),
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

    /// Puts messages, in the schedule's order, where they belong.
    fn arrange(&mut self, nodes: usize, messages: &[StepMessage]) {
        let ends = |end: fn(&StepMessage) -> u32| {
            let mut first = vec![0_u32; nodes + 1];
            messages.iter().for_each(|message| first[end(message) as usize + 1] += 1);
            (0..nodes).for_each(|node| first[node + 1] += first[node]);
            first
        };
        (self.first_send, self.first_receive) =
            (ends(|message| message.from), ends(|message| message.to));
        self.messages =
            vec![StepMessage { from: 0, to: 0, route: 0, back: 0, load: 0 }; messages.len()];
        self.received = vec![0; messages.len()];
        let (mut next_send, mut next_receive) =
            (self.first_send.clone(), self.first_receive.clone());
        for message in messages {
            let (place, number) =
                (&mut next_receive[message.to as usize], &mut next_send[message.from as usize]);
            self.messages[*number as usize] = *message;
            self.received[*place as usize] = *number;
            (*place, *number) = (*place + 1, *number + 1);
        }
    }

    /// What a rank sends, in its order.
    pub(super) fn sends(&self, rank: usize) -> &[StepMessage] {
        &self.messages[self.first_send[rank] as usize..self.first_send[rank + 1] as usize]
    }

    /// The node that the message at this place among a rank's sends goes to.
    pub(super) fn target(&self, rank: usize, place: u32) -> u32 {
        let at = (self.first_send[rank] + place) as usize;
        self.targets.get(at).copied().unwrap_or(self.messages[at].to)
    }

    /// The number among its sender's sends, and the message, of each that a rank receives.
    pub(super) fn receives(
        &self,
        rank: usize,
    ) -> impl ExactSizeIterator<Item = (u32, &StepMessage)> {
        let numbers = &self.received
            [self.first_receive[rank] as usize..self.first_receive[rank + 1] as usize];
        numbers.iter().map(|number| {
            let message = &self.messages[*number as usize];
            (number - self.first_send[message.from as usize], message)
        })
    }

    /// Bytes that a rank adds to what it has, once all that it receives has come.
    pub(super) fn summed(&self, rank: usize) -> f64 {
        self.summed.get(rank).copied().unwrap_or(0.0)
    }

    pub(super) fn bytes(&self, message: &StepMessage) -> f64 {
        message.load as f64 * self.unit_bytes
    }
}

/// The steps that some rank has not ended, as far as they have come.
#[derive(Debug)]
pub(super) struct Steps {
    nodes: usize,
    unit_bytes: f64,
    steps: VecDeque<StepIndex>,
    /// The number of the first of them, from 0.
    first: u64,
    messages: usize,
    too_many: bool,
    /// Ranks that wait for a step to come.
    open: usize,
    /// Whether anything is added up; and what of it belongs to the step that comes next.
    sums: bool,
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
            open: nodes,
            sums: false,
            summed: Vec::new(),
        }
    }

    /// The first that some rank has not ended, from 0.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn known(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    pub(super) fn add(&mut self, step: &Step<'_>) {
        /// Some 32 bytes each: 2 GiB.
        const MOST: usize = 1 << 26;
        self.too_many |= self.messages + step.transfers.len() > MOST;
        if self.too_many {
            self.steps.clear();
            return;
        }
        self.messages += step.transfers.len();
        // Steps that are no longer kept have been ended by all.
        let back = |after: u32| {
            let come = self.steps.partition_point(|earlier| earlier.schedule_step <= after.into());
            if come == 0 { 0 } else { (self.steps.len() + 1 - come) as u32 }
        };
        let step = StepIndex::new(self.nodes, step, self.unit_bytes, back);
        self.steps.push_back(StepIndex { summed: std::mem::take(&mut self.summed), ..step });
    }

    /// Nodes add this in the step that comes next; or, if it has no messages, that is added with
    /// what those of a later one bring.
    pub(super) fn sum(&mut self, summed: Summed<'_>) {
        let unit_bytes = segment_bytes(self.unit_bytes, summed.segments);
        self.sums = true;
        self.summed.resize(self.nodes, 0.0);
        self.summed
            .iter_mut()
            .zip(summed.of)
            .for_each(|(bytes, load)| *bytes += *load as f64 * unit_bytes);
    }

    /// Whether anything was added up.
    pub(super) fn sums(&self) -> bool {
        self.sums
    }

    /// What a rank adds after the last step.
    pub(super) fn summed_last(&self, rank: usize) -> f64 {
        self.summed.get(rank).copied().unwrap_or(0.0)
    }

    /// Whether nobody waits for a step to come: there is more to do before it must.
    pub(super) fn no_rank_waits(&self) -> bool {
        self.open == 0
    }

    /// Whether everybody waits for a step to come.
    pub(super) fn all_ranks_wait(&self) -> bool {
        self.open == self.nodes
    }

    /// A rank has come to the end of what is known.
    pub(super) fn wait(&mut self) {
        self.open += 1;
    }

    /// The step that a rank enters; it waits for it if it has not come.
    pub(super) fn enter(&mut self, number: u64) -> Option<&StepIndex> {
        if number >= self.known() {
            self.wait();
        }
        self.get(number)
    }

    /// Who goes on, now that a step has come, of ranks in these steps: with `order=data` everyone
    /// looks, else who has waited for it.
    pub(super) fn wake_ranks(
        &mut self,
        by_data: bool,
        ranks: impl Iterator<Item = u64>,
    ) -> Vec<usize> {
        let last = self.known().saturating_sub(1);
        let on: Vec<usize> = (0..)
            .zip(ranks)
            .filter(|(_, step)| by_data || *step == last)
            .map(|(rank, _)| rank)
            .collect();
        self.open = if by_data { 0 } else { self.open - on.len() };
        on
    }

    pub(super) fn get(&self, number: u64) -> Option<&StepIndex> {
        self.steps.get((number - self.first) as usize)
    }

    /// A rank has ended the step.
    pub(super) fn left(&mut self, number: u64) {
        if let Some(step) = self.steps.get_mut((number - self.first) as usize) {
            step.inside -= 1;
        }
        while self.steps.front().is_some_and(|step| step.inside == 0) {
            self.messages -= self.steps.pop_front().map_or(0, |step| step.messages.len());
            self.first += 1;
        }
    }

    /// Something of the step has come to the rank; where that is followed.
    fn came(&mut self, number: u64, rank: usize) {
        let step = self.steps.get_mut((number - self.first) as usize);
        if let Some(missing) = step.and_then(|step| step.missing.get_mut(rank)) {
            *missing -= 1;
        }
    }

    /// Whether more came than can be kept.
    pub(super) fn limit_reached(&self) -> bool {
        self.too_many
    }

    /// Why there is no time, where more came than can be kept.
    pub(super) fn check_limit(&self, model: &str) -> Result<(), String> {
        if self.too_many {
            return Err(format!(
                "the model `{model}` follows up to 67108864 messages of steps that some rank has not ended, this schedule has more"
            ));
        }
        Ok(())
    }
}
