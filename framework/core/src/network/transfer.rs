//! The messages of a step, as the network and the models see them.

/// A message of a step between two different nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The number of the route among the routes of the step, counted from 1; 0 for the topology's
    /// own route.
    pub route: u32,
    /// The number of directed links on the route, which is 0 between two ranks that share a node.
    pub hops: u32,
    /// The amount of data: in bytes if blocks have explicit sizes, otherwise in blocks or, if
    /// blocks are split, in segments of blocks.
    pub load: u64,
}
