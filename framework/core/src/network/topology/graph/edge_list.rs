//! Parser for files of edges.
//!
//! A line is an edge: the numbers of two vertices. Its bandwidth may follow, then `l3` if its
//! latency is 3 hops, then `x4` if the line stands for 4 links. `switch 8 9` declares that vertices
//! 8 and 9 have no rank. `ranks 7 4` declares that vertex 7 is a switch with 4 ranks, each with its
//! own link to the switch. The bandwidth of these links may follow. Blank lines and text after a
//! `#` are ignored. Vertices are numbered from 0 without gaps.

use super::{Graph, GraphError};
use crate::spec::parse_decimal;
use crate::text::excerpt;
use std::collections::BTreeMap;

/// A directed link between two vertices. The vertices are renumbered, so that nodes have the lowest
/// numbers.
pub(super) struct Link {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bandwidth: f64,
    pub(super) latency: f64,
    pub(super) line: usize,
    /// The vertex that the link leaves, as numbered in the file.
    pub(super) vertex: u64,
}

pub(super) struct EdgeList {
    pub(super) nodes: u64,
    pub(super) switches: u64,
    pub(super) links: Vec<Link>,
}

/// An edge of the file.
struct Edge {
    line: usize,
    ends: [u32; 2],
    bandwidth: f64,
    latency: f64,
    links: usize,
}

/// The declaration of a vertex by a `switch` or `ranks` line.
struct VertexLine {
    line: usize,
    ranks: u64,
    bandwidth: f64,
    latency: f64,
}

impl EdgeList {
    pub(super) fn read(content: &str) -> Result<Self, GraphError> {
        // Remove a byte order mark, then read line by line.
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
            // Distinguish the kinds of lines.
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

    /// Renumbers the vertices: nodes first, then switches.
    fn numbered(
        edges: &[Edge],
        declared: &BTreeMap<u32, VertexLine>,
        last_line: usize,
    ) -> Result<Self, GraphError> {
        // Check that every vertex has an edge.
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
                    "node {lone} has no edge, and there are nodes up to {}: expected numbers without gaps",
                    vertices - 1
                )),
            });
        }
        // For each vertex of the file, its first node (for a switch, its first rank) and its number
        // of nodes.
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
        // Refuse a file without nodes.
        if nodes == 0 {
            let line = declared.values().map(|declared| declared.line).min().unwrap_or(last_line);
            let message = "all vertices are switches, expected vertices that are nodes, or `ranks` at switches";
            return Err(LineNumber(line).error(message.to_owned()));
        }
        // Give every vertex its new number.
        let switch: BTreeMap<u32, u64> = declared.keys().copied().zip(nodes..).collect();
        let number = |v: u32| switch.get(&v).copied().unwrap_or(places[v as usize].0) as u32;
        // Add both directions of each edge, and then the links between ranks and their switches.
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

/// Errors if an edge is listed twice. Parallel links must be declared with `x`.
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

/// If the last field is `letter` followed by a number, returns the fields before this field and the
/// field itself.
fn suffix<'a, 'b>(fields: &'b [&'a str], letter: char) -> Option<(&'b [&'a str], &'a str)> {
    let (last, rest) = fields.split_last()?;
    let number = last.strip_prefix(letter)?;
    number.starts_with(|c: char| c.is_ascii_digit()).then_some((rest, *last))
}

/// The number of a line, from 1.
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

    /// Parses the fields of an edge.
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

    /// If the last field is the latency of the link, in hops, removes this field and parses it.
    /// Returns the remaining fields and the latency.
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

    /// Records the declaration of a vertex.
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
