//! Messages in flight. A message first waits for its latency. Then it shares the links of its route
//! until all of its bytes have arrived.

use super::Fluid;
use super::fold::Fold;
use super::shares::{Hop, Shares};
use super::shares::{Units, duration};
use crate::cost::background::Background;
use crate::cost::kind::Kind;
use crate::cost::model::PricingContext;
use crate::cost::model::asynchronous::repetition::State;
use crate::cost::model::asynchronous::{Order, Steps};
use crate::cost::model::clock::Clock;
use crate::cost::model::ticks::Timers;
use crate::cost::model::ticks::{LAST, NEVER, Ticks, nearest, ticks};
use crate::network::topology::{Network, Route, Run};
use std::sync::Arc;

/// This number of hops takes about 3 GiB.
const MAX_HOPS: usize = 1 << 27;
/// This number of links takes about 2 GiB.
const MAX_LINKS: u64 = 1 << 24;

#[derive(Debug, Clone, Copy)]
pub(super) struct NewMessage {
    pub from: u32,
    pub to: u32,
    /// The node to which the first node of the sender's orbit sends the message.
    pub target: u32,
    /// The step of the message, and its index among its sender's sends. `None` for background
    /// traffic.
    pub source: Option<(u64, u32)>,
    pub bytes: f64,
    pub noise: f64,
}

const BACKGROUND: u32 = u32::MAX;

/// A message in flight. The state is small, because there may be millions of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub from: u32,
    pub to: u32,
    step: u64,
    /// The index of the message among its sender's sends in this step, or [`BACKGROUND`].
    index: u32,
    start: u32,
    pub started: Ticks,
    pub latency: Ticks,
    pub alone: Ticks,
    work: f64,
}

impl InFlight {
    pub(super) fn source(&self) -> Option<(u64, u32)> {
        (self.index != BACKGROUND).then_some((self.step, self.index))
    }

    fn arrival(&self, start: Clock<Ticks>, now: Ticks) -> Clock<Ticks> {
        let lasted = now - self.started - self.latency;
        let contention = (lasted - self.alone).max(0);
        start
            .after(Kind::Propagation, self.latency)
            .after(Kind::Transmission, lasted - contention)
            .after(Kind::Contention, contention)
    }
}

#[derive(Clone)]
pub(super) struct MessagesInFlight {
    machine: Fluid,
    topology: Arc<Network>,
    pub fold: Arc<Fold>,
    pub shares: Shares,
    units: Units,
    /// Copies of a simulation share this list until one of them changes it.
    messages: Arc<Vec<InFlight>>,
    starts: Starts,
    free: Vec<u32>,
    count: usize,
    background: usize,
    /// For each orbit of nodes, the route of the last message, because a rank often sends to the
    /// same node several times.
    routes: Vec<FoundRoute>,
    longest: usize,
    position: Vec<u32>,
    pub ends: Timers,
    pub refused: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct FoundRoute {
    target: Option<u32>,
    summary: RouteSummary,
    links: Vec<Hop>,
}

#[derive(Debug, Clone, Copy, Default)]
struct RouteSummary {
    hops: u64,
    latency: Ticks,
    weight: u64,
    narrowest: u64,
}

impl MessagesInFlight {
    /// The network is folded ([`super::fold`]) if the network and the settings of the machine
    /// permit it.
    pub(super) fn new(machine: &Fluid, context: PricingContext<'_>) -> Self {
        let topology = Arc::clone(context.topology);
        let fits = topology.link_slots().saturating_add(2 * topology.nodes()) <= MAX_LINKS;
        let is_symmetric = machine.noise == 0.0
            && machine.order != Order::Data
            && machine.late.is_none()
            && !machine.background.is_some();
        let folded = if fits && is_symmetric { Fold::smallest(topology.as_ref()) } else { None };
        let fold = folded.unwrap_or_else(|| Fold::plain(topology.as_ref()));
        let (orbits, units) = (fold.orbits(), Units::new(machine, topology.as_ref(), fits));
        let too_many =
            format!("the model `fluid` simulates up to {MAX_LINKS} links, this network has more");
        Self {
            shares: match fits {
                true => Shares::new(&units, units.capacities(topology.as_ref(), &fold)),
                false => Shares::new(&units, Vec::new()),
            },
            units,
            position: vec![0; if fits { fold.links() as usize } else { 0 }],
            routes: vec![FoundRoute::default(); if fits { orbits } else { 0 }],
            fold: Arc::new(fold),
            machine: machine.clone(),
            topology,
            messages: Arc::default(),
            starts: Starts::default(),
            free: Vec::new(),
            count: 0,
            background: 0,
            longest: 0,
            ends: Timers::new(1),
            refused: (!fits).then_some(too_many),
        }
    }

    pub(super) fn folded(&self, periods: Vec<u32>) -> Fold {
        self.fold.with(self.topology.as_ref(), periods)
    }

    pub(super) fn by_exclusive_or(&self) -> Option<Fold> {
        (!self.fold.is_plain()).then(|| Fold::by_exclusive_or(self.topology.as_ref())).flatten()
    }

    pub(super) fn are_background(&self) -> bool {
        self.count == self.background
    }

    /// Starts the background traffic, or sets `refused` if it is for another number of ranks.
    pub(super) fn start_background(&mut self, background: &Background, jobs: u64) {
        if background.ranks() != self.topology.nodes() / jobs {
            let (has, ranks) = (background.ranks(), self.topology.nodes() / jobs);
            self.refused =
                Some(format!("the matrix of `background` is for {has} nodes, there are {ranks}"));
        }
        for (from, to, bytes) in background.flows() {
            if self.refused.is_some() {
                return;
            }
            let message =
                NewMessage { from, to, target: to, source: None, bytes: bytes as f64, noise: 1.0 };
            self.start(message, None, Clock::default());
            self.background += 1;
        }
    }

    pub(super) fn start(&mut self, message: NewMessage, route: Option<&Route>, at: Clock<Ticks>) {
        let started = at.at();
        let NewMessage { from, to, target, source, bytes, noise } = message;
        let FoundRoute { summary, links, .. } = self.find_route(from, target, route);
        let (RouteSummary { hops, latency, narrowest, .. }, links) = (*summary, links.len());
        self.longest = self.longest.max(links);
        let latency = if noise == 1.0 { latency } else { nearest(latency as f64 * noise) };
        let uses_links = links > 0 && bytes > 0.0;
        let work = if uses_links { self.units.work(bytes) } else { 0.0 };
        let within = if hops == 0 { ticks(bytes * self.machine.link_byte_us()) } else { 0 };
        let alone = if uses_links { duration(work as i128, narrowest) } else { within };
        let (step, index) = source.unwrap_or((0, BACKGROUND));
        let start = self.starts.add(at);
        let message = InFlight { from, to, step, index, start, started, latency, alone, work };
        let number = self.store(message);
        self.ends.set(number, started + latency + within);
    }

    fn find_route(&mut self, from: u32, target: u32, route: Option<&Route>) -> &FoundRoute {
        let Self { fold, routes, position, topology, machine, units, .. } = self;
        let found = &mut routes[from as usize];
        let own_target = route.is_none().then_some(target);
        if own_target.is_some() && found.target == own_target {
            return found;
        }
        found.target = own_target;
        let (has_capacity, from) = (machine.byte_us > 0.0, fold.first(from));
        let (mut inverse, mut hop_latency, mut latency) = (0.0, 0.0, 0);
        let links = &mut found.links;
        links.clear();
        let add = &mut |run: Run| {
            for link in run.links() {
                inverse += 1.0 / topology.bandwidth(link);
                hop_latency += topology.latency(link);
                latency += ticks(machine.latency_us(topology.latency(link)));
                latency = latency.min(LAST + 1);
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
        let Ok(hops) = topology.route(from.into(), target.into(), route, add) else {
            unreachable!("a route that was checked from {from} to {target} is refused");
        };
        if machine.injection_byte_us > 0.0 && hops > 0 {
            let out = fold.slots() as u32;
            let into = out + fold.orbits() as u32;
            let [from, to] =
                [from, target].map(|rank| fold.orbit(topology.physical_node(rank.into()) as u32));
            // If a switch adds or copies data, the route ends or begins at the switch, not at a
            // node.
            let uses = route.map_or([true; 2], |r| [r.leaves_sender(), r.reaches_receiver()]);
            let ends = [out + from, into + to].into_iter().zip(uses).filter(|(_, used)| *used);
            links.extend(ends.map(|(link, _)| Hop { link, times: 1 }));
        }
        let weight = units.weight(machine.round_trip_us(hop_latency, inverse));
        // If a route in a folded network crosses a link several times, it crosses different links
        // of the original network.
        let times = |hop: &Hop| if fold.is_plain() { u64::from(hop.times) } else { 1 };
        let narrowest = links.iter().map(|hop| self.shares.capacity(hop.link) / times(hop)).min();
        let narrowest = narrowest.unwrap_or(u64::MAX);
        found.summary = RouteSummary { hops, latency, weight, narrowest };
        found
    }

    /// Attaches a message to the links of its route. The route is found again, unless it is the
    /// last one of the sender, because storing routes would double the memory of a message.
    fn attach(&mut self, number: u32, (left, now): (i128, Ticks), steps: &Steps) {
        let message = self.messages[number as usize];
        let sender = message.from as usize;
        let (target, route) = match message.source() {
            None => (message.to, None),
            Some((step, index)) => {
                let step = steps.current(step);
                (step.target(sender, index), step.route(&step.sends(sender)[index as usize]))
            }
        };
        self.find_route(message.from, target, route);
        let FoundRoute { summary, links, .. } = &self.routes[sender];
        self.shares.attach(number, (left, now), summary.weight, links);
    }

    fn attach_added(&mut self, now: Ticks, steps: &Steps) {
        for number in self.shares.take_added() {
            let left = self.messages[number as usize].work as i128;
            self.attach(number, (left, now), steps);
        }
    }

    fn store(&mut self, message: InFlight) -> usize {
        let number = self.free.pop().unwrap_or(self.messages.len() as u32) as usize;
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

    /// Splits orbits. Each message is copied for every new orbit in the old orbit of its sender.
    /// `steps` are the steps before the split.
    pub(super) fn unfold(&mut self, fold: Arc<Fold>, steps: &Steps, now: Ticks) {
        let before = std::mem::replace(&mut self.fold, fold);
        let mut ranks = vec![Vec::new(); before.orbits()];
        for rank in 0..self.fold.orbits() as u32 {
            ranks[before.orbit(self.fold.first(rank)) as usize].push(rank);
        }
        let capacities = self.units.capacities(self.topology.as_ref(), &self.fold);
        let fresh = Shares::new(&self.units, capacities);
        let (shares, ends) = (
            std::mem::replace(&mut self.shares, fresh),
            std::mem::replace(&mut self.ends, Timers::new(1)),
        );
        let messages = std::mem::take(&mut self.messages);
        let free = std::mem::take(&mut self.free);
        self.count = 0;
        self.position = vec![0; self.fold.links() as usize];
        self.routes = vec![FoundRoute::default(); self.fold.orbits()];
        let mut is_free = vec![false; messages.len()];
        free.iter().for_each(|number| is_free[*number as usize] = true);
        let mut starts = std::mem::take(&mut self.starts);
        for (number, old) in messages.iter().enumerate().filter(|(number, _)| !is_free[*number]) {
            let at = starts.remove(old.start);
            let Some((step, index)) = old.source() else {
                unreachable!("a folded network has no background traffic");
            };
            let (step, sender) = (steps.current(step), old.from);
            let target = step.target(sender as usize, index);
            let route = step.route(&step.sends(sender as usize)[index as usize]);
            for &from in &ranks[sender as usize] {
                let target = self.fold.moved(target, before.first(sender), self.fold.first(from));
                let start = self.starts.add(at);
                let to = self.fold.orbit(target);
                let copy = self.store(InFlight { from, to, start, ..*old });
                self.ends.set(copy, ends.get(number));
                match shares.left(number, now) {
                    Some((left, _)) => {
                        self.find_route(from, target, route);
                        let FoundRoute { summary, links, .. } = &self.routes[from as usize];
                        self.shares.attach(copy as u32, (left, now), summary.weight, links);
                    }
                    None if shares.is_sharing(number) => self.shares.add(copy),
                    None => {}
                }
            }
        }
    }

    pub(super) fn clear(&mut self) {
        if !self.messages.is_empty() {
            self.shares = Shares::new(&self.units, Vec::new());
            (self.messages, self.starts, self.free) = Default::default();
            self.count = 0;
            self.ends = Timers::new(1);
        }
    }

    /// Ends the latency or the transmission of a message. If the message arrives and is not
    /// background traffic, returns it and its arrival.
    pub(super) fn next_phase(
        &mut self,
        number: usize,
        now: Ticks,
        steps: &Steps,
    ) -> Option<(InFlight, Clock<Ticks>)> {
        let message = self.messages[number];
        if self.shares.is_sharing(number) {
            self.attach_added(now, steps);
            self.shares.remove(number);
        } else if message.work > 0.0 {
            self.shares.add(number);
            return None;
        }
        self.free.push(number as u32);
        self.count -= 1;
        self.background -= usize::from(message.source().is_none());
        let arrival = message.arrival(self.starts.remove(message.start), now);
        message.source().map(|_| (message, arrival))
    }

    /// Adds all messages to the state. Returns `false` if there is background traffic or a window
    /// of time.
    pub(super) fn add_state(&self, state: &mut State, known: u64, now: Ticks) -> bool {
        if self.background > 0 || self.shares.has_windows() {
            return false;
        }
        let mut is_free = vec![false; self.messages.len()];
        self.free.iter().for_each(|number| is_free[*number as usize] = true);
        let mut messages: Vec<usize> =
            (0..is_free.len()).filter(|number| !is_free[*number]).collect();
        let key = |number: &usize| {
            let InFlight { from, step, index, .. } = self.messages[*number];
            (from, step, index)
        };
        messages.sort_unstable_by_key(key);
        for number in messages {
            let message = &self.messages[number];
            state.add_number(message.from);
            state.add_number(known - message.step);
            state.add_number(message.index);
            state.add_number(u8::from(self.shares.is_sharing(number)));
            let (left, rate) = self.shares.left(number, now).unwrap_or_default();
            state.add_number(left);
            state.add_number(rate);
            state.add_time(message.started);
            state.add_time(self.ends.get(number));
            state.add_path(*self.starts.get(message.start).path());
        }
        state.add_number(u8::from(self.shares.is_disturbed(now)));
        true
    }

    /// Begins to use windows of time. The next [`Self::share`] attaches all messages to links
    /// again.
    pub(super) fn begin_windows(&mut self, now: Ticks) {
        let messages = Arc::make_mut(&mut self.messages);
        for (number, left) in self.shares.begin_windows(now) {
            self.ends.set(number as usize, NEVER);
            messages[number as usize].work = left;
        }
    }

    /// Computes the rates of all messages, either exactly, or for a window of time in which
    /// `fraction` of the messages should arrive. `most` is reduced by 1 for every examined link.
    /// Exact computations stop when it is 0.
    pub(super) fn share(&mut self, fraction: f64, now: Ticks, steps: &Steps, most: &mut u64) {
        self.attach_added(now, steps);
        for (number, left) in self.shares.next_window(fraction, now, most, &mut self.ends) {
            self.attach(number, (left, now), steps);
        }
        if !self.shares.has_windows() {
            self.shares.solve(now, most, |message, end| self.ends.set(message, end));
        }
    }
}

/// The starts of messages. Equal starts are stored once.
#[derive(Debug, Clone, Default)]
struct Starts {
    starts: Vec<(Clock<Ticks>, u32)>,
    free: Vec<u32>,
    last: u32,
}

impl Starts {
    fn add(&mut self, start: Clock<Ticks>) -> u32 {
        match self.starts.get_mut(self.last as usize) {
            Some((last, messages)) if *messages > 0 && *last == start => *messages += 1,
            _ => {
                self.last = self.free.pop().unwrap_or(self.starts.len() as u32);
                match self.starts.get_mut(self.last as usize) {
                    Some(unused) => *unused = (start, 1),
                    None => self.starts.push((start, 1)),
                }
            }
        }
        self.last
    }

    fn get(&self, number: u32) -> Clock<Ticks> {
        self.starts[number as usize].0
    }

    fn remove(&mut self, number: u32) -> Clock<Ticks> {
        let (start, messages) = &mut self.starts[number as usize];
        *messages -= 1;
        if *messages == 0 {
            self.free.push(number);
        }
        *start
    }
}
