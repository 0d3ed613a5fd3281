//! The quantities of a task that lower bounds depend on.

use super::BoundKind;
use super::cuts::{OnLinks, on_links};
use super::demand::{Demand, EndLoads};
use crate::simulation::Task;

/// The data that a task must move. Sizes are in bytes after [`Traffic::in_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// The largest amount that one node must send.
    pub sent: f64,
    /// The largest amount that one node must receive.
    pub received: f64,
    /// Whether one node has both the largest amount to send and the largest amount to receive.
    pub by_same_node: bool,
    /// The largest number of peers that one node must send to or receive from.
    pub peers: u64,
    /// Largest distance in hops over which data must be moved. It is underestimated if there are
    /// too many pairs of nodes.
    pub farthest: u64,
    /// The sum of bytes times hops over all blocks, on shortest routes; 0 if there are too many
    /// pairs of nodes.
    pub hop_bytes: f64,
    /// The largest amount that one node must reduce.
    pub summed: f64,
    /// A lower bound on the largest link load, divided by the link's bandwidth.
    pub(super) on_links: OnLinks,
    /// Whether empty blocks need not be sent.
    pub(super) skips_empty: bool,
}

impl Traffic {
    /// Computes the traffic of a task in units of load: blocks if these are counted, else bytes.
    pub fn of(task: &Task) -> Self {
        let (topology, demand) = (task.topology.as_ref(), Demand::of(task));
        let ends = demand.ends(topology.nodes());
        let hops = demand.hop_bytes(topology);
        let farthest = match (hops, task.collective.root()) {
            (Some((_, farthest)), _) => farthest,
            // Some pairs of nodes exchange nothing, and it is not known which pairs these are.
            (None, _) if !ends.is_complete => {
                ends.peers.min(u64::from(task.topology.node_network().is_none()))
            }
            (None, Some(root)) => topology.eccentricity(root),
            (None, None) => topology.diameter(),
        };
        let hop_bytes = hops.map_or(0.0, |(hop_bytes, _)| hop_bytes);
        let on_links = if ends.peers == 0 {
            OnLinks::default()
        } else {
            on_links(topology, &demand, hop_bytes, ends.sent.max(ends.received))
        };
        Self { farthest, hop_bytes, on_links, ..Self::by_nodes(task, &demand, ends) }
    }

    /// Computes the traffic without link loads and distances, which depend on every pair of nodes.
    pub fn of_nodes(task: &Task) -> Self {
        let demand = Demand::of(task);
        Self::by_nodes(task, &demand, demand.ends(task.topology.nodes()))
    }

    fn by_nodes(task: &Task, demand: &Demand<'_>, ends: EndLoads) -> Self {
        Self {
            sent: ends.sent,
            received: ends.received,
            by_same_node: ends.by_same_node,
            peers: ends.peers,
            summed: demand.summed(task.topology.nodes()),
            // A redistribution that is given by byte counts sends no empty messages.
            skips_empty: task.collective.kind().by_byte_counts,
            ..Self::default()
        }
    }

    /// Returns the traffic with `amount` as the lower bound on the largest link load (divided by
    /// the link's bandwidth), if `amount` is larger than the known bound.
    #[must_use]
    pub fn with_link_load(self, amount: f64) -> Self {
        if amount <= self.on_links.bytes {
            return self;
        }
        Self { on_links: OnLinks { bytes: amount, kind: BoundKind::Flow }, ..self }
    }

    /// Converts units of load to bytes.
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
