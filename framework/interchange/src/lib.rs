//! Schedules as other programs write and read them: types, and readers that take nothing on trust.
//! Nothing here knows a topology or a machine.

pub mod msccl;
pub mod schedule;
mod wrong;

pub use wrong::Wrong;
