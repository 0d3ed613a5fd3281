//! Messages as the network sees them.

/// A message of a step between two different nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The route: an index into the routes of the step plus one, or 0 for the topology's own route.
    pub route: u32,
    /// Directed links on the route; none between two ranks that share a node.
    pub hops: u32,
    /// The amount of data: blocks if sizes are uniform, otherwise bytes; multiplied by the number
    /// of segments if blocks are split.
    pub load: u64,
}
