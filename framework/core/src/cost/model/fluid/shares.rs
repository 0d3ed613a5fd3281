//! Weighted max-min fair shares of links, repaired when flows come and go instead of solved anew.
//!
//! A flow's *level* is its rate over its weight. Shares are max-min when every flow has a full link on which no flow's level is above its own: that link *binds* it. A solve is a
//! sweep over levels, upwards. A flow is let go (*opened*) only when the sweep comes to its old level and the link that binds it has more to give; it is cut when a link on its way
//! is full below its level; all others keep their rates. If that comes to looking at more than all there is, every flow is opened and the sweep starts again, which then ends
//! after each link has been filled.

use super::levels::Levels;

/// Two levels closer than this are one.
const TOLERANCE: f64 = 1e-9;
const TINY: f64 = 1e-12;
/// When more than one in so many flows have come or gone, all that they reach are opened at once.
const WHOLE: usize = 4;

/// A link on a flow's way, and how often it is crossed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hop {
    pub link: u32,
    pub times: f32,
}

/// Where a flow has its rate from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// It does not share.
    Latent,
    /// It has come since the last solve.
    New,
    /// It awaits a rate in this sweep.
    Open,
    By(u32),
}

/// What the sweep reads of a flow.
#[derive(Debug, Clone, Copy)]
struct Flow {
    rate: f64,
    weight: f64,
    level: f64,
    bound: Bound,
    /// How often the link that binds it is on its way.
    bound_times: f32,
}

/// The rest of it.
#[derive(Debug, Clone, Copy)]
struct Rest {
    /// Bytes that were left at the moment `since`.
    left: f64,
    since: f64,
    /// Its rate before the solve of this number.
    before: f64,
    solve: u64,
    hops: u32,
}

#[derive(Debug, Clone)]
struct Link {
    capacity: f64,
    /// Rates of its flows that have one.
    used: f64,
    /// Weights of its open flows, and how many they are.
    open: f64,
    opened: u32,
    /// Weights of the flows that it binds, how many they are, and their level.
    binds: f64,
    bound: u32,
    level: f64,
    /// Where it is queued; infinity if it is not.
    key: f64,
    /// The solve before which one of its flows has gone.
    dirty: u64,
    is_pending: bool,
    /// Its flows, as numbers of hops.
    on: Vec<u32>,
}

impl Link {
    /// The level at which it is full, if the flows that it neither binds nor has open keep their rates: a lower bound, since these may be cut.
    fn share(&self) -> f64 {
        ((self.capacity - self.used + self.level * self.binds) / (self.open + self.binds)).max(0.0)
    }

    fn is_overfull(&self) -> bool {
        self.used > self.capacity * (1.0 + TOLERANCE)
    }

    /// At which level it first differs from what it was, if anywhere.
    fn wants(&self) -> Option<f64> {
        if self.bound == 0 {
            return if self.opened > 0 { Some(self.share()) } else { self.is_overfull().then_some(0.0) };
        }
        let share = self.share();
        let stays = self.opened == 0 && (share - self.level).abs() <= TOLERANCE * self.level;
        (!stays).then(|| share.min(self.level))
    }
}

/// The flows of a network, and what each has of its links.
#[derive(Debug)]
pub(super) struct Shares {
    links: Vec<Link>,
    flows: Vec<Flow>,
    rest: Vec<Rest>,
    /// Room for `1 << shift` hops a flow.
    shift: u32,
    hops: Vec<Hop>,
    /// Where in its link's list each hop stands.
    place: Vec<u32>,
    levels: Levels,
    added: Vec<u32>,
    removed: usize,
    sharing: usize,
    /// Hops of all flows that share, and those that this solve has looked at.
    load: usize,
    visits: usize,
    dirty: Vec<u32>,
    pending: Vec<u32>,
    fresh: Vec<u32>,
    takers: Vec<u32>,
    changed: Vec<u32>,
    solve: u64,
    now: f64,
}

impl Shares {
    /// Links of these capacities; `least_weight` is about the least of a flow, for speed alone.
    pub(super) fn new(capacities: impl Iterator<Item = f64>, least_weight: f64) -> Self {
        let link = |capacity| Link {
            capacity,
            used: 0.0,
            open: 0.0,
            opened: 0,
            binds: 0.0,
            bound: 0,
            level: 0.0,
            key: f64::INFINITY,
            dirty: 0,
            is_pending: false,
            on: Vec::new(),
        };
        let links: Vec<Link> = capacities.map(link).collect();
        let most = links.iter().map(|l| l.capacity).fold(0.0, f64::max);
        Self {
            links,
            flows: Vec::new(),
            rest: Vec::new(),
            shift: 0,
            hops: Vec::new(),
            place: Vec::new(),
            levels: Levels::new(most / least_weight),
            added: Vec::new(),
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
        }
    }

    /// Memory that its flows take, in hops.
    pub(super) fn room(&self) -> usize {
        self.hops.len()
    }

    pub(super) fn capacity(&self, link: u32) -> f64 {
        self.links[link as usize].capacity
    }

    /// Describes flow number `flow`, at most one beyond those that there are: it shares from [`Shares::add`] on.
    pub(super) fn describe(&mut self, flow: usize, bytes: f64, weight: f64, way: &[Hop]) {
        while way.len() > 1 << self.shift {
            self.widen();
        }
        if flow == self.flows.len() {
            self.flows.push(Flow { rate: 0.0, weight, level: 0.0, bound: Bound::Latent, bound_times: 1.0 });
            self.rest.push(Rest { left: 0.0, since: 0.0, before: 0.0, solve: 0, hops: 0 });
            self.hops.resize((flow + 1) << self.shift, Hop::default());
            self.place.resize((flow + 1) << self.shift, 0);
        }
        self.flows[flow].weight = weight;
        self.rest[flow].left = bytes;
        self.rest[flow].hops = way.len() as u32;
        self.hops[flow << self.shift..][..way.len()].copy_from_slice(way);
    }

    /// Makes room for ways twice as long.
    fn widen(&mut self) {
        let (old, flows) = (self.shift, self.flows.len());
        self.shift += 1;
        let (hops, place) = (std::mem::take(&mut self.hops), std::mem::take(&mut self.place));
        self.hops.resize(flows << self.shift, Hop::default());
        self.place.resize(flows << self.shift, 0);
        for flow in 0..flows {
            let (from, to, count) = (flow << old, flow << self.shift, 1 << old);
            self.hops[to..to + count].copy_from_slice(&hops[from..from + count]);
            self.place[to..to + count].copy_from_slice(&place[from..from + count]);
        }
        let moved = |hop: u32| (hop >> old << self.shift) | (hop & ((1 << old) - 1));
        self.links.iter_mut().flat_map(|link| &mut link.on).for_each(|hop| *hop = moved(*hop));
    }

    fn hops_of(&self, flow: u32) -> std::ops::Range<usize> {
        let first = (flow as usize) << self.shift;
        first..first + self.rest[flow as usize].hops as usize
    }

    /// Whether the flow shares.
    pub(super) fn is_sharing(&self, flow: usize) -> bool {
        self.flows[flow].bound != Bound::Latent
    }

    /// The flow begins to share; it has its rate after the next solve.
    pub(super) fn add(&mut self, flow: usize, now: f64) {
        for hop in self.hops_of(flow as u32) {
            let on = &mut self.links[self.hops[hop].link as usize].on;
            self.place[hop] = on.len() as u32;
            on.push(hop as u32);
        }
        (self.flows[flow].rate, self.flows[flow].bound) = (0.0, Bound::New);
        self.rest[flow].since = now;
        self.added.push(flow as u32);
        self.sharing += 1;
        self.load += self.rest[flow].hops as usize;
    }

    /// The flow has ended.
    pub(super) fn remove(&mut self, flow: usize) {
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
        self.flows[flow].bound = Bound::Latent;
        self.removed += 1;
        self.sharing -= 1;
        self.load -= self.rest[flow].hops as usize;
    }

    /// Whether flows have come or gone since the last solve.
    pub(super) fn is_disturbed(&self) -> bool {
        !self.added.is_empty() || !self.dirty.is_empty()
    }

    fn unbind(&mut self, flow: u32) {
        let flow = &self.flows[flow as usize];
        let Bound::By(link) = flow.bound else { return };
        let link = &mut self.links[link as usize];
        link.bound -= 1;
        link.binds = if link.bound == 0 { 0.0 } else { link.binds - flow.weight * f64::from(flow.bound_times) };
    }

    fn bind(&mut self, flow: u32, number: u32, times: f32) {
        let flow = &mut self.flows[flow as usize];
        (flow.bound, flow.bound_times) = (Bound::By(number), times);
        let link = &mut self.links[number as usize];
        link.bound += 1;
        link.binds += flow.weight * f64::from(times);
    }

    fn touch(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        if let Some(key) = link.wants().filter(|key| *key < link.key) {
            self.levels.push(key, link.key, number);
            link.key = key;
        }
    }

    fn queue_again(&mut self, key: f64, number: u32) {
        self.links[number as usize].key = key;
        self.levels.push(key, f64::INFINITY, number);
    }

    /// The flow's rate is about to change.
    fn settle(&mut self, flow: u32, rate: f64) {
        let rest = &mut self.rest[flow as usize];
        if rest.solve != self.solve {
            rest.left -= rate * (self.now - rest.since);
            (rest.solve, rest.since, rest.before) = (self.solve, self.now, rate);
            self.changed.push(flow);
        }
    }

    fn open(&mut self, number: u32) {
        self.unbind(number);
        let flow = &mut self.flows[number as usize];
        flow.bound = Bound::Open;
        let Flow { rate, weight, .. } = *flow;
        self.fresh.push(number);
        self.settle(number, rate);
        for hop in self.hops_of(number) {
            let Hop { link: on, times } = self.hops[hop];
            let link = &mut self.links[on as usize];
            link.used -= rate * f64::from(times);
            link.open += weight * f64::from(times);
            link.opened += 1;
            if !std::mem::replace(&mut link.is_pending, true) {
                self.pending.push(on);
            }
        }
    }

    /// Queues what newly opened flows need: the links that bind others, and for each flow the one link that seems to bind it. [`Shares::fill`] finds out if it is another.
    fn queue_opened(&mut self) {
        while let Some(number) = self.pending.pop() {
            let link = &mut self.links[number as usize];
            link.is_pending = false;
            if link.bound > 0 || link.key < f64::INFINITY {
                self.touch(number);
            }
        }
        while let Some(flow) = self.fresh.pop() {
            let on = self.hops[self.hops_of(flow)].iter().map(|hop| hop.link);
            let least =
                on.map(|link| (self.links[link as usize].share(), link)).reduce(|a, b| if b.0 < a.0 { b } else { a });
            if let Some((_, link)) = least {
                self.touch(link);
            }
        }
    }

    /// Repairs the shares. Hands out the flows whose rates have changed, with when each will end if nothing changes again.
    pub(super) fn solve(&mut self, now: f64, mut ends: impl FnMut(usize, f64)) {
        self.now = now;
        self.solve += 1;
        self.changed.clear();
        self.visits = 0;
        let mut whole = (self.added.len() + self.removed) * WHOLE > self.sharing && self.sharing > 64;
        if whole {
            self.open_all_reached();
        }
        for flow in std::mem::take(&mut self.added) {
            if self.flows[flow as usize].bound == Bound::New {
                self.open(flow);
            }
        }
        self.removed = 0;
        self.levels.rewind();
        self.queue_opened();
        while let Some(link) = self.dirty.pop() {
            self.touch(link);
        }
        loop {
            if !whole && self.visits > self.load {
                whole = true;
                self.start_anew();
            }
            match self.levels.pop() {
                Some((bits, link)) => self.look_at(bits, link),
                None if self.next_bucket() => {}
                None => break,
            }
        }
        for flow in &self.changed {
            let (rate, rest) = (self.flows[*flow as usize].rate, &self.rest[*flow as usize]);
            if (rate - rest.before).abs() > TINY * rate {
                ends(*flow as usize, now + rest.left.max(0.0) / rate);
            }
        }
    }

    /// The sweep has come to a link.
    fn look_at(&mut self, bits: u64, number: u32) {
        let link = &mut self.links[number as usize];
        if bits != link.key.to_bits() {
            return;
        }
        let key = std::mem::replace(&mut link.key, f64::INFINITY);
        if link.opened + link.bound == 0 {
            // A flow that was open here has its rate from another link: others may have to yield.
            if link.is_overfull() {
                self.fill(number, key, key);
            }
            return;
        }
        let (share, level) = (link.share(), link.level);
        if link.bound > 0 {
            if share > level * (1.0 + TOLERANCE) {
                // Its flows may rise: at their old level they are let go.
                if self.levels.has_lower(level) {
                    self.queue_again(level, number);
                    return;
                }
                let on = std::mem::take(&mut link.on);
                let shift = self.shift;
                for flow in on.iter().map(|hop| hop >> shift) {
                    if self.flows[flow as usize].bound == Bound::By(number) {
                        self.open(flow);
                    }
                }
                self.links[number as usize].on = on;
                self.queue_opened();
                self.touch(number);
                return;
            }
            if link.opened == 0 && share >= level * (1.0 - TOLERANCE) {
                return;
            }
        }
        if share > key * (1.0 + TINY) && self.levels.has_lower(share) {
            self.queue_again(share, number);
        } else {
            self.fill(number, share, key);
        }
    }

    /// Turns to the next bucket, without the links that want nothing any more.
    fn next_bucket(&mut self) -> bool {
        let Some((bucket, links)) = self.levels.next_bucket() else { return false };
        for number in links {
            let link = &mut self.links[number as usize];
            if link.key == f64::INFINITY || !self.levels.is_in(link.key, bucket) {
                continue;
            }
            match link.wants() {
                None => link.key = f64::INFINITY,
                Some(key) => {
                    let key = key.max(link.key);
                    self.queue_again(key, number);
                }
            }
        }
        true
    }

    /// Repair costs more than it saves: all flows are opened.
    fn start_anew(&mut self) {
        for link in self.levels.drain() {
            self.links[link as usize].key = f64::INFINITY;
        }
        for flow in 0..self.flows.len() {
            if matches!(self.flows[flow].bound, Bound::New | Bound::By(_)) {
                self.open(flow as u32);
            }
        }
        self.queue_opened();
        (0..self.links.len() as u32).for_each(|link| self.touch(link));
    }

    /// Everything that changed links reach is opened.
    fn open_all_reached(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for flow in self.added.clone() {
            self.open(flow);
        }
        let mut next = 0;
        while let Some(number) = self.pending.get(next).copied().inspect(|_| next += 1).or_else(|| dirty.pop()) {
            for i in 0..self.links[number as usize].on.len() {
                let flow = self.links[number as usize].on[i] >> self.shift;
                if self.flows[flow as usize].bound != Bound::Open {
                    self.open(flow);
                }
            }
        }
    }

    /// The link is full: its open flows, those that it binds, and those with a higher level get its share.
    fn fill(&mut self, number: u32, share: f64, key: f64) {
        let mut takers = std::mem::take(&mut self.takers);
        if let Some(share) = self.takers_of(number, share, &mut takers) {
            if self.must_wait(number, share, key, &takers) {
                self.queue_again(share, number);
            } else {
                for hop in &takers {
                    self.give(*hop, number, share);
                }
                self.links[number as usize].level = share;
            }
        }
        self.takers = takers;
    }

    /// Who gets a share of the full link, and how large it is exactly.
    fn takers_of(&mut self, number: u32, mut share: f64, takers: &mut Vec<u32>) -> Option<f64> {
        let link = &self.links[number as usize];
        self.visits += link.on.len();
        loop {
            let (mut left, mut weights, limit) = (link.capacity, 0.0, share * (1.0 + TOLERANCE));
            takers.clear();
            for hop in &link.on {
                let flow = &self.flows[(hop >> self.shift) as usize];
                let times = f64::from(self.hops[*hop as usize].times);
                if flow.bound == Bound::Open || flow.bound == Bound::By(number) || flow.level > limit {
                    takers.push(*hop);
                    weights += times * flow.weight;
                } else {
                    left -= times * flow.rate;
                }
            }
            if takers.is_empty() {
                return None;
            }
            share = (left / weights).max(0.0);
            if share <= limit {
                return Some(share);
            }
        }
    }

    /// Whether other links come first: one that is queued below, or one, not queued, that would bind an open flow before.
    fn must_wait(&mut self, number: u32, share: f64, key: f64, takers: &[u32]) -> bool {
        if share > key * (1.0 + TOLERANCE) && self.levels.has_lower(share) {
            return true;
        }
        let (mut waits, shift) = (false, self.shift);
        for flow in takers.iter().map(|hop| hop >> shift) {
            if self.flows[flow as usize].bound != Bound::Open {
                continue;
            }
            for hop in self.hops_of(flow) {
                let other = self.hops[hop].link;
                let link = &self.links[other as usize];
                let left = link.capacity - link.used + link.level * link.binds;
                let is_tighter = left < share * (1.0 - TOLERANCE) * (link.open + link.binds);
                if is_tighter && link.key == f64::INFINITY && other != number {
                    self.touch(other);
                    waits = true;
                }
            }
        }
        waits
    }

    /// A flow of the full link gets its share of it.
    fn give(&mut self, hop: u32, number: u32, share: f64) {
        let flow = hop >> self.shift;
        let Flow { rate, weight, level, bound, .. } = self.flows[flow as usize];
        if bound == Bound::Open {
            for hop in self.hops_of(flow) {
                let Hop { link, times } = self.hops[hop];
                let link = &mut self.links[link as usize];
                link.used += share * weight * f64::from(times);
                link.opened -= 1;
                link.open = if link.opened == 0 { 0.0 } else { link.open - weight * f64::from(times) };
            }
        } else if level > share * (1.0 + TOLERANCE) {
            self.settle(flow, rate);
            self.unbind(flow);
            for hop in self.hops_of(flow) {
                let Hop { link: other, times } = self.hops[hop];
                self.links[other as usize].used += (share * weight - rate) * f64::from(times);
                if other != number && self.links[other as usize].bound > 0 {
                    self.touch(other);
                }
            }
        } else {
            return;
        }
        (self.flows[flow as usize].rate, self.flows[flow as usize].level) = (share * weight, share);
        self.bind(flow, number, self.hops[hop as usize].times);
    }

    /// Panics unless every link holds what it carries, and every flow has a full link on which none is above it.
    #[cfg(test)]
    pub(super) fn check(&self) {
        let carried = |link: &Link| -> f64 {
            let rate =
                |hop: &u32| self.flows[(hop >> self.shift) as usize].rate * f64::from(self.hops[*hop as usize].times);
            link.on.iter().map(rate).sum()
        };
        for link in &self.links {
            assert!(carried(link) <= link.capacity * (1.0 + 1e-7), "{link:?}");
        }
        for flow in self.flows.iter().filter(|flow| flow.bound != Bound::Latent) {
            let Bound::By(link) = flow.bound else { panic!("no rate: {flow:?}") };
            let link = &self.links[link as usize];
            let top = link.on.iter().map(|hop| self.flows[(hop >> self.shift) as usize].level).fold(0.0, f64::max);
            assert!(top <= flow.level * (1.0 + 1e-7), "{flow:?} {link:?}");
            assert!((carried(link) - link.capacity).abs() <= 1e-7 * link.capacity, "{flow:?} {link:?}");
        }
    }
}
