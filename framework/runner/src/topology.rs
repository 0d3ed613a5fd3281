//! Topologies as users name them: the core's specs, and the files that some name are read.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::network::topology::{Topology, parse_with};
use swapmeet_core::spec::SpecError;
use swapmeet_workloads::file::read_regular;
use swapmeet_workloads::fingerprint;

/// The topology that a spec names.
pub fn parse(text: &str) -> Result<Arc<dyn Topology>, SpecError> {
    parse_noting(text).map(|(topology, _)| topology)
}

/// The topology that a spec names, and what the files were that it was made of: see [`fingerprint`].
pub fn parse_noting(text: &str) -> Result<(Arc<dyn Topology>, Vec<String>), SpecError> {
    /// The most edges that a graph may have take 8 MiB; the rest is for remarks.
    const LONGEST: u64 = 64 << 20;
    let made_of = RefCell::new(Vec::new());
    let topology = parse_with(text, &|file| {
        let content = read_regular(Path::new(file), LONGEST, "a file of edges")?;
        made_of.borrow_mut().push(fingerprint(file, &content));
        Ok(content)
    })?;
    Ok((topology, made_of.into_inner()))
}
