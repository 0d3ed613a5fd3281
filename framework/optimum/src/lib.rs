//! Finds the least time in which a network can move given data, if only bandwidth counts and
//! latencies are ignored.
//!
//! The answer is an interval that contains this time. The lower end is computed from a length for
//! each link, and the upper end from a flow, which states how much data each link carries. Lengths
//! and flow are written to a [`Certificate`], which [`check()`](check::check) verifies without the
//! solver.
//!
//! The modules are used in this order:
//!
//! 1. [`network`] lists the links of a topology, with whole numbers as capacities.
//! 2. [`demand`] converts a task to the amount of data that each node has for each other node.
//! 3. `flow` solves demands between pairs of nodes as a maximum concurrent flow. `trees` solves
//!    collectives that copy or add data, by packings of spanning trees of links, and `packing` by
//!    packings of messages.
//! 4. [`optimum`] converts the result to times, and finds the resources that limit the time.
//! 5. [`certificate`] stores the lengths and the flows, and [`check`](mod@check) verifies them.

pub mod certificate;
pub mod check;
pub mod demand;
mod error;
mod flow;
mod max_flow;
pub mod network;
pub mod optimum;
mod packing;
mod trees;

pub use certificate::Certificate;
pub use error::{MAX_CELLS, MAX_LINKS, MAX_PAIRS, OptimumError};
pub use optimum::{DEFAULT_GAP, MachineTask, Optimum, Options, solve};

#[cfg(test)]
mod tests;
