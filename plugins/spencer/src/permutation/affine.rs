//! The map of coordinates, read from the destinations: it exchanges, reflects, translates or shears
//! axes.

use crate::torus::Torus;
use swapmeet_sdk::{Problem, Stop};

/// A coordinate of the image (the destination of a node's block): a coordinate of the node,
/// possibly negated, plus a constant, plus a multiple of the coordinate on axis 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    pub axis: usize,
    /// As in the thesis, -x is -1 - x modulo n, because the mirror lies between the nodes n - 1 and
    /// 0.
    pub negated: bool,
    pub plus: u64,
    pub sheared: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Affine {
    pub terms: Vec<Term>,
}

impl Affine {
    pub(super) fn identity(dims: usize) -> Self {
        Self {
            terms: (0..dims)
                .map(|axis| Term { axis, negated: false, plus: 0, sheared: 0 })
                .collect(),
        }
    }

    pub(super) fn read(problem: &Problem<'_>, torus: &Torus) -> Result<Self, Stop> {
        let refusal = || {
            Stop::unsupported(format!(
                "supports permutations and reflections of the axes, translations and shears along the first axis, but not `{}`",
                problem.permutation()
            ))
        };
        let d = torus.dims.len();
        let origin = problem.destination(0);
        let mut affine = Self::identity(d);
        for (to, term) in affine.terms.iter_mut().enumerate() {
            term.plus = torus.coordinate(origin, to);
        }
        for &axis in &torus.cycles {
            let image = problem.destination(torus.moved(0, axis, 1));
            for (to, term) in affine.terms.iter_mut().enumerate() {
                let n = torus.dims[to];
                let step = (torus.coordinate(image, to) + n - torus.coordinate(origin, to)) % n;
                let reflected = step == n - 1 && (n > 2 || torus.coordinate(origin, to) == 1);
                match step {
                    0 => {}
                    _ if axis == 1
                        && to == 0
                        && torus.coordinate(image, 1) != torus.coordinate(origin, 1) =>
                    {
                        term.sheared = step;
                    }
                    _ if reflected => {
                        (term.axis, term.negated, term.plus) = (axis, true, (term.plus + 1) % n);
                    }
                    1 => (term.axis, term.negated) = (axis, false),
                    _ => return Err(refusal()),
                }
            }
        }
        let is_affine = (0..problem.topology().nodes())
            .all(|node| affine.image(torus, node) == problem.destination(node));
        if is_affine { Ok(affine) } else { Err(refusal()) }
    }

    pub(super) fn image(&self, torus: &Torus, node: u64) -> u64 {
        self.terms.iter().enumerate().fold(node, |image, (to, term)| {
            let n = torus.dims[to];
            let x = torus.coordinate(node, term.axis);
            let x = if term.negated { n - 1 - x } else { x };
            let sheared =
                if term.sheared == 0 { 0 } else { term.sheared * (torus.coordinate(node, 1) % n) };
            torus.moved(image, to, (x + term.plus + sheared) % n)
        })
    }

    /// Returns the node whose block has the destination `image`. Only axis 0 may be sheared.
    pub(super) fn origin(&self, torus: &Torus, image: u64) -> u64 {
        self.terms.iter().enumerate().fold(image, |node, (to, term)| {
            let n = torus.dims[to];
            let x = torus.coordinate(image, to);
            let sheared = if term.sheared == 0 {
                0
            } else {
                term.sheared * (torus.coordinate(image, 1) % n) % n
            };
            let x =
                if term.negated { n - 1 - x + term.plus } else { x + 2 * n - term.plus - sheared };
            torus.moved(node, term.axis, x % n)
        })
    }

    pub(super) fn moves(&self, to: usize) -> bool {
        self.terms[to] != Self::identity(to + 1).terms[to]
    }

    pub(super) fn only(&self, axes: &[usize]) -> Self {
        let mut part = Self::identity(self.terms.len());
        for &axis in axes {
            part.terms[axis] = self.terms[axis];
        }
        part
    }

    pub(super) fn axis_of_image(&self, axis: usize) -> (usize, bool) {
        let found = self.terms.iter().enumerate().find(|(_, term)| term.axis == axis);
        found.map_or((axis, false), |(to, term)| (to, term.negated))
    }
}
