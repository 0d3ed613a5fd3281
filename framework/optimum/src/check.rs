//! Verifies certificates. This module shares only the types of a certificate with the solver.
//!
//! The lower end follows from the lengths of links and ports: it is the sum of demands times
//! distances (of shortest paths), divided by the sum of capacities times lengths, in exact whole
//! numbers. If data may be copied, the lower end follows from a set of vertices: it is the data
//! inside the set, divided by the capacity of the links that leave the set.
//!
//! The upper end follows from flows. They must move every demand, up to a relative error of 10^-4
//! due to rounding. If data may be copied, a maximum flow to each node verifies it.

use crate::certificate::{Certificate, Evidence, FORMAT, MessageRow, SourceFlow};
use crate::demand::Demand;
use crate::network::PortRule;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verified {
    pub lower_us: f64,
    /// The upper end of the interval, in µs; `None` if the certificate has no evidence for it.
    pub upper_us: Option<f64>,
}

/// The largest accepted relative error of the rounded amounts in flows and messages.
const AMOUNT_ERROR: f64 = 1e-4;

/// Verifies a certificate. Its evidence must fit the demand: flows if the demand is between pairs
/// of nodes, trees if data is copied or added. If there are several errors, returns the first one
/// in the certificate.
pub fn check(certificate: &Certificate) -> Result<Verified, String> {
    /// The largest relative error of the rounded ends of the interval.
    const ROUNDED: f64 = 1e-9;
    if certificate.format != FORMAT {
        return Err(format!("format `{}`: expected `{FORMAT}`", certificate.format));
    }
    let unit = certificate.unit_us;
    if !(unit.is_finite() && unit >= 0.0) {
        return Err(format!("unit_us is {unit}, expected a time of at least 0"));
    }
    let graph = Graph::of(certificate)?;
    let rows = rows(certificate, &graph)?;
    let is_flow = matches!(certificate.proof, Evidence::Flow { .. });
    if is_flow != matches!(certificate.demand, Demand::Even(_) | Demand::Pairs(_)) {
        return Err("the proof is for another kind of demand".to_owned());
    }
    let at_ports = through_ports(certificate, &rows, &graph);
    let (lower, upper) = match &certificate.proof {
        Evidence::Flow { lengths, port_lengths, flows } => {
            let lower = by_lengths(&graph, &rows, lengths, port_lengths)?;
            let upper = flows.as_ref().map(|flows| by_flows(&graph, &rows, flows)).transpose()?;
            (lower, upper)
        }
        Evidence::Trees { cut } => {
            let turned = matches!(certificate.demand, Demand::Sums(_));
            let amounts: Vec<(usize, u64)> =
                rows.iter().flat_map(|(_, row)| row).copied().collect();
            let side = CutSide::new(&graph, &amounts, cut, turned)?;
            (side.time(), side.is_packed(&graph).then(|| side.time() * graph.slowed))
        }
        Evidence::Messages { lengths, port_lengths, roots, copies, sums, flows } => {
            let messages = Messages { lengths, port_lengths, roots, copies, sums, flows };
            let (lower, upper) = verify_messages(&graph, &certificate.demand, &messages)?;
            (lower, Some(upper))
        }
        Evidence::SumForAll { out, into, parts } => {
            let Demand::SumForAll(amount) = certificate.demand else {
                return Err("the proof is for a sum that every node receives".to_owned());
            };
            sum_for_all(&graph, amount, [out, into], parts)?
        }
    };
    let (lower, upper) = (lower.max(at_ports), upper.map(|upper| upper.max(at_ports).max(lower)));
    let verified = Verified { lower_us: lower * unit, upper_us: upper.map(|upper| upper * unit) };
    let Certificate { lower_us, upper_us, .. } = *certificate;
    if !(lower_us >= 0.0 && lower_us <= verified.lower_us * (1.0 + ROUNDED)) {
        let proved = verified.lower_us;
        return Err(format!("lower_us is {lower_us}, but the lengths prove only {proved}"));
    }
    // The upper end is less exact than the lower end, because flows have only seven digits.
    if let Some(reached) = verified.upper_us
        && !(upper_us.is_finite() && upper_us * (1.0 + 1e-4) >= reached)
    {
        return Err(format!("upper_us is {upper_us}, but the flows take {reached}"));
    }
    Ok(verified)
}

/// The whole network. If the certificate lists only some links, it has all their images under
/// translations (shifts of all coordinates of a grid, which map every link to a link).
struct Graph {
    nodes: usize,
    vertices: usize,
    /// For each link, its tail, head and capacity, and the index of the listed link of which it is
    /// an image.
    links: Vec<(usize, usize, u64, usize)>,
    out: Vec<Vec<u32>>,
    /// For each kind of port, its rule and its capacity.
    ports: Vec<(PortRule, u64)>,
    /// The smallest and the largest capacity of a link, and the largest error by which a capacity
    /// may be rounded.
    speeds: (u64, u64, u64),
    own: usize,
    /// The number of nodes that the certificate lists: all, or one if it uses translations.
    listed: usize,
    /// The factor, at least 1, by which ports slow down a node whose links are all full: the
    /// largest total capacity of the links out of or into a node, divided by the capacity of its
    /// ports. With [`PortRule::SharedTime`], every link counts as if it had the largest capacity.
    slowed: f64,
}

impl Graph {
    fn of(certificate: &Certificate) -> Result<Self, String> {
        const MOST: u64 = 1 << 24;
        let network = &certificate.network;
        let (nodes, vertices) = (network.nodes as usize, network.vertices as usize);
        let sides = &network.translations;
        let copies = if sides.is_empty() { 1 } else { nodes };
        let grid = sides.iter().try_fold(1_u32, |grid, side| grid.checked_mul(*side));
        if nodes > vertices
            || !sides.is_empty() && (grid != Some(network.nodes) || nodes != vertices)
        {
            return Err("the numbers of nodes, vertices and translations contradict".to_owned());
        }
        if vertices as u64 > MOST
            || (network.links.len() as u64).saturating_mul(copies as u64) > MOST
        {
            return Err(format!("the network has more than {MOST} links or vertices"));
        }
        let mut links = Vec::with_capacity(network.links.len() * copies);
        for copy in 0..copies {
            for (image, link) in network.links.iter().enumerate() {
                let (from, to) = (link.from as usize, link.to as usize);
                if from >= vertices || to >= vertices {
                    return Err(format!("link {image}: there is no vertex {}", from.max(to)));
                }
                if !sides.is_empty() && from != 0 {
                    return Err(format!(
                        "link {image} leaves vertex {from}: with translations, list only the links of vertex 0"
                    ));
                }
                if link.capacity == 0 || link.capacity > 1 << 49 {
                    return Err(format!("link {image}: expected a capacity from 1 to 2^49"));
                }
                links.push((
                    translated(from, copy, sides),
                    translated(to, copy, sides),
                    link.capacity,
                    image,
                ));
            }
        }
        let mut out = vec![Vec::new(); vertices];
        let mut through = vec![(0_u64, 0_u64); vertices];
        let mut degrees = vec![(0_u64, 0_u64); vertices];
        for (number, &(from, to, capacity, _)) in links.iter().enumerate() {
            out[from].push(number as u32);
            degrees[from].0 += 1;
            degrees[to].1 += 1;
            through[from].0 = through[from].0.saturating_add(capacity);
            through[to].1 = through[to].1.saturating_add(capacity);
        }
        for (vertex, (out, into)) in through.iter().enumerate().skip(nodes) {
            if out != into
                && !matches!(certificate.proof, Evidence::Flow { .. } | Evidence::Messages { .. })
            {
                return Err(format!("switch {vertex} has different capacities in and out"));
            }
        }
        let ports: Vec<(PortRule, u64)> =
            network.ports.iter().map(|ports| (ports.rule, ports.capacity)).collect();
        if ports.iter().any(|(_, capacity)| *capacity == 0) {
            return Err("ports have no capacity".to_owned());
        }
        let largest = links.iter().map(|link| link.2).max().unwrap_or(1);
        let smallest = links.iter().map(|link| link.2).min().unwrap_or(1);
        let speeds = (smallest, largest, u64::from(network.capacity_unit != 1.0));
        // With [`PortRule::SharedTime`], a slow link occupies a port for as long as a fast link.
        let is_timed = ports.iter().any(|(rule, _)| *rule == PortRule::SharedTime);
        let sums = if is_timed { &degrees } else { &through };
        let most = sums[..nodes].iter().map(|(out, into)| *out.max(into)).max().unwrap_or(0);
        let most = if is_timed { most.saturating_mul(largest) } else { most };
        let least = ports.iter().map(|(_, capacity)| *capacity).min();
        let slowed = least.map_or(1.0, |least| (most as f64 / least as f64).max(1.0));
        let (own, listed) = (network.links.len(), nodes / copies);
        Ok(Self { nodes, vertices, links, out, ports, speeds, own, listed, slowed })
    }

    /// Returns the resources that data on a link uses. A resource that consists of ports is
    /// returned with its rule.
    fn resources(&self, link: usize) -> Vec<(usize, Option<PortRule>)> {
        let (from, to, _, image) = self.links[link];
        let mut resources = vec![(image, None)];
        let mut first = self.own;
        let port = |vertex: usize| if self.listed == 1 { 0 } else { vertex };
        for (rule, _) in &self.ports {
            match rule {
                PortRule::Ends => {}
                PortRule::Shared | PortRule::SharedTime => {
                    resources.push((first, Some(*rule)));
                    first += 1;
                }
                PortRule::EveryHop => {
                    if from < self.nodes {
                        resources.push((first + port(from), Some(*rule)));
                    }
                    if to < self.nodes {
                        resources.push((first + self.listed + port(to), Some(*rule)));
                    }
                    first += 2 * self.listed;
                }
            }
        }
        resources
    }

    /// Returns the sum of the lengths of a link's resources. The length of a resource with
    /// [`PortRule::SharedTime`] is that for the slowest link. On faster links, it counts less.
    fn length(&self, link: usize, length: impl Fn(usize) -> u64) -> u64 {
        let (slowest, _, rounded) = self.speeds;
        let slowest = u128::from(slowest.saturating_sub(rounded).max(1));
        let of_resource = |(resource, rule): (usize, Option<PortRule>)| match rule {
            Some(PortRule::SharedTime) => {
                let all = u128::from(length(resource)) * slowest;
                (all / u128::from(self.links[link].2)) as u64
            }
            _ => length(resource),
        };
        self.resources(link).into_iter().map(of_resource).sum()
    }

    fn factor(&self, link: usize, rule: Option<PortRule>) -> f64 {
        let (_, fastest, _) = self.speeds;
        let is_timed = rule == Some(PortRule::SharedTime);
        if is_timed { fastest as f64 / self.links[link].2 as f64 } else { 1.0 }
    }

    /// Returns the sum of capacities times lengths. The resources `timed` have the rule
    /// [`PortRule::SharedTime`], so their lengths are those for the slowest link.
    fn weighted(&self, lengths: &[u64], capacities: &[u64], timed: &[usize]) -> u128 {
        let (slowest, fastest, rounded) = self.speeds;
        let fastest = u128::from(fastest.saturating_sub(rounded).max(1));
        let terms = lengths.iter().zip(capacities).enumerate();
        let term = |(place, (length, capacity)): (usize, (&u64, &u64))| {
            let all = u128::from(*length) * u128::from(*capacity);
            let is_timed = timed.contains(&place);
            if is_timed { (all * u128::from(slowest)).div_ceil(fastest) } else { all }
        };
        terms.map(term).sum()
    }

    fn capacities(&self) -> Vec<u64> {
        let mut capacities: Vec<u64> = self.links[..self.own].iter().map(|link| link.2).collect();
        for &(rule, capacity) in &self.ports {
            match rule {
                PortRule::Ends => {}
                PortRule::Shared | PortRule::SharedTime => {
                    capacities.push(capacity.saturating_mul(self.listed as u64));
                }
                PortRule::EveryHop => capacities.extend(vec![capacity; 2 * self.listed]),
            }
        }
        capacities
    }

    fn ends(&self, link: usize, turned: bool) -> (usize, usize) {
        let (from, to, ..) = self.links[link];
        if turned { (to, from) } else { (from, to) }
    }
}

fn translated(vertex: usize, by: usize, sides: &[u32]) -> usize {
    let (mut a, mut b, mut sum, mut stride) = (vertex, by, 0, 1);
    for side in sides.iter().rev().map(|side| *side as usize) {
        sum += (a % side + b % side) % side * stride;
        (a, b, stride) = (a / side, b / side, stride * side);
    }
    if sides.is_empty() { vertex } else { sum }
}

/// For each source, its receivers and the amounts of data for them.
type DemandRows = Vec<(usize, Vec<(usize, u64)>)>;

/// Returns the demand of each listed source. In the rows of copies and sums, the only receiver is
/// the source itself.
fn rows(certificate: &Certificate, graph: &Graph) -> Result<DemandRows, String> {
    let even = |amount: u64| -> DemandRows {
        let others =
            |from| (0..graph.nodes).filter(move |to| *to != from).map(move |to| (to, amount));
        (0..graph.listed).map(|from| (from, others(from).collect())).collect()
    };
    let rows: DemandRows = match &certificate.demand {
        Demand::Even(amount) => {
            if (graph.listed as u64).saturating_mul(graph.nodes as u64) > 1 << 28 {
                return Err("there are more than 2^28 pairs of nodes".to_owned());
            }
            even(*amount)
        }
        Demand::Pairs(rows) => rows
            .iter()
            .map(|(from, row)| {
                (*from as usize, row.iter().map(|(to, amount)| (*to as usize, *amount)).collect())
            })
            .collect(),
        Demand::Copies(amounts) | Demand::Sums(amounts) => amounts
            .iter()
            .map(|(node, amount)| (*node as usize, vec![(*node as usize, *amount)]))
            .collect(),
        Demand::SumForAll(_) => Vec::new(),
    };
    let is_bad = |node: usize| node >= graph.nodes;
    let all = || rows.iter().flat_map(|(_, row)| row);
    if rows.iter().any(|(from, row)| is_bad(*from) || row.iter().any(|(to, _)| is_bad(*to))) {
        return Err("the demand names a node that does not exist".to_owned());
    }
    if all().map(|(_, amount)| u128::from(*amount)).sum::<u128>() > 1 << 54 {
        return Err("the demand is more than 2^54 units".to_owned());
    }
    let is_pairs = matches!(certificate.demand, Demand::Pairs(_));
    if is_pairs && graph.listed != graph.nodes {
        return Err("only an even demand is the same under translations".to_owned());
    }
    Ok(rows)
}

fn by_lengths(graph: &Graph, rows: &DemandRows, own: &[u32], ports: &[u32]) -> Result<f64, String> {
    let lengths: Vec<u64> = own.iter().chain(ports).map(|length| u64::from(*length)).collect();
    let capacities = graph.capacities();
    for (what, found, expected) in [
        ("lengths", own.len(), graph.own),
        ("port_lengths", ports.len(), capacities.len() - graph.own),
    ] {
        if found != expected {
            return Err(format!("there are {found} {what}, expected {expected}"));
        }
    }
    let shared = (0..graph.links.len().min(1)).flat_map(|link| graph.resources(link));
    let is_timed = |rule: &Option<PortRule>| *rule == Some(PortRule::SharedTime);
    let timed: Vec<usize> = shared.filter(|(_, rule)| is_timed(rule)).map(|(r, _)| r).collect();
    let below = graph.weighted(&lengths, &capacities, &timed);
    let of_link = |link| graph.length(link, |resource| lengths[resource]);
    let link_lengths: Vec<u64> = (0..graph.links.len()).map(of_link).collect();
    let mut above = 0_u128;
    for (from, row) in rows {
        let distance = distances(graph, &link_lengths, *from);
        for (to, amount) in row {
            let distance = distance[*to].ok_or_else(|| format!("no path from {from} to {to}"))?;
            above += u128::from(*amount) * u128::from(distance);
        }
    }
    Ok(if above == 0 { 0.0 } else { above as f64 / below as f64 })
}

/// Returns the distances of all vertices from `from` (Dijkstra, 1959).
fn distances(graph: &Graph, lengths: &[u64], from: usize) -> Vec<Option<u64>> {
    let mut distance = vec![None; graph.vertices];
    let mut queue = BinaryHeap::from([Reverse((0_u64, from))]);
    while let Some(Reverse((so_far, vertex))) = queue.pop() {
        if distance[vertex].is_some() {
            continue;
        }
        distance[vertex] = Some(so_far);
        for &link in &graph.out[vertex] {
            let to = graph.links[link as usize].1;
            if distance[to].is_none() {
                queue.push(Reverse((so_far + lengths[link as usize], to)));
            }
        }
    }
    distance
}

/// Returns the upper end that follows from the flows. Errors if they do not move the demand.
fn by_flows(graph: &Graph, rows: &DemandRows, flows: &[SourceFlow]) -> Result<f64, String> {
    let capacities = graph.capacities();
    let mut load = vec![0.0; capacities.len()];
    if flows.len() != rows.len() {
        return Err(format!("there are flows of {} sources, expected {}", flows.len(), rows.len()));
    }
    for ((from, row), (source, flow)) in rows.iter().zip(flows) {
        if *source as usize != *from {
            return Err(format!("there are flows of source {source}, expected {from}"));
        }
        let mut left = vec![0.0; graph.vertices];
        for &(link, amount) in flow {
            let Some(&(tail, head, ..)) = graph.links.get(link as usize) else {
                return Err(format!(
                    "source {from} has a flow on link {link}, which does not exist"
                ));
            };
            if !(amount.is_finite() && amount >= 0.0) {
                return Err(format!("source {from} has a flow of {amount} on link {link}"));
            }
            left[tail] -= f64::from(amount);
            left[head] += f64::from(amount);
            for (resource, rule) in graph.resources(link as usize) {
                load[resource] += f64::from(amount) * graph.factor(link as usize, rule);
            }
        }
        let all: f64 = row.iter().map(|(_, amount)| *amount as f64).sum();
        let mut wanted = vec![0.0; graph.vertices];
        row.iter().for_each(|(to, amount)| wanted[*to] += *amount as f64);
        wanted[*from] -= all;
        for vertex in 0..graph.vertices {
            if (left[vertex] - wanted[vertex]).abs() > AMOUNT_ERROR * all {
                let (left, wanted) = (left[vertex], wanted[vertex]);
                return Err(format!(
                    "{left} units from {from} end at vertex {vertex}, expected {wanted}"
                ));
            }
        }
    }
    let times = load.iter().zip(&capacities).map(|(load, capacity)| load / *capacity as f64);
    Ok(times.fold(0.0, f64::max))
}

/// Returns the longest time that any node needs to send or receive its own data through its ports.
/// This time does not depend on paths.
fn through_ports(certificate: &Certificate, rows: &DemandRows, graph: &Graph) -> f64 {
    let least = |ends_only: bool| {
        let ports = graph.ports.iter().filter(|(rule, _)| !ends_only || *rule == PortRule::Ends);
        ports.map(|(_, capacity)| *capacity as f64).min_by(f64::total_cmp)
    };
    let nodes = graph.nodes as f64;
    let (mut sent, mut received) = (vec![0.0; graph.nodes], vec![0.0; graph.nodes]);
    let is_pairs = matches!(certificate.demand, Demand::Even(_) | Demand::Pairs(_));
    let all: f64 = rows.iter().flat_map(|(_, row)| row).map(|(_, amount)| *amount as f64).sum();
    if let Demand::SumForAll(amount) = certificate.demand {
        sent.fill(2.0 * (nodes - 1.0) / nodes * amount as f64);
    } else if is_pairs {
        for (from, row) in rows {
            for (to, amount) in row {
                sent[*from] += *amount as f64;
                received[*to] += *amount as f64;
            }
        }
        if graph.listed != graph.nodes {
            received.clone_from(&vec![sent[0]; graph.nodes]);
        }
    } else if graph.nodes > 1 {
        received.fill(all);
        for (node, row) in rows {
            sent[*node] = row[0].1 as f64;
            received[*node] -= sent[*node];
        }
        // All nodes together send as much as they receive, so some node sends at least the average.
        sent[0] = sent[0].max(received.iter().sum::<f64>() / nodes);
    }
    let most = sent.into_iter().chain(received).fold(0.0, f64::max);
    least(is_pairs).map_or(0.0, |least| most / least)
}

/// A set of vertices, and the data that must leave this set.
struct CutSide {
    amount: u128,
    /// The capacity of the links that leave the set, at least 1.
    capacity: u128,
    amounts: Vec<(usize, u64)>,
    turned: bool,
}

impl CutSide {
    /// Errors if the set contains an unknown vertex, or if no data must leave it because it has all
    /// nodes. If `turned`, links are reversed.
    fn new(
        graph: &Graph,
        amounts: &[(usize, u64)],
        cut: &[u32],
        turned: bool,
    ) -> Result<Self, String> {
        let mut inside = vec![false; graph.vertices];
        for vertex in cut {
            let place = inside.get_mut(*vertex as usize);
            *place.ok_or_else(|| format!("there is no vertex {vertex}"))? = true;
        }
        if !cut.is_empty() && inside[..graph.nodes].iter().all(|inside| *inside) {
            return Err("the set has all nodes, so no data must leave it".to_owned());
        }
        let leaving = (0..graph.links.len()).filter(|link| {
            let (from, to) = graph.ends(*link, turned);
            inside[from] && !inside[to]
        });
        let capacity: u128 = leaving.map(|link| u128::from(graph.links[link].2)).sum();
        let amount: u128 =
            amounts.iter().filter(|(node, _)| inside[*node]).map(|(_, x)| u128::from(*x)).sum();
        if amount > 0 && capacity == 0 {
            return Err("no link leaves the set".to_owned());
        }
        // If the set has no data, its capacity can be 0, and 0 / 0 would be NaN.
        let capacity = capacity.max(1);
        Ok(Self { amount, capacity, amounts: amounts.to_vec(), turned })
    }

    fn time(&self) -> f64 {
        self.amount as f64 / self.capacity as f64
    }

    /// Returns whether the largest flow to each node is the sum of all amounts. Then there is a
    /// packing of trees that takes the time of the cut (Edmonds, 1973).
    fn is_packed(&self, graph: &Graph) -> bool {
        let all: u128 = self.amounts.iter().map(|(_, amount)| u128::from(*amount)).sum();
        let source = graph.vertices;
        let mut arcs: Vec<(usize, usize, u128)> = (0..graph.links.len())
            .map(|link| {
                let (from, to) = graph.ends(link, self.turned);
                (from, to, u128::from(graph.links[link].2) * self.amount)
            })
            .collect();
        let supply = self.amounts.iter();
        arcs.extend(
            supply.map(|(node, amount)| (source, *node, u128::from(*amount) * self.capacity)),
        );
        let needed = all * self.capacity;
        (0..graph.listed).all(|node| max_flow(&arcs, (source, node), needed) == needed)
    }
}

/// Returns the largest flow, or `enough` if it is larger, by shortest augmenting paths (Edmonds and
/// Karp, 1972).
fn max_flow(arcs: &[(usize, usize, u128)], (from, to): (usize, usize), enough: u128) -> u128 {
    let mut out = vec![Vec::new(); from + 1];
    let mut residual = Vec::with_capacity(2 * arcs.len());
    for (number, &(tail, head, capacity)) in arcs.iter().enumerate() {
        out[tail].push((2 * number, head));
        out[head].push((2 * number + 1, tail));
        residual.extend([capacity, 0]);
    }
    let mut flow = 0;
    while flow < enough {
        let mut through = vec![None; from + 1];
        let mut queue = VecDeque::from([from]);
        while let Some(vertex) = queue.pop_front().filter(|_| through[to].is_none()) {
            for &(arc, next) in &out[vertex] {
                if residual[arc] > 0 && through[next].is_none() && next != from {
                    through[next] = Some((arc, vertex));
                    queue.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while let Some((arc, previous)) = through[at] {
            path.push(arc);
            at = previous;
        }
        let Some(most) = path.iter().map(|arc| residual[*arc]).min() else { break };
        for arc in path {
            residual[arc] -= most;
            residual[arc ^ 1] += most;
        }
        flow += most;
    }
    flow.min(enough)
}

/// Returns the lower and the upper end for an allreduce of `amount`. The lower end is the largest
/// of three times: for the data that must leave the set `out`, for the data that must enter the set
/// `into`, and for all terms and results on all links together. The upper end is the time of a
/// reduce-scatter followed by an allgather, each as long as its cut (`gather`, `scatter`) requires.
/// It is `None` if the largest flows do not show that packings of trees reach these times
/// ([`CutSide::is_packed`]).
fn sum_for_all(
    graph: &Graph,
    amount: u64,
    [out, into]: [&[u32]; 2],
    [gather, scatter]: &[Vec<u32>; 2],
) -> Result<(f64, Option<f64>), String> {
    let nodes = graph.nodes as u128;
    if nodes < 2 {
        return Ok((0.0, Some(0.0)));
    }
    // The term of a node in the set must leave the set or, if `turned`, the sum must enter the set.
    // A set without nodes proves nothing.
    let crossing = |cut: &[u32], turned| {
        let first = cut.iter().find(|vertex| (**vertex as usize) < graph.nodes);
        let first = *first.ok_or("the set has no node")? as usize;
        CutSide::new(graph, &[(first, amount)], cut, turned).map(|side| side.time())
    };
    let by_cuts = f64::max(crossing(out, false)?, crossing(into, true)?);
    let leaving = graph.links.iter().filter(|(from, ..)| *from < graph.nodes);
    let capacity: u128 = leaving.map(|(.., capacity, _)| u128::from(*capacity)).sum();
    let by_terms = (2 * (nodes - 1) * u128::from(amount)) as f64 / capacity as f64;
    let each: Vec<(usize, u64)> = (0..graph.nodes).map(|node| (node, 1)).collect();
    let parts =
        [CutSide::new(graph, &each, gather, false)?, CutSide::new(graph, &each, scatter, true)?];
    let packed = parts.iter().all(|part| part.is_packed(graph));
    let upper = parts.iter().map(CutSide::time).sum::<f64>() * amount as f64 / nodes as f64;
    Ok((by_cuts.max(by_terms), packed.then_some(upper * graph.slowed)))
}

// Messages are the evidence if ports limit the time, and for some sums that all nodes receive.

struct Messages<'a> {
    pub lengths: &'a [u32],
    pub port_lengths: &'a [u32],
    pub roots: &'a [(u32, f32)],
    pub copies: &'a [MessageRow],
    pub sums: &'a [MessageRow],
    pub flows: &'a [MessageRow],
}

/// The time of the verification is proportional to the fourth power of the number of nodes.
const MAX_NODES: usize = 64;

fn verify_messages(
    graph: &Graph,
    demand: &Demand,
    proof: &Messages<'_>,
) -> Result<(f64, f64), String> {
    if graph.nodes > MAX_NODES || graph.listed != graph.nodes {
        return Err(format!("messages are listed for more than {MAX_NODES} nodes"));
    }
    let ports = Ports::of(graph);
    Ok((lower_of_messages(demand, proof, &ports)?, upper_of_messages(demand, proof, &ports)?))
}

/// All resources of a graph, including the ports with the rule [`PortRule::Ends`], which only
/// messages use.
struct Ports<'a> {
    graph: &'a Graph,
    /// For each resource that a link can use ([`Graph::resources`]), its index in the list of all
    /// resources.
    places: Vec<usize>,
    /// For each entry of [`Graph::ports`] with the rule [`PortRule::Ends`], the index of its first
    /// port in the list of all resources. The sending ports of all nodes come first, then the
    /// receiving ports.
    ends: Vec<usize>,
    /// The indices of the resources with the rule [`PortRule::SharedTime`].
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

fn lower_of_messages(
    demand: &Demand,
    proof: &Messages<'_>,
    ports: &Ports<'_>,
) -> Result<f64, String> {
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

/// Returns the cost of the cheapest tree from `root` to all nodes (Edmonds, 1967). Each round finds
/// the cheapest message to each node and contracts the cycles of these messages.
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
        let mut number = vec![usize::MAX; nodes];
        let (mut count, mut has_cycle) = (0, false);
        for start in 0..nodes {
            // Starting from `start`, at most `nodes` steps to parents return to it if and only if
            // it is on a cycle.
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

type Matrix = Vec<Vec<f64>>;

fn upper_of_messages(
    demand: &Demand,
    proof: &Messages<'_>,
    ports: &Ports<'_>,
) -> Result<f64, String> {
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
    // Trees exist if the maximum flow to each node is the total amount (Edmonds, 1973).
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
    if (roots.iter().sum::<f64>() / all - 1.0).abs() > AMOUNT_ERROR {
        return Err("the trees at all roots do not move the whole amount".to_owned());
    }
    let unit = all / (1_u64 << 40) as f64;
    let whole = |amount: f64| (amount / unit) as u128;
    let needed = whole(all * (1.0 - 2.0 * AMOUNT_ERROR));
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
            if (left - wanted).abs() > AMOUNT_ERROR * total {
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
