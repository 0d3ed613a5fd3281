//! Simulation, each with a processor and an interface, and what happens at them, event by event.

use super::{KIND, LogGp};
use crate::cost::model::asynchronous::data_order::{DataOrder, Next};
use crate::cost::model::asynchronous::event_limit::EventLimit;
use crate::cost::model::asynchronous::noise::Noise;
use crate::cost::model::asynchronous::{Order, StepMessage, Steps};
use crate::cost::model::clock::{Clock, Ticks, of_bytes, ticks, us};
use crate::cost::model::time_space::{TimeKind, TimeSpace};
use crate::cost::model::{Cost, Evaluator, Parts, PricingContext, RankTimes};
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use crate::simulation::step::Step;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

mod accounting;

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

/// A message that came before its receiver had posted the receive, of this step; whose sender waits
/// for that, if it is a long one.
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

pub(super) struct Simulation {
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
    places: Option<DataOrder>,
    ranks: Vec<Rank>,
    steps: Steps,
    queue: BinaryHeap<Reverse<Event>>,
    sequence: u64,
    flights: Vec<Flight>,
    /// DataOrder in `flights` that are free.
    landed: Vec<u32>,
    /// When each rank does what, where somebody asked.
    kept: Option<Box<TimeSpace>>,
    /// The moment of the last event.
    now: Ticks,
    events: EventLimit,
}

impl Simulation {
    /// All at the beginning.
    pub(super) fn new(machine: &LogGp, context: PricingContext<'_>) -> Self {
        let nodes = context.topology.nodes();
        let barrier = match (machine.order, ticks(machine.barrier_us.us(nodes))) {
            (Order::Step, 0) | (Order::Data, _) => None,
            (Order::Step | Order::Barrier, barrier) => Some(barrier),
        };
        Self {
            latency: ticks(machine.latency_us),
            overhead: ticks(machine.overhead_us),
            gap: ticks(machine.gap_us),
            byte: ticks(machine.byte_us),
            overhead_byte: ticks(machine.overhead_byte_us),
            reduce_byte: ticks(machine.reduce_byte_us),
            rendezvous_bytes: machine.rendezvous_bytes as f64,
            noise: Noise::new(machine.noise, context.seed),
            barrier,
            places: (machine.order == Order::Data).then(|| DataOrder::new(nodes as usize)),
            ranks: (0..nodes).map(|_| Rank::default()).collect(),
            steps: Steps::new(nodes as usize, context.unit_bytes),
            queue: BinaryHeap::new(),
            sequence: 0,
            flights: Vec::new(),
            landed: Vec::new(),
            kept: None,
            now: 0,
            events: EventLimit::new(machine.most_events),
        }
    }

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
            let Some(step) = self.steps.enter(r.step) else { return };
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
        let Some(places) = self.places.as_mut().filter(|_| !self.ranks[rank].is_sending) else {
            return;
        };
        let next = places.next(rank, &mut self.steps);
        if let (Some(kept), Next::Send(..) | Next::Blocked) = (&mut self.kept, next) {
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
            Next::Blocked => {}
            Next::Unknown => self.steps.wait(),
        }
    }

    /// All that the rank receives in its step has come.
    fn add_up(&mut self, rank: usize) {
        let r = &mut self.ranks[rank];
        let bytes = self.steps.get(r.step).map_or(0.0, |step| step.summed(rank));
        r.processor = r.processor.reduced(of_bytes(self.reduce_byte, bytes));
        self.charge_processor(rank, TimeKind::Reduction);
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
        self.charge_processor(sender, TimeKind::Peer);
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

    /// Works off what is known to come next: up to where a rank would need a step that hasn't come
    /// yet.
    fn run(&mut self, to_the_end: bool) {
        while !self.events.reached()
            && (to_the_end || self.barrier.is_some() || self.steps.no_rank_waits())
        {
            let Some(Reverse(event)) = self.queue.pop() else { return };
            self.events.count();
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
        let begun = r.processor.later(r.outgoing);
        if begun.at > event.at {
            self.queue.push(Reverse(Event { at: begun.at, ..event }));
            return;
        }
        let (number, sent) = match &mut self.places {
            None => (r.step, r.sent),
            Some(places) => match places.next(rank, &mut self.steps) {
                Next::Send(step, sent) => (step, sent as usize),
                Next::Blocked | Next::Unknown => return,
            },
        };
        if self.kept.is_some() {
            self.charge_interface(rank, begun.at);
        }
        let Some(step) = self.steps.get(number) else { return };
        let sends = step.sends(rank);
        let StepMessage { to, .. } = sends[sent];
        let (to, bytes) = (to as usize, step.bytes(&sends[sent]));
        let noise = self.noise.factor(number, rank as u32, to as u32);
        let (more, overhead) = ((bytes - 1.0).max(0.0) * noise, times(self.overhead, noise));
        let r = &mut self.ranks[rank];
        r.processor = begun.started(overhead).transmitted(of_bytes(self.overhead_byte, more));
        r.outgoing = begun.started(times(self.gap, noise)).transmitted(of_bytes(self.byte, more));
        r.sent = sent + 1;
        let (next, last) = (r.processor.at.max(r.outgoing.at), r.sent == sends.len());
        if let Some(kept) = &mut self.kept {
            kept.charge(rank, TimeKind::Startup, us(begun.at + overhead));
            kept.charge(rank, TimeKind::Transmission, us(r.processor.at));
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

    /// A message has come, or its turn may have: it is taken if processor and interface are free,
    /// or waits in line.
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
        r.incoming =
            begun.started(times(self.gap, noise)).transmitted(of_bytes(self.byte, more)).at;
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
            let waited = matches!(places.next(rank, &mut self.steps), Next::Blocked);
            places.came(rank, step, &mut self.steps);
            let bytes = places.begin_reduction(rank, &mut self.steps);
            places.added(rank);
            self.ranks[rank].processor =
                self.ranks[rank].processor.reduced(of_bytes(self.reduce_byte, bytes));
            self.charge_processor(rank, TimeKind::Reduction);
            if let Some(sender) = waits.map(|sender| sender as usize) {
                let s = &mut self.ranks[sender];
                (s.processor, s.outgoing) =
                    (s.processor.waited_until(event.at), s.outgoing.waited_until(event.at));
                self.charge_processor(sender, TimeKind::Peer);
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

impl Simulation {
    /// Adds a step, and lets the ranks run that wait for it.
    fn step(&mut self, step: &Step<'_>) {
        if self.events.reached() {
            return;
        }
        if let Some(barrier) = self.barrier.filter(|_| self.steps.known() > 0) {
            let last = self
                .ranks
                .iter()
                .map(|r| r.processor)
                .reduce(Clock::later)
                .unwrap_or_default()
                .past_barrier(barrier);
            self.ranks.iter_mut().for_each(|r| (r.processor, r.outgoing) = (last, last));
            for rank in 0..self.ranks.len() {
                if let Some(kept) = &mut self.kept {
                    kept.charge(rank, TimeKind::Peer, us(last.at - barrier));
                    kept.charge(rank, TimeKind::Barrier, us(last.at));
                }
            }
        }
        self.steps.add(step);
        if self.steps.limit_reached() {
            return;
        }
        for rank in
            self.steps.wake_ranks(self.places.is_some(), self.ranks.iter().map(|rank| rank.step))
        {
            match self.places {
                Some(_) => self.go_on(rank),
                None => self.enter(rank),
            }
        }
        self.run(false);
    }
}

impl Listener for Simulation {
    fn interests(&self) -> Interests {
        Interests { arrivals: self.places.is_some(), ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) => self.steps.sum(summed),
            _ => {}
        }
    }
}

impl Evaluator for Simulation {
    fn cost(&mut self) -> Result<Cost, String> {
        self.steps.check_limit(KIND.name)?;
        self.run(true);
        self.events.check_limit(KIND.name, us(self.now), self.steps.first())?;
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            r.processor =
                r.processor.reduced(of_bytes(self.reduce_byte, self.steps.summed_last(rank)));
            if let Some(kept) = &mut self.kept {
                kept.charge(rank, TimeKind::Reduction, us(r.processor.at));
            }
        }
        let clocks = || self.ranks.iter().map(|r| r.processor);
        let last = clocks().reduce(Clock::later).unwrap_or_default();
        let parts = Parts { rearrangement: None, ..last.path.parts(self.steps.sums()) };
        let ranks = RankTimes::of(clocks().map(|clock| clock.us()));
        Ok(Cost { parts, note: None, ranks })
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.kept = Some(Box::new(record));
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.kept.take().map(|kept| kept.done())
    }
}
