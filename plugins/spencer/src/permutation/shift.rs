//! Translations and the shear: every node's block moves on along its row (sections 4.3 and 4.5.2).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n | `n` | nodes of a cycle |
//! | i = n/a | `by` | distance, at most n/2 either way |
//! | q | `q` | circuits that a directed link carries |
//!
//! A link is passed by every collector among the i nodes behind it, so forwards only there may be
//! n/i q collectors; if one in a goes the other way round, more. Distances in several dimensions
//! are moved in one circuit, dimension by dimension: no more circuits meet on a link than in one
//! dimension, where the thesis moves one dimension after another (section 4.5.1) or, where all are
//! the same, along staircases.
//!
//! A shear's rows are translations by different distances. Between n/4 and n/2 no choice of
//! directions takes 4q collectors in one round (4.28 has it so); such rows take two rounds, or
//! fewer collectors, whichever are fewer rounds in all.

use super::sections::{Collectors, Sections};
use crate::torus::Variant;

/// What the block that a section collects does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Journey {
    /// In which of the middle rounds.
    pub round: usize,
    /// How far along each axis, plus or minus.
    pub by: Vec<i64>,
}

/// Rows of one kind: their sections, and the journey of each.
pub(super) struct Row {
    pub sections: Sections,
    pub journeys: Vec<Journey>,
}

impl Row {
    /// By multiples of what a row of n may be shifted and all that is done in it shifts along: by
    /// sections, if they are all of a size, as many as make journeys the same again.
    pub(super) fn period(&self, n: u64) -> u64 {
        let count = self.journeys.len();
        let same =
            |by: &usize| (0..count).all(|i| self.journeys[i] == self.journeys[(i + by) % count]);
        let turn = (1..=count).filter(|by| count.is_multiple_of(*by)).find(same);
        turn.filter(|_| n.is_multiple_of(count as u64))
            .map_or(n, |turn| n / count as u64 * turn as u64)
    }
}

/// Whether blocks may go the longer way round, for the links' sake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directions {
    /// Where that takes fewer rounds, or is no longer.
    Best,
    /// Never but at half the way round.
    Forward,
    /// Wherever it allows more collectors.
    Both,
}

/// What rows are to do, and with what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub n: u64,
    pub q: u64,
    pub variant: Variant,
    /// Distances, from 0 to n - 1, along each axis.
    pub by: &'a [u64],
    pub directions: Directions,
}

impl Task<'_> {
    fn sections(&self, count: u64) -> Sections {
        let collectors =
            if self.variant == Variant::OnePort { Collectors::Earlier } else { Collectors::Later };
        Sections::new(self.n, count, self.q, self.variant, collectors)
    }

    /// The most sections whose journeys fit q circuits a link in so many middle rounds.
    pub(super) fn row(&self, middles: u64) -> Row {
        let forward = self.fitting(middles, false);
        let half_way = self.by.iter().any(|by| 2 * by == self.n);
        let row = |(count, backs): (u64, Vec<Option<u64>>)| {
            let sections = self.sections(count);
            let journey = |i: u64| Journey {
                round: (i % middles) as usize,
                by: self
                    .by
                    .iter()
                    .zip(&backs)
                    .map(|(by, back)| signed(self.n, *by, goes_back(i / middles, *back)))
                    .collect(),
            };
            Row { journeys: (0..count).map(journey).collect(), sections }
        };
        if self.directions == Directions::Forward && !half_way {
            return row(forward);
        }
        let (forward, both) = (row(forward), row(self.fitting(middles, true)));
        let fewer = both.sections.rounds() < forward.sections.rounds();
        if fewer || half_way || self.directions == Directions::Both { both } else { forward }
    }

    /// The most sections, and for each axis which of them go back: one in so many.
    fn fitting(&self, middles: u64, both: bool) -> (u64, Vec<Option<u64>>) {
        let counts = (1..=self.n.min(self.most(middles))).rev();
        let fit = |count: u64| {
            let collectors = self.sections(count).collectors;
            let backs = self
                .by
                .iter()
                .map(|by| self.back(&collectors, *by, middles, both))
                .collect::<Option<Vec<_>>>();
            backs.map(|backs| (count, backs))
        };
        counts.into_iter().find_map(fit).unwrap_or_else(|| (1, vec![None; self.by.len()]))
    }

    /// More sections than this never fit: n links a direction carry q each, and a section that goes
    /// on by i leaves n - i to another that goes back.
    fn most(&self, middles: u64) -> u64 {
        let least = |by: &u64| {
            let work = by * (self.n - by);
            (middles * self.q)
                .saturating_mul(self.n * self.n)
                .checked_div(work)
                .map_or(self.n, |most| most + 1)
        };
        self.by.iter().map(least).min().unwrap_or(self.n)
    }

    /// Which of the collectors go back so that all fit; `None` if none of the ways tried fits.
    fn back(&self, collectors: &[u64], by: u64, middles: u64, both: bool) -> Option<Option<u64>> {
        let each = if both {
            (2..=(collectors.len() as u64 / middles).max(1)).map(Some).collect()
        } else {
            Vec::new()
        };
        std::iter::once(None).chain(each).find(|back| {
            (0..middles).all(|round| {
                let journeys =
                    collectors.iter().enumerate().filter(|(i, _)| *i as u64 % middles == round);
                let journeys = journeys
                    .map(|(i, at)| (*at, signed(self.n, by, goes_back(i as u64 / middles, *back))));
                busiest(self.n, journeys) <= self.q
            })
        })
    }
}

/// Whether collector i is the one in so many that goes back.
fn goes_back(i: u64, one_in: Option<u64>) -> bool {
    one_in.is_some_and(|a| i % a == a - 1)
}

/// The distance the shorter way round, or the longer.
fn signed(n: u64, by: u64, longer: bool) -> i64 {
    let plus = (2 * by <= n) != longer;
    if by == 0 {
        0
    } else if plus {
        by as i64
    } else {
        -((n - by) as i64)
    }
}

/// The most circuits on a directed link of a cycle.
fn busiest(n: u64, journeys: impl Iterator<Item = (u64, i64)>) -> u64 {
    let mut changes = [vec![0_i64; n as usize + 1], vec![0_i64; n as usize + 1]];
    for (at, by) in journeys {
        let links = by.unsigned_abs();
        // A link is known by its lower end; going back the first one is that below.
        let first = if by > 0 { at } else { (at + n - links) % n };
        let side = &mut changes[usize::from(by > 0)];
        let end = first + links;
        side[first as usize] += 1;
        side[end.min(n) as usize] -= 1;
        if end > n {
            side[0] += 1;
            side[(end - n) as usize] -= 1;
        }
    }
    let most = |side: &Vec<i64>| {
        let mut load = 0;
        side.iter().map(|change| (load += change, load).1).max().unwrap_or(0)
    };
    changes.iter().map(most).max().unwrap_or(0).max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u64, q: u64, by: u64, middles: u64, directions: Directions) -> Row {
        Task { n, q, variant: Variant::AllPorts, by: &[by], directions }.row(middles)
    }

    #[test]
    fn forwards_as_many_sections_as_formula_4_14_has() {
        // i = n/a: sections of n/aq nodes.
        for (n, q, a) in [(24, 1, 3), (48, 2, 4), (72, 2, 4), (60, 3, 5)] {
            assert_eq!(row(n, q, n / a, 1, Directions::Forward).journeys.len() as u64, a * q);
        }
    }

    #[test]
    fn both_ways_as_many_as_formula_4_15_has_where_a_minus_1_divides_q() {
        for (n, q, a) in [(32, 3, 4), (36, 2, 3), (64, 3, 4)] {
            assert_eq!(
                row(n, q, n / a, 1, Directions::Both).journeys.len() as u64,
                a * a * q / (a - 1)
            );
        }
    }

    #[test]
    fn half_the_way_round_half_of_them_go_back() {
        let row = row(36, 1, 18, 1, Directions::Best);
        assert_eq!(row.journeys.len(), 4);
        assert_eq!(row.journeys.iter().map(|j| j.by[0]).collect::<Vec<_>>(), [18, -18, 18, -18]);
    }

    /// Sections of 9, every other of which goes back; of 10 or 9 there is nothing but the whole
    /// row.
    #[test]
    fn a_row_is_the_same_after_as_many_sections_as_make_journeys_the_same() {
        assert_eq!(row(36, 1, 18, 1, Directions::Best).period(36), 18);
        assert_eq!(row(24, 1, 8, 1, Directions::Forward).period(24), 8);
        let uneven = row(25, 1, 8, 1, Directions::Forward);
        assert_eq!((uneven.journeys.len(), uneven.period(25)), (3, 25));
    }

    #[test]
    fn a_distance_of_q_needs_no_collection() {
        let row = row(40, 3, 3, 1, Directions::Best);
        assert_eq!((row.sections.rounds(), row.journeys.len()), (0, 40));
    }

    #[test]
    fn whatever_the_distance_no_link_carries_more_than_q() {
        for n in 1..40 {
            for q in 1..4 {
                for by in 0..n {
                    for middles in 1..=2 {
                        let row = row(n, q, by, middles, Directions::Best);
                        for round in 0..middles {
                            let of_round = row.journeys.iter().zip(&row.sections.collectors);
                            let journeys = of_round
                                .filter(|(j, _)| j.round as u64 == round)
                                .map(|(j, at)| (*at, j.by[0]));
                            assert!(busiest(n, journeys) <= q, "{by} on {n}, q = {q}");
                        }
                    }
                }
            }
        }
    }
}
