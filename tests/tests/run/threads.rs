//! `--threads`: rows say the same whatever it is.

use crate::support::{rows, timeless};
use swapmeet_results::{Record, Status};
use swapmeet_tests::build;

/// Everybody is planned for, by schedules of so many messages that threads share them.
fn on(threads: &str, args: &[&str]) -> Vec<Record> {
    let rows = rows(&[args, &["--proof", "full", "--threads", threads, "--jobs", "2"]].concat());
    rows.iter().map(timeless).collect()
}

/// Compares the rows of the cross product of these on 1, 2 and 4 threads, and counts those of each
/// status.
fn same(
    topologies: &[&str],
    algorithms: &[&str],
    workloads: &[&str],
    machines: &[&str],
    more: &[&str],
) -> [usize; 3] {
    let mut args = more.to_vec();
    for (flag, values) in [
        ("--topology", topologies),
        ("--algorithm", algorithms),
        ("--workload", workloads),
        ("--machine", machines),
    ] {
        values.iter().for_each(|value| args.extend([flag, value]));
    }
    let one = on("1", &args);
    for threads in ["2", "4"] {
        let many = on(threads, &args);
        assert_eq!(many.len(), one.len());
        for (many, one) in many.iter().zip(&one) {
            assert_eq!(many, one, "with --threads {threads}");
        }
    }
    [Status::Ok, Status::Invalid, Status::Unsupported]
        .map(|status| one.iter().filter(|row| row.status == status).count())
}

#[test]
fn all_to_alls_come_out_the_same_on_any_number_of_threads() {
    let machines = ["paragon", "paragon:rearrangement=packed"];
    let [ok, ..] =
        same(&["torus:96x96", "mesh:94x98"], &["suh-shin"], &["uniform:8"], &machines, &[]);
    assert_eq!(ok, 4);
    let [ok, ..] = same(
        &["hypercube:14"],
        &["bruck", "hypercube-alltoall"],
        &["uniform:1KiB"],
        &["paragon"],
        &[],
    );
    assert_eq!(ok, 2);
}

#[test]
fn so_do_other_collectives() {
    let reductions = ["rabenseifner-allreduce", "recursive-doubling-allreduce"];
    let [ok, ..] =
        same(&["torus:128x128"], &reductions, &["allreduce/uniform:64KiB"], &["paragon"], &[]);
    assert_eq!(ok, 2);
    let copies = ["hypercube-allgather", "recursive-doubling-allgather"];
    let [ok, ..] = same(&["hypercube:14"], &copies, &["allgather/uniform:8"], &["paragon"], &[]);
    assert_eq!(ok, 2);
}

/// The first send that breaks a rule is named, with where its blocks are in that moment, though
/// others had been carried out by the time it was noticed.
#[test]
fn broken_schedules_are_said_to_be_broken_in_the_same_words() {
    let plugins = build().to_str().unwrap();
    let wrong = ["suh-shin-mesh-step-2", "suh-shin-figure-5", "suh-shin-hops-ahead"];
    let folder = ["--plugin-dir", plugins];
    let [_, invalid, _] =
        same(&["torus:96x96", "mesh:96x96"], &wrong, &["uniform:4"], &["paragon"], &folder);
    assert!(invalid >= 3, "{invalid} invalid");
}
