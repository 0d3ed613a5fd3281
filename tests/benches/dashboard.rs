//! How soon the dashboard answers a key: from the key's byte going into the terminal to the panel it asks for being on the screen, while nothing
//! runs and while every core is busy with workers.
//!
//! `cargo bench --bench dashboard`. A picture of something that moves is drawn every 33 ms: an answer within one such time is at once.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing to say")]

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Keys pressed in each situation.
const KEYS: usize = 400;
/// What each key brings onto the screen.
const PANELS: [(&str, &str); 4] =
    [("2", "2 Cases:"), ("3", "3 Comparison"), ("5", "5 Where time goes"), ("6", "6 Network")];

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{KEYS} keys each, milliseconds to the answer, {cores} cores");
    println!("{:<28}{:>10}{:>10}{:>10}{:>10}", "", "median", "95 %", "99 %", "worst");
    for (columns, rows) in [(80, 24), (200, 60)] {
        for (name, jobs) in [("nothing runs", 0), ("every core busy", cores), ("twice as many workers", 2 * cores)] {
            let mut times = measure(columns, rows, jobs);
            times.sort();
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
            let name = format!("{columns}x{rows} {name}");
            println!("{name:<28}{:>10.2}{:>10.2}{:>10.2}{:>10.2}", at(0.5), at(0.95), at(0.99), at(1.0));
        }
    }
}

/// Presses keys on a dashboard with so many workers, and says how long each answer took.
fn measure(columns: u16, rows: u16, jobs: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = CommandBuilder::new(swapmeet_tests::build().join("swapmeet"));
    command.args(["tui", "--topology", "torus:4x4", "--algorithm", "suh-shin"]);
    if jobs > 0 {
        // More than anybody waits for: cases of seconds each.
        command.args(["--topology", "torus:128x128", "--algorithm", "gen", "--repetitions", "50"]);
        command.args(["--jobs", &jobs.to_string()]);
    }
    set_up(&mut command, folder.path());
    let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).expect("a terminal");
    let mut child = pair.slave.spawn_command(command).expect("the program starts");
    drop(pair.slave);
    let mut writer = pair.master.take_writer().expect("a way in");
    let mut screen = Screen::read(pair.master.try_clone_reader().expect("a way out"), columns, rows);

    screen.wait_for(if jobs > 0 { "running" } else { "done:" });
    std::thread::sleep(Duration::from_secs(1));
    let mut times = Vec::new();
    for (key, panel) in PANELS.iter().cycle().take(KEYS) {
        // Not in step with the pictures.
        std::thread::sleep(Duration::from_micros(20_000 + 7_919 * (times.len() as u64 % 11)));
        let pressed = Instant::now();
        writer.write_all(key.as_bytes()).expect("a key");
        times.push(screen.wait_for_panel(panel).duration_since(pressed));
    }
    writer.write_all(b"\x03").expect("a key");
    child.wait().expect("it ends");
    times
}

fn set_up(command: &mut CommandBuilder, folder: &Path) {
    command.cwd(folder);
    for (key, value) in [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8"), ("XDG_DATA_HOME", "/nonexistent")] {
        command.env(key, value);
    }
    command.env_remove("SWAPMEET_PLUGIN_PATH");
}

/// What the terminal shows, as of the bytes taken in.
struct Screen {
    bytes: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
}

impl Screen {
    fn read(mut reader: Box<dyn Read + Send>, columns: u16, rows: u16) -> Self {
        let (sender, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 16];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send((Instant::now(), buffer[..n].to_vec())).is_err() {
                    return;
                }
            }
        });
        let some = |n| NonZero::new(n).expect("a size");
        Self { bytes, parser: vt100::Parser::new(some(rows), some(columns), 0) }
    }

    /// Waits until the screen is such, and says when the bytes came that made it so.
    fn wait(&mut self, what: &str, is_such: impl Fn(&vt100::Screen) -> bool) -> Instant {
        loop {
            let (at, bytes) = self.bytes.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| {
                eprintln!("waited in vain for {what}:\n{}", self.parser.screen().contents());
                std::process::exit(1)
            });
            self.parser.process(&bytes);
            if is_such(self.parser.screen()) {
                return at;
            }
        }
    }

    fn wait_for(&mut self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    /// Waits until a panel's tab is the one that is lit.
    fn wait_for_panel(&mut self, title: &str) -> Instant {
        let number = &title[..1];
        self.wait(title, |screen| {
            let columns = screen.size().1.get();
            let lit = |column: &u16| {
                screen.cell(0, *column).is_some_and(|c| c.contents() == number && c.bgcolor() != vt100::Color::Default)
            };
            screen.contents().contains(title) && (0..columns).any(|column| lit(&column))
        })
    }
}
