//! Approximate rates for very many flows that share links.
//!
//! Exact rates change whenever a flow starts or ends. This module divides time into *windows*, in
//! each of which a small fraction of the flows end. It computes all rates (a *solution*) once for
//! each window. All windows together cost about as much as `1 / fraction` solutions with all flows,
//! however many flows there are.
//!
//! If a flow ends in a window, its rate is limited to its mean rate in the window: its remaining
//! work divided by the length of the window. Other flows get the remaining capacity. So no capacity
//! is left idle, no work is lost, and the error is of second order in the length. The end of the
//! flow is computed from the rate that the flow would have without the limit.
//!
//! The length of a window is computed from the rates in the previous window. If more than twice the
//! planned number of flows would end, for example because many flows have equal sizes, the length
//! is computed again from rates without limits.
//!
//! A flow that starts in a window waits for the next window, but only for a small fraction of the
//! time that the flow will take. If the window lasts longer, it is *cut*: it ends early, and the
//! flows that would have ended later in it continue. So the delay of any chain of messages, such as
//! one from a late rank, is at most this fraction. Flows that ended before the cut have used more
//! capacity than their mean rates. To keep this excess small, a window after a cut has at most
//! twice the length of the window that was cut.
//!
//! Work is in `f64`, but sums are of whole numbers, so the order of flows does not matter.

use super::{Fill, Hop, Link, OPEN, SharedLinks, Shares, WITHOUT_SLOT, quotient, rate_of};
use crate::cost::model::ticks::Timers;
use crate::cost::model::ticks::{NEVER, Ticks, nearest};

/// The fewest flows that should end in a window. With fewer, exact rates are as fast.
const LEAST_ENDS: f64 = 2.0;
/// A new flow waits for at most this fraction of its own time, times the fraction of the flows that
/// end in a window.
const WAIT: f64 = 1.0 / 20.0;
/// If less than this fraction of the listed flows has work left, the ended flows are removed from
/// the list.
const LEAST_LISTED: f64 = 0.8;
/// If fewer than `LEAST_CHANGES * OBSERVED` flows start or end in [`OBSERVED`] windows, windows
/// save no work.
const LEAST_CHANGES: usize = 4;
const OBSERVED: usize = 16;
const BUCKET_BITS: u32 = 16;
const NO_LINK: u32 = u32::MAX;

/// A list of flows. Each property has its own list, because few properties are read at a time.
#[derive(Debug, Clone, Default)]
struct Flows {
    numbers: Vec<u32>,
    left: Vec<f64>,
    /// The rate divided by the weight; 0 for a flow that has not been in a window yet.
    levels: Vec<u64>,
    weights: Vec<u64>,
    weight: u64,
    width: usize,
    links: Vec<u32>,
}

impl Flows {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn push(&mut self, number: u32, left: f64, weight: u64, route: &[Hop]) {
        if self.numbers.is_empty() {
            (self.weight, self.width) = (weight, 0);
            self.weights.clear();
        }
        if weight != self.weight && self.weights.is_empty() {
            self.weights.resize(self.len(), self.weight);
        }
        if weight != self.weight || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.numbers.push(number);
        self.left.push(left);
        self.levels.push(0);
        let links = || route.iter().flat_map(|hop| (0..hop.times).map(|_| hop.link));
        let length = links().count();
        if length > self.width {
            self.widen(length);
        }
        self.links.extend(links().chain((length..self.width).map(|_| NO_LINK)));
    }

    fn widen(&mut self, width: usize) {
        let mut links = Vec::with_capacity(self.len() * width);
        if self.width > 0 {
            for route in self.links.chunks_exact(self.width) {
                links.extend_from_slice(route);
                links.extend((self.width..width).map(|_| NO_LINK));
            }
        }
        (self.width, self.links) = (width, links);
    }

    fn weight(&self, flow: usize) -> u64 {
        if self.weights.is_empty() { self.weight } else { self.weights[flow] }
    }

    fn has_ended(&self, flow: usize) -> bool {
        self.left[flow] == 0.0
    }

    fn route(&self, flow: usize) -> impl Iterator<Item = usize> {
        let links = &self.links[flow * self.width..(flow + 1) * self.width];
        links.iter().take_while(|link| **link != NO_LINK).map(|link| *link as usize)
    }

    fn remove_ended(&mut self) {
        let mut kept = 0;
        for flow in 0..self.len() {
            if self.has_ended(flow) {
                continue;
            }
            self.numbers[kept] = self.numbers[flow];
            self.left[kept] = self.left[flow];
            self.levels[kept] = self.levels[flow];
            if !self.weights.is_empty() {
                self.weights[kept] = self.weights[flow];
            }
            self.links.copy_within(flow * self.width..(flow + 1) * self.width, kept * self.width);
            kept += 1;
        }
        self.numbers.truncate(kept);
        self.left.truncate(kept);
        self.levels.truncate(kept);
        self.weights.truncate(kept);
        self.links.truncate(kept * self.width);
    }
}

#[derive(Debug, Clone, Copy)]
struct Load {
    capacity: u64,
    weights: u64,
    limited: u64,
    flows: u32,
}

#[derive(Debug, Clone)]
struct Loads {
    level_bits: u32,
    flows: Flows,
    links: Vec<Load>,
    first_on: Vec<u32>,
    on: Vec<u32>,
}

impl SharedLinks for Loads {
    fn load(&self, link: u32) -> (u64, u64) {
        let Load { capacity, weights, .. } = self.links[link as usize];
        (capacity, weights)
    }

    fn each_on(&self, link: u32, visit: impl FnMut(u32)) {
        let [first, last] = [0, 1].map(|next| self.first_on[link as usize + next] as usize);
        self.on[first..last].iter().copied().for_each(visit);
    }

    fn each_hop(&self, flow: u32, mut visit: impl FnMut(u32, u64)) {
        self.flows.route(flow as usize).for_each(|link| visit(link as u32, 1));
    }

    fn weight(&self, flow: u32) -> u64 {
        self.flows.weight(flow as usize)
    }

    fn level_bits(&self) -> u32 {
        self.level_bits
    }
}

impl Loads {
    fn rate(&self, flow: usize) -> f64 {
        rate_of(self.flows.weight(flow), self.flows.levels[flow], self.level_bits) as f64
    }

    fn list(&mut self) {
        let Self { flows, links, first_on, on, .. } = self;
        flows.remove_ended();
        links.iter_mut().for_each(|load| (load.weights, load.flows) = (0, 0));
        for flow in 0..flows.len() {
            for link in flows.route(flow) {
                links[link].weights += flows.weight(flow);
                links[link].flows += 1;
            }
        }
        first_on.clear();
        first_on.extend([0, 0]);
        let mut sum = 0;
        first_on.extend(links.iter().map(|load| {
            sum += load.flows;
            sum
        }));
        on.clear();
        on.resize(sum as usize, 0);
        for flow in 0..flows.len() {
            for link in flows.route(flow) {
                let next = &mut first_on[link + 1];
                on[*next as usize] = flow as u32;
                *next += 1;
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Ending {
    flow: u32,
    before: f64,
    end: Ticks,
}

#[derive(Debug, Clone)]
pub(super) struct Windows {
    fraction: f64,
    start: Ticks,
    end: Ticks,
    /// The time at which the window is cut, because a new flow would otherwise wait for too long.
    cut: Ticks,
    longest: Ticks,
    endings: Vec<Ending>,
    loads: Loads,
    sharing: usize,
    ended: Vec<u64>,
    fill: Fill,
    new: usize,
    limits: Vec<(u64, u32)>,
    observed: usize,
    changes: usize,
}

impl Windows {
    fn new(now: Ticks, level_bits: u32, capacities: impl Iterator<Item = u64>) -> Self {
        let load = |capacity| Load { capacity, weights: 0, limited: 0, flows: 0 };
        let loads = Loads {
            level_bits,
            flows: Flows::default(),
            links: capacities.map(load).collect(),
            first_on: Vec::new(),
            on: Vec::new(),
        };
        Self {
            fraction: 0.0,
            start: now,
            end: now,
            cut: NEVER,
            longest: NEVER,
            endings: Vec::new(),
            loads,
            sharing: 0,
            ended: Vec::new(),
            fill: Fill::default(),
            new: 0,
            limits: Vec::new(),
            observed: 0,
            changes: 0,
        }
    }

    pub(super) fn add(&mut self, number: u32, left: f64, now: Ticks, weight: u64, route: &[Hop]) {
        self.loads.flows.push(number, left, weight, route);
        self.new += 1;
        if now == self.end {
            return;
        }
        // The rate that the flow would have now: on a full link, that of the link's level; on
        // another link, the capacity that is left, or an equal share if this is more.
        let on_link = |hop: &Hop| {
            let Load { capacity, weights, flows, .. } = self.loads.links[hop.link as usize];
            if flows == 0 {
                return capacity;
            }
            let filling = self.fill.link(hop.link);
            let equal = u128::from(capacity) * u128::from(weight) / u128::from(weights + weight);
            match filling.level {
                OPEN => filling.left.max(equal as u64),
                level => rate_of(weight, level, self.loads.level_bits),
            }
        };
        let rate = route.iter().map(on_link).min().unwrap_or(u64::MAX);
        let wait = WAIT * self.fraction * left / rate as f64;
        self.cut = self.cut.min(now.saturating_add(nearest(wait)));
    }

    fn solve(&mut self) -> u64 {
        let Self { loads, fill, limits, ended, .. } = self;
        let mut levels = std::mem::take(&mut loads.flows.levels);
        let links = (0..).zip(&loads.links).filter(|(_, load)| load.flows > 0);
        let all = (links.map(|(link, _)| link), loads.links.len());
        let examined = fill.solve(loads, all, ended, limits, |flow, level| {
            levels[flow as usize] = level;
        });
        loads.flows.levels = levels;
        examined
    }

    /// Returns the time in ticks after which about [`Self::fraction`] of the flows have ended at
    /// their present rates, rounded up to the limit of a bucket. Also returns the number of these
    /// flows.
    fn length(&self) -> (f64, usize) {
        let flows = &self.loads.flows;
        let times = (0..flows.len()).filter(|flow| flows.left[*flow] > 0.0);
        let times = times.map(|flow| (flows.left[flow], self.loads.rate(flow)));
        let times = times.filter(|(_, rate)| *rate > 0.0).map(|(left, rate)| left / rate);
        let (mut buckets, mut count) = (vec![0_usize; 1 << BUCKET_BITS], 0);
        let shift = f64::MAX.to_bits().ilog2() + 1 - BUCKET_BITS;
        for time in times {
            buckets[(time.to_bits() >> shift) as usize] += 1;
            count += 1;
        }
        let planned = ((self.fraction * count as f64) as usize).max(1);
        let mut ends = 0;
        let enough = buckets.iter().position(|times| {
            ends += times;
            ends >= planned
        });
        let upper = |bucket: usize| f64::from_bits(((bucket as u64 + 1) << shift) - 1);
        (enough.map_or(f64::INFINITY, upper), ends.max(planned))
    }

    /// Limits the rate of each flow that may end in a window of this length. At the limit, the flow
    /// ends exactly at the end of the window.
    fn limit(&mut self, length: f64) {
        self.limits.clear();
        let (flows, places) = (&self.loads.flows, 2_f64.powi(self.loads.level_bits as i32));
        for flow in (0..flows.len()).filter(|flow| !flows.has_ended(*flow)) {
            let (left, rate) = (flows.left[flow], self.loads.rate(flow));
            // A flow without a rate is new, and may be short.
            if rate == 0.0 || left < 2.0 * length * rate {
                let level = left / (length * flows.weight(flow) as f64) * places;
                self.limits.push((level.ceil() as u64, flow as u32));
            }
        }
        self.limits.sort_unstable();
    }

    /// Returns whether a flow with this work `left` ends in this time. Its stored rate is rounded
    /// down.
    fn ends_in(&self, flow: usize, left: f64, length: f64) -> bool {
        left > 0.0 && left <= (self.loads.rate(flow) + 1.0) * length
    }

    /// Begins a window, and sets the timer of each flow that ends in it. Returns the number of
    /// examined links.
    fn next(&mut self, now: Ticks, timers: &mut Timers) -> u64 {
        if self.new > 0 || (self.sharing as f64) < LEAST_LISTED * self.loads.flows.len() as f64 {
            self.list();
        }
        let mut examined = 0;
        // 1. New flows have no rates. If there are many, compute rates to estimate a length.
        let new = std::mem::take(&mut self.new);
        let mut is_measured = new as f64 > self.fraction * self.sharing as f64;
        self.limits.clear();
        if is_measured {
            examined += self.solve();
        }
        // 2. Find the length of the window, and the rates in it.
        let length = loop {
            let (longest, planned) = self.length();
            let length = nearest(longest).clamp(1, self.longest);
            self.limit(length as f64);
            examined += self.solve();
            let flows = &self.loads.flows;
            let is_ending = |flow: &usize| self.ends_in(*flow, flows.left[*flow], length as f64);
            let found = (0..flows.len()).filter(is_ending).count();
            if is_measured || found <= 2 * planned + 2 {
                break length;
            }
            self.limits.clear();
            examined += self.solve();
            is_measured = true;
        };
        // 3. Advance all flows to the end of the window.
        (self.start, self.end, self.cut) = (now, now.saturating_add(length), NEVER);
        self.advance(length, timers);
        self.observed += 1;
        self.changes += new + self.endings.len();
        examined
    }

    fn list(&mut self) {
        self.loads.list();
        self.sharing = self.loads.flows.len();
        self.ended.clear();
        self.ended.resize(self.sharing.div_ceil(64), 0);
    }

    fn advance(&mut self, length: Ticks, timers: &mut Timers) {
        self.endings.clear();
        self.loads.links.iter_mut().for_each(|load| load.limited = 0);
        for flow in 0..self.loads.flows.len() {
            let before = self.loads.flows.left[flow];
            if self.ends_in(flow, before, length as f64) {
                let ending = Ending { flow: flow as u32, before, end: NEVER };
                self.endings.push(ending);
                let weight = self.loads.flows.weight(flow);
                let Loads { flows, links, .. } = &mut self.loads;
                flows.route(flow).for_each(|link| links[link].limited += weight);
            } else if before > 0.0 {
                self.loads.flows.left[flow] = before - self.loads.rate(flow) * length as f64;
            }
        }
        for at in 0..self.endings.len() {
            let Ending { flow, before, .. } = self.endings[at];
            let flow = flow as usize;
            let weight = self.loads.flows.weight(flow);
            let rate = rate_of(weight, self.unlimited_level(flow), self.loads.level_bits);
            let lasts = nearest(before / rate.max(1) as f64).min(length);
            self.endings[at].end = self.start + lasts;
            self.loads.flows.left[flow] = 0.0;
            self.sharing -= 1;
            self.ended[flow / 64] |= 1 << (flow % 64);
            timers.set(self.loads.flows.numbers[flow] as usize, self.start + lasts);
        }
        let Loads { flows, links, .. } = &mut self.loads;
        for Ending { flow, .. } in &self.endings {
            let weight = flows.weight(*flow as usize);
            for link in flows.route(*flow as usize) {
                links[link].flows -= 1;
                links[link].weights -= weight;
            }
        }
    }

    fn cut(&mut self, now: Ticks, timers: &mut Timers) {
        let (lasted, rest) = (now - self.start, self.end - now);
        if rest <= 0 {
            self.longest = self.longest.saturating_mul(2);
            return;
        }
        self.longest = (2 * lasted).max(1);
        let listed = self.loads.flows.len() - self.new;
        for flow in 0..listed {
            if !self.loads.flows.has_ended(flow) {
                self.loads.flows.left[flow] += self.loads.rate(flow) * rest as f64;
            }
        }
        for &Ending { flow, before, .. } in self.endings.iter().filter(|of| of.end > now) {
            let flow = flow as usize;
            self.loads.flows.left[flow] = (before - self.loads.rate(flow) * lasted as f64).max(1.0);
            timers.set(self.loads.flows.numbers[flow] as usize, NEVER);
        }
        self.end = now;
        self.list();
    }

    /// Returns the level that a flow would have without its limit. If a link is not full, the flows
    /// with limits share the capacity that is left.
    fn unlimited_level(&self, flow: usize) -> u64 {
        let level = self.loads.flows.levels[flow];
        let on_link = |link: usize| {
            let (filling, load) = (self.fill.link(link as u32), self.loads.links[link]);
            match filling.level {
                OPEN => {
                    let more = quotient(filling.left, load.limited, self.loads.level_bits);
                    level.saturating_add(more)
                }
                full => full,
            }
        };
        self.loads.flows.route(flow).map(on_link).min().unwrap_or(level).max(level)
    }
}

impl Shares {
    pub(in super::super) fn window_end(&self) -> Ticks {
        self.windows.as_ref().map_or(NEVER, |windows| windows.end.min(windows.cut))
    }

    pub(in super::super) fn has_windows(&self) -> bool {
        self.windows.is_some()
    }

    /// Returns whether windows should begin in which `fraction` of the flows end. If `fraction` is
    /// 0, there are no windows.
    pub(in super::super) fn begins_windows(&mut self, fraction: f64) -> bool {
        self.refuses_windows &= fraction > 0.0;
        self.windows.is_none()
            && !self.refuses_windows
            && fraction * self.sharing as f64 >= 2.0 * LEAST_ENDS
    }

    /// Begins to use windows. Returns the flows on links with their remaining work. The caller
    /// clears the timers of these flows and attaches all flows again ([`Shares::take_added`]).
    pub(in super::super) fn begin_windows(&mut self, now: Ticks) -> Vec<(u32, f64)> {
        let flows = || (0..self.slots.len()).filter(|flow| self.is_sharing(*flow));
        let left = |flow| Some((flow as u32, self.left(flow, now)?.0.max(1) as f64));
        let left = flows().filter_map(left).collect();
        self.added = flows().map(|flow| flow as u32).collect();
        let capacities = self.links.iter().map(|link| link.capacity);
        self.windows = Some(Box::new(Windows::new(now, self.level_bits, capacities)));
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

    /// Begins the next window, in which `fraction` of the flows should end, and reduces `most` by
    /// the number of examined links. If windows save no work, ends the use of windows, and returns
    /// the flows that the caller has to attach again, with their remaining work.
    pub(in super::super) fn next_window(
        &mut self,
        fraction: f64,
        now: Ticks,
        most: &mut u64,
        timers: &mut Timers,
    ) -> Vec<(u32, i128)> {
        let Some(windows) = &mut self.windows else { return Vec::new() };
        if now < windows.end.min(windows.cut) {
            return Vec::new();
        }
        windows.cut(now, timers);
        if windows.observed == OBSERVED {
            self.refuses_windows = windows.changes < LEAST_CHANGES * OBSERVED;
            (windows.observed, windows.changes) = (0, 0);
        }
        if !self.refuses_windows && fraction * self.sharing as f64 >= LEAST_ENDS {
            windows.fraction = fraction;
            *most = most.saturating_sub(windows.next(now, timers));
            return Vec::new();
        }
        let flows = self.windows.take().map(|windows| windows.loads.flows).unwrap_or_default();
        let all = flows.numbers.into_iter().zip(flows.left).filter(|(_, left)| *left > 0.0);
        all.map(|(number, left)| (number, (left.round() as i128).max(1))).collect()
    }
}
