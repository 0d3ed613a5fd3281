//! All-to-all on rings and tori, one dimension after another.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | N, d | `grid` | number of nodes, number of dimensions |
//! | n | `n` | number of nodes of a dimension; N = n^d if all dimensions are equal |
//!
//! `half-ring` and `dim-rotation` are reconstructions of HalfRing and DimRotation (2025), and
//! `folded-ring` of FoldedRing, with which the same paper recovers from a failed link of a ring.
//! The text of the paper was not available. The rules follow from descriptions of that paper:
//! - Blocks take the shorter direction.
//! - Each block is divided into segments that use the dimensions in different orders.
//! - In a ring with a failed link, all blocks are sent in one direction. The links of the opposite
//!   direction carry the messages that would cross the failed link.

use swapmeet_sdk::{About, Stop, export_plugin};

pub mod by_dimension;
pub mod dim_rotation;
pub mod folded_ring;
pub mod half_ring;

const RECONSTRUCTION: &str =
    "a reconstruction of HalfRing and DimRotation (2025), without the paper's text";
const TORUS: About = About {
    accepts: "torus or ring, of any size",
    paper: RECONSTRUCTION,
    ports: u64::MAX,
    ..About::DEFAULT
};

fn only_tori(spec: &str) -> Stop {
    Stop::unsupported(format!("runs only on a torus or a ring; this topology is `{spec}`"))
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [by_dimension::ByDimension, half_ring::HalfRing, dim_rotation::DimRotation, folded_ring::FoldedRing],
);
