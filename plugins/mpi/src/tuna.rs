//! `tuna`: TuNA on two levels, which the paper calls TuNA_l^g (K. Fan, J. Domke, S. Ba and S.
//! Kumar, *Configurable Non-uniform All-to-all Algorithms*, arXiv 2411.02581, 2024). With G groups
//! of g ranks, p = g G, and radix k, it takes (k - 1) log_k g + G - 1 steps. With k = 2 and g a
//! power of two, it takes `(log2 g + G - 1) alpha + (log2 g p/2 + (G - 1) g) m beta`.
//!
//! 1. Within each group, Bruck's algorithm with radix k sends each block to the rank with the
//!    position of the destination in its group.
//! 2. Ranks with the same position exchange these blocks, in step s with the rank s groups later.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop, Symmetry, bit_words,
};

pub(crate) struct Tuna;

const RADIX: ParamInfo = ParamInfo::number(
    "radix",
    "2",
    "k, at least 2; a larger k takes more steps and passes on fewer blocks within a group",
);

impl Algorithm for Tuna {
    fn about(&self) -> About {
        About {
            name: "tuna",
            title: "Radix exchange within groups, then between groups",
            paper: "K. Fan, J. Domke, S. Ba, S. Kumar: Configurable Non-uniform All-to-all Algorithms, arXiv 2411.02581 (2024)",
            accepts: "any topology whose nodes can be divided into equal groups",
            params: &[ParamInfo::GROUP, RADIX],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (g, k) = (problem.group("group")?, problem.whole("radix", 2..=u64::MAX)?);
        let groups = problem.topology().nodes() / g;
        schedule.layout(&[groups, g], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1); 2])?;
        schedule.phase("within the group")?;
        let mut weight = 1;
        while weight < g {
            for digit in (1..k).take_while(|digit| digit.saturating_mul(weight) < g) {
                schedule.step()?;
                for from in &planned {
                    let rank = from % g;
                    let distances = (0..g).filter(|distance| distance / weight % k == digit);
                    let members = bit_words(g, distances.map(|distance| (rank + distance) % g));
                    let to = from - rank + (rank + digit * weight) % g;
                    let destinations = [Axis::ALL, Axis::bits(&members)];
                    schedule
                        .send(&Blocks::new(from, to).destinations(Set::product(&destinations)))?;
                }
            }
            weight = weight.saturating_mul(k);
        }
        schedule.phase("between groups")?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn it_has_the_cost_of_the_closed_form() {
        for (groups, log) in [(1_u64, 0_u64), (3, 0), (1, 3), (4, 2), (5, 3)] {
            let g = 1 << log;
            let proved = Rehearsal::on("torus", &[groups, g]).verify(&Tuna).unwrap();
            let p = groups * g;
            assert_eq!(proved.steps, log + groups - 1, "{groups} of {g}");
            assert_eq!(proved.critical_bytes, log * p / 2 + (groups - 1) * g, "{groups} of {g}");
        }
    }

    #[test]
    fn every_radix_and_group_size_is_correct() {
        for (n, g) in [(12, 3), (12, 6), (30, 5), (7, 7), (7, 1)] {
            for k in 2..8_u64 {
                let problem = Rehearsal::on("ring", &[n])
                    .param("group", &g.to_string())
                    .param("radix", &k.to_string());
                let within: u64 = (0..)
                    .map(|i| k.pow(i))
                    .take_while(|weight| *weight < g)
                    .map(|weight| (1..k).filter(|digit| digit * weight < g).count() as u64)
                    .sum();
                let proved = problem.verify(&Tuna).unwrap();
                assert_eq!(proved.steps, within + n / g - 1, "{n} in groups of {g}, radix {k}");
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            }
        }
    }
}
