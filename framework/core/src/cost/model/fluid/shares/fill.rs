//! Max-min fair rates of all flows, computed from the beginning.
//!
//! Links are filled in the order of their levels ([`super`]). A flow may have a limit, which is the
//! largest level that it gets.

use super::{OPEN, quotient, rate_of};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The flows and links whose rates are computed.
pub(super) trait Network {
    /// Returns the capacity of a link, and the sum of the weights of its flows.
    fn load(&self, link: u32) -> (u64, u64);

    /// Calls `visit` with each flow on a link.
    fn each_on(&self, link: u32, visit: impl FnMut(u32));

    /// Calls `visit` with each link of a flow's route, and the number of times that the route
    /// crosses it.
    fn each_hop(&self, flow: u32, visit: impl FnMut(u32, u64));

    fn weight(&self, flow: u32) -> u64;

    fn level_bits(&self) -> u32;
}

/// The state of a link while rates are computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    /// Capacity that has not been given to a flow.
    pub left: u64,
    /// Sum of the weights of the flows on the link that have no rate yet.
    pub open: u64,
    /// The level at which the link became full; [`OPEN`] if it is not full.
    pub level: u64,
}

/// A computation of rates, whose memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Fill {
    /// The state of each link.
    links: Vec<Filling>,
    /// One bit per flow: whether it has a rate.
    has_rate: Vec<u64>,
    /// The links that are not full yet. Each entry is a level that is not above the level at which
    /// the link becomes full, and the link.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// The links that become full at the present level.
    full: Vec<u32>,
}

impl Fill {
    pub(super) fn link(&self, link: u32) -> Filling {
        self.links[link as usize]
    }

    /// Computes the rates of all flows, so that no flow exceeds its limit. `links` are the links
    /// that have flows, out of `count` links. `has_rate` has one bit per flow: whether it gets no
    /// rate. `limits` are levels and flows, in ascending order. Calls `give` with each flow and its
    /// level. Returns the number of links that were examined.
    pub(super) fn solve(
        &mut self,
        network: &impl Network,
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
            // Case 1: flows reach their limits before any link becomes full.
            if let Some(&(limit, flow)) = limits.next_if(|(limit, _)| *limit <= level) {
                self.give(network, flow, limit, &mut give);
                continue;
            }
            // Case 2: find all links that become full at this level. Rates that were given since
            // the level of a link was computed can only raise it. Such a link is queued again. A
            // link all of whose flows have rates needs no further work.
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
            // Give this level to their flows. This is done for all of these links together, so that
            // the result does not depend on their order.
            let full = std::mem::take(&mut self.full);
            for link in &full {
                self.links[*link as usize].level = level;
                network.each_on(*link, |flow| self.give(network, flow, level, &mut give));
            }
            self.full = full;
        }
        examined
    }

    /// Gives a level to a flow, unless it has a rate already.
    fn give(
        &mut self,
        network: &impl Network,
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
