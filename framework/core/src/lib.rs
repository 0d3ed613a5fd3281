//! Topologies, node sets, the proof of delivery and the cost models of Swapmeet.
//!
//! Pure: no files, no threads, no terminal, no plugins. Data flows one way, from wing to wing: a
//! schedule's sends go into [`delivery`], which knows who holds what; [`simulation`] runs the
//! schedule step by step and measures what really moved on the links of a [`network`]; the measured
//! facts are priced by the models of [`cost`].

#![warn(missing_docs)]

pub mod cost;
pub mod delivery;
pub mod limits;
pub mod network;
pub mod simulation;
pub mod spec;
