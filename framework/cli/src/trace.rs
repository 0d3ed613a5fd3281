//! `swapmeet trace` prints a schedule while it is made, with a line per message as in papers.

use crate::args::{PluginArgs, ScheduleArgs, TraceArgs, TraceFormat};
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS, print_reason};
use crate::output;
use crate::run::{self, SpecLists};
use crate::say::say;
use crate::streams;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::Ordering;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::simulation::listener::Listener;
use swapmeet_core::text::escaped_lines;
use swapmeet_results::{Record, Status, Verified};
use swapmeet_runner::case::Case;
use swapmeet_runner::dispatch::observe;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::step_record::{FrameSelection, RecordRequest, ScheduleRecord};
use swapmeet_runner::worker::ObserverKind;
use watcher::TraceOptions;

mod json;
mod names;
mod page;
mod perfetto;
mod selection;
mod text;
mod times;
mod watcher;

pub(crate) use json::{Path, path};
pub(crate) use page::{MOST_BYTES, title_of};
pub(crate) use selection::Omitted;
pub(crate) use watcher::TRACE;

trait Writer: Listener {
    fn ended(&mut self, is_verified: bool);
}

/// Writes the schedules, their times, or a page with the schedules of one or two algorithms.
pub(crate) fn trace(args: &TraceArgs) -> Result<ExitStatus, Failure> {
    let TraceArgs { algorithms, summary, step, node, times, .. } = args;
    let cases = cases(&args.schedule, algorithms, args.timeout, &args.plugins)?;
    output::may_write(&args.out, args.over, cases.iter().flat_map(run::input_files_of_case))?;
    let whole = match args.format {
        TraceFormat::Text | TraceFormat::Json => None,
        TraceFormat::Html => Some("html: a page"),
        TraceFormat::Perfetto => Some("perfetto: the file"),
    };
    if let Some(whole) = whole.filter(|_| step.is_some() || node.is_some() || *times) {
        return Err(Failure::Usage(format!(
            "--format {whole} has all steps, nodes and times; remove --step, --node and --times"
        )));
    }
    if args.format == TraceFormat::Html {
        return page::write(args, &cases);
    }
    if algorithms.len() > 1 {
        return Err(Failure::Usage(format!(
            "--algorithm: expected one, found {} (--format html shows two side by side)",
            algorithms.len()
        )));
    }
    if let (Some(node), Some(case)) = (*node, cases.first())
        && node >= case.topology.nodes()
    {
        let nodes = case.topology.nodes();
        return Err(Failure::Usage(format!(
            "--node: there is no node {node}, expected a number below {nodes}"
        )));
    }
    if args.format == TraceFormat::Perfetto {
        return perfetto::write(args, &cases);
    }
    if *times {
        times::check_available(&cases)?;
    }
    let request = RecordRequest {
        frames: FrameSelection::None,
        max_steps: u64::MAX,
        unfinished: false,
        ranks: Some(times::ranks(*node)),
        matrix: false,
    };
    let options = TraceOptions {
        json: args.format == TraceFormat::Json,
        omitted: Omitted::default(),
        summary: *summary,
        step: *step,
        node: *node,
        members: false,
        record: times.then_some(request),
    };
    let Some(record) = printed(args, &cases, &options)? else {
        return Ok(INTERRUPTED);
    };
    if record.status != Status::Ok {
        return Ok(print_failure(&record));
    }
    print_verified(&record);
    Ok(SUCCESS)
}

/// Writes schedules. Returns a row of them, or `None` after an interrupt, which leaves no file.
fn printed(
    args: &TraceArgs,
    cases: &[Case],
    options: &TraceOptions,
) -> Result<Option<Box<Record>>, Failure> {
    let schedule = |out: &mut dyn Write| match (options.json, cases.first()) {
        // A JSON document contains only one schedule, a text several.
        (true, Some(case)) => document(case, &args.plugins, options, out),
        _ => text(cases, &args.plugins, options, out),
    };
    if output::is_stdout(&args.out) {
        let (record, written) = schedule(&mut BufWriter::new(streams::stdout()))?;
        written.map_err(|e| Failure::printing(&e))?;
        return Ok(record);
    }
    let (mut traced, mut is_interrupted) = (Ok(None), false);
    let written = output::file(&args.out, |out| match schedule(out) {
        Ok((record, written)) => {
            is_interrupted = record.is_none() && written.is_ok();
            traced = Ok(record);
            let nothing = || io::Error::other("there is no schedule");
            written.and(if is_interrupted { Err(nothing()) } else { Ok(()) })
        }
        Err(failure) => {
            traced = Err(failure);
            Err(io::Error::other("there is no schedule"))
        }
    });
    let record = traced?;
    if !is_interrupted {
        written?;
    }
    Ok(record)
}

/// This line goes to standard error, because the schedule on standard output may be piped.
fn print_verified(record: &Record) {
    say!(
        "{} on {}: every {} verified; {}, {}, link load {}",
        record.algorithm,
        record.topology,
        if record.verified == Verified::Amounts { "byte" } else { "block" },
        Count(record.steps.unwrap_or(0), "step"),
        Count(record.messages.unwrap_or(0), "message"),
        record.max_link_messages.unwrap_or(0)
    );
}

/// Returns one case for each algorithm and block size of the workload's range.
pub(crate) fn cases(
    of: &ScheduleArgs,
    algorithms: &[String],
    timeout: Option<f64>,
    plugins: &PluginArgs,
) -> Result<Vec<Case>, Failure> {
    let lists = SpecLists {
        topologies: of.topology.as_slice(),
        algorithms,
        workloads: std::slice::from_ref(&of.workload),
        machines: of.machine.as_slice(),
        systems: of.system.as_slice(),
    };
    run::cases_of(lists, of.seed, timeout, plugins)
}

/// Prints why there is no schedule. If the case is unsupported, this is a valid answer and the exit
/// status is success. Any other reason is a failure.
pub(crate) fn print_failure(record: &Record) -> ExitStatus {
    print_reason(record);
    if record.status == Status::Unsupported { SUCCESS } else { SOME_FAILED }
}

type Traced = (Option<Box<Record>>, io::Result<()>);

pub(crate) fn as_json(
    case: &Case,
    plugins: &PluginArgs,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    document(case, plugins, &TraceOptions { json: true, ..TraceOptions::default() }, out)
}

/// Writes the events of the JSON document without the fields in `omitted`, and without the head and
/// the outcome. If `members` is true, only the sends of one communicator are written, between its
/// members.
pub(crate) fn events(
    case: &Case,
    plugins: &PluginArgs,
    (omitted, members): (Omitted, bool),
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    let options = TraceOptions { json: true, omitted, members, ..TraceOptions::default() };
    let Observed { row, written, .. } =
        observed(std::slice::from_ref(case), plugins, &options, &mut write_text(out))?;
    Ok((row, written))
}

fn document(
    case: &Case,
    plugins: &PluginArgs,
    options: &TraceOptions,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    let headed = json::head(out, case);
    let Observed { row, written, record } =
        observed(std::slice::from_ref(case), plugins, options, &mut write_text(out))?;
    let written = headed
        .and(written)
        .and_then(|()| json::times(out, &record, options.selection()))
        .and_then(|()| json::outcome(out, row.as_deref()));
    Ok((row, written))
}

fn text(
    cases: &[Case],
    plugins: &PluginArgs,
    options: &TraceOptions,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    let Observed { row, written, record } =
        observed(cases, plugins, options, &mut write_text(out))?;
    let radices = cases.first().map_or(&[][..], |case| case.topology.radices());
    let times = times::lines(&record, options.selection(), options.summary, radices);
    let written = written.and_then(|()| {
        times.iter().try_for_each(|line| {
            out.write_all(escaped_lines(line).as_bytes()).and_then(|()| writeln!(out))
        })?;
        out.flush()
    });
    Ok((row, written))
}

/// Texts of a worker are written immediately, so that the events before a failure are visible.
fn write_text(out: &mut dyn Write) -> impl FnMut(&str) -> io::Result<()> {
    |text| out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

struct Observed {
    /// The row; `None` after an interrupt.
    row: Option<Box<Record>>,
    /// The first error that the function for handling the text returned.
    written: io::Result<()>,
    record: ScheduleRecord,
}

fn observed(
    cases: &[Case],
    plugins: &PluginArgs,
    options: &TraceOptions,
    handle: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<Observed, Failure> {
    observed_by(&TRACE, cases, plugins, options, handle)
}

/// Starts a worker with an observer. `handle` gets its text, and stops the worker by an error.
fn observed_by(
    kind: &ObserverKind,
    cases: &[Case],
    plugins: &PluginArgs,
    options: impl Serialize,
    handle: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<Observed, Failure> {
    let workers = run::workers(Some(1), None, 1, plugins)?;
    let options = serde_json::to_value(options).map_err(Failure::output)?;
    let (mut row, mut written, mut record) = (None, Ok(()), ScheduleRecord::default());
    let stop = run::interrupts();
    let is_complete = observe(cases, &workers, (kind, options), &stop, &mut |event| match event {
        CaseEvent::Observed { value: Value::String(text) } if written.is_ok() => {
            written = handle(&escaped_lines(&text));
            stop.store(written.is_err(), Ordering::Relaxed);
        }
        CaseEvent::Observed { value: part @ Value::Object(_) } => {
            if let Ok(part) = serde_json::from_value(part) {
                record.add(part);
            }
        }
        CaseEvent::Finished { record, .. } => row = Some(record),
        CaseEvent::Log { line } => say!("{line}"),
        CaseEvent::Observed { .. }
        | CaseEvent::Started { .. }
        | CaseEvent::Progress { .. }
        | CaseEvent::NoWorker { .. } => {}
    });
    // The row arrives before the last values of the record, which is incomplete without them.
    match &row {
        Some(ok) if ok.status == Status::Ok && !is_complete && written.is_ok() => {
            if stop.load(Ordering::Relaxed) {
                row = None;
            } else {
                let why = "the process of the plugin ended before it sent the whole schedule";
                return Err(Failure::Output(format!("{}: {why}", ok.algorithm)));
            }
        }
        _ => {}
    }
    Ok(Observed { row, written, record })
}
