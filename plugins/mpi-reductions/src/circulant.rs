//! `circulant-reduce-scatter` and `circulant-allreduce`: J. L. Träff, *Optimal, Non-pipelined
//! Reduce-scatter and Allreduce Algorithms*, arXiv 2410.14234 (2024). For any number p of ranks,
//! the reduce-scatter takes `ceil(log2 p) alpha + (p - 1)/p m beta + (p - 1)/p m gamma`. The
//! allreduce takes `2 ceil(log2 p) alpha + 2 (p - 1)/p m beta + (p - 1)/p m gamma`. The first
//! distance is p/2, rounded up. Each further distance is half of the previous one, rounded up, down
//! to 1.
//!
//! In a step with distance s, let t be the distance of the previous step, or p in the first step.
//! Before the step, rank r has sums for itself and the t - 1 ranks after it. It sends its sums for
//! the ranks from r + s to r + t - 1 to rank r + s, which adds them to its own. The allgather has
//! the same steps in reverse order and direction.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub struct Circulant {
    about: About,
}

const PAPER: About = About {
    paper: "J. L. Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms (arXiv 2410.14234)",
    ..ANYWHERE
};

pub const REDUCE_SCATTER: Circulant = Circulant {
    about: About {
        name: "circulant-reduce-scatter",
        title: "Reduce-scatter on a circulant graph",
        collectives: &[Collective::ReduceScatter],
        ..PAPER
    },
};

pub const ALL_REDUCE: Circulant = Circulant {
    about: About {
        name: "circulant-allreduce",
        title: "Allreduce on a circulant graph",
        collectives: &[Collective::AllReduce],
        ..PAPER
    },
};

/// Returns, for each step, the distance and the number of ranks whose sums a rank sends.
pub fn distances(n: u64) -> Vec<(u64, u64)> {
    let halved = |reach: &u64| (*reach > 1).then(|| reach.div_ceil(2));
    let reaches: Vec<u64> = std::iter::successors(Some(n), halved).collect();
    reaches.windows(2).map(|pair| (pair[1], pair[0] - pair[1])).collect()
}

impl Algorithm for Circulant {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let all = problem.collective() == Collective::AllReduce;
        let lay_out = if all { Schedule::layout_in_parts } else { Schedule::layout };
        lay_out(schedule, &[n], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let distances = distances(n);
        schedule.phase("reduce-scatter")?;
        for (distance, count) in &distances {
            schedule.step()?;
            for rank in &planned {
                let to = (rank + distance) % n;
                let parts = [Axis::range(to, *count)];
                let send = Blocks::new(rank, to).destinations(Set::product(&parts));
                schedule.send(&send.strict().combine())?;
            }
        }
        if !all {
            return Ok(());
        }
        schedule.phase("allgather")?;
        for (distance, count) in distances.iter().rev() {
            schedule.step()?;
            for rank in &planned {
                let parts = [Axis::range(rank, *count)];
                let send = Blocks::new(rank, (rank + n - distance) % n);
                schedule.send(&send.destinations(Set::product(&parts)).strict().copy())?;
            }
        }
        Ok(())
    }
}
