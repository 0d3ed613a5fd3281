//! Times of messages there and back: OSU's latency test, Intel's PingPong, or a table of bytes and
//! times.

use super::Sample;
use crate::import::{Cells, Wrong, wrong};

/// Whether a text is one of these.
pub fn is_like(text: &str) -> bool {
    let mut lines = text.lines().take(200);
    lines.any(|line| {
        line.starts_with("# OSU MPI Latency Test")
            || line.starts_with("# Benchmarking PingPong")
            || line.trim() == TABLE
    })
}

/// The first line of a table of one's own.
const TABLE: &str = "bytes,time_us";

/// The times that a text says, of one way of one message each; `source` is its name.
pub fn read(source: &str, text: &str) -> Result<Vec<Sample>, Wrong> {
    let mut samples = Vec::new();
    // Which column has the time, in which section.
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
            let cells = Cells::of(number, &spaced)
                .ok_or_else(|| wrong(number, format!("`{line}`: expected bytes and a time")))?;
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
        true => Err(wrong(
            0,
            "no time in it, expected OSU's latency test, Intel's PingPong or `bytes,time_us`",
        )),
        false => Ok(samples),
    }
}
