//! Link loads, counted for each orbit of links. The orbits are those of the group, or of a subgroup
//! of it, which must map every route to a route.

use super::{OrbitCounts, OrbitTimes};
use crate::network::symmetry::{Group, split_off};
use crate::network::topology::AxisSymmetry::{Fixed, Permutations};
use crate::network::topology::automorphisms::{CoordinatePermutation, Orbits};
use crate::network::topology::{Automorphisms, Network, Route, RouteError, Run};
use crate::network::transfer::Transfer;

/// The orbits of links, and for each orbit the load of one of its links.
#[derive(Debug)]
pub(super) struct LinkOrbits {
    numbering: Numbering,
    group: Group,
    /// The subgroup of `group` whose elements map links to links of the same orbit.
    subgroup: Group,
    /// One element of each coset of the subgroup, in ascending order. Only the images of messages
    /// under these elements are routed.
    cosets: Vec<u64>,
    /// For each orbit, the load of one of its links. The method `fill` overwrites these loads.
    loads: Vec<u64>,
}

#[derive(Debug)]
enum Numbering {
    /// The numbers of orbits are calculated.
    Calculated(Periods),
    /// The number of the orbit of each link is stored.
    Listed(Orbits),
    /// A complete graph, in which every route is a single link. No two messages share a link.
    Complete,
}

impl LinkOrbits {
    /// Creates the orbits if they are not stored for each link. Returns `None` if this is not
    /// possible, or if an element of the group is not known to be an automorphism.
    pub(super) fn calculated(topology: &Network, group: &Group) -> Option<Self> {
        /// The maximum number of link orbits. A network with more orbits has hardly any symmetry.
        const MAX_ORBITS: u64 = 1 << 26;
        // If all permutations of the nodes are automorphisms, all nodes are linked.
        let is_complete = || {
            let axes = topology.automorphisms().map(Automorphisms::axes);
            topology.switches() == 0 && axes.is_some_and(|axes| axes == [Permutations])
        };
        let (numbering, orbits) = match Periods::of(topology, group) {
            Some(periods) => {
                let orbits = periods.orbits * (topology.link_slots() / topology.nodes());
                (Numbering::Calculated(periods), orbits)
            }
            None if is_complete() => (Numbering::Complete, 0),
            None => return None,
        };
        (orbits <= MAX_ORBITS).then(|| Self {
            numbering,
            group: group.clone(),
            subgroup: group.clone(),
            cosets: vec![0],
            loads: vec![0; orbits as usize],
        })
    }

    /// Creates the orbits under the elements of the group that are known automorphisms of the
    /// network. Returns `None` if the identity is the only such element.
    pub(super) fn listed(topology: &Network, group: &Group) -> Option<Self> {
        /// The maximum number of links, because an orbit is stored for each link.
        const MAX_LINKS: u64 = 1 << 24;
        if topology.link_slots() > MAX_LINKS {
            return None;
        }
        let images =
            |generator| CoordinatePermutation::of(topology, &|node| group.moved(node, generator));
        let subgroup = group.subgroup(|generator| images(generator).is_some());
        let generators: Vec<_> = subgroup.generators().into_iter().filter_map(images).collect();
        let orbits = Orbits::of_links(topology, &generators);
        (subgroup.order() > 1).then(|| Self {
            loads: vec![0; orbits.count()],
            numbering: Numbering::Listed(orbits),
            cosets: group.elements().filter(|element| subgroup.home(*element).1 == 0).collect(),
            group: group.clone(),
            subgroup,
        })
    }

    /// Returns whether loads of requested routes can be counted. A requested direction need not be
    /// the same for all images of a message, and a requested path in a complete graph may have
    /// several links.
    pub(super) fn counts_requested_routes(&self) -> bool {
        matches!(self.numbering, Numbering::Calculated(_))
    }

    pub(super) fn count(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<OrbitCounts, (usize, RouteError)> {
        let (order, mut max_hops) = (u128::from(self.subgroup.order()), 0);
        let mut counts = OrbitCounts { hops: vec![0; messages.len()], ..OrbitCounts::default() };
        let add_hops = |message: usize, hops: u64| {
            counts.hops[message] += u128::from(hops) * order;
            max_hops = max_hops.max(hops);
        };
        counts.max_messages = self.fill(topology, messages, routes, |_| 1, add_hops)?;
        counts.max_hops = max_hops;
        Ok(counts)
    }

    /// Returns the largest load of a link.
    pub(super) fn max_load(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<u64, (usize, RouteError)> {
        self.fill(topology, messages, routes, |t| t.load, |_, _| {})
    }

    /// Returns the times of messages without requested routes, on a network whose links have
    /// different bandwidths or latencies.
    pub(super) fn times(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
    ) -> Result<OrbitTimes, (usize, RouteError)> {
        let mut times = OrbitTimes::default();
        // Find the largest time of a link. All links of an orbit have the same bandwidth.
        self.fill(topology, messages, &[], |t| t.load, |_, _| {})?;
        if let Numbering::Listed(orbits) = &self.numbering {
            for (orbit, load) in (0..).zip(&self.loads) {
                let bandwidth = topology.bandwidth(orbits.first(orbit));
                times.link = times.link.max(*load as f64 / bandwidth);
            }
        }
        // Find the times of messages at nodes. The nodes of an orbit under the subgroup have equal
        // times, so one node is examined for each coset and representative.
        let representatives = self.group.representatives() as usize;
        let mut of_nodes = vec![[0.0; 2]; self.cosets.len() * representatives];
        for (i, t) in messages.iter().enumerate() {
            let [(sender, _), (receiver, by)] =
                [t.from, t.to].map(|end| self.group.home(end.into()));
            for (coset, element) in self.cosets.iter().enumerate() {
                let [from, to] = [t.from, t.to].map(|node| self.group.moved(node.into(), *element));
                let (mut latency, mut slowest) = (0.0, 0.0_f64);
                let hops = topology.route(from, to, None, &mut |run| {
                    for link in run.links() {
                        latency += topology.latency(link);
                        slowest = slowest.max(1.0 / topology.bandwidth(link));
                    }
                });
                // A message between two ranks of one node uses no link, so it has the machine's
                // bandwidth.
                let hops = hops.map_err(|source| (i, source))?;
                let time = t.load as f64 * if hops == 0 { 1.0 } else { slowest };
                (times.latency, times.message) =
                    (times.latency.max(latency), times.message.max(time));
                let of_receiver = self.coset(self.group.moved(by, *element));
                for (node, end) in [
                    (coset * representatives + sender, 0),
                    (of_receiver * representatives + receiver, 1),
                ] {
                    of_nodes[node][end] += time;
                    times.node = times.node.max(of_nodes[node][end]);
                }
            }
        }
        Ok(times)
    }

    /// Returns the index of the coset that contains an element of the group.
    fn coset(&self, element: u64) -> usize {
        let of_subgroup = self.subgroup.home(element).1;
        let first = self.group.moved(element, self.subgroup.inverse(of_subgroup));
        self.cosets.partition_point(|other| *other < first)
    }

    fn fill(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
        routes: &[Route],
        amount: impl Fn(&Transfer) -> u64,
        mut hops: impl FnMut(usize, u64),
    ) -> Result<u64, (usize, RouteError)> {
        let network =
            topology.automorphisms().expect("a network with link orbits has automorphisms");
        self.loads.fill(0);
        // In a complete graph, no two messages share a link.
        let mut most = if let Numbering::Complete = self.numbering {
            messages.iter().map(&amount).max().unwrap_or(0)
        } else {
            0
        };
        for (i, t) in messages.iter().enumerate() {
            let (numbering, loads, order) =
                (&self.numbering, &mut self.loads, self.subgroup.order());
            let route = t.route.checked_sub(1).map(|i| &routes[i as usize]);
            let mut add = |orbit: u64, times: u64| {
                let load = &mut loads[orbit as usize];
                *load = load.saturating_add(times.saturating_mul(amount(t)));
                most = most.max(*load);
            };
            let add = &mut |run: Run| match numbering {
                Numbering::Calculated(periods) => periods.for_each_orbit(network, run, &mut add),
                // If an orbit has fewer links than the group has elements, several elements map a
                // link to itself, and the images of a message under all of them cross the link.
                Numbering::Listed(orbits) => run.links().for_each(|link| {
                    let orbit = orbits.orbit(link);
                    add(orbit.into(), order / orbits.size(orbit));
                }),
                Numbering::Complete => {}
            };
            for element in &self.cosets {
                let [from, to] = [t.from, t.to].map(|node| self.group.moved(node.into(), *element));
                hops(i, topology.route(from, to, route, add).map_err(|source| (i, source))?);
            }
        }
        Ok(most)
    }
}

/// The orbits of the links of a network without switches, under a group that rotates axes of the
/// node numbers independently of each other. An orbit is given by the port of its links
/// ([`Automorphisms::port`]), and by the coordinates of the node that a link leaves, modulo the
/// period of each axis.
#[derive(Debug)]
struct Periods {
    /// The length and the period of each axis. Several axes of the network are stored as one axis
    /// if the number of their coordinates modulo their periods is a number modulo one period.
    axes: Vec<(u64, u64)>,
    /// The number of orbits of nodes.
    orbits: u64,
}

impl Periods {
    /// Returns `None` if links have no ports, or if an element of the group is not known to be an
    /// automorphism.
    fn of(topology: &Network, group: &Group) -> Option<Self> {
        let automorphisms = topology.automorphisms()?;
        automorphisms.port(0)?;
        let (sides, periods) = (topology.radices(), periods(topology.radices(), group)?);
        let mut axes: Vec<(u64, u64)> = Vec::new();
        for ((symmetry, &side), &period) in automorphisms.axes().iter().zip(sides).zip(&periods) {
            if *symmetry == Fixed && period < side {
                return None;
            }
            match axes.last_mut() {
                Some(last) if last.1 == 1 || period == side => {
                    *last = (last.0 * side, last.1 * period);
                }
                _ => axes.push((side, period)),
            }
        }
        Some(Self { axes, orbits: periods.iter().product() })
    }

    /// Finds the orbits of the links of a run. Calls `visit` with each orbit and with the number of
    /// times that images of the run under the group cross each link of the orbit.
    fn for_each_orbit(
        &self,
        network: &dyn Automorphisms,
        run: Run,
        visit: &mut impl FnMut(u64, u64),
    ) {
        let (mut rest, port) = network.port(run.first).expect("links with periods have ports");
        // Find the orbit of the first link, and its coordinate along the axis of the run.
        let (mut orbit, mut step, mut stride) = (port * self.orbits, 1, 1);
        let (mut along, mut along_step, mut along_stride, mut period) = (0, 0, 1, 1);
        for &(side, own_period) in self.axes.iter().rev() {
            let (coordinate, above) = split_off(rest, side);
            let at = split_off(coordinate, own_period).0;
            orbit += at * step;
            if stride <= run.stride {
                (along, along_step, along_stride, period) = (at, step, stride, own_period);
            }
            (rest, step, stride) = (above, step * own_period, stride * side);
        }
        if run.len == 1 {
            return visit(orbit, 1);
        }
        // After `cycle` links, a run visits the same orbits again.
        let by = run.stride / along_stride;
        let cycle = (period / by).max(1);
        let (more, times) = split_off(run.len, cycle);
        for i in 0..run.len.min(cycle) {
            visit(orbit, times + u64::from(i < more));
            (along, orbit) = (along + by, orbit + by * along_step);
            if along >= period {
                (along, orbit) = (along - period, orbit - period * along_step);
            }
        }
    }
}

/// Returns the period of each dimension, if the group rotates the dimensions independently of each
/// other. The period is the smallest shift along the dimension that is in the group. Returns `None`
/// if the group acts in another way.
///
/// A dimension must consist of consecutive axes of the schedule's grid. The group may move only the
/// first of these axes, because a shift of a later axis would not carry into an earlier axis. A
/// shift by a multiple of the period does not change a coordinate modulo the period. An
/// exclusive-or acts on each bit like a shift of an axis of size 2.
fn periods(sides: &[u64], group: &Group) -> Option<Vec<u64>> {
    // List the parts of all axes in reverse order, so that `pop` returns the first part. An axis
    // has a part that the group moves and a part that it does not move. Each entry has the size of
    // the part and whether the group moves it.
    let mut parts: Vec<(u64, bool)> = Vec::new();
    for axis in group.axes() {
        if axis.xor {
            parts.extend((0..(axis.radix / axis.unit).ilog2()).map(|_| (2, true)));
        } else {
            parts.push((axis.radix / axis.unit, true));
        }
        parts.push((axis.unit, false));
    }
    parts.retain(|(side, _)| *side > 1);
    parts.reverse();
    let mut periods = Vec::with_capacity(sides.len());
    for &side in sides {
        let (mut left, mut period) = (side, side);
        while left > 1 {
            let (part, moved) = parts.pop()?;
            if moved && (left != side || left % part > 0) {
                return None;
            }
            if left % part == 0 {
                left /= part;
            } else if part % left == 0 {
                parts.push((part / left, false));
                // The remaining size of the part belongs to the next dimension.
                left = 1;
            } else {
                return None;
            }
            if moved {
                period = left;
            }
        }
        periods.push(period);
    }
    Some(periods)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};

    fn of(sides: &[u64], radices: &[u64], symmetries: &[Symmetry]) -> Option<Vec<u64>> {
        periods(sides, &Group::new(radices, symmetries).unwrap())
    }

    #[test]
    fn groups_that_rotate_whole_dimensions_have_periods() {
        assert_eq!(of(&[16, 16], &[16, 16], &[Shift(4), Fixed]), Some(vec![4, 16]));
        assert_eq!(
            of(&[16, 16], &[4, 4, 4, 4], &[Shift(1), Fixed, Shift(2), Fixed]),
            Some(vec![4, 8])
        );
        assert_eq!(of(&[200], &[200], &[Shift(1)]), Some(vec![1]));
        assert_eq!(of(&[4, 6], &[24], &[Shift(6)]), Some(vec![1, 6]));
        assert_eq!(of(&[2, 2, 2], &[8], &[Xor(2)]), Some(vec![1, 1, 2]));
        assert_eq!(of(&[8], &[8], &[Xor(4)]), Some(vec![4]));
    }

    #[test]
    fn groups_that_carry_between_dimensions_have_no_periods() {
        assert_eq!(of(&[4, 6], &[24], &[Shift(1)]), None);
        assert_eq!(of(&[4, 6], &[24], &[Shift(3)]), None);
        assert_eq!(of(&[8], &[8], &[Xor(2)]), None);
        assert_eq!(of(&[8], &[2, 4], &[Fixed, Shift(1)]), None);
        assert_eq!(of(&[2, 2], &[4], &[Shift(1)]), None);
    }
}
