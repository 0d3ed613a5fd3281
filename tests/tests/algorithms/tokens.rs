//! Dispatch and combine with the real program.

use crate::support::{row_of, swapmeet, words};
use serde_json::Value;
use std::fmt::Write as _;
use swapmeet_results::{Status, Verified};

/// One token for each rank on 64 nodes with 8 ranks each. Its receivers are ranks 0 and 1 of the
/// next node, rank 2 of the node after the next, and rank 3 of the sender's own node.
fn routing(folder: &std::path::Path) -> String {
    let mut lines = String::new();
    for rank in 0..512 {
        let node = rank / 8;
        let (next, after) = ((node + 1) % 64 * 8, (node + 2) % 64 * 8);
        writeln!(lines, "{rank} {next},{},{},{}", next + 1, after + 2, node * 8 + 3).unwrap();
    }
    let file = folder.join("routing.txt");
    std::fs::write(&file, lines).unwrap();
    file.to_str().unwrap().to_owned()
}

fn between_nodes(topology: &str, algorithm: &str, workload: &str) -> u64 {
    let args = ["trace", "--topology", topology, "--algorithm", algorithm, "--workload", workload];
    let output = swapmeet(&[&args[..], &["--format", "json"]].concat()).output().unwrap();
    let trace: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |event: &Value, key: &str| event[key].as_u64().unwrap();
    let events = trace["events"].as_array().unwrap().iter();
    let sends = events.filter(|event| event.get("bytes").is_some());
    let crossing = sends.filter(|send| number(send, "from") / 8 != number(send, "to") / 8);
    crossing.map(|send| number(send, "bytes")).sum()
}

/// Each token has four receivers, of which three are on two other nodes. So in a direct exchange,
/// the token crosses the slow links three times, and in a hierarchical exchange twice.
#[test]
fn bytes_between_nodes_are_those_counted_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let file = routing(folder.path());
    let topology = "groups:64x8,inside=9";
    for collective in ["dispatch", "combine"] {
        let workload = format!("{collective}/tokens:{file},bytes=7KiB");
        for (kind, crossings) in [("direct", 3), ("hierarchical", 2)] {
            let algorithm = format!("{kind}-{collective}");
            let row = row_of(topology, &algorithm, &workload, "dgx-h100");
            assert_eq!(row.status, Status::Ok, "{algorithm}: {}", row.reason);
            assert_eq!(
                between_nodes(topology, &algorithm, &workload),
                512 * crossings * 7168,
                "{algorithm}"
            );
            // Each node must receive 8 x 2 tokens from two other nodes, so the lower bound is
            // positive.
            let traffic = row.lower_bound_us.unwrap();
            assert!(traffic > 0.0 && row.time_us.unwrap() >= traffic, "{algorithm}");
        }
    }
}

/// Each of four ranks has one token of 100 bytes for all other ranks. The expected sums were
/// computed by hand.
#[test]
fn bounds_count_a_token_once_at_its_rank_and_once_across_a_cut() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.txt");
    std::fs::write(&file, "0 1 2 3\n1 0 2 3\n2 0 1 3\n3 0 1 2\n").unwrap();
    let workload = |collective: &str| format!("{collective}/tokens:{},bytes=100", file.display());
    let machine = "free:model=wormhole,byte_us=1,ports=1";
    // Through one port, a rank receives 300 bytes in a dispatch and sends 300 bytes in a combine.
    for collective in ["dispatch", "combine"] {
        let algorithm = format!("direct-{collective}");
        let row = row_of("fully-connected:4", &algorithm, &workload(collective), machine);
        assert_eq!((row.lower_bound_us, row.time_us), (Some(300.0), Some(300.0)), "{collective}");
        // The link between two groups carries one copy of each of two tokens in each direction.
        let row = row_of(
            "groups:2x2,inside=9",
            &algorithm,
            &workload(collective),
            "free:model=wormhole,byte_us=1,ports=all",
        );
        assert!(row.lower_bound_us >= Some(100.0), "{collective}: {:?}", row.lower_bound_us);
        assert!(row.lower_bound_us <= row.time_us, "{collective}");
    }
}

#[test]
fn every_algorithm_delivers_tokens_of_random_routing() {
    for topology in ["torus:4x4", "groups:4x4", "ring:1", "fat-tree:4x2", "torus:3x5,ranks=2"] {
        for (collective, verified) in
            [("dispatch", Verified::Blocks), ("combine", Verified::Contributions)]
        {
            for kind in ["direct", "hierarchical"] {
                for moe in [
                    "experts=32,top=4,tokens=30,bytes=70",
                    "experts=7,top=3,tokens=9,bytes=8,skew=2",
                ] {
                    let algorithm = format!("{kind}-{collective}");
                    let workload = format!("{collective}/moe:{moe}");
                    let row = row_of(topology, &algorithm, &workload, "paragon");
                    let case = format!("{algorithm} on {topology}, {workload}");
                    assert_eq!(
                        (row.status, row.verified),
                        (Status::Ok, verified),
                        "{case}: {}",
                        row.reason
                    );
                    assert!(row.time_us >= row.lower_bound_us, "{case}");
                }
            }
        }
    }
}

#[test]
fn tokens_are_packed_by_their_bytes() {
    let workload = "dispatch/moe:experts=32,top=8,tokens=64,bytes=7KiB,skew=1";
    for machine in
        ["nccl:byte_us=0.00002041", "free:startup_us=2,byte_us=0.001,rearrange_byte_us=1"]
    {
        for algorithm in ["direct-dispatch", "hierarchical-dispatch"] {
            let [with, without] = [1.25, 0.0].map(|us| {
                let machine = format!("{machine},rearrange_block_us={us}");
                row_of("groups:2x8,inside=7.071,nics=8", algorithm, workload, &machine)
            });
            assert!(with.time_us > Some(0.0), "{}", with.reason);
            assert_eq!(with.time_us, without.time_us, "{algorithm} on {machine}");
            assert!(with.rearrangement_us > Some(0.0), "{algorithm} on {machine}");
        }
    }
}

#[test]
fn schedules_of_tokens_are_read_from_files() {
    let folder = tempfile::tempdir().unwrap();
    for collective in ["dispatch", "combine"] {
        let workload = format!("{collective}/moe:experts=8,top=3,tokens=9,bytes=8");
        let algorithm = format!("hierarchical-{collective}");
        let line =
            format!("trace --topology torus:2x4 --algorithm {algorithm} --workload {workload}");
        let args = words(&line);
        let output = swapmeet(&[&args[..], &["--format", "json"]].concat()).output().unwrap();
        let file = folder.path().join(format!("{collective}.json"));
        std::fs::write(&file, &output.stdout).unwrap();
        let from_file = format!("schedule:file={}", file.display());
        let [own, read] = [algorithm.as_str(), from_file.as_str()]
            .map(|algorithm| row_of("torus:2x4", algorithm, &workload, "paragon"));
        assert_eq!(read.status, Status::Ok, "{}", read.reason);
        assert_eq!((read.total_bytes, read.steps), (own.total_bytes, own.steps));
        assert_eq!(read.time_us, own.time_us);
        let trace = String::from_utf8(output.stdout).unwrap();
        let first = trace.lines().find(|line| line.contains("\"bytes\":")).unwrap();
        let first = first.trim_start_matches(',');
        let event = first.split_once("\"step\":").unwrap();
        let rest = event.1.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let again = format!(",{}\"step\":1000{rest}\n],", event.0);
        std::fs::write(&file, trace.replacen("\n],", &format!("\n{again}"), 1)).unwrap();
        let row = row_of("torus:2x4", &from_file, &workload, "paragon");
        assert_eq!(row.status, Status::Invalid, "{collective}");
        let expected = match collective {
            "dispatch" => "is delivered twice: node",
            _ => "which it does not hold",
        };
        assert!(row.reason.contains(expected), "{}", row.reason);
        assert!(row.reason.contains("token class"), "{}", row.reason);
    }
}
