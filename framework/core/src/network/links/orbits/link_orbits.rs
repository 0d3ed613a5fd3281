//! Link loads, counted for each orbit of links. The orbits are those of the group, or of a subgroup
//! of it, which must map every route to a route.

use super::{OrbitCounts, OrbitTimes};
use crate::network::symmetry::Group;
use crate::network::topology::automorphisms::{CoordinatePermutation, OrbitTable};
use crate::network::topology::{Network, Regularity, Route, RouteError, Run};
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
    /// A torus. An orbit is identified by the plane of its links, and by the coordinates of the
    /// node that a link leaves, modulo the period of each dimension.
    Torus { sides: Vec<u64>, periods: Vec<u64>, nodes: u64 },
    /// A hypercube. An orbit is identified by the dimension of its links, and by some bits of the
    /// node that a link leaves. These `kept` bits are the bits that the group does not change.
    Hypercube { dims: u64, kept: u64 },
    /// A complete graph, in which every route is a single link.
    Complete,
    /// Two halves that the group exchanges. The orbit of a link within a half is identified by the
    /// position of the link among the links of this half. The orbit of a link between the halves is
    /// identified by the position of the node that the link leaves, within the half of this node.
    Halves { within: u64, half: u64 },
    /// Any other network. The orbits are those under a group of order `order`.
    Table { orbits: OrbitTable, order: u64 },
}

impl LinkOrbits {
    /// Creates the numbering of link orbits. Returns `None` if the group does not map every route
    /// to a route.
    pub(super) fn new(topology: &Network, group: &Group) -> Option<Self> {
        let (numbering, cells) = match topology.regularity() {
            Regularity::Torus(sides) => {
                let periods = periods(sides, group)?;
                let cells = periods.iter().product::<u64>() * 2 * sides.len() as u64;
                (
                    Numbering::Torus { sides: sides.to_vec(), periods, nodes: topology.nodes() },
                    cells,
                )
            }
            Regularity::Hypercube(dims) => {
                let periods = periods(&vec![2; dims as usize], group)?;
                let kept =
                    periods.iter().fold(0, |kept, period| kept << 1 | u64::from(*period == 2));
                // The number of an orbit is the lowest number of its links, so some of the numbers
                // below `cells` belong to no orbit. Their loads stay zero.
                let cells = (kept + 1) * u64::from(dims);
                (Numbering::Hypercube { dims: dims.into(), kept }, cells)
            }
            Regularity::Complete => (Numbering::Complete, 0),
            Regularity::Halves { within } => {
                let half = topology.nodes() / 2;
                // The only element of the group besides the identity must be the exchange of the
                // halves.
                periods(&[2, half], group).filter(|periods| *periods == [1, half])?;
                (Numbering::Halves { within, half }, within + half)
            }
            Regularity::Mesh(_) | Regularity::Irregular => return None,
        };
        /// The maximum number of link orbits. A network with more orbits has hardly any symmetry.
        const MAX_CELLS: u64 = 1 << 26;
        (cells <= MAX_CELLS).then(|| Self {
            numbering,
            group: group.clone(),
            subgroup: group.clone(),
            cosets: vec![0],
            loads: vec![0; cells as usize],
        })
    }

    /// Creates the orbits under the elements of the group that are known automorphisms of the
    /// network. Returns `None` if the identity is the only such element.
    pub(super) fn of_automorphisms(topology: &Network, group: &Group) -> Option<Self> {
        /// The maximum number of links, because the table has an entry for each link.
        const MAX_LINKS: u64 = 1 << 24;
        if topology.link_slots() > MAX_LINKS {
            return None;
        }
        let images =
            |generator| CoordinatePermutation::of(topology, &|node| group.moved(node, generator));
        let subgroup = group.subgroup(|generator| images(generator).is_some());
        let generators: Vec<_> = subgroup.generators().into_iter().filter_map(images).collect();
        let orbits = OrbitTable::new(topology, &generators);
        (subgroup.order() > 1).then(|| Self {
            loads: vec![0; orbits.count()],
            numbering: Numbering::Table { orbits, order: subgroup.order() },
            cosets: group.elements().filter(|element| subgroup.home(*element).1 == 0).collect(),
            group: group.clone(),
            subgroup,
        })
    }

    /// Returns whether loads of requested routes can be counted.
    pub(super) fn counts_requested_routes(&self) -> bool {
        !matches!(self.numbering, Numbering::Table { .. })
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
        if let Numbering::Table { orbits, .. } = &self.numbering {
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
        self.loads.fill(0);
        // In a complete graph, no two messages share a link.
        let mut most = if let Numbering::Complete = self.numbering {
            messages.iter().map(&amount).max().unwrap_or(0)
        } else {
            0
        };
        for (i, t) in messages.iter().enumerate() {
            let (numbering, loads) = (&self.numbering, &mut self.loads);
            let route = t.route.checked_sub(1).map(|i| &routes[i as usize]);
            let add = &mut |run: Run| {
                numbering.for_each_orbit(run, |cell, links| {
                    loads[cell] = loads[cell].saturating_add(links.saturating_mul(amount(t)));
                    most = most.max(loads[cell]);
                });
            };
            for element in &self.cosets {
                let [from, to] = [t.from, t.to].map(|node| self.group.moved(node.into(), *element));
                hops(i, topology.route(from, to, route, add).map_err(|source| (i, source))?);
            }
        }
        Ok(most)
    }
}

impl Numbering {
    /// Finds the orbits of the links of a run. Calls `visit` with each orbit and with the number of
    /// times that images of the run under the group cross each link of the orbit.
    fn for_each_orbit(&self, run: Run, mut visit: impl FnMut(usize, u64)) {
        match self {
            Self::Complete => {}
            Self::Table { orbits, order } => {
                // If an orbit has fewer links than the group has elements, several elements map a
                // link to itself, and the images of a message under all of them cross the link.
                for orbit in run.links().map(|link| orbits.orbit(link)) {
                    visit(orbit as usize, order / orbits.link_count(orbit));
                }
            }
            Self::Halves { within, half } => {
                for link in run.links() {
                    let cell = match link.checked_sub(2 * within) {
                        None => link % within,
                        Some(node) => within + node % half,
                    };
                    visit(cell as usize, 1);
                }
            }
            Self::Hypercube { dims, kept } => {
                for link in run.links() {
                    visit(
                        ((link / dims) & kept) as usize * *dims as usize + (link % dims) as usize,
                        1,
                    );
                }
            }
            Self::Torus { sides, periods, nodes } => {
                // Find the number of the first link's orbit within its plane. This is the sum of
                // `from * step`, for the dimension of the run, and `cell`, for all other
                // dimensions.
                let along = (run.plane / 2) as usize;
                let (mut rest, mut cell, mut weight) = (run.first % nodes, 0, 1);
                let (mut from, mut step) = (0, 0);
                for d in (0..sides.len()).rev() {
                    let coordinate = rest % sides[d] % periods[d];
                    rest /= sides[d];
                    if d == along {
                        (from, step) = (coordinate, weight);
                    } else {
                        cell += coordinate * weight;
                    }
                    weight *= periods[d];
                }
                // If a run is longer than the period, it visits some orbits several times.
                let (plane, period) = (u64::from(run.plane) * weight, periods[along]);
                for i in 0..run.len.min(period) {
                    let at = (from + i) % period * step;
                    visit((plane + cell + at) as usize, (run.len - i).div_ceil(period));
                }
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
