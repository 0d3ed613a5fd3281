//! Measures costs that do not depend on the size of schedules: rows per second for many small
//! cases, the time to start a worker process for each plugin file, and the memory of commands that
//! read many rows. Run it by `cargo bench --bench rows`. Each value is the best of a few runs.
//! Compare ratios within one benchmark, not seconds between computers.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const SMALL: [(&str, &str, u32); 3] = [
    ("one schedule, 1 worker", "--workload uniform:1 --repetitions 100000 --jobs 1", 100_000),
    ("one schedule, 4 workers", "--workload uniform:1 --repetitions 100000 --jobs 4", 100_000),
    (
        "one schedule for each case",
        "--workload irregular:dist=uniform,mean=64,cv=0.1 --repetitions 10000 --jobs 1",
        10_000,
    ),
];

const ONE_FILE: [&str; 4] = ["ring", "pairwise", "bruck", "linear"];
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
    read_rows(dir.path());
}

/// Prints the peak memory of commands that read a file of rows, per row. To leave out the fixed
/// part, the peak memory with a tenth of the rows is subtracted.
fn read_rows(folder: &Path) {
    const MANY: u32 = 100_000;
    let few = MANY / 10;
    for (file, repetitions) in [("few.csv", few / 4), ("many.csv", MANY / 4)] {
        let mut program = Command::new(swapmeet_tests::program());
        program
            .args(["run", "--quiet", "--force", "--jobs", "1", "--out", file])
            .args(["--topology", "ring:4", "--topology", "torus:3x3"])
            .args(["--algorithm", "ring", "--algorithm", "pairwise"])
            .args(["--workload", "irregular:dist=uniform,mean=64,cv=0.1"])
            .args(["--repetitions", &repetitions.to_string()])
            .current_dir(folder);
        assert!(program.status().expect("the program runs").success());
    }
    println!("\n{:<28}{:>12}", "memory of a row", "bytes");
    for (name, args) in
        [("compare", &["compare"][..]), ("report", &["report", "--force", "--out", "page.html"])]
    {
        let [few_bytes, bytes] = ["few.csv", "many.csv"].map(|file| {
            let mut program = Command::new(swapmeet_tests::program());
            program.args(args).arg(file).current_dir(folder);
            peak_bytes(program.stdout(Stdio::null()).stderr(Stdio::null()))
        });
        println!(
            "{name:<28}{:>12.0} (target: at most 1,000)",
            (bytes - few_bytes) / f64::from(MANY - few)
        );
    }
}

fn peak_bytes(command: &mut Command) -> f64 {
    let mut process = command.spawn().expect("the program runs");
    let mut peak = 0.0_f64;
    while process.try_wait().expect("the process can be observed").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0.0) * 1024.0);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    peak
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

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
