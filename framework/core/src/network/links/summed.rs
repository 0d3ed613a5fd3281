//! Sums along lines: a run is noted at its first link and after its last, however long it is.

use crate::network::topology::{Plane, Run};

/// How the load changes from each link to the next on its line, modulo 2^64.
///
/// All a line's runs end by the end of it. So the changes of a line add up to nothing, and one
/// running sum serves all lines of a plane that lie behind one another.
#[derive(Debug)]
pub(super) struct Summed {
    changes: Vec<u64>,
    /// Running sums of lines that lie side by side, and the most each has been.
    sums: Vec<u64>,
    most: Vec<u64>,
}

impl Summed {
    pub(super) fn new(slots: usize) -> Self {
        Self { changes: vec![0; slots], sums: Vec::new(), most: Vec::new() }
    }

    pub(super) fn clear(&mut self, planes: &[Plane], touched: &[bool]) {
        for plane in used(planes, touched) {
            self.changes[plane.range()].fill(0);
        }
    }

    #[inline]
    pub(super) fn add(&mut self, planes: &[Plane], run: Run, amount: u64) {
        let first = &mut self.changes[run.first as usize];
        *first = first.wrapping_add(amount);
        let after = run.first + run.len * run.stride;
        // Beyond the plane another one begins, of other lines.
        if after < planes[run.plane as usize].range().end as u64 {
            let after = &mut self.changes[after as usize];
            *after = after.wrapping_sub(amount);
        }
    }

    pub(super) fn max(&mut self, planes: &[Plane], touched: &[bool]) -> u64 {
        let mut max = 0;
        for plane in used(planes, touched) {
            let changes = &self.changes[plane.range()];
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

    pub(super) fn for_each_loaded(
        &mut self,
        planes: &[Plane],
        touched: &[bool],
        visit: &mut dyn FnMut(u64, u64),
    ) {
        for plane in used(planes, touched) {
            self.sums.clear();
            self.sums.resize(plane.stride as usize, 0);
            let mut links = plane.offset..;
            for row in self.changes[plane.range()].chunks_exact(plane.stride as usize) {
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
    /// Its links, as places in an array.
    fn range(&self) -> std::ops::Range<usize> {
        self.offset as usize..(self.offset + self.links()) as usize
    }
}

fn used<'a>(planes: &'a [Plane], touched: &'a [bool]) -> impl Iterator<Item = &'a Plane> {
    planes.iter().zip(touched).filter(|(_, touched)| **touched).map(|(plane, _)| plane)
}
