//! A file of edges, line by line.
//!
//! A line is an edge: two vertices' numbers, a bandwidth if it isn't 1, `l3` if crossing it costs 3
//! hops, and `x4` if it is 4 links. `switch 8 9` says that vertices 8 and 9 have no rank; `ranks 7
//! 4` that vertex 7 is a switch with 4 ranks, each with a link of its own to it, of the bandwidth
//! that may follow. Blank lines and what follows a `#` mean nothing. Vertices are numbered from 0
//! without gaps.

use super::{Graph, GraphError};
use std::collections::BTreeMap;

/// A directed link, with its vertices numbered nodes first.
pub(super) struct Link {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bandwidth: f64,
    pub(super) latency: f64,
    pub(super) line: usize,
    /// The vertex of the file that it leaves.
    pub(super) vertex: u64,
}

pub(super) struct EdgeList {
    pub(super) nodes: u64,
    pub(super) switches: u64,
    pub(super) links: Vec<Link>,
}

/// An edge as it was read.
struct Edge {
    line: usize,
    ends: [u32; 2],
    bandwidth: f64,
    latency: f64,
    links: usize,
}

/// What a line of its own says of a vertex.
struct VertexLine {
    line: usize,
    ranks: u64,
    bandwidth: f64,
    latency: f64,
}

impl EdgeList {
    pub(super) fn read(content: &str) -> Result<Self, GraphError> {
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
                    return Err(line
                        .error("`switch` without numbers, expected those of vertices".to_owned()));
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
                    if links > Graph::MOST_EDGES {
                        let most = Graph::MOST_EDGES;
                        return Err(line.error(format!(
                            "one more edge than the {most} that a graph may have"
                        )));
                    }
                    edges.push(edge);
                }
            }
        }
        reject_repeated(&edges)?;
        Self::numbered(&edges, &declared, content.lines().count().max(1))
    }

    /// Numbers nodes first, then switches.
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
                    "node {lone} has no edge, and there are nodes up to {}: expected numbers without gaps",
                    vertices - 1
                )),
            });
        }
        // For each vertex its first node, or of a switch its first rank, and how many there are.
        let (mut places, mut nodes) = (Vec::new(), 0);
        for v in 0..vertices {
            let count = declared.get(&v).map_or(1, |declared| declared.ranks);
            places.push((nodes, count));
            nodes += count;
            if nodes + declared.len() as u64 > Graph::MOST_NODES {
                let line = declared.get(&v).map_or(last_line, |declared| declared.line);
                return Err(LineNumber(line)
                    .error(format!("over {} vertices, ranks among them", Graph::MOST_NODES)));
            }
        }
        if nodes == 0 {
            let line = declared.values().map(|declared| declared.line).min().unwrap_or(last_line);
            let message = "all vertices are switches, expected nodes: vertices that are none, or `ranks` at them";
            return Err(LineNumber(line).error(message.to_owned()));
        }
        let switch: BTreeMap<u32, u64> = declared.keys().copied().zip(nodes..).collect();
        let number = |v: u32| switch.get(&v).copied().unwrap_or(places[v as usize].0) as u32;
        let mut links = Vec::new();
        for Edge { line, ends: [a, b], bandwidth, latency, links: count } in edges {
            let both =
                [(a, b), (b, a)].map(|(from, to)| (number(*from), number(*to), u64::from(*from)));
            for (from, to, vertex) in
                both.into_iter().flat_map(|link| std::iter::repeat_n(link, *count))
            {
                links.push(Link {
                    from,
                    to,
                    bandwidth: *bandwidth,
                    latency: *latency,
                    line: *line,
                    vertex,
                });
            }
        }
        for (v, VertexLine { line, bandwidth, latency, .. }) in declared {
            let (first, count) = places[*v as usize];
            let at = number(*v);
            for rank in (first..first + count).map(|rank| rank as u32) {
                for (from, to) in [(rank, at), (at, rank)] {
                    let vertex = u64::from(*v);
                    links.push(Link {
                        from,
                        to,
                        bandwidth: *bandwidth,
                        latency: *latency,
                        line: *line,
                        vertex,
                    });
                }
            }
        }
        Ok(Self { nodes, switches: declared.len() as u64, links })
    }
}

/// Several links are said so: an edge that is listed again is a slip.
fn reject_repeated(edges: &[Edge]) -> Result<(), GraphError> {
    let mut known = BTreeMap::new();
    for Edge { line, ends: [a, b], .. } in edges {
        if let Some(before) = known.insert((a.min(b), a.max(b)), *line) {
            let (low, high) = (a.min(b), a.max(b));
            return Err(LineNumber(*line)
                .error(format!("the edge between {low} and {high} is on line {before} already")));
        }
    }
    Ok(())
}

/// The last of some fields, if it is this letter and a number, and those before it.
fn suffix<'a, 'b>(fields: &'b [&'a str], letter: char) -> Option<(&'b [&'a str], &'a str)> {
    let (last, rest) = fields.split_last()?;
    let number = last.strip_prefix(letter)?;
    number.starts_with(|c: char| c.is_ascii_digit()).then_some((rest, *last))
}

/// A line by its number, from 1.
#[derive(Clone, Copy)]
struct LineNumber(usize);

impl LineNumber {
    fn error(self, message: String) -> GraphError {
        GraphError { line: self.0, message }
    }

    fn vertex(self, text: &str) -> Result<u32, GraphError> {
        let number = text.parse::<u64>().ok().filter(|v| *v < Graph::MOST_NODES);
        let expected = || {
            self.error(format!(
                "`{text}` is no node, expected a number from 0 to {}",
                Graph::MOST_NODES - 1
            ))
        };
        number.map(|v| v as u32).ok_or_else(expected)
    }

    fn bandwidth(self, text: &str) -> Result<f64, GraphError> {
        let most = Graph::MOST_BANDWIDTH;
        let number = text.parse::<f64>().ok().filter(|b| (1.0 / most..=most).contains(b));
        let expected = || {
            let least = 1.0 / most;
            format!(
                "`{text}` is no bandwidth, expected a number from {least} to {most}, 1 being the machine's"
            )
        };
        number.ok_or_else(|| self.error(expected()))
    }

    /// An edge from the fields of a line.
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
                    "{count} fields, expected two node numbers and perhaps a bandwidth"
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
        let most = Graph::MOST_EDGES;
        let count = text
            .strip_prefix('x')
            .and_then(|count| count.parse().ok())
            .filter(|n| (1..=most).contains(n));
        count.ok_or_else(|| {
            self.error(format!("`{text}` links, expected x and a number from 1 to {most}"))
        })
    }

    /// What crossing a link costs, in hops of the machine's, if the last field says so.
    fn latency<'a, 'b>(self, fields: &'b [&'a str]) -> Result<(&'b [&'a str], f64), GraphError> {
        let Some((rest, text)) = suffix(fields, 'l') else { return Ok((fields, 1.0)) };
        let most = Graph::MOST_BANDWIDTH;
        let hops = text[1..].parse::<f64>().ok().filter(|hops| (0.0..=most).contains(hops));
        let expected = || {
            self.error(format!(
                "`{text}` is no latency, expected l and a number from 0 to {most}, 1 being the machine's hop"
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
                    "{found} fields after `ranks`, expected a vertex, how many ranks and perhaps their links' bandwidth"
                )));
            }
        };
        let ranks = count.parse().ok().filter(|n| (1..=Graph::MOST_NODES).contains(n));
        let ranks = ranks.ok_or_else(|| {
            self.error(format!(
                "`{count}` ranks, expected a number from 1 to {}",
                Graph::MOST_NODES
            ))
        })?;
        Ok((
            vertex,
            VertexLine { line: self.0, ranks, bandwidth: self.bandwidth(bandwidth)?, latency },
        ))
    }

    /// Notes what a line says of a vertex.
    fn declare(
        self,
        declared: &mut BTreeMap<u32, VertexLine>,
        vertex: &str,
        new: VertexLine,
    ) -> Result<(), GraphError> {
        let number = self.vertex(vertex)?;
        match declared.get(&number) {
            Some(before) => Err(self.error(format!(
                "vertex {number} has a line of its own, line {}, already",
                before.line
            ))),
            None => {
                declared.insert(number, new);
                Ok(())
            }
        }
    }
}
