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
use windows::Windows;

mod flows;
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

/// The entry in [`Shares::slots`] of a flow that does not use links.
const IDLE: u32 = u32::MAX;
/// The entry in [`Shares::slots`] of a flow that uses links but has no slot, that is, no place in
/// [`Shares::flows`]. Either the flow is in the list [`Shares::added`] and will be attached to its
/// links later, or there are very many flows, and [`Shares::windows`] stores all of them.
const WITHOUT_SLOT: u32 = u32::MAX - 1;

/// The state of a slot, which has room for a flow that is attached to its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// The slot is unused.
    Idle,
    /// The flow was attached to its links after the last solve.
    New,
    /// The flow is open: it has no rate now, and gets one in the current solve.
    Open,
    /// This link binds the flow.
    By(u32),
}

/// The properties of a flow that a solve uses often.
#[derive(Debug, Clone, Copy)]
struct Flow {
    rate: f64,
    weight: f64,
    level: f64,
    bound: Binding,
    /// The number of times that the flow's route crosses the link that binds the flow.
    bound_times: f32,
    hops: u32,
}

/// The properties of a flow that a solve uses seldom.
#[derive(Debug, Clone, Copy)]
struct Progress {
    number: u32,
    /// The bytes that had not been transmitted at the time `since`.
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
    /// For each flow, its slot, [`IDLE`] or [`WITHOUT_SLOT`].
    slots: Vec<u32>,
    /// The flow in each slot. Flows that are attached to their links have slots, unless windows are
    /// in use. The lists `new`, `fresh` and `changed` identify a flow by its slot.
    flows: Vec<Flow>,
    rest: Vec<Progress>,
    unused_slots: Vec<u32>,
    /// The binary logarithm of the number of hops for which each slot has space. The first hop of
    /// slot s is `hops[s << shift]`.
    shift: u32,
    hops: Vec<Hop>,
    /// For each hop, its position in the list [`Link::on`] of its link.
    place: Vec<u32>,
    levels: LevelQueue,
    /// The flows that use links but have not been attached to them. They are attached as late as
    /// possible, because flows that begin with windows need less memory than attached flows.
    added: Vec<u32>,
    /// The slots of flows that have been attached since the last solve.
    new: Vec<u32>,
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
    /// The links of opened flows that [`Shares::queue_opened`] still has to examine.
    pending: Vec<u32>,
    /// The opened flows that [`Shares::queue_opened`] still has to examine.
    fresh: Vec<u32>,
    /// The hops of the flows that get a share of the link that is being filled.
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
            slots: Vec::new(),
            flows: Vec::new(),
            rest: Vec::new(),
            unused_slots: Vec::new(),
            shift: 0,
            hops: Vec::new(),
            place: Vec::new(),
            levels: LevelQueue::new(most / least_weight),
            added: Vec::new(),
            new: Vec::new(),
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

    pub(super) fn capacity(&self, link: u32) -> f64 {
        self.links[link as usize].capacity
    }

    /// Doubles the number of hops for which each slot has space.
    fn widen(&mut self) {
        let (old, flows) = (self.shift, self.flows.len());
        self.shift += 1;
        let (mut hops, mut place) =
            (vec![Hop::default(); flows << self.shift], vec![0; flows << self.shift]);
        for flow in 0..flows {
            let (from, to, count) = (flow << old, flow << self.shift, 1 << old);
            hops[to..to + count].copy_from_slice(&self.hops[from..from + count]);
            place[to..to + count].copy_from_slice(&self.place[from..from + count]);
        }
        (self.hops, self.place) = (hops, place);
        let moved = |hop: u32| (hop >> old << self.shift) | (hop & ((1 << old) - 1));
        self.links.iter_mut().flat_map(|link| &mut link.on).for_each(|hop| *hop = moved(*hop));
    }

    /// Returns the positions in `hops` of the hops of the flow in a slot.
    fn hops_of(&self, slot: u32) -> std::ops::Range<usize> {
        let first = (slot as usize) << self.shift;
        first..first + self.flows[slot as usize].hops as usize
    }

    /// Returns the slot of a flow that is attached to its links.
    fn slot(&self, flow: usize) -> Option<u32> {
        self.slots.get(flow).copied().filter(|slot| *slot < WITHOUT_SLOT)
    }

    /// Returns the bytes that a flow has not transmitted at the time `now`; `None` if it has not
    /// been attached to its links. Windows must not be in use.
    pub(super) fn left(&self, flow: usize, now: f64) -> Option<f64> {
        let slot = self.slot(flow)? as usize;
        let Progress { left, since, .. } = self.rest[slot];
        Some(left - self.flows[slot].rate * (now - since))
    }

    /// Returns whether the flow uses links.
    pub(super) fn is_sharing(&self, flow: usize) -> bool {
        self.slots.get(flow).is_some_and(|slot| *slot != IDLE)
    }

    /// Records that a flow uses links from now on. The caller attaches the flow to its links before
    /// the next solve.
    pub(super) fn add(&mut self, flow: usize) {
        if self.slots.len() <= flow {
            self.slots.resize(flow + 1, IDLE);
        }
        self.slots[flow] = WITHOUT_SLOT;
        self.sharing += 1;
        self.added.push(flow as u32);
    }

    /// Returns the flows that the caller has to attach to their links, and clears their list.
    pub(super) fn take_added(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.added)
    }

    /// Attaches a flow, which has these bytes left, to the links of its route. The next solve gives
    /// the flow a rate.
    pub(super) fn attach(&mut self, number: u32, left: f64, weight: f64, route: &[Hop]) {
        if let Some(windows) = &mut self.windows {
            return windows.add(number, left, weight, route);
        }
        while route.len() > 1 << self.shift {
            self.widen();
        }
        let (bound, hops) = (Binding::New, route.len() as u32);
        let flow = Flow { rate: 0.0, weight, level: 0.0, bound, bound_times: 1.0, hops };
        let rest = Progress { number, left, since: 0.0, before: 0.0, solve: 0 };
        let slot = self.unused_slots.pop().unwrap_or(self.flows.len() as u32);
        if slot as usize == self.flows.len() {
            self.flows.push(flow);
            self.rest.push(rest);
            self.hops.resize(self.flows.len() << self.shift, Hop::default());
            self.place.resize(self.hops.len(), 0);
        } else {
            (self.flows[slot as usize], self.rest[slot as usize]) = (flow, rest);
        }
        for (at, hop) in self.hops_of(slot).zip(route) {
            let on = &mut self.links[hop.link as usize].on;
            (self.hops[at], self.place[at]) = (*hop, on.len() as u32);
            on.push(at as u32);
        }
        self.slots[number as usize] = slot;
        self.new.push(slot);
        self.load += route.len();
    }

    /// Removes a flow from its links, to which it must be attached.
    pub(super) fn remove(&mut self, flow: usize) {
        self.sharing -= 1;
        let slot = std::mem::replace(&mut self.slots[flow], IDLE);
        if self.windows.is_some() {
            return;
        }
        self.unbind(slot);
        let rate = self.flows[slot as usize].rate;
        for hop in self.hops_of(slot) {
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
        let flow = &mut self.flows[slot as usize];
        flow.bound = Binding::Idle;
        self.load -= flow.hops as usize;
        self.unused_slots.push(slot);
        self.removed += 1;
    }

    /// Returns whether rates must be computed again, because flows have started or ended, or
    /// because a window of time has ended.
    pub(super) fn is_disturbed(&self, now: f64) -> bool {
        let has_changed = !self.added.is_empty() || !self.new.is_empty() || !self.dirty.is_empty();
        self.window_end() <= now || self.windows.is_none() && has_changed
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
