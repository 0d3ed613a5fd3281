//! Messages in flight. Each message first waits for its latency. Then it shares the links of its
//! route with other messages until its bytes have arrived.

use super::fold::Fold;
use super::shares::{Hop, Shares, WindowTimers};
use super::timers::Timers;
use super::{Fairness, Fluid};
use crate::cost::background::Background;
use crate::cost::model::PricingContext;
use crate::cost::model::asynchronous::repetition::State;
use crate::cost::model::asynchronous::{Order, Steps};
use crate::cost::model::path::Path;
use crate::network::topology::{Route, Run, Topology};
use paths::Paths;
use std::sync::Arc;

mod paths;

/// The maximum total number of hops of the messages in flight. These hops take up to about 3 GiB.
const MAX_HOPS: usize = 1 << 27;
/// The maximum number of links of a network. The links take up to about 2 GiB.
const MAX_LINKS: u64 = 1 << 24;

/// A message that its sender and its receiver have posted, so that it can start.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewMessage {
    pub from: u32,
    pub to: u32,
    /// The destination node of the message if the first node of the sender's orbit sends it.
    pub target: u32,
    /// The step of the message, and the index of the message among its sender's sends of this step.
    /// `None` for background traffic.
    pub source: Option<(u64, u32)>,
    pub bytes: f64,
    /// The jitter: a factor for the latency.
    pub noise: f64,
}

/// The value of [`InFlight::index`] for background traffic.
const BACKGROUND: u32 = u32::MAX;

/// A message in flight. The state is small, because there may be millions of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub from: u32,
    pub to: u32,
    /// The step of the message.
    step: u64,
    /// The index of the message among its sender's sends of this step, or [`BACKGROUND`].
    index: u32,
    /// The index in [`Paths`] of the critical path to the start of the message.
    path: u32,
    /// The time at which the message started, in µs.
    pub started: f64,
    pub latency: f64,
    /// The time that the transmission would take if no link were shared, in µs.
    pub alone: f64,
    /// The bytes that must still be transmitted when the message begins to share links; 0 if the
    /// message uses no link.
    bytes: f64,
}

impl InFlight {
    /// Returns the step and the index of the message, as in [`NewMessage::source`].
    pub(super) fn source(&self) -> Option<(u64, u32)> {
        (self.index != BACKGROUND).then_some((self.step, self.index))
    }

    /// Returns the critical path to the arrival of the message at the time `now`. `start` is the
    /// critical path to its start.
    fn path(&self, start: Path, now: f64) -> Path {
        let lasted = now - self.started - self.latency;
        let contention = (lasted - self.alone).max(0.0);
        Path {
            propagation: start.propagation + self.latency,
            transmission: start.transmission + lasted - contention,
            contention: start.contention + contention,
            ..start
        }
    }
}

/// All messages in flight on a network.
#[derive(Clone)]
pub(super) struct MessagesInFlight {
    machine: Fluid,
    topology: Arc<dyn Topology>,
    /// The orbits of nodes and links.
    pub fold: Arc<Fold>,
    pub shares: Shares,
    /// The messages. Copies of a simulation share this list until one of these copies changes it.
    messages: Arc<Vec<InFlight>>,
    paths: Paths,
    /// For each sender, the indices in `messages` of its earlier messages, which are now unused.
    /// Each sender reuses its own indices, so that equal messages of equal steps usually have the
    /// same index.
    free: Vec<Vec<u32>>,
    /// Number of messages.
    count: usize,
    /// Number of background messages in flight.
    background: usize,
    /// For each orbit of nodes, the route that was found most recently. It is stored because a rank
    /// often sends to the same node again.
    routes: Vec<FoundRoute>,
    /// The length of the longest route of a message so far.
    longest: usize,
    /// For each link, its position in the route that was found most recently, if the link is part
    /// of that route.
    position: Vec<u32>,
    /// For each message, the time at which its latency or its transmission ends.
    pub ends: Timers,
    /// The reason why the model cannot compute the cost, if there is one.
    pub refused: Option<String>,
}

/// A route from the first node of an orbit.
#[derive(Debug, Clone, Default)]
struct FoundRoute {
    /// The last node of the route; `None` if the schedule requested the route.
    target: Option<u32>,
    summary: RouteSummary,
    /// The links of the route. Each link is stored once, with the number of times that the route
    /// crosses it.
    links: Vec<Hop>,
}

/// The properties of a route.
#[derive(Debug, Clone, Copy, Default)]
struct RouteSummary {
    hops: u64,
    /// The total latency of the links, in units of the machine's `hop_us`.
    latency: f64,
    weight: f64,
    /// The bandwidth of the narrowest link, in bytes per µs.
    narrowest: f64,
}

impl MessagesInFlight {
    /// Creates a network without messages. The network is folded ([`super::fold`]) if the topology
    /// has translations and no setting of the machine breaks the symmetry, as jitter does.
    pub(super) fn new(machine: &Fluid, context: PricingContext<'_>) -> Self {
        let topology = Arc::clone(context.topology);
        let fits = topology.link_slots().saturating_add(2 * topology.nodes()) <= MAX_LINKS;
        let is_symmetric = machine.noise == 0.0
            && machine.order != Order::Data
            && machine.late.is_none()
            && !machine.background.is_some();
        let folded = if fits && is_symmetric { Fold::smallest(topology.as_ref()) } else { None };
        let fold = folded.unwrap_or_else(|| Fold::plain(topology.as_ref()));
        let orbits = fold.orbits();
        let too_many =
            format!("the model `fluid` simulates up to {MAX_LINKS} links, this network has more");
        Self {
            shares: if fits {
                shares(machine, topology.as_ref(), &fold)
            } else {
                Shares::new([].into_iter(), 1.0)
            },
            position: vec![0; if fits { fold.links() as usize } else { 0 }],
            routes: vec![FoundRoute::default(); if fits { orbits } else { 0 }],
            fold: Arc::new(fold),
            machine: machine.clone(),
            topology,
            messages: Arc::default(),
            paths: Paths::default(),
            free: vec![Vec::new(); if fits { orbits } else { 0 }],
            count: 0,
            background: 0,
            longest: 0,
            ends: Timers::new(1),
            refused: (!fits).then_some(too_many),
        }
    }

    /// Returns this network, folded with the given periods (defined in [`Fold`]).
    pub(super) fn folded(&self, periods: Vec<u32>) -> Fold {
        self.fold.with(self.topology.as_ref(), periods)
    }

    /// Returns this network, folded by exclusive-ors of node numbers. Returns `None` if the network
    /// is not folded now, or cannot be folded by exclusive-ors.
    pub(super) fn by_exclusive_or(&self) -> Option<Fold> {
        (!self.fold.is_plain()).then(|| Fold::by_exclusive_or(self.topology.as_ref())).flatten()
    }

    /// Returns whether all messages in flight are background traffic.
    pub(super) fn are_background(&self) -> bool {
        self.count == self.background
    }

    /// Starts all background traffic. If it is for a different number of ranks, sets `refused`.
    pub(super) fn start_background(&mut self, background: &Background) {
        if background.ranks() != self.topology.nodes() {
            let (has, ranks) = (background.ranks(), self.topology.nodes());
            self.refused =
                Some(format!("the matrix of `background` is for {has} nodes, there are {ranks}"));
        }
        for (from, to, bytes) in background.flows() {
            if self.refused.is_some() {
                return;
            }
            let message =
                NewMessage { from, to, target: to, source: None, bytes: bytes as f64, noise: 1.0 };
            self.start(message, None, 0.0, Path::default());
            self.background += 1;
        }
    }

    /// Starts a message; `path` is the critical path to its start.
    pub(super) fn start(
        &mut self,
        message: NewMessage,
        route: Option<&Route>,
        now: f64,
        path: Path,
    ) {
        let NewMessage { from, to, target, source, bytes, noise } = message;
        let FoundRoute { summary, links, .. } = self.find_route(from, target, route);
        let (RouteSummary { hops, latency, narrowest, .. }, links) = (*summary, links.len());
        self.longest = self.longest.max(links);
        let latency = self.machine.latency_us(latency) * noise;
        let uses_links = links > 0 && bytes > 0.0;
        // A route without hops connects ranks of the same node. Their message uses no link, and its
        // bytes take as long as on a link that is not shared.
        let within = if hops == 0 { bytes * self.machine.link_byte_us() } else { 0.0 };
        let alone = if uses_links { bytes / narrowest } else { within };
        let (step, index) = source.unwrap_or((0, BACKGROUND));
        let path = self.paths.add(path);
        let bytes = if uses_links { bytes } else { 0.0 };
        let message = InFlight { from, to, step, index, path, started: now, latency, alone, bytes };
        let number = self.store(message);
        self.ends.set(number, now + latency + within);
    }

    /// Finds the route from an orbit's first node to another node.
    fn find_route(&mut self, from: u32, target: u32, route: Option<&Route>) -> &FoundRoute {
        let Self { fold, routes, position, topology, machine, .. } = self;
        let found = &mut routes[from as usize];
        let own_target = route.is_none().then_some(target);
        if own_target.is_some() && found.target == own_target {
            return found;
        }
        found.target = own_target;
        let (has_capacity, from) = (machine.byte_us > 0.0, fold.first(from));
        let (mut inverse, mut latency) = (0.0, 0.0);
        let links = &mut found.links;
        links.clear();
        let add = &mut |run: Run| {
            for link in run.links() {
                inverse += 1.0 / topology.bandwidth(link);
                latency += topology.latency(link);
                let (link, times) = fold.link(link);
                let position = &mut position[link as usize];
                match links.get_mut(*position as usize).filter(|hop| hop.link == link) {
                    Some(hop) => hop.times += times,
                    None if has_capacity => {
                        *position = links.len() as u32;
                        links.push(Hop { link, times });
                    }
                    None => {}
                }
            }
        };
        // The step was measured before, which checked the route. So this call cannot fail.
        let hops = topology.route(from.into(), target.into(), route, add).unwrap_or_default();
        if machine.injection_byte_us > 0.0 && hops > 0 {
            let out = fold.slots() as u32;
            let into = out + fold.orbits() as u32;
            let [from, to] =
                [from, target].map(|rank| fold.orbit(topology.host(rank.into()) as u32));
            links.extend([out + from, into + to].map(|link| Hop { link, times: 1.0 }));
        }
        let rtt = latency * machine.hop_us + inverse * machine.weight_bytes * machine.byte_us;
        let weight = if machine.fairness == Fairness::Rtt && rtt > 0.0 { 1.0 / rtt } else { 1.0 };
        // If a route in a folded network crosses a link several times, it crosses different links
        // of the original network. So the message does not share a link with itself.
        let times = |hop: &Hop| if fold.is_plain() { f64::from(hop.times) } else { 1.0 };
        let narrowest = links
            .iter()
            .map(|hop| self.shares.capacity(hop.link) / times(hop))
            .fold(f64::MAX, f64::min);
        found.summary = RouteSummary { hops, latency, weight, narrowest };
        found
    }

    /// Attaches a message, which has these bytes left, to the links of its route. The route was
    /// found when the message started, but it was not stored, because it would double the memory of
    /// a message. It is found again here, unless it is the sender's most recent route.
    fn attach(&mut self, number: u32, left: f64, steps: &Steps) {
        let message = self.messages[number as usize];
        let sender = message.from as usize;
        let of_step = message.source().and_then(|(step, index)| Some((steps.get(step)?, index)));
        let (target, route) = of_step.map_or((message.to, None), |(step, index)| {
            (step.target(sender, index), step.route(&step.sends(sender)[index as usize]))
        });
        self.find_route(message.from, target, route);
        let FoundRoute { summary, links, .. } = &self.routes[sender];
        self.shares.attach(number, left, summary.weight, links);
    }

    /// Attaches messages whose latency has ended to the links of their routes.
    fn attach_added(&mut self, steps: &Steps) {
        for number in self.shares.take_added() {
            self.attach(number, self.messages[number as usize].bytes, steps);
        }
    }

    /// Stores a message. Returns its index.
    fn store(&mut self, message: InFlight) -> usize {
        let unused = self.free[message.from as usize].pop();
        let number = unused.unwrap_or(self.messages.len() as u32) as usize;
        self.count += 1;
        let messages = Arc::make_mut(&mut self.messages);
        if number == messages.len() {
            messages.push(message);
            self.ends.grow(number + 1);
        } else {
            messages[number] = message;
        }
        if self.messages.len() * self.longest.next_power_of_two() > MAX_HOPS {
            let most = format!("messages in flight of up to {MAX_HOPS} hops, this case has more");
            self.refused = Some(format!("the model `fluid` simulates {most}"));
        }
        number
    }

    /// Splits orbits: `fold` has smaller orbits than the current fold. Each message is copied for
    /// every new orbit that was part of its sender's old orbit. `steps` are the steps before the
    /// split.
    pub(super) fn unfold(&mut self, fold: Arc<Fold>, steps: &Steps, now: f64) {
        let before = std::mem::replace(&mut self.fold, fold);
        // For each old orbit, list the new orbits into which it was split.
        let mut ranks = vec![Vec::new(); before.orbits()];
        for rank in 0..self.fold.orbits() as u32 {
            ranks[before.orbit(self.fold.first(rank)) as usize].push(rank);
        }
        // Replace the links, timers and messages by empty tables.
        let fresh = shares(&self.machine, self.topology.as_ref(), &self.fold);
        let (shares, ends) = (
            std::mem::replace(&mut self.shares, fresh),
            std::mem::replace(&mut self.ends, Timers::new(1)),
        );
        let messages = std::mem::take(&mut self.messages);
        let empty = vec![Vec::new(); self.fold.orbits()];
        let free = std::mem::replace(&mut self.free, empty);
        self.count = 0;
        self.position = vec![0; self.fold.links() as usize];
        self.routes = vec![FoundRoute::default(); self.fold.orbits()];
        // Copy each message in flight to the new orbits.
        let mut is_free = vec![false; messages.len()];
        free.iter().flatten().for_each(|number| is_free[*number as usize] = true);
        let mut paths = std::mem::take(&mut self.paths);
        for (number, old) in messages.iter().enumerate().filter(|(number, _)| !is_free[*number]) {
            let path = paths.remove(old.path);
            // Skip messages whose step is no longer stored, because all ranks have ended it.
            let Some((step, index, sender)) =
                old.source().and_then(|(step, index)| Some((steps.get(step)?, index, old.from)))
            else {
                continue;
            };
            let target = step.target(sender as usize, index);
            let bytes = shares.left(number, now).unwrap_or(old.bytes);
            for &from in &ranks[sender as usize] {
                let target = self.fold.moved(target, before.first(sender), self.fold.first(from));
                let path = self.paths.add(path);
                let copy =
                    self.store(InFlight { from, to: self.fold.orbit(target), path, bytes, ..*old });
                if shares.is_sharing(number) {
                    self.shares.add(copy);
                } else {
                    self.ends.set(copy, ends.get(number));
                }
            }
        }
    }

    /// Removes all messages before they arrive, and frees their memory.
    pub(super) fn clear(&mut self) {
        if !self.messages.is_empty() {
            self.shares = Shares::new([].into_iter(), 1.0);
            (self.messages, self.paths, self.free) = Default::default();
            self.count = 0;
            self.ends = Timers::new(1);
        }
    }

    /// Ends the current phase of a message: its latency or its transmission. If the message arrives
    /// now and is not background traffic, returns the message and the critical path to its arrival.
    /// `steps` has the steps of all messages in flight.
    pub(super) fn next_phase(
        &mut self,
        number: usize,
        now: f64,
        steps: &Steps,
    ) -> Option<(InFlight, Path)> {
        let message = self.messages[number];
        if self.shares.is_sharing(number) {
            self.attach_added(steps);
            self.shares.remove(number);
        } else if message.bytes > 0.0 {
            self.shares.add(number);
            return None;
        }
        self.free[message.from as usize].push(number as u32);
        self.count -= 1;
        self.background -= usize::from(message.source().is_none());
        let path = message.path(self.paths.remove(message.path), now);
        message.source().map(|_| (message, path))
    }

    /// Adds all messages to the state of the simulation. `known` is the number of known steps. The
    /// indices of messages are a part of the state, because simultaneous events are processed in
    /// the order of these indices. Rates are not a part, because they follow from the routes.
    /// Returns `false` if there is background traffic, or if windows of time are in use.
    pub(super) fn add_state(&self, state: &mut State, known: u64) -> bool {
        let mut is_free = vec![false; self.messages.len()];
        for number in self.free.iter().flatten() {
            is_free[*number as usize] = true;
            state.add_number(*number);
        }
        for number in (0..is_free.len()).filter(|number| !is_free[*number]) {
            let message = &self.messages[number];
            state.add_number(number as u64);
            state.add_number(message.from);
            state.add_number(known - message.step);
            state.add_number(message.index);
            state.add_number(u8::from(self.shares.is_sharing(number)));
            state.add_time(message.started);
            state.add_time(self.ends.get(number));
            state.add_path(self.paths.get(message.path));
        }
        self.background == 0 && !self.shares.has_windows()
    }

    /// Begins to compute approximate rates in windows of time. This detaches all messages from the
    /// links of their routes. The next call of [`Self::share`] attaches them to the same links.
    pub(super) fn begin_windows(&mut self, now: f64) {
        let messages = Arc::make_mut(&mut self.messages);
        for (number, left) in self.shares.begin_windows(now) {
            self.ends.set(number as usize, f64::INFINITY);
            messages[number as usize].bytes = left;
        }
    }

    /// Computes the fair rates of all messages. While windows of time are in use, `fraction` is the
    /// fraction of the messages that should arrive in each window. If too few messages would
    /// arrive, for example because `fraction` is 0, the windows end and the rates are exact again.
    /// `of_ranks` are the timers at which ranks may start messages. Every examined link reduces
    /// `most` by 1, and a computation of exact rates stops when `most` is 0.
    pub(super) fn share(
        &mut self,
        fraction: f64,
        now: f64,
        of_ranks: [&Timers; 2],
        steps: &Steps,
        most: &mut u64,
    ) {
        self.attach_added(steps);
        for (number, left) in self.shares.end_windows(fraction) {
            self.attach(number, left, steps);
        }
        let latency = self.machine.latency_us(1.0);
        let timers = &mut WindowTimers { ends: &mut self.ends, of_ranks, latency };
        if self.shares.next_window(fraction, now, most, timers) {
            return;
        }
        self.shares.solve(now, most, |message, end| self.ends.set(message, end));
        #[cfg(test)]
        if *most > 0 {
            self.shares.check();
        }
    }
}

/// Creates the links of the folded network. No message uses them yet.
fn shares(machine: &Fluid, topology: &dyn Topology, fold: &Fold) -> Shares {
    // If the byte time of a link is 0, no route contains the link, and its capacity is not used.
    // The capacity is then set to 1, which keeps the range of levels small.
    let per_us = |byte_us: f64| if byte_us > 0.0 { 1.0 / byte_us } else { 1.0 };
    let bandwidth = |link| topology.link_ends(link).map_or(1.0, |_| topology.bandwidth(link));
    let of_link = per_us(machine.link_byte_us()).min(1e300);
    let on_links = (0..fold.slots()).map(|link| bandwidth(fold.first_link(link)) * of_link);
    let injection = (fold.slots()..fold.links()).map(|_| per_us(machine.injection_byte_us));
    let least_weight = match machine.fairness {
        Fairness::Rtt => {
            1.0 / (topology.diameter() as f64
                * (machine.hop_us + machine.weight_bytes * machine.byte_us))
                .max(1e-9)
        }
        Fairness::Equal => 1.0,
    };
    Shares::new(on_links.chain(injection).collect::<Vec<_>>().into_iter(), least_weight)
}
