//! Imports of measurements by other programs. Each format is one file and one entry of [`FORMATS`].
//! Sizes of other programs are converted only in [`Measurement::block_bytes`].

mod imb;
mod nccl;
mod numeric_line;
mod osu;
mod pico;

pub(crate) use numeric_line::NumericLine;
use std::path::Path;
use swapmeet_core::text::excerpt;
pub use swapmeet_interchange::ParseError;

/// A format of measurements.
pub struct Format {
    /// The name for users.
    pub name: &'static str,
    pub help: &'static str,
    /// Returns whether a text appears to have this format.
    is_like: fn(&str) -> bool,
    read: fn(&MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError>,
}

/// All formats, in the order of detection.
pub static FORMATS: [Format; 5] = [
    Format {
        name: "osu",
        help: "OSU micro-benchmarks, text",
        is_like: osu::is_like,
        read: osu::read,
    },
    Format {
        name: "imb",
        help: "Intel MPI Benchmarks, text",
        is_like: imb::is_like,
        read: imb::read,
    },
    Format {
        name: "nccl-json",
        help: "nccl-tests, JSON version 3 (-J)",
        is_like: nccl::is_like_json,
        read: nccl::read_json,
    },
    Format {
        name: "nccl",
        help: "nccl-tests, text",
        is_like: nccl::is_like_text,
        read: nccl::read_text,
    },
    Format {
        name: "pico",
        help: "PICO, a data file of one configuration",
        is_like: pico::is_like,
        read: pico::read,
    },
];

/// A file of measurements.
pub struct MeasurementFile<'a> {
    /// The path of the file. Some formats encode information in it.
    pub path: &'a Path,
    pub text: &'a str,
    /// The collective given by the user, for formats without it.
    pub collective: Option<&'a str>,
    /// Reads another file of the same measurement, up to a limit.
    pub read_companion: &'a dyn Fn(&Path) -> Result<String, String>,
}

/// One measured time of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The collective, in our terms.
    pub collective: String,
    /// The buffer to which the size refers.
    pub size_of: SizeOf,
    /// The size in the terms of the program, in bytes.
    pub size: u64,
    /// The number of ranks, if the file contains it.
    pub ranks: Option<u64>,
    /// The library's algorithm, if the file names it.
    pub algorithm: Option<String>,
    /// The mean time of a call, or whatever the program reports first.
    pub time_us: f64,
    /// Other values, such as extremes, for people.
    pub note: String,
    /// Whether the program checked the received data and found it correct.
    pub is_checked: bool,
    /// Line number in the file.
    pub line: usize,
}

/// The meaning of a program's size, for collectives in which blocks belong to a pair or a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeOf {
    /// The data of a rank for one other rank, or for all, as in MPI's count.
    Count,
    /// The larger one of a rank's whole send buffer and receive buffer.
    Buffer,
}

pub(crate) fn error_at(line: usize, message: impl Into<String>) -> ParseError {
    ParseError { line, message: message.into() }
}

/// Reads a file in the format with this name, or in the detected format.
pub fn read(
    source: &MeasurementFile<'_>,
    name: Option<&str>,
) -> Result<Vec<Measurement>, ParseError> {
    let found = FORMATS.iter().find(|format| {
        name.map_or_else(|| (format.is_like)(source.text), |name| format.name == name)
    });
    let format = found.ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        error_at(
            0,
            format!(
                "its format is not recognised (known: {}): name one with --format",
                names.join(", ")
            ),
        )
    })?;
    let list = (format.read)(source)?;
    if list.is_empty() {
        Err(error_at(0, format!("it has no measurement, expected {}", format.help)))
    } else {
        Ok(list)
    }
}

impl Measurement {
    /// Returns the bytes of a block, in the terms of workloads: of a pair, of a rank's own block,
    /// of the whole vector of a reduction, or of a rank's result of a reduce-scatter.
    pub fn block_bytes(&self, ranks: u64) -> Result<u64, ParseError> {
        let is_split = match (self.collective.as_str(), self.size_of) {
            ("broadcast" | "reduce" | "allreduce", _) => false,
            ("reduce-scatter", _) | (_, SizeOf::Buffer) => true,
            (_, SizeOf::Count) => false,
        };
        match (is_split, ranks) {
            (true, 1..) if self.size.is_multiple_of(ranks) => Ok(self.size / ranks),
            (true, _) => Err(error_at(
                self.line,
                format!(
                    "{} bytes are no multiple of {ranks} ranks, among which they are split",
                    self.size
                ),
            )),
            (false, _) => Ok(self.size),
        }
    }
}

/// Returns our name of a collective; `None` if it is unknown.
fn collective(name: &str) -> Option<&'static str> {
    let letters: String = name.to_lowercase().chars().filter(char::is_ascii_alphabetic).collect();
    Some(match letters.as_str() {
        "alltoall" | "alltoallpersonalizedexchange" => "alltoall",
        "allgather" => "allgather",
        "allreduce" => "allreduce",
        "reducescatter" | "reducescatterblock" => "reduce-scatter",
        "reduce" => "reduce",
        "bcast" | "broadcast" => "broadcast",
        "scatter" => "scatter",
        "gather" => "gather",
        _ => return None,
    })
}

/// Returns our name of a collective, or an error that lists the known ones.
fn known_collective(line: usize, name: &str) -> Result<String, ParseError> {
    collective(name).map(str::to_owned).ok_or_else(|| {
        error_at(line, format!("`{}` is not a known collective, expected alltoall, allgather, allreduce, reduce_scatter, reduce, bcast, scatter or gather", excerpt(name)))
    })
}

#[cfg(test)]
mod tests;
