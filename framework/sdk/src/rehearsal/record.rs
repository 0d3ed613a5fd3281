//! The record of a rehearsed schedule, and the settings of a rehearsal.

use crate::problem::{Link, TokenClass};
use crate::send::ByteCount;

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) block_bytes: u64,
    pub(super) sizes: Vec<Vec<u64>>,
    pub(super) tokens: Vec<Vec<TokenClass>>,
    pub(super) ports: u64,
    pub(super) virtual_channels: u64,
    pub(super) shares_routes: bool,
    pub(super) element_bytes: u64,
    pub(super) nodes: u64,
    /// Tail, head and bandwidth of each link. Vertices from `nodes` on are switches.
    pub(super) links: Vec<(u64, u64, f64)>,
    pub(super) reducing: Vec<u64>,
    pub(super) skip_empty: bool,
    /// Start-up time, time per link and time per byte in microseconds.
    pub(super) times_us: [f64; 3],
}

impl Settings {
    pub(super) fn vertices(&self) -> u64 {
        self.links.iter().map(|(from, to, _)| from.max(to) + 1).fold(self.nodes, u64::max)
    }

    pub(super) fn links_of(&self, vertex: u64) -> Vec<Link> {
        let links = self.links.iter().filter(|(from, ..)| *from == vertex);
        let mut links: Vec<Link> =
            links.map(|&(_, to, bandwidth)| Link { to, bandwidth, latency: 1.0 }).collect();
        links.sort_by_key(|link| link.to);
        links
    }

    pub(super) fn class(&self, node: u64, class: u64) -> Option<&TokenClass> {
        self.tokens.get(node as usize)?.get(class as usize)
    }

    /// If there are tokens, returns the largest number of classes of a node, at least 1.
    pub(super) fn classes(&self) -> Option<u64> {
        let most = self.tokens.iter().map(Vec::len).max()?;
        Some((most as u64).max(1))
    }

    pub(super) fn bytes(&self, from: u64, to: u64) -> u64 {
        let row = self.sizes.get(from as usize);
        let default = if self.sizes.is_empty() { self.block_bytes } else { 0 };
        row.and_then(|row| row.get(to as usize)).copied().unwrap_or(default)
    }
}

/// A step of a rehearsed schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedStep {
    /// Name of the phase of the step; empty if the schedule names none.
    pub phase: String,
    /// Sends of the step, in the plugin's order.
    pub sends: Vec<RehearsedSend>,
}

/// A send of a rehearsed schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedSend {
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// Selected origins, in ascending order.
    pub origins: Vec<u64>,
    /// Selected destinations, in ascending order.
    pub destinations: Vec<u64>,
    /// Selected segments of each block, in ascending order; only segment 0 if blocks are not split.
    pub segments: Vec<u64>,
    /// Whether the sender keeps the blocks that it sends.
    pub copies: bool,
    /// In a reduction, whether the receiver adds the received values to its own.
    pub combines: bool,
    /// Whether the sender must hold every selected block.
    pub is_strict: bool,
    /// Whether sender and receiver may be the same node.
    pub is_local: bool,
    /// The plugin's name for the send in error messages.
    pub label: String,
    /// The requested route. It is empty if the message takes the topology's own route.
    pub route: RehearsedRoute,
    /// Bytes that the message carries in addition to the blocks.
    pub extra_bytes: u64,
    /// The switch that adds the values; 0 for none.
    pub reducer: u64,
    /// The switch that copies the blocks; 0 for none.
    pub multicaster: u64,
    /// Number of the sent bucket, if this is a send of a bucket.
    pub bucket: Option<u64>,
    /// Number of bytes for each destination, if this is a send of byte counts; otherwise empty.
    pub byte_counts: Vec<ByteCount>,
}

/// The requested route of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RehearsedRoute {
    /// The direction in each dimension: 1, -1 or 0 (the shorter one); empty if none is requested.
    pub signs: Vec<i8>,
    /// The order in which the route crosses the dimensions; empty if none is requested.
    pub order: Vec<u32>,
    /// The nodes after the sender, ending with the receiver; empty if no path is requested.
    pub path: Vec<u64>,
}

/// A redistribution by one node, as in [`Redistribution`](crate::Redistribution).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedRedistribution {
    /// Number of the schedule's steps that precede the redistribution.
    pub after: u64,
    /// The node of the schedule's grid that redistributes its data.
    pub node: u64,
    /// Number of buckets.
    pub buckets: u64,
    /// Number of elements after which the numbers of the elements start again at 0.
    pub cycle: u64,
    /// The bucket of an element with the number 0, if its destination has no offset.
    pub first: u64,
    /// For each destination the number of its first element; empty if it is 0 for all destinations.
    pub starts: Vec<u32>,
    /// For each destination an offset that is added to `first`; empty if it is 0 for all.
    pub firsts: Vec<u32>,
}

/// A rehearsed schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rehearsed {
    /// Number of coordinates in each dimension of the schedule's grid.
    pub radices: Vec<u64>,
    /// Number of segments into which each block is split; 1 for whole blocks.
    pub segments: u64,
    /// Whether each block is cut into parts, one for each node of the machine, before segments.
    pub in_parts: bool,
    /// Whether the schedule moves byte counts instead of blocks.
    pub moves_byte_counts: bool,
    /// All steps in order, including steps without sends.
    pub steps: Vec<RehearsedStep>,
    /// The placed nodes: the node of the schedule's grid, the node of the machine that runs it, and
    /// whether it is the home of this machine node.
    pub placements: Vec<(u64, u64, bool)>,
    /// Redistributions in the plugin's order.
    pub redistributions: Vec<RehearsedRedistribution>,
    /// Number of times that every node rearranges all its data in memory.
    pub rearrangements: u64,
    /// Lines that the plugin wrote to the log.
    pub log: Vec<String>,
}
