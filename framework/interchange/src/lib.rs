//! File formats of schedules: types for their contents, and strict parsers. This crate does not
//! depend on topologies or machines.

mod error;
pub mod msccl;
pub mod schedule;
pub mod text;

pub use error::ParseError;
