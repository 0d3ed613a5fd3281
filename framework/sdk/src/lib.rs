//! Write a Swapmeet algorithm in safe Rust.
//!
//! Implement [`Algorithm`], export it with [`export_plugin!`], build a `cdylib`: the file that
//! comes out is a plugin.
//!
//! ```
//! use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Set, Stop};
//!
//! /// Everyone sends every block straight to its destination, one distance a step.
//! struct Shift;
//!
//! impl Algorithm for Shift {
//!     fn about(&self) -> About {
//!         About { name: "shift", title: "Direct exchange, one distance a step", collectives: &[Collective::AllToAll], ..About::DEFAULT }
//!     }
//!
//!     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
//!         let n = problem.topology().nodes();
//!         for distance in 1..n {
//!             schedule.step()?;
//!             for node in 0..n {
//!                 let to = (node + distance) % n;
//!                 schedule.send(&Blocks::new(node, to).origins(Set::one(node)).destinations(Set::one(to)).strict())?;
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//!
//! swapmeet_sdk::export_plugin!(licence: "MIT", algorithms: [Shift]);
//! # fn main() {}
//! ```
//!
//! In a test of the plugin's own, a [`Rehearsal`] shows what the schedule says, and
//! [`Rehearsal::verify`] follows every block of it; `swapmeet check FILE` says whether it is right
//! everywhere.
//!
//! A schedule is a stream of steps; a step is a set of sends that happen at once. A send doesn't
//! list blocks, it states a rule: *of what I hold, the blocks with origin in O and destination in D
//! go to this node*. O and D are products of coordinate subsets ([`Set`], [`Axis`]) of the
//! topology's grid, or of a grid of the schedule's own ([`Schedule::layout`]).

#![warn(missing_docs)]

mod collective;
mod export;
mod grid;
mod padded;
mod param;
mod problem;
mod rehearsal;
mod rounds;
mod schedule;
mod send;
mod set;
mod stop;
mod symmetry;

pub use collective::Collective;
pub use export::{About, Algorithm};
pub use grid::Grid;
pub use padded::Padded;
pub use param::{ParamInfo, ParamValue, words};
pub use problem::{Problem, Topology};
pub use rehearsal::{
    Disproof, Proved, Rehearsal, Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend,
    RehearsedStep,
};
pub use rounds::{Straight, serialized_rounds};
pub use schedule::Schedule;
pub use send::{Blocks, Bucket, ByteCount, Bytes, Redistribution, Route};
pub use set::{Axis, Set};
pub use stop::Stop;
pub use symmetry::{Planned, PlannedNodes, Symmetry};

#[doc(hidden)]
pub use export::{Exported, entry};
#[doc(hidden)]
pub use swapmeet_abi as abi;
