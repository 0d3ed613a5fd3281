//! The schedule of a stage: collection, permutation, distribution.

use super::super::sections::CollectionCircuit;
use super::{Middle, Stage};
use crate::torus::Torus;
use swapmeet_sdk::{Axis, Blocks, Planned, Route, Schedule, Set, Stop};

impl Stage {
    /// Plans the stage. A block has `parts` segments. `earlier` contains the stages that have
    /// already been planned.
    pub(in crate::permutation) fn plan(
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
        // Collection: use the circuits of the sections in reverse order.
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
        // Permutation: move the data of each collector through the rounds.
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
        // Distribution: spread the collected data over the destinations. The circuits are those by
        // which a section collects its data, in forward order, but each node is replaced by its
        // image (the node to which the permutation maps it).
        if last > 0 {
            schedule.phase(&format!("distribution, {names}"))?;
        }
        for from_last in 0..last {
            schedule.step()?;
            self.distribute(torus, (parts, earlier), planned, from_last, schedule)?;
        }
        Ok(())
    }

    /// Returns the origins of the data that a collector has collected. The sends of this data need
    /// them if a sending node also holds data of a second collector. This can happen in a
    /// permutation of several rounds. Otherwise a node sends all its data, and the result is
    /// `None`.
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

    /// Returns the number of segments of a block that the stage needs: one for each lane, or two
    /// for each lane if blocks are halved.
    pub(in crate::permutation) fn parts(&self) -> u32 {
        let shared = self.rows.iter().any(|row| row.sections.shared);
        self.lanes as u32 * if shared { 2 } else { 1 }
    }

    /// Returns the segments of a block that belong to a lane or, if `half` is given, to one half of
    /// the lane.
    fn segments(&self, parts: u32, lane: usize, half: Option<u64>) -> Axis<'static> {
        let each = u64::from(parts) / self.lanes as u64;
        match half {
            None => Axis::range(lane as u64 * each, each),
            Some(half) => Axis::range(lane as u64 * each + half * each / 2, each / 2),
        }
    }

    /// Returns the node that is `diagonals` diagonals away from `node` along the axis of a lane.
    fn along(&self, torus: &Torus, node: u64, lane: usize, diagonals: i64) -> u64 {
        let axis = self.axes[lane];
        let x = torus.coordinate(node, axis) as i64 + self.signs[lane] * diagonals;
        torus.moved(node, axis, x.rem_euclid(torus.dims[axis] as i64) as u64)
    }

    /// Returns the circuits of a node in a round, each with the number of diagonals from the node
    /// to the collector. Round 0 is the last round of the collection.
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

    /// Adds the sends from a node to its collectors. Rounds are counted backwards: round 0 is the
    /// last round.
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

    /// Adds the sends of a round of the distribution, counted from the last. The image of each node
    /// receives the blocks that the node sent to its collectors in the collection. The senders are
    /// the images of these collectors. Only sends of planned nodes are added.
    fn distribute(
        &self,
        torus: &Torus,
        (parts, earlier): (u32, &[Self]),
        planned: &Planned,
        from_last: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        // Find the senders from the receivers. The sends are then sorted by sender, because a plan
        // visits the planned nodes in ascending order. The order of the sends of a sender must be
        // the same for all nodes of its orbit, so it does not depend on node numbers.
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
            // The blocks were collected from neighbours along the axis of the lane. No earlier
            // stage has permuted that axis, so the origins of these blocks are also neighbours
            // along it.
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

/// Returns the origin of the block that is at `node` when the stages in `earlier` are complete: the
/// node at which this block was before the first of these stages.
fn origin_before(torus: &Torus, earlier: &[Stage], node: u64) -> u64 {
    earlier.iter().rev().fold(node, |at, stage| stage.map.origin(torus, at))
}
