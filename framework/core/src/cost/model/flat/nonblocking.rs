//! A stage in nonblocking mode: processors, copying engines, and ports (the rules:
//! [`super::stage`]).

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
    /// Whether received data are composed for the next stage at once.
    composes: bool,
    start: Clock,
    processor: Vec<Clock>,
    engine: Vec<Ticks>,
    crossing: Crossing,
    reductions: Reductions<'a>,
    events: BinaryHeap<StageEvent>,
    /// What sends wait for, where any does.
    waits: Option<Dependencies>,
    kept: Option<&'a mut Accounting>,
}

/// What is sent on in the stage in which it came.
struct Dependencies {
    /// The messages that each node has still to start, in its order.
    unsent: Vec<VecDeque<u32>>,
    /// Those from others that it has still to complete, in the schedule's order, and some that it
    /// has.
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

    /// The next send that a node can start: all has come to it that came by then.
    fn next(&mut self, node: usize, messages: &[StageMessage]) -> Option<u32> {
        let next = *self.unsent[node].front()?;
        let uncompleted = &mut self.uncompleted[node];
        while uncompleted.front().is_some_and(|message| self.completed[*message as usize]) {
            uncompleted.pop_front();
        }
        let waits = uncompleted
            .front()
            .is_some_and(|m| messages[*m as usize].step <= messages[next as usize].after);
        if waits { None } else { self.unsent[node].pop_front() }
    }
}

impl<'a> Nonblocking<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        machine: &Flat,
        start: Clock,
        composes: bool,
        kept: Option<&'a mut Accounting>,
    ) -> Self {
        let (nodes, messages) = (stage.composed.len(), &stage.messages[..]);
        let first_step = messages.iter().map(|m| m.step).min().unwrap_or(0);
        let forwards = messages.iter().any(|m| m.after >= first_step);
        Self {
            messages,
            times: MessageTimes::of(machine),
            composes,
            start,
            processor: vec![start; nodes],
            engine: vec![start.at; nodes],
            crossing: Crossing::new(nodes, ports_each(machine, nodes), messages.len()),
            reductions: Reductions::new(stage, machine),
            events: BinaryHeap::with_capacity(messages.len()),
            waits: forwards.then(|| Dependencies::new(nodes, messages)),
            kept,
        }
    }

    pub(super) fn run(mut self) -> Clock {
        if self.waits.is_some() {
            (0..self.processor.len()).for_each(|node| self.start_what_can(node));
        } else {
            (0..self.messages.len()).for_each(|message| self.start(message as u32));
        }
        while let Some(event) = self.events.pop() {
            self.happens(event);
            // What goes is chosen when all that is ready and free at this moment is known.
            let now = event.at.at;
            if self.events.peek().is_some_and(|next| next.at.at == now) {
                continue;
            }
            while let Some(next) = self.crossing.next() {
                let bytes = self.messages[next.message as usize].bytes;
                let at = next.ready.waited_until(now).transmitted(of_bytes(self.times.byte, bytes));
                if let Some(kept) = &mut self.kept {
                    let way = &mut kept.crossings[next.message as usize];
                    (way.crossing, way.came) = (now, at.at);
                }
                self.events.push(StageEvent {
                    at,
                    node: next.to,
                    message: next.message,
                    kind: StageEventKind::Arrived,
                });
            }
        }
        self.reductions.rest(&mut self.processor);
        if let Some(kept) = &mut self.kept {
            (0..)
                .zip(&self.processor)
                .for_each(|(node, clock)| kept.charge(node, TimeKind::Reduction, clock.at));
        }
        self.processor.into_iter().fold(self.start, Clock::later)
    }

    /// A processor starts a send.
    fn start(&mut self, message: u32) {
        let node = self.messages[message as usize].from;
        let at = self.processor[node as usize].started(self.times.half_start);
        self.processor[node as usize] = at;
        if let Some(kept) = &mut self.kept {
            kept.enter(node, self.messages[message as usize].step);
            kept.charge(node, TimeKind::Startup, at.at);
            kept.sent(node);
            kept.crossings[message as usize].started = at.at;
        }
        self.events.push(StageEvent { at, node, message, kind: StageEventKind::Started });
    }

    fn start_what_can(&mut self, node: usize) {
        while let Some(message) =
            self.waits.as_mut().and_then(|waits| waits.next(node, self.messages))
        {
            self.start(message);
        }
    }

    fn happens(&mut self, event: StageEvent) {
        let m = self.messages[event.message as usize];
        match event.kind {
            StageEventKind::Started => {
                let at = self.copied(m.from, event.at, m.bytes);
                if let Some(kept) = &mut self.kept {
                    let way = &mut kept.crossings[event.message as usize];
                    (way.ready, way.copying) = (at.at, of_bytes(self.times.half_copy, m.bytes));
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
                if let Some(kept) = &mut self.kept {
                    kept.awaited(m.to, event.message);
                    kept.charge(
                        m.to,
                        TimeKind::Contention,
                        copied.at - of_bytes(self.times.half_copy, m.bytes),
                    );
                    kept.charge(m.to, TimeKind::Transmission, copied.at);
                    kept.charge(m.to, TimeKind::Startup, received.at);
                    kept.charge(m.to, TimeKind::Reduction, self.processor[to].at);
                }
                if let Some(waits) = &mut self.waits {
                    waits.completed[event.message as usize] = true;
                    self.start_what_can(to);
                }
                if self.composes {
                    self.processor[to] =
                        self.processor[to].rearranged(of_bytes(self.times.compose, m.bytes));
                    if let Some(kept) = &mut self.kept {
                        kept.charge(m.to, TimeKind::Rearrangement, self.processor[to].at);
                    }
                }
                self.crossing.release(m.from, m.to);
            }
        }
    }

    /// A node's engine has copied a message that was ready at this moment.
    fn copied(&mut self, node: u32, ready: Clock, bytes: f64) -> Clock {
        let engine = &mut self.engine[node as usize];
        let done = ready.waited_until(*engine).transmitted(of_bytes(self.times.half_copy, bytes));
        *engine = done.at;
        done
    }
}
