//! Messages that a plugin writes to the socket of its worker.

use crate::support::{compile_c, rows, swapmeet};
use swapmeet_results::Status;
use tempfile::tempdir;

#[test]
fn forged_texts_are_escaped_in_rows() {
    let dir = tempdir().unwrap();
    let torture = ("tests/plugins/torture.c", [("_DEFAULT_SOURCE", "1")]);
    let Some(file) = compile_c(torture.0, dir.path(), "torture", &torture.1) else { return };
    let file = file.to_str().unwrap();
    let found = rows(&["--plugin-dir", file, "--topology", "ring:4", "--algorithm", "escapes"]);
    let found: Vec<_> = found.iter().map(|row| (row.status, row.reason.as_str())).collect();
    assert_eq!(found, [(Status::Error, "a\\u{1b}[31m\\u{0}\\r\\u{202e}")]);
}

/// A message of 250 MB, which would take 4 GB as a list of numbers, ends the worker at once.
#[test]
fn messages_have_a_maximum_size() {
    let dir = tempdir().unwrap();
    let torture = ("tests/plugins/torture.c", [("_DEFAULT_SOURCE", "1")]);
    let Some(file) = compile_c(torture.0, dir.path(), "torture", &torture.1) else { return };
    let out = dir.path().join("out");
    let of = ["--topology", "ring:4", "--algorithm", "swells", "--timeout", "60"];
    let of = [&of[..], &["--plugin-dir", file.to_str().unwrap()]].concat();
    let export = ["export", "--format", "goal", "--out", out.to_str().unwrap()];
    for command in [&["trace", "--summary"][..], &["trace", "--format", "json"], &export] {
        let output = swapmeet(&[command, &of].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        assert!(said.contains("crashed: invalid reply from the worker process: "), "{said}");
        assert!(said.contains("a line is longer than any reply"), "{said}");
    }
}
