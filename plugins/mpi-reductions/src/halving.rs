//! `recursive-halving-reduce-scatter` takes `log2 p alpha + (p - 1)/p m beta + (p - 1)/p m gamma`,
//! as in Open MPI (`reduce_scatter_intra_basic_recursivehalving`) and MPICH
//! (`MPIR_Reduce_scatter_intra_recursive_halving`). If p is not a power of two, some ranks send
//! their whole vectors in an additional first step, and receive their results in an additional last
//! step.
//!
//! In each step, rank r exchanges with rank r xor b, where b is half of the number of ranks in the
//! first step and is halved in each further step. Before the step, both ranks have sums for the
//! same 2b ranks. Half of these ranks agree with the partner in bit b, and the rank sends the sums
//! for them. `Participants` defines the ranks that participate.

use crate::ANYWHERE;
use crate::participants::Participants;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub struct Halving;

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
        // Partners differ in one bit, and a rank's sums are in messages that only high bits select.
        let symmetry = if participants.is_whole() { Symmetry::xor(1) } else { Symmetry::NONE };
        let planned = schedule.symmetric(&[symmetry])?;
        participants.send_excess(schedule)?;
        // Returns the number of nodes whose results the ranks below `rank` collect: two for each of
        // the first `excess` ranks, and one for each further rank.
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
