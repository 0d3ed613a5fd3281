//! Bridges to other programs: exports of schedules ([`export`]), imports of measurements
//! ([`import`]), machines fitted to measurements ([`fit`]), and decision tables made from sweeps
//! ([`tune`]). Each format is one file and one entry of a table.

pub mod export;
pub mod fit;
pub mod import;
pub mod tune;

pub use swapmeet_interchange::{msccl, schedule};
