//! What must be moved, as far as bounds look at it.

use super::cuts::{OnLinks, on_links};
use super::demand::{Demand, EndLoads};
use crate::simulation::Task;

/// What must be moved. Sizes in bytes, once [`Traffic::in_bytes`] has said how large a block is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// The most that one node must send.
    pub sent: f64,
    /// The most that one node must receive.
    pub received: f64,
    /// Whether one and the same node sends and receives the most.
    pub by_one: bool,
    /// The most others that some node has something for, or that have something for it.
    pub peers: u64,
    /// Hops between two nodes of which one has something for the other; those farthest apart, as
    /// far as that is known.
    pub farthest: u64,
    /// Bytes times hops, over all blocks, each by its shortest way; 0 where they aren't added up.
    pub hop_bytes: f64,
    /// The most that one node must add to what it has.
    pub summed: f64,
    /// The most that a link must carry, over its bandwidth.
    pub(super) on_links: OnLinks,
    /// Whether empty blocks need not be sent.
    pub(super) may_vanish: bool,
}

impl Traffic {
    /// Of a task, in units of load: blocks where those are counted, else bytes.
    pub fn of(task: &Task) -> Self {
        let (topology, demand) = (task.topology.as_ref(), Demand::of(task));
        let ends = demand.ends(topology.nodes());
        let hops = demand.hop_bytes(topology);
        let farthest = match (hops, task.collective.root()) {
            (Some((_, farthest)), _) => farthest,
            // Of which pairs have nothing for each other no more is known than that some have.
            (None, _) if !ends.all => {
                ends.peers.min(u64::from(task.topology.node_network().is_none()))
            }
            (None, Some(root)) => topology.eccentricity(root),
            (None, None) => topology.diameter(),
        };
        let hop_bytes = hops.map_or(0.0, |(hop_bytes, _)| hop_bytes);
        let on_links = if ends.peers == 0 {
            OnLinks::default()
        } else {
            on_links(topology, &demand, hop_bytes)
        };
        Self { farthest, hop_bytes, on_links, ..Self::by_nodes(task, &demand, ends) }
    }

    /// The same without what links must carry and how far anything goes, which takes a look at
    /// every pair.
    pub fn of_nodes(task: &Task) -> Self {
        let demand = Demand::of(task);
        Self::by_nodes(task, &demand, demand.ends(task.topology.nodes()))
    }

    fn by_nodes(task: &Task, demand: &Demand<'_>, ends: EndLoads) -> Self {
        Self {
            sent: ends.sent,
            received: ends.received,
            by_one: ends.by_one,
            peers: ends.peers,
            summed: demand.summed(task.topology.nodes()),
            // Who redistributes byte counts sends no empty ones.
            may_vanish: task.collective.kind().by_byte_counts,
            ..Self::default()
        }
    }

    /// The same with so many bytes a unit of load.
    #[must_use]
    pub fn in_bytes(self, unit: f64) -> Self {
        if unit == 0.0 && self.may_vanish {
            return Self::default();
        }
        let on_links = OnLinks { bytes: self.on_links.bytes * unit, ..self.on_links };
        let (sent, received, hop_bytes) =
            (self.sent * unit, self.received * unit, self.hop_bytes * unit);
        Self { sent, received, hop_bytes, summed: self.summed * unit, on_links, ..self }
    }
}
