//! The quantities of a task that determine its lower bounds.

use super::BoundKind;
use super::cuts::{OnLinks, on_links};
use super::demand::{Demand, EndLoads};
use crate::simulation::Task;

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
        let (topology, demand) = (task.topology.as_ref(), Demand::of(task));
        let ends = demand.ends(topology.nodes());
        let hops = demand.hop_bytes(topology);
        let farthest = match (hops, task.collective.root()) {
            (Some((_, farthest)), _) => farthest,
            // Some pairs of nodes exchange nothing, and it is unknown which pairs these are. All
            // pairs that exchange data could be neighbours, or could share a node of the network.
            (None, _) if !ends.is_complete => {
                ends.peers.min(u64::from(!task.topology.shares_nodes()))
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

    /// Computes the traffic of a task without link loads and distances, which would take longer
    /// because they depend on every pair of nodes.
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
            // A schedule of byte counts sends no messages for empty blocks.
            skips_empty: task.collective.kind().by_byte_counts,
            ..Self::default()
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
