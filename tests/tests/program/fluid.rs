//! Rows of the model `fluid` are a function of the case alone.

use crate::support::{printed, rows, timeless, words};
use swapmeet_results::{Record, Status};

const MACHINES: [&str; 4] = [
    "free:model=fluid,byte_us=0.01,hop_us=0.3,startup_us=1",
    "free:model=fluid,byte_us=0.01,hop_us=0.3,order=barrier,reduce_byte_us=0.05",
    "free:model=fluid,byte_us=0.01,hop_us=0.3,order=data,reduce_byte_us=0.05,late=3:40",
    "free:model=fluid,byte_us=0.01,hop_us=0.3,noise=0.1",
];

/// Returns the last time at which a rank ends, according to a trace with recorded times.
fn recorded_us(row: &Record) -> f64 {
    let (topology, algorithm) = (row.topology.as_str(), row.algorithm.as_str());
    let mut args = words("trace --times --format json");
    args.extend(["--topology", topology, "--algorithm", algorithm]);
    args.extend(["--workload", &row.workload, "--machine", &row.machine]);
    let trace: serde_json::Value = serde_json::from_str(&printed(&args)).unwrap();
    let times = trace["times"].as_array().unwrap();
    times.iter().map(|entry| entry["ended"].as_f64().unwrap()).fold(0.0, f64::max)
}

/// Returns the values of the model. The columns about the proof are left out, because they differ
/// between `auto` and `full`.
fn values(row: &Record) -> impl PartialEq + std::fmt::Debug {
    let times = [row.time_us, row.first_rank_us, row.mean_rank_us, row.contention_us];
    (times, row.startup_us, row.transmission_us, row.propagation_us, row.reduction_us)
}

#[test]
fn rows_do_not_depend_on_jobs_proof_or_recorded_times() {
    let mut args = words(
        "--topology torus:4x4 --topology mesh:4x4 --topology ring:16,down=3~4 \
        --algorithm pairwise --algorithm bruck --algorithm linear --workload uniform:1KiB \
        --workload irregular:dist=lognormal,mean=512,cv=1 \
        --algorithm ring-allreduce --workload allreduce/uniform:4KiB",
    );
    MACHINES.iter().for_each(|machine| args.extend(["--machine", machine]));
    let with = |more: &str| {
        let args: Vec<&str> = args.iter().copied().chain(words(more)).collect();
        let rows = rows(&args);
        rows.into_iter().filter(|row| row.status == Status::Ok).collect::<Vec<_>>()
    };
    let first = with("--jobs 1");
    assert!(first.len() >= 3 * 7 * MACHINES.len(), "{}", first.len());
    let parallel: Vec<Record> = with("--jobs 2").iter().map(timeless).collect();
    assert_eq!(first.iter().map(timeless).collect::<Vec<_>>(), parallel);
    let full = with("--jobs 1 --proof full");
    assert_eq!(first.len(), full.len());
    for (row, full) in first.iter().zip(&full) {
        let case = format!("{} {} {}", row.algorithm, row.topology, row.machine);
        assert_eq!(values(row), values(full), "{case}");
        let [recorded, us] = [recorded_us(row), row.time_us.unwrap()].map(|us| (us * 1e6).round());
        assert_eq!(recorded, us, "{case}");
    }
}

/// If messages waited for empty blocks, the naive simulation would give 4276.28 µs
/// (`messages_do_not_wait_for_empty_blocks` in `swapmeet-core`).
#[test]
fn data_order_does_not_wait_for_empty_blocks() {
    let machine =
        "free:model=fluid,byte_us=0.25,hop_us=0.5,injection_byte_us=0.1,order=data,late=7:100";
    let workload = "moe:experts=9,top=2,tokens=3,bytes=1000";
    let mut args =
        vec!["--topology", "mesh:3x3,down=4-5+0~1", "--algorithm", "flow:form=steps,segments=4"];
    args.extend(["--workload", workload, "--machine", machine, "--seed", "66"]);
    assert_eq!(rows(&args).remove(0).time_us, Some(4291.18));
}
