//! Plugins that were built for version 1.1 of the plugin ABI. Their structs lack the fields of
//! later versions, which count as zero: no switch adds or copies their data.

use crate::support::{compile_c, swapmeet};
use swapmeet_results::{Record, Status, read_file};
use tempfile::tempdir;

fn run(topology: &str) -> Option<Record> {
    let dir = tempdir().unwrap();
    let plugin = compile_c("tests/plugins/abi-1.1/spread.c", dir.path(), "old", &[])?;
    let rows = dir.path().join("rows.csv");
    let mut program = swapmeet(&["run", "--topology", topology, "--algorithm", "spread"]);
    program.args(["--workload", "uniform:8", "--machine", "paragon", "--plugin-dir"]);
    program.arg(&plugin).args(["--out", rows.to_str().unwrap()]).output().unwrap();
    Some(read_file(&rows).unwrap().remove(0))
}

#[test]
fn a_plugin_of_version_1_1_runs_as_before() {
    let Some(row) = run("ring:16") else { return };
    assert_eq!((row.status, row.proved_on, row.compared_on), (Status::Ok, Some(1), Some(16)));
    assert_eq!(
        (row.steps, row.messages, &*row.note),
        (Some(15), Some(240), "plugin: planned by version 1.1")
    );
    let [with, without] = ["groups:2x4,reduce=switch", "groups:2x4"].map(|spec| run(spec).unwrap());
    assert_eq!((with.status, without.status), (Status::Ok, Status::Ok));
    assert_eq!(with.time_us, without.time_us);
    let (status, reason) = run("ring:1").map(|row| (row.status, row.reason)).unwrap();
    assert_eq!((status, &*reason), (Status::Unsupported, "node 0 has no links"));
}
