//! Tools that some tests need and that not every machine has.
//!
//! Without its tool, a test is skipped and prints a line. `println!` cannot be used, because `cargo
//! test` captures it. The variable `SWAPMEET_TESTS_NEED` (such as `cc make`) lists the tools that
//! must be present: tests then fail instead.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// The variable with the names of required tools, separated by spaces.
const NEEDED: &str = "SWAPMEET_TESTS_NEED";

/// Returns whether all these programs can be run. Prints a line if one is missing.
pub(crate) fn has(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    missing.is_none_or(|tool| {
        left_out(tool, &format!("no `{tool}` here"));
        false
    })
}

/// Returns a command that starts this number of ranks; the caller adds the program and its
/// arguments. Open MPI stores the state of a job in a folder of the test. In the default folder,
/// which all jobs of a user share, an ending job deletes files of a starting one.
pub(crate) fn mpirun(ranks: u64, own: &Path) -> Command {
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--allow-run-as-root", "--oversubscribe", "--mca", "orte_tmpdir_base"]).arg(own);
    // There are more ranks than cores, so waiting ranks should yield.
    mpirun.args(["--mca", "mpi_yield_when_idle", "1", "-n", &ranks.to_string()]);
    mpirun
}

/// Reports that a test is skipped because a tool is missing. Fails if the tool is required.
pub(crate) fn left_out(tool: &str, why: &str) {
    let needed = std::env::var(NEEDED).unwrap_or_default();
    if needed.split_whitespace().any(|name| name == tool) {
        panic!("{why}, and {NEEDED} is `{needed}`");
    }
    let test = std::thread::current();
    // Writes to the handle directly, because the test harness captures the output of macros.
    let line = format!("\nleft out: {}: {why}\n", test.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap_or_default();
}
