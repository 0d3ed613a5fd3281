//! Networks from a list of edges in a file.
//!
//! A line of the file is an edge: the numbers of two vertices, with one link in each direction.
//! Optionally, its bandwidth follows, then `l3` if its latency is that of 3 hops, and then `x4` if
//! it stands for 4 links. `switch 8 9` declares that vertices 8 and 9 are switches without ranks.
//! `ranks 7 4` declares that vertex 7 is a switch with 4 ranks. Each of these has its own link to
//! the switch, whose bandwidth may follow. Blank lines and text after a `#` are ignored. Vertices
//! are numbered from 0 without gaps.
//!
//! All other vertices are nodes, and so are the ranks of a switch. Nodes are numbered in the order
//! of the file's vertices, with the ranks of a switch in the place of the switch. Switches are
//! numbered after all nodes.
//!
//! Routes have the smallest number of hops. If several neighbours of a vertex are on such a route,
//! the vertex forwards to the one with the lowest number. If there are m parallel links to a
//! neighbour, a message uses link `(sender + receiver) modulo m`. A table stores the next link for
//! each vertex and destination, which limits the size of graphs.

use super::adjacency::{Adjacency, RoutingTable};
use super::{Family, Network, Parsed, Properties, ReadFile, Run, common, extremes};
use crate::spec::{Spec, parse_decimal};
use crate::text::excerpt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An error in a file of edges.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct GraphError {
    /// The line number, from 1.
    pub line: usize,
    /// The error and the expected input.
    pub message: String,
}

/// A network given by a list of edges.
#[derive(Debug, Clone)]
pub struct Graph {
    properties: Properties,
    table: RoutingTable,
    speeds: Vec<(f64, f64)>,
    parallel: bool,
}

pub(super) fn parse(spec: &Spec, read: ReadFile<'_>) -> Parsed {
    let arg = spec.only_word("a file of edges, as in `graph:edges.txt`")?;
    let wrong = |what: String| spec.error(arg.value_at(), arg.value().len(), &what);
    let content = read(arg.value()).map_err(|why| wrong(format!("`{}` {why}", arg.value())))?;
    Ok(Arc::new(Graph::read(arg.value(), &content).map_err(|e| wrong(e.to_string()))?))
}

impl Graph {
    /// The maximum number of vertices: nodes and switches together.
    pub const MAX_NODES: u64 = RoutingTable::MAX_VERTICES;
    /// For at most this number of edges, finding all routes takes only seconds.
    pub(crate) const MAX_EDGES: usize = 1 << 18;
    /// The largest bandwidth of an edge, as a multiple of the machine's bandwidth. The smallest one
    /// is its inverse.
    pub(crate) const MAX_BANDWIDTH: f64 = 1e6;

    /// Reads a network from the `content` of a file with edges. The topology's spec names the
    /// `file`.
    pub fn parse(file: &str, content: &str) -> Result<Network, GraphError> {
        Ok(Network::of(Arc::new(Self::read(file, content)?)))
    }

    fn read(file: &str, content: &str) -> Result<Self, GraphError> {
        let EdgeList { nodes, switches, mut links } = EdgeList::read(content)?;
        links.sort_by_key(|link| (link.from, link.to));
        let mut ends = vec![Vec::new(); (nodes + switches) as usize];
        links.iter().for_each(|link| ends[link.from as usize].push(link.to));
        let network = Adjacency::from_neighbours(&ends);
        if let Some(lost) = network.unreached_from(0) {
            let from_there = links.iter().find(|link| u64::from(link.from) == lost);
            let (line, vertex) = from_there.map_or((1, lost), |link| (link.line, link.vertex));
            let message =
                format!("nothing connects node {vertex} with node 0, expected a connected network");
            return Err(GraphError { line, message });
        }
        let table = RoutingTable::find(network, nodes);
        let parallel =
            links.windows(2).any(|pair| (pair[0].from, pair[0].to) == (pair[1].from, pair[1].to));
        let reach = || (0..nodes).map(|node| table.distances(node));
        let count = table.network().link_count() as u64;
        let properties = Properties {
            spec: format!("graph:{file}"),
            kind: "graph",
            nodes,
            switches,
            radices: vec![nodes],
            link_slots: count,
            max_links: Some(count),
            degree: common((0..nodes).map(|node| table.network().range(node).len() as u64)),
            diameter: reach().map(|(farthest, _)| farthest).max().unwrap_or(0),
            distance_sum: common(reach()).map(|(_, sum)| sum),
            hops_of_all_pairs: Some(reach().map(|(_, sum)| u128::from(sum)).sum()),
            bandwidths: extremes(links.iter().map(|link| link.bandwidth)),
            latencies: extremes(links.iter().map(|link| link.latency)),
            ..Properties::default()
        };
        let speeds = links.iter().map(|link| (link.bandwidth, link.latency)).collect();
        Ok(Self { properties, table, speeds, parallel })
    }

    /// Returns the link that a message uses at vertex `at`, among the parallel links of which
    /// `first` is the first one.
    fn among_parallel(&self, (from, to): (u64, u64), at: u64, first: usize) -> usize {
        let network = self.table.network();
        let end = network.end(first);
        let parallel = (first..network.range(at).end).take_while(|link| network.end(*link) == end);
        let count = parallel.count();
        first + (from + to) as usize % count.max(1)
    }
}

fn run(link: usize) -> Run {
    Run::link(link as u64)
}

impl Family for Graph {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn links_from(&self, node: u64) -> Option<u64> {
        Some(self.table.network().out(node as usize).len() as u64)
    }

    fn eccentricity(&self, node: u64) -> u64 {
        self.table.distances(node).0
    }

    fn bandwidth(&self, link: u64) -> f64 {
        self.speeds[link as usize].0
    }

    fn latency(&self, link: u64) -> f64 {
        self.speeds[link as usize].1
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let network = self.table.network();
        network.range(from).find(|link| network.end(*link) == to).map(run)
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let mut link = self.table.next_link(at, to);
            if self.parallel {
                link = self.among_parallel((from, to), at, link);
            }
            visit(run(link));
            at = self.table.network().end(link);
            hops += 1;
        }
        hops
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.table.network().link_ends(link)
    }
}

struct Link {
    from: u32,
    to: u32,
    bandwidth: f64,
    latency: f64,
    line: usize,
    vertex: u64,
}

struct EdgeList {
    nodes: u64,
    switches: u64,
    links: Vec<Link>,
}

struct Edge {
    line: usize,
    ends: [u32; 2],
    bandwidth: f64,
    latency: f64,
    links: usize,
}

struct VertexLine {
    line: usize,
    ranks: u64,
    bandwidth: f64,
    latency: f64,
}

impl EdgeList {
    fn read(content: &str) -> Result<Self, GraphError> {
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let (mut edges, mut declared) = (Vec::new(), BTreeMap::new());
        let mut links = 0;
        for (number, text) in content.lines().enumerate() {
            let line = LineNumber(number + 1);
            let text = text.split('#').next().unwrap_or_default();
            let fields: Vec<&str> = text
                .split(|c: char| c.is_whitespace() || c == ',')
                .filter(|f| !f.is_empty())
                .collect();
            match fields[..] {
                [] => {}
                ["switch"] => {
                    return Err(
                        line.error("`switch` without numbers, expected vertex numbers".to_owned())
                    );
                }
                ["switch", ref vertices @ ..] => {
                    for vertex in vertices {
                        line.declare(
                            &mut declared,
                            vertex,
                            VertexLine { line: line.0, ranks: 0, bandwidth: 1.0, latency: 1.0 },
                        )?;
                    }
                }
                ["ranks", ref rest @ ..] => {
                    let (vertex, ranks) = line.ranks(rest)?;
                    line.declare(&mut declared, vertex, ranks)?;
                }
                _ => {
                    let edge = line.edge(&fields)?;
                    links += edge.links;
                    if links > Graph::MAX_EDGES {
                        let most = Graph::MAX_EDGES;
                        return Err(
                            line.error(format!("more than the {most} edges that a graph may have"))
                        );
                    }
                    edges.push(edge);
                }
            }
        }
        reject_repeated(&edges)?;
        Self::numbered(&edges, &declared, content.lines().count().max(1))
    }

    fn numbered(
        edges: &[Edge],
        declared: &BTreeMap<u32, VertexLine>,
        last_line: usize,
    ) -> Result<Self, GraphError> {
        let most = edges.iter().flat_map(|e| e.ends).max();
        let none = "no edges, expected lines of two node numbers";
        let most = most.ok_or_else(|| LineNumber(last_line).error(none.to_owned()))?;
        let vertices = declared.keys().copied().max().unwrap_or(0).max(most) + 1;
        let mut linked = vec![false; vertices as usize];
        edges.iter().flat_map(|e| e.ends).for_each(|end| linked[end as usize] = true);
        if let Some(lone) = (0..vertices).find(|v| !linked[*v as usize]) {
            return Err(match declared.get(&lone) {
                Some(VertexLine { line, ranks: 0, .. }) => {
                    LineNumber(*line).error(format!("switch {lone} has no edge, expected links to it"))
                }
                Some(VertexLine { line, ranks, .. }) => {
                    LineNumber(*line).error(format!("vertex {lone} with {ranks} ranks has no edge, expected links to it"))
                }
                None => LineNumber(last_line).error(format!(
                    "node {lone} has no edge, and there are nodes up to {}: expected numbers from 0 without gaps",
                    vertices - 1
                )),
            });
        }
        let (mut places, mut nodes) = (Vec::new(), 0);
        for v in 0..vertices {
            let count = declared.get(&v).map_or(1, |declared| declared.ranks);
            places.push((nodes, count));
            nodes += count;
            if nodes + declared.len() as u64 > Graph::MAX_NODES {
                let line = declared.get(&v).map_or(last_line, |declared| declared.line);
                return Err(LineNumber(line)
                    .error(format!("over {} vertices including ranks", Graph::MAX_NODES)));
            }
        }
        if nodes == 0 {
            let line = declared.values().map(|declared| declared.line).min().unwrap_or(last_line);
            let message = "all vertices are switches, expected vertices that are nodes, or `ranks` at switches";
            return Err(LineNumber(line).error(message.to_owned()));
        }
        let switch: BTreeMap<u32, u64> = declared.keys().copied().zip(nodes..).collect();
        let number = |v: u32| switch.get(&v).copied().unwrap_or(places[v as usize].0) as u32;
        let mut links = Vec::new();
        for Edge { line, ends: [a, b], bandwidth, latency, links: count } in edges {
            let (bandwidth, latency, line) = (*bandwidth, *latency, *line);
            for (from, to) in [(*a, *b), (*b, *a)] {
                let (vertex, from, to) = (u64::from(from), number(from), number(to));
                let link = || Link { from, to, bandwidth, latency, line, vertex };
                links.extend(std::iter::repeat_with(link).take(*count));
            }
        }
        for (v, VertexLine { line, bandwidth, latency, .. }) in declared {
            let (bandwidth, latency, line, vertex) = (*bandwidth, *latency, *line, u64::from(*v));
            let ((first, count), at) = (places[*v as usize], number(*v));
            for rank in (first..first + count).map(|rank| rank as u32) {
                for (from, to) in [(rank, at), (at, rank)] {
                    links.push(Link { from, to, bandwidth, latency, line, vertex });
                }
            }
        }
        Ok(Self { nodes, switches: declared.len() as u64, links })
    }
}

/// Errors if two lines have the same ends, because parallel links must be declared with `x`.
fn reject_repeated(edges: &[Edge]) -> Result<(), GraphError> {
    let mut known = BTreeMap::new();
    for Edge { line, ends: [a, b], .. } in edges {
        if let Some(before) = known.insert((a.min(b), a.max(b)), *line) {
            let (low, high) = (a.min(b), a.max(b));
            return Err(LineNumber(*line)
                .error(format!("the edge between {low} and {high} is already on line {before}")));
        }
    }
    Ok(())
}

fn suffix<'a, 'b>(fields: &'b [&'a str], letter: char) -> Option<(&'b [&'a str], &'a str)> {
    let (last, rest) = fields.split_last()?;
    let number = last.strip_prefix(letter)?;
    number.starts_with(|c: char| c.is_ascii_digit()).then_some((rest, *last))
}

#[derive(Clone, Copy)]
struct LineNumber(usize);

impl LineNumber {
    fn error(self, message: String) -> GraphError {
        GraphError { line: self.0, message }
    }

    fn vertex(self, text: &str) -> Result<u32, GraphError> {
        let number = text.parse::<u64>().ok().filter(|v| *v < Graph::MAX_NODES);
        let expected = || {
            self.error(format!(
                "`{}` is not a node, expected a number from 0 to {}",
                excerpt(text),
                Graph::MAX_NODES - 1
            ))
        };
        number.map(|v| v as u32).ok_or_else(expected)
    }

    fn bandwidth(self, text: &str) -> Result<f64, GraphError> {
        let most = Graph::MAX_BANDWIDTH;
        let number = parse_decimal(text).filter(|b| (1.0 / most..=most).contains(b));
        let expected = || {
            let least = 1.0 / most;
            format!(
                "`{}` is not a bandwidth, expected a number from {least} to {most}, where 1 is the machine's",
                excerpt(text)
            )
        };
        number.ok_or_else(|| self.error(expected()))
    }

    fn edge(self, fields: &[&str]) -> Result<Edge, GraphError> {
        let (fields, links) = match suffix(fields, 'x') {
            Some((rest, count)) => (rest, self.links(count)?),
            None => (fields, 1),
        };
        let (fields, latency) = self.latency(fields)?;
        let (ends, bandwidth) = match fields {
            [a, b] => ([*a, *b], "1"),
            [a, b, bandwidth] => ([*a, *b], *bandwidth),
            _ => {
                let count = fields.len();
                return Err(self.error(format!(
                    "{count} fields, expected two node numbers and optionally a bandwidth"
                )));
            }
        };
        let ends = [self.vertex(ends[0])?, self.vertex(ends[1])?];
        if ends[0] == ends[1] {
            let message =
                format!("an edge from node {0} to itself, expected two different nodes", ends[0]);
            return Err(self.error(message));
        }
        Ok(Edge { line: self.0, ends, bandwidth: self.bandwidth(bandwidth)?, latency, links })
    }

    fn links(self, text: &str) -> Result<usize, GraphError> {
        let most = Graph::MAX_EDGES;
        let count = text
            .strip_prefix('x')
            .and_then(|count| count.parse().ok())
            .filter(|n| (1..=most).contains(n));
        count.ok_or_else(|| {
            let text = excerpt(text);
            self.error(format!("`{text}` links, expected x and a number from 1 to {most}"))
        })
    }

    fn latency<'a, 'b>(self, fields: &'b [&'a str]) -> Result<(&'b [&'a str], f64), GraphError> {
        let Some((rest, text)) = suffix(fields, 'l') else { return Ok((fields, 1.0)) };
        let most = Graph::MAX_BANDWIDTH;
        let hops = parse_decimal(&text[1..]).filter(|hops| (0.0..=most).contains(hops));
        let expected = || {
            self.error(format!(
                "`{}` is not a latency, expected l and a number from 0 to {most}, where 1 is the machine's hop",
                excerpt(text)
            ))
        };
        Ok((rest, hops.ok_or_else(expected)?))
    }

    fn ranks<'a>(self, fields: &[&'a str]) -> Result<(&'a str, VertexLine), GraphError> {
        let (fields, latency) = self.latency(fields)?;
        let (vertex, count, bandwidth) = match fields {
            [vertex, count] => (*vertex, *count, "1"),
            [vertex, count, bandwidth] => (*vertex, *count, *bandwidth),
            _ => {
                let found = fields.len();
                return Err(self.error(format!(
                    "{found} fields after `ranks`, expected a vertex, the number of ranks and optionally the bandwidth of their links"
                )));
            }
        };
        let ranks = count.parse().ok().filter(|n| (1..=Graph::MAX_NODES).contains(n));
        let ranks = ranks.ok_or_else(|| {
            let (count, most) = (excerpt(count), Graph::MAX_NODES);
            self.error(format!("`{count}` ranks, expected a number from 1 to {most}"))
        })?;
        Ok((
            vertex,
            VertexLine { line: self.0, ranks, bandwidth: self.bandwidth(bandwidth)?, latency },
        ))
    }

    fn declare(
        self,
        declared: &mut BTreeMap<u32, VertexLine>,
        vertex: &str,
        new: VertexLine,
    ) -> Result<(), GraphError> {
        let number = self.vertex(vertex)?;
        match declared.get(&number) {
            Some(before) => {
                Err(self
                    .error(format!("vertex {number} is already declared on line {}", before.line)))
            }
            None => {
                declared.insert(number, new);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Route;
    use super::super::tests::link_between;
    use super::*;

    fn graph(content: &str) -> Network {
        Graph::parse("g.txt", content).unwrap()
    }

    fn error(content: &str) -> String {
        Graph::parse("g.txt", content).unwrap_err().to_string()
    }

    fn route(graph: &Network, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut links = Vec::new();
        graph
            .route(from, to, None, &mut |run| links.push(graph.link_ends(run.first).unwrap()))
            .unwrap();
        links
    }

    #[test]
    fn routes_are_shortest_with_the_lowest_neighbour_at_a_tie() {
        let g = graph("# a square\n0 1\n1 3\n\n3,2 # with a tail\n2 0\n3 4\n");
        assert_eq!((g.nodes(), g.diameter(), g.degree(), g.link_slots()), (5, 3, None, 10));
        assert_eq!(route(&g, 0, 3), [(0, 1), (1, 3)]);
        assert_eq!(route(&g, 4, 0), [(4, 3), (3, 1), (1, 0)]);
        assert_eq!(route(&g, 2, 2), []);
        assert_eq!(graph("0 1\n1 2\n2 0").degree(), Some(2));
    }

    #[test]
    fn a_requested_path_must_have_links() {
        let g = graph("0 1\n1 3\n3 2\n2 0\n");
        let path = |path: &[u64]| {
            let route = Route { path: path.to_vec(), ..Route::default() };
            g.route(0, 3, Some(&route), &mut |_| {}).map_err(|e| e.to_string())
        };
        assert_eq!(path(&[2, 3]), Ok(2));
        assert_eq!(path(&[3]), Err("graph:g.txt has no link from node 0 to node 3".to_owned()));
        let signs = Route { signs: vec![1], ..Route::default() };
        assert!(g.route(0, 3, Some(&signs), &mut |_| {}).is_err());
    }

    #[test]
    fn bandwidths_apply_to_both_directions_of_an_edge() {
        let g = graph("0 1 2.5\n1 2\n");
        assert_eq!(g.bandwidths(), Some((1.0, 2.5)));
        let of = |from, to| g.bandwidth(link_between(&g, from, to).unwrap().first);
        assert_eq!((of(0, 1), of(1, 0), of(1, 2)), (2.5, 2.5, 1.0));
        assert_eq!(graph("0 1\n").bandwidths(), None);
    }

    #[test]
    fn latencies_of_edges_and_ranks_are_read() {
        let g = graph("0 1 2.5 l3\n1 2 l0.5 x2\nranks 0 2 l7\n");
        assert_eq!((g.latencies(), g.bandwidths()), (Some((0.5, 7.0)), Some((1.0, 2.5))));
        let of = |from, to| g.latency(link_between(&g, from, to).unwrap().first);
        assert_eq!([of(0, 4), of(4, 1), of(4, 2), of(2, 3)], [7.0, 7.0, 3.0, 0.5]);
        assert_eq!(graph("0 1 4\n").latencies(), None);
    }

    /// Two switches have two nodes each and are joined by two links. One graph declares the nodes
    /// as vertices with links, the other one as ranks of the switches.
    #[test]
    fn parallel_links_between_switches_share_messages() {
        let racks = graph("switch 2 5\n0 2\n1 2\n2 5 x2 # trunk\n3 5\n4 5\n");
        assert_eq!(
            (racks.nodes(), racks.switches(), racks.diameter(), racks.degree()),
            (4, 2, 3, Some(1))
        );
        assert_eq!(route(&racks, 0, 2), [(0, 4), (4, 5), (5, 2)]);
        let over = |from, to| {
            let mut links = Vec::new();
            racks.route(from, to, None, &mut |run| links.push(run.first)).unwrap();
            links[1]
        };
        assert_eq!((over(0, 2), over(0, 3)), (over(1, 3), over(1, 2)));
        assert_ne!(over(0, 2), over(0, 3));
        let ranks = graph("ranks 0 2\nranks 1 2\n0 1 x2\n");
        let all =
            |g: &Network| (0..g.link_slots()).map(|link| g.link_ends(link)).collect::<Vec<_>>();
        assert_eq!(all(&ranks), all(&racks));
    }

    #[test]
    fn ranks_at_a_vertex_have_their_own_links() {
        let g = graph("0 1 4\nranks 1 3 0.5\n2 1 4 x2\n");
        assert_eq!((g.nodes(), g.switches()), (5, 1));
        let of = |from, to| g.bandwidth(link_between(&g, from, to).unwrap().first);
        assert_eq!((of(0, 5), of(5, 2), of(3, 5), of(4, 5)), (4.0, 0.5, 0.5, 4.0));
        assert_eq!((g.links_from(4), g.links_from(3)), (Some(2), Some(1)));
    }

    #[test]
    fn errors_in_switch_and_rank_lines_have_line_numbers() {
        insta::assert_snapshot!(error("switch 0 1\n0 1\n"), @"line 1: all vertices are switches, expected vertices that are nodes, or `ranks` at switches");
        insta::assert_snapshot!(error("0 1\nswitch 3\n1 2\n"), @"line 2: switch 3 has no edge, expected links to it");
        insta::assert_snapshot!(error("0 1\n\nranks 2 4\n"), @"line 3: vertex 2 with 4 ranks has no edge, expected links to it");
        insta::assert_snapshot!(error("0 1\nswitch\n"), @"line 2: `switch` without numbers, expected vertex numbers");
        insta::assert_snapshot!(error("0 1\nranks 1\n"), @"line 2: 1 fields after `ranks`, expected a vertex, the number of ranks and optionally the bandwidth of their links");
        insta::assert_snapshot!(error("0 1\nranks 1 0\n"), @"line 2: `0` ranks, expected a number from 1 to 8192");
        insta::assert_snapshot!(error("0 1\nswitch 1\nranks 1 2\n"), @"line 3: vertex 1 is already declared on line 2");
        insta::assert_snapshot!(error("0 1\nranks 0 5000\nranks 1 5000\n"), @"line 3: over 8192 vertices including ranks");
        insta::assert_snapshot!(error("0 1 2 l9999999 x2\n"), @"line 1: `l9999999` is not a latency, expected l and a number from 0 to 1000000, where 1 is the machine's hop");
        insta::assert_snapshot!(error("0 1 x0\n"), @"line 1: `x0` links, expected x and a number from 1 to 262144");
    }

    #[test]
    fn errors_in_edges_have_line_numbers() {
        insta::assert_snapshot!(error(""), @"line 1: no edges, expected lines of two node numbers");
        insta::assert_snapshot!(error("0 1\n1\n"), @"line 2: 1 fields, expected two node numbers and optionally a bandwidth");
        insta::assert_snapshot!(error("0 1\n1 x\n"), @"line 2: `x` is not a node, expected a number from 0 to 8191");
        insta::assert_snapshot!(error("0 8192\n"), @"line 1: `8192` is not a node, expected a number from 0 to 8191");
        insta::assert_snapshot!(error("0 1\n2 2\n"), @"line 2: an edge from node 2 to itself, expected two different nodes");
        insta::assert_snapshot!(error("0 1\n1 2\n\n1 0 3\n"), @"line 4: the edge between 0 and 1 is already on line 1");
        insta::assert_snapshot!(error("0 1\n3 1\n"), @"line 2: node 2 has no edge, and there are nodes up to 3: expected numbers from 0 without gaps");
        insta::assert_snapshot!(error("1 2\n2 3\n"), @"line 2: node 0 has no edge, and there are nodes up to 3: expected numbers from 0 without gaps");
        insta::assert_snapshot!(error("0 1\n1 4\n2 3\n"), @"line 3: nothing connects node 2 with node 0, expected a connected network");
        let many = "0 1\n".repeat(Graph::MAX_EDGES + 1);
        insta::assert_snapshot!(error(&many), @"line 262145: more than the 262144 edges that a graph may have");
        for bad in ["0", "-1", "nan", "inf", "1e9", "fast"] {
            assert_eq!(
                error(&format!("0 1 {bad}\n")),
                format!(
                    "line 1: `{bad}` is not a bandwidth, expected a number from 0.000001 to 1000000, where 1 is the machine's"
                )
            );
        }
    }
}
