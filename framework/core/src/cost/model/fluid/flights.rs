//! Messages under way: first their latency goes by, then they share the links of their ways.

use super::moments::Moments;
use super::shares::{Hop, Shares};
use super::{Fairness, Fluid};
use crate::cost::background::Background;
use crate::cost::model::Scale;
use crate::network::topology::{Route, Run, Topology};
use std::sync::Arc;

/// Hops of messages under way: some 3 GiB.
const MOST_HOPS: usize = 1 << 27;
/// Links that are followed: some 2 GiB.
const MOST_LINKS: u64 = 1 << 24;

/// What the chain of work and waits that led to some moment went into, in us.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    pub startup: f64,
    pub transmission: f64,
    pub propagation: f64,
    pub barrier: f64,
    pub contention: f64,
    pub reduction: f64,
}

/// What is to go from one rank to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub from: u32,
    pub to: u32,
    /// The step that it belongs to; none of background traffic, on which nobody waits.
    pub step: Option<u64>,
    pub bytes: f64,
    /// By what its latency is multiplied.
    pub noise: f64,
}

/// A message under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub from: u32,
    pub to: u32,
    pub step: Option<u64>,
    pub begun: f64,
    pub latency: f64,
    /// What its bytes take alone.
    pub alone: f64,
    /// Whether anything on its way is shared.
    shares: bool,
    path: Path,
}

impl Flight {
    /// How who waited for it came to now, when it has come.
    pub(super) fn path(&self, now: f64) -> Path {
        let lasted = now - self.begun - self.latency;
        let contention = (lasted - self.alone).max(0.0);
        let Path { propagation, transmission, .. } = self.path;
        Path {
            propagation: propagation + self.latency,
            transmission: transmission + lasted - contention,
            contention: self.path.contention + contention,
            ..self.path
        }
    }
}

/// All that are under way, on one network.
pub(super) struct Flights {
    machine: Fluid,
    topology: Arc<dyn Topology>,
    pub shares: Shares,
    flights: Vec<Flight>,
    /// Flights that have ended, to be used again.
    landed: Vec<u32>,
    /// Those of background traffic.
    background: usize,
    way: Vec<Hop>,
    /// When each ends its latency or its bytes.
    pub ends: Moments,
    pub refused: Option<String>,
}

impl Flights {
    /// None so far, on a network whose links all are free.
    pub(super) fn new(machine: &Fluid, scale: Scale<'_>) -> Self {
        let topology = Arc::clone(scale.topology);
        let (nodes, slots) = (topology.nodes(), topology.link_slots());
        let followed = slots.saturating_add(2 * nodes) <= MOST_LINKS;
        // What takes no time is on nobody's way, so that its capacity counts for nothing: an ordinary one keeps the range of levels small.
        let per_us = |byte_us: f64| if byte_us > 0.0 { 1.0 / byte_us } else { 1.0 };
        let link = |link| topology.link_ends(link).map_or(1.0, |_| topology.bandwidth(link));
        let on_links =
            (0..if followed { slots } else { 0 }).map(|l| link(l) * per_us(machine.link_byte_us()).min(1e300));
        let own = (0..if followed { 2 * nodes } else { 0 }).map(|_| per_us(machine.injection_byte_us));
        let least_weight = match machine.fairness {
            Fairness::Rtt => {
                1.0 / (topology.diameter() as f64 * (machine.hop_us + machine.weight_bytes * machine.byte_us)).max(1e-9)
            }
            Fairness::Equal => 1.0,
        };
        let shares = Shares::new(on_links.chain(own).collect::<Vec<_>>().into_iter(), least_weight);
        let too_many = format!("the model `fluid` follows up to {MOST_LINKS} links, this network has more");
        Self {
            machine: machine.clone(),
            topology,
            shares,
            flights: Vec::new(),
            landed: Vec::new(),
            background: 0,
            way: Vec::new(),
            ends: Moments::new(1),
            refused: (!followed).then_some(too_many),
        }
    }

    /// Whether nothing of the schedule is under way.
    pub(super) fn are_background(&self) -> bool {
        self.flights.len() - self.landed.len() == self.background
    }

    /// All of the background traffic begins.
    pub(super) fn begin_background(&mut self, background: &Background) {
        if background.ranks() != self.topology.nodes() {
            let (has, ranks) = (background.ranks(), self.topology.nodes());
            self.refused = Some(format!("the matrix of `background` is for {has} nodes, there are {ranks}"));
        }
        for (from, to, bytes) in background.flows() {
            if self.refused.is_some() {
                return;
            }
            self.begin(Load { from, to, step: None, bytes: bytes as f64, noise: 1.0 }, None, 0.0, Path::default());
            self.background += 1;
        }
    }

    /// A load begins, by this path.
    pub(super) fn begin(&mut self, load: Load, route: Option<&Route>, now: f64, path: Path) {
        let Load { from, to, step, bytes, noise } = load;
        self.way.clear();
        let (way, mut inverse, mut crossed) = (&mut self.way, 0.0, 0.0);
        let counts = self.machine.byte_us > 0.0;
        let add = &mut |run: Run| {
            for link in (0..run.len).map(|i| run.first + i * run.stride) {
                inverse += 1.0 / self.topology.bandwidth(link);
                crossed += self.topology.latency(link);
                match way
                    .iter_mut()
                    .find(|hop| route.is_some_and(|r| !r.path.is_empty()) && u64::from(hop.link) == link)
                {
                    Some(hop) => hop.times += 1.0,
                    None if counts => way.push(Hop { link: link as u32, times: 1.0 }),
                    None => {}
                }
            }
        };
        // It was a route when the step was measured.
        let hops = self.topology.route(from.into(), to.into(), route, add).unwrap_or_default();
        if self.machine.injection_byte_us > 0.0 && hops > 0 {
            let out = self.topology.link_slots() as u32;
            let into = out + self.topology.nodes() as u32;
            let [from, to] = [from, to].map(|rank| self.topology.host(rank.into()) as u32);
            self.way.extend([out + from, into + to].map(|link| Hop { link, times: 1.0 }));
        }
        let rtt = crossed * self.machine.hop_us + inverse * self.machine.weight_bytes * self.machine.byte_us;
        let weight = if self.machine.fairness == Fairness::Rtt && rtt > 0.0 { 1.0 / rtt } else { 1.0 };
        let narrowest =
            self.way.iter().map(|hop| self.shares.capacity(hop.link) / f64::from(hop.times)).fold(f64::MAX, f64::min);
        let latency = self.machine.latency_us(crossed) * noise;
        let shares = !self.way.is_empty() && bytes > 0.0;
        // Between two ranks of one node nothing is shared.
        let within = if hops == 0 { bytes * self.machine.link_byte_us() } else { 0.0 };
        let alone = if shares { bytes / narrowest } else { within };
        let flight = Flight { from, to, step, begun: now, latency, alone, shares, path };
        let number = self.landed.pop().unwrap_or(self.flights.len() as u32) as usize;
        if number == self.flights.len() {
            self.flights.push(flight);
            self.ends.reach(number + 1);
        } else {
            self.flights[number] = flight;
        }
        self.shares.describe(number, bytes, weight, &self.way);
        if self.shares.room() > MOST_HOPS {
            let most = format!("messages under way of up to {MOST_HOPS} hops, there are more at once");
            self.refused = Some(format!("the model `fluid` follows {most}"));
        }
        self.ends.set(number, now + latency + within);
    }

    /// The flight's latency is over, or its bytes are: a flight that has come, if some rank waits for it.
    pub(super) fn next_of(&mut self, number: usize, now: f64) -> Option<Flight> {
        let flight = self.flights[number];
        if flight.shares && !self.shares.is_sharing(number) {
            self.shares.add(number, now);
            return None;
        }
        if flight.shares {
            self.shares.remove(number);
        }
        self.landed.push(number as u32);
        self.background -= usize::from(flight.step.is_none());
        flight.step.map(|_| flight)
    }

    /// Everybody who shares has the rate that is fair now; looks at no more than `most` links.
    pub(super) fn share(&mut self, now: f64, most: &mut u64) {
        self.shares.solve(now, most, |flight, end| self.ends.set(flight, end));
        #[cfg(test)]
        if *most > 0 {
            self.shares.check();
        }
    }
}
