//! A schedule as it happens: for each step what every link carries and every node holds. It is made
//! in a worker, as any plugin's; what is seen there comes here.
//!
//! A step of a large network is megabytes, and a schedule may have a hundred thousand: only a
//! window of steps is kept, and simulated again when another part of the schedule is looked at. The
//! facts of all steps are small, and kept.

mod ranks;
mod recorder;
mod step;

pub(crate) use ranks::{Entry, Ranks, Times};
pub use recorder::WATCH;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;
#[cfg(test)]
pub(crate) use step::Load;
use step::Seen;
pub(crate) use step::{Asked, Frame, Note, Pair, Wanted};
use swapmeet_core::network::topology::Topology;
use swapmeet_results::{CaseId, Record};
use swapmeet_runner::case::Case;
use swapmeet_runner::observe::{self, observe};
use swapmeet_runner::schedule_progress::ScheduleProgress;
use swapmeet_runner::worker::Workers;

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

/// What comes to the recording.
enum Event {
    Seen(Box<Seen>),
    Ended(Box<Record>),
}

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
    /// The facts of the first steps; all of them but for schedules longer than anyone looks
    /// through.
    pub(crate) notes: Vec<Note>,
    asked: Asked,
    /// Steps in full, from the first that is wanted on.
    frames: Vec<Frame>,
    /// The newest step in full, where that is what is wanted.
    newest: Option<(usize, Frame)>,
    pub(crate) ended: Option<Box<Record>>,
    /// The most messages on a link, the most load on a link, the most load in a node: of the steps
    /// in the window.
    pub(crate) most: [u64; 3],
    /// When each step has ended, in us; none where steps have no times.
    ends: Vec<f64>,
    /// What ranks did, as far as it has come, and in whole.
    entries_of_ranks: Vec<Vec<Entry>>,
    ranks: Option<Arc<Ranks>>,
    /// Whether nothing more comes.
    is_over: bool,
    /// When it was asked for, the messages so far, and how it gets on.
    began: Instant,
    messages: u64,
    pace: ScheduleProgress,
}

impl Recording {
    /// Has a worker make the schedule of a case, and say what is asked for.
    pub(crate) fn start(case: &Case, key: Arc<CaseId>, asked: Asked, workers: Workers) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (flag, case) = (Arc::clone(&cancelled), case.clone());
        let topology = Arc::clone(&case.topology);
        let unit = if case.workload.is_uniform() { case.workload.block_bytes() } else { 1 };
        // Without a thread there are no events, and the panel says that the schedule is being
        // simulated: nothing worse.
        drop(std::thread::Builder::new().name("schedule".to_owned()).spawn(move || {
            let Ok(asked) = serde_json::to_value(asked) else { return };
            let mut tell = |event: observe::BatchEvent| {
                let news = match event {
                    observe::BatchEvent::Observed { value } => {
                        serde_json::from_value(value).ok().map(|seen| Event::Seen(Box::new(seen)))
                    }
                    observe::BatchEvent::Finished { record, .. } => Some(Event::Ended(record)),
                    // Said when the case ran.
                    observe::BatchEvent::Started { .. }
                    | observe::BatchEvent::Progress { .. }
                    | observe::BatchEvent::Log { .. } => None,
                };
                drop(news.map(|news| sender.send(news)));
            };
            observe(std::slice::from_ref(&case), &workers, (WATCH.name, asked), &flag, &mut tell);
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
            asked,
            frames: Vec::new(),
            newest: None,
            ended: None,
            most: [0; 3],
            ends: Vec::new(),
            entries_of_ranks: Vec::new(),
            ranks: None,
            is_over: false,
            began: Instant::now(),
            messages: 0,
            pace: ScheduleProgress::default(),
        }
    }

    /// Takes in some of what came meanwhile; false if there was nothing new.
    pub(crate) fn take_in(&mut self) -> bool {
        /// So that a screen is never late: the rest is for the next frame.
        const AT_ONCE: usize = 20_000;
        for taken in 0..AT_ONCE {
            let event = match self.events.try_recv() {
                Ok(event) => event,
                Err(why) => {
                    if taken > 0 {
                        self.pace.reached(
                            self.notes.len() as u64,
                            self.messages,
                            self.began.elapsed(),
                        );
                    }
                    let is_over = why == TryRecvError::Disconnected
                        && !std::mem::replace(&mut self.is_over, true);
                    if is_over && !self.entries_of_ranks.is_empty() {
                        self.ranks =
                            Some(Arc::new(Ranks::new(std::mem::take(&mut self.entries_of_ranks))));
                    }
                    return taken > 0 || is_over;
                }
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
                Seen::Rank(entries) => self.entries_of_ranks.push(entries),
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
                    self.ends.extend(note.times.map(|times| before + times.iter().sum::<f64>()));
                    self.notes.push(note);
                    if let Some(frame) = frame {
                        for load in &frame.links {
                            self.most[0] = self.most[0].max(load.messages);
                            self.most[1] = self.most[1].max(load.load);
                        }
                        self.most[2] = frame.held.iter().copied().fold(self.most[2], u64::max);
                        match self.asked.wanted {
                            Wanted::From(_) => self.frames.push(frame),
                            Wanted::Newest => self.newest = Some((self.notes.len() - 1, frame)),
                        }
                    }
                }
            }
        }
        true
    }

    /// What is said in place of a schedule that has no steps, or none yet.
    pub(crate) fn why_empty(&self) -> Option<String> {
        self.notes.is_empty().then(|| match &self.ended {
            None => "The schedule is being simulated ..".to_owned(),
            Some(record) if record.reason.is_empty() => {
                "Nothing is sent in this schedule.".to_owned()
            }
            Some(record) => format!("{}: {}", record.status, record.reason),
        })
    }

    /// A step in full, if it is in the window.
    pub(crate) fn frame(&self, step: usize) -> Option<&Frame> {
        match self.asked.wanted {
            Wanted::From(from) => self.frames.get(step.checked_sub(from)?),
            Wanted::Newest => {
                self.newest.as_ref().filter(|(newest, _)| *newest == step).map(|(_, frame)| frame)
            }
        }
    }

    /// What it was asked for.
    pub(crate) fn asked(&self) -> Asked {
        self.asked
    }

    /// What ranks did, where that is known.
    pub(crate) fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_deref()
    }

    /// The same schedule made again, for what is asked for now; what is known of its ranks is kept.
    pub(crate) fn again(&self, case: &Case, asked: Asked, workers: Workers) -> Self {
        let ranks = asked.ranks && self.ranks.is_none();
        let mut recording =
            Self::start(case, Arc::clone(&self.key), Asked { ranks, ..asked }, workers);
        recording.ranks.clone_from(&self.ranks);
        recording
    }

    /// Whether it would have to be made again to know what ranks do: they go on by themselves, and
    /// nobody has asked.
    pub(crate) fn lacks_ranks(&self) -> bool {
        let is_made = self.ended.as_ref().is_none_or(|record| record.reason.is_empty());
        is_made
            && !self.asked.ranks
            && self.ranks.is_none()
            && self.notes.first().is_some_and(|n| n.times.is_none())
    }

    /// Whether what ranks do is being found out.
    pub(crate) fn awaits_ranks(&self) -> bool {
        self.asked.ranks && self.ranks.is_none() && !self.is_over
    }

    /// What a step takes; where ranks go on by themselves, the mean of ranks.
    pub(crate) fn times(&self, step: usize) -> Option<Times> {
        let of_ranks = || self.ranks.as_ref()?.of_steps.get(step).copied();
        self.notes.get(step)?.times.or_else(of_ranks)
    }

    /// What a step takes in all.
    pub(crate) fn time(&self, step: usize) -> Option<f64> {
        self.times(step).map(|times| times.iter().sum())
    }

    fn ends(&self) -> &[f64] {
        self.ranks.as_ref().map_or(&self.ends, |ranks| &ranks.ends)
    }

    /// When a step has ended, in us since the first began; where ranks go on by themselves, at the
    /// last.
    pub(crate) fn end(&self, step: usize) -> Option<f64> {
        self.ends().get(step).copied()
    }

    /// The step that is under way at a time; the last if all have ended.
    pub(crate) fn step_at(&self, time: f64) -> usize {
        // Ends that differ by rounding are the same.
        let over = self.ends().partition_point(|end| *end < time * (1.0 - 1e-9));
        over.min(self.notes.len().saturating_sub(1))
    }

    /// The steps that cost most, the dearest first.
    pub(crate) fn dearest(&self) -> Vec<usize> {
        let mut steps: Vec<(usize, f64)> =
            (0..self.notes.len()).filter_map(|step| Some((step, self.time(step)?))).collect();
        // A stable sort: of equals the first.
        steps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        steps.into_iter().map(|(step, _)| step).collect()
    }

    /// Whether a step that isn't there in full will come.
    pub(crate) fn is_to_come(&self, step: usize) -> bool {
        self.is_growing() && matches!(self.asked.wanted, Wanted::From(from) if step >= from)
    }

    /// The last step that is there in full.
    pub(crate) fn newest(&self) -> usize {
        match self.asked.wanted {
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
        self.ended.is_none() || self.awaits_ranks()
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
        let blank = |name: &String| Phase {
            name: name.clone(),
            steps: 0,
            messages: 0,
            longest: 0,
            worst_link: 0,
        };
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
        let asked = Asked { wanted: Wanted::From(0), unfinished: false, ranks: false };
        Self { case: case.clone(), recording: Recording::start(case, key, asked, workers) }
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
        if recording.frame(step).is_none()
            && !recording.is_to_come(step)
            && step < recording.notes.len()
        {
            let wanted = Wanted::From(step.saturating_sub(1));
            self.again(Asked { wanted, ..recording.asked() }, workers);
        }
    }

    /// Has it simulated again where what its ranks do is to be known.
    pub(super) fn want_ranks(&mut self, workers: &Workers) {
        if self.recording.lacks_ranks() {
            self.again(Asked { ranks: true, ..self.recording.asked() }, workers);
        }
    }

    fn again(&mut self, asked: Asked, workers: &Workers) {
        self.recording = self.recording.again(&self.case, asked, workers.clone());
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
