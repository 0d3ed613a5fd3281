//! The time of a schedule of circuits (section 2.3) is the sum of the times of its rounds. A round
//! takes alpha, plus delta for each link of the longest circuit, plus tau for each unit of a
//! message times the number of circuits that share a link.

use crate::torus::Torus;
use std::cmp::Ordering;
use std::ops::{Add, Mul};
use swapmeet_sdk::Problem;

/// Sums over rounds: `links` counts those of the longest circuit, `blocks` those on the most loaded
/// link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    pub rounds: u64,
    pub links: u64,
    pub blocks: f64,
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            links: self.links + other.links,
            blocks: self.blocks + other.blocks,
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

impl Mul<u64> for Cost {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self {
            rounds: self.rounds * times,
            links: self.links * times,
            blocks: self.blocks * times as f64,
        }
    }
}

impl Cost {
    pub(crate) fn parallel(self, other: Self) -> Self {
        Self {
            rounds: self.rounds.max(other.rounds),
            links: self.links.max(other.links),
            blocks: self.blocks.max(other.blocks),
        }
    }
}

/// The times of a round (alpha), of a link (delta), and of a block on a link (L tau).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MachineTimes {
    pub round: f64,
    pub link: f64,
    pub block: f64,
}

impl MachineTimes {
    pub(crate) fn read(problem: &Problem<'_>) -> Self {
        let block = problem.byte_us() * problem.block_bytes() as f64;
        Self { round: problem.startup_us(), link: problem.hop_us(), block }
    }

    /// Returns whether the first schedule is cheaper. `None` stands for an impossible schedule.
    pub(crate) fn prefer(self, first: Option<Cost>, second: Option<Cost>) -> bool {
        match (first, second) {
            (Some(first), Some(second)) => self.compare(first, second).is_lt(),
            (first, None) => first.is_some(),
            (None, Some(_)) => false,
        }
    }

    fn compare(self, a: Cost, b: Cost) -> Ordering {
        let time = |c: Cost| {
            self.round * c.rounds as f64 + self.link * c.links as f64 + self.block * c.blocks
        };
        let counts =
            a.rounds.cmp(&b.rounds).then(a.blocks.total_cmp(&b.blocks)).then(a.links.cmp(&b.links));
        time(a).total_cmp(&time(b)).then(counts)
    }
}

/// Returns the cost of a round, or `None` if a link would carry more than q circuits. Each circuit
/// is given by its first node, the nodes after that, and the number of its blocks.
pub(crate) fn round(
    torus: &Torus,
    circuits: impl Iterator<Item = (u64, Vec<u64>, u64)>,
) -> Option<Cost> {
    let width = 2 * torus.dims.len();
    let mut loads = vec![0_u32; torus.nodes() as usize * width];
    let (mut links, mut lengths) = (Vec::new(), Vec::new());
    for (mut at, path, blocks) in circuits {
        for &next in &path {
            let link = at as usize * width + torus.link(at, next);
            loads[link] += 1;
            if u64::from(loads[link]) > torus.q {
                return None;
            }
            links.push(link);
            at = next;
        }
        lengths.push((path.len(), blocks));
    }
    let mut rest = &links[..];
    let costs = lengths.into_iter().map(|(count, blocks)| {
        let (own, after) = rest.split_at(count);
        rest = after;
        let shared = own.iter().map(|link| loads[*link]).max().unwrap_or(0);
        Cost { rounds: 1, links: count as u64, blocks: f64::from(shared) * blocks as f64 }
    });
    Some(costs.fold(Cost::default(), Cost::parallel))
}
