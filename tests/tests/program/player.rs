//! `trace --format html`: the page contains the trace, and plays it in a real browser.

use crate::support::tools::opened;
use crate::support::{interruptible, swapmeet, words};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use swapmeet_core::network::topology::families;
use swapmeet_tests::runs_all;
use tempfile::{TempDir, tempdir};

fn page(dir: &Path, args: &str) -> String {
    let out = dir.join("schedule.html");
    let mut trace = swapmeet(&["trace", "--format", "html", "--force", "--out"]);
    trace.arg(&out).args(words(args)).current_dir(dir).assert().success();
    std::fs::read_to_string(out).unwrap()
}

/// Returns the data of a page, which is a zlib stream of JSON in Base64 (RFC 4648).
fn data(page: &str) -> Value {
    let text = page.split("<script id=\"data\" type=\"text/plain\">").nth(1).unwrap();
    let text = text.split('<').next().unwrap();
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        b'=' => 0,
        other => panic!("{other} is no Base64"),
    };
    let bytes: Vec<u8> = text
        .as_bytes()
        .chunks(4)
        .flat_map(|digits| {
            let bits = digits.iter().fold(0, |bits, c| bits << 6 | value(*c));
            let count = digits.iter().filter(|c| **c != b'=').count() - 1;
            bits.to_be_bytes().into_iter().skip(1).take(count).collect::<Vec<u8>>()
        })
        .collect();
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns all numbers in a list of ranges, or the number 0 if there is no list.
fn members(ranges: &Value) -> Vec<u64> {
    if ranges.is_null() {
        return vec![0];
    }
    list(ranges).iter().flat_map(|range| number(&range[0])..=number(&range[1])).collect()
}

type Block = [u64; 3];

/// Returns the blocks of a send. In a reduction, all contributions to a value are one block,
/// because they have been added.
fn blocks(send: &Value, is_reduction: bool) -> HashSet<Block> {
    let each = |set: &Value| -> Vec<Block> {
        let [mut origins, destinations, segments] =
            ["origins", "destinations", "segments"].map(|key| members(&set[key]));
        if is_reduction {
            origins = vec![0];
        }
        let pairs = origins.iter().flat_map(|o| destinations.iter().map(move |d| (*o, *d)));
        pairs.flat_map(|(o, d)| segments.iter().map(move |s| [o, d, *s])).collect()
    };
    list(&send["blocks"]).iter().flat_map(each).collect()
}

/// Compares the facts of each step with the trace, by following every block and every route.
fn compare_steps(page: &Value, context: &str) {
    let (trace, steps) = (&page["trace"], list(&page["steps"]));
    let nodes = number(&trace["schedule"]["nodes"]);
    let sends: Vec<&Value> =
        list(&trace["events"]).iter().filter(|event| event["from"].is_number()).collect();
    let is_reduction = sends.iter().any(|send| send["combine"] == true);
    let blocks = |send: &Value| blocks(send, is_reduction);
    let workload = trace["schedule"]["workload"].as_str().unwrap();
    let has_equal_blocks = workload.rsplit('/').next().unwrap().starts_with("uniform:");
    let unit = number(&sends[0]["bytes"]) / blocks(sends[0]).len().max(1) as u64;
    // If a node sends a block before it has received it, the node holds this block at the start.
    // Data that arrives in a step can be sent in the next step.
    let (mut held, mut arrived) = (HashSet::new(), HashSet::new());
    for step in sends.chunk_by(|a, b| a["step"] == b["step"]) {
        let moved = |end: &'static str| {
            step.iter().flat_map(move |send| {
                let node = number(&send[end]);
                blocks(send).into_iter().map(move |block| (node, block))
            })
        };
        held.extend(moved("from").filter(|at| !arrived.contains(at)));
        arrived.extend(moved("to"));
    }
    if is_reduction {
        let all: HashSet<Block> = arrived.iter().map(|(_, block)| *block).collect();
        held.extend((0..nodes).flat_map(|node| all.iter().map(move |block| (node, *block))));
    }
    let (mut last, mut sent, mut unsent) = (0, 0, None);
    for step in steps {
        let at = number(&step["at"]);
        let mut links: HashMap<(u64, u64), HashSet<String>> = HashMap::new();
        for number_of_step in last + 1..=at {
            let mut arrivals = Vec::new();
            for send in sends.iter().filter(|send| number(&send["step"]) == number_of_step) {
                let (from, to) = (number(&send["from"]), number(&send["to"]));
                arrivals.extend(blocks(send).into_iter().map(|block| (to, block)));
                if send["copy"] != true {
                    let moved = blocks(send);
                    held.retain(|(at, block)| *at != from || !moved.contains(block));
                }
                sent += if from == to { 0 } else { number(&send["bytes"]) };
                let path: Vec<u64> = list(&send["path"]).iter().map(number).collect();
                let message = format!("{from} {to} {path:?} {}", send["signs"]);
                for link in path.windows(2) {
                    links.entry((link[0], link[1])).or_default().insert(message.clone());
                }
            }
            held.extend(arrivals);
        }
        last = at;
        let most = links.values().map(HashSet::len).max().unwrap_or(0);
        assert_eq!(number(&step["link_messages"]), most as u64, "{context}: step {at}");
        // A node may also hold blocks that it never sends. Their number is the same in all steps.
        // If the schedules of communicators differ, the data in nodes is not recorded.
        let is_merged = context.contains("over=file:");
        assert!(!is_merged || step["held"].is_null());
        if has_equal_blocks && !is_merged {
            let own = |node| held.iter().filter(|(at, _)| *at == node).count() as u64 * unit;
            let rest: Vec<i64> = (0..nodes)
                .map(|node| number(&step["held"][node as usize]) as i64 - own(node) as i64)
                .collect();
            assert_eq!(*unsent.get_or_insert_with(|| rest.clone()), rest, "{context}: step {at}");
            assert!(rest.iter().all(|bytes| *bytes >= 0), "{context}: step {at}: {rest:?}");
        }
    }
    let matrix = list(&page["load"]["matrix"]).iter().flat_map(list).map(number).sum::<u64>();
    assert_eq!(matrix, sent, "{context}");
    // In models in which all ranks have the same clock, the time of the row is divided among the
    // steps.
    let times = steps.iter().flat_map(|step| step["times"].as_object().unwrap().values());
    let sum: f64 = times.map(|us| us.as_f64().unwrap()).sum();
    let time = page["time_us"].as_f64().unwrap();
    assert!(
        context.contains("fluid") || (sum - time).abs() < 1e-6 + 1e-9 * time,
        "{context}: {sum}"
    );
}

/// Schedules of all kinds, for example with virtual nodes, byte counts or switches.
const SCHEDULES: [&str; 16] = [
    "--topology torus:3x5 --algorithm suh-shin --workload uniform:64",
    "--topology mesh:2x4 --algorithm pex --workload irregular:dist=uniform,mean=64,cv=0.5",
    "--topology ring:6 --algorithm ring-allreduce --workload allreduce/uniform:384",
    "--topology torus:4x4 --algorithm torus-broadcast --workload broadcast/uniform:64",
    "--topology graph:g.txt --algorithm flow --workload uniform:64",
    "--topology fat-tree:2x3 --algorithm bruck --workload uniform:64",
    "--topology mesh:2x2,ranks=2 --algorithm pairwise --workload uniform:64",
    "--topology ring:8 --algorithm direct-dispatch --workload dispatch/moe:experts=8,tokens=4,top=2,bytes=8",
    "--topology mesh:2x2 --algorithm linear --workload uniform:64 --machine free:model=fluid,startup_us=3,byte_us=0.5",
    "--topology ring:4 --algorithm schedule:file=own.json --workload uniform:64",
    "--topology ring:5 --algorithm ring --workload allgather/uniform:64",
    "--topology mesh:2x4,mesh=a:2/b:4 --algorithm bruck --workload uniform:64,over=b",
    "--topology torus:4x4,mesh=a:4/b:4 --algorithm linear --workload scatter/uniform:64,over=a,root=1",
    "--topology fat-tree:4x2,mesh=a:4/b:4 --algorithm scatter-allgather --workload broadcast/uniform:64,over=a",
    "--topology torus:4x4 --algorithm bruck --workload uniform:64,over=file:c.txt",
    "--topology torus:4x4,mesh=a:4/b:4 --algorithm linear --workload irregular:dist=uniform,mean=64,cv=0.5,over=a",
];

fn folder() -> TempDir {
    let dir = tempdir().unwrap();
    std::fs::write(dir.path().join("g.txt"), "0 1\n1 2\n2 3\n3 0\n0 2\n").unwrap();
    std::fs::write(dir.path().join("c.txt"), "0 1 2 3 4\n5 9 13\n15 14 11 10\n").unwrap();
    let own = dir.path().join("own.json");
    swapmeet(&words(
        "trace --topology ring:4 --algorithm ring --workload uniform:64 --format json",
    ))
    .arg("--out")
    .arg(own)
    .assert()
    .success();
    dir
}

#[test]
fn the_data_of_a_page_is_the_trace() {
    let dir = folder();
    for args in SCHEDULES {
        let data = data(&page(dir.path(), args));
        let json = swapmeet(&["trace", "--format", "json"])
            .args(words(args))
            .current_dir(dir.path())
            .output()
            .unwrap();
        let trace: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(data[0]["trace"] == trace, "{args}");
        assert_eq!(data[0]["complete"], true);
        compare_steps(&data[0], args);
    }
}

/// The row of a case arrives before the last facts of its steps. If an interrupt comes between the
/// two, there must be no page that lacks steps.
#[test]
fn an_interrupted_page_is_complete_or_missing() {
    const CASE: [&str; 4] = ["--topology", "torus:16x16", "--algorithm", "pairwise"];
    const STEPS: usize = 255;
    let dir = tempdir().unwrap();
    let out = dir.path().join("page.html");
    let (mut complete, mut interrupted) = (0, 0);
    let tries: u32 = if runs_all() { 240 } else { 4 };
    for try_number in 0..tries {
        let mut trace = interruptible();
        trace.args(["trace", "--format", "html", "--force", "--out", "page.html"]).args(CASE);
        trace.current_dir(dir.path()).stderr(Stdio::null());
        let mut trace = trace.spawn().unwrap();
        // If the worker has started, the program handles signals already, because it does so first.
        let threads = format!("/proc/{}/task", trace.id());
        let has_worker = || {
            let threads = std::fs::read_dir(&threads).into_iter().flatten().flatten();
            let mut children = threads.map(|thread| thread.path().join("children"));
            children.any(|ids| std::fs::read_to_string(ids).is_ok_and(|ids| !ids.is_empty()))
        };
        while trace.try_wait().unwrap().is_none() && !has_worker() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(u64::from(try_number * 137 % 400)));
        drop(Command::new("kill").args(["-INT", &trace.id().to_string()]).output());
        match trace.wait().unwrap().code() {
            Some(0) => {
                let data = &data(&std::fs::read_to_string(&out).unwrap())[0];
                assert_eq!(data["complete"], true);
                assert_eq!(list(&data["steps"]).len(), STEPS);
                assert!(data["load"].is_object(), "the page has no load matrix");
                complete += 1;
            }
            code => {
                assert_eq!((code, out.exists()), (Some(130), false));
                interrupted += 1;
            }
        }
        drop(std::fs::remove_file(&out));
    }
    assert!(interrupted > 0, "{complete} pages, none of them interrupted");
}

#[test]
fn every_family_of_networks_is_drawn() {
    let dir = folder();
    let specs = families().iter().map(|family| match family.example {
        "" => "graph:g.txt",
        example => example,
    });
    for spec in specs {
        let page = page(dir.path(), &format!("--topology {spec} --algorithm ring"));
        let network = &data(&page)[0]["network"];
        let vertices = list(&network["positions"]).len() as u64;
        let ends = list(&network["links"]).iter().flat_map(list).map(number);
        assert_eq!(ends.max().map(|vertex| vertex + 1), Some(vertices), "{spec}");
    }
    let large = data(&page(
        dir.path(),
        "--topology ring:257 --algorithm torus-broadcast --workload broadcast/uniform:1",
    ));
    assert!(large[0]["network"].is_null() && list(&large[0]["load"]["matrix"]).len() == 52);
}

#[test]
fn a_page_has_no_single_node_and_at_most_two_schedules() {
    for (more, message) in [
        (
            "--format html --node 1",
            "--format html: a page has all steps, nodes and times; remove --step, --node and --times",
        ),
        (
            "--format html --algorithm ring --algorithm pairwise",
            "--format html: a page has at most 2 schedules, found 3",
        ),
        (
            "--format json --algorithm ring",
            "--algorithm: expected one, found 2 (--format html shows two side by side)",
        ),
    ] {
        let output = swapmeet(&words("trace --topology ring:4 --algorithm linear"))
            .args(words(more))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
}

#[test]
fn a_report_links_to_schedules() {
    let dir = folder();
    let run = |args: &str| swapmeet(&words(args)).current_dir(dir.path()).output().unwrap();
    run("run --topology ring:4 --algorithm ring --quiet --out rows.csv");
    run("trace --topology ring:4 --algorithm ring --format html --out a#b?.html");
    let output = run("report rows.csv --schedule a#b?.html --out report.html");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(report.contains("<li><a href=\"./a%23b%3F.html\">ring on ring:4</a></li>"), "{report}");
    let output = run("report rows.csv --schedule rows.csv --out other.html");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("--schedule rows.csv: expected a page of `swapmeet trace --format html`"),
        "{errors}"
    );
}

/// A script that uses the controls and the keys of the page, and writes the faults that it finds
/// into the title.
const USE_THE_PAGE: &str = r#"<script>addEventListener("load", async () => {
    const faults = [], check = (holds, what) => holds || faults.push(what);
    const byId = (id) => document.getElementById(id);
    while (byId("player").hidden && byId("error").hidden) await new Promise((done) => setTimeout(done, 10));
    check(byId("error").hidden, byId("error").textContent);
    const [pane] = document.querySelectorAll(".pane"), text = (name) => pane.querySelector(name).textContent;
    const key = (name, target = document.body) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
    const set = (id, value, event) => { byId(id).value = value; byId(id).dispatchEvent(new Event(event)); };
    const at = (step) => check(byId("position").textContent === `${step} / 15`, `${byId("position").textContent} is not ${step}`);
    // Returns how many pixels of a canvas have a colour of the style.
    const count = (canvas, name) => {
        const probe = document.createElement("canvas").getContext("2d");
        probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
        probe.fillRect(0, 0, 1, 1);
        const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let found = 0;
        for (let i = 0; i < all.length; i += 4) found += all[i] === r && all[i + 1] === g && all[i + 2] === b && all[i + 3] === 255;
        return found;
    };
    const heats = (canvas) => ["--heat-0", "--heat-1", "--heat-2", "--heat-3"].reduce((sum, name) => sum + count(canvas, name), 0);
    const picture = pane.querySelector(".picture"), bars = pane.querySelector(".bars");
    // Before the first step, the colours of the bars have a legend, and both panes have one scale.
    check(/^All steps: .*startup .*s/.test(text(".parts")), text(".parts"));
    const scales = [...document.querySelectorAll(".bars-title")].map((title) => title.textContent);
    check(/from 0 to .*s$/.test(scales[0]) && scales.every((scale) => scale === scales[0]), scales.join("; "));
    // Clicks and keys.
    at(0); check(heats(picture) === 0, "coloured before the first step"); check(count(picture, "--node") > 100, "no nodes");
    byId("next").click(); at(1); check(heats(picture) > 50, "no load in step 1");
    // In step 2, some links carry two messages, which is the most: they have the last colour of the legend.
    key("ArrowRight"); at(2); check(count(picture, "--heat-3") > 50, "the largest load has another colour"); key("ArrowLeft"); at(1); key("End"); at(15); key("Home"); at(0);
    key("ArrowRight", byId("node")); at(0); key("ArrowRight", byId("play")); at(1);
    key(" "); check(byId("play").textContent === "Pause", "space does not play");
    check(pane.querySelector(".now").getAttribute("aria-live") === "off", "speaks while it plays");
    await new Promise((done) => setTimeout(done, 1200)); key(" ");
    const played = +byId("position").textContent.split(" ")[0];
    check(played >= 2 && byId("play").textContent === "Play", `played to ${played}`);
    set("step", 3, "input"); at(3); check(text(".now").startsWith("Step 3 of 15"), text(".now"));
    bars.dispatchEvent(new MouseEvent("click", { clientX: bars.getBoundingClientRect().left + 1, clientY: bars.getBoundingClientRect().top + 5 })); at(1);
    check(count(bars, "--startup") > 5, "no bars"); check(/startup .*s/.test(text(".parts")), text(".parts"));
    // What a node holds and where a block travels. In step s of the rotation by `pairwise`, node v
    // exchanges with node v xor s, so the block from 0 for 5 is sent in step 5.
    set("origin", 0, "input"); set("destination", 5, "input"); set("step", 4, "input");
    check(text(".where") === "Held by node 0 after step 4.", text(".where"));
    set("step", 5, "input"); check(text(".where") === "Held by node 5 after step 5.", text(".where"));
    check(text(".route").startsWith("step 5: 0 to 5"), text(".route"));
    set("node", 5, "input"); check(text(".node-title") === "Node 5 (1,1)", text(".node-title"));
    check(text(".sends").includes("Receives from: 0 (0,0)"), text(".sends"));
    check(text(".holds").includes("from 0, 4 for 5") || text(".holds").includes("for 5"), text(".holds"));
    set("quantity", "held", "change"); check(heats(picture) > 50, "nodes are not coloured"); set("quantity", "bytes", "change");
    set("picture", "matrix", "change"); check(heats(picture) > 50, "no matrix"); set("picture", "network", "change");
    // A click on a node selects it.
    const box = picture.getBoundingClientRect();
    for (let y = 4; y < box.height; y += 8) for (let x = 4; x < box.width; x += 8) if (byId("node").value === "5") picture.dispatchEvent(new MouseEvent("click", { clientX: box.left + x, clientY: box.top + y }));
    check(byId("node").value === "0", `clicks choose ${byId("node").value}`);
    // Everything has a label, and nothing is wider than the window.
    for (const element of document.querySelectorAll("input, select")) check(element.labels.length && element.labels[0].textContent.trim(), `${element.id} has no label`);
    for (const element of document.querySelectorAll("canvas, button")) check(element.getAttribute("aria-label") || element.textContent.trim(), `${element.id || element.className} has no label`);
    const wide = document.documentElement.clientWidth;
    for (const element of document.querySelectorAll("body *")) { const box = element.getBoundingClientRect(); if (box.width && box.right > wide + .5) check(getComputedStyle(element).position === "absolute", `${element.tagName}.${element.className} is cut off at ${Math.round(box.right)} of ${wide}`); }
    check(document.querySelectorAll(".pane").length === 2, "not two schedules");
    const style = getComputedStyle(document.body), light = (c) => c.match(/\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
    check(Math.abs(light(style.color) - light(style.backgroundColor)) > 400, `${style.color} on ${style.backgroundColor}`);
    top.document.title += `${innerWidth} wide, ${light(style.backgroundColor) < 200 ? "dark" : "light"}, faults: ${faults.join("; ")}. `;
});</script></body>"#;

#[test]
fn the_page_plays_in_a_browser_of_any_width_light_and_dark() {
    let dir = folder();
    let page = page(dir.path(), "--topology torus:4x4 --algorithm pairwise --algorithm suh-shin");
    let shown = dir.path().join("shown.html");
    let patience = "--virtual-time-budget=10000".to_owned();
    let blocked = page.replace("</body>", "<script>document.title = 'hostile'</script></body>");
    std::fs::write(&shown, blocked).unwrap();
    let Some(dom) = opened(&dir, &shown, 1000, std::slice::from_ref(&patience)) else { return };
    assert!(dom.contains("<title>pairwise and suh-shin on torus:4x4</title>"), "{dom}");
    assert!(dom.contains("Before the first step."), "{dom}");
    for word in ["src=", "href=", "url(", "@import", "http:", "https:"] {
        assert!(!page.contains(word), "{word}");
    }
    // The policy of the page allows no other scripts, so the test removes the policy.
    let (before, rest) = page.split_once("<meta http-equiv").unwrap();
    let page =
        format!("{before}{}", rest.split_once('>').unwrap().1).replace("</body>", USE_THE_PAGE);
    // A browser window cannot be as narrow as a phone, so the page is shown in a frame.
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    for (widths, scheme) in [(&[380, 1600][..], "light"), (&[1000], "dark")] {
        let frames: String = widths
            .iter()
            .map(|w| format!("<iframe style=\"width: {w}px; height: 1500px; border: 0\" srcdoc=\"{quoted}\"></iframe>"))
            .collect();
        let style = "<style>:root { color-scheme: light dark; }</style>";
        let page = format!("<!DOCTYPE html><title></title>{style}{frames}");
        std::fs::write(&shown, page).unwrap();
        let number = if scheme == "dark" { 0 } else { 1 };
        let more = [patience.clone(), format!("--blink-settings=preferredColorScheme={number}")];
        let dom = opened(&dir, &shown, 1700, &more).unwrap();
        let title = dom.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        for width in widths {
            let expected = format!("{width} wide, {scheme}, faults: .");
            assert!(title.contains(&expected), "{width} {scheme}: {title}");
        }
    }
}

/// The page has all steps up to the fault, the faulty send and the reason.
#[test]
fn a_wrong_schedule_is_shown_up_to_the_fault() {
    let dir = tempdir().unwrap();
    let (out, file) = (dir.path().join("wrong.html"), dir.path().join("wrong.json"));
    let event = |step: u64, from: u64, to: u64, origin: u64| {
        format!(
            "{{\"step\":{step},\"from\":{from},\"to\":{to},\"copy\":true,\"blocks\":[{{\"origins\":[[{origin},{origin}]]}}]}}"
        )
    };
    let events = [event(1, 0, 1, 0), event(1, 1, 2, 1), event(2, 2, 0, 1), event(2, 1, 0, 2)];
    let head = r#"{"schedule":{"format":"swapmeet-schedule","version":1,"nodes":3,"collective":"allgather"},"events":["#;
    std::fs::write(&file, format!("{head}{}]}}", events.join(","))).unwrap();
    let algorithm = format!("schedule:file={}", file.display());
    let run = swapmeet(&["trace", "--format", "html", "--topology", "fully-connected:3"])
        .args(["--workload", "allgather/uniform:8", "--algorithm", &algorithm, "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{message}");
    let data = data(&std::fs::read_to_string(&out).unwrap());
    let outcome = &data[0]["trace"]["outcome"];
    assert_eq!(outcome["status"], "invalid", "{outcome}");
    assert!(message.contains(outcome["reason"].as_str().unwrap()), "{message}");
    let steps = list(&data[0]["steps"]);
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert_eq!(steps[1]["at_fault"], serde_json::json!([1, 0]), "{steps:?}");
    let sends: Vec<(u64, u64)> = list(&data[0]["trace"]["events"])
        .iter()
        .filter(|event| event["from"].is_number())
        .map(|event| (number(&event["from"]), number(&event["to"])))
        .collect();
    assert_eq!(sends, [(0, 1), (1, 2), (2, 0)], "the send at fault moves nothing");
    std::fs::remove_file(&out).unwrap();
    let none = swapmeet(&words("trace --format html --topology ring:3 --algorithm pex --out"))
        .arg(&out)
        .output()
        .unwrap();
    assert!(none.status.success() && !out.exists());
}

/// For each pane, measures in percent how much of the width of its canvas the network fills, and how
/// much of the height of its canvas the highest bar fills. All panes have one scale for bars, that of
/// the longest step of both schedules.
const MEASURE: &str = r#"<script>addEventListener("load", async () => {
    while (document.getElementById("player").hidden) await new Promise((done) => setTimeout(done, 10));
    const extent = (canvas, axis) => {
        const { width, height } = canvas, all = canvas.getContext("2d").getImageData(0, 0, width, height).data;
        const found = [];
        for (let i = 3; i < all.length; i += 4) if (all[i]) found.push(axis === "x" ? ((i - 3) / 4) % width : Math.floor((i - 3) / 4 / width));
        const [least, most] = found.reduce(([a, b], c) => [Math.min(a, c), Math.max(b, c)], [Infinity, 0]);
        return (100 * (most - least)) / (axis === "x" ? width : height);
    };
    const of = (name, axis) => [...document.querySelectorAll(name)].map((canvas) => Math.round(extent(canvas, axis)));
    document.title = `wide ${of(".picture", "x").join(" ")}, high ${of(".bars", "y").join(" ")}.`;
});</script></body>"#;

/// A network of three dimensions fills at least 80 % of its picture. Only the bar of the longest
/// step of both schedules is as high as its canvas.
#[test]
fn networks_fill_their_pictures_and_bars_have_one_scale() {
    let dir = folder();
    let page = page(dir.path(), "--topology torus:4x4x4 --algorithm pairwise --algorithm suh-shin");
    let longest = |at: usize| {
        let data = data(&page);
        let of = |step: &Value| {
            let times = step["times"].as_object().unwrap().values();
            times.map(|us| us.as_f64().unwrap()).sum::<f64>()
        };
        list(&data[at]["steps"]).iter().map(of).fold(0.0, f64::max)
    };
    let (before, rest) = page.split_once("<meta http-equiv").unwrap();
    let measured = format!("{before}{}", rest.split_once('>').unwrap().1);
    let shown = dir.path().join("shown.html");
    std::fs::write(&shown, measured.replace("</body>", MEASURE)).unwrap();
    let patience = "--virtual-time-budget=10000".to_owned();
    let Some(dom) = opened(&dir, &shown, 1400, &[patience]) else { return };
    let title = dom.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    let numbers: Vec<f64> = title
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap())
        .collect();
    let [first, second, high, other] = numbers[..] else { panic!("{title}") };
    assert!(first >= 80.0 && second >= 80.0, "{title}");
    let ratio = longest(0) / longest(1);
    assert!((high / other - ratio).abs() < 0.1 * ratio, "{title}, expected a ratio of {ratio}");
    assert!(high.max(other) > 85.0, "{title}");
}
