//! Delivery: the blocks of a collective, their movement by a schedule, and the verification that
//! each block reaches its destination.

pub mod boxes;
pub mod byte_counts;
pub mod collective;
pub(crate) mod contents;
pub mod exchange;
pub mod fault;
pub mod grid;
pub(crate) mod holdings;
pub(crate) mod loads;
pub mod payload;
pub mod placement;
pub(crate) mod traced;
