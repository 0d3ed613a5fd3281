//! A rotation by 90 degrees on balanced cycles (section 4.4.2, formula 4.22): every section is
//! collected along its cycle, every collector's circuit leads to its image, a quarter of the cycle
//! forwards or three quarters backwards, in one round, and distribution is the collection of the
//! images, backwards.

use super::affine::Affine;
use crate::cost::{self, Cost};
use crate::torus::{Torus, Variant};
use crate::tree::{Carries, Circuit, bundle_costs, divide};
use swapmeet_balanced_rotation::{Ask, Section, Square, sections};
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

/// The two axes of a rotation: (x, y) to (y, -x) if x is the coordinate on the first, y on the
/// second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plane {
    first: usize,
    second: usize,
}

impl Plane {
    /// The node of the plane through `base` with these coordinates.
    fn node(self, torus: &Torus, base: u64, (x, y): (u64, u64)) -> u64 {
        torus.moved(torus.moved(base, self.first, x), self.second, y)
    }
}

/// The rotation, ready to run.
pub(super) struct Rotation {
    plane: Plane,
    rings: Vec<Square>,
    sections: Vec<Ready>,
}

/// A section, with its circuits as if to inform all from the collector: read backwards they
/// collect, forwards distribute.
struct Ready {
    section: Section,
    circuits: Vec<Vec<Circuit>>,
    /// Its first node's number in the schedule's grid, among those of its plane.
    first: u64,
}

impl Rotation {
    /// If the map is a rotation by 90 degrees of two axes and leaves all else.
    pub(super) fn of(torus: &Torus, map: &Affine) -> Option<Self> {
        let plane = plane(torus, map)?;
        let n = torus.dims[plane.first];
        let rings = Square::all(n);
        let mut first = 0;
        let ready = |section: Section| {
            let circuits = divide(
                section.places.len() as u64,
                section.at as u64,
                torus.q,
                torus.variant,
                Carries::Bundle,
            );
            let ready = Ready { first, circuits, section };
            first += ready.section.places.len() as u64;
            ready
        };
        let found =
            sections(&rings, Ask { n, q: torus.q, one_port: torus.variant == Variant::OnePort })?;
        let sections = found.into_iter().map(ready).collect();
        Some(Self { plane, rings, sections })
    }

    /// What it costs within q circuits a link.
    pub(super) fn cost(&self, torus: &Torus) -> Option<Cost> {
        let mut collection = vec![Cost::default(); self.collection_rounds()];
        for ready in &self.sections {
            let costs = bundle_costs(
                &ready.circuits,
                |member| ready.section.places[member as usize],
                |c| c.count as f64,
            );
            collection.iter_mut().zip(costs).for_each(|(all, own)| *all = all.beside(own));
        }
        let collection: Cost = collection.into_iter().sum();
        let crossing = |ready| {
            let placed = Placed { rotation: self, torus, base: 0, offset: 0, ready };
            let (from, to) = placed.crossing();
            (placed.node(from), placed.path(from, to), ready.section.places.len() as u64)
        };
        Some(collection * 2 + cost::round(torus, self.sections.iter().map(crossing))?)
    }

    fn collection_rounds(&self) -> usize {
        self.sections.iter().map(|ready| ready.circuits.len()).max().unwrap_or(0)
    }

    /// The schedule. The nodes of a section are neighbours in its grid, sections follow one
    /// another, planes too.
    pub(super) fn plan(
        &self,
        torus: &Torus,
        nodes: u64,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let Plane { first, second } = self.plane;
        let bases: Vec<u64> = (0..nodes)
            .filter(|node| {
                torus.coordinate(*node, first) == 0 && torus.coordinate(*node, second) == 0
            })
            .collect();
        let count = torus.dims[first] * torus.dims[second];
        schedule.layout(&[nodes], 1)?;
        let mut logical = vec![0; nodes as usize];
        for (i, base) in (0..).zip(&bases) {
            for ready in &self.sections {
                let ring = &self.rings[ready.section.ring];
                for (place, number) in ready.section.places.iter().zip(i * count + ready.first..) {
                    let node = self.plane.node(torus, *base, ring.cell(*place));
                    logical[node as usize] = number;
                    schedule.place(number, node, true)?;
                }
            }
        }
        let all = || {
            (0..).zip(&bases).flat_map(|(i, base)| {
                let on = move |ready| Placed {
                    rotation: self,
                    torus,
                    base: *base,
                    offset: i * count,
                    ready,
                };
                self.sections.iter().map(on)
            })
        };
        let last = self.collection_rounds();
        if last > 0 {
            schedule.phase("collection")?;
        }
        for from_last in (0..last).rev() {
            schedule.step()?;
            all().try_for_each(|placed| placed.collect(&logical, from_last, schedule))?;
        }
        schedule.phase("permutation")?;
        schedule.step()?;
        all().try_for_each(|placed| placed.cross(&logical, schedule))?;
        if last > 0 {
            schedule.phase("distribution")?;
        }
        for from_last in 0..last {
            schedule.step()?;
            all().try_for_each(|placed| placed.distribute(&logical, from_last, schedule))?;
        }
        Ok(())
    }
}

/// A section of one plane.
struct Placed<'a> {
    rotation: &'a Rotation,
    torus: &'a Torus,
    /// The plane's node (0, 0).
    base: u64,
    /// The number of its first node in the schedule's grid.
    offset: u64,
    ready: &'a Ready,
}

impl Placed<'_> {
    fn ring(&self) -> &Square {
        &self.rotation.rings[self.ready.section.ring]
    }

    fn node(&self, place: i64) -> u64 {
        self.rotation.plane.node(self.torus, self.base, self.ring().cell(place))
    }

    fn place(&self, member: u64) -> i64 {
        self.ready.section.places[member as usize]
    }

    /// How far on along the cycle the images are: forwards or, beyond the origin, backwards the
    /// same place.
    fn quarter(&self) -> i64 {
        self.ring().side as i64
    }

    /// The nodes passed along the cycle.
    fn path(&self, from: i64, to: i64) -> Vec<u64> {
        let step = (to - from).signum();
        (1..=(to - from).abs()).map(|i| self.node(from + i * step)).collect()
    }

    /// The places of the collector and of its image.
    fn crossing(&self) -> (i64, i64) {
        let at = self.place(self.ready.section.at as u64);
        (at, at + if self.ready.section.forward { self.quarter() } else { -3 * self.quarter() })
    }

    /// What a node holds, or of it the blocks of these members, along the cycle to another place.
    fn send(
        &self,
        logical: &[u64],
        (from, to): (i64, i64),
        members: Option<&Circuit>,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let path = self.path(from, to);
        let route = Route::path(&path);
        let number = |place| logical[self.node(place) as usize];
        let send = Blocks::new(number(from), number(to)).route(&route);
        let Some(circuit) = members else { return schedule.send(&send) };
        let origins = [Axis::range(self.offset + self.ready.first + circuit.first, circuit.count)];
        schedule.send(&send.origins(Set::product(&origins)))
    }

    fn circuits(&self, from_last: usize) -> &[Circuit] {
        self.ready.circuits.get(from_last).map_or(&[], |circuits| circuits)
    }

    fn collect(
        &self,
        logical: &[u64],
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        self.circuits(from_last).iter().try_for_each(|circuit| {
            self.send(logical, (self.place(circuit.to), self.place(circuit.from)), None, schedule)
        })
    }

    fn cross(&self, logical: &[u64], schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        self.send(logical, self.crossing(), None, schedule)
    }

    fn distribute(
        &self,
        logical: &[u64],
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let image = |member| self.place(member) + self.quarter();
        self.circuits(from_last).iter().try_for_each(|circuit| {
            self.send(logical, (image(circuit.from), image(circuit.to)), Some(circuit), schedule)
        })
    }
}

/// The plane that is rotated.
fn plane(torus: &Torus, map: &Affine) -> Option<Plane> {
    let moved: Vec<usize> = torus.cycles.iter().copied().filter(|axis| map.moves(*axis)).collect();
    let &[a, b] = &moved[..] else { return None };
    let (to_a, to_b) = (map.terms[a], map.terms[b]);
    let plain = [to_a, to_b].iter().all(|term| term.plus == 0 && term.sheared == 0);
    if !plain || to_a.axis != b || to_b.axis != a || torus.dims[a] % 2 == 1 {
        return None;
    }
    match (to_a.negated, to_b.negated) {
        (false, true) => Some(Plane { first: a, second: b }),
        (true, false) => Some(Plane { first: b, second: a }),
        (false, false) | (true, true) => None,
    }
}
