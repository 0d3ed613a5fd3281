//! Maximum concurrent flow: the division of a demand among the paths of a network that minimizes
//! the largest load. Data may be divided into arbitrarily small amounts. The result is a flow, and
//! an interval that contains the smallest possible value of the largest load.
//!
//! Upper end: the largest load of a flow. The sum of exp(eta * load) over all resources (links and
//! ports) is minimized by block-coordinate Frank-Wolfe, with one block of variables for the flow of
//! each source. The prices of resources are exp(eta * load). For one source after another, the flow
//! moves towards the shortest-path tree for these prices, by the step that makes the sum smallest.
//! The parameter eta grows as the interval becomes narrower. Garg and Könemann (2007) and Fleischer
//! (2000) prove bounds for similar methods; here the width of the interval shows when to stop.
//!
//! Lower end: any lengths of the resources give a bound, which is the sum of demands times
//! distances, divided by the sum of capacities times lengths. The search uses a decaying average of
//! the prices as lengths, because the current prices alone would give a bound that is some percent
//! smaller. The lengths are rounded to whole numbers, so the lower end is an exact fraction.

use crate::{BestCut, Links, NONE, ShortestPaths};

/// At each check of the interval, the sums of earlier lengths are multiplied by this factor.
const DECAY: f32 = 0.8;
/// A check of the interval counts as progress if the lower or the upper end has improved by more
/// than this factor.
const PROGRESS: f64 = 1.0003;

/// The resources of one kind that links use. A kind is the links themselves, or a kind of ports.
#[derive(Debug)]
pub struct Column {
    pub resource: Vec<u32>,
    /// For each link, the amount of its resource that a unit of data uses; empty if all are 1.
    pub weight: Vec<f64>,
}

/// The demand, and the rule for lengths.
pub trait Demand {
    /// Returns the receivers of the source with this index, and the amount for each of them.
    fn amounts(&self, source: usize) -> impl Iterator<Item = (u32, u64)>;

    /// Sets the length of each resource from its price, up to a common factor, and the length of
    /// each link from the lengths of its resources. Returns the sum of capacities times lengths
    /// over all resources.
    fn set_lengths(
        &self,
        prices: Prices,
        values: &[f32],
        resources: &mut [u32],
        links: &mut [u32],
    ) -> u128;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prices {
    Current,
    /// The decaying sum of a resource's earlier lengths, up to a common factor.
    Average,
    /// As `Average`, but each length is 0 or a small number. In an optimal solution, resources that
    /// are not full have the length 0, and the links of a limiting cut have equal lengths. Averages
    /// are close to these lengths, and coarse rounding often makes them equal.
    Coarse,
}

#[derive(Debug)]
pub struct Problem<'a, D> {
    pub links: &'a Links,
    pub sources: &'a [u32],
    pub demand: &'a D,
    /// The capacity of each resource. The load of a resource is its use divided by its capacity.
    pub capacities: &'a [f64],
    pub columns: &'a [Column],
    pub longest: u32,
    /// The factor by which amounts times lengths are multiplied in a lower bound. It is 1 if
    /// amounts and capacities have the same unit.
    pub unit: f64,
    /// The search for cuts, and the amount that each node has for each other node. `None` unless
    /// all these amounts are equal and all resources are links.
    pub cut: Option<(BestCut<'a>, u64)>,
    /// A lower end of the interval that is known before the search.
    pub lower: f64,
}

#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The width of the interval, divided by its lower end, at which the search ends.
    pub gap: f64,
    /// The number of consecutive checks without progress after which the search ends.
    pub stale_checks: u32,
    pub bisections: u32,
    /// The interval is checked after each of the first phases, of which this is the number. After
    /// that, it is checked only at regular intervals of several phases.
    pub early_checks: u64,
    /// Whether the largest load is summed again for each upper end, without the rounding errors of
    /// many steps, and more lengths and cuts are tried.
    pub exact: bool,
}

#[derive(Debug)]
pub struct Solution {
    /// The flows of all sources, one source after another. Each flow has one amount for each link.
    pub flows: Vec<f32>,
    pub loads: Vec<f32>,
    pub lower: f64,
    /// The lower end as numerator and denominator, without [`Problem::unit`]. The numerator is 0 if
    /// the search has not improved [`Problem::lower`].
    pub fraction: (u128, u128),
    pub lengths: Vec<u32>,
    pub upper: f64,
    pub is_stopped: bool,
}

#[derive(Debug)]
pub struct Unconnected {
    pub from: u32,
    pub to: u32,
}

/// Finds a flow whose largest load is close to the smallest possible one. `draw` returns a random
/// number less than its argument. `progress` gets the lower and the upper end at each check, and
/// returns whether to continue. Errors if there is no path from a source to one of its receivers.
pub fn solve<D: Demand>(
    problem: Problem<'_, D>,
    options: Options,
    mut draw: impl FnMut(usize) -> usize,
    mut progress: impl FnMut(f64, f64) -> bool,
) -> Result<Solution, Unconnected> {
    let mut order: Vec<usize> = (0..problem.sources.len()).collect();
    let mut solver = Solver::new(problem, options);
    // `sharpness` is eta times the largest load.
    let (mut sharpness, mut stale) = (20.0_f32, 0);
    let (mut best_upper, mut best_lower) = (f64::INFINITY, 0.0_f64);
    // A phase is one pass over all sources. If there are few sources, a phase makes little
    // progress, so the interval is checked after more phases.
    let period = 4.max(256 / order.len().max(1) as u64);
    for phase in 1_u64.. {
        for i in (1..order.len()).rev() {
            order.swap(i, draw(i + 1));
        }
        let mut scale = solver.set_prices(sharpness);
        for &source in &order {
            if phase == 1 {
                scale = solver.set_prices(sharpness);
            }
            solver.route(source, phase == 1, (sharpness / scale, scale))?;
        }
        if phase > options.early_checks && phase % period != 0 {
            continue;
        }
        let upper = solver.largest_load();
        if options.exact || phase > 1 {
            solver.examine(Prices::Average);
            solver.average.iter_mut().for_each(|average| *average *= DECAY);
        }
        // The first averages contain poor prices, so the current prices are tried, too.
        let is_narrow = |lower: f64| upper == 0.0 || upper / lower - 1.0 <= options.gap;
        if phase <= 4 * period && !(options.exact && is_narrow(solver.lower)) {
            solver.set_prices(sharpness);
            solver.examine(Prices::Current);
        }
        solver.take_cut();
        if options.exact && solver.problem.cut.is_none() {
            solver.examine(Prices::Coarse);
        }
        let lower = solver.lower;
        let is_stopped = !progress(lower, upper);
        // The largest load can grow between checks, so compare the ends with the best ends so far.
        let is_stale = lower / best_lower < PROGRESS && best_upper / upper < PROGRESS;
        stale = if is_stale { stale + 1 } else { 0 };
        if is_stopped || is_narrow(lower) || stale >= options.stale_checks {
            return Ok(solver.end(upper, is_stopped));
        }
        (best_lower, best_upper) = (lower.max(best_lower), upper.min(best_upper));
        // If eta is small, links that are not the busiest also have high prices. So eta grows if
        // progress stops.
        let wanted = (solver.load.len() as f64).ln() / (upper / lower - 1.0) * 0.25;
        let next = sharpness.max((wanted as f32).min(2000.0)).min(sharpness * 1.5);
        sharpness = if stale >= 2 { (next * 1.4).min(4000.0) } else { next };
    }
    unreachable!("the search ends when it makes no progress")
}

struct Solver<'a, D> {
    problem: Problem<'a, D>,
    options: Options,
    paths: ShortestPaths,
    flows: Vec<f32>,
    inverse: Vec<f32>,
    load: Vec<f32>,
    /// For each resource, a price, which rises exponentially with its load.
    price: Vec<f32>,
    /// For each resource, the sum of its lengths so far. Earlier lengths have smaller weights.
    average: Vec<f32>,
    /// For each resource, its price divided by its capacity, rounded to a whole number after a
    /// multiplication by a common factor.
    resource_length: Vec<u32>,
    length: Vec<u32>,
    tree: Tree,
    lower: f64,
    fraction: (u128, u128),
    best: Vec<u32>,
}

/// The tree of shortest paths of the source whose flow is being changed.
struct Tree {
    /// For each vertex, the amount that it and all its descendants in the tree receive.
    below: Vec<f32>,
    /// The amount on each link if the flow of the source uses only the tree.
    flow: Vec<f32>,
    /// The change of each resource's load if the flow of the source uses only the tree.
    change: Vec<f32>,
    /// For each change that is not 0: the price times the change, and eta times the change.
    terms: Vec<(f32, f32)>,
}

impl<'a, D: Demand> Solver<'a, D> {
    fn new(problem: Problem<'a, D>, options: Options) -> Self {
        let (vertices, count) = (problem.links.vertices(), problem.links.count());
        let all = problem.capacities.len();
        // In an exact search, all averages are equal at first, so the first lower end is bytes
        // times hops, divided by the total capacity.
        let finite = problem.capacities.iter().filter(|capacity| capacity.is_finite());
        let capacity: f32 = finite.map(|capacity| *capacity as f32).sum();
        Self {
            options,
            paths: ShortestPaths::new(vertices, problem.longest),
            flows: vec![0.0; problem.sources.len() * count],
            inverse: problem.capacities.iter().map(|capacity| 1.0 / *capacity as f32).collect(),
            load: vec![0.0; all],
            price: vec![1.0; all],
            average: vec![if options.exact { 1.0 / capacity } else { 0.0 }; all],
            resource_length: vec![0; all],
            length: vec![0; count],
            tree: Tree {
                below: vec![0.0; vertices],
                flow: vec![0.0; count],
                change: vec![0.0; all],
                terms: Vec::new(),
            },
            lower: problem.lower,
            fraction: (0, 1),
            best: vec![1; all],
            problem,
        }
    }

    fn end(self, upper: f64, is_stopped: bool) -> Solution {
        let Self { flows, load: loads, lower, fraction, best: lengths, .. } = self;
        Solution { flows, loads, lower, fraction, lengths, upper, is_stopped }
    }

    /// Sets each price to exp(eta (load - largest load)), where eta is `sharpness` divided by the
    /// largest load. Returns the largest load.
    fn set_prices(&mut self, sharpness: f32) -> f32 {
        let scale = self.load.iter().copied().fold(1e-9, f32::max);
        let eta = sharpness / scale;
        for (price, load) in self.price.iter_mut().zip(&self.load) {
            *price = fast_exp(eta * (load - scale));
        }
        scale
    }

    /// Moves the flow of a source towards its shortest-path tree. `scale` is the largest load.
    fn route(
        &mut self,
        source: usize,
        first: bool,
        (eta, scale): (f32, f32),
    ) -> Result<(), Unconnected> {
        let Problem { links, sources, demand, columns, .. } = self.problem;
        let lengths = (&mut *self.resource_length, &mut *self.length);
        let total = demand.set_lengths(Prices::Current, &self.price, lengths.0, lengths.1);
        let from = sources[source];
        self.paths.find(links, &self.length, from);
        if first {
            let mut receivers = demand.amounts(source).map(|(to, _)| to);
            if let Some(to) = receivers.find(|to| self.paths.distance[*to as usize] == NONE) {
                return Err(Unconnected { from, to });
            }
        } else {
            let weight = 1.0 / total as f32;
            for (average, length) in self.average.iter_mut().zip(&self.resource_length) {
                *average += *length as f32 * weight;
            }
        }
        let Tree { below, flow, change, terms } = &mut self.tree;
        below.fill(0.0);
        demand.amounts(source).for_each(|(to, amount)| below[to as usize] = amount as f32);
        flow.fill(0.0);
        for &vertex in self.paths.order[1..].iter().rev() {
            let (link, amount) = (self.paths.parent[vertex as usize], below[vertex as usize]);
            flow[link as usize] = amount;
            below[links.tail[link as usize] as usize] += amount;
        }
        let count = links.count();
        let old = &mut self.flows[source * count..(source + 1) * count];
        change.fill(0.0);
        for Column { resource, weight } in columns {
            let changes = flow.iter().zip(&*old).map(|(new, old)| new - old).zip(resource);
            if weight.is_empty() {
                changes.for_each(|(amount, resource)| change[*resource as usize] += amount);
            } else {
                for ((amount, resource), weight) in changes.zip(weight) {
                    change[*resource as usize] += amount * *weight as f32;
                }
            }
        }
        terms.clear();
        for (i, change) in change.iter_mut().enumerate() {
            *change *= self.inverse[i];
            if *change != 0.0 {
                terms.push((self.price[i] * *change, eta * *change));
            }
        }
        let bisections = self.options.bisections;
        let step = if first { 1.0 } else { best_step(|| terms.iter().copied(), bisections) };
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

    /// Returns the largest load. In an exact search, the loads of all flows are summed again, to
    /// remove the rounding errors of the steps.
    fn largest_load(&mut self) -> f64 {
        if !self.options.exact {
            return self.load.iter().copied().fold(0.0, f32::max).into();
        }
        let mut sums = vec![0.0_f64; self.load.len()];
        for flows in self.flows.chunks(self.problem.links.count().max(1)) {
            for Column { resource, weight } in self.problem.columns {
                for (link, (flow, resource)) in flows.iter().zip(resource).enumerate() {
                    let weight = weight.get(link).copied().unwrap_or(1.0);
                    sums[*resource as usize] += f64::from(*flow) * weight;
                }
            }
        }
        let mut most = 0.0_f64;
        for ((load, sum), capacity) in self.load.iter_mut().zip(sums).zip(self.problem.capacities) {
            *load = (sum / capacity) as f32;
            most = most.max(sum / capacity);
        }
        most
    }

    /// Computes the lower end that follows from these prices, and keeps it if it is the best. Also
    /// tries cuts around each source.
    fn examine(&mut self, prices: Prices) {
        let Problem { links, sources, demand, cut, unit, .. } = &mut self.problem;
        let values = if prices == Prices::Current { &self.price } else { &self.average };
        let total = demand.set_lengths(prices, values, &mut self.resource_length, &mut self.length);
        let mut sum = 0;
        for (source, from) in sources.iter().enumerate() {
            self.paths.find(links, &self.length, *from);
            let distance = |to: u32| u128::from(self.paths.distance[to as usize]);
            let terms =
                demand.amounts(source).map(|(to, amount)| u128::from(amount) * distance(to));
            sum += terms.sum::<u128>();
            if let Some((cut, _)) = cut {
                cut.try_prefixes(&self.paths.order);
            }
        }
        let lower = sum as f64 * *unit / total as f64;
        if lower > self.lower {
            (self.lower, self.fraction) = (lower, (sum, total));
            self.best.clone_from(&self.resource_length);
        }
    }

    fn take_cut(&mut self) {
        let Some((cut, amount)) = &mut self.problem.cut else { return };
        if self.options.exact {
            cut.improve();
        }
        let (pairs, capacity) = cut.fraction();
        let fraction = (pairs * u128::from(*amount), capacity);
        let lower = fraction.0 as f64 / fraction.1 as f64;
        if lower > self.lower {
            (self.lower, self.fraction, self.best) = (lower, fraction, cut.lengths());
        }
    }
}

/// Returns the step, from 0 to 1, that minimizes a sum of exponential functions. Each function is
/// given by its slope at 0 and the factor in its exponent. The sum is convex, so its minimum is
/// found by bisection of its slope.
pub fn best_step<I: Iterator<Item = (f32, f32)>>(terms: impl Fn() -> I, bisections: u32) -> f32 {
    let slope = |step: f32| terms().map(|(first, rate)| first * fast_exp(step * rate)).sum::<f32>();
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    if slope(1.0) <= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..bisections {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 { high = middle } else { low = middle }
    }
    if low == 0.0 { high * 0.5 } else { low }
}

/// Returns e^x with a relative error of about 1e-5. The result is a power of two times a
/// polynomial, and compilers can vectorize this function.
#[inline]
pub fn fast_exp(x: f32) -> f32 {
    let exponent = (x * std::f32::consts::LOG2_E).clamp(-120.0, 120.0);
    let whole = exponent.floor();
    let part = exponent - whole;
    let ln_2 = std::f32::consts::LN_2;
    let mantissa = 1.0
        + part
            * (ln_2
                + part
                    * (0.240_226_5
                        + part * (0.055_490_6 + part * (0.009_678_1 + part * 0.001_894_3))));
    f32::from_bits(((whole as i32 + 127) << 23) as u32) * mantissa
}
