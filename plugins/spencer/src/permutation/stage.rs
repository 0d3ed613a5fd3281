//! Collection, the permutation, distribution (sections 4.1 to 4.5) on axes of one size.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `axes.len()` | dimensions that are permuted |
//! | n | | nodes of a cycle |
//! | M | | adjacent diagonals that share a link: n/4 in a transposition |
//!
//! Nodes whose coordinates have the same sum, each with the sign its axis has, are a diagonal (in three dimensions a plane). Adjacent diagonals are collected into one of
//! them, a d-th of each message along each dimension; with one port all of it along the first. The collectors' circuits then do the permutation in a round or two. As
//! neighbours stay neighbours, distribution is the collection of the images, backwards.

use super::affine::Affine;
use super::mirrors::{Mirror, Mirrors};
use super::sections::{Collectors, Sections};
use super::shift::{Directions, Row, Task};
use crate::torus::{Torus, Variant};
use crate::tree::Circuit;
use swapmeet_sdk::{Axis, Route, Schedule, Send, Set, Stop};

/// What the collectors do.
pub(super) enum Middle {
    /// Rounds of transpositions.
    Mirrors(Vec<Vec<Mirror>>),
    /// Every row its journeys.
    Shift,
}

/// A permutation of some axes, ready to run.
pub(super) struct Stage {
    /// Those that are permuted.
    pub axes: Vec<usize>,
    /// What a coordinate on each counts in the number of a diagonal: 1 or -1.
    pub signs: Vec<i64>,
    /// Along how many of them messages are collected, a part along each: all, or with one port the first.
    pub lanes: usize,
    /// How a row is divided; in a shear one for each coordinate on the second axis.
    pub rows: Vec<Row>,
    pub middle: Middle,
    /// Where each node's block goes.
    pub map: Affine,
}

impl Stage {
    /// A permutation of axes of one size, with signs.
    pub fn of_mirrors(torus: &Torus, axes: &[usize], map: &Affine) -> Result<Self, Stop> {
        let local = |axis: usize| axes.iter().position(|a| *a == axis).unwrap_or(0);
        let signed: Vec<(usize, bool)> =
            axes.iter().map(|axis| (local(map.terms[*axis].axis), map.terms[*axis].negated)).collect();
        let mirrors = Mirrors::of(&signed).ok_or_else(|| {
            Stop::unsupported(format!(
                "exchanges axes among {} at once, which is more than it looks through",
                axes.len()
            ))
        })?;
        let Mirrors { rounds, signs } = mirrors.on(axes);
        let (n, q) = (torus.dims[axes[0]], torus.q);
        // A mirror is passed by a quarter of a cycle: with more than 4q sections never by as few as q. Fewer never take fewer rounds to collect.
        for count in (1..=n.min(4 * q)).rev() {
            for collectors in [Collectors::Middle, Collectors::Alternating] {
                let stage = Self {
                    axes: axes.to_vec(),
                    signs: signs.clone(),
                    lanes: lanes(torus, axes),
                    rows: vec![Row {
                        sections: Sections::new(n, count, q, torus.variant, collectors),
                        journeys: Vec::new(),
                    }],
                    middle: Middle::Mirrors(rounds.clone()),
                    map: map.clone(),
                };
                if stage.busiest(torus).iter().all(|load| *load <= q) {
                    return Ok(stage);
                }
            }
        }
        Err(Stop::failed(format!("finds no way to collect {n} nodes for {q} circuits a link")))
    }

    /// A translation by these distances along axes of one size.
    pub fn of_translation(torus: &Torus, axes: &[usize], map: Affine, directions: Directions) -> Self {
        let by: Vec<u64> = axes.iter().map(|axis| map.terms[*axis].plus).collect();
        let task = Task { n: torus.dims[axes[0]], q: torus.q, variant: torus.variant, by: &by, directions };
        Self {
            axes: axes.to_vec(),
            signs: vec![1; axes.len()],
            lanes: lanes(torus, axes),
            rows: vec![task.row(1)],
            middle: Middle::Shift,
            map,
        }
    }

    /// A shear along the first axis.
    pub fn of_shear(torus: &Torus, map: &Affine, directions: Directions) -> Self {
        let n = torus.dims[0];
        let rows = |middles| {
            let row = |y: u64| {
                let by = [map.terms[0].sheared * (y % n) % n];
                Task { n, q: torus.q, variant: torus.variant, by: &by, directions }.row(middles)
            };
            let rows: Vec<Row> = (0..torus.dims[1]).map(row).collect();
            Self { axes: vec![0], signs: vec![1], lanes: 1, rows, middle: Middle::Shift, map: map.clone() }
        };
        let (one, two) = (rows(1), rows(2));
        if two.least_rounds() < one.least_rounds() { two } else { one }
    }

    /// Rounds if no round of circuits has to be run in turns.
    pub fn least_rounds(&self) -> u64 {
        2 * self.collection_rounds() as u64 + self.middle_rounds() as u64
    }

    fn collection_rounds(&self) -> usize {
        self.rows.iter().map(|row| row.sections.rounds).max().unwrap_or(0)
    }

    fn middle_rounds(&self) -> usize {
        match &self.middle {
            Middle::Mirrors(rounds) => rounds.len(),
            Middle::Shift => {
                let journeys = self.rows.iter().flat_map(|row| &row.journeys);
                journeys.map(|journey| journey.round + 1).max().unwrap_or(0)
            }
        }
    }

    /// The row a node is in, and its diagonal.
    fn place(&self, torus: &Torus, node: u64) -> (&Row, u64) {
        let row = if self.rows.len() == 1 { 0 } else { torus.coordinate(node, 1) };
        let n = torus.dims[self.axes[0]] as i64;
        let signed = self.axes.iter().zip(&self.signs);
        let sum: i64 = signed.map(|(axis, sign)| sign * torus.coordinate(node, *axis) as i64).sum();
        (&self.rows[row as usize], sum.rem_euclid(n) as u64)
    }

    /// Where the collector `node`, whose block began at `origin`, sends in a middle round, and past which nodes; the last is the receiver. Nowhere: it stays.
    fn path(&self, torus: &Torus, round: usize, origin: u64, node: u64) -> Vec<u64> {
        let mut path = Vec::new();
        match &self.middle {
            Middle::Mirrors(rounds) => {
                let walk = |at, mirror: &Mirror| mirror.walk(torus, at, |node| path.push(node));
                rounds[round].iter().fold(node, walk);
            }
            Middle::Shift => {
                let (row, diagonal) = self.place(torus, origin);
                let journey = row.sections.collected_by(diagonal).and_then(|i| row.journeys.get(i));
                let Some(journey) = journey.filter(|journey| journey.round == round) else { return path };
                let mut at = node;
                for (&axis, by) in self.axes.iter().zip(&journey.by) {
                    let n = torus.dims[axis];
                    for _ in 0..by.unsigned_abs() {
                        let x = torus.coordinate(at, axis);
                        at = torus.moved(at, axis, if *by > 0 { (x + 1) % n } else { (x + n - 1) % n });
                        path.push(at);
                    }
                }
            }
        }
        path
    }

    /// The most circuits on a directed link, in each middle round.
    fn busiest(&self, torus: &Torus) -> Vec<u64> {
        let mut at: Vec<(u64, u64)> =
            torus.span(0, &self.axes).into_iter().filter(|v| self.collects(torus, *v)).map(|v| (v, v)).collect();
        let width = 2 * torus.dims.len();
        let mut loads = vec![0_u32; torus.dims.iter().product::<u64>() as usize * width];
        let round = |round| {
            loads.fill(0);
            for (origin, node) in &mut at {
                for next in self.path(torus, round, *origin, *node) {
                    loads[*node as usize * width + link(torus, *node, next)] += 1;
                    *node = next;
                }
            }
            loads.iter().copied().max().unwrap_or(0).into()
        };
        (0..self.middle_rounds()).map(round).collect()
    }

    fn collects(&self, torus: &Torus, node: u64) -> bool {
        let (row, diagonal) = self.place(torus, node);
        row.sections.collected_by(diagonal).is_some()
    }

    /// The schedule. Of each block there are `parts`; `earlier` is what has been done to it.
    pub fn plan(
        &self,
        torus: &Torus,
        parts: u32,
        earlier: &[Self],
        nodes: u64,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let names: Vec<String> = self.axes.iter().map(usize::to_string).collect();
        let names = format!("dimension{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "));
        let last = self.collection_rounds();
        if last > 0 {
            schedule.phase(&format!("collection, {names}"))?;
        }
        for from_last in (0..last).rev() {
            schedule.step()?;
            for node in 0..nodes {
                self.collect(torus, parts, node, from_last, schedule)?;
            }
        }
        schedule.phase(&format!("permutation, {names}"))?;
        let collectors = (0..nodes).filter(|node| self.collects(torus, *node));
        let mut at: Vec<(u64, u64)> = collectors.map(|node| (node, node)).collect();
        for round in 0..self.middle_rounds() {
            schedule.step()?;
            for (origin, node) in &mut at {
                let path = self.path(torus, round, *origin, *node);
                let Some(to) = path.last().filter(|to| *to != node) else { continue };
                let (route, section) = (Route::path(&path), self.section(torus, *origin));
                let send = Send::new(*node, *to).route(&route);
                schedule.send(&match &section {
                    Some(origins) => send.origins(Set::product(origins)),
                    None => send,
                })?;
                *node = *to;
            }
        }
        if last > 0 {
            schedule.phase(&format!("distribution, {names}"))?;
        }
        for from_last in 0..last {
            schedule.step()?;
            for node in 0..nodes {
                self.distribute(torus, parts, earlier, node, from_last, schedule)?;
            }
        }
        Ok(())
    }

    /// What a collector has collected, where that isn't all it holds: in a row that takes two middle rounds, what came in the first may lie where something waits for the
    /// second.
    fn section(&self, torus: &Torus, collector: u64) -> Option<Vec<Axis<'static>>> {
        if !matches!(self.middle, Middle::Shift) || self.middle_rounds() == 1 {
            return None;
        }
        let (row, diagonal) = self.place(torus, collector);
        let (first, count) = row.sections.nodes(row.sections.collected_by(diagonal)?);
        let coordinates = 0..torus.dims.len();
        let mut origins: Vec<_> = coordinates.map(|axis| Axis::one(torus.coordinate(collector, axis) as u32)).collect();
        origins[self.axes[0]] = Axis::range(first as u32, count as u32);
        Some(origins)
    }

    /// The parts of a block that go along an axis.
    fn lane(&self, parts: u32, lane: usize) -> Axis<'static> {
        let each = parts / self.lanes as u32;
        Axis::range(lane as u32 * each, each)
    }

    /// The node that is so many diagonals on, along the axis of a lane.
    fn along(&self, torus: &Torus, node: u64, lane: usize, diagonals: i64) -> u64 {
        let axis = self.axes[lane];
        let x = torus.coordinate(node, axis) as i64 + self.signs[lane] * diagonals;
        torus.moved(node, axis, x.rem_euclid(torus.dims[axis] as i64) as u64)
    }

    /// The circuit that a node has in a round counted from the last, and how many diagonals on the collector lies.
    fn circuit(&self, torus: &Torus, node: u64, from_last: usize) -> Option<(Circuit, i64)> {
        let (row, diagonal) = self.place(torus, node);
        let circuit = row.sections.circuit(diagonal, from_last)?;
        Some((circuit, circuit.from as i64 - circuit.to as i64))
    }

    /// What a node gives to the one that collects it in this round, counted from the last.
    fn collect(
        &self,
        torus: &Torus,
        parts: u32,
        node: u64,
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let Some((_, by)) = self.circuit(torus, node, from_last) else { return Ok(()) };
        for lane in 0..self.lanes {
            let signs = torus.along(self.axes[lane], by * self.signs[lane] > 0);
            let to = self.along(torus, node, lane, by);
            schedule.send(&Send::new(node, to).segments(self.lane(parts, lane)).route(&Route::signs(&signs)))?;
        }
        Ok(())
    }

    /// What the image of a node is given by the image of the one that collected it: all that the node had collected itself.
    fn distribute(
        &self,
        torus: &Torus,
        parts: u32,
        earlier: &[Self],
        node: u64,
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let Some((circuit, by)) = self.circuit(torus, node, from_last) else { return Ok(()) };
        for lane in 0..self.lanes {
            let (axis, turned) = self.map.axis_of_image(self.axes[lane]);
            let ascends = (self.signs[lane] > 0) != turned;
            let signs = torus.along(axis, (by > 0) != ascends);
            let from = self.map.image(torus, self.along(torus, node, lane, by));
            // What it had collected came from neighbours along its own axis, which nothing earlier has touched.
            let first = circuit.first as i64 - circuit.to as i64;
            let lowest = if self.signs[lane] > 0 { first } else { first + circuit.count as i64 - 1 };
            let lowest = self.along(torus, node, lane, lowest);
            let lowest = earlier.iter().rev().fold(lowest, |at, stage| stage.map.origin(torus, at));
            let mut origins: Vec<Axis<'_>> =
                (0..torus.dims.len()).map(|axis| Axis::one(torus.coordinate(lowest, axis) as u32)).collect();
            let own = self.axes[lane];
            origins[own] = Axis::range(torus.coordinate(lowest, own) as u32, circuit.count as u32);
            let send = Send::new(from, self.map.image(torus, node)).segments(self.lane(parts, lane));
            schedule.send(&send.origins(Set::product(&origins)).route(&Route::signs(&signs)))?;
        }
        Ok(())
    }
}

/// The link from a node to its neighbour, among those of the node.
fn link(torus: &Torus, node: u64, next: u64) -> usize {
    let differs = |axis: &usize| torus.coordinate(node, *axis) != torus.coordinate(next, *axis);
    let axis = (0..torus.dims.len()).find(differs).unwrap_or(0);
    let (n, x, y) = (torus.dims[axis], torus.coordinate(node, axis), torus.coordinate(next, axis));
    2 * axis + usize::from((x + 1) % n == y)
}

fn lanes(torus: &Torus, axes: &[usize]) -> usize {
    if torus.variant == Variant::OnePort { 1 } else { axes.len() }
}
