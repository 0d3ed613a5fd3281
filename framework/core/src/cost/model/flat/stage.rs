//! One stage on a flat machine, event by event.
//!
//! Half of a message's start-up and half of its copying are spent at either end; `m` is its bytes.
//!
//! **Blocking** (Liu et al., section 2.3 (1), Figs. 2 and 3): a node does one thing at a time. In
//! each step of the schedule it sends, then receives:
//! - a send takes Ts/2 + m tc/2, waits for a free port at the receiver, and takes m td more;
//! - a receive waits until the message has come, and takes Ts/2 + m tc/2.
//!
//! **Nonblocking** (section 2.3 (2)): a node's processor starts all sends one after another, Ts/2
//! each, then completes receives as they come, Ts/2 each. Data that come in the same stage can be
//! sent on when their receive is completed, and not before: a send of such, and with it all that
//! follow it in the node's order, waits for that (`super::nonblocking`). Beside it a copying engine
//! (DMA) takes m tc/2 for each message, out or in, in the order in which they are ready; a message
//! then waits until an output port of its sender and an input port of its receiver are free
//! (section 2.3: messages compete for both), and takes m td through the two (`super::crossing`).
//! With a second send buffer the processor composes each message's data for the next stage as soon
//! as it has completed the receive.
//!
//! **At one moment** the lower kind of event comes first, then the lower node, then the earlier
//! message; moments are exact ([`crate::cost::model::clock`]), so that no rounding decides.

use super::Flat;
use super::accounting::Accounting;
use crate::cost::model::clock::{Clock, Ticks, of_bytes, ticks};
use crate::cost::model::time_space::TimeKind;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A message of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageMessage {
    /// Sender, a node of the machine.
    pub from: u32,
    /// Receiver, a node of the machine.
    pub to: u32,
    /// The step of the schedule it belongs to: nodes work through their messages in this order.
    pub step: u64,
    /// The latest step in which any of it came to its sender; it is no stage's that has ended.
    pub after: u64,
    /// Its length in bytes.
    pub bytes: f64,
}

/// The messages of a stage, in the schedule's order, and what each node composes.
#[derive(Debug, Clone)]
pub struct Stage {
    /// As the schedule has them.
    pub messages: Vec<StageMessage>,
    /// Bytes that each node puts into its send buffer.
    pub composed: Vec<f64>,
    /// Whether there is anything in it.
    used: bool,
    /// What nodes add up, in the order of steps.
    sums: Vec<Reduction>,
    /// For each message its receiver's sum, plus one; 0 if there is none, as for those beyond the
    /// end.
    sum_of: Vec<u32>,
}

/// What a node adds to what it has when all that it receives in a step has come.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reduction {
    node: u32,
    bytes: f64,
    /// Messages of the step that the node receives.
    messages: u32,
}

/// What is left to come for each sum of a stage.
#[derive(Debug)]
pub(super) struct Reductions<'a> {
    stage: &'a Stage,
    byte: Ticks,
    left: Vec<u32>,
}

impl<'a> Reductions<'a> {
    pub(super) fn new(stage: &'a Stage, machine: &Flat) -> Self {
        let left = stage.sums.iter().map(|sum| sum.messages).collect();
        Self { stage, byte: ticks(machine.reduce_byte_us), left }
    }

    /// Its receiver has the message at this moment, and adds up if that was the last of its step.
    pub(super) fn received(&mut self, message: u32, at: Clock) -> Clock {
        let sum = self.stage.sum_of.get(message as usize).and_then(|sum| sum.checked_sub(1));
        let Some(sum) = sum.map(|sum| sum as usize) else { return at };
        self.left[sum] -= 1;
        if self.left[sum] > 0 {
            at
        } else {
            at.reduced(of_bytes(self.byte, self.stage.sums[sum].bytes))
        }
    }

    /// What nodes add up of what they sent themselves.
    pub(super) fn rest(&self, clocks: &mut [Clock]) {
        for sum in self.stage.sums.iter().filter(|sum| sum.messages == 0) {
            let clock = &mut clocks[sum.node as usize];
            *clock = clock.reduced(of_bytes(self.byte, sum.bytes));
        }
    }
}

/// Something that takes requests in the order of time; at equal times, of nodes and messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StageEvent {
    pub at: Clock,
    pub node: u32,
    pub message: u32,
    /// What it is about, in nonblocking mode.
    pub kind: StageEventKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StageEventKind {
    /// The processor has started a send.
    Started,
    /// The message waits for its ports.
    Ready,
    /// The message has come.
    Arrived,
}

impl Eq for StageEvent {}

impl Ord for StageEvent {
    /// The earliest is the greatest, for a heap.
    fn cmp(&self, other: &Self) -> Ordering {
        let time = other.at.at.cmp(&self.at.at);
        time.then_with(|| {
            (other.kind, other.node, other.message).cmp(&(self.kind, self.node, self.message))
        })
    }
}

impl PartialOrd for StageEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a machine asks for, in ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageTimes {
    pub half_start: Ticks,
    pub half_copy: Ticks,
    pub byte: Ticks,
    pub compose: Ticks,
}

impl MessageTimes {
    pub(super) fn of(machine: &Flat) -> Self {
        Self {
            half_start: ticks(machine.startup_us / 2.0),
            half_copy: ticks(machine.copy_byte_us / 2.0),
            byte: ticks(machine.byte_us),
            compose: ticks(machine.rearrange_byte_us),
        }
    }
}

/// The input ports of all nodes.
struct Ports {
    /// When each port is free; empty where ports are never short.
    free: Vec<Ticks>,
    each: usize,
}

impl Ports {
    fn new(nodes: usize, machine: &Flat, start: Ticks) -> Self {
        let each = ports_each(machine, nodes);
        let free = if each == nodes { Vec::new() } else { vec![start; nodes * each] };
        Self { free, each }
    }

    /// A message takes `time` through the first free port of `node`.
    fn take(&mut self, node: u32, ready: Clock, time: Ticks) -> Clock {
        let first = node as usize * self.each;
        let ports = self.free.get_mut(first..first + self.each).unwrap_or_default();
        let Some(port) = ports.iter_mut().min() else { return ready.transmitted(time) };
        let done = ready.waited_until(*port).transmitted(time);
        *port = done.at;
        done
    }
}

/// Ports that are never short are as many as nodes.
pub(super) fn ports_each(machine: &Flat, nodes: usize) -> usize {
    machine.ports.count().min(nodes as u64) as usize
}

impl Stage {
    /// No messages among so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            messages: Vec::new(),
            composed: vec![0.0; nodes],
            used: false,
            sums: Vec::new(),
            sum_of: Vec::new(),
        }
    }

    /// Adds a message, which its sender composes.
    pub fn add(&mut self, message: StageMessage) {
        self.copy(message.from, message.bytes);
        self.messages.push(message);
    }

    /// Bytes that each node adds to what it has when all has come that it receives in this step,
    /// the last one added; empty if none does.
    pub(crate) fn add_up(&mut self, step: u64, bytes: &[f64]) {
        let first = self.messages.partition_point(|message| message.step < step);
        let mut of_node = vec![0; bytes.len()];
        for (node, bytes) in (0..).zip(bytes).filter(|(_, bytes)| **bytes > 0.0) {
            self.sums.push(Reduction { node, bytes: *bytes, messages: 0 });
            (of_node[node as usize], self.used) = (self.sums.len() as u32, true);
        }
        if bytes.is_empty() {
            return;
        }
        self.sum_of.resize(self.messages.len(), 0);
        for (message, sum) in
            self.messages.iter().zip(&mut self.sum_of).skip(first).filter(|(m, _)| m.from != m.to)
        {
            *sum = of_node[message.to as usize];
            if let Some(sum) = sum.checked_sub(1) {
                self.sums[sum as usize].messages += 1;
            }
        }
    }

    /// A node composes what it doesn't send.
    pub fn copy(&mut self, node: u32, bytes: f64) {
        self.composed[node as usize] += bytes;
        self.used = true;
    }

    /// Whether nobody sends or composes anything.
    pub fn is_empty(&self) -> bool {
        !self.used
    }

    /// Forgets the messages of the phase before.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.sums.clear();
        self.sum_of.clear();
        self.composed.fill(0.0);
        self.used = false;
    }

    /// Bytes that each node receives.
    pub fn received(&self) -> Vec<f64> {
        let mut received = vec![0.0; self.composed.len()];
        for m in &self.messages {
            received[m.to as usize] += m.bytes;
        }
        received
    }
}

/// A stage in blocking mode: each node works through its list, sends before receives within a step.
pub(super) struct Blocking<'a> {
    stage: &'a Stage,
    times: MessageTimes,
    /// Each node's list: a message's number times 2, plus 1 if the node receives it. Lists of all
    /// nodes one after another.
    tasks: Vec<u32>,
    /// Where each node is in its list, and where that ends.
    next: Vec<u32>,
    end: Vec<u32>,
    clock: Vec<Clock>,
    /// When each message came.
    came: Vec<Option<Clock>>,
    /// Whether a node waits for the message it is to receive next.
    waits: Vec<bool>,
    ports: Ports,
    reductions: Reductions<'a>,
    events: BinaryHeap<StageEvent>,
    kept: Option<&'a mut Accounting>,
}

impl<'a> Blocking<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        machine: &Flat,
        start: Clock,
        kept: Option<&'a mut Accounting>,
    ) -> Self {
        let nodes = stage.composed.len();
        let mut next = vec![0_u32; nodes + 1];
        for m in &stage.messages {
            next[m.from as usize + 1] += 1;
            next[m.to as usize + 1] += 1;
        }
        for node in 0..nodes {
            next[node + 1] += next[node];
        }
        let mut tasks = vec![0; stage.messages.len() * 2];
        let mut end = next[..nodes].to_vec();
        let mut put = |node: u32, task: u32| {
            tasks[end[node as usize] as usize] = task;
            end[node as usize] += 1;
        };
        let mut first = 0;
        for step in stage.messages.chunk_by(|a, b| a.step == b.step) {
            for (i, m) in (first..).zip(step) {
                put(m.from, i * 2);
            }
            for (i, m) in (first..).zip(step) {
                put(m.to, i * 2 + 1);
            }
            first += step.len() as u32;
        }
        next.truncate(nodes);
        Self {
            stage,
            times: MessageTimes::of(machine),
            tasks,
            next,
            end,
            clock: vec![start; nodes],
            came: vec![None; stage.messages.len()],
            waits: vec![false; nodes],
            ports: Ports::new(nodes, machine, start.at),
            reductions: Reductions::new(stage, machine),
            events: BinaryHeap::new(),
            kept,
        }
    }

    pub(super) fn run(mut self) -> Clock {
        for node in 0..self.next.len() {
            self.proceed(node);
        }
        // Every request is made no earlier than the one that led to it was granted: granting them
        // by time is right.
        while let Some(event) = self.events.pop() {
            let m = self.stage.messages[event.message as usize];
            let crossing = of_bytes(self.times.byte, m.bytes);
            let done = self.ports.take(m.to, event.at, crossing);
            if let Some(kept) = &mut self.kept {
                let way = &mut kept.crossings[event.message as usize];
                // Its sender copies it itself: until it has, the receiver waits for it.
                (way.started, way.ready, way.crossing, way.came) =
                    (event.at.at, event.at.at, done.at - crossing, done.at);
                kept.awaited(m.from, event.message);
                kept.sent(m.from);
            }
            self.came[event.message as usize] = Some(done);
            self.clock[m.from as usize] = done;
            self.next[m.from as usize] += 1;
            self.proceed(m.from as usize);
            let to = m.to as usize;
            if self.waits[to] && self.tasks[self.next[to] as usize] == event.message * 2 + 1 {
                self.waits[to] = false;
                self.proceed(to);
            }
        }
        self.reductions.rest(&mut self.clock);
        if let Some(kept) = &mut self.kept {
            (0..)
                .zip(&self.clock)
                .for_each(|(node, clock)| kept.charge(node, TimeKind::Reduction, clock.at));
        }
        self.clock.into_iter().reduce(Clock::later).unwrap_or_default()
    }

    /// A node goes on until it has to wait.
    fn proceed(&mut self, node: usize) {
        let MessageTimes { half_start, half_copy, .. } = self.times;
        while self.next[node] < self.end[node] {
            let task = self.tasks[self.next[node] as usize];
            let message = task / 2;
            let m = &self.stage.messages[message as usize];
            let copying = of_bytes(half_copy, m.bytes);
            if let Some(kept) = &mut self.kept {
                kept.enter(node as u32, m.step);
            }
            if task.is_multiple_of(2) {
                let at = self.clock[node].started(half_start).transmitted(copying);
                if let Some(kept) = &mut self.kept {
                    kept.charge(node as u32, TimeKind::Startup, at.at - copying);
                    kept.charge(node as u32, TimeKind::Transmission, at.at);
                }
                self.events.push(StageEvent {
                    at,
                    node: node as u32,
                    message,
                    kind: StageEventKind::Ready,
                });
                return;
            }
            let Some(came) = self.came[message as usize] else {
                self.waits[node] = true;
                return;
            };
            let received = self.clock[node].later(came).started(half_start).transmitted(copying);
            self.clock[node] = self.reductions.received(message, received);
            if let Some(kept) = &mut self.kept {
                kept.awaited(node as u32, message);
                kept.charge(node as u32, TimeKind::Startup, received.at - copying);
                kept.charge(node as u32, TimeKind::Transmission, received.at);
                kept.charge(node as u32, TimeKind::Reduction, self.clock[node].at);
            }
            self.next[node] += 1;
        }
    }
}
