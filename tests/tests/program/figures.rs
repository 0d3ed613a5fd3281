//! `plot` and `report` make figures and pages from rows.

use crate::support::{swapmeet, texts_of, words};
use predicates::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use swapmeet_results::{Record, Status, command, read_file, read_records};
use tempfile::{TempDir, tempdir};

mod formats;
mod kinds;
mod report;
mod study;

fn rows_in(dir: &TempDir) -> PathBuf {
    let experiment = dir.path().join("mine.toml");
    std::fs::write(
        &experiment,
        "name = \"mine & yours\"\ntopologies = [\"torus:8x8\", \"rdn:1(hypercube:2)\"]\nalgorithms = [\"suh-shin\", \"pex\", \"bruck\"]\n\
         workloads = [\"uniform:1\", \"uniform:64\", \"uniform:4KiB\", \"uniform:64KiB\"]\nmachines = [\"paragon\", \"own\"]\n\n\
         [machine.own]\nbase = \"paragon\"\nstartup_us = 220.0\n",
    )
    .unwrap();
    let out = dir.path().join("rows.csv");
    swapmeet(&["run", "--quiet"]).arg(&experiment).arg("--out").arg(&out).assert().success();
    out
}

fn plot(rows: &Path, out: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let (kind, flags) =
        args.split_at(usize::from(args.first().is_some_and(|a| !a.starts_with('-'))));
    swapmeet(&[&["plot"], kind].concat())
        .args([rows.to_str().unwrap(), "--force", "--out", out.to_str().unwrap()])
        .args(flags)
        .assert()
}

fn drawn(rows: &Path, out: &Path, args: &[&str]) -> String {
    plot(rows, out, args).success();
    std::fs::read_to_string(out).unwrap()
}

fn row_of<'a>(
    rows: &'a [Record],
    [topology, machine, workload, algorithm]: [&str; 4],
) -> &'a Record {
    let is_case = |row: &&Record| {
        row.topology.starts_with(topology)
            && [&row.machine, &row.workload, &row.algorithm] == [machine, workload, algorithm]
    };
    rows.iter().find(is_case).unwrap()
}

fn table(text: &str) -> (Vec<String>, Vec<csv::StringRecord>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (columns, reader.records().map(Result::unwrap).collect())
}

#[test]
fn a_plot_has_curves_axes_and_crossovers() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let choice = ["--topology", "torus:8x8", "--machine", "paragon"];
    let [_, message] = texts_of(plot(&rows, &out, &choice));
    let svg = std::fs::read_to_string(&out).unwrap();
    for text in [
        "torus:8x8, uniform, paragon",
        "block size",
        "completion time",
        "bruck",
        "pex",
        "suh-shin",
        "64 KiB",
        "10 ms",
    ] {
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
    // The crossover that the message states is also drawn, as a ring with a letter that is
    // explained below the panel.
    let crossover = message.lines().next().unwrap();
    assert!(
        crossover.starts_with("suh-shin is fastest up to about ")
            && svg.contains(&format!(">{crossover}<")),
        "{message}"
    );
    assert!(svg.contains(">a<"), "{svg}");
}

/// The machine charges the schedule of Suh & Shin for rearrangements, but not that of Bruck.
#[test]
fn comparisons_mention_unequal_charges_for_rearrangement() {
    let dir = tempdir().unwrap();
    let rows = dir.path().join("rows.csv");
    let sizes = ["--workload", "uniform:64", "--workload", "uniform:256"];
    let machines = ["--machine", "paragon", "--machine", "paragon:rearrangement=declared"];
    let args = words("run --quiet --topology torus:8x8 --algorithm suh-shin --algorithm bruck");
    swapmeet(&args)
        .args(sizes)
        .args(machines)
        .args(["--out", rows.to_str().unwrap()])
        .assert()
        .success();
    let remark = "† paragon:rearrangement=declared charges the rearrangement that each algorithm declares, but `bruck` declares none although its messages consist of \
        several blocks; with rearrangement=packed, all are charged equally.";
    let [compared, _] = texts_of(swapmeet(&["compare", "--details"]).arg(&rows).assert());
    assert_eq!(
        compared.matches("declares none although").count(),
        1,
        "once, of one machine: {compared}"
    );
    assert!(compared.contains(&format!("note: {remark}\n")), "{compared}");
    let has_remark = |args: &[&str]| {
        let svg = drawn(&rows, &dir.path().join("figure.svg"), args);
        let texts: Vec<&str> =
            svg.split("</text>").filter_map(|text| text.rsplit('>').next()).collect();
        texts.join(" ").contains(&remark.replace('`', ""))
    };
    for kind in ["curves", "winners", "parts"] {
        assert!(has_remark(&[kind]), "{kind}");
    }
    assert!(!has_remark(&["--y", "steps"]));
    assert!(!has_remark(&["--machine", "paragon"]));
    let page = dir.path().join("page.html");
    swapmeet(&["report"]).arg(&rows).arg("--out").arg(&page).assert().success();
    assert!(
        text_of_html(&std::fs::read_to_string(page).unwrap()).contains(&remark.replace('`', ""))
    );
}

/// A machine on which `bruck` is the fastest for small blocks.
const DECLARED: &str = "paragon:rearrangement=declared";

#[test]
fn the_order_of_times_changes_at_a_crossover() {
    let dir = tempdir().unwrap();
    let rows = dir.path().join("rows.csv");
    let run = |sizes: &[String], out: &Path| {
        let args =
            words("run --quiet --topology torus:16x16 --algorithm suh-shin --algorithm bruck");
        let sizes = sizes.iter().flat_map(|s| ["--workload".to_owned(), format!("uniform:{s}")]);
        let mut command = swapmeet(&args);
        command.args(["--machine", DECLARED]).args(sizes).arg("--out").arg(out).assert().success();
    };
    run(&["64".to_owned(), "1024".to_owned()], &rows);
    let [_, message] = texts_of(plot(&rows, &dir.path().join("f.svg"), &[]));
    let bytes = message.trim().strip_prefix("bruck † is fastest up to about ").unwrap();
    let at: f64 = bytes.split(' ').next().unwrap().parse().unwrap();
    let sides = [format!("{}", at.floor() as u64 - 1), format!("{}", at.ceil() as u64 + 1)];
    let near = dir.path().join("near.csv");
    run(&sides, &near);
    let rows = read_file(&near).unwrap();
    let time = |algorithm: &str, size: &str| {
        let case = ["torus", DECLARED, &format!("uniform:{size}"), algorithm];
        row_of(&rows, case).time_us.unwrap()
    };
    assert!(time("bruck", &sides[0]) < time("suh-shin", &sides[0]), "{message}");
    assert!(time("bruck", &sides[1]) > time("suh-shin", &sides[1]), "{message}");
}

/// The optimum on a mesh is the time in which the data crosses the bisection (Suh & Shin, 1998,
/// 3.1.4), plus one start-up. `linear` uses the whole bandwidth of the bisection.
#[test]
fn plots_and_comparisons_show_the_ratio_to_the_optimum() {
    let dir = tempdir().unwrap();
    let [rows, out] = ["optimum.csv", "figure.csv"].map(|name| dir.path().join(name));
    let run = "run --quiet --topology mesh:4x4 --algorithm linear --algorithm pairwise \
        --workload uniform:64 --workload uniform:64KiB --machine free:byte_us=1,ports=all \
        --optimum --out";
    swapmeet(&words(run)).arg(&rows).assert().success();
    let text = drawn(&rows, &out, &["--y", "optimum"]);
    let of_linear: Vec<f64> = text
        .lines()
        .filter(|line| line.contains("linear"))
        .flat_map(|line| line.split(',').filter_map(|field| field.parse().ok()))
        .filter(|value| *value < 2.0)
        .collect();
    assert!(of_linear.len() >= 2, "{text}");
    assert!(of_linear.iter().all(|ratio| (1.0..1.02).contains(ratio)), "{text}");
    let [message, _] = texts_of(swapmeet(&["compare", "--details"]).arg(&rows).assert());
    assert!(message.contains("`linear` reaches the optimum; `pairwise` takes "), "{message}");
    let plain = rows_in(&dir);
    plot(&plain, &dir.path().join("figure.svg"), &["--y", "optimum"]).code(2).stderr(predicate::str::contains(
        "no row has values of block size (x axis) and completion time over the optimum (y axis): `run --optimum` makes rows that have it",
    ));
}

#[test]
fn crossovers_do_not_depend_on_the_plotted_column() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let output_of = |args: &[&str]| {
        let args = [&["--topology", "torus:8x8", "--machine", "paragon"], args].concat();
        let [_, message] = texts_of(plot(&rows, &out, &args));
        let lines = message.lines().filter(|line| line.contains(" is fastest up to "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let crossovers = output_of(&[]);
    assert!(!crossovers.is_empty());
    for y in words("ratio bound contention steps messages link-messages node-bytes algbw busbw") {
        assert_eq!(output_of(&["--y", y]), crossovers, "{y}");
    }
    for args in ["--log none", "--log x", "--log both", "--baseline pex", "--baseline bruck"] {
        assert_eq!(
            output_of(&[&["--y", "ratio"], &words(args)[..]].concat()),
            crossovers,
            "{args}"
        );
    }
}

#[test]
fn irregular_sizes_have_error_bars_and_ratios_a_baseline() {
    let dir = tempdir().unwrap();
    let (rows, out) = (dir.path().join("rows.csv"), dir.path().join("figure.svg"));
    let sizes = ["0.5", "1", "2"].map(|cv| format!("irregular:dist=lognormal,mean=1KiB,cv={cv}"));
    swapmeet(&words("run --quiet --topology torus:4x4 --algorithm gen --algorithm bruck"))
        .args(["--machine", DECLARED])
        .args(sizes.iter().flat_map(|s| ["--workload", s]))
        .args(["--repetitions", "5", "--out", rows.to_str().unwrap()])
        .assert()
        .success();
    let svg = |args: &[&str]| drawn(&rows, &out, &[&["--x", "cv"], args].concat());
    let spreads = |svg: &str| svg.matches("<title>").count() - svg.matches(r" (95 %: ").count();
    assert_eq!(spreads(&svg(&[])), 0, "every time varies");
    let ratios = svg(&["--y", "ratio", "--baseline", "gen"]);
    assert_eq!(spreads(&ratios), 3, "the baseline's own ratio has no spread");
    assert!(ratios.contains(">completion time over that of gen<"), "{ratios}");
    assert_eq!(spreads(&svg(&["--y", "steps"])), 6, "nor have steps");
}

#[test]
fn rows_that_cannot_be_plotted_are_reported() {
    let dir = tempdir().unwrap();
    let rows = rows_in(&dir);
    let refused = |out: &str, args: &[&str], message: &str| {
        plot(&rows, &dir.path().join(out), args)
            .code(2)
            .stdout("")
            .stderr(predicate::str::contains(message));
    };
    for (out, args, message) in [
        (
            "figure.gif",
            "",
            "expected a name that ends in .svg, .png, .pdf, .tex or .csv, or --format",
        ),
        ("f.svg", "--width 84", "expected a length above 0 such as 84mm"),
        ("f.svg", "--width 1mm", "the width must be 16 to 400 times the font size"),
        (
            "f.svg",
            "--label nobody=x",
            "--label nobody: no algorithm has that name; there are bruck, pex, suh-shin",
        ),
        ("f.svg", "--label pex", "expected ALGORITHM=TEXT"),
        ("f.svg", "--colour pex=blue", "expected a colour such as #0072b2"),
        (
            "f.svg",
            "--colour nobody=#000000",
            "--colour nobody: no algorithm has that name; there are bruck, pex, suh-shin",
        ),
        ("f.svg", "--scales free", "unexpected argument '--scales' found"),
        (
            "f.svg",
            "--y ratio --lower-bound",
            "a lower bound can only be shown with completion times",
        ),
        (
            "f.svg",
            "--algorithm gen",
            "--algorithm gen: no row has this value, expected one of bruck, pex, suh-shin",
        ),
        ("f.svg", "--baseline gen", "baseline `gen`"),
        ("f.svg", "--x cv", "no row has values of coefficient of variation"),
        ("f.svg", "parts", "a figure has room for 12: choose among their "),
        ("f.svg", "winners --y ratio", "unexpected argument '--y' found"),
        ("f.tex", "winners", "pgfplots draws curves: for another kind use svg, png, pdf or csv"),
        (
            "f.svg",
            "winners --label nobody=x",
            "no algorithm has that name; there are bruck, pex, suh-shin",
        ),
    ] {
        refused(out, &words(args), message);
    }
    let one = words("winners --workload uniform:64 --topology torus:8x8 --machine own");
    refused("f.svg", &one, "a map needs rows of two block sizes, or of two networks or machines");
    plot(&rows, &dir.path().join("f.svg"), &["--y", "contention", "--machine", "paragon"])
        .success()
        .stderr(predicate::str::contains("not shown: "));
}

#[test]
fn every_row_can_be_reproduced_from_its_columns() {
    let dir = tempdir().unwrap();
    let rows = read_file(&rows_in(&dir)).unwrap();
    let results = |r: &Record| {
        let r = r.clone();
        let (machine, machine_definition, note) = (String::new(), String::new(), String::new());
        Record {
            experiment: String::new(),
            machine,
            machine_definition,
            note,
            plan_ms: None,
            wall_ms: None,
            repetition: 0,
            ..r
        }
    };
    assert!(
        rows.iter().any(|r| r.status == Status::Unsupported)
            && rows.iter().any(|r| r.machine == "own")
    );
    for row in rows.iter().step_by(5) {
        let line = command(&row.case());
        let output = Command::new("sh")
            .args(["-c", &format!("set -- {}; shift; printf '%s\\n' \"$@\"", line)])
            .output()
            .unwrap();
        let words: Vec<String> =
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = swapmeet(&words).output().unwrap();
        let again = read_records("again", &String::from_utf8(output.stdout).unwrap()).unwrap();
        assert_eq!(results(&again[0]), results(row), "{line}");
    }
}

fn text_of_html(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
    }
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, c)| text.replace(entity, c))
}
