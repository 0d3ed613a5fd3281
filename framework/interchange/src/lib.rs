//! File formats of schedules: types and strict parsers. They know neither topologies nor machines.

mod error;
pub mod msccl;
pub mod schedule;
pub mod text;

pub use error::ParseError;
