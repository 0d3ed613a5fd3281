//! The recording of a schedule. For each step, it contains the load on every link and the amount of
//! data in every node. A worker simulates the schedule and sends the steps.
//!
//! A step of a large network takes megabytes, and a schedule may have 100,000 steps. Therefore,
//! only consecutive steps within a window are recorded in full. To show a step outside the window,
//! the schedule is simulated again. Summaries are recorded for all steps.

mod ranks;
mod recorder;
mod step;

pub(crate) use ranks::{Ranks, steps_of};
pub use recorder::WATCH;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};
pub(crate) use step::Load;
use step::WatchMessage;
pub(crate) use step::{Frame, FrameSelection, Pair, RecordingRequest, StepSummary};
use swapmeet_core::cost::kind::Times;
use swapmeet_core::cost::model::time_space::Entry;
use swapmeet_core::network::topology::Network;
use swapmeet_results::{CaseId, Record};
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::observe::observe;
use swapmeet_runner::schedule_progress::ScheduleProgress;
use swapmeet_runner::worker::Workers;

/// Statistics of a phase of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    /// The name that the plugin gives to the phase.
    pub(crate) name: String,
    pub(crate) steps: u64,
    pub(crate) messages: u64,
    /// The number of bytes of the longest message.
    pub(crate) longest: u64,
    /// The maximum number of messages on a directed link in one step.
    pub(crate) max_link_load: u64,
}

/// An event from the thread that receives the messages of the worker.
enum RecordingEvent {
    WatchMessage(Box<WatchMessage>),
    Ended(Box<Record>),
}

/// A schedule as far as it has been simulated.
#[derive(Debug)]
pub(crate) struct Recording {
    events: Receiver<RecordingEvent>,
    cancelled: Arc<AtomicBool>,
    /// The identity of the case.
    pub(crate) key: Arc<CaseId>,
    pub(crate) topology: Arc<Network>,
    pub(crate) links: u64,
    /// The number of bytes of one block, or 1 if blocks differ in size. The unit of a load is
    /// `unit / segments` bytes.
    unit: u64,
    segments: u64,
    phases: Vec<String>,
    /// The summaries of the steps, up to a maximum number of steps.
    pub(crate) summaries: Vec<StepSummary>,
    request: RecordingRequest,
    /// The steps that are recorded in full. The first of them is the requested step.
    frames: Vec<Frame>,
    /// If the newest step is requested, the index and the full data of the step that was recorded
    /// last.
    newest: Option<(usize, Frame)>,
    pub(crate) ended: Option<Box<Record>>,
    /// Three maxima over the steps that are recorded in full: the number of messages on a link, the
    /// load on a link, and the amount of data in a node.
    pub(crate) most: [u64; 3],
    /// The end time of each step in µs. Empty if the steps have no times.
    ends: Vec<f64>,
    /// For each rank, its entries that have been received so far. An entry contains the times of
    /// one rank in one or several steps. When all entries have been received, `ranks` contains
    /// them.
    entries_of_ranks: Vec<Vec<Entry>>,
    ranks: Option<Arc<Ranks>>,
    /// Whether the worker has finished.
    is_over: bool,
    /// The start time of the simulation.
    began: Instant,
    /// The time of the last event.
    last_event: Instant,
    /// The number of messages so far.
    messages: u64,
    /// The speed of the simulation.
    pace: ScheduleProgress,
}

impl Recording {
    /// Starts a worker that simulates the schedule of a case.
    pub(crate) fn start(
        case: &Case,
        key: Arc<CaseId>,
        request: RecordingRequest,
        workers: Workers,
    ) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (flag, case) = (Arc::clone(&cancelled), case.clone());
        let unit = if case.workload.is_uniform() { case.workload.block_bytes() } else { 1 };
        let recording =
            Self::new((events, cancelled), key, Arc::clone(&case.topology), unit, request);
        // If the thread cannot be started, the channel closes, and the simulation counts as over.
        drop(std::thread::Builder::new().name("schedule".to_owned()).spawn(move || {
            let Ok(request) = serde_json::to_value(request) else { return };
            let mut report = |event: CaseEvent| {
                let news = match event {
                    CaseEvent::Observed { value } => serde_json::from_value(value)
                        .ok()
                        .map(|seen| RecordingEvent::WatchMessage(Box::new(seen))),
                    CaseEvent::Finished { record, .. } => Some(RecordingEvent::Ended(record)),
                    // The other events were already reported when the case ran.
                    _ => None,
                };
                drop(news.map(|news| sender.send(news)));
            };
            observe(std::slice::from_ref(&case), &workers, (&WATCH, request), &flag, &mut report);
        }));
        recording
    }

    /// Returns an empty recording that receives events. The flag cancels the simulation.
    fn new(
        (events, cancelled): (Receiver<RecordingEvent>, Arc<AtomicBool>),
        key: Arc<CaseId>,
        topology: Arc<Network>,
        unit: u64,
        request: RecordingRequest,
    ) -> Self {
        Self {
            events,
            cancelled,
            key,
            topology,
            links: 0,
            unit,
            segments: 1,
            phases: Vec::new(),
            summaries: Vec::new(),
            request,
            frames: Vec::new(),
            newest: None,
            ended: None,
            most: [0; 3],
            ends: Vec::new(),
            entries_of_ranks: Vec::new(),
            ranks: None,
            is_over: false,
            began: Instant::now(),
            last_event: Instant::now(),
            messages: 0,
            pace: ScheduleProgress::default(),
        }
    }

    /// Processes pending events. Returns whether there were any.
    pub(crate) fn poll(&mut self) -> bool {
        /// The maximum number of events to process in one frame.
        const AT_ONCE: usize = 20_000;
        for count in 0..AT_ONCE {
            // If no event is pending, the work for this frame is done. If the channel is closed,
            // all times of ranks have arrived.
            let event = match self.events.try_recv() {
                Ok(event) => event,
                Err(why) => {
                    if count > 0 {
                        self.last_event = Instant::now();
                        self.pace.reached(
                            self.summaries.len() as u64,
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
                    return count > 0 || is_over;
                }
            };
            // The final row of the case comes from the worker itself. All other messages come from
            // the observer of the simulation.
            let seen = match event {
                RecordingEvent::Ended(record) => {
                    self.ended = Some(record);
                    continue;
                }
                RecordingEvent::WatchMessage(seen) => *seen,
            };
            match seen {
                WatchMessage::Links(links) => self.links = links,
                WatchMessage::Segments(segments) => self.segments = segments.max(1),
                WatchMessage::Phase(name) => self.phases.push(name),
                WatchMessage::Rank(numbers) => self.entries_of_ranks.push(ranks::entries(numbers)),
                // Time after the last step, such as that of a final barrier, is added to the last
                // step.
                WatchMessage::After(times) => {
                    if let Some(last) =
                        self.summaries.last_mut().and_then(|note| note.times.as_mut())
                    {
                        last.iter_mut().zip(times).for_each(|(time, more)| *time += more);
                    }
                    if let Some(end) = self.ends.last_mut() {
                        *end += times.iter().sum::<f64>();
                    }
                }
                // Update the maxima over all steps that are recorded in full. The colour scale of
                // pictures depends on these maxima.
                WatchMessage::Step(note, frame) => {
                    let before = self.ends.last().copied().unwrap_or(0.0);
                    self.messages += note.facts.messages;
                    self.ends.extend(note.times.map(|times| before + times.iter().sum::<f64>()));
                    self.summaries.push(note);
                    if let Some(frame) = frame {
                        for load in &frame.links {
                            self.most[0] = self.most[0].max(load.messages);
                            self.most[1] = self.most[1].max(load.load);
                        }
                        self.most[2] = frame.held.iter().copied().fold(self.most[2], u64::max);
                        match self.request.wanted {
                            FrameSelection::From(_) => self.frames.push(frame),
                            FrameSelection::Newest => {
                                self.newest = Some((self.summaries.len() - 1, frame));
                            }
                        }
                    }
                }
            }
        }
        true
    }

    /// If the schedule has no steps, or no steps yet, returns a message that explains this.
    pub(crate) fn why_empty(&self) -> Option<String> {
        /// The time without an event after which the message states that the worker has not
        /// answered.
        const LONG: Duration = Duration::from_secs(20);
        let silent = self.last_event.elapsed();
        self.summaries.is_empty().then(|| match &self.ended {
            None if self.is_over => {
                "The simulation ended without a result, because its worker stopped. Enter starts it again."
                    .to_owned()
            }
            None if silent >= LONG => format!(
                "Simulating the schedule ... The worker has not answered for {} s. Enter starts another one.",
                silent.as_secs()
            ),
            None => "Simulating the schedule ...".to_owned(),
            Some(record) if record.reason.is_empty() => {
                "This schedule sends no messages.".to_owned()
            }
            Some(record) => format!("{}: {}", record.status, record.reason),
        })
    }

    /// Returns the full data of a step if it is recorded.
    pub(crate) fn frame(&self, step: usize) -> Option<&Frame> {
        match self.request.wanted {
            FrameSelection::From(from) => self.frames.get(step.checked_sub(from)?),
            FrameSelection::Newest => {
                self.newest.as_ref().filter(|(newest, _)| *newest == step).map(|(_, frame)| frame)
            }
        }
    }

    pub(crate) fn request(&self) -> RecordingRequest {
        self.request
    }

    /// Returns the times of the ranks if they are known.
    pub(crate) fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_deref()
    }

    /// Simulates the schedule again with another request. If the times of the ranks are known,
    /// keeps them.
    pub(crate) fn restart(&self, case: &Case, request: RecordingRequest, workers: Workers) -> Self {
        let ranks = request.ranks && self.ranks.is_none();
        let mut recording = Self::start(
            case,
            Arc::clone(&self.key),
            RecordingRequest { ranks, ..request },
            workers,
        );
        recording.ranks.clone_from(&self.ranks);
        recording
    }

    /// Returns whether the times of the ranks have to be requested. They have to be requested if
    /// the ranks have their own clocks, their times are neither known nor requested yet, and the
    /// simulation has not failed.
    pub(crate) fn lacks_ranks(&self) -> bool {
        let is_made = self.ended.as_ref().is_none_or(|record| record.reason.is_empty());
        is_made
            && !self.request.ranks
            && self.ranks.is_none()
            && self.summaries.first().is_some_and(|n| n.times.is_none())
    }

    /// Returns whether the times of the ranks are being computed.
    pub(crate) fn awaits_ranks(&self) -> bool {
        self.request.ranks && self.ranks.is_none() && !self.is_over
    }

    /// Returns the time of each kind in a step, in µs. A kind that the model does not charge is 0. If ranks have their own
    /// clocks, the numbers are means over all ranks.
    pub(crate) fn times(&self, step: usize) -> Option<Times> {
        let of_ranks = || self.ranks.as_ref()?.of_steps.get(step).copied();
        self.summaries.get(step)?.times.map(Times).or_else(of_ranks)
    }

    /// Returns the total time of a step.
    pub(crate) fn time(&self, step: usize) -> Option<f64> {
        self.times(step).map(|times| times.total())
    }

    fn ends(&self) -> &[f64] {
        self.ranks.as_ref().map_or(&self.ends, |ranks| &ranks.ends)
    }

    /// Returns the time at which a step ends, in µs. If ranks have their own clocks, this is the
    /// time at which the last rank ends the step.
    pub(crate) fn end(&self, step: usize) -> Option<f64> {
        self.ends().get(step).copied()
    }

    /// Returns the step that is in progress at `time`. If the schedule has already ended, returns
    /// the last step.
    pub(crate) fn step_at(&self, time: f64) -> usize {
        // Times that differ only by rounding errors count as equal.
        let over = self.ends().partition_point(|end| *end < time * (1.0 - 1e-9));
        over.min(self.summaries.len().saturating_sub(1))
    }

    /// Returns the indices of all steps, sorted by duration. The longest step is first.
    pub(crate) fn by_cost(&self) -> Vec<usize> {
        let mut steps: Vec<(usize, f64)> =
            (0..self.summaries.len()).filter_map(|step| Some((step, self.time(step)?))).collect();
        // The sort is stable, so steps with the same duration stay in order.
        steps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        steps.into_iter().map(|(step, _)| step).collect()
    }

    /// Returns whether the full data of a step is not recorded yet but will still arrive.
    pub(crate) fn is_to_come(&self, step: usize) -> bool {
        self.is_growing()
            && matches!(self.request.wanted, FrameSelection::From(from) if step >= from)
    }

    /// Returns the index of the last step that is recorded in full.
    pub(crate) fn newest(&self) -> usize {
        match self.request.wanted {
            FrameSelection::From(from) => from + self.frames.len().saturating_sub(1),
            FrameSelection::Newest => self.newest.as_ref().map_or(0, |(newest, _)| *newest),
        }
    }

    /// If the simulation is running, returns a text with its progress and speed.
    pub(crate) fn pace(&self) -> Option<String> {
        self.is_growing().then(|| self.pace.in_words(None)).filter(|words| !words.is_empty())
    }

    /// Returns the number of steps that are known so far.
    pub(crate) fn steps(&self) -> usize {
        let all = self.ended.as_ref().and_then(|r| r.steps).map_or(0, |n| n as usize);
        all.max(self.summaries.len())
    }

    /// Returns whether more events may arrive.
    pub(crate) fn is_growing(&self) -> bool {
        !self.is_over && (self.ended.is_none() || self.awaits_ranks())
    }

    /// Converts a load to bytes.
    pub(crate) fn bytes(&self, load: u64) -> u64 {
        let bytes = u128::from(load) * u128::from(self.unit.div_ceil(self.segments));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Returns the name of the phase to which a step belongs.
    pub(crate) fn phase_of(&self, step: usize) -> &str {
        let phase = self.summaries.get(step).and_then(|note| self.phases.get(note.phase));
        phase.map_or("", String::as_str)
    }

    /// Returns the statistics of all phases that have been simulated so far.
    pub(crate) fn phases(&self) -> Vec<Phase> {
        let blank = |name: &String| Phase {
            name: name.clone(),
            steps: 0,
            messages: 0,
            longest: 0,
            max_link_load: 0,
        };
        let mut phases: Vec<Phase> = self.phases.iter().map(blank).collect();
        for note in &self.summaries {
            let Some(phase) = phases.get_mut(note.phase) else { continue };
            phase.steps += 1;
            phase.messages += note.facts.messages;
            phase.longest = phase.longest.max(self.bytes(note.facts.max_load));
            phase.max_link_load = phase.max_link_load.max(note.facts.max_link_messages);
        }
        phases
    }
}

/// A schedule that the user keeps for comparison with other schedules.
#[derive(Debug)]
pub(crate) struct KeptSchedule {
    case: Case,
    recording: Recording,
}

impl KeptSchedule {
    pub(crate) fn start(case: &Case, key: Arc<CaseId>, workers: Workers) -> Self {
        let request =
            RecordingRequest { wanted: FrameSelection::From(0), unfinished: false, ranks: false };
        Self { case: case.clone(), recording: Recording::start(case, key, request, workers) }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    pub(super) fn poll(&mut self) -> bool {
        self.recording.poll()
    }

    /// Simulates the schedule again to record the full data of a step, if it is not recorded.
    pub(super) fn keep(&mut self, step: usize, workers: &Workers) {
        let recording = &self.recording;
        if recording.frame(step).is_none()
            && !recording.is_to_come(step)
            && step < recording.summaries.len()
        {
            let wanted = FrameSelection::From(step.saturating_sub(1));
            self.restart(RecordingRequest { wanted, ..recording.request() }, workers);
        }
    }

    /// Simulates the schedule again to compute the times of its ranks, if these times are unknown.
    pub(super) fn want_ranks(&mut self, workers: &Workers) {
        if self.recording.lacks_ranks() {
            self.restart(RecordingRequest { ranks: true, ..self.recording.request() }, workers);
        }
    }

    fn restart(&mut self, request: RecordingRequest, workers: &Workers) {
        self.recording = self.recording.restart(&self.case, request, workers.clone());
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> (std::sync::mpsc::Sender<RecordingEvent>, Recording) {
        let (sender, events) = channel();
        let request =
            RecordingRequest { wanted: FrameSelection::From(0), unfinished: false, ranks: false };
        let topology = swapmeet_core::network::topology::parse("ring:4").unwrap();
        let channel = (events, Arc::default());
        (sender, Recording::new(channel, Arc::default(), topology, 1, request))
    }

    /// If the worker or its thread stops, the panel must not say that the simulation continues.
    #[test]
    fn a_simulation_without_a_worker_is_over() {
        let (sender, mut recording) = recording();
        recording.poll();
        assert_eq!(recording.why_empty().unwrap(), "Simulating the schedule ...");
        drop(sender);
        assert!(recording.poll() && !recording.is_growing());
        let why = recording.why_empty().unwrap();
        assert!(why.contains("its worker stopped. Enter starts it again"), "{why}");
    }

    #[test]
    fn a_silent_worker_is_reported() {
        let (_sender, mut recording) = recording();
        recording.last_event = Instant::now().checked_sub(Duration::from_secs(25)).unwrap();
        let why = recording.why_empty().unwrap();
        assert!(why.contains("The worker has not answered for 25 s."), "{why}");
    }
}
