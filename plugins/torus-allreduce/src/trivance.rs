//! Trivance: 2 log3 p alpha + (p - 1)/p m beta + (p - 1)/p m gamma with a message either way at a
//! time, on tori whose sides are powers of three; `variant=latency`: log3 p (alpha + m beta + 2 m
//! gamma). A. Jürß, V. Addanki, S. Schmid, *Trivance: Latency-Optimal AllReduce by Shortcutting
//! Multiport Networks* (arXiv 2602.17254); a reconstruction from its abstract: three times as far a
//! step in both directions at once, and all three terms added up before they go on.
//!
//! In its step number s along a dimension coordinate c exchanges with c - 3^s and c + 3^s. With
//! shares, D collectives run at once, each of m/D, the k-th from dimension k on: c keeps the parts
//! that are c modulo 3^(s + 1), and gives either the parts that are as it is.

use crate::shares::{Coordinates, Gift, Shares, Turns, allreduce, exchange_whole, set, sides};
use swapmeet_sdk::{About, Algorithm, Collective, Grid, ParamInfo, Problem, Schedule, Stop};

pub(crate) struct Trivance;

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &["bandwidth", "latency"],
    "bandwidth",
    "shares of the vector, one collective for each dimension; or the whole vector in every step",
);

impl Algorithm for Trivance {
    fn about(&self) -> About {
        About {
            name: "trivance-allreduce",
            title: "Partners 1, 3, 9, .. nodes away both ways: three times as many are in a sum after each step",
            paper: "A. Jürß, V. Addanki, S. Schmid: Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks (arXiv 2602.17254); a reconstruction",
            accepts: "any topology with dimensions that are powers of three; made for tori",
            collectives: &[Collective::AllReduce],
            params: &[VARIANT],
            ..About::DEFAULT
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        grid(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = grid(problem)?;
        if problem.choice("variant", &[("bandwidth", false), ("latency", true)])? {
            return exchange_whole(&grid, &Leaps::new(&grid, 0), schedule);
        }
        let leaps: Vec<Leaps> =
            (0..grid.dimensions()).map(|first| Leaps::new(&grid, first)).collect();
        allreduce(&grid, &leaps.iter().map(|one| one as &dyn Shares).collect::<Vec<_>>(), schedule)
    }
}

fn grid(problem: &Problem<'_>) -> Result<Grid, Stop> {
    sides(problem, |radix| 3_u64.pow(log3(radix)) == radix, "three")
}

fn log3(radix: u64) -> u32 {
    radix.checked_ilog(3).unwrap_or(0)
}

/// Leaps along each dimension, step by step in turn.
struct Leaps {
    radices: Vec<u64>,
    turns: Turns,
}

impl Leaps {
    fn new(grid: &Grid, first: usize) -> Self {
        let radices = grid.radices().to_vec();
        let steps: Vec<u32> = radices.iter().map(|radix| log3(*radix)).collect();
        Self { turns: Turns::new(&steps, first), radices }
    }

    /// Those that are `c` modulo 3^s.
    fn alike(&self, dimension: usize, s: u32, c: u64) -> Coordinates {
        let (radix, stride) = (self.radices[dimension], 3_u64.pow(s));
        set(radix, (c % stride..radix).step_by(stride as usize))
    }
}

impl Shares for Leaps {
    fn steps(&self) -> usize {
        self.turns.len()
    }

    fn dimension(&self, step: usize) -> usize {
        self.turns.at(step).0
    }

    fn gives(&self, step: usize, c: u64) -> Vec<Gift> {
        let (dimension, s) = self.turns.at(step);
        let (radix, leap) = (self.radices[dimension], 3_u64.pow(s));
        let gift = |to: u64| Gift { to, sign: 0, parts: self.alike(dimension, s + 1, to) };
        vec![gift((c + leap) % radix), gift((c + radix - leap) % radix)]
    }

    /// Every node does the same, seen from itself.
    fn period(&self, _: usize) -> u64 {
        1
    }

    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates {
        self.alike(dimension, self.turns.done(step, dimension), c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_torus_takes_the_steps_bytes_and_sums_of_the_closed_forms() {
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
            "half of it either way, there and back"
        );
    }

    #[test]
    fn other_sides_are_refused() {
        let problem = Rehearsal::on("torus", &[9, 6]).collective(Collective::AllReduce, 0);
        assert_eq!(
            problem.plan(&Trivance).unwrap_err().to_string(),
            "a dimension of 6 nodes, no power of three"
        );
    }
}
