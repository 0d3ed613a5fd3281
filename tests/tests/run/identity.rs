//! `--resume` accepts only rows with the same inputs, machine, build and version.

use crate::support::{compile_c, rows, swapmeet};
use std::path::Path;
use swapmeet_results::read_file;
use swapmeet_tests::project;
use tempfile::tempdir;

#[test]
fn a_changed_file_is_another_experiment() {
    let dir = tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command =
            swapmeet(&["run", "--quiet", "--algorithm", "gen", "--topology", "graph:g.txt"]);
        command.args(["--workload", "matrix:m.csv"]).args(more).current_dir(dir.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    std::fs::write(dir.path().join("g.txt"), "0 1\n1 2\n").unwrap();
    std::fs::write(dir.path().join("m.csv"), "0,1,1\n1,0,1\n1,1,0\n").unwrap();
    assert_eq!(run(&["--out", "a.csv"]), (Some(0), String::new()));
    let rows = read_file(&dir.path().join("a.csv")).unwrap();
    let (inputs, note) = (rows[0].inputs.as_str(), rows[0].note.as_str());
    assert!(inputs.starts_with("g.txt=sha256:") && inputs.contains(",m.csv=sha256:"), "{inputs}");
    assert!(!note.contains("sha256"), "{note}");
    assert_eq!(run(&["--out", "a.csv", "--resume"]), (Some(0), String::new()));
    std::fs::write(dir.path().join("m.csv"), "0,1,1\n1,0,1\n1,1,5\n").unwrap();
    let (status, message) = run(&["--out", "a.csv", "--resume"]);
    assert_eq!(status, Some(2));
    assert!(
        message.contains("row 1 belongs to another experiment: its inputs is `g.txt=sha256:"),
        "{message}"
    );
    run(&["--out", "b.csv", "--seed", "43"]);
    std::fs::write(dir.path().join("g.txt"), "0 1\n1 2\n2 0\n").unwrap();
    let output = swapmeet(&["merge", "a.csv", "b.csv", "--out", "c.csv"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("their file of `m.csv` is `sha256:"));
}

fn taken_up(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = swapmeet(&["run", "--quiet", "--out", "rows.csv"]);
    let output = command.args(args).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Machines with a cost of 2 and of 22 are different, although the text `2` is the beginning of
/// `22`.
#[test]
fn a_machine_with_other_costs_is_another_machine() {
    let dir = tempdir().unwrap();
    let experiment = |startup: &str| {
        let text = format!(
            "topologies = [\"ring:5\"]\nalgorithms = [\"gen\"]\nmachines = [\"fast\"]\n[machine.fast]\nstartup_us = {startup}\n"
        );
        std::fs::write(dir.path().join("e.toml"), text).unwrap();
    };
    experiment("22");
    assert_eq!(taken_up(dir.path(), &["e.toml"]).0, Some(0));
    experiment("2");
    let (status, message) = taken_up(dir.path(), &["e.toml", "--resume"]);
    assert_eq!(status, Some(2));
    let differs = "its machine_definition is `free:startup_us=22`, here `free:startup_us=2`";
    assert!(
        message.contains(&format!("row 1 belongs to another experiment: {differs}")),
        "{message}"
    );
    experiment("22.0");
    assert_eq!(
        taken_up(dir.path(), &["e.toml", "--resume"]).0,
        Some(0),
        "another spelling of the same"
    );
}

#[test]
fn rows_of_a_file_with_any_name_are_resumed() {
    let dir = tempdir().unwrap();
    std::fs::write(dir.path().join("a; b is sha256:.csv"), "0,1\n1,0\n").unwrap();
    let args =
        ["--topology", "ring:2", "--algorithm", "gen", "--workload", "matrix:a; b is sha256:.csv"];
    assert_eq!(taken_up(dir.path(), &args), (Some(0), String::new()));
    assert_eq!(
        taken_up(dir.path(), &[&args[..], &["--resume"]].concat()),
        (Some(0), String::new())
    );
}

/// If a plugin was built again, it has the same name and version, but may behave differently.
#[test]
fn rows_of_two_builds_are_not_mixed() {
    let dir = tempdir().unwrap();
    let source = std::fs::read_to_string(project("plugins/ring-c/ring.c")).unwrap();
    let build = |title: &str| {
        let file = dir.path().join("ring.c");
        std::fs::write(&file, source.replace("by passing everything", title)).unwrap();
        compile_c(file.to_str().unwrap(), dir.path(), "ring", &[])
    };
    let Some(plugin) = build("once") else { return };
    let args =
        ["--topology", "ring:5", "--algorithm", "c-ring", "--plugin-dir", plugin.to_str().unwrap()];
    assert_eq!(taken_up(dir.path(), &args), (Some(0), String::new()));
    std::fs::copy(dir.path().join("rows.csv"), dir.path().join("first.csv")).unwrap();
    assert_eq!(
        taken_up(dir.path(), &[&args[..], &["--resume"]].concat()),
        (Some(0), String::new())
    );
    build("again").unwrap();
    let (status, message) = taken_up(dir.path(), &[&args[..], &["--resume"]].concat());
    assert_eq!(status, Some(2));
    assert!(
        message.contains("row 1 belongs to another experiment: its plugin_digest is `sha256:"),
        "{message}"
    );

    std::fs::remove_file(dir.path().join("rows.csv")).unwrap();
    taken_up(dir.path(), &args);
    let go = |args: &[&str]| swapmeet(args).current_dir(dir.path()).output().unwrap();
    let merged = go(&["merge", "first.csv", "rows.csv", "--out", "all.csv"]);
    assert_eq!(merged.status.code(), Some(2));
    let message = String::from_utf8_lossy(&merged.stderr).into_owned();
    assert!(message.contains(": their build of `"), "{message}");
    let compared = String::from_utf8(go(&["compare", "first.csv", "rows.csv"]).stdout).unwrap();
    assert_eq!(compared.matches("\nc-ring (ring-c 0.1.0, sha256:").count(), 2, "{compared}");
}

/// The code of an earlier version may compute different values, so `--resume` adds no rows to those
/// of that version.
#[test]
fn rows_of_an_earlier_version_are_read_but_not_resumed() {
    let dir = tempdir().unwrap();
    let args = ["--topology", "ring:5", "--algorithm", "gen", "--algorithm", "pairwise"];
    taken_up(dir.path(), &args);
    let text = std::fs::read_to_string(dir.path().join("rows.csv")).unwrap();
    let promised: String =
        text.lines().map(|l| l.split(',').take(37).collect::<Vec<_>>().join(",") + "\n").collect();
    std::fs::write(dir.path().join("rows.csv"), promised).unwrap();
    for args in [
        &["compare", "rows.csv"][..],
        &["merge", "rows.csv", "--out", "all.csv"],
        &["report", "rows.csv", "--out", "r.html"],
    ] {
        swapmeet(args).current_dir(dir.path()).assert().success();
    }
    let (status, message) = taken_up(dir.path(), &[&args[..], &["--resume"]].concat());
    assert_eq!(status, Some(2));
    assert!(message.contains("its columns are not those of this version"), "{message}");
}

#[test]
fn specs_have_one_canonical_form() {
    let of = |algorithm: &str, machine: &str| {
        let row =
            rows(&["--topology", "torus:4x4", "--algorithm", algorithm, "--machine", machine])
                .remove(0);
        (row.algorithm, row.machine)
    };
    let plain = ("four-stage".to_owned(), "paragon".to_owned());
    assert_eq!(of("four-stage", "paragon"), plain);
    assert_eq!(
        of("four-stage:stall=corrected,start=printed", "paragon:startup_us=75,ports=1"),
        plain
    );
    let other = of("four-stage:start=printed,stall=printed", "paragon:ports=2,startup_us=220");
    assert_eq!(
        other,
        ("four-stage:stall=printed".to_owned(), "paragon:startup_us=220,ports=2".to_owned())
    );
}
