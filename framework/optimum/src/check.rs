//! Verifies certificates, with no code of the solver except the types of a certificate.
//!
//! The lower end follows from the lengths of links and ports: the sum of demands times distances
//! (of shortest paths from each source), divided by the sum of capacities times lengths. All terms
//! are whole numbers, so the sums are exact. For data that may be copied, the certificate has a set
//! of vertices instead; the lower end is the data inside this set, divided by the capacity of the
//! links that leave it.
//!
//! The upper end follows from the flows. They must move every demand up to a relative error of
//! 10^-4, because flows are rounded. For data that may be copied, a maximum flow to each node
//! verifies it.

use crate::certificate::{Certificate, Evidence, FORMAT, SourceFlow};
use crate::demand::Demand;
use crate::network::PortRule;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

mod packing;
mod trees;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verified {
    pub lower_us: f64,
    /// The upper end of the interval, in µs; `None` if the certificate has no evidence for it.
    pub upper_us: Option<f64>,
}

/// Verifies a certificate. The evidence must fit the demand: flows for a demand between pairs of
/// nodes, trees for data that is copied or added.
///
/// # Errors
///
/// Returns a description of the first error in the certificate.
pub fn check(certificate: &Certificate) -> Result<Verified, String> {
    /// Largest relative error of the ends of the interval, which a certificate contains rounded.
    const ROUNDED: f64 = 1e-9;
    if certificate.format != FORMAT {
        return Err(format!("format `{}`: expected `{FORMAT}`", certificate.format));
    }
    let unit = certificate.unit_us;
    if !(unit.is_finite() && unit > 0.0) {
        return Err(format!("unit_us is {unit}, expected a positive time"));
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
            let side = trees::CutSide::new(&graph, &amounts, cut, turned)?;
            (side.time(), side.is_packed(&graph).then(|| side.time() * graph.slowed))
        }
        Evidence::Messages { lengths, port_lengths, roots, copies, sums, flows } => {
            let messages = packing::Messages { lengths, port_lengths, roots, copies, sums, flows };
            let (lower, upper) = packing::verify(&graph, &certificate.demand, &messages)?;
            (lower, Some(upper))
        }
        Evidence::SumForAll { out, into, parts } => {
            let Demand::SumForAll(amount) = certificate.demand else {
                return Err("the proof is for a sum that every node receives".to_owned());
            };
            trees::sum_for_all(&graph, amount, [out, into], parts)?
        }
    };
    let (lower, upper) = (lower.max(at_ports), upper.map(|upper| upper.max(at_ports).max(lower)));
    let verified = Verified { lower_us: lower * unit, upper_us: upper.map(|upper| upper * unit) };
    let Certificate { lower_us, upper_us, .. } = *certificate;
    if !(lower_us >= 0.0 && lower_us <= verified.lower_us * (1.0 + ROUNDED)) {
        let proved = verified.lower_us;
        return Err(format!("lower_us is {lower_us}, but the lengths prove only {proved}"));
    }
    // Flows are stored with only seven digits, so the upper end is less exact than the lower end.
    if let Some(reached) = verified.upper_us
        && !(upper_us.is_finite() && upper_us * (1.0 + 1e-4) >= reached)
    {
        return Err(format!("upper_us is {upper_us}, but the flows take {reached}"));
    }
    Ok(verified)
}

/// The whole network of a certificate. If the certificate uses translations (shifts of all
/// coordinates of a grid, which map every link to a link), the graph contains all images of the
/// listed links.
struct Graph {
    nodes: usize,
    vertices: usize,
    /// For each link: the vertex that it leaves, the vertex to which it leads, its capacity, and
    /// the index of the link in the certificate of which it is an image.
    links: Vec<(usize, usize, u64, usize)>,
    out: Vec<Vec<u32>>,
    /// For each kind of ports, the rule (which traffic passes through the ports) and the capacity.
    ports: Vec<(PortRule, u64)>,
    /// The smallest and the largest capacity of a link, and the largest amount by which capacities
    /// are rounded up.
    speeds: (u64, u64, u64),
    own: usize,
    /// The number of nodes that the certificate lists: all, or one if it uses translations.
    listed: usize,
    /// The factor by which ports slow down a node whose links are all full; at least 1. It is the
    /// largest total capacity of the links out of a node or into a node, divided by the capacity of
    /// the ports of a node. With [`PortRule::SharedTime`], every link counts with the largest
    /// capacity.
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
        // Add the images of each listed link under the translations.
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
        // If ports are in use for the time that data takes on a link, a slow link uses them for as
        // long as a fast one.
        let is_timed = ports.iter().any(|(rule, _)| *rule == PortRule::SharedTime);
        let sums = if is_timed { &degrees } else { &through };
        let most = sums[..nodes].iter().map(|(out, into)| *out.max(into)).max().unwrap_or(0);
        let most = if is_timed { most.saturating_mul(largest) } else { most };
        let least = ports.iter().map(|(_, capacity)| *capacity).min();
        let slowed = least.map_or(1.0, |least| (most as f64 / least as f64).max(1.0));
        let (own, listed) = (network.links.len(), nodes / copies);
        Ok(Self { nodes, vertices, links, out, ports, speeds, own, listed, slowed })
    }

    /// Returns the resources that data on a link uses, each with its rule if it consists of ports.
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

    /// Returns the sum of the lengths of the resources of a link. A resource with the rule
    /// [`PortRule::SharedTime`] adds its length to the slowest link, and less to a faster one.
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

    /// Returns the sum of capacities times lengths. `timed` has the places of the resources with
    /// the rule [`PortRule::SharedTime`], whose lengths are those of the slowest link.
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

    /// Returns tail and head of a link or, if `turned`, head and tail.
    fn ends(&self, link: usize, turned: bool) -> (usize, usize) {
        let (from, to, ..) = self.links[link];
        if turned { (to, from) } else { (from, to) }
    }
}

/// Translates a vertex: adds the coordinates of vertex `by` to its coordinates on a grid with these
/// sides. Without a grid, returns the vertex itself.
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

/// Returns the demand of each source that the certificate lists. For data that is copied or added,
/// the entry of a source lists only the source itself, with its amount.
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

/// Returns the distances of all vertices from the vertex `from` (Dijkstra, 1959).
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

/// Returns the upper end, or an error if the flows do not move the demand.
fn by_flows(graph: &Graph, rows: &DemandRows, flows: &[SourceFlow]) -> Result<f64, String> {
    /// Largest accepted relative error of the amounts that flows move, because flows are rounded.
    const ROUNDED: f64 = 1e-4;
    let capacities = graph.capacities();
    let mut load = vec![0.0; capacities.len()];
    if flows.len() != rows.len() {
        return Err(format!("there are flows of {} sources, expected {}", flows.len(), rows.len()));
    }
    for ((from, row), (source, flow)) in rows.iter().zip(flows) {
        if *source as usize != *from {
            return Err(format!("there are flows of source {source}, expected {from}"));
        }
        // For each vertex, the amount that enters it minus the amount that leaves it.
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
            if (left[vertex] - wanted[vertex]).abs() > ROUNDED * all {
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

/// Returns the time in which the busiest node passes its own data through its ports, as origin or
/// destination. This time does not depend on paths.
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
        // With translations only one node is listed. Every node receives as much as it sends.
        if graph.listed != graph.nodes {
            received.clone_from(&vec![sent[0]; graph.nodes]);
        }
    } else if graph.nodes > 1 {
        received.fill(all);
        for (node, row) in rows {
            sent[*node] = row[0].1 as f64;
            received[*node] -= sent[*node];
        }
        // All nodes together send as much data as they receive, so at least one node sends the
        // average amount.
        sent[0] = sent[0].max(received.iter().sum::<f64>() / nodes);
    }
    let most = sent.into_iter().chain(received).fold(0.0, f64::max);
    least(is_pairs).map_or(0.0, |least| most / least)
}
