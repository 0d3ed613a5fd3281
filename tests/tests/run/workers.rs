//! Whatever a plugin does to its process, the row of every good case is written, and is right.

use crate::support::tools::left_out;
use crate::support::{
    compile_c, printed, rows, swapmeet, swapmeet_process, timeless, torture, words,
};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use swapmeet_results::{Status, read_file, read_records};
use swapmeet_tests::project;
use tempfile::tempdir;

mod left_behind;
mod limits;
mod messages;
#[cfg(any(not(target_os = "linux"), swapmeet_portable))]
mod portable;

const ENDS: [(&str, Status, &str); 27] = [
    ("segfault", Status::Crashed, "its process was killed by signal 11 (SIGSEGV)"),
    ("aborts", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    ("divides", Status::Crashed, "its process was killed by signal 8 (SIGFPE)"),
    ("overflows", Status::Crashed, "its process was killed by signal"),
    ("exits", Status::Crashed, "its process ended with exit status 0, without an answer"),
    ("exits-three", Status::Crashed, "its process ended with exit status 3, without an answer"),
    ("loops", Status::Timeout, "not done after 1.5 s"),
    ("sleeps", Status::Timeout, "not done after 1.5 s"),
    ("stops", Status::Timeout, "not done after 1.5 s"),
    ("ignores", Status::Timeout, "not done after 1.5 s"),
    ("eats", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    ("kills-group", Status::Crashed, "its process was killed by signal 9 (SIGKILL)"),
    ("closes", Status::Crashed, "its process "),
    ("forks", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    (
        "garbles",
        Status::Crashed,
        "invalid reply from the worker process: unknown variant `Row`, expected one of `Ready`, `Unfit`, `Of` at line 1 column 6",
    ),
    ("outlives", Status::Crashed, "its process was killed by signal 6 (SIGABRT)"),
    ("falls", Status::Crashed, "its process was killed by signal 11 (SIGSEGV); it was in step 2"),
    ("dawdles", Status::Timeout, "not done after 1.5 s; it was in step 3"),
    (
        "floods",
        Status::Crashed,
        "invalid reply from the worker process: a line of more than 1 MiB, expected a shorter one",
    ),
    ("pesters", Status::Timeout, "not done after 1.5 s"),
    ("babbles", Status::Timeout, "not done after 1.5 s"),
    ("lies", Status::Invalid, "after step 0: block 1 -> 0"),
    ("odd-answer", Status::Error, "the plugin returned 12345, expected 0 to 4"),
    ("fails", Status::Error, "on purpose"),
    ("goes-on", Status::Error, "and on and on"),
    ("prints", Status::Ok, ""),
    ("wanders", Status::Ok, ""),
];

#[test]
fn a_misbehaving_plugin_affects_only_its_own_row() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    // There is a good case before each bad case, and another one at the end.
    let names: Vec<String> = (2..ENDS.len() + 3).map(|n| format!("bruck:radix={n}")).collect();
    let asked = names.iter().flat_map(|name| ["--algorithm", name]);
    // The good cases are run alone in processes, too, so that the digest of the build is the same.
    let good = rows(
        &["--memory-limit", "256MiB", "--topology", "ring:6"]
            .into_iter()
            .chain(asked)
            .collect::<Vec<_>>(),
    );
    let out = dir.path().join("rows.csv");
    let mut args =
        vec!["run", "--plugin-dir", file.to_str().unwrap(), "--topology", "ring:6", "--quiet"];
    for (good, (bad, ..)) in names.iter().zip(&ENDS) {
        args.extend(["--algorithm", good, "--algorithm", bad]);
    }
    args.extend(["--algorithm", &names[ENDS.len()], "--out", out.to_str().unwrap()]);
    args.extend(["--timeout", "1.5", "--memory-limit", "256MiB"]);
    let mark = dir.path().join("mark");
    let output = swapmeet_process(&args).env("SWAPMEET_TORTURE_MARK", &mark).output().unwrap();
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

/// If a case changes its process, this does not affect other rows, even if the case succeeds.
#[test]
fn a_changed_process_serves_no_other_case() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let line =
        format!("--plugin-dir {} --topology ring:6 --machine delta --jobs 1", file.display());
    let common = words(&line);
    let good = ["gen", "pex-gen", "pairwise", "bruck", "ring", "linear"];
    let alone = rows(&[&common[..], &good.map(|name| ["--algorithm", name]).concat()].concat());
    let bad = ["rounds", "limits", "alarms", "blocks", "threads", "forges"];
    // All cases run on one worker, which reuses its process for several cases if possible.
    let mixed: Vec<&str> = bad
        .iter()
        .zip(good)
        .flat_map(|(bad, good)| ["--algorithm", bad, "--algorithm", good])
        .chain(["--algorithm", "prints"])
        .collect();
    let mixed = rows(&[&common[..], &mixed].concat());
    assert_eq!(mixed.len(), 13);
    for (row, alone) in mixed.iter().skip(1).step_by(2).zip(&alone) {
        assert_eq!(timeless(row), timeless(alone));
    }
    let ends: Vec<_> =
        mixed.iter().step_by(2).map(|row| (row.algorithm.as_str(), row.status)).collect();
    let rounds = if cfg!(target_arch = "x86_64") { Status::Error } else { Status::Ok };
    let ok = |name| (name, Status::Ok);
    let expected = [
        ok("limits"),
        ok("alarms"),
        ok("blocks"),
        ok("threads"),
        ("forges", Status::Crashed),
        ok("prints"),
    ];
    assert_eq!(ends, [&[("rounds", rounds)][..], &expected].concat());
    assert!(
        mixed[10].reason.starts_with("invalid reply from the worker process: "),
        "{}",
        mixed[10].reason
    );
}

#[test]
fn the_sandbox_refuses_access() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let file = file.to_str().unwrap();
    let listed = printed(&["list", "plugins"]);
    if !listed.contains("sandbox: Landlock ") || listed.contains("not prevented") {
        return left_out("landlock", "a kernel that holds all of the sandbox");
    }
    let (secret, mark) = (dir.path().join("secret"), dir.path().join("mark"));
    std::fs::write(&secret, "a secret").unwrap();
    // Each algorithm attempts one forbidden access. If it succeeds, the case fails, with this text
    // as the reason.
    let reaching = [
        ("writes", "could write a file"),
        ("reads", "could read a file"),
        ("connects", "could open a socket"),
        ("signals", "could signal the program"),
        ("starts", "could start a program"),
        ("begets", "could start a process"),
        ("environment", "could read a variable"),
        ("peeks", "could read what is not its own"),
        ("separates", "could start a thread with its own descriptors"),
        ("cuts", "could cut a file off"),
        ("removes", "could remove a file"),
    ];
    let ends = |more: &[&str]| {
        let asked = reaching.map(|(name, _)| ["--algorithm", name]).concat();
        let mut run = swapmeet_process(&words(&format!(
            "run --out - --jobs 1 --topology ring:4 --plugin-dir {file}"
        )));
        let output = run
            .args(asked)
            .args(more)
            .env("TORTURE_TOKEN", "a secret")
            .env("SWAPMEET_TORTURE_SECRET", &secret)
            .env("SWAPMEET_TORTURE_MARK", &mark)
            .output()
            .unwrap();
        let rows =
            read_records("standard output", &String::from_utf8(output.stdout).unwrap()).unwrap();
        rows.into_iter().map(|row| (row.status, row.reason)).collect::<Vec<_>>()
    };
    let out_of_reach = vec![(Status::Ok, String::new()); reaching.len()];
    assert_eq!(ends(&[]), out_of_reach);
    assert_eq!(
        (std::fs::read_to_string(&secret).unwrap().as_str(), mark.exists()),
        ("a secret", false)
    );
    let within: Vec<_> =
        reaching.iter().map(|(_, could)| (Status::Error, (*could).to_owned())).collect();
    assert_eq!(ends(&["--no-sandbox"]), within);
    assert!(mark.exists() && !secret.exists(), "the test's own doing would show");
}

#[test]
fn a_plugin_can_read_the_files_of_its_case() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let listed = printed(&["list", "plugins"]);
    if !listed.contains("sandbox: Landlock ") {
        return left_out("landlock", "a kernel with Landlock");
    }
    let elsewhere = tempdir().unwrap();
    let [named, other] = ["named.csv", "other.csv"].map(|name| elsewhere.path().join(name));
    [&named, &other].iter().for_each(|path| std::fs::write(path, "0,1\n1,0\n").unwrap());
    let reads = |secret: &Path| {
        let mut run =
            swapmeet_process(&words("run --quiet --out - --topology ring:2 --algorithm reads"));
        run.arg("--plugin-dir")
            .arg(&file)
            .args(["--workload", &format!("matrix:{}", named.display())]);
        let output =
            run.current_dir(dir.path()).env("SWAPMEET_TORTURE_SECRET", secret).output().unwrap();
        let mut rows =
            read_records("standard output", &String::from_utf8(output.stdout).unwrap()).unwrap();
        (rows[0].status, std::mem::take(&mut rows[0].reason))
    };
    assert_eq!(reads(&named), (Status::Error, "could read a file".to_owned()));
    assert_eq!(reads(&other), (Status::Ok, String::new()));
}

/// If the plugin crashes or hangs, the completed steps are printed, and the fault is reported.
#[test]
fn a_trace_of_a_crashing_or_hanging_plugin_ends_with_a_message() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let trace = |algorithm: &str| {
        let line = format!("trace --topology ring:4 --timeout 0.5 --plugin-dir {}", file.display());
        let args = words(&line);
        let output = swapmeet(&args).args(["--algorithm", algorithm]).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (status, _, message) = trace("segfault");
    assert_eq!(status, Some(1));
    assert!(
        message
            .contains("segfault on ring:4: crashed: its process was killed by signal 11 (SIGSEGV)"),
        "{message}"
    );
    let (status, _, message) = trace("exits");
    assert_eq!(status, Some(1));
    assert!(
        message.contains("exits on ring:4: crashed: its process ended with exit status 0"),
        "{message}"
    );
    let (status, _, message) = trace("loops");
    assert_eq!(status, Some(1));
    assert!(message.contains("loops on ring:4: timeout: not done after 0.5 s"), "{message}");
    let (status, text, _) = trace("repeats");
    assert_eq!(
        (status, text.lines().filter(|line| line.starts_with("  step ")).count()),
        (Some(1), 1),
        "{text}"
    );
    let last: Vec<&str> = text.lines().last().unwrap_or_default().split_whitespace().collect();
    assert_eq!(last, ["0", "->", "1", "breaks", "a", "rule"], "{text}");
    let (status, text, message) = trace("prints");
    assert_eq!(
        (status, text.lines().filter(|line| line.starts_with("  step ")).count()),
        (Some(0), 3),
        "{message}"
    );
}

/// The tables of each paper are computed in a child process. The message must name the schedule.
#[test]
fn a_misbehaving_plugin_affects_only_its_reproduction() {
    let dir = tempdir().unwrap();
    let source = std::fs::read_to_string(project("plugins/ring-c/ring.c")).unwrap();
    let plan =
        "plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)\n{";
    assert!(source.contains(plan) && source.contains("text(\"c-ring\")"));
    let file = dir.path().join("bad.c");
    let (under_way, limits) =
        ("error: suh-shin: suh-shin on ", ["--timeout", "0.5", "--memory-limit", "256MiB"]);
    for (name, deed, end) in [
        ("crashes", "*(volatile int *)8 = 1;", "its process was killed by signal 11 (SIGSEGV)"),
        ("exits", "exit(0);", "its process ended with exit status 0, without an answer"),
        ("hangs", "for (;;) *(volatile int *)&host->size;", "not done after 0.5 s"),
        (
            "eats",
            "for (;;) { char *p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); }",
            "its process was killed by signal 6 (SIGABRT)",
        ),
    ] {
        let bad = source.replace("text(\"c-ring\")", "text(\"suh-shin\")").replacen(
            plan,
            &format!("{plan} {deed}"),
            1,
        );
        std::fs::write(&file, format!("#include <stdlib.h>\n#include <string.h>\n{bad}")).unwrap();
        let Some(plugin) = compile_c(file.to_str().unwrap(), dir.path(), name, &[]) else { return };
        let mut reproduce =
            swapmeet(&["reproduce", "suh-shin", "--plugin-dir", plugin.to_str().unwrap()]);
        reproduce.arg("--replace-bundled");
        let output = reproduce.args(limits).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}: {message}");
        assert!(
            message.starts_with(under_way) && message.ends_with(&format!(": {end}\n")),
            "{name}: {message}"
        );
    }
}

#[test]
fn output_is_attributed_to_the_right_algorithm() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let topologies = ["ring:4", "ring:5", "ring:6", "ring:7", "ring:8"]
        .map(|ring| ["--topology", ring])
        .concat();
    let line =
        format!("--plugin-dir {} --jobs 1 --algorithm prints --algorithm segfault", file.display());
    let cases = words(&line);
    for row in rows(&[&cases[..], &topologies].concat()) {
        if row.algorithm == "segfault" {
            assert_eq!(
                row.reason, "its process was killed by signal 11 (SIGSEGV)",
                "{}",
                row.topology
            );
        }
    }
}

#[test]
fn a_matrix_is_read_in_the_worker() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("m.csv");
    File::create(&file).unwrap().write_all(b"1,2\n3,4\n").unwrap();
    let workload = format!("matrix:{}", file.display());
    let rows = rows(&["--topology", "ring:2", "--algorithm", "gen", "--workload", &workload]);
    assert_eq!((rows[0].status, rows[0].total_bytes), (Status::Ok, Some(5)));
}
