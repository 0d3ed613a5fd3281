//! Results of PICO. Each configuration has a data file, `COUNT_ALGORITHM[_SEGMENT]_TYPE.csv`, with
//! one row of times in nanoseconds for each iteration.
//!
//! The data file does not state the collective and the number of ranks. They are in the file
//! `SYSTEM_metadata.csv`, two folders above the data file. Its row is the one whose timestamp is
//! the name of the data file's folder. If this file is missing, the user can state the collective.

use super::{Measurement, MeasurementFile, ParseError, SizeOf, error_at, known_collective};
use std::path::PathBuf;
use swapmeet_core::text::excerpt;

pub(super) fn is_like(text: &str) -> bool {
    text.lines().next().is_some_and(|header| header.split(',').next() == Some("highest"))
}

/// Returns the number of bytes of an element; `kind` is its type.
fn bytes_of(kind: &str) -> Option<u64> {
    Some(match kind {
        "int8" | "uint8" | "char" | "byte" => 1,
        "int16" | "uint16" | "half" => 2,
        "int" | "int32" | "uint32" | "float" => 4,
        "int64" | "uint64" | "double" => 8,
        _ => return None,
    })
}

/// Returns the path of the metadata file, if the file exists.
fn metadata_file(source: &MeasurementFile<'_>) -> Option<PathBuf> {
    let system = source.path.parent()?.parent()?;
    let file = system.parent()?.join(format!("{}_metadata.csv", system.file_name()?.to_str()?));
    file.exists().then_some(file)
}

/// Returns the collective and the number of ranks, if the metadata contains them.
fn metadata(source: &MeasurementFile<'_>, text: &str) -> Option<(String, u64)> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next()?;
    let column = |name: &str| header.iter().position(|column| *column == name);
    let [at, collective, nodes, tasks] = [
        column("timestamp")?,
        column("collective_type")?,
        column("nnodes")?,
        column("tasks_per_node")?,
    ];
    let timestamp = source.path.parent()?.file_name()?.to_str()?;
    let row = lines.find(|row| row.get(at) == Some(&timestamp))?;
    let number = |at: usize| row.get(at)?.parse::<u64>().ok();
    Some(((*row.get(collective)?).to_owned(), number(nodes)?.checked_mul(number(tasks)?)?))
}

pub(super) fn read(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    // The name of the file contains the count, the algorithm and the type.
    let name = source.path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let parts: Vec<&str> = name.split('_').collect();
    let named = || {
        error_at(
            0,
            format!(
                "its name is `{name}.csv`, expected COUNT_ALGORITHM[_SEGMENT]_TYPE.csv, such as 1024_bruck_int32.csv"
            ),
        )
    };
    let [count, algorithm @ .., kind] = parts.as_slice() else { return Err(named()) };
    let (count, bytes) =
        (count.parse::<u64>().map_err(|_| named())?, bytes_of(kind).ok_or_else(named)?);
    // The metadata contains the collective, if the user has copied the metadata file together with
    // the data file.
    let metadata = match metadata_file(source) {
        Some(file) => {
            let text = (source.read_companion)(&file)
                .map_err(|why| error_at(0, format!("{}: {why}", file.display())))?;
            metadata(source, &text)
        }
        None => None,
    };
    let collective = match (source.collective, &metadata) {
        (Some(name), _) => known_collective(0, name)?,
        (None, Some((name, _))) => known_collective(0, name)?,
        (None, None) => {
            return Err(error_at(0, "no metadata names the collective: name it with --collective"));
        }
    };
    // The file has one column for each rank. The first column contains the time of the slowest
    // rank.
    let mut lines = (1..).zip(source.text.lines());
    let ranks = lines
        .next()
        .map(|(_, header)| header.split(',').count() as u64 - 1)
        .filter(|ranks| *ranks > 0);
    let ranks = ranks.or(metadata.map(|(_, ranks)| ranks));
    let size = count.checked_mul(bytes).ok_or_else(named)?;
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let slowest = line.split(',').next().unwrap_or_default().trim();
            let nanoseconds: u64 = slowest.parse().map_err(|_| {
                error_at(number, format!("`{}`, expected nanoseconds", excerpt(slowest)))
            })?;
            Ok(Measurement {
                collective: collective.clone(),
                size_of: SizeOf::Count,
                size,
                ranks,
                algorithm: Some(algorithm.join("_")).filter(|name| !name.is_empty()),
                time_us: nanoseconds as f64 / 1e3,
                note: String::new(),
                is_checked: false,
                line: number,
            })
        })
        .collect()
}
