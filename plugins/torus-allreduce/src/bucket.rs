//! `bucket-allreduce`: a ring along one dimension after another (E. Chan, M. Heimlich, A.
//! Purkayastha, R. van de Geijn, *Collective communication: theory, practice, and experience*,
//! 2007). Through one port, it takes `2 (n1 + .. + nD - D) alpha + 2 (p - 1)/p m beta + (p - 1)/p m
//! gamma`. A dimension of n nodes takes n - 1 steps. In step t, a node with coordinate c sends to
//! coordinate c + 1 the parts of coordinate c - t that it still has.
//!
//! `variant=all-ports` runs 2 D allreduces of m/(2 D) bytes at the same time, one for each
//! direction of each dimension, with which it begins (N. Jain, Y. Sabharwal, *Optimal bucket
//! algorithms for large MPI collectives on torus interconnects*, 2010). `hierarchical-allreduce` is
//! the same algorithm for any topology, with groups of g consecutive nodes instead of dimensions:
//! it reduces within groups, reduces and gathers across groups, and gathers within groups.

use crate::shares::{
    Coordinates, PartMessage, ShareCollective, StepOrder, allreduce, collectives_at_once,
    has_all_ports, wraps_around,
};
use swapmeet_sdk::{
    About, Algorithm, Collective, Grid, ParamInfo, Problem, Schedule, Stop, bit_words,
};

pub struct Bucket {
    about: About,
    rings: fn(&Problem<'_>) -> Result<GridRings, Stop>,
}

type GridRings = (Grid, Vec<Rings>);

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &["one-port", "all-ports"],
    "",
    "one-port: one collective; all-ports: one for each direction of each dimension, on a share each; by default all-ports on a torus if the machine has a port for each direction",
);

pub const BUCKET: Bucket = Bucket {
    about: About {
        name: "bucket-allreduce",
        title: "Allreduce on rings along one dimension after another",
        paper: "N. Jain, Y. Sabharwal: Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects (2010)",
        accepts: "any topology with dimensions; designed for tori",
        collectives: &[Collective::AllReduce],
        params: &[VARIANT],
        ..About::DEFAULT
    },
    rings: by_dimension,
};

pub const HIERARCHICAL: Bucket = Bucket {
    about: About {
        name: "hierarchical-allreduce",
        title: "Allreduce within groups, across, and within again",
        paper: "E. Chan et al.: Collective Communication: Theory, Practice, and Experience (2007), over groups instead of dimensions",
        accepts: "any topology whose nodes can be divided into equal groups",
        collectives: &[Collective::AllReduce],
        params: &[ParamInfo::GROUP],
        ports: 1,
    },
    rings: by_group,
};

impl Algorithm for Bucket {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (grid, rings) = (self.rings)(problem)?;
        allreduce(&grid, &rings, schedule)
    }
}

fn by_dimension(problem: &Problem<'_>) -> Result<GridRings, Stop> {
    let grid = problem.topology().grid()?;
    let given = problem.given_choice("variant", &[("one-port", false), ("all-ports", true)])?;
    let all_ports = given.unwrap_or_else(|| has_all_ports(problem, &grid));
    let rings = collectives_at_once(&grid, all_ports)
        .map(|(first, down)| Rings::new(&grid, first, down, all_ports && wraps_around(problem)))
        .collect();
    Ok((grid, rings))
}

fn by_group(problem: &Problem<'_>) -> Result<GridRings, Stop> {
    let g = problem.group("group")?;
    let grid = Grid::new(&[problem.topology().nodes() / g, g])?;
    let rings = vec![Rings::new(&grid, 1, false, false)];
    Ok((grid, rings))
}

struct Rings {
    radices: Vec<u64>,
    order: StepOrder,
    down: bool,
    /// Whether messages request a direction. On rings of two nodes, the host cannot tell the
    /// directions apart.
    is_directed: bool,
}

impl Rings {
    fn new(grid: &Grid, first: usize, down: bool, is_directed: bool) -> Self {
        let radices = grid.radices().to_vec();
        let steps: Vec<u32> = radices.iter().map(|radix| *radix as u32 - 1).collect();
        Self { order: StepOrder::sequential(&steps, first), radices, down, is_directed }
    }

    fn along(&self, c: u64, by: u64, dimension: usize) -> u64 {
        let radix = self.radices[dimension];
        let by = by % radix;
        if self.down { (c + radix - by) % radix } else { (c + by) % radix }
    }
}

impl ShareCollective for Rings {
    fn order(&self) -> &StepOrder {
        &self.order
    }

    fn messages(&self, step: usize, c: u64) -> Vec<PartMessage> {
        let (dimension, s) = self.order.at(step);
        let radix = self.radices[dimension];
        let sign = match (self.is_directed, self.down) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => -1,
        };
        let part = self.along(c, radix - 1 - u64::from(s), dimension);
        vec![PartMessage { to: self.along(c, 1, dimension), sign, parts: bit_words(radix, [part]) }]
    }

    fn period(&self, _: usize) -> u64 {
        1
    }

    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates {
        let radix = self.radices[dimension];
        match self.order.done(step, dimension) {
            0 => bit_words(radix, 0..radix),
            _ => bit_words(radix, [c]),
        }
    }
}
