//! What manifests switch off, and what they would hide by it.

use std::path::{Path, PathBuf};
use swapmeet_tests::project;

/// The sources in a folder, whatever lies below it.
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

/// Whether a line of documentation begins an example that would be run.
fn begins_example(line: &str) -> bool {
    let text = line.trim_start();
    let doc = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"));
    doc.and_then(|doc| doc.trim_start().strip_prefix("```"))
        .is_some_and(|language| matches!(language, "" | "rust" | "no_run"))
}

/// Building and starting a program of no tests takes as long as that of many, so libraries without tests or examples have theirs switched off.
#[test]
fn a_crate_whose_tests_or_examples_are_not_run_has_none() {
    let mut switched_off = 0;
    let mut members: Vec<PathBuf> =
        ["workloads", "results", "results/plot", "tests", "tests/plugins/misprints"].map(project).into();
    for folder in ["framework", "plugins"] {
        members.extend(std::fs::read_dir(project(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    for member in members {
        let Ok(manifest) = std::fs::read_to_string(member.join("Cargo.toml")) else { continue };
        let off = |what: &str| manifest.lines().any(|line| line == format!("{what} = false"));
        let (tests, examples) = (off("test"), off("doctest"));
        switched_off += usize::from(tests) + usize::from(examples);
        let mut files = Vec::new();
        sources(&member.join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!tests || !text.contains("#[test]"), "{}: a test that is never run", file.display());
            // In a fenced block that is not run, the closing fence looks like an opening one: only every other counts.
            let mut open = false;
            for line in text.lines().filter(|_| examples) {
                let fence = line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with("```")
                    && line.trim_start().starts_with("//");
                assert!(open || !begins_example(line), "{}: an example that is never run: {line}", file.display());
                open ^= fence;
            }
        }
    }
    assert!(switched_off >= 8, "{switched_off}");
}
