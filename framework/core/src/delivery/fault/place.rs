//! The blocks, nodes and counts that messages of faults mention.

use std::fmt;

/// A block, identified by nodes of the machine. `origin` is `None` if the collective does not
/// distinguish blocks by their origins, and `destination` is `None` if it does not distinguish them
/// by their destinations.
///
/// In a reduction, this is a contribution. If `origin` is `None`, it is a whole value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The node that the block comes from.
    pub origin: Option<u64>,
    /// The node that the block is destined for.
    pub destination: Option<u64>,
    /// The part of the block, if blocks are divided into one part per node.
    pub part: Option<u64>,
    /// The segment of the block, if blocks are divided into segments.
    pub segment: Option<u64>,
    /// The class of tokens of a dispatch or a combine.
    pub token: Option<u64>,
    /// Whether the collective is a reduction.
    pub is_summed: bool,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = self.origin.filter(|_| self.is_summed) {
            write!(f, "node {origin}'s contribution to ")?;
        }
        if let Some((token, node)) = self.token.zip(self.destination.or(self.origin)) {
            return write!(f, "token class {token} of node {node}");
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

/// A node of the schedule's grid and the node of the machine that runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedNode {
    /// The node of the schedule's grid.
    pub virtual_node: u64,
    /// The node of the machine.
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

/// The location of a block that a node lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockLocation {
    /// Another node holds the block.
    At(PlacedNode),
    /// Another node has held the block since the given step.
    AtSince(PlacedNode, u64),
    /// The block is in flight to this node in the current step.
    Arriving(PlacedNode),
    /// The destination of the block holds it.
    Delivered(PlacedNode),
    /// No node holds the block.
    Nowhere,
}

impl fmt::Display for BlockLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => write!(f, " (it is at {place})"),
            Self::AtSince(place, step) => {
                write!(f, " (it is at {place} since step {step})")
            }
            Self::Arriving(place) => {
                write!(f, " (it reaches {place} in this step and can be forwarded in the next)")
            }
            Self::Delivered(place) => write!(f, " (it is at {place}, its destination)"),
            Self::Nowhere => write!(f, " (no node holds it)"),
        }
    }
}

/// A number and a noun in the singular, such as `Count(2, "node")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64, pub &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" }))
    }
}
