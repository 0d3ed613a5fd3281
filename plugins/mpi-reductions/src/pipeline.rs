//! Pipelines: the steps in which the segments of a vector pass the edges of trees.

use swapmeet_sdk::Stop;

/// An edge of a tree. The segments of the tree are sent over it in order, at most one in a step.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub tree: usize,
    /// The edges whose data this edge forwards. A segment is sent over this edge in a later step
    /// than over them.
    pub after: Vec<usize>,
    /// The ports of the edge. In each step, a port is used by the segment of at most one edge.
    pub ports: [usize; 2],
}

/// Calls `step` for each step, with a list of the edges on which a segment is sent and the number
/// of the segment in its tree. Tree t has `segments[t]` segments. Edges that could send are visited
/// in the order of the numbers of their next segments, and then in the order of `edges`. An edge
/// sends if its ports are still free.
pub(crate) fn pipeline(
    edges: &[Edge],
    segments: [usize; 2],
    mut step: impl FnMut(&[(usize, usize)]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let ports = edges.iter().flat_map(|edge| edge.ports).max().map_or(0, |last| last + 1);
    let mut sent = vec![0; edges.len()];
    let mut left: usize = edges.iter().map(|edge| segments[edge.tree]).sum();
    while left > 0 {
        let is_ready = |edge: &Edge, next: usize| {
            next < segments[edge.tree] && edge.after.iter().all(|before| sent[*before] > next)
        };
        let ready = edges.iter().enumerate().filter(|(i, edge)| is_ready(edge, sent[*i]));
        let mut sends: Vec<(usize, usize)> = ready.map(|(i, _)| (i, sent[i])).collect();
        sends.sort_by_key(|(_, segment)| *segment);
        let mut is_busy = vec![false; ports];
        sends.retain(|(i, _)| {
            let ports = edges[*i].ports;
            let is_free = ports.iter().all(|port| !is_busy[*port]);
            ports.iter().for_each(|port| is_busy[*port] |= is_free);
            is_free
        });
        assert!(!sends.is_empty(), "the edges of a pipeline wait for each other");
        step(&sends)?;
        sends.iter().for_each(|(i, _)| sent[*i] += 1);
        left -= sends.len();
    }
    Ok(())
}
