//! Tools that some tests need and that not every computer has. If a tool is missing, the test is
//! skipped and prints a line. The variable `SWAPMEET_TESTS_NEED` (such as `cc make`) lists tools
//! that are required: if one of them is missing, the test fails.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const NEEDED: &str = "SWAPMEET_TESTS_NEED";

/// Returns whether tests that take long run, too (`SWAPMEET_TESTS=all`). Prints a line if not.
pub(crate) fn runs_all() -> bool {
    let runs_all = swapmeet_tests::runs_all();
    if !runs_all {
        left_out("SWAPMEET_TESTS=all", "runs with SWAPMEET_TESTS=all");
    }
    runs_all
}

pub(crate) fn has(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    missing.is_none_or(|tool| {
        left_out(tool, &format!("no `{tool}` here"));
        false
    })
}

/// Parses YAML with Python's module `yaml`. If the module is missing, prints a line and returns
/// `None`.
pub(crate) fn yaml(text: &str) -> Option<serde_json::Value> {
    let script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.argv[1])))";
    let python = |args: &[&str]| Command::new("python3").args(args).output();
    if !python(&["-c", "import yaml"]).is_ok_and(|output| output.status.success()) {
        left_out("yaml", "no module `yaml` of `python3` here (Debian: python3-yaml)");
        return None;
    }
    let output = python(&["-c", script, text]).expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("python3 prints JSON"))
}

/// Loads a page in a real browser, in a window of this width, and returns the resulting document.
/// If there is no browser, prints a line and returns `None`.
pub(crate) fn opened(dir: &TempDir, page: &Path, width: u32, more: &[String]) -> Option<String> {
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let Some(browser) =
        known.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
    else {
        left_out("chromium", "no chromium");
        return None;
    };
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
        .arg(format!("--window-size={width},1000"))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Returns a command that starts this number of ranks. Open MPI stores the state of the job in the
/// folder `own`. All jobs of a user would share the default folder, in which a job that ends can
/// delete files of a job that starts.
pub(crate) fn mpirun(ranks: u64, own: &Path) -> Command {
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--allow-run-as-root", "--oversubscribe", "--mca", "orte_tmpdir_base"]).arg(own);
    // There are more ranks than cores, so a rank that waits should yield its core.
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
    // Write to the handle directly, because the test harness captures the output of macros.
    let line = format!("\nleft out: {}: {why}\n", test.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap_or_default();
}
