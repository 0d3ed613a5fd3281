//! `swapmeet fit LOG --system SPEC` fits to a log the two values of a system that no data sheet
//! contains. These are the least time of a collective and, if there are several domains, the factor
//! of the fabric.

use crate::args::FitArgs;
use crate::explain::prediction::Place;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SUCCESS};
use crate::output;
use crate::run::{self, SpecLists};
use crate::say::say;
use crate::split::Stated;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use swapmeet_bridges::fit::linear::error_factor;
use swapmeet_bridges::import::{Measurement, MeasurementFile, read};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::format_size;
use swapmeet_workloads::file::{read_bounded, read_regular};

const SMALL: u64 = 4096;

/// The factors that are tried. They are between 0.1 and 10, in steps of about 1.3.
const FACTORS: [f64; 17] =
    [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.3, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0];

/// The algorithms of this project that represent the library's algorithms.
fn algorithms(collective: &str, gpus: u64) -> &'static [&'static str] {
    match (collective, gpus) {
        ("allreduce", 1) => &["ring-allreduce", "two-tree-allreduce:segments=2"],
        ("allreduce", _) => &["ring-allreduce"],
        ("allgather", 1) => &["ring", "pat-allgather"],
        ("allgather", _) => &["ring"],
        ("reduce-scatter", 1) => &["ring-reduce-scatter", "pat-reduce-scatter"],
        ("reduce-scatter", _) => &["ring-reduce-scatter"],
        ("alltoall", _) => &["linear"],
        _ => &[],
    }
}

/// The collective, the bytes of a block, and the measured time in µs.
type Sample = (String, u64, f64);

pub(super) fn fit(args: &FitArgs, spec: &str) -> Result<ExitStatus, Failure> {
    let wrong = |why: String| Failure::Usage(format!("--system {spec}: {why}"));
    let (place, samples, small) = samples(args, Place::of_system(spec)?)?;
    let machine = Machine::parse(&place.machine).map_err(|e| wrong(e.to_string()))?;
    let Some((_, domains, gpus)) = place.communicator() else {
        return Err(wrong("it is no system".to_owned()));
    };
    if samples.is_empty() {
        return Err(wrong("the files have no time of a collective of NCCL".to_owned()));
    }
    // The least time of a collective is the geometric mean of the times of small sizes.
    let floor_us = match small.as_slice() {
        [] => machine.number("floor_us").unwrap_or(0.0),
        small => {
            let mean = small.iter().map(|us| us.ln()).sum::<f64>() / small.len() as f64;
            (mean.exp() * 10.0).round() / 10.0
        }
    };
    // The cases of all factors are in one run, because they share schedules.
    let own = machine.number("fabric_factor").unwrap_or(1.0);
    let factors = if domains > 1 { FACTORS.to_vec() } else { vec![own] };
    let machines: Vec<String> = factors
        .iter()
        .map(|factor| {
            let values = [floor_us.to_string(), factor.to_string()];
            let settings = [("floor_us", values[0].as_str()), ("fabric_factor", &values[1])];
            machine.with(&settings).map(|machine| machine.to_string())
        })
        .collect::<Result<_, _>>()
        .map_err(|(_, e)| wrong(e.to_string()))?;
    let mut predicted: BTreeMap<(String, u64, String), f64> = BTreeMap::new();
    let collectives: BTreeSet<&str> = samples.iter().map(|(name, ..)| name.as_str()).collect();
    for collective in collectives {
        let blocks: BTreeSet<u64> = samples
            .iter()
            .filter(|(name, ..)| name == collective)
            .map(|(_, block, _)| *block)
            .collect();
        let over =
            place.split.as_ref().map_or(String::new(), |split| format!(",over={}", split.over));
        let workloads: Vec<String> =
            blocks.iter().map(|block| format!("{collective}/uniform:{block}{over}")).collect();
        let names: Vec<String> =
            algorithms(collective, gpus).iter().map(|name| (*name).to_owned()).collect();
        let lists = SpecLists {
            topologies: std::slice::from_ref(&place.topology),
            algorithms: &names,
            workloads: &workloads,
            machines: &machines,
            systems: &[],
        };
        let cases = run::cases_of(lists, 0, None, &args.plugins)?;
        let Some(rows) = run::collect(&cases, None, &args.plugins)? else {
            return Ok(INTERRUPTED);
        };
        for row in rows {
            let (Some(us), Some(block)) = (row.time_us, row.block_bytes) else { continue };
            let key = (collective.to_owned(), block, row.machine);
            let least = predicted.entry(key).or_insert(f64::INFINITY);
            *least = least.min(us);
        }
    }
    let error = |machine: &String| {
        let pairs = samples.iter().filter_map(|(collective, block, measured)| {
            let key = (collective.clone(), *block, machine.clone());
            Some((*predicted.get(&key)?, *measured))
        });
        error_factor(pairs)
    };
    let (best, (factor, error)) = machines
        .iter()
        .zip(factors.iter().copied().zip(machines.iter().map(error)))
        .min_by(|a, b| a.1.1.total_cmp(&b.1.1))
        .unwrap_or_else(|| unreachable!("at least one factor is tried"));
    let fitted = match domains > 1 {
        true => format!(",fabric_factor={factor}"),
        false => String::new(),
    };
    let base = spec.split_once(',').map_or(spec, |(base, _)| base);
    output::text(&args.out, &format!("{base},floor_us={floor_us}{fitted}\n"))?;
    let of_small = match small.len() {
        0 => "no size of up to 4 KiB, so floor_us is that of the system".to_owned(),
        count => format!("floor_us is the geometric mean of {count} times of up to 4 KiB"),
    };
    say!("{} times, error factor {error:.2}; {of_small}; machine {best}", samples.len());
    Ok(SUCCESS)
}

/// Returns the measured times of all collectives that can be predicted, and the times of small
/// sizes. The returned place is divided into the communicators of the logs.
fn samples(args: &FitArgs, place: Place) -> Result<(Place, Vec<Sample>, Vec<f64>), Failure> {
    let mut all = Vec::new();
    for file in &args.files {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
        let text = read_bounded(file, super::LONGEST, "measurements").map_err(wrong)?;
        let source = MeasurementFile {
            path: file,
            text: &text,
            collective: args.collective.as_deref(),
            read_companion: &|path| read_regular(path, super::LONGEST, "metadata"),
        };
        let read = read(&source, None).map_err(|why| wrong(why.to_string()))?;
        all.extend(read.into_iter().map(|mut measurement| {
            // A single group is ignored, because it is the communicator of all ranks.
            if measurement.communicators.len() < 2 {
                measurement.communicators = Vec::new();
            }
            (file, measurement)
        }));
    }
    let wrong = |file: &Path, line: usize, why: String| {
        Failure::Usage(format!("{}: line {line}: {why}", file.display()))
    };
    let ranks = place.ranks;
    let groups = all.first().map(|(_, first)| first.communicators.clone()).unwrap_or_default();
    for (file, Measurement { ranks: stated, communicators, line, .. }) in &all {
        if let Some(stated) = stated.filter(|stated| *stated != ranks) {
            let why = format!("it has {stated} ranks, but the system has {ranks} GPUs");
            return Err(wrong(file, *line, why));
        }
        if *communicators != groups {
            let why = "it has other communicators than the first time: expected times of the same communicators";
            return Err(wrong(file, *line, why.to_owned()));
        }
    }
    let stated = Stated { groups: &groups, ranks: Some(ranks), line: 0, axes: None, mesh: None };
    let place = place.divided(&stated).map_err(|_| {
        let why = "its groups of ranks are neither consecutive nor every K-th rank: a system can only be fitted to such groups";
        Failure::Usage(why.to_owned())
    })?;
    let (mut samples, mut small) = (Vec::new(), Vec::new());
    for (file, measurement) in all {
        if algorithms(&measurement.collective, 1).is_empty() || measurement.size == 0 {
            continue;
        }
        if measurement.time_us <= 0.0 {
            let size = format_size(measurement.size);
            let line = measurement.line;
            say!("{}: line {line}: {size} is left out: its time is 0", file.display());
            continue;
        }
        if measurement.size <= SMALL {
            small.push(measurement.time_us);
        }
        // In the smallest sizes of a log, a rank can have less than one byte. They are left out.
        if let Ok(block) = measurement.block_bytes(place.members())
            && block > 0
        {
            samples.push((measurement.collective, block, measurement.time_us));
        }
    }
    Ok((place, samples, small))
}
