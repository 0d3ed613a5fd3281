//! `rabenseifner-allreduce`: a reduce-scatter by recursive halving, followed by an allgather by
//! recursive doubling. It takes `2 log2 p alpha + 2 (p - 1)/p m beta + (p - 1)/p m gamma`, as in
//! MPICH (`MPIR_Allreduce_intra_reduce_scatter_allgather`) and Open MPI
//! (`allreduce_intra_redscat_allgather`). If p is not a power of two, two additional steps add `2 m
//! beta + m gamma` to the transfers.
//!
//! The vector has one segment for each rank, which completes the sum of this segment. In step i of
//! the reduce-scatter, rank r exchanges with rank r xor 2^i. Of the segments that it still sums, it
//! sends those whose number differs from r in bit i. The allgather has the same steps in reverse
//! order, and sends all completed segments. `Participants` defines the ranks that participate.

use crate::ANYWHERE;
use crate::participants::Participants;
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop};

pub struct Rabenseifner;

const MAX_SEGMENTS: u64 = 4096;

impl Algorithm for Rabenseifner {
    fn about(&self) -> About {
        About {
            name: "rabenseifner-allreduce",
            title: "Allreduce by recursive halving and doubling",
            accepts: "any topology; above 8191 nodes only powers of two",
            collectives: &[Collective::AllReduce],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let participants = Participants::new(problem.topology().nodes());
        if participants.is_whole() || participants.ranks() <= MAX_SEGMENTS {
            return Ok(());
        }
        let n = problem.topology().nodes();
        Err(Stop::unsupported(format!(
            "{n} nodes are not a power of two, and the vector cannot be split into {} segments",
            participants.ranks()
        )))
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let participants = Participants::new(problem.topology().nodes());
        if participants.is_whole() {
            schedule.layout_in_parts(&participants.radices(), 1)?;
        } else {
            schedule.layout(&participants.radices(), participants.ranks() as u32)?;
        }
        let planned = participants.planned(schedule)?;
        participants.send_excess(schedule)?;
        let mut axes = Vec::new();
        schedule.phase("recursive halving")?;
        for i in 0..participants.steps() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| participants.rank(node)) {
                let to = rank ^ 1 << i;
                let send =
                    Blocks::new(participants.node(rank), participants.node(to)).strict().combine();
                send_agreeing(participants, schedule, &send, (to, i + 1), &mut axes)?;
            }
        }
        schedule.phase("recursive doubling")?;
        for i in (0..participants.steps()).rev() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| participants.rank(node)) {
                let send = Blocks::new(participants.node(rank), participants.node(rank ^ 1 << i))
                    .strict()
                    .copy();
                send_agreeing(participants, schedule, &send, (rank, i + 1), &mut axes)?;
            }
        }
        participants.return_to_excess(schedule)
    }
}

fn send_agreeing(
    participants: Participants,
    schedule: &mut Schedule<'_>,
    send: &Blocks<'_>,
    (rank, bits): (u64, u32),
    axes: &mut Vec<Axis<'_>>,
) -> Result<(), Stop> {
    let stride = 1 << bits;
    if !participants.is_whole() {
        return schedule.send(&send.segments(Axis::stride(
            rank % stride,
            stride,
            participants.ranks() / stride,
        )));
    }
    participants.agreeing_nodes(rank, bits, axes);
    schedule.send(&send.destinations(Set::product(axes)))
}
