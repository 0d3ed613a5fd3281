//! Output of nccl-tests, as text or as JSON of version 3. A size is the number of bytes of the send
//! buffer or the receive buffer, whichever is larger. Only times of out-of-place operations are
//! imported.
//!
//! With `NCCL_TESTS_SPLIT`, ranks of the same group are a communicator, and all communicators run at
//! the same time. Sizes are those of one communicator.

use super::{
    Measurement, MeasurementFile, NumericLine, ParseError, SizeOf, collective, error_at,
    known_collective,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Returns the collective that a program measures. The program is identified by its name, such as
/// `./build/alltoall_perf`.
fn collective_of_program(words: &str) -> Option<&'static str> {
    let program = words.split_whitespace().find(|word| word.contains("_perf"))?;
    let name = program.rsplit('/').next()?.split("_perf").next()?;
    match name {
        "all_reduce" => Some("allreduce"),
        "all_gather" => Some("allgather"),
        "reduce_scatter" => Some("reduce-scatter"),
        name => collective(name),
    }
}

fn collective_of(
    source: &MeasurementFile<'_>,
    line: usize,
    text: &str,
) -> Result<String, ParseError> {
    match (source.collective, collective_of_program(text)) {
        (Some(name), _) => known_collective(line, name),
        (None, Some(known)) => Ok(known.to_owned()),
        (None, None) => Err(error_at(line, "its collective is unknown: name it with --collective")),
    }
}

pub(super) fn is_like_text(text: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with('#') && line.contains("algbw") && line.contains("busbw"))
}

pub(super) fn read_text(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    let mut list = Vec::new();
    // A line such as `#  Rank  3 Group  1 Pid 4711 on host device 3`; old versions have no groups.
    let device = |line: &str| {
        let words: Vec<&str> = line.strip_prefix('#')?.split_whitespace().collect();
        let number = |at: usize, name| {
            (words.get(at) == Some(&name)).then(|| words.get(at + 1)?.parse::<u64>().ok())?
        };
        Some((number(0, "Rank")?, number(2, "Group")))
    };
    let devices: Vec<(u64, Option<u64>)> = source.text.lines().filter_map(device).collect();
    let ranks = Some(devices.len() as u64).filter(|ranks| *ranks > 0);
    let communicators = communicators(&devices);
    for (number, line) in (1..).zip(source.text.lines()) {
        // The columns are size, count, type, redop, root, time, algbw, busbw and #wrong. The last
        // four of these columns are repeated for in-place operations.
        let Some(cells) = NumericLine::parse(number, line.trim_start()) else { continue };
        let is_wrong = cells.word(8).unwrap_or("N/A");
        if is_wrong != "N/A" && is_wrong != "0" {
            return Err(error_at(
                number,
                format!("{is_wrong} results were wrong, expected 0: not a time of this collective"),
            ));
        }
        list.push(Measurement {
            collective: collective_of(
                source,
                number,
                source.text.lines().find(|line| line.contains("_perf")).unwrap_or_default(),
            )?,
            size_of: SizeOf::Buffer,
            size: cells.whole(0, "the size")?,
            ranks,
            communicators: communicators.clone(),
            time_us: cells.time(5, "the time")?,
            in_place_us: cells.time(9, "the in-place time").ok(),
            note: cells.word(7).map(|busbw| format!("busbw {busbw} GB/s")).unwrap_or_default(),
            is_checked: is_wrong == "0",
            line: number,
            ..Measurement::default()
        });
    }
    Ok(list)
}

#[derive(Deserialize)]
struct Document {
    version: u64,
    #[serde(default)]
    args: Vec<String>,
    config: Config,
    results: Vec<SizeResult>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    devices: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    rank: u64,
    group: Option<u64>,
}

/// Returns the ranks of each group, in the order of groups. Each device has its rank and its group.
/// If a group is unknown, nothing is known about communicators.
fn communicators(devices: &[(u64, Option<u64>)]) -> Vec<Vec<u64>> {
    let mut groups: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (rank, group) in devices {
        let Some(group) = group else { return Vec::new() };
        groups.entry(*group).or_default().push(*rank);
    }
    groups.into_values().collect()
}

#[derive(Deserialize)]
struct SizeResult {
    size: u64,
    out_of_place: Option<Times>,
    in_place: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    #[serde(alias = "cpu_time")]
    time: f64,
    nwrong: Option<f64>,
    #[serde(flatten)]
    more: BTreeMap<String, serde_json::Value>,
}

pub(super) fn is_like_json(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"nccl_version\"")
}

pub(super) fn read_json(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    const VERSION: u64 = 3;
    // Refuse other versions of the format, because their units may differ.
    let document: Document =
        serde_json::from_str(source.text).map_err(|e| error_at(e.line(), e.to_string()))?;
    if document.version != VERSION {
        return Err(error_at(
            0,
            format!("its version is {}, expected {VERSION}", document.version),
        ));
    }
    // The file does not state the collective and the number of ranks, so derive them from the
    // command line and the devices.
    let collective = collective_of(source, 0, &document.args.join(" "))?;
    let ranks = document.config.devices.iter().map(|device| device.rank.saturating_add(1)).max();
    let devices: Vec<(u64, Option<u64>)> =
        document.config.devices.iter().map(|device| (device.rank, device.group)).collect();
    let communicators = communicators(&devices);
    let mut list = Vec::new();
    // Import only the out-of-place times, because MPI benchmarks also measure out-of-place
    // operations.
    for result in document.results {
        let Some(times) = result.out_of_place else { continue };
        if times.nwrong.is_some_and(|n| n != 0.0) {
            return Err(error_at(
                0,
                format!("{} bytes: results were wrong, expected none", result.size),
            ));
        }
        if !(times.time.is_finite() && times.time >= 0.0) {
            return Err(error_at(
                0,
                format!(
                    "{} bytes: the time is {}, expected a time of 0 or more",
                    result.size, times.time
                ),
            ));
        }
        // The extremes and percentiles become a note, because rows have no columns for them.
        let spread = ["min_us", "max_us", "p50_us", "p99_us", "stdev_us"];
        let note = spread.iter().filter_map(|key| Some(format!("{key} {}", times.more.get(*key)?)));
        list.push(Measurement {
            collective: collective.clone(),
            size_of: SizeOf::Buffer,
            size: result.size,
            ranks,
            communicators: communicators.clone(),
            time_us: times.time,
            in_place_us: result.in_place.map(|times| times.time).filter(|us| us.is_finite()),
            note: note.collect::<Vec<_>>().join(", "),
            is_checked: times.nwrong.is_some(),
            line: 0,
            ..Measurement::default()
        });
    }
    Ok(list)
}
