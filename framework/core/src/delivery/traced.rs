//! The common interface of the three kinds of tracing: steps, the kind of proof, loads, and the
//! contents of messages.

use crate::delivery::fault::{Block, Fault, PlacedNode};
use crate::delivery::grid::Embedding;
use std::fmt::Debug;

/// The kind of data whose delivery is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proof {
    /// Each block was traced to its destination.
    #[default]
    Blocks,
    /// Bytes were traced to their destinations, but their origins were not traced.
    ByteCounts,
    /// Each contribution was traced, and each result contains each of its contributions once.
    Contributions,
}

impl Proof {
    pub(crate) fn of(is_reduction: bool) -> Self {
        if is_reduction { Self::Contributions } else { Self::Blocks }
    }
}

/// The data that nodes hold: blocks, tokens or byte counts. There is a load for each node of the
/// machine or, in a symmetric schedule, for each representative.
pub(crate) trait Traced: Debug {
    fn proof(&self) -> Proof;

    fn begin_step(&mut self);

    fn end_step(&mut self) -> Result<(), Fault>;

    fn verify(&mut self) -> Result<(), Fault>;

    /// Returns and clears the first delivery of a block that the receiver already held. Always
    /// returns `None` if only representatives are planned, or if byte counts or tokens are traced.
    fn take_redundant(&mut self) -> Option<(PlacedNode, Block)> {
        None
    }

    /// Returns the number of load units per block. It is 1 for explicit sizes, because their loads
    /// are in bytes.
    fn segments(&self) -> u64;

    fn in_parts(&self) -> bool {
        false
    }

    fn loads(&self) -> &Loads;

    /// Returns the last step in which the sender of the last send received any of the sent data; 0
    /// if it is unknown.
    fn latest_arrival(&self) -> u64;

    fn embedding(&self) -> &Embedding;

    fn verified_on(&self) -> u64 {
        self.embedding().machine_nodes()
    }
}

#[derive(Debug)]
pub(crate) struct Loads {
    held: Vec<u64>,
    peak: u64,
    /// The load that each node reduced in the current step or, if `is_ended`, in the last step. May
    /// be empty if no node has reduced anything.
    summed: Vec<u64>,
    summing: Vec<u64>,
    is_ended: bool,
}

impl Loads {
    pub(crate) fn new(held: Vec<u64>) -> Self {
        let peak = held.iter().copied().max().unwrap_or(0);
        Self { held, peak, summed: Vec::new(), summing: Vec::new(), is_ended: false }
    }

    /// Moves a load to another node or, if `copy`, adds it there. A load may wrap around until
    /// [`Loads::discarded`] is called.
    #[inline]
    pub(crate) fn moved(&mut self, (from, to): (u64, u64), copy: bool, load: u64) {
        if !copy {
            self.held[from as usize] -= load;
        }
        let held = &mut self.held[to as usize];
        *held = held.wrapping_add(load);
    }

    pub(crate) fn discarded(&mut self, node: u64, load: u64) {
        let held = &mut self.held[node as usize];
        *held = held.wrapping_sub(load);
    }

    pub(crate) fn summed(&mut self, node: u64, load: u64) {
        self.summed.resize(self.held.len(), 0);
        self.clear_last_step();
        let summed = &mut self.summed[node as usize];
        if *summed == 0 {
            self.summing.push(node);
        }
        *summed += load;
    }

    fn clear_last_step(&mut self) {
        if std::mem::take(&mut self.is_ended) {
            self.summing.drain(..).for_each(|node| self.summed[node as usize] = 0);
        }
    }

    pub(crate) fn most_summed(&self) -> u64 {
        self.summing.iter().map(|node| self.summed[*node as usize]).max().unwrap_or(0)
    }

    pub(crate) fn all_summed(&self) -> &[u64] {
        if self.summing.is_empty() { &[] } else { &self.summed }
    }

    /// Updates the peak at the end of a step. Only nodes that received data in this step can exceed
    /// the previous peak.
    pub(crate) fn end_step(&mut self, receivers: impl Iterator<Item = u64>) {
        self.peak = receivers.map(|node| self.held[node as usize]).fold(self.peak, u64::max);
        self.clear_last_step();
        self.is_ended = true;
    }

    pub(crate) fn held(&self) -> &[u64] {
        &self.held
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}

/// The blocks of a send or a message. If there are several blocks, they are gathered at the sender
/// and scattered at the receiver. A block is the data of one node for another node, or for all. In
/// a reduction, it is one value. Segments and parts count as fractions of a block. Blocks of 0
/// bytes do not count.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Contents {
    of: Blocks,
    count: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Blocks {
    #[default]
    Nothing,
    /// One block, or pieces of one block. It is given by its origin and its destination, as far as
    /// blocks are distinguished by these.
    One(u64, u64),
    Several,
}

impl Contents {
    pub(crate) const NOTHING: Self = Self { of: Blocks::Nothing, count: 0.0 };

    pub(crate) fn one(origin: u64, destination: u64, count: f64) -> Self {
        Self { of: Blocks::One(origin, destination), count }
    }

    pub(crate) fn several(count: f64) -> Self {
        Self { of: Blocks::Several, count }
    }

    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let of = match (self.of, other.of) {
            (Blocks::Nothing, rest) | (rest, Blocks::Nothing) => rest,
            (one, other) if one == other => one,
            _ => Blocks::Several,
        };
        Self { of, count: self.count + other.count }
    }

    pub(crate) fn rearranged(self) -> Option<f64> {
        (self.of == Blocks::Several).then_some(self.count)
    }
}
