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

pub(crate) struct Trivance;

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

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_torus_has_the_cost_of_the_closed_forms() {
        for sides in [&[1][..], &[3], &[27], &[3, 3], &[9, 3]] {
            let n: u64 = sides.iter().product();
            let log = sides.iter().map(|side| u64::from(log3(*side))).sum::<u64>();
            let on = |bytes: u64, variant: &str| {
                let problem = Rehearsal::on("torus", sides)
                    .collective(Collective::AllReduce, 0)
                    .block_bytes(bytes);
                problem.param("variant", variant).verify(&Trivance).unwrap()
            };
            let proved = on(10, "latency");
            assert_eq!(
                (proved.steps, proved.critical_bytes, proved.summed_bytes),
                (log, 10 * log, 20 * log)
            );
            let proved = on(2 * n * sides.len() as u64, "bandwidth");
            assert_eq!(proved.steps, 2 * log, "{sides:?}");
            assert_eq!(proved.summed_bytes, 2 * sides.len() as u64 * (n - 1));
        }
        let ring =
            Rehearsal::on("ring", &[27]).collective(Collective::AllReduce, 0).block_bytes(27);
        assert_eq!(
            ring.verify(&Trivance).unwrap().critical_bytes,
            26,
            "half of the vector in each direction, in both phases"
        );
    }

    #[test]
    fn other_sides_are_refused() {
        let problem = Rehearsal::on("torus", &[9, 6]).collective(Collective::AllReduce, 0);
        assert_eq!(
            problem.plan(&Trivance).unwrap_err().to_string(),
            "a dimension has 6 nodes, which is not a power of three"
        );
    }
}
