//! The exchanges of butterflies on lines of ranks and on tori, which the trees use, too.

use crate::{ANYWHERE, reach, steps};
use swapmeet_sdk::{About, Axis, Collective, Grid, ParamInfo, Problem, Stop, bit_words};

const MOST_PORTS: u64 = 6;

pub(crate) const PORTS: ParamInfo = ParamInfo::number(
    "ports",
    "",
    "1 to 6: for tori, this number of butterflies or trees over the dimensions at the same time; by default, as many as the machine has ports for the directions of a torus, and with one port a single one along the line of ranks",
);

/// The largest number of messages of a node in a step depends on `ports`, so none is promised.
pub(crate) const PORTED: About = About { ports: 0, ..ANYWHERE };

/// A butterfly whose steps use the dimensions of a grid in turn, skipping dimensions that are
/// complete. A line of ranks has one dimension. On tori, each port has a butterfly, and all of them
/// run at the same time. They begin with different dimensions, and half of them use the opposite
/// directions.
pub(crate) struct PortButterfly<'a> {
    grid: &'a Grid,
    order: Vec<(usize, u32)>,
    is_mirrored: bool,
}

impl<'a> PortButterfly<'a> {
    pub(crate) fn new(grid: &'a Grid, port: usize) -> Self {
        // `turns` is at least 1, because it is a divisor and the grid of one node may have no
        // dimensions.
        let turns = grid.dimensions().max(1);
        let first = port % turns;
        let mut order: Vec<(usize, u32)> = (0..grid.dimensions())
            .map(|turn| (turn + first) % turns)
            .flat_map(|d| (0..grid.radix(d).trailing_zeros()).map(move |s| (d, s)))
            .collect();
        order.sort_by_key(|(_, s)| *s);
        Self { grid, order, is_mirrored: port / turns % 2 == 1 }
    }

    pub(crate) fn steps(&self) -> usize {
        self.order.len()
    }

    fn partner_along(&self, dimension: usize, s: u32, c: u64) -> u64 {
        let is_up = c.is_multiple_of(2) != self.is_mirrored;
        let by = if is_up { reach(s + 1) } else { -reach(s + 1) };
        (c as i64 + by).rem_euclid(self.grid.radix(dimension) as i64) as u64
    }

    pub(crate) fn partner(&self, r: u64, i: usize) -> u64 {
        let (dimension, s) = self.order[i];
        let c = self.partner_along(dimension, s, self.grid.coordinate(r, dimension));
        self.grid.moved(r, dimension, c)
    }

    /// Returns the ranks that data of rank `r` can reach in the given steps, including `r`. They
    /// form a subgrid, which is given by its coordinates in each dimension.
    pub(crate) fn reached(
        &self,
        r: u64,
        steps: &(impl Iterator<Item = usize> + Clone),
    ) -> Vec<Coordinates> {
        let along = |dimension: usize, c: u64| {
            let mut reached = vec![c];
            for (_, s) in steps.clone().map(|i| self.order[i]).filter(|(d, _)| *d == dimension) {
                let partners: Vec<u64> =
                    reached.iter().map(|c| self.partner_along(dimension, s, *c)).collect();
                reached.extend(partners);
            }
            Coordinates::new(self.grid.radix(dimension), reached)
        };
        self.grid.coordinates(r).enumerate().map(|(d, c)| along(d, c)).collect()
    }
}

/// A set of coordinates. If they are consecutive, it is a range, because a set of bits grows with
/// the size of the dimension.
pub(crate) enum Coordinates {
    /// First coordinate and number of coordinates, with wrap-around.
    Range(u64, u64),
    Bits(Vec<u64>),
}

impl Coordinates {
    fn new(radix: u64, mut coordinates: Vec<u64>) -> Self {
        coordinates.sort_unstable();
        let count = coordinates.len();
        let mut firsts = (0..count)
            .filter(|k| coordinates[*k] != (coordinates[(k + count - 1) % count] + 1) % radix);
        match (firsts.next(), firsts.next()) {
            (None, _) => Self::Range(0, radix),
            (Some(first), None) => Self::Range(coordinates[first], count as u64),
            _ => Self::Bits(bit_words(radix, coordinates)),
        }
    }

    pub(crate) fn axis(&self) -> Axis<'_> {
        match self {
            Self::Range(first, count) => Axis::range(*first, *count),
            Self::Bits(words) => Axis::bits(words),
        }
    }
}

/// Returns the grid of the schedule and the number of butterflies. If the network is a torus and
/// the machine has several ports, the default is the torus's own grid; otherwise, it is a line of
/// ranks.
pub(crate) fn grid_and_ports(problem: &Problem<'_>) -> Result<(Grid, usize), Stop> {
    let Some(ports) = problem.given::<u64>("ports")? else {
        if let Some(of_torus) = ports_on_torus(problem) {
            return Ok(of_torus);
        }
        steps(problem)?;
        return Ok((Grid::new(&[problem.topology().nodes()])?, 1));
    };
    if !(1..=MOST_PORTS).contains(&ports) {
        return Err(Stop::failed(format!("`ports={ports}`: expected a whole number from 1 to 6")));
    }
    let grid = problem.topology().grid()?;
    match grid.radices().iter().find(|radix| !radix.is_power_of_two()) {
        None => Ok((grid, ports as usize)),
        Some(radix) => Err(Stop::unsupported(format!(
            "a dimension has {radix} nodes, which is not a power of two"
        ))),
    }
}

/// Returns the grid of a torus and the number of butterflies, if several can run at the same time:
/// one for each direction of each dimension, but at most one for each port. The authors' all-to-all
/// has only one butterfly, so its default is a line of ranks.
fn ports_on_torus(problem: &Problem<'_>) -> Option<(Grid, usize)> {
    let is_torus = matches!(problem.topology().kind(), "torus" | "ring");
    if !is_torus || problem.collective() == Collective::AllToAll {
        return None;
    }
    let grid = problem.topology().grid().ok()?;
    let directions = 2 * grid.dimensions() as u64;
    let ports = problem.ports().min(directions).min(MOST_PORTS);
    let has_butterflies = grid.radices().iter().all(|radix| radix.is_power_of_two());
    (ports > 1 && has_butterflies).then_some((grid, ports as usize))
}
