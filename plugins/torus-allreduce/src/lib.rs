//! Allreduces for tori, each of which uses one dimension at a time. Several allreduces of different
//! segments of the vector together use all directions of all dimensions.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `grid.nodes()` | number of nodes |
//! | D | `grid.dimensions()` | number of dimensions; they have n1 .. nD nodes |
//! | m | | bytes of the vector |
//! | alpha, beta, gamma | | start-up of a message, time per byte, time to add a byte |
//!
//! Each node completes the sum of one part of the vector. Each algorithm is a reduce-scatter,
//! followed by an allgather with the same steps in reverse order.

use swapmeet_sdk::export_plugin;

pub mod bucket;
mod shares;
pub mod swing;
pub mod trivance;

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [bucket::BUCKET, bucket::HIERARCHICAL, swing::Swing, trivance::Trivance],
);
