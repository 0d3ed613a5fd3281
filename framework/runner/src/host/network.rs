//! The functions of the host that give a plugin the links of the topology and the demand of the
//! nodes.

use super::Host;
use super::context::with;
use std::ffi::c_void;
use swapmeet_abi::{SWM_STOPPED, SwmByteCount, SwmLink};
use swapmeet_core::delivery::collective::{FinalBlocks, InitialBlocks};
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::limits;
use swapmeet_core::network::topology::Topology;
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
    fn of(topology: &dyn Topology) -> Result<Self, Fault> {
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
    fn of_vertex(&self, vertex: u64) -> Option<&[SwmLink]> {
        let vertex = usize::try_from(vertex).ok()?;
        let end = *self.first.get(vertex.checked_add(1)?)?;
        self.links.get(self.first[vertex] as usize..end as usize)
    }
}

fn vertices_of(topology: &dyn Topology) -> u64 {
    topology.nodes() + topology.switches()
}

/// Returns the demand of node `from`: the receivers of the data that `from` has at the start, in
/// ascending order, with the number of bytes for each.
fn demand_of(task: &Task, block_bytes: u64, from: u64) -> Vec<SwmByteCount> {
    let (nodes, kind) = (task.topology.nodes(), task.collective.kind());
    let root = task.collective.root().unwrap_or(0);
    let all = || (0..nodes).collect();
    let receivers: Vec<u64> = match (kind.initial, kind.required) {
        (InitialBlocks::AllAtRoot, _) if from != root => Vec::new(),
        (_, FinalBlocks::AllAtRoot) => vec![root],
        (InitialBlocks::Own, FinalBlocks::Permuted) => {
            let images = task.collective.images().unwrap_or_default();
            images.get(from as usize).map(|to| u64::from(*to)).into_iter().collect()
        }
        _ => all(),
    };
    let bytes = |to| match &task.sizes {
        // If all nodes receive the same block of `from`, its size depends only on `from`.
        Some(sizes) if kind.required == FinalBlocks::All => sizes.bytes(from, from),
        Some(sizes) => sizes.bytes(from, to),
        None => block_bytes,
    };
    let counts = receivers.into_iter().map(|to| SwmByteCount { destination: to, bytes: bytes(to) });
    counts.filter(|count| count.bytes > 0).collect()
}

/// Writes `items` to `list`, but at most `room` of them. Writes the number of all items to `count`.
///
/// # Safety
///
/// `list` must be null or have room for `room` values, and `count` must be null or writable.
unsafe fn write_list<T: Copy>(
    items: &[T],
    (list, room, count): (*mut T, u64, *mut u64),
    no_room: &'static str,
) -> Result<(), Fault> {
    if count.is_null() || list.is_null() && room > 0 {
        return Err(Fault::OutOfOrder(no_room));
    }
    // SAFETY: the caller promises room for `room` values. The addresses may have any alignment.
    unsafe {
        for (i, item) in items.iter().take(usize::try_from(room).unwrap_or(usize::MAX)).enumerate()
        {
            list.add(i).write_unaligned(*item);
        }
        count.write_unaligned(items.len() as u64);
    }
    Ok(())
}

pub(super) unsafe extern "C" fn vertices(ctx: *mut c_void) -> u64 {
    // SAFETY: the ABI requires that a plugin passes the context pointer of the table. This is the
    // reason in all functions below, too.
    unsafe { with(ctx, 0, |host| vertices_of(host.task.topology.as_ref())) }
}

pub(super) unsafe extern "C" fn links(
    ctx: *mut c_void,
    vertex: u64,
    links: *mut SwmLink,
    room: u64,
    count: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `vertices`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.answer(|host| {
                let table = match host.links.take() {
                    Some(table) => table,
                    None => LinkTable::of(host.task.topology.as_ref())?,
                };
                let listed = host.links.insert(table).of_vertex(vertex);
                let listed = listed.ok_or(Fault::OutOfOrder(
                    "the plugin reads the links of a vertex that does not exist",
                ))?;
                let null = "the plugin reads links, but gives null for them or for their number";
                write_list(listed, (links, room, count), null)
            })
        })
    }
}

pub(super) unsafe extern "C" fn uniform(ctx: *mut c_void) -> u32 {
    // SAFETY: for the reason given in `vertices`.
    unsafe { with(ctx, 1, |host| u32::from(host.task.sizes.is_none())) }
}

pub(super) unsafe extern "C" fn token_bytes(
    ctx: *mut c_void,
    node: u64,
    bytes: *mut u64,
    room: u64,
    count: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `vertices`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.answer(|host: &mut Host<'_>| {
                host.requested.bytes = true;
                if node >= host.task.topology.nodes() {
                    return Err(Fault::OutOfOrder(
                        "the plugin reads the tokens of a node that does not exist",
                    ));
                }
                let listed = host.task.collective.tokens().map_or(&[][..], |t| t.bytes(node));
                let null = "the plugin reads tokens, but gives null for them or for their number";
                write_list(listed, (bytes, room, count), null)
            })
        })
    }
}

pub(super) unsafe extern "C" fn token_receivers(
    ctx: *mut c_void,
    node: u64,
    class: u64,
    receivers: *mut u64,
    room: u64,
    count: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `vertices`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.answer(|host: &mut Host<'_>| {
                host.requested.bytes = true;
                let tokens =
                    host.task.collective.tokens().filter(|tokens| {
                        node < tokens.nodes() && class < tokens.classes(node).into()
                    });
                let tokens = tokens.ok_or(Fault::OutOfOrder(
                    "the plugin reads the receivers of a class of tokens that does not exist",
                ))?;
                let listed = tokens.receivers(node, class as u32);
                let listed: Vec<u64> = listed.iter().map(|receiver| (*receiver).into()).collect();
                let null = "the plugin reads receivers, but gives null for them or their number";
                write_list(&listed, (receivers, room, count), null)
            })
        })
    }
}

pub(super) unsafe extern "C" fn demand(
    ctx: *mut c_void,
    from: u64,
    demand: *mut SwmByteCount,
    room: u64,
    count: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `vertices`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.answer(|host: &mut Host<'_>| {
                host.requested.bytes = true;
                if from >= host.task.topology.nodes() {
                    return Err(Fault::OutOfOrder(
                        "the plugin reads the demand of a node that does not exist",
                    ));
                }
                let null = "the plugin reads demand, but gives null for it or for its length";
                let listed = demand_of(host.task, host.inputs.block_bytes, from);
                write_list(&listed, (demand, room, count), null)
            })
        })
    }
}
