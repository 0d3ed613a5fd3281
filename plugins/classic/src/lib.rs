//! Basic algorithms of today's MPI libraries, for any topology and any number of nodes.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | number of processes, one on each node |
//! | r | `from` | rank of a process |
//! | alpha, beta, m | | start-up of a message, time per byte, bytes of a block |
//!
//! `linear` is the baseline of every collective: each node sends its blocks directly, in one step.
//! The other algorithms are from these papers:
//! * R. Thakur, R. Rabenseifner and W. Gropp, *Optimization of Collective Communication Operations
//!   in MPICH* (2005);
//! * J. Bruck et al., *Efficient Algorithms for All-to-All Communications in Multiport
//!   Message-Passing Systems* (1997);
//! * A. Juerss and S. Schmid, *Revisiting Bruck: Phase-Efficient All-to-All Communication in
//!   Reconfigurable Networks* (2026), for `retri`.
//!
//! Algorithms that send to ranges of ranks use a grid with one axis, whatever the topology.

use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Rings, Schedule, Set, Stop, Symmetry,
    export_plugin,
};

pub mod bruck;
pub mod retri;

const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH (2005)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: MPICH,
    ports: 1,
    ..About::DEFAULT
};

pub(crate) fn line(problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<u64, Stop> {
    let n = problem.topology().nodes();
    schedule.layout(&[n], 1)?;
    Ok(n)
}

/// All collectives except those of tokens, for which there are `direct-dispatch` and
/// `direct-combine`.
const COLLECTIVES: [Collective; 9] = [
    Collective::AllToAll,
    Collective::Broadcast,
    Collective::Scatter,
    Collective::Gather,
    Collective::AllGather,
    Collective::Permutation,
    Collective::Reduce,
    Collective::ReduceScatter,
    Collective::AllReduce,
];

/// With one port, `linear` takes `(p - 1) alpha + (p - 1) m beta`.
struct Linear;

impl Algorithm for Linear {
    fn about(&self) -> About {
        About {
            name: "linear",
            title: "Direct messages in a single step (the baseline)",
            collectives: &COLLECTIVES,
            ports: u64::MAX,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, root) = (problem.topology().nodes(), problem.root());
        // Case 1: every rank sends to all others, so all shifts are symmetries. Case 2: in a
        // permutation, the host keeps only the shifts that commute with it. Case 3: with a root,
        // there is no symmetry.
        let (from_each_to_each, symmetry) = match problem.collective() {
            Collective::AllToAll
            | Collective::AllGather
            | Collective::ReduceScatter
            | Collective::AllReduce => (true, vec![Symmetry::shift(1)]),
            Collective::Permutation => {
                (false, vec![Symmetry::shift(1); problem.topology().dims().len()])
            }
            _ => (false, vec![Symmetry::NONE]),
        };
        let planned = schedule.symmetric(&symmetry)?;
        if from_each_to_each && planned.is_everyone() {
            let is_alltoall = problem.collective() == Collective::AllToAll;
            check_step_size(n, is_alltoall && !problem.is_uniform())?;
        }
        schedule.step()?;
        match problem.collective() {
            Collective::Broadcast | Collective::Scatter => {
                for to in (0..n).filter(|to| *to != root) {
                    let send = Blocks::new(root, to);
                    schedule.send(&match problem.collective() {
                        Collective::Broadcast => send.copy(),
                        _ => send.destinations(Set::one(to)),
                    })?;
                }
            }
            Collective::Gather | Collective::Reduce => {
                for from in (0..n).filter(|from| *from != root) {
                    let send = Blocks::new(from, root);
                    schedule.send(&match problem.collective() {
                        Collective::Reduce => send.combine(),
                        _ => send,
                    })?;
                }
            }
            Collective::AllToAll
            | Collective::AllGather
            | Collective::ReduceScatter
            | Collective::AllReduce => {
                // Begin with the next rank, so that the first messages of all ranks have different
                // receivers.
                for from in &planned {
                    for to in (1..n).map(|distance| (from + distance) % n) {
                        let send = Blocks::new(from, to);
                        schedule.send(&match problem.collective() {
                            Collective::AllToAll => Blocks::direct(from, to),
                            Collective::AllGather => send.origins(Set::one(from)).copy().strict(),
                            Collective::ReduceScatter => send.destinations(Set::one(to)).combine(),
                            _ => send.copy().combine(),
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
            other => unreachable!("`linear` does not implement {}", other.word()),
        }
        Ok(())
    }
}

/// Errors if the messages of the step do not fit in memory. If blocks can be empty, there may be
/// far fewer messages than pairs. More nodes are then allowed, because the host also limits the
/// messages.
fn check_step_size(n: u64, may_be_sparse: bool) -> Result<(), Stop> {
    const MAX_NODES: u64 = 4096;
    const MAX_SPARSE_NODES: u64 = 16_384;
    if n <= if may_be_sparse { MAX_SPARSE_NODES } else { MAX_NODES } {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "{n} nodes would send {} messages in one step; the limit for a full plan is {MAX_NODES} nodes, and {MAX_SPARSE_NODES} nodes of an all-to-all with a size for each pair (pairwise and ring use several steps)",
        n.saturating_mul(n - 1)
    )))
}

/// `pairwise`: takes `(p - 1) (alpha + m beta)` (Thakur, Rabenseifner and Gropp, section 4.5). In
/// step s, rank r exchanges with rank r xor s if p is a power of two, and otherwise sends to rank
/// r + s and receives from rank r - s.
struct Pairwise;

impl Algorithm for Pairwise {
    fn about(&self) -> About {
        About { name: "pairwise", title: "Direct exchange with one partner per step", ..ANYWHERE }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let planned = schedule.symmetric(&[if n.is_power_of_two() {
            Symmetry::xor(1)
        } else {
            Symmetry::shift(1)
        }])?;
        for step in 1..n {
            schedule.step()?;
            for from in &planned {
                let to = if n.is_power_of_two() { from ^ step } else { (from + step) % n };
                schedule.send(&Blocks::direct(from, to))?;
            }
        }
        Ok(())
    }
}

/// `ring` (Thakur, Rabenseifner and Gropp, section 4.1).
///
/// * An all-to-all takes `(p - 1) alpha + p (p - 1)/2 m beta`.
/// * An allgather takes `(p - 1) (alpha + m beta)`.
///
/// In each step, every rank passes the blocks that it received in the step before on to the next
/// rank, except the blocks for itself. With `rings=R`, an allgather sends one segment of each block
/// on each of R rings ([`Rings`]).
pub struct Ring;

impl Algorithm for Ring {
    fn about(&self) -> About {
        About {
            name: "ring",
            title: "Forwarding along a ring of ranks",
            collectives: &[Collective::AllToAll, Collective::AllGather],
            params: &Rings::PARAMS,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, rings) = (problem.topology().nodes(), Rings::of(problem)?);
        if problem.collective() != Collective::AllGather && rings.count() > 1 {
            return Err(Stop::unsupported("an all-to-all has only one ring"));
        }
        schedule.layout(&[n], rings.count() as u32)?;
        let planned = schedule.symmetric(&[rings.symmetry()])?;
        for step in 1..n {
            schedule.step()?;
            for from in &planned {
                if problem.collective() == Collective::AllGather {
                    for ring in 0..rings.count() {
                        let newest = Set::one(rings.before(ring, from, step - 1));
                        let send = Blocks::new(from, rings.after(ring, from, 1)).origins(newest);
                        schedule.send(&send.segments(Axis::one(ring)).copy().strict())?;
                    }
                } else {
                    let to = (from + 1) % n;
                    let send = Blocks::new(from, to);
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
