//! What is seen of a step in the worker, and said to the dashboard.

use super::ranks::{Entry, Times};
use serde::{Deserialize, Serialize};
use swapmeet_core::simulation::step::StepFacts;

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
#[serde(from = "(u64, u64, u64, u64)", into = "(u64, u64, u64, u64)")]
pub(crate) struct Pair {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Blocks or bytes, in parts.
    pub(crate) load: u64,
    /// The most messages on a link of its way, itself among them.
    pub(crate) shared: u64,
}

impl From<(u64, u64, u64, u64)> for Pair {
    fn from((from, to, load, shared): (u64, u64, u64, u64)) -> Self {
        Self { from, to, load, shared }
    }
}

impl From<Pair> for (u64, u64, u64, u64) {
    fn from(Pair { from, to, load, shared }: Pair) -> Self {
        (from, to, load, shared)
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
    pub(super) fn bytes(&self) -> usize {
        self.links.len() * size_of::<Load>()
            + self.pairs.len() * size_of::<Pair>()
            + self.held.len() * size_of::<u64>()
    }
}

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
    pub(super) fn of(facts: &StepFacts, idle_sends: u64) -> Self {
        let StepFacts { messages, max_load, max_hops, max_link_messages, max_sends, .. } = *facts;
        Self { messages, max_load, max_hops, max_link_messages, max_sends, idle_sends }
    }
}

/// What is seen in the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Seen {
    Links(u64),
    Segments(u64),
    Phase(String),
    Step(Note, Option<Frame>),
    /// What comes after the last step: it is counted with that.
    After(Times),
    /// What the next rank did, in the order of time.
    Rank(Vec<Entry>),
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) wanted: Wanted,
    /// The step that a fault ends, too: each send is looked at for that.
    pub(crate) unfinished: bool,
    /// When each rank does what, where ranks go on by themselves: the schedule is priced for that.
    pub(crate) ranks: bool,
}
