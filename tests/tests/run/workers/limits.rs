//! Workers under a memory limit, which is set by the system or by the program.

use crate::support::{compile_c, rows, swapmeet_process, words};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_results::{Record, Status, read_file, read_records};
use swapmeet_runner::batch::Batch;
use swapmeet_runner::case::{Case, cases};
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::plan_group::{jobs, plan_groups};
use swapmeet_runner::worker::{WorkerKind, Workers};
use swapmeet_tests::program;
use tempfile::tempdir;

/// Runs the program under `ulimit -v KIB`, without the right to raise this limit. If the right
/// cannot be dropped, prints a line and returns `None`.
fn confined(kib: u64, args: &[&str]) -> Option<Vec<Record>> {
    let confined = |command: &str| {
        let mut shell = Command::new("setpriv");
        shell.args([
            "--bounding-set=-sys_resource",
            "--inh-caps=-sys_resource",
            "sh",
            "-c",
            command,
            "sh",
        ]);
        shell.arg(program()).args(["run", "--quiet", "--out", "-"]).args(args);
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
fn a_lower_limit_of_the_system_is_kept() {
    let Some(rows) = confined(
        900_000,
        &["--topology", "ring:4", "--algorithm", "gen", "--memory-limit", "16GiB"],
    ) else {
        return;
    };
    assert_eq!((rows[0].status, rows[0].reason.as_str()), (Status::Ok, ""));
}

/// No code of the plugin runs, so the status is not `crashed`. If the plugin's description was read
/// before, with more memory, its cases have rows. Otherwise, the program ends before any case.
#[test]
fn a_plugin_larger_than_the_limit_is_an_error() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("tests/plugins/torture.c", dir.path(), "large", &[("LARGE", "1")])
    else {
        return;
    };
    // If a file was changed in the last two seconds, its description is not stored.
    std::thread::sleep(Duration::from_secs(3));
    let file = file.to_str().unwrap();
    let reason = format!("{file}: not a library that can be loaded: ");
    let line = format!(
        "run --quiet --out - --plugin-dir {file} --topology ring:4 --algorithm lies --workload uniform:1 \
        --workload uniform:2 --memory-limit 128MiB"
    );
    let limited = || {
        let mut run = swapmeet_process(&words(&line));
        run.env("XDG_CACHE_HOME", dir.path()).output().unwrap()
    };
    let unread = limited();
    let message = String::from_utf8(unread.stderr).unwrap();
    assert_eq!((unread.status.code(), unread.stdout.as_slice()), (Some(2), &b""[..]), "{message}");
    assert!(message.starts_with(&format!("error: {reason}")), "{message}");
    let list = ["list", "plugins", "--plugin-dir", file];
    swapmeet_process(&list).env("XDG_CACHE_HOME", dir.path()).assert().success();
    let text = String::from_utf8(limited().stdout).unwrap();
    let rows = read_records("standard output", &text).unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let is_refused = row.status == Status::Error && row.reason.starts_with(&reason);
        assert!(is_refused, "{}: {}", row.status, row.reason);
        assert_eq!(
            (row.plugin.as_str(), row.nodes, row.model.as_str()),
            ("torture", 4, "wormhole"),
            "as any row"
        );
    }
}

/// If a worker cannot start, this says nothing about the cases. They get no row, so that `--resume`
/// runs them.
#[test]
fn cases_without_a_worker_get_no_row() {
    let registry = swapmeet_tests::bundled_plugins();
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
            "its process ended with exit status 7, without an answer; its last output: no room",
        ),
        (&["sh", "-c", "echo '{\"Unfit\":{\"reason\":\"its limits: no\"}}' >&0"], "its limits: no"),
    ] {
        let kind = WorkerKind::Processes(command.iter().map(PathBuf::from).collect());
        let workers = Workers { kind, jobs: 1, memory_limit: 1 << 30 };
        let ends: Vec<String> = Batch::start(cases.as_slice(), &workers)
            .unwrap()
            .filter_map(|event| match event {
                CaseEvent::Finished { record, .. } => Some(record.reason),
                CaseEvent::NoWorker { reason } => Some(reason),
                _ => None,
            })
            .collect();
        assert_eq!(ends, [why]);
    }
}

#[test]
fn cases_that_share_a_schedule_are_divided_into_jobs_and_a_batch_can_be_dropped_at_any_time() {
    let registry = swapmeet_tests::bundled_plugins();
    let experiment = Experiment {
        topologies: vec![Text::flag("topology", "ring:4")],
        algorithms: vec![Text::flag("algorithm", "gen")],
        workloads: vec![Text::flag("workload", "uniform:1")],
        machines: vec![Text::flag("machine", "paragon")],
        repetitions: 5000,
        ..Experiment::default()
    };
    let cases: Arc<[Case]> = cases(&experiment, &registry).unwrap().into();
    let jobs: Vec<_> = jobs(plan_groups(&*cases)).into_iter().map(|unit| unit.cases).collect();
    assert_eq!(jobs, [0..2500, 2500..5000]);
    let command = ["worker", "--no-sandbox"].map(PathBuf::from);
    let kind = WorkerKind::Processes([program().into()].into_iter().chain(command).collect());
    let workers = Workers { kind, jobs: 1, memory_limit: 1 << 30 };
    let batch = || Batch::start(Arc::clone(&cases), &workers).unwrap();
    let rows = batch().filter(|event| matches!(event, CaseEvent::Finished { .. })).count();
    assert_eq!(rows, 5000);
    drop(batch());
}

/// Each concurrent job needs file descriptors for its workers.
#[test]
fn few_open_files_make_fewer_jobs_and_no_failed_rows() {
    let dir = tempdir().unwrap();
    for (files, note) in [(100, "note: 2 instead of 6 jobs"), (20, "note: 1 instead of 6 jobs")] {
        let topologies: String = (4..10).map(|n| format!(" --topology ring:{n}")).collect();
        let script = format!(
            "ulimit -n {files}; exec \"$0\" run --quiet --force --jobs 6 --algorithm gen \
             --algorithm pairwise {topologies} --out rows.csv"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(program()).current_dir(dir.path());
        let output = shell.env("XDG_DATA_HOME", "/nonexistent").output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && message.starts_with(note), "{message}");
        let rows = read_file(&dir.path().join("rows.csv")).unwrap();
        assert_eq!(rows.iter().filter(|row| row.status == Status::Ok).count(), 12);
    }
}

#[test]
fn a_case_out_of_memory_is_reported() {
    let workload = "irregular:dist=uniform,mean=64,cv=0.1";
    let line =
        format!("--topology ring:4096 --algorithm gen --workload {workload} --memory-limit 64MiB");
    let args = words(&line);
    let row = rows(&args).remove(0);
    let reason = &row.reason;
    assert_eq!(row.status, Status::Error, "the plugin did not crash");
    let parts = [
        "the program itself, not the plugin, ran out of memory: its process was killed by signal 6 \
         (SIGABRT); its last output: memory allocation of",
        "bytes failed (--memory-limit is 64MiB)",
    ];
    assert!(reason.starts_with(parts[0]) && reason.ends_with(parts[1]), "{reason}");
}

/// A case of `fluid` that takes minutes, and two of the same schedule that take a second.
const UNEQUAL: &str = "--topology fat-tree:6x3 --algorithm linear --machine \
    free:model=fluid,startup_us=1.5,byte_us=0.00004,hop_us=0.35,flow_window=0,noise=0.0000001 \
    --workload uniform:256KiB --workload uniform:8 --workload uniform:32KiB";

/// The time limit of a case covers the planning of the schedule and the pricing of this case, but
/// not the pricing of other cases of the same schedule.
#[test]
fn a_slow_case_does_not_make_others_time_out() {
    let rows = rows(&[words(UNEQUAL), words("--timeout 6")].concat());
    let of = |workload: &str| rows.iter().find(|row| row.workload == workload).unwrap();
    let slow = of("uniform:256KiB");
    assert_eq!(slow.status, Status::Timeout);
    let (reason, model) = ("not done after 6 s, ", " s of it in the model `fluid`");
    assert!(slow.reason.starts_with(reason) && slow.reason.ends_with(model), "{}", slow.reason);
    for workload in ["uniform:8", "uniform:32KiB"] {
        assert_eq!((of(workload).status, &*of(workload).reason), (Status::Ok, ""), "{workload}");
    }
}

/// The slow case is the first case. The rows of the fast cases are on the disk while it still runs.
#[test]
fn rows_are_written_while_a_slow_case_of_the_same_schedule_runs() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let mut run = Command::new(program());
    run.arg("run").args(words(UNEQUAL)).arg("--quiet").arg("--out").arg(&out);
    let mut running = run.spawn().unwrap();
    let lines = || std::fs::read_to_string(&out).unwrap_or_default().lines().count();
    let has_rows = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        lines() == 3
    });
    assert!(running.try_wait().unwrap().is_none(), "the slow case has ended");
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(has_rows, "{} lines", lines());
}
