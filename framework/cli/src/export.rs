//! `swapmeet export` writes a verified schedule in the format of another program.

use crate::args::{ExportArgs, PluginArgs};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::output;
use crate::run;
use crate::say::say;
use crate::trace::{self, Omitted, Path, path};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{self as paths, PathBuf};
use swapmeet_bridges::export::{
    ExportError, Exporter, FORMATS, Flow, Format, JSON, OutputKind, Over, SCHEDULE_FILE, format,
};
use swapmeet_bridges::schedule::{EventHandler, FORMAT, Header, LineParser, VERSION};
use swapmeet_core::cost::background::Background;
use swapmeet_core::delivery::collective::Tokens;
use swapmeet_core::network::communicators::Communicators;
use swapmeet_results::atomic_file::StagingFolder;
use swapmeet_results::{Record, Status, Verified, columns};
use swapmeet_runner::case::Case;

/// The maximum number of node pairs whose block sizes are exported. Their table has 128 MiB.
const MOST_PAIRS: u64 = 1 << 24;

mod timing;

pub(crate) fn export(args: &ExportArgs) -> Result<ExitStatus, Failure> {
    let algorithm = std::slice::from_ref(&args.algorithm);
    let cases = trace::cases(&args.schedule, algorithm, args.timeout, &args.plugins)?;
    let [case] = cases.as_slice() else {
        return Err(Failure::Usage(
            "an export has one schedule, expected one size instead of a range".to_owned(),
        ));
    };
    let shape =
        format(&args.format).map_or(OutputKind::File(SCHEDULE_FILE), |format| format.output);
    let place = Place::of(shape, args, case)?;
    let staging = place.staging()?;
    let losses = if args.format == "simgrid" { timing::not_in_simgrid(case) } else { Vec::new() };
    if !losses.is_empty() {
        say!("remark: SimGrid's time differs, because it does not express {}", losses.join("; "));
    }
    let record = match format(&args.format) {
        Some(format) => translated(case, &args.plugins, format, staging.path(), &args.out)?,
        None => printed(case, args, &staging.path().join(SCHEDULE_FILE))?,
    };
    let Some(record) = record else { return Ok(crate::failure::INTERRUPTED) };
    match record.status {
        Status::Ok => {
            place.fill(staging.path())?;
            Ok(SUCCESS)
        }
        _ => Ok(trace::print_failure(&record)),
    }
}

/// Writes the same as `trace --format json`. Returns the row, or `None` after an interrupt.
fn printed(
    case: &Case,
    args: &ExportArgs,
    file: &paths::Path,
) -> Result<Option<Box<Record>>, Failure> {
    let failed = |e: io::Error| Failure::file(&args.out, &e);
    let mut out = BufWriter::new(File::create(file).map_err(failed)?);
    let (record, written) = trace::as_json(case, &args.plugins, &mut out)?;
    written.and_then(|()| out.flush()).map_err(failed)?;
    Ok(record)
}

/// Writes the schedule in another format to `folder`. Errors name `place`, its later path.
pub(crate) fn translated(
    case: &Case,
    plugins: &PluginArgs,
    format: &'static Format,
    folder: &paths::Path,
    place: &paths::Path,
) -> Result<Option<Box<Record>>, Failure> {
    let failed = |error: ExportError| match error {
        ExportError::Unsupported(why) => Failure::Usage(format!("--format {}: {why}", format.name)),
        ExportError::Write(error) => Failure::file(place, &error),
    };
    let mut exporter = Exporter::new(format, folder);
    // If the algorithm cannot run the case, the row has the status `unsupported`, as in `run`.
    let implements = case.algorithm.algorithm.check_implements(case.workload.collective());
    let task = match implements.and_then(|()| case.workload.task(&case.topology, case.seed)) {
        Ok(task) => task,
        Err(why) => {
            let refused = Record { status: Status::Unsupported, reason: why, ..case.blank_row() };
            return Ok(Some(Box::new(refused)));
        }
    };
    // The table of block sizes needs much memory, so it is made only for formats that use it.
    let communicators = task.communicators.as_deref();
    let members = communicators.is_some() && format.over == Over::OneCommunicator;
    if communicators.is_some() && format.over == Over::Unsupported {
        return Err(failed(ExportError::Unsupported(format!(
            "`{}` runs in several communicators (`over=`), which this format does not have: expected --format {}",
            case.workload,
            supporting().join(", ")
        ))));
    }
    let network = if members { &task.topology } else { &case.topology };
    let nodes = network.nodes();
    if format.wants_sizes && task.sizes.is_some() && nodes * nodes > MOST_PAIRS {
        return Err(failed(ExportError::Unsupported(format!(
            "the sizes of {} pairs of nodes do not fit into a file, expected at most {MOST_PAIRS}",
            nodes * nodes
        ))));
    }
    let head = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        topology: network.spec(),
        nodes,
        communicators: communicators.filter(|_| members).map(ranks).unwrap_or_default(),
        algorithm: case.algorithm.to_string(),
        workload: case.workload.to_string(),
        collective: case.workload.collective().word.to_owned(),
        root: task.collective.root(),
        machine: case.machine.to_string(),
        seed: case.seed,
        block_bytes: case.workload.is_uniform().then(|| case.workload.block_bytes()),
        element_bytes: case.workload.element_bytes(),
        byte_us: case.machine.number("byte_us"),
        timing: timing::of(case).map_err(Failure::Usage)?,
        skip_empty: task.skip_empty,
        sizes: match &task.sizes {
            Some(sizes) if format.wants_sizes => (0..nodes)
                .flat_map(|from| (0..nodes).map(move |to| (from, to)))
                .map(|(from, to)| sizes.bytes(from, to))
                .collect(),
            Some(_) | None => Vec::new(),
        },
        tokens: match task.collective.tokens() {
            Some(tokens) if format.wants_sizes => {
                (0..nodes).map(|node| classes(tokens, node)).collect()
            }
            _ => Vec::new(),
        },
        permutation: task
            .collective
            .images()
            .unwrap_or_default()
            .iter()
            .copied()
            .map(u64::from)
            .collect(),
    };
    // Events are passed on one by one, so the whole schedule is never in memory.
    let passed_on = |error: io::Error| failed(error.into());
    exporter.head(head).map_err(|e| passed_on(io::Error::other(e)))?;
    for (from, to, bytes) in case.machine.background().into_iter().flat_map(Background::flows) {
        let (from, to) = (u64::from(from), u64::from(to));
        let Path { vertices: path, bandwidths, latencies } = path(&case.topology, (from, to), None);
        let flow = Flow { from, to, bytes, path, bandwidths, latencies };
        exporter.background(&flow).map_err(failed)?;
    }
    let mut lines = LineParser::new(&mut exporter);
    let omitted = Omitted { routes: !format.wants_routes, contents: !format.wants_blocks() };
    let (record, written) = trace::events(case, plugins, (omitted, members), &mut lines)?;
    written.map_err(passed_on)?;
    // Only this call completes the files.
    if let Some(record) = record.as_ref().filter(|record| record.status == Status::Ok)
        && let Some(deadlock) = exporter.finish(&measured(case, record)).map_err(failed)?
    {
        say!(
            "warning: on connections with 8 slots, as those of NCCL, the program has a deadlock if each chunk takes a slot: {deadlock}"
        );
    }
    Ok(record)
}

fn supporting() -> Vec<&'static str> {
    let supports = |format: &&Format| format.over != Over::Unsupported;
    FORMATS.iter().filter(supports).map(|format| format.name).chain([JSON.0]).collect()
}

fn ranks(communicators: &Communicators) -> Vec<Vec<u64>> {
    let of_one = |ranks: &[u32]| ranks.iter().map(|rank| u64::from(*rank)).collect();
    communicators.all().map(of_one).collect()
}

fn classes(tokens: &Tokens, node: u64) -> Vec<(u64, Vec<u64>)> {
    let receivers = |class| tokens.receivers(node, class).iter().map(|r| u64::from(*r)).collect();
    (0..).zip(tokens.bytes(node)).map(|(class, bytes)| (*bytes, receivers(class))).collect()
}

/// Returns the columns of a row for a measurement of this schedule. Predicted values are kept only
/// if they hold in every run, such as the number of messages. The program that measures replaces
/// the placeholders.
fn measured(case: &Case, record: &Record) -> Vec<(&'static str, String)> {
    let row = Record {
        status: Status::Ok,
        verified: Verified::Bytes,
        steps: record.steps,
        messages: record.messages,
        total_bytes: record.total_bytes,
        critical_bytes: record.critical_bytes,
        communicators: record.communicators,
        members: record.members,
        ..case.blank_row()
    };
    let figure = |(name, field): (&'static str, String)| {
        let field = match name {
            "machine" => "measured:@NAME@".to_owned(),
            "model" => "measured".to_owned(),
            "machine_definition" => String::new(),
            "repetition" => "@REPETITION@".to_owned(),
            "time_us" => "@TIME@".to_owned(),
            "first_rank_us" => "@FIRST@".to_owned(),
            "mean_rank_us" => "@MEAN@".to_owned(),
            _ => field,
        };
        (name, field)
    };
    columns().zip(row.fields().collect::<Vec<_>>()).map(figure).collect()
}

enum Place {
    File(PathBuf, &'static str),
    Folder(PathBuf),
}

impl Place {
    fn of(shape: OutputKind, args: &ExportArgs, case: &Case) -> Result<Self, Failure> {
        let out = args.out.as_path();
        if matches!(shape, OutputKind::Folder) && output::is_stdout(out) {
            return Err(Failure::Usage(
                "this format has several files, expected --out FOLDER".to_owned(),
            ));
        }
        output::may_write(out, args.over, run::input_files_of_case(case))?;
        let is_full = || std::fs::read_dir(out).is_ok_and(|mut files| files.next().is_some());
        // Files of an earlier export could be mistaken for files of this one.
        if matches!(shape, OutputKind::Folder) && !args.over.force && is_full() {
            let out = out.display();
            return Err(Failure::Usage(format!(
                "{out}: the folder is not empty: --force overwrites its files"
            )));
        }
        Ok(match shape {
            OutputKind::File(name) => Self::File(out.to_owned(), name),
            OutputKind::Folder => Self::Folder(out.to_owned()),
        })
    }

    /// Returns a temporary folder on the disk of the destination, so that files can be renamed.
    fn staging(&self) -> Result<StagingFolder, Failure> {
        let near = match self {
            Self::File(out, _) if output::is_stdout(out) => std::env::temp_dir(),
            Self::File(out, _) | Self::Folder(out) => match out.parent() {
                Some(folder) if folder != paths::Path::new("") => folder.to_owned(),
                Some(_) | None => PathBuf::from("."),
            },
        };
        StagingFolder::new(&near).map_err(|e| Failure::file(&near, &e))
    }

    fn fill(&self, staging: &paths::Path) -> Result<(), Failure> {
        match self {
            Self::File(out, name) => output::file(out, |out| {
                io::copy(&mut File::open(staging.join(name))?, out)?;
                Ok(())
            }),
            Self::Folder(out) => {
                let failed = |e: io::Error| Failure::file(out, &e);
                std::fs::create_dir_all(out).map_err(failed)?;
                for file in std::fs::read_dir(staging).map_err(failed)? {
                    let file = file.map_err(failed)?;
                    std::fs::rename(file.path(), out.join(file.file_name())).map_err(failed)?;
                }
                Ok(())
            }
        }
    }
}
