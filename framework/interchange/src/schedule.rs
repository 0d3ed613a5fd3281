//! The JSON format of complete schedules (`docs/trace.md`). `trace --format json` or another tool
//! writes such documents. A document is parsed event by event, so it is never in memory as a whole.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};

/// The version of the format. Documents of other versions are refused.
pub const VERSION: u32 = 1;
pub const FORMAT: &str = "swapmeet-schedule";

pub fn is_reduction(collective: &str) -> bool {
    ["reduce", "reduce-scatter", "allreduce", "combine"].contains(&collective)
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Header {
    pub format: String,
    pub version: u32,
    #[serde(default)]
    pub topology: String,
    pub nodes: u64,
    /// The ranks of each communicator, in the order of its members, if several run the schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub communicators: Vec<Vec<u64>>,
    #[serde(default)]
    pub algorithm: String,
    #[serde(default)]
    pub workload: String,
    pub collective: String,
    #[serde(default)]
    pub root: Option<u64>,
    /// The spec of the machine, because the plans of some algorithms depend on it.
    #[serde(default)]
    pub machine: String,
    /// The seed of all random numbers in the case, for instance of random block sizes.
    #[serde(default)]
    pub seed: u64,
    /// The number of bytes of a block, if all blocks have the same size.
    #[serde(default)]
    pub block_bytes: Option<u64>,
    /// The number of bytes of an element. A redistribution moves whole elements.
    #[serde(default)]
    pub element_bytes: u64,
    /// The time per byte on a link of the machine in µs, if its model has this parameter.
    #[serde(default)]
    pub byte_us: Option<f64>,
    #[serde(default)]
    pub skip_empty: bool,
    /// The sizes, if blocks differ: a row for each sender, with the sizes for all receivers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u64>,
    /// For each node, its classes of tokens. Each class has its bytes and its receivers, and is a
    /// segment of the node's block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<Vec<(u64, Vec<u64>)>>,
    /// In a permutation, the destination of each node's block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permutation: Vec<u64>,
    /// The times of the machine. Only exports need them, and they are not part of a document.
    #[serde(skip)]
    pub timing: Timing,
}

/// The times of a machine, as in the model `fluid`. A time that the machine does not have is 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timing {
    /// The start-up time of a message in µs.
    pub startup_us: f64,
    /// The maximum number of bytes of a message that is sent without a rendezvous.
    pub rendezvous_bytes: f64,
    /// The time in µs that a rendezvous adds to the start-up time of a message.
    pub rendezvous_us: f64,
    /// The time in µs that each byte adds to the start-up time of a message without a rendezvous.
    pub eager_byte_us: f64,
    /// The latency of a link in µs.
    pub hop_us: f64,
    /// The time in µs in which one byte moves between a node and the network.
    pub injection_byte_us: f64,
    /// The time in µs for reducing a received byte.
    pub reduce_byte_us: f64,
    /// The time of the barrier between steps in µs; `None` if there is no barrier.
    pub barrier_us: Option<f64>,
    /// The ranks that start late, each with the time in µs at which it starts.
    pub late: Vec<(u64, f64)>,
    /// In a message's weight, each link counts its latency plus the time of these bytes.
    pub weight_bytes: f64,
    /// A factor on all latencies; `None` if there is none.
    pub latency_factor: Option<f64>,
    /// A factor on all bandwidths; `None` if there is none.
    pub bandwidth_factor: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Layout {
    /// The number of segments of each block, or of each part if blocks are divided into parts.
    #[serde(default = "one")]
    pub segments: u64,
    /// Whether each block is divided into one part for each node, and each part into segments. If
    /// this is true, the destinations in a [`BlockSet`] are parts.
    #[serde(default)]
    pub in_parts: bool,
}

fn one() -> u64 {
    1
}

/// A list of numbers. Each run of consecutive numbers is stored as its first and its last number.
pub type Runs = Vec<(u64, u64)>;

/// All blocks with one of these origins, destinations and segments. Without a list, any is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct BlockSet {
    pub origins: Option<Runs>,
    pub destinations: Option<Runs>,
    pub segments: Option<Runs>,
}

/// A message. The sender and the receiver are nodes of the network.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Send {
    pub step: u64,
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    /// The latest step in which the sender received any of the data. It is 0 if the sender had all
    /// of it at the start, or if the step is unknown.
    pub after: u64,
    /// Whether the sender keeps a copy of the sent data.
    pub copy: bool,
    /// Whether the receiver adds the received data to its own data.
    pub combine: bool,
    /// Whether the event names virtual nodes (`virtual_from`), because the schedule has a grid of
    /// its own. A node of the network may execute several nodes of this grid.
    pub is_virtual: bool,
    /// The vertices of the route, including sender and receiver; empty if it is unknown.
    pub path: Vec<u64>,
    /// Whether `path` is the network's own route. A plugin does not have to request this route.
    pub own_route: bool,
    /// For each dimension, the requested direction: 1, -1, or 0 for the shorter one. If two links
    /// connect the same vertices, the direction selects one of them.
    pub signs: Vec<i8>,
    /// The switch that adds the sent data to the data of other sends; 0 if no switch does.
    pub reducer: u64,
    /// The switch that copies the sent data; 0 if no switch does.
    pub multicaster: u64,
    /// The bandwidth of each link of the route, relative to the machine's; empty if all are 1.
    pub bandwidths: Vec<f64>,
    /// The latency of each link of the route, relative to the machine's; empty if all are 1.
    pub latencies: Vec<f64>,
    /// The sent blocks; `None` if the schedule counts bytes.
    pub blocks: Option<Vec<BlockSet>>,
    /// The sent bytes; `None` if the schedule counts blocks.
    pub share: Option<Share>,
    pub label: Option<String>,
}

/// If the schedule counts bytes, which of the sender's bytes a send takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// All bytes of the bucket with this number.
    Bucket(u64),
    /// Pairs of a destination and the number of bytes for it.
    ByteCounts(Vec<(u64, ShareSize)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ShareSize {
    Bytes(u64),
    /// `"all"`: all bytes that the sender holds for the destination.
    All(AllBytes),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllBytes {
    All,
}

/// A redistribution, in which a node sorts all its data into buckets. For destination d, element x
/// (counted from 0) has the number `e = (starts[d] + x) % cycle`. The element is put into the
/// bucket `(first + firsts[d] + e) % buckets`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Redistribution {
    pub node: u64,
    pub buckets: u64,
    pub cycle: u64,
    pub first: u64,
    /// By destination, the number of its first element; empty if all of these are 0.
    #[serde(default)]
    pub starts: Vec<u64>,
    /// By destination, an offset that is added to `first`; empty if all of these are 0.
    #[serde(default)]
    pub firsts: Vec<u64>,
}

/// An event of a schedule. The events in a document are in the order of the schedule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "RawEvent")]
pub enum DocumentEvent {
    /// How blocks are divided. This event precedes the first send.
    Layout(Layout),
    Phase(String),
    Send(Send),
    Redistribute(Redistribution),
    /// A rearrangement: all nodes reorder their data in memory.
    Rearrange,
    /// The end of a step. Steps in which no node sends a message have no such event.
    EndOfStep,
}

/// How the run that made the schedule ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct RunStatus {
    /// The status, which is one of the words that rows have.
    pub status: String,
    #[serde(default)]
    pub reason: String,
}

#[derive(Deserialize)]
struct RawEvent {
    layout: Option<Layout>,
    phase: Option<String>,
    rearrange: Option<bool>,
    redistribute: Option<Redistribution>,
    end_of_step: Option<u64>,
    step: Option<u64>,
    from: Option<u64>,
    to: Option<u64>,
    bytes: Option<u64>,
    #[serde(default)]
    after: u64,
    #[serde(default)]
    copy: bool,
    #[serde(default)]
    combine: bool,
    virtual_from: Option<u64>,
    #[serde(default)]
    path: Vec<u64>,
    #[serde(default)]
    own_route: bool,
    #[serde(default)]
    signs: Vec<i8>,
    #[serde(default)]
    reducer: u64,
    #[serde(default)]
    multicaster: u64,
    #[serde(default)]
    bandwidths: Vec<f64>,
    #[serde(default)]
    latencies: Vec<f64>,
    blocks: Option<Vec<BlockSet>>,
    share: Option<Share>,
    label: Option<String>,
}

impl TryFrom<RawEvent> for DocumentEvent {
    type Error = String;

    fn try_from(fields: RawEvent) -> Result<Self, String> {
        let RawEvent {
            layout,
            phase,
            rearrange,
            redistribute,
            end_of_step,
            step,
            from,
            to,
            bytes,
            copy,
            path,
            ..
        } = fields;
        // An event without `step` must have exactly one of these keys, which determines its kind.
        let Some(step) = step else {
            return match (layout, phase, rearrange, redistribute, end_of_step) {
                (Some(layout), None, None, None, None) => Ok(Self::Layout(layout)),
                (None, Some(name), None, None, None) => Ok(Self::Phase(name)),
                (None, None, Some(_), None, None) => Ok(Self::Rearrange),
                (None, None, None, Some(how), None) => Ok(Self::Redistribute(how)),
                (None, None, None, None, Some(_)) => Ok(Self::EndOfStep),
                _ => Err("expected an event: a send (`step`, `from`, `to`, `blocks`), `layout`, `phase`, `rearrange`, `redistribute` or `end_of_step`".to_owned()),
            };
        };
        let there = |end: Option<u64>, key: &str| {
            end.ok_or_else(|| format!("the send of step {step} has no `{key}`"))
        };
        if fields.blocks.is_some() == fields.share.is_some() {
            return Err(format!(
                "the send of step {step} has both or neither of `blocks` and `share`, expected one"
            ));
        }
        Ok(Self::Send(Send {
            step,
            from: there(from, "from")?,
            to: there(to, "to")?,
            bytes: bytes.unwrap_or(0),
            after: fields.after,
            copy,
            combine: fields.combine,
            is_virtual: fields.virtual_from.is_some(),
            path,
            own_route: fields.own_route,
            signs: fields.signs,
            reducer: fields.reducer,
            multicaster: fields.multicaster,
            bandwidths: fields.bandwidths,
            latencies: fields.latencies,
            blocks: fields.blocks,
            share: fields.share,
            label: fields.label,
        }))
    }
}

/// Returns each sum of a send once. Sets with different contributors can contain the same sum.
pub fn distinct_sums(sets: &[BlockSet], segments: u64) -> Vec<BlockSet> {
    let numbers = |runs: &Option<Runs>| match runs {
        None => vec![None],
        Some(runs) => runs.iter().flat_map(|(first, last)| *first..=*last).map(Some).collect(),
    };
    let mut of_destination: BTreeMap<Option<u64>, Runs> = BTreeMap::new();
    for set in sets {
        for destination in numbers(&set.destinations) {
            let all = vec![(0, segments.saturating_sub(1))];
            of_destination
                .entry(destination)
                .or_default()
                .extend(set.segments.as_ref().unwrap_or(&all));
        }
    }
    let mut of_segments: BTreeMap<Runs, Runs> = BTreeMap::new();
    for (destination, runs) in of_destination {
        let list = of_segments.entry(merge_runs(runs)).or_default();
        list.extend(destination.map(|number| (number, number)));
    }
    let set = |(segments, destinations): (Runs, Runs)| BlockSet {
        origins: None,
        destinations: (!destinations.is_empty()).then(|| merge_runs(destinations)),
        segments: Some(segments),
    };
    of_segments.into_iter().map(set).collect()
}

/// Sorts runs and merges those that overlap or are adjacent.
pub fn merge_runs(mut runs: Runs) -> Runs {
    runs.sort_unstable();
    let mut joined: Runs = Vec::new();
    for (first, last) in runs {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            Some(_) | None => joined.push((first, last)),
        }
    }
    joined
}

impl Header {
    /// Checks the format and the version. The error states what is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("its format is `{}`, expected `{FORMAT}`", self.format));
        }
        if self.version != VERSION {
            return Err(format!("its version is {}, expected {VERSION}", self.version));
        }
        Ok(())
    }
}

pub type HandlerError = Box<dyn std::error::Error + std::marker::Send + Sync>;

/// A receiver of the contents of a document. It is called while the document is parsed. If it
/// returns an error, the error is reported with its position in the document.
pub trait EventHandler {
    fn head(&mut self, head: Header) -> Result<(), HandlerError>;
    fn event(&mut self, event: DocumentEvent) -> Result<(), HandlerError>;
}

/// Parses a document. Returns its outcome, if it has one. Errors state the line and the column.
pub fn read(
    document: impl Read,
    reader: &mut dyn EventHandler,
) -> Result<Option<RunStatus>, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_reader(document);
    let outcome = Document(reader).deserialize(&mut json)?;
    json.end()?;
    Ok(outcome)
}

struct Document<'a>(&'a mut dyn EventHandler);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Option<RunStatus>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Option<RunStatus>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `schedule` and `events`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut headed, mut read, mut outcome) = (false, false, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schedule" if !headed => {
                    let head: Header = map.next_value()?;
                    head.check().map_err(A::Error::custom)?;
                    self.0.head(head).map_err(A::Error::custom)?;
                    headed = true;
                }
                "events" if headed && !read => {
                    map.next_value_seed(Events(self.0))?;
                    read = true;
                }
                "events" if !headed => {
                    return Err(A::Error::custom("`schedule` must stand before `events`"));
                }
                "schedule" | "events" => {
                    return Err(A::Error::custom(format!("`{key}` occurs twice")));
                }
                "outcome" => outcome = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match (headed, read) {
            (true, true) => Ok(outcome),
            (false, _) => Err(A::Error::missing_field("schedule")),
            (true, false) => Err(A::Error::missing_field("events")),
        }
    }
}

struct Events<'a>(&'a mut dyn EventHandler);

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneEvent(self.0))?.is_some() {}
        Ok(())
    }
}

/// Deserializes a single event of the list, so that an error has the position of this event.
struct OneEvent<'a>(&'a mut dyn EventHandler);

impl<'de> DeserializeSeed<'de> for OneEvent<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneEvent<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let event = DocumentEvent::deserialize(MapAccessDeserializer::new(map))?;
        self.0.event(event).map_err(A::Error::custom)
    }
}

/// The maximum bytes of a line (an event). The longest events are sends with all destinations.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Parses a document line by line while it is written. Errors of the handler fail the write.
pub struct LineParser<'a> {
    reader: &'a mut dyn EventHandler,
    /// The beginning of the last line, if the end of this line has not been written yet.
    line: Vec<u8>,
    outcome: Option<RunStatus>,
}

impl<'a> LineParser<'a> {
    /// The first write must begin at the start of the document.
    pub fn new(reader: &'a mut dyn EventHandler) -> Self {
        Self { reader, line: Vec::new(), outcome: None }
    }

    /// Returns the outcome. Must be called after the whole document was written.
    pub fn outcome(self) -> Option<RunStatus> {
        self.outcome
    }

    fn take(&mut self, text: &str) -> io::Result<()> {
        if let Some(head) = text.strip_prefix("{\"schedule\":") {
            let head: Header = parsed(head.strip_suffix(',').unwrap_or(head))?;
            head.check().map_err(io::Error::other)?;
            return self.reader.head(head).map_err(io::Error::other);
        }
        if let Some(outcome) = text.strip_prefix("\"outcome\":") {
            self.outcome = parsed(outcome.strip_suffix('}').unwrap_or(outcome))?;
            return Ok(());
        }
        if matches!(text, "\"events\":[" | "],") {
            return Ok(());
        }
        let event: DocumentEvent = parsed(text.strip_prefix(',').unwrap_or(text))?;
        self.reader.event(event).map_err(io::Error::other)
    }
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> io::Result<T> {
    serde_json::from_str(text).map_err(io::Error::other)
}

impl Write for LineParser<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Case 1: no line ends in these bytes. They are stored as the beginning of a line.
        let Some(end) = bytes.iter().rposition(|b| *b == b'\n') else {
            if self.line.len() + bytes.len() > MAX_LINE_BYTES {
                let limit = MAX_LINE_BYTES >> 20;
                return Err(io::Error::other(format!("a line of more than {limit} MiB")));
            }
            self.line.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        // Case 2: at least one line ends in these bytes. Lines are not copied one by one.
        let mut lines = Cow::Borrowed(&bytes[..end]);
        if !self.line.is_empty() {
            let begin = std::mem::take(&mut self.line);
            lines = Cow::Owned([begin.as_slice(), &lines].concat());
        }
        let lines = std::str::from_utf8(&lines).map_err(io::Error::other)?;
        lines.split('\n').try_for_each(|line| self.take(line))?;
        Ok(end + 1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
