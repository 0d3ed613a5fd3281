//! `--system` and `list systems`: names that stand for a topology and a machine.

use crate::support::{swapmeet, words};
use swapmeet_core::system;
use swapmeet_results::Record;

fn output_of(args: &[&str]) -> (String, String) {
    let output = swapmeet(args).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn rows(folder: &std::path::Path, args: &str) -> Vec<Record> {
    let file = folder.join("rows.csv");
    let args = format!("{args} --out rows.csv --force --quiet");
    let output = swapmeet(&words(&args)).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    swapmeet_results::read_file(&file).unwrap()
}

#[test]
fn a_system_stands_for_a_topology_and_a_machine() {
    let folder = tempfile::tempdir().unwrap();
    let case = "--algorithm ring-allreduce --workload allreduce/uniform:1MiB";
    let system = "h100-ib:2x4,floor_us=3";
    let of_system = rows(folder.path(), &format!("run --system {system} {case}"));
    let system::Expanded { topology, machine } = system::expand(system).unwrap();
    assert_eq!(
        (of_system[0].topology.as_str(), of_system[0].machine.as_str()),
        (topology.as_str(), machine.as_str())
    );
    let plain =
        rows(folder.path(), &format!("run --topology {topology} --machine {machine} {case}"));
    let values = |row: &Record| (row.time_us, row.protocol.clone(), row.lower_bound_us);
    assert_eq!(values(&of_system[0]), values(&plain[0]));
    assert_eq!(of_system[0].protocol, "LL128");
}

#[test]
fn files_list_systems_beside_topologies() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("e.toml"),
        "topologies = [\"ring:4\"]\nalgorithms = [\"ring-allreduce\"]\n\
         workloads = [\"allreduce/uniform:64\"]\nmachines = [\"paragon\"]\n\
         systems = [\"p5:2x2\", \"a4:1x4\"]\n",
    )
    .unwrap();
    let topologies = |args: &str| -> Vec<String> {
        let rows = rows(folder.path(), args);
        rows.into_iter().map(|row| format!("{} on {}", row.machine, row.topology)).collect()
    };
    let expanded = |spec: &str| {
        let system::Expanded { topology, machine } = system::expand(spec).unwrap();
        format!("{machine} on {topology}")
    };
    let expected = ["paragon on ring:4".to_owned(), expanded("p5:2x2"), expanded("a4:1x4")];
    let mut found = topologies("run e.toml");
    found.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let found = topologies("run e.toml --system b300:1x2");
    assert_eq!(found.len(), 2);
    assert!(found.contains(&expanded("b300:1x2")), "{found:?}");
}

#[test]
fn other_commands_accept_systems() {
    let (trace, error) = output_of(&words(
        "trace --system h100-ib:2x2 --algorithm ring --workload allgather/uniform:64 --summary",
    ));
    assert!(error.contains("groups:2x2,inside=7.071,nics=2,reduce=switch"), "{trace}{error}");
    // The switches of a computer can copy data, so the optimum of an allgather on such a system is
    // not known.
    let copies = "optimum --workload allgather/uniform:1MiB --format json --timeout 20";
    let (_, refused) = output_of(&[words(copies), words("--system h100-ib:2x2")].concat());
    assert!(refused.contains("expected one without reduce=switch"), "{refused}");
    // In an allgather, two blocks of 1 MiB are sent into each group, by two ports of 49 GB/s; in an
    // all-to-all, four blocks are.
    let plain = "--topology groups:2x2,inside=7.071,nics=2 --machine nccl:fabric_factor=0.4,byte_us=0.00002041,floor_us=40";
    for (flags, workload, blocks) in [
        (plain, "allgather/uniform:1MiB", 1.0),
        (plain, "uniform:1MiB", 2.0),
        ("--system h100-ib:2x2", "uniform:1MiB", 2.0),
    ] {
        let args = format!("optimum {flags} --workload {workload} --format json --timeout 20");
        let (optimum, error) = output_of(&words(&args));
        let optimum: serde_json::Value = serde_json::from_str(&optimum).expect(&error);
        let lower = optimum["lower_us"].as_f64().unwrap();
        let ports = blocks * 1_048_576.0 * 0.00002041;
        assert!((lower / ports - 1.0).abs() < 0.02, "{workload}: {lower} us, by ports {ports} us");
    }
}

#[test]
fn systems_are_listed_with_their_measurements() {
    let (table, _) = output_of(&["list", "systems"]);
    let (json, _) = output_of(&["list", "systems", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), system::systems().len());
    for (row, system) in rows.iter().zip(system::systems()) {
        assert!(table.contains(system.name), "{table}");
        assert_eq!(row["measured"], system.measured);
        let expanded = system::expand(row["example"].as_str().unwrap()).unwrap();
        assert_eq!(row["topology"], expanded.topology.as_str());
    }
    assert!(table.contains(system::DATA_SHEET_ONLY), "{table}");
}

#[test]
fn bad_systems_are_explained() {
    let error = |args: &str| output_of(&words(args)).1;
    let unknown = error("run --system h100:2x8 --algorithm ring");
    assert!(unknown.contains("--system:1:1") && unknown.contains("did you mean"), "{unknown}");
    let large = error("run --system p5:2x16 --algorithm ring");
    assert!(large.contains("at most 8 GPUs in a domain of p5"), "{large}");
    let twice = error("run --system p5:2x8 --system p5:2x8 --algorithm ring");
    assert!(twice.contains("already in the list"), "{twice}");
    let both = error("trace --system p5:2x8 --topology ring:4 --algorithm ring");
    assert!(both.contains("cannot be used with"), "{both}");
    let machine = words("run --system p5:2x8 --machine paragon --algorithm ring");
    let machine = swapmeet(&machine).assert().code(2).get_output().stderr.clone();
    let machine = String::from_utf8(machine).unwrap();
    assert!(machine.contains("`p5:2x8`") && machine.contains("`paragon`"), "{machine}");
    let given = error(
        "run --system p5:2x2 --topology ring:4 --machine fugaku --algorithm ring-allreduce \
         --workload allreduce/uniform:64",
    );
    assert!(!given.contains("(default)") && !given.contains("remark"), "{given}");
    let none = error("run --algorithm ring");
    assert!(none.contains("--topology") && none.contains("--system"), "{none}");
}
