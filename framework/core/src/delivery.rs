//! The blocks of a collective, how a schedule moves them, and the verification of their delivery.

pub mod boxes;
pub mod byte_counts;
pub mod collective;
pub mod exchange;
pub mod fault;
pub mod grid;
mod holdings;
pub mod traced;
