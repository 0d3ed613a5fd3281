//! A session on disk: an experiment file that `swapmeet run` takes, and the rows as CSV beside it;
//! and the command that repeats a case.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{CsvSink, Record, Sink, atomic_file, quoted, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::{DEFAULT_TIMEOUT_SECS, Experiment};
use swapmeet_runner::input::Text;

/// An experiment as a file has it.
pub(crate) fn as_toml(experiment: &Experiment) -> String {
    let list = |key: &str, texts: &[Text]| {
        let texts: Vec<String> = texts.iter().map(|t| text_of(&t.value)).collect();
        // One a line where they would make a line that nobody reads.
        let one_line = format!("{key} = [{}]\n", texts.join(", "));
        if one_line.len() <= 100 {
            one_line
        } else {
            format!("{key} = [\n    {},\n]\n", texts.join(",\n    "))
        }
    };
    let mut text = format!("name = {}\n", text_of(&experiment.name));
    text += &list("topologies", &experiment.topologies);
    text += &list("algorithms", &experiment.algorithms);
    text += &list("workloads", &experiment.workloads);
    text += &list("machines", &experiment.machines);
    if let Some(baseline) = &experiment.baseline {
        text += &format!("baseline = {}\n", text_of(&baseline.value));
    }
    text += &format!("repetitions = {}\nseed = {}\n", experiment.repetitions, experiment.seed);
    if let Some(seconds) = experiment.timeout_secs {
        text += &format!("timeout_secs = {seconds}\n");
    }
    for machine in &experiment.own_machines {
        text += &format!("\n[machine.{}]\n", key(&machine.name.value));
        if let Some(base) = &machine.base {
            text += &format!("base = {}\n", text_of(&base.value));
        }
        for (name, value) in &machine.parameters {
            text += &format!("{} = {}\n", name.value, number_or_text(&value.value));
        }
    }
    text
}

fn text_of(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A name as a table's heading has it: in quotes only if it must be.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if is_bare { name.to_owned() } else { text_of(name) }
}

/// A machine's parameter: most are numbers, some are words.
fn number_or_text(value: &str) -> String {
    let is_number = value.parse::<toml::Value>().is_ok_and(|v| v.is_integer() || v.is_float());
    if is_number { value.to_owned() } else { text_of(value) }
}

/// A file of a saved session.
pub(crate) struct Saved {
    pub(crate) file: PathBuf,
    /// What is in it, as `3 rows`.
    pub(crate) what: String,
    /// A line that says so before it is written.
    pub(crate) about: String,
    pub(crate) content: Content,
}

/// What is written to a file.
pub(crate) type Content = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + Send>;

/// What can be made of the rows on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetKind {
    /// A page of all there is to say.
    Report,
    /// A figure of time over an axis.
    Curves(Axis),
    /// A figure of who is fastest where.
    Winners,
    /// A figure of the parts of each algorithm's time.
    Parts,
}

/// A file that is made of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    pub kind: SheetKind,
    /// Its ending says the format.
    pub path: PathBuf,
    /// What others are compared with.
    pub baseline: Option<String>,
}

/// Makes the bytes of such a file; `Err` says why it can't.
pub type DrawRows = fn(&Sheet, Vec<Record>) -> Result<Vec<u8>, String>;

/// The file of a report or of a figure of this kind, by the ending of its name.
pub(crate) fn sheet(
    path: &Path,
    figure: SheetKind,
    baseline: Option<&str>,
    rows: Vec<Arc<Record>>,
    draw: DrawRows,
) -> Result<Saved, String> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let (kind, what) = match (ending, figure) {
        ("html", _) => (SheetKind::Report, "a report"),
        ("svg" | "png" | "pdf", SheetKind::Winners) => (figure, "a figure of who is fastest where"),
        ("svg" | "png" | "pdf", SheetKind::Parts) => (figure, "a figure of where time goes"),
        ("svg" | "png" | "pdf", SheetKind::Curves(_) | SheetKind::Report) => {
            (figure, "a figure of times")
        }
        _ => {
            return Err(
                "expected a name that ends in .html (a report), .svg, .png or .pdf (a figure)"
                    .to_owned(),
            );
        }
    };
    let sheet = Sheet { kind, path: path.to_owned(), baseline: baseline.map(str::to_owned) };
    let count = units::count(rows.len(), "row");
    let content = move |file: &mut dyn Write| {
        let rows = rows.iter().map(|row| (**row).clone()).collect();
        file.write_all(&draw(&sheet, rows).map_err(io::Error::other)?)
    };
    let (what, about) = (
        format!("{what} of {count}"),
        format!("{what} of {count} on screen; .html is a report, .svg .png .pdf are figures"),
    );
    Ok(Saved { file: path.to_owned(), what, about, content: Box::new(content) })
}

/// Why the files of a session can't be written; `over` says that files which are there already may
/// be written over, and `out` is the file to which rows go as they come.
pub(crate) fn refusal(files: &[Saved], over: bool, out: Option<&Path>) -> Option<String> {
    let paths: Vec<&Path> = files.iter().map(|saved| saved.file.as_path()).collect();
    let is_out = |path: &&&Path| {
        let same = |other: &Path| {
            **path == other
                || path
                    .canonicalize()
                    .is_ok_and(|p| other.canonicalize().is_ok_and(|other| p == other))
        };
        out.is_some_and(same)
    };
    if paths.iter().any(|path| path.file_name().is_none()) {
        return Some("expected a file's name, as in `session.toml`".to_owned());
    }
    if paths.iter().enumerate().any(|(at, path)| paths[..at].contains(path)) {
        return Some(
            "the rows would go to the same file: expected another ending, as in `session.toml`"
                .to_owned(),
        );
    }
    if let Some(path) = paths.iter().find(is_out) {
        let path = path.display();
        return Some(format!(
            "{path} is the file of `--out`, and rows still go there: expected another name"
        ));
    }
    let there = paths.iter().find(|file| file.exists()).filter(|_| !over)?;
    Some(format!("{} is there already: Enter again writes over it, Esc leaves it", there.display()))
}

/// Writes files, each whole or not at all; says what was written.
pub(crate) fn save(files: &[Saved]) -> io::Result<String> {
    let mut written = Vec::new();
    for saved in files {
        atomic_file::write(&saved.file, &saved.content)?;
        written.push(format!("{} ({})", saved.file.display(), saved.what));
    }
    Ok(format!("saved {}", written.join(" and ")))
}

pub(crate) fn write_rows(file: &mut dyn Write, rows: &[Arc<Record>]) -> io::Result<()> {
    let mut sink = CsvSink::new(file);
    rows.iter().try_for_each(|row| sink.record(row)).and_then(|()| sink.finish())
}

/// The command that repeats a case.
pub(crate) fn command(case: &Case, plugin_dirs: &[PathBuf]) -> String {
    let mut words = vec![case.id().borrowed().command()];
    let mut flag = |flag: &str, value: &str| words.extend([flag.to_owned(), quoted(value)]);
    let timeout = case.options.timeout.map(|limit| limit.as_secs_f64());
    if let Some(seconds) = timeout.filter(|seconds| *seconds != DEFAULT_TIMEOUT_SECS) {
        flag("--timeout", &seconds.to_string());
    }
    for dir in plugin_dirs {
        flag("--plugin-dir", &dir.display().to_string());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"name = 'a "b"'
topologies = ["torus:4x4", "rdn:1(hypercube:3)"]
algorithms = ["pex"]
workloads = ["uniform:64"]
machines = ["mine", "my own"]
repetitions = 3
seed = 18446744073709551615
timeout_secs = 0.5

[machine.mine]
base = "paragon"
ports = "all"
startup_us = 220.0

[machine."my own"]
base = "delta"
"#;

    #[test]
    fn an_experiment_is_read_back_as_it_was() {
        let experiment = Experiment::parse("x", FILE).unwrap();
        assert_eq!(as_toml(&experiment), FILE);
    }

    #[test]
    fn no_file_is_written_over_unasked_and_never_that_of_the_rows() {
        let folder = std::env::temp_dir().join(format!("swapmeet-refusal-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| folder.join(name);
        let saved = |file: PathBuf| Saved {
            file,
            what: String::new(),
            about: String::new(),
            content: Box::new(|_| Err(io::Error::other("never written"))),
        };
        let why = |name: &str, over| {
            let files = [saved(file(name)), saved(file(name).with_extension("csv"))];
            refusal(&files, over, Some(&file("out.csv"))).unwrap_or_default()
        };
        std::fs::write(file("old.toml"), "").unwrap();
        std::fs::write(file("measured.csv"), "").unwrap();
        assert_eq!(why("new.toml", false), "");
        assert!(
            why("old.toml", false).contains("old.toml is there already"),
            "{}",
            why("old.toml", false)
        );
        assert!(
            why("measured.toml", false).contains("measured.csv is there already"),
            "the rows' file too"
        );
        assert_eq!(
            (why("old.toml", true), why("measured.toml", true)),
            (String::new(), String::new())
        );
        assert!(
            why("out.toml", true).contains("is the file of `--out`"),
            "{}",
            why("out.toml", true)
        );
        assert!(why("new.csv", true).contains("the same file"), "{}", why("new.csv", true));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
