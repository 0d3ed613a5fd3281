//! Grids of any size for algorithms that need sides of one kind: virtual nodes fill them up.

use crate::grid::Grid;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// The grid of a machine, padded with virtual nodes until every side is a multiple of some unit.
///
/// What the node at a virtual coordinate would do is done by the one a unit earlier, its *home*,
/// which has the same place in its unit. So where all nodes of one place move alike, both send the
/// same way to the same node, as one message, and the move from one to the other is a local copy:
/// nothing takes longer than at the padded size. Rejected: all of a line's on its last node, which
/// then works for up to a unit of them in turns.
#[derive(Debug, Clone)]
pub struct Padded {
    machine: Grid,
    grid: Grid,
    unit: u64,
}

impl Padded {
    /// Pads each side of `machine` at its end to the next multiple of `unit`.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] where the nodes of the padded grid can't be numbered.
    pub fn new(machine: Grid, unit: u64) -> Result<Self, Stop> {
        let too_large =
            || Stop::unsupported(format!("padded to multiples of {unit}, the grid is too large"));
        let sides = machine.radices().iter().map(|side| side.checked_next_multiple_of(unit));
        let grid = Grid::new(&sides.collect::<Option<Vec<_>>>().ok_or_else(too_large)?)
            .map_err(|_| too_large())?;
        Ok(Self { machine, grid, unit })
    }

    /// The machine's own grid.
    pub fn machine(&self) -> &Grid {
        &self.machine
    }

    /// The grid with every side padded: the schedule's own.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether there is any virtual node.
    pub fn has_virtual_nodes(&self) -> bool {
        self.grid != self.machine
    }

    /// The coordinate of the machine that does the work of this one of the padded grid. A side
    /// shorter than a unit has none a unit earlier; there it is one of the same parity.
    pub fn home(&self, dimension: usize, mut coordinate: u64) -> u64 {
        let side = self.machine.radix(dimension);
        let back = if side >= self.unit { self.unit } else { 2 };
        while coordinate >= side {
            coordinate = coordinate.saturating_sub(back);
        }
        coordinate
    }

    /// The node of the machine that does the work of a node of the padded grid.
    pub fn physical(&self, node: u64) -> u64 {
        self.machine.node(
            self.grid.coordinates(node).enumerate().map(|(dimension, at)| self.home(dimension, at)),
        )
    }

    /// Tells the host who does the work of which node, and in which grid sets are named: each
    /// dimension as two axes, units and places in a unit. Sets of whole units, or of one place in
    /// all of them, are products there and several times smaller than with one long axis; the
    /// nodes' numbers are the same.
    ///
    /// # Errors
    /// [`Stop::Stopped`] where the host takes no more.
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
    fn the_work_of_a_virtual_coordinate_is_done_one_unit_back_or_by_one_of_its_parity() {
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
    fn a_grid_that_can_not_be_padded_is_refused() {
        let refused = Padded::new(Grid::new(&[u64::MAX]).unwrap(), 4).unwrap_err();
        assert_eq!(refused.to_string(), "padded to multiples of 4, the grid is too large");
    }
}
