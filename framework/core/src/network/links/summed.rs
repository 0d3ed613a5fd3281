//! Sums along lines: a run is noted at its first link and after its last, however long it is.

use crate::network::topology::{Plane, Run};

/// How the load changes from each link to the next on its line, modulo 2^64.
///
/// All a line's runs end by the end of it. So the changes of a line add up to nothing, and one running sum serves all lines of a plane
/// that lie behind one another.
#[derive(Debug)]
pub(super) struct Summed {
    changes: Vec<u64>,
    /// Running sums of lines that lie side by side.
    sums: Vec<u64>,
}

impl Summed {
    pub(super) fn new(slots: usize) -> Self {
        Self { changes: vec![0; slots], sums: Vec::new() }
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

    pub(super) fn max(&self, planes: &[Plane], touched: &[bool]) -> u64 {
        used(planes, touched).map(|plane| plane.most(&self.changes[plane.range()])).max().unwrap_or(0)
    }

    /// Planes, which follow each other, with their changes.
    pub(super) fn split<'a>(&'a mut self, planes: &'a [Plane]) -> impl Iterator<Item = (&'a Plane, &'a mut [u64])> {
        let mut rest = &mut self.changes[..];
        planes.iter().map(move |plane| {
            let (changes, others) = std::mem::take(&mut rest).split_at_mut(plane.links() as usize);
            rest = others;
            (plane, changes)
        })
    }

    pub(super) fn for_each_loaded(&mut self, planes: &[Plane], touched: &[bool], visit: &mut dyn FnMut(u64, u64)) {
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
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.offset as usize..(self.offset + self.links()) as usize
    }

    /// The most load on one of its links, by the changes of them all.
    pub(super) fn most(&self, changes: &[u64]) -> u64 {
        if self.stride == 1 {
            let mut sum = 0_u64;
            return changes.iter().fold(0, |most, change| {
                sum = sum.wrapping_add(*change);
                most.max(sum)
            });
        }
        let stride = self.stride as usize;
        let mut lines = vec![(0_u64, 0); stride];
        for row in changes.chunks_exact(stride) {
            for ((sum, most), change) in lines.iter_mut().zip(row) {
                *sum = sum.wrapping_add(*change);
                *most = (*most).max(*sum);
            }
        }
        lines.into_iter().map(|(_, most)| most).max().unwrap_or(0)
    }
}

fn used<'a>(planes: &'a [Plane], touched: &'a [bool]) -> impl Iterator<Item = &'a Plane> {
    planes.iter().zip(touched).filter(|(_, touched)| **touched).map(|(plane, _)| plane)
}
