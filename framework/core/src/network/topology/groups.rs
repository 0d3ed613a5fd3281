//! Networks of two tiers: groups of ranks, with fast links within a group and slower links between
//! groups. An example is a cluster of computers with several GPUs each (NVLink within a computer,
//! InfiniBand between computers).
//!
//! A rank has two links. One leads to the switch of its group, for messages within the group. The
//! other stands for the rank's network adapter, and leads to a single switch that joins all ranks
//! and is never a bottleneck. So every message takes two hops. With `inside=B`, links within a
//! group have B times the machine's bandwidth. With `inside_hop=H`, their latency is H times the
//! machine's `hop_us`. With `reduce=switch`, the switch of a group can add and copy the data of its
//! ranks, as NVSwitch does (NVLink SHARP).

use super::automorphisms::image_of_node;
use super::switched::{FamilyArgs, REDUCE, reduce_argument};
use super::{Automorphisms, AxisSymmetry, Bisection, Family, Parsed, Properties, Run};
use crate::spec::Spec;
use std::sync::Arc;

/// A network of n ranks. Link v leads from rank v to the switch of its group, and link n + v leads
/// back. Link 2 n + v leads from rank v to the joining switch, and link 3 n + v leads back.
#[derive(Debug, Clone)]
struct Groups {
    properties: Properties,
    radices: [u64; 2],
    /// The bandwidth and the latency of links within a group, as multiples of those of the other
    /// links.
    inside: f64,
    inside_hop: f64,
    reduces: bool,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    const EXPECTED: &str = "groups and ranks of each, as in `groups:16x8`";
    const MAX: f64 = super::Graph::MAX_BANDWIDTH;
    let args = FamilyArgs::of(spec, EXPECTED, &["inside", "inside_hop", REDUCE])?;
    let (word, reduces) = (args.word, args.reduces()?);
    let radices: [u64; 2] = spec.dims_array(word, EXPECTED)?;
    let factor = |key: &str, least: f64, what: &str| match spec
        .args()
        .iter()
        .find(|arg| arg.key() == Some(key))
    {
        None => Ok(1.0),
        Some(arg) => {
            arg.value().parse().ok().filter(|b| (least..=MAX).contains(b)).ok_or_else(|| {
                spec.bad_value(
                    arg,
                    &format!("{what} from {least} to {MAX}, where links across groups have 1"),
                )
            })
        }
    };
    let (inside, inside_hop) = (
        factor("inside", 1.0 / MAX, "a bandwidth")?,
        factor("inside_hop", 0.0, "a latency")? + 0.0,
    );
    let [groups, ranks] = radices;
    let argument = |key: &str, value: f64| {
        if value == 1.0 { String::new() } else { format!(",{key}={value}") }
    };
    let range = |value: f64| (value != 1.0).then(|| (value.min(1.0), value.max(1.0)));
    // The cut separates half of the groups from the others. It consists of the links between the
    // ranks on the smaller side and the joining switch.
    let (nodes, side) = (groups * ranks, groups / 2 * ranks);
    let properties = Properties {
        spec: format!(
            "groups:{groups}x{ranks}{}{}{}",
            argument("inside", inside),
            argument("inside_hop", inside_hop),
            reduce_argument(reduces)
        ),
        kind: "groups",
        nodes,
        switches: groups + 1,
        radices: radices.to_vec(),
        link_slots: 4 * nodes,
        degree: Some(2),
        diameter: 2 * u64::from(nodes > 1),
        bisection: (side > 0).then_some(Bisection { side, links: side, exact: false }),
        distance_sum: Some(2 * (nodes - 1)),
        bandwidths: range(inside),
        latencies: range(inside_hop),
        ..Properties::default()
    };
    Ok(Arc::new(Groups { properties, radices, inside, inside_hop, reduces }))
}

impl Groups {
    fn ranks(&self) -> u64 {
        self.radices[1]
    }
}

impl Family for Groups {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn bandwidth(&self, link: u64) -> f64 {
        if link < 2 * self.properties.nodes { self.inside } else { 1.0 }
    }

    fn latency(&self, link: u64) -> f64 {
        if link < 2 * self.properties.nodes { self.inside_hop } else { 1.0 }
    }

    fn can_reduce(&self, vertex: u64) -> bool {
        let nodes = self.properties.nodes;
        self.reduces && (nodes..nodes + self.radices[0]).contains(&vertex)
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let n = self.properties.nodes;
        let candidates = if from < n { [from, 2 * n + from] } else { [n + to, 3 * n + to] };
        candidates.into_iter().find(|link| self.link_ends(*link) == Some((from, to))).map(Run::link)
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        if from == to {
            return 0;
        }
        let across = from / self.ranks() != to / self.ranks();
        let tier = 2 * self.properties.nodes * u64::from(across);
        for first in [tier + from, tier + self.properties.nodes + to] {
            visit(Run::link(first));
        }
        2
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let n = self.properties.nodes;
        let rank = link % n;
        let (own, all) = (n + rank / self.ranks(), n + self.radices[0]);
        match link / n {
            0 => Some((rank, own)),
            1 => Some((own, rank)),
            2 => Some((rank, all)),
            3 => Some((all, rank)),
            _ => None,
        }
    }
}

/// A route depends only on whether its ends are in the same group. So the groups, and the ranks
/// within groups, can be permuted.
impl Automorphisms for Groups {
    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Permutations; 2]
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let n = self.properties.nodes;
        link / n * n + image_of_node(&self.radices, link % n, image)
    }
}
