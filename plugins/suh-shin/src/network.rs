//! The network with the paper's numbering. For sizes that are not multiples of four (mesh: two) the
//! paper has one sentence: add virtual nodes.

use swapmeet_sdk::{Padded, Planned, Problem, Schedule, Stop, Symmetry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkKind {
    Torus,
    Mesh,
}

#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub kind: NetworkKind,
    /// Side of the submeshes, whose nodes all belong to different groups: 4, in a mesh 2.
    pub submesh: u64,
    /// The machine, and its grid with N1 .. Nn padded to multiples of `submesh`.
    pub nodes: Padded,
    /// The axes of x1, x2, etc. In 2D the paper's first dimension is c, the last axis; in more
    /// dimensions x is the first axis.
    pub axes: Vec<usize>,
    /// The planned nodes; `None` for all nodes.
    pub planned: Option<Planned>,
}

impl Network {
    /// Reads the problem's network. The error tells why the algorithm cannot run on it.
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

    /// Sets grid and placement, and declares the symmetry. The sends of a node depend on its
    /// position within its submesh, and receivers and destinations are given relative to its
    /// submesh. Shifts by whole submeshes along each axis therefore leave the schedule unchanged,
    /// unless there are virtual nodes, which are all at one end of an axis.
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

    /// Calls `visit` with x1 .. xn and the number of each planned node, in ascending order of the
    /// numbers.
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
