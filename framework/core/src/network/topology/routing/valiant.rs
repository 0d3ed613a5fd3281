//! Valiant's routing: each message is sent to a random intermediate vertex, and from there to its
//! receiver.
//!
//! For a given intermediate vertex, the first half of a route depends only on the sender, and the
//! second half only on the receiver. For each half and each node, the program counts once for every
//! link how many intermediate vertices have a route through this link. Expected loads are these
//! counts, divided by the number of intermediate vertices.

use crate::network::topology::{Network, Run, SplitMix64};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct Valiant {
    /// The network of nodes, with deterministic routes.
    network: Network,
    /// The intermediate vertices, each given as a node. These are all nodes or, if switches are the
    /// intermediate vertices, one node at each switch that has nodes.
    intermediates: Vec<u64>,
    /// For each node, the link to its switch. `None` if nodes are the intermediate vertices.
    switch_links: Option<Vec<SwitchLink>>,
    /// First a list with the first halves of the routes of each sender, then a list with the second
    /// halves of the routes of each receiver. An entry is computed when it is first used.
    halves: [Vec<OnceLock<Half>>; 2],
}

/// The link between a node and its switch, in both directions.
#[derive(Debug, Clone, Copy)]
struct SwitchLink {
    switch: u64,
    up: u64,
    down: u64,
}

/// A half of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    /// From the sender to the intermediate vertex.
    First,
    /// From the intermediate vertex to the receiver.
    Second,
}

/// All first halves of the routes from a node, or all second halves of the routes to it. There is
/// one half route for each intermediate vertex.
#[derive(Debug)]
struct Half {
    /// The links of these half routes, each with the number of half routes that cross it.
    links: Vec<(u64, u64)>,
    /// The total number of hops of these half routes.
    hops: u64,
}

impl Valiant {
    /// Chooses the intermediate vertices of a network: its switches if every node has one link to a
    /// switch, otherwise its nodes.
    pub(super) fn new(network: Network) -> Self {
        let nodes = network.nodes();
        let at_switches = network.switches() > 0 && network.degree() == Some(1);
        let switch_links = if at_switches { switch_links(&network) } else { None };
        let mut representatives = BTreeMap::new();
        for node in 0..nodes {
            let vertex = switch_links.as_ref().map_or(node, |links| links[node as usize].switch);
            representatives.entry(vertex).or_insert(node);
        }
        let halves = [(); 2].map(|()| (0..nodes).map(|_| OnceLock::new()).collect());
        let intermediates = representatives.into_values().collect();
        Self { network, intermediates, switch_links, halves }
    }

    pub(super) fn route(
        &self,
        (from, to): (u64, u64),
        mut draw: SplitMix64,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        if from == to {
            return 0;
        }
        let via = self.intermediates[draw.below(self.intermediates.len())];
        let first = self.half_route(from, via, Side::First);
        let second = self.half_route(to, via, Side::Second);
        first.into_iter().chain(second).fold(0, |hops, run| {
            visit(run);
            hops + run.len
        })
    }

    /// Returns the route between a node and an intermediate vertex.
    fn half_route(&self, node: u64, via: u64, side: Side) -> Vec<Run> {
        let (from, to) = if side == Side::First { (node, via) } else { (via, node) };
        let mut runs = Vec::new();
        if from != to {
            self.network.minimal_route(from, to, &mut |run| runs.push(run));
        }
        let Some(links) = &self.switch_links else { return runs };
        let (own, drawn) = (links[node as usize], links[via as usize]);
        // The half route ends or starts at the switch, not at the node that represents the switch.
        // The new runs have no plane, because networks with planes have no switches.
        match side {
            Side::First if own.switch == drawn.switch => vec![Run::link(own.up)],
            Side::Second if own.switch == drawn.switch => vec![Run::link(own.down)],
            Side::First => {
                runs.pop();
                runs
            }
            Side::Second => {
                runs.remove(0);
                runs
            }
        }
    }

    fn half(&self, node: u64, side: Side) -> &Half {
        self.halves[side as usize][node as usize].get_or_init(|| {
            let vias = self.intermediates.iter();
            Half::count(vias.map(|via| self.half_route(node, *via, side)))
        })
    }

    /// Computes the expected link loads of messages, each given as (sender, receiver, load). Calls
    /// `visit` with each link, the expected number of messages on the link and their expected load.
    pub(super) fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        // Sum the messages and loads of each sender and of each receiver.
        let mut ends: HashMap<(u64, Side), (u64, u128)> = HashMap::new();
        for (from, to, load) in messages.filter(|(from, to, _)| from != to) {
            for end in [(from, Side::First), (to, Side::Second)] {
                let (count, sum) = ends.entry(end).or_default();
                (*count, *sum) = (*count + 1, *sum + u128::from(load));
            }
        }
        // Add these sums to the links of all half routes. The results are whole numbers: the
        // expected loads times the number of intermediate vertices.
        let mut on = vec![(0_u64, 0_u128); self.network.link_slots() as usize];
        for ((node, side), (count, load)) in ends {
            for (link, times) in &self.half(node, side).links {
                let (messages, sum) = &mut on[*link as usize];
                *messages += count * times;
                *sum += load * u128::from(*times);
            }
        }
        let of = self.intermediates.len() as f64;
        for (link, (messages, load)) in (0..).zip(on).filter(|(_, (messages, _))| *messages > 0) {
            visit(link, messages as f64 / of, load as f64 / of);
        }
    }

    /// Returns the expected hops of a message.
    pub(super) fn expected_hops(&self, from: u64, to: u64) -> f64 {
        if from == to {
            return 0.0;
        }
        let hops = self.half(from, Side::First).hops + self.half(to, Side::Second).hops;
        hops as f64 / self.intermediates.len() as f64
    }
}

impl Half {
    fn count(routes: impl Iterator<Item = Vec<Run>>) -> Self {
        let (mut links, mut hops) = (BTreeMap::new(), 0);
        for run in routes.flatten() {
            hops += run.len;
            for link in run.links() {
                *links.entry(link).or_insert(0) += 1;
            }
        }
        Self { links: links.into_iter().collect(), hops }
    }
}

/// Finds the link between each node and its switch; `None` unless every node has one.
fn switch_links(network: &Network) -> Option<Vec<SwitchLink>> {
    let nodes = network.nodes();
    let (mut up, mut down) = (vec![None; nodes as usize], vec![None; nodes as usize]);
    for link in 0..network.link_slots() {
        match network.link_ends(link) {
            Some((from, to)) if from < nodes && to >= nodes => up[from as usize] = Some((link, to)),
            Some((from, to)) if from >= nodes && to < nodes => down[to as usize] = Some(link),
            _ => {}
        }
    }
    let link = |(up, down): (Option<(u64, u64)>, Option<u64>)| {
        up.zip(down).map(|((up, switch), down)| SwitchLink { switch, up, down })
    };
    up.into_iter().zip(down).map(link).collect()
}
