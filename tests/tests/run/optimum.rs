//! `run --optimum`, which fills the columns `optimum_us` and `optimum_gap`.

use crate::support::{interruptible, rows, swapmeet, timeless, timeless_rows, tools, words};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use swapmeet_core::delivery::collective;
use swapmeet_results::{Record, Status, read_file};
use tempfile::tempdir;

/// Two block sizes on machines with and without links. On machines with links, `linear` is as fast
/// as the bisection of the network allows.
const SWEEP: &str = "--topology mesh:4x4 --topology torus:4x4 --algorithm linear \
    --algorithm pairwise --workload uniform:100 --workload uniform:1KiB \
    --machine free:byte_us=1,startup_us=2,ports=all --machine free:byte_us=1,startup_us=2 \
    --machine free:byte_us=1,model=flat --machine free:byte_us=1,model=loggp";

fn without_optimum(row: &Record) -> Record {
    Record { optimum_us: None, optimum_gap: None, ..timeless(row) }
}

fn sweep(out: &Path, flags: &str) {
    let out = out.to_str().unwrap();
    let flags = [words(SWEEP), words(flags)].concat();
    swapmeet(&["run", "--quiet", "--out", out]).args(flags).assert().success();
}

/// In a grid of n nodes whose longest side has N1 nodes, each link of the bisection carries n N1 /
/// 4 blocks in a mesh, and n N1 / 8 blocks in a torus (Suh & Shin 1998, 3.1.4). If nodes use all
/// ports, this limits the schedule. With one port, a node also has to send n - 1 blocks in
/// sequence, and a schedule needs log2(n) start-ups instead of one.
#[test]
fn rows_have_the_optimum_of_their_network() {
    let plain = rows(&words(SWEEP));
    let with = rows(&[words(SWEEP), words("--optimum --jobs 1")].concat());
    assert_eq!(plain.len(), 2 * 2 * 2 * 4);
    assert!(plain.iter().all(|row| row.optimum_us.is_none() && row.optimum_gap.is_none()));
    assert_eq!(
        with.iter().map(without_optimum).collect::<Vec<_>>(),
        plain.iter().map(timeless).collect::<Vec<_>>(),
        "no other column changes"
    );
    for row in &with {
        let (Some(optimum), Some(gap)) = (row.optimum_us, row.optimum_gap) else {
            assert!(["flat", "loggp"].contains(&&*row.model), "{row:?}");
            assert_eq!((row.optimum_us, row.optimum_gap), (None, None));
            continue;
        };
        let (blocks, startups) = match (&*row.topology, row.machine.contains("ports=all")) {
            ("mesh:4x4", true) => (16.0, 1.0),
            ("torus:4x4", true) => (8.0, 1.0),
            ("mesh:4x4", false) => (16.0, 4.0),
            _ => (15.0, 4.0),
        };
        let (bytes, startups) = (blocks * row.block_bytes.unwrap() as f64, startups * 2.0);
        assert!((0.0..=0.02).contains(&gap), "{gap}");
        assert!(optimum <= startups + bytes + 1e-6, "{optimum}: {row:?}");
        assert!(optimum >= startups + bytes * 0.98, "{optimum}: {row:?}");
        assert!(optimum >= row.lower_bound_us.unwrap());
        assert!(row.time_us.unwrap() >= optimum);
        let same = with.iter().filter(|other| {
            (&other.topology, &other.workload, &other.machine)
                == (&row.topology, &row.workload, &row.machine)
        });
        assert!(same.clone().count() == 2 && same.clone().all(|r| r.optimum_us == row.optimum_us));
    }
    let parallel = rows(&[words(SWEEP), words("--optimum --jobs 4")].concat());
    assert_eq!(
        parallel.iter().map(timeless).collect::<Vec<_>>(),
        with.iter().map(timeless).collect::<Vec<_>>()
    );
    let first = &with[0];
    let specs = ["--topology", &first.topology, "--workload", &first.workload];
    let command = swapmeet(&["optimum", "--format", "json", "--machine", &first.machine])
        .args(specs)
        .output()
        .unwrap();
    let command: Value = serde_json::from_slice(&command.stdout).unwrap();
    let number = |key: &str| command[key].as_f64().unwrap();
    assert!((number("optimum_us") - first.optimum_us.unwrap()).abs() < 1e-5, "{command}");
    // The command also runs the algorithms. One of them may be faster than the result of the
    // search.
    let gap = number("upper_us") / number("lower_us") - 1.0;
    assert!((0.0..first.optimum_gap.unwrap() + 1e-5).contains(&gap), "{command}");
}

#[test]
fn files_with_and_without_optimum_are_resumed_merged_and_run_again() {
    let dir = tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (with, plain) = (at("with.csv"), at("plain.csv"));
    sweep(&with, "--optimum");
    sweep(&plain, "");
    let expected = timeless_rows(&with);
    sweep(&plain, "--resume --optimum");
    assert_eq!(timeless_rows(&plain), expected);
    let text = std::fs::read_to_string(&with).unwrap();
    std::fs::write(&plain, &text[..text.len() * 2 / 3]).unwrap();
    sweep(&plain, "--resume --optimum");
    assert_eq!(timeless_rows(&plain), expected);
    std::fs::write(&plain, &text[..text.len() * 2 / 3]).unwrap();
    sweep(&plain, "--resume");
    let mixed = timeless_rows(&plain);
    assert!(mixed[0].optimum_us.is_some() && mixed[28].optimum_us.is_none());
    let same = |rows: &[Record]| rows.iter().map(without_optimum).collect::<Vec<_>>();
    assert_eq!(same(&mixed), same(&expected));
    let (one, two, joined) = (at("1.csv"), at("2.csv"), at("joined.csv"));
    sweep(&one, "--shard 1/2 --optimum");
    sweep(&two, "--shard 2/2");
    let paths = [&one, &two, &joined, &with].map(|path| path.to_str().unwrap());
    swapmeet(&["merge", paths[0], paths[1], "--out", paths[2]]).assert().success();
    assert_eq!(timeless_rows(&joined).len(), expected.len());
    swapmeet(&["compare", paths[2], paths[3]]).assert().success();
    swapmeet(&["rerun", paths[3], "--all"]).assert().success();
    swapmeet(&["rerun", paths[2], "--all"]).assert().success();
}

/// Two runs are interrupted: one while the algorithm `flow` searches for a schedule, and one while
/// the program searches for the optimum. The row of the first case is kept.
#[test]
fn an_interrupt_ends_a_search() {
    let dir = tempdir().unwrap();
    for (name, flags) in [
        ("flow.csv", "--topology mesh:32x32 --algorithm flow"),
        ("optimum.csv", "--topology mesh:40x40 --algorithm pairwise --optimum"),
    ] {
        let out = dir.path().join(name);
        let mut run = interruptible();
        run.args(words("run --jobs 1 --topology ring:4")).args(words(flags)).arg("--out").arg(&out);
        let run = run.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while read_file(&out).map_or(0, |rows| rows.len()) < 1
            && start.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
        let output = run.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{message}");
        assert!(message.contains("interrupted: 1 case: 1 verified"), "{message}");
        assert_eq!(read_file(&out).unwrap().len(), 1, "{name}");
    }
}

#[test]
fn an_unknown_optimum_is_explained_in_the_note() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("experiment.toml");
    let experiment = "topologies = [\"ring:4\"]\nalgorithms = [\"ring\"]\n\
        workloads = [\"allgather/uniform:8\"]\nmachines = [\"free:startup_us=1\", \"paragon\"]\noptimum = true\n";
    std::fs::write(&file, experiment).unwrap();
    let found = rows(&[file.to_str().unwrap()]);
    assert_eq!((found[0].optimum_us, found[0].optimum_gap), (None, None));
    assert_eq!(
        found[0].note,
        "no optimum: bytes take no time on this machine: expected byte_us above 0"
    );
    assert_eq!((found[1].optimum_gap, &*found[1].note), (Some(0.0), ""));
    let run = words("run --topology ring:4 --algorithm ring --workload allgather/uniform:8");
    let run = [run, words("--machine free:model=flat --optimum --out -")].concat();
    let message = swapmeet(&run).assert().success().get_output().stderr.clone();
    let why = "remark: rows of machine `free:model=flat` get no optimum: its model has no links, or its times depend on noise or background traffic\n";
    assert!(String::from_utf8_lossy(&message).starts_with(why), "{message:?}");
    let out = dir.path().join("rows.csv");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    swapmeet(&["run", file, "--quiet", "--out", out]).assert().success();
    let before = std::fs::read_to_string(out).unwrap();
    swapmeet(&["run", file, "--quiet", "--out", out, "--resume"]).assert().success();
    assert_eq!(std::fs::read_to_string(out).unwrap(), before);
    swapmeet(&["rerun", out, "--all"]).assert().success();
    std::fs::write(file, experiment.replace("true", "1")).unwrap();
    let message = crate::support::refused(&["run", file]);
    assert!(message.contains("expected true or false, found 1"), "{message}");
    let message = crate::support::refused(&words(
        "run --on mpirun --optimum --topology ring:4 --algorithm ring",
    ));
    let why = "--optimum: measured rows have no optimum, because it depends on a model";
    assert!(message.contains(why), "{message}");
}

#[test]
fn no_algorithm_is_faster_than_the_optimum() {
    let dir = tempdir().unwrap();
    let edges = "0 1 2\n1 2 4\n2 3 1\n0 4 4\n4 5 1\n3 6 2\n1 7 1\n0 3 1";
    std::fs::write(dir.path().join("g.txt"), edges).unwrap();
    let plugins = swapmeet_tests::bundled_plugins();
    let workloads = words(
        "uniform:64 irregular:dist=lognormal,mean=512,cv=2 scatter/uniform:64 gather/uniform:64 \
         broadcast/uniform:256 allgather/uniform:64 reduce/uniform:256 reduce-scatter/uniform:64 \
         allreduce/uniform:1KiB permutation/transpose-2d:64",
    );
    // First one machine of each model, and then the machines that only the second tier uses.
    let mut machines = words(
        "free:byte_us=1,ports=all,injection_byte_us=2 \
         free:byte_us=1,model=store-and-forward,startup_us=3 \
         free:byte_us=1,model=circuit,ports=all,virtual_channels=2 \
         free:byte_us=1,model=fluid,startup_us=3,hop_us=1",
    );
    if tools::runs_all() {
        machines.extend(words(
            "free:byte_us=1,startup_us=3,hop_us=1 free:byte_us=1,ports=2,free_contention=3",
        ));
    }
    let mut compared = 0;
    for workload in workloads {
        let word = workload.split_once('/').map_or("alltoall", |(word, _)| word);
        let supports =
            |bits: u64| collective::of_bits(bits).any(|collective| collective.word == word);
        let names = plugins
            .algorithms()
            .filter(|algorithm| supports(algorithm.collectives))
            .map(|algorithm| algorithm.name.as_str())
            .filter(|name| !["msccl", "schedule"].contains(name));
        let mut command =
            swapmeet(&["run", "--quiet", "--optimum", "--force", "--out", "rows.csv"]);
        command.current_dir(dir.path()).args(names.flat_map(|name| ["--algorithm", name]));
        for topology in ["torus:4x4", "mesh:3x4", "hypercube:3", "graph:g.txt", "fat-tree:2x3"] {
            command.args(["--topology", topology]);
        }
        command.args(["--workload", workload]);
        command.args(machines.iter().flat_map(|machine| ["--machine", machine]));
        command.assert().success();
        for row in timeless_rows(&dir.path().join("rows.csv")) {
            if row.status != Status::Ok {
                continue;
            }
            assert_eq!(row.optimum_us.is_none(), row.note.contains("no optimum: "), "{row:?}");
            let Some(optimum) = row.optimum_us else { continue };
            assert!(optimum >= row.lower_bound_us.unwrap() - 1e-6, "{row:?}");
            assert!(row.time_us.unwrap() >= optimum * (1.0 - 1e-9) - 1e-6, "{row:?}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared} rows");
}
