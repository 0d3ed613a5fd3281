//! Commands overwrite existing files only with `--force`, and never overwrite their inputs.

use super::help::{commands, output_of};
use crate::support::swapmeet;
use std::path::Path;
use std::process::Output;
use tempfile::{TempDir, tempdir};

/// A command that writes a file: its name, its arguments, the value of `--out`, the file that it
/// writes, and an input file that a user could pass as output by mistake.
const WRITING: [(&str, &str, &str, &str, Option<&str>); 14] = [
    ("links", "--topology graph:g.txt --algorithm linear", "links.csv", "links.csv", Some("g.txt")),
    (
        "place",
        "--topology graph:g.txt --mesh a:-1 --job uniform:64,over=a --algorithm linear",
        "places.csv",
        "places.csv",
        Some("g.txt"),
    ),
    ("run", "e.toml --quiet", "new.csv", "new.csv", Some("e.toml")),
    ("merge", "rows.csv", "all.csv", "all.csv", Some("rows.csv")),
    ("import", "osu.txt --name cluster --ranks 4", "measured.csv", "measured.csv", Some("osu.txt")),
    ("fit", "pings.csv --name cluster", "machine.toml", "machine.toml", Some("pings.csv")),
    ("tune", "rows.csv --format openmpi", "rules.txt", "rules.txt", Some("rows.csv")),
    (
        "export",
        "--format goal --topology graph:g.txt --algorithm linear",
        "linear.goal",
        "linear.goal",
        Some("g.txt"),
    ),
    (
        "trace",
        "--format html --topology graph:g.txt --algorithm linear",
        "page.html",
        "page.html",
        Some("g.txt"),
    ),
    ("plot", "rows.csv --format svg", "figure.svg", "figure.svg", Some("rows.csv")),
    ("report", "rows.csv", "page.html", "page.html", Some("rows.csv")),
    ("reproduce", "tpu-v4", "pages", "pages/tpu-v4.md", None),
    ("man", "", "pages", "pages/swapmeet-run.1", None),
    // The dashboard refuses an existing file before it starts. Other tests cover its files.
    ("tui", "e.toml", "new.csv", "new.csv", None),
];

fn folder() -> TempDir {
    let dir = tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("e.toml", "topologies = [\"ring:4\"]\nalgorithms = [\"pairwise\", \"bruck\"]\n");
    write(
        "osu.txt",
        "# OSU MPI All-to-All Personalized Exchange Latency Test v7.4\n# Size       Avg Latency(us)\n64      4.31\n",
    );
    write("pings.csv", "bytes,time_us\n1,2.1\n1024,3.2\n65536,70.5\n");
    write("g.txt", "0 1\n1 2\n");
    std::fs::create_dir(dir.path().join("pages")).unwrap();
    swapmeet(&["run", "e.toml", "--quiet", "--out", "rows.csv"])
        .current_dir(dir.path())
        .assert()
        .success();
    dir
}

fn written(folder: &Path, command: &str, args: &str, out: &str, force: bool) -> Output {
    let mut program = swapmeet(&[command]);
    program.args(args.split_whitespace()).args(["--out", out]).args(force.then_some("--force"));
    program.current_dir(folder).output().unwrap()
}

#[test]
fn every_command_with_an_output_file_is_tested() {
    let writes = |command: &String| output_of(&[command, "--help"]).contains("--out <");
    let mut writing: Vec<String> = commands().into_iter().filter(writes).collect();
    let mut tried = WRITING.map(|(command, ..)| command.to_owned());
    writing.sort();
    tried.sort();
    assert_eq!(writing, tried);
}

#[test]
fn existing_files_are_overwritten_only_with_force() {
    let dir = folder();
    for (command, args, out, file, _) in WRITING {
        let path = dir.path().join(file);
        std::fs::write(&path, "notes to myself").unwrap();
        let output = written(dir.path(), command, args, out, false);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes to myself", "{command}");
        if command == "tui" {
            continue;
        }
        assert!(
            message.contains(&format!("{file}: the file exists already, with 15 bytes: ")),
            "{command}: {message}"
        );
        let advice = if command == "run" { "--resume continues it, " } else { "" };
        let advice = format!("{advice}--force overwrites it");
        assert!(message.trim_end().ends_with(&advice), "{command}: {message}");
        let output = written(dir.path(), command, args, out, true);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_ne!(std::fs::read_to_string(&path).unwrap(), "notes to myself", "{command}");
        // An existing file may be a result even if it is empty.
        std::fs::remove_dir_all(dir.path().join("pages")).unwrap();
        std::fs::create_dir(dir.path().join("pages")).unwrap();
        std::fs::write(&path, "").unwrap();
        let output = written(dir.path(), command, args, out, false);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            message.contains("the file exists already, with 0 bytes: "),
            "{command}: {message}"
        );
        std::fs::remove_dir_all(dir.path().join("pages")).unwrap();
        std::fs::create_dir(dir.path().join("pages")).unwrap();
    }
}

#[test]
fn inputs_are_never_overwritten() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("m.csv"), "0,1,1\n1,0,1\n1,1,0\n").unwrap();
    std::os::unix::fs::symlink("m.csv", path("link.csv")).unwrap();
    let of_each_command = WRITING.into_iter().filter_map(|(command, args, _, _, read)| {
        let read = read?;
        Some((command, args, read, read))
    });
    let others = [
        ("merge", "rows.csv --experiment e.toml", "e.toml", "e.toml"),
        ("report", "m.csv rows.csv", "./rows.csv", "rows.csv"),
        ("run", "e.toml --topology ring:3 --workload matrix:m.csv", "link.csv", "m.csv"),
        ("run", "e.toml --topology graph:g.txt --shard 1/2", "g.txt", "g.txt"),
    ];
    for (command, args, out, read) in of_each_command.chain(others) {
        let before = std::fs::read(path(read)).unwrap();
        let output = written(dir.path(), command, args, out, true);
        let expected =
            format!("error: --out {out}: it is an input of this command: give another --out\n");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = message.split_inclusive('\n').filter(|line| !line.starts_with("machine: "));
        let message: String = lines.collect();
        assert_eq!((output.status.code(), message), (Some(2), expected), "{command} {args}");
        assert!(std::fs::read(path(read)).unwrap() == before, "{command} {args}");
    }
}

#[test]
fn a_dash_stands_for_standard_output() {
    let dir = folder();
    for (command, args, out, file, _) in WRITING {
        if out != file || command == "tui" {
            continue;
        }
        let output = written(dir.path(), command, args, "-", false);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{command}: {message}");
        assert!(!dir.path().join("-").exists(), "{command}");
    }
}
