//! Along which dimension, and which way, the class of a node goes.
//!
//! | 3D torus | z even | z odd |
//! | --- | --- | --- |
//! | Phase 1 | A, by (x + y) mod 4 | along z (C), by z mod 4: + for 1, - for 3 |
//! | Phase 2 | B | A |
//! | Phase 3 | along z (C): + for 0, - for 2 | B |
//!
//! 2D is as printed in (1) .. (8), and 3.2.2 says how to go on: nodes in an even unit along
//! dimension n follow the pattern of n - 1 dimensions and then go along dimension n; nodes in an
//! odd unit go along dimension n first. In 3D the displayed rules of Phases 2 and 3 have pattern B
//! before pattern A in odd planes, the text has A before B. Each is right by itself; one phase from
//! each loses blocks. The text's order carries over to n dimensions, so it is the one here, in
//! Phase n+1 too.
//!
//! A mesh follows the same rule, with c + r even for EE and OO, but always forward on its logical
//! rings. For three and more dimensions of it the paper has a figure and no text.

use crate::network::Kind;

const C: usize = 0;
const R: usize = 1;

/// The 2D torus, (1) .. (8): by (r + c) mod 4, in Phase 1 (pattern A) and in Phase 2 (pattern B).
const PLANE: [[(usize, i8); 4]; 2] =
    [[(C, 1), (R, 1), (C, -1), (R, -1)], [(R, 1), (C, 1), (R, -1), (C, -1)]];

/// The dimension (from 0) and the way round it (1 or -1) that a node at `x` takes in ring phase
/// `turn`, or in step `turn` of Phase n+1 of a torus; turns count from 1.
///
/// In a torus the way goes before "the shorter way": on a ring of eight both are four hops, and
/// contention is avoided only if the two classes of a line go opposite ways.
pub(crate) fn direction(kind: Kind, x: &[u64], mut turn: usize) -> (usize, i8) {
    let way = |printed| if kind == Kind::Torus { printed } else { 1 };
    for k in (2..x.len()).rev() {
        let own = if x[k].is_multiple_of(2) { k + 1 } else { 1 };
        if turn == own {
            return (k, way(if x[k] % 4 < 2 { 1 } else { -1 }));
        }
        turn -= usize::from(turn > own);
    }
    let (k, printed) = PLANE[turn - 1][((x[0] + x[1]) % 4) as usize];
    (k, way(printed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every node of a grid of side `side` in `n` dimensions.
    fn nodes(side: u64, n: usize) -> impl Iterator<Item = Vec<u64>> {
        (0..side.pow(n as u32))
            .map(move |i| (0..n as u64).map(|k| i / side.pow(k as u32) % side).collect())
    }

    #[test]
    fn the_third_dimension_is_last_in_even_planes_and_first_in_odd_ones() {
        let turns = |x: [u64; 3]| [1, 2, 3].map(|turn| direction(Kind::Torus, &x, turn));
        assert_eq!(turns([0, 0, 0]), [(C, 1), (R, 1), (2, 1)]);
        assert_eq!(turns([1, 0, 2]), [(R, 1), (C, 1), (2, -1)]);
        assert_eq!(turns([0, 0, 1]), [(2, 1), (C, 1), (R, 1)]);
        assert_eq!(turns([1, 0, 3]), [(2, -1), (R, 1), (C, 1)]);
        assert_eq!(direction(Kind::Mesh, &[1, 1], 1), (C, 1), "forward on its logical rings");
    }

    #[test]
    fn every_node_uses_every_dimension_once() {
        for n in 2..=6 {
            for x in nodes(2, n) {
                let used: HashSet<usize> =
                    (1..=n).map(|turn| direction(Kind::Torus, &x, turn).0).collect();
                assert_eq!(used.len(), n, "{x:?}");
            }
        }
    }

    /// At most one class of nodes of a line goes each way in a turn: rings of different classes
    /// would share links.
    #[test]
    fn no_two_classes_of_a_line_go_the_same_way() {
        for n in 2..=4 {
            for (kind, side) in [(Kind::Torus, 4), (Kind::Mesh, 2)] {
                for turn in 1..=n {
                    let mut taken = HashSet::new();
                    for x in nodes(side, n) {
                        let (k, way) = direction(kind, &x, turn);
                        let mut line = x.clone();
                        line[k] = 0;
                        assert!(taken.insert((line, k, way)), "turn {turn}, {x:?}");
                    }
                }
            }
        }
    }
}
