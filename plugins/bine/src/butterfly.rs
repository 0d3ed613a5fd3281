//! Bine butterflies.
//!
//! | algorithm | cost |
//! | --- | --- |
//! | `bine-reduce-scatter`, results of m bytes | log2 p alpha + (p - 1) m beta + (p - 1) m gamma |
//! | `bine-allgather`, blocks of m bytes | log2 p alpha + (p - 1) m beta |
//! | `bine-allreduce`, a vector of m bytes | 2 log2 p alpha + 2 (p - 1)/p m beta + (p - 1)/p m gamma |
//! | `bine-allreduce:variant=whole`, a vector of m bytes | log2 p (alpha + m beta + m gamma) |
//! | `bine-alltoall`, blocks of m bytes | log2 p (alpha + p/2 m beta) |
//!
//! In step i of a reduce-scatter, an even rank r exchanges with rank r + `reach(i + 1)`, and an odd
//! rank r with rank r - `reach(i + 1)`. The first steps have the longest messages and the shortest
//! distances. In each step, a rank sends its partner some segments of the vector: those whose sums
//! are completed by the partner, or by ranks that the partner reaches in later steps.
//!
//! The allgather has the same steps in reverse order. The allreduce is a reduce-scatter followed by
//! an allgather. In each step of the all-to-all, a rank sends its blocks for the ranks whose
//! segments it sends in this step of the reduce-scatter.
//!
//! With `ports=P`, the schedules are those of the authors' library for tori (`bine_trees_fugaku`).
//! P butterflies run at the same time, each with one segment of every block, and their steps use
//! the dimensions of the torus in turn. The library has an all-to-all only for one port. With
//! several ports, this plugin builds it like the other collectives.

use crate::port::{Coordinates, PORTED, PORTS, PortButterfly, grid_and_ports};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Grid, ParamInfo, Planned, Problem, Schedule, Set,
    Stop, Symmetry,
};

pub struct Butterfly {
    about: About,
}

pub const REDUCE_SCATTER: Butterfly = Butterfly {
    about: About {
        name: "bine-reduce-scatter",
        title: "Reduce-scatter on a Bine butterfly",
        collectives: &[Collective::ReduceScatter],
        params: &[PORTS],
        ..PORTED
    },
};

pub const ALL_GATHER: Butterfly = Butterfly {
    about: About {
        name: "bine-allgather",
        title: "Allgather on a Bine butterfly",
        collectives: &[Collective::AllGather],
        params: &[PORTS],
        ..PORTED
    },
};

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &["shares", "whole"],
    "shares",
    "shares: a reduce-scatter and an allgather; whole: the whole vector in every step",
);

pub const ALL_REDUCE: Butterfly = Butterfly {
    about: About {
        name: "bine-allreduce",
        title: "Allreduce on Bine butterflies",
        collectives: &[Collective::AllReduce],
        params: &[VARIANT, PORTS],
        ..PORTED
    },
};

pub const ALL_TO_ALL: Butterfly = Butterfly {
    about: About {
        name: "bine-alltoall",
        title: "All-to-all on a Bine butterfly",
        collectives: &[Collective::AllToAll],
        params: &[PORTS],
        ..PORTED
    },
};

/// Declares the symmetry and returns the nodes to plan. Nodes with odd coordinates mirror those
/// with even ones, so only shifts by 2 are symmetries.
fn planned(grid: &Grid, schedule: &mut Schedule<'_>) -> Result<Planned, Stop> {
    let symmetry = |radix: &u64| if *radix > 1 { Symmetry::shift(2) } else { Symmetry::NONE };
    schedule.symmetric(&grid.radices().iter().map(symmetry).collect::<Vec<_>>())
}

impl Algorithm for Butterfly {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (grid, ports) = grid_and_ports(problem)?;
        let collective = problem.collective();
        let butterflies: Vec<PortButterfly<'_>> =
            (0..ports).map(|port| PortButterfly::new(&grid, port)).collect();
        let steps = butterflies[0].steps();
        // Case 1: each step exchanges the whole vector, or the whole segment of each port.
        if collective == Collective::AllReduce
            && problem.choice("variant", &[("shares", false), ("whole", true)])?
        {
            schedule.layout(grid.radices(), ports as u32)?;
            let planned = planned(&grid, schedule)?;
            for i in 0..steps {
                schedule.step()?;
                for r in &planned {
                    for (segment, port) in (0..).zip(&butterflies) {
                        let send = Blocks::new(r, port.partner(r, i)).copy().combine();
                        schedule.send(&send.segments(Axis::one(segment)))?;
                    }
                }
            }
            return Ok(());
        }
        // Case 2: each step sends some segments of the vector, or some blocks.
        if collective == Collective::AllReduce {
            schedule.layout_in_parts(grid.radices(), ports as u32)?;
        } else {
            schedule.layout(grid.radices(), ports as u32)?;
        }
        let planned = planned(&grid, schedule)?;
        let is_all_to_all = collective == Collective::AllToAll;
        if collective != Collective::AllGather {
            schedule.phase(if is_all_to_all { "all-to-all" } else { "reduce-scatter" })?;
            for i in 0..steps {
                schedule.step()?;
                for r in &planned {
                    for (segment, port) in (0..).zip(&butterflies) {
                        let to = port.partner(r, i);
                        let reached = port.reached(to, &(i + 1..steps));
                        let parts: Vec<Axis<'_>> = reached.iter().map(Coordinates::axis).collect();
                        let send = Blocks::new(r, to).segments(Axis::one(segment));
                        let send = send.destinations(Set::product(&parts));
                        schedule.send(&if is_all_to_all {
                            send
                        } else {
                            send.strict().combine()
                        })?;
                    }
                }
            }
        }
        if matches!(collective, Collective::AllGather | Collective::AllReduce) {
            schedule.phase("allgather")?;
            for i in (0..steps).rev() {
                schedule.step()?;
                for r in &planned {
                    for (segment, port) in (0..).zip(&butterflies) {
                        let own = port.reached(r, &(i + 1..steps));
                        let parts: Vec<Axis<'_>> = own.iter().map(Coordinates::axis).collect();
                        let send = Blocks::new(r, port.partner(r, i)).segments(Axis::one(segment));
                        let send = send.strict().copy();
                        schedule.send(&if collective == Collective::AllReduce {
                            send.destinations(Set::product(&parts))
                        } else {
                            send.origins(Set::product(&parts))
                        })?;
                    }
                }
            }
        }
        Ok(())
    }
}
