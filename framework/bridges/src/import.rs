//! Measurements by other programs. A format is one file and one row of [`FORMATS`]; what programs
//! call a size is turned into ours in [`Measurement::block_bytes`] alone.

mod imb;
mod nccl;
mod osu;
mod pico;
mod table;

pub use swapmeet_interchange::Wrong;
pub(crate) use table::Cells;

/// A format of measurements.
pub struct Format {
    /// What users call it.
    pub name: &'static str,
    pub help: &'static str,
    /// Whether a text looks like it.
    is_like: fn(&str) -> bool,
    read: fn(&Source<'_>) -> Result<Vec<Measurement>, Wrong>,
}

/// All formats, in the order in which a file is compared with them.
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

/// A file that is to be read.
pub struct Source<'a> {
    /// Its name, with the folders it is in: some formats say something by it.
    pub path: &'a std::path::Path,
    pub text: &'a str,
    /// The collective that the user names, for files that don't.
    pub collective: Option<&'a str>,
}

/// One time of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The collective's word, as ours.
    pub collective: String,
    /// Which buffer the size is of.
    pub size_of: SizeOf,
    /// What the program calls its size, in bytes.
    pub size: u64,
    /// How many ranks, where the file says so.
    pub ranks: Option<u64>,
    /// The library's algorithm, where the file names it.
    pub algorithm: Option<String>,
    /// The time of a call: what the program gives first, its mean.
    pub time_us: f64,
    /// What else it says, such as extremes: for people.
    pub note: String,
    /// Whether the program looked at what arrived and found it right.
    pub is_checked: bool,
    /// Which line of the file.
    pub line: usize,
}

/// What a program means by its size, where blocks are of a pair or of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeOf {
    /// What a rank has for one other, or for all: MPI's count.
    Count,
    /// The larger of a rank's whole send and receive buffer.
    Buffer,
}

pub(crate) fn wrong(line: usize, what: impl Into<String>) -> Wrong {
    Wrong { line, what: what.into() }
}

/// Reads a file in the format of this name, or in the one that it looks like.
pub fn read(source: &Source<'_>, name: Option<&str>) -> Result<Vec<Measurement>, Wrong> {
    let found = FORMATS.iter().find(|format| {
        name.map_or_else(|| (format.is_like)(source.text), |name| format.name == name)
    });
    let format = found.ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        wrong(
            0,
            format!(
                "it looks like no format of measurements that is known ({}): name one with --format",
                names.join(", ")
            ),
        )
    })?;
    let list = (format.read)(source)?;
    if list.is_empty() {
        Err(wrong(0, format!("no measurement in it, expected {}", format.help)))
    } else {
        Ok(list)
    }
}

impl Measurement {
    /// Bytes of a block as workloads have them, among `ranks`: of a pair where blocks are told
    /// apart by both ends, of a rank's own block, of the whole vector of a reduction, of a rank's
    /// result of a reduce-scatter.
    pub fn block_bytes(&self, ranks: u64) -> Result<u64, Wrong> {
        let is_split = match (self.collective.as_str(), self.size_of) {
            ("broadcast" | "reduce" | "allreduce", _) => false,
            ("reduce-scatter", _) | (_, SizeOf::Buffer) => true,
            (_, SizeOf::Count) => false,
        };
        match (is_split, ranks) {
            (true, 1..) if self.size.is_multiple_of(ranks) => Ok(self.size / ranks),
            (true, _) => Err(wrong(
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

/// Our word for a collective as others name it; `None` where there is none.
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

/// The same, or what was expected.
fn known_collective(line: usize, name: &str) -> Result<String, Wrong> {
    collective(name).map(str::to_owned).ok_or_else(|| {
        wrong(line, format!("`{name}` is no collective that is known here, expected alltoall, allgather, allreduce, reduce_scatter, reduce, bcast, scatter or gather"))
    })
}

#[cfg(test)]
mod tests;
