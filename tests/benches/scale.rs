//! Speed of planning, verification, link counting and pricing in messages and blocks per second,
//! compared with a plain loop over blocks.
//!
//! Run it by `cargo bench --bench scale`, or by `cargo bench --bench scale -- torus:128x128` for
//! the cases whose name contains a word. Every value is the best of up to three runs in one
//! process, or of one run that takes a second. Compare ratios within a benchmark, not seconds
//! between computers. All cases take some eight minutes.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::delivery::grid::Grid;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, cases};
use swapmeet_runner::describe::Reader;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session::run_group;

/// Full planning: (topology, algorithm, target).
const CASES: [(&str, &str, &str); 14] = [
    ("torus:128x128", "suh-shin", "under 0.5 s and 150 MB"),
    ("torus:127x127", "suh-shin", "virtual nodes"),
    ("mesh:128x128", "suh-shin", ""),
    ("torus:32x32x32", "suh-shin", ""),
    ("mesh:16x32", "pex", "under 0.1 s"),
    ("mesh:32x32", "gen", ""),
    ("mesh:64x64", "gen", "under 5 s"),
    ("torus:128x128", "bruck", ""),
    ("hypercube:20", "hypercube-alltoall", "10^12 blocks, under 60 s"),
    ("rdn:2(hypercube:3)", "rdn-alltoall", "10^9 blocks, under 5 s and 1 GiB"),
    ("rdn:2(hypercube:3)", "rdn-allgather", ""),
    ("rdn:2(torus:5x5)", "rdn-broadcast", "3,125,000 nodes, under 10 s"),
    ("rdn:2(torus:5x5)", "rdn-scatter", ""),
    ("torus:512x512", "suh-shin", "under 30 s and 2 GiB"),
];

/// Symmetric schedules that are verified on one node of each orbit: (topology, algorithm, workload,
/// whether to compare with full planning).
const BY_ORBITS: [(&str, &str, &str, bool); 11] = [
    ("torus:128x128", "suh-shin", "uniform:1", true),
    ("torus:1024x1024", "suh-shin", "uniform:1", false),
    ("torus:32768x32768", "suh-shin", "uniform:1", false),
    ("torus:256x256x256", "suh-shin", "uniform:1", false),
    ("mesh:64x64", "gen", "uniform:1", true),
    ("ring:1000000", "gen", "uniform:1", false),
    ("torus:128x128", "bruck", "uniform:1", true),
    ("torus:128x128", "ring", "uniform:1", false),
    ("mesh:32x32", "pex", "uniform:1", true),
    ("ring:100000", "linear", "uniform:1", false),
    ("hypercube:30", "hypercube-alltoall", "uniform:1", false),
];

/// Reductions: (topology, algorithm, workload, whether planning is full, target).
const REDUCTIONS: [(&str, &str, &str, bool, &str); 4] = [
    (
        "ring:4096",
        "ring-allreduce",
        "allreduce/uniform:4096",
        true,
        "messages as fast as in an all-to-all",
    ),
    ("ring:4096", "gen", "uniform:1", true, "an all-to-all for comparison"),
    ("hypercube:20", "rabenseifner-allreduce", "allreduce/uniform:1MiB", false, "under 5 s"),
    (
        "ring:100000",
        "ring-allreduce",
        "allreduce/uniform:100000",
        false,
        "2 x 10^10 messages, under 10 s",
    ),
];

/// Event-driven models: (topology, algorithm, workload, machine, target). `fluid` folds symmetric
/// networks. The target is the time of a prototype, or of SimGrid or LogGOPSim, on another
/// computer.
const ASYNCHRONOUS: [(&str, &str, &str, &str, &str); 10] = [
    (
        "fully-connected:512",
        "pairwise",
        "uniform:1KiB",
        "free:model=loggp,latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006",
        "LogGOPSim: 0.21 s",
    ),
    ("torus:16x32", "pairwise", "uniform:1KiB", FLUID, "prototype: 0.13 s, SimGrid S4U: 8.0 s"),
    ("torus:16x32", "gen", "uniform:1KiB", FLUID, "prototype: 0.014 s, SimGrid: 12 s"),
    ("torus:8x8x8", "pairwise", "uniform:1KiB", FLUID, "prototype: 0.023 s"),
    ("torus:16x16", "linear", "uniform:1KiB", FLUID, "prototype: 0.001 s, SimGrid: 10 s"),
    ("torus:32x32", "linear", "uniform:1KiB", FLUID, "prototype: 0.009 s"),
    ("torus:32x32", "pairwise", "uniform:1KiB", FLUID, "prototype: 1.6 s, SimGrid: about 400 s"),
    ("hypercube:9", "pairwise", "uniform:1KiB", FLUID, "folded to one rank"),
    (
        "torus:16x32",
        "pairwise",
        "uniform:1KiB",
        "free:model=fluid,byte_us=0.001,hop_us=0.1,noise=0.0001",
        "not folded; prototype: 0.54 s",
    ),
    ("mesh:16x32", "pairwise", "uniform:1KiB", FLUID, "not folded"),
];

/// Links of 1 GB/s and 0.1 µs, as used with SimGrid.
const FLUID: &str = "free:model=fluid,byte_us=0.001,hop_us=0.1";

/// Blocks of different sizes on a flat machine: (topology, algorithm, workload, target).
const IRREGULAR: [(&str, &str, &str, &str); 7] = [
    ("fully-connected:1024", "direct", "irregular:dist=lognormal,mean=512,cv=2", ""),
    ("fully-connected:1024", "two-stage", "irregular:dist=lognormal,mean=512,cv=2", ""),
    ("fully-connected:1024", "four-stage", "irregular:dist=lognormal,mean=512,cv=2", "under 10 s"),
    ("fully-connected:16384", "row-column", "one-spike:max=1KiB,rest=8", "under 20 s"),
    ("fully-connected:16384", "row-column", "transpose:max=1KiB,rest=8", "under 20 s"),
    ("fully-connected:16384", "four-stage", "one-spike:max=1KiB,rest=8", "under 20 s"),
    ("fully-connected:16384", "four-stage", "transpose:max=1KiB,rest=8", "under 20 s"),
];

/// The machine for torus algorithms.
const CIRCUITS: &str = "t3e:model=circuit,ports=all,virtual_channels=2";

/// Collectives and permutations on circuit-switched tori: (topology, algorithm, workload, target).
const ON_CIRCUITS: [(&str, &str, &str, &str); 5] = [
    ("torus:100x100x100", "torus-broadcast", "broadcast/uniform:1KiB", "in seconds"),
    ("torus:100x100x100", "torus-scatter", "scatter/uniform:1KiB", ""),
    ("torus:64x64", "torus-gossip", "allgather/uniform:1KiB", "in seconds"),
    ("torus:64x64", "torus-multiscatter", "uniform:1KiB", ""),
    ("torus:100x100x100", "torus-permutation", "permutation/rotate-3d-120:1KiB", ""),
];

fn main() {
    // Select cases by words of the command line.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.contains(w.as_str()));
    let registry = Registry::find(&[swapmeet_tests::build().to_owned()], &Reader::Here)
        .expect("plugins are found");

    // Full planning of uniform workloads.
    println!("full planning, every block verified, links counted, priced on one machine");
    println!(
        "{:<34}{:>12}{:>10}{:>14}{:>16}   target",
        "", "messages", "seconds", "messages/s", "blocks moved/s"
    );
    for (topology, algorithm, target) in CASES {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) {
            continue;
        }
        let workload = match algorithm.rsplit('-').next() {
            Some(collective @ ("broadcast" | "scatter" | "allgather")) => {
                format!("{collective}/uniform:1")
            }
            _ => "uniform:1".to_owned(),
        };
        let (seconds, rows) =
            best_of(&full(group(&registry, topology, algorithm, &workload, &["paragon"])));
        let messages = rows[0].messages.unwrap_or(0) as f64;
        let blocks = rows[0].total_bytes.unwrap_or(0) as f64;
        println!(
            "{name:<34}{messages:>12}{seconds:>10.3}{:>14.3e}{:>16.3e}   {target}",
            messages / seconds,
            blocks / seconds
        );
    }
    // Other kinds of schedules and models.
    by_orbits(&registry, wanted);
    reductions(&registry, wanted);
    asynchronous(&registry, wanted);
    compare_with_simgrid(&registry, wanted);
    // Unequal block sizes, and circuit-switched tori.
    let on = |cases: &[(&'static str, &'static str, &'static str, &'static str)],
              machine: &'static str| {
        cases.iter().map(|case| (*case, machine)).collect::<Vec<_>>()
    };
    for ((topology, algorithm, workload, target), machine) in
        [on(&IRREGULAR, "sp2"), on(&ON_CIRCUITS, CIRCUITS)].concat()
    {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) {
            continue;
        }
        let (seconds, rows) = best_of(&group(&registry, topology, algorithm, workload, &[machine]));
        let messages = rows[0].messages.unwrap_or(0) as f64;
        println!(
            "{name:<34}{messages:>12}{seconds:>10.3}{:>14.3e}   {workload}; {target}",
            messages / seconds
        );
    }
    if wanted("ten machines") {
        ten_machines(&registry);
    }
    if wanted("plain loop") {
        plain_loop();
    }
    println!("\npeak memory of this process: {} MB", peak_memory_mb());
}

fn group(
    registry: &Registry,
    topology: &str,
    algorithm: &str,
    workload: &str,
    machines: &[&str],
) -> Vec<Case> {
    let text = |value: &str| Text::flag("benchmark", value);
    let experiment = Experiment {
        topologies: vec![text(topology)],
        algorithms: vec![text(algorithm)],
        workloads: vec![text(workload)],
        machines: machines.iter().map(|m| text(m)).collect(),
        ..Experiment::default()
    };
    cases(&experiment, registry).expect("the benchmark's specs are right")
}

/// Changes cases to full planning.
fn full(mut cases: Vec<Case>) -> Vec<Case> {
    cases.iter_mut().for_each(|case| case.proof_scope = ProofScope::Full);
    cases
}

/// Compares symmetric schedules with full planning, where that takes only seconds.
fn by_orbits(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    println!("\nplanning for one node of each orbit");
    println!("{:<34}{:>14}{:>16}{:>10}{:>12}", "", "planned", "messages", "seconds", "full / this");
    for (topology, algorithm, workload, compare) in BY_ORBITS {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) {
            continue;
        }
        let cases = group(registry, topology, algorithm, workload, &["paragon"]);
        let (seconds, rows) = best_of(&cases);
        let (on, messages) = (rows[0].proved_on.unwrap_or(0), rows[0].messages.unwrap_or(0));
        let ratio = if compare {
            format!("{:.0}", best_of(&full(cases)).0 / seconds)
        } else {
            String::new()
        };
        println!("{name:<34}{on:>14}{messages:>16}{seconds:>10.4}{ratio:>12}");
    }
    println!();
}

/// Reductions, compared with an all-to-all on as many nodes.
fn reductions(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    println!(
        "
reductions, every contribution verified to be counted once"
    );
    println!(
        "{:<34}{:>14}{:>16}{:>10}{:>14}   target",
        "", "planned", "messages", "seconds", "messages/s"
    );
    for (topology, algorithm, workload, full_planning, target) in REDUCTIONS {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) && !wanted("reductions") {
            continue;
        }
        let cases = group(registry, topology, algorithm, workload, &["paragon"]);
        let (seconds, rows) = best_of(&if full_planning { full(cases) } else { cases });
        let (on, messages) = (rows[0].proved_on.unwrap_or(0), rows[0].messages.unwrap_or(0));
        println!(
            "{name:<34}{on:>14}{messages:>16}{seconds:>10.3}{:>14.3e}   {target}",
            messages as f64 / seconds
        );
    }
}

/// Ranks that do not wait for one another at the end of a step.
fn asynchronous(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    println!(
        "
event-driven models"
    );
    println!("{:<34}{:>12}{:>10}{:>14}", "", "messages", "seconds", "messages/s");
    for (topology, algorithm, workload, machine, target) in ASYNCHRONOUS {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) && !wanted("asynchronous") {
            continue;
        }
        let (seconds, rows) = best_of(&group(registry, topology, algorithm, workload, &[machine]));
        let (model, messages) = (&rows[0].model, rows[0].messages.unwrap_or(0));
        println!(
            "{name:<34}{messages:>12}{seconds:>10.3}{:>14.3e}   {model}; {target}",
            messages as f64 / seconds
        );
    }
}

/// Compares the time of SimGrid for an exported schedule, if SimGrid is installed, with that of
/// `fluid` for planning, verification and pricing. Links have no latency, as in exports.
fn compare_with_simgrid(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    const MACHINE: &str = "free:model=fluid,byte_us=0.001";
    println!(
        "
compared with SimGrid"
    );
    println!(
        "{:<34}{:>12}{:>10}{:>14}{:>16}",
        "", "messages", "seconds", "SimGrid's", "SimGrid / this"
    );
    for (topology, algorithm) in
        [("torus:8x8", "pairwise"), ("torus:8x8", "gen"), ("torus:16x16", "pairwise")]
    {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) && !wanted("simgrid") {
            continue;
        }
        let Some(theirs) = simgrid_seconds(topology, algorithm, MACHINE) else {
            println!("SimGrid is not installed (c++ -lsimgrid)");
            return;
        };
        let (seconds, rows) =
            best_of(&group(registry, topology, algorithm, "uniform:1KiB", &[MACHINE]));
        let messages = rows[0].messages.unwrap_or(0);
        println!("{name:<34}{messages:>12}{seconds:>10.4}{theirs:>14.3}{:>16.0}", theirs / seconds);
    }
}

/// Returns the run time of SimGrid's process for an exported schedule.
fn simgrid_seconds(topology: &str, algorithm: &str, machine: &str) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let out = folder.path().join("sim");
    let mut export = Command::new(swapmeet_tests::build().join("swapmeet"));
    export.args([
        "export",
        "--format",
        "simgrid",
        "--topology",
        topology,
        "--algorithm",
        algorithm,
    ]);
    export.args(["--workload", "uniform:1KiB", "--machine", machine, "--out"]).arg(&out);
    let program = out.join("replay");
    let mut cxx = Command::new("c++");
    cxx.args(["-std=c++17", "-O2", "-o"])
        .arg(&program)
        .arg(out.join("replay.cpp"))
        .arg("-lsimgrid");
    let is_there =
        |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !is_there(&mut export) || !is_there(&mut cxx) {
        return None;
    }
    let mut play = Command::new(&program);
    play.args([out.join("platform.xml"), out.join("messages.txt")]);
    play.args(["--cfg=network/model:CM02", "--cfg=network/crosstraffic:0"]);
    let start = Instant::now();
    is_there(&mut play).then(|| start.elapsed().as_secs_f64())
}

/// Returns the best of up to three runs; there is no further run after one second.
fn best_of(group: &[Case]) -> (f64, Vec<Record>) {
    let mut best = (f64::INFINITY, Vec::new());
    let first = Instant::now();
    for _ in 0..3 {
        let start = Instant::now();
        let rows = run_group(group, &mut []);
        let seconds = start.elapsed().as_secs_f64();
        assert!(rows.iter().all(|r| r.status == Status::Ok), "{}", rows[0].reason);
        if seconds < best.0 {
            best = (seconds, rows);
        }
        if first.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    best
}

/// A schedule on ten machines should take little longer than on one.
fn ten_machines(registry: &Registry) {
    let machines: Vec<String> =
        (1..=10).map(|i| format!("paragon:startup_us={}", 10 * i)).collect();
    let machines: Vec<&str> = machines.iter().map(String::as_str).collect();
    let one = best_of(&group(registry, "torus:128x128", "suh-shin", "uniform:1", &machines[..1])).0;
    let ten = best_of(&group(registry, "torus:128x128", "suh-shin", "uniform:1", &machines)).0;
    println!(
        "\nsuh-shin torus:128x128 on one machine {one:.3} s, on ten {ten:.3} s: {:.2} times",
        ten / one
    );
}

/// The cost of following single blocks: a direct exchange in which each block is moved from one set
/// to another.
fn plain_loop() {
    println!(
        "\na plain loop over blocks: one bit for each block and node, direct exchange, links not counted"
    );
    println!("{:<28}{:>12}{:>10}{:>14}", "", "blocks", "seconds", "blocks/s");
    for side in [16_u64, 32] {
        let n = side * side;
        let start = Instant::now();
        let held = follow_each_block(n).expect("the schedule is right");
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(held, n);
        println!(
            "{:<28}{:>12}{seconds:>10.3}{:>14.3e}",
            format!("shift {side}x{side}"),
            n * n,
            (n * n) as f64 / seconds
        );
    }
    println!(
        "suh-shin on torus:128x128 moves 8.9e9 blocks: at that rate, many minutes and 550 GB of bits"
    );
}

/// Each node holds a set of (origin, destination) pairs as bits. Returns the number of blocks that
/// node 0 holds at the end.
fn follow_each_block(n: u64) -> Result<u64, Fault> {
    let words = (n * n).div_ceil(64) as usize;
    let mut held = vec![0_u64; words * n as usize];
    let bit = |o: u64, d: u64| o * n + d;
    for o in 0..n {
        for d in 0..n {
            held[o as usize * words + (bit(o, d) / 64) as usize] |= 1 << (bit(o, d) % 64);
        }
    }
    for distance in 1..n {
        for from in 0..n {
            let to = (from + distance) % n;
            let b = bit(from, to);
            let cell = &mut held[from as usize * words + (b / 64) as usize];
            if *cell >> (b % 64) & 1 == 0 {
                return Err(Fault::BadGrid(format!("{:?}", Grid::new(&[n]))));
            }
            *cell &= !(1 << (b % 64));
            held[to as usize * words + (b / 64) as usize] |= 1 << (b % 64);
        }
    }
    Ok((0..n).filter(|o| held[(bit(*o, 0) / 64) as usize] >> (bit(*o, 0) % 64) & 1 == 1).count()
        as u64)
}

/// Returns the peak memory that the operating system reports; 0 if it does not.
fn peak_memory_mb() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
