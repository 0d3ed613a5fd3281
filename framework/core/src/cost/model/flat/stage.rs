//! Event-driven simulation of one stage of the model `flat`.
//!
//! A message of m bytes has a start-up time Ts and a copying time `m tc`. One half of each is spent
//! at the sender, and the second half at the receiver. Between the two, the message crosses the
//! network in the time `m td`.
//!
//! **Blocking mode** (Liu et al., section 2.3 (1), Figs. 2 and 3). A node does one thing at a time.
//! In each step of the schedule a node first sends, then receives:
//! - A send takes `Ts/2 + m tc/2`, waits for a free port at the receiver, and takes `m td` more.
//! - A receive waits until the message has arrived, and takes `Ts/2 + m tc/2`.
//!
//! **Nonblocking mode** (section 2.3 (2)). Three components of a node work at the same time
//! (`super::nonblocking`):
//! - The processor starts all sends one after another, Ts/2 each. Then it completes receives in the
//!   order of arrival, Ts/2 each. If data is received and forwarded in the same stage, the send
//!   that forwards it waits until the receive is complete. All later sends of the node wait, too.
//! - A copying engine (DMA) takes `m tc/2` for each message that the node sends or receives, in the
//!   order in which the messages are ready.
//! - Ports: a message waits until an output port of its sender and an input port of its receiver
//!   are free (section 2.3: messages compete for both), and takes `m td` to cross the network
//!   (`super::crossing`).
//!
//! With a second send buffer, the processor composes (rearranges) the data of each received message
//! for the next stage as soon as it has completed the receive.
//!
//! **Simultaneous events** are ordered by kind, then by node, then by message. Times are exact
//! ([`crate::cost::model::clock`]), so that rounding has no influence.

use super::Flat;
use super::accounting::{Accounting, CrossingTimes};
use crate::cost::kind::Kind;
use crate::cost::model::clock::{Clock, Ticks, of_bytes, ticks};
use crate::cost::model::time_space::RankClock;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A message of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageMessage {
    /// The sender, as a node of the machine.
    pub from: u32,
    /// The receiver, as a node of the machine.
    pub to: u32,
    /// The step of the schedule. Nodes work through their messages in the order of steps.
    pub step: u64,
    /// The latest step in which the sender received any of the message's data. The message does not
    /// wait for a step of an earlier stage, because earlier stages are complete.
    pub after: u64,
    /// Size in bytes.
    pub bytes: f64,
}

/// The messages of a stage, and the data that nodes compose.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The messages in the schedule's order.
    pub messages: Vec<StageMessage>,
    /// For each node, the bytes that it composes at the start of the stage.
    pub composed: Vec<f64>,
    /// Whether any node sends or composes anything in the stage.
    used: bool,
    /// The reductions in the order of steps.
    reductions: Vec<Reduction>,
    /// For each message, the index of its receiver's reduction plus one; 0 if the message is not
    /// reduced. The list may be shorter than the list of messages: further messages are not
    /// reduced.
    reduction_of: Vec<u32>,
}

/// A reduction, which a node begins when it has received all messages of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reduction {
    node: u32,
    bytes: f64,
    /// The number of messages that the node receives in the step.
    messages: u32,
}

/// The progress of the reductions of a stage.
#[derive(Debug)]
pub(super) struct Reductions<'a> {
    stage: &'a Stage,
    byte: Ticks,
    /// For each reduction, the number of messages that have not been received yet.
    missing: Vec<u32>,
}

impl<'a> Reductions<'a> {
    pub(super) fn new(stage: &'a Stage, machine: &Flat) -> Self {
        let missing = stage.reductions.iter().map(|sum| sum.messages).collect();
        Self { stage, byte: ticks(machine.reduce_byte_us), missing }
    }

    /// Records that a message was received. If it was the last message that a reduction waited for,
    /// returns the duration of the reduction. Otherwise returns 0.
    pub(super) fn received(&mut self, message: u32) -> Ticks {
        let sum = self.stage.reduction_of.get(message as usize).and_then(|sum| sum.checked_sub(1));
        let Some(sum) = sum.map(|sum| sum as usize) else { return 0 };
        self.missing[sum] -= 1;
        if self.missing[sum] > 0 {
            0
        } else {
            of_bytes(self.byte, self.stage.reductions[sum].bytes)
        }
    }

    /// Executes the reductions that need no message, because nodes only reduce data that they sent
    /// to themselves.
    pub(super) fn reduce_local(
        &self,
        clocks: &mut [RankClock],
        mut accounting: Option<&mut Accounting>,
    ) {
        for sum in self.stage.reductions.iter().filter(|sum| sum.messages == 0) {
            let line = &mut Accounting::line(&mut accounting, sum.node);
            let ticks = of_bytes(self.byte, sum.bytes);
            clocks[sum.node as usize].spend(Kind::Reduction, ticks, line);
        }
    }
}

/// An event of a stage. Events are ordered by time, kind, node and message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StageEvent {
    pub at: Clock,
    pub node: u32,
    pub message: u32,
    /// The kind of the event. In blocking mode it is always `Ready`.
    pub kind: StageEventKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StageEventKind {
    /// The processor has started a send.
    Started,
    /// The message is ready to cross the network, and waits for its ports.
    Ready,
    /// The message has arrived.
    Arrived,
}

impl Eq for StageEvent {}

impl Ord for StageEvent {
    /// Orders events in reverse, so that a max-heap returns the earliest event first.
    fn cmp(&self, other: &Self) -> Ordering {
        let time = other.at.at().cmp(&self.at.at());
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

/// The costs of a message and of its bytes, in ticks.
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
    /// For each port, the time at which it becomes free. The ports of a node are adjacent: `each`
    /// ports of node 0, then those of node 1, etc. Empty if the number of ports is not limited.
    free: Vec<Ticks>,
    each: usize,
}

impl Ports {
    fn new(nodes: usize, machine: &Flat, start: Ticks) -> Self {
        let each = ports_each(machine, nodes);
        let free = if each == nodes { Vec::new() } else { vec![start; nodes * each] };
        Self { free, each }
    }

    /// Returns the time at which the first port of `node` becomes free. Returns `None` if the number
    /// of ports is not limited.
    fn first(&mut self, node: u32) -> Option<&mut Ticks> {
        let first = node as usize * self.each;
        let ports = self.free.get_mut(first..first + self.each)?;
        ports.iter_mut().min()
    }
}

/// Returns the number of ports of a node. If the machine does not limit this number, returns the
/// number of nodes, which is always enough.
pub(super) fn ports_each(machine: &Flat, nodes: usize) -> usize {
    machine.ports.count().min(nodes as u64) as usize
}

impl Stage {
    /// Creates an empty stage.
    pub fn new(nodes: usize) -> Self {
        Self {
            messages: Vec::new(),
            composed: vec![0.0; nodes],
            used: false,
            reductions: Vec::new(),
            reduction_of: Vec::new(),
        }
    }

    /// Adds a message. Its sender composes the message's data at the start of the stage.
    pub fn add(&mut self, message: StageMessage) {
        self.compose(message.from, message.bytes);
        self.messages.push(message);
    }

    /// Adds the reductions at the end of a step, whose messages must have been added before.
    /// `bytes` has the bytes that each node reduces, and is empty if no node reduces anything.
    pub(crate) fn add_reductions(&mut self, step: u64, bytes: &[f64]) {
        // Create the reductions.
        let first = self.messages.partition_point(|message| message.step < step);
        let mut of_node = vec![0; bytes.len()];
        for (node, bytes) in (0..).zip(bytes).filter(|(_, bytes)| **bytes > 0.0) {
            self.reductions.push(Reduction { node, bytes: *bytes, messages: 0 });
            (of_node[node as usize], self.used) = (self.reductions.len() as u32, true);
        }
        if bytes.is_empty() {
            return;
        }
        // Assign the messages of the step to the reductions.
        self.reduction_of.resize(self.messages.len(), 0);
        for (message, sum) in self
            .messages
            .iter()
            .zip(&mut self.reduction_of)
            .skip(first)
            .filter(|(m, _)| m.from != m.to)
        {
            *sum = of_node[message.to as usize];
            if let Some(sum) = sum.checked_sub(1) {
                self.reductions[sum as usize].messages += 1;
            }
        }
    }

    /// Adds to the data that the node composes at the start of the stage. Adds no message.
    pub fn compose(&mut self, node: u32, bytes: f64) {
        self.composed[node as usize] += bytes;
        self.used = true;
    }

    /// Returns whether no node sends or composes anything.
    pub fn is_empty(&self) -> bool {
        !self.used
    }

    /// Removes all messages, reductions and composed data.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.reductions.clear();
        self.reduction_of.clear();
        self.composed.fill(0.0);
        self.used = false;
    }

    /// Returns the bytes that each node receives.
    pub fn received(&self) -> Vec<f64> {
        let mut received = vec![0.0; self.composed.len()];
        for m in &self.messages {
            received[m.to as usize] += m.bytes;
        }
        received
    }
}

/// The simulation of a stage in blocking mode. Each node works through its list of tasks. In each
/// step, the sends come before the receives.
pub(super) struct Blocking<'a> {
    stage: &'a Stage,
    times: MessageTimes,
    /// The tasks of all nodes, sorted by node. A task is twice the number of a message, plus 1 if
    /// the node receives the message.
    tasks: Vec<u32>,
    /// For each node, the index of its next task.
    next: Vec<u32>,
    /// For each node, the index after its last task.
    end: Vec<u32>,
    clocks: &'a mut [RankClock],
    /// For each message, the time at which it arrived.
    arrived: Vec<Option<Clock>>,
    /// For each node, whether it waits until the message of its next task arrives.
    waiting: Vec<bool>,
    ports: Ports,
    reductions: Reductions<'a>,
    events: BinaryHeap<StageEvent>,
    accounting: Option<&'a mut Accounting>,
}

impl<'a> Blocking<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        machine: &Flat,
        start: Ticks,
        clocks: &'a mut [RankClock],
        accounting: Option<&'a mut Accounting>,
    ) -> Self {
        // Count the tasks of each node, and set `next` to the index of each node's first task.
        let nodes = stage.composed.len();
        let mut next = vec![0_u32; nodes + 1];
        for m in &stage.messages {
            next[m.from as usize + 1] += 1;
            next[m.to as usize + 1] += 1;
        }
        for node in 0..nodes {
            next[node + 1] += next[node];
        }
        // Fill the list of tasks. In each step, a node's sends come before its receives.
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
            clocks,
            arrived: vec![None; stage.messages.len()],
            waiting: vec![false; nodes],
            ports: Ports::new(nodes, machine, start),
            reductions: Reductions::new(stage, machine),
            events: BinaryHeap::new(),
            accounting,
        }
    }

    pub(super) fn run(mut self) {
        for node in 0..self.next.len() {
            self.proceed(node);
        }
        // Serve requests for ports in the order of time. No request creates an earlier request.
        while let Some(event) = self.events.pop() {
            let m = self.stage.messages[event.message as usize];
            let crossing = of_bytes(self.times.byte, m.bytes);
            let line = &mut Accounting::line(&mut self.accounting, m.from);
            let sender = &mut self.clocks[m.from as usize];
            // Occupy the receiver's port that becomes free first.
            let port = self.ports.first(m.to);
            sender.wait_until(port.as_deref().copied().unwrap_or(0), Kind::Contention, line);
            sender.spend(Kind::Transmission, crossing, line);
            line.sent();
            port.into_iter().for_each(|port| *port = sender.at());
            self.arrived[event.message as usize] = Some(**sender);
            if let Some(accounting) = &mut self.accounting {
                let times = &mut accounting.crossings[event.message as usize];
                // Up to the time at which the message is ready, the receiver waits for its peer.
                // Then it waits until the message has a port.
                let (ready, done) = (event.at.at(), sender.at());
                (times.started, times.ready) = (ready, ready);
                (times.crossing, times.arrived) = (done - crossing, done);
            }
            self.next[m.from as usize] += 1;
            self.proceed(m.from as usize);
            let to = m.to as usize;
            if self.waiting[to] && self.tasks[self.next[to] as usize] == event.message * 2 + 1 {
                self.waiting[to] = false;
                self.proceed(to);
            }
        }
        self.reductions.reduce_local(self.clocks, self.accounting);
        assert_eq!(self.next, self.end, "nodes that wait for ever");
    }

    /// Works through the tasks of a node until the node has to wait.
    fn proceed(&mut self, node: usize) {
        let MessageTimes { half_start, half_copy, .. } = self.times;
        while self.next[node] < self.end[node] {
            let task = self.tasks[self.next[node] as usize];
            let message = task / 2;
            let m = &self.stage.messages[message as usize];
            let copying = of_bytes(half_copy, m.bytes);
            if let Some(accounting) = &mut self.accounting {
                accounting.enter(node as u32, m.step);
            }
            let times = self.accounting.as_ref().map(|a| a.crossings[message as usize]);
            let line = &mut Accounting::line(&mut self.accounting, node as u32);
            // Send: copy, then request a port of the receiver.
            if task.is_multiple_of(2) {
                self.clocks[node].spend(Kind::Startup, half_start, line);
                self.clocks[node].spend(Kind::Transmission, copying, line);
                self.events.push(StageEvent {
                    at: *self.clocks[node],
                    node: node as u32,
                    message,
                    kind: StageEventKind::Ready,
                });
                return;
            }
            // Receive: wait for the message, then copy.
            let Some(arrived) = self.arrived[message as usize] else {
                self.waiting[node] = true;
                return;
            };
            let clock = &mut self.clocks[node];
            let phases = times.into_iter().flat_map(CrossingTimes::phases);
            clock.follow(clock.later(arrived), phases, Kind::Transmission, line);
            clock.spend(Kind::Startup, half_start, line);
            clock.spend(Kind::Transmission, copying, line);
            clock.spend(Kind::Reduction, self.reductions.received(message), line);
            self.next[node] += 1;
        }
    }
}
