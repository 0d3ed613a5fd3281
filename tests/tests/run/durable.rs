//! Data that exists on the disk is not lost: files of the user, files with a truncated row, rows
//! before a power failure, and folders.

use crate::support::{
    compile_c, refused, swapmeet, swapmeet_process, timeless_rows, torture, words,
};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use swapmeet_results::{Status, read_file};
use swapmeet_tests::program;
use tempfile::tempdir;

fn slow_run(torture: &Path, out: &Path, change: impl FnOnce(&mut Command)) -> Child {
    let mut run = Command::new(program());
    run.args(["run", "--quiet", "--jobs", "1", "--topology", "ring:6", "--plugin-dir"])
        .arg(torture);
    run.args(["--algorithm", "gen", "--algorithm", "pairwise", "--algorithm", "sleeps", "--out"])
        .arg(out);
    run.env("XDG_DATA_HOME", "/nonexistent")
        .env_remove("SWAPMEET_PLUGIN_PATH")
        .stderr(Stdio::piped());
    change(&mut run);
    run.spawn().unwrap()
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}

fn with_two_rows(dir: &Path) -> Option<(Child, PathBuf)> {
    let (torture, out) = (torture(dir)?, dir.join("rows.csv"));
    let run = slow_run(&torture, &out, |run| {
        run.args(["--timeout", "0.5"]);
    });
    wait_for("no rows", || lines(&out) == 3);
    Some((run, out))
}

/// If another program truncates the file, the run ends with an error. `--resume` runs the lost
/// cases.
#[test]
fn a_run_whose_rows_are_truncated_ends_and_can_be_resumed() {
    let dir = tempdir().unwrap();
    let (Some(torture), out) = (torture(dir.path()), dir.path().join("rows.csv")) else { return };
    let limited = |run: &mut Command| {
        run.args(["--timeout", "0.5"]);
    };
    let ended = |run: Child| {
        let output = run.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for lines_left in [0, 2] {
        drop(std::fs::remove_file(&out));
        let run = slow_run(&torture, &out, limited);
        wait_for("no rows", || lines(&out) == 3);
        let text = std::fs::read_to_string(&out).unwrap();
        let bytes: usize = text.split_inclusive('\n').take(lines_left).map(str::len).sum();
        File::options().write(true).open(&out).unwrap().set_len(bytes as u64).unwrap();
        let (status, message) = ended(run);
        let what =
            format!("rows.csv: another program truncated it to {bytes} bytes during the run");
        assert!(status == Some(1) && message.contains(&what), "{status:?}: {message}");
        assert_eq!(std::fs::read_to_string(&out).unwrap(), text[..bytes]);
        ended(slow_run(&torture, &out, |run| {
            limited(run);
            run.arg("--resume");
        }));
        let names: Vec<String> =
            read_file(&out).unwrap().into_iter().map(|row| row.algorithm).collect();
        assert_eq!(names, ["gen", "pairwise", "sleeps"]);
    }
}

/// Every command that reads rows uses the other rows of the file. `--resume` runs the case of the
/// incomplete row again.
#[test]
fn an_incomplete_last_row_loses_no_other() {
    let run = words("run --topology ring:4 --algorithm bruck --algorithm pex --out cut.csv");
    let dir = tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let output_of = |args: &[&str]| {
        let run = swapmeet(args).current_dir(dir.path()).assert().success();
        String::from_utf8(run.get_output().stderr.clone()).unwrap()
    };
    output_of(&run);
    std::fs::rename(at("cut.csv"), at("whole.csv")).unwrap();
    let text = std::fs::read_to_string(at("whole.csv")).unwrap();
    for (cut, count, warning) in [
        (1, 2, "cut.csv:3: the last row has no line end, so its last value may be cut off"),
        (
            90,
            1,
            "cut.csv:3: the last row breaks off and is left out: the run that wrote it was stopped",
        ),
    ] {
        std::fs::write(at("cut.csv"), &text[..text.len() - cut]).unwrap();
        for reader in [
            &["compare", "cut.csv"][..],
            &["plot", "parts", "cut.csv", "--out", "parts.svg", "--force"],
            &["report", "cut.csv", "--out", "page.html", "--force"],
            &["rerun", "cut.csv", "--row", "1"],
            &["merge", "cut.csv", "--out", "merged.csv", "--force"],
            &["tune", "cut.csv", "--format", "openmpi", "--out", "rules.txt", "--force"],
        ] {
            let message = output_of(reader);
            assert!(message.contains(&format!("warning: {warning}\n")), "{reader:?}: {message}");
        }
        assert_eq!(read_file(&at("merged.csv")).unwrap().len(), count);
        let message = output_of(&[&run[..], &["--resume"]].concat());
        let line = "cut.csv:3: the last row is incomplete: its case runs again\n";
        assert!(
            message.contains(line) && message.contains("; 1 row kept from before;"),
            "{message}"
        );
        assert_eq!(timeless_rows(&at("cut.csv")), timeless_rows(&at("whole.csv")));
    }
}

#[test]
fn appended_text_is_kept_and_reported() {
    let dir = tempdir().unwrap();
    let Some((run, out)) = with_two_rows(dir.path()) else { return };
    let before = std::fs::read_to_string(&out).unwrap();
    File::options().append(true).open(&out).unwrap().write_all(b"theirs").unwrap();
    let output = run.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("rows.csv: another program appended to it during the run"),
        "{message}"
    );
    let text = std::fs::read_to_string(&out).unwrap();
    let rest = text.strip_prefix(&format!("{before}theirs\n")).unwrap();
    assert!(rest.lines().count() == 1 && rest.contains(",sleeps,"), "{text}");
}

/// `tests/plugins/power.c` simulates a disk that keeps only data that was synchronized.
#[test]
fn a_power_failure_loses_no_row_of_a_finished_case() {
    let dir = tempdir().unwrap();
    let (Some(torture), Some(power)) =
        (torture(dir.path()), compile_c("tests/plugins/power.c", dir.path(), "power", &[]))
    else {
        return;
    };
    let (out, disk) = (dir.path().join("rows.csv"), dir.path().join("disk"));
    std::fs::create_dir(&disk).unwrap();
    let mut run = slow_run(&torture, &out, |run| {
        run.env("LD_PRELOAD", &power).env("POWER_DISK", &disk);
    });
    wait_for("rows that have come are not brought to the disk", || {
        lines(&disk.join("rows.csv")) == 3
    });
    run.kill().unwrap();
    run.wait().unwrap();
    let resumed = disk.join("rows.csv");
    let kept = timeless_rows(&resumed);
    let alone = dir.path().join("alone.csv");
    let case = words("run --quiet --topology ring:6 --algorithm gen --algorithm pairwise --out");
    swapmeet_process(&case).arg(&alone).assert().success();
    assert_eq!(kept, timeless_rows(&alone));

    // Rows are sorted into a new file. The entry of this file in its folder must be synchronized,
    // too.
    let out = dir.path().join("other.csv");
    let mut run =
        swapmeet_process(&words("run --quiet --jobs 2 --timeout 2 --topology ring:6 --plugin-dir"));
    run.arg(&torture).args(["--algorithm", "sleeps", "--algorithm", "gen", "--out"]).arg(&out);
    run.env("LD_PRELOAD", &power).env("POWER_DISK", &disk).assert().code(1);
    let folders = std::fs::read_to_string(disk.join("folders")).unwrap_or_default();
    let place = dir.path().canonicalize().unwrap();
    assert!(folders.lines().any(|line| Path::new(line) == place), "{folders}");
}

#[test]
fn a_command_never_overwrites_its_plugin_or_its_program() {
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let rows = path("rows.csv");
    swapmeet(&words("run --quiet --topology ring:5 --algorithm gen --out"))
        .arg(&rows)
        .assert()
        .success();
    let Some(torture) = torture(dir.path()) else { return };
    let plugin = torture.to_str().unwrap();
    let line = format!(
        "run --plugin-dir {plugin} --topology ring:5 --algorithm prints --out {plugin} --force"
    );
    let run = words(&line);
    let message = refused(&run);
    assert!(message.contains("it is an input of this command: give another --out"), "{message}");
    swapmeet(&run[..7]).assert().success();
    let program = path("swapmeet");
    std::fs::copy(swapmeet_tests::program(), &program).unwrap();
    let merge = Command::new(&program)
        .args(["merge", &rows, "--force", "--out", &program])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&merge.stderr)
            .contains("it is an input of this command: give another --out")
    );
    assert_eq!(merge.status.code(), Some(2));
}

#[test]
fn a_pipe_cannot_be_resumed() {
    let dir = tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        return crate::support::tools::left_out("mkfifo", "no `mkfifo` here");
    }
    let line = format!("run --topology ring:5 --algorithm gen --resume --out {}", pipe.display());
    let args = words(&line);
    assert!(refused(&args).contains("a folder, a pipe or a device, expected a file of rows"));
}

/// In one case, the rows exceed a limit on the file size. In the other, the help text is written to
/// a full device.
#[test]
fn a_failed_write_is_an_error() {
    let dir = tempdir().unwrap();
    let program = program();
    let shell = |command: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command, "sh"]).arg(program).current_dir(dir.path());
        let output = shell.env("XDG_DATA_HOME", "/nonexistent").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, message) = shell(
        "ulimit -f 4; exec \"$1\" run --topology ring:5 --algorithm gen --repetitions 50 --out rows.csv",
    );
    assert!(
        status == Some(1) && message.contains("rows.csv: File too large"),
        "{status:?}: {message}"
    );
    let (status, message) = shell("exec \"$1\" --help > /dev/full");
    assert!(
        status == Some(1) && message.contains("standard output: No space left on device"),
        "{status:?}: {message}"
    );
}

#[test]
fn names_of_files_and_specs_cannot_control_the_terminal() {
    for args in [
        &["merge", "no\u{1b}[31mfile.csv", "--out", "x.csv"][..],
        &["run", "--topology", "ring:\u{1b}]0;title\u{7}", "--algorithm", "gen"],
        &["run", "--topology", "ring:5", "--algorithm", "g\u{1b}[2Jen"],
    ] {
        let message = refused(args);
        assert!(!message.contains(['\u{1b}', '\u{7}']), "{message:?}");
    }
}

#[test]
fn a_missing_home_folder_is_ignored() {
    let dir = tempdir().unwrap();
    for (home, cache) in [("", ""), ("relative", "relative")] {
        let mut run =
            swapmeet_process(&words("run --quiet --topology ring:5 --algorithm gen --out -"));
        run.env("HOME", home)
            .env("XDG_CACHE_HOME", cache)
            .env("XDG_DATA_HOME", cache)
            .current_dir(dir.path());
        run.assert().success();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

/// A program that writes a file removes the temporary files of killed programs, but not those of
/// running programs.
#[test]
fn temporary_files_of_killed_programs_are_removed() {
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let rows = path("rows.csv");
    swapmeet(&["run", "--quiet", "--topology", "ring:5", "--algorithm", "gen", "--out"])
        .arg(&rows)
        .assert()
        .success();
    // All files have just been written, so the test does not depend on their age.
    let draft = |name: &str| File::create(path(name)).unwrap();
    drop(draft(".swapmeet-left"));
    std::fs::create_dir(path(".swapmeet-folder")).unwrap();
    std::fs::write(path(".swapmeet-folder").join("half.goal"), "").unwrap();
    let busy = draft(".swapmeet-busy");
    busy.try_lock().unwrap();
    swapmeet(&["merge"]).arg(&rows).arg("--out").arg(path("all.csv")).assert().success();
    let left = [".swapmeet-left", ".swapmeet-folder", ".swapmeet-busy", "all.csv"]
        .map(|name| path(name).exists());
    assert_eq!(left, [false, false, true, true]);
}

/// If a file has two names (hard links), it is not replaced, because this would change only one of
/// them.
#[test]
fn a_file_with_two_names_is_not_replaced() {
    let dir = tempdir().unwrap();
    let [rows, one, other] = ["rows.csv", "one.csv", "other.csv"].map(|name| dir.path().join(name));
    swapmeet(&["run", "--quiet", "--topology", "ring:5", "--algorithm", "gen", "--out"])
        .arg(&rows)
        .assert()
        .success();
    std::fs::write(&one, "both").unwrap();
    std::fs::hard_link(&one, &other).unwrap();
    let message =
        refused(&["merge", rows.to_str().unwrap(), "--out", one.to_str().unwrap(), "--force"]);
    assert!(
        message.contains("the file has a hard link, which would keep the old contents"),
        "{message}"
    );
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "both");
}

/// If the run continued, rows that were computed by two different builds would contain the digest
/// of one of them.
#[test]
fn a_plugin_rebuilt_during_a_run_runs_no_more_cases() {
    let dir = tempdir().unwrap();
    let (Some(torture), Some(ring)) =
        (torture(dir.path()), compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]))
    else {
        return;
    };
    let out = dir.path().join("rows.csv");
    let run = slow_run(&torture, &out, |run| {
        run.args(["--timeout", "1", "--algorithm", "c-ring", "--plugin-dir"]).arg(&ring);
    });
    wait_for("no rows", || lines(&out) == 3);
    let mut built_again = std::fs::read(&ring).unwrap();
    built_again.push(0);
    std::fs::remove_file(&ring).unwrap();
    std::fs::write(&ring, built_again).unwrap();
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(1));
    let rows = read_file(&out).unwrap();
    let reason = "changed during the run: its plugin_digest was `sha256:";
    assert_eq!((rows[3].algorithm.as_str(), rows[3].status), ("c-ring", Status::Error));
    assert!(rows[3].reason.starts_with(reason), "{}", rows[3].reason);
}
