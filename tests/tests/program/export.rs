//! Exported files are run in the programs for which they are made, if those are installed.

use crate::support::{swapmeet, tools, words};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use swapmeet_bridges::{export, import, tune};
use swapmeet_tests::project;
use tempfile::tempdir;

mod mpi;
mod msccl;
mod round_trips;
mod simgrid;

fn exports(format: &str, case: [&str; 3], more: &[&str], out: &Path) -> bool {
    let [topology, algorithm, workload] = case;
    let line = format!(
        "export --format {format} --topology {topology} --algorithm {algorithm} \
        --workload {workload}"
    );
    let args = words(&line);
    let output = swapmeet(&args).args(more).arg("--out").arg(out).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if out.exists() => true,
        Some(0) => {
            assert!(message.contains("unsupported"), "{case:?}: {message}");
            false
        }
        other => panic!("{case:?}: {other:?}: {message}"),
    }
}

#[test]
fn the_docs_list_every_format_and_no_other() {
    let page = std::fs::read_to_string(project("docs/bridges.md")).unwrap();
    let documented = |heading: &str| -> BTreeSet<String> {
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
        let table = section.split("\n\n").find(|table| table.starts_with("| format |")).unwrap();
        table.lines().skip(2).map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
    };
    let names =
        |all: &[&str]| -> BTreeSet<String> { all.iter().map(|name| (*name).to_owned()).collect() };
    let out: Vec<&str> =
        export::FORMATS.iter().map(|format| format.name).chain([export::JSON.0]).collect();
    assert_eq!(documented("A schedule out"), names(&out));
    assert_eq!(
        documented("Measurements in"),
        names(&import::FORMATS.each_ref().map(|format| format.name))
    );
    assert_eq!(
        documented("A decision table"),
        names(&tune::LIBRARIES.each_ref().map(|library| library.name))
    );
}

/// LogGOPSim prints the times of the formula in `docs/bridges.md`: 2 x (o + L + (s - 1) G + o).
#[test]
fn loggopsim_runs_the_exported_schedule() {
    if !tools::has(&["txt2bin", "LogGOPSim"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let (text, binary) = (dir.path().join("a.goal"), dir.path().join("a.bin"));
    assert!(exports("goal", ["fully-connected:3", "pairwise", "uniform:100"], &[], &text));
    assert!(
        Command::new("txt2bin")
            .arg("-i")
            .arg(&text)
            .arg("-o")
            .arg(&binary)
            .status()
            .unwrap()
            .success()
    );
    let printed = Command::new("LogGOPSim").arg("-f").arg(&binary).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let times: Vec<&str> =
        printed.lines().filter_map(|line| line.strip_prefix("Host ")?.split(": ").nth(1)).collect();
    assert_eq!(times, ["12188"; 3], "{printed}");
}

#[test]
fn a_format_with_several_files_needs_a_folder() {
    let dir = tempdir().unwrap();
    let export = words("export --format mpi --topology ring:3 --algorithm ring");
    swapmeet(&export)
        .current_dir(dir.path())
        .assert()
        .code(2)
        .stderr(predicates::str::contains("this format has several files, expected --out FOLDER"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn exported_json_equals_the_trace() {
    let case = ["--topology", "mesh:2x3", "--algorithm", "pex-gen", "--workload", "uniform:8"];
    let exported = swapmeet(&["export", "--format", "json"]).args(case).output().unwrap().stdout;
    let traced = swapmeet(&["trace", "--format", "json"]).args(case).output().unwrap().stdout;
    assert!(!traced.is_empty() && exported == traced);
}

/// To price this case under `fluid` takes more than a minute.
#[test]
fn exports_price_nothing() {
    let dir = tempdir().unwrap();
    let case = ["torus:16x16", "linear", "irregular:dist=lognormal,mean=65536,cv=2"];
    let machine = "free:model=fluid,startup_us=1.5,byte_us=0.00004,hop_us=0.35";
    let more = ["--machine", machine, "--timeout", "30"];
    assert!(exports("goal", case, &more, &dir.path().join("a.goal")));
}
