//! Topologies, node sets, verification of delivery and cost models of Swapmeet.
//!
//! This crate reads no files, starts no threads, and does not depend on a terminal or on plugins.
//! Data flows in one direction:
//!
//! 1. [`simulation`] runs a schedule step by step.
//! 2. [`delivery`] executes the sends of a step and tracks which blocks each node holds.
//! 3. [`network`] calculates the load that the messages put on the links.
//! 4. [`cost`] calculates times from the statistics of each step.

#![warn(missing_docs)]

pub mod cost;
pub mod delivery;
pub mod limits;
pub mod network;
pub mod simulation;
pub mod spec;
pub mod text;
