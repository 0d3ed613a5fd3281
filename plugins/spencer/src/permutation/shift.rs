//! Translations and the shear (sections 4.3 and 4.5.2), which move the block of every node along
//! its row: a line of nodes that differ only in the moved coordinate.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | i = n/a | `by` | distance of the movement, at most n/2 in either direction |
//!
//! Data is first collected in some nodes of the row, the collectors. A link carries the forward
//! circuits of all collectors among the i nodes before it. It can carry at most q, so every i
//! consecutive nodes have at most q collectors, and a row has `(n/i) q = a q`. A row can have more
//! if one of every s collectors, for some s, uses the backward direction. A circuit leads along all
//! dimensions of a translation, one after another, so as many circuits share a link as in one
//! dimension. (The thesis moves the data in one round for each dimension or, if all distances are
//! equal, along staircases; section 4.5.1.)
//!
//! Each row of a shear is a translation by a different distance. For distances between n/4 and n/2,
//! no choice of directions allows the 4q collectors in one round that formula 4.28 assumes. These
//! rows use two rounds or fewer collectors, whichever takes fewer rounds in total.

use super::sections::{Collectors, Sections};
use crate::torus::Variant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// The number of the round of the movement. Round 0 is the first round after the collection.
    pub round: usize,
    pub by: Vec<i64>,
}

/// The sections of a row and the movements of their data. All blocks of a row move by the same
/// distance, and rows with equal distances share this value.
pub struct Row {
    pub sections: Sections,
    pub movements: Vec<Movement>,
}

impl Row {
    /// Returns the period: shifts by its multiples are symmetries. It is the length of the shortest
    /// repeating sequence of sections or, if sections differ in size, n.
    pub fn period(&self, n: u64) -> u64 {
        let count = self.movements.len();
        let same =
            |by: &usize| (0..count).all(|i| self.movements[i] == self.movements[(i + by) % count]);
        let turn = (1..=count).filter(|by| count.is_multiple_of(*by)).find(same);
        turn.filter(|_| n.is_multiple_of(count as u64))
            .map_or(n, |turn| n / count as u64 * turn as u64)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directions {
    /// The longer direction is used if this takes fewer rounds, or if both are equally long.
    Best,
    /// The longer direction is never used. If both are equally long, this is [`Directions::Both`].
    Forward,
    /// The longer direction is used whenever this allows more collectors.
    Both,
}

#[derive(Debug, Clone, Copy)]
pub struct ShiftProblem<'a> {
    pub n: u64,
    pub q: u64,
    pub variant: Variant,
    /// Distances from 0 to n - 1, one for each axis.
    pub by: &'a [u64],
    pub directions: Directions,
}

impl ShiftProblem<'_> {
    fn sections(&self, count: u64) -> Sections {
        let collectors =
            if self.variant == Variant::OnePort { Collectors::Earlier } else { Collectors::Later };
        Sections::new(self.n, count, self.q, self.variant, collectors)
    }

    /// Returns a row whose collected data moves in `middles` rounds, with as many sections as q
    /// permits.
    pub fn row(&self, middles: u64) -> Row {
        let forward = self.fitting(middles, false);
        let half_way = self.by.iter().any(|by| 2 * by == self.n);
        let row = |(count, backward): (u64, Vec<Option<u64>>)| {
            let sections = self.sections(count);
            let movement = |i: u64| Movement {
                round: (i % middles) as usize,
                by: self
                    .by
                    .iter()
                    .zip(&backward)
                    .map(|(by, backward_share)| {
                        signed(self.n, *by, is_backward(i / middles, *backward_share))
                    })
                    .collect(),
            };
            Row { movements: (0..count).map(movement).collect(), sections }
        };
        if self.directions == Directions::Forward && !half_way {
            return row(forward);
        }
        let (forward, both) = (row(forward), row(self.fitting(middles, true)));
        let fewer = both.sections.rounds() < forward.sections.rounds();
        if fewer || half_way || self.directions == Directions::Both { both } else { forward }
    }

    /// Returns the largest number of sections. For each axis, also returns the number s if one of
    /// every s collectors uses the longer direction, or `None` if no collector does.
    fn fitting(&self, middles: u64, both: bool) -> (u64, Vec<Option<u64>>) {
        let counts = (1..=self.n.min(self.max_sections(middles))).rev();
        let fit = |count: u64| {
            let collectors = self.sections(count).collectors;
            let backward = self
                .by
                .iter()
                .map(|by| self.backward_share(&collectors, *by, middles, both))
                .collect::<Option<Vec<_>>>();
            backward.map(|backward| (count, backward))
        };
        counts.into_iter().find_map(fit).unwrap_or_else(|| (1, vec![None; self.by.len()]))
    }

    /// Returns an upper bound on the number of sections. In one round, all forward circuits
    /// together use at most n q links, and so do all backward ones. A forward circuit takes i links
    /// and a backward one n - i, so a round has at most `n^2 q / (i (n - i))` circuits.
    fn max_sections(&self, middles: u64) -> u64 {
        let least = |by: &u64| {
            let work = by * (self.n - by);
            (middles * self.q)
                .saturating_mul(self.n * self.n)
                .checked_div(work)
                .map_or(self.n, |sections| sections + 1)
        };
        self.by.iter().map(least).min().unwrap_or(self.n)
    }

    /// Returns how many collectors must use the longer direction, so that no directed link carries
    /// more than q circuits in any of the `middles` rounds:
    /// * `Some(None)`: none;
    /// * `Some(Some(s))`: one of every s collectors of a round, for the first possible s from 2 on;
    /// * `None`: no tried share is possible. Unless `both`, only the shorter direction is tried.
    fn backward_share(
        &self,
        collectors: &[u64],
        by: u64,
        middles: u64,
        both: bool,
    ) -> Option<Option<u64>> {
        let each = if both {
            (2..=(collectors.len() as u64 / middles).max(1)).map(Some).collect()
        } else {
            Vec::new()
        };
        std::iter::once(None).chain(each).find(|backward_share| {
            (0..middles).all(|round| {
                let movements =
                    collectors.iter().enumerate().filter(|(i, _)| *i as u64 % middles == round);
                let movements = movements.map(|(i, at)| {
                    (*at, signed(self.n, by, is_backward(i as u64 / middles, *backward_share)))
                });
                max_load(self.n, movements) <= self.q
            })
        })
    }
}

fn is_backward(i: u64, one_in: Option<u64>) -> bool {
    one_in.is_some_and(|a| i % a == a - 1)
}

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

pub fn max_load(n: u64, movements: impl Iterator<Item = (u64, i64)>) -> u64 {
    let mut changes = [vec![0_i64; n as usize + 1], vec![0_i64; n as usize + 1]];
    for (at, by) in movements {
        let links = by.unsigned_abs();
        // Link x joins nodes x and x + 1, so the lowest link of a backward movement is its last
        // one.
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
    let max_of = |side: &Vec<i64>| {
        let mut load = 0;
        side.iter().map(|change| (load += change, load).1).max().unwrap_or(0)
    };
    changes.iter().map(max_of).max().unwrap_or(0).max(0) as u64
}
