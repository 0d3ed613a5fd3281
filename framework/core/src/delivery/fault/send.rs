//! Invalid sends.

use super::place::PlacedNode;
use crate::network::topology::RouteError;

/// A send that is invalid, whatever data the nodes hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendFault {
    /// A node number is out of range.
    #[error("{role} {node} is unknown, the schedule's grid has nodes 0 to {last}")]
    UnknownNode {
        /// The role of the node: `sender` or `receiver`.
        role: &'static str,
        /// The invalid node number.
        node: u64,
        /// The largest valid node number.
        last: u64,
    },
    /// Sender and receiver are the same node, and the send is not marked as a local copy.
    #[error("{node} sends to itself (a local copy must be marked as such)")]
    SentToItself {
        /// The node that is both sender and receiver.
        node: PlacedNode,
    },
    /// A set that does not fit the schedule's grid.
    #[error("in the send from {from} to {to}, the set of {side} {what}")]
    BadSet {
        /// The sender, as a node of the schedule's grid.
        from: u64,
        /// The receiver, as a node of the schedule's grid.
        to: u64,
        /// The name of the set: `origins`, `destinations` or `segments`.
        side: &'static str,
        /// The reason, as the end of a sentence.
        what: String,
    },
    /// An invalid selection of bytes.
    #[error("the send of bytes from node {from} to node {to} {what}")]
    BadByteSend {
        /// The sender, as a node of the schedule's grid.
        from: u64,
        /// The receiver, as a node of the schedule's grid.
        to: u64,
        /// The reason, as the end of a sentence.
        what: String,
    },
    /// Extra bytes that are not permitted.
    #[error("the send from {from} to {to} {what}")]
    BadExtraBytes {
        /// The sender, as a node of the schedule's grid.
        from: u64,
        /// The receiver, as a node of the schedule's grid.
        to: u64,
        /// The reason, as the end of a sentence.
        what: String,
    },
    /// An invalid route.
    #[error("the message from node {from} to node {to} can't be routed: {source}")]
    BadRoute {
        /// The sender, as a node of the machine.
        from: u64,
        /// The receiver, as a node of the machine.
        to: u64,
        /// The reason why the route is invalid.
        source: RouteError,
    },
    /// The sender is not the representative of its orbit.
    #[error(
        "node {from} sends, but the schedule is planned for its representative, node {representative}"
    )]
    NotPlanned {
        /// The sender, as a node of the schedule's grid.
        from: u64,
        /// The representative of its orbit.
        representative: u64,
    },
    /// A node sends although another node of its orbit is to be planned.
    #[error("node {from} sends, but node {requested} is to be planned")]
    NotRequested {
        /// The sender, as a node of the schedule's grid.
        from: u64,
        /// The node of its orbit that is to be planned.
        requested: u64,
    },
}
