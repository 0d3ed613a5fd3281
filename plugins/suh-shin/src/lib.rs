//! All-to-all on tori and meshes, from Y.-J. Suh and K. G. Shin, *All-to-All Personalized
//! Communication in Multidimensional Torus and Mesh Networks*, IEEE Transactions on Parallel and
//! Distributed Systems, 2001.
//!
//! | paper | here |
//! | --- | --- |
//! | N1 .. Nn (2D: C, R) | numbers of nodes along the dimensions of the machine, padded to multiples of four (mesh: two): `network`, and the SDK's `Padded` |
//! | x1 .. xn, or x, y, z (2D: c, r) | `x[0]` to `x[n - 1]`, the coordinates of a node; `x[0]` is the column in 2D, and the coordinate on the first axis in 3D and more |
//! | P(r, c), P(x, y, z) | a node of the padded grid, given by its number and by `x` |
//! | SM, the 4x..x4 submesh (mesh: 2x..x2) | the nodes whose coordinates agree in `x[k] / submesh` |
//! | group ij, ijk (mesh: EE, OE, EO, OO) | the nodes whose coordinates agree in `x[k] % submesh` |
//! | +r, -r, +c, -c; patterns A, B, C | `directions` |
//! | Phases 1 .. n, Step s; Phases n+1 and n+2 (mesh: n+1) | `phases` |
//! | B[u, v] | not represented: rules name destinations, which correspond to the columns and rows of this array |
//! | data rearrangement | one call between two phases |
//! | ts, tc | start-up of a message (alpha), time per byte (beta) |
//! | tl, rho | time per link, time to rearrange one byte |
//!
//! In the first n phases, blocks travel along rings within a group of nodes to the submesh of their
//! destination. In the last two phases (one in a mesh), the nodes of a submesh exchange the blocks.
//!
//! The time with N nodes and blocks of m bytes is the sum of four terms (Table 1):
//!
//! | network | start-ups | transfers | links | rearrangements |
//! | --- | --- | --- | --- | --- |
//! | n-dimensional torus with sides N1 >= N2 >= etc. | `n (N1/4 + 1) ts` | `n/8 (N1 + 4) N m tc` | `n (N1 - 1) tl` | `(n + 1) N m rho` |
//! | mesh | `n/2 N1 ts` | `n/4 N1 N m tc` | `n/2 ((N1 - 2)^2 + 2) tl` | `n N m rho` |
//!
//! Remarks on the paper:
//! * There is no one-dimensional form, because four classes of nodes need four directions.
//! * Erratum: the data array of section 3.1.3 cannot be followed literally. Its text swaps u and v,
//!   and the submesh "k hops away" is not that of the array's column unless the node is at the
//!   trailing edge of its submesh. The plugin follows the groups of blocks in section 3.1.1.
//! * Table 1 uses the number of steps of the longest dimension for all ring phases. From three
//!   dimensions on, the last dimension is used only in Phases 1 and n, so a network takes fewer
//!   steps if its last dimension is the longest. The paper's order, longest first, is not the best.

pub mod directions;
pub mod network;
pub mod phases;

use network::PaddedNetwork;
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop};

pub struct SuhShin;

impl Algorithm for SuhShin {
    fn about(&self) -> About {
        About {
            name: "suh-shin",
            title: "Rings within groups, then exchanges within submeshes",
            paper: "Y.-J. Suh and K. G. Shin, \"All-to-All Personalized Communication in Multidimensional Torus and \
                    Mesh Networks\", IEEE TPDS 2001",
            accepts: "tori and meshes of 2 or more dimensions, of any size (padded with virtual nodes to \
                      multiples of 4 in a torus, of 2 in a mesh)",
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let mut network = PaddedNetwork::new(problem)?;
        if network.nodes.machine().nodes() == 1 {
            return Ok(());
        }
        network.lay_out(schedule)?;
        phases::run(&network, schedule)
    }
}

swapmeet_sdk::export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [SuhShin]);
