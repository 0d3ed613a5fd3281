//! Links counted by many threads: whoever routes a message notes what it changes in a bin for whoever counts those links, so that nobody counts on what another does.

use super::{Array, LinkLoad};
use crate::executor::{Executor, each, share};
use crate::network::topology::{Plane, Run};

/// Who counts which links.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Division {
    /// A counter a plane.
    ByPlane(usize),
    /// Each so many links that follow each other.
    ByLink(usize, usize),
}

/// Where in a step its messages are, which are counted some at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub is_first: bool,
    pub is_last: bool,
}

/// Changes of links for each counter: where, and by how much. Of planes, sums along whose lines are loads, modulo 2^64.
#[derive(Debug, Default)]
pub(crate) struct Bins(Vec<Vec<(u64, u64)>>);

impl Bins {
    pub(crate) fn clear(&mut self, division: Division) {
        let (Division::ByPlane(counters) | Division::ByLink(counters, _)) = division;
        self.0.resize_with(counters, Vec::new);
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// As [`LinkLoad::add`], to be counted later.
    #[inline]
    pub(crate) fn add(&mut self, division: Division, planes: &[Plane], run: Run, amount: u64) {
        match division {
            Division::ByPlane(_) => {
                let bin = &mut self.0[run.plane as usize];
                bin.push((run.first, amount));
                let after = run.first + run.len * run.stride;
                // Beyond the plane another one begins, of other lines.
                if after < planes[run.plane as usize].range().end as u64 {
                    bin.push((after, amount.wrapping_neg()));
                }
            }
            Division::ByLink(_, links) => {
                for link in (0..run.len).map(|i| run.first + i * run.stride) {
                    self.0[link as usize / links].push((link, amount));
                }
            }
        }
    }
}

impl LinkLoad {
    /// How a step of so many messages is counted on so many threads; `None` where it is counted without an array.
    pub(crate) fn division(&mut self, messages: usize, threads: usize) -> Option<Division> {
        if messages <= self.most_few {
            return None;
        }
        Some(match self.planes.len() {
            0 => {
                let links = share(self.slots as usize, threads);
                Division::ByLink((self.slots as usize).div_ceil(links), links)
            }
            planes => Division::ByPlane(planes),
        })
    }

    /// Begins a step that is counted in the array. Planes are cleared by those who count them first.
    pub(crate) fn begin_together(&mut self) {
        self.few.clear();
        match &mut self.array {
            Some(Array::Counted(counts)) if self.in_array => counts.clear(),
            // Nothing is left there of a step that was counted without it.
            _ if !self.in_array => self.touched.fill(false),
            Some(Array::Summed(_) | Array::Counted(_)) | None => {}
        }
        self.use_array();
    }

    /// Counts what is in these bins, of a step's `turn`; the most load on a link, once the last turn is counted.
    pub(crate) fn add_all(&mut self, division: Division, bins: &[&Bins], turn: Turn, executor: &dyn Executor) -> u64 {
        match (&mut self.array, division) {
            (Some(Array::Summed(sums)), _) => {
                let planes = sums.split(&self.planes).zip(&mut self.touched).enumerate();
                let mut planes: Vec<_> = planes.map(|(number, plane)| (number, plane, 0)).collect();
                each(executor, &mut planes, |(number, ((plane, changes), touched), most)| {
                    if turn.is_first && std::mem::take(*touched) {
                        changes.fill(0);
                    }
                    for (place, change) in bins.iter().flat_map(|bins| &bins.0[*number]) {
                        let at = &mut changes[(place - plane.offset) as usize];
                        *at = at.wrapping_add(*change);
                    }
                    // Written once: the next plane's is beside it.
                    **touched |= bins.iter().any(|bins| !bins.0[*number].is_empty());
                    if turn.is_last && **touched {
                        *most = plane.most(changes);
                    }
                });
                planes.into_iter().map(|(.., most)| most).max().unwrap_or(0)
            }
            (Some(Array::Counted(counts)), Division::ByLink(_, links)) => {
                let mut counters: Vec<_> = counts.split(links).enumerate().collect();
                each(executor, &mut counters, |(number, counter)| {
                    let amounts = bins.iter().flat_map(|bins| &bins.0[*number]);
                    amounts.for_each(|(link, amount)| counter.add(*link, *amount));
                });
                let most = counters.into_iter().map(|(_, counter)| counter.max()).max();
                counts.at_least(most.unwrap_or(0));
                counts.max()
            }
            (Some(Array::Counted(_)), Division::ByPlane(_)) | (None, _) => 0,
        }
    }

    /// Its planes.
    pub(crate) fn planes(&self) -> &[Plane] {
        &self.planes
    }
}
