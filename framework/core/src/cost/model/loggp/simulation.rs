//! Event-driven simulation of the model `loggp`. Each rank has one processor and one network
//! interface.
//!
//! The parent module defines the cost of a message. This module determines when the cost is
//! charged. A queue has all events, ordered by time and then by sequence number. An event gets its
//! sequence number when it becomes known. Simultaneous events are therefore processed in the order
//! in which they became known ([`super::ties`] measures the effect of this rule).
//!
//! 1. `Send`: starts the rank's next message when the rank's processor and interface are free.
//!    Schedules the message's `Arrival` and the rank's next `Send`.
//! 2. `Arrival`: receives a message if the receiver is free. Otherwise adds the message to the
//!    receiver's `waiting` queue.
//! 3. `Retry`: tries to receive the first waiting message when the receiver may be free.
//! 4. `EndStep`: all sends and receives of a step are complete. The rank enters the next step.
//!
//! A received message is matched with its receive. A message above `rendezvous_bytes` is complete
//! at its sender only after this match. There are three cases:
//! - Case A, `order=data`: all receives are posted at the start, so the message is matched
//!   immediately.
//! - Case B, the receiver is in the message's step: the message is matched immediately.
//! - Case C, the receiver is in an earlier step: the message is *unexpected* (as in MPI), and is
//!   matched when the receiver enters that step.

use super::{KIND, LogGp};
use crate::cost::kind::{Kind, Times};
use crate::cost::model::asynchronous::Order;
use crate::cost::model::asynchronous::data_order::Next;
use crate::cost::model::asynchronous::engine::{Progress, RankModel};
use crate::cost::model::asynchronous::noise::Noise;
use crate::cost::model::clock::{Clock, Ticks, of_bytes, ticks, us};
use crate::cost::model::time_space::{RankClock, TimeLine, TimeSpace};
use crate::cost::model::{PricingContext, RankTimes};
use crate::simulation::step::Step;
use event_queue::EventQueue;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

mod event_queue;

/// Multiplies a time by a noise factor.
fn scaled(ticks: Ticks, noise: f64) -> Ticks {
    if noise == 1.0 { ticks } else { (ticks as f64 * noise).round() as Ticks }
}

/// The kind of an event. The `u32` is an index into [`Simulation::messages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Send,
    Arrival(u32),
    Retry(u32),
    EndStep,
}

/// An event of one rank. Events are compared field by field, in the order of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Ticks,
    sequence: u64,
    rank: u32,
    kind: EventKind,
}

/// A message that has been sent but not received.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    /// Time of arrival, and the critical path to this time.
    arrival: Clock,
    from: u32,
    step: u64,
    bytes: f64,
    /// The jitter: a factor for all costs of the message.
    noise: f64,
}

/// A message that arrived before its receiver entered the step of the message (case C).
#[derive(Debug, Clone, Copy)]
struct Unexpected {
    step: u64,
    /// The sender, if it waits for the match (rendezvous).
    sender: Option<u32>,
}

#[derive(Debug, Clone, Default)]
struct Rank {
    /// The time at which the rank last started to send or to receive a message.
    started: Option<Ticks>,
    /// The time at which the processor becomes free, with its critical path.
    processor: RankClock,
    /// The time at which the interface becomes free to send, with its critical path.
    outgoing: Clock,
    /// The time at which the interface becomes free to receive.
    incoming: Ticks,
    /// Whether the queue has a `Send` event of this rank. Used only with `order=data`.
    is_sending: bool,
    /// The sequence number of the first send of the rank's current step.
    sequence: u64,
    /// The messages that have arrived and wait until the processor and the interface are free. Each
    /// entry is a sequence number and an index into [`Simulation::messages`].
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    unexpected: Vec<Unexpected>,
}

#[derive(Debug, Clone)]
pub(super) struct Simulation {
    latency: Ticks,
    overhead: Ticks,
    gap: Ticks,
    byte: Ticks,
    overhead_byte: Ticks,
    reduce_byte: Ticks,
    rendezvous_bytes: f64,
    /// The time of the barrier between two steps; `None` if there are no barriers.
    barrier: Option<Ticks>,
    progress: Progress,
    ranks: Vec<Rank>,
    queue: EventQueue,
    next_sequence: u64,
    /// Whether simultaneous events of the same rank are processed in the reverse order.
    is_reversed: bool,
    /// The simultaneous events that are processed next, the last one first. Used only if
    /// `is_reversed`.
    simultaneous: Vec<Event>,
    /// Whether a simultaneous event of the same rank has delayed an event.
    has_competing_events: bool,
    messages: Vec<InFlight>,
    /// Unused indices of `messages`, for reuse.
    free: Vec<u32>,
    /// Time of the last event.
    now: Ticks,
}

impl Simulation {
    /// Creates the simulation. `late` has the ranks that enter late, each with its time in µs.
    pub(super) fn new(machine: &LogGp, context: PricingContext<'_>, late: &[(usize, f64)]) -> Self {
        let nodes = context.topology.nodes();
        let barrier = match (machine.order, ticks(machine.barrier_us.us(nodes))) {
            (Order::Step, 0) | (Order::Data, _) => None,
            (Order::Step | Order::Barrier, barrier) => Some(barrier),
        };
        // The processor of a late rank is busy until the rank enters.
        let mut ranks: Vec<Rank> = (0..nodes).map(|_| Rank::default()).collect();
        for (rank, us) in late {
            let line = &mut TimeLine::new(None, *rank, 0.0);
            ranks[*rank].processor.wait_until(ticks(*us), Kind::Peer, line);
        }
        let noise = Noise::new(machine.noise, context.seed);
        let (order, max_events) = (machine.order, machine.most_events);
        Self {
            latency: ticks(machine.latency_us),
            overhead: ticks(machine.overhead_us),
            gap: ticks(machine.gap_us),
            byte: ticks(machine.byte_us),
            overhead_byte: ticks(machine.overhead_byte_us),
            reduce_byte: ticks(machine.reduce_byte_us),
            rendezvous_bytes: machine.rendezvous_bytes as f64,
            barrier,
            progress: Progress::new(nodes as usize, order, context.unit_bytes, noise, max_events),
            ranks,
            queue: EventQueue::default(),
            next_sequence: 0,
            is_reversed: false,
            simultaneous: Vec::new(),
            has_competing_events: false,
            messages: Vec::new(),
            free: Vec::new(),
            now: 0,
        }
    }

    /// Reserves `count` consecutive sequence numbers and returns the first of them.
    fn reserve(&mut self, count: usize) -> u64 {
        let first = self.next_sequence;
        self.next_sequence += count as u64;
        first
    }

    fn push(&mut self, at: Ticks, sequence: u64, rank: usize, kind: EventKind) {
        self.queue.push(Event { at, sequence, rank: rank as u32, kind });
    }

    /// Returns a copy of the simulation, without its time-space record.
    pub(super) fn copy(&mut self) -> Self {
        let record = self.progress.record.take();
        let copy = self.clone();
        self.progress.record = record;
        copy
    }

    /// Returns the simulation with simultaneous events of the same rank in the reverse order.
    pub(super) fn reversed(self) -> Self {
        Self { is_reversed: true, ..self }
    }

    /// Removes the next event.
    fn next_event(&mut self) -> Option<Event> {
        if !self.is_reversed {
            return self.queue.pop();
        }
        // A step that has become known since then may have an earlier event.
        let first = self.queue.first_time();
        let is_late = |event: &&Event| first.is_some_and(|first| first < event.at);
        if self.simultaneous.last().filter(is_late).is_some() {
            self.simultaneous.drain(..).for_each(|event| self.queue.push(event));
        }
        // Collect all events of the same time. Their order is that of the first event of their rank
        // and, for the same rank, the reverse order.
        if self.simultaneous.is_empty() {
            let first = self.queue.pop()?;
            self.simultaneous.push(first);
            while self.queue.first_time() == Some(first.at) {
                self.simultaneous.extend(self.queue.pop());
            }
            let mut places: HashMap<u32, usize> = HashMap::new();
            for (place, event) in self.simultaneous.iter().enumerate() {
                places.entry(event.rank).or_insert(place);
            }
            // The last event of the list is processed first. The sort is stable.
            self.simultaneous.sort_by_key(|event| Reverse(places[&event.rank]));
        }
        self.simultaneous.pop()
    }

    /// Returns whether a simultaneous event of the same rank has delayed an event.
    pub(super) fn has_competing_events(&self) -> bool {
        self.has_competing_events
    }

    /// Records that an event of a rank is delayed until the rank is free.
    fn delay(&mut self, event: Event, rank: usize) {
        self.has_competing_events |= self.ranks[rank].started == Some(event.at);
    }

    fn send(&mut self, event: Event, rank: usize) {
        // If the processor or the interface is busy, try again when both are free.
        let start = self.ranks[rank].processor.later(self.ranks[rank].outgoing);
        if start.at() > event.at {
            self.delay(event, rank);
            self.queue.push(Event { at: start.at(), ..event });
            return;
        }
        // Select the message.
        let progress = &mut self.progress;
        let (number, index) = match &mut progress.data_order {
            None => (progress.ranks[rank].step, progress.ranks[rank].sent),
            Some(order) => match order.next(rank, &mut progress.steps) {
                Next::Send(step, index) => (step, index as usize),
                Next::Blocked | Next::Unknown => return,
            },
        };
        let is_recorded = self.progress.record.is_some();
        let interface = is_recorded.then(|| self.wait_for_interface(rank, start.at()));
        let step = self.progress.steps.get(number).expect("a rank sends in a known step");
        let sends = step.sends(rank);
        let is_last = index + 1 == sends.len();
        let (to, bytes) = (sends[index].to as usize, step.bytes(&sends[index]));
        // Charge the costs. The overhead o and the gap g include the first byte; every further byte
        // costs O and G.
        let noise = self.progress.noise.factor(number, rank as u32, to as u32);
        let (rest, overhead) = ((bytes - 1.0).max(0.0) * noise, scaled(self.overhead, noise));
        let (gap, latency) = (scaled(self.gap, noise), scaled(self.latency, noise));
        let (r, line) = (&mut self.ranks[rank], &mut TimeLine::of(&mut self.progress.record, rank));
        r.started = Some(start.at());
        r.processor.follow(start, interface.into_iter().flatten(), Kind::Startup, line);
        r.processor.spend(Kind::Startup, overhead, line);
        let arrival = r.processor.after(Kind::Propagation, latency);
        r.processor.spend(Kind::Transmission, of_bytes(self.overhead_byte, rest), line);
        line.sent();
        let gap = start.after(Kind::Startup, gap);
        r.outgoing = gap.after(Kind::Transmission, of_bytes(self.byte, rest));
        let next_at = r.processor.at().max(r.outgoing.at());
        // Schedule the arrival.
        let next_sequence = r.sequence + index as u64 + 1;
        let slot = self.store(InFlight { arrival, from: rank as u32, step: number, bytes, noise });
        let sequence = self.reserve(1);
        self.push(arrival.at(), sequence, to, EventKind::Arrival(slot));
        // Schedule the rank's next send.
        if let Some(order) = &mut self.progress.data_order {
            order.sent(rank);
            self.ranks[rank].is_sending = false;
            self.resume(rank);
            return;
        }
        self.progress.ranks[rank].sent = index + 1;
        if !is_last {
            self.push(next_at, next_sequence, rank, EventKind::Send);
        }
        if bytes <= self.rendezvous_bytes {
            self.complete(rank);
        }
    }

    /// Stores a message and returns its index.
    fn store(&mut self, message: InFlight) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.messages[slot as usize] = message;
            return slot;
        }
        self.messages.push(message);
        self.messages.len() as u32 - 1
    }

    /// Receives a message (event `Arrival` or `Retry`) if the processor and the interface are free.
    fn receive(&mut self, event: Event, rank: usize, slot: u32) {
        let entry = Reverse((event.sequence, slot));
        let r = &mut self.ranks[rank];
        let is_retry = event.kind == EventKind::Retry(slot);
        // Ignore an outdated retry. The message has been received already, or a different message
        // is now first in the queue and has its own retry.
        if is_retry && r.waiting.peek() != Some(&entry) {
            return;
        }
        // If the receiver is busy, the message waits. Only the first waiting message has a retry.
        let free_at = r.processor.at().max(r.incoming);
        if free_at > event.at {
            if !is_retry {
                r.waiting.push(entry);
            }
            if r.waiting.peek() == Some(&entry) {
                self.push(free_at, event.sequence, rank, EventKind::Retry(slot));
            }
            self.delay(event, rank);
            return;
        }
        // Charge the costs. The processor is busy with copying or with transmission, whichever
        // takes longer.
        let message = self.messages[slot as usize];
        let InFlight { arrival, from, step, bytes, noise } = message;
        self.free.push(slot);
        let rest = (bytes - 1.0).max(0.0) * noise;
        let start = arrival.after_wait(event.at);
        let transmission = of_bytes(self.byte, rest);
        let is_recorded = self.progress.record.is_some();
        let wait = is_recorded.then(|| self.wait_for_message(rank, &message, event.at));
        let (r, line) = (&mut self.ranks[rank], &mut TimeLine::of(&mut self.progress.record, rank));
        r.started = Some(event.at);
        r.processor.follow(start, wait.into_iter().flatten(), Kind::Contention, line);
        r.processor.spend(Kind::Startup, scaled(self.overhead, noise), line);
        let copying = transmission.max(of_bytes(self.overhead_byte, rest));
        r.processor.spend(Kind::Transmission, copying, line);
        r.incoming = (start.at() + scaled(self.gap, noise)).saturating_add(transmission);
        // Schedule a retry for the message that is now first in the queue.
        if is_retry {
            r.waiting.pop();
        }
        if let Some(Reverse((sequence, next))) = r.waiting.peek().copied() {
            let free_at = r.processor.at().max(r.incoming);
            self.push(free_at, sequence, rank, EventKind::Retry(next));
        }
        // Match the message with its receive.
        let sender = (bytes > self.rendezvous_bytes).then_some(from);
        if self.progress.data_order.is_some() {
            self.match_by_data(rank, step, sender, event.at); // Case A
        } else if self.progress.ranks[rank].step == step {
            self.complete_receive(rank, sender, event.at); // Case B
        } else {
            self.ranks[rank].unexpected.push(Unexpected { step, sender }); // Case C
        }
    }

    /// Matches a message with `order=data`: reduces its data, and resumes the rank if its next send
    /// waited for this data.
    fn match_by_data(&mut self, rank: usize, step: u64, sender: Option<u32>, at: Ticks) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else {
            unreachable!("ranks are matched by data without `order=data`");
        };
        let was_blocked = matches!(order.next(rank, steps), Next::Blocked);
        steps.received(step, rank);
        let bytes = order.begin_reduction(rank, steps);
        order.end_reduction(rank);
        self.reduce(rank, bytes);
        if let Some(sender) = sender {
            self.release_sender(sender as usize, at);
        }
        if was_blocked {
            self.resume(rank);
        }
    }

    /// Matches the unexpected messages of the step that the rank has just entered.
    fn match_unexpected(&mut self, rank: usize) {
        let (step, at) = (self.progress.ranks[rank].step, self.ranks[rank].processor.at());
        let mut unexpected = std::mem::take(&mut self.ranks[rank].unexpected);
        unexpected.retain(|message| {
            if message.step == step {
                self.complete_receive(rank, message.sender, at);
            }
            message.step != step
        });
        self.ranks[rank].unexpected = unexpected;
    }

    /// Completes a receive. For a rendezvous, also completes the send at the sender.
    fn complete_receive(&mut self, rank: usize, sender: Option<u32>, at: Ticks) {
        if let Some(sender) = sender {
            self.release_sender(sender as usize, at);
            self.complete(sender as usize);
        }
        self.complete(rank);
    }

    /// Ends the wait of a sender whose rendezvous message has been matched.
    fn release_sender(&mut self, sender: usize, at: Ticks) {
        let s = &mut self.ranks[sender];
        let line = &mut TimeLine::of(&mut self.progress.record, sender);
        s.processor.wait_until(at, Kind::Peer, line);
        s.outgoing = s.outgoing.after_wait(at);
    }

    fn reduce(&mut self, rank: usize, bytes: f64) {
        let line = &mut TimeLine::of(&mut self.progress.record, rank);
        let ticks = of_bytes(self.reduce_byte, bytes);
        self.ranks[rank].processor.spend(Kind::Reduction, ticks, line);
    }

    /// Synchronizes all ranks at the end of a step.
    fn pass_barrier(&mut self, barrier: Ticks) {
        let last = self.last_clock();
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            let line = &mut TimeLine::of(&mut self.progress.record, rank);
            r.processor.follow(last, [], Kind::Peer, line);
            r.processor.spend(Kind::Barrier, barrier, line);
            r.outgoing = *r.processor;
        }
    }

    /// Returns the clock of the last rank.
    fn last_clock(&self) -> Clock {
        let clocks = self.ranks.iter().map(|r| *r.processor);
        clocks.reduce(Clock::later).expect("a network has ranks")
    }
}

/// The time-space record: divides the waits of a rank into kinds of time. The functions return the
/// end of each phase of a wait, as in [`RankClock::follow`]. They are called only if a record is
/// requested.
impl Simulation {
    /// Divides the time in which a rank waits for its own interface, until the time `until`. The
    /// interface is first busy with the bytes of the previous message, then with the gap between
    /// the two messages.
    #[cold]
    fn wait_for_interface(&self, rank: usize, until: Ticks) -> [(Kind, f64); 2] {
        let outgoing = self.ranks[rank].outgoing.at();
        let bytes_end = until.min(outgoing.saturating_sub(self.gap));
        [(Kind::Transmission, us(bytes_end)), (Kind::Startup, us(until.min(outgoing)))]
    }

    /// Divides the time in which a rank waits for a message, which it receives at the time `at`.
    #[cold]
    fn wait_for_message(
        &mut self,
        rank: usize,
        message: &InFlight,
        at: Ticks,
    ) -> impl Iterator<Item = (Kind, f64)> + use<> {
        let (position, steps) = (self.progress.ranks[rank], &self.progress.steps);
        let is_sending = match &self.progress.data_order {
            Some(_) => self.ranks[rank].is_sending,
            None => steps
                .get(position.step)
                .is_some_and(|step| position.pending > 0 && position.sent < step.sends(rank).len()),
        };
        let interface = is_sending.then(|| self.wait_for_interface(rank, at));
        // With `order=data`: if the rank has no known send, use the step of the received message as
        // its current step.
        if self.progress.has_no_known_send(rank)
            && let Some(record) = &mut self.progress.record
        {
            record.enter(rank, message.step);
        }
        let departure = message.arrival.at() - scaled(self.latency, message.noise);
        let of_message =
            [(Kind::Peer, us(departure)), (Kind::Propagation, us(message.arrival.at()))];
        interface.into_iter().flatten().chain(of_message)
    }
}

impl RankModel for Simulation {
    const NAME: &'static str = KIND.name;

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn add_step(&mut self, step: &Step<'_>) {
        if let Some(barrier) = self.barrier.filter(|_| self.progress.steps.known() > 0) {
            self.pass_barrier(barrier);
        }
        self.progress.steps.add(step);
    }

    fn start_step(&mut self, rank: usize) {
        let position = self.progress.ranks[rank];
        let first = self.reserve(position.pending);
        let r = &mut self.ranks[rank];
        r.sequence = first;
        let at = r.processor.at().max(r.outgoing.at());
        let step = self.progress.steps.get(position.step);
        if step.is_some_and(|step| !step.sends(rank).is_empty()) {
            self.push(at, first, rank, EventKind::Send);
        }
        self.match_unexpected(rank);
    }

    fn resume(&mut self, rank: usize) {
        if self.ranks[rank].is_sending || self.progress.next_send(rank).is_none() {
            return;
        }
        let r = &mut self.ranks[rank];
        r.is_sending = true;
        let at = r.processor.at().max(r.outgoing.at());
        let sequence = self.reserve(1);
        self.push(at, sequence, rank, EventKind::Send);
    }

    fn finish_step(&mut self, rank: usize, is_empty: bool) -> bool {
        let step = self.progress.steps.get(self.progress.ranks[rank].step);
        self.reduce(rank, step.map_or(0.0, |step| step.summed(rank)));
        if !is_empty {
            let sequence = self.reserve(1);
            self.push(self.ranks[rank].processor.at(), sequence, rank, EventKind::EndStep);
        }
        is_empty
    }

    fn process_event(&mut self) -> bool {
        let Some(event) = self.next_event() else { return false };
        self.progress.events.count();
        assert!(self.now <= event.at, "an event is earlier than the event before it");
        self.now = event.at;
        let rank = event.rank as usize;
        match event.kind {
            EventKind::Send => self.send(event, rank),
            EventKind::Arrival(slot) | EventKind::Retry(slot) => self.receive(event, rank, slot),
            EventKind::EndStep => {
                let at = self.ranks[rank].processor.at();
                if at > event.at {
                    self.delay(event, rank);
                    self.queue.push(Event { at, ..event });
                } else {
                    self.next_step(rank);
                }
            }
        }
        true
    }

    /// With barriers, no event of a known step depends on a later step, so all events of the known
    /// steps can be processed.
    fn drains_each_step(&self) -> bool {
        self.barrier.is_some()
    }

    /// Starts a time-space record. A late rank waits for a peer until it enters.
    fn start_record(&mut self, record: TimeSpace) {
        self.progress.record = Some(Box::new(record));
        for (rank, r) in self.ranks.iter_mut().enumerate().filter(|(_, r)| r.processor.at() > 0) {
            let line = &mut TimeLine::of(&mut self.progress.record, rank);
            r.processor.follow(*r.processor, [], Kind::Peer, line);
        }
    }

    fn now_us(&self) -> f64 {
        us(self.now)
    }

    fn finish(&mut self) -> Result<(Times, Option<RankTimes>), String> {
        assert_eq!(self.free.len(), self.messages.len(), "messages that nobody has received");
        let is_matched = |r: &Rank| r.waiting.is_empty() && r.unexpected.is_empty();
        assert!(self.ranks.iter().all(is_matched), "messages that nobody has matched");
        for rank in 0..self.ranks.len() {
            // With `order=data`, the arrival of a message begins a reduction. If a rank has data to
            // reduce but receives no further message, it reduces this data now.
            let Progress { data_order, steps, .. } = &mut self.progress;
            let pending =
                data_order.as_mut().map_or(0.0, |order| order.begin_reduction(rank, steps));
            let bytes = pending + steps.summed_last(rank);
            self.reduce(rank, bytes);
        }
        let ends = self.ranks.iter().map(|r| r.processor.us());
        Ok((*self.last_clock().path(), RankTimes::of(ends)))
    }
}
