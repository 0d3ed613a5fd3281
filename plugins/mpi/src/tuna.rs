//! `tuna`: TuNA on two levels, which the paper calls TuNA_l^g (K. Fan, J. Domke, S. Ba and S.
//! Kumar, *Configurable Non-uniform All-to-all Algorithms*, arXiv 2411.02581, 2024). With G groups
//! of g ranks, p = g G, and radix k, it takes (k - 1) log_k g + G - 1 steps. With k = 2 and g a
//! power of two, it takes `(log2 g + G - 1) alpha + (log2 g p/2 + (G - 1) g) m beta`.
//!
//! 1. Within each group, Bruck's algorithm with radix k sends each block to the rank whose position
//!    in this group is that of the destination in its own group.
//! 2. Ranks with the same position exchange these blocks. In step s, a rank sends to the rank s
//!    groups after it.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop, Symmetry, bit_words,
};

pub struct Tuna;

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
