//! Selects the message that crosses the network next. A message needs an output port of its sender
//! and an input port of its receiver at the same time.
//!
//! A port does not stay idle for one message while it could serve another. Among the messages whose
//! sender and receiver both have a free port, the message that was ready first crosses first. If
//! several were ready at the same time, the message of the sender with the lowest number is first.
//!
//! These rules agree with Liu, Wang & Prasanna. If a message instead occupied its output port while
//! its receiver is busy, a direct exchange of irregular messages on 16 nodes would take a tenth
//! longer than in the paper.

use crate::cost::model::clock::{Clock, Ticks};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A message that is ready to cross the network.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadyMessage {
    pub from: u32,
    pub to: u32,
    pub message: u32,
    pub ready: Clock,
}

/// The priority of a ready message: the time at which it became ready, its sender, and its index
/// among the messages of the stage. The smallest value is served first.
type Priority = (Ticks, u32, u32);

impl ReadyMessage {
    fn priority(&self) -> Priority {
        (self.ready.at(), self.from, self.message)
    }
}

/// The input ports or the output ports of all nodes.
#[derive(Debug)]
struct Ports {
    /// Number of free ports of each node.
    free: Vec<usize>,
    /// For each node, the messages that wait for its ports, in the order in which they became
    /// ready. Some of these messages may have crossed already.
    waiting: Vec<VecDeque<ReadyMessage>>,
}

impl Ports {
    fn new(nodes: usize, each: usize) -> Self {
        // A node with as many ports as there are nodes never waits for a port.
        let free = if each == nodes { usize::MAX / 2 } else { each };
        Self { free: vec![free; nodes], waiting: vec![VecDeque::new(); nodes] }
    }

    fn is_free(&self, node: u32) -> bool {
        self.free[node as usize] > 0
    }

    /// Returns the first waiting message of a node that can cross. `other_is_free` returns whether
    /// the node at the opposite end of the message also has a free port.
    fn first(
        &mut self,
        node: u32,
        crossed: &[bool],
        other_is_free: impl Fn(&ReadyMessage) -> bool,
    ) -> Option<ReadyMessage> {
        if !self.is_free(node) {
            return None;
        }
        let waiting = &mut self.waiting[node as usize];
        while waiting.front().is_some_and(|w| crossed[w.message as usize]) {
            waiting.pop_front();
        }
        waiting.iter().find(|w| !crossed[w.message as usize] && other_is_free(w)).copied()
    }
}

/// The ports of all nodes, and the messages that wait for them.
#[derive(Debug)]
pub(super) struct Crossing {
    outputs: Ports,
    inputs: Ports,
    /// Whether each message has started to cross.
    crossed: Vec<bool>,
    /// For each node whose ports have changed, the priority of its first message that could cross.
    /// The heap returns the smallest value first. Entries can be out of date.
    candidates: BinaryHeap<Reverse<(Priority, NodePorts)>>,
}

/// The output ports or the input ports of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NodePorts {
    Output(u32),
    Input(u32),
}

impl Crossing {
    /// Creates the ports: each node has `each` input ports and `each` output ports.
    pub(super) fn new(nodes: usize, each: usize, messages: usize) -> Self {
        let [outputs, inputs] = [(); 2].map(|()| Ports::new(nodes, each));
        Self { outputs, inputs, crossed: vec![false; messages], candidates: BinaryHeap::new() }
    }

    /// Adds a message that is ready to cross. Calls must be in the order of time.
    pub(super) fn add(&mut self, message: ReadyMessage) {
        self.outputs.waiting[message.from as usize].push_back(message);
        self.inputs.waiting[message.to as usize].push_back(message);
        self.update(message.from, message.to);
    }

    /// Frees the ports of a message that has crossed.
    pub(super) fn release(&mut self, from: u32, to: u32) {
        self.outputs.free[from as usize] += 1;
        self.inputs.free[to as usize] += 1;
        self.update(from, to);
    }

    /// Adds the first message that could cross at the sender, and at the receiver, to `candidates`.
    fn update(&mut self, from: u32, to: u32) {
        for end in [NodePorts::Output(from), NodePorts::Input(to)] {
            let first = self.first(end);
            self.candidates.extend(first.map(|w| Reverse((w.priority(), end))));
        }
    }

    fn first(&mut self, end: NodePorts) -> Option<ReadyMessage> {
        let Self { outputs, inputs, crossed, .. } = self;
        match end {
            NodePorts::Output(node) => outputs.first(node, crossed, |w| inputs.is_free(w.to)),
            NodePorts::Input(node) => inputs.first(node, crossed, |w| outputs.is_free(w.from)),
        }
    }

    /// Returns the next message that can cross now, and occupies its ports. Call this function when
    /// all messages and ports of the current time are known, and repeat the call until it returns
    /// `None`.
    pub(super) fn next(&mut self) -> Option<ReadyMessage> {
        while let Some(Reverse((place, end))) = self.candidates.pop() {
            let Some(next) = self.first(end) else { continue };
            if next.priority() != place {
                // The entry is out of date: the message has crossed already, or the node at its
                // opposite end has no free port.
                self.candidates.push(Reverse((next.priority(), end)));
                continue;
            }
            self.outputs.free[next.from as usize] -= 1;
            self.inputs.free[next.to as usize] -= 1;
            self.crossed[next.message as usize] = true;
            self.update(next.from, next.to);
            return Some(next);
        }
        None
    }
}
