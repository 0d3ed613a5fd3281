//! A stage: collection, permutation and distribution on axes of equal size (sections 4.1 to 4.5).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `axes.len()` | number of permuted dimensions |
//! | M | | number of adjacent diagonals whose data uses the same link: n/4 in a transposition |
//!
//! The data of several adjacent diagonals (nodes with the same sum of signed coordinates) is
//! collected in the nodes of one of them, the collectors. With all ports, each message is split
//! into d segments, one for each dimension of the collection. With one port, whole messages are
//! collected along the first dimension. Then a circuit leads from each collector to its image (the
//! destination of the collector's own block), in one or two rounds. Images of neighbours along a permuted
//! dimension are neighbours, so the distribution can use the images of the collection's circuits.

use super::affine::Affine;
use super::lcm;
use super::mirrors::{Mirror, Mirrors};
use super::sections::{CollectionCircuit, Collectors, Sections};
use super::shift::{Directions, Row, ShiftProblem};
use crate::cost::{self, Cost, MachineTimes};
use crate::torus::{Torus, Variant};
use swapmeet_sdk::{Axis, Blocks, Planned, Route, Schedule, Set, Stop};

pub(super) enum Middle {
    Mirrors(Vec<Vec<Mirror>>),
    /// Nothing is collected: each node sends its own block. In each round, q nodes of each quadrant
    /// of a cycle send (Fraigniaud and Peters).
    Direct(Mirror),
    Shift,
}

pub(super) struct Stage {
    pub axes: Vec<usize>,
    /// The sign (1 or -1) of each permuted axis in the sum that numbers the diagonals.
    pub signs: Vec<i64>,
    /// The number of segments of a message, each of which is collected along a different axis. With
    /// one port, there is one segment.
    pub lanes: usize,
    /// One row or, in a shear, a row for each coordinate on the second axis.
    pub rows: Vec<Row>,
    pub middle: Middle,
    pub map: Affine,
}

impl Stage {
    /// Returns the cheapest known stage. The two rounds of a permutation can be joined to one if no
    /// link then carries more than q circuits. A stage with fewer collectors than q allows may be
    /// cheaper, because fewer circuits share links.
    pub(super) fn of_mirrors(
        torus: &Torus,
        axes: &[usize],
        map: &Affine,
        times: MachineTimes,
    ) -> Result<Self, Stop> {
        let (mirrors, n, q) = (mirrors(axes, map)?, torus.dims[axes[0]], torus.q);
        let joined = (mirrors.rounds.len() > 1).then(|| vec![mirrors.rounds.concat()]);
        let candidates: Vec<Vec<Vec<Mirror>>> =
            std::iter::once(mirrors.rounds).chain(joined).collect();
        let mut best: Option<(Self, Cost)> = None;
        // The circuits of all collectors in a quarter of the cycle cross the same mirror in the
        // same direction. With more than 4q sections, a link would therefore carry more than q
        // circuits.
        for count in (1..=n.min(4 * q)).rev() {
            for (rounds, collectors) in candidates
                .iter()
                .flat_map(|rounds| Collectors::ALL.map(|collectors| (rounds, collectors)))
            {
                let sections = Sections::new(n, count, q, torus.variant, collectors);
                let stage = Self::of_sections(
                    torus,
                    axes,
                    map,
                    &mirrors.signs,
                    sections,
                    Middle::Mirrors(rounds.clone()),
                );
                // Skip a stage whose start-ups, collection and distribution alone cost as much as
                // the best.
                let least = Cost { rounds: rounds.len() as u64, ..Cost::default() }
                    + stage.collection() * 2;
                let so_far = best.as_ref().map(|(_, cost)| *cost);
                if !times.prefer(Some(least), so_far) {
                    continue;
                }
                if let Some(cost) =
                    stage.cost(torus).filter(|cost| times.prefer(Some(*cost), so_far))
                {
                    best = Some((stage, cost));
                }
            }
        }
        let none =
            || Stop::failed(format!("cannot collect {n} nodes within {q} circuits on a link"));
        best.map(|(stage, _)| stage).ok_or_else(none)
    }

    /// Returns the stage without collection, or `None` if the map is not a single transposition.
    pub(super) fn direct(
        torus: &Torus,
        axes: &[usize],
        map: &Affine,
    ) -> Result<Option<Self>, Stop> {
        let mirrors = mirrors(axes, map)?;
        let [round] = &mirrors.rounds[..] else { return Ok(None) };
        let [mirror] = round[..] else { return Ok(None) };
        let n = torus.dims[axes[0]];
        let sections = Sections::new(n, n, torus.q, torus.variant, Collectors::Earlier);
        Ok(Some(Self::of_sections(
            torus,
            axes,
            map,
            &mirrors.signs,
            sections,
            Middle::Direct(mirror),
        )))
    }

    fn of_sections(
        torus: &Torus,
        axes: &[usize],
        map: &Affine,
        signs: &[i64],
        sections: Sections,
        middle: Middle,
    ) -> Self {
        let rows = vec![Row { sections, movements: Vec::new() }];
        Self {
            axes: axes.to_vec(),
            signs: signs.to_vec(),
            lanes: lanes(torus, axes),
            rows,
            middle,
            map: map.clone(),
        }
    }

    pub(super) fn of_translation(
        torus: &Torus,
        axes: &[usize],
        map: Affine,
        directions: Directions,
    ) -> Self {
        let by: Vec<u64> = axes.iter().map(|axis| map.terms[*axis].plus).collect();
        let task = ShiftProblem {
            n: torus.dims[axes[0]],
            q: torus.q,
            variant: torus.variant,
            by: &by,
            directions,
        };
        Self {
            axes: axes.to_vec(),
            signs: vec![1; axes.len()],
            lanes: lanes(torus, axes),
            rows: vec![task.row(1)],
            middle: Middle::Shift,
            map,
        }
    }

    pub(super) fn of_shear(torus: &Torus, map: &Affine, directions: Directions) -> Self {
        let n = torus.dims[0];
        let rows = |middles| {
            let row = |y: u64| {
                let by = [map.terms[0].sheared * (y % n) % n];
                ShiftProblem { n, q: torus.q, variant: torus.variant, by: &by, directions }
                    .row(middles)
            };
            let rows: Vec<Row> = (0..torus.dims[1]).map(row).collect();
            Self {
                axes: vec![0],
                signs: vec![1],
                lanes: 1,
                rows,
                middle: Middle::Shift,
                map: map.clone(),
            }
        };
        let (one, two) = (rows(1), rows(2));
        if two.least_rounds(torus) < one.least_rounds(torus) { two } else { one }
    }

    /// Returns the period of an axis: shifts along the axis by multiples of the period are
    /// symmetries.
    /// * For an axis that is not permuted, it is 1, or n if the axis distinguishes the rows of a
    ///   shear.
    /// * For a translation or shear, it is the period of the rows, because a shift also moves the
    ///   diagonals.
    /// * For mirrors, it is n, because their positions are fixed.
    pub(super) fn period(&self, torus: &Torus, axis: usize) -> u64 {
        let n = torus.dims[axis];
        match self.middle {
            _ if !self.axes.contains(&axis) => {
                let tells_rows_apart = axis == 1 && self.rows.len() > 1;
                if tells_rows_apart { n } else { 1 }
            }
            Middle::Mirrors(_) | Middle::Direct(_) => n,
            Middle::Shift => self.rows.iter().fold(1, |period, row| lcm(period, row.period(n))),
        }
    }

    pub(super) fn least_rounds(&self, torus: &Torus) -> u64 {
        2 * self.collection_rounds() as u64 + self.middle_rounds(torus) as u64
    }

    fn collection_rounds(&self) -> usize {
        self.rows.iter().map(|row| row.sections.rounds()).max().unwrap_or(0)
    }

    fn middle_rounds(&self, torus: &Torus) -> usize {
        match &self.middle {
            Middle::Mirrors(rounds) => rounds.len(),
            Middle::Direct(mirror) => {
                let rounds = torus
                    .span(0, &self.axes)
                    .into_iter()
                    .filter_map(|node| mirror.direct_round(torus, node));
                rounds.max().map_or(0, |last| last as usize + 1)
            }
            Middle::Shift => {
                let movements = self.rows.iter().flat_map(|row| &row.movements);
                movements.map(|movement| movement.round + 1).max().unwrap_or(0)
            }
        }
    }

    fn place(&self, torus: &Torus, node: u64) -> (&Row, u64) {
        let row = if self.rows.len() == 1 { 0 } else { torus.coordinate(node, 1) };
        let n = torus.dims[self.axes[0]] as i64;
        let signed = self.axes.iter().zip(&self.signs);
        let sum: i64 = signed.map(|(axis, sign)| sign * torus.coordinate(node, *axis) as i64).sum();
        (&self.rows[row as usize], sum.rem_euclid(n) as u64)
    }

    /// Returns the path from `node` along which a round moves the data of the collector `origin`.
    /// The path is empty if the data stays.
    fn path(&self, torus: &Torus, round: usize, origin: u64, node: u64) -> Vec<u64> {
        let mut path = Vec::new();
        match &self.middle {
            Middle::Mirrors(rounds) => {
                let (row, diagonal) = self.place(torus, origin);
                let section = row.sections.collected_by(diagonal).unwrap_or(0);
                let walk = |at, mirror: &Mirror| {
                    mirror.walk(
                        torus,
                        at,
                        mirror.uses_other_staircase(torus, at, section),
                        |node| path.push(node),
                    )
                };
                rounds[round].iter().fold(node, walk);
            }
            Middle::Direct(mirror) => {
                if mirror.direct_round(torus, origin) == Some(round as u64) {
                    mirror.walk(torus, node, false, |node| path.push(node));
                }
            }
            Middle::Shift => {
                let (row, diagonal) = self.place(torus, origin);
                let movement =
                    row.sections.collected_by(diagonal).and_then(|i| row.movements.get(i));
                let Some(movement) = movement.filter(|movement| movement.round == round) else {
                    return path;
                };
                let mut at = node;
                for (&axis, by) in self.axes.iter().zip(&movement.by) {
                    for _ in 0..by.unsigned_abs() {
                        at = torus.neighbour(at, axis, *by > 0);
                        path.push(at);
                    }
                }
            }
        }
        path
    }

    fn collection(&self) -> Cost {
        let mut cost: Cost = self.rows[0].sections.costs.iter().copied().sum();
        cost.blocks /= self.lanes as f64;
        cost
    }

    pub(super) fn cost(&self, torus: &Torus) -> Option<Cost> {
        let sections = &self.rows[0].sections;
        let mut at: Vec<(u64, u64)> = torus
            .span(0, &self.axes)
            .into_iter()
            .filter(|v| self.collects(torus, *v))
            .map(|v| (v, v))
            .collect();
        let mut cost = self.collection() * 2;
        for number in 0..self.middle_rounds(torus) {
            let circuits = at.iter_mut().map(|(origin, node)| {
                let (from, path) = (*node, self.path(torus, number, *origin, *node));
                *node = path.last().copied().unwrap_or(from);
                let section = sections.collected_by(self.place(torus, *origin).1);
                (from, path, section.map_or(0, |section| sections.nodes(section).1))
            });
            cost = cost + cost::round(torus, circuits)?;
        }
        Some(cost)
    }

    fn collects(&self, torus: &Torus, node: u64) -> bool {
        let (row, diagonal) = self.place(torus, node);
        row.sections.collected_by(diagonal).is_some()
    }
}

fn mirrors(axes: &[usize], map: &Affine) -> Result<Mirrors, Stop> {
    let local = |axis: usize| axes.iter().position(|a| *a == axis).unwrap_or(0);
    let signed: Vec<(usize, bool)> =
        axes.iter().map(|axis| (local(map.terms[*axis].axis), map.terms[*axis].negated)).collect();
    let mirrors = Mirrors::compose(&signed).ok_or_else(|| {
        let many = axes.len();
        Stop::unsupported(format!(
            "permutes {many} axes of the same size, which is more than the search supports"
        ))
    })?;
    Ok(mirrors.on(axes))
}

fn lanes(torus: &Torus, axes: &[usize]) -> usize {
    if torus.variant == Variant::OnePort { 1 } else { axes.len() }
}

impl Stage {
    /// Adds the stage to the schedule. The stages in `earlier` come before it. A block has `parts`
    /// segments.
    pub(super) fn plan(
        &self,
        torus: &Torus,
        parts: u32,
        earlier: &[Self],
        planned: &Planned,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let nodes = torus.nodes();
        let names: Vec<String> = self.axes.iter().map(usize::to_string).collect();
        let names =
            format!("dimension{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "));
        let last = self.collection_rounds();
        if last > 0 {
            schedule.phase(&format!("collection, {names}"))?;
        }
        for from_last in (0..last).rev() {
            schedule.step()?;
            for node in planned {
                self.collect(torus, parts, node, from_last, schedule)?;
            }
        }
        schedule.phase(&format!("permutation, {names}"))?;
        let collectors = (0..nodes).filter(|node| self.collects(torus, *node));
        let mut at: Vec<(u64, u64)> = collectors.map(|node| (node, node)).collect();
        for round in 0..self.middle_rounds(torus) {
            schedule.step()?;
            at.sort_by_key(|(_, node)| *node);
            for (origin, node) in &mut at {
                let path = self.path(torus, round, *origin, *node);
                let Some(to) = path.last().filter(|to| *to != node) else { continue };
                if planned.contains(*node) {
                    let (route, section) =
                        (Route::path(&path), self.section(torus, earlier, *origin));
                    let send = Blocks::new(*node, *to).route(&route);
                    schedule.send(&match &section {
                        Some(origins) => send.origins(Set::product(origins)),
                        None => send,
                    })?;
                }
                *node = *to;
            }
        }
        // The distribution uses the collection's circuits forwards, with images instead of nodes.
        if last > 0 {
            schedule.phase(&format!("distribution, {names}"))?;
        }
        for from_last in 0..last {
            schedule.step()?;
            self.distribute(torus, (parts, earlier), planned, from_last, schedule)?;
        }
        Ok(())
    }

    /// Returns the origins of the data that a collector sends. They are needed if a sender can also
    /// hold data of a second collector. `None` means that a node sends all its data.
    fn section(
        &self,
        torus: &Torus,
        earlier: &[Self],
        collector: u64,
    ) -> Option<Vec<Axis<'static>>> {
        let all_at_once = match self.middle {
            Middle::Mirrors(_) => true,
            Middle::Direct(_) => false,
            Middle::Shift => self.middle_rounds(torus) == 1,
        };
        if all_at_once {
            return None;
        }
        let coordinates = 0..torus.dims.len();
        let origin = origin_before(torus, earlier, collector);
        let mut origins: Vec<_> =
            coordinates.map(|axis| Axis::one(torus.coordinate(origin, axis))).collect();
        if matches!(self.middle, Middle::Shift) {
            let (row, diagonal) = self.place(torus, collector);
            let (first, count) = row.sections.nodes(row.sections.collected_by(diagonal)?);
            origins[self.axes[0]] = Axis::range(first, count);
        }
        Some(origins)
    }

    pub(super) fn parts(&self) -> u32 {
        let shared = self.rows.iter().any(|row| row.sections.shared);
        self.lanes as u32 * if shared { 2 } else { 1 }
    }

    fn segments(&self, parts: u32, lane: usize, half: Option<u64>) -> Axis<'static> {
        let each = u64::from(parts) / self.lanes as u64;
        match half {
            None => Axis::range(lane as u64 * each, each),
            Some(half) => Axis::range(lane as u64 * each + half * each / 2, each / 2),
        }
    }

    fn along(&self, torus: &Torus, node: u64, lane: usize, diagonals: i64) -> u64 {
        let axis = self.axes[lane];
        let x = torus.coordinate(node, axis) as i64 + self.signs[lane] * diagonals;
        torus.moved(node, axis, x.rem_euclid(torus.dims[axis] as i64) as u64)
    }

    /// Returns the circuits of a round whose far end is the node, each with the number of diagonals
    /// from the node to the start of the circuit. Round 0 is the last of the collection.
    fn circuits(
        &self,
        torus: &Torus,
        node: u64,
        from_last: usize,
    ) -> impl Iterator<Item = (CollectionCircuit, i64)> {
        let (row, diagonal) = self.place(torus, node);
        let circuits = row.sections.circuits(diagonal, from_last);
        circuits.map(|c| (c, c.circuit.from as i64 - c.circuit.to as i64))
    }

    fn collect(
        &self,
        torus: &Torus,
        parts: u32,
        node: u64,
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        for (collecting, by) in self.circuits(torus, node, from_last) {
            for lane in 0..self.lanes {
                let signs = torus.along(self.axes[lane], by * self.signs[lane] > 0);
                let to = self.along(torus, node, lane, by);
                let segments = self.segments(parts, lane, collecting.half);
                schedule
                    .send(&Blocks::new(node, to).segments(segments).route(&Route::signs(&signs)))?;
            }
        }
        Ok(())
    }

    /// Adds a round of the distribution for the planned nodes. `from_last` is the number of the
    /// round of the collection, counted from the last. For each circuit, the image of its start
    /// sends data to the image of its far end.
    fn distribute(
        &self,
        torus: &Torus,
        (parts, earlier): (u32, &[Self]),
        planned: &Planned,
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        // This loop finds the senders from the receivers, so the sends are sorted afterwards. A
        // plan visits planned nodes in ascending order, and the order of a node's sends must be the
        // same within an orbit.
        let mut sends = Vec::new();
        for node in 0..torus.nodes() {
            for (collecting, by) in self.circuits(torus, node, from_last) {
                for lane in 0..self.lanes {
                    let from = self.map.image(torus, self.along(torus, node, lane, by));
                    if planned.contains(from) {
                        sends.push((from, lane, by, node, collecting));
                    }
                }
            }
        }
        sends.sort_by_key(|(from, lane, by, ..)| (*from, *lane, *by));
        for (from, lane, by, node, CollectionCircuit { circuit, half, .. }) in sends {
            let (axis, turned) = self.map.axis_of_image(self.axes[lane]);
            let ascends = (self.signs[lane] > 0) != turned;
            let signs = torus.along(axis, (by > 0) != ascends);
            // No earlier stage has permuted the axis of the lane, so origins along it are
            // neighbours.
            let first = circuit.first as i64 - circuit.to as i64;
            let lowest =
                if self.signs[lane] > 0 { first } else { first + circuit.count as i64 - 1 };
            let lowest = self.along(torus, node, lane, lowest);
            let lowest = origin_before(torus, earlier, lowest);
            let mut origins: Vec<Axis<'_>> = (0..torus.dims.len())
                .map(|axis| Axis::one(torus.coordinate(lowest, axis)))
                .collect();
            let own = self.axes[lane];
            origins[own] = Axis::range(torus.coordinate(lowest, own), circuit.count);
            let send = Blocks::new(from, self.map.image(torus, node))
                .segments(self.segments(parts, lane, half));
            schedule.send(&send.origins(Set::product(&origins)).route(&Route::signs(&signs)))?;
        }
        Ok(())
    }
}

fn origin_before(torus: &Torus, earlier: &[Stage], node: u64) -> u64 {
    earlier.iter().rev().fold(node, |at, stage| stage.map.origin(torus, at))
}
