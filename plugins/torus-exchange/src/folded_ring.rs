//! `folded-ring`: an all-to-all on a ring of which one link has failed. It takes `(n - 1) alpha + n
//! (n - 1)/2 m beta`, and equally long on the intact ring. Every block is sent around the ring in
//! the same direction. If a message would cross the failed link, the network sends it around the
//! ring in the opposite direction. The links of this direction carry no other message, so the
//! failure delays no message. In step s, each node passes on the blocks that it received in the
//! step before, except those for itself.

use crate::{TORUS, only_tori};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Problem, Schedule, Set, Stop, Symmetry};

pub struct FoldedRing;

impl Algorithm for FoldedRing {
    fn about(&self) -> About {
        About {
            name: "folded-ring",
            title: "Neighbour to neighbour in one direction of a ring with a failed link",
            accepts: "ring, or torus of one dimension; a link may have failed",
            paper: "a reconstruction of FoldedRing (2025), without the paper's text",
            ports: 1,
            ..TORUS
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let topology = problem.topology();
        match (topology.kind(), topology.dims()) {
            ("ring" | "torus", [_]) => Ok(()),
            ("torus", _) => Err(Stop::unsupported("runs only on one dimension")),
            _ => Err(only_tori(topology.spec())),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        schedule.layout(&[n], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        for s in 1..n {
            schedule.step()?;
            for from in planned.iter() {
                let to = (from + 1) % n;
                let (origins, destinations) =
                    ([Axis::one((from + n + 1 - s) % n)], [Axis::range(to, n - s)]);
                let blocks = Blocks::new(from, to)
                    .origins(Set::product(&origins))
                    .destinations(Set::product(&destinations));
                schedule.send(&blocks)?;
            }
        }
        Ok(())
    }
}
