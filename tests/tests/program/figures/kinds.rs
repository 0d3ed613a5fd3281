//! Kinds of figures other than curves: heat maps, winners, and bars. Their numbers are compared
//! with the rows.

use super::{plot, rows_in};
use crate::support::swapmeet;
use predicates::prelude::*;
use swapmeet_results::{Record, Status, read_file};
use tempfile::tempdir;

/// A plot of the kind `scaling` has a panel for each size, and the numbers of nodes are the labels
/// of its axis. A heat map of the same rows shows the numbers of messages as texts.
#[test]
fn scaling_is_drawn_against_nodes_and_columns_as_heat() {
    let dir = tempdir().unwrap();
    let [rows, out] = ["rows.csv", "figure.svg"].map(|name| dir.path().join(name));
    let run = "run --quiet --topology torus:2x2 --topology torus:4x4 --topology torus:8x8 \
        --algorithm pex --algorithm bruck --workload uniform:64 --workload uniform:4KiB --out";
    let run: Vec<&str> = run.split_whitespace().chain(rows.to_str()).collect();
    swapmeet(&run).assert().success();
    plot(&rows, &out, &["--kind", "scaling"]).success();
    let svg = std::fs::read_to_string(&out).unwrap();
    for (text, count) in [("nodes", 2), ("16", 2), ("64", 2), ("uniform:64", 1), ("bruck", 1)] {
        assert_eq!(svg.matches(&format!(">{text}<")).count(), count, "{text}: {svg}");
    }
    plot(&rows, &out, &["--kind", "scaling", "--x", "cv"])
        .code(2)
        .stderr(predicate::str::contains("--x is for curves: omit it or --kind"));
    // Pairwise exchange among n nodes has n (n - 1) messages, whatever the size.
    let heat = ["--kind", "heat", "--value", "messages", "--axes", "nodes,algorithm"];
    plot(&rows, &out, &heat).success();
    let svg = std::fs::read_to_string(&out).unwrap();
    for text in ["12", "240", "4032", "uniform:64", "uniform:4KiB"] {
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
    for (flag, value) in [("--value", "messages"), ("--axes", "nodes,algorithm")] {
        plot(&rows, &out, &[flag, value])
            .code(2)
            .stderr(predicate::str::contains(format!("{flag} is for --kind heat: omit it")));
    }
    for (flag, value) in [("--colour", "bruck=#ff0000"), ("--label", "bruck=B")] {
        let expected = format!("{flag} is for figures whose curves, bars or cells are algorithms");
        let given = [&heat[..], &[flag, value]].concat();
        plot(&rows, &out, &given).code(2).stderr(predicate::str::contains(expected));
    }
    plot(&rows, &out, &["--kind", "heat", "--axes", "nodes,nodes"])
        .code(2)
        .stderr(predicate::str::contains("expected two columns such as block_bytes,topology"));
}

/// The ratio of two networks is the ratio of the times in the rows.
#[test]
fn networks_are_compared_with_each_other() {
    let dir = tempdir().unwrap();
    let rows = rows_in(&dir);
    let compare =
        |args: &[&str]| swapmeet(&[&["compare", rows.to_str().unwrap()], args].concat()).assert();
    let message = compare(&["--by", "topology", "--baseline", "torus:8x8", "--format", "csv"]);
    let table = String::from_utf8(message.success().get_output().stdout.clone()).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let at = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let is = |line: &&csv::StringRecord| {
        line[at("topology")].starts_with("rdn")
            && &line[at("algorithm")] == "bruck"
            && &line[at("machine")] == "own"
            && &line[at("workload")] == "uniform:64"
    };
    let ratio: f64 = lines.iter().find(is).unwrap()[at("ratio")].parse().unwrap();
    let records = read_file(&rows).unwrap();
    let time = |topology: &str| {
        let is = |row: &&Record| {
            row.topology.starts_with(topology)
                && row.algorithm == "bruck"
                && row.machine == "own"
                && row.workload == "uniform:64"
        };
        records.iter().find(is).unwrap().time_us.unwrap()
    };
    assert!((ratio - time("rdn") / time("torus")).abs() < 1e-9, "{ratio}");
    compare(&["--by", "model", "--baseline", "flat"])
        .code(2)
        .stderr(predicate::str::contains("no row is of the baseline `flat`"));
}

/// The winner in the map is the algorithm with the least time in the rows.
#[test]
fn the_map_of_winners_agrees_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("winners.svg"));
    plot(&rows, &out, &["--kind", "winners", "--data", "--label", "pex=Pairwise"])
        .success()
        .stderr("");
    let svg = std::fs::read_to_string(&out).unwrap();
    for text in ["torus:8x8, uniform", "paragon", "own", "4 KiB", "block size", "not told apart"] {
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
    let table = std::fs::read_to_string(out.with_extension("csv")).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let cells: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let records: Vec<Record> = read_file(&rows).unwrap();
    let timed = |machine: &str, bytes: u64| {
        let alike = |r: &&Record| {
            r.topology == "torus:8x8" && r.machine == machine && r.block_bytes == Some(bytes)
        };
        records.iter().filter(alike).filter(|r| r.status == Status::Ok).collect::<Vec<_>>()
    };
    let on_torus: Vec<_> = cells.iter().filter(|cell| cell[0].starts_with("torus:8x8")).collect();
    assert_eq!(on_torus.len(), 8, "two machines, four sizes: {table}");
    for cell in on_torus {
        let rows = timed(&cell[1], cell[2].parse().unwrap());
        let fastest =
            rows.iter().min_by(|a, b| a.time_us.unwrap().total_cmp(&b.time_us.unwrap())).unwrap();
        assert_eq!(
            (&cell[3], cell[4].parse().ok()),
            (&*fastest.algorithm, fastest.time_us),
            "{cell:?}"
        );
    }
}

#[test]
fn bars_of_parts_agree_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("parts.csv"));
    plot(&rows, &out, &["--kind", "parts", "--machine", "own", "--topology", "torus:8x8"])
        .success()
        .stderr("");
    let table = std::fs::read_to_string(&out).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let columns: Vec<String> =
        reader.headers().unwrap().iter().skip(2).map(str::to_owned).collect();
    let bars: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(bars.len(), 3 * 4);
    let records: Vec<Record> = read_file(&rows).unwrap();
    for bar in &bars {
        let here = |r: &&Record| {
            r.machine == "own"
                && r.topology == "torus:8x8"
                && r.workload == bar[0]
                && r.algorithm == bar[1]
        };
        let row = records.iter().find(here).unwrap();
        let at =
            |column: &str| swapmeet_results::columns().position(|known| known == column).unwrap();
        let fields: Vec<String> = row.fields().collect();
        for (number, column) in columns.iter().enumerate() {
            let drawn: Option<f64> = bar[number + 2].parse().ok();
            assert_eq!(drawn, fields[at(column)].parse().ok(), "{column}: {bar:?}");
        }
    }
    for (format, begins) in [("svg", "<svg"), ("pdf", "%PDF"), ("png", "\u{89}PNG")] {
        let out = dir.path().join(format!("parts.{format}"));
        plot(&rows, &out, &["--kind", "parts", "--machine", "own", "--topology", "torus:8x8"])
            .success();
        let bytes = std::fs::read(&out).unwrap();
        let start: String = bytes.iter().take(4).map(|byte| char::from(*byte)).collect();
        assert_eq!(start, begins);
    }
}

#[test]
fn bars_of_steps_and_traffic_agree_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("bars.csv"));
    let drawn = |kind: &str| -> Vec<csv::StringRecord> {
        plot(&rows, &out, &["--kind", kind, "--machine", "own", "--topology", "torus:8x8"])
            .success();
        let table = std::fs::read_to_string(&out).unwrap();
        csv::Reader::from_reader(table.as_bytes()).records().map(Result::unwrap).collect()
    };
    let records: Vec<Record> = read_file(&rows).unwrap();
    for (kind, least, whole) in [
        (
            "steps",
            (|r| r.steps.unwrap() as f64) as fn(&Record) -> f64,
            (|r| r.sum_link_messages.unwrap() as f64) as fn(&Record) -> f64,
        ),
        ("traffic", |r| r.total_bytes.unwrap() as f64, |r| r.total_hop_bytes.unwrap() as f64),
    ] {
        let bars = drawn(kind);
        assert_eq!(bars.len(), 3 * 4);
        for bar in &bars {
            let here = |r: &&Record| {
                r.machine == "own"
                    && r.topology == "torus:8x8"
                    && r.workload == bar[0]
                    && r.algorithm == bar[1]
            };
            let row = records.iter().find(here).unwrap();
            let pieces = [2, 3].map(|at: usize| bar[at].parse::<f64>().unwrap());
            assert_eq!(pieces, [least(row), whole(row) - least(row)], "{kind}: {bar:?}");
        }
    }
}
