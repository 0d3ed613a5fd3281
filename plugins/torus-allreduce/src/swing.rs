//! `swing-allreduce`: D. De Sensi, T. Bonato, D. Saam, T. Hoefler, *Swing: Short-cutting Rings for
//! Higher Bandwidth Allreduce* (NSDI 2024, arXiv 2401.09356). On tori whose sides are powers of two
//! it takes `2 log2 p alpha + 2 (p - 1)/p m beta + (p - 1)/p m gamma` through one port.
//! `variant=latency` takes `log2 p (alpha + m beta + m gamma)`.
//!
//! A test compares the messages with those of the authors' library for Fugaku
//! (`bine_trees_fugaku`). `reproduce swing` computes the paper's congestion deficiencies: the load
//! of the most loaded link, divided by the smallest possible value.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | rho(s) | `rho` | the sum of the first s + 1 terms of 1 - 2 + 4 - 8 etc.: 1, -1, 3, -5, 11, etc. |
//! | pi(c, s) | `partner` | c + rho(s) for even c, c - rho(s) for odd c, modulo the side |
//!
//! In step s of a dimension, coordinate c exchanges with pi(c, s). The steps use the dimensions in
//! turn, skipping dimensions that are complete. On a torus of D dimensions, `variant=all-ports`
//! runs 2 D allreduces of m/(2 D) bytes at the same time. Two of them begin with each dimension,
//! and the second of the two uses -rho instead of rho.

use crate::shares::{
    Coordinates, PartMessage, ShareCollective, StepOrder, allreduce, collectives_at_once,
    exchange_whole, grid_of_powers, has_all_ports, wraps_around,
};
use swapmeet_sdk::{
    About, Algorithm, Collective, Grid, ParamInfo, Problem, Schedule, Stop, bit_words,
};

pub struct Swing;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Bandwidth,
    AllPorts,
    Latency,
}

const VARIANTS: [(&str, Variant); 3] = [
    ("bandwidth", Variant::Bandwidth),
    ("all-ports", Variant::AllPorts),
    ("latency", Variant::Latency),
];

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &["bandwidth", "all-ports", "latency"],
    "",
    "bandwidth: shares of the vector; all-ports: the same in all directions at once; latency: the whole vector in every step; by default all-ports on a torus if the machine has a port for each direction, otherwise bandwidth",
);

impl Algorithm for Swing {
    fn about(&self) -> About {
        About {
            name: "swing-allreduce",
            title: "Allreduce with alternating partners (Swing)",
            paper: "D. De Sensi, T. Bonato, D. Saam, T. Hoefler: Swing: Short-cutting Rings for Higher Bandwidth Allreduce (NSDI 2024)",
            accepts: "any topology with dimensions that are powers of two; designed for tori",
            collectives: &[Collective::AllReduce],
            params: &[VARIANT],
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = grid_of_powers(problem, u64::is_power_of_two, "two")?;
        let variant = match problem.given_choice("variant", &VARIANTS)? {
            Some(given) => given,
            None if has_all_ports(problem, &grid) => Variant::AllPorts,
            None => Variant::Bandwidth,
        };
        if variant == Variant::Latency {
            return exchange_whole(&grid, &SwingExchange::new(&grid, 0, false, false), schedule);
        }
        let swings = collectives_at_once(&grid, variant == Variant::AllPorts);
        let swings: Vec<SwingExchange> = swings
            .map(|(first, mirrored)| {
                SwingExchange::new(&grid, first, mirrored, wraps_around(problem))
            })
            .collect();
        allreduce(&grid, &swings, schedule)
    }
}

pub fn rho(s: u32) -> i64 {
    (1 - (-2_i64).pow(s + 1)) / 3
}

pub struct SwingExchange {
    radices: Vec<u64>,
    mirrored: bool,
    is_directed: bool,
    order: StepOrder,
}

impl SwingExchange {
    pub fn new(grid: &Grid, first: usize, mirrored: bool, is_directed: bool) -> Self {
        let radices = grid.radices().to_vec();
        let steps: Vec<u32> = radices.iter().map(|radix| radix.trailing_zeros()).collect();
        Self { order: StepOrder::alternating(&steps, first), radices, mirrored, is_directed }
    }

    fn distance(&self, c: u64, s: u32) -> i64 {
        if c.is_multiple_of(2) == self.mirrored { -rho(s) } else { rho(s) }
    }

    pub fn partner(&self, dimension: usize, s: u32, c: u64) -> u64 {
        (c as i64 + self.distance(c, s)).rem_euclid(self.radices[dimension] as i64) as u64
    }

    /// Returns the coordinates that data of `c` reaches from step `s` of a dimension on, including
    /// `c`.
    pub fn reached(&self, dimension: usize, s: u32, c: u64) -> Vec<u64> {
        let steps = self.radices[dimension].trailing_zeros();
        let also = |reached: Vec<u64>, s| {
            reached.iter().flat_map(|c| [*c, self.partner(dimension, s, *c)]).collect()
        };
        (s..steps).fold(vec![c], also)
    }
}

impl ShareCollective for SwingExchange {
    fn order(&self) -> &StepOrder {
        &self.order
    }

    fn messages(&self, step: usize, c: u64) -> Vec<PartMessage> {
        let (dimension, s) = self.order.at(step);
        let to = self.partner(dimension, s, c);
        let parts = bit_words(self.radices[dimension], self.reached(dimension, s + 1, to));
        // On a ring of two nodes, both directions are equally short, so none is requested.
        let sign = if self.is_directed { self.distance(c, s).signum() as i8 } else { 0 };
        vec![PartMessage { to, sign, parts }]
    }

    /// Nodes with odd coordinates mirror those with even coordinates, so the period is 2.
    fn period(&self, dimension: usize) -> u64 {
        self.radices[dimension].min(2)
    }

    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates {
        bit_words(
            self.radices[dimension],
            self.reached(dimension, self.order.done(step, dimension), c),
        )
    }
}
