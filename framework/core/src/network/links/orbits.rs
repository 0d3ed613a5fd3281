//! Link loads of schedules of which only the representative of each symmetry orbit is planned. Each
//! message of a representative stands for all of its images under the group. There are three
//! methods; the first two find the loads without listing these images:
//!
//! * [`LinkOrbits`] is used if the group or a subgroup maps every route to a route. Then it also
//!   divides the links into orbits. If m links of a message's route are in the orbit of a link, and
//!   only the identity maps the link to itself, then m images of the message cross this link.
//! * [`GridLines`] is used if the group consists of shifts or exclusive-ors of ranks, on a mesh or
//!   torus. With exclusive-ors, the images of a message load all lines of a dimension alike. With
//!   shifts, the load of a line also depends on whether the lower digits of the shift cause a
//!   carry.
//! * Otherwise the caller lists the images of all messages. It also does so for a step with
//!   requested routes, unless [`LinkOrbits`] calculates the orbits of links.

use crate::network::symmetry::{Group, split_off};
use crate::network::topology::AxisSymmetry::{Fixed, Permutations};
use crate::network::topology::automorphisms::{CoordinatePermutation, Orbits};
use crate::network::topology::{Automorphisms, Network, Route, RouteError, Run, shorter};
use crate::network::transfer::Transfer;

#[derive(Debug)]
pub(crate) struct OrbitLinkLoad {
    method: Method,
    is_uniform: bool,
    /// The sender, receiver and route of each message of the last step. If the next step has the
    /// same messages, the counts are reused.
    last: Vec<(u32, u32, u32)>,
    routes: Vec<Route>,
    counts: OrbitCounts,
}

#[derive(Debug)]
enum Method {
    LinkOrbits(LinkOrbits),
    GridLines(GridLines),
    Expanded,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct OrbitCounts {
    pub max_messages: u64,
    pub max_hops: u64,
    pub hops: Vec<u128>,
    pub max_load: u64,
    pub times: Option<OrbitTimes>,
}

/// Times of a step with all images of its messages. The unit of times is the time in which a link
/// with the machine's bandwidth transfers a load of 1. The unit of latencies is the machine's
/// latency of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct OrbitTimes {
    pub latency: f64,
    pub message: f64,
    pub link: f64,
    pub node: f64,
}

impl OrbitLinkLoad {
    pub(crate) fn new(topology: &Network, group: &Group) -> Self {
        let is_uniform = topology.bandwidths().is_none() && topology.latencies().is_none();
        let link_orbits = LinkOrbits::calculated(topology, group).filter(|_| is_uniform);
        let grid_lines = || grid_lines(topology.grid().filter(|_| is_uniform)?, group);
        let listed = || LinkOrbits::listed(topology, group);
        let method = link_orbits
            .map(Method::LinkOrbits)
            .or_else(|| grid_lines().map(Method::GridLines))
            .or_else(|| listed().map(Method::LinkOrbits))
            .unwrap_or(Method::Expanded);
        Self {
            method,
            is_uniform,
            last: Vec::new(),
            routes: Vec::new(),
            counts: OrbitCounts::default(),
        }
    }

    /// Counts a step. Returns `None` if the images of the messages have to be listed by the caller.
    /// An error is the index of a message whose route does not exist.
    pub(crate) fn count(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<Option<&OrbitCounts>, (usize, RouteError)> {
        let Self { method, last, counts, .. } = self;
        let counts_requested_routes = match method {
            Method::LinkOrbits(link_orbits) => link_orbits.counts_requested_routes(),
            Method::GridLines(_) => false,
            Method::Expanded => return Ok(None),
        };
        if !counts_requested_routes && messages.iter().any(|t| t.route > 0) {
            return Ok(None);
        }
        let same = last.iter().copied().eq(messages.iter().map(|t| (t.from, t.to, t.route)))
            && self.routes == routes;
        if !same {
            *counts = match method {
                Method::LinkOrbits(link_orbits) => link_orbits.count(topology, messages, routes)?,
                Method::GridLines(lines) => lines.count(messages),
                Method::Expanded => unreachable!("expanded messages are not counted"),
            };
            last.clear();
            last.extend(messages.iter().map(|t| (t.from, t.to, t.route)));
            self.routes = routes.to_vec();
        }
        let load = messages.first().map_or(0, |t| t.load);
        counts.max_load = match counts.max_messages {
            0 | 1 => messages.iter().map(|t| t.load).max().unwrap_or(0),
            most if messages.iter().all(|t| t.load == load) => most.saturating_mul(load),
            _ => match method {
                Method::LinkOrbits(link_orbits) => {
                    link_orbits.max_load(topology, messages, routes)?
                }
                Method::GridLines(lines) => lines.max_load(messages, |t| t.load),
                Method::Expanded => unreachable!("expanded messages are not counted"),
            },
        };
        if let (Method::LinkOrbits(link_orbits), false) = (method, self.is_uniform) {
            counts.times = Some(link_orbits.times(topology, messages)?);
        }
        Ok(Some(counts))
    }
}

fn grid_lines((dims, wraps): (&[u64], bool), group: &Group) -> Option<GridLines> {
    let own: Vec<_> = group.axes().iter().filter(|axis| axis.radix > 1).collect();
    let shifts = matches!(own[..], [axis] if axis.unit == 1 && !axis.xor);
    let xors = own.iter().all(|axis| axis.unit == 1 && (axis.xor || axis.radix == 2));
    let moves = match (shifts, xors && dims.iter().all(|n| n.is_power_of_two())) {
        (_, true) => RankAction::Xored,
        (true, false) => RankAction::Rotated,
        (false, false) => return None,
    };
    Some(GridLines::new(dims, wraps, moves))
}

/// The orbits of links under a subgroup that maps every route to a route.
#[derive(Debug)]
struct LinkOrbits {
    numbering: Numbering,
    group: Group,
    subgroup: Group,
    /// One element of each coset of the subgroup, in ascending order. Only the images of a message
    /// under these elements are routed.
    cosets: Vec<u64>,
    loads: Vec<u64>,
}

#[derive(Debug)]
enum Numbering {
    Calculated(Periods),
    Listed(Orbits),
    /// A complete graph. Every route is a single link, and no two messages share a link.
    Complete,
}

impl LinkOrbits {
    /// Returns link orbits that are calculated instead of stored for each link. Requires that all
    /// elements of the group are known automorphisms.
    fn calculated(topology: &Network, group: &Group) -> Option<Self> {
        const MAX_ORBITS: u64 = 1 << 26;
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

    fn listed(topology: &Network, group: &Group) -> Option<Self> {
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

    /// Returns whether requested routes can be counted. This requires calculated orbits.
    fn counts_requested_routes(&self) -> bool {
        matches!(self.numbering, Numbering::Calculated(_))
    }

    fn count(
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

    fn max_load(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<u64, (usize, RouteError)> {
        self.fill(topology, messages, routes, |t| t.load, |_, _| {})
    }

    fn times(
        &mut self,
        topology: &Network,
        messages: &[Transfer],
    ) -> Result<OrbitTimes, (usize, RouteError)> {
        let mut times = OrbitTimes::default();
        self.fill(topology, messages, &[], |t| t.load, |_, _| {})?;
        if let Numbering::Listed(orbits) = &self.numbering {
            for (orbit, load) in (0..).zip(&self.loads) {
                let bandwidth = topology.bandwidth(orbits.first(orbit));
                times.link = times.link.max(*load as f64 / bandwidth);
            }
        }
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
                // Several elements map a link of a small orbit to itself, and the images under all
                // of them cross this link.
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
/// node numbers independently. Two links are in the same orbit if they have the same port
/// ([`Automorphisms::port`]) and, for each axis, the coordinates of the nodes that they leave are
/// equal modulo the period of the axis.
#[derive(Debug)]
struct Periods {
    /// The length and the period of each axis. Successive axes are stored as one axis if their
    /// coordinates modulo their periods form one number.
    axes: Vec<(u64, u64)>,
    orbits: u64,
}

impl Periods {
    /// Returns `None` if links have no ports, or if a group element is no known automorphism.
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

    /// Calls `visit` with each orbit of the links of a run, and with the number of images of the
    /// run that cross each link of the orbit.
    fn for_each_orbit(
        &self,
        network: &dyn Automorphisms,
        run: Run,
        visit: &mut impl FnMut(u64, u64),
    ) {
        let (mut rest, port) = network.port(run.first).expect("links with periods have ports");
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
        // The orbits of the links of a run repeat after `cycle` links.
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

/// Returns the period of each dimension: the length of the smallest shift along it that is in the
/// group. Returns `None` if the group does not rotate the dimensions independently of each other.
///
/// A dimension must consist of consecutive axes of the schedule's grid. Of these, the group may
/// move only the first one, because a shift of a later axis does not carry into an earlier axis. An
/// exclusive-or changes each bit like a shift of an axis of size 2.
fn periods(sides: &[u64], group: &Group) -> Option<Vec<u64>> {
    // The parts of all axes in reverse order: the size of a part, and whether the group moves it.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RankAction {
    /// All shifts. The images of a message lead from every rank r to rank `r + s`.
    Rotated,
    /// All exclusive-ors. The images of a message lead from every rank r to rank `r ^ s`.
    Xored,
}

/// A mesh or torus in which the group consists of shifts or exclusive-ors of the ranks. Routes
/// follow the last dimension first. So along dimension d, a message moves on the line with the
/// sender's coordinates in the dimensions before d, and the receiver's coordinates in the
/// dimensions after d.
#[derive(Debug)]
struct GridLines {
    dims: Vec<u64>,
    nodes: u64,
    wraps: bool,
    action: RankAction,
}

impl GridLines {
    fn new(dims: &[u64], wraps: bool, action: RankAction) -> Self {
        Self { dims: dims.to_vec(), nodes: dims.iter().product(), wraps, action }
    }

    fn count(&self, messages: &[Transfer]) -> OrbitCounts {
        let hops: Vec<(u128, u64)> = messages.iter().map(|t| self.hops(self.distance(t))).collect();
        OrbitCounts {
            max_messages: self.max_load(messages, |_| 1),
            max_hops: hops.iter().map(|(_, longest)| *longest).max().unwrap_or(0),
            hops: hops.into_iter().map(|(all, _)| all).collect(),
            ..OrbitCounts::default()
        }
    }

    fn distance(&self, t: &Transfer) -> u64 {
        match self.action {
            RankAction::Rotated => (u64::from(t.to) + self.nodes - u64::from(t.from)) % self.nodes,
            RankAction::Xored => u64::from(t.to ^ t.from),
        }
    }

    fn max_load(&self, messages: &[Transfer], amount: impl Fn(&Transfer) -> u64) -> u64 {
        let loads: Vec<(u64, u64)> =
            messages.iter().map(|t| (self.distance(t), amount(t))).collect();
        match self.action {
            RankAction::Rotated => self.max_load_rotated(&loads),
            RankAction::Xored => self.max_load_xored(&loads),
        }
    }

    fn hops(&self, distance: u64) -> (u128, u64) {
        match self.action {
            RankAction::Rotated => self.hops_rotated(distance),
            RankAction::Xored => self.hops_xored(distance),
        }
    }

    /// Returns the largest load of a link, if the group consists of all shifts.
    ///
    /// If each node of a line of n nodes sends to the node t positions further, modulo n, the
    /// middle link of a mesh has the largest load in each direction, which is `min(t, n - t)`. In a
    /// ring, all links of one direction have this load. So the maxima of all messages on a line can
    /// be added. On a line of dimension d, all images of a message move by digit d of the distance.
    /// If the addition of the lower digits carries, they move by one more.
    fn max_load_rotated(&self, loads: &[(u64, u64)]) -> u64 {
        let (mut most, mut stride) = (0, 1);
        let mut changes: Vec<(u64, [u64; 2])> = Vec::with_capacity(loads.len());
        for &n in self.dims.iter().rev() {
            let on_line = |t: u64| {
                let least = t.min(n - t);
                match self.wraps {
                    false => [least, least],
                    true if 2 * t <= n => [least, 0],
                    true => [0, least],
                }
            };
            let mut sum = [0_u64; 2];
            changes.clear();
            for (distance, amount) in loads {
                let (t, low) = (distance / stride % n, distance % stride);
                let (plain, carried) = (on_line(t), on_line((t + 1) % n));
                let first = if low > 0 { carried } else { plain };
                for direction in 0..2 {
                    sum[direction] =
                        sum[direction].wrapping_add(first[direction].wrapping_mul(*amount));
                }
                if low > 0 {
                    // If the lower digits of the receiver are at least `low`, the addition had no
                    // carry.
                    let change = |direction: usize| {
                        plain[direction].wrapping_sub(carried[direction]).wrapping_mul(*amount)
                    };
                    changes.push((low, [change(0), change(1)]));
                }
            }
            most = most.max(sum[0]).max(sum[1]);
            changes.sort_unstable();
            for same in changes.chunk_by(|a, b| a.0 == b.0) {
                for (_, change) in same {
                    sum = [sum[0].wrapping_add(change[0]), sum[1].wrapping_add(change[1])];
                }
                most = most.max(sum[0]).max(sum[1]);
            }
            stride *= n;
        }
        most
    }

    fn hops_rotated(&self, distance: u64) -> (u128, u64) {
        let (mut all, mut stride) = (0, 1);
        // The number of hops of the longest route in the dimensions so far, first for images
        // without and then for images with a carry into the current dimension. The last dimension
        // is visited first, and no image carries into it.
        let mut longest = [Some(0), None];
        for &n in self.dims.iter().rev() {
            let (t, low) = (distance / stride % n, distance % stride);
            // On each line, a shift by t moves `n - t` nodes to coordinates that are larger by t,
            // and the other t nodes to coordinates that are smaller by `n - t`.
            let straight = |t: u64| if self.wraps { t.min(n - t) } else { t };
            let around = |t: u64| if self.wraps { t.min(n - t) } else { n - t };
            let on_line = |t: u64| {
                u128::from(n - t) * u128::from(straight(t)) + u128::from(t) * u128::from(around(t))
            };
            let lines = u128::from(self.nodes / (stride * n));
            all += lines
                * (u128::from(stride - low) * on_line(t) + u128::from(low) * on_line((t + 1) % n));
            let mut next = [None, None];
            for (carry, so_far) in [0, 1].into_iter().zip(longest) {
                let Some(so_far) = so_far else { continue };
                let t = t + carry;
                if t < n {
                    next[0] = next[0].max(Some(so_far + straight(t)));
                }
                if t > 0 {
                    next[1] = next[1].max(Some(so_far + around(t)));
                }
            }
            longest = next;
            stride *= n;
        }
        (all, longest[0].max(longest[1]).unwrap_or(0))
    }

    fn max_load_xored(&self, loads: &[(u64, u64)]) -> u64 {
        let (mut most, mut stride) = (0, 1);
        for &n in self.dims.iter().rev() {
            let mut changes = [vec![0_u64; n as usize + 1], vec![0_u64; n as usize + 1]];
            for (distance, amount) in loads {
                let with = distance / stride % n;
                for a in (0..n).filter(|_| with > 0) {
                    let (plus, hops) = shorter(n, self.wraps, a, a ^ with);
                    let first = if plus { a } else { (a + 1 + n - hops) % n };
                    let line = &mut changes[usize::from(!plus)];
                    let mut note =
                        |at: u64, by: u64| line[at as usize] = line[at as usize].wrapping_add(by);
                    note(first, *amount);
                    note((first + hops).min(n), amount.wrapping_neg());
                    if first + hops > n {
                        note(0, *amount);
                        note(first + hops - n, amount.wrapping_neg());
                    }
                }
            }
            for line in &changes {
                let mut sum = 0_u64;
                for change in line {
                    sum = sum.wrapping_add(*change);
                    most = most.max(sum);
                }
            }
            stride *= n;
        }
        most
    }

    fn hops_xored(&self, distance: u64) -> (u128, u64) {
        let (mut all, mut longest, mut stride) = (0, 0, 1);
        for &n in self.dims.iter().rev() {
            let with = distance / stride % n;
            let of_line = (0..n).map(|a| shorter(n, self.wraps, a, a ^ with).1);
            all += u128::from(of_line.clone().sum::<u64>()) * u128::from(self.nodes / n);
            longest += of_line.max().unwrap_or(0);
            stride *= n;
        }
        (all, longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::links::LinkLoad;
    use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};
    use crate::network::topology::parse;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn messages(group: &Group, numbers: &[(u64, u64)]) -> Vec<Transfer> {
        let nodes = group.order() * group.representatives();
        let mut messages: Vec<Transfer> = Vec::new();
        for (number, load) in numbers {
            let from = group.representative((number % group.representatives()) as usize);
            let to = (from + 1 + number % (nodes - 1)) % nodes;
            let message =
                Transfer { from: from as u32, to: to as u32, route: 0, hops: 0, load: *load };
            if messages.iter().all(|t| (t.from, t.to) != (message.from, message.to)) {
                messages.push(message);
            }
        }
        messages
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        #[test]
        fn counts_by_orbits_agree_with_expanded_messages(
            case in prop::sample::select(vec![
                ("torus:4x6", &[4, 6][..], &[Shift(2), Shift(3)][..]),
                ("torus:8x4", &[2, 4, 1, 4], &[Shift(1), Fixed, Shift(1), Fixed]),
                ("torus:4x6", &[24], &[Shift(1)]),
                ("torus:3x2x5", &[30], &[Shift(1)]),
                ("torus:1x7", &[7], &[Shift(1)]),
                ("mesh:4x6", &[24], &[Shift(1)]),
                ("mesh:3x3x3", &[27], &[Shift(1)]),
                ("torus:4x8", &[32], &[Xor(1)]),
                ("mesh:4x8", &[32], &[Xor(1)]),
                ("mesh:4x4", &[4, 4], &[Xor(1), Xor(1)]),
                ("torus:2x2", &[2, 2], &[Shift(1), Xor(1)]),
                ("ring:12", &[12], &[Shift(4)]),
                ("hypercube:4", &[16], &[Xor(2)]),
                ("hypercube:3", &[2, 2, 2], &[Xor(1), Fixed, Shift(1)]),
                ("fully-connected:7", &[7], &[Shift(1)]),
                ("rdn:1(hypercube:2)", &[2, 4, 4], &[Xor(1), Fixed, Fixed]),
                ("rdn:2(ring:2)", &[128], &[Xor(64)]),
                ("rdn:1(torus:2x3)", &[2, 36], &[Shift(1), Fixed]),
                ("torus:12x3", &[12, 3], &[Shift(2), Fixed]),
                ("torus:3x8x2", &[3, 8, 2], &[Fixed, Shift(2), Shift(1)]),
                ("torus:2x6x5", &[2, 6, 5], &[Shift(1), Shift(3), Fixed]),
                ("torus:6x4o", &[6, 4], &[Shift(2), Fixed]),
                ("tofu:2x1x2o", &[2, 1, 2, 2, 2, 3], &[Fixed, Fixed, Shift(1), Fixed, Fixed, Shift(1)]),
                ("fat-tree:4x2", &[16], &[Xor(1)]),
                ("fat-tree:3x3", &[3, 3, 3], &[Shift(1), Shift(1), Fixed]),
                ("dragonfly:5x2x3", &[5, 2, 3], &[Shift(1), Fixed, Shift(1)]),
                ("hyperx:4x2,nodes=2", &[16], &[Xor(1)]),
                ("slim-fly:3", &[2, 3, 3], &[Fixed, Fixed, Shift(1)]),
                ("groups:4x4,inside=9,inside_hop=0.5", &[4, 4], &[Shift(2), Xor(1)]),
                ("rdn:1(fat-tree:2x2)", &[2, 4, 4], &[Xor(1), Fixed, Fixed]),
                ("rdn:1(hypercube:2)", &[2, 4, 4], &[Xor(1), Xor(1), Xor(1)]),
                ("fat-tree:3x3", &[27], &[Shift(1)]),
                ("dragonfly:5x2x3", &[30], &[Shift(1)]),
                ("dragonfly:4x2x2", &[16], &[Xor(1)]),
                ("hyperx:4x3,nodes=2", &[24], &[Shift(2)]),
                ("groups:4x3,inside=9,inside_hop=0.5", &[12], &[Shift(1)]),
                ("groups:4x3,inside=0.5", &[4, 3], &[Shift(2), Fixed]),
                ("groups:2x8,inside_hop=3", &[16], &[Shift(2)]),
                ("jellyfish:8x3x2", &[8, 2], &[Shift(1), Shift(1)]),
            ]),
            numbers in prop::collection::vec((0_u64..1000, 1_u64..5), 1..8),
        ) {
            let (spec, radices, symmetries): (&str, &[u64], &[Symmetry]) = case;
            let (topology, group) = (parse(spec).unwrap(), Group::new(radices, symmetries).unwrap());
            let messages = messages(&group, &numbers);
            let mut links = OrbitLinkLoad::new(topology.as_ref(), &group);
            let counted = links.count(topology.as_ref(), &messages, &[]).unwrap().expect("no need to expand");
            let (mut by_messages, mut by_loads) = (LinkLoad::new(topology.as_ref()), LinkLoad::new(topology.as_ref()));
            by_messages.begin();
            by_loads.begin();
            let (mut longest, mut times, mut of_nodes) = (0, OrbitTimes::default(), HashMap::new());
            for (t, hops) in messages.iter().zip(&counted.hops) {
                let mut all = 0;
                for element in group.elements() {
                    let ends = [t.from, t.to].map(|node| group.moved(node.into(), element));
                    let (mut latency, mut slowest) = (0.0, 0.0_f64);
                    let own = topology.route(ends[0], ends[1], None, &mut |run| {
                        by_messages.add(run, 1);
                        by_loads.add(run, t.load);
                        latency += run.links().map(|link| topology.latency(link)).sum::<f64>();
                        let inverse = run.links().map(|link| 1.0 / topology.bandwidth(link));
                        slowest = inverse.fold(slowest, f64::max);
                    });
                    let own = own.unwrap();
                    longest = longest.max(own);
                    let time = t.load as f64 * slowest;
                    times.latency = times.latency.max(latency);
                    times.message = times.message.max(time);
                    for end in [(ends[0], true), (ends[1], false)] {
                        let sum = of_nodes.entry(end).or_insert(0.0);
                        *sum += time;
                        times.node = times.node.max(*sum);
                    }
                    all += u128::from(own);
                }
                prop_assert_eq!(*hops, all);
            }
            prop_assert_eq!((counted.max_messages, counted.max_load, counted.max_hops), (by_messages.max(), by_loads.max(), longest));
            by_loads.for_each_loaded(&mut |link, load| {
                times.link = times.link.max(load as f64 / topology.bandwidth(link));
            });
            let is_uniform = topology.bandwidths().is_none() && topology.latencies().is_none();
            prop_assert_eq!(counted.times.is_none(), is_uniform);
            if let Some(OrbitTimes { latency, message, link, node }) = counted.times {
                prop_assert_eq!((latency, message, link), (times.latency, times.message, times.link));
                prop_assert!((node / times.node - 1.0).abs() < 1e-12, "{} {}", node, times.node);
            }
        }
    }

    #[test]
    fn asymmetric_routes_are_expanded() {
        let expanded = |spec: &str, radices: &[u64], symmetry| {
            let (topology, group) = (parse(spec).unwrap(), Group::new(radices, symmetry).unwrap());
            let message = Transfer { from: 0, to: 1, route: 0, hops: 0, load: 1 };
            OrbitLinkLoad::new(topology.as_ref(), &group)
                .count(topology.as_ref(), &[message], &[])
                .unwrap()
                .is_none()
        };
        assert!(expanded("mesh:4x6", &[24], &[Shift(2)]));
        assert!(expanded("jellyfish:8x3x2", &[16], &[Shift(1)]));
        assert!(
            expanded("rdn:1(hypercube:2)", &[2, 4, 4], &[Fixed, Xor(1), Xor(1)]),
            "clusters are no nodes"
        );
    }

    /// The link from node r to the next node carries three messages: on the direct route, and on
    /// the paths from r to r + 2 and from r - 1 to r + 1.
    #[test]
    fn requested_paths_of_complete_graphs_are_expanded() {
        let group = Group::new(&[4], &[Shift(1)]).unwrap();
        let message = |to, route| Transfer { from: 0, to, route, hops: 0, load: 1 };
        let network = parse("fully-connected:4").unwrap();
        let path = Route { path: vec![1, 2], ..Route::default() };
        let mut links = OrbitLinkLoad::new(network.as_ref(), &group);
        let direct = links.count(network.as_ref(), &[message(1, 0), message(2, 0)], &[]).unwrap();
        assert_eq!(direct.unwrap().max_messages, 1);
        let counted =
            links.count(network.as_ref(), &[message(1, 0), message(2, 1)], &[path]).unwrap();
        assert!(counted.is_none());
    }

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
