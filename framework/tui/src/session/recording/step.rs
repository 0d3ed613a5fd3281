//! The messages in which a worker sends the steps of a schedule to the dashboard.

use super::ranks::{EntryNumbers, TimeNumbers};
use serde::{Deserialize, Serialize};
use swapmeet_core::simulation::step::StepFacts;

/// The load on one link in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub(crate) struct Load {
    pub(crate) link: u64,
    pub(crate) messages: u64,
    /// The amount of data, multiplied by the number of segments per block. The amount is in blocks
    /// or, if blocks differ in size, in bytes.
    pub(crate) load: u64,
}

/// Converts the serialized form of a load. This form has no field names, to save space: a frame has
/// many loads.
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

/// A message from one node to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64, u64)", into = "(u64, u64, u64, u64)")]
pub(crate) struct Pair {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The amount of data, multiplied by the number of segments per block. The amount is in blocks
    /// or, if blocks differ in size, in bytes.
    pub(crate) load: u64,
    /// The number of messages on the most loaded link of this message's route. It includes this
    /// message.
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

/// The full data of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The links that carry a load.
    pub(crate) links: Vec<Load>,
    /// The messages of the step. Empty if there are too many messages.
    pub(crate) pairs: Vec<Pair>,
    /// The amount of data in each node after the step, in the same unit as loads.
    pub(crate) held: Vec<u64>,
    /// If a send broke a rule, its sender and its receiver.
    pub(crate) at_fault: Option<(u64, u64)>,
}

impl Frame {
    pub(super) fn bytes(&self) -> usize {
        self.links.len() * size_of::<Load>()
            + self.pairs.len() * size_of::<Pair>()
            + self.held.len() * size_of::<u64>()
    }
}

/// The summary of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepSummary {
    /// The index of the phase to which the step belongs.
    pub(crate) phase: usize,
    /// The properties of the step that are the same on all machines.
    pub(crate) facts: Facts,
    /// The time of each kind in the step, including the rearrangement before it. It is `None` if
    /// each rank has its own clock.
    pub(crate) times: Option<TimeNumbers>,
}

/// Properties of a step that the dashboard displays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) messages: u64,
    pub(crate) max_load: u64,
    pub(crate) max_hops: u64,
    pub(crate) max_link_messages: u64,
    pub(crate) max_sends: u64,
    /// The number of sends that transferred no data, because they selected no blocks.
    pub(crate) idle_sends: u64,
}

impl Facts {
    pub(super) fn of(facts: &StepFacts, idle_sends: u64) -> Self {
        let StepFacts { messages, max_load, max_hops, max_link_messages, max_sends, .. } = *facts;
        Self { messages, max_load, max_hops, max_link_messages, max_sends, idle_sends }
    }
}

/// A message from the observer, which runs in the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum WatchMessage {
    Links(u64),
    Segments(u64),
    Phase(String),
    Step(StepSummary, Option<Frame>),
    /// The time after the last step. It is added to the time of the last step.
    After(TimeNumbers),
    /// All entries of one rank, sorted by time. The ranks are sent in order.
    Rank(Vec<EntryNumbers>),
}

/// Selects the steps that are sent in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FrameSelection {
    /// This step and the steps after it, up to a maximum total size.
    From(usize),
    /// The newest step. A few times per second, the step that was simulated last is sent.
    Newest,
}

/// The request of the dashboard to the observer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RecordingRequest {
    pub(crate) wanted: FrameSelection,
    /// Whether to send the unfinished step if the schedule ends because of an error. For this, the
    /// observer must record every send.
    pub(crate) unfinished: bool,
    /// Whether to compute the times of ranks. This is only possible if ranks have their own clocks.
    pub(crate) ranks: bool,
}
