//! Topologies as users name them: the core's specs, and the files that some name are read.

use std::sync::Arc;
use swapmeet_core::spec::SpecError;
use swapmeet_core::topology::{Topology, parse_with};

/// The topology that a spec names.
pub fn parse(text: &str) -> Result<Arc<dyn Topology>, SpecError> {
    parse_with(text, &|file| std::fs::read_to_string(file).map_err(|e| e.to_string()))
}
