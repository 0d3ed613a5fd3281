use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::network::topology::{self, Network, parse_with};
use swapmeet_core::spec::SpecError;
use swapmeet_workloads::InputDigest;
use swapmeet_workloads::file::read_regular;

/// Maximum size of a file of edges in bytes. The largest permitted number of edges takes 8 MiB, and
/// the rest can be comments.
const LONGEST: u64 = 64 << 20;
const EDGES: &str = "a file of edges";

pub fn parse(text: &str) -> Result<Arc<Network>, SpecError> {
    parse_with_inputs(text).map(|(topology, _)| topology)
}

/// If a topology spec has a range of meshes, returns a spec for each mesh, otherwise the spec
/// itself.
pub fn expand_meshes(text: &str) -> Result<Vec<String>, SpecError> {
    topology::expand_meshes(text, &|file| read_regular(Path::new(file), LONGEST, EDGES))
}

pub fn parse_with_inputs(text: &str) -> Result<(Arc<Network>, Vec<InputDigest>), SpecError> {
    let inputs = RefCell::new(Vec::new());
    let topology = parse_with(text, &|file| {
        let content = read_regular(Path::new(file), LONGEST, EDGES)?;
        inputs.borrow_mut().push(InputDigest::new(file, &content));
        Ok(content)
    })?;
    Ok((topology, inputs.into_inner()))
}
