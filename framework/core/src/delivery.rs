//! Delivery: what a collective gives everyone, what a schedule moves, and the proof that all of it
//! arrives.

pub mod boxes;
pub mod byte_counts;
pub mod collective;
pub mod exchange;
pub mod fault;
pub mod grid;
pub(crate) mod holdings;
pub mod payload;
pub mod placement;
