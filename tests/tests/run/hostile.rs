//! A hostile plugin cannot affect anything outside of its process, whichever command loads it.

use crate::support::tools::left_out;
use crate::support::{
    compile_c, printed, rows, swapmeet, swapmeet_process, timeless, torture, words,
};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use swapmeet_results::{Record, Status, Verified, read_records};
use swapmeet_tests::program;
use tempfile::{TempDir, tempdir};

/// The attacks that only seccomp and Landlock prevent, in the order of `hostile.c`.
const ATTACKS: [&str; 18] = [
    "write",
    "read",
    "fork",
    "kill",
    "socket",
    "prlimit",
    "setrlimit",
    "setpriority",
    "sched_setaffinity",
    "ioprio_set",
    "chmod",
    "chown",
    "utime",
    "shmget",
    "msgget",
    "semget",
    "memfd_create",
    "setsid",
];

/// A hostile plugin, the file for its reports of successful attacks, and the attacked files.
struct Hostile {
    folder: TempDir,
    plugin: PathBuf,
}

impl Hostile {
    /// Compiles the plugin, if there is a C compiler and the kernel supports the whole sandbox.
    fn new() -> Option<Self> {
        let listed = printed(&["list", "plugins"]);
        if !listed.contains("sandbox: Landlock ") || listed.contains("not prevented") {
            left_out("landlock", "a kernel with all of the sandbox");
            return None;
        }
        let folder = tempdir().unwrap();
        let plugin = compile_c("tests/plugins/hostile.c", folder.path(), "hostile", &[])?;
        std::fs::write(folder.path().join("victim"), "a secret").unwrap();
        Some(Self { folder, plugin })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("SWAPMEET_PLUGIN_PATH", self.folder.path().to_owned()),
            ("SWAPMEET_HOSTILE_REPORT", "9".into()),
            ("SWAPMEET_HOSTILE_VICTIM", self.path("victim")),
            ("SWAPMEET_HOSTILE_MARK", self.path("mark")),
            ("XDG_DATA_HOME", "/nonexistent".into()),
            ("XDG_CONFIG_HOME", "/nonexistent".into()),
            // The descriptions of plugins must not be cached, so that each command loads the
            // plugin.
            ("XDG_CACHE_HOME", "/nonexistent".into()),
        ]
    }

    /// Returns the arguments with which `sh` runs the program, whose plugin writes its reports to
    /// descriptor 9.
    fn script(&self, line: &str) -> [String; 2] {
        let report = self.path("report");
        let program = program();
        let script = format!("exec 9>>'{}'; exec '{}' {line}", report.display(), program.display());
        ["-c".to_owned(), script]
    }

    fn run(&self, line: &str, more: &[(&str, &str)]) -> Output {
        let mut shell = Command::new("sh");
        shell.args(self.script(line)).current_dir(self.folder.path());
        shell.envs(self.environment()).envs(more.iter().copied()).output().unwrap()
    }

    /// Returns the lines that the plugin has reported, without duplicates, and empties the report.
    fn reported(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("report")).unwrap_or_default();
        let _ = std::fs::remove_file(self.path("report"));
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| *line != "loaded") {
            if !lines.iter().any(|known| known == line) {
                lines.push(line.to_owned());
            }
        }
        if text.lines().any(|line| line == "loaded") {
            lines.insert(0, "loaded".to_owned());
        }
        lines
    }
}

#[test]
fn no_command_lets_a_hostile_constructor_reach_anything() {
    let Some(hostile) = Hostile::new() else { return };
    let file = hostile.plugin.display().to_string();
    let on_ring = "--topology ring:4 --algorithm c-ring";
    let commands = [
        format!("run {on_ring} --out rows.csv --quiet"),
        format!("check {file} --topology ring:4"),
        "list plugins".to_owned(),
        "list algorithms --format json".to_owned(),
        format!("trace {on_ring}"),
        format!("trace {on_ring} --summary"),
        format!("export --format goal {on_ring} --out schedule.goal"),
        "optimum --topology ring:4".to_owned(),
        "reproduce tpu-v4 --out tables".to_owned(),
        "rerun rows.csv --row 1".to_owned(),
    ];
    for line in &commands {
        let output = hostile.run(line, &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(hostile.reported(), ["loaded"], "{line}: {message}");
        assert_eq!(output.status.code(), Some(0), "{line}: {message}");
    }
    let output = hostile.run("plot rows.csv --out figure.svg", &[]);
    assert!(output.status.success() && hostile.reported().is_empty(), "a plot needs no plugin");
    let asked = [("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "3")];
    let output = hostile.run("-- swapmeet run --algorithm c-", &asked);
    assert!(String::from_utf8_lossy(&output.stdout).contains("c-ring"), "{output:?}");
    assert_eq!(hostile.reported(), ["loaded"], "completions");
    in_terminal(&hostile);
    assert_eq!(hostile.reported(), ["loaded"], "tui");
    assert!(!hostile.path("mark").exists());
}

fn in_terminal(hostile: &Hostile) {
    const LONGEST: Duration = Duration::from_secs(20);
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut shell = CommandBuilder::new("sh");
    shell.args(hostile.script("tui"));
    shell.cwd(hostile.folder.path());
    hostile.environment().into_iter().for_each(|(key, value)| shell.env(key, value));
    let mut child = pair.slave.spawn_command(shell).unwrap();
    let begin = Instant::now();
    let is_loaded = |report: &Path| std::fs::metadata(report).is_ok_and(|m| m.len() > 0);
    while !is_loaded(&hostile.path("report")) && begin.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Within this time, the constructor of the plugin makes all its attempts.
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The plugin sends 64 MiB to `check` through the socket of its process, and prints terminal
/// escapes. The main program must not need 1 GiB of address space.
#[test]
fn an_answer_of_check_has_a_limit_and_is_escaped() {
    let dir = tempdir().unwrap();
    let check = |name: &str, deed: &str| {
        let macros = [("AT_LOAD", deed), ("_DEFAULT_SOURCE", "1")];
        let file = compile_c("tests/plugins/loading.c", dir.path(), name, &macros)?;
        let script = "ulimit -v 1048576; exec \"$0\" check \"$1\" --topology ring:4";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(program()).arg(file);
        let output = shell.output().unwrap();
        Some((output.status.code(), String::from_utf8(output.stdout).unwrap()))
    };
    let fills = "static char b[1 << 20]; int fd = 3, i = 0; memset(b, 'x', sizeof b); \
                 while (fd < 16) if (i++ == 64 || write(fd, b, sizeof b) < 0) { fd++; i = 0; } \
                 _exit(0)";
    let Some((status, message)) = check("fills", fills) else { return };
    assert_eq!(status, Some(1), "{message}");
    assert!(message.contains("when it is loaded, it uses files that it did not open"), "{message}");
    let (_, message) = check("prints", "puts(\"\\033[31mred\")").unwrap();
    assert!(message.contains("prints on standard output: ` [31mred`"), "{message}");
    assert!(!message.contains('\u{1b}'), "{message:?}");
}

/// Without the sandbox, the attacks of the other tests succeed. So it is the sandbox that prevents
/// them.
#[test]
fn without_the_sandbox_the_attacks_succeed() {
    let Some(hostile) = Hostile::new() else { return };
    for line in [
        "list plugins --no-sandbox".to_owned(),
        format!("check {} --topology ring:4 --no-sandbox", hostile.plugin.display()),
    ] {
        let output = hostile.run(&line, &[]);
        let reported = hostile.reported();
        // `setsid` always fails, because the leader of a process group cannot begin a session.
        let missing: Vec<_> = ATTACKS
            .iter()
            .filter(|name| **name != "setsid" && !reported.iter().any(|line| line == *name))
            .collect();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(missing.is_empty(), "{line}: not possible: {missing:?}; {message}");
    }
}

#[test]
fn refused_calls_are_named_on_request() {
    let dir = tempdir().unwrap();
    let needs = "if (shmget(IPC_PRIVATE, 4096, 0600) < 0) abort()";
    let Some(file) = compile_c(
        "tests/plugins/loading.c",
        dir.path(),
        "needs",
        &[("AT_LOAD", needs), ("_DEFAULT_SOURCE", "1")],
    ) else {
        return;
    };
    let check = ["check", file.to_str().unwrap(), "--topology", "ring:4"];
    let text = |output: &[u8]| String::from_utf8_lossy(output).into_owned();
    let output = swapmeet(&check).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("SWAPMEET_SANDBOX_TRACE=1"), "{output:?}");
    if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
        return left_out("trace", "an architecture with a handler");
    }
    let output = swapmeet_process(&check).env("SWAPMEET_SANDBOX_TRACE", "1").output().unwrap();
    let message = text(&output.stdout);
    assert!(message.contains("sandbox: refused system call "), "{message}");
    assert!(message.contains(" (shmget)"), "{message}");
    assert!(!text(&output.stderr).contains("SWAPMEET_SANDBOX_TRACE"), "{output:?}");
    swapmeet(&check).arg("--no-sandbox").assert().success();
    let ring = words("--topology ring:4 --algorithm ring");
    assert_eq!(rows(&ring)[0].status, Status::Ok);
}

/// When the sandbox gets a rule for a path, the kernel follows links. A link next to a plugin that
/// has the name of a library must not permit access to the file or folder to which it leads.
#[test]
fn a_link_beside_a_plugin_opens_no_other_file() {
    let dir = tempdir().unwrap();
    let folder = dir.path().join("plugins");
    std::fs::create_dir(&folder).unwrap();
    let Some(file) = torture(&folder) else { return };
    if !printed(&["list", "plugins"]).contains("sandbox: Landlock ") {
        return left_out("landlock", "a kernel with Landlock");
    }
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "a secret").unwrap();
    for (link, target) in [
        ("root.so.1", Path::new("/")),
        ("folder.so", Path::new("..")),
        ("file.so.1", &secret),
        ("relative.so", Path::new("../secret")),
    ] {
        let link = folder.join(link);
        symlink(target, &link).unwrap();
        let mut run =
            swapmeet_process(&words("run --quiet --out - --topology ring:4 --algorithm reads"));
        run.arg("--plugin-dir").arg(&file).env("SWAPMEET_TORTURE_SECRET", &secret);
        let output = run.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let row = read_records("standard output", &text).unwrap().remove(0);
        assert_eq!((row.status, &*row.reason), (Status::Ok, ""), "{}", target.display());
        std::fs::remove_file(link).unwrap();
    }
}

/// Some memory does not count towards `--memory-limit`. Resource limits and a sealed file bound
/// this memory.
#[test]
fn memory_that_the_limit_does_not_count_is_bounded() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    for more in [&[][..], &["--no-sandbox"]] {
        let line = "--topology ring:4 --algorithm pipes --algorithm reopens --plugin-dir";
        let args = [&words(line)[..], &[file.to_str().unwrap()], more].concat();
        let ends: Vec<_> = rows(&args).into_iter().map(|row| (row.status, row.reason)).collect();
        assert_eq!(ends, vec![(Status::Ok, String::new()); 2], "{more:?}");
    }
}

/// The threads would take cores, and places in the limit on processes, from the cases of other
/// plugins.
#[test]
fn a_plugin_with_many_threads_loses_only_its_own_row() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let line = "--topology ring:4 --jobs 2 --timeout 20 --algorithm breeds --algorithm gen \
                --algorithm spins --algorithm pairwise --plugin-dir";
    let begin = Instant::now();
    let rows = rows(&[&words(line)[..], &[file.to_str().unwrap()]].concat());
    assert!(begin.elapsed() < Duration::from_secs(15), "the threads ran until the time limit");
    for row in rows {
        if ["breeds", "spins"].contains(&&*row.algorithm) {
            assert_eq!(row.status, Status::Crashed, "{}", row.reason);
            assert!(row.reason.contains(" threads, expected at most "), "{}", row.reason);
        } else {
            assert_eq!((row.status, &*row.reason), (Status::Ok, ""), "{}", row.algorithm);
        }
    }
}

/// A memory limit applies to one worker. Idle workers that still have their memory must therefore
/// end.
#[test]
fn idle_workers_do_not_add_their_memory() {
    let dir = tempdir().unwrap();
    let mark = dir.path().join("mark");
    let mut run = Command::new(program());
    run.args(words("run --quiet --jobs 1 --topology ring:4 --memory-limit 1GiB"));
    run.env("XDG_DATA_HOME", "/nonexistent").env("SWAPMEET_TORTURE_MARK", &mark);
    for plugin in ["k1", "k2", "k3", "k4"] {
        let name = format!("\"{plugin}\"");
        let macros = [("NAME", &*name), ("_DEFAULT_SOURCE", "1")];
        let file = compile_c("tests/plugins/torture.c", dir.path(), plugin, &macros);
        let Some(file) = file else { return };
        run.arg("--plugin-dir").arg(file).args(["--algorithm", &format!("{plugin}/keeps")]);
    }
    let mut running = run.stdout(Stdio::null()).spawn().unwrap();
    let given = format!("SWAPMEET_TORTURE_MARK={}\0", mark.display());
    let mut most = 0;
    while running.try_wait().unwrap().is_none() {
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let ours = processes.filter(|path| {
            let variables = std::fs::read(path.join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&variables).contains(&given)
        });
        most = most.max(ours.filter_map(|path| resident_kib(&path)).sum());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(running.wait().unwrap().success());
    assert!((300 << 10..700 << 10).contains(&most), "{most} KiB at the same time");
}

fn resident_kib(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A plugin can write a row to the socket of its worker. Rows that are contradictory or meaningless
/// are refused.
#[test]
fn a_forged_row_must_be_plausible() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let good = Record {
        status: Status::Ok,
        verified: Verified::Blocks,
        time_us: Some(3.0),
        startup_us: Some(1.0),
        transmission_us: Some(2.0),
        lower_bound_us: Some(2.5),
        ..Record::default()
    };
    let long = Some(1e300);
    for (forged, expected) in [
        (good.clone(), None),
        (Record { time_us: Some(0.001), ..good.clone() }, Some("the sum of its parts")),
        (
            Record { lower_bound_us: Some(1484.0), ..good.clone() },
            Some("a time of at least `lower_bound_us`"),
        ),
        (
            Record { time_us: long, startup_us: long, transmission_us: None, ..good.clone() },
            Some("a time of at most 1e30 µs"),
        ),
        (Record { status: Status::Timeout, ..good }, Some("no value: the row is not `ok`")),
    ] {
        let outcome: Vec<String> = forged.outcome().collect();
        let reply = serde_json::json!({
            "Of": [1, {"Case": {"Finished": {"case": 0, "record": {"Ok": outcome}}}}]
        });
        let line = "run --quiet --out - --topology ring:4 --algorithm invents --plugin-dir";
        let mut run = swapmeet_process(&words(line));
        let run = run.arg(&file).env("SWAPMEET_TORTURE_REPLY", reply.to_string());
        let text = String::from_utf8(run.output().unwrap().stdout).unwrap();
        let row = read_records("standard output", &text).unwrap().remove(0);
        match expected {
            None => assert_eq!((row.status, row.time_us), (Status::Ok, Some(3.0))),
            Some(why) => {
                let reason =
                    format!("invalid reply from the worker process: time_us: expected {why}");
                assert_eq!((row.status, row.reason), (Status::Crashed, reason));
            }
        }
    }
}

/// Other threads of the plugin call functions of version 1.1 of the ABI, during a plan and after
/// its end. The row of that case may have any values, but the row of the next case of the same
/// plugin must be right.
#[test]
fn calls_from_other_threads_do_not_change_the_next_row() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let line = "--topology mesh:3x3 --jobs 1 --timeout 20 --algorithm gen --algorithm prints";
    let plugin = ["--plugin-dir", file.to_str().unwrap()];
    let alone = rows(&[&words(line)[..], &plugin].concat());
    let line = "--topology mesh:3x3 --jobs 1 --timeout 20 --algorithm haunts --algorithm gen \
                --algorithm prints";
    let after = rows(&[&words(line)[..], &plugin].concat());
    assert_eq!(after.len(), 3);
    for (row, alone) in after[1..].iter().zip(&alone) {
        assert_eq!((alone.status, timeless(row)), (Status::Ok, timeless(alone)));
    }
}
