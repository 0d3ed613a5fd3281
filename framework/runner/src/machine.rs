//! Reads the background traffic files that machines may name.

use std::path::Path;
use std::sync::Arc;
use swapmeet_core::cost::background::Background;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_workloads::file::read_regular;
use swapmeet_workloads::{InputDigest, Matrix};

/// A machine with the content of its files, and the digests of these files.
pub type LoadedMachine = (Arc<Machine>, Vec<InputDigest>);

/// Reads the file that the machine names, if any. The error states what is wrong with the file.
pub fn read(machine: Machine) -> Result<LoadedMachine, String> {
    let Some(name) = machine.background_file().map(str::to_owned) else {
        return Ok((Arc::new(machine), Vec::new()));
    };
    let content =
        read_regular(Path::new(&name), Matrix::MAX_TEXT, "a file of N rows of N byte counts")?;
    let matrix = Matrix::parse(&content)
        .map_err(|e| format!("{name}:{}:{}: {}", e.line, e.column, e.message))?;
    let background = Background::new(matrix.nodes(), |from, to| matrix.bytes(from, to));
    Ok((Arc::new(machine.with_background(background)), vec![InputDigest::new(&name, &content)]))
}
