//! `rabenseifner-allreduce`: recursive halving, then recursive doubling. It takes 2 log2 p alpha +
//! 2 (p - 1)/p m beta + (p - 1)/p m gamma, as in MPICH
//! (`MPIR_Allreduce_intra_reduce_scatter_allgather`) and Open MPI
//! (`allreduce_intra_redscat_allgather`). If p is not a power of two, it takes two steps and 2 m
//! beta + m gamma more.
//!
//! A part of the vector has the number of the rank that completes its sum. In step i, rank r sends
//! to rank r xor 2^i some of the parts that it still sums: those whose number differs from r in bit
//! i. It keeps the others. Then the same steps follow in reverse order, and each rank sends its
//! completed parts. [`Folded`] defines the participating ranks.

use crate::ANYWHERE;
use crate::folded::Folded;
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop};

pub(crate) struct Rabenseifner;

/// The largest number of segments of a vector.
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
        let folded = Folded::new(problem.topology().nodes());
        if folded.is_whole() || folded.ranks() <= MAX_SEGMENTS {
            return Ok(());
        }
        let n = problem.topology().nodes();
        Err(Stop::unsupported(format!(
            "{n} nodes are not a power of two, and the vector cannot be split into {} segments",
            folded.ranks()
        )))
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let folded = Folded::new(problem.topology().nodes());
        if folded.is_whole() {
            schedule.layout_in_parts(&folded.radices(), 1)?;
        } else {
            schedule.layout(&folded.radices(), folded.ranks() as u32)?;
        }
        let planned = folded.planned(schedule)?;
        folded.fold(schedule)?;
        let mut axes = Vec::new();
        schedule.phase("recursive halving")?;
        for i in 0..folded.steps() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| folded.rank(node)) {
                let to = rank ^ 1 << i;
                let send = Blocks::new(folded.node(rank), folded.node(to)).strict().combine();
                send_agreeing(folded, schedule, &send, (to, i + 1), &mut axes)?;
            }
        }
        schedule.phase("recursive doubling")?;
        for i in (0..folded.steps()).rev() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| folded.rank(node)) {
                let send =
                    Blocks::new(folded.node(rank), folded.node(rank ^ 1 << i)).strict().copy();
                send_agreeing(folded, schedule, &send, (rank, i + 1), &mut axes)?;
            }
        }
        folded.unfold(schedule)
    }
}

/// Restricts a send to the parts whose ranks agree with `rank` in the lowest `bits` bits, and adds
/// it.
fn send_agreeing(
    folded: Folded,
    schedule: &mut Schedule<'_>,
    send: &Blocks<'_>,
    (rank, bits): (u64, u32),
    axes: &mut Vec<Axis<'_>>,
) -> Result<(), Stop> {
    let stride = 1 << bits;
    if !folded.is_whole() {
        return schedule.send(&send.segments(Axis::stride(
            rank % stride,
            stride,
            folded.ranks() / stride,
        )));
    }
    folded.agreeing_nodes(rank, bits, axes);
    schedule.send(&send.destinations(Set::product(axes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    /// Each participating rank sums 10 bytes of the vector.
    #[test]
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            let ranks = 1 << n.ilog2();
            let problem = Rehearsal::on("ring", &[n])
                .collective(Collective::AllReduce, 0)
                .block_bytes(10 * ranks);
            let proved = problem.verify(&Rabenseifner).unwrap();
            let (log, more) = (u64::from(n.ilog2()), u64::from(n > ranks));
            assert_eq!(proved.steps, 2 * log + 2 * more, "{n}");
            let (bytes, summed) =
                (20 * (ranks - 1) + more * 20 * ranks, 10 * (ranks - 1) + more * 10 * ranks);
            assert_eq!((proved.critical_bytes, proved.summed_bytes), (bytes, summed), "{n}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }
}
