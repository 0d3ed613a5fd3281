//! Weighted max-min fair shares of links. When flows start or end, the shares are updated and not
//! computed from the beginning.
//!
//! A flow is a message in transmission, or background traffic, on a route of links. The *level* of
//! a flow is its rate divided by its weight. Shares are max-min fair if every flow has a full link
//! on which no other flow has a higher level. This link *binds* the flow. An *open* flow has no
//! rate yet. A *solve* is one update of the shares. This module stores flows and links; [`sweep`]
//! updates the rates. [`windows`] computes approximate rates of very many flows.

use super::level_queue::LevelQueue;
use link::Link;
use std::sync::Arc;
use windows::Windows;

mod link;
mod sweep;
mod windows;

pub(super) use windows::WindowTimers;

/// A link of a flow's route, and the number of times that the route crosses it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hop {
    pub link: u32,
    pub times: f32,
}

/// The properties with which a flow is defined.
#[derive(Debug, Clone, Copy)]
struct Definition {
    bytes: f64,
    weight: f64,
    hops: u32,
}

/// The state of a flow with respect to its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Binding {
    /// The flow is not in the lists of links.
    #[default]
    Idle,
    /// The flow has started after the last solve.
    New,
    /// The flow is open: it has no rate now, and gets one in the current solve.
    Open,
    /// This link binds the flow.
    By(u32),
}

/// The properties of a flow that a solve uses often.
#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    rate: f64,
    weight: f64,
    level: f64,
    bound: Binding,
    /// The number of times that the flow's route crosses the link that binds the flow.
    bound_times: f32,
}

/// The properties of a flow that a solve uses seldom.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// The bytes that the flow had not transmitted at the time `since`.
    left: f64,
    since: f64,
    /// The rate that the flow had before the solve with the number `solve`.
    before: f64,
    solve: u64,
}

/// The flows of a network and their rates.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    links: Vec<Link>,
    /// All flows. Copies of a simulation share this list, and the list `hops`. A list is copied when
    /// one of them changes it.
    definitions: Arc<Vec<Definition>>,
    /// For each flow, whether it uses its links.
    is_sharing: Vec<bool>,
    /// The flows with exact rates. These two lists are shorter than `definitions` if the last flows
    /// have not been attached to their links yet, and empty while windows are in use.
    flows: Vec<Flow>,
    rest: Vec<Progress>,
    /// The binary logarithm of the number of hops for which each flow has space.
    shift: u32,
    hops: Arc<Vec<Hop>>,
    /// For each hop, its position in the list `on` of the link. Empty until a flow is on such a list.
    place: Vec<u32>,
    levels: LevelQueue,
    /// Flows that have started since the last solve. They are attached to their links as late as
    /// possible, because flows that begin with windows are never attached.
    added: Vec<u32>,
    /// The number of flows in `added` that have been attached.
    attached: usize,
    /// Number of flows that have ended since the last solve.
    removed: usize,
    /// Number of flows that share links.
    sharing: usize,
    /// The total number of hops of all flows that share links.
    load: usize,
    /// The number of hops that the current solve has examined.
    visits: usize,
    /// The links on which a flow has ended since the last solve.
    dirty: Vec<u32>,
    /// The links of opened flows that `queue_opened` still has to examine.
    pending: Vec<u32>,
    /// The flows that were opened most recently. [`sweep`] defines when a flow is opened.
    fresh: Vec<u32>,
    takers: Vec<u32>,
    /// The flows whose rates may have changed in the current solve.
    changed: Vec<u32>,
    /// Number of the current solve.
    solve: u64,
    now: f64,
    /// The approximate shares, while there are very many flows.
    windows: Option<Box<Windows>>,
}

impl Shares {
    /// Creates links with these capacities, without flows. `least_weight` is an estimate of the
    /// smallest weight of any flow. It affects only the speed of solves.
    pub(super) fn new(capacities: impl Iterator<Item = f64>, least_weight: f64) -> Self {
        let links: Vec<Link> = capacities.map(Link::new).collect();
        let most = links.iter().map(|l| l.capacity).fold(0.0, f64::max);
        Self {
            links,
            definitions: Arc::default(),
            is_sharing: Vec::new(),
            flows: Vec::new(),
            rest: Vec::new(),
            shift: 0,
            hops: Arc::default(),
            place: Vec::new(),
            levels: LevelQueue::new(most / least_weight),
            added: Vec::new(),
            attached: 0,
            removed: 0,
            sharing: 0,
            load: 0,
            visits: 0,
            dirty: Vec::new(),
            pending: Vec::new(),
            fresh: Vec::new(),
            takers: Vec::new(),
            changed: Vec::new(),
            solve: 0,
            now: 0.0,
            windows: None,
        }
    }

    /// Returns the number of hops that are reserved in memory.
    pub(super) fn reserved_hops(&self) -> usize {
        self.hops.len()
    }

    pub(super) fn capacity(&self, link: u32) -> f64 {
        self.links[link as usize].capacity
    }

    /// Stores the properties of a flow. `flow` is the number of an existing flow or the next unused
    /// number. The flow uses its links only after [`Shares::add`].
    pub(super) fn define(&mut self, flow: usize, bytes: f64, weight: f64, route: &[Hop]) {
        while route.len() > 1 << self.shift {
            self.widen();
        }
        let definitions = Arc::make_mut(&mut self.definitions);
        let definition = Definition { bytes, weight, hops: route.len() as u32 };
        if flow == definitions.len() {
            definitions.push(definition);
            self.is_sharing.push(false);
            Arc::make_mut(&mut self.hops).resize((flow + 1) << self.shift, Hop::default());
        } else {
            definitions[flow] = definition;
        }
        let hops = &mut Arc::make_mut(&mut self.hops)[flow << self.shift..];
        hops[..route.len()].copy_from_slice(route);
    }

    /// Doubles the number of hops for which each flow has space.
    fn widen(&mut self) {
        let (old, flows) = (self.shift, self.definitions.len());
        self.shift += 1;
        let (mut hops, mut place) = (vec![Hop::default(); flows << self.shift], Vec::new());
        if !self.place.is_empty() {
            self.place.resize(flows << old, 0);
            place.resize(flows << self.shift, 0);
        }
        for flow in 0..flows {
            let (from, to, count) = (flow << old, flow << self.shift, 1 << old);
            hops[to..to + count].copy_from_slice(&self.hops[from..from + count]);
            if !place.is_empty() {
                place[to..to + count].copy_from_slice(&self.place[from..from + count]);
            }
        }
        (self.hops, self.place) = (Arc::new(hops), place);
        let moved = |hop: u32| (hop >> old << self.shift) | (hop & ((1 << old) - 1));
        self.links.iter_mut().flat_map(|link| &mut link.on).for_each(|hop| *hop = moved(*hop));
    }

    fn hops_of(&self, flow: u32) -> std::ops::Range<usize> {
        let first = (flow as usize) << self.shift;
        first..first + self.definitions[flow as usize].hops as usize
    }

    /// Returns the bytes that a flow has not transmitted at the time `now`.
    pub(super) fn left(&self, flow: usize, now: f64) -> f64 {
        match self.flows.get(flow).filter(|flow| flow.bound != Binding::Idle) {
            Some(Flow { rate, .. }) => self.rest[flow].left - rate * (now - self.rest[flow].since),
            None => self.definitions[flow].bytes,
        }
    }

    pub(super) fn weight(&self, flow: usize) -> f64 {
        self.definitions[flow].weight
    }

    /// Returns whether the flow uses its links.
    pub(super) fn is_sharing(&self, flow: usize) -> bool {
        self.is_sharing[flow]
    }

    /// Adds a flow to its links. The next solve gives the flow a rate.
    pub(super) fn add(&mut self, flow: usize) {
        self.sharing += 1;
        self.is_sharing[flow] = true;
        match &mut self.windows {
            Some(windows) => windows.add(flow, &self.definitions[flow]),
            None => self.added.push(flow as u32),
        }
    }

    /// Attaches the flows that have been added to their links.
    fn attach_added(&mut self) {
        while let Some(&flow) = self.added.get(self.attached) {
            self.attached += 1;
            self.attach(flow, self.definitions[flow as usize].bytes);
        }
    }

    /// Attaches a flow, which has these bytes left, to its links.
    fn attach(&mut self, number: u32, left: f64) {
        if self.flows.len() <= number as usize {
            let count = self.definitions.len();
            self.flows.resize(count, Flow::default());
            self.rest.resize(count, Progress::default());
        }
        if self.place.len() < self.hops.len() {
            self.place.resize(self.hops.len(), 0);
        }
        for hop in self.hops_of(number) {
            let on = &mut self.links[self.hops[hop].link as usize].on;
            self.place[hop] = on.len() as u32;
            on.push(hop as u32);
        }
        let Definition { weight, hops, .. } = self.definitions[number as usize];
        let flow = &mut self.flows[number as usize];
        (flow.rate, flow.weight, flow.bound) = (0.0, weight, Binding::New);
        self.rest[number as usize].left = left;
        self.load += hops as usize;
    }

    /// Removes a flow from its links.
    pub(super) fn remove(&mut self, flow: usize) {
        self.sharing -= 1;
        self.is_sharing[flow] = false;
        if self.windows.is_some() {
            return;
        }
        self.attach_added();
        self.unbind(flow as u32);
        let rate = self.flows[flow].rate;
        for hop in self.hops_of(flow as u32) {
            let Hop { link: number, times } = self.hops[hop];
            let link = &mut self.links[number as usize];
            let at = self.place[hop];
            link.on.swap_remove(at as usize);
            if let Some(moved) = link.on.get(at as usize) {
                self.place[*moved as usize] = at;
            }
            link.used = if link.on.is_empty() { 0.0 } else { link.used - f64::from(times) * rate };
            if link.bound > 0 && link.dirty != self.solve + 1 {
                link.dirty = self.solve + 1;
                self.dirty.push(number);
            }
        }
        self.flows[flow].bound = Binding::Idle;
        self.removed += 1;
        self.load -= self.definitions[flow].hops as usize;
    }

    /// Returns whether rates must be computed again, because flows have started or ended, or
    /// because a window of time has ended.
    pub(super) fn is_disturbed(&self, now: f64) -> bool {
        self.window_end() <= now || !self.added.is_empty() || !self.dirty.is_empty()
    }

    fn unbind(&mut self, flow: u32) {
        let flow = &self.flows[flow as usize];
        let Binding::By(link) = flow.bound else { return };
        let link = &mut self.links[link as usize];
        link.bound -= 1;
        link.binds = if link.bound == 0 {
            0.0
        } else {
            link.binds - flow.weight * f64::from(flow.bound_times)
        };
    }

    fn bind(&mut self, flow: u32, number: u32, times: f32) {
        let flow = &mut self.flows[flow as usize];
        (flow.bound, flow.bound_times) = (Binding::By(number), times);
        let link = &mut self.links[number as usize];
        link.bound += 1;
        link.binds += flow.weight * f64::from(times);
    }
}
