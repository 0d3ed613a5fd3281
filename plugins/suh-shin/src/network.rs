//! The network in the paper's numbering, padded with virtual nodes to sizes that are multiples of
//! four (mesh: two). The paper has only one sentence about other sizes: add virtual nodes.

use swapmeet_sdk::{Padded, Planned, Problem, Schedule, Stop, Symmetry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkKind {
    Torus,
    Mesh,
}

#[derive(Debug, Clone)]
pub struct PaddedNetwork {
    pub kind: NetworkKind,
    /// The side of a submesh: 4 in a torus, 2 in a mesh. The nodes of a submesh all belong to
    /// different groups.
    pub submesh: u64,
    pub nodes: Padded,
    /// The axes of x1, x2, etc. of the paper. In 2D, x1 is the column, which is on the last axis.
    /// In more dimensions, x1 is x, which is on the first axis.
    pub axes: Vec<usize>,
    pub planned: Option<Planned>,
}

impl PaddedNetwork {
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

    /// Declares the grid, the placement and the symmetry. Shifts by whole submeshes are symmetries,
    /// because sends depend on positions in the submesh. If there are virtual nodes, there is no
    /// symmetry, because they are all at one end of an axis.
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
