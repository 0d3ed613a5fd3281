//! Loads plugins, turns experiments into cases, runs them and hands out records.

pub mod batch;
pub mod case;
pub mod describe;
pub mod experiment;
pub mod host;
pub mod input;
pub mod limits;
pub mod plugin;
pub mod registry;
pub mod session;
pub mod topology;
pub mod words;
