//! Packings of messages between nodes. They are used in small networks, for sums that every node
//! receives, and for data that is copied or added if ports limit the time.
//!
//! A message may be forwarded over several links, but it uses only the ports of its sender and its
//! receiver. For each piece of data that is copied, messages form a tree from the origin to all
//! nodes. For each sum, messages form a tree to the node that receives it. For a sum that every
//! node receives, this module uses a tree to some node, and a tree from this node to all others.
//!
//! Upper end: the search finds a mixture of such trees, in which each message follows a path of
//! links. As in [`crate::flow`], prices of the resources grow exponentially with their loads. Part
//! of the most expensive tree is replaced by the cheapest tree, again and again.
//!
//! Lower end: any lengths of the resources give a bound, which is the cost of the cheapest trees
//! for all data, divided by the sum of capacities times lengths. For a sum that every node
//! receives, there are also schedules that are not trees. Three other costs give bounds for all
//! schedules:
//!
//! 1. the cost of the cheapest tree from any node, because the term of each node must reach all
//!    others;
//! 2. the cost of the cheapest tree to any node, because every node receives all terms;
//! 3. for the node that first has the whole sum, the cost of the cheapest tree to this node, plus
//!    the costs of the cheapest messages to each other node, which receives the sum later. The same
//!    holds for reversed directions, because the reversed schedule also connects all pairs of
//!    nodes.

use crate::OptimumError;
use crate::certificate::{Evidence, MessageRow};
use crate::demand::Demand;
use crate::flow::{Progress, Ratio, expand, value};
use crate::network::{CapacityNetwork, Link, PortRule, Speeds};
use std::collections::BTreeMap;
use swapmeet_flows::{Links, NONE, ShortestPaths, best_step};

pub(crate) const MAX_NODES: u32 = 64;

pub(crate) struct MessagePacking {
    pub lower: Ratio,
    pub upper: f64,
    pub proof: Evidence,
}

pub(crate) fn whole(network: &CapacityNetwork) -> CapacityNetwork {
    let (links, images) = expand(network);
    let link = |(number, image): (usize, &u32)| Link {
        from: links.tail[number],
        to: links.head[number],
        capacity: network.links[*image as usize].capacity,
    };
    CapacityNetwork {
        translations: Vec::new(),
        links: images.iter().enumerate().map(link).collect(),
        ..network.clone()
    }
}

/// Finds an interval of the relative width `gap` in a network without translations. `seeds` are
/// lengths of links that are known to give good lower ends. Errors if `progress` stops the search.
pub(crate) fn pack(
    network: &CapacityNetwork,
    demand: &Demand,
    seeds: &[Vec<u32>],
    gap: f64,
    progress: &mut Progress<'_>,
) -> Result<MessagePacking, OptimumError> {
    Search::new(network, demand).run(seeds, gap, progress)
}

pub(crate) fn saturated(network: &CapacityNetwork, proof: &Evidence) -> Vec<(u32, u32)> {
    let Evidence::Messages { lengths, port_lengths, .. } = proof else { return Vec::new() };
    let ports = network.ports.iter().flat_map(|ports| {
        let count = match ports.rule {
            PortRule::Ends | PortRule::EveryHop => 2 * network.nodes,
            PortRule::Shared | PortRule::SharedTime => 1,
        };
        let nodes = if count == 1 { network.nodes.into() } else { 1 };
        std::iter::repeat_n(u128::from(ports.capacity * nodes), count as usize)
    });
    let of_ports: u128 = port_lengths.iter().zip(ports).map(|(l, c)| u128::from(*l) * c).sum();
    let prices = network.links.iter().zip(lengths);
    let price = |(link, length): (&Link, &u32)| u128::from(*length) * u128::from(link.capacity);
    let mut priced: Vec<_> = prices
        .map(|of| (price(of), (of.0.from, of.0.to)))
        .filter(|(price, _)| *price > 0)
        .collect();
    priced.sort_by_key(|(price, _)| std::cmp::Reverse(*price));
    if of_ports > priced.iter().map(|(price, _)| price).sum() {
        return Vec::new();
    }
    let most = priced.first().map_or(0, |(price, _)| *price);
    let full = priced.into_iter().filter(|(price, _)| price * 20 >= most);
    full.map(|(_, ends)| ends).collect()
}

type Messages = Vec<(u32, u32)>;

/// Data that is moved by trees with the same root and direction.
struct Commodity {
    /// The root of the trees; `None` if any node can be the root.
    root: Option<usize>,
    amount: f64,
    /// The trees of the mixture, each with its share of the amount. The sum of the shares is 1.
    trees: Vec<(Trees, f64)>,
}

/// A tree from a root, a tree to a root, or one of each.
#[derive(Debug, Clone)]
struct Trees {
    root: usize,
    copies: Messages,
    sums: Messages,
    paths: Vec<(u32, u32)>,
    loads: Vec<(u32, f64)>,
}

struct Search<'a> {
    network: &'a CapacityNetwork,
    demand: &'a Demand,
    nodes: usize,
    links: Links,
    capacities: Vec<u64>,
    of_link: Vec<Vec<usize>>,
    timed: Option<usize>,
    speeds: Speeds,
    /// For each kind of port that only messages use, the index of the sending port of node 0 in the
    /// list of resources. The sending ports of other nodes follow, and then the receiving ports.
    end_ports: Vec<usize>,
    commodities: Vec<Commodity>,
    paths: ShortestPaths,
    longest: f64,
    loads: Vec<f64>,
    prices: Vec<f64>,
    average: Vec<f64>,
    lower: Ratio,
    best: Vec<u32>,
}

struct Cheapest {
    trees: Vec<(usize, Messages, Messages)>,
    least: u128,
}

const LONGEST: u32 = 60_000;

impl<'a> Search<'a> {
    fn new(network: &'a CapacityNetwork, demand: &'a Demand) -> Self {
        let nodes = network.nodes as usize;
        let (links, _) = expand(network);
        let mut capacities: Vec<u64> = network.links.iter().map(|link| link.capacity).collect();
        let mut of_link: Vec<Vec<usize>> = (0..capacities.len()).map(|link| vec![link]).collect();
        let (mut end_ports, mut timed) = (Vec::new(), None);
        for ports in &network.ports {
            let first = capacities.len();
            match ports.rule {
                PortRule::Ends => {
                    end_ports.push(first);
                    capacities.extend(vec![ports.capacity; 2 * nodes]);
                }
                PortRule::EveryHop => {
                    for (own, link) in of_link.iter_mut().zip(&network.links) {
                        let [from, to] = [link.from as usize, link.to as usize];
                        own.extend((from < nodes).then_some(first + from));
                        own.extend((to < nodes).then_some(first + nodes + to));
                    }
                    capacities.extend(vec![ports.capacity; 2 * nodes]);
                }
                PortRule::Shared | PortRule::SharedTime => {
                    timed = (ports.rule == PortRule::SharedTime).then_some(first).or(timed);
                    of_link.iter_mut().for_each(|own| own.push(first));
                    capacities.push(ports.capacity * nodes as u64);
                }
            }
        }
        let commodity =
            |root, amount: u64| Commodity { root, amount: amount as f64, trees: Vec::new() };
        let commodities = match demand {
            Demand::Copies(amounts) | Demand::Sums(amounts) => amounts
                .iter()
                .filter(|(_, amount)| *amount > 0)
                .map(|(root, amount)| commodity(Some(*root as usize), *amount))
                .collect(),
            Demand::SumForAll(amount) => vec![commodity(None, *amount)],
            Demand::Even(_) | Demand::Pairs(_) => Vec::new(),
        };
        let count = capacities.len();
        Self {
            network,
            demand,
            nodes,
            paths: ShortestPaths::new(links.vertices(), LONGEST),
            longest: f64::from(
                LONGEST.min((NONE - 1) / (links.vertices() as u32 + 1))
                    / of_link.iter().map(Vec::len).max().unwrap_or(1) as u32,
            ),
            links,
            of_link,
            timed,
            speeds: network.speeds(),
            end_ports,
            commodities,
            loads: vec![0.0; count],
            prices: vec![1.0; count],
            average: vec![0.0; count],
            lower: (0, 1),
            best: vec![1; count],
            capacities,
        }
    }

    fn run(
        mut self,
        seeds: &[Vec<u32>],
        gap: f64,
        progress: &mut Progress<'_>,
    ) -> Result<MessagePacking, OptimumError> {
        /// The largest number of rounds, and of successive rounds without progress.
        const ROUNDS: [u32; 2] = [600, 25];
        const SWEEPS: u32 = 6;
        const PROGRESS: f64 = 1.0003;
        const DECAY: f64 = 0.85;
        for seed in seeds {
            let rest = self.capacities.len() - seed.len();
            let lengths: Vec<u32> = seed.iter().copied().chain(vec![0; rest]).collect();
            self.cheapest(&lengths);
        }
        let (mut sharpness, mut stale) = (20.0_f64, 0);
        let (mut upper, mut best_upper, mut best_lower) = (f64::INFINITY, f64::INFINITY, 0.0_f64);
        let mut best_mixture: Option<Vec<Vec<(Trees, f64)>>> = None;
        for _ in 0..ROUNDS[0] {
            self.set_prices(sharpness);
            let lengths = self.lengths(&self.prices);
            let cheapest = self.cheapest(&lengths);
            let total = self.total(&lengths) as f64;
            for (average, length) in self.average.iter_mut().zip(&lengths) {
                *average = *average * DECAY + f64::from(*length) / total.max(1.0);
            }
            for (number, (root, copies, sums)) in cheapest.trees.into_iter().enumerate() {
                let trees = self.trees(&lengths, root, copies, sums);
                self.add(number, trees);
            }
            for _ in 0..SWEEPS {
                self.set_prices(sharpness);
                (0..self.commodities.len())
                    .for_each(|commodity| self.exchange(commodity, sharpness));
            }
            self.add_up();
            let most = self.average.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let length = |average: &f64| (average / most * self.longest).round() as u32;
            let lengths: Vec<u32> = self.average.iter().map(length).collect();
            self.cheapest(&lengths);
            let coarse: Vec<u32> = lengths
                .iter()
                .map(|l| (f64::from(*l) * 8.0 / self.longest).round() as u32)
                .collect();
            self.cheapest(&coarse);
            upper = self.loads.iter().copied().fold(0.0, f64::max);
            if upper < best_upper {
                best_mixture = Some(
                    self.commodities.iter().map(|commodity| commodity.trees.clone()).collect(),
                );
            }
            let lower = value(self.lower);
            if !progress(lower, upper.min(best_upper)) {
                return Err(OptimumError::Stopped);
            }
            let width = upper.min(best_upper) / lower - 1.0;
            if width <= gap {
                break;
            }
            let is_stale = lower / best_lower < PROGRESS && best_upper / upper < PROGRESS;
            stale = if is_stale { stale + 1 } else { 0 };
            if stale >= ROUNDS[1] {
                break;
            }
            (best_lower, best_upper) = (lower.max(best_lower), upper.min(best_upper));
            let wanted = (self.loads.len() as f64).ln() / width * 0.25;
            let next = sharpness.max(wanted.min(2000.0)).min(sharpness * 1.5);
            sharpness = if stale >= 2 { (next * 1.2).min(4000.0) } else { next };
        }
        if upper > best_upper
            && let Some(best) = best_mixture
        {
            self.commodities
                .iter_mut()
                .zip(best)
                .for_each(|(commodity, trees)| commodity.trees = trees);
            self.add_up();
            upper = self.loads.iter().copied().fold(0.0, f64::max);
        }
        Ok(MessagePacking { lower: self.lower, upper, proof: self.proof() })
    }

    /// Sets each price to exp(eta (load - largest load)), where eta is `sharpness` divided by the
    /// largest load.
    fn set_prices(&mut self, sharpness: f64) {
        let scale = self.loads.iter().copied().fold(1e-300, f64::max);
        for (price, load) in self.prices.iter_mut().zip(&self.loads) {
            *price = (sharpness * (load / scale - 1.0)).exp();
        }
    }

    fn lengths(&self, prices: &[f64]) -> Vec<u32> {
        let per_capacity = |i: usize| {
            let is_timed = self.timed == Some(i);
            let slowest = if is_timed { self.speeds.factor(self.speeds.slowest) } else { 1.0 };
            prices[i] / self.capacities[i] as f64 * slowest
        };
        let most = (0..prices.len()).map(per_capacity).fold(f64::MIN_POSITIVE, f64::max);
        (0..prices.len()).map(|i| (per_capacity(i) / most * self.longest).round() as u32).collect()
    }

    fn link_lengths(&self, lengths: &[u32]) -> Vec<u32> {
        let of_link = |(own, link): (&Vec<usize>, &Link)| {
            let of_resource = |resource: &usize| match lengths[*resource] {
                length if self.timed == Some(*resource) => {
                    self.speeds.length(length, link.capacity)
                }
                length => length,
            };
            own.iter().map(of_resource).sum()
        };
        self.of_link.iter().zip(&self.network.links).map(of_link).collect()
    }

    fn total(&self, lengths: &[u32]) -> u128 {
        let terms = lengths.iter().zip(&self.capacities).enumerate();
        let term = |(resource, (length, capacity)): (usize, (&u32, &u64))| {
            if self.timed == Some(resource) {
                return self.speeds.term(*length, *capacity);
            }
            u128::from(*length) * u128::from(*capacity)
        };
        terms.map(term).sum()
    }

    /// Returns the trees of least cost for all commodities. Computes the lower end that follows
    /// from them, and stores it if it is the best.
    fn cheapest(&mut self, lengths: &[u32]) -> Cheapest {
        let link_lengths = self.link_lengths(lengths);
        let nodes = self.nodes;
        let mut costs: Costs = Vec::with_capacity(nodes);
        for from in 0..nodes {
            self.paths.find(&self.links, &link_lengths, from as u32);
            let port = |side: usize, node: usize| -> u64 {
                self.end_ports
                    .iter()
                    .map(|first| u64::from(lengths[first + side * nodes + node]))
                    .sum()
            };
            let cost = |to: usize| u64::from(self.paths.distance[to]) + port(0, from) + port(1, to);
            costs.push((0..nodes).map(cost).collect());
        }
        let found = match self.demand {
            Demand::SumForAll(amount) => cheapest_for_all(&costs, *amount),
            _ => {
                let turned = matches!(self.demand, Demand::Sums(_));
                let costs = if turned { reversed(&costs) } else { costs };
                let mut found = Cheapest { trees: Vec::new(), least: 0 };
                for commodity in &self.commodities {
                    let root = commodity.root.unwrap_or_default();
                    let (messages, cost) = arborescence(&costs, root);
                    found.least += u128::from(cost) * commodity.amount as u128;
                    found.trees.push(match turned {
                        false => (root, messages, Vec::new()),
                        true => (root, Vec::new(), turn(&messages)),
                    });
                }
                found
            }
        };
        let total = self.total(lengths);
        let lower = (found.least, total);
        if total > 0 && value(lower) > value(self.lower) {
            (self.lower, self.best) = (lower, lengths.to_vec());
        }
        found
    }

    fn trees(&mut self, lengths: &[u32], root: usize, copies: Messages, sums: Messages) -> Trees {
        let link_lengths = self.link_lengths(lengths);
        let mut messages: Messages = copies.iter().chain(&sums).copied().collect();
        messages.sort_unstable();
        let (mut paths, mut path, mut loads) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut add = |resource: usize, load: f64| {
            *loads.entry(resource as u32).or_insert(0.0) += load / self.capacities[resource] as f64;
        };
        for of_sender in messages.chunk_by(|a, b| a.0 == b.0) {
            let from = of_sender[0].0;
            self.paths.find(&self.links, &link_lengths, from);
            for (_, to) in of_sender {
                self.paths.path_to(&self.links, *to, &mut path);
                for link in &path {
                    paths.push((from, *link));
                    let capacity = self.network.links[*link as usize].capacity;
                    for resource in &self.of_link[*link as usize] {
                        let is_timed = self.timed == Some(*resource);
                        add(*resource, if is_timed { self.speeds.factor(capacity) } else { 1.0 });
                    }
                }
                for first in &self.end_ports {
                    add(first + from as usize, 1.0);
                    add(first + self.nodes + *to as usize, 1.0);
                }
            }
        }
        Trees { root, copies, sums, paths, loads: loads.into_iter().collect() }
    }

    fn add(&mut self, commodity: usize, trees: Trees) {
        let commodity = &mut self.commodities[commodity];
        let is_first = commodity.trees.is_empty();
        if is_first {
            for (resource, load) in &trees.loads {
                self.loads[*resource as usize] += load * commodity.amount;
            }
        }
        commodity.trees.push((trees, f64::from(u8::from(is_first))));
    }

    /// Moves a part of a commodity from its most expensive to its cheapest trees. The size of the
    /// part minimizes the sum of all prices.
    fn exchange(&mut self, commodity: usize, sharpness: f64) {
        const BISECTIONS: u32 = 14;
        let Commodity { trees, amount, .. } = &mut self.commodities[commodity];
        let cost = |trees: &Trees| -> f64 {
            trees.loads.iter().map(|(resource, load)| self.prices[*resource as usize] * load).sum()
        };
        let costs: Vec<f64> = trees.iter().map(|(trees, _)| cost(trees)).collect();
        let by_cost = |a: &usize, b: &usize| costs[*a].total_cmp(&costs[*b]);
        let used = (0..trees.len()).filter(|place| trees[*place].1 > 0.0);
        let (Some(most), Some(least)) = (used.max_by(by_cost), (0..trees.len()).min_by(by_cost))
        else {
            return;
        };
        if most == least || costs[most] <= costs[least] {
            return;
        }
        let share = trees[most].1;
        let mut changes: BTreeMap<u32, f64> = BTreeMap::new();
        for (place, sign) in [(least, 1.0), (most, -1.0)] {
            for (resource, load) in &trees[place].0.loads {
                *changes.entry(*resource).or_default() += sign * load * share * *amount;
            }
        }
        changes.retain(|_, change| *change != 0.0);
        let scale = self.loads.iter().copied().fold(1e-300, f64::max);
        let eta = sharpness / scale;
        let terms: Vec<(f32, f32)> = changes
            .iter()
            .map(|(resource, change)| {
                let price = self.prices[*resource as usize];
                ((price * change / scale) as f32, (eta * change) as f32)
            })
            .collect();
        let step = f64::from(best_step(|| terms.iter().copied(), BISECTIONS));
        trees[most].1 = if step == 1.0 { 0.0 } else { share * (1.0 - step) };
        trees[least].1 += share * step;
        trees.retain(|(_, share)| *share > 0.0);
        for (resource, change) in changes {
            let resource = resource as usize;
            self.loads[resource] += step * change;
            self.prices[resource] = (eta * (self.loads[resource] - scale)).min(20.0).exp();
        }
    }

    fn add_up(&mut self) {
        self.loads.fill(0.0);
        for commodity in &mut self.commodities {
            let sum: f64 = commodity.trees.iter().map(|(_, share)| share).sum();
            for (trees, share) in &mut commodity.trees {
                *share /= sum;
                for (resource, load) in &trees.loads {
                    self.loads[*resource as usize] += load * *share * commodity.amount;
                }
            }
        }
    }

    fn proof(self) -> Evidence {
        let mut roots: BTreeMap<u32, f64> = BTreeMap::new();
        let mut messages = [BTreeMap::new(), BTreeMap::new()];
        let mut flows: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
        for commodity in &self.commodities {
            for (trees, share) in &commodity.trees {
                let amount = share * commodity.amount;
                *roots.entry(trees.root as u32).or_default() += amount;
                for (kind, list) in messages.iter_mut().zip([&trees.copies, &trees.sums]) {
                    for (from, to) in list {
                        let row: &mut BTreeMap<u32, f64> = kind.entry(*from).or_default();
                        *row.entry(*to).or_default() += amount;
                    }
                }
                for (from, link) in &trees.paths {
                    *flows.entry(*from).or_default().entry(*link).or_default() += amount;
                }
            }
        }
        let rows = |rows: BTreeMap<u32, BTreeMap<u32, f64>>| -> Vec<MessageRow> {
            let row = |row: BTreeMap<u32, f64>| row.into_iter().map(|(i, x)| (i, x as f32));
            rows.into_iter().map(|(from, amounts)| (from, row(amounts).collect())).collect()
        };
        let [copies, sums] = messages.map(rows);
        let mut lengths = self.best;
        let port_lengths = lengths.split_off(self.network.links.len());
        let roots = roots.into_iter().map(|(root, amount)| (root, amount as f32)).collect();
        Evidence::Messages { lengths, port_lengths, roots, copies, sums, flows: rows(flows) }
    }
}

fn turn(messages: &[(u32, u32)]) -> Messages {
    messages.iter().map(|(from, to)| (*to, *from)).collect()
}

/// For a sum that every node receives, returns the cheapest trees to and from the same root, and
/// the cost that gives the lower bound.
fn cheapest_for_all(costs: &Costs, amount: u64) -> Cheapest {
    let nodes = costs.len();
    let turned = reversed(costs);
    let from: Vec<_> = (0..nodes).map(|root| arborescence(costs, root)).collect();
    let into: Vec<_> = (0..nodes).map(|root| arborescence(&turned, root)).collect();
    let cheapest = |costs: &Costs, node: usize| {
        let others = (0..nodes).filter(|other| *other != node);
        others.map(|other| costs[other][node]).min().unwrap_or(0)
    };
    let later = |trees: &[(Messages, u64)], costs: &Costs| {
        let each: Vec<u64> = (0..nodes).map(|node| cheapest(costs, node)).collect();
        let all: u64 = each.iter().sum();
        (0..nodes).map(|node| trees[node].1 + all - each[node]).min().unwrap_or(0)
    };
    let one_way = from.iter().chain(&into).map(|(_, cost)| *cost).max().unwrap_or(0);
    let least = one_way.max(later(&into, costs)).max(later(&from, &turned));
    let root = (0..nodes).min_by_key(|root| from[*root].1 + into[*root].1).unwrap_or(0);
    let trees = vec![(root, from[root].0.clone(), turn(&into[root].0))];
    Cheapest { trees, least: u128::from(least) * u128::from(amount) }
}

type Costs = Vec<Vec<u64>>;

fn reversed(costs: &Costs) -> Costs {
    let nodes = 0..costs.len();
    nodes.clone().map(|from| nodes.clone().map(|to| costs[to][from]).collect()).collect()
}

fn arborescence(costs: &Costs, root: usize) -> (Vec<(u32, u32)>, u64) {
    let parents = parents(costs, root);
    let others = || (0..costs.len()).filter(|node| *node != root);
    let messages = others().map(|node| (parents[node] as u32, node as u32)).collect();
    (messages, others().map(|node| costs[parents[node]][node]).sum())
}

/// Returns the parent of each node in a tree of least cost. The parent of the root has no meaning.
fn parents(costs: &Costs, root: usize) -> Vec<usize> {
    // Choose the cheapest message into each node. If they have no cycle, they form the tree.
    let nodes = costs.len();
    let cheapest = |to: usize| {
        let others = (0..nodes).filter(|from| *from != to);
        others.min_by_key(|from| costs[*from][to]).unwrap_or(root)
    };
    let mut parents: Vec<usize> =
        (0..nodes).map(|node| if node == root { root } else { cheapest(node) }).collect();
    let Some(cycle) = find_cycle(&parents, root) else { return parents };
    // Replace the cycle by a single node, the last node of a smaller problem. A message into this
    // node replaces a message of the cycle, so its cost is the difference between the two.
    let mut is_inside = vec![false; nodes];
    cycle.iter().for_each(|node| is_inside[*node] = true);
    let outside: Vec<usize> = (0..nodes).filter(|node| !is_inside[*node]).collect();
    let extra = |from: usize, to: usize| costs[from][to] - costs[parents[to]][to];
    let nearest = |keys: &dyn Fn(usize) -> u64| {
        cycle.iter().copied().min_by_key(|node| keys(*node)).unwrap_or(root)
    };
    let entry: Vec<usize> = outside.iter().map(|from| nearest(&|to| extra(*from, to))).collect();
    let exit: Vec<usize> = outside.iter().map(|to| nearest(&|from| costs[from][*to])).collect();
    let mut smaller: Costs =
        outside.iter().map(|from| outside.iter().map(|to| costs[*from][*to]).collect()).collect();
    for (row, (from, entry)) in smaller.iter_mut().zip(outside.iter().zip(&entry)) {
        row.push(extra(*from, *entry));
    }
    let leave = outside.iter().zip(&exit).map(|(to, exit)| costs[*exit][*to]);
    smaller.push(leave.chain([0]).collect());
    let new_root = outside.iter().position(|node| *node == root).unwrap_or_default();
    let found = self::parents(&smaller, new_root);
    for (place, node) in outside.iter().enumerate().filter(|(_, node)| **node != root) {
        let parent = found[place];
        parents[*node] = outside.get(parent).copied().unwrap_or(exit[place]);
    }
    let sender = found[outside.len()];
    parents[entry[sender]] = outside[sender];
    parents
}

fn find_cycle(parents: &[usize], root: usize) -> Option<Vec<usize>> {
    // For each node, the number of the walk that first reached it, or 0 if no walk has reached it.
    let mut reached = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut node = start;
        while node != root && reached[node] == 0 {
            reached[node] = start + 1;
            node = parents[node];
        }
        if node != root && reached[node] == start + 1 {
            let rest = std::iter::successors(Some(parents[node]), |node| Some(parents[*node]));
            return Some(
                std::iter::once(node).chain(rest.take_while(|other| *other != node)).collect(),
            );
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_have_the_least_cost_of_all_trees() {
        let mut state = 5_u64;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..300 {
            let nodes = 2 + random(4) as usize;
            let root = random(nodes as u64) as usize;
            let costs: Costs =
                (0..nodes).map(|_| (0..nodes).map(|_| random(12)).collect()).collect();
            let mut least = u64::MAX;
            for choice in 0..(nodes as u64).pow(nodes as u32) {
                let parent =
                    |node: usize| (choice / (nodes as u64).pow(node as u32)) as usize % nodes;
                let reaches_root = |node: usize| {
                    let mut at = node;
                    (0..nodes).for_each(|_| at = if at == root { root } else { parent(at) });
                    at == root
                };
                if (0..nodes).all(reaches_root) {
                    let cost =
                        |node: usize| if node == root { 0 } else { costs[parent(node)][node] };
                    least = least.min((0..nodes).map(cost).sum());
                }
            }
            let (messages, cost) = arborescence(&costs, root);
            assert_eq!(cost, least, "{costs:?} from {root}");
            assert_eq!(messages.len(), nodes - 1);
            let sum: u64 = messages.iter().map(|(a, b)| costs[*a as usize][*b as usize]).sum();
            assert_eq!(sum, least);
            let parents: Vec<usize> = (0..nodes)
                .map(|node| {
                    messages
                        .iter()
                        .find(|(_, to)| *to as usize == node)
                        .map_or(root, |m| m.0 as usize)
                })
                .collect();
            assert_eq!(find_cycle(&parents, root), None);
        }
    }
}
