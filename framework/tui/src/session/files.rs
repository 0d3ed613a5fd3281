//! Files that the user saves, and the command that repeats a case.

use super::Session;
use super::packed::PackedRow;
use crate::picture::ScreenPicture;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{CsvSink, Record, Sink, atomic_file, quoted, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::{DEFAULT_TIMEOUT_SECS, Experiment};

pub(crate) struct OutputFile {
    pub(crate) file: PathBuf,
    pub(crate) summary: String,
    pub(crate) preview: String,
    pub(crate) content: Content,
}

pub(crate) type Content = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + Send>;

#[derive(Debug, Clone, PartialEq)]
pub enum RenderKind {
    Report,
    Curves(Axis),
    /// A map of the fastest algorithms.
    Winners,
    Parts,
    Screen(ScreenPicture),
}

#[derive(Debug, Clone, PartialEq)]
pub struct RenderRequest {
    pub kind: RenderKind,
    pub path: PathBuf,
    pub baseline: Option<String>,
    /// The algorithms and the numbers of their marks and colours.
    pub styles: Vec<(String, usize)>,
}

/// Renders rows as the content of a file.
pub type RenderRows = fn(&RenderRequest, Vec<Record>) -> Result<Vec<u8>, String>;

/// Returns the reason why the files may not be written. `over` allows overwriting existing files,
/// but not `out`.
pub(crate) fn refusal(files: &[OutputFile], over: bool, out: Option<&Path>) -> Option<String> {
    let paths: Vec<&Path> = files.iter().map(|saved| saved.file.as_path()).collect();
    let is_out = |path: &&&Path| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        out.is_some_and(|out| real(path) == real(out))
    };
    if paths.iter().any(|path| path.file_name().is_none()) {
        return Some("expected a file name such as `session.toml`".to_owned());
    }
    if paths.iter().enumerate().any(|(at, path)| paths[..at].contains(path)) {
        return Some(
            "experiment and rows would have the same file name: expected a name such as `session.toml`"
                .to_owned(),
        );
    }
    let folders = paths.iter().filter_map(|path| path.parent());
    let mut absent = folders.filter(|path| !path.as_os_str().is_empty() && !path.is_dir());
    if let Some(folder) = absent.next() {
        let folder = folder.display();
        return Some(format!("{folder} is no directory: expected a name in an existing one"));
    }
    if let Some(path) = paths.iter().find(is_out) {
        let path = path.display();
        return Some(format!("{path} is the file of `--out`: expected another name"));
    }
    let there = paths.iter().find(|file| file.exists()).filter(|_| !over)?;
    Some(format!("{} exists: press Enter again to overwrite it, Esc to cancel", there.display()))
}

/// Writes each file atomically.
pub(crate) fn save(files: &[OutputFile]) -> io::Result<String> {
    let mut written = Vec::new();
    for saved in files {
        atomic_file::write(&saved.file, &saved.content)?;
        written.push(format!("{} ({})", saved.file.display(), saved.summary));
    }
    Ok(format!("saved {}", written.join(" and ")))
}

fn write_rows(file: &mut dyn Write, rows: &[Arc<PackedRow>]) -> io::Result<()> {
    let mut sink = CsvSink::new(file);
    rows.iter().try_for_each(|row| sink.record(&row.record())).and_then(|()| sink.finish())
}

impl Session {
    /// Returns the file of a figure or report of some rows.
    pub(crate) fn rendered_file(
        &self,
        path: &Path,
        kind: RenderKind,
        rows: Vec<Arc<PackedRow>>,
    ) -> OutputFile {
        let count = units::count(rows.len(), "row");
        let (what, has_rows) = match kind {
            RenderKind::Screen(_) => ("a picture of the view", false),
            RenderKind::Report => ("a report", true),
            RenderKind::Winners => ("a figure of the fastest algorithms", true),
            RenderKind::Parts => ("a figure of the parts of the time", true),
            RenderKind::Curves(_) => ("a figure of times", true),
        };
        let what = if has_rows { format!("{what} of {count}") } else { what.to_owned() };
        let shown = if has_rows { " on the screen" } else { "" };
        let preview =
            format!("{what}{shown}; .html is a report of all rows, .svg .png .pdf are figures");
        let request = RenderRequest {
            kind,
            path: path.to_owned(),
            baseline: self.baseline.clone(),
            styles: self.styles.numbers().to_owned(),
        };
        let render = self.render;
        // Rendering many rows takes seconds, so the thread that writes the file does it.
        let content = Box::new(move |file: &mut dyn Write| {
            let rows = rows.iter().map(|row| row.record()).collect();
            file.write_all(&render(&request, rows).map_err(io::Error::other)?)
        });
        OutputFile { file: path.to_owned(), summary: what, preview, content }
    }

    /// Returns the experiment file of the chosen cases.
    pub(crate) fn experiment_file(&self, name: &Path) -> OutputFile {
        let what = self.chosen.size();
        let about = format!("{what} selected; run the file with `swapmeet run`");
        let text = self.chosen.experiment(self.baseline.as_deref()).to_toml();
        let content = Box::new(move |file: &mut dyn Write| file.write_all(text.as_bytes()));
        OutputFile { file: name.to_owned(), summary: what, preview: about, content }
    }

    /// Returns the result file that is saved next to an experiment file.
    pub(crate) fn rows_file(&self, name: &Path) -> OutputFile {
        let rows = self.queue.records();
        let (file, what) = (name.with_extension("csv"), units::count(rows.len(), "row"));
        let preview = format!("the rows on screen ({what}) are saved to {}", file.display());
        let content = Box::new(move |file: &mut dyn Write| write_rows(file, &rows));
        OutputFile { file, summary: what, preview, content }
    }
}

pub(crate) fn command(case: &Case, plugin_dirs: &[PathBuf]) -> String {
    let timeout = case.options.timeout.map(|limit| limit.as_secs_f64());
    let settings = Experiment {
        timeout_secs: timeout.filter(|seconds| *seconds != DEFAULT_TIMEOUT_SECS),
        optimum: case.optima.is_some(),
        ..Experiment::default()
    };
    let mut words = vec![case.id().borrowed().command()];
    words.extend(settings.flags(&Experiment::default()));
    words.extend(plugin_flags(plugin_dirs));
    words.join(" ")
}

pub(crate) fn plugin_flags(plugin_dirs: &[PathBuf]) -> impl Iterator<Item = String> {
    plugin_dirs.iter().map(|dir| format!("--plugin-dir {}", quoted(&dir.display().to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_files_are_protected() {
        let folder = std::env::temp_dir().join(format!("swapmeet-refusal-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| folder.join(name);
        let saved = |file: PathBuf| OutputFile {
            file,
            summary: String::new(),
            preview: String::new(),
            content: Box::new(|_| Err(io::Error::other("never written"))),
        };
        let why = |name: &str, over| {
            let files = [saved(file(name)), saved(file(name).with_extension("csv"))];
            refusal(&files, over, Some(&file("out.csv"))).unwrap_or_default()
        };
        std::fs::write(file("old.toml"), "").unwrap();
        std::fs::write(file("measured.csv"), "").unwrap();
        assert_eq!(why("new.toml", false), "");
        assert!(why("absent/new.toml", true).contains("absent is no directory"));
        assert!(why("old.toml", false).contains("old.toml exists"), "{}", why("old.toml", false));
        assert!(why("measured.toml", false).contains("measured.csv exists"), "the rows' file too");
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
