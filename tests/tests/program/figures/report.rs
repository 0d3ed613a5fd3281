//! The report page, both as a file and in a real browser.

use super::{rows_in, text_of_html};
use crate::support::tools::opened;
use crate::support::{swapmeet, words};
use tempfile::{TempDir, tempdir};

fn report(dir: &TempDir) -> String {
    let (rows, out) = (rows_in(dir), dir.path().join("report.html"));
    swapmeet(&[
        "report",
        rows.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--baseline",
        "pex",
    ])
    .assert()
    .success();
    std::fs::read_to_string(out).unwrap()
}

/// Text that every report of these rows contains.
const SAID: [&str; 9] = [
    "mine & yours",
    "Figure 1. Completion time against block size",
    "completion time over that of pex",
    "torus:8x8, uniform:64, own (paragon:startup_us=220), wormhole",
    "bruck ran ",
    "own = paragon:startup_us=220",
    "bruck of plugin classic 0.2.0",
    "swapmeet run --topology torus:8x8 --algorithm pex --workload uniform:64KiB --machine paragon:startup_us=220 --seed 42 --out -",
    "suh-shin: runs only on a torus or a mesh; this topology is a rdn",
];

#[test]
fn a_report_refers_to_no_other_file() {
    let dir = tempdir().unwrap();
    let page = report(&dir);
    for word in ["src=", "href=", "@import", "<script", "<link", "http-equiv=\"refresh", "<iframe"]
    {
        assert!(!page.contains(word), "{word}");
    }
    let addresses = page.matches("http").count();
    let harmless = page.matches("http-equiv").count()
        + page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(addresses, harmless);
    assert!(!page.contains("mine & yours") && page.contains("mine &amp; yours"));
}

/// A real browser without network access shows the whole page and requests no other address.
#[test]
fn a_report_opens_in_a_browser_and_fetches_nothing() {
    let dir = tempdir().unwrap();
    report(&dir);
    let (page, log) = (dir.path().join("report.html"), dir.path().join("net.json"));
    let Some(dom) = opened(&dir, &page, 1000, &[format!("--log-net-log={}", log.display())]) else {
        return;
    };
    let text = text_of_html(&dom);
    for said in SAID {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(dom.matches("<svg").count() >= 2, "{dom}");
    // The log contains every address that the browser requested for the page.
    let log = std::fs::read_to_string(&log).unwrap();
    let asked = log.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let by_page: Vec<&str> =
        asked.filter(|url| url.starts_with("file:") || url.starts_with("data:")).collect();
    assert!(by_page.iter().all(|url| url.ends_with("/report.html")), "{by_page:?}");
}

/// A script that is added to the page. It reports marks outside of their plot, texts that overlap,
/// and elements that are wider than the page.
const LOOK_AT_FIGURES: &str = r#"<script>addEventListener("load", () => {
    const faults = [], figures = [...document.querySelectorAll("svg")];
    let marks = 0;
    for (const [number, figure] of figures.entries()) {
        const box = figure.getBoundingClientRect();
        if (box.left < 0 || box.right > document.documentElement.clientWidth) faults.push(`figure ${number} is cut off`);
        const texts = [];
        for (const mark of figure.querySelectorAll("text, circle, polyline, polygon")) {
            const at = mark.getBoundingClientRect();
            const name = `${number}: ${mark.tagName} ${mark.textContent}`;
            marks += 1;
            if (at.left < box.left - .5 || at.right > box.right + .5 || at.top < box.top - .5 || at.bottom > box.bottom + .5)
                faults.push(`outside of ${name}`);
            if (mark.tagName == "text") texts.push([name, at]);
        }
        // Two lines of a title may overlap by the height of a descender.
        const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        texts.forEach(([name, at], i) => texts.slice(i + 1).forEach(([other, there]) => {
            if (meet(at, there)) faults.push(`${name} on ${other}`);
        }));
    }
    document.title = `${figures.length} figures, ${marks} marks, faults: ${faults.join("; ")}.`;
});</script></body>"#;

/// Every mark must be within its plot, and every plot must be within the page. This is tested at
/// the widths of a laptop, a large screen and a sheet of paper.
#[test]
fn plots_fit_in_a_browser_of_any_width_and_on_paper() {
    let dir = tempdir().unwrap();
    let rows = dir.path().join("rows.csv");
    let sizes = ["16", "1KiB", "64KiB"]
        .map(|size| ["--workload".to_owned(), format!("uniform:{size}")])
        .concat();
    swapmeet(&["run", "--quiet", "--topology", "torus:8x8", "--topology", "mesh:8x8", "--topology", "ring:16"])
        .args(["--algorithm", "bruck", "--algorithm", "linear", "--algorithm", "pairwise", "--algorithm", "gen"])
        .args(words("--machine paragon --machine free:startup_us=100,byte_us=0.01,hop_us=1,ports=all,model=circuit"))
        .args(sizes)
        .args(["--out", rows.to_str().unwrap()])
        .assert()
        .success();
    let out = dir.path().join("report.html");
    swapmeet(&[
        "report",
        rows.to_str().unwrap(),
        "--baseline",
        "linear",
        "--out",
        out.to_str().unwrap(),
    ])
    .assert()
    .success();
    // The policy of the page forbids scripts, so the test removes the policy. To test the page on
    // paper, it also applies the print rules.
    let page = std::fs::read_to_string(&out).unwrap();
    let (before, rest) = page.split_once("<meta http-equiv").unwrap();
    let page =
        format!("{before}{}", rest.split_once('>').unwrap().1).replace("</body>", LOOK_AT_FIGURES);
    let looked_at = dir.path().join("looked-at.html");
    // A4 without its margins is 718 pixels of 1/96 inch wide.
    for (width, page) in [
        (900, page.clone()),
        (1200, page.clone()),
        (1600, page.clone()),
        (718, page.replace("@media print", "@media all")),
    ] {
        std::fs::write(&looked_at, page).unwrap();
        let Some(dom) = opened(&dir, &looked_at, width, &[]) else { return };
        let found =
            dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap();
        assert!(
            found.contains("figures, ") && found.ends_with("faults: ."),
            "{width} pixels wide: {found}"
        );
        assert!(!found.starts_with("0 figures"), "{found}");
    }
}
