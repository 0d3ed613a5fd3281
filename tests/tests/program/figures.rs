//! `plot` and `report`: figures and pages that are made from rows.

use crate::support::swapmeet;
use crate::support::tools::has;
use predicates::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use swapmeet_results::{Record, Status, command, read_file, read_records};
use tempfile::{TempDir, tempdir};

mod report;

/// Writes rows of three algorithms over block sizes on two machines, one of which the experiment
/// defines.
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
    swapmeet(&["run", experiment.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()])
        .assert()
        .success();
    out
}

fn plot(rows: &Path, out: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    swapmeet(&["plot", rows.to_str().unwrap(), "--force", "--out", out.to_str().unwrap()])
        .args(args)
        .assert()
}

#[test]
fn a_plot_has_curves_axes_and_crossovers() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let said = plot(&rows, &out, &["--topology", "torus:8x8", "--machine", "paragon"]).success();
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
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
    // The crossover that is printed is also drawn: as a ring with a letter, which is explained
    // below the panel.
    let crossover = said.lines().next().unwrap();
    assert!(
        crossover.starts_with("suh-shin is fastest up to about ")
            && svg.contains(&format!(">{crossover}<")),
        "{said}"
    );
    assert!(svg.contains(">a<"), "{svg}");
}

/// The machine of the paper charges Suh & Shin's schedule for rearrangements, but not Bruck's. All
/// comparisons of the two must mention this.
#[test]
fn comparisons_mention_unequal_charges_for_rearrangement() {
    let dir = tempdir().unwrap();
    let rows = dir.path().join("rows.csv");
    let sizes = ["--workload", "uniform:64", "--workload", "uniform:256"];
    let machines = ["--machine", "paragon", "--machine", "paragon:rearrangement=packed"];
    let args = [
        "run",
        "--quiet",
        "--topology",
        "torus:8x8",
        "--algorithm",
        "suh-shin",
        "--algorithm",
        "bruck",
    ];
    swapmeet(&args)
        .args(sizes)
        .args(machines)
        .args(["--out", rows.to_str().unwrap()])
        .assert()
        .success();
    let remark = "paragon charges the rearrangement that each algorithm declares, but `bruck` declares none although its messages consist of \
        several blocks; with rearrangement=packed, all are charged equally.";
    let compared = swapmeet(&["compare", rows.to_str().unwrap()])
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let compared = String::from_utf8(compared).unwrap();
    assert_eq!(
        compared.matches("declares none although").count(),
        1,
        "once, of one machine: {compared}"
    );
    assert!(compared.contains(&format!("note: {remark}\n")), "{compared}");
    // In a plot, the text may be broken into several lines, at spaces.
    let drawn = |args: &[&str]| {
        let out = dir.path().join("figure.svg");
        plot(&rows, &out, args).success();
        let svg = std::fs::read_to_string(&out).unwrap();
        let texts: Vec<&str> =
            svg.split("</text>").filter_map(|text| text.rsplit('>').next()).collect();
        texts.join(" ").contains(&remark.replace('`', ""))
    };
    assert!(drawn(&[]) && drawn(&["--kind", "winners"]) && drawn(&["--kind", "parts"]));
    assert!(!drawn(&["--y", "steps"]) && !drawn(&["--machine", "paragon:rearrangement=packed"]));
    let page = dir.path().join("page.html");
    swapmeet(&["report", rows.to_str().unwrap(), "--out", page.to_str().unwrap()])
        .assert()
        .success();
    assert!(
        text_of_html(&std::fs::read_to_string(page).unwrap()).contains(&remark.replace('`', ""))
    );
}

/// The order of the two times before a crossover is opposite to the order after it.
#[test]
fn the_order_of_times_changes_at_a_crossover() {
    let dir = tempdir().unwrap();
    let rows = dir.path().join("rows.csv");
    let run = |sizes: &[String], out: &Path| {
        let args = [
            "run",
            "--quiet",
            "--topology",
            "torus:16x16",
            "--algorithm",
            "suh-shin",
            "--algorithm",
            "bruck",
        ];
        let sizes = sizes.iter().flat_map(|s| ["--workload".to_owned(), format!("uniform:{s}")]);
        swapmeet(&args).args(sizes).args(["--out", out.to_str().unwrap()]).assert().success();
    };
    run(&["64".to_owned(), "1024".to_owned()], &rows);
    let said = plot(&rows, &dir.path().join("f.svg"), &[]).success().get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    let at: f64 = said
        .trim()
        .trim_start_matches("bruck is fastest up to about ")
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let sides = [format!("{}", at.floor() as u64 - 1), format!("{}", at.ceil() as u64 + 1)];
    let near = dir.path().join("near.csv");
    run(&sides, &near);
    let rows = read_file(&near).unwrap();
    let time = |algorithm: &str, size: &str| {
        let is = |r: &&Record| r.algorithm == algorithm && r.workload == format!("uniform:{size}");
        rows.iter().find(is).unwrap().time_us.unwrap()
    };
    assert!(time("bruck", &sides[0]) < time("suh-shin", &sides[0]), "{said}");
    assert!(time("bruck", &sides[1]) > time("suh-shin", &sides[1]), "{said}");
}

/// The optimum on a mesh is the time in which the data crosses the bisection (Suh & Shin, 1998,
/// 3.1.4), plus one start-up. `linear` uses the whole bandwidth of the bisection, so its ratio is
/// close to 1.
#[test]
fn plots_and_comparisons_show_the_ratio_to_the_optimum() {
    let dir = tempdir().unwrap();
    let [rows, out] = ["optimum.csv", "figure.csv"].map(|name| dir.path().join(name));
    let run = "run --quiet --topology mesh:4x4 --algorithm linear --algorithm pairwise \
        --workload uniform:64 --workload uniform:64KiB --machine free:byte_us=1,ports=all \
        --optimum --out";
    let run: Vec<&str> = run.split_whitespace().chain(rows.to_str()).collect();
    swapmeet(&run).assert().success();
    plot(&rows, &out, &["--y", "optimum"]).success();
    let text = std::fs::read_to_string(&out).unwrap();
    let of_linear: Vec<f64> = text
        .lines()
        .filter(|line| line.contains("linear"))
        .flat_map(|line| line.split(',').filter_map(|field| field.parse().ok()))
        .filter(|value| *value < 2.0)
        .collect();
    assert!(of_linear.len() >= 2, "{text}");
    assert!(of_linear.iter().all(|ratio| (1.0..1.02).contains(ratio)), "{text}");
    let said = swapmeet(&["compare", rows.to_str().unwrap()]).assert().success();
    let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
    assert!(said.contains("`linear` reaches the optimum; `pairwise` takes "), "{said}");
    let plain = rows_in(&dir);
    plot(&plain, &dir.path().join("figure.svg"), &["--y", "optimum"]).code(2).stderr(predicate::str::contains(
        "no row has values of block size (x axis) and completion time over the optimum (y axis): `run --optimum` makes rows that have it",
    ));
}

/// Crossovers are computed from times, independent of the plotted column.
#[test]
fn crossovers_do_not_depend_on_the_plotted_column() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let said = |args: &[&str]| {
        let args = [&["--topology", "torus:8x8", "--machine", "paragon"], args].concat();
        let said =
            String::from_utf8(plot(&rows, &out, &args).success().get_output().stderr.clone())
                .unwrap();
        said.lines()
            .filter(|line| line.contains(" is fastest up to "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let crossovers = said(&[]);
    assert!(!crossovers.is_empty());
    for y in [
        "ratio",
        "bound",
        "contention",
        "steps",
        "messages",
        "link-messages",
        "node-bytes",
        "algbw",
        "busbw",
    ] {
        assert_eq!(said(&["--y", y]), crossovers, "{y}");
    }
    for args in [
        ["--log", "none"],
        ["--log", "x"],
        ["--log", "both"],
        ["--baseline", "pex"],
        ["--baseline", "bruck"],
    ] {
        assert_eq!(said(&[&["--y", "ratio"], &args[..]].concat()), crossovers, "{args:?}");
    }
}

#[test]
fn a_pdf_has_one_page_of_the_requested_size() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.pdf"));
    plot(&rows, &out, &["--machine", "paragon"]).success();
    let pdf = std::fs::read(&out).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-") && text.trim_end().ends_with("%%EOF"));
    // Two panels: 1040 pixels of 1/96 inch are 780 points of 1/72 inch.
    assert!(text.contains("/Count 1") && text.contains("/MediaBox [0 0 780 "), "{}", &text[..300]);
}

#[test]
fn a_png_has_the_requested_size() {
    let dir = tempdir().unwrap();
    let rows = rows_in(&dir);
    let size = |scale: &str| {
        let out = dir.path().join(format!("figure{scale}.png"));
        plot(&rows, &out, &["--scale", scale, "--machine", "paragon"]).success();
        let png = std::fs::read(&out).unwrap();
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        u32::from_be_bytes(png[16..20].try_into().unwrap())
    };
    assert!(size("1") > 600);
    assert_eq!(size("2"), 2 * size("1"));
}

#[test]
fn irregular_sizes_have_error_bars_and_ratios_a_baseline() {
    let dir = tempdir().unwrap();
    let (rows, out) = (dir.path().join("rows.csv"), dir.path().join("figure.svg"));
    let sizes = ["0.5", "1", "2"].map(|cv| format!("irregular:dist=lognormal,mean=1KiB,cv={cv}"));
    swapmeet(&[
        "run",
        "--quiet",
        "--topology",
        "torus:4x4",
        "--algorithm",
        "gen",
        "--algorithm",
        "bruck",
    ])
    .args(sizes.iter().flat_map(|s| ["--workload", s]))
    .args(["--repetitions", "5", "--out", rows.to_str().unwrap()])
    .assert()
    .success();
    let svg = |args: &[&str]| {
        plot(&rows, &out, &[&["--x", "cv"], args].concat()).success();
        std::fs::read_to_string(&out).unwrap()
    };
    // A point whose repetitions differ has a tooltip and an error bar.
    let spreads = |svg: &str| svg.matches("<title>").count() - svg.matches(r" (95 %: ").count();
    assert_eq!(spreads(&svg(&[])), 0, "every time varies");
    let ratios = svg(&["--y", "ratio", "--baseline", "gen"]);
    assert_eq!(spreads(&ratios), 3, "the baseline's own ratio has no spread");
    assert!(ratios.contains(">completion time over that of gen<"), "{ratios}");
    assert_eq!(spreads(&svg(&["--y", "steps"])), 6, "nor have steps");
}

/// The options of a plot for print are the width of a column, the font size, labels in the given
/// order, and the lower bound.
#[test]
fn a_plot_for_print_has_width_font_labels_and_bound() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let choice = ["--topology", "torus:8x8", "--machine", "paragon", "--lower-bound", "--data"];
    let labels = ["--label", "suh-shin=Suh & Shin", "--label", "pex=Pairwise"];
    let paper = ["--width", "84mm", "--font", "8pt"];
    let said = plot(&rows, &out, &[&choice[..], &labels, &paper].concat()).success();
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.starts_with("Suh & Shin is fastest up to about "), "{said}");
    let svg = std::fs::read_to_string(&out).unwrap();
    assert!(svg.contains(" width=\"84mm\" ") && svg.contains(" viewBox=\"0 0 317.48 "), "{svg}");
    assert!(svg.contains(" font-size=\"10.67\""), "8 points are 10.67 pixels: {svg}");
    let places = [">Suh &amp; Shin<", ">Pairwise<", ">bruck<", ">lower bound<"]
        .map(|name| svg.find(name).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    let data = std::fs::read_to_string(dir.path().join("figure.csv")).unwrap();
    assert!(
        data.starts_with("panel,curve,block size,completion time,low,high\n,bruck,1,"),
        "{data}"
    );
    // No time is below the bound.
    let time = |name: &str, size: &str| -> f64 {
        let row = data.lines().find(|line| line.starts_with(&format!(",{name},{size},"))).unwrap();
        row.split(',').nth(3).unwrap().parse().unwrap()
    };
    for size in ["1", "64", "4096", "65536"] {
        assert!(
            ["bruck", "Pairwise", "Suh & Shin"]
                .iter()
                .all(|name| time(name, size) >= time("lower bound", size))
        );
    }
    let tex = dir.path().join("figure.tex");
    plot(&rows, &tex, &["--machine", "paragon", "--baseline", "pex", "--y", "ratio"]).success();
    let tex = std::fs::read_to_string(&tex).unwrap();
    assert_eq!(tex.matches("\\nextgroupplot").count(), 2, "a panel a topology: {tex}");
    assert_eq!(
        (tex.matches('{').count(), tex.matches("\\begin{").count()),
        (tex.matches('}').count(), tex.matches("\\end{").count())
    );
}

/// Options for the appearance of a figure. An algorithm keeps its style if others are not shown.
#[test]
fn a_plot_has_the_requested_appearance() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let svg = |args: &[&str]| {
        plot(&rows, &out, args).success();
        std::fs::read_to_string(&out).unwrap()
    };
    let torus = ["--topology", "torus:8x8", "--machine", "paragon"];
    let plain = svg(&torus);
    let bare = svg(&[&torus[..], &["--no-crossovers", "--legend", "none"]].concat());
    for text in [">a<", " is fastest up to about ", ">bruck<"] {
        assert!(plain.contains(text) && !bare.contains(text), "{text}");
    }
    let coloured = svg(&[&torus[..], &["--colour", "pex=#12ab9f"]].concat());
    assert!(coloured.contains("#12ab9f") && !plain.contains("#12ab9f"));
    let colours = |svg: &str| -> Vec<String> {
        svg.split("stroke=\"#").skip(1).map(|rest| rest[..6].to_owned()).collect()
    };
    let alone = svg(&[&torus[..], &["--algorithm", "pex"]].concat());
    let pex = colours(&alone).into_iter().find(|colour| *colour != "e4e4e4" && *colour != "888888");
    assert!(colours(&plain).contains(&pex.unwrap()), "the colour of a single algorithm");
    // The y axes of both machines end at the same label.
    let both =
        ["--topology", "torus:8x8", "--workload", "uniform:1", "--workload", "uniform:64KiB"];
    let shared = svg(&[&both[..], &["--share-y"]].concat());
    let labels = |svg: &str, text: &str| svg.matches(&format!(">{text}<")).count();
    assert_eq!(labels(&shared, "10 ms"), 2, "{shared}");
    let bars = ["--kind", "parts", "--machine", "own", "--topology", "torus:8x8"];
    let (one, each) = (svg(&bars), svg(&[&bars[..], &["--scales", "free"]].concat()));
    assert_eq!((labels(&one, "completion time"), labels(&each, "completion time")), (1, 4));
}

/// Figures and tables for LaTeX are compiled, if LaTeX is installed. The width of the page is that
/// of a journal's two columns.
#[test]
fn figures_and_tables_compile_in_latex() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.tex"));
    let experts = dir.path().join("experts.csv");
    let run = "run --quiet --topology torus:4x4 --algorithm pex --algorithm bruck \
        --workload moe:experts=16,top=2,tokens=64,bytes=4096 --repetitions 3 --out";
    let run: Vec<&str> = run.split_whitespace().chain(experts.to_str()).collect();
    swapmeet(&run).assert().success();
    let paper = ["--width", "150mm", "--font", "8pt"];
    let preamble = "% Preamble: \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \
        \\pgfplotsset{compat=1.18}\n";
    let figures: Vec<String> = [
        (&rows, &["--share-y", "--lower-bound", "--title", "50 % of {a_b} & c"][..]),
        (&experts, &["--legend", "none"]),
    ]
    .into_iter()
    .map(|(rows, args)| {
        plot(rows, &out, &[&paper[..], args].concat()).success();
        let figure = std::fs::read_to_string(&out).unwrap();
        assert!(figure.starts_with(preamble), "{figure}");
        figure
    })
    .collect();
    // 150 mm are 426.79 points, and the panels are in two columns.
    assert!(figures[0].contains("width=209.13pt") && figures[0].contains("dash pattern=on "));
    assert!(figures[0].contains("label=below right:{a}"), "{}", figures[0]);
    let table = swapmeet(&["compare", experts.to_str().unwrap(), "--format", "latex"]).assert();
    let table = String::from_utf8(table.success().get_output().stdout.clone()).unwrap();
    let document = format!(
        "\\documentclass{{article}}\n\\usepackage[margin=15mm]{{geometry}}\n\\usepackage{{pgfplots}}\n\
         \\usepgfplotslibrary{{groupplots}}\n\\pgfplotsset{{compat=1.18}}\n\\usepackage{{booktabs}}\n\
         \\begin{{document}}\n{}\n\n{table}\n\\end{{document}}\n",
        figures.join("\n\n")
    );
    std::fs::write(dir.path().join("page.tex"), document).unwrap();
    if !has(&["pdflatex"]) {
        return;
    }
    let compiled = Command::new("pdflatex")
        .current_dir(dir.path())
        .args(["-interaction=nonstopmode", "-halt-on-error", "page.tex"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compiled.stdout);
    assert!(compiled.status.success(), "{said}");
    assert!(!said.contains("Missing character"), "{said}");
}

/// A panel for each size has the numbers of nodes as labels. A heat map of the same rows has the
/// numbers of messages as texts.
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
    let said = compare(&["--by", "topology", "--baseline", "torus:8x8", "--format", "csv"]);
    let table = String::from_utf8(said.success().get_output().stdout.clone()).unwrap();
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
    refused(
        "figure.gif",
        &[],
        "expected a name that ends in .svg, .png, .pdf, .tex or .csv, or --format",
    );
    refused("f.svg", &["--width", "84"], "expected a length above 0 such as 84mm");
    refused("f.svg", &["--width", "1mm"], "the width must be 16 to 400 times the font size");
    refused(
        "f.svg",
        &["--label", "nobody=x"],
        "--label nobody: no algorithm has that name; there are bruck, pex, suh-shin",
    );
    refused("f.svg", &["--label", "pex"], "expected ALGORITHM=TEXT");
    refused("f.svg", &["--colour", "pex=blue"], "expected a colour such as #0072b2");
    refused(
        "f.svg",
        &["--colour", "nobody=#000000"],
        "--colour nobody: no algorithm has that name; there are bruck, pex, suh-shin",
    );
    refused(
        "f.svg",
        &["--scales", "free"],
        "--scales is for parts, steps and traffic: omit it or choose one with --kind",
    );
    refused(
        "f.svg",
        &["--kind", "winners", "--legend", "inside"],
        "--legend inside is for curves: omit it or --kind",
    );
    refused(
        "f.svg",
        &["--y", "ratio", "--lower-bound"],
        "a lower bound can only be shown with completion times",
    );
    refused(
        "f.svg",
        &["--algorithm", "gen"],
        "--algorithm gen: no row has this value, expected one of bruck, pex, suh-shin",
    );
    refused("f.svg", &["--baseline", "gen"], "baseline `gen`");
    refused("f.svg", &["--x", "cv"], "no row has values of coefficient of variation");
    refused("f.svg", &["--kind", "parts"], "a figure has room for 12: choose among their ");
    refused(
        "f.svg",
        &["--kind", "winners", "--y", "ratio"],
        "--y is for curves: omit it or --kind",
    );
    refused(
        "f.tex",
        &["--kind", "winners"],
        "pgfplots draws curves: for another --kind use svg, png, pdf or csv",
    );
    refused(
        "f.svg",
        &["--kind", "winners", "--label", "nobody=x"],
        "no algorithm has that name; there are bruck, pex, suh-shin",
    );
    // The rows have one size and one network, so there is no map.
    let one = [
        "--workload",
        "uniform:64",
        "--topology",
        "torus:8x8",
        "--machine",
        "own",
        "--kind",
        "winners",
    ];
    refused("f.svg", &one, "a map needs rows of two block sizes, or of two networks or machines");
    // Errors are reported.
    plot(&rows, &dir.path().join("f.svg"), &["--y", "contention", "--machine", "paragon"])
        .success()
        .stderr(predicate::str::contains("not shown: "));
}

#[test]
fn every_row_can_be_reproduced_from_its_columns() {
    let dir = tempdir().unwrap();
    let rows = read_file(&rows_in(&dir)).unwrap();
    let figures = |r: &Record| {
        let r = r.clone();
        // A machine that the experiment defined is replaced by its definition.
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
        let line = command(row);
        // Run the command by a shell, as a user would.
        let output = Command::new("sh")
            .args(["-c", &format!("set -- {}; shift; printf '%s\\n' \"$@\"", line)])
            .output()
            .unwrap();
        let words: Vec<String> =
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = swapmeet(&words).output().unwrap();
        let again = read_records("again", &String::from_utf8(output.stdout).unwrap()).unwrap();
        assert_eq!(figures(&again[0]), figures(row), "{line}");
    }
}

/// Returns the text of a page without tags.
fn text_of_html(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
    }
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, c)| text.replace(entity, c))
}
