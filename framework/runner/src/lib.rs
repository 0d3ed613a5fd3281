//! Loads plugins, builds the cases of experiments, runs them in worker processes and returns rows.
//!
//! Each part depends only on parts before it: input ([`input`], [`experiment`]), the components
//! that the input names ([`topology`], [`plugin`], [`registry`]), cases ([`mod@case`], [`lookup`]),
//! units of work, worker processes in which [`session`] runs a plugin through the [`host`], and
//! rows ([`batch`], [`mod@observe`]).

pub mod batch;
pub mod case;
pub mod config;
pub mod describe;
mod dispatch;
pub mod experiment;
pub mod forecast;
pub mod group_clock;
pub mod host;
pub mod input;
pub mod isolation;
pub mod limits;
pub mod lookup;
pub mod machine;
pub mod max_bytes;
pub mod observe;
pub mod plugin;
pub mod plugin_output;
mod process;
pub mod registry;
pub mod sandbox;
pub mod schedule_progress;
pub mod session;
mod toml_reader;
pub mod topology;
pub mod unit;
pub mod worker;
