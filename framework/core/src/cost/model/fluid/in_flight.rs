//! Messages under way: first their latency goes by, then they share the links of their ways.

use super::fold::Fold;
use super::shares::{Hop, Shares};
use super::timers::Timers;
use super::{Fairness, Fluid};
use crate::cost::background::Background;
use crate::cost::model::PricingContext;
use crate::cost::model::asynchronous::{Order, Steps};
use crate::cost::model::path::Path;
use crate::network::topology::{Route, Run, Topology};
use std::sync::Arc;

/// Hops of messages under way: some 3 GiB.
const MOST_HOPS: usize = 1 << 27;
/// Links that are followed: some 2 GiB.
const MOST_LINKS: u64 = 1 << 24;

/// What is to go from one rank to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewMessage {
    pub from: u32,
    pub to: u32,
    /// The node that it goes to, from the first of its sender's orbit.
    pub target: u32,
    /// The step that it belongs to, and its place among what its sender sends in it; none of
    /// background traffic, on which nobody waits.
    pub of: Option<(u64, u32)>,
    pub bytes: f64,
    /// By what its latency is multiplied.
    pub noise: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub from: u32,
    pub to: u32,
    /// As of its [`NewMessage`].
    pub of: Option<(u64, u32)>,
    pub begun: f64,
    pub latency: f64,
    /// What its bytes take alone.
    pub alone: f64,
    /// Whether anything on its way is shared.
    shares: bool,
    path: Path,
}

impl InFlight {
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
pub(super) struct MessagesInFlight {
    machine: Fluid,
    topology: Arc<dyn Topology>,
    /// Which nodes and links do the same.
    pub fold: Arc<Fold>,
    pub shares: Shares,
    in_flight: Vec<InFlight>,
    /// MessagesInFlight that have ended, to be used again.
    landed: Vec<u32>,
    /// Those of background traffic.
    background: usize,
    way: Vec<Hop>,
    /// For each link where it stands in `way`, if it does.
    place: Vec<u32>,
    /// When each ends its latency or its bytes.
    pub ends: Timers,
    pub refused: Option<String>,
}

/// What there is to know of a way, but for its links.
#[derive(Debug, Clone, Copy)]
struct RouteSummary {
    hops: u64,
    /// Links crossed, each as long as it is.
    crossed: f64,
    weight: f64,
    /// Bytes a microsecond through the narrowest link.
    narrowest: f64,
}

impl MessagesInFlight {
    /// None so far, on a network whose links all are free; folded, if it can be.
    pub(super) fn new(machine: &Fluid, context: PricingContext<'_>) -> Self {
        let topology = Arc::clone(context.topology);
        let followed = topology.link_slots().saturating_add(2 * topology.nodes()) <= MOST_LINKS;
        let goes_alike =
            machine.noise == 0.0 && machine.order != Order::Data && !machine.background.is_some();
        let folded = if followed && goes_alike { Fold::narrowest(topology.as_ref()) } else { None };
        let fold = folded.unwrap_or_else(|| Fold::plain(topology.as_ref()));
        let too_many =
            format!("the model `fluid` follows up to {MOST_LINKS} links, this network has more");
        Self {
            shares: if followed {
                shares(machine, topology.as_ref(), &fold)
            } else {
                Shares::new([].into_iter(), 1.0)
            },
            place: vec![0; if followed { fold.links() as usize } else { 0 }],
            fold: Arc::new(fold),
            machine: machine.clone(),
            topology,
            in_flight: Vec::new(),
            landed: Vec::new(),
            background: 0,
            way: Vec::new(),
            ends: Timers::new(1),
            refused: (!followed).then_some(too_many),
        }
    }

    /// Whether nothing of the schedule is under way.
    pub(super) fn are_background(&self) -> bool {
        self.in_flight.len() - self.landed.len() == self.background
    }

    /// All of the background traffic begins.
    pub(super) fn begin_background(&mut self, background: &Background) {
        if background.ranks() != self.topology.nodes() {
            let (has, ranks) = (background.ranks(), self.topology.nodes());
            self.refused =
                Some(format!("the matrix of `background` is for {has} nodes, there are {ranks}"));
        }
        for (from, to, bytes) in background.flows() {
            if self.refused.is_some() {
                return;
            }
            let load =
                NewMessage { from, to, target: to, of: None, bytes: bytes as f64, noise: 1.0 };
            self.begin(load, None, 0.0, Path::default());
            self.background += 1;
        }
    }

    /// A load begins, by this path.
    pub(super) fn begin(&mut self, load: NewMessage, route: Option<&Route>, now: f64, path: Path) {
        let NewMessage { from, to, target, of, bytes, noise } = load;
        let RouteSummary { hops, crossed, weight, narrowest } =
            self.find_route(from, target, route);
        let latency = self.machine.latency_us(crossed) * noise;
        let shares = !self.way.is_empty() && bytes > 0.0;
        // Between two ranks of one node nothing is shared.
        let within = if hops == 0 { bytes * self.machine.link_byte_us() } else { 0.0 };
        let alone = if shares { bytes / narrowest } else { within };
        let number = self.put(
            InFlight { from, to, of, begun: now, latency, alone, shares, path },
            bytes,
            weight,
        );
        self.ends.set(number, now + latency + within);
    }

    /// The links between an orbit's first node and another, each once, with how often it is
    /// crossed.
    fn find_route(&mut self, from: u32, target: u32, route: Option<&Route>) -> RouteSummary {
        let Self { fold, way, place, topology, machine, .. } = self;
        let (counts, from) = (machine.byte_us > 0.0, fold.first(from));
        let (mut inverse, mut crossed) = (0.0, 0.0);
        way.clear();
        let add = &mut |run: Run| {
            for link in (0..run.len).map(|i| run.first + i * run.stride) {
                inverse += 1.0 / topology.bandwidth(link);
                crossed += topology.latency(link);
                let link = fold.link(link);
                let place = &mut place[link as usize];
                match way.get_mut(*place as usize).filter(|hop| hop.link == link) {
                    Some(hop) => hop.times += 1.0,
                    None if counts => {
                        *place = way.len() as u32;
                        way.push(Hop { link, times: 1.0 });
                    }
                    None => {}
                }
            }
        };
        // It was a route when the step was measured.
        let hops = topology.route(from.into(), target.into(), route, add).unwrap_or_default();
        if machine.injection_byte_us > 0.0 && hops > 0 {
            let out = fold.slots() as u32;
            let into = out + fold.orbits() as u32;
            let [from, to] =
                [from, target].map(|rank| fold.orbit(topology.host(rank.into()) as u32));
            way.extend([out + from, into + to].map(|link| Hop { link, times: 1.0 }));
        }
        let rtt = crossed * machine.hop_us + inverse * machine.weight_bytes * machine.byte_us;
        let weight = if machine.fairness == Fairness::Rtt && rtt > 0.0 { 1.0 / rtt } else { 1.0 };
        // Of a folded link a message alone has each of those that it is of to itself.
        let times = |hop: &Hop| if fold.is_plain() { f64::from(hop.times) } else { 1.0 };
        let narrowest = way
            .iter()
            .map(|hop| self.shares.capacity(hop.link) / times(hop))
            .fold(f64::MAX, f64::min);
        RouteSummary { hops, crossed, weight, narrowest }
    }

    /// A flight by the way found last; its number.
    fn put(&mut self, flight: InFlight, bytes: f64, weight: f64) -> usize {
        let number = self.landed.pop().unwrap_or(self.in_flight.len() as u32) as usize;
        if number == self.in_flight.len() {
            self.in_flight.push(flight);
            self.ends.reach(number + 1);
        } else {
            self.in_flight[number] = flight;
        }
        self.shares.describe(number, bytes, weight, &self.way);
        if self.shares.room() > MOST_HOPS {
            let most =
                format!("messages under way of up to {MOST_HOPS} hops, there are more at once");
            self.refused = Some(format!("the model `fluid` follows {most}"));
        }
        number
    }

    /// Fewer nodes do the same from now on: each flight is one of each orbit there is then. `steps`
    /// are as they were.
    pub(super) fn unfold(&mut self, fold: Arc<Fold>, steps: &Steps, now: f64) {
        let before = std::mem::replace(&mut self.fold, fold);
        let mut ranks = vec![Vec::new(); before.orbits()];
        for rank in 0..self.fold.orbits() as u32 {
            ranks[before.orbit(self.fold.first(rank)) as usize].push(rank);
        }
        let fresh = shares(&self.machine, self.topology.as_ref(), &self.fold);
        let (shares, ends) = (
            std::mem::replace(&mut self.shares, fresh),
            std::mem::replace(&mut self.ends, Timers::new(1)),
        );
        let (in_flight, landed) =
            (std::mem::take(&mut self.in_flight), std::mem::take(&mut self.landed));
        self.place = vec![0; self.fold.links() as usize];
        let mut is_free = vec![false; in_flight.len()];
        landed.iter().for_each(|number| is_free[*number as usize] = true);
        for (number, flight) in
            in_flight.into_iter().enumerate().filter(|(number, _)| !is_free[*number])
        {
            // Whose step has been ended by both its ends is none any more.
            let Some((step, place, of)) =
                flight.of.and_then(|(of, place)| Some((steps.get(of)?, place, flight.from)))
            else {
                continue;
            };
            let (message, target) =
                (step.sends(of as usize)[place as usize], step.target(of as usize, place));
            let route = message.route.checked_sub(1).map(|at| &step.routes[at as usize]);
            for &from in &ranks[of as usize] {
                let target = self.fold.moved(target, before.first(of), self.fold.first(from));
                self.find_route(from, target, route);
                let flight = InFlight { from, to: self.fold.orbit(target), ..flight };
                let copy = self.put(flight, shares.left(number, now), shares.weight(number));
                if shares.is_sharing(number) {
                    self.shares.add(copy, now);
                } else {
                    self.ends.set(copy, ends.of(number));
                }
            }
        }
    }

    /// The flight's latency is over, or its bytes are: a flight that has come, if some rank waits
    /// for it.
    pub(super) fn next_of(&mut self, number: usize, now: f64) -> Option<InFlight> {
        let flight = self.in_flight[number];
        if flight.shares && !self.shares.is_sharing(number) {
            self.shares.add(number, now);
            return None;
        }
        if flight.shares {
            self.shares.remove(number);
        }
        self.landed.push(number as u32);
        self.background -= usize::from(flight.of.is_none());
        flight.of.map(|_| flight)
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

/// Links of the folded network, all free.
fn shares(machine: &Fluid, topology: &dyn Topology, fold: &Fold) -> Shares {
    // What takes no time is on nobody's way, so that its capacity counts for nothing: an ordinary
    // one keeps the range of levels small.
    let per_us = |byte_us: f64| if byte_us > 0.0 { 1.0 / byte_us } else { 1.0 };
    // Where links are not alike, none is folded.
    let is_there = |link: &u64| fold.is_plain() && topology.link_ends(*link).is_some();
    let bandwidth = |link| Some(link).filter(is_there).map_or(1.0, |link| topology.bandwidth(link));
    let on_links =
        (0..fold.slots()).map(|link| bandwidth(link) * per_us(machine.link_byte_us()).min(1e300));
    let own = (fold.slots()..fold.links()).map(|_| per_us(machine.injection_byte_us));
    let least_weight = match machine.fairness {
        Fairness::Rtt => {
            1.0 / (topology.diameter() as f64
                * (machine.hop_us + machine.weight_bytes * machine.byte_us))
                .max(1e-9)
        }
        Fairness::Equal => 1.0,
    };
    Shares::new(on_links.chain(own).collect::<Vec<_>>().into_iter(), least_weight)
}
