//! `tune`: the tables that it writes, loaded by the library that they are for.

use crate::support::{refused, swapmeet, tools, words};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::tempdir;

/// An all-to-all of so many bytes a pair.
const PROGRAM: &str = "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { int n, bytes = argc > 1 ? atoi(argv[1]) : 0; char *out, *in; \
MPI_Init(&argc, &argv); MPI_Comm_size(MPI_COMM_WORLD, &n); out = calloc(n, bytes); in = calloc(n, bytes); \
MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n";

/// A sweep in which Bruck is fastest up to a block of 512 bytes on 4 ranks, and pairwise from 1 KiB
/// on: predicted on a machine with a dear start-up.
fn sweep(folder: &Path) -> String {
    let out = folder.join("sweep.csv").to_str().unwrap().to_owned();
    let mut args = vec![
        "run",
        "--topology",
        "fully-connected:4",
        "--algorithm",
        "bruck",
        "--algorithm",
        "pairwise",
        "--quiet",
    ];
    args.extend(words("--workload uniform:16 --workload uniform:512 --workload uniform:1KiB --workload uniform:16KiB"));
    args.extend(["--machine", "free:startup_us=10,byte_us=0.01", "--out", &out]);
    swapmeet(&args).assert().success();
    out
}

/// To how many others rank 0 sends in an all-to-all of so many bytes a pair, as Open MPI's own
/// monitoring counts it: in a file a rank, for what several ranks print at once comes mixed.
fn peers(program: &Path, ranks: u64, block: u64, settings: &[&str]) -> (usize, String) {
    let dir = tempdir().unwrap();
    let counts = dir.path().join("sent");
    let counts = counts.to_str().unwrap();
    let monitoring = [
        "pml_monitoring_enable",
        "2",
        "pml_monitoring_enable_output",
        "3",
        "pml_monitoring_filename",
        counts,
    ];
    let mut mpirun = tools::mpirun(ranks, dir.path());
    for setting in settings.chunks(2).chain(monitoring.chunks(2)) {
        mpirun.arg("--mca").args(setting);
    }
    let output = mpirun.arg(program).arg(block.to_string()).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let counted = std::fs::read_to_string(format!("{counts}.0.prof"))
        .unwrap_or_else(|error| panic!("no counts of rank 0: {error}; {}: {said}", output.status));
    (counted.lines().filter(|line| line.starts_with("I\t0\t")).count(), counted)
}

/// That program, compiled.
fn compiled(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("a.c"), folder.join("a"));
    std::fs::write(&source, PROGRAM).unwrap();
    assert!(Command::new("mpicc").arg("-o").arg(&program).arg(&source).status().unwrap().success());
    program
}

/// On 16 ranks 4.1 takes Bruck's algorithm below 512 bytes, which sends to 4 others; then
/// linear_sync, which sends to all.
#[test]
fn open_mpi_decides_by_itself_as_tune_says_that_it_does() {
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
        let (sent, printed) = peers(&program, 16, block, &[]);
        assert_eq!(sent, expected, "{block} bytes a pair: {printed}");
    }
}

/// Bruck on 4 ranks sends 2 messages a rank (log2 of the ranks), pairwise 3 (all others). Open
/// MPI's monitoring counts what it really sent.
#[test]
fn open_mpi_sends_as_the_table_says() {
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let rules = dir.path().join("rules.txt");
    let sweep = sweep(dir.path());
    let said = swapmeet(&["tune", &sweep, "--format", "openmpi", "--default", "bruck", "--out"])
        .arg(&rules)
        .assert()
        .success();
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.contains("alltoall on 4 ranks, 16384 bytes: `bruck` takes"), "{said}");
    // What the sweep doesn't have.
    assert!(
        said.contains("by Open MPI 4.1: linear_sync in 4 cases, of which no row has a time"),
        "{said}"
    );
    let program = compiled(dir.path());
    let text = std::fs::read_to_string(&rules).unwrap();
    // Where the prediction changes: 10 (1 + 2) + ..; the first size of pairwise, times the ranks.
    let from: u64 = text
        .lines()
        .find_map(|line| line.strip_suffix("# pairwise")?.split(' ').next()?.parse().ok())
        .unwrap();
    for (block, expected) in [(from / 4 - 1, 2), (from / 4, 3)] {
        let with = [
            "coll_tuned_use_dynamic_rules",
            "1",
            "coll_tuned_dynamic_rules_filename",
            rules.to_str().unwrap(),
        ];
        let (of_rank_0, printed) = peers(&program, 4, block, &with);
        assert_eq!(of_rank_0, expected, "{block} bytes a pair: {printed}");
    }
}

#[test]
fn rows_that_no_table_can_be_made_of_are_refused() {
    let dir = tempdir().unwrap();
    let sweep = sweep(dir.path());
    let said = refused(&["tune", &sweep, "--format", "nccl"]);
    assert!(
        said.contains("no row has a time of an algorithm that the library has: ring (allgather)"),
        "{said}"
    );
    let said =
        refused(&["tune", &sweep, "--format", "openmpi", "--default", "gen", "--out", "/dev/null"]);
    assert!(said.contains("--default gen: no row has a time of it"), "{said}");
    let other = dir.path().join("other.csv");
    let args = words(
        "run --topology ring:4 --algorithm bruck --machine free:startup_us=10,byte_us=0.01 --quiet --out",
    );
    swapmeet(&args).arg(&other).assert().success();
    let said = refused(&["tune", &sweep, other.to_str().unwrap(), "--format", "openmpi"]);
    assert!(
        said.contains("topologies of 4 nodes: fully-connected:4, ring:4: name one with --topology"),
        "{said}"
    );
}
