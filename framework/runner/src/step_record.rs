//! The record of a schedule: for each step its messages, the loads that they cause, and its times.
//!
//! An observer in the worker ([`RECORD`]) makes the record and sends it in parts ([`RecordPart`]).
//! [`ScheduleRecord`] puts the parts together. Everything that shows steps and their times is a
//! view of it: `trace --times`, the page and the Perfetto file of `trace`, and the dashboard.

mod ranks;
mod recorder;

use ranks::{EntryNumbers, entry};
pub use ranks::{Ranks, intervals, steps_of};
pub use recorder::{RECORD, Recorder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use swapmeet_core::cost::kind::{Kind, Times};
use swapmeet_core::cost::model::time_space::Entry;

/// The load on one link in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct Load {
    pub link: u64,
    pub messages: u64,
    /// The amount of data, in units of the schedule ([`ScheduleRecord::bytes`]).
    pub load: u64,
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
pub struct Pair {
    pub from: u64,
    pub to: u64,
    /// The amount of data, in units of the schedule ([`ScheduleRecord::bytes`]).
    pub load: u64,
    /// The number of messages on the most loaded link of this message's route. It includes this
    /// message. It is 1 if the loads of links are not recorded.
    pub shared: u64,
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

/// The data of a step whose size depends on the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The links that carry a load.
    pub links: Vec<Load>,
    /// The messages of the step. Empty if there are too many messages.
    pub pairs: Vec<Pair>,
    /// The amount of data in each node after the step, in the same unit as loads.
    pub held: Vec<u64>,
    /// If a send broke a rule, its sender and its receiver.
    pub at_fault: Option<(u64, u64)>,
}

impl Frame {
    fn bytes(&self) -> usize {
        self.links.len() * size_of::<Load>()
            + self.pairs.len() * size_of::<Pair>()
            + self.held.len() * size_of::<u64>()
    }
}

/// The record of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The number of the step as the schedule counts steps, from 1.
    pub schedule_step: u64,
    /// The index of the phase to which the step belongs.
    pub phase: usize,
    pub messages: u64,
    /// The load of the longest message.
    pub max_load: u64,
    pub max_hops: u64,
    pub max_link_messages: u64,
    pub max_sends: u64,
    /// The number of sends that transferred no data, because they selected no blocks.
    pub idle_sends: u64,
    /// The time of each kind in the step, including the rearrangement before it. It is `None` if
    /// each rank has its own clock.
    #[serde(with = "time_bits")]
    pub times: Option<Times>,
    /// The selected data of the step ([`FrameSelection`]).
    pub frame: Option<Box<Frame>>,
}

/// The serialized form of [`Times`]: the bits of its numbers, because `serde_json` does not read
/// all decimal numbers exactly.
type TimeBits = [u64; Kind::ALL.len()];

mod time_bits {
    use super::{Deserialize, Deserializer, Serialize, Serializer, TimeBits, Times};

    pub(super) fn serialize<S: Serializer>(
        times: &Option<Times>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        times.map(|times| times.0.map(f64::to_bits)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Times>, D::Error> {
        let bits = Option::<TimeBits>::deserialize(deserializer)?;
        Ok(bits.map(|bits| Times(bits.map(f64::from_bits))))
    }
}

/// The bytes of messages between groups of consecutive ranks, in all steps together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// The number of ranks in a group.
    pub bucket: u64,
    /// Rows are senders, columns are receivers.
    #[serde(rename = "matrix")]
    pub cells: Vec<Vec<u64>>,
}

/// A part of the record, from the observer in the worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum RecordPart {
    /// The number of links of the network. Only sent if the loads of links are recorded.
    Links(u64),
    /// The number of bytes of a unit of load.
    Unit(u64),
    /// The name of the phase to which the next steps belong.
    Phase(String),
    /// A step. Steps are sent in order.
    Step(StepRecord),
    /// The time after the last step, such as that of a final barrier.
    After(#[serde(with = "time_bits")] Option<Times>),
    /// Entries of a rank, sorted by time, and whether they are the last ones of this rank. The
    /// ranks are sent in order.
    Entries(Vec<EntryNumbers>, bool),
    /// The end of the entries of all ranks, with the maximum number of steps in an entry.
    EntriesEnd(u64),
    /// The reason why there are no times of ranks, although they are requested.
    NoRanks(String),
    /// The bytes between groups of ranks, at the end of the schedule.
    Matrix(Matrix),
}

/// Selects the steps that are recorded with a frame, and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrameSelection {
    /// No step has a frame.
    None,
    /// Only the amount of data in nodes, up to a maximum total size.
    Held,
    /// Only the messages, up to a maximum total size.
    Messages,
    /// Whole frames of this step (counted from 0) and the steps after it, up to a maximum total
    /// size.
    From(usize),
    /// Whole frames of the newest step: a few times per second, the frame of the step that was
    /// simulated last.
    Newest,
}

/// Selects the ranks whose times are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSelection {
    /// The only recorded rank; `None` for all ranks.
    pub only: Option<u64>,
    /// The maximum total number of entries, each of which contains the times of one rank in one
    /// step. If there would be more, consecutive steps of a rank are joined in one entry.
    pub max_entries: usize,
}

/// The content of a record.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RecordRequest {
    pub frames: FrameSelection,
    /// The maximum number of steps. The record ends after this number of steps.
    pub max_steps: u64,
    /// Whether to record the unfinished step if the schedule ends because of an error. For this,
    /// the observer must store every send.
    pub unfinished: bool,
    /// The times of ranks, which only models in which ranks have their own clocks have.
    pub ranks: Option<RankSelection>,
    /// Whether to record the bytes between groups of ranks.
    pub matrix: bool,
}

/// The record of a schedule, as far as its parts have been received.
#[derive(Debug, Default)]
pub struct ScheduleRecord {
    pub links: u64,
    unit: u64,
    /// The names that the plugin gives to the phases.
    pub phases: Vec<String>,
    /// The steps in which messages are sent.
    pub steps: Vec<StepRecord>,
    /// The end time of each step in µs. Empty if the steps have no times.
    ends: Vec<f64>,
    /// The entries that have been received so far, until they are moved to `ranks`: those of
    /// complete ranks, and those of the next rank.
    entries: (Vec<Vec<Entry>>, Vec<Entry>),
    pub ranks: Option<Arc<Ranks>>,
    pub why_no_ranks: Option<String>,
    pub matrix: Option<Matrix>,
}

impl ScheduleRecord {
    /// Adds the next part.
    pub fn add(&mut self, part: RecordPart) {
        match part {
            RecordPart::Links(links) => self.links = links,
            RecordPart::Unit(bytes) => self.unit = bytes,
            RecordPart::Phase(name) => self.phases.push(name),
            RecordPart::Step(step) => {
                let before = self.ends.last().copied().unwrap_or(0.0);
                self.ends.extend(step.times.map(|times| before + times.total()));
                self.steps.push(step);
            }
            // Time after the last step is added to the last step.
            RecordPart::After(after) => {
                let after = after.unwrap_or_default();
                if let Some(times) = self.steps.last_mut().and_then(|step| step.times.as_mut()) {
                    *times += after;
                }
                if let Some(end) = self.ends.last_mut() {
                    *end += after.total();
                }
            }
            RecordPart::Entries(numbers, is_last) => {
                let (ranks, next) = &mut self.entries;
                next.extend(numbers.into_iter().map(entry));
                if is_last {
                    ranks.push(std::mem::take(next));
                }
            }
            RecordPart::EntriesEnd(joined) => {
                let (ranks, _) = std::mem::take(&mut self.entries);
                self.ranks = Some(Arc::new(Ranks::new(ranks, joined)));
            }
            RecordPart::NoRanks(why) => self.why_no_ranks = Some(why),
            RecordPart::Matrix(matrix) => self.matrix = Some(matrix),
        }
    }

    /// Returns the frame of a step (counted from 0) if it is recorded.
    pub fn frame(&self, step: usize) -> Option<&Frame> {
        self.steps.get(step)?.frame.as_deref()
    }

    /// Returns the time of each kind in a step, in µs. A kind that the model does not charge is 0.
    /// If ranks have their own clocks, the numbers are means over all ranks.
    pub fn times(&self, step: usize) -> Option<Times> {
        let of_ranks = || self.ranks.as_ref()?.of_steps.get(step).copied();
        self.steps.get(step)?.times.or_else(of_ranks)
    }

    /// Returns the end time of each step in µs. If ranks have their own clocks, this is the time at
    /// which the last rank ends the step. Empty if the steps have no times.
    pub fn ends(&self) -> &[f64] {
        self.ranks.as_ref().map_or(&self.ends, |ranks| &ranks.ends)
    }

    /// Converts a load to bytes.
    pub fn bytes(&self, load: u64) -> u64 {
        load.saturating_mul(self.unit)
    }

    /// Returns the name of the phase to which a step belongs.
    pub fn phase_of(&self, step: usize) -> &str {
        let phase = self.steps.get(step).and_then(|step| self.phases.get(step.phase));
        phase.map_or("", String::as_str)
    }

    /// Converts the number of a simulated step, from 1, to its number in the schedule.
    pub fn schedule_step(&self, number: u64) -> u64 {
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.steps.get(at)).map_or(number, |step| step.schedule_step)
    }
}
