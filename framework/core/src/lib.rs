//! Topologies, node sets, verification of delivery and cost models of Swapmeet.
//!
//! This crate reads no files, starts no threads, and needs no terminal or plugin. Data flows
//! through four modules, in this order:
//!
//! 1. [`simulation`] runs a schedule step by step.
//! 2. [`delivery`] executes the sends of a step and tracks which blocks each node holds.
//! 3. [`network`] calculates the load that the messages put on the links.
//! 4. [`cost`] calculates times from the statistics of each step.
//!
//! # Example
//!
//! This program runs an all-to-all: in step i, each node sends a block to the node whose number is
//! larger by i (modulo the number of nodes). It compares the completion time with a lower bound.
//!
//! ```
//! use swapmeet_core::cost::bound::Traffic;
//! use swapmeet_core::cost::machine::Machine;
//! use swapmeet_core::cost::model::PricingContext;
//! use swapmeet_core::delivery::collective::{ALL_TO_ALL, Collective};
//! use swapmeet_core::delivery::exchange::Rule;
//! use swapmeet_core::network::topology;
//! use swapmeet_core::simulation::{Simulation, Task};
//!
//! let network = topology::parse("torus:8x8")?;
//! let machine = Machine::parse("paragon")?;
//! let task = Task::new(network.clone(), Collective::of(&ALL_TO_ALL));
//! let block_bytes = 64.0;
//!
//! // The evaluator listens to the simulation and computes the time while the schedule runs.
//! let mut evaluator = machine.evaluator(PricingContext::new(&network, block_bytes));
//! let mut simulation = Simulation::new(task.clone(), vec![evaluator.as_mut()])?;
//! let nodes = network.nodes();
//! for distance in 1..nodes {
//!     simulation.step()?;
//!     for from in 0..nodes {
//!         let to = (from + distance) % nodes;
//!         simulation.send(&Rule::new(from, to).of_block(from, to), None)?;
//!     }
//! }
//! // `finish` returns an error if a block has not reached its destination.
//! let totals = simulation.finish()?;
//! assert_eq!((totals.steps, totals.messages), (63, 63 * 64));
//!
//! let time_us = evaluator.cost()?.parts.total();
//! let traffic = Traffic::of(&task).in_bytes(block_bytes);
//! let bound_us = machine.lower_bound(network.as_ref(), &traffic).total_us();
//! assert!(0.0 < bound_us && bound_us < time_us);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Assertions
//!
//! Bad input gives an error or a [`Fault`](delivery::fault::Fault). If only a defect of this crate
//! can cause a state, an assertion checks for it and panics, because a wrong time would be worse
//! than none.

#![warn(missing_docs)]
#![allow(
    clippy::expect_used,
    reason = "an impossible state ends in an assertion, never in a value"
)]

pub mod cost;
pub mod delivery;
pub mod limits;
pub mod liveness;
pub mod network;
mod places;
pub mod simulation;
pub mod spec;
pub mod system;
#[cfg(test)]
mod test_tiers;
pub mod text;
