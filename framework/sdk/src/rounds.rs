//! Messages of which some share a node or a link: the rounds in which none do.

use crate::grid::Grid;
use std::collections::HashSet;

/// A message straight along one dimension of a grid, round its end where it has to. From a node to itself it is a copy, which takes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Straight {
    /// Sender, a node of the grid.
    pub from: u64,
    /// Receiver, a node of the grid that differs from it in no other dimension.
    pub to: u64,
    /// The dimension it goes along.
    pub dimension: usize,
    /// Up (1) or down (-1).
    pub way: i8,
}

/// What a message takes of a round.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Resource {
    Sender(u64),
    Receiver(u64),
    /// The link that leaves a node along a dimension, up or down.
    Link(u64, usize, i8),
}

impl Straight {
    fn takes(self, grid: &Grid) -> impl Iterator<Item = Resource> {
        let Self { from, to, dimension, way } = self;
        let nodes = std::iter::successors(Some(from), move |node| Some(grid.shift(*node, dimension, way.into())));
        let links = nodes.take_while(move |node| *node != to).map(move |node| Resource::Link(node, dimension, way));
        let ends = [Resource::Sender(from), Resource::Receiver(to)];
        ends.into_iter().filter(move |_| from != to).chain(links)
    }
}

/// The round, from 0, of each message: one after the other they take the first round in which their sender, their receiver and all their
/// links are free. Messages with the same ends that follow one another are one.
///
/// ```
/// # use swapmeet_sdk::{Grid, Stop, Straight, serialized_rounds};
/// let line = Grid::new(&[4])?;
/// let up = |from, to| Straight { from, to, dimension: 0, way: 1 };
/// assert_eq!(serialized_rounds(&line, &[up(0, 2), up(1, 3), up(2, 3)]), [0, 1, 0]);
/// # Ok::<(), Stop>(())
/// ```
pub fn serialized_rounds(grid: &Grid, messages: &[Straight]) -> Vec<usize> {
    let mut rounds: Vec<HashSet<Resource>> = Vec::new();
    let mut assigned = Vec::with_capacity(messages.len());
    for same in messages.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
        let takes: Vec<Resource> = same[0].takes(grid).collect();
        let is_free = |round: &HashSet<Resource>| takes.iter().all(|resource| !round.contains(resource));
        let chosen = rounds.iter().position(is_free).unwrap_or(rounds.len());
        if chosen == rounds.len() {
            rounds.push(HashSet::new());
        }
        rounds[chosen].extend(takes);
        assigned.extend(std::iter::repeat_n(chosen, same.len()));
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_room_for_what_shares_neither_ends_nor_links() {
        let ring = Grid::new(&[10]).unwrap();
        let rounds = |ends: &[(u64, u64)]| {
            let way = |from, to| if from < to { 1 } else { -1 };
            let message = |&(from, to)| Straight { from, to, dimension: 0, way: way(from, to) };
            serialized_rounds(&ring, &ends.iter().map(message).collect::<Vec<_>>())
        };
        assert_eq!(rounds(&[(0, 2), (2, 0), (4, 6), (6, 4)]), [0, 0, 0, 0], "nothing is shared");
        assert_eq!(rounds(&[(4, 6), (6, 4), (6, 8), (8, 6)]), [0, 0, 1, 1], "a node with two partners");
        assert_eq!(rounds(&[(0, 2), (1, 3)]), [0, 1], "a link is shared");
        assert_eq!(rounds(&[(6, 8), (6, 8), (6, 6)]), [0, 0, 0], "one message, and a copy");
        assert_eq!(rounds(&[]), [0; 0]);
    }
}
