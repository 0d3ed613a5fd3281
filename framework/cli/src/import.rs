//! `swapmeet import` converts measurements of other programs to rows.

use crate::args::ImportArgs;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::output;
use crate::say::say;
use crate::split::{Stated, communicators};
use std::collections::HashMap;
use std::path::Path;
use swapmeet_bridges::import::{Measurement, MeasurementFile, counterpart, medians, read};
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::text::{escaped, excerpt, is_unsafe};
use swapmeet_results::{CsvSink, Record, Sink, Status, Verified};
use swapmeet_runner::topology;
use swapmeet_workloads::file::{read_bounded, read_regular};

pub(crate) fn import(args: &ImportArgs) -> Result<ExitStatus, Failure> {
    const LONGEST: u64 = 256 << 20;
    // The name becomes a part of the column `machine`, where commas and colons are separators.
    check_text("--name", &args.name)?;
    args.algorithm.iter().try_for_each(|name| check_text("--algorithm", name))?;
    if args.name.contains([',', ':', '"']) {
        return Err(Failure::Usage(format!(
            "--name {}: expected no comma, colon or quotation mark",
            args.name
        )));
    }
    output::may_write(&args.out, args.over, &args.files)?;
    let given = args.topology.as_deref().map(|spec| {
        let known = topology::parse(spec).map_err(|e| Failure::Usage(format!("--topology: {e}")));
        known.map(|known| (known.spec(), known.nodes()))
    });
    let given = given.transpose()?;
    let mut rows = Vec::new();
    // Measurements of the same case, even in different files, are numbered as repetitions.
    let mut repetitions: HashMap<[String; 4], u32> = HashMap::new();
    let mut omitted = 0;
    for file in &args.files {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
        let text = read_bounded(file, LONGEST, "measurements").map_err(wrong)?;
        let source = MeasurementFile {
            path: file,
            text: &text,
            collective: args.collective.as_deref(),
            read_companion: &|path| read_regular(path, LONGEST, "metadata of PICO"),
        };
        let all = read(&source, args.format.as_deref()).map_err(|why| wrong(why.to_string()))?;
        for mut measurement in if args.medians { medians(all) } else { all } {
            let (spec, nodes) = place(args, given.as_ref(), &measurement).map_err(wrong)?;
            let stated = Stated {
                groups: &measurement.communicators,
                ranks: measurement.ranks,
                line: measurement.line,
                axes: args.axes.as_deref(),
                mesh: args.mesh.as_deref(),
            };
            let communicators = communicators(&stated, &spec).map_err(wrong)?;
            let members = communicators.as_ref().map_or(nodes, |(_, all)| all.size());
            if args.counterparts {
                let Some(ours) = counterpart_of(&measurement, members) else {
                    omitted += 1;
                    continue;
                };
                measurement.algorithm = Some(ours.to_owned());
            }
            let bytes = measurement.block_bytes(members).map_err(|why| wrong(why.to_string()))?;
            let mut row = row(args, &measurement, spec, nodes, bytes);
            if let Some((over, all)) = communicators {
                row.topology = all.network().spec();
                row.workload += &format!(",over={over}");
                (row.communicators, row.members) = (Some(all.count()), Some(all.size()));
            }
            row.note = escaped(&note_of(file, &measurement)).into_owned();
            let key =
                [&row.topology, &row.collective, &row.workload, &row.algorithm].map(Clone::clone);
            let next = repetitions.entry(key).or_default();
            row.repetition = *next;
            *next += 1;
            rows.push(row);
        }
    }
    output::file(&args.out, |out| {
        let mut sink = CsvSink::new(out);
        rows.iter().try_for_each(|row| sink.record(row))?;
        sink.finish()
    })?;
    say!("{} measured", Count(rows.len() as u64, "row"));
    if omitted > 0 {
        say!("{} without a counterpart omitted", Count(omitted, "measurement"));
    }
    Ok(SUCCESS)
}

/// Errors if a text has control characters, because rows may be printed on a terminal.
fn check_text(flag: &str, text: &str) -> Result<(), Failure> {
    if !text.is_empty() && !text.contains(is_unsafe) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{flag} '{}': expected a name without control characters",
        excerpt(text)
    )))
}

/// Returns the algorithm of this project that sends the same messages as the measured algorithm.
fn counterpart_of(measurement: &Measurement, ranks: u64) -> Option<&'static str> {
    let Measurement { collective, algorithm, size, .. } = measurement;
    counterpart(collective, algorithm.as_deref()?, ranks, *size)
}

/// Returns the topology and its number of nodes. The default topology is fully connected.
fn place(
    args: &ImportArgs,
    given: Option<&(String, u64)>,
    measurement: &Measurement,
) -> Result<(String, u64), String> {
    let stated = measurement.ranks.or(args.ranks);
    match (given, stated) {
        (Some((spec, nodes)), Some(ranks)) if ranks != *nodes => Err(format!(
            "line {}: it has {ranks} ranks, but {spec} has {nodes} nodes",
            measurement.line
        )),
        (Some(given), _) => Ok(given.clone()),
        (None, Some(ranks)) => match &measurement.topology {
            None => Ok((format!("fully-connected:{ranks}"), ranks)),
            Some(spec) => match topology::parse(spec) {
                Ok(known) => Ok((known.spec(), ranks)),
                Err(why) => Err(format!("line {}: {why}", measurement.line)),
            },
        },
        (None, None) => {
            Err("it does not contain the number of ranks: give --topology or --ranks".to_owned())
        }
    }
}

fn row(
    args: &ImportArgs,
    measurement: &Measurement,
    topology: String,
    nodes: u64,
    bytes: u64,
) -> Record {
    let prefix = match measurement.collective.as_str() {
        "alltoall" => String::new(),
        other => format!("{other}/"),
    };
    let named = measurement.algorithm.as_deref().map(|name| escaped(name).into_owned());
    let algorithm = args.algorithm.clone().or(named);
    Record {
        experiment: "measured".to_owned(),
        algorithm: algorithm.unwrap_or_else(|| "library".to_owned()),
        collective: measurement.collective.clone(),
        topology,
        nodes,
        workload: format!("{prefix}uniform:{}", swapmeet_core::spec::format_size(bytes)),
        machine: format!("measured:{}", args.name),
        model: "measured".to_owned(),
        status: Status::Ok,
        verified: if measurement.is_checked { Verified::Bytes } else { Verified::None },
        time_us: Some(measurement.time_us),
        swapmeet_version: env!("CARGO_PKG_VERSION").to_owned(),
        block_bytes: Some(bytes),
        ..Record::default()
    }
}

fn note_of(file: &Path, measurement: &Measurement) -> String {
    let line =
        if measurement.line > 0 { format!(", line {}", measurement.line) } else { String::new() };
    let more =
        if measurement.note.is_empty() { String::new() } else { format!(": {}", measurement.note) };
    format!("{}{line}{more}", file.display())
}
