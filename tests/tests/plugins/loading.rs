//! A library runs code when it is loaded. This must not affect the process that writes rows.

use crate::support::{compile_c, swapmeet, swapmeet_process, words};
use std::path::PathBuf;
use swapmeet_results::{Record, Status, read_file};
use tempfile::{TempDir, tempdir};

/// Compiles a plugin that executes the C code `does` in its entry function or when it is loaded.
fn plugin(place: &str, does: &str) -> Option<(TempDir, PathBuf)> {
    let dir = tempdir().unwrap();
    let macros = [(place, does), ("_DEFAULT_SOURCE", "1")];
    let file = compile_c("tests/plugins/loading.c", dir.path(), "misbehaves", &macros)?;
    Some((dir, file))
}

#[test]
fn a_plugin_that_crashes_when_loaded_is_named_and_skipped() {
    for (place, does, how) in [
        (
            "AT_ENTRY",
            "abort()",
            "its description cannot be read: its process was killed by signal 6 (SIGABRT)",
        ),
        (
            "AT_ENTRY",
            "__builtin_trap()",
            "its description cannot be read: its process was killed by signal 4 (SIGILL)",
        ),
        (
            "AT_LOAD",
            "_exit(0)",
            "its description cannot be read: its process ended with exit status 0, without an answer",
        ),
        (
            "AT_LOAD",
            "raise(SIGKILL)",
            "its description cannot be read: its process was killed by signal 9 (SIGKILL)",
        ),
        (
            "AT_ENTRY",
            "for(int i=0;i<64;++i)close(i);",
            "its description cannot be read: it closed its connection to the program",
        ),
    ] {
        let Some((dir, file)) = plugin(place, does) else { return };
        let message = format!("{}: {how}", file.display());

        // If the user names the file, a plugin that cannot be loaded is a mistake of the user.
        let line =
            format!("run --topology ring:4 --algorithm ring --plugin-dir {}", file.display());
        let run = words(&line);
        let output = swapmeet(&run).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(&message) || does.contains("close"), "{does}: {stderr}");

        let path = ("SWAPMEET_PLUGIN_PATH", dir.path());
        let output = swapmeet_process(&run[..5]).env(path.0, path.1).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{does}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let listed = swapmeet_process(&["list", "plugins"]).env(path.0, path.1).output().unwrap();
        let stderr = String::from_utf8(listed.stderr).unwrap();
        assert!(stderr.contains("skipped ") && stderr.contains("misbehaves"), "{does}: {stderr}");

        let line = format!(
            "run --topology ring:4 --algorithm c-ring --plugin-dir {}",
            dir.path().display()
        );
        let output = swapmeet(&words(&line)).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let why = format!("unknown algorithm `c-ring`; skipped {}", file.display());
        assert!(output.status.code() == Some(2) && stderr.contains(&why), "{does}: {stderr}");
    }
}

#[test]
fn output_of_a_plugin_when_loaded_is_not_a_row() {
    let Some((dir, file)) = plugin("AT_LOAD", "puts(\"hello\")") else { return };
    let line = format!("run --topology ring:4 --algorithm c-ring --plugin-dir {}", file.display());
    let args = words(&line);
    let output = swapmeet(&[&args[..], &["--out", "-"]].concat()).output().unwrap();
    let file = dir.path().join("rows.csv");
    std::fs::write(&file, &output.stdout).unwrap();
    let rows: Vec<Record> = read_file(&file).unwrap();
    assert_eq!(rows.iter().map(|row| row.status).collect::<Vec<_>>(), [Status::Ok]);
}
