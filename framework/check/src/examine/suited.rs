//! Which machines suit which cases.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use swapmeet_runner::topology;

/// A price that is nobody's: one port, so that a plugin that asks is told 1.
pub(super) const ONE_PORT: &str = "free:ports=1";
/// Nodes of a machine on which much can be tried.
pub(super) const FEW: u64 = 64;

/// How well a machine suits special cases: the more nodes the better while they are few, then the
/// fewer.
pub(super) fn rank(nodes: u64) -> (bool, i128) {
    if nodes <= FEW { (true, nodes.into()) } else { (false, -i128::from(nodes)) }
}

/// How well a machine of few nodes suits what sides of two, or of a power of two, would hide: an
/// odd side, several lengths of sides, then few nodes.
pub(super) type Unevenness = (bool, bool, usize, Reverse<u64>);

/// `None` for a machine that hides it.
pub(super) fn unevenness(topology: &str) -> Option<Unevenness> {
    /// Fewer hide other mistakes.
    const SOME: u64 = 7;
    let topology = topology::parse(topology).ok().filter(|topology| topology.nodes() <= FEW)?;
    let sides: BTreeSet<u64> =
        topology.radices().iter().copied().filter(|side| *side > 2).collect();
    let odd = sides.iter().any(|side| side % 2 == 1);
    let nodes = topology.nodes();
    (!sides.is_empty()).then_some((odd, nodes >= SOME, sides.len().min(2), Reverse(nodes)))
}
