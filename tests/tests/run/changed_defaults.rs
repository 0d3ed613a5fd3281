//! Rows of versions with other defaults. Every command that mixes or repeats rows names the
//! defaults.

use crate::support::{printed, swapmeet, words};
use std::path::Path;
use swapmeet_results::read_file;

/// Writes the rows of a run as version 0.2.0 would have written them: without definitions of the
/// machines, and without the column `rounds`.
fn of_0_2_0(folder: &Path, name: &str, experiment: &str, now: &str) {
    let path = folder.join(name);
    let out = path.to_str().unwrap();
    printed(&[&words("run --quiet --force --out")[..], &[out], &words(now)].concat());
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&path).unwrap();
    let kept = |fields: &csv::StringRecord, change: &dyn Fn(&str, &str) -> String| {
        let fields = header.iter().zip(fields).filter(|(column, _)| *column != "rounds");
        fields.map(|(column, field)| change(column, field)).collect::<Vec<String>>()
    };
    writer.write_record(kept(&header, &|_, name| name.to_owned())).unwrap();
    for row in &rows {
        let change = |column: &str, field: &str| match column {
            "swapmeet_version" | "plugin_version" => "0.2.0".to_owned(),
            "machine_definition" => String::new(),
            "experiment" => experiment.to_owned(),
            "algorithm" => field.replace(":window=1", ""),
            "machine" => field.split(':').next().unwrap().to_owned(),
            _ => field.to_owned(),
        };
        writer.write_record(kept(row, &change)).unwrap();
    }
    writer.flush().unwrap();
}

const CASE: &str = "--topology torus:4x4 --algorithm direct-dispatch:window=1 \
    --machine paragon:rearrangement=declared \
    --workload dispatch/moe:experts=16,top=2,tokens=4,bytes=64";
const WINDOW: &str =
    "`window` of `direct-dispatch`, `direct-combine`: 1 before 0.3.0, now all messages";

#[test]
fn old_rows_are_read_with_the_defaults_of_their_version() {
    let dir = tempfile::tempdir().unwrap();
    of_0_2_0(dir.path(), "old.csv", "adhoc", CASE);
    let row = read_file(&dir.path().join("old.csv")).unwrap().remove(0);
    assert_eq!(row.algorithm, "direct-dispatch:window=1");
    assert_eq!(row.case().setting.machine_in_full(), "paragon (paragon:rearrangement=declared)");
}

#[test]
fn a_rerun_repeats_an_old_row_and_names_the_changed_defaults() {
    let dir = tempfile::tempdir().unwrap();
    of_0_2_0(dir.path(), "old.csv", "adhoc", CASE);
    let output = swapmeet(&["rerun", "--all", "old.csv"]).current_dir(dir.path()).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains(": the same; default changed: "), "{out}");
    assert!(out.contains(WINDOW) && out.contains("`rearrangement` of `paragon`"), "{out}");
}

#[test]
fn changed_presets_are_named() {
    const STARTUP: &str =
        "`startup_us` of `dgx-b200`, `efa-p5`, `efa-p5en`: 0.6 before 0.3.0, now 1.6";
    let dir = tempfile::tempdir().unwrap();
    let now = "--topology groups:2x8,inside=18,inside_hop=0 --algorithm ring-allreduce \
        --workload allreduce/uniform:64 --machine dgx-b200";
    of_0_2_0(
        dir.path(),
        "old.csv",
        "adhoc",
        &format!("{now}:startup_us=0.6,launch_us=0,hop_us=1.05"),
    );
    let output = |args: &str| {
        let output = swapmeet(&words(args)).current_dir(dir.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (status, text) = output("rerun --all old.csv");
    assert!(status == Some(0) && text.contains(": the same; default changed: "), "{text}");
    assert!(text.contains(STARTUP), "{text}");
    assert_eq!(output(&format!("run --quiet --out new.csv {now}")).0, Some(0));
    let (status, text) = output("compare --details old.csv new.csv");
    assert!(status == Some(0) && text.contains(STARTUP), "{text}");
    assert!(text.contains("dgx-b200 (dgx-b200:startup_us=0.6,"), "{text}");
    for line in [
        "merge old.csv new.csv --out all.csv".to_owned(),
        format!("run --quiet --resume --out old.csv {now}"),
    ] {
        let (status, text) = output(&line);
        assert!(status == Some(2) && text.contains(STARTUP), "{line}: {text}");
    }
}

#[test]
fn comparisons_mark_old_rows() {
    let dir = tempfile::tempdir().unwrap();
    of_0_2_0(dir.path(), "old.csv", "adhoc", CASE);
    let now = CASE.replace(":window=1", "").replace(":rearrangement=declared", "");
    let new = [&words("run --quiet --out new.csv")[..], &words(&now)].concat();
    swapmeet(&new).current_dir(dir.path()).assert().success();
    let compare =
        swapmeet(&["compare", "--details", "old.csv", "new.csv"]).current_dir(dir.path()).output();
    let compare = compare.unwrap();
    let [table, message] = [compare.stdout, compare.stderr].map(|t| String::from_utf8(t).unwrap());
    assert!(message.contains(WINDOW), "{message}");
    assert!(table.contains("direct-dispatch:window=1"), "{table}");
    assert!(table.contains("paragon (paragon:rearrangement=declared)"), "{table}");
}

#[test]
fn merge_and_resume_refuse_rows_of_versions_with_other_defaults() {
    let dir = tempfile::tempdir().unwrap();
    of_0_2_0(dir.path(), "old.csv", "adhoc", CASE);
    let now = CASE.replace(":window=1", "").replace(":rearrangement=declared", "");
    let run = |flags: &str| {
        let args = [&words("run --quiet")[..], &words(flags), &words(&now)].concat();
        let output = swapmeet(&args).current_dir(dir.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run("--out new.csv").0, Some(0));
    let merge = swapmeet(&["merge", "old.csv", "new.csv", "--out", "all.csv"]);
    let merge = { merge }.current_dir(dir.path()).output().unwrap();
    let message = String::from_utf8(merge.stderr).unwrap();
    assert_eq!(merge.status.code(), Some(2), "{message}");
    assert!(message.contains("swapmeet_version is `0.2.0` and `") && message.contains(WINDOW));
    let (status, message) = run("--resume --out old.csv");
    assert_eq!(status, Some(2), "{message}");
    assert!(message.contains(WINDOW), "{message}");
}
