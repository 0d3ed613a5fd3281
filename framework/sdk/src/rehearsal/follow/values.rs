//! Every value by itself, with the nodes whose contributions are in it.

use super::{Holdings, Places, Task};
use crate::collective::After;
use crate::rehearsal::record::{Rehearsed, RehearsedSend};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Of what something is the value: a segment of a node's result, of one of the vector's parts, or
/// of the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    result: Option<u64>,
    part: Option<u64>,
    segment: u64,
}

impl fmt::Display for Name {
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

/// The nodes of the grid that have contributed to a value.
type Contributions = BTreeSet<u64>;

/// Who holds which values, node by node of the schedule's grid.
pub(super) struct Values<'a> {
    task: &'a Task<'a>,
    places: &'a Places,
    segments: u64,
    in_parts: bool,
    held: Vec<BTreeMap<Name, Contributions>>,
    /// What each send took, in order.
    arriving: Vec<(u64, bool, BTreeMap<Name, Contributions>)>,
    /// What each node of the machine added up in the step that has ended.
    summed: BTreeMap<u64, u128>,
}

impl<'a> Values<'a> {
    pub(super) fn new(task: &'a Task<'a>, all: &Rehearsed, places: &'a Places) -> Self {
        let held = vec![BTreeMap::new(); places.physical.len()];
        let (segments, in_parts) = (all.segments, all.in_parts);
        let mut values = Self {
            task,
            places,
            segments,
            in_parts,
            held,
            arriving: Vec::new(),
            summed: BTreeMap::new(),
        };
        for &home in &places.home {
            let own =
                values.names(&places.home).map(|name| (name, BTreeSet::from([home]))).collect();
            values.held[home as usize] = own;
        }
        values
    }

    /// All there are values of: results of these nodes, parts known by them, or the one vector.
    fn names(&self, nodes: &[u64]) -> impl Iterator<Item = Name> + use<> {
        let scatters = self.task.collective.after() == After::EachItsOwn;
        let of = |node: Option<u64>| (node.filter(|_| scatters), node.filter(|_| !scatters));
        let named: Vec<_> = match scatters || self.in_parts {
            true => nodes.iter().map(|node| of(Some(*node))).collect(),
            false => vec![of(None)],
        };
        let segments = self.segments;
        named.into_iter().flat_map(move |(result, part)| {
            (0..segments).map(move |segment| Name { result, part, segment })
        })
    }

    /// Bytes of a value, or of a part of it, padded to whole bytes.
    fn bytes(&self, name: Name) -> u128 {
        let physical = |node: u64| self.places.physical[node as usize];
        let to = name.result.map_or(self.task.root, physical);
        let parts = if self.in_parts { self.places.home.len() as u64 } else { 1 };
        self.task.asked.bytes(0, to).div_ceil(parts * self.segments).into()
    }
}

impl Holdings for Values<'_> {
    fn send(&mut self, send: &RehearsedSend) -> Result<Option<u128>, String> {
        let (from, to) = (send.from, send.to);
        let is_within = |name: &Name| {
            let node = name.result.or(name.part);
            node.is_none_or(|node| send.destinations.binary_search(&node).is_ok())
                && send.segments.binary_search(&name.segment).is_ok()
        };
        let held = &mut self.held[from as usize];
        let taken: BTreeMap<Name, Contributions> = held
            .iter()
            .filter(|(name, _)| is_within(name))
            .map(|(name, nodes)| (*name, nodes.clone()))
            .collect();
        if !send.copies {
            held.retain(|name, _| !taken.contains_key(name));
        }
        if send.is_strict {
            let asked = self.names(&send.destinations).filter(is_within);
            if let Some(name) = asked.into_iter().find(|name| !taken.contains_key(name)) {
                return Err(format!("node {from} sends node {to} {name}, which it does not hold"));
            }
        }
        let load = taken.keys().map(|name| self.bytes(*name)).sum();
        let went = !taken.is_empty();
        self.arriving.push((to, send.combines, taken));
        Ok(went.then_some(load))
    }

    fn arrive(&mut self) -> Result<(), String> {
        self.summed.clear();
        for (to, combines, taken) in std::mem::take(&mut self.arriving) {
            for (name, nodes) in taken {
                let bytes = self.bytes(name);
                let Some(own) = self.held[to as usize].get_mut(&name) else {
                    self.held[to as usize].insert(name, nodes);
                    continue;
                };
                if combines {
                    if let Some(node) = own.intersection(&nodes).next() {
                        return Err(format!(
                            "node {to} counts node {node}'s contribution to {name} twice"
                        ));
                    }
                    own.extend(nodes);
                    *self.summed.entry(self.places.physical[to as usize]).or_default() += bytes;
                } else {
                    if let Some(node) = own.difference(&nodes).next() {
                        return Err(format!(
                            "node {to} loses node {node}'s contribution to {name}"
                        ));
                    }
                    *own = nodes;
                }
            }
        }
        Ok(())
    }

    fn between(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        let scatters = self.task.collective.after() == After::EachItsOwn;
        for node in 0..self.task.nodes {
            let home = self.places.home[node as usize];
            if self.task.collective.after() == After::RootAll && node != self.task.root {
                continue;
            }
            let due =
                self.names(if scatters { std::slice::from_ref(&home) } else { &self.places.home });
            for name in due.collect::<Vec<_>>() {
                let held = self.held[home as usize].get(&name);
                let lacks = |node: &&u64| !held.is_some_and(|nodes| nodes.contains(node));
                if let Some(from) = self.places.home.iter().find(lacks) {
                    return Err(format!(
                        "node {from}'s contribution to {name} was never delivered to node {home}"
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
