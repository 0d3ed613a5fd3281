//! Allreduces for tori. Each collective sends along one dimension at a time. All directions of all
//! dimensions can be used by several collectives that run at the same time, each on a share of the
//! vector.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `grid.nodes()` | number of nodes |
//! | D | `grid.dimensions()` | number of dimensions, of n1 .. nD nodes |
//! | m | | bytes of the vector |
//! | alpha, beta, gamma | | start-up of a message, time per byte, time to add a byte |
//!
//! A part of the vector is named by the node that completes its sum. Each algorithm is a
//! reduce-scatter followed by the same steps in reverse order as an allgather.

use swapmeet_sdk::export_plugin;

mod bucket;
mod shares;
mod swing;
mod trivance;

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [bucket::BUCKET, bucket::HIERARCHICAL, swing::Swing, trivance::Trivance],
);
