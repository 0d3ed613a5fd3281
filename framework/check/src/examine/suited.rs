//! The choice of machines for special cases.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use swapmeet_runner::topology;

/// A machine without costs that has one port per node.
pub(super) const ONE_PORT: &str = "free:ports=1";
/// The largest number of nodes for which extra tests are affordable.
pub(super) const FEW: u64 = 64;

/// Ranks a machine for special cases: up to [`FEW`] nodes, more nodes are better; above, fewer
/// nodes are better.
pub(super) fn rank(nodes: u64) -> (bool, i128) {
    if nodes <= FEW { (true, nodes.into()) } else { (false, -i128::from(nodes)) }
}

/// How well a small machine reveals faults that stay hidden if all sides are 2 or equal. Machines
/// with an odd side are best; among these, machines with enough nodes, then machines with different
/// sides, then machines with few nodes.
pub(super) type Unevenness = (bool, bool, usize, Reverse<u64>);

/// Returns the unevenness of a machine; `None` if it is too large or all its sides are at most 2.
pub(super) fn unevenness(topology: &str) -> Option<Unevenness> {
    /// Machines with at least this number of nodes are preferred, because smaller ones hide other
    /// faults.
    const SOME: u64 = 7;
    let topology = topology::parse(topology).ok().filter(|topology| topology.nodes() <= FEW)?;
    let sides: BTreeSet<u64> =
        topology.radices().iter().copied().filter(|side| *side > 2).collect();
    let odd = sides.iter().any(|side| side % 2 == 1);
    let nodes = topology.nodes();
    (!sides.is_empty()).then_some((odd, nodes >= SOME, sides.len().min(2), Reverse(nodes)))
}
