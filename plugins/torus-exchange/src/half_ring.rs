//! `half-ring`: an all-to-all that uses both directions of a ring. It takes `n/2 alpha + n^2/8 m
//! beta` for even n, and `(n - 1)/2 alpha + (n^2 - 1)/8 m beta` for odd n. No schedule takes less
//! time. Every block is sent in the shorter direction. The block for the opposite node is cut into
//! halves, one for each direction. In step s, each node passes on the blocks that it received in
//! the step before, except the blocks for itself.

use crate::{TORUS, only_tori};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Grid, Problem, Route, Schedule, Set, Stop, Symmetry,
};

pub struct HalfRing;

/// The rings of one dimension, and the segments of each block that they carry at present.
pub(crate) struct Rings<'a> {
    pub grid: &'a Grid,
    pub dimension: usize,
    pub pair: u64,
}

impl Rings<'_> {
    fn n(&self) -> u64 {
        self.grid.radix(self.dimension)
    }

    pub(crate) fn steps(&self) -> u64 {
        self.n() / 2
    }

    /// Adds the sends of node `from` in step s, in both directions. The first step is 1.
    pub(crate) fn sends(&self, s: u64, from: u64, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        self.send_in_direction(s, from, true, schedule)?;
        self.send_in_direction(s, from, false, schedule)
    }

    fn send_in_direction(
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
        let nearer = ((n - 1) / 2 + 1).saturating_sub(s);
        let nearest = if forwards { ahead(1) } else { ahead(nearer) };
        let whole = (Axis::range(nearest, nearer), Axis::range(2 * self.pair, 2));
        let opposite = ahead(n / 2 + 1 - s);
        let half = (Axis::one(opposite), Axis::one(2 * self.pair + u64::from(!forwards)));
        for (destination, segments) in
            [(nearer > 0).then_some(whole), (n % 2 == 0).then_some(half)].into_iter().flatten()
        {
            destinations[self.dimension] = destination;
            let blocks = Blocks::new(from, to).segments(segments).route(&route);
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
            title: "Neighbour to neighbour in both directions of a ring",
            accepts: "ring, or torus of one dimension",
            ..TORUS
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let topology = problem.topology();
        match (topology.kind(), topology.dims()) {
            ("ring" | "torus", [_]) => Ok(()),
            ("torus", _) => {
                Err(Stop::unsupported("runs only on one dimension; use `dim-rotation` for several"))
            }
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
