//! What a schedule can do wrong, and where.

mod delivery;
mod end;
mod place;
mod send;

pub use delivery::DeliveryFault;
pub use end::EndFault;
pub use place::{Block, BlockLocation, Count, PlacedNode};
pub use send::SendFault;

/// A broken rule: the schedule does not do what it should. Steps count from 1 and include those in
/// which nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// In this step, a send that can't be.
    #[error("step {0}: {1}")]
    Send(u64, SendFault),
    /// In this step, a send that delivers what it can't.
    #[error("step {0}: {1}")]
    Delivery(u64, DeliveryFault),
    /// After this step, the last, something is missing.
    #[error("after step {0}: {1}")]
    End(u64, EndFault),
    /// A redistribution that makes no sense.
    #[error("after step {step}: node {node} {what}")]
    BadRedistribution {
        /// The step before it.
        step: u64,
        /// The node of the schedule's grid that redistributes.
        node: u64,
        /// What is wrong, as the end of a sentence.
        what: String,
    },
    /// A grid or a placement that doesn't fit the machine.
    #[error("the schedule's grid: {0}")]
    BadGrid(String),
    /// A group that does not act on the grid.
    #[error("the schedule's symmetry: {0}")]
    BadSymmetry(String),
    /// What is wrong at a node is wrong at so many others, for a group maps the schedule onto
    /// itself.
    #[error("{0}, and so at {1}")]
    ForOrbit(Box<Fault>, Count),
    /// What the plugin calls the send at fault.
    #[error("{fault} [{label}]")]
    Labelled {
        /// The plugin's own text, as it gave it.
        label: String,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// What a plugin found wrong with a schedule that it was given to hand on.
    #[error("{0}")]
    Plugin(String),
    /// No broken rule: the case asks for more than can be followed, or for what doesn't go
    /// together.
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

    pub(crate) const COMBINES_NOTHING: Self =
        Self::OutOfOrder("the schedule combines what it sends, in a collective that sums nothing");
}
