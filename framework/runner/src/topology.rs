//! Topologies as users name them: the core's specs, and the files that some name are read.

use std::sync::Arc;
use swapmeet_core::spec::SpecError;
use swapmeet_core::topology::{Topology, parse_with};

/// The topology that a spec names.
pub fn parse(text: &str) -> Result<Arc<dyn Topology>, SpecError> {
    parse_with(text, &|file| {
        // Workers read it again: what gives its text but once, or without end, won't do.
        let unread = |e: std::io::Error| format!("can't be read: {e}");
        if !std::fs::metadata(file).map_err(unread)?.is_file() {
            return Err("is a folder or a device, expected a file of edges".to_owned());
        }
        std::fs::read_to_string(file).map_err(unread)
    })
}
