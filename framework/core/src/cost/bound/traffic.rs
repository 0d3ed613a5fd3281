//! The quantities of a task that determine its lower bounds.

use super::BoundKind;
use super::cuts::{OnLinks, on_links};
use crate::delivery::collective::{BlockSizes, MaxTraffic, Tokens};
use crate::network::topology::Network;
use crate::simulation::Task;
use crate::simulation::demand::{Amounts, Blocks, Demand};

/// The data that a task must move, in units of load, or in bytes after [`Traffic::in_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// The largest amount that one node must send.
    pub sent: f64,
    /// The largest amount that one node must receive.
    pub received: f64,
    /// Whether the same node sends the largest amount and receives the largest amount.
    pub by_same_node: bool,
    /// The largest number of peers that one node must send to or receive from.
    pub peers: u64,
    /// The most hops from a node to another node for which it has data. If there are too many pairs
    /// of nodes, a lower bound on these hops.
    pub farthest: u64,
    /// The bytes times hops of all blocks on shortest routes; 0 if there are too many pairs.
    pub hop_bytes: f64,
    /// The largest amount that one node must reduce.
    pub summed: f64,
    pub(super) on_links: OnLinks,
    pub(super) skips_empty: bool,
}

impl Traffic {
    /// Computes the traffic of a task in units of load: blocks, or bytes for explicit sizes.
    pub fn of(task: &Task) -> Self {
        let (topology, demand) = (task.network().as_ref(), demand_at_least(task));
        let (traffic, is_complete) = Self::by_nodes(task, &demand);
        if traffic.peers == 0 {
            return traffic;
        }
        let (hops, root) = (demand.hop_bytes(task), task.collective.root());
        let farthest = match (hops, root) {
            (Some((_, farthest)), _) => farthest,
            // It is unknown which pairs of nodes exchange data. These could be neighbours, or share
            // a node.
            (None, _) if !is_complete || task.communicators.is_some() => {
                u64::from(!topology.shares_nodes())
            }
            (None, Some(root)) => topology.eccentricity(root),
            (None, None) => topology.diameter(),
        };
        let hop_bytes = hops.map_or(0.0, |(hop_bytes, _)| hop_bytes);
        let busiest = traffic.sent.max(traffic.received);
        let on_links = on_links(task, &demand, root.unwrap_or(0), hop_bytes, busiest);
        Self { farthest, hop_bytes, on_links, ..traffic }
    }

    /// Computes the traffic without link loads and distances, which depend on every pair of nodes.
    pub fn of_nodes(task: &Task) -> Self {
        Self::by_nodes(task, &demand_at_least(task)).0
    }

    fn by_nodes(task: &Task, demand: &Demand<'_>) -> (Self, bool) {
        let (nodes, kind) = (task.topology.nodes(), task.collective.kind());
        let others = nodes - 1;
        // A schedule of byte counts sends no messages for empty blocks.
        let none = Self { skips_empty: kind.by_byte_counts, ..Self::default() };
        let between_pairs = |busiest: MaxTraffic| {
            let (sent, received) = (busiest.sent as f64, busiest.received as f64);
            let by_same_node = kind.permutes() && task.sizes.is_none();
            let senders = if kind.is_rooted() { 1 } else { nodes };
            let traffic = Self { sent, received, by_same_node, peers: busiest.peers, ..none };
            (traffic, busiest.pairs == senders * others)
        };
        let by_amounts = |sent: f64, received: f64, summed: f64| {
            let skips_empty = task.skip_empty || matches!(demand, Demand::Copies(Amounts::Each(_)));
            let peers = if sent == 0.0 && skips_empty { 0 } else { others };
            (Self { sent, received, by_same_node: demand.is_even(), peers, summed, ..none }, true)
        };
        let (least, most) = demand.amounts().map_or((0.0, 0.0), Amounts::extremes);
        let ends = [least, most].map(|own| demand.across_one(own, nodes).unwrap_or_default());
        let (sent, received) = (ends[0].0.max(ends[1].0), ends[0].1.max(ends[1].1));
        if task.topology.has_reducing_switches() {
            let size = if let Demand::SumForAll(size) = demand { *size as f64 } else { 0.0 };
            match demand {
                Demand::Copies(_) | Demand::Sums(_) | Demand::SumForAll(_) => {
                    let (sent, received) = (sent.max(size), received.max(size));
                    let (traffic, is_complete) = by_amounts(sent, received, 0.0);
                    return (Self { peers: traffic.peers.min(1), ..traffic }, is_complete);
                }
                Demand::Even(_) | Demand::Pairs(_) | Demand::Tokens(..) => {}
            }
        }
        // A sum of n terms needs n - 1 additions, which can be divided among all nodes at best.
        let share = others as f64 / nodes as f64;
        match demand {
            Demand::Even(_) | Demand::Copies(_) => by_amounts(sent, received, 0.0),
            Demand::Sums(Amounts::One(..)) => by_amounts(sent, received, share * most),
            Demand::Sums(_) => by_amounts(sent, received, others as f64 * most),
            // Each byte of the sum needs `n - 1` transfers to collect all terms, and as many to
            // distribute the result. At best each of the n nodes sends an equal share.
            Demand::SumForAll(size) => {
                let each = share * *size as f64;
                by_amounts(2.0 * each, 2.0 * each, each)
            }
            Demand::Pairs(blocks) => between_pairs(blocks.max_traffic(nodes)),
            Demand::Tokens(_, sizes, _) => between_pairs(sizes.max_traffic(nodes)),
        }
    }

    /// Raises the lower bound on the largest link load to `amount`, a bound from network flows.
    #[must_use]
    pub fn with_link_load(self, amount: f64) -> Self {
        if amount <= self.on_links.bytes {
            return self;
        }
        Self { on_links: OnLinks { bytes: amount, kind: BoundKind::Flow }, ..self }
    }

    /// Converts the amounts to bytes. A unit of load has `unit` bytes.
    #[must_use]
    pub fn in_bytes(self, unit: f64) -> Self {
        if unit == 0.0 && self.skips_empty {
            return Self::default();
        }
        let on_links = OnLinks { bytes: self.on_links.bytes * unit, ..self.on_links };
        let (sent, received, hop_bytes) =
            (self.sent * unit, self.received * unit, self.hop_bytes * unit);
        Self { sent, received, hop_bytes, summed: self.summed * unit, on_links, ..self }
    }
}

pub(super) fn demand_at_least(task: &Task) -> Demand<'_> {
    match Demand::of(task) {
        Demand::Sums(Amounts::Each(sizes)) => {
            Demand::Sums(Amounts::Same(sizes.into_iter().min().unwrap_or(0)))
        }
        demand => demand,
    }
}

impl Demand<'_> {
    /// Returns the amounts that must leave and enter a set of nodes, given the numbers of nodes in
    /// the set and outside, and the sums of their [`Amounts`]. `None` if pairs of nodes matter.
    pub(super) fn across(&self, counts: [f64; 2], amounts: [f64; 2]) -> Option<(f64, f64)> {
        let [here, there] = amounts;
        match self {
            Self::Even(amount) => {
                let both = counts[0] * counts[1] * *amount as f64;
                Some((both, both))
            }
            Self::Copies(_) => Some((here, there)),
            // The nodes on one side can add their terms before they send the sum across the cut.
            Self::Sums(_) => Some((there, here)),
            Self::SumForAll(amount) => Some((*amount as f64, *amount as f64)),
            Self::Pairs(_) | Self::Tokens(..) => None,
        }
    }

    fn across_one(&self, own: f64, nodes: u64) -> Option<(f64, f64)> {
        let all = self.amounts().map_or(0.0, |amounts| amounts.total(nodes));
        self.across([1.0, (nodes - 1) as f64], [own, all - own])
    }

    pub(super) fn at(&self, node: u64, nodes: u64) -> (f64, f64) {
        let own = self.amounts().map_or(0.0, |amounts| amounts.at(node) as f64);
        self.across_one(own, nodes).unwrap_or_else(|| match self {
            Self::Pairs(blocks) => {
                let others = (0..nodes).filter(|other| *other != node);
                others.fold((0.0, 0.0), |(out, into), other| {
                    let (sent, received) = (blocks.bytes(node, other), blocks.bytes(other, node));
                    (out + sent as f64, into + received as f64)
                })
            }
            // These amounts are for a bound at the root. Tokens have no root; they are bounded at
            // the busiest node.
            _ => (0.0, 0.0),
        })
    }

    pub(super) fn amounts(&self) -> Option<&Amounts> {
        match self {
            Self::Copies(amounts) | Self::Sums(amounts) => Some(amounts),
            Self::Even(_) | Self::Pairs(_) | Self::SumForAll(_) | Self::Tokens(..) => None,
        }
    }

    /// Returns whether the amounts across a cut can be computed without a list of all pairs of
    /// nodes.
    pub(super) fn is_cheap(&self) -> bool {
        !matches!(self, Self::Pairs(_))
    }

    pub(super) fn is_even(&self) -> bool {
        match self {
            Self::Even(_) | Self::SumForAll(_) => true,
            Self::Copies(amounts) | Self::Sums(amounts) => matches!(amounts, Amounts::Same(_)),
            Self::Pairs(_) | Self::Tokens(..) => false,
        }
    }

    /// Returns the sum of bytes times hops of all blocks on shortest routes, and the largest
    /// distance from a node to another node for which it has data. For data that nodes may copy or
    /// reduce, one hop is counted for each receiver or term. Returns `None` if there are too many
    /// pairs of nodes.
    pub(super) fn hop_bytes(&self, task: &Task) -> Option<(f64, u64)> {
        const MAX_ROUTES: u64 = 1 << 18;
        let topology = task.network().as_ref();
        let n = topology.nodes();
        // Each copy of data, and each term of a sum, crosses at least one link to another node.
        let elsewhere = (topology.physical_nodes() - 1) as f64;
        let over_routes = |blocks: &Blocks<'_>| {
            if blocks.pairs() > MAX_ROUTES && !task.collective.kind().permutes() {
                return None;
            }
            let (mut sum, mut farthest) = (0.0, 0);
            for from in 0..n {
                blocks.each_receiver(from, n, &mut |to, bytes| {
                    let hops = topology.minimal_route(from, to, &mut |_| {});
                    sum += bytes as f64 * hops as f64;
                    farthest = hops.max(farthest);
                });
            }
            Some((sum, farthest))
        };
        if let Some(all) = &task.communicators {
            // All members of a communicator could be on one node, or be neighbours.
            let others = (all.size() - 1) as f64;
            let least = if topology.shares_nodes() { 0.0 } else { all.count() as f64 };
            let at_least = |amount: f64| {
                let bytes = least * amount;
                Some((bytes, u64::from(bytes > 0.0)))
            };
            return match self {
                Self::Even(_) | Self::Pairs(_) => over_routes(&Blocks::of(task)),
                Self::Copies(amounts) | Self::Sums(amounts) => {
                    at_least(others * amounts.total(all.size()))
                }
                Self::SumForAll(amount) => at_least(2.0 * others * *amount as f64),
                Self::Tokens(tokens, ..) => at_least(token_hops(tokens, &task.topology)),
            };
        }
        match self {
            Self::Even(amount) => {
                Some((topology.hops_of_all_pairs()? as f64 * *amount as f64, topology.diameter()))
            }
            Self::Copies(amounts) | Self::Sums(amounts) => {
                Some((elsewhere * amounts.total(n), amounts.farthest(topology)))
            }
            Self::SumForAll(amount) => {
                Some((2.0 * elsewhere * *amount as f64, topology.diameter()))
            }
            Self::Pairs(blocks) => over_routes(blocks),
            Self::Tokens(tokens, ..) => {
                // A token crosses at least one link for each other node with a receiver.
                let bytes = token_hops(tokens, topology);
                Some((bytes, u64::from(bytes > 0.0)))
            }
        }
    }
}

impl Amounts {
    pub(super) fn total(&self, nodes: u64) -> f64 {
        match self {
            Self::Same(amount) => nodes as f64 * *amount as f64,
            Self::One(_, amount) => *amount as f64,
            Self::Each(amounts) => amounts.iter().map(|amount| *amount as f64).sum(),
        }
    }

    pub(super) fn extremes(&self) -> (f64, f64) {
        match self {
            Self::Same(amount) => (*amount as f64, *amount as f64),
            Self::One(_, amount) => (0.0, *amount as f64),
            Self::Each(amounts) => {
                let (least, most) = (amounts.iter().min(), amounts.iter().max());
                (least.map_or(0.0, |x| *x as f64), most.map_or(0.0, |x| *x as f64))
            }
        }
    }

    fn farthest(&self, topology: &Network) -> u64 {
        const MAX: usize = 64;
        match self {
            Self::Same(_) => topology.diameter(),
            Self::One(holder, _) => topology.eccentricity(*holder),
            Self::Each(amounts) if !amounts.contains(&0) => topology.diameter(),
            Self::Each(amounts) => {
                let with_data = self.listed(amounts.len() as u64).take(MAX);
                with_data.map(|(node, _)| topology.eccentricity(node)).max().unwrap_or(0)
            }
        }
    }
}

/// Returns a lower bound on the bytes times hops of all tokens: the bytes of a token, once for each
/// node with a receiver except the owner's.
fn token_hops(tokens: &Tokens, topology: &Network) -> f64 {
    let mut sum = 0.0;
    let mut receivers = Vec::new();
    for node in 0..tokens.nodes() {
        for (class, bytes) in (0..).zip(tokens.bytes(node)) {
            receivers.clear();
            receivers.extend(
                tokens.receivers(node, class).iter().map(|r| topology.physical_node((*r).into())),
            );
            receivers.sort_unstable();
            receivers.dedup();
            let others = receivers
                .iter()
                .filter(|receiver| **receiver != topology.physical_node(node))
                .count();
            sum += *bytes as f64 * others as f64;
        }
    }
    sum
}
