//! Networks of two tiers: groups of ranks, with fast links within a group and slower links between
//! groups, such as a cluster of computers with several GPUs each (NVLink and InfiniBand).
//!
//! A rank has two links. One leads to the switch of its group, for messages within the group. The
//! other one is its network adapter. It leads to a single switch, which joins all ranks and is
//! never a bottleneck. Every message takes two hops, through one of these switches. With
//! `inside=B`, links within a group have B times the machine's bandwidth. With `inside_hop=H`,
//! their latency is H times the machine's `hop_us`.
//!
//! With `nics=K`, all ranks of a group can use all of its K network adapters. These are represented
//! by a further switch of the group, its *pool*. The links between the pool and the joining switch
//! have K times the machine's bandwidth, and so have the links between a rank and the pool. A
//! message between groups takes four hops, each with half of the latency `hop_us`. A library with
//! several channels, such as the rings of NCCL, uses all adapters in this way: each of its rings
//! leaves a group from one rank, but different rings leave it from different ranks.
//!
//! With `reduce=switch`, a group's switch can add and copy data, as NVSwitch does (NVLink SHARP).

use super::automorphisms::image_of_node;
use super::switched::{FamilyArgs, REDUCE, reduce_argument};
use super::{Automorphisms, AxisSymmetry, Bisection, Family, Parsed, Properties, Run};
use crate::spec::Spec;
use std::sync::Arc;

/// A network of n ranks. Link v leads from rank v to the switch of its group, and link n + v leads
/// back. Link 2 n + v leads from rank v to the joining switch or to the pool of its group, and link
/// 3 n + v leads back. Link 4 n + g leads from the pool of group g to the joining switch. The last
/// links, in the order of groups, lead back from the joining switch to the pools.
#[derive(Debug, Clone)]
struct Groups {
    properties: Properties,
    radices: [u64; 2],
    inside: f64,
    inside_hop: f64,
    reduces: bool,
    nics: Option<u64>,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    const EXPECTED: &str = "groups and ranks of each, as in `groups:16x8`";
    const MAX: f64 = super::Graph::MAX_BANDWIDTH;
    let args = FamilyArgs::of(spec, EXPECTED, &["inside", "inside_hop", "nics", REDUCE])?;
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
    let nics = match spec.args().iter().find(|arg| arg.key() == Some("nics")) {
        None => None,
        Some(arg) => {
            let expected = format!("network adapters of a group, from 1 to {MAX}");
            let nics = arg.value().parse().ok().filter(|k| (1..=MAX as u64).contains(k));
            Some(nics.ok_or_else(|| spec.bad_value(arg, &expected))?)
        }
    };
    let [groups, ranks] = radices;
    let argument = |key: &str, value: f64| {
        if value == 1.0 { String::new() } else { format!(",{key}={value}") }
    };
    let range = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        ((least, most) != (1.0, 1.0)).then_some((least, most))
    };
    let outside = nics.map_or(1.0, |nics| nics as f64);
    let (nodes, side) = (groups * ranks, groups / 2 * ranks);
    let properties = Properties {
        spec: format!(
            "groups:{groups}x{ranks}{}{}{}{}",
            argument("inside", inside),
            argument("inside_hop", inside_hop),
            nics.map_or_else(String::new, |nics| format!(",nics={nics}")),
            reduce_argument(reduces)
        ),
        kind: "groups",
        nodes,
        switches: groups + 1 + if nics.is_some() { groups } else { 0 },
        radices: radices.to_vec(),
        link_slots: 4 * nodes + if nics.is_some() { 2 * groups } else { 0 },
        degree: Some(2),
        diameter: match nics {
            Some(_) if groups > 1 => 4,
            _ => 2 * u64::from(nodes > 1),
        },
        bisection: (side > 0 && nics.is_none()).then_some(Bisection {
            side,
            links: side,
            exact: false,
        }),
        distance_sum: Some(match nics {
            Some(_) => 2 * (ranks - 1) + 4 * (nodes - ranks),
            None => 2 * (nodes - 1),
        }),
        bandwidths: range(&[inside, outside]),
        latencies: range(&[inside_hop, if nics.is_some() { 0.5 } else { 1.0 }]),
        ..Properties::default()
    };
    Ok(Arc::new(Groups { properties, radices, inside, inside_hop, reduces, nics }))
}

impl Groups {
    fn ranks(&self) -> u64 {
        self.radices[1]
    }

    fn switches_of(&self, group: u64) -> [u64; 3] {
        let joining = self.properties.nodes + self.radices[0];
        [self.properties.nodes + group, joining + 1 + group, joining]
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
        if self.is_inside(link) { self.inside } else { self.nics.map_or(1.0, |nics| nics as f64) }
    }

    fn latency(&self, link: u64) -> f64 {
        match self.nics {
            _ if self.is_inside(link) => self.inside_hop,
            Some(_) => 0.5,
            None => 1.0,
        }
    }

    fn is_inside(&self, link: u64) -> bool {
        link < 2 * self.properties.nodes
    }

    fn can_reduce(&self, vertex: u64) -> bool {
        let nodes = self.properties.nodes;
        self.reduces && (nodes..nodes + self.radices[0]).contains(&vertex)
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let n = self.properties.nodes;
        let pool = n + self.radices[0] + 1;
        let candidates = match (from, to) {
            (rank, _) if rank < n => [rank, 2 * n + rank],
            (_, rank) if rank < n => [n + rank, 3 * n + rank],
            (from, _) if from >= pool => [4 * n + from - pool; 2],
            (_, to) if to >= pool => [4 * n + self.radices[0] + to - pool; 2],
            _ => return None,
        };
        candidates.into_iter().find(|link| self.link_ends(*link) == Some((from, to))).map(Run::link)
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        if from == to {
            return 0;
        }
        let n = self.properties.nodes;
        let [own, other] = [from, to].map(|rank| rank / self.ranks());
        let tier = if own == other { 0 } else { 2 * n };
        visit(Run::link(tier + from));
        let pools = self.nics.is_some() && own != other;
        if pools {
            visit(Run::link(4 * n + own));
            visit(Run::link(4 * n + self.radices[0] + other));
        }
        visit(Run::link(tier + n + to));
        if pools { 4 } else { 2 }
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let n = self.properties.nodes;
        if link >= self.properties.link_slots {
            return None;
        }
        if let Some(link) = link.checked_sub(4 * n) {
            let group = link % self.radices[0];
            let [_, pool, joining] = self.switches_of(group);
            return Some(if link == group { (pool, joining) } else { (joining, pool) });
        }
        let rank = link % n;
        let [own, pool, joining] = self.switches_of(rank / self.ranks());
        let outside = if self.nics.is_some() { pool } else { joining };
        Some(match link / n {
            0 => (rank, own),
            1 => (own, rank),
            2 => (rank, outside),
            _ => (outside, rank),
        })
    }
}

/// A route depends only on whether its ends are in the same group. So the groups may be permuted,
/// and so may the ranks within groups.
impl Automorphisms for Groups {
    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Permutations; 2]
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let (n, groups) = (self.properties.nodes, self.radices[0]);
        match link.checked_sub(4 * n) {
            Some(link) => 4 * n + link / groups * groups + image(0, link % groups),
            None => link / n * n + image_of_node(&self.radices, link % n, image),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::network::topology::parse;

    /// Eight messages of 100 bytes leave a group by eight adapters or, without a pool, by one.
    #[test]
    fn ranks_share_the_adapters_of_a_group() {
        let shares = |spec: &str, senders: u64| {
            let network = parse(spec).unwrap();
            let mut times = vec![0.0; network.link_slots() as usize];
            for i in 0..8 {
                let add = &mut |run: crate::network::topology::Run| {
                    run.links().for_each(|link| {
                        times[link as usize] += 100.0 / network.bandwidth(link);
                    });
                };
                network.route(i % senders, 8 + i, None, add).unwrap();
            }
            times.into_iter().fold(0.0, f64::max)
        };
        for senders in [1, 2, 8] {
            assert_eq!(shares("groups:2x8,nics=8", senders), 100.0);
            assert_eq!(shares("groups:2x8,nics=4", senders), 200.0, "two GPUs share an adapter");
            assert_eq!(shares("groups:2x8", senders), 800.0 / senders as f64);
        }
    }

    #[test]
    fn a_message_through_pools_has_the_latency_of_two_hops() {
        let network = parse("groups:2x4,inside_hop=0.25,nics=2").unwrap();
        let latency = |from, to| {
            let mut sum = 0.0;
            let add = &mut |run: crate::network::topology::Run| {
                sum += run.links().map(|link| network.latency(link)).sum::<f64>();
            };
            let hops = network.route(from, to, None, add).unwrap();
            (hops, sum)
        };
        assert_eq!([latency(0, 1), latency(0, 7)], [(2, 0.5), (4, 2.0)]);
        let error = parse("groups:2x4,nics=0").unwrap_err().to_string();
        assert!(error.contains("expected network adapters of a group, from 1 to"), "{error}");
    }
}
