//! A stage of a permutation: collection, permutation and distribution on axes of the same size
//! (sections 4.1 to 4.5).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `axes.len()` | number of permuted dimensions |
//! | n | | number of nodes of a cycle |
//! | q | `torus.q` | largest number of circuits that a directed link carries at the same time |
//! | M | | number of adjacent diagonals whose data uses the same link: n/4 in a transposition |
//!
//! A diagonal consists of the nodes with the same sum of signed coordinates. In three dimensions it
//! is a plane. The data of several adjacent diagonals is collected in the nodes of one of them, the
//! collectors.
//!
//! With all ports, each message is split into d segments, and one segment is collected along each
//! dimension. With one port, whole messages are collected along the first dimension.
//!
//! After the collection, circuits lead from the collectors to their images, in one or two rounds.
//! The image of a node is the node to which the permutation maps it, that is, the destination of
//! the node's block. If two nodes are neighbours along one of the permuted dimensions, their images
//! are neighbours, too. Each circuit of the collection, from a node to a collector, therefore
//! corresponds to a circuit from the image of the collector to the image of the node. The
//! distribution uses these circuits.

use super::affine::Affine;
use super::lcm;
use super::mirrors::{Mirror, Mirrors};
use super::sections::{Collectors, Sections};
use super::shift::{Directions, Row, ShiftProblem};
use crate::cost::{self, Cost, MachineTimes};
use crate::torus::{Torus, Variant};
use swapmeet_sdk::Stop;

mod plan;

/// The kind of the rounds between the collection and the distribution.
pub(super) enum Middle {
    /// Transpositions: a list of mirrors for each round.
    Mirrors(Vec<Vec<Mirror>>),
    /// One transposition without collection: each node sends its own block to its image, the node
    /// to which the mirror maps it. In each round, q nodes of every quadrant of a cycle send their
    /// blocks (Fraigniaud and Peters).
    Direct(Mirror),
    /// A translation or shear: the journeys of every row.
    Shift,
}

/// The schedule of the permutation of some axes, all of the same size.
pub(super) struct Stage {
    /// The axes whose coordinates this stage of the permutation changes.
    pub axes: Vec<usize>,
    /// For each permuted axis, the sign (1 or -1) of its coordinate in the sum that numbers the
    /// diagonals.
    pub signs: Vec<i64>,
    /// Number of segments of a message, each of which is collected along a different axis. With one
    /// port it is 1, otherwise it is the number of permuted axes.
    pub lanes: usize,
    /// The sections and journeys of the rows. A shear has one entry for each coordinate on the
    /// second axis. All other stages have a single entry.
    pub rows: Vec<Row>,
    pub middle: Middle,
    /// The map from each node to the destination of its block in this stage.
    pub map: Affine,
}

impl Stage {
    /// Returns the cheapest known stage for a permutation of axes of the same size, with signs.
    ///
    /// Two rounds of transpositions can be joined into one round if no link then carries more than
    /// q circuits. A stage may be cheaper with fewer collectors than q allows, because then fewer
    /// circuits share a link.
    pub(super) fn of_mirrors(
        torus: &Torus,
        axes: &[usize],
        map: &Affine,
        times: MachineTimes,
    ) -> Result<Self, Stop> {
        // There are two candidates: the separate rounds, and a single round that joins all of them.
        let (mirrors, n, q) = (mirrors(axes, map)?, torus.dims[axes[0]], torus.q);
        let joined = (mirrors.rounds.len() > 1).then(|| vec![mirrors.rounds.concat()]);
        let candidates: Vec<Vec<Vec<Mirror>>> =
            std::iter::once(mirrors.rounds).chain(joined).collect();
        let mut best: Option<(Self, Cost)> = None;
        // Circuits from nodes of the same quarter of a cycle cross the same mirror in the same
        // direction. With more than 4q sections, a link would therefore always carry more than q
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
                // Skip a candidate if the rounds of the transpositions and the collection alone
                // cost more than the best stage so far.
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

    /// Returns a stage that is a single transposition without collection, or `None` if the map is
    /// not a single transposition.
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

    /// Returns a stage that translates data along axes of the same size.
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

    /// Returns a stage that shears data along the first axis: the distance of a block depends on
    /// its coordinate on the second axis.
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

    /// Returns the period of an axis: shifts of the coordinates by multiples of the period leave
    /// the stage unchanged.
    ///
    /// * Case 1: the axis is not permuted. Its period is 1. If the axis distinguishes the rows of a
    ///   shear, its period is n.
    /// * Case 2: the stage is a translation or a shear along the axis. The period is that of its
    ///   rows, because the diagonals are shifted with the coordinates.
    /// * Case 3: the stage has mirrors. The positions of the mirrors are fixed, so the period is n.
    pub(super) fn period(&self, torus: &Torus, axis: usize) -> u64 {
        let n = torus.dims[axis];
        match self.middle {
            _ if !self.axes.contains(&axis) => {
                let tells_rows_apart = axis == 1 && self.rows.len() > 1;
                if tells_rows_apart { n } else { 1 }
            }
            Middle::Mirrors(_) | Middle::Direct(_) => n,
            // The period of each row divides n. The least common multiple of these periods
            // therefore also divides n.
            Middle::Shift => self.rows.iter().fold(1, |period, row| lcm(period, row.period(n))),
        }
    }

    /// Returns the number of rounds of the stage if no round must be divided. A round must be
    /// divided if a link would carry more than q circuits.
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

    /// Returns the row of a node and the number of its diagonal.
    fn place(&self, torus: &Torus, node: u64) -> (&Row, u64) {
        let row = if self.rows.len() == 1 { 0 } else { torus.coordinate(node, 1) };
        let n = torus.dims[self.axes[0]] as i64;
        let signed = self.axes.iter().zip(&self.signs);
        let sum: i64 = signed.map(|(axis, sign)| sign * torus.coordinate(node, *axis) as i64).sum();
        (&self.rows[row as usize], sum.rem_euclid(n) as u64)
    }

    /// Returns the route of the data of a collector in a round between collection and distribution.
    /// `origin` is the collector, and `node` is the node that has the collector's data before the
    /// round. The route has all nodes after `node`, up to the receiver. It is empty if the data
    /// stays at `node`.
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

    fn collection(&self) -> Cost {
        let mut cost: Cost = self.rows[0].sections.costs.iter().copied().sum();
        cost.blocks /= self.lanes as f64;
        cost
    }

    /// Returns the cost of a stage with transpositions, or `None` if a link would carry more than q
    /// circuits.
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

/// Returns the transpositions of a permutation of axes of the same size.
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
