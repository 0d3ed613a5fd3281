//! A file that the program writes is either complete or unchanged, even if the disk is full or
//! other processes use the file.

use crate::support::{interruptible, swapmeet};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::Duration;
use swapmeet_results::read_file;
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    let dir = tempdir().unwrap();
    let args =
        ["run", "--quiet", "--out", "rows.csv", "--topology", "ring:5", "--algorithm", "gen"];
    swapmeet(&args).args(["--repetitions", "40"]).current_dir(dir.path()).assert().success();
    dir
}

/// Runs the program in `folder` with a limit on the file size, in blocks of 512 bytes.
fn cramped(folder: &Path, blocks: u32, arguments: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec swapmeet {arguments}");
    let path = swapmeet_tests::path_with_program();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_DATA_HOME", "/nonexistent");
    shell.output().unwrap()
}

fn output_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_trace_to_a_full_disk_is_an_error_of_output() {
    let dir = tempdir().unwrap();
    for format in ["text", "json", "html"] {
        let arguments =
            format!("trace --format {format} --topology torus:8x8 --algorithm gen --out out");
        let output = cramped(dir.path(), 4, &arguments);
        let message = output_of(&output);
        assert_eq!(output.status.code(), Some(1), "{format}: {message}");
        assert!(message.contains("error: out: File too large"), "{format}: {message}");
        assert!(names(dir.path()).is_empty(), "{format}: nothing is left");
    }
}

fn signal_to(process: &Child, signal: &str) {
    let mut kill = Command::new("kill");
    let kill = kill.arg(format!("-{signal}")).arg(process.id().to_string());
    assert!(kill.status().unwrap().success());
}

/// If an interrupted merge left its draft, a hidden file as large as the output would remain.
#[test]
fn an_interrupted_merge_leaves_no_draft() {
    let dir = tempdir().unwrap();
    let run = ["run", "--quiet", "--out", "rows.csv", "--topology", "ring:4", "--algorithm", "gen"];
    swapmeet(&run).args(["--repetitions", "6000"]).current_dir(dir.path()).assert().success();
    for signal in ["INT", "TERM", "HUP"] {
        let mut merge = interruptible();
        merge.args(["merge", "rows.csv", "--out", "merged.csv"]).current_dir(dir.path());
        let mut merge = merge.spawn().unwrap();
        while !names(dir.path()).iter().any(|name| name.starts_with('.')) {
            assert!(merge.try_wait().unwrap().is_none(), "{signal}: no draft was seen");
            std::thread::sleep(Duration::from_micros(200));
        }
        signal_to(&merge, signal);
        assert_eq!(merge.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(names(dir.path()), ["rows.csv"], "{signal}");
    }
}

/// `nohup` makes the program that it starts ignore the signal of a closed terminal.
#[test]
fn a_run_under_nohup_continues_after_the_terminal_is_closed() {
    let dir = tempdir().unwrap();
    let script = "trap '' HUP; exec \"$0\" run --quiet --out rows.csv --topology ring:4 \
                  --algorithm gen --repetitions 6000";
    let mut run = Command::new("sh");
    run.args(["-c", script]).arg(swapmeet_tests::program()).current_dir(dir.path());
    let mut run = run.env("XDG_DATA_HOME", "/nonexistent").spawn().unwrap();
    let rows = dir.path().join("rows.csv");
    while std::fs::metadata(&rows).map_or(0, |rows| rows.len()) < 4096 {
        assert!(run.try_wait().unwrap().is_none(), "the run has ended before the signal");
        std::thread::sleep(Duration::from_millis(1));
    }
    signal_to(&run, "HUP");
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert_eq!(read_file(&rows).unwrap().len(), 6000);
}

#[test]
fn an_export_to_a_full_disk_is_an_error_of_output() {
    let dir = tempdir().unwrap();
    for format in ["mpi", "goal", "chakra", "simgrid", "msccl", "json"] {
        let arguments = format!(
            "export --format {format} --topology torus:8x8 --algorithm gen --machine paragon:hop_us=0 --out out"
        );
        let output = cramped(dir.path(), 4, &arguments);
        let message = output_of(&output);
        assert_eq!(output.status.code(), Some(1), "{format}: {message}");
        // For SimGrid's format, the export prints a remark about what the format does not express.
        let error = message.lines().find(|line| !line.contains("remark: ")).unwrap_or_default();
        assert!(error.starts_with("error: out: File too large"), "{format}: {message}");
        assert!(names(dir.path()).is_empty(), "{format}: nothing is left");
    }
    let arguments = "export --format msccl --topology ring:4 --algorithm linear --out out \
                     --workload one-spike:max=64,rest=1";
    let output = cramped(dir.path(), 4, arguments);
    assert_eq!(output.status.code(), Some(2), "{}", output_of(&output));
}

#[test]
fn merge_does_not_touch_a_file_that_a_run_is_writing() {
    let dir = folder();
    let out = dir.path().join("live.csv");
    std::fs::write(&out, "half a run").unwrap();
    let run = File::open(&out).unwrap();
    run.lock().unwrap();
    let merge = || {
        swapmeet(&["merge", "rows.csv", "--out", "live.csv", "--force"])
            .current_dir(dir.path())
            .output()
            .unwrap()
    };
    let output = merge();
    assert_eq!(
        (output.status.code(), output_of(&output).as_str()),
        (Some(2), "error: live.csv: another run is writing to it\n")
    );
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "half a run");
    drop(run);
    assert!(merge().status.success());
    assert_eq!(read_file(&out).unwrap().len(), 40);
}

#[test]
fn a_full_disk_loses_no_existing_row() {
    let dir = folder();
    std::fs::copy(dir.path().join("rows.csv"), dir.path().join("all.csv")).unwrap();
    let before = std::fs::read(dir.path().join("all.csv")).unwrap();
    let output = cramped(dir.path(), 2, "merge rows.csv --out all.csv --force");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        output_of(&output).starts_with("error: all.csv: File too large"),
        "{}",
        output_of(&output)
    );
    assert_eq!(std::fs::read(dir.path().join("all.csv")).unwrap(), before);
    assert_eq!(names(dir.path()), ["all.csv", "rows.csv"], "nothing is left of the attempt");
}

#[test]
fn a_file_that_cannot_be_written_is_unchanged() {
    let dir = folder();
    for (name, arguments) in [
        ("figure.svg", "plot rows.csv --out figure.svg --force"),
        ("figure.png", "plot rows.csv --out figure.png --force"),
        ("page.html", "report rows.csv --out page.html --force"),
        ("tpu-v4.md", "reproduce tpu-v4 --out . --force"),
        ("swapmeet.1", "man --out . --force"),
    ] {
        std::fs::write(dir.path().join(name), "from before").unwrap();
        let output = cramped(dir.path(), 1, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {}", output_of(&output));
        assert!(
            output_of(&output).contains("File too large"),
            "{arguments}: {}",
            output_of(&output)
        );
        assert_eq!(
            std::fs::read_to_string(dir.path().join(name)).unwrap(),
            "from before",
            "{arguments}"
        );
        let there = names(dir.path());
        assert!(
            !there.iter().any(|name| name.starts_with(".swapmeet") || name.starts_with(".tmp")),
            "{there:?}"
        );
    }
}

#[test]
fn a_failed_new_plugin_can_be_repeated() {
    let dir = tempdir().unwrap();
    let output = cramped(dir.path(), 1, "new-plugin mine");
    assert_eq!(output.status.code(), Some(1), "{}", output_of(&output));
    assert!(output_of(&output).contains("File too large"), "{}", output_of(&output));
    assert_eq!(names(dir.path()), [""; 0]);
    swapmeet(&["new-plugin", "mine"]).current_dir(dir.path()).assert().success();
    let modes = |name: &str| {
        std::os::unix::fs::PermissionsExt::mode(
            &dir.path().join(name).metadata().unwrap().permissions(),
        )
    };
    std::fs::create_dir(dir.path().join("plain")).unwrap();
    assert_eq!(modes("mine"), modes("plain"), "a folder like any other");
}

#[test]
fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    File::create(path("plain")).unwrap();
    File::create(path("private.csv")).unwrap();
    std::fs::set_permissions(path("private.csv"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("private.csv", path("link.csv")).unwrap();
    for out in ["new.csv", "link.csv"] {
        let merge = ["merge", "rows.csv", "--out", out, "--force"];
        swapmeet(&merge).current_dir(dir.path()).assert().success();
        assert_eq!(read_file(&path(out)).unwrap().len(), 40);
    }
    let mode = |name: &str| path(name).metadata().unwrap().permissions().mode();
    assert_eq!(mode("new.csv"), mode("plain"));
    assert_eq!(mode("private.csv") & 0o777, 0o600);
    assert!(path("link.csv").symlink_metadata().unwrap().is_symlink());
    // The file has more permissions than a new file would get with the umask.
    std::fs::set_permissions(path("new.csv"), std::fs::Permissions::from_mode(0o664)).unwrap();
    swapmeet(&["merge", "rows.csv", "--out", "new.csv", "--force"])
        .current_dir(dir.path())
        .assert()
        .success();
    assert_eq!(mode("new.csv") & 0o777, 0o664);
}

#[test]
fn a_dangling_link_leads_to_the_new_file() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir(path("sub")).unwrap();
    std::os::unix::fs::symlink("all.csv", path("sub/second.csv")).unwrap();
    std::os::unix::fs::symlink("sub/second.csv", path("first.csv")).unwrap();
    swapmeet(&["merge", "rows.csv", "--out", "first.csv"])
        .current_dir(dir.path())
        .assert()
        .success();
    assert!(path("first.csv").is_symlink() && path("sub/second.csv").is_symlink());
    assert_eq!(read_file(&path("sub/all.csv")).unwrap().len(), 40);
    std::os::unix::fs::symlink("round.csv", path("round.csv")).unwrap();
    let output = swapmeet(&["merge", "rows.csv", "--out", "round.csv"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(!output.status.success() && path("round.csv").is_symlink(), "{}", output_of(&output));
}

#[test]
fn an_impossible_output_path_is_bad_input() {
    let dir = folder();
    for (arguments, message) in [
        (
            "merge rows.csv --out nowhere/all.csv",
            "error: nowhere/all.csv: No such file or directory (os error 2)\n",
        ),
        (
            "plot rows.csv --out rows.csv/a.svg",
            "error: rows.csv/a.svg: Not a directory (os error 20)\n",
        ),
        ("report rows.csv --out .", "error: .: Is a directory (os error 21)\n"),
    ] {
        let output = cramped(dir.path(), 1000, arguments);
        assert_eq!((output.status.code(), output_of(&output).as_str()), (Some(2), message));
    }
}

/// For a named pipe, the program also prints an error message. For standard output it prints none,
/// because programs such as `head` close it on purpose.
#[test]
fn a_named_pipe_that_is_closed_early_is_an_error() {
    let dir = tempdir().unwrap();
    let run = "run --quiet --topology ring:5 --algorithm gen --repetitions 4000 --out";
    let path = swapmeet_tests::path_with_program();
    let closing = |script: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .current_dir(dir.path())
            .env("PATH", &path)
            .env("XDG_DATA_HOME", "/nonexistent");
        let output = shell.output().unwrap();
        (std::fs::read_to_string(dir.path().join("status")).unwrap(), output_of(&output))
    };
    assert_eq!(
        closing(&format!("(sleep 0.2; swapmeet {run} -; echo $? > status) | true")),
        ("1\n".to_owned(), String::new())
    );
    assert_eq!(
        closing(&format!("mkfifo pipe; true < pipe & swapmeet {run} pipe; echo $? > status")),
        ("1\n".to_owned(), "error: pipe: Broken pipe (os error 32)\n".to_owned())
    );
}

#[test]
fn unread_messages_do_not_affect_a_run() {
    let dir = tempdir().unwrap();
    let run = "swapmeet run --topology ring:5 --topology ring:8 --algorithm gen --algorithm pex --repetitions 20 --out rows.csv";
    let path = swapmeet_tests::path_with_program();
    let mut seen = Vec::new();
    for ending in
        ["2>/dev/null", "2>/dev/full", "2>&-", "2>&1 >/dev/null | true; exit \"$(cat status)\""]
    {
        let script = match ending.contains('|') {
            true => format!("(sleep 0.2; {run}; echo $? > status) {ending}"),
            false => format!("{run} {ending}"),
        };
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .current_dir(dir.path())
            .env("PATH", &path)
            .env("XDG_DATA_HOME", "/nonexistent");
        let status = shell.status().unwrap().code();
        seen.push((status, read_file(&dir.path().join("rows.csv")).unwrap().len()));
        std::fs::remove_file(dir.path().join("rows.csv")).unwrap();
    }
    assert_eq!(seen, [(Some(0), 80); 4]);
    let wrong = |ending: &str| {
        let mut shell = Command::new("sh");
        let script = format!("swapmeet run --topology tors:4 --algorithm gen {ending}");
        shell
            .args(["-c", &script])
            .current_dir(dir.path())
            .env("PATH", &path)
            .status()
            .unwrap()
            .code()
    };
    assert_eq!([wrong("2>/dev/null"), wrong("2>/dev/full")], [Some(2); 2]);
}
