//! Reads ping-pong times of OSU's latency test, Intel's PingPong, or a table of bytes and times.

use super::Sample;
use crate::import::{NumericLine, ParseError, error_at};
use swapmeet_core::text::excerpt;

pub fn is_like(text: &str) -> bool {
    let mut lines = text.lines().take(200);
    lines.any(|line| {
        line.starts_with("# OSU MPI Latency Test")
            || line.starts_with("# Benchmarking PingPong")
            || line.trim() == TABLE
    })
}

/// The first line of a table of times, a CSV file that users can write themselves.
const TABLE: &str = "bytes,time_us";

/// Reads the time of one message in one direction by size. `source` names the text for users.
pub fn read(source: &str, text: &str) -> Result<Vec<Sample>, ParseError> {
    let mut samples = Vec::new();
    let mut time = None;
    let mut separator = ' ';
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim() == TABLE {
            (time, separator) = (Some(1), ',');
        } else if line.starts_with("# OSU ") {
            time = line.starts_with("# OSU MPI Latency Test").then_some(1);
        } else if let Some(name) = line.strip_prefix("# Benchmarking ") {
            time = (name.trim() == "PingPong").then_some(2);
        } else if let (Some(time), false) =
            (time, line.trim().is_empty() || line.trim_start().starts_with('#'))
        {
            let spaced = line.replace(separator, " ");
            let cells = NumericLine::parse(number, &spaced).ok_or_else(|| {
                error_at(number, format!("`{}`: expected bytes and a time", excerpt(line)))
            })?;
            let bytes = cells.whole(0, "bytes")? as f64;
            let time_us = cells.time(time, "the time")?;
            samples.push(Sample {
                source: format!("{source}, line {number}"),
                messages: 1.0,
                bytes,
                time_us,
            });
        }
    }
    match samples.is_empty() {
        true => Err(error_at(
            0,
            "no time in it, expected OSU's latency test, Intel's PingPong or `bytes,time_us`",
        )),
        false => Ok(samples),
    }
}
