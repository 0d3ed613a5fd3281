//! Every collective, by every algorithm that does it, on many sizes: proved, and in as many steps and blocks as its source says.

use crate::support::rows;
use swapmeet_results::{Record, Status, Verified};
use swapmeet_tests::project;

fn run(topologies: &[String], algorithm: &str, workload: &str) -> Vec<Record> {
    let mut args: Vec<&str> = topologies.iter().flat_map(|t| ["--topology", t.as_str()]).collect();
    args.extend([
        "--algorithm",
        algorithm,
        "--workload",
        workload,
        "--machine",
        "free:model=store-and-forward,byte_us=1",
    ]);
    let rows = rows(&args);
    for row in &rows {
        assert_eq!(
            (row.status, row.verified),
            (Status::Ok, Verified::Blocks),
            "{algorithm} on {}: {}",
            row.topology,
            row.reason
        );
    }
    rows
}

fn log2_up(n: u64) -> u64 {
    u64::from(n.next_power_of_two().trailing_zeros())
}

/// Steps, and blocks of the longest message in each, on sizes from one node on.
fn check(topologies: &[String], algorithm: &str, collective: &str, expected: impl Fn(u64) -> (u64, u64)) {
    for row in run(topologies, algorithm, &format!("{collective}/uniform:1")) {
        let (steps, blocks) = expected(row.nodes);
        assert_eq!(
            (row.steps, row.critical_bytes),
            (Some(steps), Some(blocks.into())),
            "{algorithm}, {collective} on {}",
            row.topology
        );
    }
}

#[test]
fn hypercube_collectives_take_as_many_steps_as_dimensions() {
    let cubes: Vec<String> = (0..=9).map(|d| format!("hypercube:{d}")).collect();
    check(&cubes, "hypercube-broadcast", "broadcast", |n| (log2_up(n), log2_up(n)));
    check(&cubes, "hypercube-scatter", "scatter", |n| (log2_up(n), n - 1));
    check(&cubes, "hypercube-allgather", "allgather", |n| (log2_up(n), n - 1));
    check(&cubes, "hypercube-alltoall", "alltoall", |n| (log2_up(n), log2_up(n) * n / 2));
}

#[test]
fn what_mpi_libraries_use_works_on_any_number_of_nodes() {
    let rings: Vec<String> = (1..=20).chain([63, 64, 65, 100]).map(|n| format!("ring:{n}")).collect();
    check(&rings, "pairwise", "alltoall", |n| (n - 1, n - 1));
    check(&rings, "ring", "alltoall", |n| (n - 1, n * (n - 1) / 2));
    check(&rings, "ring", "allgather", |n| (n - 1, n - 1));
    check(&rings, "bruck", "allgather", |n| (log2_up(n), n - 1));
    check(&rings, "bruck", "alltoall", |n| {
        let with_bit = |k: u64| (0..n).filter(|d| d >> k & 1 == 1).count() as u64;
        (log2_up(n), (0..log2_up(n)).map(with_bit).sum())
    });
    for collective in ["alltoall", "broadcast", "scatter", "gather", "allgather"] {
        check(&rings, "linear", collective, |n| if n == 1 { (0, 0) } else { (1, 1) });
    }
}

/// On powers of two Bruck's sets are the hypercube's dimensions.
#[test]
fn bruck_on_a_power_of_two_sends_half_of_all_in_each_step() {
    for row in run(&["torus:8x8".to_owned(), "mesh:4x32".to_owned()], "bruck", "uniform:1") {
        assert_eq!(row.critical_bytes, Some(u128::from(log2_up(row.nodes) * row.nodes / 2)));
    }
}

#[test]
fn an_algorithm_for_powers_of_two_says_which_take_any_number() {
    let row = rows(&["--topology", "mesh:4x5", "--algorithm", "pex", "--workload", "uniform:1"]).remove(0);
    let reason = "20 nodes are no power of two, without which exclusive-or makes no pairs; pex-gen, pex-gen-shift and gen take any number";
    assert_eq!((row.status, row.reason.as_str()), (Status::Unsupported, reason));
}

/// h (ts + L tw) a step: Li, Peng & Chu, section III.
#[test]
fn store_and_forward_charges_each_hop() {
    let price = |topology: &str, algorithm: &str, workload: &str| {
        let machine = "free:model=store-and-forward,startup_us=100,byte_us=1";
        let row =
            rows(&["--topology", topology, "--algorithm", algorithm, "--workload", workload, "--machine", machine])
                .remove(0);
        (row.startup_us, row.transmission_us, row.contention_us, row.propagation_us)
    };
    // one hop a step: 3 start-ups, 1 + 2 + 4 blocks of 10 bytes
    assert_eq!(
        price("hypercube:3", "hypercube-allgather", "allgather/uniform:10"),
        (Some(300.0), Some(70.0), Some(0.0), None)
    );
    // a message of 10 bytes to the node opposite goes over 2 links; 2 messages share each
    let (startup, transmission, contention, _) = price("ring:4", "pairwise", "uniform:10");
    assert_eq!((startup, transmission), (Some(100.0 * (1.0 + 2.0 + 1.0)), Some(10.0 * (1.0 + 2.0 + 1.0))));
    assert_eq!(contention, Some(0.0), "the longest way is as long as two messages on one link");
}

/// alpha + h delta + k L tau a round: Spencer, chapter 2.
#[test]
fn circuits_share_links_up_to_the_virtual_channels() {
    let price = |topology: &str, algorithm: &str, machine: &str| {
        let machine = format!("free:model=circuit,startup_us=100,hop_us=1,byte_us=0.5,{machine}");
        let row = rows(&[
            "--topology",
            topology,
            "--algorithm",
            algorithm,
            "--workload",
            "uniform:10",
            "--machine",
            &machine,
        ])
        .remove(0);
        (row.startup_us, row.propagation_us, row.transmission_us, row.contention_us, row.note)
    };
    // A shift by 1, 2 and 3 on a ring of 4: by 2 everyone goes plus over 2 links, and 2 circuits share each.
    let (startup, hops, alone, shared, note) = price("ring:4", "gen", "virtual_channels=2");
    assert_eq!((startup, hops, alone, shared), (Some(300.0), Some(1.0 + 2.0 + 1.0), Some(15.0), Some(5.0)));
    assert_eq!(note, "");
    let (startup, hops, alone, shared, note) = price("ring:4", "gen", "virtual_channels=1");
    // Two turns of the second step, in each of which a message has its links for itself.
    assert_eq!((startup, hops, alone, shared), (Some(400.0), Some(1.0 + 2.0 * 2.0 + 1.0), Some(20.0), Some(0.0)));
    assert_eq!(note, "priced in turns: up to 2 circuits at once on a link with virtual_channels=1");
    let (.., note) = price("ring:4", "linear", "ports=2");
    assert_eq!(
        note,
        "priced in turns: up to 3 messages at once at a node with ports=2, up to 3 circuits at once on a link with virtual_channels=1"
    );
}

/// Where messages differ, each takes as long as its own length times the circuits on its busiest link.
#[test]
fn the_most_multiplexed_circuit_decides_not_the_fullest_link() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.csv");
    // On a line of 3: 0 -> 2 and 1 -> 2 share the last link.
    std::fs::write(&file, "0,0,10\n0,0,30\n0,0,0\n").unwrap();
    let workload = format!("matrix:{}", file.display());
    let row = rows(&[
        "--topology",
        "mesh:3",
        "--algorithm",
        "linear",
        "--workload",
        &workload,
        "--machine",
        "free:model=circuit,byte_us=1,ports=all,virtual_channels=9",
    ])
    .remove(0);
    assert_eq!((row.transmission_us, row.contention_us), (Some(30.0), Some(2.0 * 30.0 - 30.0)));
}

/// No row is below its lower bound, whatever the algorithm, collective, sizes, topology and model.
#[test]
fn no_schedule_beats_its_lower_bound() {
    let dir = tempfile::tempdir().unwrap();
    let star = dir.path().join("star");
    std::fs::write(&star, "0 1\n0 2\n0 3\n0 4\n0 5\n").unwrap();
    let star = format!("graph:{}", star.display());
    let petersen = format!("graph:{}", project("workloads/graphs/petersen.txt").display());
    let topologies = [
        "torus:4x6",
        "mesh:5x3",
        "ring:7",
        "hypercube:4",
        "fully-connected:9",
        "fat-tree:2x3",
        "rdn:1(ring:3)",
        "torus:1x1",
        &petersen,
        &star,
    ];
    let algorithms = [
        "suh-shin",
        "gen",
        "pex-gen-shift",
        "linear",
        "ring",
        "bruck",
        "hypercube-alltoall",
        "hypercube-broadcast",
        "hypercube-scatter",
        "hypercube-allgather",
        "torus-broadcast",
        "torus-scatter",
        "torus-gather",
        "torus-gossip",
        "torus-multiscatter",
        "torus-permutation",
        "rdn-alltoall",
        "rdn-broadcast",
        "rdn-scatter",
        "rdn-allgather",
        "direct",
        "two-stage",
        "row-column",
        "four-stage",
    ];
    let workloads = [
        "uniform:0",
        "uniform:100",
        "one-spike:max=9,rest=0",
        "one-spike:max=0,rest=5",
        "irregular:dist=pareto,mean=100,cv=1",
        "one-spike:max=1000,rest=1",
        "broadcast/uniform:100",
        "scatter/uniform:100",
        "gather/uniform:100",
        "scatter/irregular:dist=lognormal,mean=60,cv=1",
        "gather/one-spike:max=9,rest=0",
        "allgather/uniform:100",
        "permutation/reflect:100",
        "permutation/translate:100,by=2",
    ];
    let machines = [
        "paragon",
        "delta",
        "paragon:model=circuit,virtual_channels=3,ports=all",
        "paragon:ports=all",
        "paragon:model=circuit,virtual_channels=2,ports=2",
        "paragon:model=store-and-forward",
        "paragon:model=store-and-forward,ports=2",
        "sp2",
        "sp2:mode=nonblocking",
        "myrinet:rearrange_byte_us=0.1,mode=nonblocking,buffers=2,ports=3",
        "paragon:model=flat,ports=all,copy_byte_us=0.2",
    ];
    fn flags<'a>(flag: &'a str, list: &[&'a str]) -> Vec<&'a str> {
        list.iter().flat_map(|v| [flag, *v]).collect()
    }
    let args = [
        flags("--topology", &topologies),
        flags("--algorithm", &algorithms),
        flags("--workload", &workloads),
        flags("--machine", &machines),
    ]
    .concat();
    let mut priced = 0;
    for row in rows(&args) {
        let case = format!("{} on {}, {}, {}", row.algorithm, row.topology, row.workload, row.machine);
        if row.status == Status::Unsupported {
            continue;
        }
        assert_eq!(row.status, Status::Ok, "{case}: {}", row.reason);
        assert_ne!(row.verified, Verified::None, "{case}");
        let (time, bound) = (row.time_us.unwrap(), row.lower_bound_us.unwrap());
        assert!(bound <= time + 1e-6, "{case}: {bound} us is to be the least, {time} us");
        priced += 1;
    }
    assert!(priced > 4000, "{priced} rows");
}
