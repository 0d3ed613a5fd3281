//! The search for the best flow of a network, for `swapmeet-optimum` and for the plugin
//! `synthesis`. The plugin must not depend on the crates of the framework, so this crate has no
//! dependencies. `swapmeet-optimum` verifies its results without this crate.

mod cuts;
mod descent;
mod links;
mod paths;
mod random;
mod solver;

pub use cuts::BestCut;
pub use descent::{best_step, fast_exp};
pub use links::{Links, NONE};
pub use paths::ShortestPaths;
pub use random::Random;
pub use solver::{Column, Demand, Options, Prices, Problem, Solution, Unconnected, solve};
