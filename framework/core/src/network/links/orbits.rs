//! The load of links for schedules of which only one node of each symmetry orbit is planned, its
//! representative. Each message of a representative stands for all of its images under the symmetry
//! group. If possible, loads are found without expanding these images.
//!
//! * [`LinkOrbits`] is used if the group or a subgroup maps every route to a route. Links then have
//!   orbits, as nodes do. If the route of a message has m links in the orbit of a link, and no
//!   element except the identity maps the link to itself, then m images of the message cross this
//!   link.
//! * [`GridLines`] is used if the group consists of shifts or exclusive-ors of ranks, on a mesh or
//!   torus. With exclusive-ors, the images of a message put the same load on all lines of a
//!   dimension. With shifts, the load of a line also depends on whether adding the lower digits of
//!   the shift produces a carry into this dimension.
//! * Otherwise the caller expands the messages and counts them one by one. A step with requested
//!   routes is also expanded, unless [`LinkOrbits`] calculates the orbits of links instead of
//!   looking them up in a table.

mod grid_lines;
mod link_orbits;

use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route, RouteError};
use crate::network::transfer::Transfer;
use grid_lines::{GridLines, RankAction};
use link_orbits::LinkOrbits;

/// A counter of the link loads of the messages of all nodes, given only the messages of the
/// representatives.
#[derive(Debug)]
pub(crate) struct OrbitLinkLoad {
    method: Method,
    /// Whether all links have the same bandwidth and latency.
    is_uniform: bool,
    /// The messages of the step that was counted last, each as (sender, receiver,
    /// [`Transfer::route`]). If the next step has the same messages and requested routes, the
    /// values in `counts` that do not depend on the loads of messages are reused.
    last: Vec<(u32, u32, u32)>,
    routes: Vec<Route>,
    counts: OrbitCounts,
}

#[derive(Debug)]
enum Method {
    LinkOrbits(LinkOrbits),
    GridLines(GridLines),
    Expanded,
}

/// Statistics of the messages of a step, including all of their images.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrbitCounts {
    /// The largest number of messages on a directed link.
    pub max_messages: u64,
    /// The hops of the longest route.
    pub max_hops: u64,
    /// For each message, the sum of the hops of all its images.
    pub hops: Vec<u128>,
    /// The largest load of a directed link.
    pub max_load: u64,
    /// The times of the messages, if links have different bandwidths or latencies.
    pub times: Option<OrbitTimes>,
}

/// Times of the messages of a step, including all of their images. The unit of times is the time of
/// a load of 1 at the machine's bandwidth. The unit of latencies is the machine's latency of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct OrbitTimes {
    /// The largest latency of a route.
    pub latency: f64,
    /// The largest time of a message at the lowest bandwidth of its route.
    pub message: f64,
    /// The largest time that a directed link needs for its load, at the bandwidth of the link.
    pub link: f64,
    /// The largest total time of the messages that one node sends, or that one node receives.
    pub node: f64,
}

impl OrbitLinkLoad {
    pub(crate) fn new(topology: &Network, group: &Group) -> Self {
        let is_uniform = topology.bandwidths().is_none() && topology.latencies().is_none();
        let link_orbits = LinkOrbits::calculated(topology, group).filter(|_| is_uniform);
        let grid_lines = || grid_lines(topology.grid().filter(|_| is_uniform)?, group);
        let listed = || LinkOrbits::listed(topology, group);
        let method = link_orbits
            .map(Method::LinkOrbits)
            .or_else(|| grid_lines().map(Method::GridLines))
            .or_else(|| listed().map(Method::LinkOrbits))
            .unwrap_or(Method::Expanded);
        Self {
            method,
            is_uniform,
            last: Vec::new(),
            routes: Vec::new(),
            counts: OrbitCounts::default(),
        }
    }

    /// Returns the counts of a step, or `None` if the messages have to be expanded. `Err` has the
    /// index of a message that cannot be routed.
    pub(crate) fn count(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<Option<&OrbitCounts>, (usize, RouteError)> {
        let Self { method, last, counts, .. } = self;
        let counts_requested_routes = match method {
            Method::LinkOrbits(link_orbits) => link_orbits.counts_requested_routes(),
            Method::GridLines(_) => false,
            Method::Expanded => return Ok(None),
        };
        if !counts_requested_routes && messages.iter().any(|t| t.route > 0) {
            return Ok(None);
        }
        let same = last.iter().copied().eq(messages.iter().map(|t| (t.from, t.to, t.route)))
            && self.routes == routes;
        if !same {
            *counts = match method {
                Method::LinkOrbits(link_orbits) => link_orbits.count(topology, messages, routes)?,
                Method::GridLines(lines) => lines.count(messages),
                Method::Expanded => unreachable!("expanded messages are not counted"),
            };
            last.clear();
            last.extend(messages.iter().map(|t| (t.from, t.to, t.route)));
            self.routes = routes.to_vec();
        }
        let load = messages.first().map_or(0, |t| t.load);
        counts.max_load = match counts.max_messages {
            0 | 1 => messages.iter().map(|t| t.load).max().unwrap_or(0),
            most if messages.iter().all(|t| t.load == load) => most.saturating_mul(load),
            _ => match method {
                Method::LinkOrbits(link_orbits) => {
                    link_orbits.max_load(topology, messages, routes)?
                }
                Method::GridLines(lines) => lines.max_load(messages, |t| t.load),
                Method::Expanded => unreachable!("expanded messages are not counted"),
            },
        };
        if let (Method::LinkOrbits(link_orbits), false) = (method, self.is_uniform) {
            counts.times = Some(link_orbits.times(topology, messages)?);
        }
        Ok(Some(counts))
    }
}

/// Returns the method that counts loads line by line on a mesh or torus. Returns `None` unless the
/// group consists of all shifts or of all exclusive-ors of ranks.
fn grid_lines((dims, wraps): (&[u64], bool), group: &Group) -> Option<GridLines> {
    let own: Vec<_> = group.axes().iter().filter(|axis| axis.radix > 1).collect();
    let shifts = matches!(own[..], [axis] if axis.unit == 1 && !axis.xor);
    let xors = own.iter().all(|axis| axis.unit == 1 && (axis.xor || axis.radix == 2));
    let moves = match (shifts, xors && dims.iter().all(|n| n.is_power_of_two())) {
        (_, true) => RankAction::Xored,
        (true, false) => RankAction::Rotated,
        (false, false) => return None,
    };
    Some(GridLines::new(dims, wraps, moves))
}

#[cfg(test)]
mod tests;
