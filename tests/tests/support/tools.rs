//! Tools that some tests need and not every machine has.
//!
//! Without its tool such a test is left out, and says so where it is seen: not by `println!`, which `cargo test` keeps to itself. A machine that
//! ought to have a tool names it in `SWAPMEET_TESTS_NEED` (`cc make`): there the test fails instead.

use std::io::Write as _;
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
