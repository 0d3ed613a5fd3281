//! Random routing. Its argument is `routing=`, which follows all other arguments of a topology.
//!
//! With `valiant`, a message is sent to a random intermediate vertex, and from there to its
//! receiver. Both parts of the route are routes of the network without the argument (L. G. Valiant,
//! G. J. Brebner, *Universal Schemes for Parallel Communication*, 1981). Intermediate vertices are
//! switches if the network has any, otherwise nodes. With `ecmp` (equal-cost multipath), a message
//! takes a shortest path. Each vertex divides messages equally among the links that lead nearer to
//! the receiver (RFC 2992).
//!
//! [`Network::route`] returns a single route. It is drawn from a seed, and is the same for all
//! messages with the same sender and receiver. [`RandomRouting`] calculates the expected loads over
//! all draws.

use super::{Network, Options, Run, SplitMix64};
use crate::spec::SpecError;
use ecmp::Ecmp;
use std::sync::Arc;
use valiant::Valiant;

mod ecmp;
mod valiant;

/// A random routing, and the seed from which routes are drawn.
#[derive(Debug, Clone)]
pub(super) struct Routing {
    method: Method,
    seed: u64,
}

/// Routes are those between the nodes of [`Network::of_hosts`].
#[derive(Debug, Clone)]
enum Method {
    Valiant(Arc<Valiant>),
    Ecmp(Arc<Ecmp>),
}

/// The random routing of a network.
#[derive(Debug, Clone, Copy)]
pub struct RandomRouting<'a> {
    pub(super) network: &'a Network,
    pub(super) routing: &'a Routing,
}

/// Applies the argument `routing=` to a network.
pub(super) fn parse(network: Network, options: &Options<'_>) -> Result<Network, SpecError> {
    /// The maximum number of vertices. Distances take two bytes for each pair of vertices.
    const MAX_VERTICES: u64 = 1 << 13;
    /// The maximum number of links. The expected loads of a step take some bytes for each link.
    const MAX_LINKS: u64 = 1 << 22;
    let Some(arg) = options.get("routing") else { return Ok(network) };
    let bad = |expected: &str| options.spec.bad_value(arg, expected);
    if arg.value() == "minimal" {
        return Ok(network);
    }
    if !["valiant", "ecmp"].contains(&arg.value()) {
        return Err(bad("minimal, valiant or ecmp"));
    }
    if network.bandwidths().is_some() || network.latencies().is_some() {
        return Err(bad("minimal: other routings need links of equal bandwidth and latency"));
    }
    if network.kind() == "groups" {
        return Err(bad("minimal: there is only one route between two ranks"));
    }
    let hosts = network.of_hosts();
    if hosts.nodes() + hosts.switches() > MAX_VERTICES || hosts.link_slots() > MAX_LINKS {
        return Err(bad(&format!(
            "minimal: other routings are for networks of at most {MAX_VERTICES} vertices and {MAX_LINKS} links"
        )));
    }
    let method = match arg.value() {
        "ecmp" => Method::Ecmp(Arc::new(Ecmp::new(&hosts))),
        _ => Method::Valiant(Arc::new(Valiant::new(hosts.into_owned()))),
    };
    Ok(network.routed(Routing { method, seed: 0 }))
}

impl Routing {
    /// Returns the value of the argument `routing=`.
    pub(super) fn word(&self) -> &'static str {
        match self.method {
            Method::Valiant(_) => "valiant",
            Method::Ecmp(_) => "ecmp",
        }
    }

    /// Returns the routing with routes drawn from a seed. `changed` is the network without random
    /// routing if its failed links or its placement have changed.
    pub(super) fn sample(&self, seed: u64, changed: Option<&Network>) -> Self {
        let method = match (&self.method, changed.map(Network::of_hosts)) {
            (method, None) => method.clone(),
            (Method::Ecmp(_), Some(hosts)) => Method::Ecmp(Arc::new(Ecmp::new(&hosts))),
            (Method::Valiant(_), Some(hosts)) => {
                Method::Valiant(Arc::new(Valiant::new(hosts.into_owned())))
            }
        };
        Self { method, seed }
    }

    /// Reports the route that is drawn for messages from one node to another.
    pub(super) fn route(
        &self,
        network: &Network,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        let seed = self.seed ^ (from << 32 | to).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let (draw, from, to) = (SplitMix64::new(seed), network.host(from), network.host(to));
        match &self.method {
            Method::Valiant(valiant) => valiant.route((from, to), draw, visit),
            Method::Ecmp(ecmp) => ecmp.route(from, to, draw, visit),
        }
    }
}

impl RandomRouting<'_> {
    /// Computes the expected link loads of messages, each given as (sender, receiver, load). Calls
    /// `visit` for each link with messages, with the expected number of messages on the link and
    /// their expected load. A link may be visited several times.
    pub fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        let host = |rank| self.network.host(rank);
        let messages = &mut messages.map(|(from, to, load)| (host(from), host(to), load));
        match &self.routing.method {
            Method::Valiant(valiant) => valiant.expected(messages, visit),
            Method::Ecmp(ecmp) => ecmp.expected(messages, visit),
        }
    }

    /// Returns the expected number of hops of a message.
    pub fn expected_hops(&self, from: u64, to: u64) -> f64 {
        let (from, to) = (self.network.host(from), self.network.host(to));
        match &self.routing.method {
            Method::Valiant(valiant) => valiant.expected_hops(from, to),
            // All shortest paths have the same length, so this is the expected number of hops.
            Method::Ecmp(ecmp) => ecmp.hops(from, to).into(),
        }
    }
}
