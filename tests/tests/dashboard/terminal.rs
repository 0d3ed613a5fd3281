//! The real program in a pseudo-terminal: what it leaves on disk, and how it leaves the terminal.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swapmeet_results::{Record, read_records};
use swapmeet_tests::{build, swapmeet};

/// A shell's child in a terminal, and what the terminal shows.
struct Terminal {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn some(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

/// A shell that runs a script in a folder.
fn shell(folder: &Path, script: &str) -> CommandBuilder {
    let program = build().join("swapmeet");
    let mut shell = CommandBuilder::new("sh");
    shell.args(["-c", &script.replace("swapmeet", &program.display().to_string())]);
    shell.cwd(folder);
    let settings =
        [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8"), ("XDG_DATA_HOME", "/nonexistent"), ("RUST_BACKTRACE", "0")];
    settings.iter().for_each(|(key, value)| shell.env(key, value));
    ["NO_COLOR", "SWAPMEET_PLUGIN_PATH"].iter().for_each(|key| shell.env_remove(key));
    shell
}

/// Starts it in a terminal of its own.
fn in_terminal(
    shell: CommandBuilder,
    columns: u16,
    rows: u16,
) -> (Box<dyn MasterPty + Send>, Box<dyn Child + Send + Sync>) {
    let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
    let child = pair.slave.spawn_command(shell).unwrap();
    (pair.master, child)
}

impl Terminal {
    /// Runs a shell command in a folder; what it leaves behind is printed after it: its exit status and how the terminal is set.
    fn start(folder: &Path, command: &str, columns: u16, rows: u16) -> Self {
        let this = std::env::current_exe().unwrap();
        let script = command.replace("THIS-TEST", &this.display().to_string());
        let after = "echo \"status $?\"; stty -a | tr ';' '\\n' | tr ' ' '\\n' | grep -x -e '-*echo' -e '-*icanon'";
        let shell = shell(folder, &format!("{script}; {after}"));
        let (master, child) = in_terminal(shell, columns, rows);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(some(rows), some(columns), 200)));
        let (mut reader, parser) = (master.try_clone_reader().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n) = reader.read(&mut bytes) {
                if n == 0 {
                    break;
                }
                parser.lock().unwrap().process(&bytes[..n]);
            }
        });
        let writer = master.take_writer().unwrap();
        Self { master, writer, child, screen }
    }

    fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen shows a text.
    fn wait_for(&self, text: &str) {
        self.wait(text, || self.shown().contains(text));
    }

    fn wait(&self, what: &str, done: impl Fn() -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < patience, "waited in vain for {what}:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn keys(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).unwrap();
        self.screen.lock().unwrap().screen_mut().set_size(some(rows), some(columns));
    }

    /// Waits for the end and checks that the terminal is as it was; returns what the normal screen shows.
    fn end(mut self, status: u8) -> String {
        self.wait_for("icanon");
        self.child.wait().unwrap();
        let shown = self.shown();
        assert!(shown.contains(&format!("status {status}\n")), "{shown}");
        for line in ["echo", "icanon"] {
            assert!(shown.lines().any(|l| l.trim() == line), "the terminal is not as it was:\n{shown}");
        }
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        assert!(!screen.alternate_screen(), "still on the other screen");
        assert!(!screen.hide_cursor(), "no cursor");
        assert!(!screen.bracketed_paste(), "still bracketing");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "the mouse is still caught");
        shown
    }
}

fn rows(path: &Path) -> Vec<Record> {
    read_records("rows", &std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn pick_run_compare_save_quit() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui --out out.csv", 80, 24);
    terminal.wait_for("Explore: 0 cases picked");
    terminal.keys("isuh-shin\r");
    terminal.wait_for("[x] suh-shin");
    terminal.keys("ipex\r");
    terminal.wait_for("[x] pex");
    terminal.keys("R3");
    terminal.wait_for("✓ blocks");
    terminal.wait_for("done: 2 cases verified");
    terminal.keys("b");
    terminal.wait_for("compared with");
    // One thing changed, run again.
    terminal.keys("1lli\u{15}uniform:8\r");
    terminal.wait_for("[x] uniform:8");
    terminal.keys("a");
    terminal.wait_for("4/4");
    terminal.keys("S\u{15}session.toml\r");
    terminal.wait_for("saved session.toml");
    terminal.keys("Q");
    let left = terminal.end(0);
    assert!(left.contains("suh-shin") && left.contains("uniform:8"), "the results are left on the screen:\n{left}");

    assert_eq!(rows(&folder.path().join("out.csv")).len(), 4);
    assert_eq!(rows(&folder.path().join("session.csv")).len(), 4);
    swapmeet(&["run", "--out", "again.csv", "session.toml"]).current_dir(folder.path()).assert().success();
    assert_eq!(rows(&folder.path().join("again.csv")).len(), 4);
}

#[test]
fn a_terminal_that_becomes_too_small_says_so_and_still_takes_q() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal =
        Terminal::start(folder.path(), "swapmeet run --tui --topology torus:4x4 --algorithm pex", 80, 24);
    terminal.wait_for("done: 1 case verified");
    terminal.resize(140, 44);
    terminal.wait_for("5 Where time goes");
    terminal.resize(30, 8);
    terminal.wait_for("30x8 is too small");
    terminal.wait_for("44x12 is needed");
    terminal.keys("q");
    terminal.end(0);
}

#[test]
fn ctrl_c_in_the_middle_leaves_whole_rows_and_a_sane_terminal() {
    let folder = tempfile::tempdir().unwrap();
    // A quick case first, then one that takes a while.
    let command = "swapmeet tui --out rows.csv --topology torus:4x4 --topology torus:64x64 --algorithm gen";
    let mut terminal = Terminal::start(folder.path(), command, 100, 30);
    terminal.wait_for("1/2");
    terminal.keys("\u{3}");
    terminal.end(130);
    let rows = rows(&folder.path().join("rows.csv"));
    assert_eq!(rows.iter().map(|r| r.topology.as_str()).collect::<Vec<_>>(), ["torus:4x4"]);
}

#[test]
fn being_ended_from_outside_leaves_a_sane_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(
        folder.path(),
        "sh -c 'echo $$ > pid; exec swapmeet tui --topology torus:4x4 --algorithm pex'",
        80,
        24,
    );
    terminal.wait_for("done: 1 case verified");
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(std::process::Command::new("kill").arg(pid.trim()).status().unwrap().success());
    terminal.end(0);
}

/// Processes that work in a folder, by their command lines.
fn processes_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let here = entries.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder));
    let line = |path: PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).replace('\0', " ");
    here.map(|entry| line(entry.path().join("cmdline"))).collect()
}

/// Its window is closed while cases run. The system says so with a signal to the programs in the foreground; others only find that
/// nothing comes from their terminal any more.
#[test]
fn a_terminal_that_is_gone_ends_the_program_and_leaves_whole_rows() {
    for start in ["exec swapmeet", "exec setsid swapmeet"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let command = format!("{start} tui --out rows.csv --topology torus:4x4 --topology torus:64x64 --algorithm gen");
        // Not as the terminal's first process: `setsid` would fork there.
        let (master, mut child) = in_terminal(shell(&path, &format!("sh -c '{command}'; true")), 100, 30);
        let mut reader = master.try_clone_reader().unwrap();
        let mut parser = vt100::Parser::new(some(30), some(100), 0);
        let mut bytes = [0; 4096];
        while !parser.screen().contents().contains("1/2") {
            let n = reader.read(&mut bytes).unwrap();
            assert!(n > 0, "it ended by itself");
            parser.process(&bytes[..n]);
        }
        assert!(!processes_in(&path).is_empty());
        drop((reader, master));
        let patience = Instant::now() + Duration::from_secs(60);
        while !processes_in(&path).is_empty() {
            assert!(Instant::now() < patience, "still there: {:?}", processes_in(&path));
            std::thread::sleep(Duration::from_millis(10));
        }
        child.wait().unwrap();
        let rows = rows(&path.join("rows.csv"));
        assert_eq!(rows.iter().map(|r| r.topology.as_str()).collect::<Vec<_>>(), ["torus:4x4"]);
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let command = "THIS-TEST --exact terminal::panics_on_the_screen --ignored --nocapture";
    let shown = Terminal::start(folder.path(), command, 80, 24).end(101);
    assert!(shown.contains("as was asked for"), "the message is on the normal screen:\n{shown}");
}

#[test]
#[ignore = "panics, within the test above"]
fn panics_on_the_screen() {
    swapmeet_tui::terminal::on_screen(|_| panic!("as was asked for")).unwrap();
}

#[test]
fn without_a_terminal_it_names_what_to_use() {
    let output = swapmeet(&["tui", "--topology", "torus:4x4", "--algorithm", "pex"]).assert().code(2);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert_eq!(
        message,
        "error: the dashboard needs a terminal for input and output: `swapmeet run` does the same work without\n"
    );
}

#[test]
fn what_is_wrong_is_told_before_the_screen_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(folder.path(), "swapmeet tui --topology torus:4x0", 80, 24);
    let shown = terminal.end(2);
    assert!(shown.contains("dimension 2 is 0"), "{shown}");
}
