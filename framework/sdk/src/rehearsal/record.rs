//! What is written down of a rehearsal, and what was set for it.

use swapmeet_abi::SwmByteCount;

/// What a plugin may ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub block_bytes: u64,
    pub ports: u64,
    pub virtual_channels: u64,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehearsedSend {
    /// The sender.
    pub from: u64,
    /// The receiver.
    pub to: u64,
    /// The origins of the blocks it is about, in order.
    pub origins: Vec<u64>,
    /// Their destinations, in order.
    pub destinations: Vec<u64>,
    /// Whether the sender keeps what it sends.
    pub copies: bool,
    /// Whether every block must be held.
    pub is_strict: bool,
    /// Whether sender and receiver may be the same.
    pub is_local: bool,
    /// Which segments of each block, in order; 0 alone where blocks are whole.
    pub segments: Vec<u64>,
    /// The way it should go; empty for the topology's own.
    pub route: RehearsedRoute,
    /// Which bucket of what the sender has redistributed, in a schedule of byte counts.
    pub bucket: Option<u64>,
    /// The bytes it names, in a schedule of byte counts.
    pub byte_counts: Vec<SwmByteCount>,
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

/// All that a plan said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rehearsed {
    /// Its steps.
    pub steps: Vec<RehearsedStep>,
    /// Nodes placed: node of the schedule's grid, node of the machine, whether it has blocks of its own.
    pub placements: Vec<(u64, u64, bool)>,
    /// Lines for the log.
    pub log: Vec<String>,
}
