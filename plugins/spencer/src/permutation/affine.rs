//! What a permutation does to coordinates, read off its destinations: the axes exchanged and turned
//! round, moved on, or sheared.

use crate::torus::Torus;
use swapmeet_sdk::{Problem, Stop};

/// One coordinate of the image: another coordinate, perhaps -1 minus it, and something added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    /// The axis it is taken from.
    pub axis: usize,
    /// Whether it is turned round: -x stands for -1 - x modulo n, as the mirror lies between nodes
    /// n - 1 and 0.
    pub negated: bool,
    /// Added to it.
    pub plus: u64,
    /// Times the coordinate on axis 1, added to it.
    pub sheared: u64,
}

/// A map from nodes to nodes, coordinate by coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Affine {
    pub terms: Vec<Term>,
}

impl Affine {
    /// What leaves every node where it is.
    pub(super) fn identity(dims: usize) -> Self {
        Self {
            terms: (0..dims)
                .map(|axis| Term { axis, negated: false, plus: 0, sheared: 0 })
                .collect(),
        }
    }

    /// The problem's permutation, if it is one of coordinates.
    pub(super) fn of(problem: &Problem<'_>, torus: &Torus) -> Result<Self, Stop> {
        let refusal = || {
            Stop::unsupported(format!(
                "knows permutations of the axes (exchanged, turned round), translations and shears along the first axis; `{}` is none of these",
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
                let turned = step == n - 1 && (n > 2 || torus.coordinate(origin, to) == 1);
                match step {
                    0 => {}
                    _ if axis == 1
                        && to == 0
                        && torus.coordinate(image, 1) != torus.coordinate(origin, 1) =>
                    {
                        term.sheared = step;
                    }
                    _ if turned => {
                        (term.axis, term.negated, term.plus) = (axis, true, (term.plus + 1) % n)
                    }
                    1 => (term.axis, term.negated) = (axis, false),
                    _ => return Err(refusal()),
                }
            }
        }
        let whole = (0..problem.topology().nodes())
            .all(|node| affine.image(torus, node) == problem.destination(node));
        if whole { Ok(affine) } else { Err(refusal()) }
    }

    /// Where a node's block goes.
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

    /// Whose block goes to a node; for maps of axes that no other axis is sheared by.
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

    /// Whether an axis of the image is anything but itself.
    pub(super) fn moves(&self, to: usize) -> bool {
        self.terms[to] != Self::identity(to + 1).terms[to]
    }

    /// This map on these axes of the image, the others left as they are.
    pub(super) fn only(&self, axes: &[usize]) -> Self {
        let mut part = Self::identity(self.terms.len());
        for &axis in axes {
            part.terms[axis] = self.terms[axis];
        }
        part
    }

    /// The axis of the image that an axis becomes, and whether it is turned round.
    pub(super) fn axis_of_image(&self, axis: usize) -> (usize, bool) {
        let found = self.terms.iter().enumerate().find(|(_, term)| term.axis == axis);
        found.map_or((axis, false), |(to, term)| (to, term.negated))
    }
}
