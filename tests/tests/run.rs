//! Tests of the rows that `run` writes if workers die, or if the run is stopped, resumed or
//! divided.

mod blocks;
mod changed_defaults;
mod durable;
mod host_fails;
mod hostile;
mod identity;
mod optimum;
mod rerun;
mod resume;
mod shards;
mod workers;

use crate::support::{swapmeet, words};
use assert_cmd::assert::Assert;
use std::path::Path;

/// A sweep whose cases take different times and partly share a schedule.
const SWEEP: &str = "--topology torus:4x8 --topology ring:5 --topology torus:8x8 --algorithm gen \
    --algorithm suh-shin --algorithm four-stage --workload uniform:64 \
    --workload one-spike:max=99,rest=3 --machine paragon --machine sp2 --repetitions 3";

fn sweep(out: &Path, flags: &str) -> Assert {
    let mut run = swapmeet(&["run", "--quiet", "--out", out.to_str().unwrap()]);
    run.args(words(SWEEP)).args(words(flags)).assert().success()
}
