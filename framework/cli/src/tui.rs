//! `swapmeet tui`: what the dashboard needs from flags, files and the terminal, and what it leaves behind.

use crate::args::{RunArgs, TuiArgs};
use crate::failure::{Failure, SOME_FAILED};
use crate::run::row_file::Remarks;
use crate::{config, run, table};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use swapmeet_runner::case::Product;
use swapmeet_runner::input::Text;
use swapmeet_tui::{Looks, Setup, Theme, is_ascii_terminal};

/// Left before all cases had run.
const INTERRUPTED: u8 = 130;

pub(crate) fn tui(args: &TuiArgs) -> Result<ExitCode, Failure> {
    watch(&args.run)
}

/// The theme that is asked for; no other than that without colours where there are none.
fn theme(args: &RunArgs) -> Result<Theme, Failure> {
    if let Some(theme) = args.looks.theme.as_deref().and_then(Theme::named) {
        return Ok(theme);
    }
    let of_environment = Theme::of_environment();
    let Some(name) = config::read()?.theme else { return Ok(of_environment) };
    let own = Theme::named(&name.value).ok_or_else(|| {
        let names: Vec<&str> = Theme::names().collect();
        name.error(format!("unknown theme `{}`", name.value)).help(format!("themes are: {}", names.join(", ")))
    })?;
    Ok(if of_environment.has_colours() { own } else { of_environment })
}

/// Shows the dashboard for `run --tui`.
pub(crate) fn watch(args: &RunArgs) -> Result<ExitCode, Failure> {
    if args.real_ranks.on.is_some() {
        return Err(Failure::Usage("--on measures without a dashboard: use `swapmeet run`".to_owned()));
    }
    let theme = theme(args)?;
    let ascii = args.looks.ascii || is_ascii_terminal();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "the dashboard needs a terminal for input and output: `swapmeet run` does the same work without".to_owned(),
        ));
    }
    if args.out.as_deref() == Some(Path::new("-")) {
        return Err(Failure::Usage(
            "`--out -` would write rows across the dashboard: name a file, or use `swapmeet run`".to_owned(),
        ));
    }
    if args.format.is_some() {
        return Err(Failure::Usage("--format is for rows on standard output, where the dashboard is".to_owned()));
    }
    if args.resume && args.out.is_none() {
        return Err(Failure::Usage("--resume takes up a file: give it with --out".to_owned()));
    }
    let mut experiment = run::experiment(args)?;
    let complete = !experiment.topologies.is_empty() && !experiment.algorithms.is_empty();
    if experiment.topologies.is_empty() {
        experiment.topologies.push(Text::flag("--topology", "torus:16x16"));
    }
    run::fill_in(&mut experiment)?;
    let registry = run::registry(&args.plugins)?;
    // What is wrong with flags or file is told before the screen is taken, even if there is something missing too.
    let all = Product::of(&experiment, &registry)?;
    let cases = run::part(&all, args.shard)?;
    let cases = if complete { cases } else { Vec::new() };
    let (mut rows, mut found) = (None, Vec::new());
    // Told once the screen is given back: rows are in the file whatever somebody does to it.
    let remarks = Remarks::default();
    run::leave_what_is_read(args, &all)?;
    if let Some(path) = &args.out {
        let (file, earlier) = run::rows::take_up(path, run::before(args), &cases, &all)?;
        let csv = run::rows::sink(file, path, &remarks).map_err(|e| Failure::file(path, &e))?;
        rows = Some(Arc::new(Mutex::new(csv)) as swapmeet_tui::RowSink);
        found = earlier.rows;
    }
    let setup = Setup {
        registry,
        plugin_dirs: run::plugin_dirs(&args.plugins)?,
        experiment,
        cases,
        found,
        // Another experiment may be picked, with more cases.
        workers: run::workers(args.jobs, args.memory_limit, usize::MAX, &args.plugins)?,
        rows,
        out: args.out.clone(),
    };
    let outcome = swapmeet_tui::run(setup, Looks { theme, ascii }).map_err(|e| Failure::writing("the terminal", &e))?;
    run::say_remarks(&remarks);
    if outcome.leave_rows && !outcome.records.is_empty() {
        let text = table::results(&outcome.records, table::terminal_width());
        writeln!(io::stdout(), "{text}").map_err(|e| Failure::printing(&e))?;
    }
    if let Some(reason) = outcome.unwritten {
        return Err(Failure::Output(reason.trim_start_matches("error: ").to_owned()));
    }
    Ok(match (outcome.interrupted, outcome.some_failed) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::from(SOME_FAILED),
        (false, false) => ExitCode::SUCCESS,
    })
}
