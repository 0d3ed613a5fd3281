//! Kinds of figures other than curves: heat maps, winners, and bars. Their numbers are compared
//! with the rows.

use super::{drawn, plot, row_of, rows_in, table};
use crate::support::{swapmeet, texts_of, words};
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
    swapmeet(&words(run)).arg(&rows).assert().success();
    let svg = drawn(&rows, &out, &["--kind", "scaling"]);
    for (text, count) in [("nodes", 2), ("16", 2), ("64", 2), ("uniform:64", 1), ("bruck", 1)] {
        assert_eq!(svg.matches(&format!(">{text}<")).count(), count, "{text}: {svg}");
    }
    plot(&rows, &out, &["--kind", "scaling", "--x", "cv"])
        .code(2)
        .stderr(predicate::str::contains("--x is for curves: omit it or --kind"));
    // Pairwise exchange among n nodes has n (n - 1) messages, whatever the size.
    let heat = ["--kind", "heat", "--value", "messages", "--axes", "nodes,algorithm"];
    let svg = drawn(&rows, &out, &heat);
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
    let compare = |args: &[&str]| swapmeet(&["compare"]).arg(&rows).args(args).assert();
    let [text, _] = texts_of(compare(&words("--by topology --baseline torus:8x8 --format csv")));
    let (columns, lines) = table(&text);
    let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let is = |line: &&csv::StringRecord| {
        line[at("topology")].starts_with("rdn")
            && [&line[at("machine")], &line[at("workload")], &line[at("algorithm")]]
                == ["own", "uniform:64", "bruck"]
    };
    let ratio: f64 = lines.iter().find(is).unwrap()[at("ratio")].parse().unwrap();
    let records = read_file(&rows).unwrap();
    let [dual, torus] = ["rdn", "torus"]
        .map(|network| row_of(&records, [network, "own", "uniform:64", "bruck"]).time_us.unwrap());
    assert!((ratio - dual / torus).abs() < 1e-9, "{ratio}");
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
    let text = std::fs::read_to_string(out.with_extension("csv")).unwrap();
    let (_, mut cells) = table(&text);
    cells.retain(|cell| cell[0].starts_with("torus:8x8"));
    assert_eq!(cells.len(), 8, "two machines, four sizes: {text}");
    let records: Vec<Record> = read_file(&rows).unwrap();
    for cell in cells {
        let is_in_cell = |r: &&Record| {
            r.topology == "torus:8x8"
                && r.machine == cell[1]
                && r.block_bytes == cell[2].parse().ok()
                && r.status == Status::Ok
        };
        let rows = records.iter().filter(is_in_cell);
        let time = |row: &&Record| row.time_us.unwrap();
        let fastest = rows.min_by(|a, b| time(a).total_cmp(&time(b))).unwrap();
        assert_eq!(
            (&cell[3], cell[4].parse().ok()),
            (&*fastest.algorithm, fastest.time_us),
            "{cell:?}"
        );
    }
}

/// The arguments of figures with 12 bars: three algorithms and four sizes.
const ONE_NETWORK: [&str; 4] = ["--machine", "own", "--topology", "torus:8x8"];

#[test]
fn bars_of_parts_agree_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("parts.csv"));
    let args = [&["--kind", "parts"], &ONE_NETWORK[..]].concat();
    plot(&rows, &out, &args).success().stderr("");
    let (columns, bars) = table(&std::fs::read_to_string(&out).unwrap());
    assert_eq!(bars.len(), 3 * 4);
    let records: Vec<Record> = read_file(&rows).unwrap();
    let known: Vec<&str> = swapmeet_results::columns().collect();
    for bar in &bars {
        let row = row_of(&records, ["torus:8x8", "own", &bar[0], &bar[1]]);
        let fields: Vec<String> = row.fields().collect();
        for (column, drawn) in columns.iter().zip(bar).skip(2) {
            let at = known.iter().position(|known| known == column).unwrap();
            let drawn: Option<f64> = drawn.parse().ok();
            assert_eq!(drawn, fields[at].parse().ok(), "{column}: {bar:?}");
        }
    }
    for (format, begins) in [("svg", "<svg"), ("pdf", "%PDF"), ("png", "\u{89}PNG")] {
        let out = dir.path().join(format!("parts.{format}"));
        plot(&rows, &out, &args).success();
        let bytes = std::fs::read(&out).unwrap();
        let start: String = bytes.iter().take(4).map(|byte| char::from(*byte)).collect();
        assert_eq!(start, begins);
    }
}

/// A bar consists of the least possible value and the remainder up to the value of the row.
#[test]
fn bars_of_steps_and_traffic_agree_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("bars.csv"));
    let records: Vec<Record> = read_file(&rows).unwrap();
    let steps = |r: &Record| [r.steps.unwrap() as f64, r.sum_link_messages.unwrap() as f64];
    let bytes = |r: &Record| [r.total_bytes.unwrap() as f64, r.total_hop_bytes.unwrap() as f64];
    for (kind, parts) in [("steps", &steps as &dyn Fn(&Record) -> _), ("traffic", &bytes)] {
        let (_, bars) = table(&drawn(&rows, &out, &[&["--kind", kind], &ONE_NETWORK[..]].concat()));
        assert_eq!(bars.len(), 3 * 4);
        for bar in &bars {
            let row = row_of(&records, ["torus:8x8", "own", &bar[0], &bar[1]]);
            let pieces = [2, 3].map(|at: usize| bar[at].parse::<f64>().unwrap());
            let [least, whole] = parts(row);
            assert_eq!(pieces, [least, whole - least], "{kind}: {bar:?}");
        }
    }
}
