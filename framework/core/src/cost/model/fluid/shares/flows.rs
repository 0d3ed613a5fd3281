//! The flows whose rates are computed in windows of time ([`super::windows`]).

use super::Hop;

/// The value of unused entries of [`Flows::links`], after routes that are shorter than `width`.
const NO_LINK: u32 = u32::MAX;

/// A list of flows. Each property has a list of its own, because the computation of all rates reads
/// few properties of very many flows in random order.
#[derive(Debug, Clone, Default)]
pub(super) struct Flows {
    numbers: Vec<u32>,
    /// Bytes that are left at the end of the window; 0 if the flow ends in the window.
    pub left: Vec<f64>,
    /// Rate divided by weight; 0 if the flow has not been in a window yet.
    pub levels: Vec<f64>,
    /// The weight of each flow; empty if all weights are 1.
    weights: Vec<f64>,
    /// The number of entries in `links` for each flow: the length of the longest route.
    width: usize,
    /// For each flow, the links of its route, followed by [`NO_LINK`] up to `width` entries. If a
    /// route crosses a link twice, the link is listed twice.
    links: Vec<u32>,
}

impl Flows {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn push(&mut self, number: u32, left: f64, weight: f64, route: &[Hop]) {
        if weight != 1.0 && self.weights.is_empty() {
            self.weights.resize(self.len(), 1.0);
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.numbers.push(number);
        self.left.push(left);
        self.levels.push(0.0);
        let links = || route.iter().flat_map(|hop| (0..hop.times as u32).map(|_| hop.link));
        let length = links().count();
        if length > self.width {
            self.widen(length);
        }
        self.links.extend(links().chain((length..self.width).map(|_| NO_LINK)));
    }

    /// Increases the number of entries in `links` for each flow to `width`.
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

    pub(super) fn number(&self, flow: usize) -> usize {
        self.numbers[flow] as usize
    }

    pub(super) fn weight(&self, flow: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights[flow] }
    }

    pub(super) fn rate(&self, flow: usize) -> f64 {
        self.weight(flow) * self.levels[flow]
    }

    pub(super) fn has_ended(&self, flow: usize) -> bool {
        self.left[flow] == 0.0
    }

    pub(super) fn route(&self, flow: usize) -> impl Iterator<Item = usize> {
        let links = &self.links[flow * self.width..(flow + 1) * self.width];
        links.iter().take_while(|link| **link != NO_LINK).map(|link| *link as usize)
    }

    /// Removes the flows that have ended.
    pub(super) fn remove_ended(&mut self) {
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

    /// Returns the numbers of the flows that have bytes left, each with these bytes.
    pub(super) fn remaining(&self) -> Vec<(u32, f64)> {
        let flows = self.numbers.iter().copied().zip(self.left.iter().copied());
        flows.filter(|(_, left)| *left > 0.0).collect()
    }
}
