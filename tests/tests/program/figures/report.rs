//! The report page, both as a file and in a real browser.

use super::{rows_in, text_of_html};
use crate::support::tools::opened;
use crate::support::{swapmeet, words};
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::{TempDir, tempdir};

fn report(dir: &TempDir) -> String {
    let (rows, out) = (rows_in(dir), dir.path().join("report.html"));
    swapmeet(&words(&format!("report {} --out {} --baseline pex", rows.display(), out.display())))
        .assert()
        .success();
    std::fs::read_to_string(out).unwrap()
}

const SAID: [&str; 11] = [
    "mine & yours",
    "In alltoall on paragon (model wormhole), ",
    " ran fastest in ",
    "Figure 1. Fastest algorithms.",
    "Figure 2. Completion time against block size",
    "completion time over that of pex",
    "torus:8x8, uniform:64, own (paragon:startup_us=220), wormhole",
    "own = paragon:startup_us=220",
    "bruck of plugin classic 0.3.0",
    "swapmeet run --topology torus:8x8 --algorithm pex --workload uniform:64KiB --machine paragon:startup_us=220 --seed 42 --out -",
    "runs only on a torus or a mesh; this topology is a rdn",
];

#[test]
fn a_report_refers_to_no_other_file() {
    let dir = tempdir().unwrap();
    let page = report(&dir);
    for word in ["src=", "@import", "<script", "<link", "http-equiv=\"refresh", "<iframe"] {
        assert!(!page.contains(word), "{word}");
    }
    let targets: Vec<&str> =
        page.split("href=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
    assert!(targets.len() >= 6 && targets.len() == page.matches("href=").count(), "{targets:?}");
    for target in targets {
        let id = format!("id=\"{}\"", target.strip_prefix('#').unwrap());
        assert_eq!(page.matches(&id).count(), 1, "{target}");
    }
    let addresses = page.matches("http").count();
    let harmless = page.matches("http-equiv").count()
        + page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(addresses, harmless);
    assert!(!page.contains("mine & yours") && page.contains("mine &amp; yours"));
}

#[test]
fn a_report_opens_in_a_browser_and_fetches_nothing() {
    let dir = tempdir().unwrap();
    report(&dir);
    let (page, log) = (dir.path().join("report.html"), dir.path().join("net.json"));
    let Some(dom) = opened(&dir, &page, 1000, &[format!("--log-net-log={}", log.display())]) else {
        return;
    };
    let text = text_of_html(&dom);
    for message in SAID {
        assert!(text.contains(message), "{message}: {text}");
    }
    assert!(dom.matches("<svg").count() >= 2, "{dom}");
    let log = std::fs::read_to_string(&log).unwrap();
    let asked = log.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let by_page: Vec<&str> =
        asked.filter(|url| url.starts_with("file:") || url.starts_with("data:")).collect();
    assert!(by_page.iter().all(|url| url.ends_with("/report.html")), "{by_page:?}");
}

/// Opens all closed elements of the page. Reports marks that are outside of their plot, texts that
/// overlap or are too small, and elements that are wider than the page.
const LOOK_AT_FIGURES: &str = r#"<script>addEventListener("load", () => {
    document.querySelectorAll("details").forEach(part => part.open = true);
    const wide = document.documentElement.clientWidth;
    const faults = [], figures = [...document.querySelectorAll("svg")].filter(figure => figure.getBoundingClientRect().width > 0);
    if (document.documentElement.scrollWidth > wide) faults.push("the page is wider than the window");
    let marks = 0;
    for (const [number, figure] of figures.entries()) {
        const box = figure.getBoundingClientRect();
        if (box.left < 0 || box.right > wide) faults.push(`figure ${number} is cut off`);
        const scale = box.width / figure.viewBox.baseVal.width;
        const texts = [];
        for (const mark of figure.querySelectorAll("text, circle, polyline, polygon")) {
            const at = mark.getBoundingClientRect();
            const name = `${number}: ${mark.tagName} ${mark.textContent}`;
            marks += 1;
            if (at.left < box.left - .5 || at.right > box.right + .5 || at.top < box.top - .5 || at.bottom > box.bottom + .5)
                faults.push(`outside of ${name}`);
            if (mark.tagName != "text") continue;
            texts.push([name, at]);
            // The number of competitors in a cell of a map is allowed to be small.
            const size = mark.getAttribute("font-size") * scale;
            if (size < 8 && !mark.hasAttribute("stroke")) faults.push(`${name} is ${size} pixels high`);
        }
        // Two lines of a title may overlap by the height of a descender.
        const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        texts.forEach(([name, at], i) => texts.slice(i + 1).forEach(([other, there]) => {
            if (meet(at, there)) faults.push(`${name} on ${other}`);
        }));
    }
    document.title = `${figures.length} figures, ${marks} marks, faults: ${faults.join("; ")}.`;
});</script></body>"#;

/// Writes the page of a study of four networks, three models, two collectives, seven sizes, and
/// random sizes.
fn study(dir: &TempDir) -> PathBuf {
    static PAGE: LazyLock<String> = LazyLock::new(new_study);
    let page = dir.path().join("report.html");
    std::fs::write(&page, PAGE.as_str()).unwrap();
    page
}

fn new_study() -> String {
    let dir = tempdir().unwrap();
    let experiment = dir.path().join("study.toml");
    std::fs::write(
        &experiment,
        "name = \"study\"\nseed = 1\n\
         topologies = [\"torus:4x4\", \"hypercube:4\", \"fat-tree:4x2\", \"dragonfly:4x2x2\"]\n\
         machines = [\"paragon\", \"free:model=loggp,latency_us=2,overhead_us=1,gap_us=1,byte_us=0.002\", \
         \"free:model=fluid,startup_us=2,byte_us=0.002\"]\n\
         [[case]]\nalgorithms = [\"bruck\", \"linear\", \"pairwise\"]\n\
         workloads = [\"uniform:8..32KiB*4\", \"irregular:dist=zipf,mean=512\"]\n\
         [[case]]\nalgorithms = [\"recursive-doubling-allreduce\", \"ring-allreduce\"]\n\
         workloads = [\"allreduce/uniform:1KiB..1MiB*4\"]\n",
    )
    .unwrap();
    let [rows, out] = ["rows.csv", "report.html"].map(|name| dir.path().join(name));
    swapmeet(&["run", "--quiet"]).arg(&experiment).arg("--out").arg(&rows).assert().success();
    swapmeet(&["report"]).arg(&rows).arg("--out").arg(&out).assert().success();
    std::fs::read_to_string(out).unwrap()
}

/// At the widths of a telephone, a laptop, a large screen and a sheet of paper, marks must be
/// within their plots, plots within the page, and texts large enough.
#[test]
fn plots_fit_in_a_browser_of_any_width_and_on_paper() {
    let dir = tempdir().unwrap();
    // The policy of the page forbids scripts, so the test removes it. For paper, the test applies
    // the print rules instead of those for small screens.
    let page = std::fs::read_to_string(study(&dir)).unwrap();
    let (before, rest) = page.split_once("<meta http-equiv").unwrap();
    let page =
        format!("{before}{}", rest.split_once('>').unwrap().1).replace("</body>", LOOK_AT_FIGURES);
    let on_paper =
        page.replace("@media print", "@media all").replace("@media screen", "@media print");
    let looked_at = dir.path().join("looked-at.html");
    // A4 without its margins is 680 pixels of 1/96 inch wide. The browser's window is at least 500
    // pixels wide, so a narrower page is shown in a frame.
    let frame = "<iframe src=\"looked-at.html\" style=\"border:0;width:380px;height:900px\" \
        onload=\"setTimeout(() => document.title = this.contentDocument.title, 500)\"></iframe>";
    for (width, page) in [(380, &page), (900, &page), (1600, &page), (680, &on_paper)] {
        std::fs::write(&looked_at, page).unwrap();
        let frame_page = dir.path().join("frame.html");
        std::fs::write(&frame_page, format!("<title></title><body style=\"margin:0\">{frame}"))
            .unwrap();
        let shown = if width < 500 { &frame_page } else { &looked_at };
        let more =
            ["--allow-file-access-from-files", "--virtual-time-budget=5000"].map(str::to_owned);
        let Some(dom) = opened(&dir, shown, width, &more) else { return };
        let found =
            dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap();
        assert!(
            found.contains("figures, ") && found.ends_with("faults: ."),
            "{width} pixels wide: {found}"
        );
        assert!(!found.starts_with("0 figures"), "{found}");
    }
}

#[test]
fn a_study_prints_on_few_pages() {
    let dir = tempdir().unwrap();
    let page = study(&dir);
    let text = std::fs::read_to_string(&page).unwrap();
    for id in ["summary", "figures-alltoall", "figures-allreduce"] {
        assert!(text.contains(&format!("<a href=\"#{id}\">")), "{id}");
    }
    let message = text_of_html(&text);
    assert_eq!(
        message.matches("Completion time against vector size: allreduce/uniform").count(),
        3
    );
    assert!(message.contains("Completion time against block size"), "{message}");
    let paper = dir.path().join("report.pdf");
    let more = [format!("--print-to-pdf={}", paper.display()), "--no-pdf-header-footer".to_owned()];
    if opened(&dir, &page, 900, &more).is_none() {
        return;
    }
    let pdf = String::from_utf8_lossy(&std::fs::read(&paper).unwrap()).into_owned();
    let pages = pdf.matches("/Type /Page\n").count();
    assert!((2..=15).contains(&pages), "{pages} pages");
}
