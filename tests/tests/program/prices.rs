//! Regression tests of times that were once computed incorrectly.

use crate::support::row_of;
use swapmeet_results::Record;

fn priced(topology: &str, algorithm: &str, workload: &str, machine: &str) -> Record {
    let row = row_of(topology, algorithm, workload, machine);
    assert_eq!(row.reason, "");
    row
}

fn time(topology: &str, algorithm: &str, workload: &str, machine: &str) -> f64 {
    priced(topology, algorithm, workload, machine).time_us.unwrap()
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn ports_are_as_fast_as_the_links_behind_them() {
    let folder = tempfile::tempdir().unwrap();
    let graph = |name: &str, text: &str| format!("graph:{}", file(&folder, name, text));
    let pair = graph("pair.txt", "0 1 4\n");
    for model in ["circuit", "wormhole"] {
        assert_eq!(
            time(
                &pair,
                "linear",
                "uniform:1000",
                &format!("free:model={model},byte_us=1,ports=all")
            ),
            250.0
        );
    }
    let line = graph("line.txt", "0 1 4\n1 2 4\n");
    let in_rounds = "free:model=circuit,byte_us=1,ports=all,virtual_channels=1";
    assert_eq!(time(&line, "linear", "gather/uniform:1000", in_rounds), 500.0);
    let four = graph("four.txt", "0 1 4\n0 2 4\n0 3 4\n1 2 4\n1 3 4\n2 3 4\n");
    let one_port = "free:byte_us=1,ports=1";
    assert_eq!(time(&four, "linear", "uniform:1000", one_port), 750.0);
    assert_eq!(
        time(&four, "pairwise", "uniform:1000", one_port),
        750.0,
        "the same messages, one a step"
    );
}

#[test]
fn messages_and_bytes_of_the_busiest_link_belong_to_one_link() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = [[0_u32; 6]; 6];
    (bytes[0][1], bytes[3][5], bytes[4][5]) = (1000, 1, 1);
    let text: Vec<String> = bytes.iter().map(|row| row.map(|b| b.to_string()).join(",")).collect();
    let workload = format!("matrix:{},empty=send", file(&folder, "m.csv", &text.join("\n")));
    let machine = "free:model=store-and-forward,startup_us=100,byte_us=1,ports=all";
    assert_eq!(time("mesh:6", "linear", &workload, machine), 1500.0);
}

#[test]
fn a_flat_sender_has_output_ports() {
    let machine = |ports: &str| format!("free:model=flat,mode=nonblocking,byte_us=1,ports={ports}");
    let scatter =
        |ports: &str| time("fully-connected:16", "linear", "scatter/uniform:1MiB", &machine(ports));
    assert_eq!(scatter("1"), 15.0 * 1_048_576.0);
    assert_eq!(scatter("5"), 3.0 * 1_048_576.0);
    assert_eq!(scatter("all"), 1_048_576.0);
}

/// A block of 13 bytes is sent in two segments of 7 bytes each.
#[test]
fn segments_are_rounded_up_to_whole_bytes() {
    let row = priced(
        "torus:12x12",
        "torus-scatter",
        "scatter/uniform:13",
        "free:model=circuit,byte_us=1,ports=all",
    );
    let (critical, all) = (row.critical_bytes.unwrap(), row.transmission_us.unwrap());
    assert_eq!(critical as f64, all, "each round as long as its longest message");
    assert_eq!(critical % 7, 0, "{critical}");
}

#[test]
fn self_messages_count_on_request() {
    let startup = |rule: &str| {
        priced("fully-connected:16", "direct", "uniform:64", &format!("sp2{rule}"))
            .startup_us
            .unwrap()
    };
    assert_eq!([startup(""), startup(":self_messages=count")], [15.0 * 44.0, 16.0 * 44.0]);
}

#[test]
fn rearrangement_is_packed_or_declared() {
    let row = |algorithm: &str, rule: &str| {
        priced(
            "torus:8x8",
            algorithm,
            "uniform:10",
            &format!("free:rearrange_byte_us=1,byte_us=1{rule}"),
        )
    };
    let us = |algorithm: &str, rule: &str| row(algorithm, rule).rearrangement_us.unwrap();
    let declared = ",rearrangement=declared";
    assert_eq!(
        [us("bruck", declared), us("pairwise", declared), us("pairwise", "")],
        [0.0, 0.0, 0.0]
    );
    // In each of six steps, 32 blocks are gathered into a message, and 32 received blocks are put
    // in their places.
    assert_eq!(us("bruck", ""), 6.0 * 64.0 * 10.0);
    assert!(
        us("suh-shin", "") > us("suh-shin", declared),
        "what it forwards is packed more often than it says"
    );
    let remark = "declares no rearrangement, though messages are of several blocks";
    assert!(
        row("bruck", declared).note.contains(remark) && !row("bruck", "").note.contains(remark)
    );
    assert!(
        !row("suh-shin", declared).note.contains(remark)
            && !row("pairwise", declared).note.contains(remark)
    );
}

#[test]
fn a_complete_exchange_in_one_step_has_a_note() {
    let note = |algorithm: &str| {
        priced("torus:8x8", algorithm, "uniform:10", "free:byte_us=1,ports=all").note
    };
    assert!(
        note("linear").contains("all messages are in one step and share links"),
        "{}",
        note("linear")
    );
    assert_eq!(note("pairwise"), "");
}

/// The two trees of the schedule carry different data. If ranks always waited for both trees, the
/// time would be 401.962. The expected time was simulated with sends that wait for their blocks.
#[test]
fn sends_wait_for_the_blocks_that_they_carry() {
    let machine = "free:model=loggp,latency_us=2,overhead_us=1,gap_us=1,byte_us=0.001,order=data";
    let us = time("fully-connected:24", "two-tree-allreduce", "allreduce/uniform:64000", machine);
    assert!((us - 339.968).abs() < 1e-9, "{us}");
}

/// Two nodes in a ring have two links in each direction. Each of these links carries half of the
/// bytes.
#[test]
fn sends_on_different_routes_are_different_messages() {
    let of = |topology| time(topology, "dim-rotation", "uniform:1000", "free:byte_us=1,ports=all");
    assert_eq!((of("ring:2"), of("torus:2x2")), (500.0, 1000.0));
}

/// Each message of the ring is a single sum, whatever the number of its contributions.
#[test]
fn a_sum_is_not_rearranged() {
    let machine = "free:byte_us=0.1,rearrange_byte_us=0.01";
    let row = priced("ring:8", "ring-allreduce", "allreduce/uniform:1024", machine);
    assert_eq!(row.rearrangement_us, Some(0.0));
}
