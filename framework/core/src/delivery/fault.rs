//! Faults: violations of rules by a schedule. Unless stated otherwise, nodes are those of the
//! schedule's grid.

use crate::network::topology::RouteError;
use std::fmt;

/// The violation of a rule by a schedule. Steps are numbered from 1, including steps without sends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of the variants show what their fields are")]
pub enum Fault {
    #[error("step {0}: {1}")]
    Send(u64, SendFault),
    #[error("step {0}: {1}")]
    Delivery(u64, DeliveryFault),
    #[error("after step {0}: {1}")]
    End(u64, EndFault),
    #[error("after step {step}: node {node} {what}")]
    BadRedistribution { step: u64, node: u64, what: String },
    #[error("the schedule's grid: {0}")]
    BadGrid(String),
    #[error("the schedule's symmetry: {0}")]
    BadSymmetry(String),
    #[error("{start}: {0}", start = Self::WRONG_SYMMETRY)]
    WrongSymmetry(String),
    /// A fault of a representative, and the number of other nodes of its orbit with the same fault.
    #[error("{0}; the same fault occurs at {1}")]
    ForOrbit(Box<Fault>, Count),
    /// A fault of a send to which the plugin gave a label.
    #[error("{fault} [{label}]")]
    Labelled { label: String, fault: Box<Fault> },
    /// A fault that a plugin found in a schedule that it read.
    #[error("{0}")]
    Plugin(String),
    /// A case that exceeds a limit or combines exclusive options. The schedule breaks no rule.
    #[error("{0}")]
    Refused(String),
    /// A call that is not permitted at this point of the schedule.
    #[error("{0}")]
    OutOfOrder(&'static str),
}

impl Fault {
    /// Adds the label of the send to the fault. If the label is empty, or if the schedule is not at
    /// fault, returns the fault unchanged.
    #[must_use]
    pub fn labelled(self, label: String) -> Self {
        match self {
            Self::Refused(_) => self,
            fault if label.is_empty() => fault,
            fault => Self::Labelled { label, fault: Box::new(fault) },
        }
    }

    #[inline]
    pub(crate) fn check_ends(step: u64, (from, to): (u64, u64), nodes: u64) -> Result<(), Self> {
        for (role, node) in [("sender", from), ("receiver", to)] {
            if node >= nodes {
                return Err(Self::Send(
                    step,
                    SendFault::UnknownNode { role, node, last: nodes - 1 },
                ));
            }
        }
        Ok(())
    }

    /// The beginning of the message of [`Fault::WrongSymmetry`].
    pub const WRONG_SYMMETRY: &str = "the claim of symmetry is wrong";

    /// The schedule claims a symmetry, but has sends whose data a switch adds or copies.
    pub const SYMMETRIC_IN_SWITCH: Self = Self::OutOfOrder(
        "the schedule claims a symmetry, but has sends whose reducer or multicaster is a switch",
    );

    pub(crate) const COMBINES_NOTHING: Self =
        Self::OutOfOrder("the schedule combines values, but the collective is not a reduction");
}

/// A send that is invalid for any data that the nodes hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of the variants show what their fields are")]
pub enum SendFault {
    #[error("{role} {node} is unknown, the schedule's grid has nodes 0 to {last}")]
    UnknownNode { role: &'static str, node: u64, last: u64 },
    #[error("{node} sends to itself (a local copy must be marked as such)")]
    SentToItself { node: PlacedNode },
    #[error("in the send from {from} to {to}, the set of {side} {what}")]
    BadSet {
        from: u64,
        to: u64,
        /// The name of the set: `origins`, `destinations` or `segments`.
        side: &'static str,
        what: String,
    },
    #[error("the send of bytes from node {from} to node {to} {what}")]
    BadByteSend { from: u64, to: u64, what: String },
    #[error("the send from {from} to {to} {what}")]
    BadExtraBytes { from: u64, to: u64, what: String },
    /// An invalid use of a switch that adds or copies data. The nodes are those of the machine.
    #[error("the send from node {from} to node {to} {what}")]
    BadSwitch { from: u64, to: u64, what: String },
    /// An invalid route. The nodes are those of the machine.
    #[error("the message from node {from} to node {to} can't be routed: {source}")]
    BadRoute { from: u64, to: u64, source: RouteError },
    #[error(
        "node {from} sends, but the schedule is planned for its representative, node {representative}"
    )]
    NotPlanned { from: u64, representative: u64 },
    #[error("node {from} sends, but node {requested} is to be planned")]
    NotRequested { from: u64, requested: u64 },
}

/// A send that does not fit the data that its sender or its receiver holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of the variants show what their fields are")]
pub enum DeliveryFault {
    /// A strict send selects a block that the sender does not hold.
    #[error("{from} sends {to} {block}, which it does not hold{location}")]
    NotHeld { from: PlacedNode, to: PlacedNode, block: Block, location: BlockLocation },
    #[error("{block} is delivered twice: {node} already holds it")]
    DeliveredTwice { node: PlacedNode, block: Block },
    #[error("{node} counts {block} twice: it is in both its own value and the received one")]
    CountedTwice { node: PlacedNode, block: Block },
    /// Instead of a complete result, a node sends a value without some contribution, and the
    /// receiver never gets this contribution. This is found only at the end of the schedule.
    #[error(
        "{from} passes on to {to} a value without {block}{location}; missing in total: {missing} at {nodes}"
    )]
    PassedOn {
        from: PlacedNode,
        to: PlacedNode,
        block: Block,
        location: BlockLocation,
        missing: Count,
        nodes: Count,
    },
    #[error(
        "{node} loses {block}: the received value replaces its own value, which contains it (combine the two)"
    )]
    Replaced { node: PlacedNode, block: Block },
}

/// An incomplete result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of the variants show what their fields are")]
pub enum EndFault {
    #[error(
        "{block} was never delivered to {node}{location}; missing in total: {missing} at {nodes}"
    )]
    NeverDelivered {
        node: PlacedNode,
        block: Block,
        location: BlockLocation,
        missing: Count,
        nodes: Count,
    },
    #[error("node {node} has not sent bucket {bucket} of what it redistributed")]
    BucketUnsent { node: u64, bucket: u64 },
    #[error(
        "{node} still holds {bytes} for node {destination}; misplaced in total: {all} at {nodes}"
    )]
    MisplacedBytes { node: PlacedNode, destination: u64, bytes: Count, all: Count, nodes: Count },
}

/// A block, given by nodes of the machine. In a reduction, it is a contribution or, if `origin` is
/// `None`, a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The node that has the block at the start; `None` if origins are not distinguished.
    pub origin: Option<u64>,
    /// The node that needs the block; `None` if destinations are not distinguished.
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

/// A node of the schedule's grid, and the node of the machine on which it runs.
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

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn only_faults_of_a_labelled_send_have_a_label() {
        let fault = || Fault::OutOfOrder("too late");
        let message = |label: &str| fault().labelled(label.to_owned()).to_string();
        assert_eq!(message("ring.c:7"), "too late [ring.c:7]");
        assert_eq!(message(""), "too late");
        let refused = Fault::Refused("too large".to_owned()).labelled("ring.c:7".to_owned());
        assert_eq!(refused.to_string(), "too large");
    }
}
