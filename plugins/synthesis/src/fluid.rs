//! Computes the division of the demand among the paths of the network that minimizes the largest
//! load, if data can be divided without limit. This problem is called maximum concurrent flow.
//!
//! The load of a resource (a link, or a port of a node) is the number of steps that it needs for
//! its data. Instead of the largest load itself, the algorithm minimizes a smooth function: each
//! resource has the price `exp(eta load)`, and the sum of all prices is minimized. The algorithm
//! processes one source after another. It finds the tree of shortest paths from the source, where
//! the length of a link follows from the prices of its resources. It then moves a fraction of the
//! source's flow from its present links to this tree. The fraction is chosen to make the sum of the
//! prices as small as possible (block-coordinate Frank-Wolfe). `eta` grows while the interval
//! between the lower bound and the largest load becomes narrower.
//!
//! For any prices, the following quotient is a lower bound on the largest load: the sum of demand
//! times distance over all pairs, divided by the sum of the prices. A decaying average of the
//! prices gives a much larger bound than the prices at a single time.

use crate::Deadline;
use crate::demand::Demand;
use crate::network::Network;
use crate::random::Random;
use crate::resources::{LONGEST, Resources};
use swapmeet_flows::{BestCut, ShortestPaths, best_step, fast_exp};

/// The factor by which the average of the prices is multiplied after each check of the interval, so
/// that later prices have more weight.
const DECAY: f32 = 0.8;
/// Number of checks without progress after which the search ends.
const MAX_STALE: u32 = 8;
/// Number of bisections in the search for the best fraction of a flow to move.
const BISECTIONS: u32 = 7;
/// The search ends if the interval between the lower bound and the largest load has at most this
/// relative width.
const GAP: f64 = 0.01;

/// The flow of each source on each link, and an interval that contains the least number of steps
/// that a flow for the demand can need.
pub(crate) struct Flow {
    /// The flow of the source with index `s` on link `l` is at `s * links + l`.
    pub flows: Vec<f32>,
    pub lower: f64,
    pub upper: f64,
}

struct Solver<'a> {
    network: &'a Network,
    resources: &'a Resources,
    demand: &'a Demand,
    paths: ShortestPaths,
    flows: Vec<f32>,
    load: Vec<f32>,
    price: Vec<f32>,
    average: Vec<f32>,
    /// The lengths of the links in the search for shortest paths.
    length: Vec<u32>,
    /// The whole-number prices of the resources, from which the lengths are computed.
    whole: Vec<u32>,
    tree: Tree,
    /// The cut that needs the most steps so far; `None` if the search examines no cuts.
    cut: Option<BestCut<'a>>,
}

/// Buffers for the shortest-path tree of one source, and for the move of its flow to the tree.
struct Tree {
    below: Vec<f32>,
    flow: Vec<f32>,
    /// For each resource, the change of its load if the tree replaced the whole flow of the source.
    change: Vec<f32>,
    /// For each resource whose change is not 0: its index, its price times the change, and eta
    /// times the change.
    terms: Vec<(u32, f32, f32)>,
}

/// Finds a flow whose largest load is close to the smallest possible.
pub(crate) fn solve(
    network: &Network,
    resources: &Resources,
    demand: &Demand,
    random: &mut Random,
    deadline: Deadline,
) -> Flow {
    let (links, vertices, count) =
        (network.links.count(), network.links.vertices(), resources.count);
    let mut solver = Solver {
        network,
        resources,
        demand,
        paths: ShortestPaths::new(vertices, LONGEST),
        flows: vec![0.0; demand.sources.len() * links],
        load: vec![0.0; count],
        price: vec![1.0; count],
        average: vec![0.0; count],
        length: vec![1; links],
        whole: vec![0; count],
        tree: Tree {
            below: vec![0.0; vertices],
            flow: vec![0.0; links],
            change: vec![0.0; count],
            terms: Vec::new(),
        },
        // Cuts are examined only if all pairs have the same demand, because [`BestCut`] counts
        // pairs, and only if ports are not limited.
        cut: (demand.is_even(network.nodes) && resources.ports.is_none())
            .then(|| BestCut::new(&network.links, &resources.quota, network.nodes as u32)),
    };
    let (lower, upper) = solver.run(random, deadline);
    Flow { flows: solver.flows, lower, upper }
}

impl Solver<'_> {
    fn run(&mut self, random: &mut Random, deadline: Deadline) -> (f64, f64) {
        let mut sources: Vec<usize> = (0..self.demand.sources.len()).collect();
        let mut lower = self.resources.bound_of_nodes(self.network, self.demand);
        // `sharpness` is eta times the largest load.
        let (mut sharpness, mut stale, mut best_upper) = (20.0_f32, 0, f64::INFINITY);
        // A phase processes each source once. With few sources, a phase makes little progress, so
        // the interval is checked less often.
        let period = 4.max(256 / sources.len().max(1) as u64);
        for phase in 1_u64.. {
            // Move the flow of each source, in random order.
            random.shuffle(&mut sources);
            let mut scale = self.set_prices(sharpness);
            for &source in &sources {
                if phase == 1 {
                    scale = self.set_prices(sharpness);
                }
                self.route(source, phase == 1, sharpness / scale, scale);
            }
            if phase >= 4 && phase % period != 0 {
                continue;
            }
            // Check the interval between the lower bound and the largest load.
            let upper = f64::from(self.load.iter().copied().fold(0.0, f32::max));
            let before = lower;
            if phase > 1 {
                lower = self.bound(true).max(lower);
                self.average.iter_mut().for_each(|average| *average *= DECAY);
            }
            // At first, the average still contains the prices of the first phases, so compute a
            // bound from the present prices too.
            if phase <= 4 * period {
                self.set_prices(sharpness);
                lower = self.bound(false).max(lower);
            }
            if upper <= lower * (1.0 + GAP) || deadline.has_passed() {
                return (lower, upper);
            }
            stale =
                if lower > before * 1.0003 || upper < best_upper * 0.9997 { 0 } else { stale + 1 };
            best_upper = best_upper.min(upper);
            if stale >= MAX_STALE {
                return (lower, upper);
            }
            // Increase the sharpness when the interval has become narrower. Increase it further if
            // the interval has stopped becoming narrower.
            let wanted = (self.load.len() as f64).ln() / (upper / lower - 1.0) * 0.25;
            let next = sharpness.max((wanted as f32).min(2000.0)).min(sharpness * 1.5);
            sharpness = if stale >= 2 { (next * 1.4).min(4000.0) } else { next };
        }
        (lower, best_upper)
    }

    /// Sets the price of each resource to `exp(eta (load - largest load))`, which is at most 1.
    /// Returns the largest load.
    fn set_prices(&mut self, sharpness: f32) -> f32 {
        let scale = self.load.iter().copied().fold(1e-9, f32::max);
        let eta = sharpness / scale;
        for (price, load) in self.price.iter_mut().zip(&self.load) {
            *price = fast_exp(eta * (load - scale));
        }
        scale
    }

    /// Computes the lengths of links from the average of the prices if `averaged` is set, and from
    /// the present prices otherwise. Returns the sum of the prices as whole numbers.
    fn set_lengths(&mut self, averaged: bool) -> f64 {
        let prices = if averaged { &self.average } else { &self.price };
        self.resources.set_lengths(prices, &mut self.whole, &mut self.length)
    }

    /// Moves the flow of a source towards its shortest-path tree. If `is_first`, the source has no
    /// flow yet, so the flow becomes the tree.
    fn route(&mut self, source: usize, is_first: bool, eta: f32, scale: f32) {
        // Find the tree, and add the present prices to the average.
        let total = self.set_lengths(false);
        self.paths.find(&self.network.links, &self.length, self.demand.sources[source]);
        if !is_first {
            let weight = 1.0 / total as f32;
            for (average, whole) in self.average.iter_mut().zip(&self.whole) {
                *average += *whole as f32 * weight;
            }
        }
        // Compute the flow along the tree: add up the demand of the receivers, from the leaves to
        // the root.
        let Tree { below, flow, change, terms } = &mut self.tree;
        let segments = self.demand.segments as f32;
        below.fill(0.0);
        for (to, size) in &self.demand.rows[source] {
            below[*to as usize] = *size as f32 * segments;
        }
        flow.fill(0.0);
        for &vertex in self.paths.order[1..].iter().rev() {
            let (link, amount) = (self.paths.parent[vertex as usize], below[vertex as usize]);
            flow[link as usize] = amount;
            below[self.network.links.tail[link as usize] as usize] += amount;
        }
        // Compute how the loads would change if the tree replaced the whole flow.
        let links = self.network.links.count();
        let old = &mut self.flows[source * links..(source + 1) * links];
        change.fill(0.0);
        for column in &self.resources.columns {
            let uses = column.resource.iter().zip(&column.steps);
            for ((new, old), (resource, steps)) in flow.iter().zip(&*old).zip(uses) {
                change[*resource as usize] += (new - old) * steps;
            }
        }
        terms.clear();
        for ((resource, change), price) in (0..).zip(&*change).zip(&self.price) {
            if *change != 0.0 {
                terms.push((resource, price * change, eta * change));
            }
        }
        // Move the best fraction of the flow: 0 keeps the flow, and 1 replaces it by the tree.
        let step = if is_first {
            1.0
        } else {
            best_step(|| terms.iter().map(|(_, first, rate)| (*first, *rate)), BISECTIONS)
        };
        if step == 0.0 {
            return;
        }
        if step == 1.0 {
            old.copy_from_slice(flow);
        } else {
            old.iter_mut().zip(&*flow).for_each(|(old, new)| *old += step * (new - *old));
        }
        for &(resource, ..) in &*terms {
            let resource = resource as usize;
            self.load[resource] += step * change[resource];
            if !is_first {
                self.price[resource] = fast_exp((eta * (self.load[resource] - scale)).min(20.0));
            }
        }
    }

    /// Returns a lower bound on the number of steps. It follows from the average of the prices if
    /// `averaged` is set, and from the present prices otherwise. Cuts are examined too.
    fn bound(&mut self, averaged: bool) -> f64 {
        let total = self.set_lengths(averaged);
        let mut sum = 0.0;
        for (source, row) in self.demand.sources.iter().zip(&self.demand.rows) {
            self.paths.find(&self.network.links, &self.length, *source);
            let distance = |to: u32| f64::from(self.paths.distance[to as usize]);
            sum += row.iter().map(|(to, size)| distance(*to) * f64::from(*size)).sum::<f64>();
            if let Some(cut) = &mut self.cut {
                cut.try_prefixes(&self.paths.order);
            }
        }
        let segments = f64::from(self.demand.segments);
        let by_cut = self.cut.as_ref().map_or(0.0, |cut| cut.ratio() * segments);
        by_cut.max(sum * segments * self.resources.slowest_steps / total)
    }
}
