//! Loads plugins, turns experiments into cases, runs them and hands out records.
//!
//! One direction: what is read ([`input`], [`experiment`]), what it names ([`topology`],
//! [`plugin`], [`registry`]), cases, units of work, workers in which [`session`] lets a plugin plan
//! through the [`host`], and rows ([`batch`], [`watch`]).

pub mod again;
pub mod alone;
pub mod batch;
pub mod case;
pub mod config;
pub mod describe;
pub mod experiment;
pub mod forecast;
pub mod host;
pub mod input;
pub mod limits;
pub mod machine;
pub mod pace;
pub mod plugin;
mod process;
pub mod registry;
mod rows;
pub mod sandbox;
pub mod session;
mod toml_text;
pub mod topology;
pub mod unit;
pub mod watch;
pub mod words;
pub mod worker;
