//! Verifies the evidence for data that is copied or added. It computes the times of the cuts in a
//! certificate, and verifies that a packing of trees needs no more time than its cut.

use super::Graph;
use std::collections::VecDeque;

/// A set of vertices on one side of a cut. It contains data that must leave the set.
pub(super) struct CutSide {
    amount: u128,
    /// The capacity of the links that leave the set, at least 1.
    capacity: u128,
    amounts: Vec<(usize, u64)>,
    turned: bool,
}

impl CutSide {
    /// Errors if the set does not exist or data need not leave it. If `turned`, links are reversed.
    pub(super) fn new(
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
        // If the set contains no data, the capacity can be 0. With 1, the time is 0 and not NaN.
        let capacity = capacity.max(1);
        Ok(Self { amount, capacity, amounts: amounts.to_vec(), turned })
    }

    pub(super) fn time(&self) -> f64 {
        self.amount as f64 / self.capacity as f64
    }

    /// Returns whether each single node can receive all data in the time of the cut, if no other
    /// node receives data. This is true if the largest flow to the node is the sum of all amounts.
    /// In this case, a packing of trees delivers all data to all nodes in the same time (Edmonds,
    /// 1973).
    pub(super) fn is_packed(&self, graph: &Graph) -> bool {
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

/// Returns the largest flow from the first to the second of two vertices, or `enough` if the flow
/// is larger. It uses shortest augmenting paths (Edmonds and Karp, 1972).
pub(super) fn max_flow(
    arcs: &[(usize, usize, u128)],
    (from, to): (usize, usize),
    enough: u128,
) -> u128 {
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

/// Returns the lower and the upper end for the time of an allreduce of `amount`.
///
/// The lower end is the largest of three times: the time of the data that must leave the set `out`,
/// the time of the data that must enter the set `into`, and the time in which all links together
/// move all terms and results. The upper end is the time of a reduce-scatter followed by an
/// allgather. It is `None` if the cuts `gather` and `scatter` do not prove this time.
pub(super) fn sum_for_all(
    graph: &Graph,
    amount: u64,
    [out, into]: [&[u32]; 2],
    [gather, scatter]: &[Vec<u32>; 2],
) -> Result<(f64, Option<f64>), String> {
    let nodes = graph.nodes as u128;
    if nodes < 2 {
        return Ok((0.0, Some(0.0)));
    }
    // Find a node in the set. The term of this node must leave the set or, if `turned` is true, the
    // sum for this node must enter the set. A set that consists of switches proves nothing.
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
