//! `form=combined` (Appendix A): a transposition without separate phases. Some data crosses the
//! mirror during the collection, and some during the distribution. If delta is 0, the transposition
//! takes `(2 log_(2q+1)((n+4)/(4q+4)) + 1) alpha + n/4 m beta` (formulas 4.7 and 4.10).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | r | `levels` | number of rounds of the collection |
//! | n / 4 | `count` | number of nodes of a quadrant, whose data crosses the same mirror in the same direction |
//!
//! A quadrant is divided into groups of levels 0 to r, starting at the mirror: 2q groups of each
//! level below r, then q groups of level r. A group of level l has (2q+1)^l nodes, whose data is
//! level below r, then q groups of level r. A group of level l has (2q+1)^l nodes, whose data is
//! collected in the middle node. Of the groups of each level l below r, the q nearer to the mirror
//! cross it in round l + 1, and the other q in round 2r + 1 - l. The groups of level r cross in
//! round r + 1. So in each of the 2r + 1 rounds, q circuits share the link at the mirror (equation
//! A.1). If n + 4 differs from `(4q + 4)(2q + 1)^r`, the last groups are smaller.
//!
//! In two dimensions, n cycles of n nodes are transposed at the same time. Neighbouring nodes of
//! such a cycle are two links apart (section 4.2.2).

use super::affine::Affine;
use super::mirrors::{Mirror, Mirrors};
use crate::torus::{Torus, Variant};
use crate::tree::{Circuit, Payload, divide};
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

struct Group {
    /// The offset of the group's node that is nearest to the mirror. Offset 0 is the node of the
    /// quadrant that is nearest to the mirror.
    first: u64,
    /// For each round, the circuits from the collector that inform all nodes of the group. The
    /// collection uses the rounds in reverse order.
    circuits: Vec<Vec<Circuit>>,
    collector: u64,
    /// The round, from 1, in which the data crosses the mirror.
    crosses: usize,
}

fn quadrant(count: u64, q: u64, levels: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut first = 0;
    for level in 0..=levels {
        let size = (2 * q + 1).saturating_pow(level);
        let max_groups = if level < levels { 2 * q } else { q };
        // Nearly equal sizes keep circuits short.
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

/// Returns the smallest sufficient r (equation A.1).
fn levels(count: u64, q: u64) -> u32 {
    let holds = |levels: u32| {
        let power = |level: u32| (2 * q + 1).saturating_pow(level);
        (0..levels)
            .fold(0_u64, |sum, level| sum.saturating_add((2 * q).saturating_mul(power(level))))
            .saturating_add(q.saturating_mul(power(levels)))
    };
    (0..).find(|r| holds(*r) >= count).unwrap_or(0)
}

/// The cycles of a transposition. On each, the nodes at positions x and `sum` - x exchange their
/// data.
struct Cycles<'a> {
    torus: &'a Torus,
    mirror: Mirror,
    n: u64,
}

impl Cycles<'_> {
    fn axis(&self) -> usize {
        match self.mirror {
            Mirror::One(axis) => axis,
            Mirror::Two { a, .. } => a,
        }
    }

    /// Converts a node of the schedule's grid to one of the torus. In two dimensions, the axes of
    /// the grid are the position on a cycle and the number of the cycle.
    fn real(&self, logical: u64) -> u64 {
        let Mirror::Two { a, b, anti } = self.mirror else { return logical };
        let (x, cycle) = (self.torus.coordinate(logical, a), self.torus.coordinate(logical, b));
        self.torus.moved(
            logical,
            b,
            if anti { (cycle + x) % self.n } else { (cycle + self.n - x) % self.n },
        )
    }

    fn sum(&self, logical: u64) -> u64 {
        match self.mirror {
            Mirror::One(_) => self.n - 1,
            Mirror::Two { b, anti, .. } => {
                let cycle = self.torus.coordinate(logical, b);
                if anti { (2 * self.n - 1 - cycle) % self.n } else { cycle }
            }
        }
    }

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
                // Two neighbouring positions of a cycle are joined by one link along each axis.
                // Towards higher positions, the link along the first axis is used first; towards
                // lower ones, it is used last. Both directions therefore use the same links.
                let (moved, kept) = if by > 0 { (to, from) } else { (from, to) };
                path.push(self.torus.moved(kept, axis, self.torus.coordinate(moved, axis)));
            }
            path.push(to);
            at = next;
        }
        path
    }
}

struct Quadrant<'a> {
    cycles: &'a Cycles<'a>,
    base: u64,
    nearest: u64,
    up: bool,
    gap: u64,
    groups: &'a [Group],
}

impl Quadrant<'_> {
    fn node(&self, offset: i64) -> u64 {
        let n = self.cycles.n as i64;
        let place = self.nearest as i64 + if self.up { offset } else { -offset };
        self.cycles.torus.moved(self.base, self.cycles.axis(), place.rem_euclid(n) as u64)
    }

    fn image(&self, offset: u64) -> i64 {
        -(self.gap as i64) - offset as i64
    }

    /// Sends the blocks of the nodes in `bundle` (the first offset and the number of nodes) or, if
    /// this is `None`, all blocks that the sender holds.
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
    // A side of the mirror has two quadrants, which differ by one node if its size is odd. A side
    // is one node shorter if nodes lie on the mirror.
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
                // The mirror crosses the cycle at two places, half a cycle apart, with the numbers
                // 0 and 1. `above` is the first node after the place with the number `half`.
                let above = (sum / 2 + 1 + half as u64 * n / 2) % n;
                let gap = if on_node { 2 } else { 1 };
                let groups = &groups[usize::from(on_node)][half];
                for (nearest, up) in [(above, true), ((above + n - gap) % n, false)] {
                    Quadrant { cycles: &cycles, base, nearest, up, gap, groups }
                        .round(round, rounds, schedule)?;
                }
            }
        }
    }
    Ok(())
}

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
