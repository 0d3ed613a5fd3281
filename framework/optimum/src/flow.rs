//! Maximum concurrent flow. This module finds the least time in which a network can move a demand,
//! if the data of each pair of nodes may be divided among any number of paths. The result is an
//! interval that contains this time.
//!
//! Upper end of the interval: the solver improves a flow step by step. It minimizes the sum of
//! exp(eta * load) over all resources (links and ports), where eta is a parameter. The method is
//! block-coordinate Frank-Wolfe, with one block of variables for the flow of each source. For one
//! source after another, it finds the shortest-path tree, with the prices exp(eta * load) as link
//! lengths. It then moves the flow of this source towards the tree, by the step that makes the sum
//! smallest. The parameter eta grows as the interval becomes narrower. Garg and Könemann (2007) and
//! Fleischer (2000) prove bounds for similar methods; here the width of the interval shows when to
//! stop.
//!
//! Lower end of the interval: any lengths of the resources give a lower bound on the time. It is
//! the sum of demands times distances, divided by the sum of capacities times lengths. The solver
//! uses a decaying average of the prices as lengths, because the current prices alone would give a
//! bound that is some percent smaller. Lengths are rounded to whole numbers, so the lower end is an
//! exact fraction.
//!
//! If the network has translations (shifts of all coordinates of a grid, which map every link to a
//! link), all images of a link have the same length, and it is enough to compute the flow of one
//! source.

use crate::demand::Demand;
use crate::error::{MAX_CELLS, OptimumError};
use crate::network::Network;
use problem::{Amounts, Resources};
use solver::Solver;

mod problem;
mod solver;

pub(crate) use problem::expand;

/// A fraction of two whole numbers: numerator and denominator.
pub(crate) type Ratio = (u128, u128);

/// Returns a fraction as a floating-point number.
pub(crate) fn value((numerator, denominator): Ratio) -> f64 {
    numerator as f64 / denominator as f64
}

/// The solution of a flow problem. A time is a load divided by a capacity, without conversion to
/// µs.
#[derive(Debug)]
pub(crate) struct Solution {
    /// The lower end of the interval that contains the least time.
    pub lower: Ratio,
    /// The lengths that give the lower end: first those of the links, then those of the ports.
    pub lengths: Vec<u32>,
    /// The upper end of the interval. It is the load of a resource divided by its capacity, for the
    /// resource with the largest quotient.
    pub upper: f64,
    /// The load of each resource, divided by its capacity: first the links, then the ports.
    pub loads: Vec<f64>,
    /// The nodes that have data for other nodes.
    pub sources: Vec<u32>,
    /// The flows of all sources, as one row for each source in the order of `sources`. A row has
    /// one amount for each link of the whole network.
    pub flows: Vec<f32>,
}

/// A function that is called with both ends of the interval so far. An end is a load divided by a
/// capacity, without conversion to µs. While no interval is known, the ends are 0 and infinity. The
/// function returns whether the search must continue.
pub(crate) type Progress<'a> = dyn FnMut(f64, f64) -> bool + 'a;

/// Finds the least time for a demand between pairs of nodes. It stops when the width of the
/// interval, divided by its lower end, is at most `gap`. It calls `progress` after each
/// update of the interval.
///
/// # Errors
///
/// Returns an error if a receiver cannot be reached, if the problem is too large, or if
/// `progress` stops the search.
pub(crate) fn solve(
    network: &Network,
    demand: &Demand,
    gap: f64,
    progress: &mut Progress<'_>,
) -> Result<Solution, OptimumError> {
    let amounts = Amounts::of(network, demand);
    let (sources, links) = (amounts.sources.len() as u64, network.link_count());
    if sources * links > MAX_CELLS {
        return Err(OptimumError::TooLarge { sources, links });
    }
    let (links, images) = expand(network);
    let resources = Resources::of(network, &links, images);
    Solver::new(&links, &resources, &amounts).run(gap, progress)
}
