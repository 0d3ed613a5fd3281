//! Allreduces made for tori: whoever sends, sends along one dimension at a time, and every
//! direction of every dimension can be kept busy by as many collectives at once, each of a share of
//! the vector.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `grid.nodes()` | nodes |
//! | D | `grid.dimensions()` | dimensions, n1 .. nD nodes long |
//! | m | | bytes of the vector |
//! | alpha, beta, gamma | | start-up of a message, transmission of a byte, adding a byte |
//!
//! In each a node's part of the vector is the one that it sums last: a reduce-scatter, then the
//! same steps backwards as an allgather.

use swapmeet_sdk::export_plugin;

mod bucket;
mod shares;
mod swing;
mod trivance;

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [bucket::BUCKET, bucket::HIERARCHICAL, swing::Swing, trivance::Trivance],
);
