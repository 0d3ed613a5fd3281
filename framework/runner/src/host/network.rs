//! The lists that a plugin can read: the links of the topology and the demand of the nodes.

use swapmeet_abi::hosting::Room;
use swapmeet_abi::{SwmByteCount, SwmLink};
use swapmeet_core::delivery::collective::FinalBlocks;
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::limits;
use swapmeet_core::network::topology::Network;
use swapmeet_core::simulation::Task;

/// The links of a topology, sorted by their start vertex and then by their end vertex.
pub(super) struct LinkTable {
    /// The first link of each vertex: the links that leave vertex `v` have the indices
    /// `first[v]..first[v + 1]`.
    first: Vec<u32>,
    links: Vec<SwmLink>,
}

impl LinkTable {
    /// Lists the links of a topology.
    ///
    /// # Errors
    ///
    /// Returns a fault if there are too many vertices or links.
    pub(super) fn new(topology: &Network) -> Result<Self, Fault> {
        let vertices = vertices_of(topology);
        if vertices.max(topology.link_slots()) > limits::LINKS {
            return Err(Fault::Refused(format!(
                "a plugin can read the links of a topology of at most {} vertices and links; this one has {vertices} vertices and up to {} links",
                limits::LINKS,
                topology.link_slots()
            )));
        }
        let mut listed: Vec<(u64, SwmLink)> = (0..topology.link_slots())
            .filter_map(|link| {
                let (from, to) = topology.link_ends(link)?;
                let (bandwidth, latency) = (topology.bandwidth(link), topology.latency(link));
                Some((from, SwmLink { to, bandwidth, latency }))
            })
            .collect();
        // A stable sort keeps parallel links in the order of their numbers.
        listed.sort_by_key(|(from, link)| (*from, link.to));
        let mut first = vec![0; vertices as usize + 1];
        listed.iter().for_each(|(from, _)| first[*from as usize + 1] += 1);
        (1..first.len()).for_each(|vertex| first[vertex] += first[vertex - 1]);
        Ok(Self { first, links: listed.into_iter().map(|(_, link)| link).collect() })
    }

    /// Returns the links that leave a vertex; `None` if the topology has no vertex with this
    /// number.
    pub(super) fn of_vertex(&self, vertex: u64) -> Option<&[SwmLink]> {
        let vertex = usize::try_from(vertex).ok()?;
        let end = *self.first.get(vertex.checked_add(1)?)?;
        self.links.get(self.first[vertex] as usize..end as usize)
    }
}

pub(super) fn vertices_of(topology: &Network) -> u64 {
    topology.nodes() + topology.switches()
}

/// Returns the demand of node `from`: the receivers of the data that `from` has at the start, in
/// ascending order, with the number of bytes for each.
pub(super) fn demand_of(task: &Task, block_bytes: u64, from: u64) -> Vec<SwmByteCount> {
    let bytes = |to| match &task.sizes {
        // If all nodes receive the same block of `from`, its size depends only on `from`.
        Some(sizes) if task.collective.kind().required == FinalBlocks::All => {
            sizes.bytes(from, from)
        }
        Some(sizes) => sizes.bytes(from, to),
        None => block_bytes,
    };
    let count = |to| SwmByteCount { destination: to, bytes: bytes(to) };
    task.receivers(from).map(count).filter(|count| count.bytes > 0).collect()
}

/// Writes a list to a plugin. `null` is the text of the fault if there is no room for its length.
pub(super) fn write<T: Copy>(
    room: Room<'_, T>,
    items: &[T],
    null: &'static str,
) -> Result<(), Fault> {
    room.write(items).map_err(|_| Fault::OutOfOrder(null))
}
