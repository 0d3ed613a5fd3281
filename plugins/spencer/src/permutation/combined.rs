//! (2 log_(2q+1)((n+4)/(4q+4)) + 1) alpha + n/4 m beta (4.7, 4.10). Appendix A: a transposition
//! whose bundles cross the mirror while others are still collected, and again while those are
//! distributed.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n | `n` | nodes of a cycle |
//! | q | `q` | circuits that a directed link carries |
//! | r | `levels` | rounds of collection |
//! | n / 4 | `count` | nodes of a quadrant, all of which cross the same mirror the same way |
//!
//! From the mirror a quadrant has 2q groups of each level below r, then q of level r; a group of
//! level l has (2q+1)^l nodes, gathered in the one in their middle. In round l + 1 the nearer q
//! groups of level l cross, in round 2r + 1 - l the farther q, and in round r + 1 those of level r,
//! so that q circuits share the mirror's link in every round (equation A.1). That takes 2r + 1
//! rounds, and the link is never idle: propagation is n/4. Where n + 4 isn't (4q + 4)(2q + 1)^r the
//! last groups are smaller.
//!
//! In two dimensions n cycles of n nodes, each two links from the next, are transposed at once
//! (section 4.2.2).

use super::affine::Affine;
use super::mirrors::{Mirror, Mirrors};
use crate::torus::{Torus, Variant};
use crate::tree::{Carries, Circuit, divide};
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

/// Adjacent nodes of a quadrant that cross together.
struct Group {
    /// The nearest to the mirror, the quadrant's nearest being 0.
    first: u64,
    /// Its circuits, as if to inform all from the collector: read backwards they collect, forwards
    /// distribute.
    circuits: Vec<Vec<Circuit>>,
    /// The node in the middle.
    collector: u64,
    /// In which round it crosses, from 1.
    crosses: usize,
}

/// The groups of a quadrant of `count` nodes, and r.
fn quadrant(count: u64, q: u64, levels: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut first = 0;
    for level in 0..=levels {
        let size = (2 * q + 1).saturating_pow(level);
        let most = if level < levels { 2 * q } else { q };
        // What is left goes into near-equal groups, so that none is longer on its way than it must.
        let left = count - first;
        let whole = most.min(left / size.max(1));
        let sizes: Vec<u64> = if whole == most || level < levels {
            let rest = left - whole * size;
            let tail = (whole < most && rest > 0).then_some(rest);
            std::iter::repeat_n(size, whole as usize).chain(tail).collect()
        } else {
            (0..most.min(left))
                .map(|i| left * (i + 1) / most.min(left) - left * i / most.min(left))
                .collect()
        };
        for (i, size) in sizes.into_iter().enumerate() {
            let crosses = match level {
                _ if level < levels && i as u64 >= q => 2 * levels + 1 - level,
                _ => level + 1,
            };
            let circuits = divide(size, size / 2, q, Variant::AllPorts, Carries::Bundle);
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

/// r: the fewest levels that hold a quadrant (equation A.1).
fn levels(count: u64, q: u64) -> u32 {
    let holds = |levels: u32| {
        let power = |level: u32| (2 * q + 1).saturating_pow(level);
        (0..levels)
            .fold(0_u64, |sum, level| sum.saturating_add((2 * q).saturating_mul(power(level))))
            .saturating_add(q.saturating_mul(power(levels)))
    };
    (0..).find(|r| holds(*r) >= count).unwrap_or(0)
}

/// The cycles of a transposition: on each, node `place` changes places with `mirror` - `place`.
struct Cycles<'a> {
    torus: &'a Torus,
    mirror: Mirror,
    n: u64,
}

impl Cycles<'_> {
    /// The axis that numbers the nodes of a cycle.
    fn axis(&self) -> usize {
        match self.mirror {
            Mirror::One(axis) => axis,
            Mirror::Two { a, .. } => a,
        }
    }

    /// In the schedule's grid the second of two axes numbers the cycles: its real coordinate goes
    /// up, or down, along each.
    fn real(&self, logical: u64) -> u64 {
        let Mirror::Two { a, b, anti } = self.mirror else { return logical };
        let (x, cycle) = (self.torus.coordinate(logical, a), self.torus.coordinate(logical, b));
        self.torus.moved(
            logical,
            b,
            if anti { (cycle + x) % self.n } else { (cycle + self.n - x) % self.n },
        )
    }

    /// What a coordinate and its image's add up to, modulo n.
    fn sum(&self, logical: u64) -> u64 {
        match self.mirror {
            Mirror::One(_) => self.n - 1,
            Mirror::Two { b, anti, .. } => {
                let cycle = self.torus.coordinate(logical, b);
                if anti { (2 * self.n - 1 - cycle) % self.n } else { cycle }
            }
        }
    }

    /// Nodes passed from a place of a cycle to another, so many places on.
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
                // Up along the first axis first, down along it last: the same links, the other way.
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
    /// A node of the cycle.
    base: u64,
    /// The place of the quadrant's nearest node to the mirror.
    nearest: u64,
    /// Whether places go up from there.
    up: bool,
    /// Places from the nearest node to its image.
    gap: u64,
    groups: &'a [Group],
}

impl Side<'_> {
    fn node(&self, offset: i64) -> u64 {
        let n = self.cycles.n as i64;
        let place = self.nearest as i64 + if self.up { offset } else { -offset };
        self.cycles.torus.moved(self.base, self.cycles.axis(), place.rem_euclid(n) as u64)
    }

    /// The image of the node so far from the nearest is as far from the nearest's image, on the
    /// other side.
    fn image(&self, offset: u64) -> i64 {
        -(self.gap as i64) - offset as i64
    }

    /// All that a node holds, or of it the blocks of so many nodes from one on.
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

    /// All this quadrant's sends of a round.
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

/// The combined form of a 1- or 2-dimensional transposition.
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
    // With a node on the mirror there is one fewer on each side of it; the quadrants of a side
    // differ by one node where its number is odd.
    let halves = [n / 2, n / 2 - 1].map(|half| [half.div_ceil(2), half / 2]);
    let most = levels(halves[0][0], torus.q);
    let groups = halves.map(|counts| counts.map(|count| quadrant(count, torus.q, most)));
    let rounds = 2 * most as usize + 1;
    schedule.phase("collection, transposition and distribution combined")?;
    for round in 1..=rounds {
        schedule.step()?;
        for base in (0..nodes).filter(|node| torus.coordinate(*node, cycles.axis()) == 0) {
            let sum = cycles.sum(base);
            let on_node = sum.is_multiple_of(2);
            for far in [0, 1] {
                // The first node above the mirror, and above that half a cycle on.
                let above = (sum / 2 + 1 + far as u64 * n / 2) % n;
                let gap = if on_node { 2 } else { 1 };
                let groups = &groups[usize::from(on_node)][far];
                for (nearest, up) in [(above, true), ((above + n - gap) % n, false)] {
                    Side { cycles: &cycles, base, nearest, up, gap, groups }
                        .round(round, rounds, schedule)?;
                }
            }
        }
    }
    Ok(())
}

/// The one transposition that the permutation is.
fn only_mirror(torus: &Torus, affine: &Affine) -> Result<Mirror, Stop> {
    if torus.variant == Variant::OnePort {
        return Err(Stop::unsupported("`form=combined` is for all ports"));
    }
    let moved: Vec<usize> =
        torus.cycles.iter().copied().filter(|axis| affine.moves(*axis)).collect();
    let other =
        || Stop::unsupported("`form=combined` is for a single 1- or 2-dimensional transposition");
    if moved.iter().any(|axis| affine.terms[*axis].plus > 0 || affine.terms[*axis].sheared > 0) {
        return Err(other());
    }
    let place = |axis: usize| moved.iter().position(|a| *a == axis).ok_or_else(other);
    let signed = moved
        .iter()
        .map(|axis| Ok((place(affine.terms[*axis].axis)?, affine.terms[*axis].negated)));
    let mirrors =
        Mirrors::of(&signed.collect::<Result<Vec<_>, Stop>>()?).ok_or_else(other)?.on(&moved);
    let [round] = &mirrors.rounds[..] else { return Err(other()) };
    let [mirror] = round[..] else { return Err(other()) };
    super::even(torus.dims[mirror_axis(mirror)])?;
    Ok(mirror)
}

fn mirror_axis(mirror: Mirror) -> usize {
    match mirror {
        Mirror::One(axis) => axis,
        Mirror::Two { a, .. } => a,
    }
}
