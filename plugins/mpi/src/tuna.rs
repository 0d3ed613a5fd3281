//! TuNA on two tiers: with groups of g ranks, p = g G, and radix k, (k - 1) log_k g + G - 1 steps;
//! k = 2: (log2 g + G - 1) alpha + (log2 g p/2 + (G - 1) g) m beta, for g a power of two; K. Fan,
//! J. Domke, S. Ba and S. Kumar, *Configurable Non-uniform All-to-all Algorithms*, arXiv 2411.02581
//! (2024), TuNA_l^g: a radix within a node, one rank to one rank between nodes.
//!
//! 1. Within its group a rank passes on, as Bruck's algorithm of radix k does, what is for ranks of
//!    each number in any group: everyone has then what its group has for ranks of its own number.
//! 2. Ranks of one number exchange that, a group on each step.

use crate::ANYWHERE;
use crate::hierarchical::GROUP;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct Tuna;

const RADIX: ParamInfo = ParamInfo::number(
    "radix",
    "2",
    "k, from 2: fewer blocks are passed on within a group the larger it is, in more steps",
);

impl Algorithm for Tuna {
    fn about(&self) -> About {
        About {
            name: "tuna",
            title: "By a radix within groups, from rank to rank across",
            paper: "K. Fan, J. Domke, S. Ba, S. Kumar: Configurable Non-uniform All-to-all Algorithms, arXiv 2411.02581 (2024)",
            accepts: "any topology whose nodes fall into groups of one size",
            params: &[GROUP, RADIX],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        radix(problem)?;
        problem.group("group").map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (g, k) = (problem.group("group")?, radix(problem)?);
        let groups = problem.topology().nodes() / g;
        schedule.layout(&[groups, g], 1)?;
        // Everyone does the same, seen from itself and its group.
        let planned = schedule.symmetric(&[Symmetry::shift(1); 2])?;
        schedule.phase("within the group")?;
        let mut far = 1;
        while far < g {
            for digit in (1..k).take_while(|digit| digit.saturating_mul(far) < g) {
                schedule.step()?;
                for from in &planned {
                    let rank = from % g;
                    let ways = (0..g).filter(|distance| distance / far % k == digit);
                    let mut theirs = vec![0; g.div_ceil(64) as usize];
                    ways.map(|distance| (rank + distance) % g)
                        .for_each(|to| theirs[to as usize / 64] |= 1 << (to % 64));
                    let to = from - rank + (rank + digit * far) % g;
                    let destinations = [Axis::ALL, Axis::bits(&theirs)];
                    schedule
                        .send(&Blocks::new(from, to).destinations(Set::product(&destinations)))?;
                }
            }
            far = far.saturating_mul(k);
        }
        schedule.phase("from group to group")?;
        for distance in 1..groups {
            schedule.step()?;
            for from in &planned {
                let to = (from + distance * g) % (groups * g);
                let destinations = [Axis::one(to / g), Axis::ALL];
                schedule.send(&Blocks::new(from, to).destinations(Set::product(&destinations)))?;
            }
        }
        Ok(())
    }
}

/// k.
fn radix(problem: &Problem<'_>) -> Result<u64, Stop> {
    problem.whole("radix", 2..=u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn it_takes_the_closed_forms_steps_and_blocks() {
        for (groups, log) in [(1_u64, 0_u64), (3, 0), (1, 3), (4, 2), (5, 3)] {
            let g = 1 << log;
            let proved = Rehearsal::on("torus", &[groups, g]).verify(&Tuna).unwrap();
            let p = groups * g;
            assert_eq!(proved.steps, log + groups - 1, "{groups} of {g}");
            assert_eq!(proved.critical_bytes, log * p / 2 + (groups - 1) * g, "{groups} of {g}");
        }
    }

    #[test]
    fn every_radix_and_every_group_deliver() {
        for (n, g) in [(12, 3), (12, 6), (30, 5), (7, 7), (7, 1)] {
            for k in 2..8_u64 {
                let problem = Rehearsal::on("ring", &[n])
                    .param("group", &g.to_string())
                    .param("radix", &k.to_string());
                let within: u64 = (0..)
                    .map(|i| k.pow(i))
                    .take_while(|far| *far < g)
                    .map(|far| (1..k).filter(|digit| digit * far < g).count() as u64)
                    .sum();
                let proved = problem.verify(&Tuna).unwrap();
                assert_eq!(proved.steps, within + n / g - 1, "{n} in groups of {g}, radix {k}");
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            }
        }
        let refused = Rehearsal::on("ring", &[4]).param("radix", "1").plan(&Tuna).unwrap_err();
        assert!(refused.to_string().starts_with("`radix=1`: "));
    }
}
