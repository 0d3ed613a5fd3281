//! The least time of a demand between pairs of nodes whose data may be divided among any paths
//! (maximum concurrent flow, see [`swapmeet_flows::solve`]). Lengths and capacities are whole
//! numbers, so the lower end is an exact fraction.
//!
//! If the network has translations (shifts of all coordinates of a grid, which map every link to a
//! link), all images of a link have the same length, and the flow of one source is enough.

use crate::demand::Demand;
use crate::network::{CapacityNetwork, PortRule, Speeds};
use crate::{MAX_CELLS, OptimumError};
use swapmeet_flows::{
    BestCut, Column, Links, NONE, Options, Prices, Problem, Random, Solution, Unconnected,
};

pub(crate) type Ratio = (u128, u128);

pub(crate) fn value((numerator, denominator): Ratio) -> f64 {
    numerator as f64 / denominator as f64
}

const OPTIONS: Options =
    Options { gap: 0.0, stale_checks: 16, bisections: 10, early_checks: 4, exact: true };

/// A function that gets the lower and the upper end, as loads divided by capacities. It returns
/// whether to continue.
pub(crate) type Progress<'a> = dyn FnMut(f64, f64) -> bool + 'a;

/// Finds the least time. The search ends when the relative width of the interval is at most `gap`.
/// Returns the solution, whose resources are the links followed by the ports, and the list of nodes
/// that have data for others. Times are loads divided by capacities, not µs. Errors if a receiver
/// cannot be reached, if the problem is too large, or if `progress` stops the search.
pub(crate) fn solve(
    network: &CapacityNetwork,
    demand: &Demand,
    gap: f64,
    progress: &mut Progress<'_>,
) -> Result<(Solution, Vec<u32>), OptimumError> {
    let (links, images) = expand(network);
    let limits = Limits::of(network, demand, &links, images);
    let sources = limits.sources.len() as u64;
    if sources * network.link_count() > MAX_CELLS {
        return Err(OptimumError::TooLarge { sources, links: network.link_count() });
    }
    let mut random = Random::with_state(99);
    let draw = |most: usize| (random.bits() % most as u64) as usize;
    let options = Options { gap, ..OPTIONS };
    let found = swapmeet_flows::solve(limits.problem(&links), options, draw, progress);
    let mut solution = found.map_err(|Unconnected { from, to }| OptimumError::Unconnected {
        from: from.into(),
        to: to.into(),
    })?;
    if solution.is_stopped {
        return Err(OptimumError::Stopped);
    }
    solution.lengths.truncate(limits.capacities.len());
    Ok((solution, limits.sources))
}

/// The largest length that [`Prices::Coarse`] gives to a resource.
const COARSE: f32 = 8.0;

/// Returns all links of the network. For each of them, also returns the listed link of which it is
/// an image under a translation.
pub(crate) fn expand(network: &CapacityNetwork) -> (Links, Vec<u32>) {
    let mut links = Links::default();
    let mut images = Vec::with_capacity(network.link_count() as usize);
    if network.translations.is_empty() {
        let mut next = network.links.iter().zip(0..).peekable();
        for vertex in 0..network.vertices {
            while let Some((link, index)) = next.next_if(|(link, _)| link.from == vertex) {
                links.push(link.to);
                images.push(index);
            }
            links.end_vertex();
        }
        return (links, images);
    }
    let sides = &network.translations;
    let coordinates = |vertex: u32| {
        let mut at = vec![0; sides.len()];
        let mut rest = vertex;
        for (coordinate, side) in at.iter_mut().zip(sides).rev() {
            *coordinate = rest % side;
            rest /= side;
        }
        at
    };
    let shifts: Vec<Vec<u32>> = network.links.iter().map(|link| coordinates(link.to)).collect();
    let mut at = vec![0; sides.len()];
    for _ in 0..network.vertices {
        for (shift, index) in shifts.iter().zip(0..) {
            let mut head = 0;
            for ((at, shift), side) in at.iter().zip(shift).zip(sides) {
                let moved = at + shift;
                head = head * side + if moved >= *side { moved - side } else { moved };
            }
            links.push(head);
            images.push(index);
        }
        links.end_vertex();
        for (coordinate, side) in at.iter_mut().zip(sides).rev() {
            *coordinate += 1;
            if *coordinate < *side {
                break;
            }
            *coordinate = 0;
        }
    }
    (links, images)
}

struct Limits {
    nodes: u32,
    pub sources: Vec<u32>,
    /// For each source, its receivers with the amounts. Empty if all amounts are equal to `even`.
    rows: Vec<Vec<(u32, u64)>>,
    even: u64,
    /// The capacity of each resource. All images of a link under translations are one resource.
    pub capacities: Vec<u64>,
    /// The capacity of each resource. Links without a resource of some kind use one of infinite
    /// capacity.
    pub divisors: Vec<f64>,
    /// The kinds of resources. The first kind is the links themselves.
    pub columns: Vec<Column>,
    timed: Option<Timed>,
    /// For each resource, the factor by which its price is multiplied to get its length.
    per_price: Vec<f32>,
    /// The largest length of a resource. A link is at most this times the number of columns long.
    longest: u32,
}

/// The column of [`Limits`] that has the rule [`PortRule::SharedTime`].
struct Timed {
    column: usize,
    resource: usize,
    speeds: Speeds,
    capacities: Vec<u64>,
}

impl Limits {
    fn of(network: &CapacityNetwork, demand: &Demand, links: &Links, images: Vec<u32>) -> Self {
        let one = !network.translations.is_empty();
        let nodes = if one { 1 } else { network.nodes };
        let (sources, rows, even) = match demand {
            Demand::Even(even) => ((0..nodes).collect(), Vec::new(), *even),
            Demand::Pairs(rows) => {
                let (sources, rows) = rows.iter().cloned().unzip();
                (sources, rows, 0)
            }
            Demand::Copies(_) | Demand::Sums(_) | Demand::SumForAll(_) => {
                (Vec::new(), Vec::new(), 0)
            }
        };
        let mut capacities: Vec<u64> = network.links.iter().map(|link| link.capacity).collect();
        let speeds = network.speeds();
        let of_links: Vec<u64> = images.iter().map(|image| capacities[*image as usize]).collect();
        let mut timed = None;
        let mut columns = vec![Column { resource: images, weight: Vec::new() }];
        for ports in &network.ports {
            let first = capacities.len() as u32;
            match ports.rule {
                PortRule::Ends => {}
                PortRule::Shared | PortRule::SharedTime => {
                    capacities.push(ports.capacity * u64::from(nodes));
                    let mut weight = Vec::new();
                    if ports.rule == PortRule::SharedTime {
                        weight.extend(of_links.iter().map(|capacity| speeds.factor(*capacity)));
                        let (column, resource) = (columns.len(), first as usize);
                        let capacities = of_links.clone();
                        timed = Some(Timed { column, resource, speeds, capacities });
                    }
                    columns.push(Column { resource: vec![first; links.count()], weight });
                }
                PortRule::EveryHop => {
                    capacities.extend(vec![ports.capacity; 2 * nodes as usize]);
                    let port = |vertex: &u32, side: u32| match *vertex {
                        switch if switch >= network.nodes => NONE,
                        vertex => first + side * nodes + if one { 0 } else { vertex },
                    };
                    for (ends, side) in [(&links.tail, 0), (&links.head, 1)] {
                        let resource = ends.iter().map(|vertex| port(vertex, side)).collect();
                        columns.push(Column { resource, weight: Vec::new() });
                    }
                }
            }
        }
        let none = capacities.len() as u32;
        let all = columns.iter_mut().flat_map(|column| &mut column.resource);
        all.for_each(|resource| *resource = (*resource).min(none));
        // Distances must fit into 32 bits, even along a path through all vertices.
        let equal = capacities.windows(2).all(|pair| pair[0] == pair[1]);
        let count = columns.len() as u32;
        let most = if equal { 4000 } else { 60_000 } / count;
        let longest = most.min((NONE - 1) / (links.vertices() as u32 + 1) / count).max(2);
        let mut per_price: Vec<f32> = capacities.iter().map(|c| 1.0 / *c as f32).collect();
        if let Some(Timed { resource, speeds, .. }) = &timed {
            per_price[*resource] *= speeds.factor(speeds.slowest) as f32;
        }
        let finite = capacities.iter().map(|capacity| *capacity as f64);
        let divisors = finite.chain([f64::INFINITY]).collect();
        let nodes = network.nodes;
        Self {
            nodes,
            sources,
            rows,
            even,
            capacities,
            divisors,
            columns,
            timed,
            per_price,
            longest,
        }
    }

    fn problem<'a>(&'a self, links: &'a Links) -> Problem<'a, Self> {
        let only_links = self.columns.len() == 1 && self.capacities.len() == links.count();
        let is_even = self.rows.is_empty() && only_links && links.count() > 0;
        Problem {
            links,
            sources: &self.sources,
            demand: self,
            capacities: &self.divisors,
            columns: &self.columns,
            longest: self.longest * self.columns.len() as u32,
            unit: 1.0,
            cut: is_even.then(|| (BestCut::new(links, &self.capacities, self.nodes), self.even)),
            lower: 0.0,
        }
    }

    /// Sets the length of each resource to its price divided by its capacity, relative to the
    /// largest such quotient, and rounded. Returns the sum of capacities times lengths.
    fn round_lengths(
        &self,
        price: impl Fn(usize) -> f32,
        round: impl Fn(f32) -> u32,
        resources: &mut [u32],
        links: &mut [u32],
    ) -> u128 {
        let most = (0..self.capacities.len()).map(&price).fold(f32::MIN_POSITIVE, f32::max);
        let mut sum = 0;
        for (i, capacity) in self.capacities.iter().enumerate() {
            let length = round(price(i) / most);
            resources[i] = length;
            sum += match self.timed.as_ref().filter(|timed| timed.resource == i) {
                Some(timed) => timed.speeds.term(length, *capacity),
                None => u128::from(*capacity) * u128::from(length),
            };
        }
        links.fill(0);
        for (number, column) in self.columns.iter().enumerate() {
            let timed = self.timed.as_ref().filter(|timed| timed.column == number);
            for (link, (length, resource)) in links.iter_mut().zip(&column.resource).enumerate() {
                let own = resources[*resource as usize];
                *length += timed.map_or(own, |t| t.speeds.length(own, t.capacities[link]));
            }
        }
        sum
    }
}

impl swapmeet_flows::Demand for Limits {
    fn amounts(&self, source: usize) -> impl Iterator<Item = (u32, u64)> {
        let row = self.rows.get(source);
        let from = self.sources[source];
        let nodes = if row.is_none() { self.nodes } else { 0 };
        let even = (0..nodes).filter(move |to| *to != from).map(|to| (to, self.even));
        even.chain(row.into_iter().flatten().copied())
    }

    fn set_lengths(
        &self,
        prices: Prices,
        values: &[f32],
        resources: &mut [u32],
        links: &mut [u32],
    ) -> u128 {
        let longest = (self.longest - 1) as f32;
        let fine = |share: f32| 1 + (share * longest) as u32;
        let coarse = |share: f32| (share * COARSE).round() as u32;
        match prices {
            Prices::Current => {
                self.round_lengths(|i| values[i] * self.per_price[i], fine, resources, links)
            }
            Prices::Average => self.round_lengths(|i| values[i], fine, resources, links),
            Prices::Coarse => self.round_lengths(|i| values[i], coarse, resources, links),
        }
    }
}
