//! All-to-all on rings and tori, a dimension after another.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | N, d | `grid` | nodes, dimensions |
//! | n | `n` | nodes of a dimension: N = n^d where all are alike |
//! | m | | bytes of a block |
//! | alpha, beta | | start-up of a message, transmission of a byte over a link |
//!
//! `half-ring` and `dim-rotation` are reconstructions of the HalfRing and DimRotation of 2025,
//! which use both directions of every ring, and every ring at once. The paper's text was not at
//! hand: the rules here are rebuilt from what is said of them, the shorter way round, and a share
//! of every block along each rotation of the dimensions.

use swapmeet_sdk::{About, Stop, export_plugin};

mod by_dimension;
mod dim_rotation;
mod half_ring;

const REBUILT: &str =
    "a reconstruction of HalfRing and DimRotation (2025), without the paper's text";
const TORUS: About = About {
    accepts: "torus or ring, of any size",
    paper: REBUILT,
    ports: u64::MAX,
    ..About::DEFAULT
};

/// What these are not for.
fn only_tori(spec: &str) -> Stop {
    Stop::unsupported(format!("runs on a torus or a ring only, this is `{spec}`"))
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [by_dimension::ByDimension, half_ring::HalfRing, dim_rotation::DimRotation],
);
