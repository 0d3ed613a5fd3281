//! Nothing lost: whatever a plugin does to its process, whatever stops a run, every good row is there and right.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a failure here is a failed test")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use swapmeet_results::{Record, Status, read_file, read_records};
use swapmeet_runner::batch::{Batch, Event, Place, Workers};
use swapmeet_runner::case::cases;
use swapmeet_runner::describe::Reader;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::Registry;
use swapmeet_tests::{build, compile_c, rows, swapmeet};
use tempfile::tempdir;

/// A row without what may differ between runs.
fn timeless(record: &Record) -> Record {
    Record { plan_ms: None, wall_ms: None, ..record.clone() }
}

fn timeless_rows(path: &Path) -> Vec<Record> {
    read_file(path).unwrap().iter().map(timeless).collect()
}

/// How each algorithm of the torture plugin ends.
const ENDS: [(&str, Status, &str); 25] = [
    ("segfault", Status::Crashed, "its process was killed by signal 11 (SIGSEGV)"),
    ("aborts", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    ("divides", Status::Crashed, "its process was killed by signal 8 (SIGFPE)"),
    ("overflows", Status::Crashed, "its process was killed by signal"),
    ("exits", Status::Crashed, "its process ended with exit status 0, without an answer"),
    ("exits-three", Status::Crashed, "its process ended with exit status 3, without an answer"),
    ("loops", Status::Timeout, "not done after 0.5 s"),
    ("sleeps", Status::Timeout, "not done after 0.5 s"),
    ("stops", Status::Timeout, "not done after 0.5 s"),
    ("ignores", Status::Timeout, "not done after 0.5 s"),
    ("eats", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    ("kills-group", Status::Crashed, "its process was killed by signal 9 (SIGKILL)"),
    ("closes", Status::Crashed, "its process "),
    ("forks", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    ("garbles", Status::Crashed, "the worker process sent what is no row"),
    ("outlives", Status::Crashed, "its process was killed by signal 6 (SIGABRT); its last words: still here"),
    (
        "floods",
        Status::Crashed,
        "the worker process sent what is no row: it has over a mebibyte without a line's end, and a row takes a few kilobytes",
    ),
    ("pesters", Status::Timeout, "not done after 0.5 s"),
    ("babbles", Status::Timeout, "not done after 0.5 s"),
    ("lies", Status::Invalid, "after step 0: block 1 -> 0 was never delivered to node 0 (it is at node 1)"),
    ("odd-answer", Status::Error, "the plugin returned 12345, expected 0 to 3"),
    ("fails", Status::Error, "on purpose"),
    ("goes-on", Status::Error, "and on and on"),
    ("prints", Status::Ok, ""),
    ("wanders", Status::Ok, ""),
];

/// Good cases to stand between the bad ones, and after the last.
const GOOD: [&str; ENDS.len() + 1] = [
    "gen",
    "pex-gen",
    "pex-gen-shift",
    "pairwise",
    "bruck",
    "ring",
    "linear",
    "direct",
    "two-stage",
    "two-stage:slices=1",
    "two-stage:slices=2",
    "two-stage:slices=3",
    "two-stage:slices=4",
    "two-stage:slices=5",
    "two-stage:slices=6",
    "four-stage",
    "four-stage:start=balanced",
    "torus-multiscatter",
    "torus-multiscatter:variant=one-port",
    "torus-multiscatter:variant=hybrid",
    "torus-multiscatter:variant=all-ports",
    "torus-multiscatter:cycles=2",
    "torus-multiscatter:cycles=3",
    "torus-multiscatter:variant=one-port,cycles=2",
    "torus-multiscatter:variant=one-port,cycles=3",
    "torus-multiscatter:variant=all-ports,cycles=2",
];

#[test]
fn a_plugin_that_misbehaves_costs_its_own_row() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "torture", &[("_DEFAULT_SOURCE", "1")]) else {
        return;
    };
    let asked = GOOD.iter().flat_map(|name| ["--algorithm", name]);
    let good = rows(&["--topology", "ring:6"].into_iter().chain(asked).collect::<Vec<_>>());
    let out = dir.path().join("rows.csv");
    let mut args = vec!["run", "--plugin-dir", file.to_str().unwrap(), "--topology", "ring:6", "--quiet"];
    for (good, (bad, ..)) in GOOD.iter().zip(&ENDS) {
        args.extend(["--algorithm", good, "--algorithm", bad]);
    }
    args.extend([
        "--algorithm",
        GOOD[ENDS.len()],
        "--timeout",
        "0.5",
        "--memory-limit",
        "256MiB",
        "--out",
        out.to_str().unwrap(),
    ]);
    let mark = dir.path().join("mark");
    let output = swapmeet(&args).env("TORTURE_MARK", &mark).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!mark.exists(), "what a plugin left behind was waited for");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "what a plugin prints is no row");
    let rows = read_file(&out).unwrap();
    assert_eq!(rows.len(), 2 * ENDS.len() + 1);
    for (i, (name, status, reason)) in ENDS.iter().enumerate() {
        let row = &rows[2 * i + 1];
        assert_eq!((row.algorithm.as_str(), row.status), (*name, *status), "{}", row.reason);
        assert!(row.reason.starts_with(reason), "{name}: {}", row.reason);
        assert!(row.reason.chars().count() <= 4000, "{name}");
        assert_eq!(row.reason.ends_with(" .. (cut off here)"), *name == "goes-on", "{name}");
    }
    for (row, good) in rows.iter().step_by(2).zip(&good) {
        assert_eq!(timeless(row), timeless(good), "a good case between two bad ones");
    }
}

/// However close upon one another they come.
#[test]
fn what_one_algorithm_prints_is_not_the_last_words_of_another() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "torture", &[("_DEFAULT_SOURCE", "1")]) else {
        return;
    };
    let topologies = ["ring:4", "ring:5", "ring:6", "ring:7", "ring:8"].map(|ring| ["--topology", ring]).concat();
    let cases =
        ["--plugin-dir", file.to_str().unwrap(), "--jobs", "1", "--algorithm", "prints", "--algorithm", "segfault"];
    for row in rows(&[&cases[..], &topologies].concat()) {
        if row.algorithm == "segfault" {
            assert_eq!(row.reason, "its process was killed by signal 11 (SIGSEGV)", "{}", row.topology);
        }
    }
}

/// What forked from a worker dies with it.
#[test]
fn nothing_is_left_running() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "torture", &[("_DEFAULT_SOURCE", "1")]) else {
        return;
    };
    let file = file.to_str().unwrap();
    let args = [
        "run",
        "--plugin-dir",
        file,
        "--topology",
        "ring:4",
        "--algorithm",
        "forks",
        "--algorithm",
        "sleeps",
        "--timeout",
        "0.2",
    ];
    swapmeet(&args).assert().code(1);
    let left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(file))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

/// A sweep whose cases take different times, among them some that share a schedule.
const SWEEP: [&str; 22] = [
    "--topology",
    "torus:4x8",
    "--topology",
    "ring:5",
    "--topology",
    "torus:8x8",
    "--algorithm",
    "gen",
    "--algorithm",
    "suh-shin",
    "--algorithm",
    "four-stage",
    "--workload",
    "uniform:64",
    "--workload",
    "one-spike:max=99,rest=3",
    "--machine",
    "paragon",
    "--machine",
    "sp2",
    "--repetitions",
    "3",
];

#[test]
fn rows_are_the_same_whatever_runs_them() {
    let alone = rows(&[&SWEEP[..], &["--in-process"]].concat());
    assert_eq!(alone.len(), 3 * 3 * 2 * 2 * 3);
    for jobs in ["1", "3"] {
        let apart = rows(&[&SWEEP[..], &["--jobs", jobs]].concat());
        assert_eq!(
            apart.iter().map(timeless).collect::<Vec<_>>(),
            alone.iter().map(timeless).collect::<Vec<_>>(),
            "--jobs {jobs}"
        );
    }
}

#[test]
fn a_run_killed_at_any_moment_is_taken_up_where_it_was() {
    let dir = tempdir().unwrap();
    let whole = dir.path().join("whole.csv");
    let sweep =
        |out: &Path| swapmeet(&["run", "--quiet", "--out", out.to_str().unwrap()]).args(SWEEP).assert().success();
    sweep(&whole);
    for (number, after) in [0, 3, 15, 40, 80, 160].into_iter().enumerate() {
        let out = dir.path().join(format!("{number}.csv"));
        let mut run = Command::new(build().join("swapmeet"));
        run.args(["run", "--quiet", "--out", out.to_str().unwrap()]).args(SWEEP).env("XDG_DATA_HOME", "/nonexistent");
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after));
        run.kill().unwrap();
        run.wait().unwrap();
        // killed before it had made its file: nothing to take up, which is no error
        let before = if out.exists() { read_file(&out).map_or(0, |rows| rows.len()) } else { 0 };
        swapmeet(&["run", "--quiet", "--resume", "--out", out.to_str().unwrap()]).args(SWEEP).assert().success();
        assert_eq!(timeless_rows(&out), timeless_rows(&whole), "killed after {after} ms, with {before} rows");
    }
}

#[test]
fn a_torn_last_row_is_dropped_and_run_again() {
    let dir = tempdir().unwrap();
    let (whole, torn) = (dir.path().join("whole.csv"), dir.path().join("torn.csv"));
    swapmeet(&["run", "--quiet", "--out", whole.to_str().unwrap()]).args(SWEEP).assert().success();
    let bytes = std::fs::read(&whole).unwrap();
    for part in [0, 17, bytes.len() / 3, bytes.len() - 2, bytes.len()] {
        std::fs::write(&torn, &bytes[..part]).unwrap();
        swapmeet(&["run", "--quiet", "--resume", "--out", torn.to_str().unwrap()]).args(SWEEP).assert().success();
        assert_eq!(timeless_rows(&torn), timeless_rows(&whole), "{part} bytes were left");
    }
}

/// Rows that an interrupted run left out of turn end up in the order of cases.
#[test]
fn rows_out_of_turn_are_put_in_order() {
    let dir = tempdir().unwrap();
    let (whole, mixed) = (dir.path().join("whole.csv"), dir.path().join("mixed.csv"));
    swapmeet(&["run", "--quiet", "--out", whole.to_str().unwrap()]).args(SWEEP).assert().success();
    let text = std::fs::read_to_string(&whole).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&mixed, format!("{}\n{}\n{}\n{}\n", lines[0], lines[1], lines[9], lines[4])).unwrap();
    swapmeet(&["run", "--quiet", "--resume", "--out", mixed.to_str().unwrap()]).args(SWEEP).assert().success();
    assert_eq!(timeless_rows(&mixed), timeless_rows(&whole));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left beside them");
}

/// A case that takes for ever keeps no other's row from the disk.
#[test]
fn a_row_is_on_disk_as_soon_as_its_case_has_ended() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "torture", &[("_DEFAULT_SOURCE", "1")]) else {
        return;
    };
    let out = dir.path().join("rows.csv");
    let mut run = Command::new(build().join("swapmeet"));
    run.args(["run", "--quiet", "--jobs", "2", "--timeout", "60", "--topology", "ring:6", "--plugin-dir"]).arg(&file);
    run.args(["--algorithm", "sleeps", "--algorithm", "gen", "--algorithm", "pairwise", "--out"]).arg(&out);
    let mut run = run.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(&out).unwrap_or_default().lines().count() < 3 {
        assert!(Instant::now() < deadline, "no rows but the first case's are waited for");
        std::thread::sleep(Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let algorithms: Vec<String> = read_file(&out).unwrap().into_iter().map(|row| row.algorithm).collect();
    assert_eq!(algorithms, ["gen", "pairwise"]);
}

fn refused(args: &[&str]) -> String {
    let output = swapmeet(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn another_experiment_is_refused_with_what_differs() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let out = out.to_str().unwrap();
    let run = ["run", "--quiet", "--out", out, "--topology", "ring:5", "--algorithm", "gen"];
    swapmeet(&run).args(["--algorithm", "pairwise"]).assert().success();
    let before = std::fs::read(out).unwrap();
    let again = |more: &[&str]| refused(&[&run[..], &["--resume"], more].concat());
    let advice = "; give another --out, or leave --resume to write it anew\n";
    assert_eq!(
        again(&["--seed", "7"]),
        format!("error: {out}: row 1 is of another experiment: its seed is `42`, here `7`{advice}")
    );
    assert_eq!(
        again(&["--workload", "uniform:8"]),
        format!(
            "error: {out}: row 1 is of another experiment: its workload is `uniform:1KiB`, here `uniform:8`{advice}"
        )
    );
    assert_eq!(
        again(&[]),
        format!(
            "error: {out}: row 2 is of another experiment: its algorithm is `pairwise`, here `gen`, its plugin is `classic`, here `thakur`{advice}"
        )
    );
    assert_eq!(std::fs::read(out).unwrap(), before, "the file is as it was");
    let text = String::from_utf8(before).unwrap();
    std::fs::write(out, text.replace("note", "remark")).unwrap();
    assert!(again(&["--algorithm", "pairwise"]).contains("its columns are not those of this version"));
    assert_eq!(
        refused(&["run", "--resume", "--topology", "ring:5", "--algorithm", "gen"]),
        "error: --resume takes up a file: give it with --out\n"
    );
}

#[test]
fn a_second_run_on_the_same_file_is_refused() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let other = File::create(&out).unwrap();
    other.lock().unwrap();
    let out = out.to_str().unwrap();
    for more in [&["--resume"][..], &[]] {
        let args = [&["run", "--out", out, "--topology", "ring:5", "--algorithm", "gen"], more].concat();
        assert_eq!(refused(&args), format!("error: {out}: another run is writing to it\n"));
    }
    drop(other);
    swapmeet(&["run", "--out", out, "--topology", "ring:5", "--algorithm", "gen"]).assert().success();
}

#[test]
fn a_full_disk_and_a_closed_pipe_are_reported() {
    let output =
        swapmeet(&["run", "--out", "/dev/full", "--topology", "ring:5", "--algorithm", "gen"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), said.contains("error: /dev/full: No space left on device")),
        (Some(1), true),
        "{said}"
    );
    let program = build().join("swapmeet");
    let command = format!(
        "{} run --quiet --out - --topology ring:9 --algorithm gen --repetitions 2000 | head -n 1",
        program.display()
    );
    let output = Command::new("sh").args(["-c", &command]).env("XDG_DATA_HOME", "/nonexistent").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "whoever closed the pipe knows");
}

#[test]
fn an_interrupt_leaves_all_that_is_finished() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let mut run = Command::new(build().join("swapmeet"));
    run.args([
        "run",
        "--out",
        out.to_str().unwrap(),
        "--topology",
        "ring:9",
        "--topology",
        "torus:64x64",
        "--algorithm",
        "gen",
    ]);
    run.args(["--repetitions", "50", "--jobs", "2"]).env("XDG_DATA_HOME", "/nonexistent").stderr(Stdio::piped());
    let run = run.spawn().unwrap();
    let start = Instant::now();
    while read_file(&out).map_or(0, |rows| rows.len()) < 50 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), said.contains("interrupted: 50 cases: 50 verified")),
        (Some(130), true),
        "{said}"
    );
    assert_eq!(read_file(&out).unwrap().len(), 50);
}

#[test]
fn shards_are_merged_into_one_run_again() {
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    swapmeet(&["run", "--quiet", "--out", &path("whole.csv")]).args(SWEEP).assert().success();
    let parts: Vec<String> = (1..=3).map(|i| path(&format!("part-{i}.csv"))).collect();
    let mut sizes = Vec::new();
    for (i, part) in (1..).zip(&parts) {
        swapmeet(&["run", "--quiet", "--shard", &format!("{i}/3"), "--out", part]).args(SWEEP).assert().success();
        sizes.push(read_file(Path::new(part)).unwrap().len());
    }
    assert_eq!(sizes.iter().sum::<usize>(), 108);
    assert!(sizes.iter().all(|n| *n > 0), "{sizes:?}");
    let merge = |parts: &[String]| swapmeet(&["merge", "--out", &path("merged.csv")]).args(parts).output().unwrap();
    assert_eq!(merge(&parts).status.code(), Some(0));
    assert_eq!(timeless_rows(Path::new(&path("merged.csv"))), timeless_rows(Path::new(&path("whole.csv"))));
    let output = merge(&parts[..2]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("of 108 cases are missing: nothing was written"));
    let output = merge(&[&parts[..], &parts[..1]].concat());
    assert!(String::from_utf8(output.stderr).unwrap().contains("expected every case once"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn slurm_says_which_shard() {
    let run = |vars: &[(&str, &str)]| {
        let mut command = swapmeet(&["run", "--quiet", "--out", "-", "--shard", "auto"]);
        command.args(SWEEP).envs(vars.iter().copied()).output().unwrap()
    };
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for task in ["3", "4"] {
        let output =
            run(&[("SLURM_ARRAY_TASK_ID", task), ("SLURM_ARRAY_TASK_COUNT", "2"), ("SLURM_ARRAY_TASK_MIN", "3")]);
        for line in String::from_utf8(output.stdout).unwrap().lines().skip(1) {
            *seen.entry(line.split(",ok,").next().unwrap().to_owned()).or_default() += 1;
        }
    }
    assert!(seen.len() > 50 && seen.values().all(|n| *n == 1));
    let said = |vars: &[(&str, &str)]| String::from_utf8(run(vars).stderr).unwrap();
    assert_eq!(said(&[]), "error: --shard auto: SLURM_ARRAY_TASK_ID is not set: this is no array job of Slurm's\n");
    let holes = [("SLURM_ARRAY_TASK_ID", "9"), ("SLURM_ARRAY_TASK_COUNT", "2"), ("SLURM_ARRAY_TASK_MIN", "3")];
    assert!(said(&holes).contains("an array must number its tasks one by one"));
    // --array=0,2,3 and --array=0-6:2: the first task sees the hole too.
    for (task, last, step) in [("0", "3", "1"), ("2", "3", "1"), ("0", "6", "2")] {
        let count = if step == "1" { "3" } else { "4" };
        let vars = ["ID", "COUNT", "MIN", "MAX", "STEP"].map(|name| format!("SLURM_ARRAY_TASK_{name}"));
        let vars: Vec<(&str, &str)> = vars.iter().map(String::as_str).zip([task, count, "0", last, step]).collect();
        assert!(said(&vars).contains("an array must number its tasks one by one"), "{vars:?}");
    }
}

/// A worker looks files up for itself.
#[test]
fn a_matrix_is_read_in_the_worker() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("m.csv");
    File::create(&file).unwrap().write_all(b"1,2\n3,4\n").unwrap();
    let workload = format!("matrix:{}", file.display());
    let rows = rows(&["--topology", "ring:2", "--algorithm", "gen", "--workload", &workload]);
    assert_eq!((rows[0].status, rows[0].total_bytes), (Status::Ok, Some(5)));
}

/// The program under `ulimit -v KIB`, without the superuser's right to raise it; `None`, and a line that says so, where that right can't be laid down.
fn confined(kib: u64, args: &[&str]) -> Option<Vec<Record>> {
    let confined = |command: &str| {
        let mut shell = Command::new("setpriv");
        shell.args(["--bounding-set=-sys_resource", "--inh-caps=-sys_resource", "sh", "-c", command, "sh"]);
        shell.arg(build().join("swapmeet")).args(["run", "--quiet", "--out", "-"]).args(args);
        shell.env_remove("SWAPMEET_PLUGIN_PATH").env("XDG_DATA_HOME", "/nonexistent").output()
    };
    if !confined("true").is_ok_and(|output| output.status.success()) {
        println!("skipped: no `setpriv` that may lay down a right");
        return None;
    }
    let output = confined(&format!("ulimit -v {kib} && exec \"$@\"")).unwrap();
    Some(read_records("standard output", &String::from_utf8(output.stdout).unwrap()).unwrap())
}

#[test]
fn a_lower_limit_of_the_systems_stays() {
    let Some(rows) = confined(900_000, &["--topology", "ring:4", "--algorithm", "gen", "--memory-limit", "16GiB"])
    else {
        return;
    };
    assert_eq!((rows[0].status, rows[0].reason.as_str()), (Status::Ok, ""));
}

/// Nothing of the plugin's ran: whatever it is, it is not the plugin that crashed.
#[test]
fn a_plugin_that_has_no_room_in_the_limit_is_an_error() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "large", &[("LARGE", "1")]) else {
        return;
    };
    let file = file.to_str().unwrap();
    let args = ["--plugin-dir", file, "--topology", "ring:4", "--algorithm", "lies", "--workload", "uniform:1"];
    let rows = rows(&[&args[..], &["--workload", "uniform:2", "--memory-limit", "128MiB"]].concat());
    assert_eq!(rows.len(), 2);
    for row in rows {
        let reason = format!("{file}: not a library that can be loaded: ");
        assert!(row.status == Status::Error && row.reason.starts_with(&reason), "{}: {}", row.status, row.reason);
        assert_eq!((row.plugin.as_str(), row.nodes, row.model.as_str()), ("torture", 4, "wormhole"), "as any row");
    }
}

#[test]
fn a_worker_that_ends_before_its_first_job_is_an_error() {
    let registry = Registry::find(&[build().to_owned()], &Reader::Here).unwrap();
    let experiment = Experiment {
        topologies: vec![Text::flag("topology", "ring:4")],
        algorithms: vec![Text::flag("algorithm", "gen")],
        workloads: vec![Text::flag("workload", "uniform:1"), Text::flag("workload", "uniform:2")],
        machines: vec![Text::flag("machine", "paragon")],
        ..Experiment::default()
    };
    let cases = cases(&experiment, &registry).unwrap();
    for (command, why) in [
        (&["/nonexistent"][..], "No such file or directory (os error 2)"),
        (
            &["sh", "-c", "echo no room >&2; exit 7"],
            "its process ended with exit status 7, without an answer; its last words: no room",
        ),
        (&["sh", "-c", "echo '{\"Unfit\":{\"reason\":\"its limits: no\"}}' >&0"], "its limits: no"),
    ] {
        let workers = Workers { command: command.iter().map(PathBuf::from).collect(), jobs: 1, memory_limit: 1 << 30 };
        let rows: Vec<Record> = Batch::start(&cases, &Place::Workers(workers))
            .filter_map(|event| match event {
                Event::Finished { record, .. } => Some(*record),
                _ => None,
            })
            .collect();
        let ends: Vec<_> = rows.iter().map(|row| (row.status, row.reason.clone())).collect();
        let expected = (Status::Error, format!("no worker process could be started: {why}"));
        assert_eq!(ends, [expected.clone(), expected]);
    }
}

#[test]
fn a_failed_case_is_run_again_only_when_asked_for() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let run = ["run", "--out", out.to_str().unwrap(), "--topology", "ring:5", "--topology", "ring:6"];
    let run = |more: &[&str]| {
        let all = [&run[..], &["--algorithm", "gen", "--algorithm", "pairwise"], more].concat();
        let output = swapmeet(&all).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    run(&[]);
    let good = timeless_rows(&out);
    // As if the second and third cases had failed.
    let mut rows = good.clone();
    for (row, status) in [(1, Status::Crashed), (2, Status::Timeout)] {
        rows[row] = Record { status, reason: "bad luck".to_owned(), time_us: None, ..rows[row].clone() };
    }
    let mut csv = swapmeet_results::CsvSink::new(File::create(&out).unwrap());
    for row in &rows {
        swapmeet_results::Sink::record(&mut csv, row).unwrap();
    }
    drop(csv);
    let (status, said) = run(&["--resume"]);
    let place = out.display();
    assert_eq!(status, Some(1));
    assert_eq!(said, format!("4 cases: 2 verified, 2 failed; 4 rows kept from before; rows in {place}\n"));
    assert_eq!(timeless_rows(&out), rows);
    let (status, said) = run(&["--resume", "--retry-failed"]);
    assert_eq!(status, Some(0));
    assert_eq!(said, format!("4 cases: 4 verified; 2 rows kept from before; rows in {place}\n"));
    assert_eq!(timeless_rows(&out), good, "in the order of cases");
    assert!(run(&["--retry-failed"]).1.contains("--resume"));
}

#[test]
fn a_file_that_has_changed_is_another_experiment() {
    let dir = tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command = swapmeet(&["run", "--quiet", "--algorithm", "gen", "--topology", "graph:g.txt"]);
        command.args(["--workload", "matrix:m.csv"]).args(more).current_dir(dir.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    std::fs::write(dir.path().join("g.txt"), "0 1\n1 2\n").unwrap();
    std::fs::write(dir.path().join("m.csv"), "0,1,1\n1,0,1\n1,1,0\n").unwrap();
    assert_eq!(run(&["--out", "a.csv"]), (Some(0), String::new()));
    let rows = read_file(&dir.path().join("a.csv")).unwrap();
    let (g, m) = ("g.txt is sha256:", "m.csv is sha256:");
    assert!(rows[0].note.contains(g) && rows[0].note.contains(m), "{}", rows[0].note);
    assert_eq!(run(&["--out", "a.csv", "--resume"]), (Some(0), String::new()));
    std::fs::write(dir.path().join("m.csv"), "0,1,1\n1,0,1\n1,1,5\n").unwrap();
    let (status, said) = run(&["--out", "a.csv", "--resume"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("row 1 is of another experiment: there `m.csv is sha256:"), "{said}");
    run(&["--out", "b.csv", "--seed", "43"]);
    std::fs::write(dir.path().join("g.txt"), "0 1\n1 2\n2 0\n").unwrap();
    let output = swapmeet(&["merge", "a.csv", "b.csv", "--out", "c.csv"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("their file is `m.csv is sha256:"));
}

#[test]
fn a_case_without_memory_says_so() {
    let workload = "irregular:dist=uniform,mean=64,cv=0.1";
    let args = ["--topology", "ring:4096", "--algorithm", "gen", "--workload", workload, "--memory-limit", "64MiB"];
    let reason = &rows(&args)[0].reason;
    let parts = [
        "its process was killed by signal 6 (SIGABRT); its last words: memory allocation of",
        "bytes failed (--memory-limit is 64MiB)",
    ];
    assert!(reason.starts_with(parts[0]) && reason.ends_with(parts[1]), "{reason}");
}

#[test]
fn a_shard_does_not_take_up_anothers_file() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("part.csv");
    let run = ["run", "--quiet", "--resume", "--out", out.to_str().unwrap(), "--topology", "ring:5"];
    let run = [&run[..], &["--algorithm", "gen", "--algorithm", "pairwise", "--shard"]].concat();
    swapmeet(&run).arg("1/2").assert().success();
    let said = refused(&[&run[..], &["2/2"]].concat());
    let expected = "row 1 is of another shard: its case is none of this one; give each shard an --out of its own";
    assert_eq!(said, format!("error: {}: {expected}\n", out.display()));
}
