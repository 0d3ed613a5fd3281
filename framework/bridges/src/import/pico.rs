//! Results of PICO, a benchmark of collectives, in files of two formats:
//! - A data file of one configuration, `COUNT_ALGORITHM[_SEGMENT]_TYPE.csv`, with one row of times
//! - `COUNT_ALGORITHM[_SEGMENT]_TYPE.csv`, a data file: the times of one configuration in
//!   nanoseconds, with one row for each iteration.
//!
//! A data file states neither the collective nor the number of ranks. They are in the file
//! `SYSTEM_metadata.csv`, next to the folder `SYSTEM`. A data file is in the folder
//! `SYSTEM/TIMESTAMP/TEST_ID` or `SYSTEM/TIMESTAMP`, and its row in the metadata file has the same
//! timestamp and test. If the metadata file is missing, the user can state the collective.
//!
//! A count is the number of elements of the larger buffer of a rank. For an all-to-all, a scatter,
//! a gather, an allgather and a reduce-scatter, PICO divides the count by the number of ranks to
//! obtain the size of a block.

use super::{Measurement, MeasurementFile, ParseError, SizeOf, error_at, known_collective};
use std::path::{Path, PathBuf};
use swapmeet_core::text::excerpt;

pub(super) fn is_like(text: &str) -> bool {
    text.lines().next().is_some_and(|header| header.split(',').next() == Some("highest"))
}

pub(super) fn is_like_summary(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    header.starts_with("collective_type,") && header.split(',').any(|name| name == "median")
}

fn bytes_of(kind: &str) -> Option<u64> {
    Some(match kind {
        "int8" | "uint8" | "char" | "byte" => 1,
        "int16" | "uint16" | "half" => 2,
        "int" | "int32" | "uint32" | "float" => 4,
        "int64" | "uint64" | "double" => 8,
        _ => return None,
    })
}

#[derive(Debug, PartialEq)]
struct Allocation {
    ranks: u64,
    /// The sides of the torus; `None` if `nnodes` is only a number of nodes.
    torus: Option<String>,
}

/// `nodes` is a number of nodes (`64`) or the shape of a torus (`4x4x4`).
fn allocation(nodes: &str, tasks_per_node: &str) -> Option<Allocation> {
    let tasks: u64 = tasks_per_node.parse().ok()?;
    let mut sides = nodes.split('x').map(|side| side.parse::<u64>().ok());
    let nodes_in_all = sides.try_fold(1_u64, |product, side| product.checked_mul(side?))?;
    let several = if tasks == 1 { String::new() } else { format!(",ranks={tasks}") };
    Some(Allocation {
        ranks: nodes_in_all.checked_mul(tasks)?,
        torus: nodes.contains('x').then(|| format!("torus:{nodes}{several}")),
    })
}

struct Header<'a>(Vec<&'a str>);

impl<'a> Header<'a> {
    fn parse(line: &'a str) -> Self {
        Self(line.split(',').collect())
    }

    fn field<'b>(&self, row: &[&'b str], name: &str) -> Option<&'b str> {
        row.get(self.0.iter().position(|column| *column == name)?).copied()
    }
}

struct Location<'a> {
    metadata: PathBuf,
    timestamp: &'a str,
    test_id: Option<&'a str>,
}

fn name(folder: &Path) -> Option<&str> {
    folder.file_name()?.to_str()
}

fn location(path: &Path) -> Option<Location<'_>> {
    let folder = path.parent()?;
    // A data file is in the folder of its run, or in the folder of a test within that run.
    [(folder, None), (folder.parent()?, name(folder))].into_iter().find_map(|(run, test_id)| {
        let system = run.parent()?;
        let metadata = system.parent()?.join(format!("{}_metadata.csv", name(system)?));
        metadata.exists().then_some(Location { metadata, timestamp: name(run)?, test_id })
    })
}

fn metadata<'a>(location: &Location<'_>, text: &'a str) -> Option<(&'a str, Allocation)> {
    let mut lines = text.lines();
    let header = Header::parse(lines.next()?);
    let mut rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows.find(|row| {
        header.field(row, "timestamp") == Some(location.timestamp)
            && location.test_id.is_none_or(|test| header.field(row, "test_id") == Some(test))
    })?;
    let field = |name| header.field(&row, name);
    let nodes = allocation(field("nnodes")?, field("tasks_per_node")?)?;
    Some((field("collective_type")?, nodes))
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
    // If the user has also copied the metadata file, the collective is in it.
    let location = location(source.path);
    let text = location.as_ref().map(|location| {
        (source.read_companion)(&location.metadata)
            .map_err(|why| error_at(0, format!("{}: {why}", location.metadata.display())))
    });
    let text = text.transpose()?;
    let known = location.zip(text.as_deref()).and_then(|(at, text)| metadata(&at, text));
    let (stated, allocation) = known.unzip();
    let collective = source.collective.or(stated).ok_or_else(|| {
        error_at(0, "no metadata names the collective: name it with --collective")
    })?;
    let collective = known_collective(0, collective)?;
    // The first column is the time of the slowest rank, and the others are those of all ranks.
    let mut lines = (1..).zip(source.text.lines());
    let ranks = lines
        .next()
        .map(|(_, header)| header.split(',').count() as u64 - 1)
        .filter(|ranks| *ranks > 0);
    let ranks = ranks.or(allocation.as_ref().map(|allocation| allocation.ranks));
    // If PICO divides the count among the ranks, it ignores the remainder.
    let is_whole = ["broadcast", "reduce", "allreduce"].contains(&&*collective);
    let remainder = ranks.filter(|_| !is_whole).map_or(0, |ranks| count % ranks.max(1));
    let size = (count - remainder).checked_mul(bytes).ok_or_else(named)?;
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let slowest = line.split(',').next().unwrap_or_default().trim();
            let nanoseconds: u64 = slowest.parse().map_err(|_| {
                error_at(number, format!("`{}`, expected nanoseconds", excerpt(slowest)))
            })?;
            Ok(Measurement {
                collective: collective.clone(),
                size_of: SizeOf::Buffer,
                size,
                ranks,
                topology: allocation.as_ref().and_then(|allocation| allocation.torus.clone()),
                algorithm: Some(algorithm.join("_")).filter(|name| !name.is_empty()),
                time_us: nanoseconds as f64 / 1e3,
                line: number,
                ..Measurement::default()
            })
        })
        .collect()
}

pub(super) fn read_summary(source: &MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError> {
    let mut lines = (1..).zip(source.text.lines());
    let header = Header::parse(lines.next().map_or("", |(_, line)| line));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            // Fields are found by name, because summaries may have further columns.
            let row: Vec<&str> = line.split(',').collect();
            let field = |name: &str, expected: &str| {
                let found = header.field(&row, name).filter(|field| !field.is_empty());
                found.ok_or_else(|| {
                    error_at(number, format!("`{name}` is missing, expected {expected}"))
                })
            };
            let microseconds = |name: &str| {
                let text = field(name, "nanoseconds")?;
                let time = text.parse().ok().filter(|ns: &f64| ns.is_finite() && *ns > 0.0);
                time.map(|ns| ns / 1e3).ok_or_else(|| {
                    error_at(number, format!("{name} is `{}`, expected nanoseconds", excerpt(text)))
                })
            };
            // A row of a summary states the size and the ranks, so the metadata is not needed.
            let size = field("buffer_size", "bytes")?;
            let nodes = field("nnodes", "a number or a shape of nodes")?;
            let Allocation { ranks, torus } = allocation(
                nodes,
                field("tasks_per_node", "a number of ranks")?,
            )
            .ok_or_else(|| {
                let found = excerpt(nodes);
                error_at(number, format!("nnodes is `{found}`, expected such as 64 or 4x4x4"))
            })?;
            let algorithm = field("algo_name", "an algorithm")?;
            Ok(Measurement {
                collective: known_collective(number, field("collective_type", "a collective")?)?,
                size_of: SizeOf::Buffer,
                size: size.parse().map_err(|_| {
                    error_at(number, format!("buffer_size is `{}`, expected bytes", excerpt(size)))
                })?,
                ranks: Some(ranks),
                topology: torus,
                algorithm: Some(algorithm.to_owned()),
                time_us: microseconds("median")?,
                note: format!(
                    "{algorithm}, median of {}, quartiles {} and {} us",
                    field("n_iter", "a number of iterations")?,
                    microseconds("percentile_25")?,
                    microseconds("percentile_75")?
                ),
                line: number,
                ..Measurement::default()
            })
        })
        .collect()
}
