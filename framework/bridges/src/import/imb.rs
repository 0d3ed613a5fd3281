//! Output of the Intel MPI Benchmarks. Each section contains the name of a benchmark, the number of
//! processes, and a table of times in microseconds.

use super::{Measurement, MeasurementFile, NumericLine, ParseError, SizeOf, collective, error_at};

pub(super) fn is_like(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("# Benchmarking "))
}

pub(super) fn read(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    // The lines above each table state the benchmark, the number of processes and the columns.
    let (mut collective_name, mut ranks, mut columns): (Option<String>, _, Vec<&str>) =
        (None, None, Vec::new());
    let mut list = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        if let Some(name) = line.strip_prefix("# Benchmarking ") {
            // Skip benchmarks that do not measure a collective, such as PingPong.
            collective_name = collective(name.trim()).map(str::to_owned);
            (ranks, columns) = (None, Vec::new());
        } else if let Some(count) = line.strip_prefix("# #processes =") {
            let count = count.split_whitespace().next().unwrap_or_default();
            ranks = Some(count.parse().map_err(|_| {
                error_at(number, format!("`{count}` processes, expected a whole number"))
            })?);
        } else if line.trim_start().starts_with("#bytes") {
            columns = line.split_whitespace().collect();
        } else if let (Some(collective), Some(cells)) =
            (&collective_name, NumericLine::parse(number, line))
        {
            // Import the average over ranks as the time. The other columns become a note.
            let time = columns.iter().position(|name| *name == "t_avg[usec]");
            let time =
                time.ok_or_else(|| error_at(number, "no column `t_avg[usec]` is named above it"))?;
            if cells.len() < columns.len() {
                return Err(error_at(
                    number,
                    format!("{} numbers, expected {}", cells.len(), columns.len()),
                ));
            }
            let more = columns.iter().zip(0..).filter(|(_, at)| *at > 0 && *at != time).filter_map(
                |(name, at)| Some(format!("{} {}", name.trim_start_matches('#'), cells.word(at)?)),
            );
            list.push(Measurement {
                collective: collective.clone(),
                size_of: SizeOf::Count,
                size: cells.whole(0, "#bytes")?,
                ranks,
                time_us: cells.time(time, "t_avg[usec]")?,
                note: more.collect::<Vec<_>>().join(", "),
                line: number,
                ..Measurement::default()
            });
        }
    }
    Ok(list)
}
