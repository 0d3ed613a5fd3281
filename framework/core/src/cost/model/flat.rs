//! The model `flat`: flat machines (Liu, Wang & Prasanna, section 2). A message costs time only at
//! its sender and its receiver. The network is never the bottleneck.
//!
//! Each phase of a schedule is a *stage*. At the start of a stage, every node composes (rearranges)
//! the data that it sends in the stage, including data for itself. Composing takes
//! `rearrange_byte_us` per byte. When all nodes have composed their data, each node works through
//! its own messages in the order of the schedule, and does not wait until other nodes end a step. A
//! node receives at most as many messages at the same time as it has ports, which causes
//! contention. There is a barrier between two stages. A late rank (`late=`) composes its data for
//! the first stage when it enters, and then begins its messages. Other nodes do not wait for a late
//! rank before they begin their messages.
//!
//! [`stage`] describes the cost of a message at its sender and its receiver. When all data that a
//! node receives in a step has arrived, the node reduces it (`reduce_byte_us` per byte).
//!
//! Each part of the critical path is charged to a kind of time. The times per byte (`byte_us` and
//! `copy_byte_us`) are transmission, and composing is rearrangement. Waiting for the port of a
//! receiver or for the copying engine of a node is contention. There is no propagation.
//! Rearrangements that the schedule declares ([`crate::simulation::Simulation::rearrange`]) are not
//! charged, because composing includes them.

use super::{Cost, Evaluator, Model, ModelKind, PricingContext, Refused, segment_bytes};
use crate::cost::bound::{Bound, Traffic};
use crate::cost::kind::Kind;
use crate::cost::model::clock::{Clock, Ticks, ticks};
use crate::cost::model::late::{LATE, Late};
use crate::cost::model::time_space::{RankClock, TimeSpace};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, DefaultValue, PORTS, PortLimit, REARRANGE_BYTE_US,
    REDUCE_BYTE_US, STARTUP_US, TypedParameter, parse_word,
};
use crate::cost::settings::{parameters, word_enum};
use crate::network::topology::Network;
use crate::simulation::listener::{Detail, Interests, Listener, LocalCopy, ScheduleEvent, Summed};
use crate::simulation::step::Step;
use accounting::Accounting;
use nonblocking::Nonblocking;
use stage::{Blocking, Stage, StageMessage};
use std::sync::Arc;

mod accounting;
mod bound;
mod crossing;
mod nonblocking;
pub mod stage;

pub(super) static KIND: ModelKind = ModelKind {
    name: "flat",
    title: "event-driven, without links: every node works through its own messages",
    parameters: Flat::PARAMETERS,
    pricing_time: 0.5,
    prepare: |settings| Ok(Arc::new(Flat::of(settings)?)),
};

static COPY_BYTE_US: TypedParameter<f64> = TypedParameter::micros(
    "copy_byte_us",
    "copying of a byte between memory and message buffer",
    "tc (Liu)",
);

static MODE: TypedParameter<Mode> = TypedParameter {
    key: "mode",
    meaning: "`blocking`: a send occupies its node until it is complete; `nonblocking`: it does not",
    symbols: "",
    default: DefaultValue::Text("blocking"),
    read: |text| parse_word(text, Mode::WORDS),
};

static SELF_MESSAGES: TypedParameter<SelfMessages> = TypedParameter {
    key: "self_messages",
    meaning: "`count`: data that a node sends to itself is a message; `free`: it costs only its rearrangement",
    symbols: "",
    default: DefaultValue::Text("free"),
    read: |text| parse_word(text, SelfMessages::WORDS),
};

static BUFFERS: TypedParameter<u64> = TypedParameter {
    key: "buffers",
    meaning: "send buffers per node; with 2, data for the next stage is rearranged during transmission",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: |text| parse_word(text, &[("1", 1), ("2", 2)]).map_err(|_| "1 or 2".to_owned()),
};

parameters! {
    /// A machine in which only ports and buffers of nodes limit messages, and distances do not
    /// matter.
    pub struct Flat {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        rearrange_byte_us: f64 = REARRANGE_BYTE_US,
        copy_byte_us: f64 = COPY_BYTE_US,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        ports: PortLimit = PORTS,
        mode: Mode = MODE,
        buffers: u64 = BUFFERS,
        self_messages: SelfMessages = SELF_MESSAGES,
        late: Late = LATE,
    }
}

word_enum! {
    /// The way in which a node sends.
    enum Mode {
        /// A node does only one thing at a time.
        Blocking = "blocking",
        /// Messages are sent while the node does other work.
        Nonblocking = "nonblocking",
    }
}

word_enum! {
    /// The cost of data that a node sends to itself.
    enum SelfMessages {
        /// The data costs as much as any other message.
        Count = "count",
        /// The data costs only its rearrangement.
        Free = "free",
    }
}

impl Flat {
    /// Returns whether nodes compose (rearrange) received data for the next stage as soon as the
    /// data arrives.
    fn composes_early(&self) -> bool {
        self.buffers > 1 && self.mode == Mode::Nonblocking
    }
}

impl Model for Flat {
    /// The evaluator needs the order of messages, and the data that nodes send to themselves.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// Only nonblocking mode needs to know when forwarded data arrived at its sender. In blocking
    /// mode, a node has received all messages of a step before it continues.
    fn follows_arrivals(&self) -> bool {
        self.mode == Mode::Nonblocking
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        let nodes = context.topology.nodes();
        let late = match self.late.ranks(nodes, context.seed) {
            Ok(late) => late,
            Err(why) => return Box::new(Refused(why)),
        };
        Box::new(Stages {
            machine: self.clone(),
            late,
            nodes,
            unit_bytes: context.unit_bytes,
            phase: None,
            stage: Stage::new(nodes as usize),
            precomposed: vec![0.0; nodes as usize],
            has_sums: false,
            summed: Vec::new(),
            stages: 0,
            clocks: vec![RankClock::default(); nodes as usize],
            clock: Clock::default(),
            too_many: false,
            accounting: None,
        })
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        bound::lower_bound(self, traffic, topology.nodes())
    }
}

impl Stage {
    /// Simulates the stage. The stage begins at `start`, when all nodes have composed their data.
    /// Returns the time at which the last node ends. With `compose`, which has an effect only in
    /// nonblocking mode, nodes compose received data for the next stage during this stage.
    pub fn run(&self, machine: &Flat, start: Clock, compose: bool) -> Clock {
        let mut clocks = vec![RankClock::beginning(start); self.composed.len()];
        self.run_with(machine, start.at(), &mut clocks, compose, None)
    }

    /// Does the same as [`Stage::run`]. Each node begins its messages at the time of its clock,
    /// which is later than `start` if the node is late. If `accounting` is `Some`, also records how
    /// each node spends its time.
    fn run_with(
        &self,
        machine: &Flat,
        start: Ticks,
        clocks: &mut [RankClock],
        compose: bool,
        accounting: Option<&mut Accounting>,
    ) -> Clock {
        match machine.mode {
            Mode::Blocking => Blocking::new(self, machine, start, clocks, accounting).run(),
            Mode::Nonblocking => {
                Nonblocking::new(self, machine, start, clocks, compose, accounting).run();
            }
        }
        let clocks = clocks.iter().map(|clock| **clock);
        clocks.reduce(Clock::later).expect("a network has nodes")
    }
}

/// The evaluator, which simulates the stages of a schedule one after another.
struct Stages {
    machine: Flat,
    /// The ranks that enter late, each with its time in µs; empty after the first stage.
    late: Vec<(usize, f64)>,
    nodes: u64,
    unit_bytes: f64,
    /// Number of the current phase.
    phase: Option<u32>,
    stage: Stage,
    /// For each node, the bytes that it composed for the current stage during the previous stage.
    precomposed: Vec<f64>,
    /// Whether any node reduces data.
    has_sums: bool,
    /// For each node, the bytes that it reduces at the end of the step that will be added next.
    summed: Vec<f64>,
    /// Number of finished stages that are not empty.
    stages: u64,
    /// The clocks of all nodes.
    clocks: Vec<RankClock>,
    /// The clock at the end of the previous stage.
    clock: Clock,
    too_many: bool,
    /// The record of how each node spends its time, if requested.
    accounting: Option<Box<Accounting>>,
}

impl Stages {
    fn bytes(&self, load: u64, parts: u64) -> f64 {
        load as f64 * segment_bytes(self.unit_bytes, parts)
    }

    fn add(&mut self, message: StageMessage) {
        /// The largest number of stored messages. This number of messages takes about 3 GiB.
        const MAX: usize = 1 << 26;
        self.too_many |= self.stage.messages.len() == MAX;
        if self.too_many {
            self.stage.clear();
        } else {
            self.stage.add(message);
        }
    }

    /// Enters a phase. If it differs from the current phase, first simulates the current stage.
    fn enter_phase(&mut self, phase: u32) {
        if self.phase.replace(phase).is_some_and(|previous| previous != phase) {
            let early = self.machine.composes_early();
            self.clock = self.end_of_stage(early);
            self.stages += u64::from(!self.stage.is_empty());
            if early {
                self.precomposed = self.stage.received();
            }
            self.stage.clear();
        }
    }

    /// Simulates the current stage and returns the clock at its end. `early` has the same meaning
    /// as `compose` in [`Stage::run`].
    fn end_of_stage(&mut self, early: bool) -> Clock {
        let composed = self.stage.composed.iter().zip(&self.precomposed);
        let bytes: Vec<f64> =
            composed.map(|(bytes, precomposed)| (bytes - precomposed).max(0.0)).collect();
        let compose = |bytes: f64| ticks(bytes * self.machine.rearrange_byte_us);
        let longest = bytes.iter().copied().fold(0.0, f64::max);
        let start = self.clock.after(Kind::Rearrangement, compose(longest));
        let mut accounting = self.accounting.as_deref_mut().filter(|_| !self.stage.is_empty());
        // All nodes wait until the previous stage has ended. The barrier follows.
        for (node, clock) in (0..).zip(&mut self.clocks) {
            let line = &mut Accounting::line(&mut accounting, node);
            clock.follow(self.clock, [], Kind::Peer, line);
        }
        if let Some(accounting) = &mut accounting {
            let barriers_us = self.stages as f64 * self.machine.barrier_us.us(self.nodes);
            accounting.begin_stage(self.stage.messages.len(), barriers_us);
        }
        let mut late = vec![0; self.clocks.len()];
        self.late.drain(..).for_each(|(rank, us)| late[rank] = ticks(us));
        let first = self.stage.messages.first();
        for (node, clock) in (0..).zip(&mut self.clocks) {
            // The clocks do not include barriers, so the barrier has no ticks.
            clock.spend(Kind::Barrier, 0, &mut Accounting::line(&mut accounting, node));
            if let (Some(accounting), Some(first)) = (&mut accounting, first) {
                accounting.enter(node, first.step);
            }
            // A late rank composes its data for the first stage after it has entered. Other ranks
            // do not wait for this.
            let line = &mut Accounting::line(&mut accounting, node);
            clock.wait_until(late[node as usize], Kind::Peer, line);
            clock.spend(Kind::Rearrangement, compose(bytes[node as usize]), line);
            clock.follow(start.later(**clock), [], Kind::Peer, line);
        }
        let Self { machine, clocks, accounting, .. } = self;
        self.stage.run_with(machine, start.at(), clocks, early, accounting.as_deref_mut())
    }
}

impl Stages {
    fn step(&mut self, step: &Step<'_>) {
        self.enter_phase(step.phase_number);
        if let Some(accounting) = &mut self.accounting {
            accounting.add_step(step.schedule_step);
        }
        for (i, t) in step.transfers.iter().enumerate() {
            let bytes = self.bytes(t.load, step.segments);
            let after = step.latest_arrivals.get(i).map_or(0, |after| (*after).into());
            self.add(StageMessage {
                from: t.from,
                to: t.to,
                step: step.schedule_step,
                after,
                bytes,
            });
        }
        self.stage.add_reductions(step.schedule_step, &std::mem::take(&mut self.summed));
    }

    fn summed(&mut self, summed: Summed<'_>) {
        self.has_sums = true;
        self.summed.resize(self.nodes as usize, 0.0);
        let unit_bytes = segment_bytes(self.unit_bytes, summed.segments);
        self.summed
            .iter_mut()
            .zip(summed.of)
            .for_each(|(bytes, load)| *bytes += *load as f64 * unit_bytes);
    }

    fn local_copy(&mut self, copy: LocalCopy) {
        self.enter_phase(copy.phase_number);
        let (node, bytes) = (copy.node, self.bytes(copy.load, copy.segments));
        match self.machine.self_messages {
            SelfMessages::Count => {
                // A node has the data for itself from the start, so `after` is 0. This is correct
                // even if the simulation has joined the data with data that arrived later.
                self.add(StageMessage {
                    from: node,
                    to: node,
                    step: copy.schedule_step,
                    after: 0,
                    bytes,
                });
            }
            SelfMessages::Free => self.stage.compose(node, bytes),
        }
    }
}

impl Listener for Stages {
    fn interests(&self) -> Interests {
        Interests { arrivals: self.machine.follows_arrivals(), ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) => self.summed(summed),
            ScheduleEvent::LocalCopy(copy) => self.local_copy(copy),
            _ => {}
        }
    }
}

impl Evaluator for Stages {
    fn cost(&mut self) -> Result<Cost, String> {
        if self.too_many {
            return Err(
                "the model `flat` simulates up to 67108864 messages between two barriers, this schedule has more"
                    .to_owned(),
            );
        }
        self.stage.add_reductions(u64::MAX, &std::mem::take(&mut self.summed));
        let clock = self.end_of_stage(false);
        let barriers = (self.stages + u64::from(!self.stage.is_empty())).saturating_sub(1);
        let barriers_us = barriers as f64 * self.machine.barrier_us.us(self.nodes);
        let parts = clock.path().with(Kind::Barrier, barriers_us).parts(|kind| match kind {
            Kind::Propagation => false,
            Kind::Reduction => self.has_sums,
            _ => true,
        });
        Ok(Cost { parts, note: None, ranks: None })
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.accounting = Some(Box::new(Accounting::new(record)));
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.accounting.take().map(|accounting| accounting.finish())
    }
}

#[cfg(test)]
mod tests;
