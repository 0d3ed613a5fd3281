//! `swapmeet trace`: prints a schedule while it is made, one line per message, in the notation of
//! papers about schedules.

use crate::args::{PluginArgs, ScheduleArgs, TraceArgs, TraceFormat};
use crate::failure::{Failure, INTERRUPTED, SOME_FAILED};
use crate::run::{self, SpecLists};
use crate::say::say;
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::text::escaped_lines;
use swapmeet_results::{Record, Status, Verified};
use swapmeet_runner::case::Case;
use swapmeet_runner::observe::{BatchEvent, observe};
use watcher::TraceOptions;

mod json;
mod names;
mod selection;
mod text;
mod times;
mod watcher;
mod writer;

pub(crate) use watcher::WATCH;

/// Prints the schedule of one algorithm on one topology.
pub(crate) fn trace(args: &TraceArgs) -> Result<ExitCode, Failure> {
    let cases = cases(&args.schedule, args.timeout, &args.plugins)?;
    // Report an invalid node before the schedule is made.
    if let (Some(node), Some(case)) = (args.node, cases.first())
        && node >= case.topology.nodes()
    {
        let nodes = case.topology.nodes();
        return Err(Failure::Usage(format!(
            "--node: there is no node {node}, expected a number below {nodes}"
        )));
    }
    if args.times {
        times::check_available(&cases)?;
    }
    // The text format can print schedules for several block sizes one after another. A JSON
    // document contains only one schedule.
    let TraceArgs { summary, step, node, times, .. } = *args;
    let options =
        TraceOptions { json: args.format == TraceFormat::Json, summary, step, node, times };
    let mut out = BufWriter::new(io::stdout());
    let (record, written) = match (args.format, cases.first()) {
        (TraceFormat::Json, Some(case)) => document(case, &args.plugins, &options, &mut out)?,
        (TraceFormat::Json | TraceFormat::Text, _) => {
            write_events(&cases, &args.plugins, &options, &mut out)?
        }
    };
    written.map_err(|e| Failure::printing(&e))?;
    let Some(record) = record else { return Ok(ExitCode::from(INTERRUPTED)) };
    // Print the summary to standard error, because standard output, which contains the schedule,
    // may be piped to another program.
    match record.status {
        Status::Ok => {
            say!(
                "{} on {}: every {} verified; {}, {}, link load {}",
                record.algorithm,
                record.topology,
                if record.verified == Verified::Amounts { "byte" } else { "block" },
                Count(record.steps.unwrap_or(0), "step"),
                Count(record.messages.unwrap_or(0), "message"),
                record.max_link_messages.unwrap_or(0)
            );
            Ok(ExitCode::SUCCESS)
        }
        status => Ok(print_failure(&record, status)),
    }
}

/// Returns one case for each block size. There are several block sizes if the workload contains a
/// range.
pub(crate) fn cases(
    of: &ScheduleArgs,
    timeout: Option<f64>,
    plugins: &PluginArgs,
) -> Result<Vec<Case>, Failure> {
    let lists = SpecLists {
        topologies: std::slice::from_ref(&of.topology),
        algorithms: std::slice::from_ref(&of.algorithm),
        workloads: std::slice::from_ref(&of.workload),
        machines: of.machine.as_slice(),
    };
    run::cases_of(lists, of.seed, timeout, plugins)
}

/// Prints the reason why there is no schedule. An unsupported case is a valid answer; any other
/// reason is a failure.
pub(crate) fn print_failure(record: &Record, status: Status) -> ExitCode {
    say!("{} on {}: {status}: {}", record.algorithm, record.topology, record.reason);
    if status == Status::Unsupported { ExitCode::SUCCESS } else { ExitCode::from(SOME_FAILED) }
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

/// Writes only the events of the JSON document, one event per line, without the head and the
/// outcome.
pub(crate) fn events(
    case: &Case,
    plugins: &PluginArgs,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    write_events(
        std::slice::from_ref(case),
        plugins,
        &TraceOptions { json: true, ..TraceOptions::default() },
        out,
    )
}

fn document(
    case: &Case,
    plugins: &PluginArgs,
    options: &TraceOptions,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    let headed = json::head(out, case);
    let (record, written) = write_events(std::slice::from_ref(case), plugins, options, out)?;
    let written = headed.and(written).and_then(|()| json::outcome(out, record.as_deref()));
    Ok((record, written))
}

/// Starts a worker that makes the schedule of the cases, and writes the events of this schedule.
fn write_events(
    cases: &[Case],
    plugins: &PluginArgs,
    options: &TraceOptions,
    out: &mut dyn Write,
) -> Result<Traced, Failure> {
    let workers = run::workers(Some(1), None, 1, plugins)?;
    let options = serde_json::to_value(options).map_err(|e| Failure::Output(e.to_string()))?;
    let (mut record, mut written) = (None, Ok(()));
    let stop = run::interrupts();
    observe(cases, &workers, (&WATCH, options), &stop, &mut |event| match event {
        // Write each event as soon as it arrives, so that the events before a failure are visible.
        BatchEvent::Observed { value: Value::String(text) } if written.is_ok() => {
            written = out.write_all(escaped_lines(&text).as_bytes()).and_then(|()| out.flush());
            stop.store(written.is_err(), Ordering::Relaxed);
        }
        BatchEvent::Finished { record: row, .. } => record = Some(row),
        BatchEvent::Log { line } => say!("{line}"),
        BatchEvent::Observed { .. } | BatchEvent::Started { .. } | BatchEvent::Progress { .. } => {}
    });
    Ok((record, written))
}
