//! Topologies as users name them: the core's specs, and the files that some name are read.

use std::path::Path;
use std::sync::Arc;
use swapmeet_core::spec::SpecError;
use swapmeet_core::topology::{Topology, parse_with};
use swapmeet_workloads::file::read_regular;

/// The topology that a spec names.
pub fn parse(text: &str) -> Result<Arc<dyn Topology>, SpecError> {
    /// The most edges that a graph may have take 8 MiB; the rest is for remarks.
    const LONGEST: u64 = 64 << 20;
    parse_with(text, &|file| read_regular(Path::new(file), LONGEST, "a file of edges"))
}
