//! Tools that some tests need and not every machine has.
//!
//! Without its tool such a test is left out, and says so where it is seen: not by `println!`, which
//! `cargo test` keeps to itself. A machine that ought to have a tool names it in
//! `SWAPMEET_TESTS_NEED` (`cc make`): there the test fails instead.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Names of tools, separated by spaces, without which tests fail rather than be left out.
const NEEDED: &str = "SWAPMEET_TESTS_NEED";

/// Whether all of these programs can be run; `false`, having said so, where one is missing.
pub(crate) fn has(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    missing.is_none_or(|tool| {
        left_out(tool, &format!("no `{tool}` here"));
        false
    })
}

/// Starts so many ranks on this machine; the program and its arguments are to be added. What Open
/// MPI keeps of a job lies in a folder of the test's own: in the one that all jobs of a user share,
/// one that ends takes away what another has just made.
pub(crate) fn mpirun(ranks: u64, own: &Path) -> Command {
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--allow-run-as-root", "--oversubscribe", "--mca", "orte_tmpdir_base"]).arg(own);
    // More ranks than cores: who waits lets others run.
    mpirun.args(["--mca", "mpi_yield_when_idle", "1", "-n", &ranks.to_string()]);
    mpirun
}

/// Says that a test is left out for want of a tool; fails where that tool must be there.
pub(crate) fn left_out(tool: &str, why: &str) {
    let needed = std::env::var(NEEDED).unwrap_or_default();
    if needed.split_whitespace().any(|name| name == tool) {
        panic!("{why}, and {NEEDED} is `{needed}`");
    }
    let test = std::thread::current();
    // The handle itself: what the macros print is kept back by the test harness.
    let line = format!("\nleft out: {}: {why}\n", test.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap_or_default();
}
