//! Networks of switches that all have the same number of nodes: dragonflies, HyperX, slim flies and
//! jellyfish.
//!
//! A network has n nodes. Each switch has P nodes, and `radix` ports for links to other switches.
//! Node v is at switch `v / P`. Links are numbered in this order: from nodes to switches (link v),
//! from switches to nodes (link n + v), between switches (port p of switch s is link `2 n + s *
//! radix + p`). A family defines to which switch each port leads, and the next port of a route.

use super::automorphisms::image_of_node;
use super::{
    Automorphisms, AxisSymmetry, Bisection, Family, Properties, Run, common, option_names,
};
use crate::limits;
use crate::spec::{Arg, Spec, SpecError};
use std::fmt;

pub(super) trait Fabric: fmt::Debug + Send + Sync {
    fn switches(&self) -> u64;
    /// Returns the number of ports to other switches. Some may be unused.
    fn radix(&self) -> u64;
    fn neighbour(&self, switch: u64, port: u64) -> Option<u64>;
    fn next_port(&self, at: u64, to: u64) -> u64;
    /// Returns a period p: the network looks the same from switch s and from switch `s % p`.
    fn symmetry_period(&self) -> u64;
    fn axes(&self) -> Vec<AxisSymmetry>;
    /// Given a port of a switch, returns the port of the switch's image that leads to the image of
    /// the neighbour.
    fn moved_port(&self, port: u64, _image: &dyn Fn(usize, u64) -> u64) -> u64 {
        port
    }
    /// Returns the number of hops from a switch to the farthest other switch, and the sum of the
    /// hops to all other switches.
    fn distances(&self, switch: u64) -> (u64, u64);
    /// Returns the number of switches on one side of a small cut, and the number of links that
    /// leave this side.
    fn cut(&self) -> Option<(u64, u64)> {
        None
    }
}

#[derive(Debug)]
pub(super) struct Switched<F> {
    properties: Properties,
    fabric: F,
    nodes_each: u64,
    nodes: u64,
}

impl<F: Fabric> Switched<F> {
    pub(super) fn new(
        fabric: F,
        kind: &'static str,
        arguments: &str,
        radices: Vec<u64>,
        nodes_each: u64,
    ) -> Self {
        let (switches, nodes) = (fabric.switches(), fabric.switches() * nodes_each);
        // The bisection cuts links between switches. If there are fewer links of nodes, it cuts
        // those instead.
        let bisection = fabric.cut().map(|(on_side, links)| {
            let side = on_side.min(switches - on_side) * nodes_each;
            Bisection { side, links: links.min(side), exact: false }
        });
        let properties = Properties {
            spec: format!("{kind}:{arguments}"),
            kind,
            nodes,
            switches,
            radices,
            link_slots: 2 * nodes + switches * fabric.radix(),
            degree: Some(1),
            bisection,
            ..Properties::default()
        };
        let period = fabric.symmetry_period();
        let mut net = Self { properties, fabric, nodes_each, nodes };
        let seen: Vec<(u64, u64)> = (0..period).map(|switch| net.distances_from(switch)).collect();
        let sum: u128 = seen.iter().map(|(_, sum)| u128::from(*sum)).sum();
        net.properties.hops_of_all_pairs = Some(sum * u128::from(nodes / period));
        net.properties.diameter = seen.iter().map(|(farthest, _)| *farthest).max().unwrap_or(0);
        net.properties.distance_sum = common(seen).map(|(_, sum)| sum);
        net
    }

    fn distances_from(&self, switch: u64) -> (u64, u64) {
        let (here, others) = (self.nodes_each - 1, self.fabric.switches() - 1);
        let (farthest, sum) = self.fabric.distances(switch);
        let hops = if others > 0 { farthest + 2 } else { 2 * u64::from(here > 0) };
        (hops, 2 * here + self.nodes_each * (sum + 2 * others))
    }
}

impl<F: Fabric> Family for Switched<F> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn eccentricity(&self, node: u64) -> u64 {
        self.distances_from(node / self.nodes_each % self.fabric.symmetry_period()).0
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let link = match (from.checked_sub(self.nodes), to.checked_sub(self.nodes)) {
            (None, Some(switch)) => (switch == from / self.nodes_each).then_some(from),
            (Some(switch), None) => (switch == to / self.nodes_each).then_some(self.nodes + to),
            (Some(switch), Some(other)) => (0..self.fabric.radix())
                .find(|port| self.fabric.neighbour(switch, *port) == Some(other))
                .map(|port| 2 * self.nodes + switch * self.fabric.radix() + port),
            (None, None) => None,
        };
        link.map(Run::link)
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        if from == to {
            return 0;
        }
        let mut link = |first: u64| visit(Run::link(first));
        let (mut at, last) = (from / self.nodes_each, to / self.nodes_each);
        let mut hops = 2;
        link(from);
        while at != last {
            let port = self.fabric.next_port(at, last);
            link(2 * self.nodes + at * self.fabric.radix() + port);
            hops += 1;
            at = self.fabric.neighbour(at, port).expect("the next port of a route has a link");
        }
        link(self.nodes + to);
        hops
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let switch = |s: u64| self.nodes + s;
        match link.checked_sub(2 * self.nodes) {
            None if link < self.nodes => Some((link, switch(link / self.nodes_each))),
            None => Some((switch((link - self.nodes) / self.nodes_each), link - self.nodes)),
            Some(port) => {
                let at = port
                    .checked_div(self.fabric.radix())
                    .filter(|at| *at < self.fabric.switches())?;
                let to = self.fabric.neighbour(at, port % self.fabric.radix())?;
                Some((switch(at), switch(to)))
            }
        }
    }
}

/// Routes depend only on the switches of their ends, so the nodes of each switch may be permuted.
impl<F: Fabric> Automorphisms for Switched<F> {
    fn axes(&self) -> Vec<AxisSymmetry> {
        [self.fabric.axes(), vec![AxisSymmetry::Permutations]].concat()
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let (n, radix, radices) = (self.nodes, self.fabric.radix(), &self.properties.radices);
        match link.checked_sub(2 * n) {
            None => link / n * n + image_of_node(radices, link % n, image),
            Some(port) => {
                let switch = image_of_node(&radices[..radices.len() - 1], port / radix, image);
                2 * n + switch * radix + self.fabric.moved_port(port % radix, image)
            }
        }
    }
}

pub(super) struct FamilyArgs<'a> {
    spec: &'a Spec,
    pub(super) word: &'a Arg,
}

impl<'a> FamilyArgs<'a> {
    pub(super) fn of(spec: &'a Spec, expected: &str, keys: &[&str]) -> Result<Self, SpecError> {
        let (word, rest) = match spec.args() {
            [word, rest @ ..] if word.key().is_none() => (word, rest),
            [other, ..] => {
                return Err(spec.error(
                    other.at(),
                    other.len(),
                    &format!("expected first {expected}"),
                ));
            }
            [] => return Err(spec.error(0, spec.name().len(), &format!("expected {expected}"))),
        };
        match rest.iter().find(|arg| arg.key().is_none_or(|key| !keys.contains(&key))) {
            Some(arg) => Err(spec.unknown_key(arg, keys.iter().copied().chain(option_names()))),
            None => Ok(Self { spec, word }),
        }
    }

    pub(super) fn reduces(&self) -> Result<bool, SpecError> {
        match self.spec.args().iter().find(|arg| arg.key() == Some(REDUCE)) {
            None => Ok(false),
            Some(arg) if arg.value() == "switch" => Ok(true),
            Some(arg) => {
                Err(self.spec.bad_value(arg, "switch: the switches that can add and copy data"))
            }
        }
    }

    pub(super) fn number(&self, key: &str, default: u64, least: u64) -> Result<u64, SpecError> {
        let Some(arg) = self.spec.args().iter().find(|arg| arg.key() == Some(key)) else {
            return Ok(default);
        };
        let number = arg.value().parse().ok().filter(|number| *number >= least);
        number.ok_or_else(|| self.spec.bad_value(arg, &format!("a whole number from {least} on")))
    }

    pub(super) fn nodes_each(&self, switches: u64) -> Result<u64, SpecError> {
        let each = self.number("nodes", 1, 1)?;
        match switches.checked_mul(each) {
            Some(nodes) if nodes <= limits::NODES => Ok(each),
            _ => {
                let message = format!(
                    "{switches} switches with {each} nodes each: over {} nodes, the most that a topology may have",
                    limits::NODES
                );
                Err(self.spec.error(self.word.at(), self.word.len(), &message))
            }
        }
    }
}

pub(super) const REDUCE: &str = "reduce";

pub(super) fn reduce_argument(reduces: bool) -> &'static str {
    if reduces { ",reduce=switch" } else { "" }
}

pub(super) fn nodes_argument(nodes_each: u64) -> String {
    if nodes_each == 1 { String::new() } else { format!(",nodes={nodes_each}") }
}
