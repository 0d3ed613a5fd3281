use super::ranking::RankingArgs;
use clap::Args;

pub(super) const LINKS_EXAMPLES: &str = "\
Examples:
  swapmeet links --topology mesh:4x4 --algorithm linear --algorithm pairwise
  swapmeet links --topology torus:4x4x4 --algorithm dim-rotation \\
    --one-per-orbit --machine free:model=fluid,byte_us=0.001
  swapmeet links --topology fat-tree:2x3 --algorithm linear --out rows.csv
  swapmeet plot heat rows.csv --axes topology,algorithm --out links.svg

The ranking starts with links whose failure disconnects ranks. Rows in --out are
those of `swapmeet run`: for each algorithm, one row for the intact network and
one for each link that fails, which is named in the topology (`down=A-B`). See
docs/faults.md.";

#[derive(Debug, Args)]
pub(crate) struct LinksArgs {
    /// Set the topology, such as torus:4x4.
    #[arg(long, value_name = "SPEC")]
    pub topology: String,
    /// Add an algorithm, such as pairwise.
    #[arg(long = "algorithm", value_name = "SPEC", required = true)]
    pub algorithms: Vec<String>,
    /// Set the workload [default: uniform:1KiB].
    #[arg(long, value_name = "SPEC")]
    pub workload: Option<String>,
    /// Set the machine. Its model must have links (wormhole, circuit, store-and-forward or fluid)
    /// [default: fugaku].
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// Set the seed of random workloads and placements.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Examine one link of each dimension of a torus or hypercube, for algorithms whose schedule
    /// looks the same from every node.
    #[arg(long)]
    pub one_per_orbit: bool,
    /// Options of commands that rank cases.
    #[command(flatten)]
    pub ranking: RankingArgs,
}
