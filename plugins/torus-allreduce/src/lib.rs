//! Allreduces for tori. Each allreduce sends along one dimension at a time. Several allreduces can
//! run at the same time, each with a segment of the vector, so that all directions of all
//! dimensions are used.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `grid.nodes()` | number of nodes |
//! | D | `grid.dimensions()` | number of dimensions; they have n1 .. nD nodes |
//! | m | | bytes of the vector |
//! | alpha, beta, gamma | | start-up of a message, time per byte, time to add a byte |
//!
//! The vector is divided into one part for each node. This node completes the sum of the part. Each
//! algorithm is a reduce-scatter, followed by an allgather with the same steps in reverse order.

use swapmeet_sdk::export_plugin;

mod bucket;
#[cfg(test)]
mod recorded;
mod shares;
mod swing;
mod trivance;

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [bucket::BUCKET, bucket::HIERARCHICAL, swing::Swing, trivance::Trivance],
);
