//! The network as the paper numbers it. For other sizes than its own the paper has one sentence:
//! add virtual nodes.

use swapmeet_sdk::{Padded, Planned, Problem, Schedule, Stop, Symmetry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Torus,
    Mesh,
}

#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub kind: Kind,
    /// Side of the submeshes whose nodes are all in different groups: 4, in a mesh 2.
    pub submesh: u64,
    /// The machine, and N1 .. Nn made multiples of it.
    pub nodes: Padded,
    /// The axis of x1, x2, ..: in 2D the paper's first dimension is c, the last axis; in more, x is
    /// the first.
    pub axes: Vec<usize>,
    /// Whom the schedule is planned for; everyone until it is asked.
    pub planned: Option<Planned>,
}

impl Network {
    /// The problem's network; `Err` says why the algorithm can't run on it.
    pub(crate) fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        let (kind, submesh) = match problem.topology().kind() {
            "torus" => (Kind::Torus, 4),
            "mesh" => (Kind::Mesh, 2),
            other => {
                return Err(Stop::unsupported(format!(
                    "runs on `torus` and `mesh`, not on `{other}`"
                )));
            }
        };
        let machine = problem.topology().grid()?;
        let n = machine.dimensions();
        if n < 2 {
            let why = "needs 2 or more dimensions: four classes of nodes go in four directions, and a line has two";
            return Err(Stop::unsupported(why));
        }
        let axes = if n == 2 { vec![1, 0] } else { (0..n).collect() };
        Ok(Self { kind, submesh, nodes: Padded::new(machine, submesh)?, axes, planned: None })
    }

    /// Sets grid and placement, and asks whom to plan for. What a node does depends on its place
    /// within its submesh, and what it sends goes as many submeshes on whichever its own is: moving
    /// all by whole submeshes, round each axis, leaves the schedule as it is. Virtual nodes are all
    /// at one end of an axis.
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

    /// Calls `visit` with x1 .. xn and the number of each node that is planned for, in the order of
    /// the numbers.
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
