//! The recording of a schedule, which grows while a worker simulates the schedule.
//!
//! A frame of a large network takes megabytes, and a schedule may have 100,000 steps. Therefore, only
//! consecutive steps have frames. To show another step, the schedule is simulated again.

use super::packed::CaseKey;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};
use swapmeet_core::network::topology::Network;
use swapmeet_results::Record;
use swapmeet_runner::case::Case;
use swapmeet_runner::dispatch::observe;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::schedule_progress::ScheduleProgress;
pub(crate) use swapmeet_runner::step_record::{
    Frame, FrameSelection, Load, Pair, RankSelection, Ranks, RecordRequest, StepRecord, intervals,
    steps_of,
};
use swapmeet_runner::step_record::{RECORD, RecordPart, ScheduleRecord};
use swapmeet_runner::worker::Workers;

pub(crate) const ALL_RANKS: Option<RankSelection> =
    Some(RankSelection { only: None, max_entries: 1 << 16 });

/// Statistics of a phase of the schedule.
#[derive(Debug, Default)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) steps: u64,
    pub(crate) messages: u64,
    /// The bytes of the longest message.
    pub(crate) longest: u64,
    /// The most messages on a directed link in one step.
    pub(crate) max_link_load: u64,
}

/// An event of the simulation.
enum RecordingEvent {
    Part(Box<RecordPart>),
    Ended(Box<Record>),
}

/// A schedule as far as it has been simulated.
#[derive(Debug)]
pub(crate) struct Recording {
    events: Receiver<RecordingEvent>,
    cancelled: Arc<AtomicBool>,
    pub(crate) key: CaseKey,
    pub(crate) topology: Arc<Network>,
    record: ScheduleRecord,
    request: RecordRequest,
    /// The index of the last step with a frame.
    newest: Option<usize>,
    pub(crate) ended: Option<Box<Record>>,
    /// The maxima over the steps with frames of the messages on a link, the load on a link, and the
    /// data in a node.
    pub(crate) most: [u64; 3],
    is_over: bool,
    began: Instant,
    last_event: Instant,
    messages: u64,
    pace: ScheduleProgress,
}

impl Recording {
    pub(crate) fn start(
        case: &Case,
        key: CaseKey,
        request: RecordRequest,
        workers: Workers,
    ) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (flag, case) = (Arc::clone(&cancelled), case.clone());
        let recording = Self::new((events, cancelled), key, Arc::clone(&case.topology), request);
        // If the thread cannot be started, the channel closes, which counts as the end.
        drop(std::thread::Builder::new().name("schedule".to_owned()).spawn(move || {
            let Ok(request) = serde_json::to_value(request) else { return };
            let mut report = |event: CaseEvent| {
                let news = match event {
                    CaseEvent::Observed { value } => {
                        serde_json::from_value(value).ok().map(RecordingEvent::Part)
                    }
                    CaseEvent::Finished { record, .. } => Some(RecordingEvent::Ended(record)),
                    // These events were reported when the case ran.
                    CaseEvent::Started { .. }
                    | CaseEvent::Progress { .. }
                    | CaseEvent::Log { .. }
                    | CaseEvent::NoWorker { .. } => None,
                };
                drop(news.map(|news| sender.send(news)));
            };
            observe(std::slice::from_ref(&case), &workers, (&RECORD, request), &flag, &mut report);
        }));
        recording
    }

    /// Returns an empty recording, which the flag cancels.
    fn new(
        (events, cancelled): (Receiver<RecordingEvent>, Arc<AtomicBool>),
        key: CaseKey,
        topology: Arc<Network>,
        request: RecordRequest,
    ) -> Self {
        Self {
            events,
            cancelled,
            key,
            topology,
            record: ScheduleRecord::default(),
            request,
            newest: None,
            ended: None,
            most: [0; 3],
            is_over: false,
            began: Instant::now(),
            last_event: Instant::now(),
            messages: 0,
            pace: ScheduleProgress::default(),
        }
    }

    /// Processes pending events. Returns whether there were any.
    pub(crate) fn poll(&mut self) -> bool {
        const AT_ONCE: usize = 20_000;
        for count in 0..AT_ONCE {
            let event = match self.events.try_recv() {
                Ok(event) => event,
                Err(why) => {
                    if count > 0 {
                        self.last_event = Instant::now();
                        let steps = self.record.steps.len() as u64;
                        self.pace.reached(steps, self.messages, self.began.elapsed());
                    }
                    let is_over = why == TryRecvError::Disconnected
                        && !std::mem::replace(&mut self.is_over, true);
                    return count > 0 || is_over;
                }
            };
            match event {
                RecordingEvent::Ended(record) => self.ended = Some(record),
                RecordingEvent::Part(part) => self.add(*part),
            }
        }
        true
    }

    fn add(&mut self, part: RecordPart) {
        if let RecordPart::Step(step) = &part {
            self.messages += step.messages;
            // The colour scale of pictures depends on the maxima.
            if let Some(frame) = &step.frame {
                for load in &frame.links {
                    self.most[0] = self.most[0].max(load.messages);
                    self.most[1] = self.most[1].max(load.load);
                }
                self.most[2] = frame.held.iter().copied().fold(self.most[2], u64::max);
                let before = self.newest.replace(self.record.steps.len());
                if let (FrameSelection::Newest, Some(before)) = (self.request.frames, before) {
                    self.record.steps[before].frame = None;
                }
            }
        }
        self.record.add(part);
    }

    /// Explains why the schedule has no steps (yet).
    pub(crate) fn why_empty(&self) -> Option<String> {
        /// The time after which a silent worker is reported.
        const LONG: Duration = Duration::from_secs(20);
        let silent = self.last_event.elapsed();
        self.steps.is_empty().then(|| match &self.ended {
            None if self.is_over => "The simulation ended without a result, because its worker stopped. Enter starts it again.".to_owned(),
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

    pub(crate) fn request(&self) -> RecordRequest {
        self.request
    }

    /// Simulates the schedule again. Known times of ranks are kept.
    pub(crate) fn restart(&self, case: &Case, request: RecordRequest, workers: Workers) -> Self {
        let ranks = request.ranks.filter(|_| self.ranks.is_none());
        let request = RecordRequest { ranks, ..request };
        let mut recording = Self::start(case, self.key.clone(), request, workers);
        recording.record.ranks.clone_from(&self.ranks);
        recording
    }

    /// Returns whether the ranks have their own clocks, whose times are neither known nor
    /// requested, and the simulation has not failed.
    pub(crate) fn lacks_ranks(&self) -> bool {
        let is_made = self.ended.as_ref().is_none_or(|record| record.reason.is_empty());
        is_made
            && self.request.ranks.is_none()
            && self.ranks.is_none()
            && self.steps.first().is_some_and(|step| step.times.is_none())
    }

    pub(crate) fn awaits_ranks(&self) -> bool {
        self.request.ranks.is_some() && self.ranks.is_none() && !self.is_over
    }

    pub(crate) fn time(&self, step: usize) -> Option<f64> {
        self.times(step).map(|times| times.total())
    }

    /// Returns the time at which a step ends, in µs: that of the last rank if ranks have their own
    /// clocks.
    pub(crate) fn end(&self, step: usize) -> Option<f64> {
        self.ends().get(step).copied()
    }

    /// Returns the step at a time, or the last one after the end.
    pub(crate) fn step_at(&self, time: f64) -> usize {
        // Rounding errors do not count.
        let over = self.ends().partition_point(|end| *end < time * (1.0 - 1e-9));
        over.min(self.steps.len().saturating_sub(1))
    }

    /// Returns all steps, the longest first.
    pub(crate) fn by_cost(&self) -> Vec<usize> {
        let mut steps: Vec<(usize, f64)> =
            (0..self.steps.len()).filter_map(|step| Some((step, self.time(step)?))).collect();
        steps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        steps.into_iter().map(|(step, _)| step).collect()
    }

    /// Returns whether the full data of a step will still arrive.
    pub(crate) fn is_to_come(&self, step: usize) -> bool {
        self.is_growing()
            && matches!(self.request.frames, FrameSelection::From(from) if step >= from)
    }

    /// Returns the index of the last step with a frame.
    pub(crate) fn newest(&self) -> usize {
        match self.request.frames {
            FrameSelection::From(from) => self.newest.unwrap_or(from),
            _ => self.newest.unwrap_or(0),
        }
    }

    /// Returns the progress and speed of a running simulation.
    pub(crate) fn pace(&self) -> Option<String> {
        self.is_growing().then(|| self.pace.in_words(None)).filter(|words| !words.is_empty())
    }

    pub(crate) fn step_count(&self) -> usize {
        let all = self.ended.as_ref().and_then(|r| r.steps).map_or(0, |n| n as usize);
        all.max(self.steps.len())
    }

    pub(crate) fn is_growing(&self) -> bool {
        !self.is_over && (self.ended.is_none() || self.awaits_ranks())
    }

    /// Returns the phases that have been simulated so far.
    pub(crate) fn phases(&self) -> Vec<Phase> {
        let blank = |name: &String| Phase { name: name.clone(), ..Phase::default() };
        let mut phases: Vec<Phase> = self.record.phases.iter().map(blank).collect();
        for step in &self.steps {
            let Some(phase) = phases.get_mut(step.phase) else { continue };
            phase.steps += 1;
            phase.messages += step.messages;
            phase.longest = phase.longest.max(self.bytes(step.max_load));
            phase.max_link_load = phase.max_link_load.max(step.max_link_messages);
        }
        phases
    }
}

impl Deref for Recording {
    type Target = ScheduleRecord;

    fn deref(&self) -> &ScheduleRecord {
        &self.record
    }
}

/// Returns a request for the frames of some steps, without times of ranks.
pub(crate) fn request(frames: FrameSelection, unfinished: bool) -> RecordRequest {
    const MOST_STEPS: u64 = 1 << 18;
    RecordRequest { frames, max_steps: MOST_STEPS, unfinished, ranks: None, matrix: false }
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
        let request = request(FrameSelection::From(0), false);
        let topology = swapmeet_core::network::topology::parse("ring:4").unwrap();
        let channel = (events, Arc::default());
        (sender, Recording::new(channel, CaseKey::default(), topology, request))
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
