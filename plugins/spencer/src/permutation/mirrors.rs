//! Permutations of the axes as one or two rounds of 1- and 2-dimensional transpositions, which the
//! thesis composes (sections 4.2 and 4.4).
//!
//! Every permutation of the axes with signs is the product of at most two that are their own
//! inverse, and each of these exchanges pairs of axes and turns others round: mirrors in different
//! dimensions, whose circuits are joined into one (section 4.4.1). So rotations by 180 degrees and
//! reflections take a single round, rotations by 90 and 120 degrees and the 3-dimensional
//! transpositions two.

use crate::torus::Torus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mirror {
    /// (x) to (-x) on this axis.
    One(usize),
    /// (x, y) to (y, x) on these axes, or to (-y, -x): the second is `anti`.
    Two { a: usize, b: usize, anti: bool },
}

impl Mirror {
    fn axes(self) -> impl Iterator<Item = usize> {
        let (a, b) = match self {
            Self::One(a) => (a, None),
            Self::Two { a, b, .. } => (a, Some(b)),
        };
        std::iter::once(a).chain(b)
    }

    fn first_axis(self) -> usize {
        let (Self::One(a) | Self::Two { a, .. }) = self;
        a
    }

    /// How many steps a node is from its image, and which way: one link each in one dimension, one
    /// in either in two.
    fn steps(self, torus: &Torus, node: u64) -> i64 {
        let n = torus.dims[self.first_axis()];
        let x = torus.coordinate(node, self.first_axis());
        shorter(
            match self {
                Self::One(_) => 2 * x + 1,
                Self::Two { b, anti: true, .. } => x + torus.coordinate(node, b) + 1,
                Self::Two { b, anti: false, .. } => x + n - torus.coordinate(node, b),
            },
            n,
            x,
        )
    }

    /// In which round a node's block crosses where q of every quadrant do in each (Fraigniaud and
    /// Peters); never if it stays.
    pub(super) fn direct_round(self, torus: &Torus, node: u64) -> Option<u64> {
        // In two dimensions twice as many nodes are as near, every other one on either staircase;
        // in one every other distance is there.
        let steps = self.steps(torus, node).unsigned_abs();
        steps.checked_sub(1).map(|before| before / (2 * torus.q))
    }

    /// The nodes that the circuit from `node` passes, the last one its image.
    ///
    /// In two dimensions that is a staircase: along rows, then columns, all of a row would meet in
    /// one node. Two cycles of n nodes lead through each, and every link belongs to one of all 2n
    /// (Fig. 4.7 b). `other` is whether a circuit takes the other one: it begins along the other
    /// axis.
    pub(super) fn walk(
        self,
        torus: &Torus,
        mut node: u64,
        other: bool,
        mut pass: impl FnMut(u64),
    ) -> u64 {
        let mut step = |node: &mut u64, axis: usize, plus: bool| {
            *node = torus.neighbour(*node, axis, plus);
            pass(*node);
        };
        let by = self.steps(torus, node);
        let ahead = by > 0;
        for _ in 0..by.unsigned_abs() {
            match self {
                Self::One(axis) => step(&mut node, axis, ahead),
                Self::Two { a, b, anti } => {
                    let [first, second] = if ahead != other { [a, b] } else { [b, a] };
                    let plus = |axis: usize| ahead == (axis == a || anti);
                    step(&mut node, first, plus(first));
                    step(&mut node, second, plus(second));
                }
            }
        }
        node
    }

    /// Which of the staircases through a node a section's collector takes, so that those of
    /// neighbouring sections take different ones. Sections may be even.
    pub(super) fn takes_other(self, torus: &Torus, node: u64, section: usize) -> bool {
        match self {
            Self::One(_) => false,
            Self::Two { a, b, .. } => {
                (torus.coordinate(node, a) + torus.coordinate(node, b) + section as u64) % 2 == 1
            }
        }
    }
}

/// From `beyond` past a mirror on a cycle of n to as much before it, the shorter way round; of two
/// that are as long, half of the nodes take each.
fn shorter(beyond: u64, n: u64, x: u64) -> i64 {
    let beyond = beyond % n;
    let before = n - beyond;
    if beyond < before || (beyond == before && 2 * x < n) {
        -(beyond as i64)
    } else {
        before as i64
    }
}

/// Rounds of mirrors, and how to collect for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mirrors {
    pub rounds: Vec<Vec<Mirror>>,
    /// For each axis that is moved, 1 or -1: nodes with the same sum of so many times their
    /// coordinates are collected into alike, and every staircase crosses these diagonals.
    pub signs: Vec<i64>,
}

/// A permutation of axes with signs: axis k of the image is axis `from[k].0`, turned round if
/// `from[k].1`.
type Signed = Vec<(usize, bool)>;

impl Mirrors {
    /// The one or two rounds that move the fewest axes. Axes are numbered as in `permutation`;
    /// `None` where there are too many to look.
    pub(super) fn of(permutation: &[(usize, bool)]) -> Option<Self> {
        /// Axes for which all mirrors are tried.
        const MOST: usize = 8;
        if let Some(round) = involution(permutation) {
            return with_signs(vec![round], permutation.len());
        }
        if permutation.len() > MOST {
            return None;
        }
        let mut firsts = Vec::new();
        involutions(&mut (0..permutation.len()).map(|i| (i, false)).collect(), 0, &mut firsts);
        let twos = firsts.into_iter().filter_map(|first| {
            // What remains to be done after the first, which is its own inverse.
            let rest: Signed = permutation
                .iter()
                .map(|&(axis, turned)| (first[axis].0, turned ^ first[axis].1))
                .collect();
            let rounds = vec![involution(&first)?, involution(&rest)?];
            let moved = rounds.iter().flatten().flat_map(|mirror| mirror.axes()).count();
            Some((moved, with_signs(rounds, permutation.len())?))
        });
        twos.min_by_key(|(moved, _)| *moved).map(|(_, mirrors)| mirrors)
    }

    /// The same on other axes: number i becomes `axes[i]`.
    pub(super) fn on(mut self, axes: &[usize]) -> Self {
        for mirror in self.rounds.iter_mut().flatten() {
            *mirror = match *mirror {
                Mirror::One(a) => Mirror::One(axes[a]),
                Mirror::Two { a, b, anti } => Mirror::Two { a: axes[a], b: axes[b], anti },
            };
        }
        self
    }
}

/// The mirrors of a permutation that is its own inverse.
fn involution(permutation: &[(usize, bool)]) -> Option<Vec<Mirror>> {
    let mut mirrors = Vec::new();
    for (to, &(axis, turned)) in permutation.iter().enumerate() {
        if permutation[axis] != (to, turned) {
            return None;
        }
        match axis {
            _ if axis == to && turned => mirrors.push(Mirror::One(to)),
            _ if axis > to => mirrors.push(Mirror::Two { a: to, b: axis, anti: turned }),
            _ => {}
        }
    }
    Some(mirrors)
}

/// All that are their own inverse, each axis from `next` on still where it is.
fn involutions(so_far: &mut Signed, next: usize, all: &mut Vec<Signed>) {
    if next == so_far.len() {
        all.push(so_far.clone());
        return;
    }
    if so_far[next].0 != next {
        return involutions(so_far, next + 1, all);
    }
    for turned in [false, true] {
        so_far[next] = (next, turned);
        involutions(so_far, next + 1, all);
        for other in next + 1..so_far.len() {
            if so_far[other].0 == other {
                (so_far[next], so_far[other]) = ((other, turned), (next, turned));
                involutions(so_far, next + 1, all);
                so_far[other] = (other, false);
            }
        }
    }
    so_far[next] = (next, false);
}

/// Signs with which every staircase crosses the diagonals that are collected: each goes along an
/// axis with a sign against the other axis's. A mirror turns the signs of its axes round.
fn with_signs(rounds: Vec<Vec<Mirror>>, axes: usize) -> Option<Mirrors> {
    let crosses = |choice: &u64| {
        let mut minus: Vec<bool> = (0..axes).map(|i| choice >> i & 1 == 1).collect();
        rounds.iter().all(|round| {
            let good = round.iter().all(|mirror| match *mirror {
                Mirror::One(_) => true,
                Mirror::Two { a, b, anti } => (minus[a] == minus[b]) == anti,
            });
            for axis in round.iter().flat_map(|mirror| mirror.axes()) {
                minus[axis] = !minus[axis];
            }
            good
        })
    };
    // The signs of many axes need no search: there is no pair among a reflection's.
    let choice = (0..1_u64 << axes.min(16)).find(crosses)?;
    let signs = (0..axes).map(|i| if i < 64 && choice >> i & 1 == 1 { -1 } else { 1 }).collect();
    Some(Mirrors { rounds, signs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torus::Variant;

    /// How many rounds, and axes moved in each.
    fn shape(permutation: &[(usize, bool)]) -> Vec<usize> {
        let mirrors = Mirrors::of(permutation).unwrap();
        mirrors.rounds.iter().map(|round| round.iter().flat_map(|m| m.axes()).count()).collect()
    }

    #[test]
    fn every_global_permutation_is_composed_as_section_4_4_does() {
        let (x, y, z) = (0, 1, 2);
        let (plus, minus) = (false, true);
        assert_eq!(shape(&[(x, minus)]), [1]);
        assert_eq!(shape(&[(y, minus), (x, minus)]), [2]);
        // 90 degrees: a 2-dimensional and a 1-dimensional transposition; 120: two 2-dimensional.
        assert_eq!(shape(&[(y, plus), (x, minus)]).iter().sum::<usize>(), 3);
        assert_eq!(shape(&[(y, plus), (z, plus), (x, plus)]), [2, 2]);
        // 180 degrees about an edge's middle: one round, joined.
        assert_eq!(shape(&[(y, minus), (x, minus), (z, minus)]), [3]);
        // 3-dimensional transpositions, type 1 and 2 (4.26: 5n/2, 4.27: 2n).
        assert_eq!(shape(&[(y, minus), (z, minus), (x, minus)]).iter().sum::<usize>(), 5);
        assert_eq!(shape(&[(z, plus), (y, minus), (x, minus)]).iter().sum::<usize>(), 4);
    }

    #[test]
    fn the_mirrors_of_any_permutation_of_axes_make_it() {
        let torus = Torus::new(vec![6; 4], 1, Variant::AllPorts);
        let mut orders = vec![vec![]];
        for i in 0..4 {
            orders = orders
                .iter()
                .flat_map(|o: &Vec<usize>| {
                    (0..=o.len()).map(move |at| {
                        let mut o = o.clone();
                        o.insert(at, i);
                        o
                    })
                })
                .collect();
        }
        for order in orders {
            for turned in 0..16 {
                let permutation: Signed =
                    order.iter().enumerate().map(|(to, a)| (*a, turned >> to & 1 == 1)).collect();
                let mirrors = Mirrors::of(&permutation).unwrap();
                for node in [0, 1, 77, 543, 1295] {
                    let mut at = node;
                    for mirror in mirrors.rounds.iter().flatten() {
                        at = mirror.walk(&torus, at, node % 2 == 0, |_| {});
                    }
                    for (to, &(axis, turned)) in permutation.iter().enumerate() {
                        let x = torus.coordinate(node, axis);
                        assert_eq!(
                            torus.coordinate(at, to),
                            if turned { 5 - x } else { x },
                            "{permutation:?}"
                        );
                    }
                }
            }
        }
    }
}
