//! A step's runs as intervals, for steps that use little of the network.
//!
//! Where there are planes, links are renumbered so that those of a line follow each other, whatever
//! its stride; a run is then an interval, and only where one begins or ends can the load change.

use crate::network::topology::{Plane, Run};

/// Runs with their amounts.
#[derive(Debug, Default)]
pub(super) struct Few {
    runs: Vec<(Run, u64)>,
    /// Where the load changes, in renumbered links, and by how much modulo 2^64; without planes,
    /// links and what they are given. Kept only to reuse its memory.
    changes: Vec<(u64, u64)>,
}

/// Links that have the same load and follow each other on a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch<'a> {
    planes: &'a [Plane],
    first: u64,
    end: u64,
}

impl Few {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn add(&mut self, run: Run, amount: u64) {
        self.runs.push((run, amount));
    }

    pub(super) fn drain(&mut self, mut visit: impl FnMut(Run, u64)) {
        self.runs.drain(..).for_each(|(run, amount)| visit(run, amount));
    }

    /// Calls `visit` with stretches that cover all links with load, and their load.
    pub(super) fn for_each_stretch(
        &mut self,
        planes: &[Plane],
        visit: &mut dyn FnMut(Stretch<'_>, u64),
    ) {
        self.changes.clear();
        if planes.is_empty() {
            return self.for_each_link(visit);
        }
        for (run, amount) in &self.runs {
            let first = planes[run.plane as usize].renumber(run.first);
            self.changes.extend([(first, *amount), (first + run.len, amount.wrapping_neg())]);
        }
        self.changes.sort_unstable_by_key(|(at, _)| *at);
        let (mut load, mut first) = (0_u64, 0);
        for changes in self.changes.chunk_by(|a, b| a.0 == b.0) {
            let at = changes[0].0;
            if load > 0 {
                visit(Stretch { planes, first, end: at }, load);
            }
            load = changes.iter().fold(load, |sum, (_, change)| sum.wrapping_add(*change));
            first = at;
        }
    }

    /// The same without lines: each link for itself.
    fn for_each_link(&mut self, visit: &mut dyn FnMut(Stretch<'_>, u64)) {
        for (run, amount) in &self.runs {
            self.changes.extend((0..run.len).map(|i| (run.first + i * run.stride, *amount)));
        }
        self.changes.sort_unstable_by_key(|(link, _)| *link);
        for same in self.changes.chunk_by(|a, b| a.0 == b.0) {
            let first = same[0].0;
            let load = same.iter().fold(0_u64, |sum, (_, amount)| sum.saturating_add(*amount));
            if load > 0 {
                visit(Stretch { planes: &[], first, end: first + 1 }, load);
            }
        }
    }
}

impl Stretch<'_> {
    /// The links by their own numbers.
    pub(super) fn for_each(self, visit: impl FnMut(u64)) {
        let links = self.first..self.end;
        // A plane takes the same numbers as before, only in another order.
        let plane =
            self.planes.iter().find(|p| (p.offset..p.offset + p.links()).contains(&self.first));
        match plane {
            Some(plane) => links.map(|at| plane.number(at)).for_each(visit),
            None => links.for_each(visit),
        }
    }
}

impl Plane {
    /// The place of a link of this plane when its lines are numbered one after another.
    fn renumber(&self, link: u64) -> u64 {
        let at = link - self.offset;
        self.offset + at % self.stride * (self.outer * self.radix) + at / self.stride
    }

    /// The link in a place: undoes [`Plane::renumber`].
    fn number(&self, place: u64) -> u64 {
        let (at, column) = (place - self.offset, self.outer * self.radix);
        self.offset + at % column * self.stride + at / column
    }
}
