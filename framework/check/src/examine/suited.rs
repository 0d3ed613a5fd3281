//! The choice of the topologies for special cases.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use swapmeet_runner::topology;

/// A machine on which messages take no time, with one port for each node.
pub(super) const ONE_PORT: &str = "free:ports=1";
/// The largest number of nodes for which additional tests are fast enough.
pub(super) const FEW: u64 = 64;

/// Returns a rank for the choice of a topology; a higher rank is better. Topologies with at most
/// [`FEW`] nodes are better than larger ones. Among them, more nodes are better; among the larger
/// ones, fewer nodes are better.
pub(super) fn rank(nodes: u64) -> (bool, i128) {
    if nodes <= FEW { (true, nodes.into()) } else { (false, -i128::from(nodes)) }
}

/// A measure for the choice of a small topology that reveals faults. Some faults do not show if all
/// sides are 2 or equal. A larger value is better. The components, in the order of their
/// importance, are: whether a side is odd, whether there are enough nodes, the number of different
/// sides (at most 2 count), and the number of nodes, of which fewer are better.
pub(super) type Unevenness = (bool, bool, usize, Reverse<u64>);

/// Returns the unevenness of a topology; `None` if the topology is too large or all its sides are
/// at most 2.
pub(super) fn unevenness(topology: &str) -> Option<Unevenness> {
    /// The smallest number of nodes that counts as enough. Smaller topologies hide other faults.
    const SOME: u64 = 7;
    let topology = topology::parse(topology).ok().filter(|topology| topology.nodes() <= FEW)?;
    let sides: BTreeSet<u64> =
        topology.radices().iter().copied().filter(|side| *side > 2).collect();
    let odd = sides.iter().any(|side| side % 2 == 1);
    let nodes = topology.nodes();
    (!sides.is_empty()).then_some((odd, nodes >= SOME, sides.len().min(2), Reverse(nodes)))
}
