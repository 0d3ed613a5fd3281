//! The output of plugins, and the processes that plugins start, do not delay a run. The program
//! shows a limited number of lines. The processes end together with their worker, even if the
//! program is killed.

use crate::support::{compile_c, swapmeet, swapmeet_process, torture, words};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use swapmeet_results::read_records;
use swapmeet_runner::system;
use swapmeet_tests::program;
use tempfile::tempdir;

/// Returns the command lines of all processes whose environment contains this file name.
fn running(mark: &Path) -> Vec<String> {
    let given = format!("SWAPMEET_TORTURE_MARK={}\0", mark.display());
    let read = |entry: &Path, name: &str| {
        std::fs::read(entry.join(name))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes
        .filter(|path| read(path, "environ").contains(&given))
        .map(|path| read(&path, "cmdline"))
        .collect()
}

/// A program that is killed cannot notify its workers.
#[test]
fn a_killed_program_ends_its_workers_and_their_children() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    for (sandbox, workers) in [(None, 1), (Some("--no-sandbox"), 2)] {
        let workers = if system::has_sandbox() { workers } else { 2 };
        let mark = dir.path().join(format!("mark{}", sandbox.unwrap_or_default()));
        let mut run = Command::new(program());
        run.args(words("run --quiet --topology ring:4 --algorithm lingers --plugin-dir"))
            .arg(&file);
        run.args(sandbox).env("SWAPMEET_TORTURE_MARK", &mark).env("XDG_DATA_HOME", "/nonexistent");
        let mut run = run.stdout(Stdio::null()).spawn().unwrap();
        let of_workers =
            || running(&mark).iter().filter(|line| line.contains("\0worker\0")).count();
        wait_until("no worker", || of_workers() >= workers);
        run.kill().unwrap();
        run.wait().unwrap();
        wait_until("a worker, or what it forked, is left", || running(&mark).is_empty());
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A plugin prints 40,000 lines per case. For each case, the program shows the first 19 lines and a
/// note, but it shows at most 1,000 lines per run. A message states how many more lines are
/// omitted.
#[test]
fn output_of_plugins_is_limited_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "torture", &[]) else {
        return;
    };
    let sizes: String = (3..63).map(|n| format!(" --topology ring:{n}")).collect();
    let file = file.display();
    let line = format!("run --plugin-dir {file} --algorithm prints --format csv{sizes}");
    let args = words(&line);
    let output = swapmeet(&args).output().unwrap();
    assert_eq!(
        read_records("rows", std::str::from_utf8(&output.stdout).unwrap()).unwrap().len(),
        60
    );
    let message = String::from_utf8(output.stderr).unwrap();
    let of_plugins = message.lines().filter(|line| line.starts_with("prints on ring:")).count();
    assert_eq!(of_plugins, 1000);
    assert_eq!(message.matches("(further output is omitted)").count(), 1000 / 20);
    assert!(message.contains("\n200 more lines from plugins are omitted\n"), "{message}");
}

/// Without a sandbox, a plugin may fork. The forked processes print for half a minute.
#[test]
fn surviving_processes_do_not_delay_a_run() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let mark = dir.path().join("mark");
    let mut run =
        swapmeet_process(&words("run --quiet --no-sandbox --out - --topology ring:6 --plugin-dir"));
    run.arg(&file)
        .args(["--algorithm", "outlives", "--algorithm", "forks"])
        .env("SWAPMEET_TORTURE_MARK", &mark);
    let output = run.output().unwrap();
    let rows = read_records("standard output", &String::from_utf8(output.stdout).unwrap()).unwrap();
    let end = "its process was killed by signal 6 (SIGABRT)";
    let ends: Vec<&str> = rows.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(ends, [format!("{end}; its last output: still here").as_str(), end]);
    assert!(!mark.exists(), "what a plugin left behind was waited for");
}

#[test]
fn no_process_is_left_running() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let file = file.to_str().unwrap();
    let line = format!(
        "run --plugin-dir {file} --topology ring:4 --algorithm forks --algorithm sleeps \
        --timeout 0.2 --no-sandbox"
    );
    let args = words(&line);
    let mark = dir.path().join("mark");
    swapmeet_process(&args).env("SWAPMEET_TORTURE_MARK", &mark).assert().code(1);
    assert_eq!(running(&mark), [""; 0]);
}
