//! Random routing. Its argument is `routing=`, which follows all other arguments of a topology.
//!
//! With `valiant`, a message is sent to a random intermediate vertex, and from there to its
//! receiver. Both parts of the route are routes of the network without the argument (L. G. Valiant,
//! G. J. Brebner, *Universal Schemes for Parallel Communication*, 1981). Intermediate vertices are
//! switches if the network has any, otherwise nodes. With `ecmp` (equal-cost multipath), a message
//! takes a shortest path. Each vertex divides messages equally among the links that lead nearer to
//! the receiver (RFC 2992).
//!
//! [`Topology::route`] returns a single route. It is drawn from a seed, and is the same for all
//! messages with the same sender and receiver. [`RandomRouting`] calculates the expected loads over
//! all draws.

use super::random::SplitMix64;
use super::{Properties, RandomRouting, Route, RouteError, Run, Topology};
use crate::spec::{Arg, Spec, SpecError};
use ecmp::Ecmp;
use std::sync::Arc;
use valiant::Valiant;

mod ecmp;
mod valiant;

#[derive(Debug, Clone)]
struct Routed {
    properties: Properties,
    base: Arc<dyn Topology>,
    routing: Routing,
    seed: u64,
}

#[derive(Debug, Clone)]
enum Routing {
    Valiant(Arc<Valiant>),
    Ecmp(Arc<Ecmp>),
}

/// Applies the argument `routing=` to a network.
pub(super) fn parse(
    base: Arc<dyn Topology>,
    spec: &Spec,
    arg: Option<&Arg>,
) -> Result<Arc<dyn Topology>, SpecError> {
    /// The maximum number of vertices. Distances take two bytes for each pair of vertices.
    const MAX_VERTICES: u64 = 1 << 13;
    /// The maximum number of links. The expected loads of a step take some bytes for each link.
    const MAX_LINKS: u64 = 1 << 22;
    let Some(arg) = arg else { return Ok(base) };
    let bad = |expected: &str| spec.bad_value(arg, expected);
    if arg.value() == "minimal" {
        return Ok(base);
    }
    if !["valiant", "ecmp"].contains(&arg.value()) {
        return Err(bad("minimal, valiant or ecmp"));
    }
    if base.bandwidths().is_some() || base.latencies().is_some() {
        return Err(bad("minimal: other routings need links of equal bandwidth and latency"));
    }
    if base.kind() == "groups" {
        return Err(bad("minimal: there is only one route between two ranks"));
    }
    let network = base.node_network().unwrap_or(base.as_ref());
    if network.nodes() + network.switches() > MAX_VERTICES || network.link_slots() > MAX_LINKS {
        return Err(bad(&format!(
            "minimal: other routings are for networks of at most {MAX_VERTICES} vertices and {MAX_LINKS} links"
        )));
    }
    let routing = Routing::new(arg.value() == "ecmp", network);
    let properties = Properties {
        spec: format!("{},routing={}", base.spec(), arg.value()),
        ..routed_properties(base.as_ref())
    };
    Ok(Arc::new(Routed { properties, base, routing, seed: 0 }))
}

/// Returns the properties that a network has if it is used with random routing.
fn routed_properties(base: &dyn Topology) -> Properties {
    Properties { max_links: Some(base.max_links()), ..base.properties().clone() }
}

impl Routing {
    /// Prepares the routes between the nodes of a network.
    fn new(is_ecmp: bool, network: &dyn Topology) -> Self {
        if is_ecmp && let Some(ecmp) = Ecmp::new(network) {
            Self::Ecmp(Arc::new(ecmp))
        } else {
            Self::Valiant(Arc::new(Valiant::new(network)))
        }
    }
}

impl Routed {
    /// Returns the network in which routes are calculated. If several ranks share a node, it is the
    /// network of these nodes.
    fn network(&self) -> &dyn Topology {
        self.base.node_network().unwrap_or(self.base.as_ref())
    }

    /// Returns the random number generator for the route from one node to another.
    fn draw(&self, from: u64, to: u64) -> SplitMix64 {
        SplitMix64::new(self.seed ^ (from << 32 | to).wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }
}

impl RandomRouting for Routed {
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
            // All shortest paths have the same length, so this is the expected number of hops.
            Routing::Ecmp(ecmp) => ecmp.hops(self.base.host(from), self.base.host(to)).into(),
        }
    }
}

impl Topology for Routed {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn original(&self) -> Option<&dyn Topology> {
        Some(self.base.as_ref())
    }

    fn eccentricity(&self, node: u64) -> u64 {
        self.base.eccentricity(node)
    }

    fn links_from(&self, node: u64) -> Option<u64> {
        self.base.links_from(node)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.base.link_ends(link)
    }

    fn random_routing(&self) -> Option<&dyn RandomRouting> {
        Some(self)
    }

    fn sample(&self, seed: u64) -> Option<Arc<dyn Topology>> {
        let Some(base) = self.base.sample(seed) else {
            return Some(Arc::new(Self { seed, ..self.clone() }));
        };
        // A sample of the base can have other failed links, so its routes are computed again.
        let network = base.node_network().unwrap_or(base.as_ref());
        let routing = Routing::new(matches!(self.routing, Routing::Ecmp(_)), network);
        let properties =
            Properties { spec: self.properties.spec.clone(), ..routed_properties(base.as_ref()) };
        Some(Arc::new(Self { properties, base, routing, seed }))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (draw, from, to) = (self.draw(from, to), self.base.host(from), self.base.host(to));
        match &self.routing {
            Routing::Valiant(valiant) => valiant.route(self.network(), (from, to), draw, visit),
            Routing::Ecmp(ecmp) => ecmp.route(from, to, draw, visit),
        }
    }

    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        // An explicitly requested route is not random.
        match route {
            None => Ok(self.own_route(from, to, visit)),
            Some(_) => self.base.route(from, to, route, visit),
        }
    }
}
