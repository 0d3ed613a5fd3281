//! Phases 1 .. n: complete exchange within each group, a ring at a time.

use crate::directions::{dimension, sign};
use crate::network::{Kind, Network};
use crate::post::{Destinations, Move, Post};
use swapmeet_sdk::Stop;

/// Phase `phase`: in Step s = 1 .. N/4 - 1 (mesh: N/2 - 1) of the longest dimension,
///
/// ```text
/// P(.., x, ..) -> P(.., (x +- 4) mod N, ..)      torus
/// P(.., x, ..) -> P(.., (x + 2) mod N, ..)       mesh
/// ```
///
/// along the dimension and the way that the class of the node has in this phase. The message is all that is for the next N/4 - s submeshes that way:
/// columns 4s .. N-1 of the data array. N is the size of the node's own dimension (Fig. 5 has C for the classes that move along r, too); shorter dimensions
/// are done earlier.
pub(crate) fn phase(network: &Network, phase: usize, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    let q = network.submesh;
    let longest = network.padded.radices().iter().max().map_or(0, |side| side / q);
    for s in 1..longest {
        post.schedule.step()?;
        network.each_node(|x, node| {
            let k = dimension(x, phase);
            let (axis, way) = (network.axes[k], sign(network.kind, x, k));
            let submeshes = network.padded.radix(axis) / q;
            if s >= submeshes {
                return Ok(());
            }
            let to = network.padded.shift(node, axis, i64::from(way) * q as i64);
            let there = network.padded.coordinate(to, axis);
            // The nearest of these submeshes is the one of the receiver; going down, it is the last.
            let first = if way > 0 { there / q } else { (there / q + s + 1) % submeshes };
            let blocks = Destinations::Submeshes { first, count: submeshes - s };
            // The mesh's ring is closed by a long way back over the line: the topology's own route. And what stays at home needs none.
            let moves = network.kind == Kind::Torus && network.home(axis, x[k]) != network.home(axis, there);
            post.send(&Move { from: node, to, axis, way: if moves { way } else { 0 }, blocks })
        })?;
    }
    Ok(())
}
