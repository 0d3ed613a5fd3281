//! Maximum concurrent flow: the least time in which a network can move a demand, if data may be
//! split over any paths.
//!
//! The flow of each source is one block of variables. The method minimizes the sum of
//! exp(eta * load) over all resources (links and ports) by block-coordinate Frank-Wolfe steps: each
//! source in turn gets its shortest-path tree under the prices exp(eta * load), and its flow moves
//! towards this tree by the step that minimizes the sum on that line. The parameter eta grows as
//! the interval closes. Garg and Könemann (2007) and Fleischer (2000) prove bounds for similar
//! methods; here the interval itself shows when to stop.
//!
//! Any lengths of the resources give a lower end: the sum of demands times distances, divided by
//! the sum of capacities times lengths. The best lengths are a decaying average of the prices;
//! prices of a single moment are some percent worse. Lengths are whole numbers, so the lower end is
//! an exact fraction.
//!
//! Under translations all images of a link have the same length, and one source is enough.

use crate::demand::Demand;
use crate::error::{MAX_CELLS, OptimumError};
use crate::network::Network;
use problem::{Amounts, Resources};
use solver::Solver;

mod problem;
mod solver;

pub(crate) use problem::expand;

/// A fraction of whole numbers.
pub(crate) type Ratio = (u128, u128);

/// Returns a fraction as a floating-point number.
pub(crate) fn value((numerator, denominator): Ratio) -> f64 {
    numerator as f64 / denominator as f64
}

/// The solution of a flow problem. Times are in units of load per capacity.
#[derive(Debug)]
pub(crate) struct Solution {
    /// The lower end of the interval.
    pub lower: Ratio,
    /// The lengths that give the lower end: those of the links, then those of the ports.
    pub lengths: Vec<u32>,
    /// The upper end of the interval: the largest load of a resource, divided by its capacity.
    pub upper: f64,
    /// The load of each resource, divided by its capacity.
    pub loads: Vec<f64>,
    /// The sources, and the flow of each on each link of the whole network.
    pub sources: Vec<u32>,
    pub flows: Vec<f32>,
}

/// Finds the least time for a demand between pairs of nodes, up to a relative width `gap` of the
/// interval. Calls `progress` with the interval after each check of it.
///
/// # Errors
/// If a receiver cannot be reached, or the problem is too large.
pub(crate) fn solve(
    network: &Network,
    demand: &Demand,
    gap: f64,
    progress: &mut dyn FnMut(f64, f64),
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
