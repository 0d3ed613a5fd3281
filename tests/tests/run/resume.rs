//! A run that is stopped or divided into shards leaves complete rows. A resumed run ends with the
//! same file as an uninterrupted run.

use super::{SWEEP, sweep};
use crate::support::{
    interruptible, refused, rows, swapmeet, timeless, timeless_rows, torture, words,
};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use swapmeet_results::{CsvSink, Record, Sink, Status, read_file};
use swapmeet_tests::program;
use tempfile::tempdir;

#[test]
fn rows_do_not_depend_on_jobs() {
    let run = |jobs| rows(&[words(SWEEP), vec!["--jobs", jobs]].concat());
    let alone = run("1");
    assert_eq!(alone.len(), 3 * 3 * 2 * 2 * 3);
    for jobs in ["2", "3"] {
        let apart = run(jobs);
        assert_eq!(
            apart.iter().map(timeless).collect::<Vec<_>>(),
            alone.iter().map(timeless).collect::<Vec<_>>(),
            "--jobs {jobs}"
        );
    }
}

/// If a run is killed while it starts a child process, the child holds the lock for a moment
/// longer.
#[test]
fn a_resumed_run_waits_for_a_lock_that_is_held_briefly() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let case = ["--topology", "ring:4", "--algorithm", "ring", "--out", out.to_str().unwrap()];
    let run = |more: &str| swapmeet(&["run", "--quiet", more]).args(case).assert();
    run("--force").success();
    let held = File::open(&out).unwrap();
    held.lock().unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(held);
    });
    run("--resume").success();
    holder.join().unwrap();
    assert_eq!(timeless_rows(&out).len(), 1);
}

#[test]
fn a_run_killed_at_any_time_can_be_resumed() {
    let dir = tempdir().unwrap();
    let whole = dir.path().join("whole.csv");
    sweep(&whole, "");
    for (number, after) in [0, 3, 15, 40, 80, 160].into_iter().enumerate() {
        let out = dir.path().join(format!("{number}.csv"));
        let mut run = Command::new(program());
        run.args(["run", "--quiet", "--out", out.to_str().unwrap()])
            .args(words(SWEEP))
            .env("XDG_DATA_HOME", "/nonexistent");
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after));
        run.kill().unwrap();
        run.wait().unwrap();
        // If the run was killed before it created its file, there is nothing to resume.
        let before = if out.exists() { read_file(&out).map_or(0, |rows| rows.len()) } else { 0 };
        sweep(&out, "--resume");
        assert_eq!(
            timeless_rows(&out),
            timeless_rows(&whole),
            "killed after {after} ms, with {before} rows"
        );
    }
}

#[test]
fn a_torn_last_row_is_dropped_and_run_again() {
    let dir = tempdir().unwrap();
    let (whole, torn) = (dir.path().join("whole.csv"), dir.path().join("torn.csv"));
    sweep(&whole, "");
    let bytes = std::fs::read(&whole).unwrap();
    for part in [0, 17, bytes.len() / 3, bytes.len() - 2, bytes.len()] {
        std::fs::write(&torn, &bytes[..part]).unwrap();
        sweep(&torn, "--resume");
        assert_eq!(timeless_rows(&torn), timeless_rows(&whole), "{part} bytes were left");
    }
}

#[test]
fn a_file_with_other_content_is_not_touched() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("notes.csv");
    std::fs::write(&out, "notes to myself").unwrap();
    let message = refused(&words(&format!(
        "run --resume --out {} --topology ring:5 --algorithm gen",
        out.display()
    )));
    assert!(message.contains("notes.csv:1: the header"), "{message}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "notes to myself");
}

/// A spreadsheet saves the file with a byte-order mark and with different line ends.
#[test]
fn a_file_saved_by_a_spreadsheet_can_be_resumed() {
    let dir = tempdir().unwrap();
    let (whole, other) = (dir.path().join("whole.csv"), dir.path().join("other.csv"));
    sweep(&whole, "");
    let text = std::fs::read_to_string(&whole).unwrap();
    let some: String = text.lines().take(9).map(|line| format!("{line}\r\n")).collect();
    for kept in [some.clone(), format!("\u{feff}{some}"), format!("\u{feff}{some}half,a")] {
        std::fs::write(&other, kept).unwrap();
        swapmeet(&["run", "--resume", "--out", other.to_str().unwrap()])
            .args(words(SWEEP))
            .assert()
            .success()
            .stderr(predicates::str::contains("8 rows kept from before"));
        assert_eq!(timeless_rows(&other), timeless_rows(&whole));
        let bytes = std::fs::read(&other).unwrap();
        assert!(
            bytes.starts_with(b"experiment,") && !bytes.contains(&b'\r'),
            "one kind of line end"
        );
    }
}

#[test]
fn rows_are_sorted_into_the_order_of_cases() {
    let dir = tempdir().unwrap();
    let (whole, mixed) = (dir.path().join("whole.csv"), dir.path().join("mixed.csv"));
    sweep(&whole, "");
    let text = std::fs::read_to_string(&whole).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&mixed, format!("{}\n{}\n{}\n{}\n", lines[0], lines[1], lines[9], lines[4]))
        .unwrap();
    sweep(&mixed, "--resume");
    assert_eq!(timeless_rows(&mixed), timeless_rows(&whole));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no other file is left");
}

/// If a case was run again (key `R` in the dashboard), its file contains two rows of this case.
#[test]
fn the_last_of_several_rows_of_a_case_is_kept() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("rows.csv");
    let out = file.to_str().unwrap();
    let line =
        format!("run --quiet --out {out} --topology ring:5 --algorithm gen --algorithm pairwise");
    let run = words(&line);
    swapmeet(&run).assert().success();
    let first = read_file(&file).unwrap();
    let mut second = first.clone();
    for row in &mut second {
        row.wall_ms = Some(12_345.0);
    }
    for again in [&second[..], &second[..1], &second[1..]] {
        let mut csv = CsvSink::new(File::create(&file).unwrap());
        first.iter().chain(again).try_for_each(|row| csv.record(row)).unwrap();
        csv.finish().unwrap();
        drop(csv);
        swapmeet(&run).arg("--resume").assert().success();
        let expected: Vec<_> = first
            .iter()
            .map(|row| again.iter().find(|a| a.algorithm == row.algorithm).unwrap_or(row).clone())
            .collect();
        assert_eq!(read_file(&file).unwrap(), expected);
    }
}

#[test]
fn a_row_is_on_disk_when_its_case_ends() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let out = dir.path().join("rows.csv");
    let mut run = Command::new(program());
    run.args(words("run --quiet --jobs 2 --timeout 60 --topology ring:6 --plugin-dir")).arg(&file);
    run.args(["--algorithm", "sleeps", "--algorithm", "gen", "--algorithm", "pairwise", "--out"])
        .arg(&out);
    let mut run = run.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(&out).unwrap_or_default().lines().count() < 3 {
        assert!(Instant::now() < deadline, "no rows but the first case's are waited for");
        std::thread::sleep(Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let algorithms: Vec<String> =
        read_file(&out).unwrap().into_iter().map(|row| row.algorithm).collect();
    assert_eq!(algorithms, ["gen", "pairwise"]);
}

#[test]
fn files_that_change_during_a_run_are_detected() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let (out, moved, graph) =
        (dir.path().join("rows.csv"), dir.path().join("moved.csv"), dir.path().join("g.txt"));
    std::fs::write(&graph, "0 1\n1 2\n2 0\n").unwrap();
    let mut run = Command::new(program());
    run.args(["run", "--quiet", "--jobs", "2", "--timeout", "1", "--plugin-dir"])
        .arg(&file)
        .arg("--out")
        .arg(&out);
    run.args(["--topology", "ring:6", "--topology"]).arg(format!("graph:{}", graph.display()));
    run.args(["--algorithm", "sleeps", "--algorithm", "gen"]).stderr(Stdio::piped());
    let run = run.spawn().unwrap();
    let rows_in = |path: &Path| std::fs::read_to_string(path).unwrap_or_default().lines().count();
    let deadline = Instant::now() + Duration::from_secs(30);
    while rows_in(&out) < 2 {
        assert!(Instant::now() < deadline, "no row");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::rename(&out, &moved).unwrap();
    std::fs::write(&out, "another program's text").unwrap();
    std::fs::write(&graph, "0 1\n1 2\n2 3\n3 0\n").unwrap();
    let output = run.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("rows.csv: another file took its place during the run"), "{message}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "another program's text");
    let rows = read_file(&moved).unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows.iter().filter(|row| row.topology.starts_with("graph:")) {
        assert!(
            row.status == Status::Error || row.algorithm == "sleeps",
            "{}: {}",
            row.status,
            row.reason
        );
        if row.status == Status::Error {
            assert!(row.reason.starts_with("changed during the run: "), "{}", row.reason);
        }
    }
}

#[test]
fn another_experiment_is_refused_with_the_difference() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let out = out.to_str().unwrap();
    let run = ["run", "--quiet", "--out", out, "--topology", "ring:5", "--algorithm", "gen"];
    swapmeet(&run).args(["--algorithm", "pairwise"]).assert().success();
    let before = std::fs::read(out).unwrap();
    let again = |more: &[&str]| refused(&[&run[..], &["--resume"], more].concat());
    let advice = "; give another --out, or --force instead of --resume to overwrite it\n";
    assert_eq!(
        again(&["--seed", "7"]),
        format!(
            "error: {out}: row 1 belongs to another experiment: its seed is `42`, here `7`{advice}"
        )
    );
    assert_eq!(
        again(&["--workload", "uniform:8"]),
        format!(
            "error: {out}: row 1 belongs to another experiment: its workload is `uniform:1KiB`, here `uniform:8`{advice}"
        )
    );
    assert_eq!(
        again(&[]),
        format!(
            "error: {out}: row 2 belongs to another experiment: its algorithm is `pairwise`, here `gen`, its plugin is `classic`, here `thakur`{advice}"
        )
    );
    assert_eq!(std::fs::read(out).unwrap(), before, "the file is unchanged");
    let text = String::from_utf8(before).unwrap();
    std::fs::write(out, text.replace("note", "remark")).unwrap();
    assert!(
        again(&["--algorithm", "pairwise"]).contains("its columns are not those of this version")
    );
    assert_eq!(
        refused(&words("run --resume --topology ring:5 --algorithm gen --machine paragon")),
        "error: --resume continues a file: give it with --out\n"
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
        let args = [
            &[
                "run",
                "--out",
                out,
                "--topology",
                "ring:5",
                "--algorithm",
                "gen",
                "--machine",
                "paragon",
            ],
            more,
        ]
        .concat();
        assert_eq!(refused(&args), format!("error: {out}: another run is writing to it\n"));
    }
    drop(other);
    swapmeet(&["run", "--resume", "--out", out, "--topology", "ring:5", "--algorithm", "gen"])
        .assert()
        .success();
}

#[test]
fn a_full_disk_and_a_closed_pipe_are_reported() {
    let output =
        swapmeet(&["run", "--out", "/dev/full", "--topology", "ring:5", "--algorithm", "gen"])
            .output()
            .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), message.contains("error: /dev/full: No space left on device")),
        (Some(1), true),
        "{message}"
    );
    let program = program();
    let command = format!(
        "{} run --quiet --out - --topology ring:9 --algorithm gen --repetitions 2000 | head -n 1",
        program.display()
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .env("XDG_DATA_HOME", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "a closed pipe is no error");
}

#[test]
fn an_interrupt_keeps_all_finished_rows() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let mut run = interruptible();
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
        // If only one node of each orbit were planned, the case would end immediately.
        "--proof",
        "full",
    ]);
    run.args(["--repetitions", "50", "--jobs", "2"])
        .env("XDG_DATA_HOME", "/nonexistent")
        .stderr(Stdio::piped());
    let run = run.spawn().unwrap();
    let start = Instant::now();
    while read_file(&out).map_or(0, |rows| rows.len()) < 50
        && start.elapsed() < Duration::from_secs(60)
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    let output = run.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), message.contains("interrupted: 50 cases: 50 verified")),
        (Some(130), true),
        "{message}"
    );
    assert_eq!(read_file(&out).unwrap().len(), 50);
}

#[test]
fn a_failed_case_is_repeated_only_on_request() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let flags = "--topology ring:5 --topology ring:6 --algorithm gen --algorithm pairwise --machine paragon";
    let run = [&["run", "--out", out.to_str().unwrap()], &words(flags)[..]].concat();
    let run = |more: &[&str]| {
        let all = [&run[..], more].concat();
        let output = swapmeet(&all).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    run(&[]);
    let good = timeless_rows(&out);
    let mut rows = good.clone();
    for (row, status) in [(1, Status::Crashed), (2, Status::Timeout)] {
        rows[row] =
            Record { status, reason: "bad luck".to_owned(), time_us: None, ..rows[row].clone() };
    }
    let mut csv = swapmeet_results::CsvSink::new(File::create(&out).unwrap());
    for row in &rows {
        swapmeet_results::Sink::record(&mut csv, row).unwrap();
    }
    drop(csv);
    let (status, message) = run(&["--resume"]);
    let place = out.display();
    assert_eq!(status, Some(1));
    assert_eq!(
        message,
        format!("4 cases: 2 verified, 2 failed; 4 rows kept from before; rows in {place}\n")
    );
    assert_eq!(timeless_rows(&out), rows);
    let (status, message) = run(&["--resume", "--retry-failed"]);
    assert_eq!(status, Some(0));
    assert_eq!(message, format!("4 cases: 4 verified; 2 rows kept from before; rows in {place}\n"));
    assert_eq!(timeless_rows(&out), good, "in the order of cases");
    assert!(run(&["--retry-failed"]).1.contains("--resume"));
}
