//! For authors of plugins: `new-plugin`, `header` and `check`.

use super::parts::memory;
use super::seconds;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const NEW_PLUGIN_EXAMPLES: &str = "\
Examples:
  swapmeet new-plugin my-ring               a folder my-ring, in Rust
  swapmeet new-plugin my-ring --lang c

Nothing is fetched: the folder carries the SDK's sources (C: the header), and
builds offline with `cargo build` or `make`.";

pub(super) const HEADER_EXAMPLES: &str = "\
Examples:
  swapmeet header > swapmeet.h
  swapmeet header | sudo tee /usr/local/include/swapmeet.h";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  swapmeet check target/release/libmy_ring.so
  swapmeet check libmy-ring.so --topology torus:16x16 --topology graph:mine.txt
  swapmeet check libmy-ring.so --algorithm my-ring --algorithm my-ring:way=back
  swapmeet check libmy-ring.so --timeout 2 --memory-limit 256MiB --format json

Each case runs in a process of its own, so that a crash is a finding and not the
end. What is tried: the tables; every collective of every algorithm on a ladder of
topologies, from one node to some hundred, each schedule verified block by block,
made again, on two threads at once and in another process; ports used against
ports claimed; time and memory. Without --topology the ladder is built in.

Exit status: 0 nothing is wrong, 1 a fault was found, 2 bad usage.";

/// The language of a new plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    /// Rust, with the SDK.
    Rust,
    /// C, with the header.
    C,
}

#[derive(Debug, Args)]
pub(crate) struct NewPluginArgs {
    /// The plugin's name, and that of its folder and its algorithm: lower-case letters, digits and
    /// hyphens.
    pub name: String,
    /// The language.
    #[arg(long, default_value = "rust")]
    pub lang: Lang,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The plugin's file.
    pub plugin: PathBuf,
    /// A topology to try it on, instead of the built-in ladder; may be given several times.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// An algorithm to try instead of all, with parameters (`NAME:key=value`); may be given several
    /// times.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Seconds that one schedule may take.
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true, default_value = "10")]
    pub timeout: f64,
    /// Memory that the process of one case may take.
    #[arg(long, value_name = "SIZE", value_parser = memory, default_value = "1GiB")]
    pub memory_limit: u64,
    /// How to print the report.
    #[arg(long, default_value = "text")]
    pub format: ReportFormat,
}

/// How the report of `check` is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For reading.
    Text,
    /// JSON.
    Json,
}

/// What `check-question` takes: all of it from `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckQuestionArgs {
    /// The plugin's file.
    pub plugin: PathBuf,
    /// The question, as JSON.
    pub question: String,
    /// The file for the answer.
    pub answer: PathBuf,
    /// Seconds that one schedule may take.
    pub timeout: f64,
    /// Bytes that this process may have.
    pub memory: u64,
}
