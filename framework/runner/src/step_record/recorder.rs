//! The observer that runs in the worker and sends the record of a schedule.

use super::{
    Frame, FrameSelection, Load, Matrix, Pair, RankSelection, RecordPart, RecordRequest,
    StepRecord, numbers,
};
use crate::case::Case;
use crate::host;
use crate::max_bytes;
use crate::session::{newly_charged, pricing_context};
use crate::worker::{Observer, ObserverKind, SendValue};
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::kind::Times;
use swapmeet_core::cost::model::Evaluator;
use swapmeet_core::cost::model::time_space::TimeSpace;
use swapmeet_core::delivery::fault::PlacedNode;
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::network::communicators::Communicators;
use swapmeet_core::network::links::LinkLoad;
use swapmeet_core::network::topology::{Network, Route};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent, Sent};
use swapmeet_core::simulation::step::Step;
use swapmeet_results::{Record, Status};

/// The maximum total number of bytes of whole frames.
const MOST_BYTES: usize = 64 << 20;
/// The maximum total number of bytes of frames with only the held data or only the messages.
const MOST_PART_BYTES: usize = 8 << 20;
/// The maximum number of rows and columns of the matrix of bytes between groups of ranks.
const MATRIX_SIDE: u64 = 64;

/// If there are more communicators, the communicators of links are not recorded. For all messages
/// of a step, the sum of the squares of the communicators' numbers must fit into 64 bits
/// ([`Counters`]).
const MOST_COMMUNICATORS: usize = 1 << 16;

pub const RECORD: ObserverKind = ObserverKind {
    name: "schedule",
    max_value_bytes: max_bytes::SCHEDULE,
    start: |case, request, send| {
        let request = RecordRequest::deserialize(request).map_err(|e| e.to_string())?;
        Ok(Box::new(Recorder::new(case, request, send)))
    },
};

struct Pending {
    from: u64,
    to: u64,
    route: Option<Route>,
    load: u64,
}

/// Counters of the messages on each link. The first two are the number of messages and their load.
/// If there are communicators, there are two more: the sum s of the numbers of the messages'
/// communicators, and the sum q of the squares of these numbers. By the Cauchy-Schwarz inequality,
/// the numbers of m messages are all equal if and only if m q = s². So a link needs no list of its
/// communicators.
struct Counters {
    of_links: Vec<LinkLoad>,
    /// The number of the communicator of each rank. Empty if all ranks form one communicator.
    communicators: Vec<u64>,
}

type Counts = [u64; 4];

impl Counters {
    fn new(topology: &Network, communicators: &[Vec<u32>]) -> Self {
        let mut of_ranks = Vec::new();
        if !communicators.is_empty() {
            of_ranks.resize(topology.nodes() as usize, u64::MAX);
        }
        for (number, ranks) in (0..).zip(communicators) {
            ranks.iter().for_each(|rank| of_ranks[*rank as usize] = number);
        }
        let count = if of_ranks.is_empty() { 2 } else { 4 };
        let of_links = (0..count).map(|_| LinkLoad::new(topology)).collect();
        Self { of_links, communicators: of_ranks }
    }

    /// Returns the amounts that a message adds to the counters of each link of its route.
    fn counts(&self, from: u64, load: u64) -> Counts {
        let number = self.communicators.get(from as usize).copied().unwrap_or(0);
        assert!(number < u64::MAX, "rank {from} sends, but is in no communicator");
        [1, load, number, number * number]
    }

    /// Returns the links that have messages, with their counters, in the order of their numbers.
    fn links(&mut self) -> Vec<(u64, Counts)> {
        let mut links: Vec<(u64, Counts)> = Vec::new();
        for (at, counter) in self.of_links.iter_mut().enumerate() {
            counter.for_each_loaded(&mut |link, count| match at {
                0 => links.push((link, [count, 0, 0, 0])),
                _ => {
                    let found = links.binary_search_by_key(&link, |(link, _)| *link);
                    let found = found.unwrap_or_else(|_| unreachable!("link {link} has a message"));
                    links[found].1[at] = count;
                }
            });
            if at == 0 {
                links.sort_unstable_by_key(|(link, _)| *link);
            }
        }
        links
    }

    /// If all messages on a link are of one communicator, returns this communicator.
    fn communicator([messages, _, sum, squares]: Counts) -> Option<u32> {
        let is_one = u128::from(messages) * u128::from(squares) == u128::from(sum).pow(2);
        is_one.then(|| (sum / messages) as u32)
    }
}

pub struct Recorder {
    topology: Arc<Network>,
    /// The communicators that run the schedule. `None` if all ranks form one communicator.
    communicators: Option<Arc<Communicators>>,
    /// Computes the times of steps or, if requested, of ranks. `None` if the model has none.
    evaluator: Option<Box<dyn Evaluator>>,
    records_ranks: bool,
    /// The total of each kind of time until the end of the last step, in µs.
    charged: Times,
    request: RecordRequest,
    /// The time when the last frame was sent, if only frames of the newest step are sent.
    last_frame: Option<Instant>,
    send: SendValue,
    /// The counters of the links in the current step, if frames contain loads of links.
    counters: Option<Counters>,
    /// The number of bytes of a block, if all blocks have the same size.
    block_bytes: Option<u64>,
    /// The number of bytes of a unit of load. `None` before the first send or step.
    unit: Option<u64>,
    /// The number of the current phase, from 1; `None` before the first step.
    phase: Option<u32>,
    phases: usize,
    spent: usize,
    steps: u64,
    /// The sends of the current step, which are needed if an error ends the schedule in it.
    pending: Option<Vec<Pending>>,
    idle_sends: u64,
    at_fault: Option<(u64, u64)>,
    /// The amount of data in each node after the previous step.
    held: Vec<u64>,
    matrix: Option<Matrix>,
}

impl Recorder {
    pub fn new(case: &Case, request: RecordRequest, send: SendValue) -> Self {
        let topology = Arc::clone(&case.topology);
        let mut evaluator = case.machine.evaluator(pricing_context(case));
        let has_step_times = evaluator.parts_so_far().is_some();
        let RankSelection { only, max_entries } =
            request.ranks.unwrap_or(RankSelection { only: None, max_entries: 0 });
        let records_ranks = request.ranks.is_some()
            && !has_step_times
            && evaluator
                .record_time_space(TimeSpace::new(topology.nodes(), only, max_entries))
                .is_ok();
        let has_loads = matches!(request.frames, FrameSelection::From(_) | FrameSelection::Newest);
        let communicators = case.workload.all_communicators(&topology).unwrap_or_default();
        let mut communicators: Vec<Vec<u32>> =
            communicators.iter().flat_map(|all| all.all()).map(<[u32]>::to_vec).collect();
        if communicators.len() > MOST_COMMUNICATORS {
            communicators.clear();
        }
        let matrix = request.matrix.then(|| {
            let bucket = topology.nodes().div_ceil(MATRIX_SIDE).max(1);
            let side = topology.nodes().div_ceil(bucket) as usize;
            Matrix { bucket, cells: vec![vec![0; side]; side] }
        });
        let mut recorder = Self {
            counters: has_loads.then(|| Counters::new(&topology, &communicators)),
            evaluator: Some(evaluator).filter(|_| records_ranks || has_step_times),
            records_ranks,
            charged: Times::default(),
            communicators: case.workload.communicators(&case.topology).unwrap_or_default(),
            topology,
            request,
            last_frame: None,
            send,
            // Loads of merged schedules are in bytes.
            block_bytes: (case.workload.is_uniform() && !case.is_merged())
                .then(|| case.workload.block_bytes()),
            unit: None,
            phase: None,
            phases: 0,
            spent: 0,
            steps: 0,
            pending: request.unfinished.then(Vec::new),
            idle_sends: 0,
            at_fault: None,
            held: Vec::new(),
            matrix,
        };
        if has_loads {
            let topology = &recorder.topology;
            let links = (0..topology.link_slots()).filter(|l| topology.link_ends(*l).is_some());
            let links = links.count() as u64;
            recorder.send(&RecordPart::Links(links));
            if !communicators.is_empty() {
                recorder.send(&RecordPart::Communicators(communicators));
            }
        }
        recorder
    }

    /// Returns the frame of these messages without held data, and the hops of the longest route.
    fn frame<'m>(
        &mut self,
        messages: impl Iterator<Item = (u64, u64, Option<&'m Route>, u64)>,
    ) -> (Frame, u64) {
        const MOST_PAIRS: usize = 1 << 14;
        let (mut longest, mut pairs, mut routes) = (0, Vec::new(), Vec::new());
        if let Some(counters) = &mut self.counters {
            counters.of_links.iter_mut().for_each(LinkLoad::begin);
        }
        for (from, to, route, load) in messages {
            if pairs.len() <= MOST_PAIRS {
                pairs.push(Pair { from, to, load, shared: 1 });
                routes.push(route);
            }
            let Some(counters) = &mut self.counters else { continue };
            let counts = counters.counts(from, load);
            let hops = self.topology.route(from, to, route, &mut |run| {
                for (counter, count) in counters.of_links.iter_mut().zip(counts) {
                    counter.add(run, count);
                }
            });
            assert!(hops.is_ok(), "a message that the simulation has routed has a route: {hops:?}");
            longest = longest.max(hops.unwrap_or_default());
        }
        if pairs.len() > MOST_PAIRS {
            pairs.clear();
        }
        let Some(counters) = &mut self.counters else {
            return (Frame { pairs, ..Frame::default() }, longest);
        };
        let counted = counters.links();
        let load = |(link, [messages, load, ..]): &(u64, Counts)| Load {
            link: *link,
            messages: *messages,
            load: *load,
        };
        let links: Vec<Load> = counted.iter().map(load).collect();
        let communicators = match counters.communicators.is_empty() {
            true => Vec::new(),
            false => counted.iter().map(|(_, counts)| Counters::communicator(*counts)).collect(),
        };
        for (pair, route) in pairs.iter_mut().zip(routes) {
            let on = |link: u64| {
                links.binary_search_by_key(&link, |l| l.link).map_or(0, |at| links[at].messages)
            };
            let mut shared = 1;
            let hops = self.topology.route(pair.from, pair.to, route, &mut |run| {
                shared =
                    (0..run.len).map(|i| on(run.first + i * run.stride)).fold(shared, u64::max);
            });
            assert!(hops.is_ok(), "a message that the simulation has routed has a route: {hops:?}");
            pair.shared = shared;
        }
        (Frame { links, communicators, pairs, ..Frame::default() }, longest)
    }

    fn has_frame(&mut self, step: u64) -> bool {
        /// The minimum time between two frames of [`FrameSelection::Newest`].
        const EVERY: Duration = Duration::from_millis(200);
        match self.request.frames {
            FrameSelection::None => false,
            FrameSelection::Held | FrameSelection::Messages => self.spent < MOST_PART_BYTES,
            FrameSelection::From(from) => step >= from as u64 && self.spent < MOST_BYTES,
            FrameSelection::Newest => {
                let is_due = self.last_frame.is_none_or(|last| last.elapsed() >= EVERY);
                self.last_frame = if is_due { Some(Instant::now()) } else { self.last_frame };
                is_due
            }
        }
    }

    fn newly_charged(&mut self) -> Option<Times> {
        newly_charged(self.evaluator.as_deref()?, &mut self.charged)
    }

    /// Returns the bytes of a unit of load, and sends this value when it is first known. The unit
    /// is a segment of a block. If blocks differ in size or bytes are counted, it is a byte.
    fn unit(&mut self, proof: Proof, segments: u64) -> u64 {
        self.unit.unwrap_or_else(|| {
            let unit = match (self.block_bytes, proof) {
                (Some(bytes), Proof::Blocks | Proof::Contributions) => {
                    bytes.div_ceil(segments.max(1))
                }
                _ => 1,
            };
            self.unit = Some(unit);
            self.send(&RecordPart::Unit(unit));
            unit
        })
    }

    fn send_ranks(&mut self) {
        const AT_ONCE: usize = 1024;
        let Some(evaluator) = self.evaluator.as_mut().filter(|_| self.records_ranks) else {
            return;
        };
        let none = || "its ranks have no times of their own".to_owned();
        let record = evaluator.cost().and_then(|_| evaluator.time_space().ok_or_else(none));
        let record = match record {
            Ok(record) => record,
            Err(why) => return self.send(&RecordPart::NoRanks(why)),
        };
        for rank in 0..record.ranks() {
            let mut rest = record.entries(rank);
            loop {
                let (part, after) = rest.split_at(rest.len().min(AT_ONCE));
                let numbers = part.iter().map(numbers).collect();
                self.send(&RecordPart::Entries(numbers, after.is_empty()));
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
        }
        self.send(&RecordPart::EntriesEnd(record.steps_per_entry()));
    }

    fn send(&mut self, part: &RecordPart) {
        // Serializing these values cannot fail.
        if let Ok(value) = serde_json::to_value(part) {
            (self.send)(value);
        }
    }
}

impl Listener for Recorder {
    fn interests(&self) -> Interests {
        let evaluator = self.evaluator.as_ref().map(|evaluator| evaluator.interests());
        let sends = self.pending.is_some();
        let interests = Interests::SCHEDULE.union(evaluator.unwrap_or(Interests::FACTS));
        Interests { sends, merged: true, ..interests }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let Some(evaluator) = &mut self.evaluator {
            evaluator.notify(event);
        }
        match event {
            ScheduleEvent::Sent(sent) => self.sent(sent),
            ScheduleEvent::EmptySend(send) if send.is_refused => {
                self.at_fault = Some(self.ends([send.from, send.to]));
            }
            ScheduleEvent::EmptySend(_) => self.idle_sends += 1,
            ScheduleEvent::Step(step) => self.step(step),
            _ => {}
        }
    }
}

impl Recorder {
    fn ends(&self, ends: [PlacedNode; 2]) -> (u64, u64) {
        let rank = |node: PlacedNode| match &self.communicators {
            None => node.physical,
            Some(all) => all.rank(0, node.physical),
        };
        (rank(ends[0]), rank(ends[1]))
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        let (from, to) = self.ends([sent.from, sent.to]);
        if let Some(pending) = &mut self.pending
            && !sent.is_local()
        {
            let route = match &self.communicators {
                None => sent.route.cloned(),
                Some(all) => sent.route.and_then(|r| all.route(0, sent.from.physical, r).ok()),
            };
            pending.push(Pending { from, to, route, load: sent.load });
            self.unit(sent.proof, sent.segments);
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        let times = self.newly_charged();
        let idle_sends = std::mem::take(&mut self.idle_sends);
        if let Some(pending) = &mut self.pending {
            pending.clear();
            step.held.clone_into(&mut self.held);
        }
        if self.steps >= self.request.max_steps {
            return;
        }
        let unit = self.unit(step.proof, step.segments);
        if let Some(Matrix { bucket, cells }) = &mut self.matrix {
            for transfer in step.transfers {
                let [row, column] = [transfer.from, transfer.to].map(|n| u64::from(n) / *bucket);
                let cell = &mut cells[row as usize][column as usize];
                *cell = cell.saturating_add(transfer.load.saturating_mul(unit));
            }
        }
        if self.phase != Some(step.phase_number) {
            self.phase = Some(step.phase_number);
            self.phases += 1;
            self.send(&RecordPart::Phase(step.phase.to_owned()));
        }
        let frame = self.has_frame(step.number - 1).then(|| {
            if self.request.frames == FrameSelection::Held {
                return Frame { held: step.held.to_vec(), ..Frame::default() };
            }
            let route_of =
                |route: u32| (route as usize).checked_sub(1).and_then(|i| step.routes.get(i));
            let messages = step
                .transfers
                .iter()
                .map(|t| (u64::from(t.from), u64::from(t.to), route_of(t.route), t.load));
            let (frame, _) = self.frame(messages);
            match self.request.frames {
                FrameSelection::Messages => frame,
                _ => Frame { held: step.held.to_vec(), ..frame },
            }
        });
        self.spent += frame.as_ref().map_or(0, Frame::bytes);
        self.steps += 1;
        let facts = &step.facts;
        self.send(&RecordPart::Step(StepRecord {
            schedule_step: step.schedule_step,
            phase: self.phases - 1,
            messages: facts.messages,
            max_load: facts.max_load,
            max_hops: facts.max_hops,
            max_link_messages: facts.max_link_messages,
            max_sends: facts.max_sends,
            idle_sends,
            times,
            frame: frame.map(Box::new),
        }));
    }

    /// Sends the rest of the record. After an error, this includes the unfinished last step.
    pub fn end(&mut self, record: &Record) {
        let after = self.newly_charged();
        if after.is_some_and(|times| times.0.iter().any(|time| *time > 0.0)) {
            self.send(&RecordPart::After(after));
        }
        if let Some(matrix) = self.matrix.take() {
            self.send(&RecordPart::Matrix(matrix));
        }
        if record.status == Status::Ok {
            self.send_ranks();
            return;
        }
        let Some(pending) = self.pending.take() else { return };
        if (pending.is_empty() && self.at_fault.is_none()) || self.steps >= self.request.max_steps {
            return;
        }
        if self.phases == 0 {
            self.phases = 1;
            self.send(&RecordPart::Phase(String::new()));
        }
        let messages = pending.iter().map(|p| (p.from, p.to, p.route.as_ref(), p.load));
        let (frame, max_hops) = self.frame(messages);
        let mut senders: Vec<u64> = pending.iter().map(|p| p.from).collect();
        senders.sort_unstable();
        let max_sends =
            senders.chunk_by(|a, b| a == b).map(|sends| sends.len() as u64).max().unwrap_or(0);
        let max_link_messages = frame.links.iter().map(|l| l.messages).max().unwrap_or(0);
        let frame =
            Frame { held: std::mem::take(&mut self.held), at_fault: self.at_fault, ..frame };
        let is_seen = match self.request.frames {
            FrameSelection::From(from) => self.steps >= from as u64,
            FrameSelection::Held => true,
            FrameSelection::None | FrameSelection::Messages | FrameSelection::Newest => false,
        };
        self.send(&RecordPart::Step(StepRecord {
            schedule_step: self.steps + 1,
            phase: self.phases - 1,
            messages: pending.len() as u64,
            max_load: pending.iter().map(|p| p.load).max().unwrap_or(0),
            max_hops,
            max_link_messages,
            max_sends,
            idle_sends: self.idle_sends,
            times: None,
            frame: is_seen.then(|| Box::new(frame)),
        }));
    }
}

impl Observer for Recorder {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        vec![self]
    }

    fn ended(&mut self, record: &Record, _: host::Requested) {
        self.end(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use swapmeet_core::network::topology;

    /// The counters agree with sets of the communicators of each link. In one case, the messages
    /// are between all pairs of a communicator's ranks, and their routes share links. In the other
    /// case, the messages are between neighbours, and their routes share no links.
    #[test]
    fn links_have_the_communicator_of_all_their_messages() {
        for (spec, lists) in [
            ("torus:2x8", [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]),
            ("hypercube:4", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
            ("mesh:4x4", [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]]),
        ] {
            let topology = topology::parse(spec).unwrap();
            let mut counters = Counters::new(&topology, &lists.map(|ranks| ranks.to_vec()));
            let mut sets: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
            counters.of_links.iter_mut().for_each(LinkLoad::begin);
            for (number, ranks) in (0..).zip(lists) {
                for (from, to) in ranks.into_iter().flat_map(|a| ranks.map(|b| (a, b))) {
                    let (from, to) = (u64::from(from), u64::from(to));
                    let counts = counters.counts(from, 1);
                    let hops = topology.route(from, to, None, &mut |run| {
                        for (counter, count) in counters.of_links.iter_mut().zip(counts) {
                            counter.add(run, count);
                        }
                        for link in run.links() {
                            sets.entry(link).or_default().insert(number);
                        }
                    });
                    hops.unwrap();
                }
            }
            let found = counters.links();
            let found = found.iter().map(|(link, counts)| (*link, Counters::communicator(*counts)));
            let only = |set: BTreeSet<u32>| set.first().copied().filter(|_| set.len() == 1);
            let expected: Vec<(u64, Option<u32>)> =
                sets.into_iter().map(|(link, set)| (link, only(set))).collect();
            assert_eq!(found.collect::<Vec<_>>(), expected, "{spec}");
            assert!(spec == "hypercube:4" || expected.iter().any(|(_, one)| one.is_none()));
        }
    }
}
