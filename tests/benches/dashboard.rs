//! Measures response times of the dashboard: the time from when the byte of a key is written to the
//! terminal until the requested panel is on the screen. This is measured without workers and with
//! workers on all cores. A second benchmark moves a slider, after which the dashboard runs the
//! selected group again. A third one opens 102,060 rows. It measures the processor time of the
//! thread that draws, for each key, and the memory of each row after every view was opened once.
//!
//! Run all by `cargo bench --bench dashboard`. The dashboard draws animations every 33 ms, so a
//! response within this time appears immediate.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run may panic")]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use swapmeet_results::{CsvSink, Record, Sink, Status, Verified};

const KEYS: usize = 400;
/// The keys, each with a text that is on the screen when the panel of the key is open.
const PANELS: [(&str, &str); 4] =
    [("1", "1 Choose:"), ("2", "2 Table:"), ("3", "3 Winners"), ("4", "4 Where time goes")];
const NOTCHES: usize = 40;
const ROWS: usize = 102_060;

fn main() {
    println!("what if, milliseconds from a key to the times of the group: {}", summary(slide()));
    keys();
    many_rows();
}

fn many_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.csv");
    std::fs::write(&file, rows()).expect("a file");
    let mut command = CommandBuilder::new(swapmeet_tests::program());
    command.arg("tui");
    command.arg(&file);
    let began = Instant::now();
    let (mut child, mut writer, mut screen) = start(command, folder.path(), 120, 40);
    let opened = screen.wait("the map", |s| s.contents().contains("3 Winners (1 of"));
    println!("{ROWS} rows, seconds until the map: {:.1}", (opened - began).as_secs_f64());
    let id = child.process_id().expect("a process");
    // The first number in `schedstat` is the processor time in nanoseconds.
    let busy = || {
        let text = std::fs::read_to_string(format!("/proc/{id}/task/{id}/schedstat"));
        let first = text.ok().and_then(|text| text.split(' ').next()?.parse().ok());
        Duration::from_nanos(first.expect("schedstat needs Linux"))
    };
    println!("{ROWS} rows, milliseconds of processor time of the thread that draws, for each key");
    // Each measurement has keys that prepare it, keys that are pressed in turn, and a pause in
    // milliseconds. The pause follows each key, and is longer than the work for it. The last keys
    // of `filter` delete the text that its first keys have entered.
    let filter = "pex 1\x7f\x7f\x7f\x7f\x7f";
    for (preparation, keys, pause) in [
        ("2", "j", 100),
        ("2", "s", 100),
        ("2", "r", 100),
        ("2/", filter, 100),
        ("4p", "]", 100),
        ("3m", "j", 100),
        ("3c", "j", 100),
        ("c", "]", 100),
        ("3c/", filter, 100),
        ("4n", "l", 100),
        ("1", "j", 100),
        ("L", "j", 100),
        ("d", "j", 100),
        ("5jj", "l", 3000),
    ] {
        writer.write_all(preparation.as_bytes()).expect("a key");
        std::thread::sleep(Duration::from_millis(300));
        let count = if pause > 100 { NOTCHES / 8 } else { NOTCHES };
        let times = keys.bytes().cycle().take(count).map(|key| {
            let before = busy();
            writer.write_all(&[key]).expect("a key");
            std::thread::sleep(Duration::from_millis(pause));
            busy() - before
        });
        println!("after {preparation}, keys {keys:?}: {}", summary(times.collect()));
        writer.write_all(b"\r").expect("a key");
    }
    let with_rows = memory(id);
    writer.write_all(b"\x03").expect("a key");
    child.wait().expect("it ends");
    let mut command = CommandBuilder::new(swapmeet_tests::program());
    command.args(["tui", "--force", "--out", "none.csv"]);
    let (mut child, mut writer, mut screen) = start(command, folder.path(), 120, 40);
    screen.wait_for("1 Choose");
    let without = memory(child.process_id().expect("a process"));
    writer.write_all(b"\x03").expect("a key");
    child.wait().expect("it ends");
    let each = with_rows.saturating_sub(without) as f64 / ROWS as f64;
    println!("memory: {each:.0} bytes for each of {ROWS} rows");
}

fn memory(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).expect("Linux");
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    let kibibytes = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    kibibytes.expect("a number") * 1024
}

/// Returns rows of ten algorithms on many networks with many sizes, as CSV.
fn rows() -> Vec<u8> {
    const ALGORITHMS: [&str; 10] = [
        "pex",
        "bruck",
        "suh-shin",
        "pairwise",
        "gen",
        "direct",
        "two-stage",
        "four-stage",
        "row-column",
        "linear",
    ];
    let mut csv = Vec::new();
    let mut sink = CsvSink::new(&mut csv);
    for row in 0..ROWS {
        let (algorithm, size, network) = (row % 10, row / 10 % 100, row / 1000);
        let time = 1000.0 + (row * 7919 % 9973) as f64;
        // Every column has a value, with as many digits as in rows of the program.
        let (count, number) = (Some(row as u64 * 37), Some(row as f64 * 1.234_567));
        let bytes = Some(row as u128 * 7919);
        let record = Record {
            experiment: "bench".to_owned(),
            algorithm: ALGORITHMS[algorithm].to_owned(),
            plugin: "classic".to_owned(),
            plugin_version: "0.3.0".to_owned(),
            collective: "alltoall".to_owned(),
            topology: format!("torus:{}x{}", 4 + network % 10 * 2, 4 + network / 10 * 2),
            nodes: 64,
            workload: format!("uniform:{}", 8 * (size + 1)),
            machine: "paragon".to_owned(),
            model: "wormhole".to_owned(),
            repetition: 0,
            seed: 42,
            status: Status::Ok,
            reason: String::new(),
            verified: Verified::Blocks,
            time_us: Some(time),
            startup_us: Some(time / 2.0),
            transmission_us: Some(time / 8.0),
            propagation_us: Some(time / 16.0),
            rearrangement_us: Some(time / 16.0),
            barrier_us: Some(time / 8.0),
            contention_us: Some(time / 16.0),
            reduction_us: Some(time / 16.0),
            lower_bound_us: Some(time / 3.0),
            steps: Some(size as u64 + 1),
            messages: count,
            critical_bytes: bytes,
            critical_hops: count,
            total_bytes: bytes,
            total_hop_bytes: bytes,
            max_link_messages: Some(network as u64),
            sum_link_messages: count,
            max_sends: Some(1),
            max_receives: Some(1),
            peak_node_bytes: bytes,
            rearrangements: Some(3),
            plan_ms: number,
            wall_ms: number,
            note: "run in rounds: up to 63 simultaneous messages at a node with ports=1".to_owned(),
            send_buffer_bytes: bytes,
            receive_buffer_bytes: bytes,
            swapmeet_version: "0.3.0".to_owned(),
            plugin_digest: format!("sha256:{:032x}", 7),
            machine_definition: format!("paragon:{}", "startup_us=75,".repeat(25)),
            inputs: String::new(),
            block_bytes: Some(8 * (size as u64 + 1)),
            bound_kind: "bisection".to_owned(),
            proved_on: Some(1),
            first_rank_us: number,
            mean_rank_us: number,
            compared_on: Some(64),
            optimum_us: Some(time / 4.0),
            optimum_gap: Some(0.003_619),
            faults: "down=3-4".to_owned(),
            communicators: Some(8),
            members: Some(8),
            alone_us: number,
            protocol: "simple".to_owned(),
            rounds: count,
            together: String::new(),
        };
        sink.record(&record).expect("a row");
    }
    sink.finish().expect("rows");
    csv
}

fn summary(mut times: Vec<Duration>) -> String {
    times.sort();
    let ms = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!("median {:.1}, worst {:.1}", ms(times.get(times.len() / 2)), ms(times.last()))
}

/// Moves the slider of the start-up time. Returns the times until all algorithms of the group have
/// a new time. These include the pause before the dashboard runs the group.
fn slide() -> Vec<Duration> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = CommandBuilder::new(swapmeet_tests::program());
    command.args(["tui", "--topology", "torus:16x16", "--workload", "uniform:1KiB"]);
    for algorithm in ["suh-shin", "bruck", "pex", "linear", "pairwise", "row-column", "retri"] {
        command.args(["--algorithm", algorithm]);
    }
    let (mut child, mut writer, mut screen) = start(command, folder.path(), 200, 60);
    screen.wait_for("done: 7 cases verified");
    writer.write_all(b"5jj").expect("keys");
    screen.wait_for("startup_us: ");
    let mut times = Vec::new();
    for _ in 0..NOTCHES {
        let pressed = Instant::now();
        writer.write_all(b"l").expect("a key");
        screen.wait_for("running this group again");
        let answered = screen.wait("the times of the group", |screen| {
            screen.contents().contains("x is the ratio to the time in the table")
        });
        times.push(answered.duration_since(pressed));
    }
    writer.write_all(b"\x03").expect("a key");
    child.wait().expect("it ends");
    times
}

fn keys() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{KEYS} keys each, milliseconds to the answer, {cores} cores");
    println!("{:<28}{:>10}{:>10}{:>10}{:>10}", "", "median", "95 %", "99 %", "worst");
    for (columns, rows) in [(80, 24), (200, 60)] {
        for (name, jobs) in
            [("nothing runs", 0), ("every core busy", cores), ("twice as many workers", 2 * cores)]
        {
            let mut times = measure(columns, rows, jobs);
            times.sort();
            let at =
                |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
            let name = format!("{columns}x{rows} {name}");
            println!(
                "{name:<28}{:>10.2}{:>10.2}{:>10.2}{:>10.2}",
                at(0.5),
                at(0.95),
                at(0.99),
                at(1.0)
            );
        }
    }
}

fn measure(columns: u16, rows: u16, jobs: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = CommandBuilder::new(swapmeet_tests::program());
    command.args(["tui", "--topology", "torus:4x4", "--algorithm", "suh-shin"]);
    if jobs > 0 {
        // Each of these cases takes seconds, so that workers are busy during the whole measurement.
        command.args(["--topology", "torus:128x128", "--algorithm", "gen", "--repetitions", "50"]);
        command.args(["--jobs", &jobs.to_string()]);
    }
    let (mut child, mut writer, mut screen) = start(command, folder.path(), columns, rows);

    screen.wait_for(if jobs > 0 { "/200 cases" } else { "done:" });
    std::thread::sleep(Duration::from_secs(1));
    let mut times = Vec::new();
    for (key, panel) in PANELS.iter().cycle().take(KEYS) {
        // Vary the interval between keys, so that keys do not coincide with frames of animations.
        std::thread::sleep(Duration::from_micros(20_000 + 7_919 * (times.len() as u64 % 11)));
        let pressed = Instant::now();
        writer.write_all(key.as_bytes()).expect("a key");
        times.push(screen.wait_for_panel(panel).duration_since(pressed));
    }
    writer.write_all(b"\x03").expect("a key");
    child.wait().expect("it ends");
    times
}

type Started = (Box<dyn Child + Send + Sync>, Box<dyn Write + Send>, Screen);

fn start(mut command: CommandBuilder, folder: &Path, columns: u16, rows: u16) -> Started {
    set_up(&mut command, folder);
    let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).expect("a terminal");
    let child = pair.slave.spawn_command(command).expect("the program starts");
    drop(pair.slave);
    let writer = pair.master.take_writer().expect("a writer");
    let screen = Screen::read(pair.master.try_clone_reader().expect("a reader"), columns, rows);
    (child, writer, Screen { _master: Some(pair.master), ..screen })
}

fn set_up(command: &mut CommandBuilder, folder: &Path) {
    command.cwd(folder);
    for (key, value) in
        [("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8"), ("XDG_DATA_HOME", "/nonexistent")]
    {
        command.env(key, value);
    }
    command.env_remove("SWAPMEET_PLUGIN_PATH");
}

struct Screen {
    bytes: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    _master: Option<Box<dyn MasterPty + Send>>,
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
        Self { bytes, parser: vt100::Parser::new(some(rows), some(columns), 0), _master: None }
    }

    /// Waits until a condition on the screen is true. Returns the time at which the bytes that made
    /// it true arrived.
    fn wait(&mut self, what: &str, is_such: impl Fn(&vt100::Screen) -> bool) -> Instant {
        loop {
            let (at, bytes) =
                self.bytes.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| {
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

    fn wait_for_panel(&mut self, title: &str) -> Instant {
        let number = &title[..1];
        self.wait(title, |screen| {
            let columns = screen.size().1.get();
            let lit = |column: &u16| {
                screen
                    .cell(0, *column)
                    .is_some_and(|c| c.contents() == number && c.bgcolor() != vt100::Color::Default)
            };
            screen.contents().contains(title) && (0..columns).any(|column| lit(&column))
        })
    }
}
