//! Event-driven simulation of one stage of the model `flat`.
//!
//! Half of a message's start-up and half of its copying take place at its sender, the other halves
//! at its receiver. `m` is its size in bytes.
//!
//! **Blocking** (Liu et al., section 2.3 (1), Figs. 2 and 3): a node does one thing at a time. In
//! each step of the schedule it sends, then receives:
//! - a send takes Ts/2 + m tc/2, waits for a free port at the receiver, and takes m td more;
//! - a receive waits until the message has arrived, and takes Ts/2 + m tc/2.
//!
//! **Nonblocking** (section 2.3 (2)): three parts of a node work at the same time
//! (`super::nonblocking`):
//! - The processor starts all sends one after another, Ts/2 each. Then it completes receives in the
//!   order of arrival, Ts/2 each. If data is received and forwarded in the same stage, the send
//!   that forwards it waits until the receive is complete, and all later sends of the node wait,
//!   too.
//! - A copying engine (DMA) takes m tc/2 for each message, sent or received, in the order in which
//!   messages are ready.
//! - Ports: a message waits until an output port of its sender and an input port of its receiver
//!   are free (section 2.3: messages compete for both), and takes m td to cross
//!   (`super::crossing`).
//!
//! With a second send buffer, the processor composes the data of each message for the next stage as
//! soon as it has completed the receive.
//!
//! **Simultaneous events** are ordered by kind, then by node, then by message. Times are exact
//! ([`crate::cost::model::clock`]), so that rounding has no influence.

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
    /// The step of the schedule. Nodes work through their messages in the order of steps.
    pub step: u64,
    /// The latest step in which the sender received any of the message's data. Steps of earlier
    /// stages count as complete.
    pub after: u64,
    /// Size in bytes.
    pub bytes: f64,
}

/// The messages of a stage, and the data that nodes compose.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The messages in the schedule's order.
    pub messages: Vec<StageMessage>,
    /// Bytes that each node composes in its send buffer.
    pub composed: Vec<f64>,
    /// Whether the stage is not empty.
    used: bool,
    /// The reductions in the order of steps.
    reductions: Vec<Reduction>,
    /// For each message the index of its receiver's reduction, plus one; 0 if there is none. The
    /// list may be shorter than `messages`: the remaining messages have no reduction.
    reduction_of: Vec<u32>,
}

/// A reduction that a node makes when it has received all of its messages of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reduction {
    node: u32,
    bytes: f64,
    /// Number of messages of the step that the node receives.
    messages: u32,
}

/// The progress of the reductions of a stage.
#[derive(Debug)]
pub(super) struct Reductions<'a> {
    stage: &'a Stage,
    byte: Ticks,
    /// For each reduction, the number of messages that it still waits for.
    missing: Vec<u32>,
}

impl<'a> Reductions<'a> {
    pub(super) fn new(stage: &'a Stage, machine: &Flat) -> Self {
        let missing = stage.reductions.iter().map(|sum| sum.messages).collect();
        Self { stage, byte: ticks(machine.reduce_byte_us), missing }
    }

    /// Counts a message that its receiver has received at the time `at`. Returns the receiver's
    /// clock after the reduction, if that was the last message of the step.
    pub(super) fn received(&mut self, message: u32, at: Clock) -> Clock {
        let sum = self.stage.reduction_of.get(message as usize).and_then(|sum| sum.checked_sub(1));
        let Some(sum) = sum.map(|sum| sum as usize) else { return at };
        self.missing[sum] -= 1;
        if self.missing[sum] > 0 {
            at
        } else {
            at.reduced(of_bytes(self.byte, self.stage.reductions[sum].bytes))
        }
    }

    /// Adds the reductions of data that nodes have sent to themselves.
    pub(super) fn add_local(&self, clocks: &mut [Clock]) {
        for sum in self.stage.reductions.iter().filter(|sum| sum.messages == 0) {
            let clock = &mut clocks[sum.node as usize];
            *clock = clock.reduced(of_bytes(self.byte, sum.bytes));
        }
    }
}

/// An event, ordered by time, kind, node and message.
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
    /// The message is ready to cross, and waits for its ports.
    Ready,
    /// The message has arrived.
    Arrived,
}

impl Eq for StageEvent {}

impl Ord for StageEvent {
    /// The earliest event is the greatest, for use in a max-heap.
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

/// The costs of a message, in ticks.
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
    /// The time at which each port is free; empty if the number of ports is not limited.
    free: Vec<Ticks>,
    each: usize,
}

impl Ports {
    fn new(nodes: usize, machine: &Flat, start: Ticks) -> Self {
        let each = ports_each(machine, nodes);
        let free = if each == nodes { Vec::new() } else { vec![start; nodes * each] };
        Self { free, each }
    }

    /// Occupies the port of `node` that is free first, for the duration `time`. Returns the end.
    fn take(&mut self, node: u32, ready: Clock, time: Ticks) -> Clock {
        let first = node as usize * self.each;
        let ports = self.free.get_mut(first..first + self.each).unwrap_or_default();
        let Some(port) = ports.iter_mut().min() else { return ready.transmitted(time) };
        let done = ready.waited_until(*port).transmitted(time);
        *port = done.at;
        done
    }
}

/// Returns the number of ports per node; the number of nodes if it is not limited.
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

    /// Adds a message. Its sender composes the data of the message.
    pub fn add(&mut self, message: StageMessage) {
        self.compose(message.from, message.bytes);
        self.messages.push(message);
    }

    /// Adds the reductions of the last step. `bytes` has the bytes that each node reduces, and is
    /// empty if nothing is reduced.
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

    /// Adds data that the node composes but does not send.
    pub fn compose(&mut self, node: u32, bytes: f64) {
        self.composed[node as usize] += bytes;
        self.used = true;
    }

    /// Returns whether no node sends or composes anything.
    pub fn is_empty(&self) -> bool {
        !self.used
    }

    /// Removes all messages.
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

/// A stage in blocking mode: each node works through its list, sends before receives within a step.
pub(super) struct Blocking<'a> {
    stage: &'a Stage,
    times: MessageTimes,
    /// The tasks of all nodes, one node after another. A task is the number of a message times 2,
    /// plus 1 if the node receives it.
    tasks: Vec<u32>,
    /// Each node's next task.
    next: Vec<u32>,
    /// For each node, the index after its last task.
    end: Vec<u32>,
    clock: Vec<Clock>,
    /// When each message arrived.
    arrived: Vec<Option<Clock>>,
    /// Whether each node waits for the message that it receives next.
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
        start: Clock,
        accounting: Option<&'a mut Accounting>,
    ) -> Self {
        // Count the tasks of each node; `next` has the start of its list.
        let nodes = stage.composed.len();
        let mut next = vec![0_u32; nodes + 1];
        for m in &stage.messages {
            next[m.from as usize + 1] += 1;
            next[m.to as usize + 1] += 1;
        }
        for node in 0..nodes {
            next[node + 1] += next[node];
        }
        // Fill the lists: in each step, sends before receives.
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
            arrived: vec![None; stage.messages.len()],
            waiting: vec![false; nodes],
            ports: Ports::new(nodes, machine, start.at),
            reductions: Reductions::new(stage, machine),
            events: BinaryHeap::new(),
            accounting,
        }
    }

    pub(super) fn run(mut self) -> Clock {
        for node in 0..self.next.len() {
            self.proceed(node);
        }
        // Serve requests for ports in the order of time. Serving a request never creates an earlier
        // one.
        while let Some(event) = self.events.pop() {
            let m = self.stage.messages[event.message as usize];
            let crossing = of_bytes(self.times.byte, m.bytes);
            let done = self.ports.take(m.to, event.at, crossing);
            if let Some(accounting) = &mut self.accounting {
                let times = &mut accounting.crossings[event.message as usize];
                // The sender has not waited up to the time at which the message is ready. The
                // receiver has waited for its peer up to that time.
                (times.started, times.ready, times.crossing, times.arrived) =
                    (event.at.at, event.at.at, done.at - crossing, done.at);
                accounting.charge_wait(m.from, event.message);
                accounting.sent(m.from);
            }
            self.arrived[event.message as usize] = Some(done);
            self.clock[m.from as usize] = done;
            self.next[m.from as usize] += 1;
            self.proceed(m.from as usize);
            let to = m.to as usize;
            if self.waiting[to] && self.tasks[self.next[to] as usize] == event.message * 2 + 1 {
                self.waiting[to] = false;
                self.proceed(to);
            }
        }
        self.reductions.add_local(&mut self.clock);
        if let Some(accounting) = &mut self.accounting {
            (0..)
                .zip(&self.clock)
                .for_each(|(node, clock)| accounting.charge(node, TimeKind::Reduction, clock.at));
        }
        self.clock.into_iter().reduce(Clock::later).unwrap_or_default()
    }

    /// Works through the tasks of a node until it has to wait.
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
            // Send: copy, then request a port of the receiver.
            if task.is_multiple_of(2) {
                let at = self.clock[node].started(half_start).transmitted(copying);
                if let Some(accounting) = &mut self.accounting {
                    accounting.charge(node as u32, TimeKind::Startup, at.at - copying);
                    accounting.charge(node as u32, TimeKind::Transmission, at.at);
                }
                self.events.push(StageEvent {
                    at,
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
            let received = self.clock[node].later(arrived).started(half_start).transmitted(copying);
            self.clock[node] = self.reductions.received(message, received);
            if let Some(accounting) = &mut self.accounting {
                accounting.charge_wait(node as u32, message);
                accounting.charge(node as u32, TimeKind::Startup, received.at - copying);
                accounting.charge(node as u32, TimeKind::Transmission, received.at);
                accounting.charge(node as u32, TimeKind::Reduction, self.clock[node].at);
            }
            self.next[node] += 1;
        }
    }
}
