//! Functions that run the program, and checks for required tools.

pub(crate) mod rehearsals;
pub(crate) mod tools;

use assert_cmd::assert::Assert;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::sync::OnceLock;
use swapmeet_results::{Record, read_file, read_records};
use swapmeet_tests::{program, project};
use tempfile::TempDir;

/// A command that runs the program, in this process if possible. It has the methods of
/// [`assert_cmd::Command`].
#[derive(Clone)]
pub(crate) struct Program {
    args: Vec<OsString>,
    folder: Option<PathBuf>,
}

impl Program {
    pub(crate) fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    pub(crate) fn output(&mut self) -> std::io::Result<Output> {
        let Program { args, folder } = self.clone();
        if self.needs_process() {
            let mut command = swapmeet_process(&[]);
            command.args(args);
            if let Some(folder) = folder {
                command.current_dir(folder);
            }
            return command.output();
        }
        program();
        let run = move || {
            if let Some(folder) = folder {
                enter(&folder);
            }
            swapmeet::run(args)
        };
        let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(run)?;
        let captured = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Output {
            status: ExitStatus::from_raw(i32::from(captured.status) << 8),
            stdout: captured.stdout,
            stderr: captured.stderr,
        })
    }

    pub(crate) fn assert(&mut self) -> Assert {
        Assert::new(self.output().expect("a command in this process can always start"))
            .append_context("command", format!("{:?}", self.args))
    }

    /// Returns whether the command must run in a process of its own. This is so if it starts the
    /// program again, limits its workers, or loads a plugin from a file, which may crash.
    fn needs_process(&self) -> bool {
        let command = self.args.first().and_then(|word| word.to_str());
        command.is_none_or(|word| matches!(word, "check" | "reproduce" | "tui"))
            || self.args.iter().any(|arg| {
                let arg = arg.to_string_lossy();
                let flag = arg.split('=').next().unwrap_or(&arg);
                matches!(flag, "--plugin-dir" | "--memory-limit" | "--tui")
            })
    }
}

/// Changes the current folder of this thread and of the threads that it starts. Other threads keep
/// theirs.
fn enter(folder: &Path) {
    // SAFETY: the call changes only whether this thread shares its folder with others.
    assert_eq!(unsafe { libc::unshare(libc::CLONE_FS) }, 0, "a thread can have its own folder");
    std::env::set_current_dir(folder).expect("the folder of a test exists");
}

/// Returns a command of the program that finds only the bundled plugins.
pub(crate) fn swapmeet(args: &[&str]) -> Program {
    Program { args: args.iter().map(OsString::from).collect(), folder: None }
}

/// Returns a command as [`swapmeet`] does, which always runs in a process of its own, with workers
/// in child processes. Only tests of processes, variables, signals and streams need this.
pub(crate) fn swapmeet_process(args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(program());
    command.args(args).env_remove("SWAPMEET_PLUGIN_PATH").env("XDG_DATA_HOME", "/nonexistent");
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("NO_COLOR", "1");
    command
}

/// Returns a command that can be interrupted by signals. If signals are ignored when the program
/// starts, as under `nohup`, it continues to ignore them, so this command resets them.
pub(crate) fn interruptible() -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP").arg(program());
    command
}

pub(crate) fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Runs the program, which must succeed. Returns what it prints on standard output.
pub(crate) fn printed(args: &[&str]) -> String {
    let output = swapmeet(args).output().expect("the program runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// Returns the rows that `swapmeet run ARGS --out -` prints, regardless of the exit status.
pub(crate) fn rows(args: &[&str]) -> Vec<Record> {
    let output =
        swapmeet(&["run", "--out", "-", "--quiet"]).args(args).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("rows are UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    read_records("standard output", &text).unwrap_or_else(|e| panic!("{e}\n{errors}"))
}

pub(crate) fn row_of(topology: &str, algorithm: &str, workload: &str, machine: &str) -> Record {
    let mut flags = vec!["--topology", topology, "--algorithm", algorithm];
    flags.extend(["--workload", workload, "--machine", machine]);
    rows(&flags).remove(0)
}

pub(crate) fn timeless(record: &Record) -> Record {
    Record { plan_ms: None, wall_ms: None, ..record.clone() }
}

pub(crate) fn timeless_rows(path: &Path) -> Vec<Record> {
    let rows = read_file(path).unwrap_or_else(|e| panic!("{e}"));
    rows.iter().map(timeless).collect()
}

/// Runs the program, which must refuse its input. Returns the message.
pub(crate) fn refused(args: &[&str]) -> String {
    let output = swapmeet(args).output().expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "data only on stdout");
    message
}

/// Returns the data and the messages that a successful run of the program printed.
pub(crate) fn texts_of(run: assert_cmd::assert::Assert) -> [String; 2] {
    let run = run.success();
    let output = run.get_output();
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Compiles a C file of the project into a plugin in `folder` with the given macros. Prints a line
/// and returns `None` if there is no C compiler.
pub(crate) fn compile_c(
    source: &str,
    folder: &Path,
    name: &str,
    macros: &[(&str, &str)],
) -> Option<PathBuf> {
    or_left_out(compiled(source, folder, name, macros))
}

fn or_left_out(compiled: Option<PathBuf>) -> Option<PathBuf> {
    if compiled.is_none() {
        tools::left_out("cc", "no C compiler `cc`");
    }
    compiled
}

/// Compiles C source. Returns `None` if there is no C compiler.
fn compiled(source: &str, folder: &Path, name: &str, macros: &[(&str, &str)]) -> Option<PathBuf> {
    // Tests load some plugins in their own process, so the process must know the program.
    program();
    let out = folder.join(format!("{name}.{}", std::env::consts::DLL_EXTENSION));
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC", "-I"]);
    cc.arg(project("framework/abi/include")).arg("-o").arg(&out).arg(project(source));
    for (key, value) in macros {
        cc.arg(format!("-D{key}={value}"));
    }
    match cc.output() {
        Err(_) => None,
        Ok(output) if output.status.success() => Some(out),
        Ok(output) => panic!("{source}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Compiles `torture.c`, whose algorithms misbehave. If there is no C compiler, prints a line and
/// returns `None`. Many tests use this plugin, so it is compiled once, and each test gets a copy.
pub(crate) fn torture(folder: &Path) -> Option<PathBuf> {
    static COMPILED: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        let folder = TempDir::new().expect("the folder of temporary files is writable");
        let macros = [("_DEFAULT_SOURCE", "1")];
        let file = compiled("tests/plugins/torture.c", folder.path(), "torture", &macros)?;
        Some((folder, file))
    });
    or_left_out(compiled.as_ref().map(|(_, file)| {
        let copy = folder.join(file.file_name().expect("a plugin file has a name"));
        std::fs::copy(file, &copy).expect("the folder of a test is writable");
        copy
    }))
}

/// Compiles `wrong.c` with these macros into a plugin with this file name.
pub(crate) fn wrong(folder: &Path, name: &str, macros: &[(&str, &str)]) -> Option<PathBuf> {
    compile_c("tests/plugins/wrong.c", folder, name, macros)
}
