//! Plugins that were built for version 1.0 of the plugin ABI. Their claims of symmetry are compared
//! as far as this version permits.

use crate::support::{compile_c, swapmeet};
use swapmeet_results::{Record, Status, read_file};
use tempfile::tempdir;

fn run(topology: &str, macros: &[(&str, &str)]) -> Option<(Record, String)> {
    let dir = tempdir().unwrap();
    let plugin = compile_c("tests/plugins/abi-1.0/shift.c", dir.path(), "old", macros)?;
    let rows = dir.path().join("rows.csv");
    let run = |more: &[&str]| {
        let mut program = swapmeet(&["run", "--topology", topology, "--algorithm", "shift"]);
        program.args(["--workload", "uniform:8", "--machine", "paragon", "--plugin-dir"]);
        program.arg(&plugin).args(more).output().unwrap()
    };
    run(&["--out", rows.to_str().unwrap()]);
    let table = String::from_utf8(run(&[]).stdout).unwrap();
    Some((read_file(&rows).unwrap().remove(0), table))
}

#[test]
fn a_plugin_of_version_1_0_is_compared_by_its_full_plan() {
    let Some((row, _)) = run("ring:16", &[]) else { return };
    assert_eq!((row.status, row.proved_on, row.compared_on), (Status::Ok, Some(1), Some(16)));
    assert_eq!(row.note, "");
    let (row, _) = run("ring:16", &[("SILENT", "3")]).unwrap();
    assert_eq!(
        (row.status, &*row.reason),
        (
            Status::Invalid,
            "the claim of symmetry is wrong: step 1: node 3 does not send to node 4, although node 0 sends to node 1"
        )
    );
}

/// 1,100 nodes send 1.2 million messages, more than the limit up to which the host compares a
/// claim.
#[test]
fn the_row_says_that_nothing_was_compared() {
    let Some((row, table)) = run("ring:1100", &[]) else { return };
    assert_eq!((row.status, row.proved_on, row.compared_on), (Status::Ok, Some(1), Some(0)));
    let note = "the claim of symmetry was not compared with what other nodes plan (`--proof full` plans all nodes)";
    assert_eq!(row.note, note);
    assert!(table.contains("blocks (0 of 1100)"), "{table}");
}
