//! The last phases: exchange between the groups of a submesh.

use crate::directions::dimension;
use crate::network::{Kind, Network};
use crate::post::{Destinations, Move, Post};
use crate::turns::{self, Exchange};
use std::cmp::Ordering;
use swapmeet_sdk::Stop;

/// Phase n+1 of a torus: n exchanges between the halves of the 4x..x4 submeshes. In Step j
///
/// ```text
/// IF x mod 4 = 0 or 1, P(.., x, ..) -> P(.., x + 2, ..)
/// IF x mod 4 = 2 or 3, P(.., x, ..) -> P(.., x - 2, ..)
/// ```
///
/// along the dimension that the class of the node has in its j-th turn. The coordinate tested is the one that changes: in print, Steps 1 to 3 of the 3D
/// Phase 4 test y for moves along x and x for moves along y, and Fig. 5 tests the column for moves along r; blocks then leave their submesh.
pub(crate) fn between_halves(network: &Network, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    let n = network.axes.len();
    (1..=n).try_for_each(|j| step(network, post, 2, &|x| (1..=j).map(|turn| dimension(x, turn)).collect()))
}

/// The last phase: n exchanges within the 2x..x2 submeshes. In Step j all nodes move along dimension j:
///
/// ```text
/// IF x mod 2 = 0, P(.., x, ..) -> P(.., x + 1, ..)
/// IF x mod 2 = 1, P(.., x, ..) -> P(.., x - 1, ..)
/// ```
///
/// Step 2 of the 2D mesh is printed with the groups of Step 1. Even rows (EE, EO) go to r + 1, odd rows (OE, OO) go to r - 1.
pub(crate) fn between_neighbours(network: &Network, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    (0..network.axes.len()).try_for_each(|j| step(network, post, 1, &|_| (0..=j).collect()))
}

/// One exchange over `distance`: the receiver gets all blocks for its side of the submesh (in the paper's 2D, B1 and B3 or N1 and N3 in the first step, both B2 or
/// both N2 in the second). `turns` are the dimensions along which a node has made its exchanges over this distance, and last the one of this step.
fn step(
    network: &Network,
    post: &mut Post<'_, '_>,
    distance: u64,
    turns: &dyn Fn(&[u64]) -> Vec<usize>,
) -> Result<(), Stop> {
    let side = |x: u64| x - x % distance;
    let mut exchanges = Vec::new();
    network.each_node(|x, node| {
        let turns = turns(x);
        let Some((&k, done)) = turns.split_last() else {
            return Ok(());
        };
        let (here, axis) = (x[k], network.axes[k]);
        let (there, inside) =
            if here % (2 * distance) < distance { (here + distance, 1) } else { (here - distance, -1) };
        let reach = |k: usize| {
            if done.contains(&k) { distance } else { 2 * distance }
        };
        let holds_any = (0..x.len()).all(|k| passes_on(network.machine.radix(network.axes[k]), x[k], reach(k)));
        if holds_any && side(there) < network.machine.radix(axis) {
            exchanges.push(Exchange::new(
                network,
                Move {
                    from: node,
                    to: network.padded.moved(node, axis, there),
                    axis,
                    way: way(network, axis, (here, there), inside),
                    blocks: Destinations::Places { first: side(there) % network.submesh, count: distance },
                },
            ));
        }
        Ok(())
    })?;
    turns::carry_out(network, exchanges, post)
}

/// Whether any blocks are at coordinate `v` when those from coordinates `reach` apart have been brought together, and those for a submesh of side
/// `reach` are still together: some such origin and some such destination must be real.
fn passes_on(size: u64, v: u64, reach: u64) -> bool {
    v % reach < size && v - v % reach < size
}

/// The way of an exchange in a torus: the shorter one between the homes, `inside` (that of the padded grid) where both are as short, 0 if one node is home to both.
fn way(network: &Network, axis: usize, (here, there): (u64, u64), inside: i8) -> i8 {
    let size = network.machine.radix(axis);
    let up = (network.home(axis, there) + size - network.home(axis, here)) % size;
    match (network.kind, up.cmp(&(size - up))) {
        (Kind::Mesh, _) => 0,
        _ if up == 0 => 0,
        (_, Ordering::Less) => 1,
        (_, Ordering::Equal) => inside,
        (_, Ordering::Greater) => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::network;

    #[test]
    fn exchanges_go_the_shorter_way_between_homes() {
        let way = |size, here, there| {
            way(&network(Kind::Torus, &[1, size]), 1, (here, there), if here < there { 1 } else { -1 })
        };
        assert_eq!((way(4, 0, 2), way(4, 2, 0)), (1, -1), "as short both ways: stays inside the submesh");
        assert_eq!((way(10, 8, 10), way(10, 10, 8)), (-1, 1), "10 lives on 6");
        assert_eq!((way(3, 0, 2), way(3, 2, 0)), (-1, 1), "round the end");
        assert_eq!(way(3, 1, 3), 0, "a copy");
    }
}
