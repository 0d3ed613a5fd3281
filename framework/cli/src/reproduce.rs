//! `swapmeet reproduce` repeats the experiments of papers.

use crate::args::{ReproduceArgs, ReproducePaperArgs};
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SUCCESS};
use crate::output;
use crate::run;
use crate::say::say;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use swapmeet_core::spec::near_matches;
use swapmeet_reproduce::{Bench, Paper, ReproduceError, overview, papers};
use swapmeet_runner::case::Case;
use swapmeet_runner::input::Text;
use swapmeet_runner::isolation::{self, ChildLimits};
use swapmeet_runner::limits::MemoryLimit;
use swapmeet_runner::max_bytes;
use swapmeet_runner::sandbox::FileAccess;

pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<ExitStatus, Failure> {
    let wanted: Vec<&Paper> = match &args.paper {
        None => papers().iter().collect(),
        Some(name) => vec![find(name)?],
    };
    // Each child process searches for plugins again, but errors are reported only here.
    let registry = run::registry_within(&args.plugins, args.memory_limit)?;
    let files: Vec<PathBuf> = registry.plugins().iter().map(|plugin| plugin.path.clone()).collect();
    let summary = args.out.as_ref().filter(|_| args.paper.is_none());
    let summary = summary.map(|folder| folder.join("README.md"));
    let pages = wanted.iter().flat_map(|paper| paths(paper, args.out.as_deref()));
    for path in pages.chain(summary.clone()) {
        output::may_write(&path, args.over, &files)?;
    }
    let stop = run::interrupts();
    let mut sections = Vec::new();
    for paper in wanted {
        let tables = match run_in_child(paper, args, &stop)? {
            Ok(tables) => tables,
            Err(_) if stop.load(Ordering::Relaxed) => return Ok(INTERRUPTED),
            Err(how) => return Err(Failure::Output(format!("{}: {how}", paper.name))),
        };
        match &args.out {
            None => output::print(&format!("{}\n", tables.markdown))?,
            Some(folder) => write(paper, &tables, folder)?,
        }
        sections.push(tables.section);
    }
    if let Some(path) = summary {
        output::file(&path, |out| out.write_all(overview(&sections).as_bytes()))?;
        say!("wrote {}", path.display());
    }
    Ok(SUCCESS)
}

#[derive(Serialize, Deserialize)]
struct Tables {
    csv: String,
    markdown: String,
    /// The section about this paper in the summary of all papers.
    section: String,
}

#[derive(Serialize, Deserialize)]
enum Message {
    /// The child process begins to make the schedule with this name.
    Begins(String),
    Done(Tables),
    /// An error that the user can correct, such as a missing plugin.
    Refused(String),
    Failed(String),
}

/// Runs the experiments of a paper in a child process, because plugins may crash it. The outer
/// error ends the whole command. The inner error means that the child process or a schedule failed.
fn run_in_child(
    paper: &Paper,
    args: &ReproduceArgs,
    stop: &AtomicBool,
) -> Result<Result<Tables, String>, Failure> {
    let failed = |e: io::Error| Failure::Output(format!("{}: {e}", paper.name));
    run::is_sandboxed(args.plugins.no_sandbox);
    let words = run::child("reproduce-paper", &args.plugins).map_err(failed)?;
    let memory = args.memory_limit.unwrap_or_else(|| run::default_memory(1));
    let (program, first) =
        words.split_first().ok_or_else(|| failed(io::Error::other("no program")))?;
    let mut command = Command::new(program);
    command.args(first).arg(paper.name).args(["--memory-limit", &memory.to_string()]);
    command.args(["--timeout", &args.timeout.to_string()]);
    for dir in &args.plugins.plugin_dirs {
        command.arg("--plugin-dir").arg(dir);
    }
    command.args(args.plugins.replace_bundled.then_some("--replace-bundled"));
    let limits =
        ChildLimits::with_grace(Duration::from_secs_f64(args.timeout), memory, max_bytes::ANSWER);
    let mut under_way = String::new();
    let parse = |message| match message {
        Message::Begins(what) => {
            under_way = format!("{what}: ");
            None
        }
        Message::Done(tables) => Some(Ok(Ok(tables))),
        Message::Refused(why) => Some(Err(Failure::Usage(format!("{}: {why}", paper.name)))),
        Message::Failed(why) => Some(Ok(Err(why))),
    };
    let answer = isolation::run(&mut command, limits, stop, &mut |line| say!("{line}"), parse);
    match answer.map_err(failed)? {
        Ok(answer) => answer,
        Err(how) => Ok(Err(format!("{under_way}{how}"))),
    }
}

pub(crate) fn paper(args: &ReproducePaperArgs) -> Result<ExitStatus, Failure> {
    let failed = |e: io::Error| Failure::Output(e.to_string());
    let paper = find(&args.paper)?;
    // The search starts child processes, so it precedes the sandbox, which forbids this.
    let registry = run::registry_within(&args.plugins, Some(args.memory_limit))?;
    let files: Vec<PathBuf> = registry.plugins().iter().map(|plugin| plugin.path.clone()).collect();
    let access = FileAccess { plugins: &files, ..FileAccess::default() };
    let memory = MemoryLimit::Fixed(args.memory_limit);
    let answers = isolation::begin(memory, !args.plugins.no_sandbox, &access).map_err(failed)?;
    let report_start = |case: &Case| {
        // The send fails only if the parent process has ended. Then this process ends soon, too.
        drop(answers.send(&Message::Begins(format!(
            "{} on {}",
            case.algorithm,
            case.topology.spec()
        ))));
    };
    let message = match paper.run(&Bench::new(&registry, Some(args.timeout), &report_start)) {
        Ok(report) => report.to_csv().map_or_else(
            |e| Message::Failed(e.to_string()),
            |csv| {
                let (markdown, section) = (report.to_markdown(), report.to_overview());
                Message::Done(Tables { csv, markdown, section })
            },
        ),
        Err(ReproduceError::Input(e)) => Message::Refused(e.to_string()),
        Err(error @ (ReproduceError::Row { .. } | ReproduceError::Data(_))) => {
            Message::Failed(error.to_string())
        }
    };
    answers.send(&message).map_err(failed)?;
    Ok(SUCCESS)
}

fn find(name: &str) -> Result<&'static Paper, Failure> {
    papers().iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<&str> = papers().iter().map(|p| p.name).collect();
        let error = Text::flag("PAPER", name).error(format!("unknown paper `{name}`"));
        error
            .near(
                &near_matches(name, names.iter().copied()),
                &format!("papers are {}", names.join(", ")),
            )
            .into()
    })
}

fn paths(paper: &Paper, folder: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let name = paper.name;
    folder
        .into_iter()
        .flat_map(move |folder| ["csv", "md"].map(|ending| folder.join(format!("{name}.{ending}"))))
}

fn write(paper: &Paper, tables: &Tables, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    for (path, text) in paths(paper, Some(folder)).zip([&tables.csv, &tables.markdown]) {
        output::file(&path, |out| out.write_all(text.as_bytes()))?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str) -> (String, Option<String>) {
        match find(name) {
            Err(Failure::Input(error)) => (error.message, error.help),
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn every_paper_is_found_by_its_name() {
        for paper in papers() {
            assert_eq!(find(paper.name).unwrap().title, paper.title);
        }
    }

    #[test]
    fn an_unknown_paper_is_refused_with_its_near_matches() {
        let (message, help) = refusal("thakkur");
        assert_eq!(message, "unknown paper `thakkur`");
        assert_eq!(help.as_deref(), Some("did you mean `thakur`?"));
        let help = refusal("knuth").1.unwrap();
        assert!(help.starts_with("papers are suh-shin, thakur, "), "{help}");
    }
}
