//! File formats of schedules: types and strict parsers, without topologies or machines.

mod error;
pub mod msccl;
pub mod schedule;
pub mod text;

pub use error::ParseError;
