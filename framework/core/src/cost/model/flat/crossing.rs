//! Which message crosses next: each takes an output port of its sender and an input port of its
//! receiver, both at the same moment.
//!
//! A port doesn't wait for one message while another could go: of the messages whose ends are both
//! free the one that was ready first goes, at one moment that of the lower sender. (The other rule,
//! a message that holds its output port while its receiver is busy, makes a direct exchange of
//! irregular messages on 16 nodes dearer by a tenth than Liu, Wang & Prasanna's processors, which
//! take messages as they are ready.)

use crate::cost::model::clock::{Clock, Ticks};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A message that is ready to go.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadyMessage {
    pub from: u32,
    pub to: u32,
    pub message: u32,
    pub ready: Clock,
}

/// Its place among messages that could go: by moment, sender, and number.
type Priority = (Ticks, u32, u32);

impl ReadyMessage {
    fn priority(&self) -> Priority {
        (self.ready.at, self.from, self.message)
    }
}

/// One kind of port, of all nodes.
#[derive(Debug)]
struct Ports {
    free: Vec<usize>,
    /// Messages that wait to go through a node's ports, in the order in which they were ready; some
    /// have gone.
    waiting: Vec<VecDeque<ReadyMessage>>,
}

impl Ports {
    fn new(nodes: usize, each: usize) -> Self {
        // Ports that are as many as nodes are never short.
        let free = if each == nodes { usize::MAX / 2 } else { each };
        Self { free: vec![free; nodes], waiting: vec![VecDeque::new(); nodes] }
    }

    fn is_free(&self, node: u32) -> bool {
        self.free[node as usize] > 0
    }

    /// The first in line at a node that can go, by what is known of its other end.
    fn first(
        &mut self,
        node: u32,
        gone: &[bool],
        other_is_free: impl Fn(&ReadyMessage) -> bool,
    ) -> Option<ReadyMessage> {
        if !self.is_free(node) {
            return None;
        }
        let waiting = &mut self.waiting[node as usize];
        while waiting.front().is_some_and(|w| gone[w.message as usize]) {
            waiting.pop_front();
        }
        waiting.iter().find(|w| !gone[w.message as usize] && other_is_free(w)).copied()
    }
}

/// The ports of all nodes, and what waits for them.
#[derive(Debug)]
pub(super) struct Crossing {
    outputs: Ports,
    inputs: Ports,
    /// Whether each message has gone.
    gone: Vec<bool>,
    /// The first that could go at each port about which something was said, the earliest first.
    candidates: BinaryHeap<Reverse<(Priority, NodePorts)>>,
}

/// The ports of a node, of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NodePorts {
    Output(u32),
    Input(u32),
}

impl Crossing {
    /// So many ports of each kind at a node.
    pub(super) fn new(nodes: usize, each: usize, messages: usize) -> Self {
        let [outputs, inputs] = [(); 2].map(|()| Ports::new(nodes, each));
        Self { outputs, inputs, gone: vec![false; messages], candidates: BinaryHeap::new() }
    }

    /// A message is ready. Messages are named in the order of time.
    pub(super) fn wait(&mut self, message: ReadyMessage) {
        self.outputs.waiting[message.from as usize].push_back(message);
        self.inputs.waiting[message.to as usize].push_back(message);
        self.touched(message.from, message.to);
    }

    /// A message has gone through an output port of `from` and an input port of `to`.
    pub(super) fn through(&mut self, from: u32, to: u32) {
        self.outputs.free[from as usize] += 1;
        self.inputs.free[to as usize] += 1;
        self.touched(from, to);
    }

    fn touched(&mut self, from: u32, to: u32) {
        for end in [NodePorts::Output(from), NodePorts::Input(to)] {
            let first = self.first(end);
            self.candidates.extend(first.map(|w| Reverse((w.priority(), end))));
        }
    }

    fn first(&mut self, end: NodePorts) -> Option<ReadyMessage> {
        let Self { outputs, inputs, gone, .. } = self;
        match end {
            NodePorts::Output(node) => outputs.first(node, gone, |w| inputs.is_free(w.to)),
            NodePorts::Input(node) => inputs.first(node, gone, |w| outputs.is_free(w.from)),
        }
    }

    /// What goes next, if anything can: asked, until nothing does, when all that is ready or free
    /// at this moment has been said.
    pub(super) fn next(&mut self) -> Option<ReadyMessage> {
        while let Some(Reverse((place, end))) = self.candidates.pop() {
            let Some(next) = self.first(end) else { continue };
            if next.priority() != place {
                // What it stood for has gone by its other end, or that end has been taken since.
                self.candidates.push(Reverse((next.priority(), end)));
                continue;
            }
            self.outputs.free[next.from as usize] -= 1;
            self.inputs.free[next.to as usize] -= 1;
            self.gone[next.message as usize] = true;
            self.touched(next.from, next.to);
            return Some(next);
        }
        None
    }
}
