//! `ring-reduce-scatter` and `ring-allreduce`: P. Patarasuk and X. Yuan, *Bandwidth Optimal
//! All-reduce Algorithms for Clusters of Workstations* (2009). The reduce-scatter takes `(p - 1)
//! alpha + (p - 1)/p m beta + (p - 1)/p m gamma`. The allreduce takes `2 (p - 1) alpha + 2 (p -
//! 1)/p m beta + (p - 1)/p m gamma`. Segment c of p starts at rank c + 1 and is sent once round the
//! ring to rank c. Each rank adds its values to it. In the allgather, the segment is sent round the
//! ring a second time, and each rank keeps a copy.
//!
//! With `rings=R`, each segment is divided among R rings ([`Rings`]), and R ranks of each group
//! send to the next group. If only messages between groups take time, and each rank has its own
//! network adapter, the terms with beta are divided by R.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Rings, Schedule, Set, Stop,
};

pub struct Ring {
    about: About,
}

const PAPER: About = About {
    paper: "P. Patarasuk, X. Yuan: Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations (2009)",
    params: &Rings::PARAMS,
    ..ANYWHERE
};

pub const REDUCE_SCATTER: Ring = Ring {
    about: About {
        name: "ring-reduce-scatter",
        title: "Reduce-scatter along a ring of ranks",
        collectives: &[Collective::ReduceScatter],
        ..PAPER
    },
};

pub const ALL_REDUCE: Ring = Ring {
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
