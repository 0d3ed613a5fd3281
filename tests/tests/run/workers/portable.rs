//! The implementation for systems without a sandbox, selected on Linux by an environment variable.

use super::{Status, read_file, swapmeet_process, timeless, torture};
use tempfile::tempdir;

/// Without the parts that need Linux, the rows of all cases are the same as on Linux. This includes
/// cases that crash or exceed a limit, whose rows name the step in which they ended. The program
/// reports once that there is no sandbox.
#[test]
fn without_linux_there_are_the_same_rows_and_a_note() {
    const NOTE: &str = "note: this system has no sandbox: plugins run with all of your permissions (--no-sandbox hides this note)\n";
    const BAD: [&str; 4] = ["falls", "dawdles", "eats", "prints"];
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let run = |portable: &str, more: &[&str]| {
        let out = dir.path().join(format!("rows-{portable}-{}.csv", more.len()));
        let mut run =
            swapmeet_process(&["run", "--topology", "ring:6", "--quiet", "--timeout", "1"]);
        run.args(["--memory-limit", "256MiB", "--algorithm", "pairwise", "--plugin-dir"]);
        run.arg(&file).args(BAD.iter().flat_map(|name| ["--algorithm", name])).args(more);
        let output =
            run.arg("--out").arg(&out).env("SWAPMEET_PORTABLE", portable).output().unwrap();
        (read_file(&out).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let ((linux, silent), (portable, message)) = (run("0", &[]), run("1", &[]));
    assert_eq!((silent.matches(NOTE).count(), message.matches(NOTE).count()), (0, 1), "{message}");
    assert_eq!(portable.len(), 1 + BAD.len());
    for (row, expected) in portable.iter().zip(&linux) {
        assert_eq!(timeless(row), timeless(expected));
    }
    let ends: Vec<_> = portable.iter().map(|row| row.status).collect();
    let [ok, crashed] = [Status::Ok, Status::Crashed];
    assert_eq!(ends, [ok, crashed, Status::Timeout, crashed, ok]);
    assert!(portable[1].reason.ends_with("; it was in step 2"), "{}", portable[1].reason);
    assert_eq!(portable[2].reason, "not done after 1 s; it was in step 3");
    assert_eq!(portable[3].reason, "its process was killed by signal 6 (SIGABRT)");

    let listed = swapmeet_process(&["list", "plugins"])
        .env("SWAPMEET_PORTABLE", "1")
        .output()
        .unwrap()
        .stdout;
    let listed = String::from_utf8(listed).unwrap();
    let none = "\nsandbox: none (only Linux has one): plugins run with all of your permissions\n";
    assert!(listed.ends_with(none), "{listed}");
    let mut check = swapmeet_process(&["check", "--topology", "ring:4", "--algorithm", "prints"]);
    let checked = check.arg(&file).env("SWAPMEET_PORTABLE", "1").output().unwrap();
    assert_eq!(String::from_utf8(checked.stderr).unwrap(), NOTE);
}
