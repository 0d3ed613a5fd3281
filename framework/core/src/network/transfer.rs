//! Messages as the network sees them.

/// A message of a step between two different nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The route: its index among the routes of the step, plus one; 0 stands for the topology's own
    /// route.
    pub route: u32,
    /// The number of directed links on the route, which is 0 between two ranks that share a node.
    pub hops: u32,
    /// The amount of data: blocks if sizes are uniform, otherwise bytes; multiplied by the number
    /// of segments if blocks are split.
    pub load: u64,
}
