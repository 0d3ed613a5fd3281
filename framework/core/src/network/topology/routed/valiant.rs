//! By way of a vertex drawn from all alike.
//!
//! The first part of a way depends on the sender alone, the second on the receiver: for either it
//! is counted once for how many of the vertices that may be drawn each link is crossed, so that
//! what is expected is a whole number over how many these are.

use super::Run;
use crate::network::topology::Topology;
use crate::network::topology::draw::Draw;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct Valiant {
    /// Nodes, each itself what may be drawn, or one of those at a switch that may be.
    by_way_of: Vec<u64>,
    /// Where switches are drawn, how each node is linked to its own.
    ends: Option<Vec<End>>,
    /// Of each node the first part of its routes, and the last.
    out: Vec<OnceLock<Part>>,
    into: Vec<OnceLock<Part>>,
}

/// A node's one link, there and back.
#[derive(Debug, Clone, Copy)]
struct End {
    switch: u64,
    up: u64,
    down: u64,
}

/// Links, with for how many of the vertices that may be drawn they are crossed; and the hops to or
/// from all of these together.
#[derive(Debug)]
struct Part {
    links: Vec<(u64, u64)>,
    hops: u64,
}

impl Valiant {
    /// On a network of nodes.
    pub(super) fn new(network: &dyn Topology) -> Self {
        let nodes = network.nodes();
        let ends = if network.switches() > 0 && network.degree() == Some(1) {
            ends(network)
        } else {
            None
        };
        let mut known = BTreeMap::new();
        for node in 0..nodes {
            known
                .entry(ends.as_ref().map_or(node, |ends| ends[node as usize].switch))
                .or_insert(node);
        }
        let parts = || (0..nodes).map(|_| OnceLock::new()).collect();
        Self { by_way_of: known.into_values().collect(), ends, out: parts(), into: parts() }
    }

    pub(super) fn route(
        &self,
        network: &dyn Topology,
        (from, to): (u64, u64),
        mut draw: Draw,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        if from == to {
            return 0;
        }
        let by = self.by_way_of[draw.below(self.by_way_of.len())];
        let runs = self.first(network, from, by).into_iter().chain(self.last(network, by, to));
        runs.fold(0, |hops, run| {
            visit(run);
            hops + run.len
        })
    }

    /// From a node to what is drawn.
    fn first(&self, network: &dyn Topology, from: u64, by: u64) -> Vec<Run> {
        let mut runs = route(network, from, by);
        if let Some([own, drawn]) =
            self.ends.as_ref().map(|ends| [from, by].map(|node| ends[node as usize]))
        {
            if own.switch == drawn.switch {
                return vec![single(own.up)];
            }
            // Not from the switch on to the node that stands for it.
            runs.pop();
        }
        runs
    }

    /// From what is drawn to a node.
    fn last(&self, network: &dyn Topology, by: u64, to: u64) -> Vec<Run> {
        let mut runs = route(network, by, to);
        if let Some([drawn, own]) =
            self.ends.as_ref().map(|ends| [by, to].map(|node| ends[node as usize]))
        {
            if own.switch == drawn.switch {
                return vec![single(own.down)];
            }
            runs.remove(0);
        }
        runs
    }

    fn out(&self, network: &dyn Topology, node: u64) -> &Part {
        self.out[node as usize].get_or_init(|| {
            Part::of(self.by_way_of.iter().map(|by| self.first(network, node, *by)))
        })
    }

    fn into(&self, network: &dyn Topology, node: u64) -> &Part {
        self.into[node as usize]
            .get_or_init(|| Part::of(self.by_way_of.iter().map(|by| self.last(network, *by, node))))
    }

    /// What messages between nodes, (from, to, load) each, are expected to put on each link:
    /// messages and load.
    pub(super) fn expected(
        &self,
        network: &dyn Topology,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        let mut at: HashMap<(u64, bool), (u64, u128)> = HashMap::new();
        for (from, to, load) in messages.filter(|(from, to, _)| from != to) {
            for end in [(from, true), (to, false)] {
                let (count, sum) = at.entry(end).or_default();
                (*count, *sum) = (*count + 1, *sum + u128::from(load));
            }
        }
        let mut on = vec![(0_u64, 0_u128); network.link_slots() as usize];
        for ((node, sends), (count, load)) in at {
            let part = if sends { self.out(network, node) } else { self.into(network, node) };
            for (link, times) in &part.links {
                let (messages, sum) = &mut on[*link as usize];
                *messages += count * times;
                *sum += load * u128::from(*times);
            }
        }
        let of = self.by_way_of.len() as f64;
        for (link, (messages, load)) in (0..).zip(on).filter(|(_, (messages, _))| *messages > 0) {
            visit(link, messages as f64 / of, load as f64 / of);
        }
    }

    /// The hops of a message that are expected.
    pub(super) fn expected_hops(&self, network: &dyn Topology, from: u64, to: u64) -> f64 {
        if from == to {
            return 0.0;
        }
        (self.out(network, from).hops + self.into(network, to).hops) as f64
            / self.by_way_of.len() as f64
    }
}

impl Part {
    fn of(routes: impl Iterator<Item = Vec<Run>>) -> Self {
        let (mut links, mut hops) = (BTreeMap::new(), 0);
        for run in routes.flatten() {
            hops += run.len;
            for link in (0..run.len).map(|i| run.first + i * run.stride) {
                *links.entry(link).or_insert(0) += 1;
            }
        }
        Self { links: links.into_iter().collect(), hops }
    }
}

fn route(network: &dyn Topology, from: u64, to: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    if from != to {
        // The network's own route between two of its nodes: there is one.
        let _ = network.route(from, to, None, &mut |run| runs.push(run));
    }
    runs
}

/// Links to switches are in no planes: a network of lines has no switches.
fn single(link: u64) -> Run {
    Run { first: link, stride: 1, len: 1, plane: 0 }
}

/// How each node is linked to its switch; `None` unless all are linked to some.
fn ends(network: &dyn Topology) -> Option<Vec<End>> {
    let nodes = network.nodes();
    let (mut up, mut down) = (vec![None; nodes as usize], vec![None; nodes as usize]);
    for link in 0..network.link_slots() {
        match network.link_ends(link) {
            Some((from, to)) if from < nodes && to >= nodes => up[from as usize] = Some((link, to)),
            Some((from, to)) if from >= nodes && to < nodes => down[to as usize] = Some(link),
            _ => {}
        }
    }
    let end = |(up, down): (Option<(u64, u64)>, Option<u64>)| {
        up.zip(down).map(|((up, switch), down)| End { switch, up, down })
    };
    up.into_iter().zip(down).map(end).collect()
}
