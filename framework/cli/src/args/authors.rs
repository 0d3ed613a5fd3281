use super::memory;
use super::seconds;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use swapmeet_template::Language;

pub(super) const NEW_PLUGIN_EXAMPLES: &str = "\
Examples:
  swapmeet new-plugin my-ring               a Rust project in my-ring
  swapmeet new-plugin my-ring --lang c

The project contains the SDK's sources (or the C header) and builds offline with
`cargo build` or `make`.";

pub(super) const HEADER_EXAMPLES: &str = "\
Examples:
  swapmeet header > swapmeet.h
  swapmeet header | sudo tee /usr/local/include/swapmeet.h";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  swapmeet check target/release/libmy_ring.so
  swapmeet check libmy-ring.so --topology torus:16x16 --topology graph:mine.txt
  swapmeet check libmy-ring.so --algorithm my-ring --algorithm my-ring:way=back
  swapmeet check libmy-ring.so --fifo-depth 8
  swapmeet check libmy-ring.so --timeout 2 --memory-limit 256MiB --format json

Each case runs in its own process, so a crash is reported and the check goes on.
The check covers:
  - the plugin's tables
  - every collective of every algorithm on topologies of 1 to 512 nodes; each
    schedule is verified block by block
  - determinism: each schedule is planned again, on two threads and in another
    process
  - the number of messages per step, compared with the declared ports
  - time and memory of each case, compared with --timeout and --memory-limit

Exit status: 0 if no fault was found, 1 if a fault was found, 2 for bad usage.";

#[derive(Debug, Args)]
pub(crate) struct NewPluginArgs {
    /// Set the name of the plugin, its directory and its algorithm (lower-case letters, digits and
    /// hyphens).
    pub name: String,
    /// Select the language.
    #[arg(long, default_value = "rust")]
    pub lang: Language,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Check this plugin file.
    pub plugin: PathBuf,
    /// Check on this topology instead of the built-in list. Can be repeated.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// Check only this algorithm, with parameters (`NAME:key=value`). Can be repeated.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Stop a schedule after SECS seconds.
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true, default_value = "10")]
    pub timeout: f64,
    /// Limit the memory of the process of each case.
    #[arg(long, value_name = "SIZE", value_parser = memory, default_value = "1GiB")]
    pub memory_limit: u64,
    /// Also find deadlocks on connections that are FIFOs with N slots, such as the 8 slots of NCCL.
    /// Each block takes a slot. A node executes the sends of a step, and then the receives.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub fifo_depth: Option<u64>,
    /// Select the format of the report.
    #[arg(long, default_value = "text")]
    pub format: ReportFormat,
    /// Run the plugin with all of your permissions. By default, it cannot write
    /// files, start programs or open sockets, as far as the kernel can enforce
    /// this.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// The format of the report of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Print text for reading.
    Text,
    /// Print JSON.
    Json,
}
