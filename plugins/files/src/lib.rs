//! Schedules of other programs, which are read from files and then verified and evaluated like all
//! others.

use swapmeet_sdk::export_plugin;

mod msccl;
mod numbers;
mod schedule;

pub use msccl::{Msccl, count_steps};

use schedule::FromSchedule;

export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [FromSchedule, Msccl]);
