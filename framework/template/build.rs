//! Writes a list of all source files of the SDK and the ABI, so that this crate can include their
//! contents. Therefore, the folder of a new plugin needs neither a registry nor a clone of this
//! project.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let framework = here.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut list = String::from("&[\n");
    for name in ["abi", "sdk"] {
        let source = framework.join(name).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        for file in files_below(&source)? {
            let relative = file.strip_prefix(framework).map_err(io::Error::other)?;
            let _ = writeln!(list, "    ({relative:?}, include_str!({file:?})),");
        }
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("sdk_sources.rs"), list)
}

fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            files.extend(files_below(&entry)?);
        } else {
            files.push(entry);
        }
    }
    Ok(files)
}
