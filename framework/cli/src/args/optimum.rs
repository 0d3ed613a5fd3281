use super::{Overwrite, PluginArgs, seconds};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const OPTIMUM_EXAMPLES: &str = "\
Examples:
  swapmeet optimum --topology torus:8x8
  swapmeet optimum --topology graph:cluster.txt --machine sp2:ports=all \\
    --workload matrix:sizes.csv --gap 0.01 --format json
  swapmeet optimum --topology mesh:8x8 --workload allgather/uniform:1KiB
  swapmeet optimum --topology mesh:8x8 --certificate optimum.json
  swapmeet optimum --check optimum.json

The result is an interval. The least time in which the bytes can move lies in
this interval, if start-ups and latencies take no time. A certificate proves
both ends: it has a weight for each link, from which the lower end follows, and
flows that move all bytes in the time of the upper end.
On networks of up to 1,024 nodes, the available algorithms also run, with their
defaults. Schedules that split blocks into segments come closer to the optimum:
try `swapmeet run --optimum` with --algorithm flow:segments=16 or
greedy-allgather:segments=4. See docs/optimum.md.

Exit status: 1 if a certificate is refused.";

/// The output format of `optimum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OptimumFormat {
    /// Print text for reading.
    Text,
    /// Print a JSON object.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct OptimumArgs {
    /// Set the topology, such as torus:8x8.
    #[arg(long, value_name = "SPEC", required_unless_present_any = ["check", "system"])]
    pub topology: Option<String>,
    /// Set the workload [default: uniform:1KiB].
    #[arg(long, value_name = "SPEC")]
    pub workload: Option<String>,
    /// Set the machine. Its model must have links (wormhole, circuit, store-and-forward or fluid),
    /// without noise and background traffic [default: fugaku].
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// Use a system instead of a topology and a machine, such as h100-ib:4x8 for 4 computers of 8
    /// GPUs (see `swapmeet list systems`).
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["topology", "machine"])]
    pub system: Option<String>,
    /// Set the seed of random workloads.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Stop when the interval that contains the least time is this narrow (its width divided by
    /// its lower end).
    #[arg(long, value_name = "X", default_value_t = swapmeet_optimum::DEFAULT_GAP, value_parser = gap)]
    pub gap: f64,
    /// Stop each algorithm that is compared with the optimum after SECS seconds, and list it as
    /// unfinished. The search for the optimum has no time limit.
    #[arg(long, value_name = "SECS", default_value_t = 60.0, value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: f64,
    /// Select the output format.
    #[arg(long, default_value = "text")]
    pub format: OptimumFormat,
    /// Write the certificate (link lengths and flows) to FILE as JSON.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Verify the certificate in FILE. Its network and data must be those of the topology, workload
    /// and machine that it names.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["topology", "workload", "machine", "system", "certificate"])]
    pub check: Option<PathBuf>,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

fn gap(text: &str) -> Result<f64, String> {
    let gap = text.parse().ok().filter(|gap| (0.001..=1.0).contains(gap));
    gap.ok_or_else(|| "expected a number from 0.001 to 1".to_owned())
}
