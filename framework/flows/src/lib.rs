//! Parts of a search for the best flow of a network. `swapmeet-optimum` and the plugin `synthesis`
//! use them. The plugin must not depend on the crates of the framework, so this crate has no
//! dependencies. Certificates are verified without this crate.

#![warn(missing_docs)]

mod cuts;
mod descent;
mod links;
mod paths;

pub use cuts::BestCut;
pub use descent::{best_step, fast_exp};
pub use links::{Links, NONE};
pub use paths::ShortestPaths;
