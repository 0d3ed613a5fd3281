//! The simulation of a stage in nonblocking mode, with processors, copying engines and ports.
//! [`super::stage`] has the rules.

use super::Flat;
use super::accounting::Accounting;
use super::crossing::{Crossing, ReadyMessage};
use super::stage::{
    MessageTimes, Reductions, Stage, StageEvent, StageEventKind, StageMessage, ports_each,
};
use crate::cost::model::clock::{Clock, Ticks, of_bytes};
use crate::cost::model::time_space::TimeKind;
use std::collections::{BinaryHeap, VecDeque};

pub(super) struct Nonblocking<'a> {
    messages: &'a [StageMessage],
    times: MessageTimes,
    /// Whether nodes compose (rearrange) received data for the next stage as soon as it arrives.
    composes: bool,
    start: Clock,
    processor: Vec<Clock>,
    engine: Vec<Ticks>,
    crossing: Crossing,
    reductions: Reductions<'a>,
    events: BinaryHeap<StageEvent>,
    /// The receives for which sends must wait; `None` if no data is forwarded within the stage.
    dependencies: Option<Dependencies>,
    accounting: Option<&'a mut Accounting>,
}

/// The dependencies of sends on receives in the same stage.
struct Dependencies {
    /// For each node, the messages that it has not started to send, in the order of its sends.
    unsent: Vec<VecDeque<u32>>,
    /// For each node, the messages that it receives, in the order of the schedule. Messages that
    /// are complete are removed from the front only, so a message behind the first one may be
    /// complete.
    uncompleted: Vec<VecDeque<u32>>,
    completed: Vec<bool>,
}

impl Dependencies {
    fn new(nodes: usize, messages: &[StageMessage]) -> Self {
        let [mut unsent, mut uncompleted] = [(); 2].map(|()| vec![VecDeque::new(); nodes]);
        for (number, m) in (0..).zip(messages) {
            unsent[m.from as usize].push_back(number);
            if m.from != m.to {
                uncompleted[m.to as usize].push_back(number);
            }
        }
        Self { unsent, uncompleted, completed: vec![false; messages.len()] }
    }

    /// Removes and returns the next send of a node, if the node has received all messages on which
    /// the send depends. These are all messages up to step [`StageMessage::after`].
    fn next(&mut self, node: usize, messages: &[StageMessage]) -> Option<u32> {
        let next = *self.unsent[node].front()?;
        let uncompleted = &mut self.uncompleted[node];
        while uncompleted.front().is_some_and(|message| self.completed[*message as usize]) {
            uncompleted.pop_front();
        }
        let is_blocked = uncompleted
            .front()
            .is_some_and(|m| messages[*m as usize].step <= messages[next as usize].after);
        if is_blocked { None } else { self.unsent[node].pop_front() }
    }
}

impl<'a> Nonblocking<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        machine: &Flat,
        start: Clock,
        composes: bool,
        accounting: Option<&'a mut Accounting>,
    ) -> Self {
        let (nodes, messages) = (stage.composed.len(), &stage.messages[..]);
        let first_step = messages.iter().map(|m| m.step).min().unwrap_or(0);
        let forwards = messages.iter().any(|m| m.after >= first_step);
        Self {
            messages,
            times: MessageTimes::of(machine),
            composes,
            start,
            processor: stage.starts(start),
            engine: vec![start.at; nodes],
            crossing: Crossing::new(nodes, ports_each(machine, nodes), messages.len()),
            reductions: Reductions::new(stage, machine),
            events: BinaryHeap::with_capacity(messages.len()),
            dependencies: forwards.then(|| Dependencies::new(nodes, messages)),
            accounting,
        }
    }

    pub(super) fn run(mut self) -> Clock {
        // Start the sends.
        if self.dependencies.is_some() {
            (0..self.processor.len()).for_each(|node| self.start_available(node));
        } else {
            (0..self.messages.len()).for_each(|message| self.start(message as u32));
        }
        while let Some(event) = self.events.pop() {
            self.process(event);
            // Select messages to cross after all events of this time have been processed.
            let now = event.at.at;
            if self.events.peek().is_some_and(|next| next.at.at == now) {
                continue;
            }
            while let Some(next) = self.crossing.next() {
                let bytes = self.messages[next.message as usize].bytes;
                let at = next.ready.waited_until(now).transmitted(of_bytes(self.times.byte, bytes));
                if let Some(accounting) = &mut self.accounting {
                    let times = &mut accounting.crossings[next.message as usize];
                    (times.crossing, times.arrived) = (now, at.at);
                }
                self.events.push(StageEvent {
                    at,
                    node: next.to,
                    message: next.message,
                    kind: StageEventKind::Arrived,
                });
            }
        }
        self.reductions.add_local(&mut self.processor);
        if let Some(accounting) = &mut self.accounting {
            (0..)
                .zip(&self.processor)
                .for_each(|(node, clock)| accounting.charge(node, TimeKind::Reduction, clock.at));
        }
        self.processor.into_iter().fold(self.start, Clock::later)
    }

    /// Starts a send at its sender's processor.
    fn start(&mut self, message: u32) {
        let node = self.messages[message as usize].from;
        let at = self.processor[node as usize].started(self.times.half_start);
        self.processor[node as usize] = at;
        if let Some(accounting) = &mut self.accounting {
            accounting.enter(node, self.messages[message as usize].step);
            accounting.charge(node, TimeKind::Startup, at.at);
            accounting.sent(node);
            accounting.crossings[message as usize].started = at.at;
        }
        self.events.push(StageEvent { at, node, message, kind: StageEventKind::Started });
    }

    /// Starts the next sends of a node, until a send has to wait for a receive.
    fn start_available(&mut self, node: usize) {
        while let Some(message) = self
            .dependencies
            .as_mut()
            .and_then(|dependencies| dependencies.next(node, self.messages))
        {
            self.start(message);
        }
    }

    fn process(&mut self, event: StageEvent) {
        let m = self.messages[event.message as usize];
        match event.kind {
            StageEventKind::Started => {
                let at = self.copied(m.from, event.at, m.bytes);
                if let Some(accounting) = &mut self.accounting {
                    let times = &mut accounting.crossings[event.message as usize];
                    (times.ready, times.copying) = (at.at, of_bytes(self.times.half_copy, m.bytes));
                }
                self.events.push(StageEvent { at, kind: StageEventKind::Ready, ..event });
            }
            StageEventKind::Ready => {
                self.crossing.add(ReadyMessage {
                    from: m.from,
                    to: m.to,
                    message: event.message,
                    ready: event.at,
                });
            }
            StageEventKind::Arrived => {
                let (copied, to) = (self.copied(m.to, event.at, m.bytes), m.to as usize);
                let received = self.processor[to].later(copied).started(self.times.half_start);
                self.processor[to] = self.reductions.received(event.message, received);
                if let Some(accounting) = &mut self.accounting {
                    accounting.charge_wait(m.to, event.message);
                    accounting.charge(
                        m.to,
                        TimeKind::Contention,
                        copied.at - of_bytes(self.times.half_copy, m.bytes),
                    );
                    accounting.charge(m.to, TimeKind::Transmission, copied.at);
                    accounting.charge(m.to, TimeKind::Startup, received.at);
                    accounting.charge(m.to, TimeKind::Reduction, self.processor[to].at);
                }
                if let Some(dependencies) = &mut self.dependencies {
                    dependencies.completed[event.message as usize] = true;
                    self.start_available(to);
                }
                if self.composes {
                    self.processor[to] =
                        self.processor[to].rearranged(of_bytes(self.times.compose, m.bytes));
                    if let Some(accounting) = &mut self.accounting {
                        accounting.charge(m.to, TimeKind::Rearrangement, self.processor[to].at);
                    }
                }
                self.crossing.release(m.from, m.to);
            }
        }
    }

    /// Copies a message on the copying engine of a node. The message is ready at `ready`. Returns
    /// the clock at the end of the copying.
    fn copied(&mut self, node: u32, ready: Clock, bytes: f64) -> Clock {
        let engine = &mut self.engine[node as usize];
        let done = ready.waited_until(*engine).transmitted(of_bytes(self.times.half_copy, bytes));
        *engine = done.at;
        done
    }
}
