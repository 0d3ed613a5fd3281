//! Bine butterflies. The costs use p for the number of ranks, alpha for the start-up of a message,
//! beta for the time per byte, and gamma for the time to add a byte.
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
//! rank r exchanges with rank r - `reach(i + 1)`. The first steps have the longest messages and the
//! shortest distances. In each step, a rank sends some segments of the vector to its partner. The
//! partner, or a rank with which the partner exchanges in a later step, completes the sums of these
//! segments. The allgather has the same steps in reverse order. The allreduce is a reduce-scatter
//! followed by an allgather. The all-to-all has the steps of the reduce-scatter: a rank sends the
//! blocks whose destinations are the ranks for which it would send sums in the reduce-scatter.

use crate::{ANYWHERE, reach, steps};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Planned, Problem, Schedule, Set, Stop,
    Symmetry, bit_words,
};

pub(crate) struct Butterfly {
    about: About,
}

pub(crate) const REDUCE_SCATTER: Butterfly = Butterfly {
    about: About {
        name: "bine-reduce-scatter",
        title: "Reduce-scatter on a Bine butterfly",
        collectives: &[Collective::ReduceScatter],
        ..ANYWHERE
    },
};

pub(crate) const ALL_GATHER: Butterfly = Butterfly {
    about: About {
        name: "bine-allgather",
        title: "Allgather on a Bine butterfly",
        collectives: &[Collective::AllGather],
        ..ANYWHERE
    },
};

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &["shares", "whole"],
    "shares",
    "shares: a reduce-scatter and an allgather; whole: the whole vector in every step",
);

pub(crate) const ALL_REDUCE: Butterfly = Butterfly {
    about: About {
        name: "bine-allreduce",
        title: "Allreduce on Bine butterflies",
        collectives: &[Collective::AllReduce],
        params: &[VARIANT],
        ..ANYWHERE
    },
};

pub(crate) const ALL_TO_ALL: Butterfly = Butterfly {
    about: About {
        name: "bine-alltoall",
        title: "All-to-all on a Bine butterfly",
        collectives: &[Collective::AllToAll],
        ..ANYWHERE
    },
};

/// Returns the partner of rank r in step i.
fn partner(r: u64, i: u32, n: u64) -> u64 {
    let by = if r.is_multiple_of(2) { reach(i + 1) } else { -reach(i + 1) };
    (r as i64 + by).rem_euclid(n as i64) as u64
}

/// Returns the ranks to which data of rank `r` spreads in the steps from `i` on, including `r`, as
/// bits.
fn reached(r: u64, i: u32, steps: u32) -> Vec<u64> {
    let n = 1_u64 << steps;
    let mut reached = vec![r];
    for i in i..steps {
        let partners: Vec<u64> = reached.iter().map(|r| partner(*r, i, n)).collect();
        reached.extend(partners);
    }
    bit_words(n, reached)
}

/// Declares the symmetry and returns the nodes to plan. Even ranks send in one direction and odd
/// ranks in the opposite direction, at the same distance. Shifts by 2 therefore leave the schedule
/// unchanged.
fn planned(n: u64, schedule: &mut Schedule<'_>) -> Result<Planned, Stop> {
    schedule.symmetric(&[if n > 1 { Symmetry::shift(2) } else { Symmetry::NONE }])
}

impl Algorithm for Butterfly {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        steps(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (s, n) = (steps(problem)?, problem.topology().nodes());
        let collective = problem.collective();
        // Case 1: each step exchanges the whole vector.
        if collective == Collective::AllReduce
            && problem.choice("variant", &[("shares", false), ("whole", true)])?
        {
            schedule.layout(&[n], 1)?;
            let planned = planned(n, schedule)?;
            for i in 0..s {
                schedule.step()?;
                planned.iter().try_for_each(|r| {
                    schedule.send(&Blocks::new(r, partner(r, i, n)).copy().combine())
                })?;
            }
            return Ok(());
        }
        // Case 2: each step sends some segments of the vector, or some blocks. The reduce-scatter and
        // the all-to-all begin with near ranks.
        if collective == Collective::AllReduce {
            schedule.layout_in_parts(&[n], 1)?;
        } else {
            schedule.layout(&[n], 1)?;
        }
        let planned = planned(n, schedule)?;
        let is_all_to_all = collective == Collective::AllToAll;
        if collective != Collective::AllGather {
            schedule.phase(if is_all_to_all { "all-to-all" } else { "reduce-scatter" })?;
            for i in 0..s {
                schedule.step()?;
                for r in &planned {
                    let to = partner(r, i, n);
                    let receiver_parts = reached(to, i + 1, s);
                    let parts = [Axis::bits(&receiver_parts)];
                    let send = Blocks::new(r, to).destinations(Set::product(&parts));
                    schedule.send(&if is_all_to_all { send } else { send.strict().combine() })?;
                }
            }
        }
        // The allgather begins with far ranks.
        if matches!(collective, Collective::AllGather | Collective::AllReduce) {
            schedule.phase("allgather")?;
            for i in (0..s).rev() {
                schedule.step()?;
                for r in &planned {
                    let to = partner(r, i, n);
                    let own = reached(r, i + 1, s);
                    let parts = [Axis::bits(&own)];
                    let send = Blocks::new(r, to).strict().copy();
                    let whole = collective == Collective::AllReduce;
                    schedule.send(&if whole {
                        send.destinations(Set::product(&parts))
                    } else {
                        send.origins(Set::product(&parts))
                    })?;
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
    fn every_power_of_two_has_the_cost_of_the_closed_forms() {
        for n in [1_u64, 2, 4, 8, 32] {
            let log = u64::from(n.trailing_zeros());
            let on = |collective, bytes| {
                Rehearsal::on("ring", &[n]).collective(collective, 0).block_bytes(bytes)
            };
            let scattered = on(Collective::ReduceScatter, 10).verify(&REDUCE_SCATTER).unwrap();
            assert_eq!(
                (scattered.steps, scattered.critical_bytes, scattered.summed_bytes),
                (log, 10 * (n - 1), 10 * (n - 1))
            );
            let gathered = on(Collective::AllGather, 10).verify(&ALL_GATHER).unwrap();
            assert_eq!((gathered.steps, gathered.critical_bytes), (log, 10 * (n - 1)));
            let exchanged = on(Collective::AllToAll, 10).verify(&ALL_TO_ALL).unwrap();
            assert_eq!((exchanged.steps, exchanged.critical_bytes), (log, 10 * log * n / 2));
            let everywhere = on(Collective::AllReduce, 10 * n).verify(&ALL_REDUCE).unwrap();
            assert_eq!(
                (everywhere.steps, everywhere.critical_bytes, everywhere.summed_bytes),
                (2 * log, 20 * (n - 1), 10 * (n - 1))
            );
            let whole = on(Collective::AllReduce, 10)
                .param("variant", "whole")
                .verify(&ALL_REDUCE)
                .unwrap();
            assert_eq!(
                (whole.steps, whole.critical_bytes, whole.summed_bytes),
                (log, 10 * log, 10 * log)
            );
        }
    }

    #[test]
    fn other_numbers_of_nodes_are_refused() {
        let problem = Rehearsal::on("ring", &[6]).collective(Collective::AllReduce, 0);
        assert_eq!(
            problem.plan(&ALL_REDUCE).unwrap_err().to_string(),
            "6 nodes are not a power of two"
        );
    }
}
