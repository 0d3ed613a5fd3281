//! Background traffic: messages of other programs on the links, from a file that a machine names.

use crate::cost::parameter::{DefaultValue, TypedParameter};
use std::fmt::{self, Display};
use std::sync::Arc;

/// Messages of other programs, sent while the schedule runs. Each is a flow: it starts at time 0
/// and ends when all of its bytes have arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    ranks: u64,
    flows: Vec<(u32, u32, u64)>,
}

impl Background {
    /// Creates flows among `ranks` ranks. `bytes(from, to)` returns the bytes that one rank sends
    /// to another. Bytes from a rank to itself cross no link and are ignored.
    pub fn new(ranks: u64, bytes: impl Fn(u64, u64) -> u64) -> Self {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let flow = |(from, to)| (from as u32, to as u32, bytes(from, to));
        Self {
            ranks,
            flows: pairs.map(flow).filter(|(from, to, bytes)| from != to && *bytes > 0).collect(),
        }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// Returns the flows as (sender, receiver, bytes).
    pub fn flows(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.flows.iter().copied()
    }
}

pub(super) static BACKGROUND: TypedParameter<BackgroundFile> = TypedParameter {
    key: "background",
    meaning: "file with background traffic: N rows of N byte counts, from each rank (row) to each rank, as in the workload `matrix`; all flows start at time 0 and share the links; `none` for no traffic",
    symbols: "",
    default: DefaultValue::Text(NONE),
    read: BackgroundFile::read,
};

const NONE: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackgroundFile(Option<Arc<str>>);

impl BackgroundFile {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            NONE => Ok(Self(None)),
            // These characters have a meaning in specs.
            name if name.is_empty() || name.contains([',', '=', '(', ')']) => {
                Err(format!("`{NONE}` or a file, without a comma, `=` or parenthesis in its name"))
            }
            name => Ok(Self(Some(name.into()))),
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

impl Display for BackgroundFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or(NONE))
    }
}
