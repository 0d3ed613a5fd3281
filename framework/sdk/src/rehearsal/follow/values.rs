//! Verification of reductions, value by value, with the set of nodes that have contributed to each.

use super::{Goal, Holdings, Placement};
use crate::problem::TokenClass;
use crate::rehearsal::record::{Rehearsed, RehearsedSend};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use swapmeet_abi::collective::FinalBlocks;

/// A segment of a node's result, of a part of the vector, or of the whole vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ValueId {
    result: Option<u64>,
    part: Option<u64>,
    segment: u64,
}

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segment > 0 {
            write!(f, "segment {} of ", self.segment)?;
        }
        match (self.result, self.part) {
            (Some(node), _) => write!(f, "the result of node {node}"),
            (None, Some(part)) => write!(f, "part {part} of the vector"),
            (None, None) => f.write_str("the vector"),
        }
    }
}

type Contributions = BTreeSet<u64>;

/// The values of a send: the receiver, two flags, and the values. The first flag tells whether the
/// receiver adds them to its own values. The second tells whether a switch has added them to the
/// values of an earlier send.
type Arriving = (u64, (bool, bool), BTreeMap<ValueId, Contributions>);

pub(super) struct Values<'a> {
    goal: &'a Goal<'a>,
    places: &'a Placement,
    segments: u64,
    in_parts: bool,
    held: Vec<BTreeMap<ValueId, Contributions>>,
    arriving: Vec<Arriving>,
    /// The bytes that each node of the machine added to its own values in the last step.
    summed: BTreeMap<u64, u128>,
}

impl<'a> Values<'a> {
    pub(super) fn new(goal: &'a Goal<'a>, schedule: &Rehearsed, places: &'a Placement) -> Self {
        let held = vec![BTreeMap::new(); places.physical.len()];
        let (segments, in_parts) = (schedule.segments, schedule.in_parts);
        let mut values = Self {
            goal,
            places,
            segments,
            in_parts,
            held,
            arriving: Vec::new(),
            summed: BTreeMap::new(),
        };
        for &home in &places.home {
            let ids = values.value_ids(&places.home).filter(|id| values.contributes(home, *id));
            let own = ids.map(|id| (id, BTreeSet::from([home]))).collect();
            values.held[home as usize] = own;
        }
        values
    }

    fn value_ids(&self, nodes: &[u64]) -> impl Iterator<Item = ValueId> + use<> {
        let scatters = self.goal.collective.final_blocks() == FinalBlocks::ForNode;
        let of = |node: Option<u64>| (node.filter(|_| scatters), node.filter(|_| !scatters));
        let named: Vec<_> = match scatters || self.in_parts {
            true => nodes.iter().map(|node| of(Some(*node))).collect(),
            false => vec![of(None)],
        };
        let segments = self.segments;
        named.into_iter().flat_map(move |(result, part)| {
            (0..segments).map(move |segment| ValueId { result, part, segment })
        })
    }

    /// In a combine, returns the class of tokens whose partial results the value sums.
    fn class(&self, id: ValueId) -> Option<&TokenClass> {
        let owner = self.places.physical[id.result? as usize];
        self.goal.settings.class(owner, id.segment)
    }

    fn contributes(&self, home: u64, id: ValueId) -> bool {
        let physical = self.places.physical[home as usize];
        self.goal.settings.tokens.is_empty()
            || self.class(id).is_some_and(|class| class.receivers.contains(&physical))
    }

    /// Returns the size of a value, rounded up to whole bytes.
    fn bytes(&self, id: ValueId) -> u128 {
        if let Some(class) = self.class(id) {
            return class.bytes.into();
        }
        let physical = |node: u64| self.places.physical[node as usize];
        let to = id.result.map_or(self.goal.root, physical);
        let parts = if self.in_parts { self.places.home.len() as u64 } else { 1 };
        self.goal.settings.bytes(0, to).div_ceil(parts * self.segments).into()
    }
}

impl Holdings for Values<'_> {
    fn send(&mut self, send: &RehearsedSend, joined: bool) -> Result<Option<u128>, String> {
        let (from, to) = (send.from, send.to);
        let is_within = |id: &ValueId| {
            let node = id.result.or(id.part);
            node.is_none_or(|node| send.destinations.binary_search(&node).is_ok())
                && send.segments.binary_search(&id.segment).is_ok()
        };
        let held = &mut self.held[from as usize];
        let selected: BTreeMap<ValueId, Contributions> = held
            .iter()
            .filter(|(id, _)| is_within(id))
            .map(|(id, nodes)| (*id, nodes.clone()))
            .collect();
        if !send.copies {
            held.retain(|id, _| !selected.contains_key(id));
        }
        if send.is_strict {
            let required = self.value_ids(&send.destinations).filter(is_within);
            if let Some(id) = required.into_iter().find(|id| !selected.contains_key(id)) {
                return Err(format!("node {from} sends node {to} {id}, which it does not hold"));
            }
        }
        let load = selected.keys().map(|id| self.bytes(*id)).sum();
        let any = !selected.is_empty();
        self.arriving.push((to, (send.combines, joined), selected));
        Ok(any.then_some(load))
    }

    fn arrive(&mut self) -> Result<(), String> {
        self.summed.clear();
        for (to, (combines, joined), selected) in std::mem::take(&mut self.arriving) {
            for (id, nodes) in selected {
                let bytes = self.bytes(id);
                let Some(own) = self.held[to as usize].get_mut(&id) else {
                    self.held[to as usize].insert(id, nodes);
                    continue;
                };
                if combines {
                    if let Some(node) = own.intersection(&nodes).next() {
                        return Err(format!(
                            "node {to} counts node {node}'s contribution to {id} twice"
                        ));
                    }
                    own.extend(nodes);
                    let added = if joined { 0 } else { bytes };
                    *self.summed.entry(self.places.physical[to as usize]).or_default() += added;
                } else {
                    if let Some(node) = own.difference(&nodes).next() {
                        return Err(format!("node {to} loses node {node}'s contribution to {id}"));
                    }
                    *own = nodes;
                }
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        let scatters = self.goal.collective.final_blocks() == FinalBlocks::ForNode;
        for node in 0..self.goal.nodes {
            let home = self.places.home[node as usize];
            if self.goal.collective.final_blocks() == FinalBlocks::AllAtRoot
                && node != self.goal.root
            {
                continue;
            }
            let due = self.value_ids(if scatters {
                std::slice::from_ref(&home)
            } else {
                &self.places.home
            });
            for id in due.collect::<Vec<_>>() {
                let held = self.held[home as usize].get(&id);
                let lacks = |node: &&u64| {
                    self.contributes(**node, id) && !held.is_some_and(|nodes| nodes.contains(node))
                };
                if let Some(from) = self.places.home.iter().find(lacks) {
                    return Err(format!(
                        "node {from}'s contribution to {id} was never delivered to node {home}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn most_summed(&self) -> u128 {
        self.summed.values().copied().max().unwrap_or(0)
    }
}
