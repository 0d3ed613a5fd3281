//! The load of links where a schedule is known by what one node of each orbit sends: the images of
//! its messages are not gone through where there is a shorter method.
//!
//! * *LinkOrbits* where the group takes every route to a route: links fall into orbits as nodes do, and
//!   a link has as many of a message's images as the message's own route has links of that link's
//!   orbit.
//! * *Rotated* where ranks are shifted on a mesh or torus that is no ring of ranks: line by line of
//!   each dimension the images of a message are a rotation of the line.
//! * *Xored* where ranks are changed by exclusive-or: on all lines of a dimension the images do the
//!   same.
//! * Elsewhere messages are *expanded* and counts one by one, as those of any schedule: on other
//!   networks, where a send asks for a method of its own that the second and third can't count, and
//!   where bandwidths differ.

mod grid_lines;
mod link_orbits;

use crate::network::symmetry::Group;
use crate::network::topology::{Regularity, Route, RouteError, Topology};
use crate::network::transfer::Transfer;
use grid_lines::{GridLines, RankAction};
use link_orbits::LinkOrbits;

/// Counts the images of messages of representatives.
#[derive(Debug)]
pub(crate) struct OrbitLinkLoad {
    method: Method,
    /// The messages of the last step, whose figures hold for a step of the same.
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

/// What a step's messages and all their images do to links.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrbitCounts {
    /// The most messages on one directed link.
    pub max_messages: u64,
    /// Hops of the longest route.
    pub max_hops: u64,
    /// For each message the hops of all its images together.
    pub hops: Vec<u128>,
}

impl OrbitLinkLoad {
    pub(crate) fn new(topology: &dyn Topology, group: &Group) -> Self {
        let uniform = topology.bandwidths().is_none() && topology.latencies().is_none();
        let method = match topology.regularity() {
            regularity if uniform => match (LinkOrbits::new(topology, group), regularity) {
                (Some(link_orbits), _) => Method::LinkOrbits(link_orbits),
                (None, Regularity::Torus(dims)) => grid_lines(dims, true, group),
                (None, Regularity::Mesh(dims)) => grid_lines(dims, false, group),
                (
                    None,
                    Regularity::Hypercube(_)
                    | Regularity::Complete
                    | Regularity::Halves { .. }
                    | Regularity::Irregular,
                ) => Method::Expanded,
            },
            _ => Method::Expanded,
        };
        Self { method, last: Vec::new(), routes: Vec::new(), counts: OrbitCounts::default() }
    }

    /// What a step of representatives' messages comes to, and the most load on one directed link;
    /// `None` where messages have to be expanded. An error says which message can't be routed.
    pub(crate) fn count(
        &mut self,
        topology: &dyn Topology,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<Option<(&OrbitCounts, u64)>, (usize, RouteError)> {
        let Self { method, last, counts, .. } = self;
        if matches!(method, Method::Expanded)
            || matches!(method, Method::GridLines(_)) && messages.iter().any(|t| t.route > 0)
        {
            return Ok(None);
        }
        let same = last.iter().copied().eq(messages.iter().map(|t| (t.from, t.to, t.route)))
            && self.routes == routes;
        if !same {
            *counts = match method {
                Method::LinkOrbits(link_orbits) => link_orbits.count(topology, messages, routes)?,
                Method::GridLines(lines) => lines.count(messages),
                Method::Expanded => return Ok(None),
            };
            last.clear();
            last.extend(messages.iter().map(|t| (t.from, t.to, t.route)));
            self.routes = routes.to_vec();
        }
        let load = messages.first().map_or(0, |t| t.load);
        let max_load = match counts.max_messages {
            0 | 1 => messages.iter().map(|t| t.load).max().unwrap_or(0),
            most if messages.iter().all(|t| t.load == load) => most.saturating_mul(load),
            _ => match method {
                Method::LinkOrbits(link_orbits) => {
                    link_orbits.max_load(topology, messages, routes)?
                }
                Method::GridLines(lines) => lines.max_load(messages, |t| t.load),
                Method::Expanded => return Ok(None),
            },
        };
        Ok(Some((counts, max_load)))
    }
}

/// Where all shifts of the ranks, or all exclusive-ors of them, are the group.
fn grid_lines(dims: &[u64], wraps: bool, group: &Group) -> Method {
    let own: Vec<_> = group.axes().iter().filter(|axis| axis.radix > 1).collect();
    let shifts = matches!(own[..], [axis] if axis.unit == 1 && !axis.xor);
    let xors = own.iter().all(|axis| axis.unit == 1 && (axis.xor || axis.radix == 2));
    let moves = match (shifts, xors && dims.iter().all(|n| n.is_power_of_two())) {
        (_, true) => RankAction::Xored,
        (true, false) => RankAction::Rotated,
        (false, false) => return Method::Expanded,
    };
    Method::GridLines(GridLines::new(dims, wraps, moves))
}

#[cfg(test)]
mod tests;
