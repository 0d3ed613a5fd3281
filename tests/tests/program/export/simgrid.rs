//! Exported files are run in SimGrid if it is installed.

use super::exports;
use crate::support::{row_of, swapmeet, tools, words};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::{TempDir, tempdir};

/// The exported platform must contain each link once, and a route for each pair of nodes. A torus
/// is also exported as a torus of SimGrid, whose sides are in reverse order.
#[test]
fn simgrid_gets_the_routes_of_the_schedule() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("sim");
    assert!(exports(
        "simgrid",
        ["torus:2x3", "linear", "uniform:1000"],
        &["--machine", "free:model=fluid,byte_us=0.001"],
        &out
    ));
    let platform = std::fs::read_to_string(out.join("platform.xml")).unwrap();
    assert_eq!(platform.matches("<host ").count(), 6);
    assert_eq!(platform.matches("<route ").count(), 30);
    assert!(
        platform.matches("<link ").count() <= 18
            && platform.contains("bandwidth=\"1000000000.000000Bps\" latency=\"0s\"")
    );
    assert!(
        std::fs::read_to_string(out.join("cluster.xml"))
            .unwrap()
            .contains("topo_parameters=\"3,2\"")
    );
    let messages = std::fs::read_to_string(out.join("messages.txt")).unwrap();
    assert!(messages.starts_with("swapmeet-simgrid 1\nnodes 6\n1 "), "{messages}");
    assert_eq!(messages.lines().count(), 2 + 30);
}

/// Returns the program of all schedules, or `None` if SimGrid is not installed.
fn replay(out: &Path) -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let compiled = PROGRAM.get_or_init(|| {
        let folder = tempdir().unwrap();
        let program = folder.path().join("replay");
        let mut cxx = Command::new("c++");
        cxx.args(["-std=c++17", "-O1", "-o"])
            .arg(&program)
            .arg(out.join("replay.cpp"))
            .arg("-lsimgrid");
        cxx.output().is_ok_and(|output| output.status.success()).then_some((folder, program))
    });
    if compiled.is_none() {
        tools::left_out("simgrid", "no SimGrid (c++ -lsimgrid) here: nothing was played");
    }
    compiled.as_ref().map(|(_, program)| program.as_path())
}

/// Returns the time in µs, or `None` if SimGrid is not installed.
fn played_by_simgrid(out: &Path) -> Option<f64> {
    let mut play = Command::new(replay(out)?);
    play.args([out.join("platform.xml"), out.join("messages.txt")])
        .arg("--cfg=network/model:CM02")
        .arg("--cfg=network/crosstraffic:0");
    let output = play.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let played = printed.trim().trim_end_matches(" us").parse();
    Some(played.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

fn predicted([topology, algorithm, workload]: [&str; 3], machine: &str) -> f64 {
    let row = row_of(topology, algorithm, workload, machine);
    row.time_us.unwrap_or_else(|| panic!("{}", row.reason))
}

#[test]
fn simgrid_takes_the_time_that_fluid_predicts() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("sim");
    let machine = "free:model=fluid,byte_us=0.001,startup_us=0,hop_us=0";
    let case = ["torus:3x4", "pairwise", "uniform:100000"];
    assert!(exports("simgrid", case, &["--machine", machine], &out));
    let Some(played) = played_by_simgrid(&out) else { return };
    let predicted = predicted(case, machine);
    assert!((played / predicted - 1.0).abs() < 0.01, "SimGrid {played} us, fluid {predicted} us");
}

/// The program `oracles/simgrid_exports.py` computed the stored times, for start-ups, latencies,
/// protocols, reductions, barriers, late ranks, and limits of nodes. If SimGrid is installed, it
/// runs some of the schedules again.
#[test]
fn exported_schedules_take_the_same_time_in_simgrid() {
    let fixture = include_str!("../../../fixtures/simgrid_exports.json");
    let fixture: serde_json::Value = serde_json::from_str(fixture).unwrap();
    let rows = fixture["rows"].as_array().unwrap();
    assert!(rows.len() >= 12, "{}", rows.len());
    let mut is_installed = true;
    for (number, row) in rows.iter().enumerate() {
        let text = |key: &str| row[key].as_str().unwrap();
        let (case, machine) =
            ([text("topology"), text("algorithm"), text("workload")], text("machine"));
        let ours = predicted(case, machine);
        let simgrid = row["simgrid_us"].as_f64().unwrap();
        let close = |us: f64| (us / ours - 1.0).abs() < 1e-6;
        assert!(close(simgrid), "{case:?} on {machine}: SimGrid {simgrid} us, ours {ours} us");
        if !is_installed || !number.is_multiple_of(4) && !tools::runs_all() {
            continue;
        }
        let dir = tempdir().unwrap();
        let out = dir.path().join("sim");
        assert!(exports("simgrid", case, &["--machine", machine], &out));
        match played_by_simgrid(&out) {
            Some(played) => assert!(close(played), "{case:?}: SimGrid {played} us, ours {ours} us"),
            None => is_installed = false,
        }
    }
}

#[test]
fn exports_name_what_simgrid_does_not_express() {
    let dir = tempdir().unwrap();
    let remark = |machine: &str| {
        let out = dir.path().join("sim");
        let export =
            words("export --format simgrid --topology ring:4 --algorithm linear --force --machine");
        let run = swapmeet(&export).arg(machine).arg("--out").arg(&out).assert().success();
        String::from_utf8_lossy(&run.get_output().stderr).into_owned()
    };
    let fluid = "free:model=fluid,byte_us=0.001,startup_us=1,hop_us=2";
    assert_eq!(remark(fluid), "");
    let start = "remark: SimGrid's time differs, because it does not express ";
    for (machine, what) in [
        (format!("{fluid},order=data"), "`order=data` (the exported program works step by step)"),
        (format!("{fluid},noise=0.1"), "`noise`"),
        (format!("{fluid},grouped=yes"), "`grouped=yes` (each message has a start-up of its own)"),
        (format!("{fluid},launch_us=3"), "`launch_us`"),
        (format!("{fluid},floor_us=3"), "`floor_us`"),
        (
            format!("{fluid},fairness=equal"),
            "`fairness=equal` (messages have weights by their latency)",
        ),
        (
            "free:byte_us=0.001,startup_us=1".to_owned(),
            "the model `wormhole` (it shares links as the model `fluid` does)",
        ),
    ] {
        assert_eq!(remark(&machine), format!("{start}{what}\n"));
    }
}

/// If a ring lacks one link, there is only one route between two nodes. SimGrid finds the routes on
/// this network itself, on a platform that lists only the remaining links.
#[test]
fn simgrid_agrees_on_failed_and_slow_links() {
    let machine = "free:model=fluid,byte_us=0.001,startup_us=0,hop_us=0";
    for topology in ["ring:7,down=0-1", "torus:3x4,down=0-1+5~6", "torus:3x4,slow=0-1:0.25+4~5:0.5"]
    {
        let dir = tempdir().unwrap();
        let out = dir.path().join("sim");
        let case = [topology, "linear", "uniform:100000"];
        assert!(exports("simgrid", case, &["--machine", machine], &out));
        assert!(!out.join("cluster.xml").exists(), "SimGrid's own torus has all links");
        if topology == "ring:7,down=0-1" {
            std::fs::write(out.join("platform.xml"), line_of_hosts(7)).unwrap();
        }
        let Some(played) = played_by_simgrid(&out) else { return };
        let predicted = predicted(case, machine);
        let close = (played / predicted - 1.0).abs() < 0.01;
        assert!(close, "{topology}: SimGrid {played} us, fluid {predicted} us");
        let intact = predicted_intact(topology, machine);
        assert!(predicted > 1.1 * intact, "{topology}: {predicted} us, {intact} us without faults");
    }
}

fn predicted_intact(topology: &str, machine: &str) -> f64 {
    let network = topology.split(',').next().unwrap_or_default();
    predicted([network, "linear", "uniform:100000"], machine)
}

/// Returns a platform of a ring whose link between hosts 0 and 1 is missing. SimGrid finds the
/// routes over several links (Floyd's algorithm).
fn line_of_hosts(nodes: u64) -> String {
    let hosts = (0..nodes).map(|node| format!("<host id=\"n{node}\" speed=\"1Gf\"/>\n"));
    let pairs: Vec<(u64, u64)> = (1..nodes)
        .map(|node| (node, (node + 1) % nodes))
        .flat_map(|(a, b)| [(a, b), (b, a)])
        .collect();
    let links = pairs.iter().map(|(a, b)| {
        format!("<link id=\"l{a}-{b}\" bandwidth=\"1000000000Bps\" latency=\"0s\"/>\n")
    });
    let routes = pairs.iter().map(|(a, b)| {
        format!(
            "<route src=\"n{a}\" dst=\"n{b}\" symmetrical=\"NO\"><link_ctn id=\"l{a}-{b}\"/></route>\n"
        )
    });
    let body: String = hosts.chain(links).chain(routes).collect();
    format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\">\n<zone id=\"world\" routing=\"Floyd\">\n{body}</zone>\n</platform>\n"
    )
}

/// Links within a group are 9 times as fast as links between groups. Without their bandwidths,
/// SimGrid's time would differ by more than 10 %.
#[test]
fn simgrid_gets_the_bandwidth_of_each_link() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("sim");
    let machine = "free:model=fluid,byte_us=0.001,startup_us=0,hop_us=0";
    let case = ["groups:4x4,inside=9", "pairwise", "uniform:100000"];
    assert!(exports("simgrid", case, &["--machine", machine], &out));
    let platform = std::fs::read_to_string(out.join("platform.xml")).unwrap();
    for bandwidth in ["\"1000000000.000000Bps\"", "\"9000000000.000000Bps\""] {
        assert!(platform.contains(bandwidth), "{platform}");
    }
    let Some(played) = played_by_simgrid(&out) else { return };
    let predicted = predicted(case, machine);
    assert!((played / predicted - 1.0).abs() < 0.01, "SimGrid {played} us, fluid {predicted} us");
}

/// Messages of 100 kB within a node do not use the links of 1 GB/s. The first step takes 100 µs,
/// because each message within a node has 1 GB/s for itself. The other two steps take 200 µs each,
/// because two messages share each direction of a link.
#[test]
fn simgrid_gets_messages_within_a_node() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("sim");
    let machine = "free:model=fluid,byte_us=0.001,startup_us=0,hop_us=0,ports=all";
    let case = ["ring:2,ranks=2", "pairwise", "uniform:100000"];
    assert!(exports("simgrid", case, &["--machine", machine], &out));
    let platform = std::fs::read_to_string(out.join("platform.xml")).unwrap();
    let within = "<link id=\"within-node\" bandwidth=\"1000000000.000000Bps\" latency=\"0s\" sharing_policy=\"FATPIPE\"/>";
    assert!(platform.contains(within), "{platform}");
    for (from, to) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
        let route = format!(
            "<route src=\"n{from}\" dst=\"n{to}\" symmetrical=\"NO\"><link_ctn id=\"within-node\"/></route>"
        );
        assert!(platform.contains(&route), "{platform}");
    }
    let predicted = predicted(case, machine);
    assert!((predicted - 500.0).abs() < 1e-6, "{predicted}");
    let Some(played) = played_by_simgrid(&out) else { return };
    assert!((played / predicted - 1.0).abs() < 0.01, "SimGrid {played} us, fluid {predicted} us");
}

/// In the export, background flows are messages of the schedule's only step. The time of the
/// schedule is the same only if its last message is not a background flow, as here.
#[test]
fn simgrid_takes_the_time_that_fluid_predicts_with_background_traffic() {
    let dir = tempdir().unwrap();
    let (nodes, path) = (12_u64, |name: &str| dir.path().join(name));
    let write = |name: &str, bytes: &dyn Fn(u64, u64) -> u64| {
        let row =
            |from| (0..nodes).map(|to| bytes(from, to).to_string()).collect::<Vec<_>>().join(",");
        std::fs::write(path(name), (0..nodes).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    };
    let scheduled =
        |from: u64, to: u64| if (from + 2) % nodes == to { 300_000 + 10_000 * from } else { 0 };
    let beside = |from: u64, to: u64| {
        if (from * 5 + to * 3) % 7 == 1 && (from + 2) % nodes != to && from != to {
            4000 * (1 + from * to % 60)
        } else {
            0
        }
    };
    write("scheduled.csv", &scheduled);
    write("beside.csv", &beside);
    let workload = format!("matrix:{}", path("scheduled.csv").display());
    let case = ["torus:3x4", "linear", workload.as_str()];
    let machine = "free:model=fluid,byte_us=0.001";
    let out = path("sim");
    // Only pairs of nodes that exchange data have routes in the export. The exported schedule
    // therefore uses all pairs.
    assert!(exports(
        "simgrid",
        ["torus:3x4", "linear", "uniform:1"],
        &["--machine", machine],
        &out
    ));
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    let lines = pairs
        .map(|(from, to)| (from, to, scheduled(from, to) + beside(from, to)))
        .filter(|(.., bytes)| *bytes > 0);
    let lines: String = lines.map(|(from, to, bytes)| format!("1 {from} {to} {bytes}\n")).collect();
    std::fs::write(out.join("messages.txt"), format!("swapmeet-simgrid 1\nnodes {nodes}\n{lines}"))
        .unwrap();
    let Some(played) = played_by_simgrid(&out) else { return };
    let alone = predicted(case, machine);
    let predicted =
        predicted(case, &format!("{machine},background={}", path("beside.csv").display()));
    assert!((played / predicted - 1.0).abs() < 0.01, "SimGrid {played} us, fluid {predicted} us");
    assert!(alone < 0.9 * predicted, "without it the schedule is faster");
    // If the machine has background traffic, the export has these flows, and no rank waits for
    // them.
    let with_flows = format!("{machine},background={}", path("beside.csv").display());
    let out = path("with_flows");
    assert!(exports("simgrid", case, &["--machine", &with_flows], &out));
    let Some(played) = played_by_simgrid(&out) else { return };
    assert!((played / predicted - 1.0).abs() < 1e-6, "SimGrid {played} us, fluid {predicted} us");
}
