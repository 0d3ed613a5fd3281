//! Any network, from a list of edges.
//!
//! A line is an edge: two node numbers and, if its bandwidth isn't 1, that. Blank lines and what follows a `#` mean nothing. Nodes are numbered from 0 without gaps; an edge is a
//! link each way. Routes are shortest in hops; where several are, each node takes the neighbour of the lowest number. A table says which, so that a graph is small: two bytes a
//! pair of nodes.

use super::{Bisection, Plane, Read, Route, RouteError, Run, Topology, asked_for};
use crate::spec::{Spec, SpecError};
use std::collections::VecDeque;
use std::sync::Arc;

/// A file that is no graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct GraphError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// A network whose edges are listed.
#[derive(Debug, Clone)]
pub struct Graph {
    file: String,
    nodes: [u64; 1],
    /// The links out of node v are `first[v]` to `first[v + 1]` - 1, in the order of their ends.
    first: Vec<u32>,
    ends: Vec<u32>,
    bandwidths: Vec<f64>,
    /// For each destination and node, which of the node's links comes next.
    next: Vec<u16>,
    diameter: u64,
    /// Hops from each node to each.
    hops: u128,
    /// The sum of the distances from a node, if that and the farthest are the same for all.
    distance_sum: Option<u64>,
}

/// An edge as it was read.
struct Edge {
    line: usize,
    ends: [u32; 2],
    bandwidth: f64,
}

/// A node that isn't reached.
const NOWHERE: u16 = u16::MAX;

pub(super) fn parse(spec: &Spec, read: Read<'_>) -> Result<Arc<dyn Topology>, SpecError> {
    let arg = spec.only_word("a file of edges, as in `graph:edges.txt`")?;
    let wrong = |what: String| spec.error(arg.value_at(), arg.value().len(), &what);
    let content = read(arg.value()).map_err(wrong)?;
    Ok(Arc::new(Graph::parse(arg.value(), &content).map_err(|e| wrong(e.to_string()))?))
}

impl Graph {
    /// The most nodes: the table takes 128 MiB.
    pub const MOST_NODES: u64 = 1 << 13;
    /// The most edges: with as many nodes as may be, ways are found in seconds.
    pub const MOST_EDGES: usize = 1 << 18;
    /// The largest bandwidth, and over 1 the smallest.
    pub const MOST_BANDWIDTH: f64 = 1e6;

    /// Reads a list of edges; `file` is what the spec calls it.
    pub fn parse(file: &str, content: &str) -> Result<Self, GraphError> {
        let mut edges = Vec::new();
        for (number, text) in content.strip_prefix('\u{feff}').unwrap_or(content).lines().enumerate() {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            if edges.len() == Self::MOST_EDGES {
                let message = format!("one more edge than the {} that a graph may have", Self::MOST_EDGES);
                return Err(GraphError { line: number + 1, message });
            }
            edges.push(edge(number + 1, text)?);
        }
        let last_line = content.lines().count().max(1);
        let nodes = edges.iter().flat_map(|e| e.ends).max().map(|most| u64::from(most) + 1).ok_or_else(|| {
            GraphError { line: last_line, message: "no edges, expected lines of two node numbers".to_owned() }
        })?;
        let mut links: Vec<(u32, u32, f64, usize)> = edges
            .iter()
            .flat_map(|e| [(e.ends[0], e.ends[1], e.bandwidth, e.line), (e.ends[1], e.ends[0], e.bandwidth, e.line)])
            .collect();
        links.sort_by_key(|(from, to, _, line)| (*from, *to, *line));
        if let Some(pair) = links.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
            let (a, b, line, before) = (pair[0].0, pair[0].1, pair[1].3, pair[0].3);
            return Err(GraphError {
                line,
                message: format!("the edge between {a} and {b} is on line {before} already"),
            });
        }
        let mut first = vec![0_u32; nodes as usize + 1];
        for (from, ..) in &links {
            first[*from as usize + 1] += 1;
        }
        if let Some(lone) = (0..nodes as usize).find(|v| first[v + 1] == 0) {
            return Err(GraphError {
                line: last_line,
                message: format!(
                    "node {lone} has no edge, and there are nodes up to {}: expected numbers without gaps",
                    nodes - 1
                ),
            });
        }
        for v in 0..nodes as usize {
            first[v + 1] += first[v];
        }
        let mut graph = Self {
            file: file.to_owned(),
            nodes: [nodes],
            first,
            ends: links.iter().map(|(_, to, ..)| *to).collect(),
            bandwidths: links.iter().map(|(_, _, bandwidth, _)| *bandwidth).collect(),
            next: vec![NOWHERE; (nodes * nodes) as usize],
            diameter: 0,
            hops: 0,
            distance_sum: None,
        };
        graph.find_ways().map_err(|lost| {
            let line = links.iter().find(|(from, ..)| u64::from(*from) == lost).map_or(last_line, |(.., line)| *line);
            GraphError {
                line,
                message: format!("nothing connects node {lost} with node 0, expected a connected network"),
            }
        })?;
        Ok(graph)
    }

    /// Fills in the table, destination by destination; `Err` is a node that node 0 isn't reached from.
    fn find_ways(&mut self) -> Result<(), u64> {
        let n = self.nodes();
        let mut hops = vec![u32::MAX; n as usize];
        let mut queue = VecDeque::new();
        let mut seen = Vec::with_capacity(n as usize);
        for destination in 0..n {
            hops.fill(u32::MAX);
            hops[destination as usize] = 0;
            queue.push_back(destination);
            while let Some(v) = queue.pop_front() {
                for link in self.links_of(v) {
                    let w = self.ends[link] as usize;
                    if hops[w] == u32::MAX {
                        hops[w] = hops[v as usize] + 1;
                        queue.push_back(w as u64);
                    }
                }
            }
            for v in 0..n {
                let mine = hops[v as usize];
                if mine == u32::MAX {
                    return Err(v);
                }
                let nearer = self.links_of(v).position(|link| hops[self.ends[link] as usize] < mine);
                if let Some(nearer) = nearer {
                    self.next[(destination * n + v) as usize] = nearer as u16;
                }
            }
            let hops = || hops.iter().map(|h| u64::from(*h));
            seen.push((hops().sum(), hops().max().unwrap_or(0)));
        }
        self.diameter = seen.iter().map(|(_, farthest)| *farthest).max().unwrap_or(0);
        self.hops = seen.iter().map(|(sum, _): &(u64, u64)| u128::from(*sum)).sum();
        self.distance_sum = seen.first().filter(|first| seen.iter().all(|other| other == *first)).map(|(sum, _)| *sum);
        Ok(())
    }

    fn links_of(&self, node: u64) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    fn link(&self, from: u64, to: u64) -> Option<Run> {
        let links = self.links_of(from);
        let found = self.ends[links.clone()].binary_search(&u32::try_from(to).ok()?).ok()?;
        Some(Run { first: (links.start + found) as u64, stride: 1, len: 1, plane: 0 })
    }
}

/// An edge from a line that isn't empty.
fn edge(line: usize, text: &str) -> Result<Edge, GraphError> {
    let error = |message: String| GraphError { line, message };
    let fields: Vec<&str> = text.split(|c: char| c.is_whitespace() || c == ',').filter(|f| !f.is_empty()).collect();
    let (ends, bandwidth) = match fields[..] {
        [a, b] => ([a, b], "1"),
        [a, b, bandwidth] => ([a, b], bandwidth),
        _ => {
            return Err(error(format!("{} fields, expected two node numbers and perhaps a bandwidth", fields.len())));
        }
    };
    let node = |text: &str| {
        let number = text.parse::<u64>().ok().filter(|v| *v < Graph::MOST_NODES);
        let expected = || error(format!("`{text}` is no node, expected a number from 0 to {}", Graph::MOST_NODES - 1));
        number.map(|v| v as u32).ok_or_else(expected)
    };
    let ends = [node(ends[0])?, node(ends[1])?];
    if ends[0] == ends[1] {
        return Err(error(format!("an edge from node {0} to itself, expected two different nodes", ends[0])));
    }
    let most = Graph::MOST_BANDWIDTH;
    let number = bandwidth.parse::<f64>().ok().filter(|b| (1.0 / most..=most).contains(b));
    let bandwidth = number.ok_or_else(|| {
        error(format!(
            "`{bandwidth}` is no bandwidth, expected a number from {} to {most}, 1 being the machine's",
            1.0 / most
        ))
    })?;
    Ok(Edge { line, ends, bandwidth })
}

impl Topology for Graph {
    fn spec(&self) -> String {
        format!("graph:{}", self.file)
    }

    fn kind(&self) -> &'static str {
        "graph"
    }

    fn nodes(&self) -> u64 {
        self.nodes[0]
    }

    fn radices(&self) -> &[u64] {
        &self.nodes
    }

    fn link_slots(&self) -> u64 {
        self.ends.len() as u64
    }

    fn planes(&self) -> &[Plane] {
        &[]
    }

    fn degree(&self) -> Option<u64> {
        let degree = self.links_of(0).len();
        (0..self.nodes()).all(|v| self.links_of(v).len() == degree).then_some(degree as u64)
    }

    fn diameter(&self) -> u64 {
        self.diameter
    }

    fn links_from(&self, node: u64) -> Option<u64> {
        Some(self.links_of(node).len() as u64)
    }

    fn hops_of_all_pairs(&self) -> Option<u128> {
        Some(self.hops)
    }

    fn farthest_from(&self, node: u64) -> u64 {
        (0..self.nodes()).filter_map(|to| self.route(node, to, None, &mut |_| {}).ok()).max().unwrap_or(0)
    }

    fn bisection(&self) -> Option<Bisection> {
        None
    }

    fn distance_sum(&self) -> Option<u64> {
        self.distance_sum
    }

    fn bandwidths(&self) -> Option<(f64, f64)> {
        let least = self.bandwidths.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.bandwidths.iter().copied().fold(0.0, f64::max);
        (least < 1.0 || most > 1.0).then_some((least, most))
    }

    fn bandwidth(&self, link: u64) -> f64 {
        self.bandwidths[link as usize]
    }

    fn route(&self, from: u64, to: u64, route: Option<&Route>, visit: &mut dyn FnMut(Run)) -> Result<u64, RouteError> {
        if let Some(hops) = asked_for(self, (from, to), route, |a, b| self.link(a, b), visit)? {
            return Ok(hops);
        }
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let link = self.links_of(at).start + usize::from(self.next[(to * self.nodes() + at) as usize]);
            visit(Run { first: link as u64, stride: 1, len: 1, plane: 0 });
            at = u64::from(self.ends[link]);
            hops += 1;
        }
        Ok(hops)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let to = *self.ends.get(link as usize)?;
        let from = self.first.partition_point(|first| u64::from(*first) <= link) - 1;
        Some((from as u64, to.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(content: &str) -> Graph {
        Graph::parse("g.txt", content).unwrap()
    }

    fn route(graph: &Graph, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut links = Vec::new();
        graph.route(from, to, None, &mut |run| links.push(graph.link_ends(run.first).unwrap())).unwrap();
        links
    }

    #[test]
    fn routes_are_shortest_and_at_a_tie_by_the_lowest_neighbour() {
        // A square with a tail: from 0 to 3 by way of 1 or 2.
        let g = graph("# a square\n0 1\n1 3\n\n3,2 # with a tail\n2 0\n3 4\n");
        assert_eq!((g.nodes(), g.diameter(), g.degree(), g.link_slots()), (5, 3, None, 10));
        assert_eq!(route(&g, 0, 3), [(0, 1), (1, 3)]);
        assert_eq!(route(&g, 4, 0), [(4, 3), (3, 1), (1, 0)]);
        assert_eq!(route(&g, 2, 2), []);
        assert_eq!(graph("0 1\n1 2\n2 0").degree(), Some(2));
    }

    #[test]
    fn a_path_may_be_named_where_there_are_links() {
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
    fn bandwidths_are_the_edges_both_ways() {
        let g = graph("0 1 2.5\n1 2\n");
        assert_eq!(g.bandwidths(), Some((1.0, 2.5)));
        let of = |from, to| g.bandwidth(g.link(from, to).unwrap().first);
        assert_eq!((of(0, 1), of(1, 0), of(1, 2)), (2.5, 2.5, 1.0));
        assert_eq!(graph("0 1\n").bandwidths(), None);
    }

    #[test]
    fn what_is_no_graph_is_shown_with_its_line() {
        let error = |content: &str| Graph::parse("g.txt", content).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error(""), "line 1: no edges, expected lines of two node numbers");
        assert_eq!(error("0 1\n1\n"), "line 2: 1 fields, expected two node numbers and perhaps a bandwidth");
        assert_eq!(error("0 1\n1 x\n"), "line 2: `x` is no node, expected a number from 0 to 8191");
        assert_eq!(error("0 8192\n"), "line 1: `8192` is no node, expected a number from 0 to 8191");
        assert_eq!(error("0 1\n2 2\n"), "line 2: an edge from node 2 to itself, expected two different nodes");
        assert_eq!(error("0 1\n1 2\n\n1 0 3\n"), "line 4: the edge between 0 and 1 is on line 1 already");
        assert_eq!(
            error("0 1\n3 1\n"),
            "line 2: node 2 has no edge, and there are nodes up to 3: expected numbers without gaps"
        );
        assert_eq!(
            error("0 1\n1 4\n2 3\n"),
            "line 3: nothing connects node 2 with node 0, expected a connected network"
        );
        let many = "0 1\n".repeat(Graph::MOST_EDGES + 1);
        assert_eq!(error(&many), "line 262145: one more edge than the 262144 that a graph may have");
        for bad in ["0", "-1", "nan", "inf", "1e9", "fast"] {
            assert_eq!(
                error(&format!("0 1 {bad}\n")),
                format!(
                    "line 1: `{bad}` is no bandwidth, expected a number from 0.000001 to 1000000, 1 being the machine's"
                )
            );
        }
    }
}
