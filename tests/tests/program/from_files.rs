//! `schedule:file=X.json`: what any tool hands over is proved, priced and named in faults as what a plugin plans itself.

use crate::support::{rows, swapmeet};
use swapmeet_results::{Record, Status};
use tempfile::tempdir;

/// The row of a schedule in a file.
fn row(topology: &str, workload: &str, file: &str) -> Record {
    let algorithm = format!("schedule:file={file}");
    rows(&["--topology", topology, "--workload", workload, "--algorithm", &algorithm]).remove(0)
}

/// What it says of where the time goes and what moved, but for who planned it and for how many nodes: a file has them all.
fn figures(row: &Record) -> Vec<String> {
    let planner = ["experiment", "algorithm", "plugin", "plugin_version", "plugin_digest", "inputs"];
    let skipped = [&planner[..], &["proved_on", "plan_ms", "wall_ms"]].concat();
    let named = swapmeet_results::columns().zip(row.fields());
    named.filter(|(name, _)| !skipped.contains(name)).map(|(name, field)| format!("{name}={field}")).collect()
}

#[test]
fn an_exported_schedule_comes_back_as_the_same_row() {
    let dir = tempdir().unwrap();
    for (topology, algorithm, workload) in [
        ("torus:4x4", "suh-shin", "uniform:64"),
        ("fully-connected:5", "bruck", "uniform:8"),
        ("ring:8", "torus-broadcast", "broadcast/uniform:64"),
        ("hypercube:3", "hypercube-scatter", "scatter/uniform:8,root=5"),
        ("mesh:3x3", "linear", "permutation/transpose-2d:8"),
    ] {
        let file = dir.path().join(format!("{algorithm}.json"));
        let file = file.to_str().unwrap();
        let args =
            ["export", "--format", "json", "--topology", topology, "--algorithm", algorithm, "--workload", workload];
        swapmeet(&args).args(["--out", file]).assert().success();
        let planned = rows(&["--topology", topology, "--workload", workload, "--algorithm", algorithm]).remove(0);
        let read = row(topology, workload, file);
        assert_eq!(planned.status, Status::Ok, "{}", planned.reason);
        assert_eq!(figures(&read), figures(&planned), "{algorithm}");
        assert!(read.inputs.contains("sha256:"), "{}", read.inputs);
    }
}

const TOLD_BY_HAND: &str = r#"{"schedule":{"format":"swapmeet-schedule","version":1,"nodes":3,"collective":"allgather"},
"events":[
{"step":1,"from":0,"to":1,"copy":true,"blocks":[{"origins":[[0,0]]}]},
{"step":1,"from":1,"to":2,"copy":true,"blocks":[{"origins":[[1,1]]}],"label":"block 1 to its right"},
{"step":1,"from":2,"to":0,"copy":true,"blocks":[{"origins":[[2,2]]}]},
{"step":2,"from":0,"to":1,"copy":true,"blocks":[{"origins":[[2,2]]}]},
{"step":2,"from":1,"to":2,"copy":true,"blocks":[{"origins":[[0,0]]}],"label":"block 0, second hop"},
{"step":2,"from":2,"to":0,"copy":true,"blocks":[{"origins":[[1,1]]}]}
]}
"#;

#[test]
fn a_schedule_told_by_hand_is_proved_and_its_faults_are_in_its_own_words() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("hand.json");
    let told = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let row = row("ring:3", "allgather/uniform:8", file.to_str().unwrap());
        (row.status, row.reason)
    };
    assert_eq!(told(TOLD_BY_HAND), (Status::Ok, String::new()));
    for (from, to, status, why) in [
        (
            "\"step\":2,\"from\":1,\"to\":2",
            "\"step\":1,\"from\":1,\"to\":2",
            Status::Error,
            "hand.json: step 1 comes after step 2 at line 7",
        ),
        ("[[1,1]]}],\"label\"", "[[0,0]]}],\"label\"", Status::Invalid, "[block 1 to its right]"),
        (
            "\"from\":2,\"to\":0,\"copy\":true,\"blocks\":[{\"origins\":[[1,1]]}]",
            "\"from\":2,\"to\":0,\"copy\":true,\"blocks\":[]",
            Status::Invalid,
            "was never delivered to node 0",
        ),
        (
            "[[2,2]]",
            "[[2,3]]",
            Status::Error,
            "a run from 2 to 3, expected an origin below 3, the last not below the first at line 5",
        ),
        (
            "\"to\":1",
            "\"to\":9",
            Status::Invalid,
            "receiver 9 is unknown, the schedule's grid has nodes 0 to 2 [step 1 of the file]",
        ),
        ("\"nodes\":3", "\"nodes\":4", Status::Unsupported, "the file's schedule is for 4 nodes, and there are 3"),
        ("allgather", "alltoall", Status::Unsupported, "the file's schedule does `alltoall`, not `allgather`"),
        ("\"version\":1", "\"version\":7", Status::Error, "its version is 7, expected 1 at line 1"),
        ("]}\n", "", Status::Error, "hand.json: EOF while parsing"),
    ] {
        assert!(TOLD_BY_HAND.contains(from), "{from}");
        let (found, reason) = told(&TOLD_BY_HAND.replacen(from, to, 1));
        assert!(found == status && reason.contains(why), "{from} -> {to}: {found}: {reason}");
    }
}

/// A file is known by its digest: another content is another case, which is not taken up for it.
#[test]
fn a_file_that_has_changed_is_another_case() {
    let dir = tempdir().unwrap();
    let (file, out) = (dir.path().join("hand.json"), dir.path().join("rows.csv"));
    std::fs::write(&file, TOLD_BY_HAND).unwrap();
    let algorithm = format!("schedule:file={}", file.display());
    let args = [
        "run",
        "--topology",
        "ring:3",
        "--workload",
        "allgather/uniform:8",
        "--algorithm",
        &algorithm,
        "--resume",
        "--out",
    ];
    swapmeet(&args).arg(&out).assert().success();
    swapmeet(&args).arg(&out).assert().success();
    std::fs::write(&file, TOLD_BY_HAND.replace("second hop", "last hop")).unwrap();
    let changed = swapmeet(&args).arg(&out).output().unwrap();
    assert_eq!(changed.status.code(), Some(2), "{}", String::from_utf8_lossy(&changed.stderr));
    let missing = swapmeet(&["run", "--topology", "ring:3", "--algorithm", "schedule:file=no.json"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("`no.json` can't be read"));
}
