//! User-defined networks, `graph:FILE`, and `list topologies --describe`.

use crate::support::{row_of, rows, swapmeet};
use swapmeet_results::{Record, Status, Verified};
use swapmeet_tests::project;

fn graph(edges: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("edges.txt");
    std::fs::write(&file, edges).unwrap();
    let spec = format!("graph:{}", file.display());
    (dir, spec)
}

fn run(topology: &str, algorithm: &str, workload: &str, machine: &str) -> Record {
    let row = row_of(topology, algorithm, workload, machine);
    assert_eq!(
        (row.status, row.verified),
        (Status::Ok, Verified::Blocks),
        "{algorithm} on {topology}: {}",
        row.reason
    );
    row
}

/// Returns the time of 1,000 bytes from node 0 to node 2 of a graph, with 1 µs per byte.
fn one_message(edges: &str, model: &str) -> f64 {
    let (_dir, spec) = graph(edges);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sizes.csv");
    std::fs::write(&file, "0,0,1000\n0,0,0\n0,0,0\n").unwrap();
    let machine = format!("free:model={model},byte_us=1,ports=all");
    run(&spec, "linear", &format!("matrix:{}", file.display()), &machine)
        .time_us
        .unwrap_or(f64::NAN)
}

#[test]
fn general_algorithms_run_on_a_list_of_edges() {
    let (_dir, petersen) = graph(
        "# the Petersen graph\n0 1\n1 2\n2 3\n3 4\n4 0\n0 5\n1 6\n2 7\n3 8\n4 9\n5 7\n7 9\n9 6\n6 8\n8 5\n",
    );
    for algorithm in ["linear", "pairwise", "ring", "bruck", "direct", "four-stage"] {
        for machine in ["paragon", "paragon:model=circuit", "paragon:model=store-and-forward"] {
            let args = ["--topology", &petersen, "--algorithm", algorithm, "--machine", machine];
            let row = rows(&args).remove(0);
            assert_eq!(row.status, Status::Ok, "{algorithm}: {}", row.reason);
            assert_eq!((row.topology.as_str(), row.nodes), (petersen.as_str(), 10));
            assert!(row.lower_bound_us <= row.time_us);
        }
    }
    let base = format!("rdn:1({petersen})");
    assert_eq!(run(&base, "linear", "broadcast/uniform:8", "paragon").nodes, 200);
}

#[test]
fn a_graph_of_a_ring_costs_as_much_as_the_ring() {
    let (_dir, ring) = graph("0 1\n1 2\n2 3\n3 4\n4 0\n");
    for machine in
        ["paragon", "paragon:model=circuit,virtual_channels=2", "paragon:model=store-and-forward"]
    {
        for workload in
            ["uniform:64", "irregular:dist=exponential,mean=100", "allgather/uniform:64"]
        {
            let (ours, theirs) =
                (run(&ring, "ring", workload, machine), run("ring:5", "ring", workload, machine));
            assert_eq!(
                (ours.time_us, ours.max_link_messages),
                (theirs.time_us, theirs.max_link_messages),
                "{workload}, {machine}"
            );
        }
    }
}

#[test]
fn a_message_takes_the_time_of_its_slowest_link_or_of_all_links() {
    for (edges, through, stored) in [
        ("0 1\n1 2\n", 1000.0, 2000.0),
        ("0 1 2\n1 2 2\n", 500.0, 1000.0),
        ("0 1 4\n1 2 0.5\n", 2000.0, 2250.0),
    ] {
        assert_eq!(one_message(edges, "wormhole"), through, "{edges}");
        assert_eq!(one_message(edges, "store-and-forward"), stored, "{edges}");
    }
}

#[test]
fn doubling_the_bandwidth_of_a_shared_link_removes_contention() {
    // There are two leaves on each side of a bridge, so four messages cross the bridge in each
    // direction.
    let edges = |bridge: &str| format!("0 2\n1 2\n2 3 {bridge}\n3 4\n3 5\n");
    let time = |bridge: &str, model: &str| {
        let (_dir, spec) = graph(&edges(bridge));
        let machine = format!("free:model={model},byte_us=1,ports=all,virtual_channels=16");
        run(&spec, "linear", "uniform:1000", &machine).time_us.unwrap_or(f64::NAN)
    };
    for model in ["wormhole", "circuit"] {
        let (alike, fat) = (time("1", model), time("9", model));
        assert_eq!(alike, 9000.0, "3 times 3 messages cross the bridge one way, {model}");
        assert_eq!(fat, 5000.0, "then what a leaf sends is what takes longest, {model}");
    }
}

#[test]
fn malformed_graphs_are_refused_with_the_line() {
    let refused = |spec: &str| {
        let run = swapmeet(&["run", "--topology", spec, "--algorithm", "linear"]).assert().code(2);
        String::from_utf8_lossy(&run.get_output().stderr).into_owned()
    };
    for (edges, message) in [
        ("0 1\n1 x\n", "line 2: `x` is not a node"),
        ("0 1\n2 2\n", "line 2: an edge from node 2 to itself"),
        ("0 1\n1 2\n\n1 0 3\n", "line 4: the edge between 0 and 1 is already on line 1"),
        ("0 1\n1 4\n2 3\n", "line 3: nothing connects node 2 with node 0"),
        ("0 1 0\n", "line 1: `0` is not a bandwidth"),
        ("\u{1}\u{2}", "line 1: 1 fields"),
    ] {
        let (_dir, spec) = graph(edges);
        let error = refused(&spec);
        assert!(error.contains(message), "{error}");
    }
    assert!(refused("graph:no-such-file").contains("`no-such-file` can't be read: No such file"));
    assert!(refused("graf:edges.txt").contains("help: did you mean `graph`?"));
    assert!(refused("graph:/").contains("is a folder or a device, expected a file of edges"));
    let (_dir, path) = graph("0 1\n1 2\n");
    assert!(refused(&format!("rdn:1({path})")).contains("a base must be regular"));
}

#[test]
fn a_network_is_described_next_to_the_values_of_the_paper() {
    let described =
        swapmeet(&["list", "topologies", "--describe", "rdn:1(torus:5x5)"]).assert().success();
    insta::assert_snapshot!(String::from_utf8_lossy(&described.get_output().stdout), @r"
    figure                                      rdn:1(torus:5x5)  how                                                    Li, Peng & Chu
    nodes                                       1250                                                                     1250 (Theorem 1), 1250 (Table I)
    directed links                              6250              counted
    degree                                      5                 counted                                                5 (Theorem 1), 5 (Table I)
    diameter, hops                              10                searched from every node                               10 (Theorem 1), 10 (Table I)
    mean distance, hops                         6.265             searched from every node
    bisection, links one way                    313               formula for the best cut known, perhaps not the least  313 (Theorem 1)
    cost ratio, (degree + diameter) / lg nodes  1.46              of these                                               1.46 (Table I)

    3125 links; `--format json` lists them
    ");
    let json =
        swapmeet(&["list", "--describe", "torus:10x10x10", "--format", "json"]).assert().success();
    let json: serde_json::Value =
        serde_json::from_slice(&json.get_output().stdout).unwrap_or_default();
    assert_eq!(json["figures"][3]["value"], "15");
    assert_eq!(json["figures"][6]["paper"], "2.11 (Table I)");
    let (_dir, path) = graph("0 1 2\n1 2\n");
    let described = swapmeet(&["list", "topologies", "--describe", &path]).assert().success();
    let text = String::from_utf8_lossy(&described.get_output().stdout).into_owned();
    assert!(text.contains("1 to 2") && !text.contains("Theorem 1"), "{text}");
}

/// Each of 32 chips has a block for each of the 32 chips in the other two instances. The 2 x 16
/// links between these two halves have 64 GB/s in each direction.
#[test]
fn the_rings_between_instances_limit_an_ultraserver() {
    let spec = format!("graph:{}", project("workloads/graphs/trn2-ultraserver.txt").display());
    let row = run(&spec, "pairwise", "uniform:1MiB", "trainium2");
    let us = 32.0 * 32.0 * f64::from(1 << 20) / (32.0 * 64e3);
    assert_eq!((row.nodes, row.lower_bound_us), (64, Some(us)));
}

#[test]
fn only_topologies_and_machines_can_be_described() {
    for (args, message) in [
        (
            ["list", "workloads", "--describe", "uniform:1"],
            "expected `list topologies --describe SPEC` or",
        ),
        (["list", "machines", "--describe", "paragn"], "did you mean `paragon`?"),
        (["list", "topologies", "--describe", "tours:5x5"], "did you mean `torus`?"),
        (
            ["list", "topologies", "--describe", "rdn:9(torus:5x5)"],
            "the most that a topology may have",
        ),
    ] {
        let refused = swapmeet(&args).assert().code(2);
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn describe_reports_bad_topologies_as_run_does() {
    for spec in ["mesh:4x0", "rdn:1(torus:5x)", "tours:5x5"] {
        let output_of = |args: &[&str]| {
            let refused = swapmeet(args).assert().code(2);
            String::from_utf8_lossy(&refused.get_output().stderr).into_owned()
        };
        let described = output_of(&["list", "topologies", "--describe", spec]);
        assert!(described.contains("here") && described.contains(spec), "{described}");
        let run = output_of(&["run", "--algorithm", "pex", "--topology", spec]);
        assert_eq!(described.replace("--describe", "--topology"), run);
    }
}

#[test]
fn the_docs_list_every_family_of_topologies() {
    let page = std::fs::read_to_string(project("docs/topologies.md")).unwrap();
    let section = page.split_once("\n## Families").unwrap().1;
    let table: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    for family in swapmeet_core::network::topology::families() {
        let spec = format!("`{}:", family.name);
        assert!(
            table.iter().any(|row| row.contains(&spec)),
            "docs/topologies.md: how are routes on `{}`?",
            family.syntax
        );
    }
}
