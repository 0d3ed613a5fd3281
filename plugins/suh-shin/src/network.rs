//! The network with the numbering of the paper, padded with virtual nodes. The rules of the
//! algorithm need sizes that are multiples of four (in a mesh, of two). About networks of different
//! sizes, the paper has a single sentence: add virtual nodes.

use swapmeet_sdk::{Padded, Planned, Problem, Schedule, Stop, Symmetry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkKind {
    Torus,
    Mesh,
}

#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub kind: NetworkKind,
    /// Side of the submeshes: 4 in a torus, 2 in a mesh. Each node of a submesh belongs to a
    /// different group.
    pub submesh: u64,
    /// The nodes of the machine, and the grid whose sides N1 .. Nn are padded to multiples of
    /// `submesh`.
    pub nodes: Padded,
    /// The axes of the coordinates x1, x2, etc. of the paper. In 2D, the first coordinate of the
    /// paper is the column c, which is on the last axis. In more dimensions, the first coordinate
    /// is x, which is on the first axis.
    pub axes: Vec<usize>,
    /// The planned nodes; `None` for all nodes.
    pub planned: Option<Planned>,
}

impl Network {
    /// Reads the network of the problem. Returns an error with the reason if the algorithm cannot
    /// run on it.
    pub(crate) fn new(problem: &Problem<'_>) -> Result<Self, Stop> {
        let (kind, submesh) = match problem.topology().kind() {
            "torus" => (NetworkKind::Torus, 4),
            "mesh" => (NetworkKind::Mesh, 2),
            other => {
                return Err(Stop::unsupported(format!(
                    "runs only on a torus or a mesh; this topology is a {other}"
                )));
            }
        };
        let machine = problem.topology().grid()?;
        let n = machine.dimensions();
        if n < 2 {
            return Err(Stop::unsupported("needs 2 or more dimensions"));
        }
        let axes = if n == 2 { vec![1, 0] } else { (0..n).collect() };
        Ok(Self { kind, submesh, nodes: Padded::new(machine, submesh)?, axes, planned: None })
    }

    /// Sets the grid and the placement, and declares the symmetry.
    ///
    /// The sends of a node depend on its position within its submesh. Their receivers and
    /// destinations are given relative to the submesh. Shifts by whole submeshes along each axis
    /// therefore leave the schedule unchanged. If there are virtual nodes, no shift leaves the
    /// schedule unchanged, because all virtual nodes are at one end of an axis.
    pub(crate) fn lay_out(&mut self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        self.nodes.lay_out(schedule)?;
        if !self.nodes.has_virtual_nodes() {
            self.planned = Some(
                schedule
                    .symmetric(&[Symmetry::shift(1), Symmetry::NONE].repeat(self.axes.len()))?,
            );
        }
        Ok(())
    }

    /// Calls `visit` for each planned node, with its coordinates x1 .. xn and its number. Nodes are
    /// visited in ascending order of their numbers.
    pub(crate) fn each_node(
        &self,
        mut visit: impl FnMut(&[u64], u64) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut x = vec![0; self.axes.len()];
        if let Some(planned) = self.planned.as_ref().filter(|planned| !planned.is_everyone()) {
            return planned.iter().try_for_each(|node| {
                x.iter_mut()
                    .zip(&self.axes)
                    .for_each(|(x, axis)| *x = self.nodes.grid().coordinate(node, *axis));
                visit(&x, node)
            });
        }
        self.nodes.grid().each_node(|node, coordinates| {
            x.iter_mut().zip(&self.axes).for_each(|(x, axis)| *x = coordinates[*axis]);
            visit(&x, node)
        })
    }
}
