//! How fast schedules are planned, verified, counted and priced, in messages and blocks a second,
//! and beside it what a plain loop over blocks costs.
//!
//! `cargo bench --bench scale`, or `cargo bench --bench scale -- torus:128x128` for the cases whose
//! name contains a word. Every figure is the best of a few runs in one process, or of one where
//! that takes a second: compare ratios within a run, not seconds between machines. All of it takes
//! some eight minutes.

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

/// (topology, algorithm, what is asked of it)
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

/// Symmetric schedules, proved on one node of each orbit: (topology, algorithm, workload, whether
/// everyone is planned for beside it)
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

/// Reductions: (topology, algorithm, workload, whether everyone is planned for, what is asked of
/// it)
const REDUCTIONS: [(&str, &str, &str, bool, &str); 4] = [
    (
        "ring:4096",
        "ring-allreduce",
        "allreduce/uniform:4096",
        true,
        "a message no slower than an all-to-all's",
    ),
    ("ring:4096", "gen", "uniform:1", true, "such an all-to-all"),
    ("hypercube:20", "rabenseifner-allreduce", "allreduce/uniform:1MiB", false, "under 5 s"),
    (
        "ring:100000",
        "ring-allreduce",
        "allreduce/uniform:100000",
        false,
        "2 x 10^10 messages, under 10 s",
    ),
];

/// Clocks without steps that all share: (topology, algorithm, workload, machine, what is asked of
/// it). `fluid` folds what is symmetric: a sketch of it takes the seconds that are said of it on
/// the machine on which SimGrid and LogGOPSim took theirs.
const ASYNCHRONOUS: [(&str, &str, &str, &str, &str); 10] = [
    (
        "fully-connected:512",
        "pairwise",
        "uniform:1KiB",
        "free:model=loggp,latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006",
        "LogGOPSim takes 0.21 s",
    ),
    ("torus:16x32", "pairwise", "uniform:1KiB", FLUID, "the sketch 0.13 s, SimGrid's S4U 8.0 s"),
    ("torus:16x32", "gen", "uniform:1KiB", FLUID, "0.014 s, 12 s"),
    ("torus:8x8x8", "pairwise", "uniform:1KiB", FLUID, "0.023 s"),
    ("torus:16x16", "linear", "uniform:1KiB", FLUID, "0.001 s, 10 s"),
    ("torus:32x32", "linear", "uniform:1KiB", FLUID, "0.009 s"),
    ("torus:32x32", "pairwise", "uniform:1KiB", FLUID, "1.6 s, about 400 s"),
    ("hypercube:9", "pairwise", "uniform:1KiB", FLUID, "folded to one rank"),
    (
        "torus:16x32",
        "pairwise",
        "uniform:1KiB",
        "free:model=fluid,byte_us=0.001,hop_us=0.1,noise=0.0001",
        "not folded: 0.54 s",
    ),
    ("mesh:16x32", "pairwise", "uniform:1KiB", FLUID, "not folded"),
];

/// Links of 1 GB/s with 0.1 us, as SimGrid was given them.
const FLUID: &str = "free:model=fluid,byte_us=0.001,hop_us=0.1";

/// Blocks of different sizes, priced event by event on a flat machine: (topology, algorithm,
/// workload, what is asked of it)
const IRREGULAR: [(&str, &str, &str, &str); 7] = [
    ("fully-connected:1024", "direct", "irregular:dist=lognormal,mean=512,cv=2", ""),
    ("fully-connected:1024", "two-stage", "irregular:dist=lognormal,mean=512,cv=2", ""),
    ("fully-connected:1024", "four-stage", "irregular:dist=lognormal,mean=512,cv=2", "under 10 s"),
    ("fully-connected:16384", "row-column", "one-spike:max=1KiB,rest=8", "under 20 s"),
    ("fully-connected:16384", "row-column", "transpose:max=1KiB,rest=8", "under 20 s"),
    ("fully-connected:16384", "four-stage", "one-spike:max=1KiB,rest=8", "under 20 s"),
    ("fully-connected:16384", "four-stage", "transpose:max=1KiB,rest=8", "under 20 s"),
];

/// The machine of the torus algorithms.
const CIRCUITS: &str = "t3e:model=circuit,ports=all,virtual_channels=2";

/// Collectives and permutations on circuit-switched tori: (topology, algorithm, workload, what is
/// asked of it)
const ON_CIRCUITS: [(&str, &str, &str, &str); 5] = [
    ("torus:100x100x100", "torus-broadcast", "broadcast/uniform:1KiB", "in seconds"),
    ("torus:100x100x100", "torus-scatter", "scatter/uniform:1KiB", ""),
    ("torus:64x64", "torus-gossip", "allgather/uniform:1KiB", "in seconds"),
    ("torus:64x64", "torus-multiscatter", "uniform:1KiB", ""),
    ("torus:100x100x100", "torus-permutation", "permutation/rotate-3d-120:1KiB", ""),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.contains(w.as_str()));
    let registry = Registry::find(&[swapmeet_tests::build().to_owned()], &Reader::Here)
        .expect("plugins are found");

    println!(
        "planned for everyone, every block verified, links counted, priced on one machine; one thread"
    );
    println!(
        "{:<34}{:>12}{:>10}{:>14}{:>16}   asked",
        "", "messages", "seconds", "messages/s", "blocks moved/s"
    );
    for (topology, algorithm, asked) in CASES {
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
            "{name:<34}{messages:>12}{seconds:>10.3}{:>14.3e}{:>16.3e}   {asked}",
            messages / seconds,
            blocks / seconds
        );
    }
    by_orbits(&registry, wanted);
    reductions(&registry, wanted);
    asynchronous(&registry, wanted);
    beside_simgrid(&registry, wanted);
    let on = |cases: &[(&'static str, &'static str, &'static str, &'static str)],
              machine: &'static str| {
        cases.iter().map(|case| (*case, machine)).collect::<Vec<_>>()
    };
    for ((topology, algorithm, workload, asked), machine) in
        [on(&IRREGULAR, "sp2"), on(&ON_CIRCUITS, CIRCUITS)].concat()
    {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) {
            continue;
        }
        let (seconds, rows) = best_of(&group(&registry, topology, algorithm, workload, &[machine]));
        let messages = rows[0].messages.unwrap_or(0) as f64;
        println!(
            "{name:<34}{messages:>12}{seconds:>10.3}{:>14.3e}   {workload}; {asked}",
            messages / seconds
        );
    }
    if wanted("ten machines") {
        ten_machines(&registry);
    }
    if wanted("plain loop") {
        plain_loop();
    }
    println!("\nmost memory this process had: {} MB", peak_memory_mb());
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

/// The same cases, planned for everyone.
fn full(mut cases: Vec<Case>) -> Vec<Case> {
    cases.iter_mut().for_each(|case| case.proof_scope = ProofScope::Full);
    cases
}

/// Schedules proved on one node of each orbit, beside the same ones planned for everyone where that
/// takes seconds.
fn by_orbits(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    println!("\none node of each orbit planned for");
    println!(
        "{:<34}{:>14}{:>16}{:>10}{:>12}",
        "", "planned for", "messages", "seconds", "all / this"
    );
    for (topology, algorithm, workload, beside) in BY_ORBITS {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) {
            continue;
        }
        let cases = group(registry, topology, algorithm, workload, &["paragon"]);
        let (seconds, rows) = best_of(&cases);
        let (on, messages) = (rows[0].proved_on.unwrap_or(0), rows[0].messages.unwrap_or(0));
        let ratio = if beside {
            format!("{:.0}", best_of(&full(cases)).0 / seconds)
        } else {
            String::new()
        };
        println!("{name:<34}{on:>14}{messages:>16}{seconds:>10.4}{ratio:>12}");
    }
    println!();
}

/// Sums, beside an all-to-all of as many nodes.
fn reductions(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    println!("\nreductions, every contribution counted once");
    println!(
        "{:<34}{:>14}{:>16}{:>10}{:>14}   asked",
        "", "planned for", "messages", "seconds", "messages/s"
    );
    for (topology, algorithm, workload, for_everyone, asked) in REDUCTIONS {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) && !wanted("reductions") {
            continue;
        }
        let cases = group(registry, topology, algorithm, workload, &["paragon"]);
        let (seconds, rows) = best_of(&if for_everyone { full(cases) } else { cases });
        let (on, messages) = (rows[0].proved_on.unwrap_or(0), rows[0].messages.unwrap_or(0));
        println!(
            "{name:<34}{on:>14}{messages:>16}{seconds:>10.3}{:>14.3e}   {asked}",
            messages as f64 / seconds
        );
    }
}

/// Events of ranks that don't wait for each other's steps.
fn asynchronous(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    println!("\nranks on clocks of their own");
    println!("{:<34}{:>12}{:>10}{:>14}", "", "messages", "seconds", "messages/s");
    for (topology, algorithm, workload, machine, asked) in ASYNCHRONOUS {
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) && !wanted("asynchronous") {
            continue;
        }
        let (seconds, rows) = best_of(&group(registry, topology, algorithm, workload, &[machine]));
        let (model, messages) = (&rows[0].model, rows[0].messages.unwrap_or(0));
        println!(
            "{name:<34}{messages:>12}{seconds:>10.3}{:>14.3e}   {model}; {asked}",
            messages as f64 / seconds
        );
    }
}

/// Where SimGrid is installed: what it takes for schedules that are exported to it, over what
/// `fluid` takes for planning, proof and price. Links have bandwidths alone, as exports have it.
fn beside_simgrid(registry: &Registry, wanted: impl Fn(&str) -> bool) {
    const MACHINE: &str = "free:model=fluid,byte_us=0.001";
    println!("\nthe same in SimGrid");
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
            println!("no SimGrid (c++ -lsimgrid) here");
            return;
        };
        let (seconds, rows) =
            best_of(&group(registry, topology, algorithm, "uniform:1KiB", &[MACHINE]));
        let messages = rows[0].messages.unwrap_or(0);
        println!("{name:<34}{messages:>12}{seconds:>10.4}{theirs:>14.3}{:>16.0}", theirs / seconds);
    }
}

/// What SimGrid takes for a schedule that is exported to it, from start to end of its process.
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

/// The best of three runs, or of one where a run takes a second.
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

/// The same schedule on ten machines costs little more than on one.
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

/// What following single blocks costs: a direct exchange by a shift a step, every block moved from
/// one node's set to another's.
fn plain_loop() {
    println!(
        "\na plain loop over blocks: a bit a block and node, direct exchange by a shift a step, no links counted"
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

/// Everyone holds a set of (origin, destination) pairs as bits; returns how many blocks node 0 ends
/// with.
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

/// From the system's own count; 0 where there is none.
fn peak_memory_mb() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
