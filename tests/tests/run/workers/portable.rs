//! The implementation for systems without a sandbox. On Linux, only a build with `RUSTFLAGS="--cfg
//! swapmeet_portable"` has these tests.

use super::{Status, read_file, rows, swapmeet_process, timeless, torture};
use tempfile::tempdir;

/// Cases that crash or exceed a limit have rows that name the step in which they ended. The program
/// reports once that there is no sandbox.
#[test]
fn without_linux_there_are_the_same_rows_and_a_note() {
    const NOTE: &str = "note: this system has no sandbox: plugins run with all of your permissions (--no-sandbox hides this note)\n";
    const ENDS: [(&str, Status, &str); 5] = [
        ("pairwise", Status::Ok, ""),
        (
            "falls",
            Status::Crashed,
            "its process was killed by signal 11 (SIGSEGV); it was in step 2",
        ),
        ("dawdles", Status::Timeout, "not done after 1 s; it was in step 3"),
        ("eats", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
        ("prints", Status::Ok, ""),
    ];
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let out = dir.path().join("rows.csv");
    let mut run = swapmeet_process(&["run", "--topology", "ring:6", "--quiet", "--timeout", "1"]);
    run.args(["--memory-limit", "256MiB", "--plugin-dir"]).arg(&file);
    run.args(ENDS.iter().flat_map(|(name, ..)| ["--algorithm", name]));
    let output = run.arg("--out").arg(&out).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message.matches(NOTE).count(), 1, "{message}");
    let found = read_file(&out).unwrap();
    let ends: Vec<_> =
        found.iter().map(|row| (&*row.algorithm, row.status, &*row.reason)).collect();
    assert_eq!(ends, ENDS);
    let alone = rows(&["--topology", "ring:6", "--algorithm", "pairwise"]);
    assert_eq!(timeless(&found[0]), timeless(&alone[0]));

    let listed = swapmeet_process(&["list", "plugins"]).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let none = "\nsandbox: none (only Linux has one): plugins run with all of your permissions\n";
    assert!(listed.ends_with(none), "{listed}");
    let mut check = swapmeet_process(&["check", "--topology", "ring:4", "--algorithm", "prints"]);
    let checked = check.arg(&file).output().unwrap();
    assert_eq!(String::from_utf8(checked.stderr).unwrap(), NOTE);
}
