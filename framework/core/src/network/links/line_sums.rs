//! A counter that sums along lines. A run is recorded only at its first link and after its last
//! link, so the cost does not depend on its length.

use super::Counter;
use crate::network::topology::{Plane, Run};
use std::ops::Range;
use std::sync::Arc;

/// For each link, the change of load from the previous link on its line, modulo 2^64.
///
/// No run continues beyond the end of its line. Its amount is subtracted on the same line or at the
/// first link of the next line, so the running sum has no load of earlier lines. One running sum is
/// therefore enough for consecutive lines of a plane.
#[derive(Debug)]
pub(super) struct LineSums {
    planes: Arc<[Plane]>,
    /// For each plane, whether any of its links has load in this step.
    used: Vec<bool>,
    changes: Vec<u64>,
    /// Scratch memory: the running sum of each of the lines that are summed at the same time.
    sums: Vec<u64>,
    /// Scratch memory: for each line in `sums`, the largest running sum so far.
    most: Vec<u64>,
}

impl LineSums {
    pub(super) fn new(planes: Arc<[Plane]>, slots: usize) -> Self {
        let used = vec![false; planes.len()];
        Self { planes, used, changes: vec![0; slots], sums: Vec::new(), most: Vec::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, run: Run, amount: u64) {
        self.used[run.plane as usize] = true;
        let first = &mut self.changes[run.first as usize];
        *first = first.wrapping_add(amount);
        let after = run.first + run.len * run.stride;
        // A run that ends at the last link of its plane needs no subtraction, because the next link
        // is in another plane.
        if after < self.planes[run.plane as usize].range().end {
            let after = &mut self.changes[after as usize];
            *after = after.wrapping_sub(amount);
        }
    }
}

impl Counter for LineSums {
    fn clear(&mut self) {
        for (plane, used) in self.planes.iter().zip(&mut self.used) {
            if std::mem::take(used) {
                self.changes[plane.indices()].fill(0);
            }
        }
    }

    fn max(&mut self) -> u64 {
        let mut max = 0;
        for plane in used(&self.planes, &self.used) {
            let changes = &self.changes[plane.indices()];
            if plane.stride == 1 {
                let mut sum = 0_u64;
                for change in changes {
                    sum = sum.wrapping_add(*change);
                    max = max.max(sum);
                }
                continue;
            }
            let stride = plane.stride as usize;
            for cells in [&mut self.sums, &mut self.most] {
                cells.clear();
                cells.resize(stride, 0);
            }
            for row in changes.chunks_exact(stride) {
                for ((sum, most), change) in self.sums.iter_mut().zip(&mut self.most).zip(row) {
                    *sum = sum.wrapping_add(*change);
                    *most = (*most).max(*sum);
                }
            }
            max = self.most.iter().copied().fold(max, u64::max);
        }
        max
    }

    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        for plane in used(&self.planes, &self.used) {
            self.sums.clear();
            self.sums.resize(plane.stride as usize, 0);
            let mut links = plane.offset..;
            for row in self.changes[plane.indices()].chunks_exact(plane.stride as usize) {
                for ((sum, change), link) in self.sums.iter_mut().zip(row).zip(&mut links) {
                    *sum = sum.wrapping_add(*change);
                    if *sum > 0 {
                        visit(link, *sum);
                    }
                }
            }
        }
    }
}

impl Plane {
    /// Returns the numbers of the plane's links.
    pub(super) fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.links()
    }

    fn indices(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.links()) as usize
    }
}

fn used<'a>(planes: &'a [Plane], touched: &'a [bool]) -> impl Iterator<Item = &'a Plane> {
    planes.iter().zip(touched).filter(|(_, touched)| **touched).map(|(plane, _)| plane)
}
