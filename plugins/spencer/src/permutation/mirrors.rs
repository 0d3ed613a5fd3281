//! Permutations of the axes as one or two rounds of mirrors. A mirror is a 1- or 2-dimensional
//! transposition: it reflects one axis or exchanges two (sections 4.2 and 4.4). Every permutation
//! of the axes with signs is the product of at most two involutions (permutations that are their
//! own inverse). An involution exchanges some pairs of axes and reflects others, each of which is a
//! mirror.
//!
//! The mirrors of an involution are in different dimensions, so one circuit can cross all of them
//! in one round (section 4.4.1). Rotations by 180 degrees and reflections take one round. Rotations
//! by 90 and 120 degrees and the 3-dimensional transpositions are products of two involutions, so
//! they take two rounds.

use crate::torus::Torus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mirror {
    /// Maps x to -x.
    One(usize),
    /// Maps (x, y) to (y, x) or, if `anti`, to (-y, -x).
    Two { a: usize, b: usize, anti: bool },
}

impl Mirror {
    pub fn axes(self) -> impl Iterator<Item = usize> {
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

    /// Returns the signed number of steps from a node to its image. A step is one link along each
    /// axis of the mirror.
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

    /// Returns the round in which the block of a node crosses the mirror if blocks are not
    /// collected, or `None` if the block stays. In each round, q blocks of each quadrant cross
    /// (Fraigniaud and Peters).
    pub(super) fn direct_round(self, torus: &Torus, node: u64) -> Option<u64> {
        // On a cycle, the step counts of all nodes are odd, or all are even. So the counts of the q
        // nodes that send in the same round are 2 apart.
        let steps = self.steps(torus, node).unsigned_abs();
        steps.checked_sub(1).map(|before| before / (2 * torus.q))
    }

    /// Walks along the circuit from `node` to its image, and calls `pass` with each node after
    /// `node`. Returns the image.
    ///
    /// In two dimensions, the circuit is a staircase. Circuits along the row first and then along
    /// the column would meet in one node. There are n staircase cycles through 2n nodes each. Every
    /// link belongs to one of them, and two of them lead through each node (Fig. 4.7 b). If
    /// `other`, the circuit uses the second one, which begins along the other axis.
    pub fn walk(self, torus: &Torus, mut node: u64, other: bool, mut pass: impl FnMut(u64)) -> u64 {
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

    /// Returns whether the circuit of a collector uses the second staircase. Even sections use even
    /// staircases and odd sections odd ones, so that neighbouring sections use different links.
    pub(super) fn uses_other_staircase(self, torus: &Torus, node: u64, section: usize) -> bool {
        match self {
            Self::One(_) => false,
            Self::Two { a, b, .. } => {
                (torus.coordinate(node, a) + torus.coordinate(node, b) + section as u64) % 2 == 1
            }
        }
    }
}

/// Returns the signed distance from node x to its image, which is `beyond` positions before x, in
/// the shorter direction. If both directions are equally long, half of the nodes use each.
fn shorter(beyond: u64, n: u64, x: u64) -> i64 {
    let beyond = beyond % n;
    let before = n - beyond;
    if beyond < before || (beyond == before && 2 * x < n) {
        -(beyond as i64)
    } else {
        before as i64
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrors {
    pub rounds: Vec<Vec<Mirror>>,
    /// For each permuted axis, 1 or -1. A diagonal consists of the nodes with the same sum of
    /// coordinates times signs. The data of adjacent diagonals is collected in one of them. The
    /// signs are chosen such that staircases cross the diagonals.
    pub signs: Vec<i64>,
}

/// Axis k of the image is axis `from[k].0` of the node, reflected if `from[k].1`.
type Signed = Vec<(usize, bool)>;

impl Mirrors {
    /// Returns the rounds that move the fewest axes in total. `None` if there are too many.
    pub fn compose(permutation: &[(usize, bool)]) -> Option<Self> {
        const MAX_AXES: usize = 8;
        if let Some(round) = involution(permutation) {
            return with_signs(vec![round], permutation.len());
        }
        if permutation.len() > MAX_AXES {
            return None;
        }
        let mut firsts = Vec::new();
        involutions(&mut (0..permutation.len()).map(|i| (i, false)).collect(), 0, &mut firsts);
        let pairs = firsts.into_iter().filter_map(|first| {
            // The second round undoes the first involution, which is its own inverse, and then
            // permutes.
            let rest: Signed = permutation
                .iter()
                .map(|&(axis, reflected)| (first[axis].0, reflected ^ first[axis].1))
                .collect();
            let rounds = vec![involution(&first)?, involution(&rest)?];
            let moved = rounds.iter().flatten().flat_map(|mirror| mirror.axes()).count();
            Some((moved, with_signs(rounds, permutation.len())?))
        });
        pairs.min_by_key(|(moved, _)| *moved).map(|(_, mirrors)| mirrors)
    }

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

fn involution(permutation: &[(usize, bool)]) -> Option<Vec<Mirror>> {
    let mut mirrors = Vec::new();
    for (to, &(axis, reflected)) in permutation.iter().enumerate() {
        if permutation[axis] != (to, reflected) {
            return None;
        }
        match axis {
            _ if axis == to && reflected => mirrors.push(Mirror::One(to)),
            _ if axis > to => mirrors.push(Mirror::Two { a: to, b: axis, anti: reflected }),
            _ => {}
        }
    }
    Some(mirrors)
}

/// Adds to `all` the involutions that agree with `so_far` on the axes below `next`.
fn involutions(so_far: &mut Signed, next: usize, all: &mut Vec<Signed>) {
    if next == so_far.len() {
        all.push(so_far.clone());
        return;
    }
    if so_far[next].0 != next {
        return involutions(so_far, next + 1, all);
    }
    for reflected in [false, true] {
        so_far[next] = (next, reflected);
        involutions(so_far, next + 1, all);
        for other in next + 1..so_far.len() {
            if so_far[other].0 == other {
                (so_far[next], so_far[other]) = ((other, reflected), (next, reflected));
                involutions(so_far, next + 1, all);
                so_far[other] = (other, false);
            }
        }
    }
    so_far[next] = (next, false);
}

/// Chooses the signs such that staircases cross the diagonals: both links of a stair must change
/// the signed sum in the same way. A round inverts the signs of the axes of its mirrors.
fn with_signs(rounds: Vec<Vec<Mirror>>, axes: usize) -> Option<Mirrors> {
    let crosses = |choice: &u64| {
        let mut minus: Vec<bool> = (0..axes).map(|i| choice >> i & 1 == 1).collect();
        rounds.iter().all(|round| {
            let all_cross = round.iter().all(|mirror| match *mirror {
                Mirror::One(_) => true,
                Mirror::Two { a, b, anti } => (minus[a] == minus[b]) == anti,
            });
            for axis in round.iter().flat_map(|mirror| mirror.axes()) {
                minus[axis] = !minus[axis];
            }
            all_cross
        })
    };
    // A permutation of more than 16 axes is a reflection, for which any signs are valid.
    let choice = (0..1_u64 << axes.min(16)).find(crosses)?;
    let signs = (0..axes).map(|i| if i < 64 && choice >> i & 1 == 1 { -1 } else { 1 }).collect();
    Some(Mirrors { rounds, signs })
}
