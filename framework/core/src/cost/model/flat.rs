//! Flat machines (Liu, Wang & Prasanna, section 2): what counts is what the ends of a message do;
//! the network between them is never the bottleneck.
//!
//! A schedule's phases are stages. At the beginning of a stage every node composes what it will
//! send (`rearrange_byte_us` a byte, what it sends to itself included); when all have, each works
//! through its own messages, in the schedule's order, within a step as among steps, but without
//! waiting for anybody's step. A receiver takes as many messages at a time as it has ports: node
//! contention appears by itself. Between two stages there is a barrier.
//!
//! [`stage`] says what a message costs at which end; what a node adds up (`reduce_byte_us` a byte)
//! it adds when all that it receives in the step has come. The parts of time are those along the
//! critical path: transmission is `byte_us` and `copy_byte_us`, rearrangement is composing,
//! contention is waiting for a receiver's port or a node's copying engine. There is no propagation.
//! What [`crate::simulation::Simulation::rearrange`] announces is not charged again: it is
//! composing under another name.

use super::{Cost, Evaluator, Model, ModelKind, Parts, PricingContext, segment_bytes};
use crate::cost::bound::{Bound, Traffic};
use crate::cost::model::clock::Clock;
use crate::cost::model::time_space::TimeSpace;
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, DefaultValue, PORTS, PortLimit, REARRANGE_BYTE_US,
    REDUCE_BYTE_US, STARTUP_US, TypedParameter, parse_micros, parse_word, word_of,
};
use crate::cost::settings::parameters;
use crate::network::topology::Topology;
use crate::simulation::listener::{Detail, Interests, Listener, LocalCopy, ScheduleEvent, Summed};
use crate::simulation::step::Step;
use accounting::Accounting;
use nonblocking::Nonblocking;
use stage::{Blocking, Stage, StageMessage};
use std::fmt::{self, Display};
use std::sync::Arc;

mod accounting;
mod bound;
mod crossing;
mod nonblocking;
pub mod stage;

pub(super) static KIND: ModelKind = ModelKind {
    name: "flat",
    title: "event-driven, without a network: every node works through its own messages",
    parameters: Flat::PARAMETERS,
    prepare: |settings| Ok(Arc::new(Flat::of(settings)?)),
};

static COPY_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "copy_byte_us",
    meaning: "copying a byte between memory and message buffer",
    symbols: "tc (Liu)",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

static MODE: TypedParameter<Mode> = TypedParameter {
    key: "mode",
    meaning: "whether a send waits until it is done",
    symbols: "",
    default: DefaultValue::Text("blocking"),
    read: |text| parse_word(text, &Mode::WORDS),
};

static SELF_MESSAGES: TypedParameter<SelfMessages> = TypedParameter {
    key: "self_messages",
    meaning: "whether what a node sends itself is a message (`count`), or costs its composing alone (`free`)",
    symbols: "",
    default: DefaultValue::Text("free"),
    read: |text| parse_word(text, &SelfMessages::WORDS),
};

static BUFFERS: TypedParameter<u64> = TypedParameter {
    key: "buffers",
    meaning: "send buffers of a node",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: |text| parse_word(text, &[("1", 1), ("2", 2)]).map_err(|_| "1 or 2".to_owned()),
};

parameters! {
    /// A machine whose nodes are all equally far apart: only their own ports and buffers hold them
    /// up.
    #[derive(Copy)]
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
    }
}

/// Whether a send waits until it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A node does one thing at a time.
    Blocking,
    /// Sends go on while the node does other things.
    Nonblocking,
}

impl Mode {
    const WORDS: [(&'static str, Self); 2] =
        [("blocking", Self::Blocking), ("nonblocking", Self::Nonblocking)];
}

impl Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word_of(&Self::WORDS, self))
    }
}

/// Whether what a node sends itself is a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelfMessages {
    /// A message to oneself costs what any other does.
    Count,
    /// It is composed, no more.
    Free,
}

impl SelfMessages {
    const WORDS: [(&'static str, Self); 2] = [("count", Self::Count), ("free", Self::Free)];
}

impl Display for SelfMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word_of(&Self::WORDS, self))
    }
}

impl Flat {
    /// Whether what a node has received it composes at once for the next stage.
    fn composes_early(&self) -> bool {
        self.buffers > 1 && self.mode == Mode::Nonblocking
    }
}

impl Model for Flat {
    /// Nodes work through their messages in the schedule's order, and local copies go through their
    /// buffers.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// Who does one thing at a time has received what comes in a step before it goes on.
    fn follows_arrivals(&self) -> bool {
        self.mode == Mode::Nonblocking
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        let nodes = context.topology.nodes();
        Box::new(Stages {
            machine: *self,
            nodes,
            unit_bytes: context.unit_bytes,
            phase: None,
            stage: Stage::new(nodes as usize),
            ready: vec![0.0; nodes as usize],
            sums: false,
            summed: Vec::new(),
            stages: 0,
            clock: Clock::default(),
            too_many: false,
            kept: None,
        })
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound {
        bound::lower_bound(self, traffic, topology.nodes())
    }
}

impl Stage {
    /// Runs the stage from `start` on, when all is composed; the moment when the last node is done.
    /// `compose` says whether received data are composed for the next stage at once (nonblocking
    /// mode).
    pub fn run(&self, machine: &Flat, start: Clock, compose: bool) -> Clock {
        self.run_and_keep(machine, start, compose, None)
    }

    /// The same, while what nodes' time goes into is kept.
    fn run_and_keep(
        &self,
        machine: &Flat,
        start: Clock,
        compose: bool,
        kept: Option<&mut Accounting>,
    ) -> Clock {
        match machine.mode {
            Mode::Blocking => Blocking::new(self, machine, start, kept).run(),
            Mode::Nonblocking => Nonblocking::new(self, machine, start, compose, kept).run(),
        }
    }
}

/// A schedule's stages, one after another.
struct Stages {
    machine: Flat,
    nodes: u64,
    unit_bytes: f64,
    /// The stage under way, by the number of its phase.
    phase: Option<u32>,
    stage: Stage,
    /// What has been composed already for the stage under way, where there are two send buffers.
    ready: Vec<f64>,
    /// Whether anything is added up; and what each node adds of what comes in the step that comes
    /// next, in bytes.
    sums: bool,
    summed: Vec<f64>,
    stages: u64,
    clock: Clock,
    too_many: bool,
    /// What nodes' time goes into, where somebody asked.
    kept: Option<Box<Accounting>>,
}

impl Stages {
    fn bytes(&self, load: u64, parts: u64) -> f64 {
        load as f64 * segment_bytes(self.unit_bytes, parts)
    }

    fn add(&mut self, message: StageMessage) {
        /// What a stage's messages may take: 3 GiB.
        const MOST: usize = 1 << 26;
        self.too_many |= self.stage.messages.len() == MOST;
        if self.too_many {
            self.stage.clear();
        } else {
            self.stage.add(message);
        }
    }

    /// What is said next is of phase number `phase`: runs the stage before it, if that is another.
    fn enter(&mut self, phase: u32) {
        if self.phase.replace(phase).is_some_and(|earlier| earlier != phase) {
            let early = self.machine.composes_early();
            self.clock = self.after_stage(early);
            self.stages += u64::from(!self.stage.is_empty());
            if early {
                self.ready = self.stage.received();
            }
            self.stage.clear();
        }
    }

    /// When the stage under way ends. `compose` says whether received data are composed for the
    /// next stage at once.
    fn after_stage(&mut self, compose: bool) -> Clock {
        let composing = self
            .stage
            .composed
            .iter()
            .zip(&self.ready)
            .map(|(bytes, ready)| (bytes - ready).max(0.0));
        let longest = composing.clone().fold(0.0, f64::max);
        let start = self.clock.composed(longest * self.machine.rearrange_byte_us);
        if let Some(kept) = self.kept.as_mut().filter(|_| !self.stage.is_empty()) {
            let barriers_us = self.stages as f64 * self.machine.barrier_us.us(self.nodes);
            let composing_us = composing.map(|bytes| bytes * self.machine.rearrange_byte_us);
            let messages = &self.stage.messages;
            let of_stage = (messages.len(), messages.first().map(|message| message.step));
            kept.begin(of_stage, self.clock.at, barriers_us, composing_us, start);
        }
        self.stage.run_and_keep(&self.machine, start, compose, self.kept.as_deref_mut())
    }
}

impl Stages {
    fn step(&mut self, step: &Step<'_>) {
        self.enter(step.phase_number);
        if let Some(kept) = &mut self.kept {
            kept.step(step.schedule_step);
        }
        for (i, t) in step.transfers.iter().enumerate() {
            let bytes = self.bytes(t.load, step.segments);
            let after = step.latest_arrivals.get(i).copied().unwrap_or(0).into();
            self.add(StageMessage {
                from: t.from,
                to: t.to,
                step: step.schedule_step,
                after,
                bytes,
            });
        }
        self.stage.add_up(step.schedule_step, &std::mem::take(&mut self.summed));
    }

    fn summed(&mut self, summed: Summed<'_>) {
        self.sums = true;
        self.summed.resize(self.nodes as usize, 0.0);
        let unit_bytes = segment_bytes(self.unit_bytes, summed.segments);
        self.summed
            .iter_mut()
            .zip(summed.of)
            .for_each(|(bytes, load)| *bytes += *load as f64 * unit_bytes);
    }

    fn local_copy(&mut self, copy: LocalCopy) {
        self.enter(copy.phase_number);
        let (node, bytes) = (copy.node, self.bytes(copy.load, copy.segments));
        match self.machine.self_messages {
            SelfMessages::Count => {
                // What a node keeps lies joined with what came to it: it is its own all the same.
                self.add(StageMessage {
                    from: node,
                    to: node,
                    step: copy.schedule_step,
                    after: 0,
                    bytes,
                });
            }
            SelfMessages::Free => self.stage.copy(node, bytes),
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
                "the model `flat` follows up to 67108864 messages between two barriers, this schedule has more"
                    .to_owned(),
            );
        }
        self.stage.add_up(u64::MAX, &std::mem::take(&mut self.summed));
        let clock = self.after_stage(false);
        let barriers = (self.stages + u64::from(!self.stage.is_empty())).saturating_sub(1);
        let barrier = Some(barriers as f64 * self.machine.barrier_us.us(self.nodes));
        let parts = Parts { propagation: None, barrier, ..clock.path.parts(self.sums) };
        Ok(Cost { parts, note: None, ranks: None })
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.kept = Some(Box::new(Accounting::new(record)));
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.kept.take().map(|kept| kept.done())
    }
}

#[cfg(test)]
mod tests;
