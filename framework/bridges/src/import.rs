//! Imports of measurements of other programs. Each format is one file and one entry of [`FORMATS`].
//! Sizes have different meanings. Only [`Measurement::block_bytes`] converts them to block sizes.

mod counterparts;
mod imb;
mod nccl;
mod osu;
mod pico;
mod runs;
mod tuning;

pub use counterparts::{COUNTERPARTS, Counterpart, LUMI_COUNTERPARTS, TOO_LARGE, counterpart};
use std::path::Path;
use swapmeet_core::text::excerpt;
pub use swapmeet_interchange::ParseError;
pub use tuning::{Communicator, Opinion, Tuning, tuning};

pub struct Format {
    pub name: &'static str,
    pub help: &'static str,
    is_like: fn(&str) -> bool,
    read: fn(&MeasurementFile<'_>) -> Result<Vec<Measurement>, ParseError>,
}

/// All formats of measurements. The format of a file is detected by trying them in this order.
pub static FORMATS: [Format; 6] = [
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
    Format {
        name: "pico-summary",
        help: "PICO, the medians of all configurations of a run",
        is_like: pico::is_like_summary,
        read: pico::read_summary,
    },
];

pub use nccl::{Implied, collective_question, implied, without_labels};
pub use runs::{Run, runs};

pub struct MeasurementFile<'a> {
    /// The path of the file. In some formats, it contains information such as the algorithm.
    pub path: &'a Path,
    pub text: &'a str,
    /// The collective that the user states, for formats that do not contain it.
    pub collective: Option<&'a str>,
    /// Reads another file that belongs to the same measurement. Errors if the file is too large.
    pub read_companion: &'a dyn Fn(&Path) -> Result<String, String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurement {
    pub collective: String,
    pub size_of: SizeOf,
    pub size: u64,
    pub ranks: Option<u64>,
    /// The ranks of each communicator, if several ran at the same time; empty if not listed.
    pub communicators: Vec<Vec<u64>>,
    pub topology: Option<String>,
    pub algorithm: Option<String>,
    /// The mean time of a call in µs; if there is no mean, the median, or the file's first time.
    pub time_us: f64,
    /// The time in µs if the send buffer is also the receive buffer; `None` if it was not measured.
    pub in_place_us: Option<f64>,
    /// Other values that the program reports, such as minimum and maximum, as a text for users.
    pub note: String,
    /// Whether the program checked the received data and found it correct.
    pub is_checked: bool,
    pub line: usize,
}

/// What the size that a program reports is the size of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizeOf {
    /// The data that a rank has for one other rank or for all of them, like MPI's count.
    #[default]
    Count,
    /// The send buffer or the receive buffer of a rank, whichever is larger.
    Buffer,
}

pub(crate) fn error_at(line: usize, message: impl Into<String>) -> ParseError {
    ParseError { line, message: message.into() }
}

/// Returns whether a text is the output of nccl-tests, and not in JSON, which is another format.
pub fn is_nccl_tests(text: &str) -> bool {
    let found = FORMATS.iter().find(|format| (format.is_like)(text));
    found.is_some_and(|format| format.name == "nccl")
}

pub fn is_like_any(text: &str) -> bool {
    FORMATS.iter().any(|format| (format.is_like)(text))
}

/// Reads a file. `name` is the name of its format. If it is `None`, the format is detected.
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

/// Replaces all measurements of a case by one with their median, and their quartiles in its note.
pub fn medians(measurements: Vec<Measurement>) -> Vec<Measurement> {
    let mut groups: Vec<Vec<Measurement>> = Vec::new();
    for measurement in measurements {
        let is_same = |group: &Vec<Measurement>| {
            let case = |m: &Measurement| {
                (m.collective.clone(), m.size, m.ranks, m.topology.clone(), m.algorithm.clone())
            };
            case(&group[0]) == case(&measurement)
        };
        match groups.iter_mut().find(|group| is_same(group)) {
            Some(group) => group.push(measurement),
            None => groups.push(vec![measurement]),
        }
    }
    let median = |group: Vec<Measurement>| {
        let mut times: Vec<f64> = group.iter().map(|measurement| measurement.time_us).collect();
        times.sort_by(f64::total_cmp);
        // A quantile between two times is interpolated linearly.
        let quantile = |share: f64| {
            let place = share * (times.len() - 1) as f64;
            let (low, high) = (times[place.floor() as usize], times[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        let [first, time_us, third] = [0.25, 0.5, 0.75].map(quantile);
        let named = group[0].algorithm.as_ref().map(|name| format!("{name}, "));
        let note = format!(
            "{}median of {}, quartiles {first:.3} and {third:.3} us",
            named.unwrap_or_default(),
            times.len()
        );
        let is_checked = group.iter().all(|measurement| measurement.is_checked);
        Measurement { time_us, note, is_checked, ..group[0].clone() }
    };
    groups.into_iter().map(median).collect()
}

impl Measurement {
    /// Returns the block size as workloads define it: the bytes for a pair of ranks (all-to-all),
    /// of one rank (allgather, gather, scatter), of the result of one rank (reduce-scatter), or of
    /// the whole vector (broadcast and other reductions). `ranks` is the number of ranks of a
    /// communicator.
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

fn known_collective(line: usize, name: &str) -> Result<String, ParseError> {
    collective(name).map(str::to_owned).ok_or_else(|| {
        error_at(line, format!("`{}` is not a known collective, expected alltoall, allgather, allreduce, reduce_scatter, reduce, bcast, scatter or gather", excerpt(name)))
    })
}

pub(crate) struct NumericLine<'a> {
    line: usize,
    words: Vec<&'a str>,
}

impl<'a> NumericLine<'a> {
    /// Parses a line that begins with a digit. Returns `None` for any other line.
    pub(crate) fn parse(line: usize, text: &'a str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.first()?.starts_with(|c: char| c.is_ascii_digit()).then_some(Self { line, words })
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, at: usize) -> Option<&'a str> {
        self.words.get(at).copied()
    }

    pub(crate) fn whole(&self, at: usize, name: &str) -> Result<u64, ParseError> {
        self.parsed(at, name, "a whole number")
    }

    /// Returns the time at this index of the line. A time must be finite and not negative.
    pub(crate) fn time(&self, at: usize, name: &str) -> Result<f64, ParseError> {
        let time: f64 = self.parsed(at, name, "a time")?;
        if time.is_finite() && time >= 0.0 {
            return Ok(time);
        }
        Err(error_at(self.line, format!("{name} is `{time}`, expected a time")))
    }

    fn parsed<T: std::str::FromStr>(
        &self,
        at: usize,
        name: &str,
        expected: &str,
    ) -> Result<T, ParseError> {
        let word = self.word(at).ok_or_else(|| {
            error_at(self.line, format!("{name} is missing, expected {expected}"))
        })?;
        word.parse().map_err(|_| {
            error_at(self.line, format!("{name} is `{}`, expected {expected}", excerpt(word)))
        })
    }
}

#[cfg(test)]
mod tests;
