//! The real program in a pseudo-terminal.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swapmeet_results::{Record, read_records};
use swapmeet_tests::program;

pub(super) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
}

pub(super) fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

pub(super) fn some(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

pub(super) fn shell(folder: &Path, script: &str) -> CommandBuilder {
    let program = program();
    let mut shell = CommandBuilder::new("sh");
    shell.args(["-c", &script.replace("swapmeet", &program.display().to_string())]);
    shell.cwd(folder);
    let settings = [
        ("TERM", "xterm-256color"),
        ("LC_ALL", "C.UTF-8"),
        ("XDG_DATA_HOME", "/nonexistent"),
        ("RUST_BACKTRACE", "0"),
    ];
    settings.iter().for_each(|(key, value)| shell.env(key, value));
    shell.env("XDG_STATE_HOME", folder.join(".state"));
    ["NO_COLOR", "SWAPMEET_PLUGIN_PATH"].iter().for_each(|key| shell.env_remove(key));
    shell
}

pub(super) fn in_terminal(
    shell: CommandBuilder,
    columns: u16,
    rows: u16,
) -> (Box<dyn MasterPty + Send>, Box<dyn Child + Send + Sync>) {
    let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
    let child = pair.slave.spawn_command(shell).unwrap();
    (pair.master, child)
}

impl Terminal {
    /// Runs a shell command in a directory. When it has ended, the shell prints its exit status and
    /// the settings of the terminal.
    pub(super) fn start(folder: &Path, command: &str, columns: u16, rows: u16) -> Self {
        let this = std::env::current_exe().unwrap();
        let script = command.replace("THIS-TEST", &this.display().to_string());
        let settings = "stty -a | tr ';' '\\n' | tr ' ' '\\n' | grep -x -e '-*echo' -e '-*icanon'";
        let after = format!("echo \"status $?\"; {settings}; echo that is all");
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

    pub(super) fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    pub(super) fn line(&self, text: &str) -> String {
        let shown = self.shown();
        shown
            .lines()
            .find(|line| line.contains(text))
            .unwrap_or_else(|| panic!("no {text}:\n{shown}"))
            .to_owned()
    }

    pub(super) fn cells(&self, text: &str) -> Vec<vt100::Cell> {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        let (rows, columns) = screen.size();
        let (rows, columns) = (u16::from(rows), u16::from(columns));
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let cells = places.filter_map(|(row, column)| screen.cell(row, column));
        cells.filter(|cell| cell.contents() == text).cloned().collect()
    }

    pub(super) fn wait_for(&self, text: &str) {
        self.wait(text, || self.shown().contains(text));
    }

    pub(super) fn wait(&self, what: &str, done: impl Fn() -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < patience, "waited in vain for {what}:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(super) fn keys(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub(super) fn resize(&self, columns: u16, rows: u16) {
        // The lock keeps what the program draws in its new size from a screen of the old size.
        let mut screen = self.screen.lock().unwrap();
        self.master.resize(size(columns, rows)).unwrap();
        screen.screen_mut().set_size(some(rows), some(columns));
    }

    /// Waits for the end of the program and checks that the terminal is restored. Returns the
    /// normal screen.
    pub(super) fn end(mut self, status: u8) -> String {
        self.wait_for("that is all");
        self.child.wait().unwrap();
        let shown = self.shown();
        assert!(shown.contains(&format!("status {status}\n")), "{shown}");
        for line in ["echo", "icanon"] {
            assert!(
                shown.lines().any(|l| l.trim() == line),
                "the terminal is not as it was:\n{shown}"
            );
        }
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        assert!(!screen.alternate_screen(), "still on the other screen");
        assert!(!screen.hide_cursor(), "no cursor");
        assert!(!screen.bracketed_paste(), "still bracketing");
        assert_eq!(
            screen.mouse_protocol_mode(),
            vt100::MouseProtocolMode::None,
            "the mouse is still caught"
        );
        shown
    }
}

pub(super) fn rows(path: &Path) -> Vec<Record> {
    read_records("rows", &std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(super) fn processes_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let here = entries.filter(|entry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
    });
    let line = |path: PathBuf| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).replace('\0', " ")
    };
    here.map(|entry| line(entry.path().join("cmdline"))).collect()
}
