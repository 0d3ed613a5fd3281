//! Rabenseifner's: recursive halving, then recursive doubling: 2 log2 p alpha + 2 (p - 1)/p m beta
//! + (p - 1)/p m gamma for a power of two; else two steps and 2 m beta + m gamma more. As MPICH and
//! Open MPI have it (`MPIR_Allreduce_intra_reduce_scatter_allgather`,
//! `allreduce_intra_redscat_allgather`).
//!
//! In step i rank r gives rank r xor 2^i that half of what it still sums which is not its own by
//! bit i, and keeps the other; then the same steps backwards, each giving the other what it has.
//! [`Folded`] says who takes part. A part of the vector is known by the rank that sums it last.

use crate::ANYWHERE;
use crate::folded::Folded;
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop};

pub(crate) struct Rabenseifner;

/// Segments that a vector can be split in.
const MOST_SEGMENTS: u64 = 4096;

impl Algorithm for Rabenseifner {
    fn about(&self) -> About {
        About {
            name: "rabenseifner-allreduce",
            title: "Halves of halves are summed, then given back twice as long a step",
            accepts: "any topology; beyond 8191 nodes powers of two",
            collectives: &[Collective::AllReduce],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let folded = Folded::of(problem.topology().nodes());
        if folded.is_whole() || folded.ranks() <= MOST_SEGMENTS {
            return Ok(());
        }
        let n = problem.topology().nodes();
        Err(Stop::unsupported(format!(
            "{n} nodes are no power of two, and too many to split the vector among {} of them",
            folded.ranks()
        )))
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let folded = Folded::of(problem.topology().nodes());
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
                send_alike(folded, schedule, &send, (to, i + 1), &mut axes)?;
            }
        }
        schedule.phase("recursive doubling")?;
        for i in (0..folded.steps()).rev() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| folded.rank(node)) {
                let send =
                    Blocks::new(folded.node(rank), folded.node(rank ^ 1 << i)).strict().copy();
                send_alike(folded, schedule, &send, (rank, i + 1), &mut axes)?;
            }
        }
        folded.unfold(schedule)
    }
}

/// Of a send, the parts that agree with `rank` in its lowest `bits` bits.
fn send_alike(
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
    folded.alike(rank, bits, axes);
    schedule.send(&send.destinations(Set::product(axes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    /// Each of the ranks that take part has 10 bytes of the vector to sum.
    #[test]
    fn every_size_takes_the_steps_bytes_and_sums_of_the_closed_form() {
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
