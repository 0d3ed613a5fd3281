//! Loads plugins, builds the cases of experiments, runs them in worker processes and returns rows.
//!
//! Each module depends only on those before it:
//!
//! 1. input ([`input`], [`experiment`]);
//! 2. the components that the input names ([`topology`], [`plugin`], [`registry`]);
//! 3. the [`optimum`] of a network and a workload;
//! 4. cases ([`mod@case`], [`lookup`]) and groups of cases that share a schedule;
//! 5. worker processes, in which [`session`] runs a plugin through the [`host`];
//! 6. rows ([`batch`], [`dispatch`], [`optimum_columns`]), and the steps of a schedule
//!    ([`step_record`]).

#![allow(
    clippy::expect_used,
    reason = "an impossible state ends in an assertion, never in a value"
)]

pub mod batch;
pub mod case;
pub mod config;
mod defect;
pub mod describe;
pub mod dispatch;
pub mod event;
pub mod experiment;
pub mod forecast;
mod group_clock;
pub mod host;
pub mod input;
pub mod isolation;
pub mod limits;
pub mod lookup;
pub mod max_bytes;
pub mod optimum;
pub mod optimum_columns;
pub mod plan_group;
pub mod plugin;
pub mod plugin_output;
mod process;
pub mod registry;
pub mod sandbox;
pub mod schedule_progress;
pub mod session;
pub mod step_record;
pub mod system;
mod toml_reader;
pub mod topology;
pub mod worker;
