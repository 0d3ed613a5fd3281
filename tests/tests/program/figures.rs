//! `plot` and `report`: from rows to figures and pages.

use crate::support::{swapmeet, tools};
use predicates::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use swapmeet_results::{Record, Status, command, read_file, read_records};
use tempfile::{TempDir, tempdir};

/// Rows of three algorithms over block sizes, two machines, one of them the experiment's own.
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
    swapmeet(&["run", experiment.to_str().unwrap(), "--quiet", "--out", out.to_str().unwrap()]).assert().success();
    out
}

fn plot(rows: &Path, out: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    swapmeet(&["plot", rows.to_str().unwrap(), "--out", out.to_str().unwrap()]).args(args).assert()
}

#[test]
fn a_figure_has_its_curves_its_axes_and_its_crossovers() {
    let dir = tempdir().unwrap();
    let (rows, out) = (rows_in(&dir), dir.path().join("figure.svg"));
    let said = plot(&rows, &out, &["--topology", "torus:8x8", "--machine", "paragon"]).success();
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    let svg = std::fs::read_to_string(&out).unwrap();
    for text in
        ["torus:8x8, uniform, paragon", "block size", "completion time", "bruck", "pex", "suh-shin", "64 KiB", "10 ms"]
    {
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
    // what is said is drawn: a letter at the ring, and its meaning below
    let crossover = said.lines().next().unwrap();
    assert!(
        crossover.starts_with("suh-shin is lowest up to about ") && svg.contains(&format!(">{crossover}<")),
        "{said}"
    );
    assert!(svg.contains(">a<"), "{svg}");
}

/// Where the two really cross is where the figure says: the times on either side of it are the other way round.
#[test]
fn a_crossover_is_where_the_order_changes() {
    let dir = tempdir().unwrap();
    let rows = dir.path().join("rows.csv");
    let run = |sizes: &[String], out: &Path| {
        let args = ["run", "--quiet", "--topology", "torus:16x16", "--algorithm", "suh-shin", "--algorithm", "bruck"];
        let sizes = sizes.iter().flat_map(|s| ["--workload".to_owned(), format!("uniform:{s}")]);
        swapmeet(&args).args(sizes).args(["--out", out.to_str().unwrap()]).assert().success();
    };
    run(&["64".to_owned(), "1024".to_owned()], &rows);
    let said = plot(&rows, &dir.path().join("f.svg"), &[]).success().get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    let at: f64 =
        said.trim().trim_start_matches("bruck is lowest up to about ").split(' ').next().unwrap().parse().unwrap();
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

#[test]
fn a_png_is_a_picture_of_the_size_asked_for() {
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
    swapmeet(&["run", "--quiet", "--topology", "torus:4x4", "--algorithm", "gen", "--algorithm", "bruck"])
        .args(sizes.iter().flat_map(|s| ["--workload", s]))
        .args(["--repetitions", "5", "--out", rows.to_str().unwrap()])
        .assert()
        .success();
    let lines = |repeated: &[&str]| {
        plot(&rows, &out, repeated).success();
        let svg = std::fs::read_to_string(&out).unwrap();
        (svg.matches("<line").count(), svg)
    };
    let (with_bars, _) = lines(&["--x", "cv"]);
    let (ratios, svg) = lines(&["--x", "cv", "--y", "ratio", "--baseline", "gen"]);
    assert!(svg.contains(">completion time over that of gen<"), "{svg}");
    // a bar and two caps for each of three points of bruck; the baseline's own ratio has none
    let (without, _) = lines(&["--x", "cv", "--y", "steps"]);
    assert!(with_bars >= without + 6 * 3 && ratios >= without + 3 * 3 - 6, "{with_bars} {ratios} {without}");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let dir = tempdir().unwrap();
    let rows = rows_in(&dir);
    let refused = |out: &str, args: &[&str], message: &str| {
        plot(&rows, &dir.path().join(out), args).code(2).stdout("").stderr(predicate::str::contains(message));
    };
    refused("figure.pdf", &[], "expected a name that ends in .svg or .png");
    refused("f.svg", &["--algorithm", "gen"], "--algorithm gen: no row has it; there are bruck, pex, suh-shin");
    refused("f.svg", &["--baseline", "gen"], "no row is of the baseline `gen`");
    refused("f.svg", &["--x", "cv"], "no row has something to show with coefficient of variation");
    // failures aren't silently left out
    plot(&rows, &dir.path().join("f.svg"), &["--y", "contention", "--machine", "paragon"])
        .success()
        .stderr(predicate::str::contains("not shown: "));
}

#[test]
fn every_row_says_enough_to_be_made_again() {
    let dir = tempdir().unwrap();
    let rows = read_file(&rows_in(&dir)).unwrap();
    let figures = |r: &Record| {
        let r = r.clone();
        let (machine, note) = (String::new(), String::new());
        Record { experiment: String::new(), machine, note, plan_ms: None, wall_ms: None, repetition: 0, ..r }
    };
    assert!(rows.iter().any(|r| r.status == Status::Unsupported) && rows.iter().any(|r| r.machine == "own"));
    for row in rows.iter().step_by(5) {
        let line = command(row);
        // as a shell reads it
        let output = Command::new("sh")
            .args(["-c", &format!("set -- {}; shift; printf '%s\\n' \"$@\"", line)])
            .output()
            .unwrap();
        let words: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = swapmeet(&words).output().unwrap();
        let again = read_records("again", &String::from_utf8(output.stdout).unwrap()).unwrap();
        assert_eq!(figures(&again[0]), figures(row), "{line}");
    }
}

fn report(dir: &TempDir) -> String {
    let (rows, out) = (rows_in(dir), dir.path().join("report.html"));
    swapmeet(&["report", rows.to_str().unwrap(), "--out", out.to_str().unwrap(), "--baseline", "pex"])
        .assert()
        .success();
    std::fs::read_to_string(out).unwrap()
}

/// What every report of these rows says.
const SAID: [&str; 9] = [
    "mine & yours",
    "Figure 1. Completion time against block size",
    "completion time over that of pex",
    "torus:8x8, uniform:64, own (paragon:startup_us=220), wormhole",
    "bruck ran ",
    "own = paragon:startup_us=220",
    "bruck of plugin classic 0.1.0",
    "swapmeet run --topology torus:8x8 --algorithm pex --workload uniform:64KiB --machine paragon:startup_us=220 --seed 42 --out -",
    "runs on torus and mesh, not on rdn",
];

#[test]
fn a_report_names_no_other_file() {
    let dir = tempdir().unwrap();
    let page = report(&dir);
    for word in ["src=", "href=", "@import", "<script", "<link", "http-equiv=\"refresh", "<iframe"] {
        assert!(!page.contains(word), "{word}");
    }
    let addresses = page.matches("http").count();
    let harmless = page.matches("http-equiv").count() + page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(addresses, harmless);
    assert!(!page.contains("mine & yours") && page.contains("mine &amp; yours"));
    // what each picture calls its own is called once
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(all > 1 && ids.len() == all, "{ids:?}");
}

/// In a real browser, which may reach nothing: all is there, and nothing was asked for.
#[test]
fn a_report_opens_in_a_browser_and_fetches_nothing() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok())
    else {
        tools::left_out("chromium", "no chromium");
        return;
    };
    let dir = tempdir().unwrap();
    report(&dir);
    let (page, log) = (dir.path().join("report.html"), dir.path().join("net.json"));
    let text_of = dir.path().join("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--dump-dom"])
        .arg(format!("--user-data-dir={}", text_of.display()))
        .arg(format!("--log-net-log={}", log.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let text = text_of_html(&dom);
    for said in SAID {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(dom.matches("<svg").count() >= 2, "{dom}");
    // the log names every address that the page itself asked for
    let log = std::fs::read_to_string(&log).unwrap();
    let asked = log.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let by_page: Vec<&str> = asked.filter(|url| url.starts_with("file:") || url.starts_with("data:")).collect();
    assert!(by_page.iter().all(|url| url.ends_with("/report.html")), "{by_page:?}");
}

/// The text of a page, without its tags.
fn text_of_html(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
    }
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, c)| text.replace(entity, c))
}
