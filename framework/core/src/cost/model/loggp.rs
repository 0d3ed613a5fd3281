//! The model `loggp`: an event-driven model of processors and network interfaces, without links
//! (LogGPS: Alexandrov et al., 1995; Ino et al., 2001). It follows the rules of LogGOPSim (Hoefler,
//! Schneider & Lumsdaine, 2010) and gives the same times.
//!
//! A rank works through its steps. In each step, it posts its receives, then its sends. When all of
//! these are complete, it enters the next step, without a wait for other ranks. The parameters are
//! the processor times o of a message and O of a byte, the gaps g of a message and G of a byte at
//! the interface, the latency L, and the rendezvous threshold S. A message of s bytes costs:
//! - The sender's processor is busy for `o + (s - 1) O`, its interface for `g + (s - 1) G`.
//! - The message arrives `o + L` after the start of its send.
//! - When the processor and the interface of the receiver are free, the message occupies this
//!   processor for `o + (s - 1) max(O, G)` and this interface for `g + (s - 1) G`. So the time of
//!   the bytes is charged at the receiver, after the arrival of the message.
//! - A message of at most S bytes is complete at the sender when it is sent. A longer message is
//!   complete when the receiver has posted the receive and starts to receive it (rendezvous).
//!
//! With `order=data` ([`data_order`](super::asynchronous::data_order)) all receives are posted at
//! the start of the schedule. A message of more than S bytes then delays only its sender, until the
//! receiver starts to receive it.
//!
//! At the end of a step, the reduction occupies the processor (`reduce_byte_us` per byte). The
//! processor of a late rank (`late=`) is busy until the rank enters.
//!
//! An interface sends and receives at the same time, but a processor does one thing at a time.
//! Simultaneous events run in the order in which they became known ([`BothOrders`] measures the
//! effect). On the critical path, o and g are start-up, O and G are transmission, and L is
//! propagation. Waits for a receiver or for a rendezvous match are contention.

use super::asynchronous::data_order::Next;
use super::asynchronous::{MOST_EVENTS, NOISE, Noise, ORDER, Order, Progress, RankModel};
use super::clock::{Clock, Ticks, of_bytes, ticks, us};
use super::late::{LATE, Late};
use super::protocol::RENDEZVOUS_BYTES;
use super::time_space::{RankClock, TimeLine, TimeSpace};
use super::{Cost, Evaluator, Model, ModelKind, PricingContext, RankTimes, Refused};
use crate::cost::bound::{Bound, BoundKind, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{BARRIER_US, BYTE_US, Barrier, REDUCE_BYTE_US, TypedParameter};
use crate::cost::settings::parameters;
use crate::network::topology::Network;
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use crate::simulation::step::Step;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

pub(super) static KIND: ModelKind = ModelKind {
    name: "loggp",
    title: "event-driven, without links: processors and network interfaces, as in LogGOPSim",
    parameters: LogGp::PARAMETERS,
    pricing_time: 4.0,
    prepare: |settings| {
        let model = LogGp::of(settings)?;
        model.order.with(model.barrier_us)?;
        Ok(Arc::new(model))
    },
};

static LATENCY_US: TypedParameter<f64> = TypedParameter::micros(
    "latency_us",
    "latency between two network interfaces, independent of the distance",
    "L",
);

static OVERHEAD_US: TypedParameter<f64> =
    TypedParameter::micros("overhead_us", "processor time for a message, at both ends", "o");

static GAP_US: TypedParameter<f64> =
    TypedParameter::micros("gap_us", "gap between the starts of two messages at an interface", "g");

static OVERHEAD_BYTE_US: TypedParameter<f64> =
    TypedParameter::micros("overhead_byte_us", "processor time for a byte", "O");

parameters! {
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
        late: Late = LATE,
        most_events: u64 = MOST_EVENTS,
    }
}

impl Model for LogGp {
    fn follows_arrivals(&self) -> bool {
        self.order == Order::Data
    }

    fn message_us(&self) -> Option<f64> {
        Some(self.latency_us + 2.0 * self.overhead_us)
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        match self.late.ranks(context.topology.nodes(), context.seed) {
            Ok(late) => Box::new(BothOrders::new(Simulation::new(self, context, &late))),
            Err(why) => Box::new(Refused(why)),
        }
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    /// Returns the larger of two bounds. Both contain the time of one message. The first adds the
    /// largest reduction, the second the bytes of one node. A byte is charged as a part of a long
    /// message or as a message of its own, whichever takes less time.
    fn lower_bound(&self, _: &Network, traffic: &Traffic) -> Bound {
        if self.noise > 0.0 {
            return Bound::default();
        }
        let received = (traffic.received - 1.0)
            * self.overhead_us.min(self.byte_us.max(self.overhead_byte_us));
        let sent = (traffic.sent - 1.0) * self.gap_us.min(self.byte_us);
        let transmission_us = received.max(sent).max(0.0);
        let one_message = Times::of([
            (Kind::Startup, 2.0 * self.overhead_us),
            (Kind::Propagation, self.latency_us),
        ]);
        let by_bytes = Bound {
            kind: if transmission_us > 0.0 { BoundKind::Bytes } else { BoundKind::StartUps },
            times: one_message.with(Kind::Transmission, transmission_us),
        };
        let by_sums =
            Bound::from(one_message.with(Kind::Reduction, traffic.summed * self.reduce_byte_us));
        if by_sums.total_us() > by_bytes.total_us() { by_sums } else { by_bytes }
    }
}

fn scaled(ticks: Ticks, noise: f64) -> Ticks {
    if noise == 1.0 { ticks } else { (ticks as f64 * noise).round() as Ticks }
}

/// The `u32` of a kind is an index into [`Simulation::messages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Send,
    Arrival(u32),
    Retry(u32),
    EndStep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Ticks,
    sequence: u64,
    rank: u32,
    kind: EventKind,
}

/// A priority queue, in which the earliest event is first. Events of one kind are usually added in
/// the order of their times, so each kind has a list, which is faster than a heap. An event that is
/// added out of order is stored in the heap.
#[derive(Debug, Clone, Default)]
struct EventQueue {
    lists: [VecDeque<Event>; 4],
    heap: BinaryHeap<Reverse<Event>>,
}

impl EventQueue {
    fn push(&mut self, event: Event) {
        let list = &mut self.lists[match event.kind {
            EventKind::Send => 0,
            EventKind::Arrival(_) => 1,
            EventKind::Retry(_) => 2,
            EventKind::EndStep => 3,
        }];
        // The times are compared with `<` and `<=`. `==` would be slow, because it loads the 128
        // bits of a time at once. This load has to wait until both halves of a new time are stored.
        let rest = |event: &Event| (event.sequence, event.rank, event.kind);
        let precedes =
            |last: &Event| last.at < event.at || last.at <= event.at && rest(last) <= rest(&event);
        if list.back().is_none_or(precedes) {
            list.push_back(event);
        } else {
            self.heap.push(Reverse(event));
        }
    }

    fn first_time(&self) -> Option<Ticks> {
        let of_lists = self.lists.iter().filter_map(|list| Some(list.front()?.at));
        of_lists.chain(self.heap.peek().map(|Reverse(event)| event.at)).min()
    }

    fn pop(&mut self) -> Option<Event> {
        let first = self.lists.iter_mut().filter(|list| !list.is_empty());
        let first = first.min_by(|a, b| a.front().cmp(&b.front()));
        match (first, self.heap.peek()) {
            (Some(list), Some(Reverse(other))) if list.front() > Some(other) => {
                self.heap.pop().map(|Reverse(event)| event)
            }
            (Some(list), _) => list.pop_front(),
            (None, _) => self.heap.pop().map(|Reverse(event)| event),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    arrival: Clock,
    from: u32,
    step: u64,
    bytes: f64,
    noise: f64,
}

#[derive(Debug, Clone, Copy)]
struct Unexpected {
    step: u64,
    /// The sender, if it waits until this message is matched (rendezvous).
    sender: Option<u32>,
}

#[derive(Debug, Clone, Default)]
struct Rank {
    started: Option<Ticks>,
    processor: RankClock,
    outgoing: Clock,
    incoming: Ticks,
    is_sending: bool,
    sequence: u64,
    /// The arrived messages that wait for the processor and the interface of the rank: the sequence
    /// number of the arrival, and the index of the message.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    unexpected: Vec<Unexpected>,
}

/// An event-driven simulation, which determines when the costs of messages are charged. A queue has
/// all events, ordered by time and then by sequence number. Events get their sequence numbers in
/// the order in which they become known.
///
/// 1. `Send`: starts the rank's next message when the rank's processor and interface are free.
///    Schedules the message's `Arrival` and the rank's next `Send`.
/// 2. `Arrival`: receives a message if the receiver is free. Otherwise adds it to `waiting`.
/// 3. `Retry`: tries to receive the first waiting message when the receiver may be free.
/// 4. `EndStep`: all sends and receives of a step are complete. The rank enters the next step.
///
/// A received message is *matched* with its receive. Only then is a message above
/// `rendezvous_bytes` complete at its sender. There are three cases:
/// - Case A, `order=data`: the message is matched immediately, because all receives are posted.
/// - Case B, the receiver is in the message's step: the message is matched immediately.
/// - Case C, the receiver is in an earlier step: the message is *unexpected* (as in MPI), and is
///   matched when the receiver enters its step.
#[derive(Debug, Clone)]
struct Simulation {
    latency: Ticks,
    overhead: Ticks,
    gap: Ticks,
    byte: Ticks,
    overhead_byte: Ticks,
    reduce_byte: Ticks,
    rendezvous_bytes: f64,
    barrier: Option<Ticks>,
    progress: Progress,
    ranks: Vec<Rank>,
    queue: EventQueue,
    next_sequence: u64,
    /// Whether simultaneous events of a rank are processed in the reverse order.
    is_reversed: bool,
    /// The simultaneous events that are processed next, in reverse. Empty unless `is_reversed`.
    simultaneous: Vec<Event>,
    /// Whether an event had to wait because of a simultaneous event of the same rank.
    has_competing_events: bool,
    messages: Vec<InFlight>,
    free: Vec<u32>,
    now: Ticks,
}

impl Simulation {
    fn new(machine: &LogGp, context: PricingContext<'_>, late: &[(usize, f64)]) -> Self {
        let nodes = context.topology.nodes();
        let barrier = match (machine.order, ticks(machine.barrier_us.us(nodes))) {
            (Order::Step, 0) | (Order::Data, _) => None,
            (Order::Step | Order::Barrier, barrier) => Some(barrier),
        };
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

    fn reserve(&mut self, count: usize) -> u64 {
        let first = self.next_sequence;
        self.next_sequence += count as u64;
        first
    }

    fn push(&mut self, at: Ticks, sequence: u64, rank: usize, kind: EventKind) {
        self.queue.push(Event { at, sequence, rank: rank as u32, kind });
    }

    fn copy(&mut self) -> Self {
        let record = self.progress.record.take();
        let copy = self.clone();
        self.progress.record = record;
        copy
    }

    fn reversed(self) -> Self {
        Self { is_reversed: true, ..self }
    }

    fn next_event(&mut self) -> Option<Event> {
        if !self.is_reversed {
            return self.queue.pop();
        }
        // A step that has become known since the events were collected may have an earlier event.
        let first = self.queue.first_time();
        let is_late = |event: &&Event| first.is_some_and(|first| first < event.at);
        if self.simultaneous.last().filter(is_late).is_some() {
            self.simultaneous.drain(..).for_each(|event| self.queue.push(event));
        }
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
            self.simultaneous.sort_by_key(|event| Reverse(places[&event.rank]));
        }
        self.simultaneous.pop()
    }

    fn has_competing_events(&self) -> bool {
        self.has_competing_events
    }

    fn delay(&mut self, event: Event, rank: usize) {
        self.has_competing_events |= self.ranks[rank].started == Some(event.at);
    }

    fn send(&mut self, event: Event, rank: usize) {
        let start = self.ranks[rank].processor.later(self.ranks[rank].outgoing);
        if start.at() > event.at {
            self.delay(event, rank);
            self.queue.push(Event { at: start.at(), ..event });
            return;
        }
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
        // The overhead o and the gap g include the first byte.
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
        let next_sequence = r.sequence + index as u64 + 1;
        let slot = self.store(InFlight { arrival, from: rank as u32, step: number, bytes, noise });
        let sequence = self.reserve(1);
        self.push(arrival.at(), sequence, to, EventKind::Arrival(slot));
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

    fn store(&mut self, message: InFlight) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.messages[slot as usize] = message;
            return slot;
        }
        self.messages.push(message);
        self.messages.len() as u32 - 1
    }

    fn receive(&mut self, event: Event, rank: usize, slot: u32) {
        let entry = Reverse((event.sequence, slot));
        let r = &mut self.ranks[rank];
        let is_retry = event.kind == EventKind::Retry(slot);
        if is_retry && r.waiting.peek() != Some(&entry) {
            return;
        }
        // Only the first waiting message has a `Retry` event.
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
        if is_retry {
            r.waiting.pop();
        }
        if let Some(Reverse((sequence, next))) = r.waiting.peek().copied() {
            let free_at = r.processor.at().max(r.incoming);
            self.push(free_at, sequence, rank, EventKind::Retry(next));
        }
        let sender = (bytes > self.rendezvous_bytes).then_some(from);
        if self.progress.data_order.is_some() {
            self.match_by_data(rank, step, sender, event.at); // Case A
        } else if self.progress.ranks[rank].step == step {
            self.complete_receive(rank, sender, event.at); // Case B
        } else {
            self.ranks[rank].unexpected.push(Unexpected { step, sender }); // Case C
        }
    }

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

    fn complete_receive(&mut self, rank: usize, sender: Option<u32>, at: Ticks) {
        if let Some(sender) = sender {
            self.release_sender(sender as usize, at);
            self.complete(sender as usize);
        }
        self.complete(rank);
    }

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

    fn pass_barrier(&mut self, barrier: Ticks) {
        let last = self.last_clock();
        for (rank, r) in self.ranks.iter_mut().enumerate() {
            let line = &mut TimeLine::of(&mut self.progress.record, rank);
            r.processor.follow(last, [], Kind::Peer, line);
            r.processor.spend(Kind::Barrier, barrier, line);
            r.outgoing = *r.processor;
        }
    }

    fn last_clock(&self) -> Clock {
        let clocks = self.ranks.iter().map(|r| *r.processor);
        clocks.reduce(Clock::later).expect("a network has ranks")
    }
}

/// These functions divide a wait of a rank into phases, for the time-space record.
impl Simulation {
    /// Divides a wait for the interface, until `until`, into the bytes of the previous message and
    /// the gap after them.
    #[cold]
    fn wait_for_interface(&self, rank: usize, until: Ticks) -> [(Kind, f64); 2] {
        let outgoing = self.ranks[rank].outgoing.at();
        let bytes_end = until.min(outgoing.saturating_sub(self.gap));
        [(Kind::Transmission, us(bytes_end)), (Kind::Startup, us(until.min(outgoing)))]
    }

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
        // With `order=data`, a rank without a known send enters the step of the received message in
        // the record.
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

    /// With barriers, no event of a known step depends on a later step.
    fn drains_each_step(&self) -> bool {
        self.barrier.is_some()
    }

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

    fn finish(&mut self) -> Result<Vec<(Times, Option<RankTimes>)>, String> {
        assert_eq!(self.free.len(), self.messages.len(), "messages that no rank has received");
        let is_matched = |r: &Rank| r.waiting.is_empty() && r.unexpected.is_empty();
        assert!(self.ranks.iter().all(is_matched), "messages that no rank has matched");
        for rank in 0..self.ranks.len() {
            // With `order=data`, a reduction begins when the next message arrives, so the last
            // reduction of each rank is pending.
            let Progress { data_order, steps, .. } = &mut self.progress;
            let pending =
                data_order.as_mut().map_or(0.0, |order| order.begin_reduction(rank, steps));
            let bytes = pending + steps.summed_last(rank);
            self.reduce(rank, bytes);
        }
        let ends = self.ranks.iter().map(|r| r.processor.us());
        Ok(vec![(*self.last_clock().path(), RankTimes::of(ends))])
    }
}

/// The simulation of a case, and its repetition with simultaneous events in the reverse order.
///
/// Two simultaneous events *compete* if one of them waits for the processor or interface of their
/// rank. A case with competing events is simulated a second time, from a copy of the state before
/// the first competing events. If the second time differs from the first, a note states it.
struct BothOrders {
    first: Simulation,
    before: Option<Box<Simulation>>,
    reversed: Option<Box<Simulation>>,
    is_draining: bool,
}

impl BothOrders {
    fn new(first: Simulation) -> Self {
        Self { first, before: None, reversed: None, is_draining: false }
    }

    fn copy_state(&mut self) {
        /// If more steps are stored, a copy takes longer than the events of a step, so no copy is
        /// made. The second simulation then begins after the first competing events.
        const MOST_STEPS: u64 = 8;
        let steps = &self.first.progress().steps;
        let is_small = steps.known() - steps.first() <= MOST_STEPS;
        self.before = (self.reversed.is_none() && is_small).then(|| Box::new(self.first.copy()));
    }

    fn start_reversed(&mut self) {
        if self.first.has_competing_events() && self.reversed.is_none() {
            let before = self.before.take().unwrap_or_else(|| Box::new(self.first.copy()));
            self.reversed = Some(Box::new(before.reversed()));
        }
    }
}

impl Listener for BothOrders {
    fn interests(&self) -> Interests {
        self.first.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(_) = event {
            self.copy_state();
        }
        let had_copy = self.before.is_some();
        self.first.notify(event);
        let was_reversed = self.reversed.is_some();
        self.start_reversed();
        if let Some(reversed) = self.reversed.as_mut().filter(|_| was_reversed || had_copy) {
            reversed.notify(event);
        }
    }
}

impl Evaluator for BothOrders {
    fn cost(&mut self) -> Result<Cost, String> {
        const LEAST: f64 = 1e-4;
        self.advance();
        let mut cost = self.first.cost()?;
        if let Some(Ok(other)) = self.reversed.as_mut().map(|reversed| reversed.cost()) {
            let (us, other_us) = (cost.parts.total(), other.parts.total());
            let difference = other_us / us - 1.0;
            if difference.abs() >= LEAST {
                let more = if difference > 0.0 { "more" } else { "less" };
                cost.note = Some(format!(
                    "depends on the order of simultaneous events: in the reverse order {other_us:.6} us, {:.2} % {more}",
                    difference.abs() * 100.0
                ));
            }
        }
        Ok(cost)
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        if let Some(reversed) = &mut self.reversed {
            reversed.pause_at(deadline);
        }
        self.first.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.first.is_paused() || self.reversed.as_ref().is_some_and(|other| other.is_paused())
    }

    fn advance(&mut self) -> bool {
        if !std::mem::replace(&mut self.is_draining, true) {
            self.copy_state();
        }
        let has_ended = self.first.advance();
        self.start_reversed();
        has_ended && self.reversed.as_mut().is_none_or(|other| other.advance())
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::kind::Kind;
    use crate::cost::model::asynchronous::Noise;
    use crate::cost::model::test_steps::{Messages, cost, cost_of_forwarding, schedule, sends};
    use proptest::prelude::*;

    /// LogGOPSim was run with the same parameters, in ns instead of µs.
    const MACHINES: [&str; 4] = [
        "latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006",
        "latency_us=1,byte_us=0.001",
        "latency_us=0.7,overhead_us=0.3,gap_us=2,byte_us=0.003,overhead_byte_us=0.005",
        "latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006,rendezvous_bytes=500",
    ];

    /// For each schedule (name, ranks, block size in bytes), the times in ns of LogGOPSim 76451de
    /// on each of the [`MACHINES`]. In the GOAL files (the input of LogGOPSim), a `calc 0`
    /// operation separates two steps of a rank. It depends on all operations of the first step, and
    /// all operations of the second step depend on it.
    const LOGGOPSIM: [(&str, u32, u64, [u64; 4]); 10] = [
        ("gen", 3, 100, [12188, 2198, 4092, 12188]),
        ("pairwise", 16, 1000, [172410, 29985, 158850, 172410]),
        ("gen", 20, 64, [111682, 20197, 41017, 111682]),
        ("ring", 12, 500, [258434, 43989, 336490, 258434]),
        ("bruck", 21, 300, [103070, 17595, 128950, 103070]),
        ("linear", 18, 700, [164798, 15291, 129030, 164798]),
        ("gather", 12, 900, [79834, 10889, 53745, 79834]),
        ("scatter", 12, 900, [74834, 10889, 53745, 74834]),
        ("binomial", 19, 100, [24376, 4396, 10983, 24376]),
        ("uneven", 17, 400, [160306, 23673, 87813, 184030]),
    ];

    fn uneven(n: u32, m: u64) -> Vec<Messages> {
        let bytes = |r: u32, k: u32| 1 + (u64::from(r) * 7919 + u64::from(k) * 104_729) % (2 * m);
        let step =
            |k| (0..n).filter(|r| (r + k) % 3 > 0).map(|r| (r, (r + k) % n, bytes(r, k))).collect();
        (1..n).map(step).collect()
    }

    fn parts(machine: &str, n: u32, steps: &[Messages]) -> [f64; 5] {
        let (network, machine) =
            (format!("fully-connected:{n}"), format!("free:model=loggp,{machine}"));
        let parts = cost_of_forwarding(&network, &machine, &sends(steps)).parts;
        [
            parts[Kind::Startup],
            parts[Kind::Transmission],
            parts[Kind::Propagation],
            parts[Kind::Barrier],
            parts[Kind::Contention],
        ]
        .map(Option::unwrap)
    }

    #[test]
    fn times_equal_those_of_loggopsim() {
        for (name, n, m, expected) in LOGGOPSIM {
            let steps = if name == "uneven" { uneven(n, m) } else { schedule(name, n, m) };
            for (machine, ns) in MACHINES.iter().zip(expected) {
                let us: f64 = parts(machine, n, &steps).iter().sum();
                assert!(
                    (us * 1e3 - ns as f64).abs() < 1e-6,
                    "{name} {n} {m} {machine}: {us} us, {ns} ns"
                );
            }
        }
    }

    #[test]
    fn a_message_is_overhead_latency_bytes_and_overhead() {
        let two = [
            vec![(0, 1, 100), (1, 2, 100), (2, 0, 100)],
            vec![(0, 2, 100), (1, 0, 100), (2, 1, 100)],
        ];
        assert_eq!(parts(MACHINES[0], 3, &two), [6.0, 2.0 * 0.594, 5.0, 0.0, 0.0]);
    }

    #[test]
    fn simultaneous_messages_wait_for_the_receivers_processor() {
        let incast = [vec![(1, 0, 1), (2, 0, 1), (3, 0, 1)]];
        assert_eq!(parts("latency_us=10,overhead_us=2", 4, &incast), [4.0, 0.0, 10.0, 0.0, 4.0]);
    }

    #[test]
    fn ranks_wait_for_other_ranks_steps_only_at_barriers() {
        let steps = [vec![(0, 1, 1001), (2, 3, 1)], vec![(1, 0, 1), (2, 3, 1001)]];
        let total = |more: &str| {
            parts(&format!("latency_us=1,byte_us=1{more}"), 4, &steps).iter().sum::<f64>()
        };
        assert_eq!(
            [total(""), total(",order=barrier"), total(",barrier_us=5")],
            [1002.0, 2002.0, 2007.0]
        );
    }

    /// Above `rendezvous_bytes`, the second message waits for the match of the first.
    #[test]
    fn messages_of_exactly_the_rendezvous_size_do_not_wait_for_a_match() {
        let steps = [vec![(0, 1, 100)], vec![(0, 1, 100)]];
        let total = |rendezvous_bytes: u64| {
            let machine = format!("latency_us=8,overhead_us=2,rendezvous_bytes={rendezvous_bytes}");
            parts(&machine, 2, &steps).iter().sum::<f64>()
        };
        assert_eq!([99, 100, 101].map(total), [22.0, 14.0, 14.0]);
    }

    #[test]
    fn a_single_noisy_message_takes_a_multiple_of_its_time() {
        let us = |noise: f64| {
            let machine = "latency_us=70,overhead_us=30,gap_us=2,byte_us=0.3,overhead_byte_us=0.1";
            let machine = format!("free:model=loggp,{machine},noise={noise}");
            cost("ring:3", &machine, &[&[(0, 1, 1001)]]).parts.total()
        };
        let factor = Noise::new(0.5, 0).factor(0, 0, 1);
        assert!(
            (us(0.5) / us(0.0) / factor - 1.0).abs() < 1e-6,
            "{} {} {factor}",
            us(0.5),
            us(0.0)
        );
        assert!((factor - 1.0).abs() > 0.01);
    }

    /// At 2 µs, rank 0 can send or receive. If it sends first, rank 3 has its message at 5 µs,
    /// otherwise at 6 µs. With a longer latency, no events are simultaneous.
    #[test]
    fn simultaneous_events_that_decide_the_time_are_reported() {
        let of = |latency: &str, step: &[(u32, u32, u64)]| {
            let machine = format!("free:model=loggp,overhead_us=1,gap_us=2,latency_us={latency}");
            let cost = cost("fully-connected:4", &machine, &[step]);
            (cost.parts.total(), cost.note)
        };
        let step = [(1, 0, 1), (0, 2, 1), (0, 3, 1)];
        let note = "depends on the order of simultaneous events: in the reverse order ";
        let (us, reversed) = (of("1", &step), format!("{note}6.000000 us, 20.00 % more"));
        assert_eq!(us, (5.0, Some(reversed)));
        assert_eq!(of("1.25", &step).1, None);
        assert_eq!(of("1", &[(1, 0, 1), (2, 0, 1)]).1, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        #[test]
        fn events_leave_in_the_order_of_a_heap(
            actions in prop::collection::vec((0_u128..6, 0_u32..4, prop::bool::ANY), 1..60),
        ) {
            let (mut queue, mut heap) = (EventQueue::default(), BinaryHeap::new());
            for ((at, kind, is_pop), sequence) in actions.into_iter().zip(0..) {
                if is_pop {
                    prop_assert_eq!(queue.pop(), heap.pop().map(|Reverse(event)| event));
                }
                let kind = match kind {
                    0 => EventKind::Send,
                    1 => EventKind::Arrival(kind),
                    2 => EventKind::Retry(kind),
                    _ => EventKind::EndStep,
                };
                let event = Event { at, sequence, rank: 0, kind };
                queue.push(event);
                heap.push(Reverse(event));
            }
            while let Some(Reverse(event)) = heap.pop() {
                prop_assert_eq!(queue.pop(), Some(event));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
