//! A counter for steps that use only few links of the network. It stores the runs of the step as
//! intervals. A run consists of successive links of a route whose numbers have a constant
//! difference.
//!
//! On topologies with planes (links that form lines), links are renumbered so that the links of a
//! line have consecutive numbers. A run is then an interval of these numbers, and loads change only
//! where an interval begins or ends.

use super::Counter;
use crate::network::topology::{Plane, Run};
use std::ops::Range;
use std::sync::Arc;

/// The runs of a step, each with the amount that it adds to the load of its links.
#[derive(Debug)]
pub(super) struct Intervals {
    planes: Arc<[Plane]>,
    runs: Vec<(Run, u64)>,
    /// Scratch memory: pairs of a link and a number. If the topology has planes, these are the
    /// renumbered links at which the load changes, each with the change modulo 2^64. If it has no
    /// planes, these are the links of each run, each with the amount of the run.
    changes: Vec<(u64, u64)>,
}

impl Intervals {
    pub(super) fn new(planes: Arc<[Plane]>) -> Self {
        Self { planes, runs: Vec::new(), changes: Vec::new() }
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

    /// Returns the number of links in the planes that the runs use.
    pub(super) fn links_in_planes(&self) -> u64 {
        let mut used = vec![false; self.planes.len()];
        self.runs.iter().for_each(|(run, _)| used[run.plane as usize] = true);
        self.planes.iter().zip(used).filter(|(_, used)| *used).map(|(p, _)| p.links()).sum()
    }

    /// Divides the renumbered links into intervals of links with the same load, and calls `visit`
    /// with each interval and its load. All links of an interval are on the same line. Together,
    /// the intervals contain all links with load.
    fn for_each_interval(&mut self, visit: &mut dyn FnMut(Range<u64>, u64)) {
        self.changes.clear();
        if self.planes.is_empty() {
            return self.for_each_link(visit);
        }
        for (run, amount) in &self.runs {
            let first = self.planes[run.plane as usize].renumber(run.first);
            self.changes.extend([(first, *amount), (first + run.len, amount.wrapping_neg())]);
        }
        self.changes.sort_unstable_by_key(|(at, _)| *at);
        let (mut load, mut first) = (0_u64, 0);
        for changes in self.changes.chunk_by(|a, b| a.0 == b.0) {
            let at = changes[0].0;
            if load > 0 {
                visit(first..at, load);
            }
            load = changes.iter().fold(load, |sum, (_, change)| sum.wrapping_add(*change));
            first = at;
        }
    }

    /// Does the same as `for_each_interval` on topologies without planes, where every interval is
    /// one link.
    fn for_each_link(&mut self, visit: &mut dyn FnMut(Range<u64>, u64)) {
        for (run, amount) in &self.runs {
            self.changes.extend(run.links().map(|link| (link, *amount)));
        }
        self.changes.sort_unstable_by_key(|(link, _)| *link);
        for same in self.changes.chunk_by(|a, b| a.0 == b.0) {
            let link = same[0].0;
            let load = same.iter().fold(0_u64, |sum, (_, amount)| sum.saturating_add(*amount));
            if load > 0 {
                visit(link..link + 1, load);
            }
        }
    }
}

impl Counter for Intervals {
    fn clear(&mut self) {
        self.runs.clear();
    }

    fn max(&mut self) -> u64 {
        let mut max = 0;
        self.for_each_interval(&mut |_, load| max = max.max(load));
        max
    }

    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        let planes = Arc::clone(&self.planes);
        self.for_each_interval(&mut |interval, load| {
            // Renumbering exchanges only links of the same plane. So renumbered links are in the
            // range of the same plane.
            let plane = planes.iter().find(|p| p.range().contains(&interval.start));
            for number in interval {
                visit(plane.map_or(number, |plane| plane.number(number)), load);
            }
        });
    }
}

impl Plane {
    /// Renumbers a link of this plane so that the links of a line have consecutive numbers.
    fn renumber(&self, link: u64) -> u64 {
        let at = link - self.offset;
        self.offset + at % self.stride * (self.outer * self.radix) + at / self.stride
    }

    /// Returns the link that has this number after renumbering. This is the inverse of
    /// [`Plane::renumber`].
    fn number(&self, renumbered: u64) -> u64 {
        let (at, column) = (renumbered - self.offset, self.outer * self.radix);
        self.offset + at % column * self.stride + at / column
    }
}
