//! Phases 1 .. n: complete exchange within each group, a ring at a time.

use crate::directions::{dimension, sign};
use crate::network::{Kind, Network};
use crate::post::{Move, Post};
use swapmeet_sdk::{Axis, Stop};

/// Phase `phase`: in Step s = 1 .. N/4 - 1 (mesh: N/2 - 1) of the longest dimension,
///
/// ```text
/// P(.., x, ..) -> P(.., (x +- 4) mod N, ..)      torus
/// P(.., x, ..) -> P(.., (x + 2) mod N, ..)       mesh
/// ```
///
/// along the dimension and the way that the class of the node has in this phase. The message is all that is for the
/// next N/4 - s submeshes that way: columns 4s .. N-1 of the data array. N is the size of the node's own dimension
/// (Fig. 5 has C for the classes that move along r, too); shorter dimensions are done earlier.
pub fn phase(network: &Network, phase: usize, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    let q = network.kind.submesh();
    let longest = network.dimensions.iter().map(|d| d.padded).max().unwrap_or(0);
    for s in 1..longest / q {
        post.step()?;
        network.each_node(|x, node| {
            let k = dimension(x, phase);
            let d = &network.dimensions[k];
            if s >= d.padded / q {
                return Ok(());
            }
            let way = sign(network.kind, x, k);
            let there = if way > 0 { forward(x[k], q, d.padded) } else { forward(x[k], d.padded - q, d.padded) };
            // The nearest of these submeshes is the one of the receiver; going down, it is the last.
            let (submeshes, near) = (d.padded / q, there / q);
            let count = submeshes - s;
            let first = if way > 0 { near } else { forward(near, s + 1, submeshes) };
            // The mesh's ring is closed by a long way back over the line: the topology's own route.
            let way = if network.kind == Kind::Torus && d.host(x[k]) != d.host(there) { way } else { 0 };
            post.send_to_submeshes(
                &Move { from: node, to: d.moved(node, x[k], there), axis: d.axis, way },
                Axis::range(first.into(), count.into()),
            )
        })?;
    }
    Ok(())
}

/// The coordinate `by` after `x` on a ring of `size`, for `by` up to `size`.
fn forward(x: u32, by: u32, size: u32) -> u32 {
    if x >= size - by { x - (size - by) } else { x + by }
}
