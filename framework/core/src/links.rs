//! The load of directed links in a step.
//!
//! A step's runs are kept until its maximum is asked for; then the cheaper way of adding them up is taken. *Link by link* costs as much as the
//! messages have hops. *By lines* adds each run at its first link, takes it off after its last and sums along the lines of the planes
//! that were touched: that costs a message as little as it has dimensions, and each touched plane once.

use crate::topology::{Plane, Run, Topology};

/// Counts load on directed links, step by step.
#[derive(Debug)]
pub struct LinkLoad {
    planes: Vec<Plane>,
    /// For each link, its load; all zero between steps. Empty where there are too many links to count in an array.
    cells: Vec<u64>,
    runs: Vec<(Run, u64)>,
    hops: u64,
    touched: Vec<bool>,
}

impl LinkLoad {
    /// More links than this are not kept in an array: only those that a step uses are.
    const MOST_CELLS: u64 = 1 << 26;

    /// A counter for the links of `topology`.
    pub fn new(topology: &dyn Topology) -> Self {
        let slots = topology.link_slots();
        let planes = topology.planes().to_vec();
        let cells = if slots <= Self::MOST_CELLS || !planes.is_empty() { slots as usize } else { 0 };
        Self { cells: vec![0; cells], runs: Vec::new(), hops: 0, touched: vec![false; planes.len()], planes }
    }

    /// Begins a step.
    pub fn begin(&mut self) {
        self.runs.clear();
        self.hops = 0;
        self.touched.fill(false);
    }

    /// Puts `amount` on every link of a run.
    pub fn add(&mut self, run: Run, amount: u64) {
        self.hops += run.len;
        if let Some(touched) = self.touched.get_mut(run.plane as usize) {
            *touched = true;
        }
        self.runs.push((run, amount));
    }

    /// The most load on one link since the step began.
    pub fn max(&mut self) -> u64 {
        if self.cells.is_empty() {
            return self.max_of_few();
        }
        // Going link by link writes and clears scattered cells; a sweep reads its planes in order.
        let swept: u64 = self.planes.iter().zip(&self.touched).filter(|(_, t)| **t).map(|(p, _)| p.outer * p.radix * p.stride).sum();
        let by_lines = !self.planes.is_empty() && swept + 2 * self.runs.len() as u64 <= 2 * self.hops;
        if by_lines { self.max_by_lines() } else { self.max_link_by_link() }
    }

    fn max_link_by_link(&mut self) -> u64 {
        let mut max = 0;
        for (run, amount) in &self.runs {
            let mut link = run.first as usize;
            for _ in 0..run.len {
                let cell = &mut self.cells[link];
                *cell = cell.saturating_add(*amount);
                max = max.max(*cell);
                link += run.stride as usize;
            }
        }
        for (run, _) in &self.runs {
            let mut link = run.first as usize;
            for _ in 0..run.len {
                self.cells[link] = 0;
                link += run.stride as usize;
            }
        }
        max
    }

    fn max_by_lines(&mut self) -> u64 {
        for (run, amount) in &self.runs {
            let plane = &self.planes[run.plane as usize];
            let end = run.first + run.len * run.stride;
            let first = &mut self.cells[run.first as usize];
            *first = first.wrapping_add(*amount);
            let line_end = (run.first - plane.offset) / (plane.radix * plane.stride) + 1;
            if end - plane.offset < line_end * plane.radix * plane.stride {
                let after = &mut self.cells[end as usize];
                *after = after.wrapping_sub(*amount);
            }
        }
        let mut max = 0;
        for (plane, touched) in self.planes.iter().zip(&self.touched) {
            if !touched {
                continue;
            }
            let (stride, line) = (plane.stride as usize, (plane.radix * plane.stride) as usize);
            let offset = plane.offset as usize;
            for lines in self.cells[offset..offset + plane.outer as usize * line].chunks_exact_mut(line) {
                if stride == 1 {
                    let mut sum = 0_u64;
                    for cell in lines {
                        sum = sum.wrapping_add(std::mem::take(cell));
                        max = max.max(sum);
                    }
                } else {
                    max = max.max(sum_rows(lines, stride));
                }
            }
        }
        max
    }

    /// For networks with too many links for an array: sorts what the step uses.
    fn max_of_few(&mut self) -> u64 {
        let mut used: Vec<(u64, u64)> = self
            .runs
            .iter()
            .flat_map(|(run, amount)| (0..run.len).map(move |i| (run.first + i * run.stride, *amount)))
            .collect();
        used.sort_unstable();
        used.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|(_, amount)| amount).sum()).max().unwrap_or(0)
    }
}

/// Sums rows of `stride` cells downwards, returns the largest sum and leaves zeros.
fn sum_rows(lines: &mut [u64], stride: usize) -> u64 {
    let mut max = 0;
    let mut rows = lines.chunks_exact_mut(stride);
    let Some(mut above) = rows.next() else { return 0 };
    for row in rows {
        for (cell, above) in row.iter_mut().zip(above.iter_mut()) {
            *cell = cell.wrapping_add(*above);
            max = max.max(*above);
            *above = 0;
        }
        above = row;
    }
    for above in above {
        max = max.max(*above);
        *above = 0;
    }
    max
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever way is taken, the busiest link is that of a plain count.
        #[test]
        fn the_busiest_link_is_that_of_a_plain_count(
            spec in prop_oneof![
                Just("torus:5x4"), Just("mesh:3x4x2"), Just("ring:7"), Just("torus:2x1x3"), Just("hypercube:4"), Just("fully-connected:9")
            ],
            messages in prop::collection::vec((0_u64..1000, 0_u64..1000, 1_u64..9), 0..60),
        ) {
            let topology = parse(spec).unwrap();
            let n = topology.nodes();
            let mut plain: HashMap<u64, u64> = HashMap::new();
            let mut load = LinkLoad::new(topology.as_ref());
            for round in 0..2 {
                load.begin();
                plain.clear();
                for (from, to, amount) in &messages {
                    topology.route((from + round) % n, to % n, None, &mut |run| {
                        load.add(run, *amount);
                        for i in 0..run.len {
                            *plain.entry(run.first + i * run.stride).or_default() += amount;
                        }
                    }).unwrap();
                }
                let expected = plain.values().copied().max().unwrap_or(0);
                prop_assert_eq!(load.max_of_few(), expected);
                prop_assert_eq!(load.max_link_by_link(), expected);
                if !topology.planes().is_empty() {
                    prop_assert_eq!(load.max_by_lines(), expected);
                }
                prop_assert_eq!(load.max(), expected);
            }
        }
    }

    #[test]
    fn links_without_number_cost_no_memory() {
        let load = LinkLoad::new(parse("fully-connected:100000").unwrap().as_ref());
        assert!(load.cells.is_empty());
    }
}
