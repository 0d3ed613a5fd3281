//! Connections to other programs. Each format is one file and one entry of a table.
//! - [`export`] writes schedules for other programs.
//! - [`import`] reads measurements of other programs.
//! - [`fit`] fits machines to measurements.
//! - [`tune`] converts the results of sweeps to decision tables for libraries.

pub mod export;
pub mod fit;
pub mod import;
pub mod tune;

pub use swapmeet_interchange::{append, msccl, schedule, text};
