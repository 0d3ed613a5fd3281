//! A rotation by 90 degrees along balanced cycles (section 4.4.2, formula 4.22). The data of each
//! section of a cycle is collected in its collector. A circuit leads along the cycle from each
//! collector to its image: a quarter of the cycle forwards or three quarters backwards. In the
//! distribution, the image of each collector sends the data to the images of the section's nodes,
//! over the circuits of the collection in reverse.

use super::affine::Affine;
use crate::cost::{self, Cost};
use crate::torus::{Torus, Variant};
use crate::tree::{Circuit, Payload, bundle_costs, divide};
use swapmeet_balanced_rotation::{Parameters, Section, Square, sections};
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plane {
    first: usize,
    second: usize,
}

impl Plane {
    fn node(self, torus: &Torus, base: u64, (x, y): (u64, u64)) -> u64 {
        torus.moved(torus.moved(base, self.first, x), self.second, y)
    }
}

pub(super) struct Rotation {
    plane: Plane,
    squares: Vec<Square>,
    sections: Vec<PreparedSection>,
}

/// A section, and for each round the circuits that start at its collector, in the order of the
/// distribution.
struct PreparedSection {
    section: Section,
    circuits: Vec<Vec<Circuit>>,
    /// The number of the section's first node in its plane. The grid numbers the nodes of a plane
    /// section by section.
    first: u64,
}

impl Rotation {
    /// Returns `None` unless the map rotates two axes by 90 degrees and keeps the others.
    pub(super) fn new(torus: &Torus, map: &Affine) -> Option<Self> {
        let plane = plane(torus, map)?;
        let n = torus.dims[plane.first];
        let squares = Square::all(n);
        let mut first = 0;
        let prepared = |section: Section| {
            let circuits = divide(
                section.positions.len() as u64,
                section.collector as u64,
                torus.q,
                torus.variant,
                Payload::Bundle,
            );
            let prepared = PreparedSection { first, circuits, section };
            first += prepared.section.positions.len() as u64;
            prepared
        };
        let found = sections(
            &squares,
            Parameters { n, q: torus.q, one_port: torus.variant == Variant::OnePort },
        )?;
        let sections = found.into_iter().map(prepared).collect();
        Some(Self { plane, squares, sections })
    }

    pub(super) fn cost(&self, torus: &Torus) -> Option<Cost> {
        let mut collection = vec![Cost::default(); self.collection_rounds()];
        for prepared in &self.sections {
            let costs = bundle_costs(
                &prepared.circuits,
                |member| prepared.section.positions[member as usize],
                |c| c.count as f64,
            );
            collection.iter_mut().zip(costs).for_each(|(all, own)| *all = all.parallel(own));
        }
        let collection: Cost = collection.into_iter().sum();
        let crossing = |prepared| {
            let placed = PlacedSection { rotation: self, torus, base: 0, offset: 0, prepared };
            let (from, to) = placed.crossing();
            (placed.node(from), placed.path(from, to), prepared.section.positions.len() as u64)
        };
        Some(collection * 2 + cost::round(torus, self.sections.iter().map(crossing))?)
    }

    fn collection_rounds(&self) -> usize {
        self.sections.iter().map(|prepared| prepared.circuits.len()).max().unwrap_or(0)
    }

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
            for prepared in &self.sections {
                let square = &self.squares[prepared.section.square];
                for (position, number) in
                    prepared.section.positions.iter().zip(i * count + prepared.first..)
                {
                    let node = self.plane.node(torus, *base, square.node(*position));
                    logical[node as usize] = number;
                    schedule.place(number, node, true)?;
                }
            }
        }
        let all = || {
            (0..).zip(&bases).flat_map(|(i, base)| {
                let on = move |prepared| PlacedSection {
                    rotation: self,
                    torus,
                    base: *base,
                    offset: i * count,
                    prepared,
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

struct PlacedSection<'a> {
    rotation: &'a Rotation,
    torus: &'a Torus,
    base: u64,
    offset: u64,
    prepared: &'a PreparedSection,
}

impl PlacedSection<'_> {
    fn square(&self) -> &Square {
        &self.rotation.squares[self.prepared.section.square]
    }

    fn node(&self, position: i64) -> u64 {
        self.rotation.plane.node(self.torus, self.base, self.square().node(position))
    }

    fn position(&self, member: u64) -> i64 {
        self.prepared.section.positions[member as usize]
    }

    fn quarter(&self) -> i64 {
        self.square().side as i64
    }

    fn path(&self, from: i64, to: i64) -> Vec<u64> {
        let step = (to - from).signum();
        (1..=(to - from).abs()).map(|i| self.node(from + i * step)).collect()
    }

    /// Returns the positions of the collector and its image. If the circuit leads backwards, the
    /// length of the cycle is subtracted from the position of the image.
    fn crossing(&self) -> (i64, i64) {
        let at = self.position(self.prepared.section.collector as u64);
        (at, at + if self.prepared.section.forward { self.quarter() } else { -3 * self.quarter() })
    }

    fn send(
        &self,
        logical: &[u64],
        (from, to): (i64, i64),
        members: Option<&Circuit>,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let path = self.path(from, to);
        let route = Route::path(&path);
        let number = |position| logical[self.node(position) as usize];
        let send = Blocks::new(number(from), number(to)).route(&route);
        let Some(circuit) = members else { return schedule.send(&send) };
        let origins =
            [Axis::range(self.offset + self.prepared.first + circuit.first, circuit.count)];
        schedule.send(&send.origins(Set::product(&origins)))
    }

    fn circuits(&self, from_last: usize) -> &[Circuit] {
        self.prepared.circuits.get(from_last).map_or(&[], |circuits| circuits)
    }

    fn collect(
        &self,
        logical: &[u64],
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        self.circuits(from_last).iter().try_for_each(|circuit| {
            self.send(
                logical,
                (self.position(circuit.to), self.position(circuit.from)),
                None,
                schedule,
            )
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
        let image = |member| self.position(member) + self.quarter();
        self.circuits(from_last).iter().try_for_each(|circuit| {
            self.send(logical, (image(circuit.from), image(circuit.to)), Some(circuit), schedule)
        })
    }
}

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
