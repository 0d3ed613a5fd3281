//! A schedule in full, as JSON (`docs/trace.md`): what `trace --format json` prints, and what any
//! tool may hand us.
//!
//! A document is read event by event, so that none is ever held as a whole.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

mod lines;

pub use lines::Lines;

/// The version that is written; a document of another is refused.
pub const VERSION: u32 = 1;
/// What documents call themselves.
pub const FORMAT: &str = "swapmeet-schedule";

/// Whether a collective, by its word, sums what comes from different nodes.
pub fn sums(collective: &str) -> bool {
    ["reduce", "reduce-scatter", "allreduce"].contains(&collective)
}

/// Whose schedule it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Head {
    pub format: String,
    pub version: u32,
    #[serde(default)]
    pub topology: String,
    /// How many nodes there.
    pub nodes: u64,
    #[serde(default)]
    pub algorithm: String,
    #[serde(default)]
    pub workload: String,
    pub collective: String,
    /// The root, where there is one.
    #[serde(default)]
    pub root: Option<u64>,
    /// At which price: some algorithms plan for it.
    #[serde(default)]
    pub machine: String,
    /// The seed of what is drawn.
    #[serde(default)]
    pub seed: u64,
    /// Bytes of a block, where all have the same.
    #[serde(default)]
    pub block_bytes: Option<u64>,
    /// Bytes of the unit that is redistributed.
    #[serde(default)]
    pub element_bytes: u64,
    /// Microseconds a byte on a link of the machine, where it has such a figure.
    #[serde(default)]
    pub byte_us: Option<f64>,
    /// Whether a message of no bytes is none.
    #[serde(default)]
    pub skip_empty: bool,
    /// Bytes that each node has for each, row by row, where they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u64>,
    /// In a permutation, for each node the one that its block is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permutation: Vec<u64>,
}

/// How blocks are split, and who runs what where a schedule has a grid of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Layout {
    /// Segments of a block.
    #[serde(default = "one")]
    pub segments: u64,
    /// Whether each block is first cut into a part for each node, which sets name as destinations.
    #[serde(default)]
    pub in_parts: bool,
}

fn one() -> u64 {
    1
}

/// Numbers as runs, first and last of each.
pub type Runs = Vec<(u64, u64)>;

/// Every block with an origin, a destination and a segment among these; a side that is left out is
/// every one there is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct BlockSet {
    /// Where they come from.
    pub origins: Option<Runs>,
    pub destinations: Option<Runs>,
    /// Which segments of them.
    pub segments: Option<Runs>,
}

/// Something put on its way by one send; nodes are those of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Send {
    /// The schedule's own number of the step, from 1.
    pub step: u64,
    pub from: u64,
    pub to: u64,
    /// How many bytes go.
    pub bytes: u64,
    /// The latest step in which any of them came to the sender; 0 if all were there at the start,
    /// or if nobody says.
    pub after: u64,
    /// Whether the sender keeps them.
    pub copy: bool,
    /// Whether the receiver adds them to what it has.
    pub combine: bool,
    /// Whether they go from or to one of several values that a node keeps apart, each at a virtual
    /// node.
    pub is_virtual: bool,
    /// The vertices passed through, both ends included; empty where nobody says.
    pub path: Vec<u64>,
    /// What goes; `None` in a schedule of byte counts.
    pub blocks: Option<Vec<BlockSet>>,
    /// What goes of what is counted; `None` in a schedule of blocks.
    pub share: Option<Share>,
    /// What faults call this send.
    pub label: Option<String>,
}

/// What a send takes of bytes that are counted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// A bucket of what was redistributed.
    Bucket(u64),
    /// So many for each of these destinations.
    ByteCounts(Vec<(u64, HowMany)>),
}

/// How many bytes for a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HowMany {
    /// So many.
    Bytes(u64),
    /// `"all"`: what there are.
    All(All),
}

/// The word for all there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum All {
    /// `"all"`.
    All,
}

/// A node deals what it holds into buckets: element x of what it holds for destination d is number
/// `e = (starts[d] + x) % cycle`, which goes to bucket `(first + firsts[d] + e) % buckets`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Redistribution {
    /// Which node.
    pub node: u64,
    /// How many buckets.
    pub buckets: u64,
    /// How many numbers there are.
    pub cycle: u64,
    /// Where number 0 goes.
    pub first: u64,
    /// For each destination the number of its first element; empty for 0.
    #[serde(default)]
    pub starts: Vec<u64>,
    /// For each destination what is added to `first`; empty for 0.
    #[serde(default)]
    pub firsts: Vec<u64>,
}

/// What happens, in the schedule's order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Fields")]
pub enum Event {
    /// Before the first send.
    Layout(Layout),
    /// What follows is the phase of this name.
    Phase(String),
    /// Something is put on its way.
    Send(Send),
    /// A node redistributes bytes that are counted.
    Redistribute(Redistribution),
    /// Every node rearranges what it holds.
    Rearrange,
    /// A step has ended in which something left a node.
    EndOfStep,
}

/// What came of the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Outcome {
    /// As in a row.
    pub status: String,
    /// Why, where it is not `ok`.
    #[serde(default)]
    pub reason: String,
}

/// An event as it is written: what is there says which.
#[derive(Deserialize)]
struct Fields {
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
    blocks: Option<Vec<BlockSet>>,
    share: Option<Share>,
    label: Option<String>,
}

impl TryFrom<Fields> for Event {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let Fields {
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
            blocks: fields.blocks,
            share: fields.share,
            label: fields.label,
        }))
    }
}

/// The sums that a send takes. Its sets say who contributed, too, so that one sum may be in
/// several: here each is named once, by its destination and segment, for it goes as a whole.
pub fn sums_of(sets: &[BlockSet], segments: u64) -> Vec<BlockSet> {
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
        let list = of_segments.entry(joined(runs)).or_default();
        list.extend(destination.map(|number| (number, number)));
    }
    let set = |(segments, destinations): (Runs, Runs)| BlockSet {
        origins: None,
        destinations: (!destinations.is_empty()).then(|| joined(destinations)),
        segments: Some(segments),
    };
    of_segments.into_iter().map(set).collect()
}

/// Runs in order, those that meet made one.
pub fn joined(mut runs: Runs) -> Runs {
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

impl Head {
    /// Whether this is a document that can be read here; `Err` says what is not.
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

/// Who takes what is read. What it refuses is an error at that place of the document.
pub trait Reader {
    /// Comes first.
    fn head(&mut self, head: Head) -> Result<(), String>;
    /// Comes next, again and again.
    fn event(&mut self, event: Event) -> Result<(), String>;
}

/// Reads a document: head, events one by one, and the outcome, if it says one. Errors say line and
/// column.
pub fn read(
    document: impl Read,
    reader: &mut dyn Reader,
) -> Result<Option<Outcome>, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_reader(document);
    let outcome = Document(reader).deserialize(&mut json)?;
    json.end()?;
    Ok(outcome)
}

struct Document<'a>(&'a mut dyn Reader);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Option<Outcome>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Option<Outcome>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `schedule` and `events`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut headed, mut read, mut outcome) = (false, false, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schedule" if !headed => {
                    let head: Head = map.next_value()?;
                    head.check().and_then(|()| self.0.head(head)).map_err(A::Error::custom)?;
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
                    return Err(A::Error::custom(format!("`{key}` is there twice")));
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

struct Events<'a>(&'a mut dyn Reader);

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

/// Refused while the parser is at its end, an event is at the place that the error says.
struct OneEvent<'a>(&'a mut dyn Reader);

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
        let event = Event::deserialize(MapAccessDeserializer::new(map))?;
        self.0.event(event).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests;
