//! What faults speak of: blocks, where they are, and how many.

use std::fmt;

/// A block, by nodes of the machine; a side that a collective doesn't tell blocks apart by is left
/// out. Where blocks are summed, what a node contributes to a sum, or the sum itself where no
/// origin is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Where it comes from.
    pub origin: Option<u64>,
    /// Where it is to end.
    pub destination: Option<u64>,
    /// Which of the parts it is, one a node, where the schedule lays blocks out in them.
    pub part: Option<u64>,
    /// Which segment of it, where blocks are split.
    pub segment: Option<u64>,
    /// Whether it is to be summed with others.
    pub is_summed: bool,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = self.origin.filter(|_| self.is_summed) {
            write!(f, "node {origin}'s contribution to ")?;
        }
        if let Some(segment) = self.segment {
            write!(f, "segment {segment} of ")?;
        }
        if let Some(part) = self.part {
            write!(f, "part {part} of ")?;
        }
        match (self.origin, self.destination) {
            (_, Some(d)) if self.is_summed => write!(f, "the result of node {d}"),
            (_, None) if self.is_summed => write!(f, "the vector"),
            (Some(o), Some(d)) => write!(f, "block {o} -> {d}"),
            (Some(o), None) => write!(f, "the block of node {o}"),
            (None, Some(d)) => write!(f, "the block for node {d}"),
            (None, None) => write!(f, "the root's block"),
        }
    }
}

/// A node of the schedule's grid, with the node of the machine that runs it where the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedNode {
    /// In the schedule's grid.
    pub virtual_node: u64,
    /// The node of the machine that runs it.
    pub physical: u64,
}

impl fmt::Display for PlacedNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.virtual_node)?;
        if self.virtual_node == self.physical {
            Ok(())
        } else {
            write!(f, " (on node {} of the machine)", self.physical)
        }
    }
}

/// Where a block is that isn't where it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockLocation {
    /// Another node holds it.
    At(PlacedNode),
    /// Another node holds it, to which this step took it.
    AtSince(PlacedNode, u64),
    /// It is on its way there in this very step.
    Arriving(PlacedNode),
    /// Its destination holds it.
    Delivered(PlacedNode),
    /// There is no such block.
    Nowhere,
}

impl fmt::Display for BlockLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => write!(f, " (it is at {place})"),
            Self::AtSince(place, step) => {
                write!(f, " (it is at {place}, where step {step} took it)")
            }
            Self::Arriving(place) => {
                write!(f, " (it arrives at {place} in this step, and can be sent on in the next)")
            }
            Self::Delivered(place) => write!(f, " (it is at {place}, its destination)"),
            Self::Nowhere => write!(f, " (nobody holds such a block)"),
        }
    }
}

/// A number with its noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64, pub &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" }))
    }
}
