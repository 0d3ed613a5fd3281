//! `ring-reduce-scatter` and `ring-allreduce`: P. Patarasuk and X. Yuan, *Bandwidth Optimal
//! All-reduce Algorithms for Clusters of Workstations* (2009). The reduce-scatter takes `(p - 1)
//! alpha + (p - 1)/p m beta + (p - 1)/p m gamma`. The allreduce takes `2 (p - 1) alpha + 2 (p -
//! 1)/p m beta + (p - 1)/p m gamma`. Segment c of p starts at rank c + 1 and is sent once round the
//! ring to rank c. Each rank adds its values to it. In the allgather, the segment is sent round the
//! ring a second time, and each rank keeps a copy.
//!
//! With `rings=R` each segment is divided among R rings ([`Rings`]), and R ranks of each group send
//! to the next group. If only messages between groups take time, and a rank has an adapter of its
//! own, the terms with beta are divided by R.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Rings, Schedule, Set, Stop,
};

pub(crate) struct Ring {
    about: About,
}

const PAPER: About = About {
    paper: "P. Patarasuk, X. Yuan: Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations (2009)",
    params: &Rings::PARAMS,
    ..ANYWHERE
};

pub(crate) const REDUCE_SCATTER: Ring = Ring {
    about: About {
        name: "ring-reduce-scatter",
        title: "Reduce-scatter along a ring of ranks",
        collectives: &[Collective::ReduceScatter],
        ..PAPER
    },
};

pub(crate) const ALL_REDUCE: Ring = Ring {
    about: About {
        name: "ring-allreduce",
        title: "Allreduce along a ring of ranks",
        collectives: &[Collective::AllReduce],
        ..PAPER
    },
};

impl Algorithm for Ring {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let all = problem.collective() == Collective::AllReduce;
        let lay_out = if all { Schedule::layout_in_parts } else { Schedule::layout };
        let rings = Rings::of(problem)?;
        lay_out(schedule, &[n], rings.count() as u32)?;
        let planned = schedule.symmetric(&[rings.symmetry()])?;
        let send = |rank, ring, distance| {
            let part = Set::one(rings.before(ring, rank, distance));
            let send = Blocks::new(rank, rings.after(ring, rank, 1)).destinations(part);
            send.segments(Axis::one(ring)).strict()
        };
        schedule.phase("reduce-scatter")?;
        for step in 1..n {
            schedule.step()?;
            for rank in &planned {
                for ring in 0..rings.count() {
                    schedule.send(&send(rank, ring, step).combine())?;
                }
            }
        }
        if !all {
            return Ok(());
        }
        schedule.phase("allgather")?;
        for step in 0..n - 1 {
            schedule.step()?;
            for rank in &planned {
                for ring in 0..rings.count() {
                    schedule.send(&send(rank, ring, step).copy())?;
                }
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
    fn every_size_has_the_cost_of_the_closed_forms() {
        for n in 1..12_u64 {
            let scattered = Rehearsal::on("ring", &[n])
                .collective(Collective::ReduceScatter, 0)
                .block_bytes(10);
            let scattered = scattered.verify(&REDUCE_SCATTER).unwrap();
            assert_eq!((scattered.steps, scattered.messages), (n - 1, n * (n - 1)), "{n}");
            assert_eq!(
                (scattered.critical_bytes, scattered.summed_bytes),
                (10 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            let everywhere = Rehearsal::on("ring", &[n])
                .collective(Collective::AllReduce, 0)
                .block_bytes(10 * n);
            let everywhere = everywhere.verify(&ALL_REDUCE).unwrap();
            assert_eq!(
                (everywhere.steps, everywhere.messages),
                (2 * (n - 1), 2 * n * (n - 1)),
                "{n}"
            );
            assert_eq!(
                (everywhere.critical_bytes, everywhere.summed_bytes),
                (20 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            assert!(everywhere.max_sends <= 1 && everywhere.max_receives <= 1);
        }
    }

    /// Rings cross from each group to the next once. The form is the paper's, with m / R instead of
    /// m.
    #[test]
    fn several_rings_divide_the_bytes_between_groups() {
        for (groups, g, rings) in [(2, 4, 4), (3, 2, 2), (4, 3, 2), (1, 4, 4), (3, 4, 1), (5, 1, 1)]
        {
            let (n, block) = (groups * g, 60);
            let problem = Rehearsal::on("groups", &[groups, g]).block_bytes(block * n);
            let problem = problem.collective(Collective::AllReduce, 0);
            let problem = problem.param("rings", &rings.to_string());
            let proved = problem.verify(&ALL_REDUCE).unwrap();
            assert_eq!(proved.steps, 2 * (n - 1), "{groups} x {g}, {rings} rings");
            assert_eq!(proved.summed_bytes, block * (n - 1), "{groups} x {g}, {rings} rings");
            let mut sent = vec![0; n as usize];
            for step in problem.plan(&ALL_REDUCE).unwrap() {
                for send in step.sends.iter().filter(|send| send.from / g != send.to / g) {
                    sent[send.from as usize] += send.segments.len() as u64 * block / rings;
                }
            }
            let leaving = |rank: u64| groups > 1 && (rank + 1) % g < rings;
            let expected = |rank| if leaving(rank) { 2 * (n - 1) * block / rings } else { 0 };
            assert_eq!(
                sent,
                (0..n).map(expected).collect::<Vec<_>>(),
                "{groups} x {g}, {rings} rings"
            );
        }
    }

    #[test]
    fn there_are_at_most_as_many_rings_as_ranks_in_a_group() {
        let refused = |rings: &str, group: &str| {
            let problem = Rehearsal::on("groups", &[2, 4]).collective(Collective::AllReduce, 0);
            problem
                .param("rings", rings)
                .param("group", group)
                .plan(&ALL_REDUCE)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(refused("5", "4"), "`rings=5`: expected a whole number from 1 to 4");
        assert_eq!(refused("0", "4"), "`rings=0`: expected a whole number from 1");
        assert_eq!(refused("2", "3"), "8 nodes cannot be divided into groups of 3");
    }
}
