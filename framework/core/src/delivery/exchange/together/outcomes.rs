//! What came of many sends, stretch by stretch, and what whoever counts sees of it: one send after
//! the other.

use super::{Piece, stretch_of};
use crate::delivery::exchange::Inventory;
use crate::delivery::exchange::arriving::{Redundant, Settled};
use crate::delivery::exchange::queue::Queue;
use crate::delivery::fault::{Block, Place};
use smallvec::SmallVec;

/// What a send put on its way, between two nodes of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    pub from: u32,
    pub to: u32,
    pub load: u64,
    /// Blocks in it, if they are counted.
    pub blocks: u32,
    /// Number of its route.
    pub route: u32,
    /// Whether its sender keeps it.
    pub copy: bool,
}

/// What came of the sends of a stretch's nodes, and of what came to them.
#[derive(Debug, Default)]
pub(super) struct Came {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) settled: Vec<Settled>,
    pub(super) redundant: Vec<(usize, Redundant)>,
    /// For each piece so far how many outcomes there were before it, and how much was settled.
    pub(super) begins: Vec<(usize, usize)>,
}

/// What came of a queue.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    /// Where stretches of nodes end.
    pub(super) ends: Vec<u64>,
    pub(super) came: Vec<Came>,
}

/// What came of one send, with what whoever counts wants to know of it: the queue is in another
/// thread's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) load: u64,
    /// The node of the machine that it goes to.
    pub(super) to: u32,
    pub(super) route: u32,
    /// Blocks in its boxes, where they are counted.
    pub(super) blocks: u32,
    pub(super) copy: bool,
    /// Whether anything is on its way.
    pub(super) is_sent: bool,
}

/// What was delivered, for whoever counts and tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered<'a> {
    pub inventory: &'a Inventory,
    pub outcomes: &'a Outcomes,
    pub queue: &'a Queue,
}

impl Came {
    pub(super) fn clear(&mut self) {
        self.outcomes.clear();
        self.settled.clear();
        self.redundant.clear();
        self.begins.clear();
    }
}

impl<'a> Delivered<'a> {
    /// The places in the queue of a piece's sends, in their order, and what each put on its way.
    pub(crate) fn sends(
        self,
        number: usize,
        piece: &Piece,
    ) -> impl Iterator<Item = (usize, Option<Moved>)> {
        let Outcomes { ends, came } = self.outcomes;
        let mut next: SmallVec<[usize; 16]> =
            came.iter().map(|came| came.begins[number].0).collect();
        piece.sends.clone().zip(&self.queue.senders()[piece.sends.clone()]).map(
            move |(place, sender)| {
                let stretch = stretch_of(ends, *sender);
                let Outcome { load, to, route, blocks, copy, is_sent } =
                    came[stretch].outcomes[next[stretch]];
                next[stretch] += 1;
                let from = self.inventory.placement.physical(*sender) as u32;
                (place, is_sent.then_some(Moved { from, to, load, blocks, route, copy }))
            },
        )
    }

    /// Between whom the send at this place in the queue goes.
    pub(crate) fn between(self, place: usize) -> (Place, Place) {
        let placement = &self.inventory.placement;
        (
            placement.locate(self.queue.senders()[place]),
            placement.locate(self.queue.as_slice()[place].to),
        )
    }

    /// What was settled when a piece's step ended.
    pub(crate) fn settled(self, number: usize) -> impl Iterator<Item = Settled> {
        self.outcomes.came.iter().flat_map(move |came| {
            let end =
                came.begins.get(number + 1).map_or(came.settled.len(), |(_, settled)| *settled);
            came.settled[came.begins[number].1..end].iter().copied()
        })
    }

    /// The first block that was there already then, and no fault.
    pub(crate) fn redundant(self, number: usize) -> Option<(Place, Block)> {
        let all = self.outcomes.came.iter().flat_map(|came| &came.redundant);
        let first = all.filter(|(piece, _)| *piece == number).min_by_key(|(_, (send, ..))| *send);
        first.map(|(_, (_, node, block))| (*node, *block))
    }
}
