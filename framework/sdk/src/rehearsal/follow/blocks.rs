//! Every block by itself.

use super::{Holdings, Places, Task};
use crate::collective::{After, Before};
use crate::rehearsal::record::{Rehearsed, RehearsedSend};
use std::collections::BTreeSet;
use std::fmt;

/// A segment of a block, by nodes of the schedule's grid: where it comes from and where it goes, as
/// far as the collective tells blocks apart by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    origin: Option<u64>,
    destination: Option<u64>,
    /// The node whose part of it this is, where blocks are cut in parts.
    part: Option<u64>,
    segment: u64,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segment > 0 {
            write!(f, "segment {} of ", self.segment)?;
        }
        if let Some(part) = self.part {
            write!(f, "part {part} of ")?;
        }
        match (self.origin, self.destination) {
            (Some(origin), Some(destination)) => write!(f, "block {origin} -> {destination}"),
            (Some(origin), None) => write!(f, "the block of node {origin}"),
            (None, Some(destination)) => write!(f, "the block for node {destination}"),
            (None, None) => f.write_str("the root's block"),
        }
    }
}

/// Who holds what, node by node of the schedule's grid.
pub(super) struct Blocks<'a> {
    task: &'a Task<'a>,
    places: &'a Places,
    segments: u64,
    /// Which parts blocks have; one without a name if they are not cut in parts.
    parts: Vec<Option<u64>>,
    held: Vec<BTreeSet<Block>>,
    arriving: Vec<(u64, Block)>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(task: &'a Task<'a>, all: &Rehearsed, places: &'a Places) -> Self {
        let held = vec![BTreeSet::new(); places.physical.len()];
        let parts =
            if all.in_parts { places.home.iter().copied().map(Some).collect() } else { vec![None] };
        let mut blocks =
            Self { task, places, segments: all.segments, parts, held, arriving: Vec::new() };
        for node in 0..task.nodes {
            blocks.held[places.home[node as usize] as usize] =
                blocks.in_the_beginning(node).collect();
        }
        blocks
    }

    /// All blocks from one node of the machine to another, if each counts as one by the collective.
    fn between_nodes(&self, origin: u64, destination: u64) -> impl Iterator<Item = Block> + '_ {
        let collective = self.task.collective;
        let [from_home, to_home] =
            [origin, destination].map(|node| self.places.home[node as usize]);
        let origin = collective.tells_origins().then_some(from_home);
        let destination = collective.tells_destinations().then_some(to_home);
        let segments = move |part: &Option<u64>| {
            let part = *part;
            (0..self.segments).map(move |segment| Block { origin, destination, part, segment })
        };
        self.parts.iter().flat_map(segments)
    }

    /// What a node of the machine has at first.
    fn in_the_beginning(&self, node: u64) -> impl Iterator<Item = Block> + '_ {
        let others = match self.task.collective.before() {
            Before::Root if node != self.task.root => 0..0,
            Before::Root | Before::Each => 0..self.task.nodes,
        };
        others.flat_map(move |other| self.between_nodes(node, other))
    }

    /// What a node of the machine is to have in the end.
    fn in_the_end(&self, node: u64) -> impl Iterator<Item = Block> + '_ {
        let sources = match self.task.collective.before() {
            Before::Root => self.task.root..self.task.root + 1,
            Before::Each => 0..self.task.nodes,
        };
        let origins = match self.task.collective.after() {
            After::EachItsOwn | After::EachAll => sources,
            After::RootAll if node == self.task.root => sources,
            After::RootAll => 0..0,
            After::EachItsSenders => {
                let sender = self.task.to.iter().position(|to| *to == node);
                sender.map_or(0..0, |sender| sender as u64..sender as u64 + 1)
            }
        };
        origins.flat_map(move |origin| self.between_nodes(origin, node))
    }

    /// Bytes of a segment: all of a block's are as long as each other, padded to whole bytes.
    fn bytes(&self, block: Block) -> u64 {
        let physical = |node: Option<u64>| {
            node.map_or(self.task.root, |node| self.places.physical[node as usize])
        };
        self.task
            .asked
            .bytes(physical(block.origin), physical(block.destination))
            .div_ceil(self.segments * self.parts.len() as u64)
    }
}

impl Holdings for Blocks<'_> {
    fn send(&mut self, send: &RehearsedSend) -> Result<Option<u128>, String> {
        let within = |side: Option<u64>, nodes: &[u64]| {
            side.is_none_or(|node| nodes.binary_search(&node).is_ok())
        };
        let selects = |block: &Block| {
            within(block.origin, &send.origins)
                && within(block.destination.or(block.part), &send.destinations)
                && within(Some(block.segment), &send.segments)
        };
        let held = &mut self.held[send.from as usize];
        let selected: Vec<Block> = held.iter().copied().filter(selects).collect();
        if !send.copies {
            selected.iter().for_each(|block| {
                held.remove(block);
            });
        }
        if send.is_strict {
            let collective = self.task.collective;
            let in_parts = self.parts != [None];
            let side = |tells: bool, nodes: &[u64]| match tells {
                true => nodes.iter().copied().map(Some).collect(),
                false => vec![None],
            };
            for origin in side(collective.tells_origins(), &send.origins) {
                for to in side(collective.tells_destinations() || in_parts, &send.destinations) {
                    for &segment in &send.segments {
                        let (destination, part) = if in_parts { (None, to) } else { (to, None) };
                        let block = Block { origin, destination, part, segment };
                        if selected.binary_search(&block).is_err() {
                            let (from, to) = (send.from, send.to);
                            return Err(format!(
                                "node {from} sends node {to} {block}, which it does not hold"
                            ));
                        }
                    }
                }
            }
        }
        self.arriving.extend(selected.iter().map(|block| (send.to, *block)));
        let load = selected.iter().map(|block| u128::from(self.bytes(*block))).sum();
        Ok((!selected.is_empty()).then_some(load))
    }

    fn arrive(&mut self) -> Result<(), String> {
        let is_shared = self.task.collective.takes_copies();
        for (to, block) in std::mem::take(&mut self.arriving) {
            if !self.held[to as usize].insert(block) && !is_shared {
                return Err(format!("{block} is delivered twice, node {to} has it already"));
            }
        }
        Ok(())
    }

    fn between(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        for node in 0..self.task.nodes {
            let home = self.places.home[node as usize];
            let held = &self.held[home as usize];
            if let Some(block) = self.in_the_end(node).find(|block| !held.contains(block)) {
                let at = self.held.iter().position(|held| held.contains(&block));
                let at =
                    at.map_or("nobody holds it".to_owned(), |node| format!("it is at node {node}"));
                return Err(format!("{block} was never delivered to node {home} ({at})"));
            }
        }
        Ok(())
    }
}
