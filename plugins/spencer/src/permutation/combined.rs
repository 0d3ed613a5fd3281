//! `form=combined` (Appendix A): a transposition in which some bundles cross the mirror while
//! others are still being collected, and again while those are distributed. It takes (2
//! log_(2q+1)((n+4)/(4q+4)) + 1) alpha + n/4 m beta (4.7, 4.10).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n | `n` | nodes of a cycle |
//! | q | `q` | circuits that a directed link carries |
//! | r | `levels` | rounds of collection |
//! | n / 4 | `count` | nodes of a quadrant, all of which cross the same mirror in the same direction |
//!
//! Starting at the mirror, a quadrant has 2q groups of each level below r, then q groups of level
//! r. A group of level l has (2q+1)^l nodes, which are collected in its middle node. Of the 2q
//! groups of a level l below r, the q groups nearer to the mirror cross it in round l + 1, and the
//! other q groups in round 2r + 1 - l. The groups of level r cross it in round r + 1. So q circuits
//! share the mirror's link in each of the 2r + 1 rounds (equation A.1). The link is never idle, so
//! propagation is n/4. If n + 4 differs from (4q + 4)(2q + 1)^r, the last groups are smaller.
//!
//! In two dimensions, n cycles of n nodes are transposed at once; neighbouring nodes of a cycle are
//! two links apart (section 4.2.2).

use super::affine::Affine;
use super::mirrors::{Mirror, Mirrors};
use crate::torus::{Torus, Variant};
use crate::tree::{Circuit, Payload, divide};
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

/// Adjacent nodes of a quadrant that cross the mirror together.
struct Group {
    /// Offset of the node nearest to the mirror; the quadrant's nearest node has offset 0.
    first: u64,
    /// Circuits that inform all nodes of the group from the collector. They are used in reverse
    /// order for the collection, in forward order for the distribution.
    circuits: Vec<Vec<Circuit>>,
    /// Offset of the middle node.
    collector: u64,
    /// Round in which the group crosses the mirror, from 1.
    crosses: usize,
}

/// Returns the groups of a quadrant of `count` nodes, where r is `levels`.
fn quadrant(count: u64, q: u64, levels: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut first = 0;
    for level in 0..=levels {
        let size = (2 * q + 1).saturating_pow(level);
        let max_groups = if level < levels { 2 * q } else { q };
        // The last groups have nearly equal sizes, so that no circuit is longer than necessary.
        let left = count - first;
        let full = max_groups.min(left / size.max(1));
        let sizes: Vec<u64> = if full == max_groups || level < levels {
            let rest = left - full * size;
            let tail = (full < max_groups && rest > 0).then_some(rest);
            std::iter::repeat_n(size, full as usize).chain(tail).collect()
        } else {
            (0..max_groups.min(left))
                .map(|i| left * (i + 1) / max_groups.min(left) - left * i / max_groups.min(left))
                .collect()
        };
        for (i, size) in sizes.into_iter().enumerate() {
            let crosses = match level {
                _ if level < levels && i as u64 >= q => 2 * levels + 1 - level,
                _ => level + 1,
            };
            let circuits = divide(size, size / 2, q, Variant::AllPorts, Payload::Bundle);
            groups.push(Group {
                first,
                circuits,
                collector: first + size / 2,
                crosses: crosses as usize,
            });
            first += size;
        }
    }
    groups
}

/// Returns r: the smallest number of levels whose groups contain all nodes of a quadrant (equation
/// A.1).
fn levels(count: u64, q: u64) -> u32 {
    let holds = |levels: u32| {
        let power = |level: u32| (2 * q + 1).saturating_pow(level);
        (0..levels)
            .fold(0_u64, |sum, level| sum.saturating_add((2 * q).saturating_mul(power(level))))
            .saturating_add(q.saturating_mul(power(levels)))
    };
    (0..).find(|r| holds(*r) >= count).unwrap_or(0)
}

/// The cycles of a transposition. On each cycle, the nodes at the positions x and `sum` - x are
/// exchanged.
struct Cycles<'a> {
    torus: &'a Torus,
    mirror: Mirror,
    n: u64,
}

impl Cycles<'_> {
    /// Returns the axis that numbers the nodes of a cycle.
    fn axis(&self) -> usize {
        match self.mirror {
            Mirror::One(axis) => axis,
            Mirror::Two { a, .. } => a,
        }
    }

    /// Returns the node of the torus for a node of the schedule's grid. In a 2-dimensional
    /// transposition, the second axis of the grid numbers the cycles. The second coordinate in the
    /// torus increases or decreases along each cycle.
    fn real(&self, logical: u64) -> u64 {
        let Mirror::Two { a, b, anti } = self.mirror else { return logical };
        let (x, cycle) = (self.torus.coordinate(logical, a), self.torus.coordinate(logical, b));
        self.torus.moved(
            logical,
            b,
            if anti { (cycle + x) % self.n } else { (cycle + self.n - x) % self.n },
        )
    }

    /// Returns the sum of the positions of a node and its image, modulo n.
    fn sum(&self, logical: u64) -> u64 {
        match self.mirror {
            Mirror::One(_) => self.n - 1,
            Mirror::Two { b, anti, .. } => {
                let cycle = self.torus.coordinate(logical, b);
                if anti { (2 * self.n - 1 - cycle) % self.n } else { cycle }
            }
        }
    }

    /// Returns the nodes of the route from a node of a cycle to the node `by` positions further.
    fn path(&self, logical: u64, by: i64) -> Vec<u64> {
        let axis = self.axis();
        let mut path = Vec::with_capacity(2 * by.unsigned_abs() as usize);
        let mut at = logical;
        for _ in 0..by.unsigned_abs() {
            let x = self.torus.coordinate(at, axis);
            let next = self.torus.moved(
                at,
                axis,
                if by > 0 { (x + 1) % self.n } else { (x + self.n - 1) % self.n },
            );
            let (from, to) = (self.real(at), self.real(next));
            if matches!(self.mirror, Mirror::Two { .. }) {
                // One position further is one link along each axis. With increasing positions the
                // link along the first axis comes first, with decreasing positions it comes last.
                // So both directions use the same links.
                let (moved, kept) = if by > 0 { (to, from) } else { (from, to) };
                path.push(self.torus.moved(kept, axis, self.torus.coordinate(moved, axis)));
            }
            path.push(to);
            at = next;
        }
        path
    }
}

/// A quadrant of one cycle.
struct Side<'a> {
    cycles: &'a Cycles<'a>,
    /// The node at position 0 of the cycle.
    base: u64,
    /// Position of the quadrant's node nearest to the mirror.
    nearest: u64,
    /// Whether positions increase with the distance from the mirror.
    up: bool,
    /// Distance from the nearest node to its image, in positions.
    gap: u64,
    groups: &'a [Group],
}

impl Side<'_> {
    fn node(&self, offset: i64) -> u64 {
        let n = self.cycles.n as i64;
        let place = self.nearest as i64 + if self.up { offset } else { -offset };
        self.cycles.torus.moved(self.base, self.cycles.axis(), place.rem_euclid(n) as u64)
    }

    /// Returns the offset of the image of the node at `offset`. Both have the same distance from
    /// the mirror, on opposite sides.
    fn image(&self, offset: u64) -> i64 {
        -(self.gap as i64) - offset as i64
    }

    /// Sends all data of a node or, if `bundle` is given, the blocks of `count` nodes from an
    /// offset.
    fn send(
        &self,
        from: i64,
        to: i64,
        bundle: Option<(i64, u64)>,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let torus = self.cycles.torus;
        let by = if self.up { to - from } else { from - to };
        let path = self.cycles.path(self.node(from), by);
        let route = Route::path(&path);
        let send = Blocks::new(self.node(from), self.node(to)).route(&route);
        let Some((first, count)) = bundle else { return schedule.send(&send) };
        let lowest = self.node(if self.up { first } else { first + count as i64 - 1 });
        let mut origins: Vec<Axis<'_>> =
            (0..torus.dims.len()).map(|axis| Axis::one(torus.coordinate(lowest, axis))).collect();
        let axis = self.cycles.axis();
        origins[axis] = Axis::range(torus.coordinate(lowest, axis), count);
        schedule.send(&send.origins(Set::product(&origins)))
    }

    /// Adds the sends of this quadrant in a round.
    fn round(&self, round: usize, rounds: usize, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        for group in self.groups {
            let collects =
                group.circuits.len().checked_sub(round).and_then(|i| group.circuits.get(i));
            for circuit in collects.into_iter().flatten() {
                let at = |place: u64| (group.first + place) as i64;
                self.send(at(circuit.to), at(circuit.from), None, schedule)?;
            }
            if group.crosses == round {
                self.send(group.collector as i64, self.image(group.collector), None, schedule)?;
            }
            let distributes = (round + group.circuits.len())
                .checked_sub(rounds + 1)
                .and_then(|i| group.circuits.get(i));
            for circuit in distributes.into_iter().flatten() {
                let at = |place: u64| self.image(group.first + place);
                let bundle = ((group.first + circuit.first) as i64, circuit.count);
                self.send(at(circuit.from), at(circuit.to), Some(bundle), schedule)?;
            }
        }
        Ok(())
    }
}

/// Plans the combined form of a 1- or 2-dimensional transposition.
pub(super) fn plan(
    torus: &Torus,
    affine: &Affine,
    nodes: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let mirror = only_mirror(torus, affine)?;
    let cycles = Cycles { torus, mirror, n: torus.dims[mirror_axis(mirror)] };
    let n = cycles.n;
    schedule.layout(&torus.dims, 1)?;
    if matches!(mirror, Mirror::Two { .. }) {
        for logical in 0..nodes {
            schedule.place(logical, cycles.real(logical), true)?;
        }
    }
    // Each cycle has two sides of the mirror, and each side has two quadrants. If a node lies on
    // the mirror, each side has one node fewer. If a side has an odd number of nodes, its quadrants
    // differ by one node.
    let side_sizes = [n / 2, n / 2 - 1].map(|side| [side.div_ceil(2), side / 2]);
    let max_levels = levels(side_sizes[0][0], torus.q);
    let groups = side_sizes.map(|counts| counts.map(|count| quadrant(count, torus.q, max_levels)));
    let rounds = 2 * max_levels as usize + 1;
    schedule.phase("collection, transposition and distribution combined")?;
    for round in 1..=rounds {
        schedule.step()?;
        for base in (0..nodes).filter(|node| torus.coordinate(*node, cycles.axis()) == 0) {
            let sum = cycles.sum(base);
            let on_node = sum.is_multiple_of(2);
            for half in [0, 1] {
                // The first node above the mirror (`half` is 0) or above its counterpart half a
                // cycle further (`half` is 1).
                let above = (sum / 2 + 1 + half as u64 * n / 2) % n;
                let gap = if on_node { 2 } else { 1 };
                let groups = &groups[usize::from(on_node)][half];
                for (nearest, up) in [(above, true), ((above + n - gap) % n, false)] {
                    Side { cycles: &cycles, base, nearest, up, gap, groups }
                        .round(round, rounds, schedule)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the mirror of a permutation that is a single transposition.
fn only_mirror(torus: &Torus, affine: &Affine) -> Result<Mirror, Stop> {
    if torus.variant == Variant::OnePort {
        return Err(Stop::unsupported("`form=combined` needs all ports"));
    }
    let moved: Vec<usize> =
        torus.cycles.iter().copied().filter(|axis| affine.moves(*axis)).collect();
    let other =
        || Stop::unsupported("`form=combined` needs a single 1- or 2-dimensional transposition");
    if moved.iter().any(|axis| affine.terms[*axis].plus > 0 || affine.terms[*axis].sheared > 0) {
        return Err(other());
    }
    let place = |axis: usize| moved.iter().position(|a| *a == axis).ok_or_else(other);
    let signed = moved
        .iter()
        .map(|axis| Ok((place(affine.terms[*axis].axis)?, affine.terms[*axis].negated)));
    let mirrors =
        Mirrors::compose(&signed.collect::<Result<Vec<_>, Stop>>()?).ok_or_else(other)?.on(&moved);
    let [round] = &mirrors.rounds[..] else { return Err(other()) };
    let [mirror] = round[..] else { return Err(other()) };
    super::check_even(torus.dims[mirror_axis(mirror)])?;
    Ok(mirror)
}

fn mirror_axis(mirror: Mirror) -> usize {
    match mirror {
        Mirror::One(axis) => axis,
        Mirror::Two { a, .. } => a,
    }
}
