//! Who goes where: the patterns A, B and C, and directions by class of node.
//!
//! | 2D torus, (1) .. (8) | (r + c) mod 4 = 0 | 1 | 2 | 3 |
//! | --- | --- | --- | --- | --- |
//! | Phase 1 (pattern A) | +c | +r | -c | -r |
//! | Phase 2 (pattern B) | +r | +c | -r | -c |
//!
//! | 3D torus | z even | z odd |
//! | --- | --- | --- |
//! | Phase 1 | A, by (x + y) mod 4 | along z (C), by z mod 4: + for 1, - for 3 |
//! | Phase 2 | B | A |
//! | Phase 3 | along z (C): + for 0, - for 2 | B |
//!
//! 2D is as printed in (1) .. (8), and 3.2.2 says how to go on: nodes in an even unit along dimension n follow the
//! pattern of n - 1 dimensions and then go along dimension n; nodes in an odd unit go along dimension n first and then
//! follow that pattern. In 3D the displayed rules of Phases 2 and 3 have pattern B before pattern A in odd planes, the
//! text has A before B. Each is right by itself; one phase from each loses blocks. The text's order is the one that
//! carries over to n dimensions, so it is the one here, in Phase n+1 too.
//!
//! A mesh follows the same rule, with c + r even for EE and OO, but always forward on its logical rings. For three and
//! more dimensions of it the paper has a figure and no text.

use crate::network::Kind;

/// The dimension (from 0) that a node at `x` uses in ring phase `turn`, or in step `turn` of phase n+1 of a torus;
/// turns count from 1.
pub(crate) fn dimension(x: &[u64], turn: usize) -> usize {
    let mut turn = turn;
    for k in (2..x.len()).rev() {
        let own = if x[k].is_multiple_of(2) { k + 1 } else { 1 };
        if turn == own {
            return k;
        }
        if turn > own {
            turn -= 1;
        }
    }
    // Pattern A in turn 1, pattern B in turn 2: even classes begin with x1 (c), odd ones with x2 (r).
    let odd = (x[0] ^ x[1]) & 1 == 1;
    usize::from((turn == 2) != odd)
}

/// The way round (1 or -1) that a node at `x` takes along dimension `k` in its ring phases.
///
/// In a torus this goes before "the shorter way": on a ring of eight both are four hops, and contention is avoided only
/// if the two classes of a line go opposite ways.
pub(crate) fn sign(kind: Kind, x: &[u64], k: usize) -> i8 {
    let class = if k < 2 { x[0] + x[1] } else { x[k] };
    match kind {
        Kind::Torus if class % 4 >= 2 => -1,
        Kind::Torus | Kind::Mesh => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every node of a grid of side `side` in `n` dimensions.
    fn nodes(side: u64, n: usize) -> impl Iterator<Item = Vec<u64>> {
        (0..side.pow(n as u32)).map(move |i| (0..n as u64).map(|k| i / side.pow(k as u32) % side).collect())
    }

    #[test]
    fn the_sixteen_classes_of_the_plane_are_as_printed() {
        for x in nodes(4, 2) {
            let (phase1, phase2) = (dimension(&x, 1), dimension(&x, 2));
            let (way1, way2) = (sign(Kind::Torus, &x, phase1), sign(Kind::Torus, &x, phase2));
            let printed = match (x[0] + x[1]) % 4 {
                0 => ((0, 1), (1, 1)),
                1 => ((1, 1), (0, 1)),
                2 => ((0, -1), (1, -1)),
                _ => ((1, -1), (0, -1)),
            };
            assert_eq!(((phase1, way1), (phase2, way2)), printed, "{x:?}");
        }
    }

    #[test]
    fn the_third_dimension_is_last_in_even_planes_and_first_in_odd_ones() {
        let turns = |x: [u64; 3]| [1, 2, 3].map(|turn| dimension(&x, turn));
        assert_eq!(turns([0, 0, 0]), [0, 1, 2]);
        assert_eq!(turns([1, 0, 2]), [1, 0, 2]);
        assert_eq!(turns([0, 0, 1]), [2, 0, 1]);
        assert_eq!(turns([1, 0, 3]), [2, 1, 0]);
    }

    #[test]
    fn every_node_uses_every_dimension_once() {
        for n in 2..=6 {
            for x in nodes(2, n) {
                let used: HashSet<usize> = (1..=n).map(|turn| dimension(&x, turn)).collect();
                assert_eq!(used.len(), n, "{x:?}");
            }
        }
    }

    /// At most one class of nodes of a line goes each way in a turn: rings of different classes would share links.
    #[test]
    fn no_two_classes_of_a_line_go_the_same_way() {
        for n in 2..=4 {
            for (kind, side) in [(Kind::Torus, 4), (Kind::Mesh, 2)] {
                for turn in 1..=n {
                    let mut taken = HashSet::new();
                    for x in nodes(side, n) {
                        let k = dimension(&x, turn);
                        let way = sign(kind, &x, k);
                        let mut line = x.clone();
                        line[k] = 0;
                        assert!(taken.insert((line, k, way)), "turn {turn}, {x:?}");
                    }
                }
            }
        }
    }
}
