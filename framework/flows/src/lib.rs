//! The search for the best flow of a network. The plugin `synthesis` also uses this crate.

mod cuts;
mod paths;
mod random;
mod solver;

pub use cuts::BestCut;
pub use paths::{Links, NONE, ShortestPaths};
pub use random::Random;
pub use solver::{
    Column, Demand, Options, Prices, Problem, Solution, Unconnected, best_step, fast_exp, solve,
};
