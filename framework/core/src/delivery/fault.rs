//! What a schedule can do wrong, and where.

use crate::network::topology::RouteError;
use std::fmt;

/// A block, by nodes of the machine; a side that a collective doesn't tell blocks apart by is left out. Where blocks are summed, what a node contributes
/// to a sum, or the sum itself where no origin is named.
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
pub struct Place {
    /// In the schedule's grid.
    pub virtual_node: u64,
    /// The node of the machine that runs it.
    pub physical: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.virtual_node)?;
        if self.virtual_node == self.physical {
            Ok(())
        } else {
            write!(f, " (on node {} of the machine)", self.physical)
        }
    }
}

/// A broken rule: the schedule does not do what it should. Steps count from 1 and include those in which nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A node number out of range.
    #[error("step {step}: {role} {node} is unknown, the schedule's grid has nodes 0 to {last}")]
    UnknownNode {
        /// In which step.
        step: u64,
        /// What it was to be: `sender` or `receiver`.
        role: &'static str,
        /// The number that was given.
        node: u64,
        /// The highest that exists.
        last: u64,
    },
    /// Sender and receiver are the same, and the send isn't marked as a local copy.
    #[error("step {step}: {node} sends to itself, which is no message (mark a local copy as such)")]
    SentToItself {
        /// In which step.
        step: u64,
        /// Sender and receiver at once.
        node: Place,
    },
    /// A strict send of what the sender doesn't hold.
    #[error("step {step}: {from} sends {to} {block}, which it does not hold{whereabouts}")]
    NotHeld {
        /// In which step.
        step: u64,
        /// The node that sends it.
        from: Place,
        /// The node it is sent to.
        to: Place,
        /// The first such block.
        block: Block,
        /// Where the block is instead.
        whereabouts: Whereabouts,
    },
    /// A block reached a node that has it.
    #[error("step {step}: {block} is delivered twice, {node} has it already")]
    DeliveredTwice {
        /// In which step.
        step: u64,
        /// The node that has it.
        node: Place,
        /// The first such block.
        block: Block,
    },
    /// A sum with a contribution in it that the receiver's own has, too.
    #[error("step {step}: {node} counts {block} twice: its own value has it, and so has what it is sent to combine")]
    CountedTwice {
        /// The step.
        step: u64,
        /// The receiver.
        node: Place,
        /// The first such contribution.
        block: Block,
    },
    /// A value replaced by one without a contribution of its own.
    #[error(
        "step {step}: {node} loses {block}: what it is sent replaces its own value, which has it (combine the two)"
    )]
    Replaced {
        /// The step.
        step: u64,
        /// The receiver.
        node: Place,
        /// The first such contribution.
        block: Block,
    },
    /// The schedule ended too early.
    #[error(
        "after step {step}: {block} was never delivered to {node}{whereabouts}; {missing} in all are missing, at {nodes}"
    )]
    NeverDelivered {
        /// The schedule's last step.
        step: u64,
        /// Who should have it.
        node: Place,
        /// The first such block.
        block: Block,
        /// Where the block is instead.
        whereabouts: Whereabouts,
        /// How many are missing.
        missing: Count,
        /// How many nodes miss some.
        nodes: Count,
    },
    /// A set that makes no sense in the schedule's grid.
    #[error("step {step}: in the send from {from} to {to}, the set of {side} {what}")]
    BadSet {
        /// In which step.
        step: u64,
        /// The sender, in the schedule's grid.
        from: u64,
        /// The receiver, in the schedule's grid.
        to: u64,
        /// `origins`, `destinations` or `segments`.
        side: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// A route that doesn't exist.
    #[error("step {step}: the message from node {from} to node {to} can't be routed: {source}")]
    BadRoute {
        /// In which step.
        step: u64,
        /// The sender, on the machine.
        from: u64,
        /// The receiver, on the machine.
        to: u64,
        /// What is wrong with the route.
        source: RouteError,
    },
    /// A grid or a placement that doesn't fit the machine.
    #[error("the schedule's grid: {0}")]
    BadGrid(String),
    /// A send of a node that the schedule was not to plan for.
    #[error(
        "step {step}: node {from} sends, which is not planned for: what it sends follows from what node {representative} does"
    )]
    NotPlannedFor {
        /// The step.
        step: u64,
        /// The sender.
        from: u64,
        /// The one that is planned for in its orbit.
        representative: u64,
    },
    /// What is wrong at a node is wrong at so many others, for a group maps the schedule onto itself.
    #[error("{0}, and so at {1}")]
    ForOrbit(Box<Fault>, Count),
    /// A group that does not act on the grid.
    #[error("the schedule's symmetry: {0}")]
    BadSymmetry(String),
    /// A redistribution that makes no sense.
    #[error("after step {step}: node {node} {what}")]
    BadRedistribution {
        /// The schedule's last step.
        step: u64,
        /// The node of the schedule's grid that redistributes.
        node: u64,
        /// What is wrong, as the end of a sentence.
        what: String,
    },
    /// A send of what can't be sent.
    #[error("step {step}: what node {from} sends node {to} {what}")]
    BadShare {
        /// In which step.
        step: u64,
        /// The sender, in the schedule's grid.
        from: u64,
        /// The receiver, in the schedule's grid.
        to: u64,
        /// What is wrong, as the end of a sentence.
        what: String,
    },
    /// The schedule ended with something redistributed and not sent.
    #[error("after step {step}: node {node} has not sent bucket {bucket} of what it redistributed")]
    BucketUnsent {
        /// The schedule's last step.
        step: u64,
        /// The node of the schedule's grid that redistributed.
        node: u64,
        /// The first such bucket.
        bucket: u64,
    },
    /// The schedule of byte counts ended too early.
    #[error(
        "after step {step}: {node} still has {bytes} for node {destination}; {all} in all are not at their destination, at {nodes}"
    )]
    Astray {
        /// The schedule's last step.
        step: u64,
        /// The node that has them.
        node: Place,
        /// The node that should have them.
        destination: u64,
        /// How many it has for that destination.
        bytes: Count,
        /// How many are astray in all.
        all: Count,
        /// How many nodes hold some.
        nodes: Count,
    },
    /// What the plugin calls the send at fault.
    #[error("{fault} [{label}]")]
    Labelled {
        /// In its words.
        label: String,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// What a plugin found wrong with a schedule that it was given to hand on.
    #[error("{0}")]
    Found(String),
    /// No broken rule: the case asks for more than can be followed, or for what doesn't go together.
    #[error("{0}")]
    Refused(String),
    /// A call at the wrong time.
    #[error("{0}")]
    OutOfOrder(&'static str),
}

impl Fault {
    /// The same, of a send that the plugin calls so; an empty label says nothing.
    #[must_use]
    pub fn labelled(self, label: String) -> Self {
        match self {
            Self::Refused(_) => self,
            fault if label.is_empty() => fault,
            fault => Self::Labelled { label, fault: Box::new(fault) },
        }
    }
}

impl Fault {
    pub(crate) const COMBINES_NOTHING: Self =
        Self::OutOfOrder("the schedule combines what it sends, in a collective that sums nothing");
}

/// Where a block is that isn't where it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// Another node holds it.
    At(Place),
    /// Another node holds it, to which this step took it.
    AtSince(Place, u64),
    /// It is on its way there in this very step.
    Arriving(Place),
    /// Its destination holds it.
    Delivered(Place),
    /// There is no such block.
    Nowhere,
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => write!(f, " (it is at {place})"),
            Self::AtSince(place, step) => write!(f, " (it is at {place}, where step {step} took it)"),
            Self::Arriving(place) => write!(f, " (it arrives at {place} in this step, and can be sent on in the next)"),
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
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}
