//! `swapmeet trace`: prints a schedule while it is made, one line per message, in the notation of
//! papers about schedules.

use crate::args::{PluginArgs, ScheduleArgs, TraceArgs, TraceFormat};
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS, print_reason};
use crate::output;
use crate::run::{self, SpecLists};
use crate::say::say;
use crate::streams;
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::Ordering;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::text::escaped_lines;
use swapmeet_results::{Record, Status, Verified};
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::observe::observe;
use watcher::TraceOptions;

mod facts;
mod json;
mod names;
mod page;
mod positions;
mod selection;
mod text;
mod times;
mod watcher;
mod writer;

pub(crate) use page::{MOST_BYTES, title_of};
pub(crate) use selection::Omitted;
pub(crate) use watcher::WATCH;

/// Writes the schedule of one algorithm on one topology, or a page with the schedules of one or two
/// algorithms.
pub(crate) fn trace(args: &TraceArgs) -> Result<ExitStatus, Failure> {
    let TraceArgs { algorithms, summary, step, node, times, .. } = args;
    let cases = cases(&args.schedule, algorithms, args.timeout, &args.plugins)?;
    output::may_write(&args.out, args.over, cases.iter().flat_map(run::input_files_of_case))?;
    if args.format == TraceFormat::Html {
        return page::write(args, &cases);
    }
    if algorithms.len() > 1 {
        return Err(Failure::Usage(format!(
            "--algorithm: expected one, found {} (--format html shows two side by side)",
            algorithms.len()
        )));
    }
    // Report an invalid node before the schedule is made.
    if let (Some(node), Some(case)) = (*node, cases.first())
        && node >= case.topology.nodes()
    {
        let nodes = case.topology.nodes();
        return Err(Failure::Usage(format!(
            "--node: there is no node {node}, expected a number below {nodes}"
        )));
    }
    if *times {
        times::check_available(&cases)?;
    }
    let options = TraceOptions {
        json: args.format == TraceFormat::Json,
        omitted: Omitted::default(),
        facts: false,
        summary: *summary,
        step: *step,
        node: *node,
        times: *times,
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

/// Writes the schedule to standard output or to a file. Returns the row of the schedule, or `None`
/// after an interrupt. A file is only written if there was no interrupt.
fn printed(
    args: &TraceArgs,
    cases: &[Case],
    options: &TraceOptions,
) -> Result<Option<Box<Record>>, Failure> {
    let schedule = |out: &mut dyn Write| match (options.json, cases.first()) {
        // The text format can print schedules for several block sizes one after another. A JSON
        // document contains only one schedule.
        (true, Some(case)) => document(case, &args.plugins, options, out),
        _ => write_events(cases, &args.plugins, options, &mut write_text(out)),
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

/// Prints a summary to standard error, because standard output, which contains the schedule, may be
/// piped to another program.
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

/// Returns one case for each algorithm and block size. There are several block sizes if the
/// workload contains a range.
pub(crate) fn cases(
    of: &ScheduleArgs,
    algorithms: &[String],
    timeout: Option<f64>,
    plugins: &PluginArgs,
) -> Result<Vec<Case>, Failure> {
    let lists = SpecLists {
        topologies: std::slice::from_ref(&of.topology),
        algorithms,
        workloads: std::slice::from_ref(&of.workload),
        machines: of.machine.as_slice(),
    };
    run::cases_of(lists, of.seed, timeout, plugins)
}

/// Prints the reason why there is no schedule. An unsupported case is a valid answer; any other
/// reason is a failure.
pub(crate) fn print_failure(record: &Record) -> ExitStatus {
    print_reason(record);
    if record.status == Status::Unsupported { SUCCESS } else { SOME_FAILED }
}

/// The row of a schedule (`None` after an interrupt), and the result of writing it.
type Traced = (Option<Box<Record>>, io::Result<()>);

/// Writes a schedule as one JSON document.
pub(crate) fn as_json(
    case: &Case,
    plugins: &PluginArgs,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    document(case, plugins, &TraceOptions { json: true, ..TraceOptions::default() }, out)
}

/// Writes the events of the JSON document, one per line, without the fields in `omitted`. The head
/// and the outcome of the document are not written.
pub(crate) fn events(
    case: &Case,
    plugins: &PluginArgs,
    omitted: Omitted,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    write_events(
        std::slice::from_ref(case),
        plugins,
        &TraceOptions { json: true, omitted, ..TraceOptions::default() },
        &mut write_text(out),
    )
}

fn document(
    case: &Case,
    plugins: &PluginArgs,
    options: &TraceOptions,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    let headed = json::head(out, case);
    let (record, written) =
        write_events(std::slice::from_ref(case), plugins, options, &mut write_text(out))?;
    let written = headed.and(written).and_then(|()| json::outcome(out, record.as_deref()));
    Ok((record, written))
}

/// Returns a function that writes each text of a worker as soon as it arrives, so that the events
/// before a failure are visible.
fn write_text(out: &mut dyn Write) -> impl FnMut(Value) -> io::Result<()> {
    |value| match value {
        Value::String(text) => {
            out.write_all(escaped_lines(&text).as_bytes()).and_then(|()| out.flush())
        }
        _ => Ok(()),
    }
}

/// Starts a worker that makes the schedule of the cases, and passes the values that the worker
/// reports to `handle`. The worker is stopped after the first error of `handle`.
fn write_events(
    cases: &[Case],
    plugins: &PluginArgs,
    options: &TraceOptions,
    handle: &mut dyn FnMut(Value) -> io::Result<()>,
) -> Result<Traced, Failure> {
    let workers = run::workers(Some(1), None, 1, plugins)?;
    let options = serde_json::to_value(options).map_err(Failure::output)?;
    let (mut record, mut written) = (None, Ok(()));
    let stop = run::interrupts();
    let is_complete =
        observe(cases, &workers, (&WATCH, options), &stop, &mut |event| match event {
            CaseEvent::Observed { value } if written.is_ok() => {
                written = handle(value);
                stop.store(written.is_err(), Ordering::Relaxed);
            }
            CaseEvent::Finished { record: row, .. } => record = Some(row),
            CaseEvent::Log { line } => say!("{line}"),
            CaseEvent::Observed { .. }
            | CaseEvent::Started { .. }
            | CaseEvent::Progress { .. }
            | CaseEvent::NoWorker { .. } => {}
        });
    // The row arrives before the last values. Without these, there is no schedule.
    match &record {
        Some(row) if row.status == Status::Ok && !is_complete && written.is_ok() => {
            if stop.load(Ordering::Relaxed) {
                record = None;
            } else {
                let why = "the process of the plugin ended before it sent the whole schedule";
                return Err(Failure::Output(format!("{}: {why}", row.algorithm)));
            }
        }
        _ => {}
    }
    Ok((record, written))
}
