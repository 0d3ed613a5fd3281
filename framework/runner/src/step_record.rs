//! The record of a schedule: for each step its messages, their loads, and its times. An observer in
//! the worker ([`RECORD`]) sends parts of the record ([`RecordPart`]), and [`ScheduleRecord`] joins
//! them. Everything that shows steps shows a part of this record.

mod recorder;

pub use recorder::{RECORD, Recorder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use swapmeet_core::cost::kind::{Kind, Times};
use swapmeet_core::cost::model::time_space::Entry;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct Load {
    pub link: u64,
    pub messages: u64,
    pub load: u64,
}

/// A load is serialized without field names to save space, because a frame has many loads.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64, u64)", into = "(u64, u64, u64, u64)")]
pub struct Pair {
    pub from: u64,
    pub to: u64,
    /// The amount of data in load units of the schedule ([`ScheduleRecord::bytes`] converts them).
    pub load: u64,
    /// The number of messages, including this one, on the link of the route that has the most; 1 if
    /// loads are not recorded.
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

/// The data of a step that needs more memory on larger networks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub links: Vec<Load>,
    /// For each of `links`, the communicator whose messages cross it, or `None` if there are
    /// several such communicators. Empty if the workload has no option `over=`.
    pub communicators: Vec<Option<u32>>,
    /// The messages of the step, or an empty list if there are too many messages.
    pub pairs: Vec<Pair>,
    /// The amount of data in each node after the step.
    pub held: Vec<u64>,
    /// The sender and the receiver of a send that broke a rule.
    pub at_fault: Option<(u64, u64)>,
}

impl Frame {
    fn bytes(&self) -> usize {
        self.links.len() * size_of::<Load>()
            + self.communicators.len() * size_of::<Option<u32>>()
            + self.pairs.len() * size_of::<Pair>()
            + self.held.len() * size_of::<u64>()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The number of the step in the schedule, which also counts steps without messages, from 1.
    pub schedule_step: u64,
    pub phase: usize,
    pub messages: u64,
    pub max_load: u64,
    pub max_hops: u64,
    pub max_link_messages: u64,
    pub max_sends: u64,
    /// The number of sends that transferred no data, because they selected no blocks.
    pub idle_sends: u64,
    /// The time of each kind, including the rearrangement before the step. `None` if each rank has
    /// its own clock, so that a step has no common times.
    #[serde(with = "time_bits")]
    pub times: Option<Times>,
    pub frame: Option<Box<Frame>>,
}

/// The bits of [`Times`], because `serde_json` does not read all decimal numbers exactly.
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
    pub bucket: u64,
    #[serde(rename = "matrix")]
    pub cells: Vec<Vec<u64>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum RecordPart {
    /// The number of links of the network. It is only sent if the loads of links are recorded.
    Links(u64),
    /// The ranks of each communicator, in the order of its members. This part is only sent if the
    /// workload has communicators and the loads of links are recorded.
    Communicators(Vec<Vec<u32>>),
    Unit(u64),
    Phase(String),
    Step(StepRecord),
    After(#[serde(with = "time_bits")] Option<Times>),
    /// Entries of one rank, sorted by time, and whether these are its last entries. All entries of
    /// a rank are sent before those of the next rank.
    Entries(Vec<EntryNumbers>, bool),
    /// Sent after the entries of all ranks. Contains the maximum number of steps in an entry.
    EntriesEnd(u64),
    /// The reason why times of ranks are requested but not available.
    NoRanks(String),
    Matrix(Matrix),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrameSelection {
    None,
    /// The amount of data in nodes, up to a maximum total size.
    Held,
    /// The messages, up to a maximum total size.
    Messages,
    /// Whole frames of all steps from this one (counted from 0) on, up to a maximum total size.
    From(usize),
    /// Whole frames of the newest step, a few times per second.
    Newest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSelection {
    /// The only recorded rank; `None` for all ranks.
    pub only: Option<u64>,
    /// The maximum number of entries. If there are more, consecutive steps are joined in one entry.
    pub max_entries: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RecordRequest {
    pub frames: FrameSelection,
    /// The maximum number of steps. Later steps are not recorded.
    pub max_steps: u64,
    /// Whether to record the unfinished step after an error. To do so, all sends are stored.
    pub unfinished: bool,
    /// The times of ranks to record, if the model has a clock for each rank.
    pub ranks: Option<RankSelection>,
    pub matrix: bool,
}

#[derive(Debug, Default)]
pub struct ScheduleRecord {
    pub links: u64,
    /// The ranks of each communicator. Empty if all ranks form one communicator.
    pub communicators: Vec<Vec<u32>>,
    unit: u64,
    pub phases: Vec<String>,
    pub steps: Vec<StepRecord>,
    /// The end time of each step in µs. Empty if the steps have no common times.
    ends: Vec<f64>,
    /// Entries that are not yet in `ranks`. The first list has the entries of complete ranks, the
    /// second one those of the next rank so far.
    entries: (Vec<Vec<Entry>>, Vec<Entry>),
    pub ranks: Option<Arc<Ranks>>,
    pub why_no_ranks: Option<String>,
    pub matrix: Option<Matrix>,
}

impl ScheduleRecord {
    pub fn add(&mut self, part: RecordPart) {
        match part {
            RecordPart::Links(links) => self.links = links,
            RecordPart::Communicators(ranks) => self.communicators = ranks,
            RecordPart::Unit(bytes) => self.unit = bytes,
            RecordPart::Phase(name) => self.phases.push(name),
            RecordPart::Step(step) => {
                let before = self.ends.last().copied().unwrap_or(0.0);
                self.ends.extend(step.times.map(|times| before + times.total()));
                self.steps.push(step);
            }
            // The time after the last step counts as time of the last step.
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

    pub fn frame(&self, step: usize) -> Option<&Frame> {
        self.steps.get(step)?.frame.as_deref()
    }

    /// Returns the time of each kind in a step in µs. If ranks have their own clocks, returns the
    /// mean over all ranks.
    pub fn times(&self, step: usize) -> Option<Times> {
        let of_ranks = || self.ranks.as_ref()?.of_steps.get(step).copied();
        self.steps.get(step)?.times.or_else(of_ranks)
    }

    /// Returns the end time of each step in µs. If ranks have their own clocks, this is the time at
    /// which the last rank ends the step.
    pub fn ends(&self) -> &[f64] {
        self.ranks.as_ref().map_or(&self.ends, |ranks| &ranks.ends)
    }

    pub fn bytes(&self, load: u64) -> u64 {
        load.saturating_mul(self.unit)
    }

    pub fn phase_of(&self, step: usize) -> &str {
        let phase = self.steps.get(step).and_then(|step| self.phases.get(step.phase));
        phase.map_or("", String::as_str)
    }

    /// Converts the number of a step in the simulation (from 1) to its number in the schedule.
    pub fn schedule_step(&self, number: u64) -> u64 {
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.steps.get(at)).map_or(number, |step| step.schedule_step)
    }
}

/// The serialized form of an entry: its first and last step, the bits of `posted`, `started`,
/// `waited` and `ended`, and the bits of the time of each kind. Field names are left out to save
/// space.
type EntryNumbers = ([u64; 2], [u64; 4], TimeBits);

fn numbers(entry: &Entry) -> EntryNumbers {
    let Entry { first_step, last_step, posted, started, waited, ended, kinds } = *entry;
    let moments = [posted, started, waited, ended].map(f64::to_bits);
    ([first_step, last_step], moments, kinds.0.map(f64::to_bits))
}

fn entry(([first, last], moments, kinds): EntryNumbers) -> Entry {
    let [posted, started, waited, ended] = moments.map(f64::from_bits);
    let first_step = first.max(1);
    let last_step = last.max(first_step);
    Entry {
        first_step,
        last_step,
        posted,
        started,
        waited,
        ended,
        kinds: Times(kinds.map(f64::from_bits)),
    }
}

/// Returns the first and the last step of an entry as indices from 0.
pub fn steps_of(entry: &Entry) -> [usize; 2] {
    [entry.first_step, entry.last_step].map(|step| step as usize - 1)
}

/// The kinds of time in the order in which they occur in a step. `Startup` occurs twice: first for
/// sent and later for received messages.
const ORDER: [Kind; 9] = [
    Kind::Rearrangement,
    Kind::Startup,
    Kind::Peer,
    Kind::Propagation,
    Kind::Contention,
    Kind::Startup,
    Kind::Transmission,
    Kind::Reduction,
    Kind::Barrier,
];

/// Divides the time of a step, which starts at `from`, into intervals of one kind each. An item is
/// a kind, a start and an end. `of_sends` is the start-up time of sent messages. The rest of the
/// start-up time belongs to received messages and is a second interval.
pub fn intervals(times: Times, from: f64, of_sends: f64) -> impl Iterator<Item = (Kind, f64, f64)> {
    let first = times[Kind::Startup].min(of_sends);
    let (mut at, mut is_first) = (from, true);
    ORDER.into_iter().filter_map(move |kind| {
        let us = match kind {
            Kind::Startup if std::mem::take(&mut is_first) => first,
            Kind::Startup => times[kind] - first,
            kind => times[kind],
        };
        let from = at;
        at += us;
        (us > 0.0).then_some((kind, from, at))
    })
}

/// The entries of all ranks. An entry contains the times of one rank in consecutive steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranks {
    pub entries: Vec<Vec<Entry>>,
    /// For each step, the mean times over all ranks. If an entry joins several steps, its times are
    /// divided equally among them.
    of_steps: Vec<Times>,
    /// For each step, the time when all ranks have ended this step and all steps before it.
    ends: Vec<f64>,
    pub joined: u64,
}

impl Ranks {
    fn new(entries: Vec<Vec<Entry>>, joined: u64) -> Self {
        let all = || entries.iter().flatten();
        let steps = all().map(|entry| steps_of(entry)[1] + 1).max().unwrap_or(0);
        let (mut of_steps, mut ends) = (vec![Times::default(); steps], vec![0.0_f64; steps]);
        for entry in all() {
            let [first, last] = steps_of(entry);
            let shared = last - first + 1;
            for times in &mut of_steps[first..=last] {
                *times += entry.kinds.map(|us| us / (shared * entries.len()) as f64);
            }
            ends[last] = ends[last].max(entry.ended);
        }
        (1..steps).for_each(|step| ends[step] = ends[step].max(ends[step - 1]));
        Self { entries, of_steps, ends, joined }
    }

    pub fn entry(&self, rank: usize, step: usize) -> Option<&Entry> {
        let entries = self.entries.get(rank)?;
        let at = entries.partition_point(|entry| steps_of(entry)[1] < step);
        entries.get(at).filter(|entry| steps_of(entry)[0] <= step)
    }

    /// Returns when the first rank started a step, when the last rank ended it, and the number of
    /// this last rank.
    pub fn span(&self, step: usize) -> Option<(f64, f64, usize)> {
        let all = (0..self.entries.len()).filter_map(|rank| Some((rank, self.entry(rank, step)?)));
        all.fold(None, |span, (rank, &Entry { posted, ended, .. })| {
            let (began, ends, last) = span.unwrap_or((posted, ended, rank));
            Some((began.min(posted), ends.max(ended), if ended > ends { rank } else { last }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(steps: [u64; 2], posted: f64, ended: f64) -> Entry {
        let kinds = Times::of([(Kind::Startup, ended - posted)]);
        let [first_step, last_step] = steps;
        let sent =
            Entry { first_step, last_step, posted, started: posted, waited: posted, ended, kinds };
        let text = serde_json::to_string(&numbers(&sent)).unwrap();
        let received = entry(serde_json::from_str(&text).unwrap());
        assert_eq!(received, sent);
        received
    }

    #[test]
    fn steps_have_the_mean_time_and_last_end_of_ranks() {
        let first = vec![sent([1, 1], 0.0, 4.0), sent([2, 2], 4.0, 5.0)];
        let ranks = Ranks::new(vec![first, vec![sent([1, 2], 0.0, 2.0)]], 2);
        let means: Vec<f64> = ranks.of_steps.iter().map(|times| times.total()).collect();
        assert_eq!((means, &*ranks.ends), (vec![2.5, 1.0], &[4.0, 5.0][..]));
        assert_eq!(
            [0, 1, 2].map(|step| ranks.span(step)),
            [Some((0.0, 4.0, 0)), Some((0.0, 5.0, 0)), None]
        );
    }

    /// In a step, a rank sends, waits for a peer and receives, without gaps between the intervals.
    #[test]
    fn intervals_of_a_rank_are_in_chronological_order() {
        let kinds = Times::of([
            (Kind::Startup, 5.0),
            (Kind::Peer, 7.0),
            (Kind::Transmission, 4.0),
            (Kind::Barrier, 1.0),
        ]);
        let all: Vec<_> = intervals(kinds, 10.0, 3.0).collect();
        assert_eq!(
            all,
            [
                (Kind::Startup, 10.0, 13.0),
                (Kind::Peer, 13.0, 20.0),
                (Kind::Startup, 20.0, 22.0),
                (Kind::Transmission, 22.0, 26.0),
                (Kind::Barrier, 26.0, 27.0)
            ]
        );
    }

    /// If all ranks share a clock, all start-up times of a step are one interval.
    #[test]
    fn the_parts_of_a_step_follow_one_another() {
        let times = Times::of([
            (Kind::Barrier, 4.0),
            (Kind::Startup, 2.0),
            (Kind::Transmission, 3.0),
            (Kind::Rearrangement, 1.0),
        ]);
        let all: Vec<_> = intervals(times, 10.0, f64::INFINITY).collect();
        assert_eq!(
            all,
            [
                (Kind::Rearrangement, 10.0, 11.0),
                (Kind::Startup, 11.0, 13.0),
                (Kind::Transmission, 13.0, 16.0),
                (Kind::Barrier, 16.0, 20.0)
            ]
        );
    }
}
