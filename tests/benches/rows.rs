//! Measures costs of the program that do not depend on the size of schedules: rows per second for
//! many small cases, and the time to start a worker process for each plugin file.
//!
//! Run it by `cargo bench --bench rows`. Each measurement runs the program with the usual options,
//! which writes its rows to a file. Each value is the best of a few runs. Compare ratios within one
//! benchmark, not seconds between computers.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Benchmarks of small cases: the name, the flags of `run`, and the number of rows.
const SMALL: [(&str, &str, u32); 3] = [
    ("one schedule, 1 worker", "--workload uniform:1 --repetitions 100000 --jobs 1", 100_000),
    ("one schedule, 4 workers", "--workload uniform:1 --repetitions 100000 --jobs 4", 100_000),
    (
        "one schedule for each case",
        "--workload irregular:dist=uniform,mean=64,cv=0.1 --repetitions 10000 --jobs 1",
        10_000,
    ),
];

/// Four algorithms from a single plugin file.
const ONE_FILE: [&str; 4] = ["ring", "pairwise", "bruck", "linear"];
/// Four algorithms from four plugin files.
const FOUR_FILES: [&str; 4] = ["ring", "gen", "direct", "suh-shin"];

fn main() {
    let dir = tempfile::tempdir().expect("a folder");
    println!("{:<28}{:>12}", "100,000 small cases", "rows/s");
    for (name, flags, rows) in SMALL {
        let seconds =
            best(|| run(dir.path(), &format!("--topology ring:4 --algorithm ring {flags}")));
        println!("{name:<28}{:>12.0}", f64::from(rows) / seconds);
    }
    let started = |names: &[&str]| {
        let flags: String = names.iter().map(|name| format!(" --algorithm {name}")).collect();
        best(|| run(dir.path(), &format!("--topology torus:4x4 --jobs 1{flags}")))
    };
    let (one, four) = (started(&ONE_FILE), started(&FOUR_FILES));
    println!(
        "\none more worker and plugin file: {:.1} ms (target: at most 5)",
        (four - one) / 3.0 * 1e3
    );
}

/// Returns the shortest of five runs, in seconds.
fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Runs `swapmeet run`, and returns its duration in seconds.
fn run(folder: &Path, flags: &str) -> f64 {
    let mut program = Command::new(swapmeet_tests::program());
    program
        .args(["run", "--quiet", "--force", "--out"])
        .arg(folder.join("rows.csv"))
        .args(flags.split_whitespace());
    program
        .env_remove("SWAPMEET_PLUGIN_PATH")
        .env("XDG_DATA_HOME", "/nonexistent")
        .stderr(Stdio::null());
    let begin = Instant::now();
    assert!(program.status().expect("the program runs").success(), "{flags}");
    begin.elapsed().as_secs_f64()
}
