//! `rerun` computes the values of existing rows again.

use crate::support::swapmeet;
use std::path::Path;
use swapmeet_results::{CsvSink, Record, Sink, read_file};
use tempfile::tempdir;

fn rerun(rows: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = swapmeet(&["rerun", rows.to_str().unwrap()]).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn write(path: &Path, rows: &[Record]) {
    let mut sink = CsvSink::new(std::fs::File::create(path).unwrap());
    rows.iter().try_for_each(|row| sink.record(row)).and_then(|()| sink.finish()).unwrap();
}

/// Writes rows of an experiment with its own machine and random sizes, for three seeds.
fn rows_in(folder: &Path) -> std::path::PathBuf {
    let experiment = folder.join("mine.toml");
    std::fs::write(
        &experiment,
        "topologies = [\"torus:4x4\", \"mesh:3x3\"]\nalgorithms = [\"pex\", \"pairwise\"]\nrepetitions = 3\n\
         workloads = [\"irregular:dist=lognormal,mean=512,cv=2\"]\nmachines = [\"own\"]\n\n\
         [machine.own]\nbase = \"paragon\"\nstartup_us = 220.0\n",
    )
    .unwrap();
    let rows = folder.join("rows.csv");
    swapmeet(&["run", experiment.to_str().unwrap(), "--quiet", "--out", rows.to_str().unwrap()])
        .assert()
        .success();
    rows
}

#[test]
fn rerun_reproduces_every_row() {
    let folder = tempdir().unwrap();
    let rows = rows_in(folder.path());
    let (status, out, err) = rerun(&rows, &["--all"]);
    assert_eq!((status, out.lines().count()), (Some(0), 12), "{out}{err}");
    assert!(out.lines().all(|line| line.ends_with(": the same")), "{out}");
    assert_eq!(err, "12 rows run again: 12 identical, 0 different\n");
}

/// If no rows are selected, the message names both flags that select rows.
#[test]
fn rerun_without_rows_mentions_all() {
    let (status, _, err) = rerun(Path::new("rows.csv"), &[]);
    assert!(status == Some(2) && err.contains("--all") && err.contains("--row"), "{err}");
}

#[test]
fn a_different_row_is_reported_with_column_and_cause() {
    let folder = tempdir().unwrap();
    let rows = rows_in(folder.path());
    let mut records = read_file(&rows).unwrap();
    let steps = records[3].steps;
    records[3].steps = Some(999);
    records[4].time_us = Some(1.0);
    records[4].plugin_digest = "sha256:00".to_owned();
    records[5].algorithm = "no-such-thing".to_owned();
    write(&rows, &records);
    let (status, out, err) =
        rerun(&rows, &["--row", "4", "--row", "5", "--row", "6", "--row", "7"]);
    let lines: Vec<&str> = out.lines().collect();
    let first = format!(
        "steps was `999`, is `{}`; version, build, files and machine are unchanged",
        steps.unwrap()
    );
    assert!(lines[0].starts_with("row 4 (") && lines[0].ends_with(&first), "{out}");
    assert!(
        lines[1].contains("time_us was `1`, is `")
            && lines[1].contains("plugin_digest was `sha256:00`"),
        "{out}"
    );
    assert!(
        lines[2].contains("cannot be run again: algorithm: unknown algorithm `no-such-thing`"),
        "{out}"
    );
    assert!(lines[3].ends_with(": the same"), "{out}");
    assert_eq!((status, err.as_str()), (Some(1), "4 rows run again: 1 identical, 3 different\n"));
}

#[test]
fn a_missing_row_is_bad_usage() {
    let folder = tempdir().unwrap();
    let rows = rows_in(folder.path());
    for number in ["0", "13"] {
        let (status, out, err) = rerun(&rows, &["--row", number]);
        assert_eq!((status, out.as_str()), (Some(2), ""));
        assert!(
            err.contains(&format!("--row {number}: ")) && err.contains("has rows 1 to 12"),
            "{err}"
        );
    }
}
