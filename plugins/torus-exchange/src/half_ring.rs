//! Both ways round a ring: n/2 alpha + n^2/8 m beta for an even n, (n - 1)/2 alpha + (n^2 - 1)/8 m
//! beta for an odd one, which no schedule goes below; a reconstruction of HalfRing (2025).
//!
//! Every block takes the shorter way; of the one for the node opposite half takes each. In step s
//! everyone passes on, either way, what came in the step before, less what was for it: blocks of
//! the node s - 1 behind, for those still ahead.

use crate::{TORUS, only_tori};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Grid, Problem, Route, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct HalfRing;

/// One dimension of a grid, and the segments that travel it now: a pair of halves.
pub(crate) struct Rings<'a> {
    pub grid: &'a Grid,
    pub dimension: usize,
    /// The number of the pair.
    pub pair: u64,
}

impl Rings<'_> {
    fn n(&self) -> u64 {
        self.grid.radix(self.dimension)
    }

    /// Steps until everything is where it belongs along the dimension.
    pub(crate) fn steps(&self) -> u64 {
        self.n() / 2
    }

    /// What a node sends in step s, from 1. It is the same seen from every node: blocks of those
    /// behind, for those ahead.
    pub(crate) fn sends(&self, s: u64, from: u64, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        self.one_way(s, from, true, schedule)?;
        self.one_way(s, from, false, schedule)
    }

    fn one_way(
        &self,
        s: u64,
        from: u64,
        forwards: bool,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let (n, x) = (self.n(), self.grid.coordinate(from, self.dimension));
        let ahead = |by: u64| {
            if forwards { (x + by) % n } else { (x + n - by % n) % n }
        };
        let to = self.grid.moved(from, self.dimension, ahead(1));
        let signs: Vec<i8> = (0..self.grid.dimensions())
            .map(|d| i8::from(d == self.dimension) * if forwards { 1 } else { -1 })
            .collect();
        let route = Route::signs(&signs);
        let all = vec![Axis::ALL; self.grid.dimensions()];
        let (mut origins, mut destinations) = (all.clone(), all);
        origins[self.dimension] = Axis::one(ahead(n - (s - 1) % n));
        // Nearer than half-way round from their origin.
        let whole = ((n - 1) / 2 + 1).saturating_sub(s);
        if whole > 0 {
            let nearest = if forwards { ahead(1) } else { ahead(whole) };
            destinations[self.dimension] = Axis::range(nearest, whole);
            let blocks =
                Blocks::new(from, to).segments(Axis::range(2 * self.pair, 2)).route(&route);
            schedule.send(
                &blocks.origins(Set::product(&origins)).destinations(Set::product(&destinations)),
            )?;
        }
        if n % 2 == 0 {
            destinations[self.dimension] = Axis::one(ahead(n / 2 - (s - 1)));
            let half = Axis::one(2 * self.pair + u64::from(!forwards));
            let blocks = Blocks::new(from, to).segments(half).route(&route);
            schedule.send(
                &blocks.origins(Set::product(&origins)).destinations(Set::product(&destinations)),
            )?;
        }
        Ok(())
    }
}

impl Algorithm for HalfRing {
    fn about(&self) -> About {
        About {
            name: "half-ring",
            title: "Neighbour to neighbour, the shorter way round a ring",
            accepts: "ring, or torus of one dimension",
            ..TORUS
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let topology = problem.topology();
        match (topology.kind(), topology.dims()) {
            ("ring" | "torus", [_]) => Ok(()),
            ("torus", _) => Err(Stop::unsupported(
                "is for one dimension: `dim-rotation` does the same for more",
            )),
            _ => Err(only_tori(topology.spec())),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = problem.topology().grid()?;
        let rings = Rings { grid: &grid, dimension: 0, pair: 0 };
        schedule.layout(grid.radices(), 2)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        for s in 1..=rings.steps() {
            schedule.step()?;
            planned.iter().try_for_each(|from| rings.sends(s, from, schedule))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_ring_takes_half_of_n_steps_and_an_eighth_of_n_squared_blocks() {
        // Round a ring of two both ways are one.
        for n in (1..16_u64).filter(|n| *n != 2) {
            let problem = Rehearsal::on("ring", &[n]).ports(u64::MAX).block_bytes(2);
            let proved = problem.verify(&HalfRing).unwrap();
            let blocks = if n % 2 == 0 { n * n / 4 } else { (n * n - 1) / 4 };
            // Blocks of two bytes: a half may travel.
            assert_eq!((proved.steps, proved.critical_bytes), (n / 2, blocks), "{n}");
        }
    }

    #[test]
    fn other_networks_are_refused() {
        let refused =
            |kind, dims: &[u64]| Rehearsal::on(kind, dims).plan(&HalfRing).unwrap_err().to_string();
        assert_eq!(
            refused("torus", &[4, 4]),
            "is for one dimension: `dim-rotation` does the same for more"
        );
        assert_eq!(refused("mesh", &[4]), "runs on a torus or a ring only, this is `mesh:4`");
    }
}
