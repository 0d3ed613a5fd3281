//! Weighted max-min fair shares of links, in whole numbers.
//!
//! A flow is a message in transmission, or background traffic. Its *level* is its rate divided by
//! its weight. A link is *full* at the level at which its flows use up its capacity, if flows with
//! lower levels keep their rates. The level of a flow is the lowest level of the full links of its
//! route. A *solve* computes the rates of all flows.
//!
//! The rates depend only on the set of flows, not on the order of their events or on their numbers:
//!
//! - Weights and rates are whole numbers, so their sums do not depend on an order.
//! - Only two values are rounded, both down: the level of a link (a quotient of two sums) and the
//!   rate of a flow (a weight times a level). So a flow never gets more than its share, and the
//!   levels of other links never fall when a link is filled.
//! - All links with the lowest level are filled together.
//!
//! Two solvers give equal results. [`Shares::solve_changes`] visits only links on which something
//! changes. [`Fill`] computes all rates from the beginning, which is faster if many flows have
//! started or ended. It also computes the approximate rates of very many flows ([`windows`]).

use super::fold::Fold;
use super::{Fairness, Fluid};
use crate::cost::model::ticks::{LAST, PER_US, Ticks};
use crate::network::topology::Network;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use windows::Windows;

mod windows;

/// The fastest link transmits from `2^(CAPACITY_BITS - 1)` to `2^CAPACITY_BITS` units of work per
/// tick. With this choice, levels fit into 64 bits, and so does the sum of the weights of 2^27
/// messages.
const CAPACITY_BITS: i32 = 48;
const WEIGHT_BITS: i32 = 32;
/// No weight is less than `2^(WEIGHT_BITS - MOST_RATIO_BITS)`, however long the route is.
const MOST_RATIO_BITS: i32 = 20;

/// The units of work, bandwidth and weight. A link of bandwidth 1 transmits a power of two of units
/// of *work* per tick. A level has [`Units::level_bits`] binary places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    byte: f64,
    link: f64,
    injection: f64,
    fairness: Fairness,
    weight: f64,
    least_weight_bits: i32,
}

impl Units {
    pub(super) fn new(machine: &Fluid, topology: &Network, fits: bool) -> Self {
        let (mut widest, mut longest) = (0.0_f64, 0.0_f64);
        let (mut shortest, mut has_zero) = (f64::INFINITY, false);
        let links = 0..if fits { topology.link_slots() } else { 0 };
        let links = links.filter(|link| topology.link_ends(*link).is_some());
        for link in links {
            let bandwidth = topology.bandwidth(link);
            widest = widest.max(bandwidth);
            let rtt = machine.round_trip_us(topology.latency(link), 1.0 / bandwidth);
            longest = longest.max(rtt);
            has_zero |= rtt == 0.0;
            shortest = if rtt > 0.0 { shortest.min(rtt) } else { shortest };
        }
        // The time of a byte on a link of bandwidth 1. If links take no time, that on an injection
        // link.
        let injection_us = machine.injection_byte_us;
        let byte_us = if machine.byte_us > 0.0 { machine.link_byte_us() } else { injection_us };
        let injection = if injection_us > 0.0 { byte_us / injection_us } else { 0.0 };
        let exponent = widest.max(injection).log2().ceil().max(-300.0) as i32;
        let link = 2_f64.powi(CAPACITY_BITS - exponent);
        let is_equal = machine.fairness == Fairness::Equal || shortest == f64::INFINITY;
        let most = if has_zero { (1.0 / shortest).max(1.0) } else { 1.0 / shortest };
        // Requested routes can be longer than the diameter.
        let longest = longest * 4.0 * topology.diameter().max(1) as f64;
        let ratio = if is_equal { 1.0 } else { most * longest.max(1.0) };
        Self {
            byte: byte_us * PER_US * link,
            link,
            injection: injection * link,
            fairness: if is_equal { Fairness::Equal } else { Fairness::Rtt },
            weight: 2_f64.powi(WEIGHT_BITS) / most,
            least_weight_bits: WEIGHT_BITS - (ratio.log2().ceil() as i32).clamp(0, MOST_RATIO_BITS),
        }
    }

    fn level_bits(&self) -> u32 {
        (63 - CAPACITY_BITS + self.least_weight_bits) as u32
    }

    fn least_weight_bits(&self) -> u32 {
        self.least_weight_bits as u32
    }

    pub(super) fn work(&self, bytes: f64) -> f64 {
        let most = LAST as f64 * 2_f64.powi(CAPACITY_BITS + 1);
        (bytes * self.byte).round().clamp(1.0, most)
    }

    pub(super) fn weight(&self, round_trip_us: f64) -> u64 {
        let most = 2_f64.powi(WEIGHT_BITS);
        if self.fairness == Fairness::Equal {
            return most as u64;
        }
        let rtt = if round_trip_us > 0.0 { round_trip_us } else { 1.0 };
        (self.weight / rtt).round().clamp(2_f64.powi(self.least_weight_bits), most) as u64
    }

    pub(super) fn capacities(&self, topology: &Network, fold: &Fold) -> Vec<u64> {
        let capacity = |work: f64| (work.round() as u64).max(1);
        let bandwidth = |link| topology.link_ends(link).map_or(1.0, |_| topology.bandwidth(link));
        let links = (0..fold.slots()).map(|orbit| bandwidth(fold.first_link(orbit)) * self.link);
        let injection = (fold.slots()..fold.links()).map(|_| self.injection);
        links.chain(injection).map(capacity).collect()
    }
}

/// Returns the time that `work` takes at `rate`, to the nearest tick. If the rate is 0, returns a
/// time later than [`LAST`].
pub(super) fn duration(work: i128, rate: u64) -> Ticks {
    let rate = i128::from(rate);
    let nearest = (2 * work.max(0) + rate).checked_div(2 * rate);
    let duration = nearest.and_then(|ticks| Ticks::try_from(ticks).ok()).unwrap_or(LAST + 1);
    duration.min(LAST + 1)
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hop {
    pub link: u32,
    pub times: u32,
}

const IDLE: u32 = u32::MAX;
/// Marks a flow that uses links but has no slot: it is in [`Shares::added`] or [`Shares::windows`].
const WITHOUT_SLOT: u32 = u32::MAX - 1;
/// The level of a flow without a rate, and of a link that is not full.
const OPEN: u64 = u64::MAX;
/// If there are more than [`FEW`] flows, and more than one in [`MANY`] has started or ended, a solve
/// starts from the beginning.
const MANY: usize = 4;
const FEW: usize = 64;
/// A solve that examines more links than `MOST_VISITS` times all hops starts from the beginning.
const MOST_VISITS: usize = 4;

#[derive(Debug, Clone)]
struct Link {
    capacity: u64,
    weights: u64,
    rated: u64,
    unrated: u64,
    level: u64,
    key: u64,
    is_dirty: bool,
    is_pending: bool,
    on: Vec<u32>,
}

impl Link {
    fn new(capacity: u64) -> Self {
        Self {
            capacity,
            weights: 0,
            rated: 0,
            unrated: 0,
            level: OPEN,
            key: OPEN,
            is_dirty: false,
            is_pending: false,
            on: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Flow {
    level: u64,
    rate: u64,
    weight: u64,
    hops: u32,
}

#[derive(Debug, Clone, Copy)]
struct Remaining {
    left: i128,
    since: Ticks,
    before: u64,
    solve: u64,
    number: u32,
}

/// A link in the queue, and a level below which nothing changes on this link. They are stored as
/// one number, whose upper bits are the level, because a comparison of two numbers needs no branch.
/// The branches in a comparison of pairs are often mispredicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Queued(u128);

impl Queued {
    fn new(level: u64, link: u32) -> Self {
        Self(u128::from(level) << u32::BITS | u128::from(link))
    }

    fn level(self) -> u64 {
        (self.0 >> u32::BITS) as u64
    }

    fn link(self) -> u32 {
        self.0 as u32
    }
}

#[derive(Debug, Clone)]
pub(super) struct Shares {
    level_bits: u32,
    least_weight_bits: u32,
    links: Vec<Link>,
    slots: Vec<u32>,
    /// The flow in each slot. A flow has a slot while it is attached to its links.
    flows: Vec<Flow>,
    rest: Vec<Remaining>,
    unused_slots: Vec<u32>,
    /// The hops of slot s begin at `hops[s << shift]`.
    shift: u32,
    hops: Vec<Hop>,
    has_times: bool,
    /// For each hop, its position in [`Link::on`].
    place: Vec<u32>,
    /// The new flows that are not attached to their links yet. If windows begin first, the memory
    /// for attaching them is saved.
    added: Vec<u32>,
    new: Vec<u32>,
    dirty: Vec<u32>,
    removed: usize,
    sharing: usize,
    load: usize,
    visits: usize,
    queue: BinaryHeap<Reverse<Queued>>,
    pending: Vec<u32>,
    changed: Vec<u32>,
    solve: u64,
    fill: Fill,
    windows: Option<Box<Windows>>,
    /// Whether windows were too short to save work in the current steps.
    refuses_windows: bool,
}

impl Shares {
    pub(super) fn new(units: &Units, capacities: Vec<u64>) -> Self {
        Self {
            level_bits: units.level_bits(),
            least_weight_bits: units.least_weight_bits(),
            links: capacities.into_iter().map(Link::new).collect(),
            slots: Vec::new(),
            flows: Vec::new(),
            rest: Vec::new(),
            unused_slots: Vec::new(),
            shift: 0,
            hops: Vec::new(),
            has_times: false,
            place: Vec::new(),
            added: Vec::new(),
            new: Vec::new(),
            dirty: Vec::new(),
            removed: 0,
            sharing: 0,
            load: 0,
            visits: 0,
            queue: BinaryHeap::new(),
            pending: Vec::new(),
            changed: Vec::new(),
            solve: 0,
            fill: Fill::default(),
            windows: None,
            refuses_windows: false,
        }
    }

    pub(super) fn capacity(&self, link: u32) -> u64 {
        self.links[link as usize].capacity
    }

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

    fn hops_of(&self, slot: u32) -> std::ops::Range<usize> {
        let first = (slot as usize) << self.shift;
        first..first + self.flows[slot as usize].hops as usize
    }

    fn slot(&self, flow: usize) -> Option<u32> {
        self.slots.get(flow).copied().filter(|slot| *slot < WITHOUT_SLOT)
    }

    pub(super) fn left(&self, flow: usize, now: Ticks) -> Option<(i128, u64)> {
        let slot = self.slot(flow)? as usize;
        let (Remaining { left, since, .. }, rate) = (self.rest[slot], self.flows[slot].rate);
        Some((left - i128::from(rate) * i128::from(now - since), rate))
    }

    pub(super) fn is_sharing(&self, flow: usize) -> bool {
        self.slots.get(flow).is_some_and(|slot| *slot != IDLE)
    }

    fn begin(&mut self, flow: usize, slot: u32) {
        if self.slots.len() <= flow {
            self.slots.resize(flow + 1, IDLE);
        }
        self.sharing += usize::from(std::mem::replace(&mut self.slots[flow], slot) == IDLE);
    }

    pub(super) fn add(&mut self, flow: usize) {
        self.begin(flow, WITHOUT_SLOT);
        self.added.push(flow as u32);
    }

    pub(super) fn take_added(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.added)
    }

    pub(super) fn attach(
        &mut self,
        number: u32,
        (left, now): (i128, Ticks),
        weight: u64,
        route: &[Hop],
    ) {
        if let Some(windows) = &mut self.windows {
            return windows.add(number, left as f64, now, weight, route);
        }
        while route.len() > 1 << self.shift {
            self.widen();
        }
        let flow = Flow { level: OPEN, rate: 0, weight, hops: route.len() as u32 };
        let rest = Remaining { left, since: now, before: 0, number, solve: self.solve };
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
            let link = &mut self.links[hop.link as usize];
            self.has_times |= hop.times > 1;
            link.weights += weight * u64::from(hop.times);
            link.unrated += weight * u64::from(hop.times);
            (self.hops[at], self.place[at]) = (*hop, link.on.len() as u32);
            link.on.push(at as u32);
        }
        self.begin(number as usize, slot);
        self.new.push(slot);
        self.load += route.len();
    }

    pub(super) fn remove(&mut self, flow: usize) {
        self.sharing -= 1;
        let slot = std::mem::replace(&mut self.slots[flow], IDLE);
        if self.windows.is_some() {
            return;
        }
        let Flow { level, rate, weight, hops } = self.flows[slot as usize];
        for hop in self.hops_of(slot) {
            let Hop { link: number, times } = self.hops[hop];
            let (link, times) = (&mut self.links[number as usize], u64::from(times));
            let at = self.place[hop];
            link.on.swap_remove(at as usize);
            if let Some(moved) = link.on.get(at as usize) {
                self.place[*moved as usize] = at;
            }
            link.weights -= weight * times;
            match level {
                OPEN => link.unrated -= weight * times,
                _ => link.rated -= rate * times,
            }
            // If a link is not full, it limits no flow, so the end of a flow changes no rate on it.
            if link.level < OPEN && !std::mem::replace(&mut link.is_dirty, true) {
                self.dirty.push(number);
            }
        }
        if level == OPEN {
            self.new.retain(|new| *new != slot);
        }
        self.flows[slot as usize].hops = 0;
        self.load -= hops as usize;
        self.unused_slots.push(slot);
        self.removed += 1;
    }

    pub(super) fn is_disturbed(&self, now: Ticks) -> bool {
        let has_changed = !self.new.is_empty() || !self.dirty.is_empty();
        !self.added.is_empty() || self.window_end() <= now || self.windows.is_none() && has_changed
    }

    /// Updates the rates of all flows. `most` is reduced by 1 for every examined link, and the
    /// solve stops when it is 0. `ends` is called with each flow whose rate changes, and the new
    /// end of this flow.
    pub(super) fn solve(&mut self, now: Ticks, most: &mut u64, mut ends: impl FnMut(usize, Ticks)) {
        self.solve += 1;
        self.changed.clear();
        self.visits = 0;
        let changes = self.new.len() + self.removed;
        if changes * MANY > self.sharing && self.sharing > FEW {
            self.solve_all(now, most);
        } else {
            self.solve_changes(now, most);
            if !self.queue.is_empty() {
                self.solve_all(now, most);
            }
        }
        self.removed = 0;
        for slot in &self.changed {
            let (rate, rest) = (self.flows[*slot as usize].rate, &self.rest[*slot as usize]);
            if rate != rest.before {
                ends(rest.number as usize, now + duration(rest.left, rate));
            }
        }
        #[cfg(test)]
        self.check(*most);
    }

    fn solve_all(&mut self, now: Ticks, most: &mut u64) {
        for Reverse(queued) in self.queue.drain() {
            self.links[queued.link() as usize].key = OPEN;
        }
        self.new.clear();
        for number in self.dirty.drain(..) {
            let link = &mut self.links[number as usize];
            (link.is_dirty, link.level) = (false, OPEN);
        }
        let mut links = Vec::new();
        for slot in 0..self.flows.len() as u32 {
            for hop in self.hops_of(slot) {
                let number = self.hops[hop].link;
                if !std::mem::replace(&mut self.links[number as usize].is_pending, true) {
                    links.push(number);
                }
            }
        }
        let (mut fill, mut levels) = (std::mem::take(&mut self.fill), Vec::new());
        let all = (links.iter().copied(), self.links.len());
        let unused = vec![0; self.flows.len().div_ceil(64)];
        let examined =
            fill.solve(self, all, &unused, &[], |slot, level| levels.push((slot, level)));
        *most = most.saturating_sub(examined);
        for (slot, level) in levels {
            self.change(slot, level, now);
        }
        for number in links {
            let (link, filling) = (&mut self.links[number as usize], fill.link(number));
            (link.rated, link.unrated) = (link.capacity - filling.left, 0);
            (link.level, link.is_pending) = (filling.level, false);
        }
        self.fill = fill;
    }

    /// Visits only links on which something changes, from the lowest level to the highest. Ends
    /// early if a computation from the beginning would be faster.
    fn solve_changes(&mut self, now: Ticks, most: &mut u64) {
        for slot in std::mem::take(&mut self.new) {
            for hop in self.hops_of(slot) {
                self.note(self.hops[hop].link);
            }
        }
        for number in std::mem::take(&mut self.dirty) {
            self.links[number as usize].is_dirty = false;
            self.queue(number, self.links[number as usize].level);
        }
        self.queue_pending(0);
        while self.visits <= MOST_VISITS * self.load
            && let Some(Reverse(queued)) = self.queue.pop()
        {
            let (level, number) = (queued.level(), queued.link());
            if self.links[number as usize].key != level {
                continue;
            }
            self.links[number as usize].key = OPEN;
            *most = most.saturating_sub(1);
            if *most == 0 {
                self.queue.clear();
                return;
            }
            self.visit(number, level, now);
        }
    }

    /// Decides whether a link is full at this level. All lower levels are final.
    fn visit(&mut self, number: u32, level: u64, now: Ticks) {
        let link = &self.links[number as usize];
        let old = link.level;
        if old == OPEN && link.unrated == 0 && link.rated + self.slack(link) < link.capacity {
            return;
        }
        // If no other link can become full before this link, continue at the level of this link.
        let next = self.next_full(number, level);
        let is_first = self.queue.peek().is_none_or(|Reverse(queued)| queued.level() >= next);
        let level = if next < old && is_first { next } else { level };
        if next == level {
            // Case 1: the link is full at this level. Its flows with higher levels get this level.
            self.links[number as usize].level = level;
            for i in 0..self.links[number as usize].on.len() {
                let slot = self.links[number as usize].on[i] >> self.shift;
                if self.flows[slot as usize].level > level {
                    self.change(slot, level, now);
                    self.queue_full(slot, level);
                }
            }
        } else if old > level {
            // Case 2: the link becomes full at a higher level, or was full there.
            self.queue(number, next.min(old));
        } else {
            // Case 3: the link is not full at its old level. Its flows of that level lose their
            // rates.
            self.links[number as usize].level = OPEN;
            if old < level {
                return self.queue(number, next);
            }
            for i in 0..self.links[number as usize].on.len() {
                let slot = self.links[number as usize].on[i] >> self.shift;
                if self.flows[slot as usize].level == old {
                    self.open(slot);
                }
            }
            self.note(number);
            self.queue_pending(level);
        }
    }

    /// Returns the lowest level from `level` on at which a link is full, or [`OPEN`].
    fn next_full(&mut self, number: u32, mut level: u64) -> u64 {
        let link = &self.links[number as usize];
        loop {
            self.visits += link.on.len();
            let (mut left, mut open, mut lowest) = (link.capacity, 0, OPEN);
            for hop in &link.on {
                let flow = &self.flows[(hop >> self.shift) as usize];
                let times =
                    if self.has_times { u64::from(self.hops[*hop as usize].times) } else { 1 };
                if flow.level < level {
                    left = left.saturating_sub(flow.rate * times);
                } else {
                    open += flow.weight * times;
                    lowest = lowest.min(flow.level);
                }
            }
            if open == 0 {
                return OPEN;
            }
            // If no flow has a level between `level` and `next`, the flows that keep their rates
            // are the same at both levels, so the link is full at `next`.
            let next = quotient(left, open, self.level_bits).max(level);
            if next <= lowest {
                return next;
            }
            level = next;
        }
    }

    /// Returns the capacity that rounding may leave unused on a full link: less than one unit per
    /// flow and level.
    fn slack(&self, link: &Link) -> u64 {
        2 * (link.weights >> self.least_weight_bits) + 2
    }

    fn open(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        let Flow { rate, weight, .. } = *flow;
        flow.level = OPEN;
        for hop in self.hops_of(slot) {
            let Hop { link: number, times } = self.hops[hop];
            let (link, times) = (&mut self.links[number as usize], u64::from(times));
            link.rated -= rate * times;
            link.unrated += weight * times;
            self.note(number);
        }
    }

    fn change(&mut self, slot: u32, level: u64, now: Ticks) {
        let flow = &mut self.flows[slot as usize];
        let rate = rate_of(flow.weight, level, self.level_bits);
        let (before, old) = (flow.rate, flow.level);
        (flow.rate, flow.level) = (rate, level);
        let weight = flow.weight;
        let rest = &mut self.rest[slot as usize];
        if rest.solve != self.solve {
            rest.left -= i128::from(before) * i128::from(now - rest.since);
            (rest.since, rest.before, rest.solve) = (now, before, self.solve);
            self.changed.push(slot);
        }
        for hop in self.hops_of(slot) {
            let Hop { link, times } = self.hops[hop];
            let (link, times) = (&mut self.links[link as usize], u64::from(times));
            match old {
                OPEN => link.unrated -= weight * times,
                _ => link.rated -= before * times,
            }
            link.rated += rate * times;
        }
    }

    fn queue_full(&mut self, slot: u32, level: u64) {
        for hop in self.hops_of(slot) {
            let number = self.hops[hop].link;
            let full = self.links[number as usize].level;
            if full > level && full < OPEN {
                self.queue(number, full);
            }
        }
    }

    fn note(&mut self, number: u32) {
        if !std::mem::replace(&mut self.links[number as usize].is_pending, true) {
            self.pending.push(number);
        }
    }

    fn queue_pending(&mut self, level: u64) {
        while let Some(number) = self.pending.pop() {
            let link = &mut self.links[number as usize];
            link.is_pending = false;
            let link = &self.links[number as usize];
            let old = link.level;
            if old == OPEN {
                // Flows keep their rates or get lower ones, so the link is not full below this
                // level.
                let left = link.capacity.saturating_sub(link.rated + self.slack(link));
                if link.unrated > 0 {
                    self.queue(number, quotient(left, link.unrated, self.level_bits).max(level));
                }
            } else {
                let next = self.next_full(number, level);
                self.queue(number, if old >= level { next.min(old) } else { next });
            }
        }
    }

    fn queue(&mut self, number: u32, key: u64) {
        let link = &mut self.links[number as usize];
        if key < link.key {
            link.key = key;
            self.queue.push(Reverse(Queued::new(key, number)));
        }
    }

    #[cfg(test)]
    fn check(&self, most: u64) {
        const MOST: usize = 500;
        if most == 0 || self.sharing > MOST {
            return;
        }
        if self.sharing > 64 && !self.solve.is_multiple_of(8) && !crate::test_tiers::is_full() {
            return;
        }
        let attached = || (0..).zip(&self.flows).filter(|(_, flow)| flow.hops > 0);
        let links = attached().flat_map(|(slot, _)| self.hops_of(slot));
        let mut links: Vec<u32> = links.map(|hop| self.hops[hop].link).collect();
        links.sort_unstable();
        links.dedup();
        let mut levels = vec![OPEN; self.flows.len()];
        let unused = vec![0; self.flows.len().div_ceil(64)];
        let all = (links.iter().copied(), self.links.len());
        let mut fill = Fill::default();
        fill.solve(self, all, &unused, &[], |slot, level| levels[slot as usize] = level);
        for (slot, flow) in attached() {
            let level = levels[slot as usize];
            let rate = rate_of(flow.weight, level, self.level_bits);
            assert_eq!(
                (flow.level, flow.rate),
                (level, rate),
                "a different rate from the beginning"
            );
        }
        for number in links {
            let (link, filling) = (&self.links[number as usize], fill.link(number));
            assert_eq!((link.rated, link.unrated), (link.capacity - filling.left, 0));
            assert_eq!(link.level, filling.level);
        }
    }
}

impl SharedLinks for Shares {
    fn load(&self, link: u32) -> (u64, u64) {
        let Link { capacity, weights, .. } = self.links[link as usize];
        (capacity, weights)
    }

    fn each_on(&self, link: u32, mut visit: impl FnMut(u32)) {
        self.links[link as usize].on.iter().for_each(|hop| visit(hop >> self.shift));
    }

    fn each_hop(&self, flow: u32, mut visit: impl FnMut(u32, u64)) {
        let hops = &self.hops[self.hops_of(flow)];
        hops.iter().for_each(|hop| visit(hop.link, hop.times.into()));
    }

    fn weight(&self, flow: u32) -> u64 {
        self.flows[flow as usize].weight
    }

    fn level_bits(&self) -> u32 {
        self.level_bits
    }
}

fn quotient(left: u64, open: u64, level_bits: u32) -> u64 {
    ((u128::from(left) << level_bits) / u128::from(open)).min(u128::from(OPEN - 1)) as u64
}

fn rate_of(weight: u64, level: u64, level_bits: u32) -> u64 {
    ((u128::from(weight) * u128::from(level)) >> level_bits) as u64
}

trait SharedLinks {
    fn load(&self, link: u32) -> (u64, u64);

    fn each_on(&self, link: u32, visit: impl FnMut(u32));

    fn each_hop(&self, flow: u32, visit: impl FnMut(u32, u64));

    fn weight(&self, flow: u32) -> u64;

    fn level_bits(&self) -> u32;
}

#[derive(Debug, Clone, Copy)]
struct Filling {
    left: u64,
    open: u64,
    level: u64,
}

/// A computation of all rates from the beginning, in the order of the levels of links. A flow may
/// have a limit, the largest level that it gets.
#[derive(Debug, Clone, Default)]
struct Fill {
    links: Vec<Filling>,
    has_rate: Vec<u64>,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    full: Vec<u32>,
}

impl Fill {
    fn link(&self, link: u32) -> Filling {
        self.links[link as usize]
    }

    /// Computes the rates of all flows. `links` has the links with flows, of `count` links in
    /// total. If the bit of a flow in `has_rate` is set, the flow gets no rate. `limits` has pairs
    /// of a level and a flow, in ascending order. `give` is called with each flow and its level.
    /// Returns the number of examined links.
    fn solve(
        &mut self,
        network: &impl SharedLinks,
        (links, count): (impl Iterator<Item = u32>, usize),
        has_rate: &[u64],
        limits: &[(u64, u32)],
        mut give: impl FnMut(u32, u64),
    ) -> u64 {
        let bits = network.level_bits();
        self.links.resize(count, Filling { left: 0, open: 0, level: OPEN });
        self.has_rate.clear();
        self.has_rate.extend_from_slice(has_rate);
        let mut keys = std::mem::take(&mut self.queue).into_vec();
        keys.clear();
        for link in links {
            let (left, open) = network.load(link);
            self.links[link as usize] = Filling { left, open, level: OPEN };
            keys.push(Reverse((quotient(left, open, bits), link)));
        }
        self.queue = BinaryHeap::from(keys);
        let (mut limits, mut examined) = (limits.iter().peekable(), 0);
        while let Some(&Reverse((level, _))) = self.queue.peek() {
            // Case 1: a flow reaches its limit before any link becomes full.
            if let Some(&(limit, flow)) = limits.next_if(|(limit, _)| *limit <= level) {
                self.give(network, flow, limit, &mut give);
                continue;
            }
            // Case 2: find all links that become full at this level. Rates that were given after a
            // link was queued can only raise the level of the link. It is then queued again.
            self.full.clear();
            while let Some(&Reverse((key, link))) = self.queue.peek() {
                if key > level {
                    break;
                }
                self.queue.pop();
                examined += 1;
                let Filling { left, open, .. } = self.links[link as usize];
                match (open > 0).then(|| quotient(left, open, bits)) {
                    None => {}
                    Some(next) if next > level => self.queue.push(Reverse((next, link))),
                    Some(_) => self.full.push(link),
                }
            }
            // Give this level to the flows of all of these links. Their order does not matter.
            let full = std::mem::take(&mut self.full);
            for link in &full {
                self.links[*link as usize].level = level;
                network.each_on(*link, |flow| self.give(network, flow, level, &mut give));
            }
            self.full = full;
        }
        examined
    }

    fn give(
        &mut self,
        network: &impl SharedLinks,
        flow: u32,
        level: u64,
        give: &mut impl FnMut(u32, u64),
    ) {
        let (word, bit) = (&mut self.has_rate[flow as usize / 64], 1 << (flow % 64));
        if *word & bit != 0 {
            return;
        }
        *word |= bit;
        let weight = network.weight(flow);
        let rate = rate_of(weight, level, network.level_bits());
        network.each_hop(flow, |link, times| {
            let filling = &mut self.links[link as usize];
            filling.left -= rate * times;
            filling.open -= weight * times;
        });
        give(flow, level);
    }
}
