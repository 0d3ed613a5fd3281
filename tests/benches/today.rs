//! Measures the processor time and the memory of cases that are typical of present applications:
//! mixtures of experts, unequal sizes, and networks with switches. A goal is printed next to each
//! value. Run it by `cargo bench --bench today`, or by `cargo bench --bench today -- moe` for the
//! cases whose names contain `moe`. Seconds are the user time of all processes with one worker,
//! which depends little on the load of the computer. The value is the median of three runs. If a
//! run takes more than five seconds, it is the only run.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The time limit of a case in seconds.
const LIMIT: &str = "120";

/// Cases: (machine, lines). Each line has a topology, an algorithm, a workload and the goal in
/// seconds. One line also has a goal for memory. The goal of a combine is the time of the dispatch
/// of the same tokens.
const SECTIONS: [(&str, &str); 6] = [
    (
        "free:model=fluid,byte_us=0.001,hop_us=0.1",
        "torus:16x16 linear irregular:dist=lognormal,mean=1024,cv=1 0.5
         dragonfly:33x8x4 linear moe:experts=1056,top=8,tokens=4096,bytes=7KiB 8;200MB
         dragonfly:33x8x4 linear uniform:1KiB 5
         fat-tree:64x2 linear moe:experts=256,top=8,tokens=1024,bytes=7KiB 30
         fat-tree:128x2 pairwise uniform:1KiB 30
         dragonfly:64x8x8 ring-allreduce allreduce/uniform:1MiB 3
         torus:256x256 ring-allreduce allreduce/uniform:1MiB 5",
    ),
    (
        "free:model=fluid,startup_us=1.5,byte_us=0.00004,hop_us=0.35",
        "fat-tree:8x3 linear uniform:40KiB 8
         fat-tree:8x3 linear uniform:64KiB 8",
    ),
    (
        "free:byte_us=0.001,hop_us=0.1",
        "dragonfly:33x8x4 pairwise moe:experts=1056,top=8,tokens=4096,bytes=7KiB 1
         fat-tree:64x2 pairwise moe:experts=256,top=8,tokens=1024,bytes=7KiB 8
         fat-tree:64x2 linear moe:experts=256,top=8,tokens=1024,bytes=7KiB 30
         fat-tree:128x2 linear moe:experts=256,top=8,tokens=1024,bytes=7KiB 60
         fat-tree:128x2 pairwise uniform:1KiB 4
         dragonfly:128x16x32 ring-allreduce allreduce/uniform:1MiB 10
         dragonfly:32x16x8 pairwise uniform:1KiB 1
         hyperx:16x16,nodes=16 pairwise uniform:1KiB 1
         groups:512x8,inside=9 pairwise uniform:1KiB 1
         groups:512x8,inside=9 ring-allreduce allreduce/uniform:1MiB 1",
    ),
    (
        "free:model=loggp,latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006",
        "torus:64x64 ring-allreduce allreduce/uniform:1MiB 4",
    ),
    (
        "paragon",
        "torus:32x32 four-stage irregular:dist=lognormal,mean=1024,cv=1 0.12
         torus:32x32 suh-shin irregular:dist=lognormal,mean=1024,cv=1 0.08
         torus:32x32 bruck irregular:dist=lognormal,mean=1024,cv=1 0.08",
    ),
    (
        "dgx-h100",
        "groups:32x8,inside=9 direct-dispatch dispatch/moe:experts=256,top=8,tokens=64,bytes=7KiB 0.3
         groups:32x8,inside=9 hierarchical-dispatch dispatch/moe:experts=256,top=8,tokens=64,bytes=7KiB 0.3
         groups:32x8,inside=9 direct-combine combine/moe:experts=256,top=8,tokens=64,bytes=7KiB 0.3
         groups:32x8,inside=9 hierarchical-combine combine/moe:experts=256,top=8,tokens=64,bytes=7KiB 0.3
         groups:512x8,inside=9 direct-dispatch dispatch/moe:experts=4096,top=8,tokens=128,bytes=7KiB 30
         groups:512x8,inside=9 hierarchical-combine combine/moe:experts=4096,top=8,tokens=128,bytes=7KiB 30
         fat-tree:128x2 direct-dispatch dispatch/moe:experts=16384,top=8,tokens=8,bytes=7KiB 30",
    ),
];

const FAILURES: [&str; 4] = ["unsupported", "timeout", "error", "crashed"];

/// The formats of the measured exports. The goal is 1.5 µs for each of the 1,047,552 messages of
/// `linear`.
const FORMATS: [&str; 5] = ["goal", "simgrid", "json", "mpi", "chakra"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let report = |name: &str, goal: &str, flags: &str| {
        if words.is_empty() || words.iter().any(|word| name.contains(word)) {
            let Run { seconds, megabytes, succeeds } = median(folder.path(), flags);
            let rows = std::fs::read_to_string(folder.path().join("out")).unwrap_or_default();
            let status = FAILURES.into_iter().find(|status| rows.contains(&format!(",{status},")));
            let remark = status.unwrap_or(if succeeds { "" } else { "failed" });
            println!("{name:<92}{seconds:>9.2}{goal:>14}{megabytes:>8} {remark}");
        }
    };
    println!("{:<92}{:>9}{:>14}{:>8}", "case", "seconds", "goal", "MB");
    for (machine, lines) in SECTIONS {
        for line in lines.lines() {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let [topology, algorithm, workload, goal] =
                <[&str; 4]>::try_from(parts).expect("each line has four parts");
            let model = machine.split(',').next().unwrap_or(machine);
            let flags = format!(
                "run --quiet --jobs 1 --timeout {LIMIT} --topology {topology} --algorithm {algorithm} --workload {workload} --machine {machine}"
            );
            report(&format!("{algorithm} {topology} {workload} {model}"), goal, &flags);
        }
    }
    for format in FORMATS {
        let flags = format!("export --format {format} --topology torus:32x32 --algorithm linear");
        report(&format!("export {format}"), "1.57", &flags);
    }
    let sweep = "--topology ring:4 --algorithm ring --workload uniform:1 --repetitions 100800";
    report("sweep of 100,800 rows", "100 MB", &format!("run --quiet --jobs 2 {sweep}"));
}

struct Run {
    seconds: f64,
    megabytes: u64,
    succeeds: bool,
}

fn median(folder: &Path, flags: &str) -> Run {
    let mut runs = vec![run(folder, flags)];
    while runs.len() < 3 && runs[0].seconds < 5.0 && runs[0].succeeds {
        runs.push(run(folder, flags));
    }
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs.swap_remove(runs.len() / 2)
}

fn run(folder: &Path, flags: &str) -> Run {
    let out = folder.join("out");
    let _ = std::fs::remove_file(&out).or_else(|_| std::fs::remove_dir_all(&out));
    let before = child_seconds();
    let mut program = Command::new(swapmeet_tests::program());
    program.args(flags.split_whitespace()).arg("--out").arg(out);
    program.env_remove("SWAPMEET_PLUGIN_PATH").env("XDG_DATA_HOME", "/nonexistent");
    program.stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = program.spawn().expect("the program runs");
    let mut megabytes = 0;
    let status = loop {
        if let Some(status) = program.try_wait().expect("the program is a child") {
            break status;
        }
        let processes = children(program.id()).chain([program.id()]);
        megabytes = processes.map(peak_megabytes).fold(megabytes, u64::max);
        std::thread::sleep(Duration::from_millis(5));
    };
    Run { seconds: child_seconds() - before, megabytes, succeeds: status.success() }
}

fn children(id: u32) -> impl Iterator<Item = u32> {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")));
    let ids: Vec<u32> = lists
        .flat_map(|list| {
            let list = list.unwrap_or_default();
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect();
    ids.into_iter()
}

fn peak_megabytes(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

/// Returns the user time of all child processes that have ended, in steps of 10 ms.
fn child_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    fields[13].parse::<f64>().expect("a number of ticks") / 100.0
}
