//! An observer that runs in the worker and sends the steps of a schedule to the dashboard.

use super::ranks::{TimeNumbers, numbers};
use super::step::{
    Facts, Frame, FrameSelection, Load, Pair, RecordingRequest, StepSummary, WatchMessage,
};
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::kind::Times;
use swapmeet_core::cost::model::Evaluator;
use swapmeet_core::cost::model::time_space::TimeSpace;
use swapmeet_core::network::links::LinkLoad;
use swapmeet_core::network::topology::{Network, Route};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent, Sent};
use swapmeet_core::simulation::step::Step;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::host;
use swapmeet_runner::max_bytes;
use swapmeet_runner::session::{newly_charged, pricing_context};
use swapmeet_runner::worker::{Observer, ObserverKind, SendValue};

/// The maximum total number of bytes of the steps that are sent in full.
const MOST_BYTES: usize = 64 << 20;
/// The maximum number of steps whose summaries are sent.
const MOST_STEPS: u64 = 1 << 18;
/// The maximum total number of entries in the time-space record of all ranks. An entry shows how
/// one rank spends its time in one step. If there would be too many entries, consecutive steps of a
/// rank are combined in one entry.
const MOST_ENTRIES: usize = 1 << 16;

/// The observer that sends a schedule to the dashboard.
pub const WATCH: ObserverKind = ObserverKind {
    name: "schedule",
    max_value_bytes: max_bytes::SCHEDULE,
    start: |case, request, send| {
        let request = RecordingRequest::deserialize(request).map_err(|e| e.to_string())?;
        Ok(Box::new(Recorder::new(case, request, send)))
    },
};

/// A send between two physical nodes in the current step.
struct Pending {
    from: u64,
    to: u64,
    route: Option<Route>,
    load: u64,
}

/// Records the steps of a schedule and sends them to the dashboard.
struct Recorder {
    topology: Arc<Network>,
    /// The evaluator that computes the times of steps or, if they are requested, the times of
    /// ranks. It is `None` if the model has no times for single steps.
    evaluator: Option<Box<dyn Evaluator>>,
    keeps_ranks: bool,
    /// For each kind of time, such as start-up or contention, the total until the end of the last
    /// step, in µs.
    priced: Times,
    /// The steps that the dashboard requests in full.
    wanted: FrameSelection,
    /// The last time at which the newest step was sent in full.
    last_report: Option<Instant>,
    send: SendValue,
    /// The number of messages on each link in the current step.
    messages: LinkLoad,
    /// The load of each link in the current step.
    load: LinkLoad,
    /// The number of the current phase, from 1; `None` before the first step.
    phase: Option<u32>,
    /// The number of phases that have been sent.
    phases: usize,
    /// The number of bytes of the steps that have been sent in full.
    spent: usize,
    /// The number of steps whose summaries have been sent.
    reported: u64,
    /// The sends of the current step. They are only needed if the schedule ends in this step
    /// because of an error.
    pending: Option<Vec<Pending>>,
    /// The number of sends without data in the current step.
    idle_sends: u64,
    /// The sender and the receiver of the send that was refused.
    at_fault: Option<(u64, u64)>,
    /// The amount of data in each node after the previous step.
    held: Vec<u64>,
}

impl Recorder {
    fn new(
        case: &Case,
        RecordingRequest { wanted, unfinished, ranks }: RecordingRequest,
        send: SendValue,
    ) -> Self {
        let topology = Arc::clone(&case.topology);
        let mut evaluator = case.machine.evaluator(pricing_context(case));
        let record = TimeSpace::new(if ranks { topology.nodes() } else { 0 }, None, MOST_ENTRIES);
        let keeps_ranks = ranks && evaluator.record_time_space(record).is_ok();
        let evaluator =
            Some(evaluator).filter(|evaluator| keeps_ranks || evaluator.parts_so_far().is_some());
        let links =
            (0..topology.link_slots()).filter(|link| topology.link_ends(*link).is_some()).count();
        let mut recorder = Self {
            messages: LinkLoad::new(topology.as_ref()),
            load: LinkLoad::new(topology.as_ref()),
            evaluator,
            keeps_ranks,
            priced: Times::default(),
            topology,
            wanted,
            last_report: None,
            send,
            phase: None,
            phases: 0,
            spent: 0,
            reported: 0,
            pending: unfinished.then(Vec::new),
            idle_sends: 0,
            at_fault: None,
            held: Vec::new(),
        };
        recorder.report(&WatchMessage::Links(links as u64));
        recorder
    }

    /// Returns the loads on links that the messages of a step cause, and the number of hops of the
    /// longest route. Each message consists of its sender, receiver, route and load.
    fn frame<'m>(
        &mut self,
        messages: impl Iterator<Item = (u64, u64, Option<&'m Route>, u64)>,
    ) -> (Frame, u64) {
        /// The maximum number of messages that a frame lists.
        const MOST_PAIRS: usize = 1 << 14;
        self.messages.begin();
        self.load.begin();
        let (mut longest, mut pairs, mut routes) = (0, Vec::new(), Vec::new());
        for (from, to, route, bytes) in messages {
            if pairs.len() <= MOST_PAIRS {
                pairs.push(Pair { from, to, load: bytes, shared: 1 });
                routes.push(route);
            }
            let (messages, load) = (&mut self.messages, &mut self.load);
            // Routing cannot fail, because the simulation has already routed this message.
            let hops = self.topology.route(from, to, route, &mut |run| {
                messages.add(run, 1);
                load.add(run, bytes);
            });
            debug_assert!(hops.is_ok(), "{hops:?}");
            longest = longest.max(hops.unwrap_or_default());
        }
        if pairs.len() > MOST_PAIRS {
            pairs.clear();
        }
        let mut links = Vec::new();
        self.messages
            .for_each_loaded(&mut |link, messages| links.push(Load { link, messages, load: 0 }));
        links.sort_unstable_by_key(|l| l.link);
        self.load.for_each_loaded(&mut |link, load| {
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

    /// Returns whether to send this step in full.
    fn wants(&mut self, step: u64) -> bool {
        /// If only the newest step is requested, the minimum time between two steps that are sent
        /// in full.
        const EVERY: Duration = Duration::from_millis(200);
        match self.wanted {
            FrameSelection::From(from) => step >= from as u64 && self.spent < MOST_BYTES,
            FrameSelection::Newest => {
                let is_due =
                    self.last_report.is_none_or(|last_report| last_report.elapsed() >= EVERY);
                self.last_report = if is_due { Some(Instant::now()) } else { self.last_report };
                is_due
            }
        }
    }

    /// Returns the simulated time since the last call, with one number for each kind of time.
    fn charged(&mut self) -> Option<TimeNumbers> {
        newly_charged(self.evaluator.as_deref()?, &mut self.priced).map(|times| times.0)
    }

    /// Sends the times of all ranks at the end of the schedule.
    fn report_ranks(&mut self) {
        let Some(evaluator) = self.evaluator.as_mut().filter(|_| self.keeps_ranks) else { return };
        // If the evaluator cannot compute a cost, the row of the case states the reason.
        let record = evaluator.cost().ok().and_then(|_| evaluator.time_space());
        for rank in 0..record.as_ref().map_or(0, TimeSpace::ranks) {
            let entries = record.as_ref().map_or(&[][..], |record| record.entries(rank));
            self.report(&WatchMessage::Rank(entries.iter().map(numbers).collect()));
        }
    }

    fn report(&mut self, seen: &WatchMessage) {
        // Serializing these values cannot fail.
        if let Ok(value) = serde_json::to_value(seen) {
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
                self.at_fault = Some((send.from.physical, send.to.physical));
            }
            ScheduleEvent::EmptySend(_) => self.idle_sends += 1,
            ScheduleEvent::Step(step) => self.step(step),
            _ => {}
        }
    }
}

impl Recorder {
    fn sent(&mut self, sent: &Sent<'_>) {
        if let Some(pending) = &mut self.pending
            && sent.from.physical != sent.to.physical
        {
            let (from, to) = (sent.from.physical, sent.to.physical);
            pending.push(Pending { from, to, route: sent.route.cloned(), load: sent.load });
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        let times = self.charged();
        let idle_sends = std::mem::take(&mut self.idle_sends);
        if let Some(pending) = &mut self.pending {
            pending.clear();
            step.held.clone_into(&mut self.held);
        }
        if self.reported >= MOST_STEPS {
            return;
        }
        if self.phase != Some(step.phase_number) {
            if self.phase.is_none() {
                self.report(&WatchMessage::Segments(step.segments));
            }
            self.phase = Some(step.phase_number);
            self.phases += 1;
            self.report(&WatchMessage::Phase(step.phase.to_owned()));
        }
        let wanted = self.wants(step.number - 1);
        let frame = wanted.then(|| {
            let route_of =
                |route: u32| (route as usize).checked_sub(1).and_then(|i| step.routes.get(i));
            let messages = step
                .transfers
                .iter()
                .map(|t| (u64::from(t.from), u64::from(t.to), route_of(t.route), t.load));
            Frame { held: step.held.to_vec(), ..self.frame(messages).0 }
        });
        self.spent += frame.as_ref().map_or(0, Frame::bytes);
        self.reported += 1;
        let note = StepSummary {
            phase: self.phases - 1,
            facts: Facts::of(&step.facts, idle_sends),
            times,
        };
        self.report(&WatchMessage::Step(note, frame));
    }
}

impl Observer for Recorder {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        vec![self]
    }

    /// Sends the times that have not been sent yet. If the schedule ended because of an error, also
    /// sends the unfinished last step.
    fn ended(&mut self, record: &Record, _: host::Requested) {
        if let Some(times) = self.charged().filter(|times| times.iter().any(|time| *time > 0.0)) {
            self.report(&WatchMessage::After(times));
        }
        if record.status == Status::Ok {
            self.report_ranks();
        }
        let Some(pending) = self.pending.take().filter(|_| record.status != Status::Ok) else {
            return;
        };
        if (pending.is_empty() && self.at_fault.is_none()) || self.reported >= MOST_STEPS {
            return;
        }
        if self.phases == 0 {
            self.phases = 1;
            self.report(&WatchMessage::Phase(String::new()));
        }
        let messages = pending.iter().map(|p| (p.from, p.to, p.route.as_ref(), p.load));
        let (frame, max_hops) = self.frame(messages);
        let mut senders: Vec<u64> = pending.iter().map(|p| p.from).collect();
        senders.sort_unstable();
        let max_sends =
            senders.chunk_by(|a, b| a == b).map(|sends| sends.len() as u64).max().unwrap_or(0);
        let facts = Facts {
            messages: pending.len() as u64,
            max_load: pending.iter().map(|p| p.load).max().unwrap_or(0),
            max_hops,
            max_link_messages: frame.links.iter().map(|l| l.messages).max().unwrap_or(0),
            max_sends,
            idle_sends: self.idle_sends,
        };
        let frame =
            Frame { held: std::mem::take(&mut self.held), at_fault: self.at_fault, ..frame };
        let is_seen =
            matches!(self.wanted, FrameSelection::From(from) if self.reported >= from as u64);
        self.report(&WatchMessage::Step(
            StepSummary { phase: self.phases - 1, facts, times: None },
            is_seen.then_some(frame),
        ));
    }
}
