//! Imports of measurements that other programs made. Each format is one file and one entry of
//! [`FORMATS`]. Only [`Measurement::block_bytes`] converts the sizes that these programs report to
//! block sizes.

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
    /// The name by which users choose the format.
    pub name: &'static str,
    pub help: &'static str,
    /// Returns whether a text appears to have this format.
    is_like: fn(&str) -> bool,
    read: fn(&MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError>,
}

/// All formats, in the order in which they are tried by the detection.
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
    /// The collective that the user has given, for formats that do not contain it.
    pub collective: Option<&'a str>,
    /// Reads another file that belongs to the same measurement, up to a size limit.
    pub read_companion: &'a dyn Fn(&Path) -> Result<String, String>,
}

/// One measured time for one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The collective, by our name.
    pub collective: String,
    /// What the size refers to.
    pub size_of: SizeOf,
    /// The size that the program reports, in bytes.
    pub size: u64,
    /// The number of ranks, if the file contains it.
    pub ranks: Option<u64>,
    /// The library's algorithm, if the file names it.
    pub algorithm: Option<String>,
    /// The mean time of a call, or the first time that the program reports if it reports no mean.
    pub time_us: f64,
    /// Other reported values, such as extremes, as a text for users.
    pub note: String,
    /// Whether the program checked the received data and found it correct.
    pub is_checked: bool,
    /// The line number in the file.
    pub line: usize,
}

/// What a program's size means in collectives in which each block belongs to a pair of ranks or to
/// a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeOf {
    /// The size of the data that a rank has for one other rank, or for all of them, like MPI's
    /// count.
    Count,
    /// The size of a rank's whole send buffer or whole receive buffer, whichever is larger.
    Buffer,
}

pub(crate) fn error_at(line: usize, message: impl Into<String>) -> ParseError {
    ParseError { line, message: message.into() }
}

/// Reads a file in the format called `name`. Without a name, the format is detected.
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
    /// Returns the number of bytes of a block as workloads define it. Depending on the collective,
    /// a block is the data of a pair of ranks, a rank's own data, the whole vector of a reduction,
    /// or a rank's result of a reduce-scatter.
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
