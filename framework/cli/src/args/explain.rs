use super::PluginArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  swapmeet explain all_reduce.log --system h100-ib:4x8
  swapmeet explain all_reduce.log
  swapmeet explain alltoall.log --system gb300-nvl72:2x64 --format markdown
  swapmeet explain two.log --system h100-ib:2x8 --mesh node:2/gpu:8 --over node
  swapmeet explain osu_allreduce.txt --topology torus:4x4x4 --machine fugaku

Without --system, the systems with the GPUs of the log are proposed. The ratio
is the expected time divided by the measured time. It is `low` below 0.7, `as
expected` from 0.8 to 1.25 and `high` above 1.25. The exit status is 1 if a size
of at least 64 MiB is low. See docs/gpu.md.";

pub(super) const EXPECT_EXAMPLES: &str = "\
Examples:
  swapmeet expect --system h100-ib:4x8 --collective allreduce --sizes 8..16GiB
  swapmeet expect --system mi300x:2x8 --collective allreduce \\
    --sizes 8GiB..16GiB --format amd-cvs

Sizes are those of nccl-tests: the vector of an allreduce, otherwise the larger
of the two buffers of a rank.";

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Read this output of nccl-tests, rccl-tests, OSU or IMB; `-` for standard input.
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// Set the system on which the log was measured, such as h100-ib:4x8 (`swapmeet list systems`).
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["topology", "machine"])]
    pub system: Option<String>,
    /// Set the topology, if no system fits.
    #[arg(long, value_name = "SPEC", requires = "machine")]
    pub topology: Option<String>,
    /// Set the machine, if no system fits.
    #[arg(long, value_name = "SPEC", requires = "topology")]
    pub machine: Option<String>,
    /// Set the algorithm that the library used: one of its names (ring, tree, nvls, nvlstree, pat, p2p) or a spec [default: the fastest from which it chooses].
    #[arg(long, value_name = "SPEC")]
    pub algorithm: Option<String>,
    /// Set the collective, if the log does not name it.
    #[arg(long, value_name = "NAME")]
    pub collective: Option<String>,
    /// Set the axes of communicators that ran at the same time, or size:K [default: the groups in
    /// the log, if each has consecutive ranks or every K-th rank].
    #[arg(long = "over", value_name = "AXES")]
    pub axes: Option<String>,
    /// Name the digits of rank numbers for --over, as in node:-1/gpu:8.
    #[arg(long, value_name = "MESH", requires = "axes")]
    pub mesh: Option<String>,
    /// Set the format of the output.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// A format of `explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Print text for reading.
    Text,
    /// Print JSON.
    Json,
    /// Print Markdown, for an issue or a report.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct ExpectArgs {
    /// Set the system, such as h100-ib:4x8 (`swapmeet list systems`).
    #[arg(long, value_name = "SPEC")]
    pub system: String,
    /// Set the collective: allreduce, allgather, reduce-scatter or alltoall.
    #[arg(long, value_name = "NAME")]
    pub collective: String,
    /// Set a size or a range of sizes, such as 8..16GiB or 1MiB..1GiB*4.
    #[arg(long, value_name = "RANGE")]
    pub sizes: String,
    /// Set the format of the output.
    #[arg(long, value_enum, default_value_t = ExpectFormat::Table)]
    pub format: ExpectFormat,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// A format of `expect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpectFormat {
    /// Print a table.
    Table,
    /// Print CSV.
    Csv,
    /// Print JSON.
    Json,
    /// Print the section `results` of rccl_config.json of AMD CVS, which has the least bus
    /// bandwidth of each size.
    AmdCvs,
}
