//! The rows of all shards of a run are merged into the rows that a single run would write.

use super::{SWEEP, sweep};
use crate::support::{refused, swapmeet, swapmeet_process, timeless_rows, words};
use std::collections::BTreeMap;
use std::path::Path;
use swapmeet_results::read_file;
use tempfile::tempdir;

#[test]
fn shards_are_merged_into_one_run_again() {
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    sweep(Path::new(&path("whole.csv")), "");
    let parts: Vec<String> = (1..=3).map(|i| path(&format!("part-{i}.csv"))).collect();
    let mut sizes = Vec::new();
    for (i, part) in (1..).zip(&parts) {
        let part = Path::new(part);
        sweep(part, &format!("--shard {i}/3"));
        sizes.push(read_file(part).unwrap().len());
    }
    assert_eq!(sizes.iter().sum::<usize>(), 108);
    assert!(sizes.iter().all(|n| *n > 0), "{sizes:?}");
    let merge = |parts: &[String]| {
        swapmeet(&["merge", "--force", "--out", &path("merged.csv")]).args(parts).output().unwrap()
    };
    assert_eq!(merge(&parts).status.code(), Some(0));
    let sorted = |name: &str| {
        let mut rows = timeless_rows(Path::new(&path(name)));
        rows.sort_by(|a, b| a.case().cmp(&b.case()));
        rows
    };
    assert_eq!(sorted("merged.csv"), sorted("whole.csv"));
    let output = merge(&parts[..2]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("of 108 cases are missing: nothing was written")
    );
    let output = merge(&[&parts[..], &parts[..1]].concat());
    assert!(String::from_utf8(output.stderr).unwrap().contains("expected every case once"));
    assert_eq!(output.status.code(), Some(2));
}

/// If the experiment is not given, the order of cases is unknown, so rows stay in the order of the
/// files.
#[test]
fn merged_rows_are_in_the_order_of_the_experiment_or_the_files() {
    let dir = tempdir().unwrap();
    let go = |args: &[&str]| {
        let output = swapmeet(args).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    std::fs::write(
        dir.path().join("e.toml"),
        "topologies = [\"ring:5\", \"ring:6\"]\nalgorithms = [\"gen\", \"pairwise\"]\n",
    )
    .unwrap();
    go(&["run", "e.toml", "--quiet", "--out", "whole.csv"]);
    for (topology, file) in [("ring:5", "b.csv"), ("ring:6", "a.csv")] {
        go(&["run", "e.toml", "--quiet", "--topology", topology, "--out", file]);
    }
    let (text, message) = go(&["merge", "a.csv", "b.csv", "--out", "-"]);
    let remark = "the rows are in the order of the files: use --experiment FILE for the order of the experiment";
    assert_eq!(message, format!("4 rows\n{remark}\n"));
    let topologies: Vec<String> = swapmeet_results::read_records("-", &text)
        .unwrap()
        .into_iter()
        .map(|r| r.topology)
        .collect();
    assert_eq!(topologies, ["ring:6", "ring:6", "ring:5", "ring:5"]);
    assert!(!dir.path().join("-").exists());
    let (_, message) =
        go(&["merge", "a.csv", "b.csv", "--experiment", "e.toml", "--out", "all.csv"]);
    assert_eq!(message, "4 rows in all.csv\n");
    let place = |name: &str| timeless_rows(&dir.path().join(name));
    assert_eq!(place("all.csv"), place("whole.csv"));
}

/// `merge` reads files twice. A pipe cannot be read twice, so its content is copied first.
#[test]
fn a_shard_from_a_pipe_can_be_merged() {
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for part in ["1/2", "2/2"] {
        sweep(&path(&format!("{}.csv", &part[..1])), &format!("--shard {part}"));
    }
    let merge = |second: &str, out: &str, piped: Vec<u8>| {
        let mut command = swapmeet_process(&["merge", "1.csv", second, "--out", out]);
        command.current_dir(dir.path()).write_stdin(piped).assert().success();
        std::fs::read(path(out)).unwrap()
    };
    let piped = merge("/dev/stdin", "piped.csv", std::fs::read(path("2.csv")).unwrap());
    assert!(piped == merge("2.csv", "filed.csv", Vec::new()));
}

#[test]
fn slurm_chooses_the_shard() {
    let run = |vars: &[(&str, &str)]| {
        let mut command = swapmeet_process(&["run", "--quiet", "--out", "-", "--shard", "auto"]);
        command.args(words(SWEEP)).envs(vars.iter().copied()).output().unwrap()
    };
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for task in ["3", "4"] {
        let output = run(&[
            ("SLURM_ARRAY_TASK_ID", task),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
        ]);
        for line in String::from_utf8(output.stdout).unwrap().lines().skip(1) {
            *seen.entry(line.split(",ok,").next().unwrap().to_owned()).or_default() += 1;
        }
    }
    assert!(seen.len() > 50 && seen.values().all(|n| *n == 1));
    let output_of = |vars: &[(&str, &str)]| String::from_utf8(run(vars).stderr).unwrap();
    assert!(output_of(&[]).starts_with(
        "error: --shard auto: this process is not a task of a parallel job or an array"
    ));
    assert!(output_of(&[("PBS_ARRAY_INDEX", "2")]).contains("expected --shard auto/N"));
    let holes = [
        ("SLURM_ARRAY_TASK_ID", "9"),
        ("SLURM_ARRAY_TASK_COUNT", "2"),
        ("SLURM_ARRAY_TASK_MIN", "3"),
    ];
    assert!(output_of(&holes).contains("an array must number its tasks one by one"));
    // With --array=0,2,3 or --array=0-6:2, a number is missing. The first task must find this, too.
    for (task, last, step) in [("0", "3", "1"), ("2", "3", "1"), ("0", "6", "2")] {
        let count = if step == "1" { "3" } else { "4" };
        let vars =
            ["ID", "COUNT", "MIN", "MAX", "STEP"].map(|name| format!("SLURM_ARRAY_TASK_{name}"));
        let vars: Vec<(&str, &str)> =
            vars.iter().map(String::as_str).zip([task, count, "0", last, step]).collect();
        assert!(output_of(&vars).contains("an array must number its tasks one by one"), "{vars:?}");
    }
}

#[test]
fn a_shard_does_not_resume_the_file_of_another() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("part.csv");
    let run =
        ["run", "--quiet", "--resume", "--out", out.to_str().unwrap(), "--topology", "ring:5"];
    let run = [&run[..], &["--algorithm", "gen", "--algorithm", "pairwise", "--shard"]].concat();
    swapmeet(&run).arg("1/2").assert().success();
    let message = refused(&[&run[..], &["2/2"]].concat());
    let expected = "row 1 belongs to another shard: give each shard its own --out";
    assert_eq!(message, format!("error: {}: {expected}\n", out.display()));
}
