//! Measures the speed of planning, verification, link counting and pricing, in messages and blocks
//! per second, and of a plain loop over blocks. Run it by `cargo bench --bench scale`, or by `cargo
//! bench --bench scale -- torus:128x128` for the cases whose names contain this text. Each value is
//! the best of up to three runs in one process. A run that takes a second or more is not repeated.
//! Compare ratios within a benchmark, not seconds between computers. All cases together take about
//! eight minutes.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, cases};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session::run_group;

/// Benchmarks: (title, machine, lines). Each line has a topology, an algorithm, a workload, the
/// planning, and a target or remark. The planning is `full` (all nodes), `orbits` (if possible, one
/// node of each orbit) or `both` (`orbits`, compared with `full`).
const SECTIONS: [(&str, &str, &str); 10] = [
    (
        "full planning, every block verified, links counted",
        "paragon",
        "torus:128x128 suh-shin uniform:1 full under 0.5 s and 150 MB
         torus:127x127 suh-shin uniform:1 full virtual nodes
         mesh:128x128 suh-shin uniform:1 full
         torus:32x32x32 suh-shin uniform:1 full
         mesh:16x32 pex uniform:1 full under 0.1 s
         mesh:32x32 gen uniform:1 full
         mesh:64x64 gen uniform:1 full under 5 s
         torus:128x128 bruck uniform:1 full
         hypercube:20 hypercube-alltoall uniform:1 full 10^12 blocks, under 60 s
         rdn:2(hypercube:3) rdn-alltoall uniform:1 full 10^9 blocks, under 5 s, 1 GiB
         rdn:2(hypercube:3) rdn-allgather allgather/uniform:1 full
         rdn:2(torus:5x5) rdn-broadcast broadcast/uniform:1 full under 10 s
         rdn:2(torus:5x5) rdn-scatter scatter/uniform:1 full
         torus:512x512 suh-shin uniform:1 full under 30 s and 2 GiB",
    ),
    (
        "planning for one node of each orbit",
        "paragon",
        "torus:128x128 suh-shin uniform:1 both
         torus:1024x1024 suh-shin uniform:1 orbits
         torus:32768x32768 suh-shin uniform:1 orbits
         torus:256x256x256 suh-shin uniform:1 orbits
         mesh:64x64 gen uniform:1 both
         ring:1000000 gen uniform:1 orbits
         torus:128x128 bruck uniform:1 both
         torus:128x128 ring uniform:1 orbits
         mesh:32x32 pex uniform:1 both
         ring:100000 linear uniform:1 orbits
         hypercube:30 hypercube-alltoall uniform:1 orbits",
    ),
    (
        "reductions, every contribution verified to be counted once",
        "paragon",
        "ring:4096 ring-allreduce allreduce/uniform:4096 full as fast as the next
         ring:4096 gen uniform:1 full an all-to-all for comparison
         hypercube:20 rabenseifner-allreduce allreduce/uniform:1MiB orbits under 5 s
         ring:100000 ring-allreduce allreduce/uniform:100000 orbits under 10 s",
    ),
    (
        "model loggp",
        "free:model=loggp,latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006",
        "fully-connected:512 pairwise uniform:1KiB orbits LogGOPSim: 0.21 s",
    ),
    // Links have 1 GB/s and 0.1 µs, as in the runs of SimGrid. The first time in each line was
    // measured with a prototype, on the computer that ran SimGrid.
    (
        "model fluid, which folds symmetric networks",
        "free:model=fluid,byte_us=0.001,hop_us=0.1",
        "torus:16x32 pairwise uniform:1KiB orbits 0.13 s, SimGrid S4U: 8.0 s
         torus:16x32 gen uniform:1KiB orbits 0.014 s, SimGrid: 12 s
         torus:8x8x8 pairwise uniform:1KiB orbits 0.023 s
         torus:16x16 linear uniform:1KiB orbits 0.001 s, SimGrid: 10 s
         torus:32x32 linear uniform:1KiB orbits 0.009 s
         torus:32x32 pairwise uniform:1KiB orbits 1.6 s, SimGrid: about 400 s
         hypercube:9 pairwise uniform:1KiB orbits folded to one rank
         mesh:16x32 pairwise uniform:1KiB orbits not folded",
    ),
    (
        "communicators at the same time, wormhole",
        "tpu-v5p:model=wormhole",
        "torus:16x16x16,mesh=dp:64/ep:64 pairwise uniform:1MiB,over=ep orbits
         torus:16x16x16,mesh=dp:64/ep:64 linear uniform:1MiB,over=ep orbits under 0.4 s
         torus:16x16x16,mesh=ep:64/dp:64 pairwise uniform:1MiB,over=ep orbits
         torus:32x32x64,mesh=dp:1024/ep:64 pairwise uniform:1MiB,over=ep orbits under 3 s, 128 MiB",
    ),
    (
        "communicators at the same time, fluid",
        "tpu-v5p:model=fluid",
        "torus:16x16x16,mesh=dp:64/ep:64 pairwise uniform:1MiB,over=ep orbits under 0.4 s
         torus:16x16x16,mesh=ep:64/dp:64 pairwise uniform:1MiB,over=ep orbits
         torus:32x32x64,mesh=dp:1024/ep:64 pairwise uniform:1MiB,over=ep orbits under 3 s, 128 MiB",
    ),
    (
        "model fluid with noise, not folded",
        "free:model=fluid,byte_us=0.001,hop_us=0.1,noise=0.0001",
        "torus:16x32 pairwise uniform:1KiB orbits 0.54 s",
    ),
    (
        "blocks of different sizes on a flat machine",
        "sp2",
        "fully-connected:1024 direct irregular:dist=lognormal,mean=512,cv=2 orbits
         fully-connected:1024 two-stage irregular:dist=lognormal,mean=512,cv=2 orbits
         fully-connected:1024 four-stage irregular:dist=lognormal,mean=512,cv=2 orbits under 10 s
         fully-connected:16384 row-column one-spike:max=1KiB,rest=8 orbits under 20 s
         fully-connected:16384 row-column transpose:max=1KiB,rest=8 orbits under 20 s
         fully-connected:16384 four-stage one-spike:max=1KiB,rest=8 orbits under 20 s
         fully-connected:16384 four-stage transpose:max=1KiB,rest=8 orbits under 20 s",
    ),
    (
        "collectives and permutations on circuit-switched tori",
        "t3e:model=circuit,ports=all,virtual_channels=2",
        "torus:100x100x100 torus-broadcast broadcast/uniform:1KiB orbits seconds
         torus:100x100x100 torus-scatter scatter/uniform:1KiB orbits
         torus:64x64 torus-gossip allgather/uniform:1KiB orbits seconds
         torus:64x64 torus-multiscatter uniform:1KiB orbits
         torus:100x100x100 torus-permutation permutation/rotate-3d-120:1KiB orbits",
    ),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|w| name.contains(w.as_str()));
    let registry = swapmeet_tests::bundled_plugins();
    for section in &SECTIONS {
        run_section(*section, &registry, wanted);
    }
    compare_with_simgrid(&registry, wanted);
    if wanted("ten machines") {
        ten_machines(&registry);
    }
    if wanted("plain loop") {
        plain_loop();
    }
    println!("\npeak memory of this process: {} MB", peak_memory_mb());
}

/// Runs those benchmarks of a section whose names `wanted` selects, or all if it selects the title.
fn run_section(
    (title, machine, benches): (&str, &str, &str),
    registry: &Registry,
    wanted: impl Fn(&str) -> bool,
) {
    println!("\n{title}");
    println!(
        "{:<34}{:>11}{:>16}{:>10}{:>13}{:>13}{:>8}   target",
        "", "planned", "messages", "seconds", "messages/s", "bytes/s", "full/"
    );
    for bench in benches.lines() {
        let mut words = bench.split_whitespace();
        let [topology, algorithm, workload, planning] =
            [(); 4].map(|()| words.next().expect("a line has four words"));
        let target = words.collect::<Vec<_>>().join(" ");
        let name = format!("{algorithm} {topology}");
        if !wanted(&name) && !wanted(title) {
            continue;
        }
        let cases = group(registry, topology, algorithm, workload, &[machine]);
        let (seconds, rows) =
            best_of(&if planning == "full" { full(cases.clone()) } else { cases.clone() });
        let ratio = if planning == "both" {
            format!("{:.0}", best_of(&full(cases)).0 / seconds)
        } else {
            String::new()
        };
        let (planned, messages) = (rows[0].proved_on.unwrap_or(0), rows[0].messages.unwrap_or(0));
        let bytes = rows[0].total_bytes.unwrap_or(0) as f64;
        println!(
            "{name:<34}{planned:>11}{messages:>16}{seconds:>10.4}{:>13.3e}{:>13.3e}{ratio:>8}   {workload}; {target}",
            messages as f64 / seconds,
            bytes / seconds
        );
    }
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

fn full(mut cases: Vec<Case>) -> Vec<Case> {
    cases.iter_mut().for_each(|case| case.options.proof_scope = ProofScope::Full);
    cases
}

/// If SimGrid is installed, compares its time for an exported schedule with the time in which this
/// project plans, verifies and prices the schedule, with the model `fluid` and without latency of
/// links.
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

fn simgrid_seconds(topology: &str, algorithm: &str, machine: &str) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let out = folder.path().join("sim");
    let mut export = Command::new(swapmeet_tests::program());
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

/// Returns the shortest time of up to three runs, and the rows. After one second in total, no
/// further run begins.
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

/// Measures a schedule on ten machines, which should take little longer than on one machine.
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

/// Measures the time for tracing every block separately, in a direct exchange.
fn plain_loop() {
    println!(
        "\na plain loop over blocks: one bit for each block and node, direct exchange, links not counted"
    );
    println!("{:<28}{:>12}{:>10}{:>14}", "", "blocks", "seconds", "blocks/s");
    for side in [16_u64, 32] {
        let n = side * side;
        let start = Instant::now();
        let held = follow_each_block(n);
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

/// Runs a direct exchange in which each node has a set of (origin, destination) pairs, as bits.
/// Returns the number of blocks of node 0 at the end.
fn follow_each_block(n: u64) -> u64 {
    let words = (n * n).div_ceil(64) as usize;
    let mut held = vec![0_u64; words * n as usize];
    let cell = |node: u64, o: u64, d: u64| node as usize * words + ((o * n + d) / 64) as usize;
    let mask = |o: u64, d: u64| 1 << ((o * n + d) % 64);
    for (o, d) in (0..n).flat_map(|o| (0..n).map(move |d| (o, d))) {
        held[cell(o, o, d)] |= mask(o, d);
    }
    for distance in 1..n {
        for from in 0..n {
            let to = (from + distance) % n;
            assert!(held[cell(from, from, to)] & mask(from, to) > 0, "node {from} has no block");
            held[cell(from, from, to)] &= !mask(from, to);
            held[cell(to, from, to)] |= mask(from, to);
        }
    }
    (0..n).filter(|o| held[cell(0, *o, 0)] & mask(*o, 0) > 0).count() as u64
}

fn peak_memory_mb() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
