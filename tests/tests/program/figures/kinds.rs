//! The numbers in heat maps, in maps of winners and in bars are compared with the rows.

use super::{drawn, plot, row_of, rows_in, table};
use crate::support::{swapmeet, texts_of, words};
use predicates::prelude::*;
use swapmeet_results::{Record, Status, read_file};
use tempfile::tempdir;

/// A plot against nodes has a panel for each size. A heat map shows its values as texts.
#[test]
fn times_are_drawn_against_nodes_and_columns_as_heat() {
    let dir = tempdir().unwrap();
    let [rows, out] = ["rows.csv", "figure.svg"].map(|name| dir.path().join(name));
    let run = "run --quiet --topology torus:2x2 --topology torus:4x4 --topology torus:8x8 \
        --algorithm pex --algorithm bruck --workload uniform:64 --workload uniform:4KiB --out";
    swapmeet(&words(run)).arg(&rows).assert().success();
    let svg = drawn(&rows, &out, &["curves", "--x", "nodes"]);
    for (text, count) in [("nodes", 2), ("16", 2), ("64", 2), ("uniform:64", 1), ("bruck", 1)] {
        assert_eq!(svg.matches(&format!(">{text}<")).count(), count, "{text}: {svg}");
    }
    // Pairwise exchange among n nodes has n (n - 1) messages, whatever the size.
    let heat = ["heat", "--value", "messages", "--axes", "nodes,algorithm"];
    let svg = drawn(&rows, &out, &heat);
    for text in ["12", "240", "4032", "uniform:64", "uniform:4KiB"] {
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
    plot(&rows, &out, &["heat", "--axes", "nodes,nodes"]).code(2).stderr(predicate::str::contains(
        "expected two names such as block_bytes,topology or tokens,skew",
    ));
}

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

#[test]
fn the_map_of_winners_agrees_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("winners.svg"));
    plot(&rows, &out, &["winners", "--data", "--label", "pex=Pairwise"]).success().stderr("");
    let svg = std::fs::read_to_string(&out).unwrap();
    for text in ["uniform", "torus:8x8", "paragon", "own", "4 KiB", "block size", "not told apart"]
    {
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

const ONE_NETWORK: [&str; 4] = ["--machine", "own", "--topology", "torus:8x8"];

#[test]
fn bars_of_parts_agree_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("parts.csv"));
    let args = [&["parts"], &ONE_NETWORK[..]].concat();
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

/// The bars of the bytes that are sent, and of the bytes on all links except the first of each
/// route.
#[test]
fn bars_of_traffic_agree_with_the_rows() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("bars.csv"));
    let records: Vec<Record> = read_file(&rows).unwrap();
    let (_, bars) = table(&drawn(&rows, &out, &[&["traffic"], &ONE_NETWORK[..]].concat()));
    assert_eq!(bars.len(), 3 * 4);
    for bar in &bars {
        let row = row_of(&records, ["torus:8x8", "own", &bar[0], &bar[1]]);
        let pieces = [2, 3].map(|at: usize| bar[at].parse::<f64>().unwrap());
        let [once, all] = [row.total_bytes, row.total_hop_bytes].map(|n| n.unwrap() as f64);
        assert_eq!(pieces, [once, all - once], "{bar:?}");
    }
}

#[test]
fn each_kind_has_its_own_flags() {
    let curves =
        "--x=nodes --y=steps --log=x --baseline=pex --lower-bound --no-crossovers --share-y";
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    for (kind, own, others) in [
        (
            "curves",
            format!("{curves} --label=a=b --colour=a=#ffffff"),
            "--scales=free --value=steps --axes=nodes,seed".to_owned(),
        ),
        (
            "winners",
            "--label=a=b --colour=a=#ffffff --axes=nodes,seed".to_owned(),
            format!("{curves} --scales=free --value=steps"),
        ),
        (
            "parts",
            "--scales=free --label=a=b".to_owned(),
            format!("{curves} --colour=a=#ffffff --value=steps"),
        ),
        (
            "traffic",
            "--scales=free --label=a=b".to_owned(),
            format!("{curves} --colour=a=#ffffff --value=steps"),
        ),
        (
            "heat",
            "--value=steps --axes=nodes,seed".to_owned(),
            format!("{curves} --label=a=b --colour=a=#ffffff --scales=free"),
        ),
    ] {
        let [help, _] = texts_of(swapmeet(&["plot", kind, "--help"]).assert());
        let name = |flag: &str| flag.split('=').next().unwrap().to_owned();
        let has = |flag: &str| {
            help.lines().any(|line| line.split([' ', ',', '[']).any(|word| word == name(flag)))
        };
        assert!(help.contains("Examples:\n  swapmeet plot "), "{help}");
        for flag in words(&own) {
            assert!(has(flag), "{kind} {flag}: {help}");
        }
        for flag in words(&others) {
            assert!(!has(flag), "{kind} {flag}: {help}");
            let [refused, named] = [
                format!("unexpected argument '{}' found", name(flag)),
                format!("{} is a flag of `plot ", name(flag)),
            ];
            let both = predicate::str::contains(refused).and(predicate::str::contains(named));
            plot(&rows, &out, &[kind, flag]).code(2).stderr(both);
        }
    }
}

#[test]
fn command_lines_of_earlier_versions_draw_the_same_figures() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let with =
        |kind: &[&str], flags: &[&str]| drawn(&rows, &out, &[kind, &ONE_NETWORK, flags].concat());
    assert_eq!(with(&[], &[]), with(&["curves"], &[]));
    plot(&rows, &out, &["--value", "steps"])
        .code(2)
        .stderr(predicate::str::contains("tip: --value is a flag of `plot heat`\n"));
    for kind in ["curves", "winners", "parts", "traffic", "heat"] {
        let figure = with(&[kind], &[]);
        assert_eq!(with(&[], &["--kind", kind]), figure, "{kind}");
        assert_eq!(with(&[], &[&format!("--kind={kind}")]), figure, "{kind}");
    }
    for (kind, message) in [
        ("scaling", "`plot scaling` is now `plot curves --x nodes`"),
        ("faults", "`plot faults` is now `plot curves --x faults`"),
        ("steps", "`plot steps` has been removed: `swapmeet trace` prints the steps"),
        ("links", "`plot links` has been removed: `swapmeet links` prints the links as a table"),
        ("circles", "--kind circles: expected one of curves, winners, parts, traffic, heat"),
    ] {
        let message = predicate::str::contains(message);
        plot(&rows, &out, &["--kind", kind]).code(2).stderr(message.clone());
        if kind != "circles" {
            plot(&rows, &out, &[kind]).code(2).stderr(message);
        }
    }
    for inside in [&["--legend", "inside"][..], &["curves", "--legend=inside"]] {
        let message = "`--legend inside` has been removed: use bottom, top, right or none";
        plot(&rows, &out, inside).code(2).stderr(predicate::str::contains(message));
    }
    swapmeet(&["plot", "--out", out.to_str().unwrap(), "--force", "--", "--kind", "faults"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--kind: "));
}
