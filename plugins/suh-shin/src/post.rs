//! One place that turns moves along a dimension into sends, without allocating.

use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

/// A move of blocks along one axis, between two nodes of the padded grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    pub from: u64,
    pub to: u64,
    pub axis: usize,
    /// The way round it, 1 or -1; 0 leaves it to the topology.
    pub way: i8,
    /// Of what the sender holds, all for these goes: nothing need be said of other axes, or of origins.
    pub blocks: Destinations,
}

/// Of the axis of a move.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Destinations {
    /// So many submeshes from one on, round and round.
    Submeshes { first: u64, count: u64 },
    /// So many places of every submesh from one on.
    Places { first: u64, count: u64 },
}

/// Sends go through here.
pub(crate) struct Post<'a, 'b> {
    pub schedule: &'a mut Schedule<'b>,
    /// For each axis submeshes and places in them: all, but for the axis of the send under way.
    destinations: Vec<Axis<'static>>,
    /// As a route asks for them.
    signs: Vec<i8>,
}

impl<'a, 'b> Post<'a, 'b> {
    pub(crate) fn new(axes: usize, schedule: &'a mut Schedule<'b>) -> Self {
        Self { schedule, destinations: vec![Axis::ALL; 2 * axes], signs: vec![0; axes] }
    }

    /// Begins phase `number`. Between two of them the data are rearranged once, as the paper charges (3.2.3, 4.2); for three and more dimensions that is
    /// optimistic: no order of eight parts makes each of three half-sends contiguous.
    pub(crate) fn phase(&mut self, number: usize) -> Result<(), Stop> {
        if number > 1 {
            self.schedule.rearrange()?;
        }
        self.schedule.phase(&format!("Phase {number}"))
    }

    pub(crate) fn send(&mut self, along: &Move) -> Result<(), Stop> {
        let (at, blocks) = match along.blocks {
            Destinations::Submeshes { first, count } => (2 * along.axis, Axis::range(first, count)),
            Destinations::Places { first, count } => (2 * along.axis + 1, Axis::range(first, count)),
        };
        (self.destinations[at], self.signs[along.axis]) = (blocks, along.way);
        let route = Route::signs(&self.signs);
        let blocks = Blocks::new(along.from, along.to).destinations(Set::product(&self.destinations));
        let sent = self.schedule.send(&if along.way == 0 { blocks } else { blocks.route(&route) });
        (self.destinations[at], self.signs[along.axis]) = (Axis::ALL, 0);
        sent
    }
}
