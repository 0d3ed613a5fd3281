//! Any network, from a file that lists its links.
//!
//! A line is `FROM TO` or `FROM TO BANDWIDTH`: two nodes, numbered from 0, that are linked both ways. What follows a `#` is a comment. The bandwidth, a whole number from 1
//! on, says how many links lie side by side; a message from a to b takes number (a + b) mod BANDWIDTH of them, as bundled links are shared out in practice.
//!
//! Routes are shortest paths, from a table; where several are as short, each node passes on to the neighbour of the lowest number.

use super::{Bisection, Plane, RouteError, Run, Topology, Way, walk_path};
use crate::spec::{Spec, SpecError};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A network read from a file.
#[derive(Debug, Clone)]
pub struct Graph {
    path: String,
    nodes: [u64; 1],
    /// For each node its neighbours in ascending order, each with the first of its links and how many they are.
    neighbours: Vec<Vec<(u32, u64, u64)>>,
    /// From and to of every link.
    ends: Vec<(u32, u32)>,
    /// The next node on the way to `to` from `from`, at `to * n + from`.
    next: Vec<u32>,
    diameter: u64,
}

/// A file that is no network: the line, from 1, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wrong {
    line: usize,
    message: String,
}

pub(super) fn parse(spec: &Spec) -> Result<Arc<dyn Topology>, SpecError> {
    let arg = spec.only_word("a file of links, as in `graph:links.txt`")?;
    let path = arg.value();
    let refused = |what: String| spec.error(arg.value_at(), path.len(), &what);
    let content = std::fs::read_to_string(path).map_err(|e| refused(format!("`{path}` can't be read: {e}")))?;
    let graph = Graph::parse(path, &content).map_err(|e| refused(format!("{path}:{}: {}", e.line, e.message)))?;
    Ok(Arc::new(graph))
}

impl Graph {
    /// The table of routes has an entry a pair.
    const MOST_NODES: u64 = 4096;
    /// As many side by side.
    const MOST_BANDWIDTH: u64 = 1024;

    fn parse(path: &str, content: &str) -> Result<Self, Wrong> {
        let mut edges = Vec::new();
        let mut seen: HashMap<(u32, u32), usize> = HashMap::new();
        // The line where the highest number stands first.
        let (mut last, mut last_line) = (None, 1);
        for (index, text) in content.strip_prefix('\u{feff}').unwrap_or(content).lines().enumerate() {
            let line = index + 1;
            let fields: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
            if fields.is_empty() {
                continue;
            }
            let (a, b, width) = edge(&fields).map_err(|message| Wrong { line, message })?;
            if let Some(before) = seen.insert((a.min(b), a.max(b)), line) {
                let message =
                    format!("nodes {a} and {b} are linked already, in line {before}: expected each link once");
                return Err(Wrong { line, message });
            }
            if last.is_none_or(|last| a.max(b) > last) {
                (last, last_line) = (Some(a.max(b)), line);
            }
            edges.push((a, b, width));
        }
        let Some(last) = last else {
            return Err(Wrong { line: 1, message: "no link, expected lines such as `0 1`".to_owned() });
        };
        let graph = Self::link(path, u64::from(last) + 1, &edges);
        if let Some(lost) = graph.next.iter().take(last as usize + 1).position(|next| *next == u32::MAX) {
            // In a network in two parts the line that names the other part first; a number left out has none.
            let named = seen.iter().filter(|((a, b), _)| *a as usize == lost || *b as usize == lost);
            let line = named.map(|(_, line)| *line).min();
            let what = if line.is_some() { "no way leads from node 0 to it" } else { "it has no link" };
            return Err(Wrong { line: line.unwrap_or(last_line), message: format!("node {lost} is cut off: {what}") });
        }
        Ok(graph)
    }

    fn link(path: &str, nodes: u64, edges: &[(u32, u32, u64)]) -> Self {
        let n = nodes as usize;
        let mut neighbours = vec![Vec::new(); n];
        for &(a, b, width) in edges {
            neighbours[a as usize].push((b, 0, width));
            neighbours[b as usize].push((a, 0, width));
        }
        let mut ends = Vec::new();
        for (from, list) in neighbours.iter_mut().enumerate() {
            list.sort_unstable();
            for (to, first, width) in list {
                *first = ends.len() as u64;
                ends.extend((0..*width).map(|_| (from as u32, *to)));
            }
        }
        // From each destination outward; a node's next is its lowest neighbour among those nearer.
        let (mut next, mut diameter) = (vec![u32::MAX; n * n], 0);
        let (mut hops, mut queue) = (vec![u64::MAX; n], VecDeque::new());
        for to in 0..n {
            let next = &mut next[to * n..][..n];
            hops.fill(u64::MAX);
            (hops[to], next[to]) = (0, to as u32);
            queue.push_back(to);
            while let Some(at) = queue.pop_front() {
                diameter = diameter.max(hops[at]);
                for &(from, ..) in &neighbours[at] {
                    let from = from as usize;
                    if hops[from] == u64::MAX {
                        hops[from] = hops[at] + 1;
                        queue.push_back(from);
                    }
                    if hops[from] == hops[at] + 1 {
                        next[from] = next[from].min(at as u32);
                    }
                }
            }
        }
        Self { path: path.to_owned(), nodes: [nodes], neighbours, ends, next, diameter }
    }

    /// The link that a message `of` two nodes takes between two others, if these are neighbours.
    fn between(&self, from: u64, to: u64, of: u64) -> Option<Run> {
        let list = &self.neighbours[from as usize];
        let at = list.binary_search_by_key(&to, |(neighbour, ..)| u64::from(*neighbour)).ok()?;
        let (_, first, width) = list[at];
        Some(Run { first: first + of % width, stride: 1, len: 1, plane: 0 })
    }
}

/// The two nodes and the bandwidth of a line.
fn edge(fields: &[&str]) -> Result<(u32, u32, u64), String> {
    let node = |text: &str| {
        let number = text.parse::<u64>().ok().filter(|v| *v < Graph::MOST_NODES);
        number
            .map(|v| v as u32)
            .ok_or_else(|| format!("`{text}` is no node, expected a whole number from 0 to {}", Graph::MOST_NODES - 1))
    };
    let (a, b, width) = match fields {
        [a, b] => (node(a)?, node(b)?, 1),
        [a, b, width] => {
            let number = width.parse::<u64>().ok().filter(|w| (1..=Graph::MOST_BANDWIDTH).contains(w));
            let number = number.ok_or_else(|| {
                format!("`{width}` is no bandwidth, expected a whole number from 1 to {}", Graph::MOST_BANDWIDTH)
            })?;
            (node(a)?, node(b)?, number)
        }
        _ => return Err(format!("{} fields, expected two nodes and perhaps a bandwidth", fields.len())),
    };
    if a == b { Err(format!("node {a} is linked to itself, expected two different nodes")) } else { Ok((a, b, width)) }
}

impl Topology for Graph {
    fn spec(&self) -> String {
        format!("graph:{}", self.path)
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

    fn diameter(&self) -> u64 {
        self.diameter
    }

    fn degree(&self) -> Option<u64> {
        let links = |list: &Vec<(u32, u64, u64)>| list.iter().map(|(.., width)| width).sum::<u64>();
        let first = links(self.neighbours.first()?);
        self.neighbours.iter().all(|list| links(list) == first).then_some(first)
    }

    fn bisection(&self) -> Option<Bisection> {
        None
    }

    fn distance_sum(&self) -> Option<u64> {
        None
    }

    fn route(&self, from: u64, to: u64, way: Option<&Way>, visit: &mut dyn FnMut(Run)) -> Result<u64, RouteError> {
        if let Some(way) = way {
            if !way.signs.is_empty() || !way.order.is_empty() {
                return Err(RouteError::NoDimensions { topology: self.spec() });
            }
            if !way.path.is_empty() {
                return walk_path(self, from, to, &way.path, |a, b| self.between(a, b, from + to), visit);
            }
        }
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let next = u64::from(self.next[(to * self.nodes() + at) as usize]);
            if let Some(run) = self.between(at, next, from + to) {
                visit(run);
            }
            (at, hops) = (next, hops + 1);
        }
        Ok(hops)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.ends.get(usize::try_from(link).ok()?).map(|(from, to)| (u64::from(*from), u64::from(*to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(content: &str) -> Graph {
        Graph::parse("g.txt", content).unwrap()
    }

    fn wrong(content: &str) -> (usize, String) {
        Graph::parse("g.txt", content).map(|_| ()).map_err(|e| (e.line, e.message)).unwrap_err()
    }

    fn nodes_passed(graph: &Graph, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut links = Vec::new();
        let hops = graph.route(from, to, None, &mut |run| links.push(run.first)).unwrap();
        assert_eq!(hops, links.len() as u64);
        links.into_iter().map(|link| graph.link_ends(link).unwrap()).collect()
    }

    #[test]
    fn a_square_is_walked_by_the_lower_corner() {
        let square = graph("# a square\n0 1\n1 3\n\n3 2 # the far side\n2 0\n");
        assert_eq!((square.nodes(), square.degree(), square.diameter()), (4, Some(2), 2));
        assert_eq!(nodes_passed(&square, 0, 3), [(0, 1), (1, 3)]);
        assert_eq!(nodes_passed(&square, 3, 0), [(3, 1), (1, 0)]);
        assert_eq!(nodes_passed(&square, 1, 2), [(1, 0), (0, 2)]);
        assert_eq!(nodes_passed(&square, 2, 2), []);
    }

    #[test]
    fn bandwidth_is_links_side_by_side() {
        let line = graph("0 1 3\n1 2\n");
        assert_eq!((line.link_slots(), line.degree()), (8, None));
        let link = |from, to| {
            let mut first = None;
            line.route(from, to, None, &mut |run| {
                first.get_or_insert(run.first);
            })
            .unwrap();
            first.unwrap()
        };
        // 0 to 1 by number 1 of the three, 0 to 2 by number 2
        assert_eq!((link(0, 1), link(0, 2)), (1, 2));
    }

    #[test]
    fn a_path_may_be_named_and_directions_may_not() {
        let square = graph("0 1\n1 3\n3 2\n2 0\n");
        let named = Way { path: vec![2, 3], ..Way::default() };
        let mut passed = Vec::new();
        square.route(0, 3, Some(&named), &mut |run| passed.push(square.link_ends(run.first).unwrap())).unwrap();
        assert_eq!(passed, [(0, 2), (2, 3)]);
        let signs = Way { signs: vec![1], ..Way::default() };
        let refused = square.route(0, 3, Some(&signs), &mut |_| {}).unwrap_err();
        assert_eq!(refused.to_string(), "graph:g.txt has no dimensions to choose a direction in");
    }

    #[test]
    fn what_is_no_network_is_shown_with_its_line() {
        let is = |line: usize, message: &str| (line, message.to_owned());
        assert_eq!(wrong("0 1\n1 1\n"), is(2, "node 1 is linked to itself, expected two different nodes"));
        assert_eq!(
            wrong("0 1\n\n1 0\n"),
            is(3, "nodes 1 and 0 are linked already, in line 1: expected each link once")
        );
        assert_eq!(wrong("0 1\n0\n"), is(2, "1 fields, expected two nodes and perhaps a bandwidth"));
        assert_eq!(wrong("0 1 2 3\n"), is(1, "4 fields, expected two nodes and perhaps a bandwidth"));
        assert_eq!(wrong("0 x\n"), is(1, "`x` is no node, expected a whole number from 0 to 4095"));
        assert_eq!(wrong("0 4096\n"), is(1, "`4096` is no node, expected a whole number from 0 to 4095"));
        assert_eq!(wrong("0 1 0\n"), is(1, "`0` is no bandwidth, expected a whole number from 1 to 1024"));
        assert_eq!(wrong("0 1\n2 3\n"), is(2, "node 2 is cut off: no way leads from node 0 to it"));
        assert_eq!(wrong("0 1\n1 3\n"), is(2, "node 2 is cut off: it has no link"));
        assert_eq!(wrong("# nothing\n"), is(1, "no link, expected lines such as `0 1`"));
    }
}
