//! The optimum of a task: an interval that contains its least time in µs, and the resources that
//! limit this time.

use crate::OptimumError;
use crate::certificate::{Certificate, Evidence, FORMAT, ProblemSpecs};
use crate::demand::Demand;
use crate::flow::{self, Progress, value};
use crate::network::{CapacityNetwork, Link, PortRule};
use crate::packing;
use crate::trees::{TreePacking, pack};
use swapmeet_core::cost::model::NetworkRates;
use swapmeet_core::simulation::Task;
use swapmeet_flows::Solution;

#[derive(Debug, Clone, Copy)]
pub struct MachineTask<'a> {
    pub task: &'a Task,
    /// The bytes of a unit of load. If loads count blocks, this is the block size; if they count
    /// bytes, it is 1.
    pub unit_bytes: f64,
    pub rates: NetworkRates,
}

/// The default of [`Options::gap`], the relative width of the interval at which the search ends.
pub const DEFAULT_GAP: f64 = 0.02;

pub struct Options<'a> {
    /// The width of the interval, divided by its lower end, at which the search ends.
    pub gap: f64,
    /// A function that gets both ends of the interval in µs after each update, at first 0 and
    /// infinity. If it returns `false`, the search ends with [`OptimumError::Stopped`].
    pub progress: &'a mut dyn FnMut(f64, f64) -> bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Bottleneck {
    Nothing,
    /// The ports of nodes, or the rate at which nodes can inject data into the network.
    Ports,
    /// Links that are used at full capacity.
    Links {
        /// The vertices of each link, the most important link first. Switches are numbered after
        /// the nodes.
        links: Vec<(u32, u32)>,
        /// The number of images of each listed link under translations. The images are also used at
        /// full capacity.
        copies: u64,
    },
}

/// The interval, in µs without start-up times and latencies, and the resources that limit the time.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    pub lower_us: f64,
    pub upper_us: f64,
    pub bottleneck: Bottleneck,
    /// The evidence for the interval. Its field `origin` is empty.
    pub certificate: Certificate,
}

impl Optimum {
    /// Returns the relative width of the interval: the upper end divided by the lower end, minus 1.
    pub fn gap(&self) -> f64 {
        if self.lower_us > 0.0 { self.upper_us / self.lower_us - 1.0 } else { 0.0 }
    }
}

/// Returns the network, the demand, and the time in µs in which a link of capacity 1 moves a unit
/// of the demand. Errors if the network or the demand is too large, if a link has no bandwidth, or
/// if the machine moves data in no time.
pub fn problem(
    machine_task: &MachineTask<'_>,
) -> Result<(CapacityNetwork, Demand, f64), OptimumError> {
    let MachineTask { task, unit_bytes, rates } = *machine_task;
    if rates.link_byte_us <= 0.0 {
        return Err(OptimumError::NoTime);
    }
    let topology = task.network().as_ref();
    let demand = Demand::of(task)?;
    let nodes = topology.physical_nodes();
    let network = CapacityNetwork::of(topology, &rates, demand.is_even(nodes))?;
    let unit_us = unit_bytes * rates.link_byte_us / network.capacity_unit;
    Ok((network, demand, unit_us))
}

/// Finds the optimum of a task. Errors if a receiver cannot be reached, if a link has no bandwidth,
/// or if the problem is too large.
pub fn solve(
    machine_task: &MachineTask<'_>,
    options: &mut Options<'_>,
) -> Result<Optimum, OptimumError> {
    solve_problem(problem(machine_task)?, options)
}

/// Finds the optimum of a problem. `unit_us` is the time in which a link of capacity 1 moves a unit
/// of the demand. Errors if a receiver cannot be reached, or if the problem is too large.
pub fn solve_problem(
    (network, demand, unit_us): (CapacityNetwork, Demand, f64),
    options: &mut Options<'_>,
) -> Result<Optimum, OptimumError> {
    let progress =
        &mut |lower: f64, upper: f64| (options.progress)(lower * unit_us, upper * unit_us);
    let parts = match &demand {
        Demand::Even(_) | Demand::Pairs(_) => {
            LinkInterval::of_flow(&network, flow::solve(&network, &demand, options.gap, progress)?)
        }
        Demand::Copies(amounts) => LinkInterval::of_trees(&network, amounts, progress)?,
        Demand::Sums(amounts) => {
            let parts = LinkInterval::of_trees(&network.reversed(), amounts, progress)?;
            let turned = |links: Vec<(u32, u32)>| links.iter().map(|(a, b)| (*b, *a)).collect();
            LinkInterval { saturated: turned(parts.saturated), ..parts }
        }
        Demand::SumForAll(amount) => LinkInterval::of_sum(&network, *amount, progress)?,
    };
    let of_messages = by_messages(&network, &demand, &parts, options.gap, progress)?;
    let (network, parts) = of_messages.unwrap_or((network, parts));
    let at_ends = through_ports(&network, &demand);
    let is_limited_by_ports = at_ends > parts.lower;
    let (lower, upper) = (parts.lower.max(at_ends), parts.upper.max(at_ends));
    let bottleneck = if lower == 0.0 {
        Bottleneck::Nothing
    } else if is_limited_by_ports || parts.saturated.is_empty() {
        Bottleneck::Ports
    } else {
        Bottleneck::Links { links: parts.saturated, copies: network.copies() }
    };
    let (lower_us, upper_us) = (lower * unit_us, upper.max(lower) * unit_us);
    let (format, origin, proof) = (FORMAT.to_owned(), ProblemSpecs::default(), parts.proof);
    let certificate =
        Certificate { format, origin, network, demand, unit_us, lower_us, upper_us, proof };
    Ok(Optimum { lower_us, upper_us, bottleneck, certificate })
}

/// An interval of times, as loads divided by capacities. It ignores the limits of ports on the data
/// that a node sends as origin or receives as destination.
struct LinkInterval {
    lower: f64,
    upper: f64,
    saturated: Vec<(u32, u32)>,
    proof: Evidence,
}

impl LinkInterval {
    fn of_flow(network: &CapacityNetwork, (solution, sources): (Solution, Vec<u32>)) -> Self {
        const MAX_FLOWS: usize = 1 << 23;
        /// A flow smaller than the largest flow times this fraction is a rounding error.
        const LEAST_FLOW: f32 = 1e-9;
        let Solution { fraction: lower, mut lengths, upper, loads, flows, .. } = solution;
        // The full links are sorted by their contributions to the lower end, the largest first.
        // Links with less than 1/20 of the largest contribution do not limit the time.
        let price =
            |link: &usize| u128::from(lengths[*link]) * u128::from(network.links[*link].capacity);
        let is_full = |link: &usize| f64::from(loads[*link]) >= value(lower) * 0.98;
        let mut full: Vec<usize> = (0..network.links.len()).filter(is_full).collect();
        let most = full.iter().map(price).max().unwrap_or(0);
        full.retain(|link| price(link) * 20 >= most && upper > 0.0);
        full.sort_by_key(|link| std::cmp::Reverse(price(link)));
        let ends = |link: usize| (network.links[link].from, network.links[link].to);
        let saturated = full.into_iter().map(ends).collect();
        let count = network.link_count() as usize;
        let least = flows.iter().copied().fold(0.0, f32::max) * LEAST_FLOW;
        let few = flows.iter().filter(|flow| **flow > least).count() <= MAX_FLOWS;
        let row = |flows: &[f32]| {
            let listed = (0_u32..).zip(flows).filter(|(_, flow)| **flow > least);
            listed.map(|(link, flow)| (link, *flow)).collect()
        };
        let flows =
            few.then(|| sources.into_iter().zip(flows.chunks(count.max(1)).map(row)).collect());
        let port_lengths = lengths.split_off(network.links.len().min(lengths.len()));
        let proof = Evidence::Flow { lengths, port_lengths, flows };
        Self { lower: value(lower), upper, saturated, proof }
    }

    fn of_trees(
        network: &CapacityNetwork,
        amounts: &[(u32, u64)],
        progress: &mut Progress<'_>,
    ) -> Result<Self, OptimumError> {
        passes_on(network)?;
        let TreePacking { time, cut } = pack(network, amounts, progress)?;
        let upper = value(time) * slowed_by_ports(network);
        let saturated = leaving(network, &cut);
        Ok(Self { lower: value(time), upper, saturated, proof: Evidence::Trees { cut } })
    }

    /// Returns the interval of an allreduce. Lower end: `amount` must leave and enter every set of
    /// nodes, and `n - 1` terms and `n - 1` copies of the sum must move over the links. Upper end:
    /// the time of a reduce-scatter followed by an allgather.
    fn of_sum(
        network: &CapacityNetwork,
        amount: u64,
        progress: &mut Progress<'_>,
    ) -> Result<Self, OptimumError> {
        passes_on(network)?;
        let reversed = network.reversed();
        let nodes = u64::from(network.nodes);
        // With translations, the cut between one node and all others gives the largest bound.
        let mut crossing = |network: &CapacityNetwork| match network.translations.is_empty() {
            true => pack(network, &[(0, amount)], progress),
            false if nodes < 2 => Ok(TreePacking { time: (0, 1), cut: Vec::new() }),
            false => {
                let capacity = network.links.iter().map(|link| u128::from(link.capacity)).sum();
                Ok(TreePacking { time: (amount.into(), capacity), cut: vec![0] })
            }
        };
        let (out, into) = (crossing(network)?, crossing(&reversed)?);
        let each: Vec<(u32, u64)> = (0..network.nodes).map(|node| (node, 1)).collect();
        let parts = [pack(network, &each, progress)?, pack(&reversed, &each, progress)?];
        let all = value((2 * u128::from(nodes - 1) * u128::from(amount), leaving_nodes(network)));
        let all = if nodes < 2 { 0.0 } else { all };
        let upper: f64 = parts.iter().map(|part| value(part.time)).sum();
        let upper = upper * amount as f64 / nodes as f64 * slowed_by_ports(network);
        let by_cuts = value(out.time).max(value(into.time));
        let saturated = if by_cuts >= all && value(out.time) >= value(into.time) {
            leaving(network, &out.cut)
        } else if by_cuts >= all {
            leaving(&reversed, &into.cut).into_iter().map(|(a, b)| (b, a)).collect()
        } else {
            network.links.iter().map(|link| (link.from, link.to)).collect()
        };
        let parts = parts.map(|part| part.cut);
        let proof = Evidence::SumForAll { out: out.cut, into: into.cut, parts };
        Ok(Self { lower: by_cuts.max(all), upper, saturated, proof })
    }
}

/// If the interval for copied or added data is wider than `gap`, packs messages. Returns the new
/// interval, if it is better, and the network without translations, to which it applies.
fn by_messages(
    network: &CapacityNetwork,
    demand: &Demand,
    parts: &LinkInterval,
    gap: f64,
    progress: &mut Progress<'_>,
) -> Result<Option<(CapacityNetwork, LinkInterval)>, OptimumError> {
    let at_ends = through_ports(network, demand);
    let (lower, upper) = (parts.lower.max(at_ends), parts.upper.max(at_ends));
    let is_narrow = upper <= lower * (1.0 + gap);
    if is_narrow || network.nodes > packing::MAX_NODES || demand.is_for_pairs() {
        return Ok(None);
    }
    let network = packing::whole(network);
    // The first lengths are 1 for the links of a cut, or for the links that leave nodes, and 0 for
    // all others.
    let turned = matches!(demand, Demand::Sums(_));
    let cut = |cut: &[u32], turned: bool| -> Vec<u32> {
        let inside = |vertex: u32| cut.binary_search(&vertex).is_ok();
        let leaves = |link: &Link| {
            let (from, to) = if turned { (link.to, link.from) } else { (link.from, link.to) };
            u32::from(inside(from) && !inside(to))
        };
        network.links.iter().map(leaves).collect()
    };
    let seeds = match &parts.proof {
        Evidence::Trees { cut: set } => vec![cut(set, turned)],
        Evidence::SumForAll { out, into, .. } => {
            let of_nodes = |link: &Link| u32::from(link.from < network.nodes);
            vec![cut(out, false), cut(into, true), network.links.iter().map(of_nodes).collect()]
        }
        Evidence::Flow { .. } | Evidence::Messages { .. } => Vec::new(),
    };
    let found = packing::pack(&network, demand, &seeds, gap, progress)?;
    let found_lower = value(found.lower).max(at_ends);
    if found.upper * lower > upper * found_lower {
        return Ok(None);
    }
    let saturated = packing::saturated(&network, &found.proof);
    let parts = LinkInterval {
        lower: value(found.lower),
        upper: found.upper,
        saturated,
        proof: found.proof,
    };
    Ok(Some((network, parts)))
}

/// Errors unless each switch has the same total capacity of links in and out. Only then can links
/// between the neighbours of the switch replace it in packings of trees (Bang-Jensen et al., 1995).
fn passes_on(network: &CapacityNetwork) -> Result<(), OptimumError> {
    for vertex in network.nodes..network.vertices {
        let sum = |end: &dyn Fn(&crate::network::Link) -> u32| -> u64 {
            let at = network.links.iter().filter(|link| end(link) == vertex);
            at.map(|link| link.capacity).sum()
        };
        if sum(&|link| link.from) != sum(&|link| link.to) {
            return Err(OptimumError::UnevenSwitch { vertex: vertex.into() });
        }
    }
    Ok(())
}

fn leaving(network: &CapacityNetwork, cut: &[u32]) -> Vec<(u32, u32)> {
    let inside = |vertex: u32| cut.binary_search(&vertex).is_ok();
    if !network.translations.is_empty() {
        return network.links.iter().map(|link| (link.from, link.to)).collect();
    }
    let links = network.links.iter().filter(|link| inside(link.from) && !inside(link.to));
    links.map(|link| (link.from, link.to)).collect()
}

fn leaving_nodes(network: &CapacityNetwork) -> u128 {
    let links = network.links.iter().filter(|link| link.from < network.nodes);
    let sum: u128 = links.map(|link| u128::from(link.capacity)).sum();
    sum * u128::from(network.copies())
}

/// Returns the factor, at least 1, by which ports slow down full links: the largest total capacity
/// of the links out of or into a node, divided by the capacity of its ports.
fn slowed_by_ports(network: &CapacityNetwork) -> f64 {
    let mut at = vec![(0_u64, 0_u64); network.vertices as usize];
    let is_timed = network.ports.iter().any(|ports| ports.rule == PortRule::SharedTime);
    let fastest = network.links.iter().map(|link| link.capacity).max().unwrap_or(0);
    for link in &network.links {
        let capacity = if is_timed { fastest } else { link.capacity };
        at[link.from as usize].0 += capacity;
        let to = if network.translations.is_empty() { link.to as usize } else { 0 };
        at[to].1 += capacity;
    }
    let nodes = &at[..network.nodes as usize];
    let most = nodes.iter().map(|(out, into)| *out.max(into)).max().unwrap_or(0);
    let slowest = network.ports.iter().map(|ports| ports.capacity).min();
    slowest.map_or(1.0, |ports| (most as f64 / ports as f64).max(1.0))
}

fn through_ports(network: &CapacityNetwork, demand: &Demand) -> f64 {
    let Some(ports) = network.ports.iter().map(|ports| ports.capacity).min() else { return 0.0 };
    let ends_only = network.ports.iter().filter(|ports| ports.rule == PortRule::Ends);
    let ends = ends_only.map(|ports| ports.capacity).min();
    let nodes = f64::from(network.nodes);
    let of_trees = |amounts: &[(u32, u64)]| {
        let all: u64 = amounts.iter().map(|(_, amount)| amount).sum();
        let largest = amounts.iter().map(|(_, amount)| *amount).max().unwrap_or(0);
        let least = if amounts.len() < network.nodes as usize {
            0
        } else {
            amounts.iter().map(|(_, amount)| *amount).min().unwrap_or(0)
        };
        // Every node needs the data of all other nodes, so all nodes together receive this amount.
        let received = (nodes - 1.0) * all as f64;
        let one = if network.nodes < 2 { 0 } else { largest.max(all - least) };
        (one as f64).max(received / nodes)
    };
    match demand {
        Demand::Even(amount) => {
            ends.map_or(0.0, |ends| *amount as f64 * (nodes - 1.0) / ends as f64)
        }
        Demand::Pairs(rows) => {
            let mut received = vec![0_u64; network.nodes as usize];
            let mut most = 0;
            for (_, row) in rows {
                most = most.max(row.iter().map(|(_, amount)| amount).sum());
                row.iter().for_each(|(to, amount)| received[*to as usize] += amount);
            }
            let most = most.max(received.into_iter().max().unwrap_or(0));
            ends.map_or(0.0, |ends| most as f64 / ends as f64)
        }
        Demand::Copies(amounts) | Demand::Sums(amounts) => of_trees(amounts) / ports as f64,
        Demand::SumForAll(amount) => 2.0 * (nodes - 1.0) / nodes * *amount as f64 / ports as f64,
    }
}
