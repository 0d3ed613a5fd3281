//! Runs: what becomes of rows when workers die, runs are stopped, taken up again or shared out.

mod durable;
mod host_fails;
mod identity;
mod rerun;
mod resume;
mod shards;
mod workers;

/// A sweep whose cases take different times, among them some that share a schedule.
const SWEEP: [&str; 22] = [
    "--topology",
    "torus:4x8",
    "--topology",
    "ring:5",
    "--topology",
    "torus:8x8",
    "--algorithm",
    "gen",
    "--algorithm",
    "suh-shin",
    "--algorithm",
    "four-stage",
    "--workload",
    "uniform:64",
    "--workload",
    "one-spike:max=99,rest=3",
    "--machine",
    "paragon",
    "--machine",
    "sp2",
    "--repetitions",
    "3",
];
