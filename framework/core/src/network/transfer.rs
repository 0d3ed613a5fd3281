//! A message as the network sees it.

/// A message of a step, between two different nodes of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Sender, a node of the machine.
    pub from: u32,
    /// Receiver, a node of the machine.
    pub to: u32,
    /// How it travels: an index into the step's own routes plus one; 0 is the topology's own route.
    pub route: u32,
    /// Directed links crossed: none between two ranks that share a node.
    pub hops: u32,
    /// Blocks when sizes are uniform, bytes otherwise; times the number of segments where blocks
    /// are split.
    pub load: u64,
}
