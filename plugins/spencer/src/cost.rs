//! What a schedule of circuits costs (section 2.3): alpha a round, delta a link of its longest
//! circuit, tau a unit times the circuits that share a link.

use crate::torus::Torus;
use std::cmp::Ordering;
use std::ops::{Add, Mul};
use swapmeet_sdk::Problem;

/// Rounds, links of the longest circuits and blocks through the fullest links, each summed over
/// rounds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cost {
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
    /// A round of which this is one part and that another.
    pub(crate) fn beside(self, other: Self) -> Self {
        Self {
            rounds: self.rounds.max(other.rounds),
            links: self.links.max(other.links),
            blocks: self.blocks.max(other.blocks),
        }
    }
}

/// alpha, delta and L tau of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prices {
    pub round: f64,
    pub link: f64,
    pub block: f64,
}

impl Prices {
    /// Those of the machine, which the host is asked for.
    pub(crate) fn of(problem: &Problem<'_>) -> Self {
        let block = problem.byte_us() * problem.block_bytes() as f64;
        Self { round: problem.startup_us(), link: problem.hop_us(), block }
    }

    /// Whether the first is the cheaper: what has no cost can't be done.
    pub(crate) fn prefer(self, first: Option<Cost>, second: Option<Cost>) -> bool {
        match (first, second) {
            (Some(first), Some(second)) => self.compare(first, second).is_lt(),
            (first, None) => first.is_some(),
            (None, Some(_)) => false,
        }
    }

    /// Which of two is the cheaper; where a machine's prices don't say, the one of fewer rounds,
    /// then blocks, then links.
    fn compare(self, a: Cost, b: Cost) -> Ordering {
        let price = |c: Cost| {
            self.round * c.rounds as f64 + self.link * c.links as f64 + self.block * c.blocks
        };
        let tied =
            a.rounds.cmp(&b.rounds).then(a.blocks.total_cmp(&b.blocks)).then(a.links.cmp(&b.links));
        price(a).total_cmp(&price(b)).then(tied)
    }
}

/// What one round of circuits costs, and `None` if a directed link would carry more than q: of each
/// circuit where it begins, the nodes that it passes, the last its end, and the blocks on it.
pub(crate) fn round(
    torus: &Torus,
    circuits: impl Iterator<Item = (u64, Vec<u64>, u64)>,
) -> Option<Cost> {
    let width = 2 * torus.dims.len();
    let mut loads = vec![0_u32; torus.nodes() as usize * width];
    let (mut links, mut taken) = (Vec::new(), Vec::new());
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
        taken.push((path.len(), blocks));
    }
    let mut rest = &links[..];
    let costs = taken.into_iter().map(|(count, blocks)| {
        let (own, after) = rest.split_at(count);
        rest = after;
        let shared = own.iter().map(|link| loads[*link]).max().unwrap_or(0);
        Cost { rounds: 1, links: count as u64, blocks: f64::from(shared) * blocks as f64 }
    });
    Some(costs.fold(Cost::default(), Cost::beside))
}
