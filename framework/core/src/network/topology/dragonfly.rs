//! Dragonflies: groups of routers. There is a link between every two routers of a group, and a link
//! between every two groups (J. Kim, W. J. Dally, S. Scott, D. Abts, *Technology-Driven,
//! Highly-Scalable Dragonfly Topology*, ISCA 2008).
//!
//! With G groups of R routers, each router has `h = ceil((G - 1) / R)` global links. The global
//! links of a group are numbered from 0. Link j leaves router `j / h` and leads to the group whose
//! number is greater by `j + 1`, modulo G. So all groups have the same arrangement of links (the
//! *palmtree* arrangement of the literature, in the opposite direction).
//!
//! Routes are the minimal routes of the paper: from the sender's router to the router with the link
//! to the receiver's group, over this link, and to the receiver's router. They have at most three
//! hops between routers. A path with two global links may be shorter, but is not used.

use super::switched::{Fabric, FamilyArgs, Switched};
use super::{AxisSymmetry, Parsed};
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug)]
struct Dragonfly {
    groups: u64,
    routers: u64,
    /// The number of global links of a router. The last routers of a group may have fewer.
    global: u64,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    /// Calculating distances takes time proportional to the square of a router's number of links.
    const MAX_PORTS: u64 = 256;
    const EXPECTED: &str =
        "groups, routers per group and nodes per router, as in `dragonfly:33x8x4`";
    let word = FamilyArgs::of(spec, EXPECTED, &[])?.word;
    let radices: [u64; 3] = spec.dims_array(word, EXPECTED)?;
    let [groups, routers, nodes] = radices;
    let global = (groups - 1).div_ceil(routers);
    if routers.max(global) > MAX_PORTS {
        let most = format!(
            "at most {MAX_PORTS} routers per group and {MAX_PORTS} global links per router"
        );
        return Err(spec.bad_value(word, &most));
    }
    let fabric = Dragonfly { groups, routers, global };
    let arguments = radices.map(|n| n.to_string()).join("x");
    Ok(Arc::new(Switched::new(fabric, "dragonfly", &arguments, radices.to_vec(), nodes)))
}

impl Dragonfly {
    fn ahead(&self, from: u64, to: u64) -> u64 {
        (to + self.groups - from) % self.groups
    }

    fn gateway(&self, ahead: u64) -> u64 {
        (ahead - 1) / self.global
    }

    fn linked(&self, router: u64) -> std::ops::Range<u64> {
        let first = router * self.global + 1;
        first.min(self.groups)..(first + self.global).min(self.groups)
    }
}

impl Fabric for Dragonfly {
    fn switches(&self) -> u64 {
        self.groups * self.routers
    }

    /// The first ports lead to the routers of the group; the port to the router itself is unused.
    /// The ports of global links follow.
    fn radix(&self) -> u64 {
        self.routers + self.global
    }

    fn neighbour(&self, switch: u64, port: u64) -> Option<u64> {
        let (group, router) = (switch / self.routers, switch % self.routers);
        let Some(global) = port.checked_sub(self.routers) else {
            return (port != router).then_some(group * self.routers + port);
        };
        let ahead = self.linked(router).nth(global as usize)?;
        let there = (group + ahead) % self.groups;
        Some(there * self.routers + self.gateway(self.groups - ahead))
    }

    fn next_port(&self, at: u64, to: u64) -> u64 {
        let (group, router) = (at / self.routers, at % self.routers);
        let ahead = self.ahead(group, to / self.routers);
        if ahead == 0 {
            return to % self.routers;
        }
        match self.gateway(ahead) {
            gateway if gateway == router => self.routers + (ahead - 1) % self.global,
            gateway => gateway,
        }
    }

    fn symmetry_period(&self) -> u64 {
        self.routers
    }

    /// Routes depend only on the difference of the group numbers, and on the numbers of the routers
    /// in their groups.
    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Rotations, AxisSymmetry::Fixed]
    }

    fn distances(&self, switch: u64) -> (u64, u64) {
        let router = switch % self.routers;
        let linked = self.linked(router);
        // Consider the routers of a group without a link to this router. A router is two hops away
        // if a path of a local and a global hop, or of two global hops, leads to it. Otherwise it
        // is three hops away.
        let mut in_two: Vec<(u64, u64)> = (1..self.groups)
            .filter(|d| !linked.contains(d))
            .map(|d| (d, self.gateway(self.groups - d)))
            .collect();
        let (groups_in_three, others) = (in_two.len() as u64, self.routers - 1);
        for first in linked.clone() {
            let second = self.linked(self.gateway(self.groups - first));
            let reached = second.map(|second| (second, (first + second) % self.groups));
            let not_nearer = reached.filter(|(_, d)| *d != 0 && !linked.contains(d));
            in_two.extend(not_nearer.map(|(second, d)| (d, self.gateway(self.groups - second))));
        }
        in_two.sort_unstable();
        in_two.dedup();
        let (direct, two) = (linked.end - linked.start, in_two.len() as u64);
        let in_one = others + direct;
        let in_three = groups_in_three * self.routers - two;
        let sum = in_one + 2 * (direct * others + two) + 3 * in_three;
        let farthest = match () {
            () if in_three > 0 => 3,
            () if direct * others + two > 0 => 2,
            () => u64::from(in_one > 0),
        };
        (farthest, sum)
    }

    /// The cut separates whole groups. If there is a single group, it separates routers.
    fn cut(&self) -> Option<(u64, u64)> {
        let halves = |n: u64| (n / 2, n / 2 * (n - n / 2));
        match (self.groups, self.routers) {
            (1, 1) => None,
            (1, routers) => Some(halves(routers)),
            (groups, routers) => Some((halves(groups).0 * routers, halves(groups).1)),
        }
    }
}
