//! `trivance-allreduce`: A. Jürß, V. Addanki, S. Schmid, *Trivance: Latency-Optimal AllReduce by
//! Shortcutting Multiport Networks* (arXiv 2602.17254). On tori whose sides are powers of three it
//! takes `2 log3 p alpha + (p - 1)/p m beta + (p - 1)/p m gamma`, if a node can send one message in
//! each direction at the same time. `variant=latency` takes `log3 p (alpha + m beta + 2 m gamma)`.
//! A test compares the messages with those of the authors' simulator
//! (github.com/ajuerss/sst-trivance).
//!
//! In step s of a dimension, coordinate c exchanges with the coordinates c - 3^s and c + 3^s. In
//! the reduce-scatter, a node sends each partner the parts of the vector whose coordinate is that
//! of the partner modulo 3^(s + 1). In all variants except `latency`, D allreduces of m/D bytes run
//! at the same time. Allreduce k begins with dimension k.

use crate::shares::{
    Coordinates, PartMessage, ShareCollective, StepOrder, allreduce, exchange_whole, grid_of_powers,
};
use swapmeet_sdk::{
    About, Algorithm, Collective, Grid, ParamInfo, Problem, Schedule, Stop, bit_words,
};

pub struct Trivance;

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &["bandwidth", "latency"],
    "bandwidth",
    "bandwidth: shares of the vector, one collective per dimension; latency: the whole vector in every step",
);

impl Algorithm for Trivance {
    fn about(&self) -> About {
        About {
            name: "trivance-allreduce",
            title: "Allreduce with two partners per step (Trivance)",
            paper: "A. Jürß, V. Addanki, S. Schmid: Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks (arXiv 2602.17254)",
            accepts: "any topology with dimensions that are powers of three; designed for tori",
            collectives: &[Collective::AllReduce],
            params: &[VARIANT],
            ports: u64::MAX,
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let is_power = |radix| 3_u64.pow(log3(radix)) == radix;
        let grid = grid_of_powers(problem, is_power, "three")?;
        if problem.choice("variant", &[("bandwidth", false), ("latency", true)])? {
            return exchange_whole(&grid, &TernaryExchange::new(&grid, 0), schedule);
        }
        let exchanges: Vec<TernaryExchange> =
            (0..grid.dimensions()).map(|first| TernaryExchange::new(&grid, first)).collect();
        allreduce(&grid, &exchanges, schedule)
    }
}

fn log3(radix: u64) -> u32 {
    radix.checked_ilog(3).unwrap_or(0)
}

struct TernaryExchange {
    radices: Vec<u64>,
    order: StepOrder,
}

impl TernaryExchange {
    fn new(grid: &Grid, first: usize) -> Self {
        let radices = grid.radices().to_vec();
        let steps: Vec<u32> = radices.iter().map(|radix| log3(*radix)).collect();
        Self { order: StepOrder::alternating(&steps, first), radices }
    }

    fn congruent(&self, dimension: usize, s: u32, c: u64) -> Coordinates {
        let (radix, stride) = (self.radices[dimension], 3_u64.pow(s));
        bit_words(radix, (c % stride..radix).step_by(stride as usize))
    }
}

impl ShareCollective for TernaryExchange {
    fn order(&self) -> &StepOrder {
        &self.order
    }

    fn messages(&self, step: usize, c: u64) -> Vec<PartMessage> {
        let (dimension, s) = self.order.at(step);
        let (radix, distance) = (self.radices[dimension], 3_u64.pow(s));
        let message =
            |to: u64| PartMessage { to, sign: 0, parts: self.congruent(dimension, s + 1, to) };
        vec![message((c + distance) % radix), message((c + radix - distance) % radix)]
    }

    fn period(&self, _: usize) -> u64 {
        1
    }

    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates {
        self.congruent(dimension, self.order.done(step, dimension), c)
    }
}
