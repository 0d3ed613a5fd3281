//! Schedules of other programs, read from files. They are verified and evaluated like all other
//! schedules.

use swapmeet_sdk::export_plugin;

mod msccl;
mod numbers;
mod schedule;

pub use msccl::count_steps;

use msccl::Msccl;
use schedule::FromSchedule;

export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [FromSchedule, Msccl]);
