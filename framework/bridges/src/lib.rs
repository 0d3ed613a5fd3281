//! Bridges to other programs: schedules go out ([`export`]), measurements come in ([`import`]) and
//! become machines ([`fit`]), sweeps become decision tables ([`tune`]). A format is a file, and a
//! row of its side's table.

pub mod export;
pub mod fit;
pub mod import;
pub mod tune;

pub use swapmeet_interchange::{msccl, schedule};
