//! Faults. A fault is the violation of a rule by a schedule.

mod delivery;
mod end;
mod place;
mod send;

pub use delivery::DeliveryFault;
pub use end::EndFault;
pub use place::{Block, BlockLocation, Count, PlacedNode};
pub use send::SendFault;

/// The violation of a rule by a schedule. Steps are counted from 1, including steps in which
/// nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An invalid send in a step.
    #[error("step {0}: {1}")]
    Send(u64, SendFault),
    /// A send or a delivery that does not fit the data that the nodes hold in a step.
    #[error("step {0}: {1}")]
    Delivery(u64, DeliveryFault),
    /// An incomplete result after the last step.
    #[error("after step {0}: {1}")]
    End(u64, EndFault),
    /// An invalid redistribution.
    #[error("after step {step}: node {node} {what}")]
    BadRedistribution {
        /// The number of the last step before the redistribution.
        step: u64,
        /// The node of the schedule's grid that redistributes.
        node: u64,
        /// The reason why the redistribution is invalid, as the end of a sentence.
        what: String,
    },
    /// A grid or placement that does not fit the machine.
    #[error("the schedule's grid: {0}")]
    BadGrid(String),
    /// A group that does not act on the grid.
    #[error("the schedule's symmetry: {0}")]
    BadSymmetry(String),
    /// A send that contradicts the symmetry which the schedule claims.
    #[error("{start}: {0}", start = Self::WRONG_SYMMETRY)]
    WrongSymmetry(String),
    /// A fault of a representative, and the number of other nodes of its orbit, which have the same
    /// fault because of the symmetry.
    #[error("{0}; the same fault occurs at {1}")]
    ForOrbit(Box<Fault>, Count),
    /// A fault of a send to which the plugin gave a label.
    #[error("{fault} [{label}]")]
    Labelled {
        /// The label of the send, as the plugin gave it.
        label: String,
        /// The fault, without the label.
        fault: Box<Fault>,
    },
    /// A fault that a plugin found in a schedule that it read.
    #[error("{0}")]
    Plugin(String),
    /// A case that exceeds a limit or combines options that exclude each other. The schedule itself
    /// breaks no rule.
    #[error("{0}")]
    Refused(String),
    /// A call that is not permitted at this point of the schedule.
    #[error("{0}")]
    OutOfOrder(&'static str),
}

impl Fault {
    /// Adds the label of the send, unless the label is empty or the schedule is not at fault.
    #[must_use]
    pub fn labelled(self, label: String) -> Self {
        match self {
            Self::Refused(_) => self,
            fault if label.is_empty() => fault,
            fault => Self::Labelled { label, fault: Box::new(fault) },
        }
    }

    /// Errors if the sender or the receiver of a send is not a node of a grid of `nodes` nodes.
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

    pub(crate) const COMBINES_NOTHING: Self =
        Self::OutOfOrder("the schedule combines values, but the collective is not a reduction");
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
