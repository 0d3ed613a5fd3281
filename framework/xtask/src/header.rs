//! Generates the C header of the plugin boundary from the Rust definitions, with cbindgen.

use crate::TaskResult;
use std::fs;
use std::path::{Path, PathBuf};

fn place(root: &Path) -> PathBuf {
    root.join("framework/abi/include/swapmeet.h")
}

/// Returns cbindgen's output. Links and names of Rust in its comments become names of C.
fn generated(root: &Path) -> TaskResult<String> {
    let folder = root.join("framework/abi");
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))?;
    let mut text = Vec::new();
    cbindgen::generate_with_config(&folder, config)?.write(&mut text);
    let words =
        [("[`", "`"), ("`]", "`"), ("u64::MAX", "UINT64_MAX"), ("`i32`", "`int32_t`"), ("::", ".")];
    let text = String::from_utf8(text)?;
    Ok(words.iter().fold(text, |text, (rust, c)| text.replace(rust, c)))
}

pub(crate) fn renew(root: &Path) -> TaskResult<Vec<PathBuf>> {
    fs::write(place(root), generated(root)?)?;
    Ok(vec![place(root)])
}

/// Errors if the committed header differs from the generated header.
pub(crate) fn check(root: &Path) -> TaskResult<Vec<PathBuf>> {
    if fs::read_to_string(place(root))? == generated(root)? {
        return Ok(Vec::new());
    }
    let place = place(root);
    Err(format!(
        "{} differs from the Rust definitions: `cargo run -p xtask --features header -- header` renews it",
        place.display()
    )
    .into())
}
