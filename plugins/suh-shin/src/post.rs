//! The way to the host: one place that turns moves along a dimension into sends, without allocating.

use crate::network::Network;
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

/// A move of blocks along one dimension, between two nodes of the padded grid.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    /// Sender.
    pub from: u64,
    /// Receiver.
    pub to: u64,
    /// The axis along which they differ.
    pub axis: usize,
    /// The way round it, 1 or -1; 0 leaves it to the topology.
    pub way: i8,
}

/// Sends go through here.
pub struct Post<'a, 'b> {
    schedule: &'a mut Schedule<'b>,
    /// For each axis submeshes and places in them: all, but for the axis of the send under way.
    destinations: Vec<Axis<'static>>,
    /// For each axis and way the signs of a route, one an axis.
    signs: Vec<i8>,
}

impl<'a, 'b> Post<'a, 'b> {
    pub fn new(network: &Network, schedule: &'a mut Schedule<'b>) -> Self {
        let n = network.dimensions.len();
        let mut signs = vec![0; 2 * n * n];
        for (row, way) in signs.chunks_exact_mut(n).enumerate() {
            way[row / 2] = if row % 2 == 0 { 1 } else { -1 };
        }
        Self { schedule, destinations: vec![Axis::ALL; 2 * n], signs }
    }

    /// Begins phase `number`; the data are rearranged between any two.
    pub fn phase(&mut self, number: usize) -> Result<(), Stop> {
        if number > 1 {
            self.schedule.rearrange()?;
        }
        self.schedule.phase(&format!("Phase {number}"))
    }

    /// Begins a step.
    pub fn step(&mut self) -> Result<(), Stop> {
        self.schedule.step()
    }

    /// Of what the sender holds, sends all with its destination in these submeshes along the axis of the move.
    pub fn send_to_submeshes(&mut self, along: &Move, submeshes: Axis<'static>) -> Result<(), Stop> {
        self.send(along, 2 * along.axis, submeshes)
    }

    /// Of what the sender holds, sends all with its destination in these places of a submesh along the axis of the move.
    pub fn send_to_places(&mut self, along: &Move, places: Axis<'static>) -> Result<(), Stop> {
        self.send(along, 2 * along.axis + 1, places)
    }

    /// Nothing need be said of the other axes, or of origins: whatever the sender has of them goes along.
    fn send(&mut self, along: &Move, axis: usize, subset: Axis<'static>) -> Result<(), Stop> {
        self.destinations[axis] = subset;
        let send = Blocks::new(along.from, along.to).destinations(Set::product(&self.destinations));
        let sent = if along.way == 0 {
            self.schedule.send(&send)
        } else {
            let row = 2 * along.axis + usize::from(along.way < 0);
            let n = self.destinations.len() / 2;
            let route = Route::signs(&self.signs[row * n..(row + 1) * n]);
            self.schedule.send(&send.route(&route))
        };
        self.destinations[axis] = Axis::ALL;
        sent
    }
}
