//! Collection, the permutation, distribution (sections 4.1 to 4.5) on axes of one size.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `axes.len()` | dimensions that are permuted |
//! | n | | nodes of a cycle |
//! | M | | adjacent diagonals that share a link: n/4 in a transposition |
//!
//! Nodes whose coordinates have the same sum, each with the sign its axis has, are a diagonal (in
//! three dimensions a plane). Adjacent diagonals are collected into one of them, a d-th of each
//! message along each dimension; with one port all of it along the first. The collectors' circuits
//! then do the permutation in a round or two. As neighbours stay neighbours, distribution is the
//! collection of the images, backwards.

use super::affine::Affine;
use super::lcm;
use super::mirrors::{Mirror, Mirrors};
use super::sections::{Collecting, Collectors, Sections};
use super::shift::{Directions, Row, Task};
use crate::cost::{self, Cost, Prices};
use crate::torus::{Torus, Variant};
use swapmeet_sdk::{Axis, Blocks, Planned, Route, Schedule, Set, Stop};

/// What the collectors do.
pub(super) enum Middle {
    /// Rounds of transpositions.
    Mirrors(Vec<Vec<Mirror>>),
    /// One transposition of what nobody has collected, q nodes of every quadrant a round
    /// (Fraigniaud and Peters).
    Direct(Mirror),
    /// Every row its journeys.
    Shift,
}

/// A permutation of some axes, ready to run.
pub(super) struct Stage {
    /// Those that are permuted.
    pub axes: Vec<usize>,
    /// What a coordinate on each counts in the number of a diagonal: 1 or -1.
    pub signs: Vec<i64>,
    /// Along how many of them messages are collected, a part along each: all, or with one port the
    /// first.
    pub lanes: usize,
    /// How a row is divided; in a shear one for each coordinate on the second axis.
    pub rows: Vec<Row>,
    pub middle: Middle,
    /// Where each node's block goes.
    pub map: Affine,
}

impl Stage {
    /// The cheapest way that is known to permute axes of one size, with signs.
    ///
    /// Two rounds of transpositions may be one, where q circuits a link leave room for both. And
    /// not all q need be used: fewer collectors may fit better, and fewer circuits share a link.
    pub(super) fn of_mirrors(
        torus: &Torus,
        axes: &[usize],
        map: &Affine,
        prices: Prices,
    ) -> Result<Self, Stop> {
        let (mirrors, n, q) = (mirrors(axes, map)?, torus.dims[axes[0]], torus.q);
        let joined = (mirrors.rounds.len() > 1).then(|| vec![mirrors.rounds.concat()]);
        let ways: Vec<Vec<Vec<Mirror>>> = std::iter::once(mirrors.rounds).chain(joined).collect();
        let mut best: Option<(Self, Cost)> = None;
        // A mirror is passed by a quarter of a cycle: with more than 4q sections never by as few as
        // q.
        for count in (1..=n.min(4 * q)).rev() {
            for (rounds, collectors) in
                ways.iter().flat_map(|way| Collectors::ALL.map(|collectors| (way, collectors)))
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
                let least = Cost { rounds: rounds.len() as u64, ..Cost::default() }
                    + stage.collection() * 2;
                let so_far = best.as_ref().map(|(_, cost)| *cost);
                if !prices.prefer(Some(least), so_far) {
                    continue;
                }
                if let Some(cost) =
                    stage.cost(torus).filter(|cost| prices.prefer(Some(*cost), so_far))
                {
                    best = Some((stage, cost));
                }
            }
        }
        let none =
            || Stop::failed(format!("finds no way to collect {n} nodes for {q} circuits a link"));
        best.map(|(stage, _)| stage).ok_or_else(none)
    }

    /// A single transposition without collection.
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
        let rows = vec![Row { sections, journeys: Vec::new() }];
        Self {
            axes: axes.to_vec(),
            signs: signs.to_vec(),
            lanes: lanes(torus, axes),
            rows,
            middle,
            map: map.clone(),
        }
    }

    /// A translation by these distances along axes of one size.
    pub(super) fn of_translation(
        torus: &Torus,
        axes: &[usize],
        map: Affine,
        directions: Directions,
    ) -> Self {
        let by: Vec<u64> = axes.iter().map(|axis| map.terms[*axis].plus).collect();
        let task = Task {
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

    /// A shear along the first axis.
    pub(super) fn of_shear(torus: &Torus, map: &Affine, directions: Directions) -> Self {
        let n = torus.dims[0];
        let rows = |middles| {
            let row = |y: u64| {
                let by = [map.terms[0].sheared * (y % n) % n];
                Task { n, q: torus.q, variant: torus.variant, by: &by, directions }.row(middles)
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

    /// By multiples of what coordinates on an axis may be shifted and all that the stage does
    /// shifts along.
    ///
    /// It goes by where nodes lie on its own axes, and leaves their other coordinates as they are:
    /// these may be shifted by anything, but for the one that tells a shear's rows apart. On its
    /// own axes a translation's diagonals shift as coordinates do, and every row is the same after
    /// its period. A mirror lies at a place of its own: no shift takes what goes round it to
    /// anything but itself.
    pub(super) fn period(&self, torus: &Torus, axis: usize) -> u64 {
        let n = torus.dims[axis];
        match self.middle {
            _ if !self.axes.contains(&axis) => {
                let tells_rows_apart = axis == 1 && self.rows.len() > 1;
                if tells_rows_apart { n } else { 1 }
            }
            Middle::Mirrors(_) | Middle::Direct(_) => n,
            // Each of the periods divides n.
            Middle::Shift => self.rows.iter().fold(1, |period, row| lcm(period, row.period(n))),
        }
    }

    /// Rounds if no round of circuits has to be run in turns.
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

    /// Where the collector `node`, whose block began at `origin`, sends in a middle round, and past
    /// which nodes; the last is the receiver. Nowhere: it stays.
    fn path(&self, torus: &Torus, round: usize, origin: u64, node: u64) -> Vec<u64> {
        let mut path = Vec::new();
        match &self.middle {
            Middle::Mirrors(rounds) => {
                let (row, diagonal) = self.place(torus, origin);
                let section = row.sections.collected_by(diagonal).unwrap_or(0);
                let walk = |at, mirror: &Mirror| {
                    mirror.walk(torus, at, mirror.takes_other(torus, at, section), |node| {
                        path.push(node)
                    })
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
                let journey = row.sections.collected_by(diagonal).and_then(|i| row.journeys.get(i));
                let Some(journey) = journey.filter(|journey| journey.round == round) else {
                    return path;
                };
                let mut at = node;
                for (&axis, by) in self.axes.iter().zip(&journey.by) {
                    for _ in 0..by.unsigned_abs() {
                        at = torus.neighbour(at, axis, *by > 0);
                        path.push(at);
                    }
                }
            }
        }
        path
    }

    /// What its collection costs.
    fn collection(&self) -> Cost {
        let mut cost: Cost = self.rows[0].sections.costs.iter().copied().sum();
        cost.blocks /= self.lanes as f64;
        cost
    }

    /// What it costs, where no link carries more than q circuits at a time; for transpositions.
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

    /// The schedule. Of each block there are `parts`; `earlier` is what has been done to it.
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
        if last > 0 {
            schedule.phase(&format!("distribution, {names}"))?;
        }
        for from_last in 0..last {
            schedule.step()?;
            for node in 0..nodes {
                self.distribute(torus, (parts, earlier), planned, node, from_last, schedule)?;
            }
        }
        Ok(())
    }

    /// What a collector has collected, where that isn't all it holds: what came in a middle round
    /// may lie where something waits for a later one.
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
        let began = began(torus, earlier, collector);
        let mut origins: Vec<_> =
            coordinates.map(|axis| Axis::one(torus.coordinate(began, axis))).collect();
        if matches!(self.middle, Middle::Shift) {
            let (row, diagonal) = self.place(torus, collector);
            let (first, count) = row.sections.nodes(row.sections.collected_by(diagonal)?);
            origins[self.axes[0]] = Axis::range(first, count);
        }
        Some(origins)
    }

    /// In how many segments of a block it thinks: one a lane, or the halves of those.
    pub(super) fn parts(&self) -> u32 {
        let shared = self.rows.iter().any(|row| row.sections.shared);
        self.lanes as u32 * if shared { 2 } else { 1 }
    }

    /// The segments of a block that go along an axis, or a half of them.
    fn segments(&self, parts: u32, lane: usize, half: Option<u64>) -> Axis<'static> {
        let each = u64::from(parts) / self.lanes as u64;
        match half {
            None => Axis::range(lane as u64 * each, each),
            Some(half) => Axis::range(lane as u64 * each + half * each / 2, each / 2),
        }
    }

    /// The node that is so many diagonals on, along the axis of a lane.
    fn along(&self, torus: &Torus, node: u64, lane: usize, diagonals: i64) -> u64 {
        let axis = self.axes[lane];
        let x = torus.coordinate(node, axis) as i64 + self.signs[lane] * diagonals;
        torus.moved(node, axis, x.rem_euclid(torus.dims[axis] as i64) as u64)
    }

    /// The circuits that a node has in a round counted from the last, and how many diagonals on the
    /// collector of each lies.
    fn circuits(
        &self,
        torus: &Torus,
        node: u64,
        from_last: usize,
    ) -> impl Iterator<Item = (Collecting, i64)> {
        let (row, diagonal) = self.place(torus, node);
        let circuits = row.sections.circuits(diagonal, from_last);
        circuits.map(|c| (c, c.circuit.from as i64 - c.circuit.to as i64))
    }

    /// What a node gives to those that collect it in this round, counted from the last.
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

    /// What the image of a node is given by the image of the one that collected it, if that is
    /// planned for: all that the node had collected itself.
    fn distribute(
        &self,
        torus: &Torus,
        (parts, earlier): (u32, &[Self]),
        planned: &Planned,
        node: u64,
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        for (collecting, by) in self.circuits(torus, node, from_last) {
            let circuit = collecting.circuit;
            for lane in 0..self.lanes {
                let (axis, turned) = self.map.axis_of_image(self.axes[lane]);
                let ascends = (self.signs[lane] > 0) != turned;
                let signs = torus.along(axis, (by > 0) != ascends);
                let from = self.map.image(torus, self.along(torus, node, lane, by));
                if !planned.contains(from) {
                    continue;
                }
                // What it had collected came from neighbours along its own axis, which nothing
                // earlier has touched.
                let first = circuit.first as i64 - circuit.to as i64;
                let lowest =
                    if self.signs[lane] > 0 { first } else { first + circuit.count as i64 - 1 };
                let lowest = self.along(torus, node, lane, lowest);
                let lowest = began(torus, earlier, lowest);
                let mut origins: Vec<Axis<'_>> = (0..torus.dims.len())
                    .map(|axis| Axis::one(torus.coordinate(lowest, axis)))
                    .collect();
                let own = self.axes[lane];
                origins[own] = Axis::range(torus.coordinate(lowest, own), circuit.count);
                let send = Blocks::new(from, self.map.image(torus, node)).segments(self.segments(
                    parts,
                    lane,
                    collecting.half,
                ));
                schedule
                    .send(&send.origins(Set::product(&origins)).route(&Route::signs(&signs)))?;
            }
        }
        Ok(())
    }
}

/// Where the block that earlier stages have brought to a node began.
fn began(torus: &Torus, earlier: &[Stage], node: u64) -> u64 {
    earlier.iter().rev().fold(node, |at, stage| stage.map.origin(torus, at))
}

/// The transpositions that a permutation of axes of one size is made of.
fn mirrors(axes: &[usize], map: &Affine) -> Result<Mirrors, Stop> {
    let local = |axis: usize| axes.iter().position(|a| *a == axis).unwrap_or(0);
    let signed: Vec<(usize, bool)> =
        axes.iter().map(|axis| (local(map.terms[*axis].axis), map.terms[*axis].negated)).collect();
    let mirrors = Mirrors::of(&signed).ok_or_else(|| {
        let many = axes.len();
        Stop::unsupported(format!(
            "exchanges axes among {many} at once, which is more than it looks through"
        ))
    })?;
    Ok(mirrors.on(axes))
}

fn lanes(torus: &Torus, axes: &[usize]) -> usize {
    if torus.variant == Variant::OnePort { 1 } else { axes.len() }
}
