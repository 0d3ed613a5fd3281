//! `recursive-halving-reduce-scatter`: takes `log2 p alpha + (p - 1)/p m beta + (p - 1)/p m gamma`,
//! as in Open MPI (`reduce_scatter_intra_basic_recursivehalving`) and MPICH
//! (`MPIR_Reduce_scatter_intra_recursive_halving`). If p is not a power of two, some ranks send
//! their whole vectors in an additional first step, and receive their results in an additional last
//! step.
//!
//! In each step, rank r exchanges with rank r xor b, where b is half of the number of ranks in the
//! first step and is halved in each further step. Before the step, both have sums for the same 2b
//! ranks; each sends those for the b ranks with the partner's value in bit b. [`Participants`]
//! defines the ranks.

use crate::ANYWHERE;
use crate::participants::Participants;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct Halving;

impl Algorithm for Halving {
    fn about(&self) -> About {
        About {
            name: "recursive-halving-reduce-scatter",
            title: "Reduce-scatter by recursive halving",
            collectives: &[Collective::ReduceScatter],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let participants = Participants::new(n);
        let excess = n - participants.ranks();
        schedule.layout(&[n], 1)?;
        // Partners differ in one bit, and only high bits decide which messages have a rank's sums.
        let symmetry = if participants.is_whole() { Symmetry::xor(1) } else { Symmetry::NONE };
        let planned = schedule.symmetric(&[symmetry])?;
        participants.send_excess(schedule)?;
        // Nodes whose results the ranks below `rank` collect: two for each of the first `excess`
        // ranks, and one for each further rank.
        let nodes_below = |rank: u64| rank + rank.min(excess);
        for b in (0..participants.steps()).rev().map(|i| 1 << i) {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| participants.rank(node)) {
                let to = rank ^ b;
                let first = to & !(b - 1);
                let start = nodes_below(first);
                let half = [Axis::range(start, nodes_below(first + b) - start)];
                let send = Blocks::new(participants.node(rank), participants.node(to));
                schedule.send(&send.destinations(Set::product(&half)).strict().combine())?;
            }
        }
        if excess > 0 {
            schedule.step()?;
            for node in (0..excess).map(|i| 2 * i) {
                schedule.send(&Blocks::new(node + 1, node).destinations(Set::one(node)))?;
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
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            let problem = Rehearsal::on("ring", &[n]).collective(Collective::ReduceScatter, 0);
            let proved = problem.block_bytes(10).verify(&Halving).unwrap();
            let (log, uneven) = (u64::from(n.ilog2()), u64::from(!n.is_power_of_two()));
            assert_eq!(proved.steps, log + 2 * uneven, "{n}");
            if uneven == 0 {
                let bytes = 10 * (n - 1);
                assert_eq!((proved.critical_bytes, proved.summed_bytes), (bytes, bytes), "{n}");
            }
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }

    /// The messages of rank 1 of six, by hand from Open MPI's source.
    #[test]
    fn messages_are_those_of_open_mpi() {
        let problem = Rehearsal::on("ring", &[6]).collective(Collective::ReduceScatter, 0);
        let steps = problem.plan(&Halving).unwrap();
        let sends = steps.iter().flat_map(|step| &step.sends).filter(|send| send.from == 1);
        let sends: Vec<_> = sends.map(|send| (send.to, send.destinations.clone())).collect();
        assert_eq!(sends, [(4, vec![4, 5]), (3, vec![2, 3]), (0, vec![0])]);
    }
}
