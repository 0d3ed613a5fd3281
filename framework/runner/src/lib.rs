//! Loads plugins, turns experiments into cases, runs them and hands out records.
//!
//! One direction: what is read ([`input`], [`experiment`]), what it names ([`topology`],
//! [`plugin`], [`registry`]), cases, units of work, workers in which [`session`] lets a plugin plan
//! through the [`host`], and rows ([`batch`], [`observe`]).

pub mod batch;
pub mod case;
pub mod config;
pub mod describe;
mod dispatch;
pub mod experiment;
pub mod forecast;
pub mod host;
pub mod input;
pub mod isolation;
pub mod limits;
pub mod lookup;
pub mod machine;
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
