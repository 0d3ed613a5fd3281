//! The least time in which a network can move given data, if only bandwidth counts.
//!
//! The answer is an interval. Its lower end follows from lengths of the links, its upper end from a
//! flow. Both are written to a [`Certificate`], which [`check()`](check::check) verifies without
//! the solver.
//!
//! Data flows in one direction:
//!
//! 1. [`network`] lists the links of a topology with whole-number capacities.
//! 2. [`demand`] turns a task into what each node has for each other node.
//! 3. `flow` solves demands between pairs of nodes: maximum concurrent flow. `trees` solves
//!    collectives that copy or add data: packings of spanning trees.
//! 4. [`optimum`] converts the result to times and finds the bottleneck.
//! 5. [`certificate`] holds lengths and flows, [`check`](mod@check) verifies them.

#![warn(missing_docs)]

pub mod certificate;
pub mod check;
mod cuts;
pub mod demand;
mod error;
mod flow;
mod max_flow;
pub mod network;
pub mod optimum;
mod paths;
mod trees;

pub use certificate::Certificate;
pub use error::{MAX_CELLS, MAX_LINKS, MAX_PAIRS, OptimumError};
pub use optimum::{Optimum, Options, Question, solve};

#[cfg(test)]
mod tests;
