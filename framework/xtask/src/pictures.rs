//! The pictures of the README and the docs: plots, and recordings of the dashboard.

use crate::TaskResult;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vt100::Color;

const COLUMNS: u16 = 112;
const ROWS: u16 = 34;
/// The width and the height in pixels of a character cell in a picture.
const CELL: [f64; 2] = [8.0, 17.0];

const EXPERIMENT: &str = include_str!("../../../workloads/experiments/quick-start.toml");

/// A picture of a plot: the name of its file, and the commands that make it.
type Plot = (&'static str, &'static [&'static str]);

/// A picture of the dashboard: the name of its file, the arguments of the program, and the script
/// that the program replays. Each time in the script is the start of a scene. If there are several
/// scenes, the picture is an animation.
type Recording = (&'static str, &'static str, &'static str);

/// The minimum duration of a scene in seconds. If a scene is shorter, it is not shown.
const SHORTEST: f64 = 2.0;

const TUTORIAL: &str = "run --topology torus:8x8 --algorithm pairwise --algorithm bruck \
    --algorithm suh-shin --workload uniform:64..256KiB*16 \
    --machine free:startup_us=2,byte_us=0.0001,hop_us=0.05 --out rows.csv";

const PLOTS: [Plot; 6] = [
    (
        "winners.svg",
        &[
            "run --topology torus:4x4x4 --topology torus:4x4x8 --topology torus:8x8x8 --algorithm suh-shin \
             --algorithm bruck --algorithm linear --algorithm by-dimension --algorithm torus-multiscatter \
             --workload uniform:16..64KiB*4 --machine fugaku --out rows.csv",
            "plot winners rows.csv --out winners.svg",
        ],
    ),
    ("curves.svg", &[TUTORIAL, "plot rows.csv --out curves.svg"]),
    ("parts.svg", &[TUTORIAL, "plot parts rows.csv --out parts.svg"]),
    (
        "placements.svg",
        &[
            "run --topology torus:4x4x4,mesh=orders(dp:2/ep:8/tp:4) --machine tpu-v5p:model=fluid \
             --algorithm ring-allreduce --algorithm rabenseifner-allreduce \
             --algorithm recursive-doubling-allreduce --algorithm swing-allreduce \
             --algorithm bine-allreduce --workload allreduce/uniform:1KiB..32MiB*8,over=ep \
             --out rows.csv",
            "plot winners rows.csv --out placements.svg",
        ],
    ),
    (
        "links.svg",
        &[
            "links --topology mesh:4x4 --algorithm linear --algorithm pairwise --out rows.csv",
            "plot heat rows.csv --axes topology,algorithm --out links.svg",
        ],
    ),
    (
        "faults.svg",
        &[
            "run --topology torus:4x4 --topology torus:4x4,faults=1 --topology torus:4x4,faults=4 \
             --algorithm swing-allreduce --algorithm bucket-allreduce \
             --workload allreduce/uniform:1MiB --machine free:model=fluid,byte_us=0.001,startup_us=1 \
             --repetitions 4 --optimum --out rows.csv",
            "plot curves rows.csv --x faults --out faults.svg",
        ],
    ),
];

const RECORDINGS: [Recording; 3] = [
    (
        "dashboard.svg",
        "tui quick-start.toml --theme rich",
        include_str!("../../../docs/pictures/dashboard.txt"),
    ),
    (
        "network.svg",
        "tui --topology mesh:8x8 --algorithm linear --workload uniform:1KiB --theme rich",
        "expect done: 1 case\n1 key 4\nkey n\nexpect link load\n5 key Ctrl-C\n",
    ),
    (
        "ranks.svg",
        "tui --topology torus:4x4 --algorithm rabenseifner-allreduce --theme rich \
         --workload allreduce/uniform:64KiB --machine free:model=fluid,byte_us=0.001,late=3:50",
        "expect done: 1 case\n1 key 4\nkey r\nexpect mean time of ranks\n5 key Ctrl-C\n",
    ),
];

pub(crate) fn pictures(swapmeet: &Path, folder: &Path) -> TaskResult<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut made = Vec::new();
    let mut add = |name: &str, draw: &dyn Fn(&Path) -> TaskResult<String>| -> TaskResult<()> {
        let work = std::env::temp_dir().join(format!("swapmeet-pictures-{}", std::process::id()));
        fs::create_dir_all(&work)?;
        let drawn = draw(&work);
        fs::remove_dir_all(work)?;
        made.push(folder.join(name));
        Ok(fs::write(folder.join(name), drawn?)?)
    };
    for picture in &PLOTS {
        add(picture.0, &|work| plot(swapmeet, work, picture))?;
    }
    for picture in &RECORDINGS {
        add(picture.0, &|work| recording(swapmeet, work, picture))?;
    }
    Ok(made)
}

/// Returns the inputs of a picture as a text. This text is stored in the picture.
fn inputs(commands: &[&str], rest: &str) -> String {
    let commands: String = commands.iter().map(|c| format!("swapmeet {c}\n")).collect();
    escaped(&format!("Made by `cargo run -p xtask -- pictures` with:\n{commands}{rest}"))
}

fn plot_inputs((_, commands): &Plot) -> String {
    inputs(commands, "")
}

fn recording_inputs((_, args, script): &Recording) -> String {
    let file = if args.contains(".toml") { EXPERIMENT } else { "" };
    inputs(&[&format!("{args} --replay {SCRIPT}")], &format!("{SCRIPT}:\n{script}{file}"))
}

const SCRIPT: &str = "keys.txt";

fn times(script: &str) -> Vec<f64> {
    script.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

fn plot(swapmeet: &Path, work: &Path, picture: &Plot) -> TaskResult<String> {
    for command in picture.1 {
        let output =
            Command::new(swapmeet).args(command.split_whitespace()).current_dir(work).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
    }
    let plot = fs::read_to_string(work.join(picture.0))?;
    let at = plot.find('>').ok_or("the plot is not SVG")? + 1;
    let (head, rest) = plot.split_at(at);
    Ok(format!("{head}<desc>{}</desc>{rest}", plot_inputs(picture)))
}

/// Replays a script in a pseudo-terminal, and records the screen at the end of each scene.
fn recording(swapmeet: &Path, work: &Path, picture: &Recording) -> TaskResult<String> {
    /// The time in seconds between recording a scene and the first key of the next scene.
    const MARGIN: f64 = 0.4;
    fs::write(work.join("quick-start.toml"), EXPERIMENT)?;
    fs::write(work.join(SCRIPT), picture.2)?;
    let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size)?;
    let mut command = CommandBuilder::new(swapmeet);
    command.args(picture.1.split_whitespace());
    command.args(["--replay", SCRIPT]);
    command.cwd(work);
    let settings = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LC_ALL", "C.UTF-8")];
    settings.iter().for_each(|(key, value)| command.env(key, value));
    command.env_remove("NO_COLOR");
    let mut child = pair.slave.spawn_command(command)?;
    let began = Instant::now();
    drop(pair.slave);
    // A thread reads the dashboard's output, because the dashboard waits if the buffer is full.
    let some = |n: u16| NonZero::new(n).ok_or("an empty screen");
    let screen = Arc::new(Mutex::new(vt100::Parser::new(some(ROWS)?, some(COLUMNS)?, 0)));
    let (mut reader, parser) = (pair.master.try_clone_reader()?, Arc::clone(&screen));
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = reader.read(&mut bytes) {
            if let Ok(mut parser) = parser.lock() {
                parser.process(&bytes[..n]);
            }
        }
    });
    let shown = || screen.lock().map(|p| p.screen().clone()).map_err(|e| e.to_string());
    let mut scenes = Vec::new();
    let mut start = 0.0;
    for end in times(picture.2) {
        let moment = Duration::from_secs_f64(end - MARGIN);
        std::thread::sleep(moment.saturating_sub(began.elapsed()));
        scenes.push((shown()?, end - start));
        start = end;
    }
    if !child.wait()?.success() {
        return Err(format!("the script has failed:\n{}", shown()?.contents()).into());
    }
    scenes.retain(|(_, seconds)| *seconds >= SHORTEST);
    Ok(animation(&scenes, &recording_inputs(picture)))
}

fn animation(scenes: &[(vt100::Screen, f64)], inputs: &str) -> String {
    let [width, height] = [f64::from(COLUMNS) * CELL[0] + 16.0, f64::from(ROWS) * CELL[1] + 16.0];
    let total: f64 = scenes.iter().map(|(_, seconds)| seconds).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" xml:space=\"preserve\" role=\"img\" aria-label=\"The dashboard\">\
         <desc>{inputs}</desc>\n<style>text {{ font: 13.3px \"DejaVu Sans Mono\", Menlo, Consolas, monospace; white-space: pre; }} \
         .b {{ font-weight: bold; }}\n"
    );
    if scenes.len() > 1 {
        let _ = writeln!(
            out,
            ".s {{ visibility: hidden; animation: {total}s step-end infinite; }} #s0 {{ visibility: visible; }}"
        );
    }
    let mut start = 0.0;
    for (i, (_, seconds)) in scenes.iter().enumerate().filter(|_| scenes.len() > 1) {
        let [from, to] = [start, start + seconds].map(|at| at / total * 100.0);
        let before = if i == 0 { "" } else { "0% { visibility: hidden; } " };
        let _ = writeln!(
            out,
            "#s{i} {{ animation-name: s{i}; }} @keyframes s{i} {{ {before}{from:.3}% {{ visibility: visible; }} {to:.3}% {{ visibility: hidden; }} }}"
        );
        start += seconds;
    }
    // Viewers that reduce motion, or lack animations or style sheets, show only the first scene.
    out += "@media (prefers-reduced-motion) { .s { animation: none; } }</style>\n";
    let _ =
        writeln!(out, "<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#111317\"/>");
    for (i, (screen, _)) in scenes.iter().enumerate() {
        let hidden = if i == 0 { "" } else { " visibility=\"hidden\"" };
        let _ = writeln!(out, "<g id=\"s{i}\" class=\"s\"{hidden} transform=\"translate(8 8)\">");
        (0..ROWS).for_each(|row| out += &line(screen, row));
        out += "</g>\n";
    }
    out + "</svg>\n"
}

/// The appearance of a cell: its two colours (text, background), and whether it is bold.
type Look = (String, Option<String>, bool);

/// Returns a line of the screen. Consecutive cells with the same appearance become one text.
fn line(screen: &vt100::Screen, row: u16) -> String {
    let mut runs: Vec<(Look, u16, String, u16)> = Vec::new();
    for column in 0..COLUMNS {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation())
        else {
            continue;
        };
        let (mut front, mut back) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
        if cell.inverse() {
            (front, back) = (back.or(Some("#111317".into())), front.or(Some("#d8d8d8".into())));
        }
        let front = front.unwrap_or_else(|| if cell.dim() { "#909090" } else { "#d8d8d8" }.into());
        let look = (front, back, cell.bold());
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        match runs.last_mut() {
            Some((last, _, run, wide)) if *last == look => {
                run.push_str(text);
                *wide += 1;
            }
            _ => runs.push((look, column, text.to_owned(), 1)),
        }
    }
    let mut out = String::new();
    let top = f64::from(row) * CELL[1];
    for ((front, back, bold), column, text, wide) in runs {
        let (x, width) = (f64::from(column) * CELL[0], f64::from(wide) * CELL[0]);
        if let Some(back) = back {
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{}\" fill=\"{back}\"/>",
                CELL[1]
            );
        }
        if !text.trim().is_empty() {
            let class = if bold { " class=\"b\"" } else { "" };
            let _ = writeln!(
                out,
                "<text x=\"{x}\" y=\"{}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{front}\"{class}>{}</text>",
                top + 13.0,
                escaped(&text)
            );
        }
    }
    out
}

fn colour(colour: Color) -> Option<String> {
    const BASIC: [&str; 16] = [
        "#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
        "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
    ];
    match colour {
        Color::Default => None,
        Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
        Color::Idx(i @ 0..16) => Some(BASIC[usize::from(i)].to_owned()),
        // The other colours are first a cube of 6 x 6 x 6 colours, then 24 shades of grey.
        Color::Idx(i @ 16..232) => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let [r, g, b] = [(i - 16) / 36, (i - 16) / 6 % 6, (i - 16) % 6].map(level);
            Some(format!("#{r:02x}{g:02x}{b:02x}"))
        }
        Color::Idx(i) => Some(format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (i - 232))),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If this test fails, renew the pictures with `cargo run -p xtask -- pictures`.
    #[test]
    fn pictures_are_made_from_the_current_inputs() {
        let folder = crate::root().join("docs/pictures");
        let plots = PLOTS.iter().map(|picture| (picture.0, plot_inputs(picture)));
        let recordings = RECORDINGS.iter().map(|picture| (picture.0, recording_inputs(picture)));
        for (name, inputs) in plots.chain(recordings) {
            let picture = fs::read_to_string(folder.join(name)).unwrap();
            assert!(picture.contains(&format!("<desc>{inputs}</desc>")), "{name} is outdated");
            assert!(picture.len() <= 1 << 20, "{name} has {} bytes", picture.len());
        }
    }
}
