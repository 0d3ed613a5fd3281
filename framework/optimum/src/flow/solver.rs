//! The iterative solver. It finds shortest-path trees, moves the flows towards them, and computes
//! both ends of the interval.

use super::problem::{Amounts, Resources};
use super::{Progress, Ratio, Solution, value};
use crate::error::OptimumError;
use swapmeet_flows::{BestCut, Links, NONE, ShortestPaths, best_step, fast_exp};

/// Factor by which the sum of earlier prices is multiplied at each check of the interval. Later
/// prices are then added, so the sum is a decaying average.
const DECAY: f32 = 0.8;
/// Largest length of a resource in [`Solver::examine_coarse`].
const COARSE: f32 = 8.0;
/// Number of consecutive checks of the interval without progress after which the search ends.
const MAX_STALE: u32 = 16;
/// Number of bisections in the search for the length of a step.
const BISECTIONS: u32 = 10;
/// A check of the interval makes progress if an end has improved by more than this factor.
const PROGRESS: f64 = 1.0003;

pub(super) struct Solver<'a> {
    links: &'a Links,
    resources: &'a Resources,
    amounts: &'a Amounts,
    /// The largest length that a resource may have, minus 1. `resource_length` defines lengths.
    longest: f32,
    paths: ShortestPaths,
    /// The flows of all sources, as one row for each source. A row has one amount for each link.
    flows: Vec<f32>,
    /// For each resource, its load divided by its capacity. An additional last entry is used by
    /// links that use no resource of a kind ([`Resources::columns`]).
    load: Vec<f32>,
    /// For each resource, 1 divided by its capacity, and an additional last entry as in `load`.
    inverse: Vec<f32>,
    /// For each resource, a price, which rises exponentially with its load.
    price: Vec<f32>,
    /// For each resource, a decaying sum of its earlier lengths. It is an average price per unit of
    /// capacity, up to a factor that is the same for all resources.
    average: Vec<f32>,
    /// The length of each resource: its price per unit of capacity, multiplied by a factor that is
    /// the same for all resources, and rounded to a whole number.
    resource_length: Vec<u32>,
    /// The length of each link, which is the sum of the lengths of the resources that it uses.
    length: Vec<u32>,
    tree: Tree,
    lower: Ratio,
    /// The lengths of the resources that give the lower end `lower`.
    best: Vec<u32>,
}

/// Buffers for the shortest-path tree of one source, and for the step of its flow towards this
/// tree.
struct Tree {
    /// For each vertex, the sum of the amounts that the vertex and all vertices below it in the
    /// tree receive.
    below: Vec<f32>,
    /// For each link, the amount on it if the whole flow of the source follows the tree.
    flow: Vec<f32>,
    /// For each resource, the change of its load if the tree replaces the whole flow of the source.
    change: Vec<f32>,
    /// One entry for each change that is not 0: the price times the change, and eta times the
    /// change. [`Solver::set_prices`] uses the same eta.
    terms: Vec<(f32, f32)>,
}

impl<'a> Solver<'a> {
    pub(super) fn new(links: &'a Links, resources: &'a Resources, amounts: &'a Amounts) -> Self {
        let (vertices, count) = (links.vertices(), links.count());
        let capacities = &resources.capacities;
        let equal = capacities.windows(2).all(|pair| pair[0] == pair[1]);
        // Distances must fit into 32 bits, even along a path through all vertices.
        let columns = resources.columns.len() as u32;
        let most = if equal { 4000 } else { 60_000 } / columns;
        let longest = most.min((NONE - 1) / (vertices as u32 + 1) / columns).max(2);
        let all = capacities.len() + 1;
        let inverse = capacities.iter().map(|capacity| 1.0 / *capacity as f32).chain([0.0]);
        Self {
            links,
            resources,
            amounts,
            longest: (longest - 1) as f32,
            paths: ShortestPaths::new(vertices, longest * columns),
            flows: vec![0.0; amounts.sources.len() * count],
            load: vec![0.0; all],
            inverse: inverse.collect(),
            price: vec![1.0; all],
            average: vec![0.0; all],
            resource_length: vec![0; all],
            length: vec![0; count],
            tree: Tree {
                below: vec![0.0; vertices],
                flow: vec![0.0; count],
                change: vec![0.0; all],
                terms: Vec::new(),
            },
            lower: (0, 1),
            best: vec![1; all - 1],
        }
    }

    pub(super) fn run(
        mut self,
        gap: f64,
        progress: &mut Progress<'_>,
    ) -> Result<Solution, OptimumError> {
        let mut sources: Vec<usize> = (0..self.amounts.sources.len()).collect();
        let mut random = Random(99);
        let cut_capacities = &self.resources.cut_capacities;
        let with_cuts = self.amounts.rows.is_empty() && !cut_capacities.is_empty();
        let mut cut =
            with_cuts.then(|| BestCut::new(self.links, cut_capacities, self.resources.nodes));
        // `sharpness` is eta (the factor of the loads in the exponents of prices) times the largest
        // load.
        let (mut sharpness, mut stale) = (20.0_f32, 0);
        let (mut upper, mut best_upper, mut best_lower) = (0.0, f64::INFINITY, 0.0_f64);
        // Start with equal lengths. They give a first lower end: the sum of bytes times hops,
        // divided by the capacity of all resources.
        let all: f32 = self.resources.capacities.iter().map(|capacity| *capacity as f32).sum();
        self.average.fill(1.0 / all);
        // A phase is one pass over all sources. With few sources it makes little progress, so the
        // interval is not checked after every phase.
        let period = 4.max(256 / sources.len().max(1) as u64);
        for phase in 1_u64.. {
            for i in (1..sources.len()).rev() {
                sources.swap(i, random.below(i + 1));
            }
            let mut scale = self.set_prices(sharpness);
            for &source in &sources {
                if phase == 1 {
                    scale = self.set_prices(sharpness);
                }
                self.route(source, phase == 1, (sharpness / scale, scale))?;
            }
            if phase > 4 && phase % period != 0 {
                continue;
            }
            // Check the interval: compute both ends.
            upper = self.add_up();
            self.examine_average(cut.as_mut())?;
            // The first averages still contain the prices of the first phases, which are poor. Try
            // the current prices as well.
            if phase <= 4 * period && upper / value(self.lower) - 1.0 > gap {
                self.set_prices(sharpness);
                self.examine(cut.as_mut())?;
            }
            match &mut cut {
                Some(cut) => self.take_cut(cut),
                None => self.examine_coarse()?,
            }
            let lower = value(self.lower);
            if !progress(lower, upper) {
                return Err(OptimumError::Stopped);
            }
            if upper == 0.0 || upper / lower - 1.0 <= gap {
                break;
            }
            // The largest load can increase between two checks, so compare the ends of the interval
            // with the best ends so far.
            let is_stale = lower / best_lower < PROGRESS && best_upper / upper < PROGRESS;
            stale = if is_stale { stale + 1 } else { 0 };
            if stale >= MAX_STALE {
                break;
            }
            (best_lower, best_upper) = (lower.max(best_lower), upper.min(best_upper));
            // Increase eta as the interval becomes narrower. If the last checks made no progress,
            // increase it further: with a small eta, links that are not the busiest have high
            // prices, too, and this limits the precision.
            let wanted = (self.load.len() as f64).ln() / (upper / lower - 1.0) * 0.25;
            let next = sharpness.max((wanted as f32).min(2000.0)).min(sharpness * 1.5);
            sharpness = if stale >= 2 { (next * 1.4).min(4000.0) } else { next };
        }
        let loads = self.load[..self.load.len() - 1].iter().map(|load| f64::from(*load)).collect();
        Ok(Solution {
            lower: self.lower,
            lengths: self.best,
            upper,
            loads,
            sources: self.amounts.sources.clone(),
            flows: self.flows,
        })
    }

    /// Sets each price to exp(eta (load - largest load)) and returns the largest load.
    fn set_prices(&mut self, sharpness: f32) -> f32 {
        let scale = self.load.iter().copied().fold(1e-9, f32::max);
        let eta = sharpness / scale;
        for (price, load) in self.price.iter_mut().zip(&self.load) {
            *price = fast_exp(eta * (load - scale));
        }
        scale
    }

    /// Sets the lengths of all resources from the averaged or from the current prices. Returns the
    /// sum of capacities times lengths.
    fn set_lengths(&mut self, averaged: bool) -> u128 {
        let longest = self.longest;
        self.round_lengths(averaged, |share| 1 + (share * longest) as u32)
    }

    /// Sets the length of each resource to `round(x)`. Here, x is the price of the resource per
    /// unit of capacity, divided by the largest price per unit of capacity of all resources.
    /// Returns the sum of capacities times lengths.
    fn round_lengths(&mut self, averaged: bool, round: impl Fn(f32) -> u32) -> u128 {
        let prices = if averaged { &self.average } else { &self.price };
        // A length is a price divided by a capacity. The averages are already divided by the
        // capacities.
        let timed = self.resources.timed.as_ref();
        let per_capacity = |i: usize| {
            let is_timed = timed.filter(|timed| timed.resource == i);
            let slowest = is_timed.map_or(1.0, |t| t.speeds.factor(t.speeds.slowest) as f32);
            prices[i] * if averaged { 1.0 } else { self.inverse[i] * slowest }
        };
        let count = self.resources.capacities.len();
        let most = (0..count).map(per_capacity).fold(f32::MIN_POSITIVE, f32::max);
        let mut sum = 0;
        for i in 0..count {
            let length = round(per_capacity(i) / most);
            self.resource_length[i] = length;
            let capacity = self.resources.capacities[i];
            sum += match timed.filter(|timed| timed.resource == i) {
                Some(timed) => timed.speeds.term(length, capacity),
                None => u128::from(capacity) * u128::from(length),
            };
        }
        self.sum_columns();
        sum
    }

    /// Sets the length of each link to the sum of the lengths of the resources that it uses.
    fn sum_columns(&mut self) {
        self.length.fill(0);
        for (number, column) in self.resources.columns.iter().enumerate() {
            let timed = self.resources.timed.as_ref().filter(|timed| timed.column == number);
            for (link, (length, resource)) in self.length.iter_mut().zip(column).enumerate() {
                let own = self.resource_length[*resource as usize];
                *length += timed.map_or(own, |t| t.speeds.length(own, t.capacities[link]));
            }
        }
    }

    /// Moves the flow of a source towards its shortest-path tree. If `first` is true, the source
    /// has no flow yet, and its whole flow follows the tree. `scale` is the largest load.
    fn route(
        &mut self,
        source: usize,
        first: bool,
        (eta, scale): (f32, f32),
    ) -> Result<(), OptimumError> {
        let total = self.set_lengths(false);
        let from = self.amounts.sources[source];
        self.paths.find(self.links, &self.length, from);
        if first {
            self.reached(source)?;
        } else {
            let weight = 1.0 / total as f32;
            for (average, length) in self.average.iter_mut().zip(&self.resource_length) {
                *average += *length as f32 * weight;
            }
        }
        // Sum the amounts of all receivers along the tree, from its leaves to its root.
        let Tree { below, flow, change, terms } = &mut self.tree;
        self.amounts.fill(source, below);
        flow.fill(0.0);
        for &vertex in self.paths.order[1..].iter().rev() {
            let (link, amount) = (self.paths.parent[vertex as usize], below[vertex as usize]);
            flow[link as usize] = amount;
            below[self.links.tail[link as usize] as usize] += amount;
        }
        // Compute how the loads would change if the tree replaced the whole flow of the source.
        let count = self.links.head.len();
        let old = &mut self.flows[source * count..(source + 1) * count];
        change.fill(0.0);
        for (number, column) in self.resources.columns.iter().enumerate() {
            let timed = self.resources.timed.as_ref().filter(|timed| timed.column == number);
            let both = flow.iter().zip(&*old).zip(column).enumerate();
            for (link, ((new, old), resource)) in both {
                let factor = timed.map_or(1.0, |t| t.speeds.factor(t.capacities[link]) as f32);
                change[*resource as usize] += (new - old) * factor;
            }
        }
        terms.clear();
        for (i, change) in change.iter_mut().enumerate() {
            *change *= self.inverse[i];
            if *change != 0.0 {
                terms.push((self.price[i] * *change, eta * *change));
            }
        }
        let step = if first { 1.0 } else { best_step(|| terms.iter().copied(), BISECTIONS) };
        if step == 0.0 {
            return Ok(());
        }
        if step == 1.0 {
            old.copy_from_slice(flow);
        } else {
            old.iter_mut().zip(&*flow).for_each(|(old, new)| *old += step * (new - *old));
        }
        for (i, change) in change.iter().enumerate().filter(|(_, change)| **change != 0.0) {
            self.load[i] += step * change;
            if !first {
                self.price[i] = fast_exp((eta * (self.load[i] - scale)).min(20.0));
            }
        }
        Ok(())
    }

    /// Returns an error if there is no path from the source to one of its receivers.
    fn reached(&self, source: usize) -> Result<(), OptimumError> {
        let from = self.amounts.sources[source];
        let lost = self.amounts.weighted(source, &self.paths.distance).err();
        lost.map_or(Ok(()), |to| {
            Err(OptimumError::Unconnected { from: from.into(), to: to.into() })
        })
    }

    /// Computes the loads again as sums of all flows. This removes the rounding errors of single
    /// steps. Returns the largest load.
    fn add_up(&mut self) -> f64 {
        let count = self.links.head.len();
        let mut sums = vec![0.0_f64; self.load.len()];
        for flows in self.flows.chunks(count.max(1)) {
            for (number, column) in self.resources.columns.iter().enumerate() {
                let timed = self.resources.timed.as_ref().filter(|timed| timed.column == number);
                for (link, (flow, resource)) in flows.iter().zip(column).enumerate() {
                    let factor = timed.map_or(1.0, |t| t.speeds.factor(t.capacities[link]));
                    sums[*resource as usize] += f64::from(*flow) * factor;
                }
            }
        }
        let capacities = self.resources.capacities.iter();
        let loads = sums.iter().zip(capacities).map(|(sum, capacity)| sum / *capacity as f64);
        let mut most = 0.0_f64;
        for (load, exact) in self.load.iter_mut().zip(loads) {
            *load = exact as f32;
            most = most.max(exact);
        }
        most
    }

    /// Computes the lower end from the averaged prices. Then multiplies the averages by [`DECAY`],
    /// so that later prices have more weight.
    fn examine_average(&mut self, cut: Option<&mut BestCut<'_>>) -> Result<(), OptimumError> {
        let total = self.set_lengths(true);
        self.average.iter_mut().for_each(|average| *average *= DECAY);
        self.lower_from_lengths(total, cut)
    }

    /// Computes the lower end of the interval from the current prices.
    fn examine(&mut self, cut: Option<&mut BestCut<'_>>) -> Result<(), OptimumError> {
        let total = self.set_lengths(false);
        self.lower_from_lengths(total, cut)
    }

    /// Computes the lower end from averaged prices that are rounded to a few whole numbers. In an
    /// optimal solution, resources that are not full have the length 0, and all links of a cut that
    /// limits the time have equal lengths. The averages are close to these lengths, and rounding
    /// often makes them equal.
    fn examine_coarse(&mut self) -> Result<(), OptimumError> {
        let total = self.round_lengths(true, |share| (share * COARSE).round() as u32);
        self.lower_from_lengths(total, None)
    }

    /// Computes the lower end of the interval from the lengths, and keeps it if it is the best so
    /// far. `total` is the sum of capacities times lengths. `cut` examines the cuts that separate
    /// the vertices near a source from all other vertices.
    fn lower_from_lengths(
        &mut self,
        total: u128,
        mut cut: Option<&mut BestCut<'_>>,
    ) -> Result<(), OptimumError> {
        let mut sum = 0;
        for (index, &from) in self.amounts.sources.iter().enumerate() {
            self.paths.find(self.links, &self.length, from);
            sum += self
                .amounts
                .weighted(index, &self.paths.distance)
                .map_err(|to| OptimumError::Unconnected { from: from.into(), to: to.into() })?;
            if let Some(cut) = cut.as_deref_mut() {
                cut.try_prefixes(&self.paths.order);
            }
        }
        if value((sum, total)) > value(self.lower) {
            self.lower = (sum, total);
            self.best.clone_from_slice(&self.resource_length[..self.resources.capacities.len()]);
        }
        Ok(())
    }

    /// Computes the lower end of the interval from the best cut, and keeps it if it is the best so
    /// far.
    fn take_cut(&mut self, cut: &mut BestCut<'_>) {
        cut.improve();
        let lengths = cut.lengths();
        let capacity = lengths.iter().zip(&self.resources.capacities).filter(|(l, _)| **l > 0);
        let capacity: u128 = capacity.map(|(_, capacity)| u128::from(*capacity)).sum();
        let pairs = cut.ratio() * capacity as f64;
        let lower = (pairs.round() as u128 * u128::from(self.amounts.even), capacity);
        if capacity > 0 && value(lower) > value(self.lower) {
            self.lower = lower;
            self.best = lengths;
        }
    }
}

/// A deterministic pseudo-random generator (xorshift), which shuffles the order of the sources.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}
