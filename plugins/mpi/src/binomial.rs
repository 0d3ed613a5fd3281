//! Binomial trees (Thakur, Rabenseifner and Gropp (2005), section 4.2 for gather and section 4.3
//! for broadcast). A broadcast takes `ceil(log2 p) (alpha + m beta)`. If p is a power of two, a
//! scatter or gather takes `log2 p alpha + (p - 1) m beta`. Each step has a distance b: the largest
//! power of two below p in the first step, halved in each further step. A rank r that is a multiple
//! of 2b distributes data to the ranks r to r + 2b - 1: it sends to rank r + b the data for the
//! upper half of these ranks. A gather is a scatter in reverse.
//!
//! `binomial-broadcast:order=near` begins with b = 1 and doubles b in each step, as Open MPI does
//! (`ompi_coll_base_topo_build_bmtree`). Each rank r below b sends to rank r + b.

use crate::{ANYWHERE, line, node, nodes};
use swapmeet_sdk::{About, Algorithm, Blocks, Collective, ParamInfo, Problem, Schedule, Set, Stop};

const ORDER: ParamInfo = ParamInfo::choice(
    "order",
    &["far", "near"],
    "far",
    "far: send to the farthest child first, as in MPICH; near: to the nearest, as in Open MPI",
);

pub struct Binomial {
    about: About,
}

pub const BROADCAST: Binomial = Binomial {
    about: About {
        name: "binomial-broadcast",
        title: "Broadcast on a binomial tree",
        collectives: &[Collective::Broadcast],
        params: &[ORDER],
        ..ANYWHERE
    },
};

pub const SCATTER: Binomial = Binomial {
    about: About {
        name: "binomial-scatter",
        title: "Scatter on a binomial tree",
        collectives: &[Collective::Scatter],
        ..ANYWHERE
    },
};

pub const GATHER: Binomial = Binomial {
    about: About {
        name: "binomial-gather",
        title: "Gather on a binomial tree",
        collectives: &[Collective::Gather],
        ..ANYWHERE
    },
};

pub(crate) fn halves(n: u64) -> impl DoubleEndedIterator<Item = u64> {
    let steps = n.next_power_of_two().trailing_zeros();
    (0..steps).rev().map(|step| 1 << step)
}

impl Algorithm for Binomial {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, root) = (line(problem, schedule, 1)?, problem.root());
        // Case 1: near ranks are first. Before each step, the ranks 0 to b - 1 have the block.
        if problem.collective() == Collective::Broadcast
            && problem.choice("order", &[("far", false), ("near", true)])?
        {
            for b in halves(n).rev() {
                schedule.step()?;
                for rank in 0..b.min(n - b) {
                    let (from, to) = (node(rank, root, n), node(rank + b, root, n));
                    schedule.send(&Blocks::new(from, to).copy())?;
                }
            }
            return Ok(());
        }
        let gather = problem.collective() == Collective::Gather;
        let steps: Vec<u64> = if gather { halves(n).rev().collect() } else { halves(n).collect() };
        for b in steps {
            schedule.step()?;
            for rank in (0..n - b).step_by(2 * b as usize) {
                let (near, far) = (node(rank, root, n), node(rank + b, root, n));
                let upper = nodes(rank + b, b.min(n - rank - b), root, n);
                schedule.send(&match problem.collective() {
                    Collective::Broadcast => Blocks::new(near, far).copy(),
                    _ if gather => Blocks::new(far, near),
                    _ => Blocks::new(near, far).destinations(Set::product(&upper)),
                })?;
            }
        }
        Ok(())
    }
}
