use super::ranking::RankingArgs;
use clap::Args;

pub(super) const PLACE_EXAMPLES: &str = "\
Examples:
  swapmeet place --topology torus:8x8x8 --mesh dp:8/ep:8/tp:8 \\
    --job 'uniform:1MiB,over=ep * 4' --job 'allreduce/uniform:64MiB,over=dp' \\
    --machine tpu-v5p:model=fluid
  swapmeet place --topology torus:8x8x8 --mesh 'shapes(dp:8/ep:8/tp:8)' \\
    --job 'uniform:1MiB,over=ep' --algorithm linear --algorithm pairwise

A placement is an order of the axes of the mesh or, with `shapes(..)`, a
division of the sides of the network among the axes. The time of a placement is
the sum over jobs, each with its fastest algorithm, of the time of all
communicators together, times the weight of the job. `alone` is the same for one
communicator without the others. See docs/communicators.md.";

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Set the topology, such as torus:8x8x8.
    #[arg(long, value_name = "SPEC")]
    pub topology: String,
    /// Set the axes of ranks in the present order, such as dp:8/ep:8/tp:8. All orders are tried;
    /// with shapes(dp:8/ep:8/tp:8), all divisions of the sides of the network.
    #[arg(long, value_name = "MESH")]
    pub mesh: String,
    /// Add a workload over axes of the mesh, with an optional weight: how often it runs in a step.
    #[arg(long = "job", value_name = "WORKLOAD [* WEIGHT]", required = true)]
    pub jobs_of_step: Vec<String>,
    /// Add an algorithm. A job uses the fastest one that implements its collective [default: all
    /// algorithms without an input file].
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Set the machine [default: fugaku].
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// Set the seed of random placements and routes.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Options of commands that rank cases.
    #[command(flatten)]
    pub ranking: RankingArgs,
}
