//! All-to-alls for blocks of different sizes, with the real program.

use crate::support::{rows, tools};
use swapmeet_results::{Record, Status, Verified};

const WORKLOADS: [&str; 5] = [
    "uniform:24",
    "irregular:dist=lognormal,mean=512,cv=2",
    "birkhoff:sparsity=0.6,spread=1.5,bytes=10000",
    "moe:experts=16,top=2,tokens=40,bytes=7,skew=1",
    "one-spike:max=900,rest=0",
];

fn run(topologies: &[&str], algorithms: &[&str], machine: &str) -> Vec<Record> {
    let mut args = vec!["--machine", machine];
    for (flag, specs) in
        [("--topology", topologies), ("--algorithm", algorithms), ("--workload", &WORKLOADS)]
    {
        args.extend(specs.iter().flat_map(|spec| [flag, spec]));
    }
    rows(&args)
}

/// The bound is the number of bytes that the busiest node sends or receives, and the schedule
/// transmits them in this time. A fat tree has enough links for every round, but its fixed routes
/// can share a link. This counts as contention.
#[test]
fn birkhoff_transmits_in_the_least_possible_time() {
    let topologies = ["fully-connected:16", "fat-tree:4x2", "fat-tree:2x4"];
    for row in run(&topologies, &["birkhoff"], "free:model=wormhole,byte_us=1,ports=1") {
        let case = format!("{} on {}", row.workload, row.topology);
        assert_eq!((row.status, row.verified), (Status::Ok, Verified::Amounts), "{case}");
        assert!(row.lower_bound_us > Some(0.0), "{case}");
        assert_eq!(row.transmission_us, row.lower_bound_us, "{case}");
        if row.topology.starts_with("fully-connected") {
            assert_eq!(row.time_us, row.transmission_us, "{case}");
        }
    }
}

#[test]
fn every_algorithm_delivers_unequal_blocks() {
    let topologies = ["torus:4x4", "groups:4x4", "fully-connected:7"];
    let algorithms = ["birkhoff", "fast", "padded-bruck", "two-phase-bruck", "node-aware"];
    for row in run(&topologies, &algorithms, "paragon") {
        let case = format!("{} on {}, {}", row.algorithm, row.topology, row.workload);
        assert_eq!(row.status, Status::Ok, "{case}: {}", row.reason);
        assert!(row.time_us >= row.lower_bound_us, "{case}");
    }
}

/// The times are equal, too, on the default machine, which charges the rearrangement of each block.
/// In schedules of byte counts, such as `four-stage`, the data in a bucket for one node counts as a
/// block.
#[test]
fn a_matrix_of_equal_blocks_costs_what_uniform_blocks_cost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sizes.csv");
    std::fs::write(&file, format!("{}512\n", "512,".repeat(15)).repeat(16)).unwrap();
    let matrix = format!("matrix:{}", file.display());
    let algorithms = "suh-shin gen pex pex-gen direct four-stage row-column two-stage \
        torus-multiscatter bine-alltoall bruck linear pairwise retri ring binary-exchange \
        cyclic-exchange hierarchical tuna by-dimension dim-rotation tseng-gupta-panda";
    let of = |workload: &str| {
        let mut args = vec!["--topology", "torus:4x4", "--workload", workload];
        args.extend(algorithms.split_whitespace().flat_map(|name| ["--algorithm", name]));
        rows(&args)
    };
    let (uniform, matrix) = (of("uniform:512"), of(&matrix));
    assert_eq!(uniform.len(), matrix.len());
    let mut priced = 0;
    for (one, other) in uniform.iter().zip(&matrix) {
        assert_eq!(one.algorithm, other.algorithm);
        let case = format!("{}: {} and {}", one.algorithm, one.reason, other.reason);
        let [us, found] = [one, other].map(|row| row.time_us.expect(&case));
        assert!((found / us - 1.0).abs() < 1e-9, "{case}: {found} us, uniform {us} us");
        priced += usize::from(other.rearrangement_us > Some(0.0));
    }
    assert!(priced >= 5, "{priced} algorithms join blocks");
}

/// On 16 ranks, Bruck's algorithm sends 32 blocks from each rank. `padded-bruck` pads them to the
/// largest size. Before that, it sends this size, an integer of 4 bytes, in each of 4 steps.
#[test]
fn padding_is_charged() {
    let workload = "one-spike:max=900,rest=1";
    let of = |algorithm: &str, workload: &str| {
        let args = ["--topology", "ring:16", "--algorithm", algorithm, "--workload", workload];
        rows(&[&args[..], &["--machine", "free:model=wormhole,byte_us=1"]].concat()).remove(0)
    };
    let (padded, bruck) = (of("padded-bruck", workload), of("bruck", "uniform:900"));
    let sum = |sizes: u64| Some(u128::from(sizes));
    assert_eq!(bruck.critical_bytes, sum(32 * 900));
    assert_eq!(padded.critical_bytes, sum(32 * 900 + 4 * 4));
    assert_eq!(padded.total_bytes, sum(16 * (32 * 900 + 4 * 4)));
    let (two_phase, plain) = (of("two-phase-bruck", workload), of("bruck", workload));
    let headers = 16 * (32 * 4 + 4 * 4);
    assert_eq!(two_phase.total_bytes, plain.total_bytes.map(|bytes| bytes + headers));
    assert_eq!(two_phase.messages, plain.messages.map(|messages| 3 * messages));
}

/// `linear` needs memory only for messages with data, so here it supports more ranks than in a
/// complete exchange. Each rank r has one token for rank r + 3, so the values follow from the
/// definition of the columns. From each row of the torus, three ranks send to the next row, which
/// takes one more hop. The plugin visits all pairs of ranks, so only the second tier has thousands
/// of ranks.
#[test]
fn many_ranks_with_few_receivers_send_in_one_step() {
    let side: u64 = if tools::runs_all() { 46 } else { 14 };
    let n = side * side;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let lines: String = (0..n).map(|rank| format!("{rank} {}\n", (rank + 3) % n)).collect();
    std::fs::write(&file, lines).unwrap();
    let workload = format!("tokens:{},bytes=64", file.display());
    let machine = ["--machine", "free:model=wormhole,byte_us=1,startup_us=5"];
    let of = |topology: &str, workload: &str| {
        let args = ["--topology", topology, "--algorithm", "linear", "--workload", workload];
        rows(&[&args[..], &machine].concat()).remove(0)
    };
    let row = of(&format!("torus:{side}x{side}"), &workload);
    assert_eq!((row.status, row.verified), (Status::Ok, Verified::Blocks), "{}", row.reason);
    assert_eq!((row.messages, row.steps), (Some(n), Some(1)));
    let bytes = [64 * n, 64 * (3 * n + 3 * side)].map(|bytes| Some(u128::from(bytes)));
    assert_eq!([row.total_bytes, row.total_hop_bytes], bytes);
    assert_eq!((row.max_sends, row.startup_us), (Some(1), Some(5.0)));
    let refused = of("ring:16385", "moe:experts=4,top=1,tokens=1,bytes=8");
    assert_eq!(
        (refused.status, refused.reason.as_str()),
        (
            Status::Unsupported,
            "16385 nodes would send 268451840 messages in one step; the limit for a full plan is 4096 nodes, and 16384 nodes of an all-to-all with a size for each pair (pairwise and ring use several steps)"
        )
    );
}
