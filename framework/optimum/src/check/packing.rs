//! Verifies packings of messages, the evidence for data that is copied or added if ports limit the
//! time, and for sums that every node receives.

use super::trees::max_flow;
use super::{Graph, distances};
use crate::certificate::MessageRow;
use crate::demand::Demand;
use crate::network::PortRule;

/// The evidence of a packing. The fields are those of [`crate::certificate::Evidence::Messages`].
pub(super) struct Messages<'a> {
    pub lengths: &'a [u32],
    pub port_lengths: &'a [u32],
    pub roots: &'a [(u32, f32)],
    pub copies: &'a [MessageRow],
    pub sums: &'a [MessageRow],
    pub flows: &'a [MessageRow],
}

/// The largest accepted relative error of amounts, which are rounded.
const ROUNDED: f64 = 1e-4;

/// The verification takes time in proportion to the fourth power of this number.
const MAX_NODES: usize = 64;

pub(super) fn verify(
    graph: &Graph,
    demand: &Demand,
    proof: &Messages<'_>,
) -> Result<(f64, f64), String> {
    if graph.nodes > MAX_NODES || graph.listed != graph.nodes {
        return Err(format!("messages are listed for more than {MAX_NODES} nodes"));
    }
    let ports = Ports::of(graph);
    Ok((lower(demand, proof, &ports)?, upper(demand, proof, &ports)?))
}

/// The ports of a graph that only messages use, in addition to the resources of links.
struct Ports<'a> {
    graph: &'a Graph,
    /// The place of each resource of links ([`Graph::resources`]) in the list of all resources.
    places: Vec<usize>,
    /// The first place of each kind of ports that only messages use.
    ends: Vec<usize>,
    /// The places of ports that are in use for the time on a link.
    timed: Vec<usize>,
    capacities: Vec<u64>,
}

impl<'a> Ports<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut places: Vec<usize> = (0..graph.own).collect();
        let mut capacities: Vec<u64> = graph.links.iter().map(|link| link.2).collect();
        let (mut ends, mut timed) = (Vec::new(), Vec::new());
        for &(rule, capacity) in &graph.ports {
            let count = match rule {
                PortRule::Ends | PortRule::EveryHop => 2 * graph.nodes,
                PortRule::Shared | PortRule::SharedTime => 1,
            };
            if rule == PortRule::SharedTime {
                timed.push(capacities.len());
            }
            if rule == PortRule::Ends {
                ends.push(capacities.len());
            } else {
                places.extend(capacities.len()..capacities.len() + count);
            }
            let all =
                if count == 1 { capacity.saturating_mul(graph.nodes as u64) } else { capacity };
            capacities.extend(vec![all; count]);
        }
        Self { graph, places, ends, timed, capacities }
    }
}

fn lower(demand: &Demand, proof: &Messages<'_>, ports: &Ports<'_>) -> Result<f64, String> {
    let (graph, nodes) = (ports.graph, ports.graph.nodes);
    let lengths: Vec<u64> =
        proof.lengths.iter().chain(proof.port_lengths).map(|length| u64::from(*length)).collect();
    if proof.lengths.len() != graph.own || lengths.len() != ports.capacities.len() {
        let (found, expected) = (lengths.len(), ports.capacities.len());
        return Err(format!("there are {found} lengths, expected {expected}"));
    }
    let below = graph.weighted(&lengths, &ports.capacities, &ports.timed);
    let of_link = |link| graph.length(link, |resource| lengths[ports.places[resource]]);
    let link_lengths: Vec<u64> = (0..graph.links.len()).map(of_link).collect();
    let mut costs = vec![vec![0_i128; nodes]; nodes];
    for (from, row) in costs.iter_mut().enumerate() {
        let distance = distances(graph, &link_lengths, from);
        for (to, cost) in row.iter_mut().enumerate() {
            let way = distance[to].ok_or_else(|| format!("no path from {from} to {to}"))?;
            let of_ports: u64 = ports
                .ends
                .iter()
                .map(|first| lengths[first + from] + lengths[first + nodes + to])
                .sum();
            *cost = i128::from(way) + i128::from(of_ports);
        }
    }
    let turned: Vec<Vec<i128>> =
        (0..nodes).map(|a| (0..nodes).map(|b| costs[b][a]).collect()).collect();
    let of_roots = |costs: &[Vec<i128>], amounts: &[(u32, u64)]| -> i128 {
        let cost =
            |(root, amount): &(u32, u64)| cheapest(costs, *root as usize) * i128::from(*amount);
        amounts.iter().map(cost).sum()
    };
    let above = match demand {
        Demand::Copies(amounts) => of_roots(&costs, amounts),
        Demand::Sums(amounts) => of_roots(&turned, amounts),
        Demand::SumForAll(amount) => {
            let from: Vec<i128> = (0..nodes).map(|root| cheapest(&costs, root)).collect();
            let into: Vec<i128> = (0..nodes).map(|root| cheapest(&turned, root)).collect();
            let with_last = |trees: &[i128], costs: &[Vec<i128>]| {
                let others = |node: usize| (0..nodes).filter(move |other| *other != node);
                let last = |node: usize| others(node).map(|from| costs[from][node]).min();
                let total = |root: usize| trees[root] + others(root).filter_map(last).sum::<i128>();
                (0..nodes).map(total).min().unwrap_or(0)
            };
            let one_way = from.iter().chain(&into).copied().max().unwrap_or(0);
            let both = with_last(&into, &costs).max(with_last(&from, &turned));
            one_way.max(both) * i128::from(*amount)
        }
        Demand::Even(_) | Demand::Pairs(_) => 0,
    };
    Ok(if above == 0 { 0.0 } else { above as f64 / below as f64 })
}

/// Returns the cost of the cheapest tree that reaches all nodes from `root` (Edmonds, 1967). Each
/// round contracts the cycles of the cheapest messages.
fn cheapest(costs: &[Vec<i128>], root: usize) -> i128 {
    let (mut costs, mut root, mut sum) = (costs.to_vec(), root, 0);
    loop {
        let nodes = costs.len();
        let parent = |to: usize| {
            (0..nodes).filter(|from| *from != to).min_by_key(|from| costs[*from][to]).unwrap_or(to)
        };
        let parents: Vec<usize> =
            (0..nodes).map(|to| if to == root { root } else { parent(to) }).collect();
        sum += (0..nodes).filter(|to| *to != root).map(|to| costs[parents[to]][to]).sum::<i128>();
        // Number the contracted nodes. All nodes of a cycle get the same number.
        let mut number = vec![usize::MAX; nodes];
        let (mut count, mut has_cycle) = (0, false);
        for start in 0..nodes {
            // The node `start` is on a cycle if a walk of at most `nodes` steps returns to it.
            let mut at = parents[start];
            for _ in 0..nodes {
                if at != root && at != start {
                    at = parents[at];
                }
            }
            let is_on_cycle = start != root && at == start;
            if number[start] == usize::MAX {
                number[start] = count;
                if is_on_cycle {
                    has_cycle = true;
                    let mut node = parents[start];
                    while node != start {
                        number[node] = count;
                        node = parents[node];
                    }
                }
                count += 1;
            }
        }
        if !has_cycle {
            return sum;
        }
        let mut smaller = vec![vec![i128::MAX / 4; count]; count];
        for from in 0..nodes {
            for to in (0..nodes).filter(|to| *to != root && number[*to] != number[from]) {
                let cost = costs[from][to] - costs[parents[to]][to];
                let best = &mut smaller[number[from]][number[to]];
                *best = cost.min(*best);
            }
        }
        (costs, root) = (smaller, number[root]);
    }
}

/// The amounts from each node to each node, or on each link.
type Matrix = Vec<Vec<f64>>;

fn upper(demand: &Demand, proof: &Messages<'_>, ports: &Ports<'_>) -> Result<f64, String> {
    let (graph, nodes) = (ports.graph, ports.graph.nodes);
    let number = |index: u32, most: usize| -> Result<usize, String> {
        let index = index as usize;
        if index < most { Ok(index) } else { Err(format!("there is no node or link {index}")) }
    };
    let add = |row: &[(u32, f32)], to: &mut [f64]| -> Result<(), String> {
        for (place, amount) in row {
            if !(amount.is_finite() && *amount >= 0.0) {
                return Err(format!("an amount of {amount} at node or link {place}"));
            }
            to[number(*place, to.len())?] += f64::from(*amount);
        }
        Ok(())
    };
    let matrix = |rows: &[MessageRow], width: usize| -> Result<Matrix, String> {
        let mut matrix = vec![vec![0.0; width]; nodes];
        for (from, row) in rows {
            add(row, &mut matrix[number(*from, nodes)?])?;
        }
        Ok(matrix)
    };
    let (copies, sums) = (matrix(proof.copies, nodes)?, matrix(proof.sums, nodes)?);
    let flows = matrix(proof.flows, graph.links.len())?;
    // The trees must move the data of their roots: a tree exists for an amount if the maximum flow
    // of messages from the roots to each node is this amount (Edmonds, 1973).
    let mut roots = vec![0.0; nodes];
    add(proof.roots, &mut roots)?;
    let (all, moved): (f64, Vec<(&Matrix, bool)>) = match demand {
        Demand::Copies(amounts) | Demand::Sums(amounts) => {
            roots.fill(0.0);
            amounts.iter().for_each(|(node, amount)| roots[*node as usize] += *amount as f64);
            let is_sum = matches!(demand, Demand::Sums(_));
            (roots.iter().sum(), vec![(if is_sum { &sums } else { &copies }, is_sum)])
        }
        Demand::SumForAll(amount) => (*amount as f64, vec![(&copies, false), (&sums, true)]),
        Demand::Even(_) | Demand::Pairs(_) => {
            return Err("the demand has other evidence".to_owned());
        }
    };
    if (roots.iter().sum::<f64>() / all - 1.0).abs() > ROUNDED {
        return Err("the trees at all roots do not move the whole amount".to_owned());
    }
    let unit = all / (1_u64 << 40) as f64;
    let whole = |amount: f64| (amount / unit) as u128;
    let needed = whole(all * (1.0 - 2.0 * ROUNDED));
    for (messages, is_sum) in moved {
        let mut arcs: Vec<(usize, usize, u128)> =
            roots.iter().enumerate().map(|(root, amount)| (nodes, root, whole(*amount))).collect();
        for (from, row) in messages.iter().enumerate() {
            for (to, amount) in row.iter().enumerate().filter(|(_, amount)| **amount > 0.0) {
                let (from, to) = if is_sum { (to, from) } else { (from, to) };
                arcs.push((from, to, whole(*amount)));
            }
        }
        if let Some(node) = (0..nodes).find(|to| max_flow(&arcs, (nodes, *to), needed) < needed) {
            return Err(format!("the messages do not connect node {node} with all roots"));
        }
    }
    let mut loads = vec![0.0; ports.capacities.len()];
    for (from, flow) in flows.iter().enumerate() {
        let sent = |to: usize| copies[from][to] + sums[from][to];
        let total: f64 = (0..nodes).map(sent).sum();
        let mut left = vec![0.0; graph.vertices];
        for (link, amount) in flow.iter().enumerate() {
            let (tail, head, ..) = graph.links[link];
            left[tail] -= amount;
            left[head] += amount;
            for (resource, rule) in graph.resources(link) {
                loads[ports.places[resource]] += amount * graph.factor(link, rule);
            }
        }
        left[from] += total;
        for (vertex, left) in left.iter().enumerate() {
            let wanted = if vertex < nodes { sent(vertex) } else { 0.0 };
            if (left - wanted).abs() > ROUNDED * total {
                return Err(format!(
                    "{left} units of messages from {from} end at vertex {vertex}, expected {wanted}"
                ));
            }
        }
        for first in &ports.ends {
            loads[first + from] += total;
            (0..nodes).for_each(|to| loads[first + nodes + to] += sent(to));
        }
    }
    let times = loads.iter().zip(&ports.capacities).map(|(load, capacity)| load / *capacity as f64);
    Ok(times.fold(0.0, f64::max))
}
