//! The model `flat`: flat machines (Liu, Wang & Prasanna, section 2). A message costs time only at
//! its sender and its receiver, and the network is never the bottleneck.
//!
//! # Stages
//!
//! Each phase of a schedule is a *stage*. At the start of a stage, every node *composes*
//! (rearranges) the data that it sends in the stage, including data for itself. Composing takes
//! `rearrange_byte_us` per byte. When all nodes have composed their data, each node works through
//! its own messages in the order of the schedule, and does not wait until other nodes end a step.
//! There is a barrier between two stages. A late rank (`late=`) composes its data for the first
//! stage when it enters; other nodes do not wait for it. Rearrangements that the schedule declares
//! ([`crate::simulation::Simulation::rearrange`]) cost nothing, because composing includes them.
//!
//! # Messages
//!
//! A message of m bytes has a start-up time Ts (`startup_us`) and a copying time `m tc`
//! (`copy_byte_us`). Half of each is spent at the sender, and half at the receiver. In between, the
//! message *crosses* the network in the time `m td` (`byte_us`). A node receives at most as many
//! messages at the same time as it has ports. When all data that a node receives in a step has
//! arrived, the node reduces it (`reduce_byte_us` per byte).
//!
//! **Blocking mode** (section 2.3 (1), Figs. 2 and 3; `Blocking`). A node does one thing at a time.
//! In each step it first sends, then receives:
//! - A send takes `Ts/2 + m tc/2`, waits for a free port at the receiver, and takes `m td` more.
//! - A receive waits until the message has arrived, and takes `Ts/2 + m tc/2`.
//!
//! **Nonblocking mode** (section 2.3 (2); `Nonblocking`). Three components work concurrently:
//! - The processor starts all sends one after another, Ts/2 each. Then it completes receives in the
//!   order of arrival, Ts/2 each. A send that forwards data received in the same stage waits until
//!   the receives of that data are complete. All later sends of the node wait with it.
//! - A copying engine (DMA) takes `m tc/2` for each message that the node sends or receives. It
//!   copies messages in the order in which they become ready.
//! - Ports: a message waits until an output port of its sender and an input port of its receiver
//!   are free (section 2.3), and takes `m td` to cross. Of the messages with a free port at both
//!   ends, the message that was ready first crosses first; of simultaneous messages, that of the
//!   sender with the lowest number. This agrees with the paper. If a message instead occupied its
//!   output port while its receiver is busy, a direct exchange of irregular messages on 16 nodes
//!   would take a tenth longer than in the paper.
//!
//! If a node has a second send buffer (`buffers=2`), its processor composes received data for the
//! next stage as soon as the data arrives. Simultaneous events are ordered by kind, node and
//! message, with exact times ([`crate::cost::model::clock`]).
//!
//! # Kinds of time
//!
//! The times per byte (`byte_us` and `copy_byte_us`) are transmission, and composing is
//! rearrangement. Waiting for a port or a copying engine is contention. No time is propagation.
//!
//! # Why this model has its own simulation
//!
//! In the engine of `loggp` and `fluid` (`asynchronous`), a rank begins a step as soon as the
//! simulation of the schedule has reported it, and a step is freed when all ranks have ended it. In
//! this model, no node can begin a stage before the last message of the stage is known, because
//! nodes first compose all data of the stage. In nonblocking mode, a node also works on many steps
//! at once.

use super::asynchronous::add_sums;
use super::{Cost, Evaluator, Model, ModelKind, PricingContext, Refused, segment_bytes};
use crate::cost::bound::{Bound, BoundKind, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::model::clock::{Clock, Ticks, of_bytes, ticks, us};
use crate::cost::model::late::{LATE, Late};
use crate::cost::model::time_space::{RankClock, TimeLine, TimeSpace};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, DefaultValue, PORTS, PortLimit, REARRANGE_BYTE_US,
    REDUCE_BYTE_US, STARTUP_US, TypedParameter, parse_word,
};
use crate::cost::settings::{parameters, word_enum};
use crate::network::topology::Network;
use crate::places::Places;
use crate::simulation::listener::{Detail, Interests, Listener, LocalCopy, ScheduleEvent};
use crate::simulation::step::Step;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

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
    /// A machine on which only ports and buffers of nodes limit messages.
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
    enum Mode {
        Blocking = "blocking",
        Nonblocking = "nonblocking",
    }
}

word_enum! {
    enum SelfMessages {
        /// Data for the node itself costs as much as any other message.
        Count = "count",
        /// Data for the node itself costs only its rearrangement.
        Free = "free",
    }
}

impl Flat {
    fn composes_early(&self) -> bool {
        self.buffers > 1 && self.mode == Mode::Nonblocking
    }
}

impl Model for Flat {
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// In blocking mode, arrivals are not needed: a node receives all messages of a step before it
    /// continues, so it always has the data that it forwards.
    fn follows_arrivals(&self) -> bool {
        self.mode == Mode::Nonblocking
    }

    fn has_stages(&self) -> bool {
        true
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
            unit_bytes: context.unit_bytes,
            phase: None,
            stage: Stage::new(nodes as usize),
            precomposed: vec![0.0; nodes as usize],
            has_sums: false,
            summed: Vec::new(),
            barriers: 0,
            nodes: Nodes::new(vec![RankClock::default(); nodes as usize]),
            clock: Clock::default(),
            too_many: false,
        })
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    /// Returns the largest of three bounds. They are not added, because the nodes that forward,
    /// send and reduce most can be different nodes.
    ///
    /// S and R are the most bytes that a node must send and receive. tc is `copy_byte_us`, td is
    /// `byte_us`, and p is the number of ports of a node.
    ///
    /// **Bound 1, from bytes**, is the sum of three times:
    /// * Rearrangement: `S rearrange_byte_us`, because a stage starts when all nodes have composed
    ///   their data. With a second send buffer, this time is 0, because nodes compose during
    ///   transmission.
    /// * A start-up: one half at the sender, and one half at the receiver.
    /// * Transmission, which is the largest of three times:
    ///   1. The time of the sender. In blocking mode the sender is busy with its half of the
    ///      copying and with the transmission, `S (tc/2 + td)`. In nonblocking mode its copying
    ///      engine is busy for `S tc/2`. If the same node also receives R bytes, `R tc/2` is added.
    ///   2. The time of the p ports of a node: `S td/p` for sending, and `R td/p` for receiving.
    ///   3. The receiver's half of the copying: `R tc/2`.
    ///
    /// **Bound 2, from start-ups**, is the least time in which data reaches all of its
    /// destinations. In blocking mode, a sender is free again half a start-up after its send began.
    /// The receiver can forward the data a whole start-up after this send began. So after t halves
    /// of a start-up, data has reached at most F(t+1) nodes including its origin, where F are the
    /// Fibonacci numbers (1, 1, 2, 3, 5, etc.). For d destinations, the bound is the smallest t
    /// with F(t+1) > d. This is the postal model with a latency of two sends (Bar-Noy & Kipnis,
    /// 1992). In nonblocking mode, sends do not wait for receives, and this bound is one start-up.
    ///
    /// **Bound 3, from reductions**, is a start-up and the time of the bytes that one node reduces.
    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        let blocking = self.mode == Mode::Blocking;
        let half_copy = self.copy_byte_us / 2.0;
        let sending = half_copy + if blocking { self.byte_us } else { 0.0 };
        let by_sender = traffic.sent * sending
            + if traffic.by_same_node { traffic.received * half_copy } else { 0.0 };
        let through_ports = self.byte_us / self.ports.at_most(topology.nodes() - 1) as f64;
        let by_sender = by_sender.max(traffic.sent * through_ports);
        let by_receiver = traffic.received * through_ports.max(half_copy);
        let composes_meanwhile = self.composes_early();
        let composing =
            if composes_meanwhile { 0.0 } else { traffic.sent * self.rearrange_byte_us };
        let by_bytes = Bound {
            kind: BoundKind::Bytes,
            times: Times::of([
                (Kind::Startup, self.startup_us),
                (Kind::Transmission, by_sender.max(by_receiver)),
                (Kind::Rearrangement, composing),
            ]),
        };
        let halves = if blocking { halves_to_reach(traffic.peers + 1) } else { 2 };
        let by_startups = Times::of([(Kind::Startup, halves as f64 * self.startup_us / 2.0)]);
        let by_sums = Times::of([
            (Kind::Startup, self.startup_us),
            (Kind::Reduction, traffic.summed * self.reduce_byte_us),
        ]);
        by_bytes.max(by_startups.into()).max(by_sums.into())
    }
}

/// Returns the least number of half start-ups after which data can have reached `nodes` nodes.
fn halves_to_reach(nodes: u64) -> u64 {
    let (mut before, mut reached, mut halves) = (1_u128, 1_u128, 1);
    while reached < u128::from(nodes) {
        (before, reached) = (reached, before + reached);
        halves += 1;
    }
    halves
}

struct Stages {
    machine: Flat,
    late: Vec<(usize, f64)>,
    unit_bytes: f64,
    phase: Option<u32>,
    stage: Stage,
    precomposed: Vec<f64>,
    has_sums: bool,
    /// For each node, the bytes that it reduces at the end of the step that is reported next.
    summed: Vec<f64>,
    barriers: u64,
    nodes: Nodes,
    clock: Clock,
    too_many: bool,
}

impl Stages {
    fn bytes(&self, load: u64, parts: u64) -> f64 {
        load as f64 * segment_bytes(self.unit_bytes, parts)
    }

    fn barriers_us(&self) -> f64 {
        self.barriers as f64 * self.machine.barrier_us.us(self.nodes.clocks.len() as u64)
    }

    fn add(&mut self, message: StageMessage) {
        /// The largest number of stored messages, which take about 3 GiB.
        const MAX: usize = 1 << 26;
        self.too_many |= self.stage.messages.len() == MAX;
        if self.too_many {
            self.stage.clear();
        } else {
            self.stage.add(message);
        }
    }

    fn enter_phase(&mut self, phase: u32) {
        if self.phase.replace(phase).is_some_and(|previous| previous != phase) {
            let early = self.machine.composes_early();
            self.clock = self.end_of_stage(early);
            self.barriers += 1;
            if early {
                self.precomposed = self.stage.received();
            }
            self.stage.clear();
        }
    }

    fn end_of_stage(&mut self, early: bool) -> Clock {
        let barriers_us = self.barriers_us();
        let Self { machine, stage, precomposed, nodes, clock, .. } = self;
        let compose = |bytes: f64| ticks(bytes * machine.rearrange_byte_us);
        let composed = stage.composed.iter().zip(&*precomposed);
        let bytes: Vec<f64> =
            composed.map(|(bytes, precomposed)| (bytes - precomposed).max(0.0)).collect();
        let longest = bytes.iter().copied().fold(0.0, f64::max);
        let start = clock.after(Kind::Rearrangement, compose(longest));
        let mut late = vec![0; bytes.len()];
        self.late.drain(..).for_each(|(rank, us)| late[rank] = ticks(us));
        (0..bytes.len() as u32).for_each(|node| nodes.follow(node, *clock, [], Kind::Peer));
        nodes.barriers_us = barriers_us;
        for ((node, bytes), late) in (0..).zip(bytes).zip(late) {
            nodes.spend(node, Kind::Barrier, 0);
            if let Some(first) = stage.messages.first() {
                nodes.enter(node, first.step);
            }
            nodes.wait_until(node, late, Kind::Peer);
            nodes.spend(node, Kind::Rearrangement, compose(bytes));
            nodes.follow(node, start.later(nodes.clock(node)), [], Kind::Peer);
        }
        stage.simulate(machine, nodes, early)
    }

    fn step(&mut self, step: &Step<'_>) {
        self.enter_phase(step.phase_number);
        self.nodes.steps.push(step.schedule_step);
        for (i, t) in step.transfers.iter().enumerate() {
            let bytes = self.bytes(t.load, step.segments);
            let after = step.latest_arrivals.get(i).map_or(0, |after| (*after).into());
            let (from, to, step) = (t.from, t.to, step.schedule_step);
            self.add(StageMessage { from, to, step, after, bytes });
        }
        self.stage.add_reductions(step.schedule_step, &std::mem::take(&mut self.summed));
    }

    fn local_copy(&mut self, copy: LocalCopy) {
        self.enter_phase(copy.phase_number);
        let (node, bytes) = (copy.node, self.bytes(copy.load, copy.segments));
        match self.machine.self_messages {
            SelfMessages::Count => {
                // The data of a node for itself is there from the start, even if a send joins it
                // with data that arrives later.
                let (from, to, step) = (node, node, copy.schedule_step);
                self.add(StageMessage { from, to, step, after: 0, bytes });
            }
            SelfMessages::Free => self.stage.composed[node as usize] += bytes,
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
            ScheduleEvent::Summed(summed) => {
                self.has_sums = true;
                let nodes = self.nodes.clocks.len();
                add_sums(&mut self.summed, summed, nodes, self.unit_bytes);
            }
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
        let path = *self.end_of_stage(false).path();
        let parts = path.with(Kind::Barrier, self.barriers_us()).parts(|kind| match kind {
            Kind::Propagation => false,
            Kind::Reduction => self.has_sums,
            _ => true,
        });
        Ok(Cost { parts, ..Cost::default() })
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.nodes.record = Some(Box::new(record));
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.nodes.record.take().map(|record| record.finish())
    }
}

struct Nodes {
    clocks: Vec<RankClock>,
    record: Option<Box<TimeSpace>>,
    steps: Vec<u64>,
    barriers_us: f64,
}

impl Nodes {
    fn new(clocks: Vec<RankClock>) -> Self {
        Self { clocks, record: None, steps: Vec::new(), barriers_us: 0.0 }
    }

    fn clock(&self, node: u32) -> Clock {
        *self.clocks[node as usize]
    }

    fn clock_and_line(&mut self, node: u32) -> (&mut RankClock, TimeLine<'_>) {
        let Self { clocks, record, barriers_us, .. } = self;
        let line = TimeLine::new(record.as_deref_mut(), node as usize, *barriers_us);
        (&mut clocks[node as usize], line)
    }

    fn spend(&mut self, node: u32, kind: Kind, ticks: Ticks) {
        let (clock, mut line) = self.clock_and_line(node);
        clock.spend(kind, ticks, &mut line);
    }

    fn wait_until(&mut self, node: u32, at: Ticks, kind: Kind) {
        let (clock, mut line) = self.clock_and_line(node);
        clock.wait_until(at, kind, &mut line);
    }

    fn follow(
        &mut self,
        node: u32,
        to: Clock,
        phases: impl IntoIterator<Item = (Kind, f64)>,
        last: Kind,
    ) {
        let (clock, mut line) = self.clock_and_line(node);
        clock.follow(to, phases, last, &mut line);
    }

    fn sent(&mut self, node: u32) {
        self.clock_and_line(node).1.sent();
    }

    fn enter(&mut self, node: u32, schedule_step: u64) {
        if let Some(record) = &mut self.record {
            let step = self.steps.partition_point(|step| *step < schedule_step);
            record.enter(node as usize, step.min(self.steps.len().saturating_sub(1)) as u64);
        }
    }
}

/// A message of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageMessage {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The step of the schedule.
    pub step: u64,
    /// The latest step in which the sender received any of the message's data. A step of an earlier
    /// stage causes no wait.
    pub after: u64,
    /// Size in bytes.
    pub bytes: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Reduction {
    node: u32,
    missing: u32,
    bytes: f64,
}

/// The messages of a stage and the amount of data that each node composes.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The messages, in the order of steps.
    pub messages: Vec<StageMessage>,
    /// For each node, the bytes that it composes at the start of the stage.
    pub composed: Vec<f64>,
    reductions: Vec<Reduction>,
    /// For each message, the position in `reductions` (from 1) of the reduction that needs it, or 0
    /// if its data is not reduced.
    reduction_of: Vec<u32>,
}

impl Stage {
    /// Creates an empty stage.
    pub fn new(nodes: usize) -> Self {
        Self {
            messages: Vec::new(),
            composed: vec![0.0; nodes],
            reductions: Vec::new(),
            reduction_of: Vec::new(),
        }
    }

    /// Adds a message, whose data the sender composes at the start of the stage.
    pub fn add(&mut self, message: StageMessage) {
        self.composed[message.from as usize] += message.bytes;
        self.messages.push(message);
        self.reduction_of.push(0);
    }

    fn add_reductions(&mut self, step: u64, bytes: &[f64]) {
        if bytes.is_empty() {
            return;
        }
        let mut of_node = vec![0; bytes.len()];
        for (node, &bytes) in (0..).zip(bytes).filter(|(_, bytes)| **bytes > 0.0) {
            self.reductions.push(Reduction { node, missing: 0, bytes });
            of_node[node as usize] = self.reductions.len() as u32;
        }
        let first = self.messages.partition_point(|message| message.step < step);
        let messages = self.messages.iter().zip(&mut self.reduction_of).skip(first);
        for (message, reduction) in messages.filter(|(message, _)| message.from != message.to) {
            *reduction = of_node[message.to as usize];
            if let Some(reduction) = reduction.checked_sub(1) {
                self.reductions[reduction as usize].missing += 1;
            }
        }
    }

    fn clear(&mut self) {
        self.messages.clear();
        self.composed.fill(0.0);
        self.reductions.clear();
        self.reduction_of.clear();
    }

    /// Returns the bytes that each node receives.
    pub fn received(&self) -> Vec<f64> {
        let mut received = vec![0.0; self.composed.len()];
        self.messages.iter().for_each(|m| received[m.to as usize] += m.bytes);
        received
    }

    /// Simulates the stage. All nodes have composed their data at `start`. Returns the time at
    /// which the last node ends. If `compose` is set, nodes compose the data that they receive for
    /// the next stage.
    pub fn run(&self, machine: &Flat, start: Clock, compose: bool) -> Clock {
        let clocks = vec![RankClock::beginning(start); self.composed.len()];
        self.simulate(machine, &mut Nodes::new(clocks), compose)
    }

    fn simulate(&self, machine: &Flat, nodes: &mut Nodes, compose: bool) -> Clock {
        let ports = usize::try_from(machine.ports.count()).ok();
        let ports = ports.filter(|ports| *ports < self.composed.len());
        let simulation = Simulation::new(self, machine, nodes);
        match machine.mode {
            Mode::Blocking => Blocking::new(simulation, ports).run(),
            Mode::Nonblocking => Nonblocking::new(simulation, ports, compose).run(),
        }
        // A reduction that needs no message reduces data that the node sent to itself.
        for reduction in self.reductions.iter().filter(|reduction| reduction.missing == 0) {
            let reducing = of_bytes(ticks(machine.reduce_byte_us), reduction.bytes);
            nodes.spend(reduction.node, Kind::Reduction, reducing);
        }
        let clocks = nodes.clocks.iter().map(|clock| **clock);
        clocks.reduce(Clock::later).expect("a network has nodes")
    }
}

struct Tasks {
    tasks: Vec<u32>,
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Tasks {
    fn of(nodes: usize, tasks: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut places = Places::<u32>::of(nodes, tasks.clone().map(|(node, _)| node as usize));
        let mut sorted = vec![0; places.first[nodes] as usize];
        for (node, task) in tasks {
            sorted[places.take(node as usize)] = task;
        }
        Self { tasks: sorted, next: places.first[..nodes].to_vec(), first: places.first }
    }

    fn next(&self, node: u32) -> Option<u32> {
        let (next, end) = (self.next[node as usize], self.first[node as usize + 1]);
        (next < end).then(|| self.tasks[next as usize])
    }

    fn advance(&mut self, node: u32) {
        self.next[node as usize] += 1;
    }

    fn are_done(&self) -> bool {
        self.next[..] == self.first[1..]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Started,
    /// The message is ready to cross the network, and waits for its ports.
    Ready,
    Arrived,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Ticks,
    kind: EventKind,
    node: u32,
    message: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    clock: Clock,
    started: Ticks,
    ready: Ticks,
    has_arrived: bool,
}

struct Simulation<'a> {
    half_startup: Ticks,
    half_copy: Ticks,
    byte: Ticks,
    compose_byte: Ticks,
    reduce_byte: Ticks,
    messages: &'a [StageMessage],
    reduction_of: &'a [u32],
    reductions: Vec<Reduction>,
    nodes: &'a mut Nodes,
    in_flight: Vec<InFlight>,
    events: BinaryHeap<Reverse<Event>>,
}

impl<'a> Simulation<'a> {
    fn new(stage: &'a Stage, machine: &Flat, nodes: &'a mut Nodes) -> Self {
        Self {
            half_startup: ticks(machine.startup_us / 2.0),
            half_copy: ticks(machine.copy_byte_us / 2.0),
            byte: ticks(machine.byte_us),
            compose_byte: ticks(machine.rearrange_byte_us),
            reduce_byte: ticks(machine.reduce_byte_us),
            messages: &stage.messages,
            reduction_of: &stage.reduction_of,
            reductions: stage.reductions.clone(),
            nodes,
            in_flight: vec![InFlight::default(); stage.messages.len()],
            events: BinaryHeap::new(),
        }
    }

    fn message(&self, message: u32) -> &'a StageMessage {
        &self.messages[message as usize]
    }

    fn push(&mut self, at: Ticks, kind: EventKind, message: u32) {
        let &StageMessage { from, to, .. } = self.message(message);
        let node = if kind == EventKind::Arrived { to } else { from };
        self.events.push(Reverse(Event { at, kind, node, message }));
    }

    /// Records that the receiver waits for a message. Until the sender starts the message, the
    /// receiver waits for a peer. Afterwards, its wait is transmission while the message is copied
    /// or crosses the network, and contention while the message waits for engines and ports.
    fn wait_for(&mut self, message: u32, until: Clock, copied_from: Ticks) {
        let &StageMessage { to, bytes, .. } = self.message(message);
        let InFlight { clock, started, ready, .. } = self.in_flight[message as usize];
        let phases = self.nodes.record.is_some().then(|| {
            let phases = [
                (Kind::Peer, started),
                (Kind::Contention, ready.saturating_sub(of_bytes(self.half_copy, bytes))),
                (Kind::Transmission, ready),
                (Kind::Contention, clock.at() - of_bytes(self.byte, bytes)),
                (Kind::Transmission, clock.at()),
                (Kind::Contention, copied_from),
            ];
            phases.map(|(kind, at)| (kind, us(at)))
        });
        let to_clock = self.nodes.clock(to).later(until);
        self.nodes.follow(to, to_clock, phases.into_iter().flatten(), Kind::Transmission);
    }

    fn reduce(&mut self, message: u32) {
        let reduction = self.reduction_of[message as usize].checked_sub(1);
        let Some(reduction) = reduction.map(|index| &mut self.reductions[index as usize]) else {
            return;
        };
        reduction.missing -= 1;
        if reduction.missing == 0 {
            let reducing = of_bytes(self.reduce_byte, reduction.bytes);
            self.nodes.spend(reduction.node, Kind::Reduction, reducing);
        }
    }
}

struct Blocking<'a> {
    stage: Simulation<'a>,
    /// A task is a send or a receive: twice the number of the message, plus 1 for a receive.
    tasks: Tasks,
    /// The times at which input ports become free: `ports` times for each node, or none without a
    /// limit.
    free_at: Vec<Ticks>,
    ports: usize,
}

impl<'a> Blocking<'a> {
    fn new(stage: Simulation<'a>, ports: Option<usize>) -> Self {
        let (mut first, nodes) = (0, stage.nodes.clocks.len());
        let tasks = stage.messages.chunk_by(|a, b| a.step == b.step).flat_map(move |step| {
            let numbered = (first..).step_by(2).zip(step);
            first += 2 * step.len() as u32;
            let sends = numbered.clone().map(|(send, m)| (m.from, send));
            sends.chain(numbered.map(|(send, m)| (m.to, send + 1)))
        });
        let free_at = vec![0; nodes * ports.unwrap_or(0)];
        Self { tasks: Tasks::of(nodes, tasks), free_at, ports: ports.unwrap_or(1), stage }
    }

    fn run(mut self) {
        (0..self.stage.nodes.clocks.len() as u32).for_each(|node| self.proceed(node));
        // Requests for ports are served in the order of their times. No request causes an earlier
        // one.
        while let Some(Reverse(Event { message, at: ready, .. })) = self.stage.events.pop() {
            let s = &mut self.stage;
            let &StageMessage { from, to, bytes, .. } = s.message(message);
            let ports = self.free_at.chunks_mut(self.ports).nth(to as usize);
            let port = ports.and_then(|ports| ports.iter_mut().min());
            s.nodes.wait_until(from, port.as_deref().copied().unwrap_or(0), Kind::Contention);
            s.nodes.spend(from, Kind::Transmission, of_bytes(s.byte, bytes));
            s.nodes.sent(from);
            let clock = s.nodes.clock(from);
            port.into_iter().for_each(|port| *port = clock.at());
            s.in_flight[message as usize] =
                InFlight { clock, started: ready, ready, has_arrived: true };
            self.tasks.advance(from);
            self.proceed(from);
            if self.tasks.next(to) == Some(message * 2 + 1) {
                self.proceed(to);
            }
        }
        assert!(self.tasks.are_done(), "nodes that wait for ever");
    }

    fn proceed(&mut self, node: u32) {
        while let Some(task) = self.tasks.next(node) {
            let (message, s) = (task / 2, &mut self.stage);
            let m = s.message(message);
            let copying = of_bytes(s.half_copy, m.bytes);
            s.nodes.enter(node, m.step);
            if task.is_multiple_of(2) {
                s.nodes.spend(node, Kind::Startup, s.half_startup);
                s.nodes.spend(node, Kind::Transmission, copying);
                s.push(s.nodes.clock(node).at(), EventKind::Ready, message);
                return;
            }
            let InFlight { clock: arrived, has_arrived, .. } = s.in_flight[message as usize];
            if !has_arrived {
                return;
            }
            s.wait_for(message, arrived, arrived.at());
            s.nodes.spend(node, Kind::Startup, s.half_startup);
            s.nodes.spend(node, Kind::Transmission, copying);
            s.reduce(message);
            self.tasks.advance(node);
        }
    }
}

/// The simulation of a stage in nonblocking mode. Each node has a processor, a copying engine, and
/// two *ends*: of n nodes, node i has its output ports at end i and its input ports at end n + i.
struct Nonblocking<'a> {
    stage: Simulation<'a>,
    composes: bool,
    sends: Tasks,
    receives: Tasks,
    engines: Vec<Ticks>,
    free: Vec<usize>,
    /// For each end, the messages that wait for its ports, in the order of readiness, each with its
    /// opposite end. Some of these messages may have crossed already.
    waiting: Vec<VecDeque<(u32, u32)>>,
    has_crossed: Vec<bool>,
    /// For each end whose ports have changed, the first message that could cross. It may be
    /// outdated.
    candidates: BinaryHeap<Reverse<Candidate>>,
}

/// A message that may be the next one to cross. The smallest candidate, by the order of the fields,
/// crosses first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    ready: Ticks,
    from: u32,
    message: u32,
    end: u32,
}

impl<'a> Nonblocking<'a> {
    fn new(stage: Simulation<'a>, ports: Option<usize>, composes: bool) -> Self {
        let nodes = stage.nodes.clocks.len();
        let sends = (0..).zip(stage.messages).map(|(message, m)| (m.from, message));
        let receives = (0..).zip(stage.messages).filter(|(_, m)| m.from != m.to);
        Self {
            composes,
            sends: Tasks::of(nodes, sends),
            receives: Tasks::of(nodes, receives.map(|(message, m)| (m.to, message))),
            engines: vec![0; nodes],
            free: vec![ports.unwrap_or(usize::MAX / 2); 2 * nodes],
            waiting: vec![VecDeque::new(); 2 * nodes],
            has_crossed: vec![false; stage.messages.len()],
            candidates: BinaryHeap::new(),
            stage,
        }
    }

    fn run(mut self) {
        (0..self.engines.len() as u32).for_each(|node| self.start_sends(node));
        while let Some(Reverse(event)) = self.stage.events.pop() {
            self.process(event);
            let now = event.at;
            if self.stage.events.peek().is_some_and(|Reverse(next)| next.at == now) {
                continue;
            }
            while let Some(message) = self.next_to_cross() {
                let crossing = of_bytes(self.stage.byte, self.stage.message(message).bytes);
                let clock = &mut self.stage.in_flight[message as usize].clock;
                *clock = clock.after_wait(now).after(Kind::Transmission, crossing);
                let arrival = clock.at();
                self.stage.push(arrival, EventKind::Arrived, message);
            }
        }
        assert!(self.sends.are_done(), "nodes that wait for ever");
    }

    fn start_sends(&mut self, node: u32) {
        let s = &mut self.stage;
        while let Some(message) = self.sends.next(node) {
            while let Some(received) = self.receives.next(node)
                && s.in_flight[received as usize].has_arrived
            {
                self.receives.advance(node);
            }
            let m = s.message(message);
            let missing = self.receives.next(node).map(|received| s.message(received).step);
            if missing.is_some_and(|step| step <= m.after) {
                return;
            }
            self.sends.advance(node);
            s.nodes.enter(node, m.step);
            s.nodes.spend(node, Kind::Startup, s.half_startup);
            s.nodes.sent(node);
            let clock = s.nodes.clock(node);
            let state = &mut s.in_flight[message as usize];
            (state.clock, state.started) = (clock, clock.at());
            s.push(clock.at(), EventKind::Started, message);
        }
    }

    fn process(&mut self, Event { kind, message, .. }: Event) {
        let &StageMessage { from, to, bytes, .. } = self.stage.message(message);
        let clock = self.stage.in_flight[message as usize].clock;
        match kind {
            EventKind::Started => {
                let copied = self.copied(from, clock, bytes);
                let state = &mut self.stage.in_flight[message as usize];
                (state.clock, state.ready) = (copied, copied.at());
                self.stage.push(copied.at(), EventKind::Ready, message);
            }
            EventKind::Ready => {
                let [output, input] = self.ends(message);
                self.waiting[output as usize].push_back((message, input));
                self.waiting[input as usize].push_back((message, output));
                self.update_candidates(message);
            }
            EventKind::Arrived => {
                let copied = self.copied(to, clock, bytes);
                let s = &mut self.stage;
                s.wait_for(message, copied, copied.at() - of_bytes(s.half_copy, bytes));
                s.nodes.spend(to, Kind::Startup, s.half_startup);
                s.reduce(message);
                s.in_flight[message as usize].has_arrived = true;
                self.start_sends(to);
                if self.composes {
                    let composing = of_bytes(self.stage.compose_byte, bytes);
                    self.stage.nodes.spend(to, Kind::Rearrangement, composing);
                }
                self.ends(message).into_iter().for_each(|end| self.free[end as usize] += 1);
                self.update_candidates(message);
            }
        }
    }

    fn copied(&mut self, node: u32, ready: Clock, bytes: f64) -> Clock {
        let engine = &mut self.engines[node as usize];
        let copying = of_bytes(self.stage.half_copy, bytes);
        let done = ready.after_wait(*engine).after(Kind::Transmission, copying);
        *engine = done.at();
        done
    }

    fn ends(&self, message: u32) -> [u32; 2] {
        let m = self.stage.message(message);
        [m.from, m.to + self.engines.len() as u32]
    }

    fn first_to_cross(&mut self, end: u32) -> Option<Candidate> {
        let Self { free, waiting, has_crossed, stage, .. } = self;
        if free[end as usize] == 0 {
            return None;
        }
        let waiting = &mut waiting[end as usize];
        while waiting.front().is_some_and(|(message, _)| has_crossed[*message as usize]) {
            waiting.pop_front();
        }
        let &(message, _) = waiting.iter().find(|(message, opposite)| {
            !has_crossed[*message as usize] && free[*opposite as usize] > 0
        })?;
        let (ready, from) = (stage.in_flight[message as usize].ready, stage.message(message).from);
        Some(Candidate { ready, from, message, end })
    }

    fn update_candidates(&mut self, message: u32) {
        for end in self.ends(message) {
            let first = self.first_to_cross(end);
            self.candidates.extend(first.map(Reverse));
        }
    }

    /// Returns the next message that can cross now, and occupies its ports. Must be called only
    /// when all messages that are ready at the current time, and all ports that are free, are
    /// known.
    fn next_to_cross(&mut self) -> Option<u32> {
        while let Some(Reverse(candidate)) = self.candidates.pop() {
            let Some(first) = self.first_to_cross(candidate.end) else { continue };
            if first != candidate {
                // The message has crossed already, or its opposite end has no free port.
                self.candidates.push(Reverse(first));
                continue;
            }
            self.ends(first.message).into_iter().for_each(|end| self.free[end as usize] -= 1);
            self.has_crossed[first.message as usize] = true;
            self.update_candidates(first.message);
            return Some(first.message);
        }
        None
    }
}

#[cfg(test)]
mod tests;
