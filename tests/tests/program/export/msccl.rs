//! The export to MSCCL.

use super::exports;
use crate::support::{refused, rows, swapmeet, texts_of, words};
use swapmeet_results::Status;
use tempfile::tempdir;

#[test]
fn an_exported_msccl_algorithm_is_read_back_as_the_same_row() {
    let dir = tempdir().unwrap();
    for (topology, algorithm, workload) in [
        ("fully-connected:6", "pairwise", "uniform:64"),
        ("fully-connected:8", "bruck", "uniform:64"),
        ("ring:5", "ring", "allgather/uniform:64"),
        ("fully-connected:8", "recursive-doubling-allgather", "allgather/uniform:64"),
        ("ring:6", "binomial-broadcast", "broadcast/uniform:64"),
        ("hypercube:3", "hypercube-scatter", "scatter/uniform:64"),
        ("ring:5", "ring-allreduce", "allreduce/uniform:640"),
        ("hypercube:3", "rabenseifner-allreduce", "allreduce/uniform:640"),
        ("fully-connected:6", "ring-reduce-scatter", "reduce-scatter/uniform:64"),
        ("ring:7", "binomial-reduce", "reduce/uniform:64"),
    ] {
        let file = dir.path().join(format!("{algorithm}.xml"));
        assert!(exports("msccl", [topology, algorithm, workload], &[], &file), "{algorithm}");
        let read = format!("msccl:file={}", file.display());
        let line = format!(
            "--topology {topology} --workload {workload} --machine paragon \
            --machine t3d:ports=all"
        );
        let case = words(&line);
        let rows = rows(&[&case[..], &["--algorithm", algorithm, "--algorithm", &read]].concat());
        let [planned, again] = [algorithm, &read].map(|name| {
            rows.iter()
                .filter(|row| row.algorithm == name)
                .map(|row| {
                    (
                        row.status,
                        row.time_us,
                        row.steps,
                        row.messages,
                        row.critical_bytes,
                        row.max_link_messages,
                        row.reduction_us,
                    )
                })
                .collect::<Vec<_>>()
        });
        assert!(
            planned.len() == 2 && planned.iter().all(|row| row.0 == Status::Ok),
            "{algorithm}: {planned:?}"
        );
        assert_eq!(again, planned, "{algorithm}: {}", rows[0].reason);
    }
    for (topology, algorithm, workload, limit) in [
        (
            "ring:80",
            "linear",
            "uniform:1",
            "needs more than 64 thread blocks, MSCCL's limit for a GPU",
        ),
        (
            "ring:80",
            "ring",
            "allgather/uniform:1",
            "needs more than 64 steps, MSCCL's limit for a thread block",
        ),
        ("ring:4", "two-stage", "uniform:1KiB", "it moves byte counts, not blocks"),
        ("mesh:2x2", "linear", "permutation/transpose-2d:8", "MSCCL has no `permutation`"),
        (
            "ring:4",
            "bruck",
            "irregular:dist=pareto,mean=64,cv=2",
            "its blocks differ in size, and MSCCL's chunks all have the same size",
        ),
    ] {
        let line = format!(
            "export --format msccl --topology {topology} --algorithm {algorithm} \
            --workload {workload}"
        );
        let args = words(&line);
        let message = refused(&args);
        assert!(message.contains(limit), "{algorithm}: {message}");
    }
}

/// In a step, a node sends over several links. MSCCL does not order these messages, so times may
/// differ slightly. `flow` obeys the ports of the machine, so it is exported for one machine only.
#[test]
fn synthesised_schedules_are_read_back_with_the_same_steps_and_messages() {
    let dir = tempdir().unwrap();
    for (number, (algorithm, workload, machine)) in [
        ("flow:form=steps", "uniform:64", "paragon"),
        ("flow:form=steps", "uniform:64", "t3d:ports=all"),
        ("greedy-allgather", "allgather/uniform:64", "t3d:ports=all"),
        ("greedy-reduce-scatter", "reduce-scatter/uniform:64", "t3d:ports=all"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = dir.path().join(format!("{number}.xml"));
        let case = ["mesh:3x3", algorithm, workload];
        assert!(exports("msccl", case, &["--machine", machine], &file), "{case:?}");
        let read = format!("msccl:file={}", file.display());
        let problem = ["--topology", case[0], "--workload", workload, "--machine", machine];
        let rows =
            rows(&[&problem[..], &["--algorithm", algorithm, "--algorithm", &read]].concat());
        let facts = |row: &swapmeet_results::Record| {
            (row.status, row.verified, row.steps, row.messages, row.critical_bytes)
        };
        assert_eq!(facts(&rows[1]), facts(&rows[0]), "{case:?}: {}", rows[1].reason);
        assert_eq!(rows[0].status, Status::Ok, "{case:?}");
    }
}

/// In the last step of a recursive doubling on 32 GPUs, partners send 16 chunks to each other
/// before they receive any, but a connection of NCCL has 8 slots. On 16 GPUs, they send only 8
/// chunks.
#[test]
fn a_deadlock_on_the_connections_of_nccl_is_reported() {
    let dir = tempdir().unwrap();
    let message = |nodes: u64| {
        let out = dir.path().join(format!("{nodes}.xml"));
        let line = format!(
            "export --format msccl --topology hypercube:{} --algorithm recursive-doubling-allgather --workload allgather/uniform:64 --out",
            nodes.ilog2()
        );
        let [_, message] = texts_of(swapmeet(&words(&line)).arg(&out).assert().success());
        message
    };
    assert!(!message(16).contains("deadlock"), "{}", message(16));
    let expected = "the program has a deadlock if each chunk takes a slot: rank 0 waits for a free slot to rank 16, rank 16 waits for a free slot to rank 0";
    assert!(message(32).contains(expected), "{}", message(32));
}
