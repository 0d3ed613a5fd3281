//! The simulation of a stage in nonblocking mode, with processors, copying engines and ports.
//! [`super::stage`] has the rules.

use super::Flat;
use super::accounting::{Accounting, CrossingTimes};
use super::crossing::{Crossing, ReadyMessage};
use super::stage::{
    MessageTimes, Reductions, Stage, StageEvent, StageEventKind, StageMessage, ports_each,
};
use crate::cost::kind::Kind;
use crate::cost::model::clock::{Clock, Ticks, of_bytes, us};
use crate::cost::model::time_space::RankClock;
use std::collections::{BinaryHeap, VecDeque};

pub(super) struct Nonblocking<'a> {
    messages: &'a [StageMessage],
    times: MessageTimes,
    /// Whether nodes compose (rearrange) received data for the next stage as soon as it arrives.
    composes: bool,
    processor: &'a mut [RankClock],
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
        start: Ticks,
        processor: &'a mut [RankClock],
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
            processor,
            engine: vec![start; nodes],
            crossing: Crossing::new(nodes, ports_each(machine, nodes), messages.len()),
            reductions: Reductions::new(stage, machine),
            events: BinaryHeap::with_capacity(messages.len()),
            dependencies: forwards.then(|| Dependencies::new(nodes, messages)),
            accounting,
        }
    }

    pub(super) fn run(mut self) {
        // Start the sends.
        if self.dependencies.is_some() {
            (0..self.processor.len()).for_each(|node| self.start_available(node));
        } else {
            (0..self.messages.len()).for_each(|message| self.start(message as u32));
        }
        while let Some(event) = self.events.pop() {
            self.process(event);
            // Select messages to cross after all events of this time have been processed.
            let now = event.at.at();
            if self.events.peek().is_some_and(|next| next.at.at() == now) {
                continue;
            }
            while let Some(next) = self.crossing.next() {
                let bytes = self.messages[next.message as usize].bytes;
                let crossing = of_bytes(self.times.byte, bytes);
                let at = next.ready.after_wait(now).after(Kind::Transmission, crossing);
                if let Some(accounting) = &mut self.accounting {
                    let times = &mut accounting.crossings[next.message as usize];
                    (times.crossing, times.arrived) = (now, at.at());
                }
                self.events.push(StageEvent {
                    at,
                    node: next.to,
                    message: next.message,
                    kind: StageEventKind::Arrived,
                });
            }
        }
        self.reductions.reduce_local(self.processor, self.accounting);
    }

    /// Starts a send at its sender's processor.
    fn start(&mut self, message: u32) {
        let node = self.messages[message as usize].from;
        if let Some(accounting) = &mut self.accounting {
            accounting.enter(node, self.messages[message as usize].step);
        }
        let line = &mut Accounting::line(&mut self.accounting, node);
        self.processor[node as usize].spend(Kind::Startup, self.times.half_start, line);
        line.sent();
        let at = *self.processor[node as usize];
        if let Some(accounting) = &mut self.accounting {
            accounting.crossings[message as usize].started = at.at();
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
                    (times.ready, times.copying) =
                        (at.at(), of_bytes(self.times.half_copy, m.bytes));
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
                // After the arrival, the message waits for the copying engine.
                let engine = copied.at() - of_bytes(self.times.half_copy, m.bytes);
                let times = self.accounting.as_ref().map(|a| a.crossings[event.message as usize]);
                let phases = times.into_iter().flat_map(CrossingTimes::phases);
                let phases = phases.chain([(Kind::Contention, us(engine))]);
                let line = &mut Accounting::line(&mut self.accounting, m.to);
                let clock = &mut self.processor[to];
                clock.follow(clock.later(copied), phases, Kind::Transmission, line);
                clock.spend(Kind::Startup, self.times.half_start, line);
                clock.spend(Kind::Reduction, self.reductions.received(event.message), line);
                if let Some(dependencies) = &mut self.dependencies {
                    dependencies.completed[event.message as usize] = true;
                    self.start_available(to);
                }
                if self.composes {
                    let line = &mut Accounting::line(&mut self.accounting, m.to);
                    let composing = of_bytes(self.times.compose, m.bytes);
                    self.processor[to].spend(Kind::Rearrangement, composing, line);
                }
                self.crossing.release(m.from, m.to);
            }
        }
    }

    /// Copies a message on the copying engine of a node. The message is ready at `ready`. Returns
    /// the clock at the end of the copying.
    fn copied(&mut self, node: u32, ready: Clock, bytes: f64) -> Clock {
        let engine = &mut self.engine[node as usize];
        let copying = of_bytes(self.times.half_copy, bytes);
        let done = ready.after_wait(*engine).after(Kind::Transmission, copying);
        *engine = done.at();
        done
    }
}
