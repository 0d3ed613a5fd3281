//! Write a Swapmeet algorithm in safe Rust. To make a plugin, implement [`Algorithm`], use
//! [`export_plugin!`] and build the crate as a `cdylib`.
//!
//! ```
//! use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Set, Stop};
//!
//! /// Each node sends every block straight to its destination, one distance per step.
//! struct Shift;
//!
//! impl Algorithm for Shift {
//!     fn about(&self) -> About {
//!         About { name: "shift", title: "Direct exchange, one distance per step", collectives: &[Collective::AllToAll], ..About::DEFAULT }
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
//! # Schedules
//!
//! A schedule is a sequence of steps, and a step is a set of sends that happen at the same time. A
//! send does not list blocks. It states a rule: *of the blocks that the sender holds, those with an
//! origin in O and a destination in D are sent to this receiver*. O and D are sets of nodes
//! ([`Set`]): products of one subset of coordinates ([`Axis`]) for each dimension of the topology's
//! grid, or of a grid that the schedule defines ([`Schedule::layout`]).
//!
//! # Tests
//!
//! In the plugin's own tests, [`Rehearsal::plan`] returns the schedule with every set written out
//! as a list of nodes, and [`Rehearsal::verify`] follows every block to its destination. `swapmeet
//! check FILE` tests the finished plugin on many topologies and sizes.

#![warn(missing_docs)]

mod collective;
mod export;
mod grid;
mod padded;
mod param;
mod problem;
mod rehearsal;
mod rings;
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
pub use problem::{Link, Problem, TokenClass, Topology};
pub use rehearsal::{
    Disproof, Proved, Rehearsal, Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend,
    RehearsedStep,
};
pub use rings::Rings;
pub use rounds::{Straight, serialized_rounds};
pub use schedule::Schedule;
pub use send::{Blocks, Bucket, ByteCount, Bytes, Redistribution, Route};
pub use set::{Axis, Set, bit_words};
pub use stop::Stop;
pub use symmetry::{Planned, PlannedNodes, Symmetry};

#[doc(hidden)]
pub use export::{Exported, entry};
#[doc(hidden)]
pub use swapmeet_abi as abi;
