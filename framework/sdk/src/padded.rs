//! Grids padded with virtual nodes, for algorithms that need sides with a certain divisor.

use crate::grid::Grid;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// The grid of a machine, padded with virtual nodes until every side is a multiple of a unit.
///
/// A unit is a range of consecutive coordinates along a dimension. The work of a virtual node is
/// done by its *home*, the node one unit before it. If an algorithm treats all nodes with the same
/// position in their units alike, it therefore sends the data of a virtual node and of its home to
/// the same node, as one message. Data that the two send to each other is a local copy. No step
/// takes longer than on a real machine of the padded size. If instead the last node of a line did
/// the work of all its virtual nodes, it would have to send their messages one after another.
#[derive(Debug, Clone)]
pub struct Padded {
    machine: Grid,
    grid: Grid,
    unit: u64,
}

impl Padded {
    /// Adds virtual nodes at the end of each side of `machine`, up to a multiple of `unit`. Errors
    /// with [`Stop::Unsupported`] if the number of nodes exceeds `u64`.
    pub fn new(machine: Grid, unit: u64) -> Result<Self, Stop> {
        let too_large =
            || Stop::unsupported(format!("padded to multiples of {unit}, the grid is too large"));
        let sides = machine.radices().iter().map(|side| side.checked_next_multiple_of(unit));
        let grid = Grid::new(&sides.collect::<Option<Vec<_>>>().ok_or_else(too_large)?)
            .map_err(|_| too_large())?;
        Ok(Self { machine, grid, unit })
    }

    /// Returns the machine's own grid.
    pub fn machine(&self) -> &Grid {
        &self.machine
    }

    /// Returns the padded grid, in which the schedule numbers its nodes.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns whether there are virtual nodes.
    pub fn has_virtual_nodes(&self) -> bool {
        self.grid != self.machine
    }

    /// Returns the coordinate on the machine that does the work of a coordinate of the padded grid.
    /// If a side is shorter than one unit, the two coordinates only have the same parity.
    pub fn home(&self, dimension: usize, mut coordinate: u64) -> u64 {
        let side = self.machine.radix(dimension);
        let back = if side >= self.unit { self.unit } else { 2 };
        while coordinate >= side {
            coordinate = coordinate.saturating_sub(back);
        }
        coordinate
    }

    /// Returns the node of the machine that does the work of a node of the padded grid.
    pub fn physical(&self, node: u64) -> u64 {
        self.machine.node(
            self.grid.coordinates(node).enumerate().map(|(dimension, at)| self.home(dimension, at)),
        )
    }

    /// Defines the grid of the schedule, which numbers nodes as [`Padded::grid`] does, and places
    /// its nodes on the machine. Each dimension becomes two axes: the number of the unit, and the
    /// position in the unit. A set of whole units is then a product of ranges, and so is a set of
    /// one position in all units. Errors with [`Stop::Stopped`] if the host refuses a call.
    pub fn lay_out(&self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let axes: Vec<u64> =
            self.grid.radices().iter().flat_map(|side| [side / self.unit, self.unit]).collect();
        schedule.layout(&axes, 1)?;
        if !self.has_virtual_nodes() {
            return Ok(());
        }
        self.grid.each_node(|node, at| {
            let is_real =
                at.iter().zip(self.machine.radices()).all(|(coordinate, side)| coordinate < side);
            schedule.place(node, self.physical(node), is_real)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_one_unit_back_or_of_the_same_parity() {
        let homes = |unit, side: u64| -> Vec<u64> {
            let padded = Padded::new(Grid::new(&[1, side]).unwrap(), unit).unwrap();
            (0..padded.grid().radix(1)).map(|at| padded.home(1, at)).collect()
        };
        assert_eq!(homes(4, 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 7]);
        assert_eq!(homes(4, 5), [0, 1, 2, 3, 4, 1, 2, 3]);
        assert_eq!(homes(2, 5), [0, 1, 2, 3, 4, 3]);
        assert_eq!(homes(2, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(homes(4, 3), [0, 1, 2, 1]);
        assert_eq!(homes(4, 2), [0, 1, 0, 1]);
        assert_eq!(homes(4, 1), [0, 0, 0, 0]);
        assert_eq!(homes(2, 1), [0, 0]);
    }

    #[test]
    fn an_overflowing_padded_grid_is_refused() {
        let refused = Padded::new(Grid::new(&[u64::MAX]).unwrap(), 4).unwrap_err();
        assert_eq!(refused.to_string(), "padded to multiples of 4, the grid is too large");
    }
}
