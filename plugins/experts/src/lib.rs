//! Dispatch and combine of mixture-of-experts models, on any topology. In a dispatch, each token of
//! a rank is sent to the ranks of its experts. In a combine, these ranks return partial results,
//! and the rank of the token receives their sum.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | number of ranks |
//! | g, G | `g`, `groups` | ranks of a group, number of groups; p = g G |
//! | m | | bytes of the tokens that one rank has for one other rank |
//! | u | | bytes of the tokens that one rank has for at least one rank of one other group, u <= g m |
//! | alpha, beta, gamma | | start-up of a message, time per byte, time to add a byte |

use swapmeet_sdk::{About, export_plugin};

pub mod direct;
pub mod hierarchical;
mod tokens;

const ANYWHERE: About =
    About { accepts: "any topology, any number of nodes", ports: 1, ..About::DEFAULT };

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        direct::DISPATCH,
        direct::COMBINE,
        hierarchical::DISPATCH,
        hierarchical::COMBINE,
    ],
);
