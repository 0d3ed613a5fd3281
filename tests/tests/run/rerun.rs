//! `rerun` computes the values of existing rows again.

use crate::support::{compile_c, swapmeet, swapmeet_process};
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

fn study_in(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("network.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    std::fs::create_dir(folder.join("sizes")).unwrap();
    write("sizes/a.csv", "0,1,2,3\n4,0,5,6\n7,8,0,9\n1,2,3,0\n");
    write("sizes/b.csv", "0,9,9,9\n9,0,9,9\n9,9,0,9\n9,9,9,0\n");
    write("background.csv", "0,500,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n");
    write(
        "study.toml",
        "topologies = [\"graph:network.txt\"]\nalgorithms = [\"linear\", \"pairwise\"]\n\
         workloads = [\"matrix:sizes/*.csv\"]\n\
         machines = [\"free:byte_us=1\", \"free:model=fluid,byte_us=1,background=background.csv\"]\n",
    );
}

/// The CSV of the bundle has only the names and digests of the files.
#[test]
fn a_bundle_is_repeated_without_the_original_files() {
    let here = tempdir().unwrap();
    study_in(here.path());
    let run = ["run", "study.toml", "--quiet", "--bundle", "bundle"];
    swapmeet(&run).current_dir(here.path()).assert().success();
    let bundle = here.path().join("bundle");
    assert_eq!(std::fs::read_dir(bundle.join("inputs")).unwrap().count(), 5);
    let there = tempdir().unwrap();
    let moved = there.path().join("study");
    std::fs::rename(&bundle, &moved).unwrap();
    let (status, out, err) = rerun(&moved.join("rows.csv"), &["--all"]);
    assert_eq!((status, out.lines().count()), (Some(0), 8), "{out}{err}");
    assert!(out.lines().all(|line| line.ends_with(": the same")), "{out}");
    let inputs = std::fs::read_dir(moved.join("inputs")).unwrap().map(|file| file.unwrap().path());
    let network = inputs.filter(|file| std::fs::read_to_string(file).unwrap().contains("0 2"));
    std::fs::write(network.last().unwrap(), "0 1\n1 2\n2 3\n").unwrap();
    let (status, out, _) = rerun(&moved.join("rows.csv"), &["--row", "1"]);
    assert!(status == Some(1) && out.contains("does not have the digest sha256:"), "{out}");
    swapmeet(&run).current_dir(here.path()).assert().success();
    let again = swapmeet(&run).current_dir(here.path()).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    let resumed = [&run[..], &["--resume"]].concat();
    swapmeet(&resumed).current_dir(here.path()).assert().success();
}

/// `--resume` refuses rows whose input file has changed. In an earlier version, `rerun`
/// nevertheless printed "the same" if no value had changed.
#[test]
fn a_changed_input_file_is_reported() {
    let here = tempdir().unwrap();
    study_in(here.path());
    let rows = here.path().join("rows.csv");
    let run = ["run", "study.toml", "--quiet", "--out", "rows.csv"];
    swapmeet(&run).current_dir(here.path()).assert().success();
    let rerun = || {
        let args = ["rerun", "rows.csv", "--row", "1"];
        let output = swapmeet(&args).current_dir(here.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, out) = rerun();
    assert!(status == Some(0) && out.ends_with(": the same\n"), "{out}");
    let network = here.path().join("network.txt");
    let text = std::fs::read_to_string(&network).unwrap();
    std::fs::write(&network, text + "# a comment\n").unwrap();
    let (status, out) = rerun();
    let expected = "its input files have changed, its values have not: inputs was `network.txt=";
    assert!(status == Some(1) && out.contains(expected), "{out}");
    assert!(rows.exists());
}

#[test]
fn a_bundle_has_the_plugins_of_others() {
    let here = tempdir().unwrap();
    let plugins = here.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", &plugins, "ring", &[]) else { return };
    let bundle = here.path().join("bundle");
    let names = swapmeet_process(&["list", "algorithms", "--plugin-dir", file.to_str().unwrap()])
        .args(["--format", "csv"])
        .output()
        .unwrap();
    let names = String::from_utf8(names.stdout).unwrap();
    let name = names.lines().find(|line| line.ends_with(",ring-c")).unwrap();
    let name = name.split(',').next().unwrap();
    swapmeet_process(&["run", "--topology", "ring:5", "--algorithm", name, "--quiet"])
        .args(["--plugin-dir", file.to_str().unwrap(), "--bundle", bundle.to_str().unwrap()])
        .assert()
        .success();
    std::fs::remove_dir_all(&plugins).unwrap();
    assert_eq!(std::fs::read_dir(bundle.join("inputs")).unwrap().count(), 1);
    let rows = bundle.join("rows.csv");
    let again = swapmeet_process(&["rerun", rows.to_str().unwrap(), "--all"]).output().unwrap();
    let out = String::from_utf8(again.stdout).unwrap();
    assert!(again.status.success() && out.ends_with(": the same\n"), "{out}");
}
