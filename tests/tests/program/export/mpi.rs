//! Real MPI ranks run exported schedules and check every byte. The ranks refuse changed schedules.

use super::exports;
use crate::support::{swapmeet, tools, words};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use swapmeet_results::{Status, Verified, read_file};
use swapmeet_tests::project;
use tempfile::{TempDir, tempdir};

fn replay(folder: &TempDir) -> Option<PathBuf> {
    compiled_replay(folder, "replay", &[])
}

fn compiled_replay(folder: &TempDir, name: &str, more: &[&str]) -> Option<PathBuf> {
    if !tools::runs_all() || !tools::has(&["mpicc", "mpirun"]) {
        return None;
    }
    let any = folder.path().join("any");
    assert!(exports("mpi", ["ring:2", "ring", "uniform:1"], &[], &any));
    let program = folder.path().join(name);
    mpicc(&any.join("replay.c"), &program, more);
    Some(program)
}

fn mpicc(source: &Path, program: &Path, more: &[&str]) {
    let mut cc = Command::new("mpicc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o"]);
    let output = cc.arg(program).arg(source).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn ranks(program: &Path, count: u64, file: &Path, more: &[&str]) -> (bool, String) {
    let own = tempdir().unwrap();
    let output =
        tools::mpirun(count, own.path()).arg(program).arg(file).args(more).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Each communicator of `MPI_Comm_split` runs the schedule between its own members, at the same
/// time as the others. If a file assigns a rank to no communicator, this is reported.
#[test]
fn communicators_move_real_bytes() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    let topology = "torus:4x4,mesh=dp:4/ep:2/dp:2";
    for (number, (algorithm, workload)) in [
        ("pairwise", "uniform:48,over=ep"),
        ("bruck", "uniform:48,over=dp"),
        ("ring-allreduce", "allreduce/uniform:48,over=dp"),
        ("binomial-broadcast", "broadcast/uniform:48,over=dp,root=3"),
        ("pairwise", "uniform:48,over=size:4"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = dir.path().join(number.to_string());
        assert!(exports("mpi", [topology, algorithm, workload], &[], &folder));
        let file = folder.join("schedule.txt");
        let (is_right, message) = ranks(&program, 16, &file, &["--repetitions", "2"]);
        assert!(is_right, "{algorithm}, {workload}: {message}");
        assert!(message.contains("every byte verified; 2 repetitions"), "{message}");
        let text = std::fs::read_to_string(&file).unwrap();
        let nodes = text.lines().find(|line| line.starts_with("nodes ")).unwrap();
        let (short, _) = nodes.rsplit_once(' ').unwrap();
        std::fs::write(&file, text.replacen(nodes, short, 1)).unwrap();
        let (is_right, message) = ranks(&program, 16, &file, &[]);
        assert!(!is_right && message.contains("with 15 ranks, and there are 16"), "{message}");
    }
}

/// Runs every bundled algorithm that moves blocks, sums or byte counts, once for each of its
/// collectives, on the first network of the list that it supports. The C program checks every byte
/// at its destination. It derives the expected bytes from the collective, not from the schedule.
/// One job runs all schedules with the same number of ranks.
#[test]
fn all_bundled_algorithms_move_real_bytes() {
    let dir = tempdir().unwrap();
    let library = ["-shared", "-fPIC", "-Dmain=replay"];
    let Some(library) = compiled_replay(&dir, "replay.so", &library) else { return };
    let program = dir.path().join("replay_all");
    mpicc(&project("tests/fixtures/replay_all.c"), &program, &["-rdynamic", "-ldl"]);
    let list = swapmeet(&["list", "algorithms", "--format", "json"]).output().unwrap().stdout;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let (mut ran, mut schedules) = (Vec::new(), BTreeMap::<u64, Vec<PathBuf>>::new());
    for algorithm in list.as_array().unwrap() {
        let name = algorithm["name"].as_str().unwrap();
        for collective in algorithm["collectives"].as_str().unwrap().split_whitespace() {
            let workload = match collective {
                "permutation" => "permutation/transpose-2d:48".to_owned(),
                "dispatch" | "combine" => {
                    format!("{collective}/moe:experts=32,top=3,tokens=5,bytes=48")
                }
                other => format!("{other}/uniform:48"),
            };
            let networks = [
                ("hypercube:3", 8),
                ("ring:8", 8),
                ("torus:4x4", 16),
                ("mesh:2x4", 8),
                ("rdn:1(ring:2)", 8),
            ];
            for (network, count) in networks {
                let folder = dir.path().join(format!("{}-{name}-{collective}", ran.len()));
                if !exports("mpi", [network, name, &workload], &[], &folder) {
                    continue;
                }
                schedules.entry(count).or_default().push(folder.join("schedule.txt"));
                ran.push(format!("{name} {collective}"));
                break;
            }
        }
    }
    assert!(ran.len() >= 60, "{} ran: {ran:?}", ran.len());
    for (count, schedules) in schedules {
        let files: Vec<&str> = schedules.iter().map(|file| file.to_str().unwrap()).collect();
        let (ended_well, message) = ranks(&program, count, &library, &files);
        let verified: Vec<&str> =
            message.lines().filter(|line| line.starts_with("every byte verified")).collect();
        assert!(
            ended_well && verified.len() == files.len(),
            "{} of {files:?} are correct: {message}",
            verified.len()
        );
    }
    for (name, moves) in [
        ("two-stage alltoall", "byte counts"),
        ("ring-allreduce allreduce", "sums"),
        ("binomial-reduce reduce", "sums"),
        ("hierarchical-dispatch dispatch", "tokens"),
        ("hierarchical-combine combine", "sums of tokens"),
    ] {
        assert!(ran.iter().any(|ran| ran == name), "{name} moves {moves}: {ran:?}");
    }
}

#[test]
fn measured_rows_can_be_compared_and_merged() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    for (network, count, algorithm, workload, machine) in [
        ("fully-connected:3", 3, "ring-allreduce", "allreduce/uniform:1001", "paragon"),
        ("fully-connected:4", 4, "two-stage", "irregular:dist=exponential,mean=64", "paragon"),
        ("fully-connected:2", 2, "pairwise", "uniform:1KiB", "paragon"),
        ("fully-connected:5", 5, "bruck", "irregular:dist=exponential,mean=64", "paragon"),
        ("torus:4x4", 16, "torus-broadcast", "broadcast/uniform:65", "paragon:ports=all"),
    ] {
        let folder = dir.path().join(count.to_string());
        assert!(exports("mpi", [network, algorithm, workload], &["--machine", machine], &folder));
        let (rows, steps) = (folder.join("rows.csv"), folder.join("steps.csv"));
        let line = format!(
            "--repetitions 3 --name here --out {} --steps {}",
            rows.display(),
            steps.display()
        );
        let more = words(&line);
        let (ended_well, message) = ranks(&program, count, &folder.join("schedule.txt"), &more);
        assert!(ended_well, "{message}");
        let rows = read_file(&rows).unwrap();
        assert_eq!(rows.iter().map(|row| row.repetition).collect::<Vec<_>>(), [0, 1, 2]);
        for row in &rows {
            assert_eq!(
                (row.status, row.verified, row.model.as_str()),
                (Status::Ok, Verified::Bytes, "measured")
            );
            assert_eq!(
                (row.machine.as_str(), row.nodes, row.workload.as_str()),
                ("measured:here", count, workload)
            );
            assert!(row.time_us.is_some_and(|time| time > 0.0));
        }
        let lines = std::fs::read_to_string(&steps).unwrap().lines().count() as u64;
        assert_eq!(Some(lines - 1), rows[0].steps);
    }
}

#[test]
fn empty_blocks_need_no_message() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    let (pairs, nodes) = (dir.path().join("pairs.csv"), dir.path().join("nodes.csv"));
    std::fs::write(&pairs, "0,0,3,0\n7,0,0,1\n0,0,0,0\n9,0,300,2\n").unwrap();
    std::fs::write(&nodes, "5\n0\n17\n300\n").unwrap();
    for (algorithm, collective, file) in [
        ("bruck", "alltoall", &pairs),
        ("linear", "alltoall", &pairs),
        ("bruck", "allgather", &nodes),
        ("ring", "allgather", &nodes),
        ("binomial-scatter", "scatter", &nodes),
        ("binomial-gather", "gather", &nodes),
    ] {
        let folder = dir.path().join(format!("{algorithm}-{collective}"));
        let workload = format!("{collective}/matrix:{}", file.display());
        assert!(exports("mpi", ["fully-connected:4", algorithm, &workload], &[], &folder));
        let (ended_well, message) =
            ranks(&program, 4, &folder.join("schedule.txt"), &["--repetitions", "2"]);
        assert!(
            ended_well && message.contains("every byte verified"),
            "{algorithm}, {collective}: {message}"
        );
    }
}

/// Each edit changes the lines of rank 0 or the head of the file. If ranks disagree, the program
/// must report this before a rank waits forever.
#[test]
fn corrupted_schedules_are_refused() {
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
            "s 2 move 3 2 0 move 0 2 0",
            "s 2 move 0 2 0 move 0 2 0",
            "step 2: rank 0 sends rank 2 block 0 -> 2 (segment 0), which it does not hold",
        ),
        (
            "r 2 move 1 0 0 move 2 0 0",
            "r 2 move 2 0 0 move 3 0 0",
            "rank 0 and rank 2 disagree on the blocks of their messages, or on the steps",
        ),
        ("r 3 move 3 0,2 0", "r 2 move 3 0,2 0", "waits for"),
        ("r 3 move 3 0,2 0", "r 3 move 3 0,9 0", "expected a number below 4, found `9 0`"),
        ("t 2", "t 1", "expected a later step"),
        ("t 1", "x 1", "expected `t STEP`, `s PEER BLOCKS`, `r PEER BLOCKS` or `end`"),
        ("swapmeet-mpi 2", "swapmeet-mpi 3", "expected version 2"),
        (
            "collective alltoall",
            "collective alltoano",
            "expected alltoall, broadcast, scatter, gather, allgather, permutation, reduce, allreduce, reduce-scatter, dispatch or combine",
        ),
        ("collective alltoall", "collective allgather", "expected"),
        ("end\nrank 1", "end\nrank 3", "expected this rank's lines"),
    ] {
        assert!(sound.contains(from), "{from}");
        let file = folder.join("corrupt.txt");
        std::fs::write(&file, sound.replacen(from, to, 1)).unwrap();
        let (ended_well, message) =
            ranks(&program, 4, &file, &["--warmup", "0", "--repetitions", "1"]);
        assert!(!ended_well && message.contains(why), "{from} -> {to}: {message}");
    }
    let half = folder.join("half.txt");
    std::fs::write(&half, &sound[..sound.len() - 30]).unwrap();
    let (ended_well, message) = ranks(&program, 4, &half, &[]);
    assert!(!ended_well && message.contains("the file is cut off"), "{message}");
    let (ended_well, message) = ranks(&program, 3, &folder.join("schedule.txt"), &[]);
    assert!(
        !ended_well && message.contains("is a schedule of 4 nodes, and there are 3 ranks"),
        "{message}"
    );
}

/// In one case, an arriving sum replaces other contributions. In another, a node sends bytes that
/// it does not have. The edits do not change the length of lines, because ranks find their lines by
/// position.
#[test]
fn corrupted_sums_and_byte_counts_are_found() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    for (algorithm, workload, edits) in [
        (
            "ring-allreduce",
            "allreduce/uniform:96",
            [
                // Both ends of a message are edited, so that the ranks agree.
                ("move-add 0 0 3", "move     0 0 3", "of block 0 -> 0 (segment 3)"),
                (
                    "s 1 move-add 0 0 2",
                    "s 1 move-add 0 0 1",
                    "disagree on the blocks of their messages",
                ),
            ],
        ),
        (
            "two-stage",
            "uniform:1KiB",
            [
                (
                    "s 1 1 1024",
                    "s 1 1 1025",
                    "step 4: rank 0 sends rank 1 so many bytes for rank 1, which it does not hold",
                ),
                (
                    "s 1 0 256",
                    "s 1 0 255",
                    "waits for 2 messages (2048 bytes) from rank 0, which sends it 2 (2047 bytes)",
                ),
            ],
        ),
    ] {
        let folder = dir.path().join(algorithm);
        assert!(exports("mpi", ["fully-connected:4", algorithm, workload], &[], &folder));
        let sound = std::fs::read_to_string(folder.join("schedule.txt")).unwrap();
        for (from, to, why) in edits {
            assert!(sound.contains(from), "{from}\n{sound}");
            let everywhere = from.starts_with("move");
            let changed =
                if everywhere { sound.replace(from, to) } else { sound.replacen(from, to, 1) };
            let file = folder.join("corrupt.txt");
            std::fs::write(&file, changed).unwrap();
            let (ended_well, message) =
                ranks(&program, 4, &file, &["--warmup", "0", "--repetitions", "1"]);
            assert!(!ended_well && message.contains(why), "{from} -> {to}: {message}");
        }
    }
}
