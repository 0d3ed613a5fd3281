//! What is written down of a rehearsal, and what was set for it.

use crate::send::ByteCount;

/// What a plugin may ask for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) block_bytes: u64,
    /// Bytes that each node has for each, where they differ.
    pub(super) sizes: Vec<Vec<u64>>,
    pub(super) ports: u64,
    pub(super) virtual_channels: u64,
    pub(super) element_bytes: u64,
    /// Whether a message of no bytes is none.
    pub(super) skip_empty: bool,
    /// Start-up, time per link, time per byte.
    pub(super) prices: [f64; 3],
}

impl Asked {
    /// Bytes that a node of the machine has for another.
    pub(super) fn bytes(&self, from: u64, to: u64) -> u64 {
        let row = self.sizes.get(from as usize);
        row.and_then(|row| row.get(to as usize)).copied().unwrap_or(if self.sizes.is_empty() {
            self.block_bytes
        } else {
            0
        })
    }
}

/// A step of a rehearsed schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedStep {
    /// The phase it is in; empty if the schedule names none.
    pub phase: String,
    /// Its sends, in order.
    pub sends: Vec<RehearsedSend>,
}

/// A send of a rehearsed schedule; nodes are those of the schedule's grid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedSend {
    /// The sender, a node of the schedule's grid.
    pub from: u64,
    /// The receiver, a node of the schedule's grid.
    pub to: u64,
    /// The origins of the blocks it is about, in order.
    pub origins: Vec<u64>,
    /// Their destinations, in order.
    pub destinations: Vec<u64>,
    /// Which segments of each block, in order; 0 alone where blocks are whole.
    pub segments: Vec<u64>,
    /// Whether the sender keeps what it sends.
    pub copies: bool,
    /// Whether, in a reduction, the receiver adds it to what it has.
    pub combines: bool,
    /// Whether every block must be held.
    pub is_strict: bool,
    /// Whether sender and receiver may be the same.
    pub is_local: bool,
    /// What the plugin calls it in faults.
    pub label: String,
    /// The way it should go; empty for the topology's own.
    pub route: RehearsedRoute,
    /// Which bucket of what the sender has redistributed, in a schedule of byte counts.
    pub bucket: Option<u64>,
    /// The bytes it counts, in a schedule of byte counts.
    pub byte_counts: Vec<ByteCount>,
}

/// The way a message should go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedRoute {
    /// For each dimension 1, -1 or 0.
    pub signs: Vec<i8>,
    /// The order of the dimensions, where one is given.
    pub order: Vec<u32>,
    /// The nodes passed through.
    pub path: Vec<u64>,
}

/// A node's redistribution of all it holds, as [`Redistribution`](crate::Redistribution).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedRedistribution {
    /// After how many steps of the schedule.
    pub after: u64,
    /// The node of the schedule's grid that redistributes.
    pub node: u64,
    /// How many buckets there are.
    pub buckets: u64,
    /// After how many elements the round begins again.
    pub cycle: u64,
    /// The bucket that the first element goes to.
    pub first: u64,
    /// For each destination the number its elements begin with; empty for 0 everywhere.
    pub starts: Vec<u32>,
    /// For each destination what is added to `first`; empty for 0 everywhere.
    pub firsts: Vec<u32>,
}

/// All that a plan said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rehearsed {
    /// Radices of the schedule's grid.
    pub radices: Vec<u64>,
    /// Into how many segments blocks are split; 1 for whole ones.
    pub segments: u64,
    /// Whether they are cut into one part a node of the machine before that.
    pub in_parts: bool,
    /// Whether it moves byte counts instead of blocks.
    pub moves_byte_counts: bool,
    /// The steps in order, those in which nothing is sent among them.
    pub steps: Vec<RehearsedStep>,
    /// Nodes placed: node of the schedule's grid, node of the machine, whether it is that one's
    /// home.
    pub placements: Vec<(u64, u64, bool)>,
    /// Redistributions in the order in which they were asked for.
    pub redistributions: Vec<RehearsedRedistribution>,
    /// How many times every node rearranges what it holds.
    pub rearrangements: u64,
    /// Lines for the log.
    pub log: Vec<String>,
}
