//! nccl-tests, as text or as JSON of version 3. Sizes are those of the larger buffer; times are
//! those out of place.

use super::table::Cells;
use super::{Measurement, SizeOf, Source, Wrong, collective, known_collective, wrong};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Which collective a program's name says: `./build/alltoall_perf`.
fn of_program(words: &str) -> Option<&'static str> {
    let program = words.split_whitespace().find(|word| word.contains("_perf"))?;
    let name = program.rsplit('/').next()?.split("_perf").next()?;
    match name {
        "all_reduce" => Some("allreduce"),
        "all_gather" => Some("allgather"),
        "reduce_scatter" => Some("reduce-scatter"),
        name => collective(name),
    }
}

fn which(source: &Source<'_>, line: usize, text: &str) -> Result<String, Wrong> {
    match (source.collective, of_program(text)) {
        (Some(name), _) => known_collective(line, name),
        (None, Some(known)) => Ok(known.to_owned()),
        (None, None) => {
            Err(wrong(line, "it does not say which collective it is of: name it with --collective"))
        }
    }
}

pub(super) fn is_like_text(text: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with('#') && line.contains("algbw") && line.contains("busbw"))
}

pub(super) fn read_text(source: &Source<'_>) -> Result<Vec<Measurement>, Wrong> {
    let mut list = Vec::new();
    let ranks = source.text.lines().filter(|line| {
        let words: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
        line.starts_with('#')
            && words.first() == Some(&"Rank")
            && words.get(1).is_some_and(|n| n.parse::<u64>().is_ok())
    });
    let ranks = Some(ranks.count() as u64).filter(|ranks| *ranks > 0);
    for (number, line) in (1..).zip(source.text.lines()) {
        // size count type redop root | time algbw busbw #wrong | the same in place
        let Some(cells) = Cells::of(number, line.trim_start()) else { continue };
        let is_wrong = cells.word(8).unwrap_or("N/A");
        if is_wrong != "N/A" && is_wrong != "0" {
            return Err(wrong(
                number,
                format!("{is_wrong} results were wrong, expected 0: not a time of this collective"),
            ));
        }
        list.push(Measurement {
            collective: which(
                source,
                number,
                source.text.lines().find(|line| line.contains("_perf")).unwrap_or_default(),
            )?,
            size_of: SizeOf::Buffer,
            size: cells.whole(0, "the size")?,
            ranks,
            algorithm: None,
            time_us: cells.time(5, "the time")?,
            note: cells.word(7).map(|busbw| format!("busbw {busbw} GB/s")).unwrap_or_default(),
            is_checked: is_wrong == "0",
            line: number,
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
    results: Vec<ResultOf>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    devices: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    rank: u64,
}

#[derive(Deserialize)]
struct ResultOf {
    size: u64,
    out_of_place: Option<Times>,
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

pub(super) fn read_json(source: &Source<'_>) -> Result<Vec<Measurement>, Wrong> {
    const VERSION: u64 = 3;
    let document: Document =
        serde_json::from_str(source.text).map_err(|e| wrong(e.line(), e.to_string()))?;
    if document.version != VERSION {
        return Err(wrong(0, format!("its version is {}, expected {VERSION}", document.version)));
    }
    let collective = which(source, 0, &document.args.join(" "))?;
    let ranks = document.config.devices.iter().map(|device| device.rank.saturating_add(1)).max();
    let mut list = Vec::new();
    for result in document.results {
        let Some(times) = result.out_of_place else { continue };
        if times.nwrong.is_some_and(|n| n != 0.0) {
            return Err(wrong(
                0,
                format!("of {} bytes results were wrong, expected none", result.size),
            ));
        }
        if !(times.time.is_finite() && times.time >= 0.0) {
            return Err(wrong(
                0,
                format!("of {} bytes the time is {}, expected a time", result.size, times.time),
            ));
        }
        let spread = ["min_us", "max_us", "p50_us", "p99_us", "stdev_us"];
        let note = spread.iter().filter_map(|key| Some(format!("{key} {}", times.more.get(*key)?)));
        list.push(Measurement {
            collective: collective.clone(),
            size_of: SizeOf::Buffer,
            size: result.size,
            ranks,
            algorithm: None,
            time_us: times.time,
            note: note.collect::<Vec<_>>().join(", "),
            is_checked: times.nwrong.is_some(),
            line: 0,
        });
    }
    Ok(list)
}
