//! `loggp`: event-driven, without links: what counts is what processors and network interfaces do (LogGPS: Alexandrov et al., 1995; Ino et al., 2001), by the rules of LogGOPSim
//! (Hoefler, Schneider & Lumsdaine, 2010), whose times these are.
//!
//! A rank works through its steps: it posts a step's receives, then its sends, and goes on when all are done; it waits for nobody else's step. A message of s bytes
//! - keeps its sender's processor busy for o + (s - 1) O, its interface for g + (s - 1) G;
//! - is with its receiver o + L after it was begun. When processor and interface there are free, it keeps them busy for o + (s - 1) max(O, G) and g + (s - 1) G:
//!   the time of its bytes is charged there;
//! - is done for its sender at once, or, if it has more than S bytes, only when its receiver has posted the receive and begun to take it (rendezvous).
//!
//! With `order=data` ([`forwarding`](super::asynchronous::forwarding)) a rank has posted all its receives from the beginning, and a long message holds up nothing but its own data until its receiver
//! begins to take it.
//!
//! What a rank adds up (`reduce_byte_us` a byte) keeps its processor busy once all that it receives in the step has come.
//!
//! An interface sends and receives at the same time, a processor does one thing at a time. What comes first at a processor, comes first; at the same moment, what was put
//! in line first. Parts of time are those along the critical path: o and g in start-up, O and G in transmission, L in propagation, what a message waits for its receiver
//! or a sender for its receiver's consent in contention.

use super::asynchronous::events::{Events, MOST_EVENTS};
use super::asynchronous::forwarding::{Next, Places};
use super::asynchronous::noise::{NOISE, Noise};
use super::asynchronous::{Message, ORDER, Order, Steps};
use super::clock::{Clock, Ticks, of_bytes, ticks, us};
use super::time_space::{Kind as Spent, TimeSpace};
use super::{Cost, Evaluator, Model, ModelKind, Parts, RankTimes, Scale};
use crate::cost::bound::{Bound, BoundKind, Traffic};
use crate::cost::parameter::{BARRIER_US, BYTE_US, Barrier, Default, REDUCE_BYTE_US, Typed, micros};
use crate::cost::settings::parameters;
use crate::network::topology::Topology;
use crate::simulation::step::{Listener, Step, Summed};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

mod kept;

pub(super) static KIND: ModelKind = ModelKind {
    name: "loggp",
    title: "event-driven, without links: processors and network interfaces, as LogGOPSim has them",
    parameters: LogGp::PARAMETERS,
    prepare: |settings| {
        let model = LogGp::of(settings)?;
        model.order.with(model.barrier_us)?;
        Ok(Arc::new(model))
    },
};

static LATENCY_US: Typed<f64> = Typed {
    key: "latency_us",
    meaning: "from one network interface to another, whatever the distance",
    symbols: "L",
    default: Default::Text("0"),
    read: micros,
};

static OVERHEAD_US: Typed<f64> = Typed {
    key: "overhead_us",
    meaning: "a processor's work for a message, at either end",
    symbols: "o",
    default: Default::Text("0"),
    read: micros,
};

static GAP_US: Typed<f64> = Typed {
    key: "gap_us",
    meaning: "between the beginnings of two messages at an interface",
    symbols: "g",
    default: Default::Text("0"),
    read: micros,
};

static OVERHEAD_BYTE_US: Typed<f64> = Typed {
    key: "overhead_byte_us",
    meaning: "a processor's work for a byte",
    symbols: "O",
    default: Default::Text("0"),
    read: micros,
};

static RENDEZVOUS_BYTES: Typed<u64> = Typed {
    key: "rendezvous_bytes",
    meaning: "a message of more bytes waits for its receiver's consent",
    symbols: "S",
    default: Default::Text("65535"),
    read: |text| text.parse().map_err(|_| "a whole number of bytes".to_owned()),
};

parameters! {
    #[derive(Copy)]
    struct LogGp {
        latency_us: f64 = LATENCY_US,
        overhead_us: f64 = OVERHEAD_US,
        gap_us: f64 = GAP_US,
        byte_us: f64 = BYTE_US,
        overhead_byte_us: f64 = OVERHEAD_BYTE_US,
        rendezvous_bytes: u64 = RENDEZVOUS_BYTES,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        order: Order = ORDER,
        noise: f64 = NOISE,
        most_events: u64 = MOST_EVENTS,
    }
}

impl Model for LogGp {
    fn wants_after(&self) -> bool {
        self.order == Order::Data
    }

    fn evaluator(&self, scale: Scale<'_>) -> Box<dyn Evaluator> {
        let nodes = scale.topology.nodes();
        let barrier = match (self.order, ticks(self.barrier_us.us(nodes))) {
            (Order::Step, 0) | (Order::Data, _) => None,
            (Order::Step | Order::Barrier, barrier) => Some(barrier),
        };
        Box::new(Simulation {
            latency: ticks(self.latency_us),
            overhead: ticks(self.overhead_us),
            gap: ticks(self.gap_us),
            byte: ticks(self.byte_us),
            overhead_byte: ticks(self.overhead_byte_us),
            reduce_byte: ticks(self.reduce_byte_us),
            rendezvous_bytes: self.rendezvous_bytes as f64,
            noise: Noise::new(self.noise, scale.seed),
            barrier,
            places: (self.order == Order::Data).then(|| Places::new(nodes as usize)),
            ranks: (0..nodes).map(|_| Rank::default()).collect(),
            steps: Steps::new(nodes as usize, scale.unit_bytes),
            queue: BinaryHeap::new(),
            sequence: 0,
            flights: Vec::new(),
            landed: Vec::new(),
            open: nodes as usize,
            kept: None,
            now: 0,
            events: Events::new(self.most_events),
        })
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    /// Someone's bytes come one after another: each costs what is least, as a part of a long message or as a message by itself; and something is sent, travels, and is taken.
    fn lower_bound(&self, _: &dyn Topology, traffic: &Traffic) -> Bound {
        if self.noise > 0.0 {
            return Bound::default();
        }
        let received = (traffic.received - 1.0) * self.overhead_us.min(self.byte_us.max(self.overhead_byte_us));
        let sent = (traffic.sent - 1.0) * self.gap_us.min(self.byte_us);
        let transmission_us = received.max(sent).max(0.0);
        let by_bytes = Bound {
            kind: if transmission_us > 0.0 { BoundKind::Bytes } else { BoundKind::StartUps },
            startup_us: 2.0 * self.overhead_us,
            transmission_us,
            propagation_us: self.latency_us,
            ..Bound::default()
        };
        // Who adds up most may be busy with that while others' bytes are under way.
        let by_sums = Bound {
            startup_us: 2.0 * self.overhead_us,
            propagation_us: self.latency_us,
            reduction_us: traffic.summed * self.reduce_byte_us,
            ..Bound::default()
        };
        if by_sums.total_us() > by_bytes.total_us() { by_sums } else { by_bytes }
    }
}

/// Ticks, so many times.
fn times(ticks: Ticks, noise: f64) -> Ticks {
    if noise == 1.0 { ticks } else { (ticks as f64 * noise).round() as Ticks }
}

/// What happens at a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It sends the next message of its step.
    Send,
    /// A message has come to it: this one.
    Message(u32),
    /// It may be free for the message that is first in line.
    Turn(u32),
    /// All of its step is done.
    Join,
}

/// By time, then by the place in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Ticks,
    sequence: u64,
    rank: u32,
    kind: Kind,
}

/// A message on its way.
#[derive(Debug, Clone, Copy)]
struct Flight {
    clock: Clock,
    from: u32,
    step: u64,
    bytes: f64,
    /// By what all that it takes is multiplied.
    noise: f64,
}

/// A message that came before its receiver had posted the receive, of this step; whose sender waits for that, if it is a long one.
#[derive(Debug, Clone, Copy)]
struct Early {
    step: u64,
    waits: Option<u32>,
}

#[derive(Debug, Default)]
struct Rank {
    processor: Clock,
    /// When the interface has sent what it was given, and with what.
    outgoing: Clock,
    /// When it has taken what came.
    incoming: Ticks,
    /// The step it is in, or waits for; unless `places` say where it is.
    step: u64,
    /// Whether its next send is in line, where `places` say which that is.
    is_sending: bool,
    /// Messages of the step that it has sent.
    sent: usize,
    /// Sends and receives of the step that are not done.
    left: usize,
    /// The place in line of its next send.
    sequence: u64,
    /// What has come and waits for processor and interface, by place in line.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    early: Vec<Early>,
}

struct Simulation {
    latency: Ticks,
    overhead: Ticks,
    gap: Ticks,
    byte: Ticks,
    overhead_byte: Ticks,
    reduce_byte: Ticks,
    rendezvous_bytes: f64,
    noise: Noise,
    /// What a barrier after each step takes, if there is one.
    barrier: Option<Ticks>,
    /// Where ranks are with `order=data`.
    places: Option<Places>,
    ranks: Vec<Rank>,
    steps: Steps,
    queue: BinaryHeap<Reverse<Event>>,
    sequence: u64,
    flights: Vec<Flight>,
    /// Places in `flights` that are free.
    landed: Vec<u32>,
    /// Ranks that wait for a step to come.
    open: usize,
    /// When each rank does what, where somebody asked.
    kept: Option<Box<TimeSpace>>,
    /// The moment of the last event.
    now: Ticks,
    events: Events,
}

impl Simulation {
    fn in_line(&mut self, places: usize) -> u64 {
        let first = self.sequence;
        self.sequence += places as u64;
        first
    }

    fn push(&mut self, at: Ticks, sequence: u64, rank: usize, kind: Kind) {
        self.queue.push(Reverse(Event { at, sequence, rank: rank as u32, kind }));
    }

    /// The rank enters the next step in which it has something to do, if that is known.
    fn enter(&mut self, rank: usize) {
        loop {
            let r = &self.ranks[rank];
            let Some(step) = self.steps.get(r.step) else {
                self.open += 1;
                return;
            };
            let (sends, receives) = (step.sends(rank).len(), step.receives(rank).len());
            if let Some(kept) = &mut self.kept {
                kept.enter(rank, r.step);
            }
            if sends + receives == 0 {
                self.add_up(rank);
                self.leave_step(rank);
                continue;
            }
            let first = self.in_line(sends + receives);
            let r = &mut self.ranks[rank];
            (r.sent, r.left, r.sequence) = (0, sends + receives, first);
            if sends > 0 {
                let at = r.processor.at.max(r.outgoing.at);
                self.push(at, first, rank, Kind::Send);
            }
            self.meet_early(rank);
            return;
        }
    }

    /// With `order=data`: the rank's next send gets in line, if it can be made.
    fn go_on(&mut self, rank: usize) {
        let Some(places) = self.places.as_mut().filter(|_| !self.ranks[rank].is_sending) else { return };
        let next = places.next(rank, &mut self.steps);
        if let (Some(kept), Next::Send(..) | Next::Waits) = (&mut self.kept, next) {
            kept.enter(rank, places.step(rank));
        }
        match next {
            Next::Send(..) => {
                let r = &mut self.ranks[rank];
                r.is_sending = true;
                let at = r.processor.at.max(r.outgoing.at);
                let sequence = self.in_line(1);
                self.push(at, sequence, rank, Kind::Send);
            }
            Next::Waits => {}
            Next::Unknown => self.open += 1,
        }
    }

    /// All that the rank receives in its step has come.
    fn add_up(&mut self, rank: usize) {
        let r = &mut self.ranks[rank];
        let bytes = self.steps.get(r.step).map_or(0.0, |step| step.summed(rank));
        r.processor = r.processor.reduced(of_bytes(self.reduce_byte, bytes));
        self.spend_until_free(rank, Spent::Reduction);
    }

    fn leave_step(&mut self, rank: usize) {
        self.steps.left(self.ranks[rank].step);
        self.ranks[rank].step += 1;
    }

    /// Messages of the step that came before the rank entered it.
    fn meet_early(&mut self, rank: usize) {
        let r = &mut self.ranks[rank];
        let (step, at) = (r.step, r.processor.at);
        let mut met = std::mem::take(&mut r.early);
        met.retain(|early| {
            if early.step == step {
                if let Some(sender) = early.waits {
                    self.consent(sender as usize, at);
                }
                self.done(rank);
            }
            early.step != step
        });
        self.ranks[rank].early = met;
    }

    /// A long message of the sender is being taken.
    fn consent(&mut self, sender: usize, at: Ticks) {
        let s = &mut self.ranks[sender];
        (s.processor, s.outgoing) = (s.processor.waited_until(at), s.outgoing.waited_until(at));
        self.spend_until_free(sender, Spent::Peer);
        self.done(sender);
    }

    /// A send or receive of the rank's step is done.
    fn done(&mut self, rank: usize) {
        self.ranks[rank].left -= 1;
        if self.ranks[rank].left == 0 {
            self.add_up(rank);
            let sequence = self.in_line(1);
            self.push(self.ranks[rank].processor.at, sequence, rank, Kind::Join);
        }
    }

    /// Works off what is known to come next: up to where a rank would need a step that hasn't come yet.
    fn run(&mut self, to_the_end: bool) {
        while !self.events.is_over() && (to_the_end || self.barrier.is_some() || self.open == 0) {
            let Some(Reverse(event)) = self.queue.pop() else { return };
            self.events.happened();
            self.now = event.at;
            let rank = event.rank as usize;
            match event.kind {
                Kind::Send => self.send(event, rank),
                Kind::Message(flight) | Kind::Turn(flight) => self.message(event, rank, flight),
                Kind::Join => {
                    let at = self.ranks[rank].processor.at;
                    if at > event.at {
                        self.queue.push(Reverse(Event { at, ..event }));
                    } else {
                        self.leave_step(rank);
                        self.enter(rank);
                    }
                }
            }
        }
    }

    fn send(&mut self, event: Event, rank: usize) {
        let r = &mut self.ranks[rank];
        let begun = r.processor.and(r.outgoing);
        if begun.at > event.at {
            self.queue.push(Reverse(Event { at: begun.at, ..event }));
            return;
        }
        let (number, sent) = match &mut self.places {
            None => (r.step, r.sent),
            Some(places) => match places.next(rank, &mut self.steps) {
                Next::Send(step, sent) => (step, sent as usize),
                Next::Waits | Next::Unknown => return,
            },
        };
        if self.kept.is_some() {
            self.spend_on_interface(rank, begun.at);
        }
        let Some(step) = self.steps.get(number) else { return };
        let sends = step.sends(rank);
        let Message { to, .. } = sends[sent];
        let (to, bytes) = (to as usize, step.bytes(&sends[sent]));
        let noise = self.noise.factor(number, rank as u32, to as u32);
        let (more, overhead) = ((bytes - 1.0).max(0.0) * noise, times(self.overhead, noise));
        let r = &mut self.ranks[rank];
        r.processor = begun.started(overhead).transmitted(of_bytes(self.overhead_byte, more));
        r.outgoing = begun.started(times(self.gap, noise)).transmitted(of_bytes(self.byte, more));
        r.sent = sent + 1;
        let (next, last) = (r.processor.at.max(r.outgoing.at), r.sent == sends.len());
        if let Some(kept) = &mut self.kept {
            kept.spend(rank, Spent::Startup, us(begun.at + overhead));
            kept.spend(rank, Spent::Transmission, us(r.processor.at));
            kept.sent(rank);
        }
        let sequence = r.sequence + r.sent as u64;
        let clock = begun.started(overhead).propagated(times(self.latency, noise));
        let flight = Flight { clock, from: rank as u32, step: number, bytes, noise };
        let number = match self.landed.pop() {
            Some(number) => {
                self.flights[number as usize] = flight;
                number
            }
            None => {
                self.flights.push(flight);
                self.flights.len() as u32 - 1
            }
        };
        let arrival = self.in_line(1);
        self.push(clock.at, arrival, to, Kind::Message(number));
        if let Some(places) = &mut self.places {
            places.sent(rank);
            self.ranks[rank].is_sending = false;
            self.go_on(rank);
            return;
        }
        if !last {
            self.push(next, sequence, rank, Kind::Send);
        }
        if bytes <= self.rendezvous_bytes {
            self.done(rank);
        }
    }

    /// A message has come, or its turn may have: it is taken if processor and interface are free, or waits in line.
    fn message(&mut self, event: Event, rank: usize, number: u32) {
        let r = &mut self.ranks[rank];
        let place = Reverse((event.sequence, number));
        let has_turn = event.kind == Kind::Turn(number);
        // Another may have come before it since, and asks for both.
        if has_turn && r.waiting.peek() != Some(&place) {
            return;
        }
        let free = r.processor.at.max(r.incoming);
        if free > event.at {
            if !has_turn {
                r.waiting.push(place);
            }
            if r.waiting.peek() == Some(&place) {
                self.push(free, event.sequence, rank, Kind::Turn(number));
            }
            return;
        }
        let Flight { clock, from, step, bytes, noise } = self.flights[number as usize];
        self.landed.push(number);
        let more = (bytes - 1.0).max(0.0) * noise;
        let begun = clock.waited_until(event.at);
        let taken = begun.started(times(self.overhead, noise));
        r.processor = taken.transmitted(of_bytes(self.overhead_byte.max(self.byte), more));
        r.incoming = begun.started(times(self.gap, noise)).transmitted(of_bytes(self.byte, more)).at;
        if has_turn {
            r.waiting.pop();
        }
        if let Some(Reverse((sequence, next))) = r.waiting.peek().copied() {
            let free = r.processor.at.max(r.incoming);
            self.push(free, sequence, rank, Kind::Turn(next));
        }
        if self.kept.is_some() {
            self.spend_on(rank, number, begun.at, taken.at);
        }
        let waits = (bytes > self.rendezvous_bytes).then_some(from);
        if let Some(places) = &mut self.places {
            // Every receive is posted from the beginning.
            let waited = matches!(places.next(rank, &mut self.steps), Next::Waits);
            places.came(rank, step, &mut self.steps);
            let bytes = places.begin_adding(rank, &mut self.steps);
            places.added(rank);
            self.ranks[rank].processor = self.ranks[rank].processor.reduced(of_bytes(self.reduce_byte, bytes));
            self.spend_until_free(rank, Spent::Reduction);
            if let Some(sender) = waits.map(|sender| sender as usize) {
                let s = &mut self.ranks[sender];
                (s.processor, s.outgoing) = (s.processor.waited_until(event.at), s.outgoing.waited_until(event.at));
                self.spend_until_free(sender, Spent::Peer);
            }
            if waited {
                self.go_on(rank);
            }
            return;
        }
        if self.ranks[rank].step != step {
            self.ranks[rank].early.push(Early { step, waits });
            return;
        }
        if let Some(sender) = waits {
            self.consent(sender as usize, event.at);
        }
        self.done(rank);
    }
}

impl Listener for Simulation {
    fn step(&mut self, step: &Step<'_>) {
        if self.events.is_over() {
            return;
        }
        if let Some(barrier) = self.barrier.filter(|_| self.steps.come() > 0) {
            let last =
                self.ranks.iter().map(|r| r.processor).reduce(Clock::and).unwrap_or_default().past_barrier(barrier);
            self.ranks.iter_mut().for_each(|r| (r.processor, r.outgoing) = (last, last));
            for rank in 0..self.ranks.len() {
                if let Some(kept) = &mut self.kept {
                    kept.spend(rank, Spent::Peer, us(last.at - barrier));
                    kept.spend(rank, Spent::Barrier, us(last.at));
                }
            }
        }
        let new = self.steps.come();
        self.steps.add(step);
        if self.steps.too_many() {
            return;
        }
        if self.places.is_some() {
            self.open = 0;
            (0..self.ranks.len()).for_each(|rank| self.go_on(rank));
        } else {
            let waited: Vec<usize> = (0..self.ranks.len()).filter(|rank| self.ranks[*rank].step == new).collect();
            self.open -= waited.len();
            waited.into_iter().for_each(|rank| self.enter(rank));
        }
        self.run(false);
    }

    fn summed(&mut self, summed: Summed<'_>) {
        self.steps.sum(summed);
    }

    fn wants_after(&self) -> bool {
        self.places.is_some()
    }
}

impl Evaluator for Simulation {
    fn cost(&mut self) -> Result<Cost, String> {
        self.steps.refused(KIND.name)?;
        self.run(true);
        self.events.refused(KIND.name, us(self.now), self.steps.first())?;
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            r.processor = r.processor.reduced(of_bytes(self.reduce_byte, self.steps.summed_last(rank)));
            if let Some(kept) = &mut self.kept {
                kept.spend(rank, Spent::Reduction, us(r.processor.at));
            }
        }
        let clocks = || self.ranks.iter().map(|r| r.processor);
        let last = clocks().reduce(Clock::and).unwrap_or_default();
        let parts = Parts {
            startup: Some(last.path.startup),
            transmission: Some(last.path.transmission),
            propagation: Some(last.path.propagation),
            rearrangement: None,
            barrier: Some(last.path.barrier),
            contention: Some(last.path.contention),
            reduction: self.steps.sums().then_some(last.path.reduction),
        };
        let ranks = RankTimes::of(clocks().map(|clock| clock.us()));
        Ok(Cost { parts, note: None, ranks })
    }

    fn keep_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.kept = Some(Box::new(record));
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.kept.take().map(|kept| kept.done())
    }
}

#[cfg(test)]
mod tests;
