//! A schedule as it happens: for each step what every link carries and every node holds.
//!
//! A step of a large network is megabytes, and a schedule may have a hundred thousand: only a window of steps is kept, and simulated again when
//! another part of the schedule is looked at. The facts of all steps are small, and kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use swapmeet_core::network::links::LinkLoad;
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::step::{Listener, Step, StepFacts};
use swapmeet_results::{CaseId, Record};
use swapmeet_runner::case::Case;
use swapmeet_runner::session::run_group;

/// Bytes that the steps of a window may take.
const MOST_BYTES: usize = 64 << 20;
/// Steps whose facts are kept.
const MOST_STEPS: usize = 1 << 18;

/// What one link carries in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) link: u64,
    pub(crate) messages: u64,
    /// Blocks or bytes, in parts.
    pub(crate) load: u64,
}

/// A step in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The links that carry anything.
    pub(crate) links: Vec<Load>,
    /// What each node holds at the end of the step, in blocks or bytes, in parts.
    pub(crate) held: Vec<u64>,
}

impl Frame {
    fn bytes(&self) -> usize {
        self.links.len() * size_of::<Load>() + self.held.len() * size_of::<u64>()
    }
}

/// What is known of every step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Note {
    /// Its phase, by its place among the phases.
    pub(crate) phase: usize,
    /// What no machine changes.
    pub(crate) facts: StepFacts,
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

enum Event {
    Links(u64),
    Segments(u64),
    Phase(String),
    Step(Box<Note>, Option<Frame>),
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
    /// The facts of the first steps; all of them but for schedules longer than anyone looks through.
    pub(crate) notes: Vec<Note>,
    /// The step of the first frame, from 0.
    pub(crate) from: usize,
    /// Steps in full, from there on.
    pub(crate) frames: Vec<Frame>,
    pub(crate) ended: Option<Box<Record>>,
    /// The most messages on a link, the most load on a link, the most load in a node: of the steps in the window.
    pub(crate) most: [u64; 3],
}

impl Recording {
    /// Simulates the schedule of a case and keeps its steps from `from` on, in a thread of its own.
    pub(crate) fn start(case: &Case, key: Arc<CaseId>, from: usize) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (flag, case) = (Arc::clone(&cancelled), case.clone());
        let topology = Arc::clone(&case.topology);
        let unit = if case.workload.is_uniform() { case.workload.block_bytes() } else { 1 };
        // Without a thread there are no events, and the panel says that the schedule is being simulated: nothing worse.
        drop(std::thread::Builder::new().name("schedule".to_owned()).spawn(move || {
            let network = case.topology.as_ref();
            let links = (0..network.link_slots()).filter(|link| network.link_ends(*link).is_some()).count();
            drop(sender.send(Event::Links(links as u64)));
            let mut recorder = Recorder::new(&case, from, &sender, &flag);
            let records = run_group(std::slice::from_ref(&case), &mut [&mut recorder]);
            for record in records {
                drop(sender.send(Event::Ended(Box::new(record))));
            }
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
            from,
            frames: Vec::new(),
            ended: None,
            most: [0; 3],
        }
    }

    /// Takes in some of what came meanwhile; false if there was nothing new.
    pub(crate) fn take_in(&mut self) -> bool {
        /// So that a screen is never late: the rest is for the next frame.
        const AT_ONCE: usize = 20_000;
        for taken in 0..AT_ONCE {
            let Ok(event) = self.events.try_recv() else { return taken > 0 };
            match event {
                Event::Links(links) => self.links = links,
                Event::Segments(segments) => self.segments = segments.max(1),
                Event::Phase(name) => self.phases.push(name),
                Event::Step(note, frame) => {
                    self.notes.push(*note);
                    if let Some(frame) = frame {
                        for load in &frame.links {
                            self.most[0] = self.most[0].max(load.messages);
                            self.most[1] = self.most[1].max(load.load);
                        }
                        self.most[2] = frame.held.iter().copied().fold(self.most[2], u64::max);
                        self.frames.push(frame);
                    }
                }
                Event::Ended(record) => self.ended = Some(record),
            }
        }
        true
    }

    /// A step in full, if it is in the window.
    pub(crate) fn frame(&self, step: usize) -> Option<&Frame> {
        self.frames.get(step.checked_sub(self.from)?)
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

impl Drop for Recording {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Watches a schedule and reports what it sees.
struct Recorder<'a> {
    topology: &'a dyn Topology,
    from: u64,
    events: &'a Sender<Event>,
    cancelled: &'a AtomicBool,
    messages: LinkLoad,
    load: LinkLoad,
    phase: Option<u32>,
    phases: usize,
    spent: usize,
    reported: usize,
}

impl<'a> Recorder<'a> {
    fn new(case: &'a Case, from: usize, events: &'a Sender<Event>, cancelled: &'a AtomicBool) -> Self {
        let topology = case.topology.as_ref();
        Self {
            topology,
            from: from as u64,
            events,
            cancelled,
            messages: LinkLoad::new(topology),
            load: LinkLoad::new(topology),
            phase: None,
            phases: 0,
            spent: 0,
            reported: 0,
        }
    }

    fn frame(&mut self, step: &Step<'_>) -> Frame {
        self.messages.begin();
        self.load.begin();
        for transfer in step.transfers {
            let route = (transfer.route as usize).checked_sub(1).and_then(|i| step.routes.get(i));
            let (messages, load) = (&mut self.messages, &mut self.load);
            // The simulation has taken the same route already: it is one.
            let taken = self.topology.route(u64::from(transfer.from), u64::from(transfer.to), route, &mut |run| {
                messages.add(run, 1);
                load.add(run, transfer.load);
            });
            debug_assert!(taken.is_ok(), "{taken:?}");
        }
        let mut links = Vec::new();
        self.messages.for_each_loaded(&mut |link, messages| links.push(Load { link, messages, load: 0 }));
        links.sort_unstable_by_key(|l| l.link);
        self.load.for_each_loaded(&mut |link, load| {
            if let Ok(at) = links.binary_search_by_key(&link, |l| l.link) {
                links[at].load = load;
            }
        });
        Frame { links, held: step.held.to_vec() }
    }

    fn report(&self, event: Event) {
        drop(self.events.send(event));
    }
}

impl Listener for Recorder<'_> {
    fn step(&mut self, step: &Step<'_>) {
        if self.cancelled.load(Ordering::Relaxed) || self.reported >= MOST_STEPS {
            return;
        }
        if self.phase != Some(step.phase_number) {
            if self.phase.is_none() {
                self.report(Event::Segments(step.segments));
            }
            self.phase = Some(step.phase_number);
            self.phases += 1;
            self.report(Event::Phase(step.phase.to_owned()));
        }
        let wanted = step.number > self.from && self.spent < MOST_BYTES;
        let frame = wanted.then(|| self.frame(step));
        self.spent += frame.as_ref().map_or(0, Frame::bytes);
        self.reported += 1;
        self.report(Event::Step(Box::new(Note { phase: self.phases - 1, facts: step.facts }), frame));
    }
}
