//! The quantities of a task that determine its lower bounds.

use super::BoundKind;
use super::cuts::{OnLinks, on_links};
use super::demand::demand_at_least;
use crate::delivery::collective::{BlockSizes, MaxTraffic};
use crate::simulation::Task;
use crate::simulation::demand::{Amounts, Demand};

/// The data that a task must move. Amounts are in units of load, or in bytes after
/// [`Traffic::in_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// The largest amount that one node must send.
    pub sent: f64,
    /// The largest amount that one node must receive.
    pub received: f64,
    /// Whether the node that sends the largest amount also receives the largest amount.
    pub by_same_node: bool,
    /// The largest number of peers that one node must send to or receive from.
    pub peers: u64,
    /// The largest number of hops between a node and another node for which it has data. If there
    /// are too many pairs of nodes to examine, this is a lower bound.
    pub farthest: u64,
    /// The sum of bytes times hops of all blocks on shortest routes; 0 if there are too many pairs
    /// of nodes to examine.
    pub hop_bytes: f64,
    /// The largest amount that one node must reduce.
    pub summed: f64,
    /// A lower bound on the largest link load, divided by the link's bandwidth.
    pub(super) on_links: OnLinks,
    /// Whether schedules send no messages for empty blocks.
    pub(super) skips_empty: bool,
}

impl Traffic {
    /// Computes the traffic of a task in units of load. A unit is a block if blocks are counted,
    /// and a byte otherwise.
    pub fn of(task: &Task) -> Self {
        let (topology, demand) = (task.topology.as_ref(), demand_at_least(task));
        let (traffic, is_complete) = Self::by_nodes(task, &demand);
        if traffic.peers == 0 {
            return traffic;
        }
        let (hops, root) = (demand.hop_bytes(task), task.collective.root());
        let farthest = match (hops, root) {
            (Some((_, farthest)), _) => farthest,
            // Some pairs of nodes exchange nothing, and it is unknown which pairs these are. All
            // pairs that exchange data could be neighbours, or could share a node of the network.
            (None, _) if !is_complete => u64::from(!topology.shares_nodes()),
            (None, Some(root)) => topology.eccentricity(root),
            (None, None) => topology.diameter(),
        };
        let hop_bytes = hops.map_or(0.0, |(hop_bytes, _)| hop_bytes);
        let busiest = traffic.sent.max(traffic.received);
        let on_links = on_links(topology, &demand, root.unwrap_or(0), hop_bytes, busiest);
        Self { farthest, hop_bytes, on_links, ..traffic }
    }

    /// Computes the traffic of a task without link loads and distances, which would take longer
    /// because they depend on every pair of nodes.
    pub fn of_nodes(task: &Task) -> Self {
        Self::by_nodes(task, &demand_at_least(task)).0
    }

    /// Returns the traffic without link loads and distances, and whether no block is empty.
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
            // Nodes of an allgather with sizes of their own count only if they have data.
            let skips_empty = task.skip_empty || matches!(demand, Demand::Copies(Amounts::Each(_)));
            let peers = if sent == 0.0 && skips_empty { 0 } else { others };
            (Self { sent, received, by_same_node: demand.is_even(), peers, summed, ..none }, true)
        };
        let (least, most) = demand.amounts().map_or((0.0, 0.0), Amounts::extremes);
        let ends = [least, most].map(|own| demand.across_one(own, nodes).unwrap_or_default());
        let (sent, received) = (ends[0].0.max(ends[1].0), ends[0].1.max(ends[1].1));
        // A sum of n terms needs n - 1 additions, which can be divided among all nodes at best.
        let share = others as f64 / nodes as f64;
        match demand {
            Demand::Even(_) | Demand::Copies(_) => by_amounts(sent, received, 0.0),
            Demand::Sums(Amounts::One(..)) => by_amounts(sent, received, share * most),
            Demand::Sums(_) => by_amounts(sent, received, others as f64 * most),
            // Each byte of the sum needs `n - 1` transfers to collect all terms, and `n - 1`
            // transfers to distribute the result. At best each of the n nodes sends an equal share.
            Demand::SumForAll(size) => {
                let each = share * *size as f64;
                by_amounts(2.0 * each, 2.0 * each, each)
            }
            Demand::Pairs(blocks) => between_pairs(blocks.max_traffic(nodes)),
            Demand::Tokens(_, sizes, _) => between_pairs(sizes.max_traffic(nodes)),
        }
    }

    /// Raises the lower bound on the largest link load (divided by the link's bandwidth) to
    /// `amount`, a bound from network flows. Does nothing if the present bound is at least
    /// `amount`.
    #[must_use]
    pub fn with_link_load(self, amount: f64) -> Self {
        if amount <= self.on_links.bytes {
            return self;
        }
        Self { on_links: OnLinks { bytes: amount, kind: BoundKind::Flow }, ..self }
    }

    /// Converts the amounts from units of load to bytes. `unit` is the number of bytes in a unit.
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
