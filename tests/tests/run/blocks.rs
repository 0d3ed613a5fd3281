//! Experiment files whose cases are not all combinations of their lists, and files of different
//! sweeps.

use crate::support::swapmeet;
use std::collections::BTreeSet;
use std::path::Path;
use swapmeet_results::read_file;
use swapmeet_tests::project;
use tempfile::tempdir;

fn cases(rows: &Path) -> Vec<String> {
    let rows = read_file(rows).unwrap();
    rows.iter().map(|row| format!("{} {} {}", row.topology, row.algorithm, row.workload)).collect()
}

#[test]
fn blocks_and_exclusions_select_cases() {
    let dir = tempdir().unwrap();
    let [file, rows] = ["e.toml", "rows.csv"].map(|name| dir.path().join(name));
    let text = "machines = [\"paragon\"]\nworkloads = [\"uniform:64\"]\n\
         exclude = [{ topologies = [\"ring:4\"], algorithms = [\"bruck\"] }]\n\
         [[case]]\ntopologies = [\"ring:4\", \"torus:2x2\"]\nalgorithms = [\"pex\", \"bruck\"]\n\
         [[case]]\ntopologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]\nworkloads = [\"uniform:8..16\"]\n";
    std::fs::write(&file, text).unwrap();
    let run = |args: &[&str], rows: &Path| {
        let args = [&["run", file.to_str().unwrap(), "--quiet", "--force"], args].concat();
        swapmeet(&args).args(["--out", rows.to_str().unwrap()]).assert().success();
        cases(rows)
    };
    let expected = [
        "ring:4 pex uniform:64",
        "torus:2x2 pex uniform:64",
        "torus:2x2 bruck uniform:64",
        "torus:4x4 pex uniform:8",
        "torus:4x4 pex uniform:16",
    ];
    assert_eq!(run(&[], &rows), expected);
    let parts = ["1/2", "2/2"].map(|part| run(&["--shard", part], &dir.path().join("part.csv")));
    let both: BTreeSet<&String> = parts.iter().flatten().collect();
    assert_eq!((both.len(), parts.concat().len()), (5, 5), "{parts:?}");
    assert_eq!(
        run(&["--workload", "uniform:1"], &rows).into_iter().filter(|c| c.contains(":64")).count(),
        0
    );
    std::fs::write(&file, "[[case]]\ntopology = [\"ring:4\"]\n").unwrap();
    let printed = swapmeet(&["run", file.to_str().unwrap()]).assert().code(2);
    let printed = String::from_utf8_lossy(&printed.get_output().stderr).into_owned();
    assert!(
        printed.contains("unknown key `topology`") && printed.contains("topologies"),
        "{printed}"
    );
    for (text, message) in [
        ("[[case]]\n", "the table is empty"),
        ("[[case]]\nalgorithms = [\"pex\"]\n", "nothing to run: give --topology"),
    ] {
        std::fs::write(&file, text).unwrap();
        let run = swapmeet(&["run", file.to_str().unwrap()]).assert().code(2);
        run.stderr(predicates::str::contains(message));
    }
}

/// Two sweeps that have no topology and no algorithm in common are joined. If a shard is missing,
/// this is reported.
#[test]
fn different_sweeps_are_merged() {
    let dir = tempdir().unwrap();
    let run = |name: &str, topology: &str, algorithm: &str| {
        let rows = dir.path().join(name);
        let out = ["--out", rows.to_str().unwrap()];
        swapmeet(&["run", "--quiet", "--topology", topology, "--algorithm", algorithm])
            .args(out)
            .assert()
            .success();
        rows
    };
    let merge = |files: &[&Path]| {
        let mut command = swapmeet(&["merge", "--force", "--out"]);
        command.arg(dir.path().join("all.csv")).args(files).assert()
    };
    let (one, other) = (run("a.csv", "ring:4", "pex"), run("b.csv", "torus:4x4", "bruck"));
    let message = merge(&[&one, &other]).success();
    let message = String::from_utf8_lossy(&message.get_output().stderr).into_owned();
    assert!(message.contains("the files are of 2 sweeps without common cases"), "{message}");
    assert_eq!(cases(&dir.path().join("all.csv")).len(), 2);
    let third = run("c.csv", "ring:4", "bruck");
    merge(&[&one, &other, &third]).code(1);
}

/// The program lists all keys in its message about an unknown key.
#[test]
fn every_key_is_documented() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("e.toml");
    std::fs::write(&file, "zzz = 1\n").unwrap();
    let message = swapmeet(&["run", file.to_str().unwrap()]).assert().code(2);
    let message = String::from_utf8_lossy(&message.get_output().stderr).into_owned();
    let keys: Vec<&str> =
        message.split("expected one of ").nth(1).unwrap().trim().split(", ").collect();
    assert_eq!(keys.len(), 15, "{message}");
    let text = std::fs::read_to_string(project("docs/specs.md")).unwrap();
    for key in keys {
        let forms = [format!("`{key}`"), format!("`[[{key}]]`"), format!("`[{key}.NAME]`")];
        assert!(forms.iter().any(|form| text.contains(form)), "{key}");
    }
}

/// If a `[[case]]` table is added, only its combinations are run, not those of the lists.
#[test]
fn unused_entries_of_lists_are_named() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("e.toml");
    let lists = "topologies = [\"ring:4\", \"ring:8\"]\nalgorithms = [\"pex\", \"bruck\"]\n";
    let remark = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let run = swapmeet(&["run", file.to_str().unwrap(), "--out", "-"]).assert().success();
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        text.lines().find(|line| line.starts_with("remark: no case uses")).map(str::to_owned)
    };
    assert_eq!(remark(lists), None);
    let text = format!("{lists}[[case]]\ntopologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]\n");
    let expected = "remark: no case uses topology `ring:4`, topology `ring:8`, algorithm `bruck` of the lists, because only the combinations of `[[case]]` tables are run, without those of `exclude`";
    assert_eq!(remark(&text).as_deref(), Some(expected));
    let all = format!("{lists}[[case]]\nalgorithms = [\"pex\", \"bruck\"]\n");
    assert_eq!(remark(&all), None);
}
