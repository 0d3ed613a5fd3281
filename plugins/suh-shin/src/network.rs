//! The network as the paper numbers it, padded to the sizes that the paper accepts.
//!
//! The paper gives other sizes one sentence: add virtual nodes. Here each dimension is padded at its end, and what the node at a virtual coordinate would do is done by the one in the same group a
//! submesh earlier, its *home*. So in a ring phase both are in the same class and send the same way to the same node, as one message, and the step from one to the other is a local copy: the phase takes no more
//! steps than at the padded size. Rejected: all of a line's on its last node, which then works for up to three others, in turns.

use swapmeet_sdk::{Grid, Problem, Schedule, Stop};

/// What closes the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Wrap-around links.
    Torus,
    /// Nothing.
    Mesh,
}

/// A torus or mesh.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub kind: Kind,
    /// Side of the submeshes whose nodes are all in different groups: 4, in a mesh 2.
    pub submesh: u64,
    pub machine: Grid,
    pub padded: Grid,
    /// The axis of x1, x2, ..: in 2D the paper's first dimension is c, the last axis; in more, x is the first.
    pub axes: Vec<usize>,
}

impl Network {
    /// The problem's network; `Err` says why the algorithm can't run on it.
    pub(crate) fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        let (kind, submesh) = match problem.topology().kind() {
            "torus" => (Kind::Torus, 4),
            "mesh" => (Kind::Mesh, 2),
            other => {
                return Err(Stop::unsupported(format!("runs on `torus` and `mesh`, not on `{other}`")));
            }
        };
        let machine = problem.topology().grid()?;
        let n = machine.dimensions();
        if n < 2 {
            let why = "needs 2 or more dimensions: four classes of nodes go in four directions, and a line has two";
            return Err(Stop::unsupported(why));
        }
        let too_large = || Stop::unsupported(format!("padded to multiples of {submesh}, the grid is too large"));
        let sides = machine.radices().iter().map(|side| side.checked_next_multiple_of(submesh));
        let padded = Grid::new(&sides.collect::<Option<Vec<_>>>().ok_or_else(too_large)?).map_err(|_| too_large())?;
        let axes = if n == 2 { vec![1, 0] } else { (0..n).collect() };
        Ok(Self { kind, submesh, machine, padded, axes })
    }

    /// Tells the host in which grid sets are named, and who does the work of which node. Virtual nodes own no blocks.
    ///
    /// The grid has each axis of the padded one as a submesh and a place in it. The paper's sets are products of just these, several times smaller than with one
    /// long axis; the nodes' numbers are the same.
    pub(crate) fn lay_out(&self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let axes: Vec<u64> =
            self.padded.radices().iter().flat_map(|side| [side / self.submesh, self.submesh]).collect();
        schedule.layout(&axes, 1)?;
        if !self.is_padded() {
            return Ok(());
        }
        self.each_node(|x, node| {
            let real = x.iter().zip(&self.axes).all(|(v, axis)| *v < self.machine.radix(*axis));
            schedule.place(node, self.physical(node), real)
        })
    }

    pub(crate) fn is_padded(&self) -> bool {
        self.padded != self.machine
    }

    /// Calls `visit` with x1 .. xn and the number of each node of the padded grid, in the order of the numbers.
    pub(crate) fn each_node(&self, mut visit: impl FnMut(&[u64], u64) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut x = vec![0; self.axes.len()];
        for node in 0..self.padded.nodes() {
            visit(&x, node)?;
            for axis in (0..x.len()).rev() {
                // Either order of axes is its own inverse.
                let x = &mut x[self.axes[axis]];
                *x += 1;
                if *x < self.padded.radix(axis) {
                    break;
                }
                *x = 0;
            }
        }
        Ok(())
    }

    /// The coordinate of the machine that does the work of coordinate `v`: the one in the same group a submesh earlier. A side shorter than a submesh has none; there it is one of
    /// the same parity.
    pub(crate) fn home(&self, axis: usize, v: u64) -> u64 {
        let size = self.machine.radix(axis);
        let back = if size >= self.submesh { self.submesh } else { 2 };
        let mut v = v;
        while v >= size {
            v = v.saturating_sub(back);
        }
        v
    }

    /// The node of the machine that does the work of a node.
    pub(crate) fn physical(&self, node: u64) -> u64 {
        self.machine.node(self.padded.coordinates(node).enumerate().map(|(axis, v)| self.home(axis, v)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn network(kind: Kind, sides: &[u64]) -> Network {
        let submesh = if kind == Kind::Torus { 4 } else { 2 };
        let padded: Vec<u64> = sides.iter().map(|side| side.next_multiple_of(submesh)).collect();
        let [machine, padded] = [sides, &padded].map(|sides| Grid::new(sides).unwrap());
        Network { kind, submesh, machine, padded, axes: vec![1, 0] }
    }

    #[test]
    fn the_work_of_a_virtual_coordinate_is_done_one_submesh_back_or_by_one_of_its_parity() {
        let homes = |kind, size: u64| -> Vec<u64> {
            let network = network(kind, &[1, size]);
            (0..network.padded.radix(1)).map(|v| network.home(1, v)).collect()
        };
        assert_eq!(homes(Kind::Torus, 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 7]);
        assert_eq!(homes(Kind::Torus, 5), [0, 1, 2, 3, 4, 1, 2, 3]);
        assert_eq!(homes(Kind::Mesh, 5), [0, 1, 2, 3, 4, 3]);
        assert_eq!(homes(Kind::Mesh, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(homes(Kind::Torus, 3), [0, 1, 2, 1]);
        assert_eq!(homes(Kind::Torus, 2), [0, 1, 0, 1]);
        assert_eq!(homes(Kind::Torus, 1), [0, 0, 0, 0]);
        assert_eq!(homes(Kind::Mesh, 1), [0, 0]);
    }
}
