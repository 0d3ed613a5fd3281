//! What a send said that can't be.

use super::place::PlacedNode;
use crate::network::topology::RouteError;

/// A send that can't be carried out, whoever holds what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendFault {
    /// A node number out of range.
    #[error("{role} {node} is unknown, the schedule's grid has nodes 0 to {last}")]
    UnknownNode {
        /// What it was to be: `sender` or `receiver`.
        role: &'static str,
        /// The number that was given.
        node: u64,
        /// The highest that exists.
        last: u64,
    },
    /// Sender and receiver are the same, and the send isn't marked as a local copy.
    #[error("{node} sends to itself, which is no message (mark a local copy as such)")]
    SentToItself {
        /// Sender and receiver at once.
        node: PlacedNode,
    },
    /// A set that makes no sense in the schedule's grid.
    #[error("in the send from {from} to {to}, the set of {side} {what}")]
    BadSet {
        /// The sender, in the schedule's grid.
        from: u64,
        /// The receiver, in the schedule's grid.
        to: u64,
        /// `origins`, `destinations` or `segments`.
        side: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// A send of what can't be sent.
    #[error("what node {from} sends node {to} {what}")]
    BadByteSend {
        /// The sender, in the schedule's grid.
        from: u64,
        /// The receiver, in the schedule's grid.
        to: u64,
        /// What is wrong, as the end of a sentence.
        what: String,
    },
    /// A route that doesn't exist.
    #[error("the message from node {from} to node {to} can't be routed: {source}")]
    BadRoute {
        /// The sender, on the machine.
        from: u64,
        /// The receiver, on the machine.
        to: u64,
        /// What is wrong with the route.
        source: RouteError,
    },
    /// A send of a node that the schedule was not to plan for.
    #[error(
        "node {from} sends, which is not planned for: what it sends follows from what node {representative} does"
    )]
    NotPlanned {
        /// The sender, in the schedule's grid.
        from: u64,
        /// The one that is planned for in its orbit.
        representative: u64,
    },
}
