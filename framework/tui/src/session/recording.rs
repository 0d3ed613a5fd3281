//! A schedule as it happens: for each step what every link carries and every node holds. It is made in a worker, as any plugin's; what is seen there comes here.
//!
//! A step of a large network is megabytes, and a schedule may have a hundred thousand: only a window of steps is kept, and simulated again when
//! another part of the schedule is looked at. The facts of all steps are small, and kept.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use swapmeet_core::cost::model::{Evaluator, Parts};
use swapmeet_core::network::links::LinkLoad;
use swapmeet_core::network::topology::{Route, Topology};
use swapmeet_core::simulation::step::{Listener, Sent, Step, StepFacts, Summed, Unsent};
use swapmeet_results::{CaseId, Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::host;
use swapmeet_runner::pace::Pace;
use swapmeet_runner::session::scale;
use swapmeet_runner::watch::{self, watch};
use swapmeet_runner::worker::{Say, Watch, Watcher, Workers};

/// Bytes that the steps of a window may take.
const MOST_BYTES: usize = 64 << 20;
/// Steps whose facts are kept.
const MOST_STEPS: u64 = 1 << 18;

/// What one link carries in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub(crate) struct Load {
    pub(crate) link: u64,
    pub(crate) messages: u64,
    /// Blocks or bytes, in parts.
    pub(crate) load: u64,
}

/// Figures alone: a frame has many.
impl From<(u64, u64, u64)> for Load {
    fn from((link, messages, load): (u64, u64, u64)) -> Self {
        Self { link, messages, load }
    }
}

impl From<Load> for (u64, u64, u64) {
    fn from(Load { link, messages, load }: Load) -> Self {
        (link, messages, load)
    }
}

/// What a node sends another in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub(crate) struct Pair {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Blocks or bytes, in parts.
    pub(crate) load: u64,
}

impl From<(u64, u64, u64)> for Pair {
    fn from((from, to, load): (u64, u64, u64)) -> Self {
        Self { from, to, load }
    }
}

impl From<Pair> for (u64, u64, u64) {
    fn from(Pair { from, to, load }: Pair) -> Self {
        (from, to, load)
    }
}

/// A step in full.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The links that carry anything.
    pub(crate) links: Vec<Load>,
    /// Who sends to whom; none of a step of more messages than anyone looks at one by one.
    pub(crate) pairs: Vec<Pair>,
    /// What each node holds at the end of the step, in blocks or bytes, in parts.
    pub(crate) held: Vec<u64>,
    /// Sender and receiver of the send that broke a rule.
    pub(crate) at_fault: Option<(u64, u64)>,
}

impl Frame {
    fn bytes(&self) -> usize {
        self.links.len() * size_of::<Load>() + self.pairs.len() * size_of::<Pair>() + self.held.len() * size_of::<u64>()
    }
}

/// The parts of a step's time, in us, in the order of a row's columns: what its machine charges for it, with what is rearranged before it. A part that the model has no
/// meaning for is 0.
pub(crate) type Times = [f64; 7];

/// What is known of every step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// Its phase, by its place among the phases.
    pub(crate) phase: usize,
    /// What no machine changes.
    pub(crate) facts: Facts,
    /// `None` where steps have no time of their own, as ranks go on by themselves.
    pub(crate) times: Option<Times>,
}

impl Note {
    /// What the step takes.
    pub(crate) fn time(&self) -> Option<f64> {
        self.times.map(|times| times.iter().sum())
    }
}

/// Of a step's facts, those that are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) messages: u64,
    pub(crate) max_load: u64,
    pub(crate) max_hops: u64,
    pub(crate) max_link_messages: u64,
    pub(crate) max_sends: u64,
    /// Sends that selected nothing.
    pub(crate) idle_sends: u64,
}

impl Facts {
    fn of(facts: &StepFacts, idle_sends: u64) -> Self {
        let StepFacts { messages, max_load, max_hops, max_link_messages, max_sends, .. } = *facts;
        Self { messages, max_load, max_hops, max_link_messages, max_sends, idle_sends }
    }
}

/// A phase of a schedule, in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    /// As the plugin calls it.
    pub(crate) name: String,
    pub(crate) steps: u64,
    /// Messages over all its steps.
    pub(crate) messages: u64,
    /// The longest message, in bytes.
    pub(crate) longest: u64,
    /// The most messages on one directed link in one step.
    pub(crate) worst_link: u64,
}

/// What is seen in the worker.
#[derive(Debug, Serialize, Deserialize)]
enum Seen {
    Links(u64),
    Segments(u64),
    Phase(String),
    Step(Note, Option<Frame>),
    /// What comes after the last step: it is counted with that.
    After(Times),
}

/// Which steps are wanted in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wanted {
    /// From this one on, as many as there is room for.
    From(usize),
    /// The newest, a few times a second.
    Newest,
}

/// What the worker is to keep.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    wanted: Wanted,
    /// The step that a fault ends, too: each send is looked at for that.
    unfinished: bool,
}

/// What comes to the recording.
enum Event {
    Seen(Box<Seen>),
    Ended(Box<Record>),
}

/// The watcher in the worker that makes a schedule for the dashboard.
pub const WATCH: Watch = Watch {
    name: "schedule",
    start: |case, asked, say| {
        let Asked { wanted, unfinished } = Asked::deserialize(asked).map_err(|e| e.to_string())?;
        Ok(Box::new(Recorder::new(case, wanted, unfinished, say)))
    },
};

/// A schedule as far as it has been simulated.
#[derive(Debug)]
pub(crate) struct Recording {
    events: Receiver<Event>,
    cancelled: Arc<AtomicBool>,
    /// Which case it is.
    pub(crate) key: Arc<CaseId>,
    pub(crate) topology: Arc<dyn Topology>,
    pub(crate) links: u64,
    /// Bytes of a unit of load, times its parts.
    unit: u64,
    segments: u64,
    phases: Vec<String>,
    /// The facts of the first steps; all of them but for schedules longer than anyone looks through.
    pub(crate) notes: Vec<Note>,
    wanted: Wanted,
    /// Steps in full, from the first that is wanted on.
    frames: Vec<Frame>,
    /// The newest step in full, where that is what is wanted.
    newest: Option<(usize, Frame)>,
    pub(crate) ended: Option<Box<Record>>,
    /// The most messages on a link, the most load on a link, the most load in a node: of the steps in the window.
    pub(crate) most: [u64; 3],
    /// When each step has ended, in us; none where steps have no times.
    ends: Vec<f64>,
    /// When it was asked for, the messages so far, and how it gets on.
    began: Instant,
    messages: u64,
    pace: Pace,
}

impl Recording {
    /// Has a worker make the schedule of a case; the steps that are wanted are kept, and of one that `has_failed` what there is of the last.
    pub(crate) fn start(case: &Case, key: Arc<CaseId>, wanted: Wanted, has_failed: bool, workers: Workers) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (flag, case) = (Arc::clone(&cancelled), case.clone());
        let topology = Arc::clone(&case.topology);
        let unit = if case.workload.is_uniform() { case.workload.block_bytes() } else { 1 };
        // Without a thread there are no events, and the panel says that the schedule is being simulated: nothing worse.
        drop(std::thread::Builder::new().name("schedule".to_owned()).spawn(move || {
            let asked = Asked { wanted, unfinished: has_failed };
            let Ok(asked) = serde_json::to_value(asked) else { return };
            let mut tell = |event: watch::Event| {
                let news = match event {
                    watch::Event::Seen { value } => {
                        serde_json::from_value(value).ok().map(|seen| Event::Seen(Box::new(seen)))
                    }
                    watch::Event::Finished { record, .. } => Some(Event::Ended(record)),
                    // Said when the case ran.
                    watch::Event::Started { .. } | watch::Event::Progress { .. } | watch::Event::Log { .. } => None,
                };
                drop(news.map(|news| sender.send(news)));
            };
            watch(std::slice::from_ref(&case), &workers, (WATCH.name, asked), &flag, &mut tell);
        }));
        Self {
            events,
            cancelled,
            key,
            topology,
            links: 0,
            unit,
            segments: 1,
            phases: Vec::new(),
            notes: Vec::new(),
            wanted,
            frames: Vec::new(),
            newest: None,
            ended: None,
            most: [0; 3],
            ends: Vec::new(),
            began: Instant::now(),
            messages: 0,
            pace: Pace::default(),
        }
    }

    /// Takes in some of what came meanwhile; false if there was nothing new.
    pub(crate) fn take_in(&mut self) -> bool {
        /// So that a screen is never late: the rest is for the next frame.
        const AT_ONCE: usize = 20_000;
        for taken in 0..AT_ONCE {
            let Ok(event) = self.events.try_recv() else {
                if taken > 0 {
                    self.pace.reached(self.notes.len() as u64, self.messages, self.began.elapsed());
                }
                return taken > 0;
            };
            let seen = match event {
                Event::Ended(record) => {
                    self.ended = Some(record);
                    continue;
                }
                Event::Seen(seen) => *seen,
            };
            match seen {
                Seen::Links(links) => self.links = links,
                Seen::Segments(segments) => self.segments = segments.max(1),
                Seen::Phase(name) => self.phases.push(name),
                Seen::After(times) => {
                    if let Some(last) = self.notes.last_mut().and_then(|note| note.times.as_mut()) {
                        last.iter_mut().zip(times).for_each(|(time, more)| *time += more);
                    }
                    if let Some(end) = self.ends.last_mut() {
                        *end += times.iter().sum::<f64>();
                    }
                }
                Seen::Step(note, frame) => {
                    let before = self.ends.last().copied().unwrap_or(0.0);
                    self.messages += note.facts.messages;
                    self.ends.extend(note.time().map(|time| before + time));
                    self.notes.push(note);
                    if let Some(frame) = frame {
                        for load in &frame.links {
                            self.most[0] = self.most[0].max(load.messages);
                            self.most[1] = self.most[1].max(load.load);
                        }
                        self.most[2] = frame.held.iter().copied().fold(self.most[2], u64::max);
                        match self.wanted {
                            Wanted::From(_) => self.frames.push(frame),
                            Wanted::Newest => self.newest = Some((self.notes.len() - 1, frame)),
                        }
                    }
                }
            }
        }
        true
    }

    /// A step in full, if it is in the window.
    pub(crate) fn frame(&self, step: usize) -> Option<&Frame> {
        match self.wanted {
            Wanted::From(from) => self.frames.get(step.checked_sub(from)?),
            Wanted::Newest => self.newest.as_ref().filter(|(newest, _)| *newest == step).map(|(_, frame)| frame),
        }
    }

    /// When a step has ended, in us since the first began.
    pub(crate) fn end(&self, step: usize) -> Option<f64> {
        self.ends.get(step).copied()
    }

    /// The step that is under way at a time; the last if all have ended.
    pub(crate) fn step_at(&self, time: f64) -> usize {
        // Ends that differ by rounding are the same.
        let over = self.ends.partition_point(|end| *end < time * (1.0 - 1e-9));
        over.min(self.notes.len().saturating_sub(1))
    }

    /// The steps that cost most, the dearest first.
    pub(crate) fn dearest(&self) -> Vec<usize> {
        let mut steps: Vec<(usize, f64)> =
            self.notes.iter().enumerate().filter_map(|(step, note)| Some((step, note.time()?))).collect();
        // A stable sort: of equals the first.
        steps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        steps.into_iter().map(|(step, _)| step).collect()
    }

    /// Whether a step that isn't there in full will come.
    pub(crate) fn is_to_come(&self, step: usize) -> bool {
        self.is_growing() && matches!(self.wanted, Wanted::From(from) if step >= from)
    }

    /// The last step that is there in full.
    pub(crate) fn newest(&self) -> usize {
        match self.wanted {
            Wanted::From(from) => from + self.frames.len().saturating_sub(1),
            Wanted::Newest => self.newest.as_ref().map_or(0, |(newest, _)| *newest),
        }
    }

    /// How far it has come and how fast it goes, while more may come.
    pub(crate) fn pace(&self) -> Option<String> {
        self.is_growing().then(|| self.pace.in_words(None)).filter(|words| !words.is_empty())
    }

    /// How many steps there are, as far as is known.
    pub(crate) fn steps(&self) -> usize {
        let all = self.ended.as_ref().and_then(|r| r.steps).map_or(0, |n| n as usize);
        all.max(self.notes.len())
    }

    /// Whether more may come.
    pub(crate) fn is_growing(&self) -> bool {
        self.ended.is_none()
    }

    /// A load in bytes.
    pub(crate) fn bytes(&self, load: u64) -> u64 {
        let bytes = u128::from(load) * u128::from(self.unit.div_ceil(self.segments));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The name of a step's phase.
    pub(crate) fn phase_of(&self, step: usize) -> &str {
        let phase = self.notes.get(step).and_then(|note| self.phases.get(note.phase));
        phase.map_or("", String::as_str)
    }

    /// The phases so far.
    pub(crate) fn phases(&self) -> Vec<Phase> {
        let blank = |name: &String| Phase { name: name.clone(), steps: 0, messages: 0, longest: 0, worst_link: 0 };
        let mut phases: Vec<Phase> = self.phases.iter().map(blank).collect();
        for note in &self.notes {
            let Some(phase) = phases.get_mut(note.phase) else { continue };
            phase.steps += 1;
            phase.messages += note.facts.messages;
            phase.longest = phase.longest.max(self.bytes(note.facts.max_load));
            phase.worst_link = phase.worst_link.max(note.facts.max_link_messages);
        }
        phases
    }
}

/// A schedule that is kept beside others.
#[derive(Debug)]
pub(crate) struct Beside {
    case: Case,
    recording: Recording,
}

impl Beside {
    pub(crate) fn start(case: &Case, key: Arc<CaseId>, workers: Workers) -> Self {
        Self { case: case.clone(), recording: Recording::start(case, key, Wanted::From(0), false, workers) }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    pub(super) fn take_in(&mut self) -> bool {
        self.recording.take_in()
    }

    /// Has it simulated again from a step that is outside its window.
    pub(super) fn keep(&mut self, step: usize, workers: &Workers) {
        let recording = &self.recording;
        if recording.frame(step).is_none() && !recording.is_to_come(step) && step < recording.notes.len() {
            let key = Arc::clone(&recording.key);
            self.recording =
                Recording::start(&self.case, key, Wanted::From(step.saturating_sub(1)), false, workers.clone());
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// A send of the step under way, between nodes of the machine.
struct Pending {
    from: u64,
    to: u64,
    route: Option<Route>,
    load: u64,
}

/// Watches a schedule in the worker and says what it sees.
struct Recorder {
    topology: Arc<dyn Topology>,
    /// Prices steps one by one, where the machine does.
    evaluator: Option<Box<dyn Evaluator>>,
    priced: Times,
    wanted: Wanted,
    /// When the newest step was told last.
    told: Option<Instant>,
    say: Say,
    messages: LinkLoad,
    load: LinkLoad,
    phase: Option<u32>,
    phases: usize,
    spent: usize,
    reported: u64,
    /// Sends of the step under way, where they are wanted for the case that a fault ends it.
    pending: Option<Vec<Pending>>,
    idle_sends: u64,
    at_fault: Option<(u64, u64)>,
    /// What nodes held last.
    held: Vec<u64>,
}

impl Recorder {
    fn new(case: &Case, wanted: Wanted, unfinished: bool, say: Say) -> Self {
        let topology = Arc::clone(&case.topology);
        let evaluator = Some(case.machine.evaluator(scale(case))).filter(|evaluator| evaluator.so_far().is_some());
        let links = (0..topology.link_slots()).filter(|link| topology.link_ends(*link).is_some()).count();
        let mut recorder = Self {
            messages: LinkLoad::new(topology.as_ref()),
            load: LinkLoad::new(topology.as_ref()),
            evaluator,
            priced: Times::default(),
            topology,
            wanted,
            told: None,
            say,
            phase: None,
            phases: 0,
            spent: 0,
            reported: 0,
            pending: unfinished.then(Vec::new),
            idle_sends: 0,
            at_fault: None,
            held: Vec::new(),
        };
        recorder.report(&Seen::Links(links as u64));
        recorder
    }

    /// What messages, each with its ends, its way and its load, put on links; the longest way.
    fn frame<'m>(&mut self, messages: impl Iterator<Item = (u64, u64, Option<&'m Route>, u64)>) -> (Frame, u64) {
        /// Messages of a step that are kept one by one.
        const MOST_PAIRS: usize = 1 << 14;
        self.messages.begin();
        self.load.begin();
        let (mut longest, mut pairs) = (0, Vec::new());
        for (from, to, route, bytes) in messages {
            if pairs.len() <= MOST_PAIRS {
                pairs.push(Pair { from, to, load: bytes });
            }
            let (messages, load) = (&mut self.messages, &mut self.load);
            // The simulation has taken the same route already: it is one.
            let taken = self.topology.route(from, to, route, &mut |run| {
                messages.add(run, 1);
                load.add(run, bytes);
            });
            debug_assert!(taken.is_ok(), "{taken:?}");
            longest = longest.max(taken.unwrap_or_default());
        }
        if pairs.len() > MOST_PAIRS {
            pairs.clear();
        }
        let mut links = Vec::new();
        self.messages.for_each_loaded(&mut |link, messages| links.push(Load { link, messages, load: 0 }));
        links.sort_unstable_by_key(|l| l.link);
        self.load.for_each_loaded(&mut |link, load| {
            if let Ok(at) = links.binary_search_by_key(&link, |l| l.link) {
                links[at].load = load;
            }
        });
        (Frame { links, pairs, ..Frame::default() }, longest)
    }

    /// Whether a step is wanted in full.
    fn wants(&mut self, step: u64) -> bool {
        /// So often a newest step is told.
        const EVERY: Duration = Duration::from_millis(200);
        match self.wanted {
            Wanted::From(from) => step >= from as u64 && self.spent < MOST_BYTES,
            Wanted::Newest => {
                let is_due = self.told.is_none_or(|told| told.elapsed() >= EVERY);
                self.told = if is_due { Some(Instant::now()) } else { self.told };
                is_due
            }
        }
    }

    /// What has been charged since this was asked last.
    fn charged(&mut self) -> Option<Times> {
        let Parts { startup, transmission, propagation, rearrangement, barrier, contention, reduction } =
            self.evaluator.as_ref()?.so_far()?;
        let all = [startup, transmission, propagation, rearrangement, barrier, contention, reduction];
        let all = all.map(|part| part.unwrap_or(0.0));
        let before = std::mem::replace(&mut self.priced, all);
        let mut times = all;
        times.iter_mut().zip(before).for_each(|(time, before)| *time -= before);
        Some(times)
    }

    fn report(&mut self, seen: &Seen) {
        // Its own figures and texts always have a value.
        if let Ok(value) = serde_json::to_value(seen) {
            (self.say)(value);
        }
    }
}

impl Listener for Recorder {
    fn wants_sends(&self) -> bool {
        self.pending.is_some()
    }

    fn wants_multiplexing(&self) -> bool {
        self.evaluator.as_ref().is_some_and(|evaluator| evaluator.wants_multiplexing())
    }

    fn wants_packing(&self) -> bool {
        self.evaluator.as_ref().is_some_and(|evaluator| evaluator.wants_packing())
    }

    fn wants_busiest_links(&self) -> bool {
        self.evaluator.as_ref().is_some_and(|evaluator| evaluator.wants_busiest_links())
    }

    fn rearranged(&mut self, most: u64, segments: u64) {
        if let Some(evaluator) = &mut self.evaluator {
            evaluator.rearranged(most, segments);
        }
    }

    fn summed(&mut self, summed: Summed<'_>) {
        if let Some(evaluator) = &mut self.evaluator {
            evaluator.summed(summed);
        }
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        if let Some(pending) = &mut self.pending
            && sent.from.physical != sent.to.physical
        {
            let (from, to) = (sent.from.physical, sent.to.physical);
            pending.push(Pending { from, to, route: sent.route.cloned(), load: sent.load });
        }
    }

    fn unsent(&mut self, unsent: &Unsent) {
        if unsent.is_refused {
            self.at_fault = Some((unsent.from.physical, unsent.to.physical));
        } else {
            self.idle_sends += 1;
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        if let Some(evaluator) = &mut self.evaluator {
            evaluator.step(step);
        }
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
                self.report(&Seen::Segments(step.segments));
            }
            self.phase = Some(step.phase_number);
            self.phases += 1;
            self.report(&Seen::Phase(step.phase.to_owned()));
        }
        let wanted = self.wants(step.number - 1);
        let frame = wanted.then(|| {
            let way = |route: u32| (route as usize).checked_sub(1).and_then(|i| step.routes.get(i));
            let messages = step.transfers.iter().map(|t| (u64::from(t.from), u64::from(t.to), way(t.route), t.load));
            Frame { held: step.held.to_vec(), ..self.frame(messages).0 }
        });
        self.spent += frame.as_ref().map_or(0, Frame::bytes);
        self.reported += 1;
        let note = Note { phase: self.phases - 1, facts: Facts::of(&step.facts, idle_sends), times };
        self.report(&Seen::Step(note, frame));
    }
}

impl Watcher for Recorder {
    /// A schedule that a fault ended has a last step, as far as it went.
    fn ended(&mut self, record: &Record, _: host::Asked) {
        if let Some(times) = self.charged().filter(|times| times.iter().any(|time| *time > 0.0)) {
            self.report(&Seen::After(times));
        }
        let Some(pending) = self.pending.take().filter(|_| record.status != Status::Ok) else { return };
        if (pending.is_empty() && self.at_fault.is_none()) || self.reported >= MOST_STEPS {
            return;
        }
        if self.phases == 0 {
            self.phases = 1;
            self.report(&Seen::Phase(String::new()));
        }
        let messages = pending.iter().map(|p| (p.from, p.to, p.route.as_ref(), p.load));
        let (frame, max_hops) = self.frame(messages);
        let mut senders: Vec<u64> = pending.iter().map(|p| p.from).collect();
        senders.sort_unstable();
        let max_sends = senders.chunk_by(|a, b| a == b).map(|sends| sends.len() as u64).max().unwrap_or(0);
        let facts = Facts {
            messages: pending.len() as u64,
            max_load: pending.iter().map(|p| p.load).max().unwrap_or(0),
            max_hops,
            max_link_messages: frame.links.iter().map(|l| l.messages).max().unwrap_or(0),
            max_sends,
            idle_sends: self.idle_sends,
        };
        let frame = Frame { held: std::mem::take(&mut self.held), at_fault: self.at_fault, ..frame };
        let is_seen = matches!(self.wanted, Wanted::From(from) if self.reported >= from as u64);
        self.report(&Seen::Step(Note { phase: self.phases - 1, facts, times: None }, is_seen.then_some(frame)));
    }
}
