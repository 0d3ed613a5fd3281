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

pub struct Recorder {
    topology: Arc<Network>,
    /// The communicators that run the schedule; `None` if all ranks are one communicator.
    communicators: Option<Arc<Communicators>>,
    /// Computes the times of steps or, if requested, of ranks; `None` if the model has none for
    /// steps.
    evaluator: Option<Box<dyn Evaluator>>,
    records_ranks: bool,
    /// The total of each kind of time until the end of the last step, in µs.
    charged: Times,
    request: RecordRequest,
    /// The time of the last frame, if only the newest step is recorded with a frame.
    last_frame: Option<Instant>,
    send: SendValue,
    /// Messages and load of each link in the current step; `None` if frames do not contain them.
    loads: Option<[LinkLoad; 2]>,
    /// The number of bytes of a block, if all blocks have the same size.
    block_bytes: Option<u64>,
    /// The number of bytes of a unit of load; `None` before the first send or step.
    unit: Option<u64>,
    /// The number of the current phase, from 1; `None` before the first step.
    phase: Option<u32>,
    phases: usize,
    spent: usize,
    steps: u64,
    /// The sends of the current step, in case the schedule ends in it with an error.
    pending: Option<Vec<Pending>>,
    /// The number of sends without data in the current step.
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
        let matrix = request.matrix.then(|| {
            let bucket = topology.nodes().div_ceil(MATRIX_SIDE).max(1);
            let side = topology.nodes().div_ceil(bucket) as usize;
            Matrix { bucket, cells: vec![vec![0; side]; side] }
        });
        let mut recorder = Self {
            loads: has_loads.then(|| [0, 1].map(|_| LinkLoad::new(topology.as_ref()))),
            evaluator: Some(evaluator).filter(|_| records_ranks || has_step_times),
            records_ranks,
            charged: Times::default(),
            communicators: case.workload.communicators(&case.topology).unwrap_or_default(),
            topology,
            request,
            last_frame: None,
            send,
            block_bytes: case.workload.is_uniform().then(|| case.workload.block_bytes()),
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
        }
        recorder
    }

    /// Returns the frame of these messages (sender, receiver, route and load), without held data,
    /// and the number of hops of the longest route.
    fn frame<'m>(
        &mut self,
        messages: impl Iterator<Item = (u64, u64, Option<&'m Route>, u64)>,
    ) -> (Frame, u64) {
        /// The maximum number of messages that a frame lists.
        const MOST_PAIRS: usize = 1 << 14;
        let (mut longest, mut pairs, mut routes) = (0, Vec::new(), Vec::new());
        self.loads.iter_mut().flatten().for_each(LinkLoad::begin);
        for (from, to, route, load) in messages {
            if pairs.len() <= MOST_PAIRS {
                pairs.push(Pair { from, to, load, shared: 1 });
                routes.push(route);
            }
            let Some([messages, loads]) = &mut self.loads else { continue };
            // The simulation has already routed this message.
            let hops = self.topology.route(from, to, route, &mut |run| {
                messages.add(run, 1);
                loads.add(run, load);
            });
            debug_assert!(hops.is_ok(), "{hops:?}");
            longest = longest.max(hops.unwrap_or_default());
        }
        if pairs.len() > MOST_PAIRS {
            pairs.clear();
        }
        let mut links = Vec::new();
        let Some([messages, loads]) = &mut self.loads else {
            return (Frame { pairs, ..Frame::default() }, longest);
        };
        messages
            .for_each_loaded(&mut |link, messages| links.push(Load { link, messages, load: 0 }));
        links.sort_unstable_by_key(|l| l.link);
        loads.for_each_loaded(&mut |link, load| {
            if let Ok(at) = links.binary_search_by_key(&link, |l| l.link) {
                links[at].load = load;
            }
        });
        for (pair, route) in pairs.iter_mut().zip(routes) {
            let on = |link: u64| {
                links.binary_search_by_key(&link, |l| l.link).map_or(0, |at| links[at].messages)
            };
            let mut shared = 1;
            let hops = self.topology.route(pair.from, pair.to, route, &mut |run| {
                shared =
                    (0..run.len).map(|i| on(run.first + i * run.stride)).fold(shared, u64::max);
            });
            debug_assert!(hops.is_ok(), "{hops:?}");
            pair.shared = shared;
        }
        (Frame { links, pairs, ..Frame::default() }, longest)
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

    /// Returns the bytes of a unit of load, and sends it when it is first known: a segment of a
    /// block, or a byte if blocks differ in size or bytes are counted.
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
        /// The maximum number of entries of one part.
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
        Interests { sends, ..Interests::SCHEDULE.union(evaluator.unwrap_or(Interests::FACTS)) }
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
    /// Returns the ranks of the sender and the receiver of a send in the first communicator.
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

    /// Sends the rest of the record, after an error the unfinished last step.
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
