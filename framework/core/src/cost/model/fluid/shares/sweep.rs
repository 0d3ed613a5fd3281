//! A solve updates the rates of all flows. It is a sweep through the links, from the lowest level
//! to the highest. The level of a flow is its rate divided by its weight. The level of a link is
//! the level that its flows have when they use up its capacity.
//!
//! To *open* a flow means to remove its rate, so that it can get a new one. The link that limits
//! the rate of a flow *binds* the flow. If this link now has capacity left, for example because
//! another flow has ended, the flow is opened when the sweep reaches the flow's old level. A flow
//! gets a lower rate if a link of its route is full at a lower level than the flow's level. All
//! other flows keep their rates. If the sweep examines more hops than the routes of all flows have
//! in total, every flow is opened and the sweep starts again. The new sweep fills each link once.

use super::link::TOLERANCE;
use super::{Binding, Flow, Hop, Shares};

/// Numbers whose relative difference is smaller than this differ only by rounding.
const TINY: f64 = 1e-12;
/// If more than `1 / WHOLE` of the flows have started or ended since the last solve, the next solve
/// opens all flows whose rates can change as a result before it begins the sweep.
const WHOLE: usize = 4;

impl Shares {
    /// Updates the rates of all flows. Every examined link reduces `most` by 1, and the solve stops
    /// when `most` is 0. For each flow whose rate changes, this function calls `ends` with the
    /// number of the flow and the time at which the flow will end.
    pub(in super::super) fn solve(
        &mut self,
        now: f64,
        most: &mut u64,
        mut ends: impl FnMut(usize, f64),
    ) {
        self.now = now;
        self.solve += 1;
        self.changed.clear();
        self.visits = 0;
        // Case 1: many flows have started or ended, so most rates change. Open all flows whose
        // rates can change before the sweep begins.
        // Case 2: few flows have started or ended. Open only the new flows. The sweep itself finds
        // the other flows whose rates change.
        let mut whole = (self.new.len() + self.removed) * WHOLE > self.sharing && self.sharing > 64;
        if whole {
            self.open_all_affected();
        }
        for flow in std::mem::take(&mut self.new) {
            if self.flows[flow as usize].bound == Binding::New {
                self.open(flow);
            }
        }
        self.removed = 0;
        // The sweep starts at the links of opened flows, and at links on which a flow has ended.
        self.levels.rewind();
        self.queue_opened();
        while let Some(link) = self.dirty.pop() {
            self.touch(link);
        }
        // Visit links in the order of their levels, until all rates are final or the limit is
        // reached.
        while *most > 0 {
            if !whole && self.visits > self.load {
                whole = true;
                self.restart();
            }
            match self.levels.pop() {
                Some((bits, link)) => {
                    *most -= 1;
                    self.visit(bits, link);
                }
                None if self.next_bucket() => {}
                None => break,
            }
        }
        // Do not report flows whose rates differ only by rounding.
        for flow in &self.changed {
            let (rate, rest) = (self.flows[*flow as usize].rate, &self.rest[*flow as usize]);
            if (rate - rest.before).abs() > TINY * rate {
                ends(rest.number as usize, now + rest.left.max(0.0) / rate);
            }
        }
    }

    /// Processes a link that the sweep has reached.
    fn visit(&mut self, bits: u64, number: u32) {
        let link = &mut self.links[number as usize];
        if bits != link.key.to_bits() {
            return;
        }
        let key = std::mem::replace(&mut link.key, f64::INFINITY);
        if link.opened + link.bound == 0 {
            // All open flows on this link have got rates from other links, and the link binds no
            // flow. If the rates of its flows exceed its capacity now, reduce the highest rates.
            if link.is_overfull() {
                self.fill(number, key, key);
            }
            return;
        }
        let (share, level) = (link.share(), link.level);
        if link.bound > 0 {
            if share > level * (1.0 + TOLERANCE) {
                // The rates of the flows that this link binds may rise. Open these flows, but not
                // before the sweep has reached their level.
                if self.levels.has_lower(level) {
                    self.queue_again(level, number);
                    return;
                }
                let on = std::mem::take(&mut link.on);
                let shift = self.shift;
                for flow in on.iter().map(|hop| hop >> shift) {
                    if self.flows[flow as usize].bound == Binding::By(number) {
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

    /// Moves to the next bucket of the queue. Drops the links whose flows keep their rates, and
    /// queues the other links again. Returns `false` if no bucket has links.
    fn next_bucket(&mut self) -> bool {
        let Some((bucket, links)) = self.levels.next_bucket() else { return false };
        for number in links {
            let link = &mut self.links[number as usize];
            if link.key == f64::INFINITY || !self.levels.is_in(link.key, bucket) {
                continue;
            }
            match link.next_change() {
                None => link.key = f64::INFINITY,
                Some(key) => {
                    let key = key.max(link.key);
                    self.queue_again(key, number);
                }
            }
        }
        true
    }

    /// Starts the sweep again: opens all flows and queues all links. Called when it would take more
    /// time to continue the update than to compute all rates from the beginning.
    fn restart(&mut self) {
        for link in self.levels.drain() {
            self.links[link as usize].key = f64::INFINITY;
        }
        for flow in 0..self.slots.len() {
            if let Some(slot) = self.slot(flow)
                && matches!(self.flows[slot as usize].bound, Binding::New | Binding::By(_))
            {
                self.open(slot);
            }
        }
        self.queue_opened();
        (0..self.links.len() as u32).for_each(|link| self.touch(link));
    }

    /// Opens the new flows and all flows whose rates can change as a result of starts and ends: the
    /// flows on links on which a flow has started or ended, the flows on the links of these flows,
    /// and so on.
    fn open_all_affected(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for flow in self.new.clone() {
            self.open(flow);
        }
        let mut next = 0;
        while let Some(number) =
            self.pending.get(next).copied().inspect(|_| next += 1).or_else(|| dirty.pop())
        {
            for i in 0..self.links[number as usize].on.len() {
                let flow = self.links[number as usize].on[i] >> self.shift;
                if self.flows[flow as usize].bound != Binding::Open {
                    self.open(flow);
                }
            }
        }
    }

    /// Fills a link: divides its capacity among its open flows, the flows that it binds, and the
    /// flows with a level above `share`.
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

    /// Finds the flows that get a share of a full link, and stores their hops on this link in
    /// `takers`. Returns the exact share. Returns `None` if no flow gets a share.
    fn takers_of(&mut self, number: u32, mut share: f64, takers: &mut Vec<u32>) -> Option<f64> {
        let link = &self.links[number as usize];
        self.visits += link.on.len();
        loop {
            let (mut left, mut weights, limit) = (link.capacity, 0.0, share * (1.0 + TOLERANCE));
            takers.clear();
            for hop in &link.on {
                let flow = &self.flows[(hop >> self.shift) as usize];
                let times = f64::from(self.hops[*hop as usize].times);
                if flow.bound == Binding::Open
                    || flow.bound == Binding::By(number)
                    || flow.level > limit
                {
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

    /// Returns whether a different link must be filled first. This can be a link that is queued at
    /// a lower level, or a link that is not queued although it would bind an open flow at a lower
    /// level. In the second case, queues this link.
    fn must_wait(&mut self, number: u32, share: f64, key: f64, takers: &[u32]) -> bool {
        if share > key * (1.0 + TOLERANCE) && self.levels.has_lower(share) {
            return true;
        }
        let (mut must_wait, shift) = (false, self.shift);
        for flow in takers.iter().map(|hop| hop >> shift) {
            if self.flows[flow as usize].bound != Binding::Open {
                continue;
            }
            for hop in self.hops_of(flow) {
                let other = self.hops[hop].link;
                let link = &self.links[other as usize];
                let left = link.capacity - link.used + link.level * link.binds;
                let is_tighter = left < share * (1.0 - TOLERANCE) * (link.open + link.binds);
                if is_tighter && link.key == f64::INFINITY && other != number {
                    self.touch(other);
                    must_wait = true;
                }
            }
        }
        must_wait
    }

    /// Gives a flow its share of a full link.
    fn give(&mut self, hop: u32, number: u32, share: f64) {
        let flow = hop >> self.shift;
        let Flow { rate, weight, level, bound, .. } = self.flows[flow as usize];
        if bound == Binding::Open {
            for hop in self.hops_of(flow) {
                let Hop { link, times } = self.hops[hop];
                let link = &mut self.links[link as usize];
                link.used += share * weight * f64::from(times);
                link.opened -= 1;
                link.open =
                    if link.opened == 0 { 0.0 } else { link.open - weight * f64::from(times) };
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

    /// Queues a link at the lowest level at which the rates of its flows may change, unless it is
    /// already queued at or below that level.
    fn touch(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        if let Some(key) = link.next_change().filter(|key| *key < link.key) {
            self.levels.push(key, link.key, number);
            link.key = key;
        }
    }

    fn queue_again(&mut self, key: f64, number: u32) {
        self.links[number as usize].key = key;
        self.levels.push(key, f64::INFINITY, number);
    }

    /// Subtracts the bytes that a flow has transmitted at its old rate. Called before the rate of
    /// the flow changes.
    fn settle(&mut self, flow: u32, rate: f64) {
        let rest = &mut self.rest[flow as usize];
        if rest.solve != self.solve {
            rest.left -= rate * (self.now - rest.since);
            (rest.solve, rest.since, rest.before) = (self.solve, self.now, rate);
            self.changed.push(flow);
        }
    }

    /// Opens a flow: the flow loses its rate, so that the sweep gives it a new one.
    fn open(&mut self, number: u32) {
        self.unbind(number);
        let flow = &mut self.flows[number as usize];
        flow.bound = Binding::Open;
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

    /// Queues links of the flows that have been opened since the last call:
    /// - The links of their routes that bind flows or are queued already.
    /// - For each opened flow, the link of its route that is expected to bind the flow. If the flow
    ///   has a tighter link at the end, [`Shares::fill`] detects this.
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
            let least = on
                .map(|link| (self.links[link as usize].share(), link))
                .reduce(|a, b| if b.0 < a.0 { b } else { a });
            if let Some((_, link)) = least {
                self.touch(link);
            }
        }
    }

    /// Panics unless the rates are max-min fair. No link may be overloaded, and every flow must
    /// have a full link on which no other flow has a higher level.
    #[cfg(test)]
    pub(in super::super) fn check(&self) {
        let carried = |link: &super::Link| -> f64 {
            let rate = |hop: &u32| {
                self.flows[(hop >> self.shift) as usize].rate
                    * f64::from(self.hops[*hop as usize].times)
            };
            link.on.iter().map(rate).sum()
        };
        for link in &self.links {
            assert!(carried(link) <= link.capacity * (1.0 + 1e-7), "{link:?}");
        }
        for flow in self.flows.iter().filter(|flow| flow.bound != Binding::Idle) {
            let Binding::By(link) = flow.bound else { panic!("no rate: {flow:?}") };
            let link = &self.links[link as usize];
            let top = link
                .on
                .iter()
                .map(|hop| self.flows[(hop >> self.shift) as usize].level)
                .fold(0.0, f64::max);
            assert!(top <= flow.level * (1.0 + 1e-7), "{flow:?} {link:?}");
            assert!(
                (carried(link) - link.capacity).abs() <= 1e-7 * link.capacity,
                "{flow:?} {link:?}"
            );
        }
    }
}
