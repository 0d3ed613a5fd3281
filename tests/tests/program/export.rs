//! `export`: formats carried out by the programs that they are for, where those are to be had, and real ranks under MPI.

use crate::support::{refused, swapmeet, tools};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use swapmeet_bridges::{export, import, tune};
use swapmeet_results::{Status, Verified, read_file};
use swapmeet_tests::project;
use tempfile::{TempDir, tempdir};

/// Exports to `out`; `false` where the algorithm says that it can't run there, or only moves byte counts.
fn exports(format: &str, case: [&str; 3], more: &[&str], out: &Path) -> bool {
    let [topology, algorithm, workload] = case;
    let args = ["export", "--format", format, "--topology", topology, "--algorithm", algorithm, "--workload", workload];
    let output = swapmeet(&args).args(more).arg("--out").arg(out).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if out.exists() => true,
        Some(0) => {
            assert!(said.contains("unsupported"), "{case:?}: {said}");
            false
        }
        Some(2) if said.contains("it moves byte counts") => false,
        other => panic!("{case:?}: {other:?}: {said}"),
    }
}

/// Who reads docs/bridges.md knows of every format, and of none that isn't there.
#[test]
fn the_docs_have_every_format_of_other_programs_and_no_other() {
    let page = std::fs::read_to_string(project("docs/bridges.md")).unwrap();
    let documented = |heading: &str| -> BTreeSet<String> {
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
        let table = section.split("\n\n").find(|table| table.starts_with("| format |")).unwrap();
        table.lines().skip(2).map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
    };
    let names = |all: &[&str]| -> BTreeSet<String> { all.iter().map(|name| (*name).to_owned()).collect() };
    let out: Vec<&str> = export::FORMATS.iter().map(|format| format.name).chain([export::JSON.0]).collect();
    assert_eq!(documented("A schedule out"), names(&out));
    assert_eq!(documented("Measurements in"), names(&import::FORMATS.each_ref().map(|format| format.name)));
    assert_eq!(documented("A decision table"), names(&tune::LIBRARIES.each_ref().map(|library| library.name)));
}

/// The figures that LogGOPSim prints of a text are those that its formula gives (`docs/bridges.md`): 2 x (o + L + (s - 1) G + o).
#[test]
fn loggopsim_runs_what_is_exported_for_it() {
    if !tools::has(&["txt2bin", "LogGOPSim"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let (text, binary) = (dir.path().join("a.goal"), dir.path().join("a.bin"));
    assert!(exports("goal", ["fully-connected:3", "pairwise", "uniform:100"], &[], &text));
    assert!(Command::new("txt2bin").arg("-i").arg(&text).arg("-o").arg(&binary).status().unwrap().success());
    let printed = Command::new("LogGOPSim").arg("-f").arg(&binary).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let times: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("Host ")?.split(": ").nth(1)).collect();
    assert_eq!(times, ["12188"; 3], "{printed}");
}

#[test]
fn what_is_there_is_written_over_only_when_asked() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("s.goal");
    let out = out.to_str().unwrap();
    let case = ["fully-connected:3", "pairwise", "uniform:1"];
    assert!(exports("goal", case, &[], Path::new(out)));
    let args = ["export", "--format", "goal", "--topology", "ring:3", "--algorithm", "ring", "--out", out];
    assert!(refused(&args).contains("it is there already, with "));
    assert!(exports("goal", case, &["--force"], Path::new(out)));
    let folder = ["export", "--format", "mpi", "--topology", "ring:3", "--algorithm", "ring"];
    assert!(refused(&folder).contains("this format is several files: give --out FOLDER"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
}

/// The exported JSON is what `trace` prints.
#[test]
fn json_is_the_trace() {
    let case = ["--topology", "mesh:2x3", "--algorithm", "pex-gen", "--workload", "uniform:8"];
    let exported = swapmeet(&["export", "--format", "json"]).args(case).output().unwrap().stdout;
    let traced = swapmeet(&["trace", "--format", "json"]).args(case).output().unwrap().stdout;
    assert!(!traced.is_empty() && exported == traced);
}

/// The program for real ranks, compiled once; `None` where there is no MPI.
fn replay(folder: &TempDir) -> Option<std::path::PathBuf> {
    if !tools::has(&["mpicc", "mpirun"]) {
        return None;
    }
    let any = folder.path().join("any");
    assert!(exports("mpi", ["ring:2", "ring", "uniform:1"], &[], &any));
    let source = std::fs::read_to_string(any.join("replay.c")).unwrap();
    assert!(source.lines().count() < 500);
    let program = folder.path().join("replay");
    let mut cc = Command::new("mpicc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o"])
        .arg(&program)
        .arg(any.join("replay.c"));
    let output = cc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Runs a schedule on so many ranks; how it ended, and what it said.
fn ranks(program: &Path, count: u64, schedule: &Path, more: &[&str]) -> (bool, String) {
    let mut mpirun = Command::new("mpirun");
    // More ranks than cores: who waits lets others run.
    mpirun.args(["--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n"]);
    mpirun.arg(count.to_string()).arg(program).arg(schedule).args(more);
    let output = mpirun.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Every bundled algorithm that moves blocks, for every collective that it does, on the first of these networks that it takes: the C program looks at
/// every byte of every block at its destination, by what the collective asks for, not by what swapmeet says of the schedule.
#[test]
fn all_bundled_algorithms_on_blocks_move_real_bytes() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    let list = swapmeet(&["list", "algorithms", "--format", "json"]).output().unwrap().stdout;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let mut ran = Vec::new();
    for algorithm in list.as_array().unwrap() {
        let name = algorithm["name"].as_str().unwrap();
        for collective in algorithm["collectives"].as_str().unwrap().split_whitespace() {
            let workload = match collective {
                "permutation" => "permutation/transpose-2d:48".to_owned(),
                // Blocks have contents; sums have not, yet.
                "reduce" | "allreduce" | "reduce-scatter" => continue,
                other => format!("{other}/uniform:48"),
            };
            let networks =
                [("hypercube:3", 8), ("ring:8", 8), ("torus:4x4", 16), ("mesh:2x4", 8), ("rdn:1(ring:2)", 8)];
            for (network, count) in networks {
                let folder = dir.path().join(format!("{}-{name}-{collective}", ran.len()));
                if !exports("mpi", [network, name, &workload], &[], &folder) {
                    continue;
                }
                let more = ["--warmup", "0", "--repetitions", "1"];
                let (ended_well, said) = ranks(&program, count, &folder.join("schedule.txt"), &more);
                assert!(
                    ended_well && said.contains("every byte verified"),
                    "{name}, {collective} on {network}: {said}"
                );
                ran.push(format!("{name} {collective}"));
                break;
            }
        }
    }
    assert!(ran.len() >= 45, "{} ran: {ran:?}", ran.len());
}

/// From 2 ranks to 16; sizes that differ pair by pair; blocks in segments, padded.
#[test]
fn measured_rows_are_rows_like_others() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    for (network, count, algorithm, workload, machine) in [
        ("fully-connected:2", 2, "pairwise", "uniform:1KiB", "paragon"),
        ("fully-connected:5", 5, "bruck", "irregular:dist=exponential,mean=64", "paragon"),
        ("torus:4x4", 16, "torus-broadcast", "broadcast/uniform:65", "paragon:ports=all"),
    ] {
        let folder = dir.path().join(count.to_string());
        assert!(exports("mpi", [network, algorithm, workload], &["--machine", machine], &folder));
        let (rows, steps) = (folder.join("rows.csv"), folder.join("steps.csv"));
        let more = [
            "--repetitions",
            "3",
            "--name",
            "here",
            "--out",
            rows.to_str().unwrap(),
            "--steps",
            steps.to_str().unwrap(),
        ];
        let (ended_well, said) = ranks(&program, count, &folder.join("schedule.txt"), &more);
        assert!(ended_well, "{said}");
        let rows = read_file(&rows).unwrap();
        assert_eq!(rows.iter().map(|row| row.repetition).collect::<Vec<_>>(), [0, 1, 2]);
        for row in &rows {
            assert_eq!((row.status, row.verified, row.model.as_str()), (Status::Ok, Verified::Bytes, "measured"));
            assert_eq!((row.machine.as_str(), row.nodes, row.workload.as_str()), ("measured:here", count, workload));
            assert!(row.time_us.is_some_and(|time| time > 0.0));
        }
        let lines = std::fs::read_to_string(&steps).unwrap().lines().count() as u64;
        assert_eq!(Some(lines - 1), rows[0].steps);
    }
}

/// A file that is not what was exported: said with who and what, before anybody waits for ever. Each edit is of rank 0's lines, or the first of all.
#[test]
fn corrupt_schedules_are_caught() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    let folder = dir.path().join("bruck");
    assert!(exports("mpi", ["fully-connected:4", "bruck", "uniform:16"], &[], &folder));
    let sound = std::fs::read_to_string(folder.join("schedule.txt")).unwrap();
    for (from, to, why) in [
        (
            "s 1 move 0 1,3 0",
            "s 1 move 1 1,3 0",
            "step 1: rank 0 sends rank 1 block 1 -> 1 (segment 0), which it does not hold",
        ),
        (
            "s 2 move 0,3 2 0",
            "s 2 move 0,0 2 0",
            "step 2: rank 0 sends rank 2 block 0 -> 2 (segment 0), which it does not hold",
        ),
        (
            "r 2 move 1-2 0 0",
            "r 2 move 2-3 0 0",
            "rank 0 and rank 2 disagree on which blocks go between them, and when",
        ),
        ("r 3 move 3 0,2 0", "r 2 move 3 0,2 0", "waits for"),
        ("r 3 move 3 0,2 0", "r 3 move 3 0,9 0", "expected a number below 4, found `9 0`"),
        ("t 2", "t 1", "expected a later step"),
        ("t 1", "x 1", "expected `t STEP`, `s PEER BLOCKS`, `r PEER BLOCKS` or `end`"),
        ("swapmeet-mpi 1", "swapmeet-mpi 2", "expected version 1"),
        (
            "collective alltoall",
            "collective alltoano",
            "expected alltoall, broadcast, scatter, gather, allgather or permutation",
        ),
        ("collective alltoall", "collective allgather", "expected"),
        ("end\nrank 1", "end\nrank 3", "expected this rank's lines"),
    ] {
        assert!(sound.contains(from), "{from}");
        let file = folder.join("corrupt.txt");
        std::fs::write(&file, sound.replacen(from, to, 1)).unwrap();
        let (ended_well, said) = ranks(&program, 4, &file, &["--warmup", "0", "--repetitions", "1"]);
        assert!(!ended_well && said.contains(why), "{from} -> {to}: {said}");
    }
    let half = folder.join("half.txt");
    std::fs::write(&half, &sound[..sound.len() - 30]).unwrap();
    let (ended_well, said) = ranks(&program, 4, &half, &[]);
    assert!(!ended_well && said.contains("the file is cut off"), "{said}");
    let (ended_well, said) = ranks(&program, 3, &folder.join("schedule.txt"), &[]);
    assert!(!ended_well && said.contains("is a schedule of 4 nodes, and there are 3 ranks"), "{said}");
}
