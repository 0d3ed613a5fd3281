//! Checks that a manifest switches off tests only if the crate has none, or `tests/unit` compiles
//! them.

use std::path::{Path, PathBuf};
use swapmeet_tests::project;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn name(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

/// Linking and starting an empty test program takes time. Crates without tests therefore switch off
/// their test programs.
#[test]
fn every_test_of_a_crate_is_run() {
    let unit_tests = std::fs::read_to_string(project("tests/unit/Cargo.toml")).unwrap();
    let mut switched_off = 0;
    for folder in ["framework", "plugins", "results", "tests/plugins"] {
        for entry in std::fs::read_dir(project(folder)).unwrap() {
            let member = entry.unwrap().path();
            let manifest = std::fs::read_to_string(member.join("Cargo.toml")).unwrap_or_default();
            let library = manifest.split("\n[").find(|section| section.starts_with("lib]"));
            if !library.is_some_and(|section| section.lines().any(|line| line == "test = false")) {
                continue;
            }
            switched_off += 1;
            let library = format!("path = \"../../{folder}/{}/src/lib.rs\"", name(&member));
            if unit_tests.contains(&library) {
                continue;
            }
            let mut files = Vec::new();
            sources(&member.join("src"), &mut files);
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(!text.contains("#[test]"), "{}: a test that is never run", file.display());
            }
        }
    }
    assert!(switched_off > 0);
}
