//! `tune` writes tables for MPI libraries, which the libraries must load.

use crate::support::{refused, swapmeet, texts_of, tools, words};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::tempdir;

/// An MPI program that runs an all-to-all of this number of bytes per pair or, with a second
/// argument, a broadcast.
const PROGRAM: &str = "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { int n, bytes = argc > 1 ? atoi(argv[1]) : 0; char *out, *in; \
MPI_Init(&argc, &argv); MPI_Comm_size(MPI_COMM_WORLD, &n); out = calloc(n, bytes); in = calloc(n, bytes); \
if (argc > 2) MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); \
else MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n";

/// Writes rows for 4 ranks with an expensive start-up. Bruck is the fastest algorithm up to 512
/// bytes, and pairwise for more.
fn sweep(folder: &Path) -> String {
    let out = folder.join("sweep.csv").to_str().unwrap().to_owned();
    let mut args =
        words("run --topology fully-connected:4 --algorithm bruck --algorithm pairwise --quiet");
    args.extend(words("--workload uniform:16 --workload uniform:512 --workload uniform:1KiB --workload uniform:16KiB"));
    args.extend(["--machine", "free:startup_us=10,byte_us=0.01", "--out", &out]);
    swapmeet(&args).assert().success();
    out
}

fn peers(program: &Path, ranks: u64, block: u64, settings: &[&str]) -> (usize, String) {
    let counted = counts(program, ranks, &[&block.to_string()], settings);
    (counted.lines().filter(|line| line.starts_with("I\t0\t")).count(), counted)
}

/// Runs a program with the monitoring of Open MPI, which writes a file for each rank. Returns the
/// file of rank 0, with the numbers of its messages.
fn counts(program: &Path, ranks: u64, args: &[&str], settings: &[&str]) -> String {
    let dir = tempdir().unwrap();
    let counts = dir.path().join("sent");
    let counts = counts.to_str().unwrap();
    let mut mpirun = tools::mpirun(ranks, dir.path());
    mpirun.args(words("--mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3"));
    mpirun.args(["--mca", "pml_monitoring_filename", counts]).args(settings);
    let output = mpirun.arg(program).args(args).output().unwrap();
    let message = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    std::fs::read_to_string(format!("{counts}.0.prof")).unwrap_or_else(|error| {
        panic!("no counts of rank 0: {error}; {}: {message}", output.status)
    })
}

fn with_rules(rules: &Path) -> [&str; 6] {
    let file = rules.to_str().unwrap();
    let [mca, enable, name] =
        ["--mca", "coll_tuned_use_dynamic_rules", "coll_tuned_dynamic_rules_filename"];
    [mca, enable, "1", mca, name, file]
}

fn compiled(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("a.c"), folder.join("a"));
    std::fs::write(&source, PROGRAM).unwrap();
    assert!(Command::new("mpicc").arg("-o").arg(&program).arg(&source).status().unwrap().success());
    program
}

/// Rules that name Bruck's algorithm need a warning, because it was not charged for rearrangement.
#[test]
fn rules_of_unequal_charges_have_a_warning() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv").to_str().unwrap().to_owned();
    let message = |machine: &str| {
        let run = words(
            "run --topology torus:8x8 --algorithm suh-shin --algorithm bruck --quiet --force",
        );
        let more = ["--workload", "uniform:64", "--machine", machine, "--out", &out];
        swapmeet(&run).args(more).assert().success();
        let rules = dir.path().join("rules.txt");
        let tune = swapmeet(&["tune", &out, "--format", "openmpi", "--force", "--out"])
            .arg(rules)
            .assert();
        texts_of(tune.success())[1].clone()
    };
    let declared = message("paragon:rearrangement=declared");
    let warning = "warning: paragon:rearrangement=declared charges the rearrangement that each algorithm declares, but `bruck` declares none";
    assert!(declared.contains(warning), "{declared}");
    assert!(!message("paragon").contains("rearrangement"));
}

/// On 16 ranks and below 512 bytes, Open MPI 4.1 uses Bruck's algorithm, in which a rank sends to 4
/// ranks. From 512 bytes on, it uses linear_sync, in which a rank sends to all others.
#[test]
fn the_default_decisions_of_open_mpi_are_those_in_tune() {
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let version = Command::new("mpirun").arg("--version").output().unwrap().stdout;
    if !String::from_utf8_lossy(&version).contains("(Open MPI) 4.1.") {
        return tools::left_out(
            "openmpi-4.1",
            "no Open MPI 4.1 here: others decide in another way",
        );
    }
    let dir = tempdir().unwrap();
    let program = compiled(dir.path());
    for (block, expected) in [(511, 4), (512, 15)] {
        let (sent, counted) = peers(&program, 16, block, &[]);
        assert_eq!(sent, expected, "{block} bytes a pair: {counted}");
    }
}

/// On 4 ranks, a rank sends 2 messages in Bruck's algorithm and 3 in pairwise.
#[test]
fn open_mpi_runs_the_algorithm_of_the_table() {
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let rules = dir.path().join("rules.txt");
    let sweep = sweep(dir.path());
    let tune = ["tune", &sweep, "--format", "openmpi", "--default", "bruck", "--out"];
    let [_, message] = texts_of(swapmeet(&tune).arg(&rules).assert());
    assert!(message.contains("alltoall on 4 ranks, 16384 bytes: `bruck` takes"), "{message}");
    assert!(
        message.contains("by Open MPI 4.1: linear_sync in 4 cases, of which no row has a time"),
        "{message}"
    );
    let program = compiled(dir.path());
    let text = std::fs::read_to_string(&rules).unwrap();
    // The first block size for which pairwise is the fastest, multiplied by the number of ranks.
    let from: u64 = text
        .lines()
        .find_map(|line| line.strip_suffix("# pairwise")?.split(' ').next()?.parse().ok())
        .unwrap();
    for (block, expected) in [(from / 4 - 1, 2), (from / 4, 3)] {
        let (of_rank_0, counted) = peers(&program, 4, block, &with_rules(&rules));
        assert_eq!(of_rank_0, expected, "{block} bytes a pair: {counted}");
    }
}

/// The predicted chain has 8 segments, so rank 0 must send 8 messages to another rank.
#[test]
fn open_mpi_runs_a_chain_in_the_segments_of_the_table() {
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let (sweep, rules) = (dir.path().join("sweep.csv"), dir.path().join("rules.txt"));
    let args = words(
        "run --topology fully-connected:4 --algorithm chain-broadcast --algorithm binomial-broadcast --workload broadcast/uniform:64KiB --machine free:startup_us=1,byte_us=0.01 --quiet --out",
    );
    swapmeet(&args).arg(&sweep).assert().success();
    let sweep = sweep.to_str().unwrap();
    swapmeet(&["tune", sweep, "--format", "openmpi", "--out"]).arg(&rules).assert().success();
    let args = ["65536", "broadcast"];
    let counted = counts(&compiled(dir.path()), 4, &args, &with_rules(&rules));
    let sent: Vec<&str> = counted.lines().filter(|line| line.starts_with("I\t0\t")).collect();
    assert_eq!(sent.len(), 1, "{counted}");
    assert!(sent[0].contains("\t1\t65536 bytes\t8 msgs"), "{counted}");
}

#[test]
fn rows_without_a_possible_table_are_refused() {
    let dir = tempdir().unwrap();
    let sweep = sweep(dir.path());
    let message = refused(&["tune", &sweep, "--format", "nccl"]);
    assert!(
        message
            .contains("no row has a time of an algorithm that the library's rules can express: ")
            && message.contains(" ring (allgather), ring-allreduce (allreduce), "),
        "{message}"
    );
    let message =
        refused(&["tune", &sweep, "--format", "openmpi", "--default", "gen", "--out", "/dev/null"]);
    assert!(message.contains("--default gen: no row has a time of it"), "{message}");
    let args = ["tune", &sweep, "--format", "openmpi", "--default", "pairwise", "--out", "-"];
    let [_, message] = texts_of(swapmeet(&args).assert());
    assert!(message.contains("no time is lost in 2 of 4 cases"), "{message}");
    assert!(!message.contains("1.00 times"), "{message}");
    let other = dir.path().join("other.csv");
    let args = words(
        "run --topology ring:4 --algorithm bruck --machine free:startup_us=10,byte_us=0.01 --quiet --out",
    );
    swapmeet(&args).arg(&other).assert().success();
    let message = refused(&["tune", &sweep, other.to_str().unwrap(), "--format", "openmpi"]);
    assert!(
        message
            .contains("topologies of 4 nodes: fully-connected:4, ring:4: name one with --topology"),
        "{message}"
    );
}

/// In AWS's measurements on four hosts of eight H100 (aws/aws-ofi-nccl 2daf7d3,
/// src/tuner/nccl_ofi_regions.cpp), small allreduces use trees and large ones use rings.
#[test]
fn rules_of_a_system_name_trees_and_protocols() {
    let dir = tempdir().unwrap();
    let tune = ["tune", "--format", "nccl", "--system", "p5:4x8"];
    let line = ["--sizes", "64KiB..1GiB*4"];
    let [calculated, message] = texts_of(swapmeet(&tune).args(line).assert().success());
    let of_allreduce: Vec<&str> =
        calculated.lines().filter(|line| line.starts_with("allreduce")).collect();
    let fields: Vec<Vec<&str>> =
        of_allreduce.iter().map(|line| line.split(',').collect()).collect();
    assert_eq!(fields[0][3..], ["tree", "ll", "0", "4", "32"], "{calculated}");
    assert_eq!(fields.last().unwrap()[3..5], ["ring", "simple"], "{calculated}");
    assert!(message.contains("AWS's tables for p5:4x8 (aws/aws-ofi-nccl 2daf7d3"), "{message}");
    assert!(message.contains("the same algorithm in 8 of 8 cases"), "{message}");
    let rows = dir.path().join("rows.csv");
    let run = words(
        "run --system p5:4x8 --algorithm ring-allreduce --algorithm two-tree-allreduce:segments=2,group=8 --workload allreduce/uniform:64KiB..1GiB*4 --quiet --out",
    );
    swapmeet(&run).arg(&rows).assert().success();
    let [from_file, _] = texts_of(swapmeet(&tune).arg(&rows).assert().success());
    assert_eq!(from_file.lines().skip(1).collect::<Vec<_>>(), of_allreduce);
    let other = ["tune", rows.to_str().unwrap(), "--format", "nccl", "--system", "p5:2x8"];
    let message = refused(&other);
    assert!(message.contains("no row has the topology and the machine of p5:2x8"), "{message}");
    let message = refused(&["tune", "--system", "p5:2x8", "--format", "ucc"]);
    assert!(message.contains("has no algorithm of NCCL: give rows of its algorithms"), "{message}");
}
