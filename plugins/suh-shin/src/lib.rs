//! All-to-all personalized communication in tori and meshes (Suh and Shin).
//!
//! An n-dimensional torus of sides N1 >= N2 >= ..: n (N1/4 + 1) ts + n/8 (N1 + 4) N m tc + n (N1 -
//! 1) tl + (n + 1) N m rho; a mesh: n/2 N1 ts + n/4 N1 N m tc + n/2 ((N1 - 2)^2 + 2) tl + n N m
//!    rho, with N nodes and blocks of m bytes (Table 1; alpha is ts, beta tc).
//!
//! Y.-J. Suh and K. G. Shin, "All-to-All Personalized Communication in Multidimensional Torus and
//! Mesh Networks", IEEE Transactions on Parallel and Distributed Systems, 2001. Blocks travel in
//! rings over the nodes of one group until each is in the submesh of its destination; then two
//! rounds of exchanges (one in a mesh) between the groups of a submesh bring it home.
//!
//! | the paper | here |
//! | --- | --- |
//! | N1 .. Nn (2D: C, R) | sides of the machine, padded to multiples of four (mesh: two): `network`, and the SDK's `Padded` |
//! | x1 .. xn, or x, y, z (2D: c, r) | `x[0]` .. `x[n - 1]`: in 2D the column is first, in 3D and up the first axis |
//! | P(r, c), P(x, y, z) | a node of the padded grid, by its number and by `x` |
//! | SM, the 4x..x4 submesh (mesh: 2x..x2) | the coordinates that agree in `x[k] / submesh` |
//! | group ij, ijk (mesh: EE, OE, EO, OO) | the coordinates that agree in `x[k] % submesh` |
//! | +r, -r, +c, -c; patterns A, B, C | `directions` |
//! | Phases 1 .. n, Step s; Phases n+1 and n+2 (mesh: n+1) | `phases` |
//! | B[u, v] | nothing: rules name destinations, which is what the array's columns and rows stand for |
//! | data rearrangement | one call between two phases |
//!
//! What else there is to know before reading on:
//!
//! * There is no case of one dimension: four classes of nodes need four directions to go in, and a
//!   line has two.
//! * The data array of 3.1.3 can't be followed by the letter. Its text has u and v the wrong way
//!   round, and what is "k hops away" from a node that is not at the trailing edge of its submesh
//!   belongs to another submesh than the array's columns say. Groups of blocks as in 3.1.1, one a
//!   submesh, are what works, and what the rules here amount to.
//! * Table 1 charges all ring phases for the longest dimension. In three and more dimensions the
//!   last one is used in Phases 1 and n only, so a network where it alone is the longest takes
//!   fewer steps: the paper's order of sizes, the longest first, is not the cheapest.

mod directions;
mod network;
mod phases;
#[cfg(test)]
mod tests;

use network::Network;
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop};

struct SuhShin;

impl Algorithm for SuhShin {
    fn about(&self) -> About {
        About {
            name: "suh-shin",
            title: "All-to-all personalized communication in multidimensional tori and meshes",
            paper: "Y.-J. Suh and K. G. Shin, \"All-to-All Personalized Communication in Multidimensional Torus and \
                    Mesh Networks\", IEEE TPDS 2001",
            accepts: "torus and mesh of 2 or more dimensions, of any size (padded with virtual nodes to multiples of 4 \
                      in a torus, of 2 in a mesh)",
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        Network::of(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let mut network = Network::of(problem)?;
        if network.nodes.machine().nodes() == 1 {
            return Ok(());
        }
        network.lay_out(schedule)?;
        phases::run(&network, schedule)
    }
}

swapmeet_sdk::export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [SuhShin]);
