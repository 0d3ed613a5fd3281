//! The last phases: exchange between the groups of a submesh.

use crate::directions::dimension;
use crate::fold::{self, Pending};
use crate::network::{Kind, Network};
use crate::post::{Move, Post};
use swapmeet_sdk::{Axis, Stop};

/// Phase n+1 of a torus: n exchanges between the halves of the 4x..x4 submeshes. In Step j
///
/// ```text
/// IF x mod 4 = 0 or 1, P(.., x, ..) -> P(.., x + 2, ..)
/// IF x mod 4 = 2 or 3, P(.., x, ..) -> P(.., x - 2, ..)
/// ```
///
/// along the dimension that the class of the node has in its j-th turn. The coordinate tested is the one that changes:
/// in print, Steps 1 to 3 of the 3D Phase 4 test y for moves along x and x for moves along y, and Fig. 5 tests the
/// column for moves along r; blocks then leave their submesh.
pub fn between_halves(network: &Network, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    let n = network.dimensions.len();
    for j in 1..=n {
        let done = |x: &[u32]| (1..j).map(|turn| 1 << dimension(x, turn)).fold(0_u64, |all, k| all | k);
        step(network, post, 2, |x| dimension(x, j), done)?;
    }
    Ok(())
}

/// The last phase: n exchanges within the 2x..x2 submeshes. In Step j all nodes move along dimension j:
///
/// ```text
/// IF x mod 2 = 0, P(.., x, ..) -> P(.., x + 1, ..)
/// IF x mod 2 = 1, P(.., x, ..) -> P(.., x - 1, ..)
/// ```
///
/// Step 2 of the 2D mesh is printed with the groups of Step 1. Even rows (EE, EO) go to r + 1, odd rows (OE, OO) go to
/// r - 1.
pub fn between_neighbours(network: &Network, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    for j in 0..network.dimensions.len() {
        step(network, post, 1, |_| j, |_| (1 << j) - 1)?;
    }
    Ok(())
}

/// One exchange over `distance` along dimension `along(x)`: the receiver gets all blocks for its side of the submesh
/// (in the paper's 2D, B1 and B3 or N1 and N3 in the first step, both B2 or both N2 in the second). `done` has a bit
/// for each dimension along which the node has made its exchange over this distance.
fn step(
    network: &Network,
    post: &mut Post<'_, '_>,
    distance: u32,
    along: impl Fn(&[u32]) -> usize,
    done: impl Fn(&[u32]) -> u64,
) -> Result<(), Stop> {
    let side = |x: u32| x - x % distance;
    let places = |x: u32| Axis::range((side(x) % network.kind.submesh()).into(), distance.into());
    let movement = |x: &[u32], node: u64| {
        let k = along(x);
        let (here, d) = (x[k], &network.dimensions[k]);
        let (there, inside) =
            if here % (2 * distance) < distance { (here + distance, 1) } else { (here - distance, -1) };
        let way = match network.kind {
            Kind::Torus => d.way(here, there, inside),
            Kind::Mesh => 0,
        };
        (k, there, Move { from: node, to: d.moved(node, here, there), axis: d.axis, way })
    };
    if !network.is_padded() {
        post.step()?;
        return network.each_node(|x, node| {
            let (_, there, along) = movement(x, node);
            post.send_to_places(&along, places(there))
        });
    }
    let mut pending = Vec::new();
    network.each_node(|x, node| {
        let (k, there, along) = movement(x, node);
        let done = done(x);
        let reach = |k: usize| if done >> k & 1 == 1 { distance } else { 2 * distance };
        let holds_any = x.iter().zip(&network.dimensions).enumerate().all(|(k, (&x, d))| d.passes_on(x, reach(k)));
        if holds_any && side(there) < network.dimensions[k].size {
            let real_from = fold::real(network, x);
            pending.push(Pending {
                real_from,
                real_to: network.dimensions[k].real_moved(real_from, x[k], there),
                dimension: k,
                along,
                places: places(there),
            });
        }
        Ok(())
    })?;
    fold::in_turns(network, pending, post)
}
