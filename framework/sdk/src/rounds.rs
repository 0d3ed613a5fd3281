//! Assigns messages to rounds, so that no two messages in a round share a node or a link.

use crate::grid::Grid;
use std::collections::HashMap;

/// A message along one dimension of a grid. A message from a node to itself is a copy and uses no
/// link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Straight {
    /// Sender, a node of the grid.
    pub from: u64,
    /// Receiver. It differs from the sender at most in the coordinate of `dimension`.
    pub to: u64,
    /// Dimension along which the message travels.
    pub dimension: usize,
    /// Direction of travel: 1 for ascending coordinates, -1 for descending coordinates.
    pub way: i8,
}

impl Straight {
    /// Returns the resources of a message: its sender, its receiver and each link of its route.
    fn resources(self, grid: &Grid) -> impl Iterator<Item = u64> {
        let Self { from, to, dimension, way } = self;
        let per_node = 2 + 2 * grid.radices().len() as u64;
        let link = 2 + 2 * dimension as u64 + u64::from(way > 0);
        let nodes = std::iter::successors(Some(from), move |node| {
            Some(grid.shift(*node, dimension, way.into()))
        });
        let links =
            nodes.take_while(move |node| *node != to).map(move |node| node * per_node + link);
        let ends = [from * per_node, to * per_node + 1];
        ends.into_iter().filter(move |_| from != to).chain(links)
    }
}

/// Assigns to each message, in the given order, the first round (from 0) in which no earlier
/// message occupies its sender, its receiver or one of its links. Consecutive messages with the
/// same sender and receiver count as one.
///
/// ```
/// # use swapmeet_sdk::{Grid, Stop, Straight, serialized_rounds};
/// let line = Grid::new(&[4])?;
/// let up = |from, to| Straight { from, to, dimension: 0, way: 1 };
/// assert_eq!(serialized_rounds(&line, &[up(0, 2), up(1, 3), up(2, 3)]), [0, 1, 0]);
/// # Ok::<(), Stop>(())
/// ```
pub fn serialized_rounds(grid: &Grid, messages: &[Straight]) -> Vec<usize> {
    let mut assigned = vec![0; messages.len()];
    let mut start = 0;
    let groups = messages.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)).map(|group| {
        let indices = start..start + group.len();
        start = indices.end;
        (group[0], indices)
    });
    let mut waiting: Vec<_> = groups.collect();
    // Examine 64 rounds at a time, with one bit for each.
    let (mut busy, mut needed) = (HashMap::<u64, u64>::new(), Vec::new());
    for first in (0..).step_by(64) {
        if waiting.is_empty() {
            break;
        }
        busy.clear();
        waiting.retain(|(message, indices)| {
            needed.clear();
            needed.extend(message.resources(grid));
            let taken = needed
                .iter()
                .fold(0, |all, resource| all | busy.get(resource).copied().unwrap_or(0));
            let round = taken.trailing_ones();
            if round == 64 {
                return true;
            }
            needed.iter().for_each(|resource| *busy.entry(*resource).or_default() |= 1 << round);
            assigned[indices.clone()].fill(first + round as usize);
            false
        });
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_round_share_neither_nodes_nor_links() {
        let ring = Grid::new(&[10]).unwrap();
        let rounds = |ends: &[(u64, u64)]| {
            let way = |from, to| if from < to { 1 } else { -1 };
            let message = |&(from, to)| Straight { from, to, dimension: 0, way: way(from, to) };
            serialized_rounds(&ring, &ends.iter().map(message).collect::<Vec<_>>())
        };
        assert_eq!(rounds(&[(0, 2), (2, 0), (4, 6), (6, 4)]), [0, 0, 0, 0], "nothing is shared");
        assert_eq!(
            rounds(&[(4, 6), (6, 4), (6, 8), (8, 6)]),
            [0, 0, 1, 1],
            "a node with two partners"
        );
        assert_eq!(rounds(&[(0, 2), (1, 3)]), [0, 1], "a link is shared");
        assert_eq!(rounds(&[(6, 8), (6, 8), (6, 6)]), [0, 0, 0], "one message, and a copy");
        assert_eq!(rounds(&[]), [0; 0]);
        let many: Vec<_> = (0..150).map(|i| (i % 2, 2)).collect();
        assert_eq!(rounds(&many), (0..150).collect::<Vec<_>>(), "one receiver");
    }
}
