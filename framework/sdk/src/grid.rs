//! Arithmetic with node numbers and coordinates in a grid.

use crate::stop::Stop;

/// A grid of nodes, numbered row-major: the last dimension varies fastest. It can be the machine's
/// own grid ([`Topology::grid`](crate::Topology::grid)), or a grid in which a schedule numbers its
/// nodes ([`Schedule::layout`](crate::Schedule::layout)).
///
/// ```
/// # use swapmeet_sdk::{Grid, Stop};
/// let grid = Grid::new(&[4, 8])?;
/// assert_eq!((grid.nodes(), grid.dimensions(), grid.radix(1)), (32, 2, 8));
/// assert_eq!(grid.node([1, 5]), 13);
/// assert_eq!((grid.coordinate(13, 0), grid.coordinate(13, 1)), (1, 5));
/// assert!(grid.coordinates(13).eq([1, 5]));
/// // Shift along one dimension, with wrap-around.
/// assert_eq!(grid.node([1, 7]), grid.shift(13, 1, 2));
/// assert_eq!(grid.node([1, 0]), grid.shift(13, 1, 3));
/// assert_eq!(grid.node([3, 5]), grid.shift(13, 0, -2));
/// // Replace the coordinate in one dimension.
/// assert_eq!(grid.node([1, 0]), grid.moved(13, 1, 0));
/// # Ok::<(), Stop>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    radices: Vec<u64>,
    /// For each dimension, the difference between the numbers of neighbouring nodes.
    strides: Vec<u64>,
    nodes: u64,
}

impl Grid {
    /// Makes a grid from the radix (number of coordinates) of each dimension. Errors with
    /// [`Stop::Unsupported`] if a radix is 0 or the number of nodes exceeds `u64`.
    pub fn new(radices: &[u64]) -> Result<Self, Stop> {
        let mut strides = vec![1; radices.len()];
        let mut nodes = 1_u64;
        for (stride, radix) in strides.iter_mut().zip(radices).rev() {
            *stride = nodes;
            let product = nodes.checked_mul(*radix).filter(|product| *product > 0);
            nodes = product.ok_or_else(|| {
                let problem = if *radix == 0 {
                    "a dimension without nodes"
                } else {
                    "more nodes than can be numbered"
                };
                Stop::unsupported(format!("a grid of {radices:?} has {problem}"))
            })?;
        }
        Ok(Self { radices: radices.to_vec(), strides, nodes })
    }

    /// Returns the number of nodes. They are numbered from 0.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.radices.len()
    }

    /// Returns the radix of each dimension, first dimension first.
    pub fn radices(&self) -> &[u64] {
        &self.radices
    }

    /// Returns the number of coordinates of a dimension.
    pub fn radix(&self, dimension: usize) -> u64 {
        self.radices[dimension]
    }

    /// Returns the coordinate of a node in one dimension.
    pub fn coordinate(&self, node: u64, dimension: usize) -> u64 {
        node / self.strides[dimension] % self.radices[dimension]
    }

    /// Returns the coordinates of a node, first dimension first.
    pub fn coordinates(&self, node: u64) -> impl ExactSizeIterator<Item = u64> + use<'_> {
        self.strides.iter().zip(&self.radices).map(move |(stride, radix)| node / stride % radix)
    }

    /// Calls `visit` with the number and the coordinates of every node in order, until an error.
    pub fn each_node<E>(
        &self,
        mut visit: impl FnMut(u64, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut coordinates = vec![0; self.radices.len()];
        for node in 0..self.nodes {
            visit(node, &coordinates)?;
            for (coordinate, radix) in coordinates.iter_mut().zip(&self.radices).rev() {
                *coordinate += 1;
                if *coordinate < *radix {
                    break;
                }
                *coordinate = 0;
            }
        }
        Ok(())
    }

    /// Returns the node with these coordinates: one for each dimension, less than its radix.
    pub fn node(&self, coordinates: impl IntoIterator<Item = u64>) -> u64 {
        coordinates
            .into_iter()
            .zip(&self.strides)
            .map(|(coordinate, stride)| coordinate * stride)
            .sum()
    }

    /// Returns the node that differs from `node` only in the given coordinate of one dimension.
    pub fn moved(&self, node: u64, dimension: usize, coordinate: u64) -> u64 {
        let stride = self.strides[dimension];
        node - self.coordinate(node, dimension) * stride + coordinate * stride
    }

    /// Returns the node at distance `by` along one dimension, with wrap-around. A negative `by`
    /// leads to lower coordinates.
    pub fn shift(&self, node: u64, dimension: usize, by: i64) -> u64 {
        let radix = self.radices[dimension];
        let here = self.coordinate(node, dimension);
        let steps = by.unsigned_abs() % radix;
        let up = if by < 0 && steps > 0 { radix - steps } else { steps };
        // `here + up` could overflow if the radix is close to `u64::MAX`.
        let target = if here >= radix - up { here - (radix - up) } else { here + up };
        self.moved(node, dimension, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_coordinates_convert_both_ways() {
        for radices in [&[][..], &[1], &[7], &[3, 4], &[2, 1, 5, 3]] {
            let grid = Grid::new(radices).unwrap();
            assert_eq!(grid.nodes(), radices.iter().product::<u64>());
            for node in 0..grid.nodes() {
                assert_eq!(grid.node(grid.coordinates(node)), node, "{radices:?}");
                for dimension in 0..grid.dimensions() {
                    assert_eq!(
                        Some(grid.coordinate(node, dimension)),
                        grid.coordinates(node).nth(dimension)
                    );
                }
            }
        }
    }

    #[test]
    fn each_node_stops_at_the_first_error() {
        let grid = Grid::new(&[2, 1, 3]).unwrap();
        let mut visited = Vec::new();
        let end = grid.each_node(|node, at| {
            visited.push((node, at.to_vec()));
            if node == 4 { Err("enough") } else { Ok(()) }
        });
        assert_eq!(end, Err("enough"));
        assert_eq!(
            visited,
            (0..5).map(|node| (node, grid.coordinates(node).collect())).collect::<Vec<_>>()
        );
    }

    #[test]
    fn shifts_wrap_around_in_both_directions() {
        let grid = Grid::new(&[3, 5]).unwrap();
        for node in 0..grid.nodes() {
            for by in -11..=11 {
                let [row, column] = [grid.coordinate(node, 0), grid.coordinate(node, 1)];
                let target = grid.shift(node, 1, by);
                assert_eq!(
                    target,
                    grid.node([row, (column as i64 + by).rem_euclid(5) as u64]),
                    "{node} by {by}"
                );
                assert_eq!(grid.shift(target, 1, -by), node);
            }
        }
    }

    #[test]
    fn the_largest_radix_and_the_longest_shifts_do_not_overflow() {
        let grid = Grid::new(&[u64::MAX]).unwrap();
        assert_eq!(grid.shift(u64::MAX - 1, 0, 1), 0);
        assert_eq!(grid.shift(0, 0, -1), u64::MAX - 1);
        assert_eq!(grid.shift(5, 0, i64::MIN), u64::MAX - (1 << 63) + 5);
    }

    #[test]
    fn empty_and_overflowing_grids_are_refused() {
        let refused = |radices: &[u64]| Grid::new(radices).unwrap_err().to_string();
        assert_eq!(refused(&[4, 0]), "a grid of [4, 0] has a dimension without nodes");
        assert_eq!(
            refused(&[u64::MAX, 2]),
            "a grid of [18446744073709551615, 2] has more nodes than can be numbered"
        );
    }
}
