//! Approximate rates for very many flows that share links.
//!
//! Exact rates change whenever a flow ends, so they must then be computed again. This module
//! computes the rates once for a *window* of time, in which a small fraction of the flows end. One
//! computation of all rates is called a solution. All windows together cost about as much as
//! `1 / fraction` solutions with all flows, and this number does not depend on the number of flows.
//!
//! If a flow ends in a window, its rate is limited to its remaining bytes divided by the length of
//! the window, which is its mean rate in the window. The solution gives the capacity that remains
//! to other flows. Therefore no capacity is left idle and no byte is lost, and the error is of
//! second order in the length of the window. The time at which the flow ends is computed from the
//! rate that it would have without the limit.
//!
//! The length of a window is computed from the rates in the previous window. When the rates in the
//! new window are known, the flows that would end in it are counted. If more than twice the planned
//! number of flows would end, the previous rates were a poor estimate, for example because many
//! flows have equal sizes. In that case, rates without limits are computed, and the length is
//! computed again from these rates.
//!
//! A flow whose latency ends in a window begins to share links when the window ends. If many flows
//! would have to wait for this, the window is made shorter.

use super::flows::Flows;
use super::link::Link;
use super::{Hop, Shares, WITHOUT_SLOT};
use crate::cost::model::fluid::timers::Timers;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The smallest number of flows that should end in a window. If fewer flows would end, windows save
/// no work, so rates are computed exactly again.
const LEAST_ENDS: f64 = 2.0;
/// The maximum number of new flows that wait for the end of a window before they share links. It is
/// given as a fraction of the number of flows that should end in the window. If more flows would
/// have to wait, the window is made shorter.
const STARTS: f64 = 1.0 / 8.0;
/// The approximate number of flows in the sample from which the length of a window is estimated.
const MEASURED: usize = 1 << 12;
/// If less than this fraction of the listed flows has bytes left, all flows that have ended are
/// removed from the lists of flows.
const LEAST_LISTED: f64 = 0.8;
/// The smallest length of a window in µs. The model treats events within this time as simultaneous.
const SHORTEST_US: f64 = 1e-3;
/// Bytes and levels whose relative difference is smaller than this are equal.
const TOLERANCE: f64 = 1e-9;

/// The capacity of a link, and totals over the flows on this link.
#[derive(Debug, Clone, Copy)]
struct Load {
    capacity: f64,
    /// Sum of the weights of the flows on the link.
    weights: f64,
    flows: u32,
    /// Sum of the weights of those flows on the link whose rates were limited in the last solution.
    limited: f64,
}

/// The state of a link while rates are computed.
#[derive(Debug, Clone, Copy)]
struct Filling {
    /// Capacity that has not been given to a flow.
    left: f64,
    /// Sum of the weights of the flows on the link that have no rate yet.
    open: f64,
    /// Number of flows on the link that have no rate yet.
    opened: u32,
    /// Level at which the link becomes full; infinity if it does not become full. A level is a rate
    /// divided by a weight.
    level: f64,
}

/// The timers that windows read and set.
pub(in super::super) struct WindowTimers<'a> {
    /// For each message, the time at which its latency ends, or at which it ends as a flow of the
    /// current window.
    pub ends: &'a mut Timers,
    /// The times at which ranks may start messages.
    pub of_ranks: [&'a Timers; 2],
    /// The latency of one link, in µs. It is used as an estimate of the shortest time between the
    /// start of a message and the moment at which the message begins to share links.
    pub latency: f64,
}

impl WindowTimers<'_> {
    /// Returns the times before `limit` at which flows may start to share links.
    fn starts(&self, limit: f64) -> Vec<f64> {
        let mut starts = Vec::new();
        self.ends.each_before(limit, &mut |us| starts.push(us));
        for timers in self.of_ranks {
            let mut add = |us| starts.push(us + self.latency);
            timers.each_before(limit - self.latency, &mut add);
        }
        starts
    }
}

/// The flows of a network, and their rates in the current window.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    /// The fraction of the flows that should end in a window.
    fraction: f64,
    /// The end of the current window, in µs.
    end: f64,
    flows: Flows,
    /// Number of flows in `flows` that have bytes left.
    sharing: usize,
    loads: Vec<Load>,
    fillings: Vec<Filling>,
    /// For each link, the position in `on` of the first flow on this link.
    first_on: Vec<u32>,
    /// The indices of the flows on each link, one link after another.
    on: Vec<u32>,
    /// One bit per flow: whether it has ended.
    ended: Vec<u64>,
    /// One bit per flow: whether it has a rate in the current solution, or has ended.
    has_rate: Vec<u64>,
    /// Number of flows that have been appended to `flows` since the last window began.
    new: usize,
    /// The flows whose rates are limited, in ascending order of their limits. Each entry is the
    /// largest level that a flow may have, and the index of this flow.
    limits: Vec<(f64, u32)>,
    /// The links that are not full yet. Each entry is the bits of the level at which a link becomes
    /// full, and this link.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// Number of windows so far.
    count: usize,
}

impl Windows {
    fn new(now: f64, capacities: impl Iterator<Item = f64>) -> Self {
        let load = |capacity| Load { capacity, weights: 0.0, flows: 0, limited: 0.0 };
        let loads: Vec<Load> = capacities.map(load).collect();
        let empty = Filling { left: 0.0, open: 0.0, opened: 0, level: f64::INFINITY };
        Self {
            fraction: 0.0,
            end: now,
            flows: Flows::default(),
            sharing: 0,
            fillings: vec![empty; loads.len()],
            loads,
            first_on: Vec::new(),
            on: Vec::new(),
            ended: Vec::new(),
            has_rate: Vec::new(),
            new: 0,
            limits: Vec::new(),
            queue: BinaryHeap::new(),
            count: 0,
        }
    }

    /// Adds a flow. It gets a rate in the next window.
    pub(super) fn add(&mut self, number: u32, left: f64, weight: f64, route: &[Hop]) {
        self.flows.push(number, left, weight, route);
        self.new += 1;
    }

    /// Removes the flows that have ended, and creates the lists of the flows on each link again.
    fn list(&mut self) {
        self.flows.remove_ended();
        self.loads.iter_mut().for_each(|load| (load.weights, load.flows) = (0.0, 0));
        for flow in 0..self.flows.len() {
            for link in self.flows.route(flow) {
                let load = &mut self.loads[link];
                load.weights += self.flows.weight(flow);
                load.flows += 1;
            }
        }
        self.sharing = self.flows.len();
        self.ended.clear();
        self.ended.resize(self.sharing.div_ceil(64), 0);
        // Sort the flows by link with a counting sort. During this sort, element `link + 1` of
        // `first_on` is the next free position of the link in `on`.
        self.first_on.clear();
        self.first_on.extend([0, 0]);
        let mut sum = 0;
        self.first_on.extend(self.loads.iter().map(|load| {
            sum += load.flows;
            sum
        }));
        self.on.clear();
        self.on.resize(sum as usize, 0);
        for flow in 0..self.flows.len() {
            for link in self.flows.route(flow) {
                let next = &mut self.first_on[link + 1];
                self.on[*next as usize] = flow as u32;
                *next += 1;
            }
        }
    }

    /// Computes the max-min fair rates of all flows, so that no flow exceeds its limit
    /// ([`Self::limits`]). Links are filled in the order of their levels. Returns the number of
    /// links that were examined.
    fn solve(&mut self) -> u64 {
        self.has_rate.clone_from(&self.ended);
        let mut keys = std::mem::take(&mut self.queue).into_vec();
        keys.clear();
        for (link, (load, filling)) in
            (0..).zip(self.loads.iter_mut().zip(&mut self.fillings)).filter(|of| of.1.0.flows > 0)
        {
            let Load { capacity: left, weights: open, flows: opened, .. } = *load;
            *filling = Filling { left, open, opened, level: f64::INFINITY };
            load.limited = 0.0;
            keys.push(Reverse(((left / open).to_bits(), link)));
        }
        self.queue = BinaryHeap::from(keys);
        let (mut next_limit, mut examined) = (0, 0);
        while let Some(&Reverse((bits, link))) = self.queue.peek() {
            let key = f64::from_bits(bits);
            // Case 1: a flow reaches its limit before any link becomes full.
            if let Some(&(level, index)) = self.limits.get(next_limit).filter(|of| of.0 <= key) {
                next_limit += 1;
                if self.open(index) {
                    self.give(index as usize, level);
                    let weight = self.flows.weight(index as usize);
                    for link in self.flows.route(index as usize) {
                        self.loads[link].limited += weight;
                    }
                }
                continue;
            }
            self.queue.pop();
            examined += 1;
            // Case 2: since the level of this link was computed, other links have given rates to
            // some of its flows. If all of its flows now have rates, the link needs no further
            // work. If it becomes full only at a higher level, it is queued again at that level.
            let filling = &mut self.fillings[link as usize];
            if filling.opened == 0 {
                continue;
            }
            let level = (filling.left / filling.open).max(0.0);
            if level > key * (1.0 + TOLERANCE) {
                self.queue.push(Reverse((level.to_bits(), link)));
                continue;
            }
            // Case 3: the link is full.
            filling.level = level;
            let on = self.first_on[link as usize]..self.first_on[link as usize + 1];
            for at in on {
                let index = self.on[at as usize];
                if self.open(index) {
                    self.give(index as usize, level);
                }
            }
        }
        examined
    }

    /// Returns whether a flow has no rate yet. Then marks the flow as a flow with a rate.
    fn open(&mut self, index: u32) -> bool {
        let (word, bit) = (&mut self.has_rate[index as usize / 64], 1 << (index % 64));
        let is_open = *word & bit == 0;
        *word |= bit;
        is_open
    }

    /// Sets the rate of a flow, and subtracts it from the capacity of its links.
    fn give(&mut self, index: usize, level: f64) {
        self.flows.levels[index] = level;
        let weight = self.flows.weight(index);
        let rate = weight * level;
        for link in self.flows.route(index) {
            let filling = &mut self.fillings[link];
            filling.left -= rate;
            filling.open -= weight;
            filling.opened -= 1;
        }
    }

    /// Returns the time after which the fraction [`Self::fraction`] of the flows has ended, if all
    /// flows keep their present rates. Also returns the number of flows that have then ended. Both
    /// values are estimated from a sample.
    fn length(&self) -> (f64, usize) {
        let step = self.flows.len() / MEASURED + 1;
        let Flows { left, levels, .. } = &self.flows;
        let sample = (self.count % step..self.flows.len()).step_by(step);
        let mut times: Vec<f64> = sample
            .filter(|flow| left[*flow] > 0.0 && levels[*flow] > 0.0)
            .map(|flow| left[flow] / self.flows.rate(flow))
            .collect();
        let ends = ((self.fraction * times.len() as f64) as usize).max(1);
        if times.is_empty() {
            return (f64::INFINITY, step);
        }
        let (_, us, _) = times.select_nth_unstable_by(ends - 1, f64::total_cmp);
        (*us, ends * step)
    }

    /// Limits the rates of flows that may end in a window of `us` µs. The limit of a flow is its
    /// mean rate in this window: with this rate, it ends exactly at the end of the window.
    fn limit(&mut self, us: f64) {
        self.limits.clear();
        let flows = &self.flows;
        for flow in (0..flows.len()).filter(|flow| !flows.has_ended(*flow)) {
            let (left, rate) = (flows.left[flow], flows.rate(flow));
            // A flow without a rate is new. It may be short, so it may end in this window.
            if rate == 0.0 || left < 2.0 * us * rate {
                self.limits.push((left / (us * flows.weight(flow)), flow as u32));
            }
        }
        self.limits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// Begins a window at the time `now`: computes its rates and its end, and sets the timer of
    /// each flow that ends in the window. Returns the number of links that were examined.
    fn next(&mut self, now: f64, timers: &mut WindowTimers<'_>) -> u64 {
        if self.new > 0 || (self.sharing as f64) < LEAST_LISTED * self.flows.len() as f64 {
            self.list();
        }
        self.count += 1;
        let mut examined = 0;
        // 1. If too many flows are new, compute rates without limits, because the length of the
        //    window cannot be estimated from flows without a rate.
        let new = std::mem::take(&mut self.new);
        let mut is_measured = new as f64 > self.fraction * self.sharing as f64;
        self.limits.clear();
        if is_measured {
            examined += self.solve();
        }
        // 2. Find the length of the window, and the rates in it.
        let us = loop {
            let (longest, planned) = self.length();
            let us = self.until_starts(now, longest, timers).max(SHORTEST_US);
            self.limit(us);
            examined += self.solve();
            let flows = &self.flows;
            let has_sent = |flow: &usize| {
                let left = flows.left[*flow];
                left > 0.0 && left <= flows.rate(*flow) * us * (1.0 + TOLERANCE)
            };
            let found = (0..flows.len()).filter(has_sent).count();
            if is_measured || found <= 2 * planned + 2 {
                break us;
            }
            self.limits.clear();
            examined += self.solve();
            is_measured = true;
        };
        // 3. Advance all flows to the end of the window.
        self.end = now + us;
        for index in 0..self.flows.len() {
            let before = self.flows.left[index];
            if before == 0.0 {
                continue;
            }
            let left = before - self.flows.rate(index) * us;
            if left > TOLERANCE * before {
                self.flows.left[index] = left;
                continue;
            }
            self.flows.left[index] = 0.0;
            self.sharing -= 1;
            self.ended[index / 64] |= 1 << (index % 64);
            let weight = self.flows.weight(index);
            let rate = weight * self.unlimited_level(index);
            timers.ends.set(self.flows.number(index), now + (before / rate).min(us));
            for link in self.flows.route(index) {
                let load = &mut self.loads[link];
                load.flows -= 1;
                load.weights = if load.flows == 0 { 0.0 } else { load.weights - weight };
            }
        }
        examined
    }

    /// Returns the length of a window. It is less than `us` if too many flows would start to share
    /// links in that time.
    fn until_starts(&self, now: f64, us: f64, timers: &WindowTimers<'_>) -> f64 {
        let mut starts = timers.starts(now + us);
        let enough = (STARTS * self.fraction * self.sharing as f64) as usize;
        if starts.len() <= enough {
            return us;
        }
        let (_, start, _) = starts.select_nth_unstable_by(enough, f64::total_cmp);
        *start - now
    }

    /// Returns the level that a flow would have without its limit. On a link that is not full, the
    /// capacity that is left is divided among the limited flows.
    fn unlimited_level(&self, index: usize) -> f64 {
        let (weight, level) = (self.flows.weight(index), self.flows.levels[index]);
        let on_link = |link: usize| {
            let (filling, load) = (self.fillings[link], self.loads[link]);
            if filling.level < f64::INFINITY {
                return filling.level;
            }
            level + filling.left.max(0.0) / load.limited.max(weight)
        };
        let levels = self.flows.route(index).map(on_link);
        levels.fold(f64::INFINITY, f64::min).max(level)
    }
}

impl Shares {
    /// Returns the time at which the current window ends; infinity if windows are not in use.
    pub(in super::super) fn window_end(&self) -> f64 {
        self.windows.as_ref().map_or(f64::INFINITY, |windows| windows.end)
    }

    pub(in super::super) fn has_windows(&self) -> bool {
        self.windows.is_some()
    }

    /// Returns whether the caller should begin to use windows now. `fraction` is the fraction of
    /// the flows that should end in a window. It is 0 if windows must not be used.
    pub(in super::super) fn begins_windows(&self, fraction: f64) -> bool {
        self.windows.is_none() && fraction * self.sharing as f64 >= 2.0 * LEAST_ENDS
    }

    /// Begins to use windows. Removes all flows from their links, so that the caller has to attach
    /// these flows again ([`Shares::take_added`]). Returns the flows that were attached, each with
    /// the bytes that it has left. The caller clears the timers of these flows, because the windows
    /// now determine when the flows end.
    pub(in super::super) fn begin_windows(&mut self, now: f64) -> Vec<(u32, f64)> {
        let flows = || (0..self.slots.len()).filter(|flow| self.is_sharing(*flow));
        let left = flows().filter_map(|flow| Some((flow as u32, self.left(flow, now)?))).collect();
        self.added = flows().map(|flow| flow as u32).collect();
        let capacities = self.links.iter().map(|link| link.capacity);
        self.windows = Some(Box::new(Windows::new(now, capacities)));
        for link in &mut self.links {
            *link = Link::new(link.capacity);
        }
        self.slots.iter_mut().filter(|slot| **slot < WITHOUT_SLOT).for_each(|s| *s = WITHOUT_SLOT);
        (self.flows, self.rest, self.unused_slots) = Default::default();
        (self.hops, self.place) = Default::default();
        (self.new, self.dirty) = Default::default();
        (self.removed, self.load) = (0, 0);
        left
    }

    /// Stops using windows if they are in use and fewer than [`LEAST_ENDS`] flows would end in the
    /// next window. Returns the flows that have bytes left, each with the number of these bytes.
    /// The caller attaches these flows to their links again, so that exact rates are computed.
    pub(in super::super) fn end_windows(&mut self, fraction: f64) -> Vec<(u32, f64)> {
        if fraction * self.sharing as f64 >= LEAST_ENDS {
            return Vec::new();
        }
        self.windows.take().map(|windows| windows.flows.remaining()).unwrap_or_default()
    }

    /// Begins the next window, in which this fraction of the flows should end. Subtracts the number
    /// of examined links from `most`. Returns `false` if windows are not in use.
    pub(in super::super) fn next_window(
        &mut self,
        fraction: f64,
        now: f64,
        most: &mut u64,
        timers: &mut WindowTimers<'_>,
    ) -> bool {
        let Some(windows) = &mut self.windows else { return false };
        windows.fraction = fraction;
        *most = most.saturating_sub(windows.next(now, timers));
        true
    }
}
