//! Networks with capacities. The capacities are whole numbers, so that sums of lengths times
//! capacities are exact.
//!
//! If the bandwidths of all links and ports are whole numbers, they are the capacities. Otherwise
//! the unit of capacities is the smallest bandwidth times 2^-20. Capacities are rounded up, which
//! can only make the lower end smaller. If bandwidths differ by more than a factor of 2^28, the
//! unit is larger, so that no capacity exceeds 2^48.

use crate::{MAX_LINKS, OptimumError};
use serde::{Deserialize, Serialize};
use swapmeet_core::cost::model::NetworkRates;
use swapmeet_core::network::topology;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u64)", into = "(u32, u32, u64)")]
pub struct Link {
    pub from: u32,
    pub to: u32,
    /// The bandwidth, in units of [`CapacityNetwork::capacity_unit`].
    pub capacity: u64,
}

impl From<(u32, u32, u64)> for Link {
    fn from((from, to, capacity): (u32, u32, u64)) -> Self {
        Self { from, to, capacity }
    }
}

impl From<Link> for (u32, u32, u64) {
    fn from(link: Link) -> Self {
        (link.from, link.to, link.capacity)
    }
}

/// The traffic that occupies the ports of nodes, and is therefore limited by their capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PortRule {
    /// Ports limit only the data that a node sends as its origin or receives as its destination.
    Ends,
    /// Ports limit all data that enters or leaves a node, including data that it forwards.
    EveryHop,
    /// All ports together are one resource. Data that crosses h links uses its capacity h times, as
    /// on machines whose messages occupy ports at every hop.
    Shared,
    /// As [`Self::Shared`], but for links of different capacities. A port is in use for as long as
    /// data is on a link, so data on a link of capacity `c` counts `f / c` times, where `f` is the
    /// largest capacity of a link.
    ///
    /// In a certificate, this resource has the length that it adds to a link of the smallest
    /// capacity `s`. It adds `s / c` times this length to a link of capacity `c`, and its term in
    /// the sum of capacities times lengths is multiplied by `s / f`.
    SharedTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    pub rule: PortRule,
    /// The capacity of a port for sending, and also that for receiving, in units of
    /// [`CapacityNetwork::capacity_unit`].
    pub capacity: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityNetwork {
    pub nodes: u32,
    pub vertices: u32,
    /// The sides of a grid whose translations map every link to a link. [`CapacityNetwork::links`]
    /// then lists only the links of vertex 0, and the other links are their images. Empty if
    /// translations are not used.
    pub translations: Vec<u32>,
    /// The links, sorted by the vertex that they leave. If there are translations, only those that
    /// leave vertex 0.
    pub links: Vec<Link>,
    /// The kinds of ports, each with its capacity; empty if ports do not limit the time.
    pub ports: Vec<Ports>,
    /// The bandwidth of a link of capacity 1, divided by the bandwidth of a link of the machine.
    pub capacity_unit: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Speeds {
    pub slowest: u64,
    pub fastest: u64,
    rounding: u64,
}

impl Speeds {
    /// Returns the length that a resource with [`PortRule::SharedTime`] adds to a link with this
    /// capacity, rounded down.
    pub(crate) fn length(self, of_resource: u32, capacity: u64) -> u32 {
        let slowest = u128::from((self.slowest - self.rounding).max(1));
        (u128::from(of_resource) * slowest / u128::from(capacity)) as u32
    }

    /// Returns the term of such a resource in the sum of capacities times lengths, rounded up.
    pub(crate) fn term(self, of_resource: u32, capacity: u64) -> u128 {
        let fastest = u128::from((self.fastest - self.rounding).max(1));
        let all = u128::from(of_resource) * u128::from(capacity);
        (all * u128::from(self.slowest)).div_ceil(fastest)
    }

    pub(crate) fn factor(self, capacity: u64) -> f64 {
        self.fastest as f64 / capacity as f64
    }
}

impl CapacityNetwork {
    /// Returns the network of a topology. If the demand is the same for all nodes (`even`), the
    /// topology's translations are used. Ranks on the same node count as one node. Errors if there
    /// are too many links, or if a link has no bandwidth.
    pub fn of(
        topology: &topology::Network,
        rates: &NetworkRates,
        even: bool,
    ) -> Result<Self, OptimumError> {
        let topology = &*topology.physical();
        let (nodes, vertices) = (topology.nodes(), topology.nodes() + topology.switches());
        if vertices > MAX_LINKS || topology.link_slots() > MAX_LINKS {
            let links = topology.link_slots();
            return Err(OptimumError::TooManyLinks { vertices, links });
        }
        let translations = if even { translations(topology) } else { Vec::new() };
        let of_first = !translations.is_empty();
        let mut listed: Vec<(u32, u32, f64)> = (0..topology.link_slots())
            .filter_map(|link| Some((link, topology.link_ends(link)?)))
            .filter(|(_, (from, to))| from != to && (*from == 0 || !of_first))
            .map(|(link, (from, to))| (from as u32, to as u32, topology.bandwidth(link)))
            .collect();
        listed.sort_by_key(|(from, to, _)| (*from, *to));
        let fastest = listed.iter().map(|(.., bandwidth)| *bandwidth).fold(0.0, f64::max);
        let is_uniform = listed.iter().all(|(.., bandwidth)| *bandwidth == fastest);
        let shared = if is_uniform { PortRule::Shared } else { PortRule::SharedTime };
        let port_speeds = port_speeds(rates, nodes, fastest, shared);
        if let Some((from, to, _)) = listed.iter().find(|(.., b)| !(*b > 0.0 && b.is_finite())) {
            return Err(OptimumError::NoBandwidth { from: (*from).into(), to: (*to).into() });
        }
        // The unit of capacities also depends on the speeds of ports. Otherwise the capacity of a
        // slow port could be rounded up to several times its speed.
        let speeds = || {
            let of_links = listed.iter().map(|(.., bandwidth)| *bandwidth);
            of_links.chain(port_speeds.iter().map(|(_, speed)| *speed))
        };
        let whole = speeds().all(|b| b.fract() == 0.0 && b < f64::from(1 << 24));
        let capacity_unit = if whole || listed.is_empty() {
            1.0
        } else {
            let least = speeds().fold(f64::INFINITY, f64::min);
            (least / 2_f64.powi(20)).max(speeds().fold(0.0, f64::max) / 2_f64.powi(48))
        };
        let capacity = |speed: f64| (speed / capacity_unit).ceil() as u64;
        let links = listed.iter().map(|&(from, to, bandwidth)| Link {
            from,
            to,
            capacity: capacity(bandwidth),
        });
        let ports =
            port_speeds.iter().map(|&(rule, speed)| Ports { rule, capacity: capacity(speed) });
        Ok(Self {
            nodes: nodes as u32,
            vertices: vertices as u32,
            links: links.collect(),
            ports: ports.collect(),
            translations,
            capacity_unit,
        })
    }

    pub(crate) fn speeds(&self) -> Speeds {
        let capacities = || self.links.iter().map(|link| link.capacity);
        Speeds {
            slowest: capacities().min().unwrap_or(1),
            fastest: capacities().max().unwrap_or(1),
            rounding: u64::from(self.capacity_unit != 1.0),
        }
    }

    pub fn link_count(&self) -> u64 {
        self.links.len() as u64 * self.copies()
    }

    /// Returns the number of images of each listed link. It is 1 if there are no translations.
    pub fn copies(&self) -> u64 {
        if self.translations.is_empty() { 1 } else { self.nodes.into() }
    }

    #[must_use]
    pub(crate) fn reversed(&self) -> Self {
        let turn = |link: &Link| {
            if self.translations.is_empty() {
                return Link { from: link.to, to: link.from, ..*link };
            }
            let (mut rest, mut to, mut stride) = (link.to, 0, 1);
            for side in self.translations.iter().rev() {
                to += (side - rest % side) % side * stride;
                rest /= side;
                stride *= side;
            }
            Link { to, ..*link }
        };
        let mut links: Vec<Link> = self.links.iter().map(turn).collect();
        links.sort_by_key(|link| (link.from, link.to));
        Self { links, ..self.clone() }
    }
}

fn translations(topology: &topology::Network) -> Vec<u32> {
    if topology.bandwidths().is_some() {
        return Vec::new();
    }
    let sides = topology.translations().unwrap_or_default();
    sides.iter().map(|side| *side as u32).collect()
}

/// Returns the speeds of ports and of injection, as multiples of the speed of a link of bandwidth
/// 1. `shared` is the rule to use if messages occupy ports at every hop.
fn port_speeds(
    rates: &NetworkRates,
    nodes: u64,
    fastest: f64,
    shared: PortRule,
) -> Vec<(PortRule, f64)> {
    let mut speeds = Vec::new();
    let of_time = |byte_us: f64| (byte_us / rates.link_byte_us).recip();
    if let Some(rate) = rates.ports.filter(|rate| rate.limit.count() < nodes.saturating_sub(1)) {
        let together = rate.limit.count() as f64 * fastest * of_time(rate.byte_us);
        if rate.each_hop {
            speeds.push((shared, together));
        }
        speeds.push((PortRule::Ends, together));
    }
    if rates.injection_byte_us > 0.0 {
        speeds.push((PortRule::Ends, of_time(rates.injection_byte_us)));
    }
    speeds
}
