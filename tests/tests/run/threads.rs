//! `--threads`: rows say the same whatever it is.

use crate::support::{rows, timeless};
use swapmeet_results::{Record, Status};
use swapmeet_tests::build;

/// Everybody is planned for, in steps of so many messages that threads share them.
fn on(threads: &str, args: &[&str]) -> Vec<Record> {
    let rows = rows(&[args, &["--proof", "full", "--threads", threads, "--jobs", "2"]].concat());
    rows.iter().map(timeless).collect()
}

/// Compares the rows of the cross product of these on 1, 2 and 4 threads, and counts those of each status.
fn same(topologies: &[&str], algorithms: &[&str], workloads: &[&str], machines: &[&str], more: &[&str]) -> [usize; 3] {
    let mut args = more.to_vec();
    for (flag, values) in
        [("--topology", topologies), ("--algorithm", algorithms), ("--workload", workloads), ("--machine", machines)]
    {
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
    let machines = ["paragon", "t3d:model=circuit", "sp2", "paragon:rearrangement=packed"];
    let [ok, invalid, _] =
        same(&["torus:24x24", "mesh:16x35"], &["suh-shin", "gen", "bruck"], &["uniform:8"], &machines, &[]);
    assert!(ok >= 20 && invalid == 0, "{ok} ok, {invalid} invalid");
    let [ok, ..] = same(
        &["torus:24x24"],
        &["suh-shin", "torus-multiscatter", "linear"],
        &["irregular:dist=lognormal,mean=512,cv=2"],
        &["paragon"],
        &[],
    );
    assert_eq!(ok, 3);
}

#[test]
fn so_do_other_networks_and_collectives() {
    let networks =
        ["hypercube:10", "fat-tree:24x2", "dragonfly:9x8x8", "rdn:1(hypercube:4)", "torus:9x9x8,place=random:3"];
    let all_to_alls = ["bruck", "hypercube-alltoall", "rdn-alltoall"];
    let [ok, ..] = same(&networks, &all_to_alls, &["uniform:1KiB"], &["paragon"], &[]);
    assert!(ok >= 7, "{ok} ok");
    let reductions = ["rabenseifner-allreduce", "recursive-doubling-allreduce", "swing-allreduce", "bucket-allreduce"];
    let [ok, ..] = same(&["torus:32x32"], &reductions, &["allreduce/uniform:64KiB"], &["paragon"], &[]);
    assert_eq!(ok, 4);
    let copies = ["hypercube-allgather", "recursive-doubling-allgather", "bruck"];
    let [ok, ..] = same(&["hypercube:10"], &copies, &["allgather/uniform:8"], &["paragon"], &[]);
    assert_eq!(ok, 3);
}

/// The first send that breaks a rule is named, with where its blocks are in that moment, though others had been carried out by the time it was noticed.
#[test]
fn broken_schedules_are_said_to_be_broken_in_the_same_words() {
    let plugins = build().to_str().unwrap();
    let wrong = [
        "suh-shin-3d-phase-4",
        "suh-shin-mesh-step-2",
        "suh-shin-figure-5",
        "suh-shin-hops-ahead",
        "pex-gen-shift-figure-4",
    ];
    let folder = ["--plugin-dir", plugins];
    let [_, invalid, _] = same(
        &["torus:28x28", "mesh:28x28", "torus:12x8x8", "mesh:8x72"],
        &wrong,
        &["uniform:4"],
        &["paragon", "sp2"],
        &folder,
    );
    assert!(invalid >= 8, "{invalid} invalid");
}
