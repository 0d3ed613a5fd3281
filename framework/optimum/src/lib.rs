//! Finds the least time in which a network can move given data, if only bandwidth counts and
//! latencies are ignored.
//!
//! The result is an interval. Its lower end follows from lengths of the links, and its upper end
//! from a flow (the data on each link). Both are written to a [`Certificate`], which
//! [`check()`](check::check) verifies without the solver.
//!
//! The modules are used in this order:
//!
//! 1. [`network`] lists the links of a topology, with whole numbers as capacities.
//! 2. [`demand`] converts a task to the amount of data that each node has for each other node.
//! 3. `flow` solves demands between pairs of nodes as a maximum concurrent flow. For collectives
//!    that copy or add data, `trees` finds packings of spanning trees of links, and `packing` finds
//!    packings of trees of messages.
//! 4. [`optimum`] converts the result to times, and finds the resources that limit the time.
//! 5. [`certificate`] stores the lengths and the flows, and [`check`](mod@check) verifies them.

pub mod certificate;
pub mod check;
pub mod demand;
mod flow;
pub mod network;
pub mod optimum;
mod packing;
mod trees;

pub use certificate::Certificate;
pub use optimum::{DEFAULT_GAP, MachineTask, Optimum, Options, solve};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptimumError {
    /// A vertex must receive data of another vertex, but there is no path between them.
    #[error("no path leads from vertex {from} to vertex {to}: expected a connected network")]
    Unconnected { from: u64, to: u64 },
    #[error("the link from vertex {from} to vertex {to} has no bandwidth: expected a positive one")]
    NoBandwidth { from: u64, to: u64 },
    #[error("a {0} has no optimum: expected a collective of blocks, such as alltoall")]
    Tokens(&'static str),
    #[error(
        "no optimum is known for {0} in several communicators (`over=`): expected a collective without copies and sums, such as alltoall"
    )]
    Communicators(&'static str),
    /// Switches that copy or add data reduce the loads of links, which packings of trees ignore.
    #[error(
        "no optimum is known for {0} on a network whose switches add and copy data: expected one without reduce=switch"
    )]
    ReducingSwitches(&'static str),
    /// The machine moves any amount of data in no time, so there is no least time to search for.
    #[error("bytes take no time on this machine: expected byte_us above 0")]
    NoTime,
    #[error(
        "{sources} sources times {links} links are more than {MAX_CELLS} cells, the limit of memory: try fewer nodes, fewer sources (scatter, broadcast), or a uniform workload on a torus, ring, hypercube or fully connected network, of which one source is enough"
    )]
    TooLarge { sources: u64, links: u64 },
    #[error(
        "{pairs} pairs of nodes are more than {MAX_PAIRS}: try fewer nodes, or a uniform workload on a torus, ring, hypercube or fully connected network, of which one source is enough"
    )]
    TooManyPairs { pairs: u64 },
    #[error("{vertices} vertices with {links} links are more than {MAX_LINKS} vertices or links")]
    TooManyLinks { vertices: u64, links: u64 },
    /// The links into a switch have another total bandwidth than the links out of it. Packings of
    /// trees need switches that can forward everything that they receive at full speed.
    #[error(
        "the links into switch {vertex} have another bandwidth than those out of it: collectives that copy or add data need the same"
    )]
    UnevenSwitch { vertex: u64 },
    /// The amounts of a demand are too large for exact sums.
    #[error("the data adds up to more than 2^53 bytes: expected smaller sizes")]
    TooManyBytes,
    #[error("the search was stopped")]
    Stopped,
}

pub const MAX_LINKS: u64 = 1 << 24;
/// The maximum number of cells in the table of flows, which has a cell of four bytes for each
/// source and link.
pub const MAX_CELLS: u64 = 1 << 25;
/// The maximum number of pairs of nodes in a demand that lists the amount of each pair.
pub const MAX_PAIRS: u64 = 1 << 23;

#[cfg(test)]
mod tests;
