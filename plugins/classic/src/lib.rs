//! What MPI libraries use today, on any topology and any number of nodes.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | processes, one a node |
//! | r | `node` | a process's rank |
//!
//! `linear` is the baseline of every collective: whoever has a block sends it straight to whoever
//! is to have it, all at once. The others are those of R. Thakur, R. Rabenseifner and W. Gropp,
//! *Optimization of Collective Communication Operations in MPICH* (2005), and of J. Bruck et al.,
//! *Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems*
//! (1997).
//!
//! To `ring` and `bruck` ranks are a line, whatever the topology: they name sets in a grid of one
//! axis.

use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
    export_plugin,
};

mod bruck;
mod retri;

const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH (2005)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: MPICH,
    ports: 1,
    ..About::DEFAULT
};

/// Names sets in a grid of one axis.
pub(crate) fn line(problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<u64, Stop> {
    let n = problem.topology().nodes();
    u32::try_from(n)
        .map_err(|_| Stop::unsupported(format!("{n} nodes are too many for one axis")))?;
    schedule.layout(&[n], 1)?;
    Ok(n)
}

/// One step: (p - 1) alpha + (p - 1) m beta through one port.
struct Linear;

impl Algorithm for Linear {
    fn about(&self) -> About {
        About {
            name: "linear",
            title: "Straight to the destination, all at once: the baseline",
            collectives: &Collective::ALL,
            ports: u64::MAX,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, root) = (problem.topology().nodes(), problem.root());
        // Each rank sends to all others, whichever it is; in a permutation that commutes with
        // shifts of each dimension, as translations do, to the one as far on. With a root nothing
        // is symmetric.
        let (from_each_to_each, symmetry) = match problem.collective() {
            Collective::AllToAll
            | Collective::AllGather
            | Collective::ReduceScatter
            | Collective::AllReduce => (true, vec![Symmetry::shift(1)]),
            Collective::Permutation => {
                (false, vec![Symmetry::shift(1); problem.topology().dims().len()])
            }
            Collective::Broadcast
            | Collective::Scatter
            | Collective::Gather
            | Collective::Reduce => (false, vec![Symmetry::NONE]),
        };
        let planned = schedule.symmetric(&symmetry)?;
        if from_each_to_each && planned.is_everyone() {
            affordable(n)?;
        }
        schedule.step()?;
        match problem.collective() {
            Collective::Broadcast | Collective::Scatter => {
                for to in (0..n).filter(|to| *to != root) {
                    let send = Blocks::new(root, to);
                    let whole = problem.collective() == Collective::Broadcast;
                    schedule.send(&if whole {
                        send.copy()
                    } else {
                        send.destinations(Set::one(to))
                    })?;
                }
            }
            Collective::Gather => {
                for from in (0..n).filter(|from| *from != root) {
                    schedule.send(&Blocks::new(from, root))?;
                }
            }
            Collective::AllToAll | Collective::AllGather => {
                // Everyone begins with the next rank, so that not all send to the same at first.
                for from in &planned {
                    for distance in 1..n {
                        let to = (from + distance) % n;
                        let send = Blocks::new(from, to).origins(Set::one(from)).strict();
                        let copies = problem.collective() == Collective::AllGather;
                        schedule.send(&if copies {
                            send.copy()
                        } else {
                            send.destinations(Set::one(to))
                        })?;
                    }
                }
            }
            Collective::Reduce => {
                for from in (0..n).filter(|from| *from != root) {
                    schedule.send(&Blocks::new(from, root).combine())?;
                }
            }
            Collective::ReduceScatter | Collective::AllReduce => {
                for from in &planned {
                    for distance in 1..n {
                        let to = (from + distance) % n;
                        let send = Blocks::new(from, to).combine();
                        let copies = problem.collective() == Collective::AllReduce;
                        schedule.send(&if copies {
                            send.copy()
                        } else {
                            send.destinations(Set::one(to))
                        })?;
                    }
                }
            }
            Collective::Permutation => {
                for from in &planned {
                    let to = problem.destination(from);
                    if to != from {
                        schedule.send(&Blocks::new(from, to))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A step is held as a whole.
fn affordable(n: u64) -> Result<(), Stop> {
    const MOST: u64 = 2048;
    if n <= MOST {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "{n} nodes would send {} messages in one step, at most {MOST} nodes may where each is planned for; pairwise and ring spread them over steps",
        n.saturating_mul(n - 1)
    )))
}

/// (p - 1) (alpha + m beta); Thakur, Rabenseifner & Gropp (2005), section 4.5.
struct Pairwise;

impl Algorithm for Pairwise {
    fn about(&self) -> About {
        About {
            name: "pairwise",
            title: "Direct, a partner a step: exclusive-or on powers of two, a cyclic shift otherwise",
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        // (r + x) + step = (r + step) + x, and so with exclusive-or.
        let planned = schedule.symmetric(&[if n.is_power_of_two() {
            Symmetry::xor(1)
        } else {
            Symmetry::shift(1)
        }])?;
        for step in 1..n {
            schedule.step()?;
            for from in &planned {
                let to = if n.is_power_of_two() { from ^ step } else { (from + step) % n };
                schedule.send(
                    &Blocks::new(from, to)
                        .origins(Set::one(from))
                        .destinations(Set::one(to))
                        .strict(),
                )?;
            }
        }
        Ok(())
    }
}

/// All-to-all (p - 1) alpha + p (p - 1)/2 m beta, allgather (p - 1) (alpha + m beta); there,
/// section 4.1.
struct Ring;

impl Algorithm for Ring {
    fn about(&self) -> About {
        About {
            name: "ring",
            title: "Everyone passes on to the next rank what came from the one before",
            collectives: &[Collective::AllToAll, Collective::AllGather],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule)?;
        // Every rank does the same, seen from itself.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        for step in 1..n {
            schedule.step()?;
            for from in &planned {
                let to = (from + 1) % n;
                let send = Blocks::new(from, to);
                if problem.collective() == Collective::AllGather {
                    // What came in the last step is the block of the rank that many before.
                    let newest = (from + n - (step - 1)) % n;
                    schedule.send(&send.origins(Set::one(newest)).copy().strict())?;
                } else {
                    // All that is not for the sender itself.
                    let others = [Axis::range(to, n - 1)];
                    schedule.send(&send.destinations(Set::product(&others)))?;
                }
            }
        }
        Ok(())
    }
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [Linear, Pairwise, Ring, bruck::Bruck, retri::ReTri],
);
