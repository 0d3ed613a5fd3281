//! Functions that run the program, and checks for required tools.

pub(crate) mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;
use swapmeet_results::{Record, read_file, read_records};
use swapmeet_tests::{build, project};

/// Returns a command of the program that finds only the bundled plugins.
pub(crate) fn swapmeet(args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(build().join("swapmeet"));
    command.args(args).env_remove("SWAPMEET_PLUGIN_PATH").env("XDG_DATA_HOME", "/nonexistent");
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("NO_COLOR", "1");
    command
}

/// Splits a text at spaces into words.
pub(crate) fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Runs the program, which must succeed. Returns what it prints on standard output.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = swapmeet(args).output().expect("the program runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// Returns the rows that `swapmeet run ARGS --out -` prints, regardless of the exit status.
pub(crate) fn rows(args: &[&str]) -> Vec<Record> {
    let output =
        swapmeet(&["run", "--out", "-", "--quiet"]).args(args).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("rows are UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    read_records("standard output", &text).unwrap_or_else(|e| panic!("{e}\n{errors}"))
}

/// Returns the row of one case.
pub(crate) fn row_of(topology: &str, algorithm: &str, workload: &str, machine: &str) -> Record {
    let mut flags = vec!["--topology", topology, "--algorithm", algorithm];
    flags.extend(["--workload", workload, "--machine", machine]);
    rows(&flags).remove(0)
}

/// Returns the row without the columns that differ between runs.
pub(crate) fn timeless(record: &Record) -> Record {
    Record { plan_ms: None, wall_ms: None, ..record.clone() }
}

/// Returns the rows of a file without the columns that differ between runs.
pub(crate) fn timeless_rows(path: &Path) -> Vec<Record> {
    let rows = read_file(path).unwrap_or_else(|e| panic!("{e}"));
    rows.iter().map(timeless).collect()
}

/// Runs the program, which must refuse its input. Returns the message.
pub(crate) fn refused(args: &[&str]) -> String {
    let output = swapmeet(args).output().expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "data only on stdout");
    message
}

/// Returns the texts that a successful run of the program printed: the data and the messages.
pub(crate) fn texts_of(run: assert_cmd::assert::Assert) -> [String; 2] {
    let run = run.success();
    let output = run.get_output();
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Compiles a C file of the project into a plugin in `folder` with the given macros. Prints a line
/// and returns `None` if there is no C compiler.
pub(crate) fn compile_c(
    source: &str,
    folder: &Path,
    name: &str,
    macros: &[(&str, &str)],
) -> Option<PathBuf> {
    let out = folder.join(format!("{name}.{}", std::env::consts::DLL_EXTENSION));
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC", "-I"]);
    cc.arg(project("framework/abi/include")).arg("-o").arg(&out).arg(project(source));
    for (key, value) in macros {
        cc.arg(format!("-D{key}={value}"));
    }
    match cc.output() {
        Err(_) => {
            tools::left_out("cc", "no C compiler `cc`");
            None
        }
        Ok(output) if output.status.success() => Some(out),
        Ok(output) => panic!("{source}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Compiles `torture.c`, whose algorithms misbehave. Returns `None` as [`compile_c`] does.
pub(crate) fn torture(folder: &Path) -> Option<PathBuf> {
    compile_c("tests/plugins/torture.c", folder, "torture", &[("_DEFAULT_SOURCE", "1")])
}

/// Compiles `wrong.c` with these macros into a plugin with this file name. Returns `None` as
/// [`compile_c`] does.
pub(crate) fn wrong(folder: &Path, name: &str, macros: &[(&str, &str)]) -> Option<PathBuf> {
    compile_c("tests/plugins/wrong.c", folder, name, macros)
}
