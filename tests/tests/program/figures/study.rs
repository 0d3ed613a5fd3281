//! A study of mixtures of experts over tokens and skew, whose cases have the same block size.

use super::{drawn, text_of_html};
use crate::support::{swapmeet, texts_of, words};
use predicates::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use swapmeet_tests::project;
use tempfile::{TempDir, tempdir};

fn rows(dir: &TempDir) -> PathBuf {
    static ROWS: LazyLock<String> = LazyLock::new(|| {
        let dir = tempdir().unwrap();
        let out = dir.path().join("rows.csv");
        let experiment = project("tests/fixtures/moe-study.toml");
        swapmeet(&["run", "--quiet"]).arg(experiment).arg("--out").arg(&out).assert().success();
        std::fs::read_to_string(out).unwrap()
    });
    let out = dir.path().join("rows.csv");
    std::fs::write(&out, ROWS.as_str()).unwrap();
    out
}

fn texts(svg: &str) -> Vec<(f64, String)> {
    let text = |rest: &str| {
        let x = rest.split('"').nth(1)?.parse().ok()?;
        Some((x, rest.split_once('>')?.1.split("</text>").next()?.to_owned()))
    };
    svg.split("<text x=").skip(1).filter_map(|rest| text(&format!("x={rest}"))).collect()
}

fn rings(svg: &str) -> Vec<f64> {
    let rings = svg.split("<circle ").filter(|circle| circle.contains("fill=\"none\""));
    rings.filter_map(|ring| ring.split("cx=\"").nth(1)?.split('"').next()?.parse().ok()).collect()
}

/// Returns the colour of the last line that the figure draws before the name in the legend.
fn colour(svg: &str, name: &str) -> String {
    let (before, _) = svg.rsplit_once(&format!(">{name}</text>")).unwrap();
    before.rsplit_once("<polyline").unwrap().1.split("stroke=\"").nth(1).unwrap()[..7].to_owned()
}

fn plotted(rows: &Path, flags: &str) -> (String, String) {
    let out = rows.with_extension("svg");
    let (kind, flags): (Vec<&str>, Vec<&str>) =
        words(flags).into_iter().partition(|word| ["winners", "heat", "curves"].contains(word));
    let plot = swapmeet(&[&["plot"], &kind[..]].concat())
        .arg(rows)
        .args(["--force", "--out", out.to_str().unwrap()])
        .args(flags)
        .assert()
        .success();
    let [_, message] = texts_of(plot);
    (std::fs::read_to_string(out).unwrap(), message)
}

/// The default axis is the number with the most values. Every panel has at least three labels on
/// it.
#[test]
fn curves_over_tokens_have_an_axis_and_crossovers() {
    let dir = tempdir().unwrap();
    let rows = rows(&dir);
    let (svg, message) = plotted(&rows, "curves --width 84mm --font 10pt");
    assert_eq!(plotted(&rows, "--x tokens --width 84mm --font 10pt").0, svg);
    let texts = texts(&svg);
    let at = |words: &str| -> Vec<f64> {
        texts.iter().filter(|(_, text)| text == words).map(|(x, _)| *x).collect()
    };
    // There is a panel for each network and skew. The title of the figure has the settings that all
    // panels share, and the title of a panel has its own settings.
    for skew in ["skew=0", "skew=1"] {
        assert_eq!(at(&format!("torus:4x4x2, {skew}")).len(), 1, "{texts:?}");
        assert_eq!(at(&format!("dragonfly:4x4x2, {skew}")).len(), 1, "{texts:?}");
    }
    assert_eq!(texts.iter().filter(|(_, text)| text.contains("experts=32")).count(), 1);
    assert!(texts.iter().all(|(_, text)| !text.ends_with('=')), "a key without its value");
    assert_eq!(at("tokens").len(), 4, "{texts:?}");
    let ticks = ["1", "8", "64"].map(at);
    assert!(ticks.iter().all(|ticks| ticks.len() == 4), "{ticks:?}");
    // A ring that marks a crossover is at the position that the text states. Both axes of this page
    // are logarithmic.
    let crossovers: Vec<(String, f64)> = message
        .lines()
        .filter_map(|line| {
            let (panel, rest) = line.split_once(": ")?;
            let value = rest.split_once(" is fastest up to about tokens=")?.1;
            let value = value.split([' ', ',']).next()?.parse().ok()?;
            Some((panel.to_owned(), value))
        })
        .collect();
    assert!(!crossovers.is_empty(), "{message}");
    let rings = rings(&svg);
    assert_eq!(rings.len(), crossovers.len(), "{message}");
    for (ring, (panel, value)) in rings.iter().zip(&crossovers) {
        let (left, right) = (ticks[0][0], ticks[2][0]);
        let expected = left + (right - left) * (value.ln() / 64_f64.ln());
        assert!((ring - expected).abs() < 2.0, "{panel}: {value} at {ring}, not {expected}");
    }
}

#[test]
fn numbers_of_other_specs_are_axes() {
    let dir = tempdir().unwrap();
    let rows = rows(&dir);
    let (svg, _) = plotted(&rows, "curves --x skew --topology torus:4x4x2");
    assert_eq!(texts(&svg).iter().filter(|(_, text)| text == "skew").count(), 3);
    let (svg, _) = plotted(&rows, "winners --axes tokens,skew");
    assert!(svg.contains(">skew<") && svg.contains(">tokens<"), "{svg}");
    // The map of each network has a row for skew 1, and one for skew 0, the default, which no spec
    // states.
    let rows_of_skew = |value: &str| texts(&svg).iter().filter(|(_, text)| text == value).count();
    assert_eq!((rows_of_skew("0"), rows_of_skew("1")), (2, 4), "1 is also a number of tokens");
    // The title of the figure has what both maps share. It leaves out the model, which follows from
    // the machine.
    let common = "moe:experts=32,top=4,bytes=2KiB, slingshot-11:startup_us=2";
    for title in [common, "torus:4x4x2", "dragonfly:4x4x2"] {
        assert_eq!(texts(&svg).iter().filter(|(_, text)| text == title).count(), 1, "{title}");
    }
    // A cell is white with a border if the fastest algorithm cannot be told apart from others.
    let data = rows.with_extension("cells.csv");
    drawn(&rows, &data, &["winners", "--axes", "tokens,skew"]);
    let mut cells = csv::Reader::from_path(data).unwrap();
    let undecided = cells.records().filter(|cell| !cell.as_ref().unwrap()[7].is_empty()).count();
    let border = |shape: &&str| shape.split('>').next().unwrap().contains("fill=\"none\"");
    let borders = svg.split("<polygon ").skip(1).filter(border).count();
    assert!(undecided > 2 && borders == undecided, "{undecided} cells, {borders} borders");
    let (own, _) = plotted(&rows, "winners");
    assert_eq!(own, svg, "the map of a study of tokens and skew is over these");
    let (svg, _) = plotted(&rows, "heat --axes tokens,algorithm --topology torus:4x4x2");
    assert!(svg.contains(">tokens<") && svg.contains(">completion time, "), "{svg}");
    let is_value = |text: &str| {
        let digits = text.chars().filter(char::is_ascii_digit).collect::<String>();
        text.parse::<f64>().is_ok() && digits.trim_start_matches('0').len() == 3
    };
    let values = texts(&svg).iter().filter(|(_, text)| is_value(text)).count();
    assert!(values >= 2 * 3 * 6, "{values} values: {:?}", texts(&svg));
    // At the width of a column of a journal, either all cells have room for their values, or no
    // cell shows its value.
    let (narrow, _) = plotted(&rows, "heat --axes workload,algorithm --width 84mm --font 10pt");
    let shown = texts(&narrow).iter().filter(|(_, text)| is_value(text)).count();
    assert!(shown <= 5, "the legend has five values: {:?}", texts(&narrow));
    let (svg, message) = plotted(&rows, "curves --x window --topology torus:4x4x2");
    assert!(svg.contains(">window<") && svg.contains(">linear-sync<"), "{svg}");
    assert_eq!(message.trim(), "not shown: 24 cases without window");
    let (svg, _) = plotted(&rows, "curves --x startup_us --topology torus:4x4x2");
    assert_eq!(texts(&svg).iter().filter(|(_, text)| text == "2 µs").count(), 6);
    let (svg, _) = plotted(&rows, "heat --axes workload,algorithm --topology torus:4x4x2");
    let labels = texts(&svg);
    assert!(labels.iter().any(|(_, text)| text == "tokens=8,skew=1"), "{labels:?}");
    assert_eq!(labels.iter().filter(|(_, text)| text.contains("experts=32")).count(), 1);
    for (flags, message) in [
        ("curves --x tokns", "did you mean `tokens`?"),
        ("heat --axes tokns,skew", "did you mean `tokens`?"),
        ("winners --axes tokens,nothing", "no spec of these rows has a number `nothing`"),
    ] {
        let flags = words(flags);
        let out = dir.path().join("figure.svg");
        let mut plot = swapmeet(&["plot", flags[0]]);
        plot.arg(&rows).args(&flags[1..]).arg("--out").arg(&out);
        plot.assert().code(2).stderr(predicate::str::contains(message));
    }
}

#[test]
fn colours_are_the_same_in_two_calls() {
    let dir = tempdir().unwrap();
    let rows = rows(&dir);
    let (all, _) = plotted(&rows, "curves --topology torus:4x4x2");
    let other = dir.path().join("other.csv");
    let text = std::fs::read_to_string(&rows).unwrap();
    let kept = text.lines().filter(|line| !line.contains(",linear,") && !line.contains(",tuna,"));
    std::fs::write(&other, kept.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let some = drawn(&other, &dir.path().join("some.svg"), &["curves"]);
    for name in ["pairwise", "two-phase-bruck"] {
        assert_eq!(colour(&all, name), colour(&some, name), "{name}");
    }
    assert_ne!(colour(&all, "pairwise"), colour(&all, "linear"));
}

#[test]
fn the_summary_fits_on_a_screen_and_the_table_has_all_tokens() {
    let dir = tempdir().unwrap();
    let rows = rows(&dir);
    let compare = |flags: &str| {
        let [text, _] = texts_of(swapmeet(&["compare"]).arg(&rows).args(words(flags)).assert());
        text
    };
    let summary = compare("");
    assert!(summary.lines().count() <= 40, "{summary}");
    assert!(summary.lines().all(|line| line.chars().count() <= 100), "{summary}");
    assert_eq!(summary.lines().filter(|line| line.contains("tokens=")).count(), 12, "{summary}");
    // Names are only broken after punctuation.
    let names = ["linear", "tuna", "two-phase-bruck", "linear-sync:window=16", "linear-sync:"];
    let is_whole = |word: &&str| names.contains(word) || word.starts_with("window=");
    let of_names =
        |word: &&str| ["linear", "tuna", "two"].iter().any(|start| word.starts_with(start));
    let cut: Vec<&str> =
        summary.split_whitespace().filter(of_names).filter(|word| !is_whole(word)).collect();
    assert!(summary.contains("two-phase-bruck") && cut.is_empty(), "{cut:?}: {summary}");
    assert!(compare("--details").lines().count() > 80);
    let pivot = compare("--pivot --format latex");
    assert_eq!(pivot, compare("--pivot tokens --format latex"));
    let [first, _] = texts_of(swapmeet(&["compare", "--pivot"]).arg(&rows).assert().success());
    assert_eq!(first, compare("--pivot"));
    assert_eq!(pivot.matches("\\begin{tabular}{lrrr}").count(), 4, "{pivot}");
    for part in
        ["\\caption{Completion time", "torus:4x4x2", "slingshot-11:startup\\_us=2", "\\textbf{"]
    {
        assert!(pivot.contains(part), "{part}: {pivot}");
    }
    let csv = compare("--pivot tokens --format csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let first = reader.records().next().unwrap().unwrap();
    let times: Vec<f64> = swapmeet_results::read_file(&rows)
        .unwrap()
        .iter()
        .filter(|row| row.topology == first[0] && row.algorithm == first[5])
        .filter(|row| row.workload == "moe:experts=32,top=4,tokens=1,bytes=2KiB")
        .filter_map(|row| row.time_us)
        .collect();
    assert_eq!(times.len(), 4);
    let mean = times.iter().sum::<f64>() / 4.0;
    assert!((first[6].parse::<f64>().unwrap() / mean - 1.0).abs() < 1e-9, "{csv}");
    let by = compare("--by tokens --baseline 1 --format csv");
    let mut reader = csv::Reader::from_reader(by.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let line = reader.records().next().unwrap().unwrap();
    let field = |name: &str| &line[columns.iter().position(|column| column == name).unwrap()];
    assert_eq!(
        (field("workload"), field("tokens")),
        ("moe:experts=32,top=4,bytes=2KiB", "1"),
        "{by}"
    );
    // If an algorithm does not have the parameter, it is not compared by it. There are 12 cases of
    // four such algorithms.
    let by = compare("--by window");
    assert!(by.contains("note: not compared: 48 cases without window"), "{by}");
    assert_eq!(by.lines().filter(|line| line.contains("tokens=")).count(), 12, "{by}");
    let refused = swapmeet(&["compare", "--by", "windw"]).arg(&rows).assert().code(2);
    refused.stderr(predicate::str::contains("did you mean `window`?"));
}

#[test]
fn the_report_has_curves_and_a_map() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows(&dir), dir.path().join("report.html"));
    swapmeet(&["report"]).arg(&rows).arg("--out").arg(&out).assert().success();
    let page = std::fs::read_to_string(out).unwrap();
    let text = text_of_html(&page);
    for caption in
        ["Fastest algorithms.", "Completion time against tokens:", "Completion time against skew:"]
    {
        assert!(text.contains(caption), "{caption}: {text}");
    }
    assert!(!text.contains("against block size"), "{text}");
    assert!(text.contains("moe:experts=32,top=4,bytes=2KiB,skew=1, tokens="), "{text}");
}
