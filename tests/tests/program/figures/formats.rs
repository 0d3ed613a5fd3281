//! The size and appearance of figures, as SVG, PNG, PDF and LaTeX.

use super::{drawn, plot, rows_in};
use crate::support::tools::has;
use crate::support::{swapmeet, texts_of, words};
use std::process::Command;
use tempfile::tempdir;

#[test]
fn a_pdf_has_one_page_of_the_requested_size() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.pdf"));
    plot(&rows, &out, &["--machine", "paragon"]).success();
    let pdf = std::fs::read(&out).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-") && text.trim_end().ends_with("%%EOF"));
    // The figure has two panels. Its width of 1040 pixels of 1/96 inch is 780 points of 1/72 inch.
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
    let (once, twice) = (size("1"), size("2"));
    assert!(once > 600);
    assert_eq!(twice, 2 * once);
}

#[test]
fn a_plot_for_print_has_width_font_labels_and_bound() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let choice = ["--topology", "torus:8x8", "--machine", "paragon", "--lower-bound", "--data"];
    let labels = ["--label", "suh-shin=Suh & Shin", "--label", "pex=Pairwise"];
    let paper = ["--width", "84mm", "--font", "8pt"];
    let [_, message] = texts_of(plot(&rows, &out, &[&choice[..], &labels, &paper].concat()));
    assert!(message.starts_with("Suh & Shin is fastest up to about "), "{message}");
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
    let time = |name: &str, size: &str| -> f64 {
        let row = data.lines().find(|line| line.starts_with(&format!(",{name},{size},"))).unwrap();
        row.split(',').nth(3).unwrap().parse().unwrap()
    };
    for size in ["1", "64", "4096", "65536"] {
        for name in ["bruck", "Pairwise", "Suh & Shin"] {
            assert!(time(name, size) >= time("lower bound", size), "{name}, {size} bytes");
        }
    }
    let tex = dir.path().join("figure.tex");
    let tex = drawn(&rows, &tex, &words("--machine paragon --baseline pex --y ratio"));
    assert_eq!(tex.matches("\\nextgroupplot").count(), 2, "a panel a topology: {tex}");
    assert_eq!(
        (tex.matches('{').count(), tex.matches("\\begin{").count()),
        (tex.matches('}').count(), tex.matches("\\end{").count())
    );
}

#[test]
fn a_plot_has_the_requested_appearance() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let svg = |args: &[&str]| drawn(&rows, &out, args);
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
    let both =
        ["--topology", "torus:8x8", "--workload", "uniform:1", "--workload", "uniform:64KiB"];
    let shared = svg(&[&both[..], &["--share-y"]].concat());
    let labels = |svg: &str, text: &str| svg.matches(&format!(">{text}<")).count();
    assert_eq!(labels(&shared, "10 ms"), 2, "{shared}");
    let bars = ["parts", "--machine", "own", "--topology", "torus:8x8"];
    let (one, each) = (svg(&bars), svg(&[&bars[..], &["--scales", "free"]].concat()));
    assert_eq!((labels(&one, "completion time"), labels(&each, "completion time")), (1, 4));
}

/// The page is as wide as a journal's two columns.
#[test]
fn figures_and_tables_compile_in_latex() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.tex"));
    let experts = dir.path().join("experts.csv");
    let run = "run --quiet --topology torus:4x4 --algorithm pex --algorithm bruck \
        --workload moe:experts=16,top=2,tokens=64,bytes=4096 --repetitions 3 --out";
    swapmeet(&words(run)).arg(&experts).assert().success();
    let paper = ["--width", "150mm", "--font", "8pt"];
    let preamble = "% Preamble: \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \
        \\pgfplotsset{compat=1.18}\n";
    let figures: Vec<String> = [
        (&rows, &["--share-y", "--lower-bound", "--title", "50 % of {a_b} & c"][..]),
        (&experts, &["--legend", "none"]),
    ]
    .into_iter()
    .map(|(rows, args)| {
        let figure = drawn(rows, &out, &[&paper[..], args].concat());
        assert!(figure.starts_with(preamble), "{figure}");
        figure
    })
    .collect();
    assert!(figures[0].contains("width=209.13pt") && figures[0].contains("dash pattern=on "));
    assert!(figures[0].contains("label=below right:{a}"), "{}", figures[0]);
    let tables =
        [(&experts, &[][..]), (&rows, &["--pivot"]), (&rows, &["--pivot", "--width", "60mm"])].map(
            |(rows, flags)| {
                let compare =
                    swapmeet(&["compare", "--format", "latex"]).arg(rows).args(flags).assert();
                let [table, _] = texts_of(compare);
                assert!(
                    table.starts_with("% Preamble: \\usepackage{booktabs,graphicx}\n"),
                    "{table}"
                );
                table
            },
        );
    assert_eq!(tables[1].matches("\\begin{tabular}").count(), 4, "{}", tables[1]);
    let table = tables.join("\n");
    let document = format!(
        "\\documentclass{{article}}\n\\usepackage[margin=15mm]{{geometry}}\n\\usepackage{{pgfplots}}\n\
         \\usepgfplotslibrary{{groupplots}}\n\\pgfplotsset{{compat=1.18}}\n\\usepackage{{booktabs,graphicx}}\n\
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
    let message = String::from_utf8_lossy(&compiled.stdout);
    assert!(compiled.status.success(), "{message}");
    assert!(!message.contains("Missing character"), "{message}");
}
