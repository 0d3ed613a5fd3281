//! An allreduce by shares: in each step of a reduce-scatter a node gives its partners what they, or those whom they will meet later, sum last; the allgather is
//! the same backwards.

use swapmeet_sdk::{Axis, Blocks, Grid, Problem, Route, Schedule, Set, Stop};

/// One of the collectives that run at once, each of its own segment of the vector's parts. Parts are known by the node that sums them last.
pub(crate) trait Shares {
    /// Steps of the reduce-scatter.
    fn steps(&self) -> usize;

    /// The dimension that step number `step` goes along.
    fn dimension(&self, step: usize) -> usize;

    /// What a node with coordinate `c` in that dimension gives whom in the step.
    fn gives(&self, step: usize, c: u64) -> Vec<Gift>;

    /// The coordinates in another dimension of the parts that a node with coordinate `c` there still sums before step number `step`.
    fn kept(&self, step: usize, dimension: usize, c: u64) -> Coordinates;
}

/// What a node gives another along a dimension.
pub(crate) struct Gift {
    /// The other's coordinate.
    pub to: u64,
    /// The direction of the way there: 1 for up, -1 for down, 0 for the shorter one.
    pub sign: i8,
    /// The coordinates of the parts.
    pub parts: Coordinates,
}

/// Whether every dimension goes round, so that a way can be said either way.
pub(crate) fn goes_round(problem: &Problem<'_>) -> bool {
    matches!(problem.topology().kind(), "torus" | "ring")
}

/// A set of coordinates, as bits.
pub(crate) type Coordinates = Vec<u64>;

/// The set of these.
pub(crate) fn set(radix: u64, members: impl IntoIterator<Item = u64>) -> Coordinates {
    let mut words = vec![0; radix.div_ceil(64) as usize];
    members.into_iter().for_each(|c| words[(c / 64) as usize] |= 1 << (c % 64));
    words
}

/// Every coordinate.
pub(crate) fn all(radix: u64) -> Coordinates {
    set(radix, 0..radix)
}

/// Runs these at once.
pub(crate) fn allreduce(grid: &Grid, all: &[&dyn Shares], schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    schedule.layout_in_parts(grid.radices(), all.len() as u32)?;
    let steps = all.iter().map(|one| one.steps()).max().unwrap_or(0);
    schedule.phase("reduce-scatter")?;
    for step in 0..steps {
        at_once(grid, all, schedule, step, true)?;
    }
    schedule.phase("allgather")?;
    (0..steps).rev().try_for_each(|step| at_once(grid, all, schedule, step, false))
}

/// A step of all of them, forwards or backwards.
fn at_once(grid: &Grid, all: &[&dyn Shares], schedule: &mut Schedule<'_>, step: usize, sums: bool) -> Result<(), Stop> {
    schedule.step()?;
    for (segment, one) in (0..).zip(all).filter(|(_, one)| step < one.steps()) {
        let dimension = one.dimension(step);
        let gifts: Vec<Vec<Gift>> = (0..grid.radix(dimension)).map(|c| one.gives(step, c)).collect();
        // What nodes with the same coordinate keep is the same, whatever their other coordinates.
        let kept: Vec<Vec<Coordinates>> = (0..grid.dimensions())
            .map(|along| match along == dimension {
                true => Vec::new(),
                false => (0..grid.radix(along)).map(|c| one.kept(step, along, c)).collect(),
            })
            .collect();
        for node in 0..grid.nodes() {
            for gift in &gifts[grid.coordinate(node, dimension) as usize] {
                let other = grid.moved(node, dimension, gift.to);
                let parts = |(along, c): (usize, u64)| match along == dimension {
                    true => Axis::bits(&gift.parts),
                    false => Axis::bits(&kept[along][c as usize]),
                };
                let axes: Vec<Axis<'_>> = grid.coordinates(node).enumerate().map(parts).collect();
                let mut signs = vec![0; grid.dimensions()];
                signs[dimension] = if sums { gift.sign } else { -gift.sign };
                let route = Route::signs(&signs);
                let send = if sums { Blocks::new(node, other).combine() } else { Blocks::new(other, node).copy() };
                let send = send.destinations(Set::product(&axes)).segments(Axis::one(segment)).strict();
                schedule.send(&if gift.sign == 0 { send } else { send.route(&route) })?;
            }
        }
    }
    Ok(())
}
