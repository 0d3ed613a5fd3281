//! A network whose routes are drawn among several: `routing=` after all else that a topology's spec
//! says.
//!
//! With `valiant` a message goes by way of a vertex drawn from all alike, a switch where there are
//! switches and else a node, and from there on, each part by the network's own route (Valiant &
//! Brebner, *Universal Schemes for Parallel Communication*, 1981). With `ecmp`, equal-cost
//! multipath, it takes a path of the fewest hops, at each vertex any of the links that lead nearer
//! alike (RFC 2992).
//!
//! Whoever needs one route is given one that is drawn from a seed, the same for all messages of a
//! pair. What is expected of all draws says [`RandomRouting`].

use super::delegate::delegate_to_base;
use super::random::SplitMix64;
use super::{RandomRouting, Route, RouteError, Run, Topology};
use crate::spec::{Arg, Spec, SpecError};
use ecmp::Ecmp;
use std::sync::Arc;
use valiant::Valiant;

mod ecmp;
mod valiant;

#[derive(Debug, Clone)]
struct Routed {
    base: Arc<dyn Topology>,
    routing: Routing,
    seed: u64,
}

#[derive(Debug, Clone)]
enum Routing {
    Valiant(Arc<Valiant>),
    Ecmp(Arc<Ecmp>),
}

/// The network with its routes drawn, if `routing=` says so.
pub(super) fn parse(
    base: Arc<dyn Topology>,
    spec: &Spec,
    arg: Option<&Arg>,
) -> Result<Arc<dyn Topology>, SpecError> {
    /// Distances take two bytes a pair of vertices.
    const MOST_VERTICES: u64 = 1 << 13;
    /// What is expected of a step takes some bytes a link.
    const MOST_LINKS: u64 = 1 << 22;
    let Some(arg) = arg else { return Ok(base) };
    let bad = |expected: &str| spec.bad_value(arg, expected);
    if arg.value() == "minimal" {
        return Ok(base);
    }
    if !["valiant", "ecmp"].contains(&arg.value()) {
        return Err(bad("minimal, valiant or ecmp"));
    }
    if base.bandwidths().is_some() || base.latencies().is_some() {
        return Err(bad("minimal: others are for networks whose links are all alike"));
    }
    if base.kind() == "groups" {
        return Err(bad("minimal: there is one way between two ranks"));
    }
    let network = base.node_network().unwrap_or(base.as_ref());
    if network.nodes() + network.switches() > MOST_VERTICES || network.link_slots() > MOST_LINKS {
        return Err(bad(&format!(
            "minimal: others are for networks of at most {MOST_VERTICES} vertices and {MOST_LINKS} links"
        )));
    }
    let routing = if arg.value() == "ecmp"
        && let Some(ecmp) = Ecmp::new(network)
    {
        Routing::Ecmp(Arc::new(ecmp))
    } else {
        Routing::Valiant(Arc::new(Valiant::new(network)))
    };
    Ok(Arc::new(Routed { base, routing, seed: 0 }))
}

impl Routed {
    /// The network that routes are in.
    fn network(&self) -> &dyn Topology {
        self.base.node_network().unwrap_or(self.base.as_ref())
    }

    /// What decides on the route of a pair's messages.
    fn draw(&self, from: u64, to: u64) -> SplitMix64 {
        SplitMix64::new(self.seed ^ (from << 32 | to).wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }
}

impl RandomRouting for Routed {
    fn with_seed(&self, seed: u64) -> Arc<dyn Topology> {
        Arc::new(Self { seed, ..self.clone() })
    }

    fn minimal(&self) -> &dyn Topology {
        self.base.as_ref()
    }

    fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        let messages =
            &mut messages.map(|(from, to, load)| (self.base.host(from), self.base.host(to), load));
        match &self.routing {
            Routing::Valiant(valiant) => valiant.expected(self.network(), messages, visit),
            Routing::Ecmp(ecmp) => ecmp.expected(messages, visit),
        }
    }

    fn expected_hops(&self, from: u64, to: u64) -> f64 {
        match &self.routing {
            Routing::Valiant(valiant) => {
                valiant.expected_hops(self.network(), self.base.host(from), self.base.host(to))
            }
            // All are of the same length.
            Routing::Ecmp(_) => self.base.route(from, to, None, &mut |_| {}).unwrap_or(0) as f64,
        }
    }
}

impl Topology for Routed {
    delegate_to_base! {
        kind nodes switches node_network host radices base link_slots planes diameter eccentricity degree links_from
        max_links bisection distance_sum hops_of_all_pairs link_ends
    }

    fn spec(&self) -> String {
        let routing = match self.routing {
            Routing::Valiant(_) => "valiant",
            Routing::Ecmp(_) => "ecmp",
        };
        format!("{},routing={routing}", self.base.spec())
    }

    fn random_routing(&self) -> Option<&dyn RandomRouting> {
        Some(self)
    }

    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        // Who names a route has it.
        if route.is_some() {
            return self.base.route(from, to, route, visit);
        }
        let (draw, from, to) = (self.draw(from, to), self.base.host(from), self.base.host(to));
        Ok(match &self.routing {
            Routing::Valiant(valiant) => valiant.route(self.network(), (from, to), draw, visit),
            Routing::Ecmp(ecmp) => ecmp.route(from, to, draw, visit),
        })
    }
}
