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

/// Exports to `out`; `false` where the algorithm says that it can't run there.
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
    let own = tempdir().unwrap();
    let output = tools::mpirun(count, own.path()).arg(program).arg(schedule).args(more).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Every bundled algorithm, of blocks, sums or byte counts, for every collective that it does, on the first of these networks that it takes: the C program looks at
/// every byte at its destination, by what the collective asks for, not by what swapmeet says of the schedule.
#[test]
fn all_bundled_algorithms_move_real_bytes() {
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
                other => format!("{other}/uniform:48"),
            };
            let networks =
                [("hypercube:3", 8), ("ring:8", 8), ("torus:4x4", 16), ("mesh:2x4", 8), ("rdn:1(ring:2)", 8)];
            for (network, count) in networks {
                let folder = dir.path().join(format!("{}-{name}-{collective}", ran.len()));
                if !exports("mpi", [network, name, &workload], &[], &folder) {
                    continue;
                }
                // A second time, from the start again.
                let more = ["--warmup", "1", "--repetitions", "1"];
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
    assert!(ran.len() >= 60, "{} ran: {ran:?}", ran.len());
    for (name, moves) in [
        ("two-stage alltoall", "byte counts"),
        ("ring-allreduce allreduce", "sums"),
        ("binomial-reduce reduce", "sums"),
    ] {
        assert!(ran.iter().any(|ran| ran == name), "{name} moves {moves}: {ran:?}");
    }
}

/// From 2 ranks to 16; sizes that differ pair by pair; blocks in segments, padded.
#[test]
fn measured_rows_are_rows_like_others() {
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

/// Blocks without bytes need no message, and whoever passes them on never had them: their ranks are not waited for.
#[test]
fn blocks_without_bytes_are_missed_nowhere() {
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
        let (ended_well, said) = ranks(&program, 4, &folder.join("schedule.txt"), &["--repetitions", "2"]);
        assert!(ended_well && said.contains("every byte verified"), "{algorithm}, {collective}: {said}");
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
        ("swapmeet-mpi 2", "swapmeet-mpi 3", "expected version 2"),
        (
            "collective alltoall",
            "collective alltoano",
            "expected alltoall, broadcast, scatter, gather, allgather, permutation, reduce, allreduce or reduce-scatter",
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

/// Sums and counted bytes that are not what the schedule says: a term that takes the place of others, bytes that nobody has. Edits keep lines as long as
/// they are, for ranks find theirs by their place.
#[test]
fn corrupt_sums_and_byte_counts_are_caught() {
    let dir = tempdir().unwrap();
    let Some(program) = replay(&dir) else { return };
    for (algorithm, workload, edits) in [
        (
            "ring-allreduce",
            "allreduce/uniform:96",
            [
                // At both ends, or they would not agree.
                ("move-add 0 0 3", "move     0 0 3", "of block 0 -> 0 (segment 3)"),
                ("s 1 move-add 0 0 2", "s 1 move-add 0 0 1", "disagree on which blocks go between them"),
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
            let changed = if everywhere { sound.replace(from, to) } else { sound.replacen(from, to, 1) };
            let file = folder.join("corrupt.txt");
            std::fs::write(&file, changed).unwrap();
            let (ended_well, said) = ranks(&program, 4, &file, &["--warmup", "0", "--repetitions", "1"]);
            assert!(!ended_well && said.contains(why), "{from} -> {to}: {said}");
        }
    }
}

/// What goes to MSCCL comes back as the same row: steps, messages, bytes and times; and stays within MSCCL's limits, each of which is refused by name.
#[test]
fn an_exported_msccl_algorithm_comes_back_as_the_same_row() {
    let dir = tempdir().unwrap();
    for (topology, algorithm, workload) in [
        ("fully-connected:6", "pairwise", "uniform:64"),
        ("fully-connected:8", "bruck", "uniform:64"),
        ("ring:5", "ring", "allgather/uniform:64"),
        ("fully-connected:8", "recursive-doubling-allgather", "allgather/uniform:64"),
        ("ring:6", "binomial-broadcast", "broadcast/uniform:64"),
        ("hypercube:3", "hypercube-scatter", "scatter/uniform:64"),
        ("ring:5", "ring-allreduce", "allreduce/uniform:640"),
        ("hypercube:3", "rabenseifner-allreduce", "allreduce/uniform:640"),
        ("fully-connected:6", "ring-reduce-scatter", "reduce-scatter/uniform:64"),
        ("ring:7", "binomial-reduce", "reduce/uniform:64"),
    ] {
        let file = dir.path().join(format!("{algorithm}.xml"));
        assert!(exports("msccl", [topology, algorithm, workload], &[], &file), "{algorithm}");
        let read = format!("msccl:file={}", file.display());
        let case =
            ["--topology", topology, "--workload", workload, "--machine", "paragon", "--machine", "t3d:ports=all"];
        let rows = crate::support::rows(&[&case[..], &["--algorithm", algorithm, "--algorithm", &read]].concat());
        let [planned, again] = [algorithm, &read].map(|name| {
            rows.iter()
                .filter(|row| row.algorithm == name)
                .map(|row| {
                    (
                        row.status,
                        row.time_us,
                        row.steps,
                        row.messages,
                        row.critical_bytes,
                        row.max_link_messages,
                        row.reduction_us,
                    )
                })
                .collect::<Vec<_>>()
        });
        assert!(planned.len() == 2 && planned.iter().all(|row| row.0 == Status::Ok), "{algorithm}: {planned:?}");
        assert_eq!(again, planned, "{algorithm}: {}", rows[0].reason);
    }
    for (topology, algorithm, workload, limit) in [
        ("ring:80", "linear", "uniform:1", "needs more than 64 thread blocks, MSCCL's limit for a GPU"),
        ("ring:80", "ring", "allgather/uniform:1", "needs more than 64 steps, MSCCL's limit for a thread block"),
        ("ring:4", "two-stage", "uniform:1KiB", "it moves byte counts, not blocks"),
        ("mesh:2x2", "linear", "permutation/transpose-2d:8", "MSCCL has no `permutation`"),
        (
            "ring:4",
            "bruck",
            "irregular:dist=pareto,mean=64,cv=2",
            "its blocks differ in size, and MSCCL's chunks are all alike",
        ),
    ] {
        let args =
            ["export", "--format", "msccl", "--topology", topology, "--algorithm", algorithm, "--workload", workload];
        let said = refused(&args);
        assert!(said.contains(limit), "{algorithm}: {said}");
    }
}

/// The platform has each link once and each pair's route; a torus is SimGrid's own, too, with its sides the other way round.
#[test]
fn simgrid_gets_the_routes_of_the_schedule() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("sim");
    assert!(exports(
        "simgrid",
        ["torus:2x3", "linear", "uniform:1000"],
        &["--machine", "free:model=fluid,byte_us=0.001"],
        &out
    ));
    let platform = std::fs::read_to_string(out.join("platform.xml")).unwrap();
    assert_eq!(platform.matches("<host ").count(), 6);
    assert_eq!(platform.matches("<route ").count(), 30);
    assert!(
        platform.matches("<link ").count() <= 18
            && platform.contains("bandwidth=\"1000000000.000000Bps\" latency=\"0s\"")
    );
    assert!(std::fs::read_to_string(out.join("cluster.xml")).unwrap().contains("topo_parameters=\"3,2\""));
    let messages = std::fs::read_to_string(out.join("messages.txt")).unwrap();
    assert!(messages.starts_with("swapmeet-simgrid 1\nnodes 6\n1 "), "{messages}");
    assert_eq!(messages.lines().count(), 2 + 30);
}

/// What SimGrid takes for what was exported to a folder, in us; `None` where it is not installed.
fn played_by_simgrid(out: &Path) -> Option<f64> {
    let program = out.join("replay");
    let mut cxx = Command::new("c++");
    cxx.args(["-std=c++17", "-O1", "-o"]).arg(&program).arg(out.join("replay.cpp")).arg("-lsimgrid");
    match cxx.output() {
        Ok(output) if output.status.success() => {}
        Ok(_) | Err(_) => {
            tools::left_out("simgrid", "no SimGrid (c++ -lsimgrid) here: nothing was played");
            return None;
        }
    }
    let mut play = Command::new(&program);
    play.args([out.join("platform.xml"), out.join("messages.txt")])
        .arg("--cfg=network/model:CM02")
        .arg("--cfg=network/crosstraffic:0");
    let output = play.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let played = printed.trim().trim_end_matches(" us").parse();
    Some(played.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

/// The time of a case's row, in microseconds.
fn predicted([topology, algorithm, workload]: [&str; 3], machine: &str) -> f64 {
    let case = ["--topology", topology, "--algorithm", algorithm, "--workload", workload, "--machine", machine];
    let row = crate::support::rows(&case).remove(0);
    row.time_us.unwrap_or_else(|| panic!("{}", row.reason))
}

/// Where SimGrid is installed, it takes the time that `fluid` predicts with nothing charged but bandwidth, within 1 %.
#[test]
fn simgrid_takes_the_time_that_fluid_predicts() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("sim");
    let machine = "free:model=fluid,byte_us=0.001,startup_us=0,hop_us=0";
    let case = ["torus:3x4", "pairwise", "uniform:100000"];
    assert!(exports("simgrid", case, &["--machine", machine], &out));
    let Some(played) = played_by_simgrid(&out) else { return };
    let predicted = predicted(case, machine);
    assert!((played / predicted - 1.0).abs() < 0.01, "SimGrid {played} us, fluid {predicted} us");
}

/// Background flows are messages to SimGrid, of the one step that there is: it takes as long, for the last to end is a message of the schedule.
#[test]
fn simgrid_takes_the_time_that_fluid_predicts_beside_background_traffic() {
    let dir = tempdir().unwrap();
    let (nodes, path) = (12_u64, |name: &str| dir.path().join(name));
    let write = |name: &str, bytes: &dyn Fn(u64, u64) -> u64| {
        let row = |from| (0..nodes).map(|to| bytes(from, to).to_string()).collect::<Vec<_>>().join(",");
        std::fs::write(path(name), (0..nodes).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    };
    // Each to the node after the next; beside them flows of many sizes, by other pairs.
    let scheduled = |from: u64, to: u64| if (from + 2) % nodes == to { 300_000 + 10_000 * from } else { 0 };
    let beside = |from: u64, to: u64| {
        if (from * 5 + to * 3) % 7 == 1 && (from + 2) % nodes != to && from != to {
            4000 * (1 + from * to % 60)
        } else {
            0
        }
    };
    write("scheduled.csv", &scheduled);
    write("beside.csv", &beside);
    let workload = format!("matrix:{}", path("scheduled.csv").display());
    let case = ["torus:3x4", "linear", workload.as_str()];
    let machine = "free:model=fluid,byte_us=0.001";
    let out = path("sim");
    // Of all pairs, so that the platform has a route for each.
    assert!(exports("simgrid", ["torus:3x4", "linear", "uniform:1"], &["--machine", machine], &out));
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    let lines =
        pairs.map(|(from, to)| (from, to, scheduled(from, to) + beside(from, to))).filter(|(.., bytes)| *bytes > 0);
    let lines: String = lines.map(|(from, to, bytes)| format!("1 {from} {to} {bytes}\n")).collect();
    std::fs::write(out.join("messages.txt"), format!("swapmeet-simgrid 1\nnodes {nodes}\n{lines}")).unwrap();
    let Some(played) = played_by_simgrid(&out) else { return };
    let alone = predicted(case, machine);
    let predicted = predicted(case, &format!("{machine},background={}", path("beside.csv").display()));
    assert!((played / predicted - 1.0).abs() < 0.01, "SimGrid {played} us, fluid {predicted} us");
    assert!(alone < 0.9 * predicted, "without it the schedule is faster");
}

/// A run on real ranks: rows as of any run, and a case that has no schedule says why.
#[test]
fn a_run_on_real_ranks_is_rows_of_what_was_measured() {
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let launch = "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n {ranks}";
    let cases = [
        "--topology",
        "fully-connected:4",
        "--topology",
        "ring:3",
        "--algorithm",
        "bruck",
        "--algorithm",
        "binary-exchange",
    ];
    let on = ["--on", "mpirun", "--launch", launch, "--name", "here", "--repetitions", "3", "--out"];
    let run = swapmeet(&["run"]).args(cases).args(on).arg(&out).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let rows = read_file(&out).unwrap();
    let of = |status: Status| rows.iter().filter(|row| row.status == status).collect::<Vec<_>>();
    assert!(rows.iter().all(|row| row.machine == "measured:here" && row.model == "measured"));
    assert!(of(Status::Ok).len() == 2 * 3, "{rows:?}");
    assert!(
        of(Status::Ok).iter().all(|row| row.verified == Verified::Bytes && row.time_us.is_some_and(|time| time > 0.0))
    );
    let refused: Vec<_> = of(Status::Unsupported).iter().map(|row| (&*row.topology, &*row.algorithm)).collect();
    assert_eq!(refused, [("fully-connected:4", "binary-exchange"), ("ring:3", "binary-exchange")]);
    let again = swapmeet(&["run"]).args(cases).args(on).arg(&out).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "rows are not written over");
}

/// The job that is written does the same, whoever starts it.
#[test]
fn a_job_for_slurm_compiles_carries_out_and_collects() {
    if !tools::has(&["mpicc", "mpirun", "bash"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let (script, out) = (dir.path().join("a job.sh"), dir.path().join("rows.csv"));
    let launch = "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n {ranks}";
    let args = [
        "run",
        "--on",
        "slurm",
        "--topology",
        "fully-connected:2",
        "--topology",
        "ring:3",
        "--algorithm",
        "ring",
        "--name",
        "cluster",
        "--repetitions",
        "2",
        "--launch",
        launch,
        "--script",
    ];
    swapmeet(&args).arg(&script).arg("--out").arg(&out).assert().success();
    let text = std::fs::read_to_string(&script).unwrap();
    assert!(text.starts_with("#!/bin/bash\n#SBATCH --job-name=swapmeet\n#SBATCH --ntasks=3\n"), "{text}");
    let ran = Command::new("bash").arg(&script).current_dir("/").output().unwrap();
    assert!(ran.status.success(), "{}\n{text}", String::from_utf8_lossy(&ran.stderr));
    let rows = read_file(&out).unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.nodes, row.repetition)).collect::<Vec<_>>(),
        [(2, 0), (2, 1), (3, 0), (3, 1)]
    );
    let said = refused(&[&args[..], &[script.to_str().unwrap()]].concat());
    assert!(said.contains("a job.sh: it is there already, with"), "{said}");
}
