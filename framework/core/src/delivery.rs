//! The blocks of a collective, their movement by a schedule, and its verification.

pub mod boxes;
pub mod byte_counts;
pub mod collective;
pub mod exchange;
pub mod fault;
pub mod grid;
mod holdings;
pub mod traced;
