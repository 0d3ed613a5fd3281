//! Algorithms of NCCL on clusters of GPUs, compared with closed forms.

use crate::support::row_of;
use swapmeet_results::Record;

/// Returns the row of an allreduce of 1 MiB, or of another workload, with 1 ns per byte.
fn row(topology: &str, algorithm: &str, workload: &str, machine: &str) -> Record {
    row_of(topology, algorithm, workload, &format!("free:byte_us=0.001,{machine}"))
}

const MIB: f64 = 1_048_576.0;
const ALLREDUCE: &str = "allreduce/uniform:1MiB";
const MACHINES: [&str; 2] = ["model=wormhole,ports=all", "model=fluid"];

fn assert_us(found: &Record, expected: f64) {
    let time = found.time_us.unwrap_or_else(|| panic!("{}", found.reason));
    let case = format!("{} on {}, {}", found.algorithm, found.topology, found.machine);
    assert!((time / expected - 1.0).abs() < 1e-6, "{case}: {time} us, expected {expected}");
    assert!(found.lower_bound_us.is_some_and(|bound| bound <= time), "{case}");
}

/// Every rank has its own network adapter. With one ring, a single adapter of each group sends all
/// parts; with four rings, each adapter sends a fourth.
#[test]
fn rings_use_the_adapters_of_all_ranks() {
    for (rings, part) in [(1.0, 1.0), (2.0, 0.5), (4.0, 0.25)] {
        let algorithm = format!("ring-allreduce:rings={rings}");
        let found = row("groups:2x4,inside=4", &algorithm, ALLREDUCE, MACHINES[0]);
        assert_us(&found, 14.0 * MIB / 8.0 * 0.001 * part);
        let algorithm = format!("ring:rings={rings}");
        let found = row("groups:2x4,inside=4", &algorithm, "allgather/uniform:64KiB", MACHINES[0]);
        assert_us(&found, 7.0 * 65_536.0 * 0.001 * part);
    }
}

/// Writes a file of two computers with four GPUs each, and returns its topology. Vertices 0 to 7
/// are GPUs, 8 and 9 the switches of the computers, and 14 joins the adapters, vertices 10 to 13.
fn shared_adapters(dir: &std::path::Path) -> String {
    let mut text = "switch 8 9 10 11 12 13 14\n".to_owned();
    for gpu in 0..8 {
        text += &format!("{gpu} {} 4\n{gpu} {} 4\n", 8 + gpu / 4, 10 + gpu / 2);
    }
    (10..14).for_each(|adapter| text += &format!("{adapter} 14 1\n"));
    let file = dir.join("shared.txt");
    std::fs::write(&file, text).unwrap();
    format!("graph:{}", file.display())
}

/// Each two GPUs share an adapter. Two of four rings then use the same adapter, so four rings are
/// twice as fast as one. Two rings are not faster, because they enter a group at GPUs with the same
/// adapter.
#[test]
fn rings_share_the_adapters_that_gpus_share() {
    let dir = tempfile::tempdir().unwrap();
    let topology = shared_adapters(dir.path());
    for (rings, part) in [(1, 1.0), (2, 1.0), (4, 0.5)] {
        let algorithm = format!("ring-allreduce:rings={rings},group=4");
        let found = row(&topology, &algorithm, ALLREDUCE, MACHINES[0]);
        assert_us(&found, 14.0 * MIB / 8.0 * 0.001 * part);
    }
}

/// The adapters of the ranks with the same number in their groups have a switch of their own, their
/// rail. The trees of pair r use only rail r.
#[test]
fn trees_stay_on_their_rails() {
    let dir = tempfile::tempdir().unwrap();
    let (n, groups) = (16, 4);
    let mut text = "switch 16 17 18 19 20 21 22 23\n".to_owned();
    for gpu in 0..n {
        // The switches of the groups have the numbers 16 to 19, those of the rails 20 to 23.
        text += &format!("{gpu} {} 4\n{gpu} {} 1\n", n + gpu / 4, n + groups + gpu % 4);
    }
    let file = dir.path().join("rails.txt");
    std::fs::write(&file, text).unwrap();
    let rails = format!("graph:{}", file.display());
    for machine in MACHINES {
        let us = |topology: &str| {
            let found = row(topology, "two-tree-allreduce:group=4", ALLREDUCE, machine);
            found.time_us.unwrap_or_else(|| panic!("{}", found.reason))
        };
        let (on_rails, joined) = (us(&rails), us("groups:4x4,inside=4"));
        assert!((on_rails / joined - 1.0).abs() < 1e-9, "{machine}: {on_rails} and {joined}");
    }
}

/// On H200, algorithm bandwidth times (1 + 1/g) is nearly constant: 311, 305, 307 and 304 GB/s for
/// 5 to 8 GPUs, as measured by S. Bekman, Machine Learning Engineering (network/README.md). The
/// constants of the preset are not fitted to these values.
#[test]
fn the_bandwidth_of_nvls_follows_the_number_of_gpus() {
    for (gpus, gbps) in [(5.0, 311.0), (6.0, 305.0), (7.0, 307.0), (8.0, 304.0)] {
        let system = swapmeet_core::system::expand(&format!("p5en:1x{gpus}")).unwrap();
        let workload = "allreduce/uniform:8GiB";
        let algorithm = "nvls-allreduce:segments=1";
        let found = row_of(&system.topology, algorithm, workload, &system.machine);
        let found = 8.0 * 1024.0 * MIB / found.time_us.unwrap() / 1e3 * (1.0 + 1.0 / gpus);
        assert!((found / gbps - 1.0_f64).abs() < 0.05, "{gpus}: {found} GB/s");
    }
}

/// `segments=auto` uses the start-up of the last protocol, because the machine has no `startup_us`.
#[test]
fn automatic_segments_are_nearly_the_best_on_gpus() {
    let system = swapmeet_core::system::expand("h100-ib:4x8").unwrap();
    for size in ["1KiB", "1MiB", "16MiB", "256MiB", "4GiB"] {
        let us = |segments: &str| {
            let algorithm = format!("two-tree-allreduce:group=8,segments={segments}");
            let workload = format!("allreduce/uniform:{size}");
            row_of(&system.topology, &algorithm, &workload, &system.machine).time_us.unwrap()
        };
        let best =
            ["1", "2", "4", "8", "16", "64"].map(us).into_iter().fold(f64::INFINITY, f64::min);
        assert!(us("auto") <= 1.1 * best, "{size}: {} us, best {best} us", us("auto"));
    }
}

/// NVIDIA's rule: a GPU sends and receives `(1 + 1/g) m` bytes. With s segments, the first and the
/// last step move m/s bytes each, and each step between them `(1 + 1/g) m/s`.
#[test]
fn nvls_moves_the_vector_and_a_share() {
    for machine in MACHINES {
        for (g, s) in [(8.0, 1.0), (8.0, 8.0), (4.0, 16.0)] {
            let topology = format!("groups:1x{g},reduce=switch");
            let algorithm = format!("nvls-allreduce:segments={s}");
            let found = row(&topology, &algorithm, ALLREDUCE, machine);
            assert_us(&found, MIB * 0.001 * (2.0 + (s - 1.0) * (1.0 + 1.0 / g)) / s);
        }
    }
    let found =
        row("fat-tree:8x1,reduce=switch", "nvls-allreduce:segments=1", ALLREDUCE, MACHINES[0]);
    assert_us(&found, MIB * 0.001 * 2.0);
    let machine = "model=wormhole,ports=all,reduce_byte_us=1";
    let found = row("groups:1x8,reduce=switch", "nvls-allreduce:segments=1", ALLREDUCE, machine);
    assert_us(&found, MIB * 0.001 * 2.0);
}

/// With two groups, the ranks of a share exchange their sums. On each tree, half of the segments
/// are sent in each direction, up and down.
#[test]
fn nvls_trees_reduce_between_groups() {
    for topology in ["groups:2x4,inside=9,reduce=switch", "fat-tree:4x2,reduce=switch"] {
        for machine in MACHINES {
            let found = row(topology, "nvls-tree-allreduce", ALLREDUCE, machine);
            assert!(found.time_us.is_some(), "{topology}, {machine}: {}", found.reason);
            assert!(found.lower_bound_us <= found.time_us, "{topology}, {machine}");
        }
    }
    let refused = row("groups:2x4,reduce=switch", "nvls-allreduce", ALLREDUCE, MACHINES[0]);
    assert!(refused.reason.contains("nvls-tree-allreduce"), "{}", refused.reason);
    let refused = row("groups:1x4,reduce=switch", "nvls-allreduce", ALLREDUCE, "model=loggp");
    assert!(refused.reason.contains("wormhole, fluid and pipelined do"), "{}", refused.reason);
}

/// A PAT message has several blocks, which the sender and the receiver copy. A rank sends and
/// receives n - 1 blocks, and copies all of them except that of the first step. A ring sends single
/// blocks and copies none.
#[test]
fn pat_pays_for_the_blocks_that_it_copies() {
    let machine = "model=wormhole,rearrange_block_us=1.6";
    for n in [4.0, 8.0, 32.0] {
        let topology = format!("ring:{n}");
        for (algorithm, collective) in
            [("pat-allgather", "allgather"), ("pat-reduce-scatter", "reduce-scatter")]
        {
            let found = row(&topology, algorithm, &format!("{collective}/uniform:64"), machine);
            let copied = found.rearrangement_us.unwrap();
            assert!((copied - 2.0 * 1.6 * (n - 2.0)).abs() < 1e-6, "{algorithm}: {copied}");
        }
        let ring = row(&topology, "ring", "allgather/uniform:64", machine);
        assert_eq!(ring.rearrangement_us, Some(0.0));
    }
}
