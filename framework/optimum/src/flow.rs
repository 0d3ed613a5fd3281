//! Maximum concurrent flow. This module finds the least time in which a network can move a demand,
//! if the data of each pair of nodes may be divided among any number of paths. The result is an
//! interval that contains this time. The method is that of [`swapmeet_flows::solve`]. The lower end
//! is an exact fraction, because lengths and capacities are whole numbers.
//!
//! If the network has translations (shifts of all coordinates of a grid, which map every link to a
//! link), all images of a link have the same length, and it is enough to compute the flow of one
//! source.

use crate::demand::Demand;
use crate::error::{MAX_CELLS, OptimumError};
use crate::network::Network;
use problem::Limits;
use swapmeet_flows::{Options, Random, Solution, Unconnected};

mod problem;

pub(crate) use problem::expand;

/// A fraction of two whole numbers: numerator and denominator.
pub(crate) type Ratio = (u128, u128);

/// Returns a fraction as a floating-point number.
pub(crate) fn value((numerator, denominator): Ratio) -> f64 {
    numerator as f64 / denominator as f64
}

/// The effort of the search, without its gap.
const OPTIONS: Options =
    Options { gap: 0.0, stale_checks: 16, bisections: 10, early_checks: 4, exact: true };

/// A function that is called with both ends of the interval so far. An end is a load divided by a
/// capacity, without conversion to µs. While no interval is known, the ends are 0 and infinity. The
/// function returns whether the search must continue.
pub(crate) type Progress<'a> = dyn FnMut(f64, f64) -> bool + 'a;

/// Finds the least time for a demand between pairs of nodes. It stops when the width of the
/// interval, divided by its lower end, is at most `gap`. It calls `progress` after each update of
/// the interval. Returns the solution, whose resources are first the links and then the ports, and
/// the nodes that have data for other nodes. Loads divided by capacities are times, without
/// conversion to µs.
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
) -> Result<(Solution, Vec<u32>), OptimumError> {
    let (links, images) = expand(network);
    let limits = Limits::of(network, demand, &links, images);
    let sources = limits.sources.len() as u64;
    if sources * network.link_count() > MAX_CELLS {
        return Err(OptimumError::TooLarge { sources, links: network.link_count() });
    }
    let mut random = Random::with_state(99);
    let draw = |most: usize| (random.bits() % most as u64) as usize;
    let options = Options { gap, ..OPTIONS };
    let found = swapmeet_flows::solve(limits.problem(&links), options, draw, progress);
    let mut solution = found.map_err(|Unconnected { from, to }| OptimumError::Unconnected {
        from: from.into(),
        to: to.into(),
    })?;
    if solution.is_stopped {
        return Err(OptimumError::Stopped);
    }
    // Remove the resource of links that use no resource of a kind.
    solution.lengths.truncate(limits.capacities.len());
    Ok((solution, limits.sources))
}
