//! Topologies as users name them: the core's specs, and the files that some name are read.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::network::topology::{Topology, parse_with};
use swapmeet_core::spec::SpecError;
use swapmeet_workloads::InputDigest;
use swapmeet_workloads::file::read_regular;

/// The topology that a spec names.
pub fn parse(text: &str) -> Result<Arc<dyn Topology>, SpecError> {
    parse_with_inputs(text).map(|(topology, _)| topology)
}

/// The topology that a spec names, and the files that it was made of.
pub fn parse_with_inputs(text: &str) -> Result<(Arc<dyn Topology>, Vec<InputDigest>), SpecError> {
    /// The most edges that a graph may have take 8 MiB; the rest is for remarks.
    const LONGEST: u64 = 64 << 20;
    let inputs = RefCell::new(Vec::new());
    let topology = parse_with(text, &|file| {
        let content = read_regular(Path::new(file), LONGEST, "a file of edges")?;
        inputs.borrow_mut().push(InputDigest::new(file, &content));
        Ok(content)
    })?;
    Ok((topology, inputs.into_inner()))
}
