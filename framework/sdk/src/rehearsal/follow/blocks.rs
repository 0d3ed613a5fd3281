//! Verification of schedules that send blocks, one block at a time.

use super::{Goal, Holdings, Placement};
use crate::problem::TokenClass;
use crate::rehearsal::record::{Rehearsed, RehearsedSend};
use std::collections::BTreeSet;
use std::fmt;
use swapmeet_abi::collective::FinalBlocks;

/// A segment of a block. An origin or a destination is `None` if it does not distinguish the blocks
/// of the collective. Nodes are those of the schedule's grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    origin: Option<u64>,
    destination: Option<u64>,
    /// If blocks are cut into parts, the node of this part.
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

pub(super) struct Blocks<'a> {
    goal: &'a Goal<'a>,
    places: &'a Placement,
    segments: u64,
    parts: Vec<Option<u64>>,
    held: Vec<BTreeSet<Block>>,
    arriving: Vec<(u64, Block)>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(goal: &'a Goal<'a>, schedule: &Rehearsed, places: &'a Placement) -> Self {
        let held = vec![BTreeSet::new(); places.physical.len()];
        let parts = if schedule.in_parts {
            places.home.iter().copied().map(Some).collect()
        } else {
            vec![None]
        };
        let mut blocks =
            Self { goal, places, segments: schedule.segments, parts, held, arriving: Vec::new() };
        for node in 0..goal.nodes {
            blocks.held[places.home[node as usize] as usize] =
                blocks.initial_blocks(node).collect();
        }
        blocks
    }

    fn blocks_between(&self, origin: u64, destination: u64) -> impl Iterator<Item = Block> + '_ {
        let collective = self.goal.collective;
        let [from_home, to_home] =
            [origin, destination].map(|node| self.places.home[node as usize]);
        let origin = collective.distinguishes_origins().then_some(from_home);
        let destination = collective.distinguishes_destinations().then_some(to_home);
        let segments = move |part: &Option<u64>| {
            let part = *part;
            (0..self.segments).map(move |segment| Block { origin, destination, part, segment })
        };
        self.parts.iter().flat_map(segments)
    }

    fn initial_blocks(&self, node: u64) -> impl Iterator<Item = Block> + '_ {
        let others = match self.goal.collective.starts_at_root() && node != self.goal.root {
            true => 0..0,
            false => 0..self.goal.nodes,
        };
        let blocks = others.flat_map(move |other| self.blocks_between(node, other));
        blocks.filter(move |block| {
            self.goal.settings.tokens.is_empty() || self.class(*block).is_some()
        })
    }

    fn class(&self, block: Block) -> Option<&TokenClass> {
        let owner = self.places.physical[block.origin? as usize];
        self.goal.settings.class(owner, block.segment)
    }

    fn final_blocks(&self, node: u64) -> impl Iterator<Item = Block> + '_ {
        let sources = match self.goal.collective.starts_at_root() {
            true => self.goal.root..self.goal.root + 1,
            false => 0..self.goal.nodes,
        };
        let origins = match self.goal.collective.final_blocks() {
            FinalBlocks::ForNode | FinalBlocks::All | FinalBlocks::Received => sources,
            FinalBlocks::AllAtRoot if node == self.goal.root => sources,
            FinalBlocks::AllAtRoot => 0..0,
            FinalBlocks::Permuted => {
                let sender = self.goal.receivers.iter().position(|to| *to == node);
                sender.map_or(0..0, |sender| sender as u64..sender as u64 + 1)
            }
        };
        let blocks = origins.flat_map(move |origin| self.blocks_between(origin, node));
        let is_received =
            move |block: &Block| self.class(*block).is_some_and(|c| c.receivers.contains(&node));
        blocks.filter(move |block| self.goal.settings.tokens.is_empty() || is_received(block))
    }

    /// Returns the size of a segment. All segments of a block have the same size, rounded up to
    /// bytes.
    fn bytes(&self, block: Block) -> u64 {
        if let Some(class) = self.class(block) {
            return class.bytes;
        }
        let physical = |node: Option<u64>| {
            node.map_or(self.goal.root, |node| self.places.physical[node as usize])
        };
        self.goal
            .settings
            .bytes(physical(block.origin), physical(block.destination))
            .div_ceil(self.segments * self.parts.len() as u64)
    }
}

impl Holdings for Blocks<'_> {
    fn send(&mut self, send: &RehearsedSend, _: bool) -> Result<Option<u128>, String> {
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
        // In a dispatch, the sender always keeps the tokens that it sends.
        if !send.copies && self.goal.settings.tokens.is_empty() {
            selected.iter().for_each(|block| {
                held.remove(block);
            });
        }
        // In a strict send, the sender must hold every block that the sets of the send describe.
        if send.is_strict {
            let collective = self.goal.collective;
            let in_parts = self.parts != [None];
            let side = |distinguishes: bool, nodes: &[u64]| match distinguishes {
                true => nodes.iter().copied().map(Some).collect(),
                false => vec![None],
            };
            for origin in side(collective.distinguishes_origins(), &send.origins) {
                for to in
                    side(collective.distinguishes_destinations() || in_parts, &send.destinations)
                {
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
        let is_shared = self.goal.collective.allows_copies();
        for (to, block) in std::mem::take(&mut self.arriving) {
            if !self.held[to as usize].insert(block) && !is_shared {
                return Err(format!("{block} is delivered twice: node {to} already holds it"));
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        for node in 0..self.goal.nodes {
            let home = self.places.home[node as usize];
            let held = &self.held[home as usize];
            if let Some(block) = self.final_blocks(node).find(|block| !held.contains(block)) {
                let holder = self.held.iter().position(|held| held.contains(&block));
                let place = holder
                    .map_or("no node holds it".to_owned(), |node| format!("it is at node {node}"));
                return Err(format!("{block} was never delivered to node {home} ({place})"));
            }
        }
        Ok(())
    }
}
