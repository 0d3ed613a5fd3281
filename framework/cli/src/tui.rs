//! `swapmeet tui` configures the dashboard, shows it, and handles its result.

use crate::args::{AppearanceArgs, CaseArgs, RunArgs, TuiArgs};
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS};
use crate::run::row_file::Remarks;
use crate::say::say;
use crate::{config, explain, output, result_files, run, streams, table};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use swapmeet_plot::{
    Colour, Drawable, Figure, FigureError, FigureFormat, FigureOptions, Paper, Quantity, Scales,
    ScreenRun, StackKind, StackedBars, Styles, WinnerFigure,
};
use swapmeet_results::units::count;
use swapmeet_results::{Record, read_files};
use swapmeet_runner::case::CaseGrid;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::lookup::experiment_of;
use swapmeet_runner::system::use_one_heap;
use swapmeet_tui::{
    Appearance, Background, EndedBy, Options, Recorder, RenderKind, RenderRequest, Replay,
    ScreenPicture, Script, SessionResult, Setup, Theme, is_ascii_terminal,
};
use swapmeet_workloads::experiments::shipped;
use swapmeet_workloads::file::read_regular;

pub(crate) fn tui(args: &TuiArgs) -> Result<ExitStatus, Failure> {
    // The first file is an experiment, a result file (`.csv`) or a log of a benchmark.
    let is_rows = |path: &&PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let first = args.cases.experiment.as_ref().filter(is_rows);
    if let Some(other) = args.rows.iter().find(|path| !is_rows(path)) {
        let message =
            format!("{}: expected result files (.csv) after the first file", other.display());
        return Err(Failure::Usage(message));
    }
    let files: Vec<PathBuf> = first.into_iter().chain(&args.rows).cloned().collect();
    let experiment = args.cases.experiment.clone().filter(|path| !is_rows(&path));
    let mut cases = CaseArgs { experiment, ..args.cases.clone() };
    let log = cases.experiment.take_if(|path| explain::is_log(path));
    let Some(log) = log else { return open(&cases, &files, Explained::default(), Some(args)) };
    if let Some(out) = cases.out.as_deref().filter(|out| !output::is_stdout(out)) {
        output::refuse_inputs(out, [log.clone()])?;
    }
    // With a log, `--system` names the system of the log, and does not add cases to run.
    let system = std::mem::take(&mut cases.systems);
    match explain::rows_of_log(&log, system.first(), &cases.plugins)? {
        Some(explained) => open(&cases, &files, explained, Some(args)),
        None => Ok(INTERRUPTED),
    }
}

type Explained = (Vec<Record>, Vec<String>);

/// Returns the file of the dashboard's state, in `$XDG_STATE_HOME` or `~/.local/state`.
fn state_file() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    Some(base?.join("swapmeet/dashboard.json"))
}

fn options(args: Option<&TuiArgs>) -> Result<Options, Failure> {
    const MOST: u64 = 1 << 20;
    let (config, mut options) = (config::read()?, Options::default());
    let keys = config.keys.iter().map(|(name, key)| (name.as_str(), key.value.as_str()));
    options
        .set_keys(&keys.collect::<Vec<_>>())
        .map_err(|(name, why)| config.keys[&name].error(why))?;
    if let Some(view) = &config.view {
        options.set_view(&view.value).map_err(|why| view.error(why))?;
    }
    for column in &config.columns {
        options.add_column(&column.value).map_err(|why| column.error(why))?;
    }
    let file = args.filter(|args| args.restore).and_then(|_| state_file());
    if let Some(file) = file.filter(|file| file.exists()) {
        let text = read_regular(&file, MOST, "the state of a session");
        let unread = |why: String| Failure::Usage(format!("{} {why}", file.display()));
        options.set_state(text.map_err(unread)?);
    }
    Ok(options)
}

fn replay(args: Option<&TuiArgs>) -> Result<Replay, Failure> {
    const MOST: u64 = 1 << 20;
    let Some(args) = args else { return Ok(Replay::default()) };
    let script = args.replay.as_ref().map(|path| {
        let usage = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let text = read_regular(path, MOST, "a script").map_err(usage)?;
        Script::parse(&text).map_err(usage)
    });
    let recorder = args.record.as_ref().map(|path| {
        Recorder::create(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let why = "exists already: expected the name of a new file for --record";
                Failure::Usage(format!("{} {why}", path.display()))
            }
            _ => Failure::file(path, &error),
        })
    });
    Ok(Replay { script: script.transpose()?, recorder: recorder.transpose()? })
}

/// Stores the state of a session. A failure is reported, but does not change the exit status.
fn keep_state(state: &str) {
    let Some(file) = state_file() else { return };
    let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    if let Err(error) = written.and_then(|()| std::fs::write(&file, state)) {
        say!("remark: {}: {error}; the next session cannot restore this one", file.display());
    }
}

/// Returns the theme. If the environment forbids colours, the configuration's is ignored.
fn theme(appearance: &AppearanceArgs) -> Result<Theme, Failure> {
    if let Some(theme) = appearance.theme.as_deref().and_then(Theme::named) {
        return Ok(theme);
    }
    let of_environment = Theme::of_environment();
    let Some(name) = config::read()?.theme else {
        // The program asks the terminal for its background only if the answer can change the theme.
        let background = of_environment.has_colours().then(Background::of_terminal).flatten();
        return Ok(background.map_or(of_environment, |background| of_environment.on(background)));
    };
    let own = Theme::named(&name.value).ok_or_else(|| {
        let names: Vec<&str> = Theme::names().collect();
        name.error(format!("unknown theme `{}`", name.value))
            .help(format!("themes are: {}", names.join(", ")))
    })?;
    Ok(if of_environment.has_colours() { own } else { of_environment })
}

pub(crate) fn watch(args: &RunArgs) -> Result<ExitStatus, Failure> {
    if args.format.is_some() {
        return Err(Failure::Usage(
            "--format is for rows on standard output, which the dashboard uses".to_owned(),
        ));
    }
    open(&args.cases, &[], Explained::default(), None)
}

/// Shows the dashboard. It contains the rows of files and of an explained log, if there are any.
fn open(
    args: &CaseArgs,
    files: &[PathBuf],
    explained: Explained,
    tui: Option<&TuiArgs>,
) -> Result<ExitStatus, Failure> {
    if !args.beside.is_empty() {
        let why = "--beside is for `run`: the dashboard runs jobs together that an experiment file has as [[together]]";
        return Err(Failure::Usage(why.to_owned()));
    }
    run::note_threads(args.threads);
    use_one_heap();
    let theme = theme(&args.appearance)?;
    let ascii = args.appearance.ascii || is_ascii_terminal();
    if !io::stdin().is_terminal() || !output::is_terminal() {
        return Err(Failure::Usage(
            "the dashboard needs a terminal for input and output: without one, use `swapmeet run`"
                .to_owned(),
        ));
    }
    if args.out.as_deref().is_some_and(output::is_stdout) {
        return Err(Failure::Usage(
            "`--out -` would print rows over the dashboard: give a file, or use `swapmeet run`"
                .to_owned(),
        ));
    }
    if args.resume && args.out.is_none() {
        return Err(Failure::Usage("--resume continues a file: give it with --out".to_owned()));
    }
    let opened = read_files(files).map_err(Failure::usage)?;
    let mut notes: Vec<String> = opened.torn.iter().map(ToString::to_string).collect();
    let of_files = opened.files.into_iter().flat_map(|(_, rows)| rows);
    let opened: Vec<Record> = explained.0.into_iter().chain(of_files).collect();
    notes.extend(explained.1);
    notes.extend(result_files::remarks(&opened));
    let (options, replay) = (options(tui)?, replay(tui)?);
    let follow = tui.map(|tui| tui.follow.clone()).unwrap_or_default();
    let mut experiment = run::experiment(args)?;
    let is_example = is_bare(args, files) && opened.is_empty() && follow.is_empty();
    if is_example {
        experiment = run::with_flags(&example().map_err(Failure::usage)?, args);
        if !args.systems.is_empty() {
            experiment.topologies.clear();
        }
    }
    let is_named = (!experiment.topologies.is_empty()
        || experiment.is_named_by_tables(|table| &table.topologies))
        && (!experiment.algorithms.is_empty()
            || experiment.is_named_by_tables(|table| &table.algorithms));
    let complete = is_named && opened.is_empty() && follow.is_empty();
    let names_machine = !experiment.machines.is_empty();
    let remark = fill_in(&mut experiment)?;
    notes.extend(remark.filter(|_| opened.is_empty()));
    let is_default = opened.is_empty() && (!names_machine || is_example);
    let default_machine = experiment.machines.first().filter(|_| is_default);
    let default_machine = default_machine.map(|machine| machine.value.clone());
    let registry = run::registry_within(&args.plugins, args.memory_limit)?;
    // Errors in flags or files are reported before the dashboard opens.
    let all = CaseGrid::new(&experiment, &registry)?;
    // The user can run the cases of the rows again, if their specs are available here.
    if !opened.is_empty() && args.experiment.is_none() {
        experiment = run::with_flags(&experiment_of(opened.iter(), &registry), args);
        fill_in(&mut experiment)?;
    }
    let cases = run::shard_cases(&all, args.shard)?;
    let cases = if complete { cases } else { Vec::new() };
    let (mut rows, mut found) = (None, Vec::new());
    let remarks = Remarks::default();
    run::protect_inputs(args, &all)?;
    if let Some(path) = &args.out {
        let report = &mut run::reporter(args);
        let (file, earlier) =
            run::rows::open_and_lock(path, run::before(args), &cases, &all, report)?;
        let csv = run::rows::sink(file, path, &remarks).map_err(|e| Failure::file(path, &e))?;
        rows = Some(Arc::new(Mutex::new(csv)) as swapmeet_tui::RowSink);
        found = earlier.rows.into_iter().map(|row| row.map(|row| *row)).collect();
    }
    let setup = Setup {
        registry,
        plugin_dirs: run::plugin_dirs(&args.plugins)?,
        experiment,
        cases,
        found,
        opened,
        follow,
        notes,
        is_example,
        default_machine,
        render,
        // The number of workers is not limited by the cases: another experiment may have more.
        workers: run::workers(args.jobs, args.memory_limit, usize::MAX, &args.plugins)?,
        rows,
        out: args.out.clone(),
    };
    let ended = swapmeet_tui::run(setup, options, Appearance { theme, ascii }, replay);
    let (outcome, state) = ended.map_err(|error| match error {
        EndedBy::Terminal(error) => Failure::writing("the terminal", &error),
        EndedBy::Script(why) => {
            let file =
                tui.and_then(|tui| tui.replay.as_ref()).map(|path| path.display().to_string());
            Failure::Usage(format!("{}: {why}", file.unwrap_or_default()))
        }
    })?;
    if tui.is_some() {
        keep_state(&state);
    }
    run::print_remarks(&remarks);
    if outcome.print_rows && !outcome.records.is_empty() {
        let text = table::results(&outcome.records, table::terminal_width());
        writeln!(streams::stdout(), "{text}").map_err(|e| Failure::printing(&e))?;
    }
    if let Some(text) = rows_in_words(&outcome, args.out.as_deref()) {
        say!("{text}");
    }
    if let Some(reason) = outcome.unwritten {
        return Err(Failure::Output(reason.trim_start_matches("error: ").to_owned()));
    }
    Ok(match (outcome.unfinished, outcome.some_failed) {
        (true, _) => INTERRUPTED,
        (false, true) => SOME_FAILED,
        (false, false) => SUCCESS,
    })
}

/// Returns a text with the number of rows, their file, and the flag that continues the run. Returns
/// `None` if there are no rows, or if the rows were not saved.
fn rows_in_words(outcome: &SessionResult, out: Option<&Path>) -> Option<String> {
    let rows = count(outcome.records.len(), "row");
    let more = if outcome.unfinished {
        "; some cases have not finished: the same command with --resume runs them"
    } else {
        ""
    };
    match (out, &outcome.saved_as) {
        (Some(out), _) if !outcome.records.is_empty() || outcome.unfinished => {
            Some(format!("{rows} in {}{more}", out.display()))
        }
        (None, Some(saved)) => Some(format!("{rows} in {}", saved.display())),
        _ => None,
    }
}

/// Returns whether the command line names neither cases nor result files.
fn is_bare(args: &CaseArgs, files: &[PathBuf]) -> bool {
    let lists = [&args.topologies, &args.algorithms, &args.workloads, &args.machines];
    args.experiment.is_none()
        && args.out.is_none()
        && files.is_empty()
        && lists.iter().all(|list| list.is_empty())
}

/// The default experiment: the algorithms of `quick-start`, with sizes up to 1 MiB.
fn example() -> Result<Experiment, InputError> {
    let example = shipped().iter().find(|study| study.name == "quick-start");
    let example = example.unwrap_or_else(|| unreachable!("quick-start is bundled"));
    let sizes = Text::flag("--workload", "uniform:64..1MiB*4");
    let experiment = Experiment::parse(example.name, example.text)?;
    Ok(Experiment {
        topologies: vec![default_topology()],
        workloads: vec![sizes],
        machines: Vec::new(),
        baseline: None,
        ..experiment
    })
}

fn default_topology() -> Text {
    Text::flag("--topology", "torus:16x16")
}

fn fill_in(experiment: &mut Experiment) -> Result<Option<String>, Failure> {
    if experiment.topologies.is_empty() && !experiment.is_named_by_tables(|table| &table.topologies)
    {
        experiment.topologies.push(default_topology());
    }
    run::fill_in(experiment)
}

fn render(request: &RenderRequest, rows: Vec<Record>) -> Result<Vec<u8>, String> {
    let files = [(String::new(), rows)];
    let baseline = request.baseline.as_deref();
    let styles = Styles::numbered(&request.styles);
    let format = FigureFormat::of_path(&request.path).unwrap_or(FigureFormat::Svg);
    let drawn: Box<dyn Drawable> = match &request.kind {
        RenderKind::Report => return crate::report::page_of(&files, baseline),
        RenderKind::Screen(screen) => return picture(screen, format),
        RenderKind::Curves(x) => {
            let wanted = FigureOptions { baseline, ..FigureOptions::new(*x, Quantity::Time) };
            let figure = Figure::from_rows(&files, &wanted).map_err(|error| match error {
                // The message names a flag of `plot`, in place of which the dashboard has a filter.
                FigureError::ManyCurves(_) => {
                    error.to_string().replace("with --algorithm", "with the filter /")
                }
                _ => error.to_string(),
            });
            Box::new(Figure { styles, ..figure? })
        }
        RenderKind::Winners => {
            let figure = WinnerFigure::from_rows(&files, &swapmeet_plot::Appearance::default())
                .map_err(|e| e.to_string())?;
            Box::new(WinnerFigure { styles, ..figure })
        }
        RenderKind::Parts => Box::new(
            StackedBars::from_rows(
                StackKind::Parts,
                Scales::Shared,
                &files,
                &swapmeet_plot::Appearance::default(),
            )
            .map_err(|e| e.to_string())?,
        ),
    };
    drawn.file(format, &Paper::default(), 2.0).map_err(|e| e.to_string())
}

fn picture(screen: &ScreenPicture, format: FigureFormat) -> Result<Vec<u8>, String> {
    let colour = |[red, green, blue]: [u8; 3]| Colour(red, green, blue);
    let run = |run: &swapmeet_tui::ScreenRun| ScreenRun {
        at: run.at,
        words: run.words.clone(),
        columns: run.columns,
        front: colour(run.front),
        back: colour(run.back),
        is_bold: run.is_bold,
    };
    let picture = swapmeet_plot::ScreenPicture {
        columns: screen.columns,
        rows: screen.rows,
        ground: colour(screen.ground),
        runs: screen.runs.iter().map(run).collect(),
    };
    picture.file(format, 2.0).map_err(|e| e.to_string())
}
