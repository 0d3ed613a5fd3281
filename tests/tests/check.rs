//! Runs `swapmeet check` on plugins. If a plugin has a known mistake, the responsible test must
//! find it. If it has none, there must be no findings.

use crate::support::{compile_c, printed, swapmeet, tools, words, wrong};
use predicates::prelude::*;
use serde_json::Value;
use std::path::Path;
use swapmeet_runner::plugin::Plugin;
use swapmeet_tests::{plugin_file, project};
use tempfile::tempdir;

mod tried;
mod wrong_plugins;

fn check(file: &Path, args: &str) -> (i32, Value) {
    let mut check = swapmeet(&["check", file.to_str().unwrap(), "--format", "json"]);
    let output = check.args(words(args)).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

fn findings(report: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let all = report["findings"].as_array().unwrap().iter();
    all.map(|f| {
        ["severity", "test", "algorithm", "place", "what"].map(|key| text(f, key)).join(" ")
    })
    .collect()
}

fn faults(report: &Value) -> Vec<String> {
    findings(report).into_iter().filter(|finding| finding.starts_with("fault ")).collect()
}

/// Small networks of every kind, on which wrong rules usually have an effect.
const SHORT_LADDER: &str = "--topology fully-connected:1 --topology ring:2 --topology ring:7 \
    --topology torus:4x4 --topology torus:8x12 --topology torus:3x5 --topology mesh:6x6 \
    --topology hypercube:4";

const TINY_NETWORKS: &str = "--topology ring:1 --topology ring:2 --topology ring:3 \
    --topology ring:7 --topology torus:2x2 --topology torus:4x4 --topology torus:3x5 \
    --topology mesh:4x4 --topology hypercube:2 --topology hypercube:3";

/// Some algorithms do not run on the tiny networks, so these larger ones are added. If an algorithm
/// ran on only one network, it would get a remark.
const LARGER_NETWORKS: &str =
    "--topology torus:4x8 --topology rdn:1(hypercube:2) --topology rdn:1(ring:3)";

/// Checks one bundled plugin, or all of them with `SWAPMEET_TESTS=all`. The matrix in
/// `algorithms/matrix.rs` tests whether all bundled algorithms are right.
#[test]
fn the_bundled_plugins_pass() {
    let plugins = swapmeet_tests::bundled_plugins();
    let names = plugins.plugins().iter().map(|plugin| plugin.name.as_str());
    let runs_all = tools::runs_all();
    let names: Vec<&str> = names.filter(|name| runs_all || *name == "hypercube").collect();
    assert!(names.contains(&"hypercube"), "{names:?}");
    for name in names {
        // A search for schedules takes seconds on larger networks, because every schedule is
        // planned several times.
        let larger = if name == "synthesis" { "" } else { LARGER_NETWORKS };
        let file = plugin_file(&format!("swapmeet_plugin_{}", name.replace('-', "_")));
        let (code, report) = check(&file, &format!("{TINY_NETWORKS} {larger}"));
        // If sides are odd, some schedules have empty rounds on purpose, which gives a remark.
        let found: Vec<String> =
            findings(&report).into_iter().filter(|f| !f.starts_with("remark waste ")).collect();
        assert_eq!((code, found), (0, vec![]), "{name}");
    }
}

/// In the last step of an allgather on a hypercube of 2^d nodes, partners send 2^(d - 1) blocks to
/// each other before they receive any. If a connection has fewer slots than this, both partners
/// wait for a free slot.
#[test]
fn a_depth_of_connections_finds_deadlocks() {
    let file = plugin_file("swapmeet_plugin_hypercube");
    let args = "--algorithm hypercube-allgather --topology hypercube:4 --topology hypercube:2";
    let (code, report) = check(&file, &format!("{args} --fifo-depth 7"));
    let found = findings(&report);
    let expected = "fault liveness hypercube-allgather hypercube:4 deadlock with 7 slots, one for each block: rank 0 waits for a free slot to rank 1, rank 1 waits for a free slot to rank 0; there is none from 8 slots on";
    assert_eq!((code, found), (1, vec![expected.to_owned()]));
    let (code, report) = check(&file, &format!("{args} --fifo-depth 8"));
    assert_eq!((code, findings(&report)), (0, vec![]));
}

/// The misprinted rules of the papers must fail, and their corrections must pass. A misprinted rule
/// and its correction share all other code. The corrections are checked on all networks, and each
/// misprint on the network on which it has an effect.
#[test]
fn misprinted_rules_fail_and_corrected_ones_pass() {
    let file = plugin_file("misprints");
    let check_on = |networks: &[&str], algorithms: &[&str]| {
        let all = [("topology", networks), ("algorithm", algorithms)].into_iter();
        let flags =
            all.flat_map(|(flag, specs)| specs.iter().map(move |s| format!("--{flag} {s}")));
        check(&file, &flags.collect::<Vec<_>>().join(" "))
    };
    let plugin = Plugin::load(&file).unwrap();
    let names = plugin.algorithms.iter().map(|algorithm| algorithm.name.as_str());
    let mended: Vec<&str> = names.filter(|name| name.ends_with("mended")).collect();
    let (code, report) = check_on(&["ring:7", "torus:4x4", "torus:8x12", "mesh:6x6"], &mended);
    assert_eq!((code, findings(&report)), (0, vec![]));
    let examined = report["algorithms"].as_array().unwrap();
    assert!(examined.len() == mended.len() && mended.len() >= 5, "{report}");
    for examined in examined {
        assert!(examined["verified"].as_u64().unwrap() >= 8, "{examined}");
    }
    let expected = [
        ("suh-shin-mesh-step-2", "delivers", "mesh:6x6", "missing in total: 324 blocks"),
        ("suh-shin-figure-5", "delivers", "torus:8x12", "missing in total: 2304 blocks"),
        ("suh-shin-hops-ahead", "delivers", "torus:8x12", "missing in total: "),
        ("pex-gen-shift-figure-4", "delivers", "mesh:6x6", "sends to itself"),
        ("stalls-printed", "ports", "ring:7", "receives 2 messages, from "),
        ("sums-counted-twice", "delivers", "ring:7", "contribution to part 0 of the vector twice"),
        ("sums-left-out", "delivers", "ring:7", "missing in total: 49 contributions at 7 nodes"),
        ("sums-replaced", "delivers", "ring:7", "the received value replaces its own value"),
        ("shifts-leaving-out", "delivers", "ring:7", "missing in total: 7 blocks at 7 nodes"),
        ("shifts-sending-twice", "delivers", "ring:7", "block 0 -> 1 is delivered twice"),
        ("shifts-not-held", "delivers", "ring:7", "which it does not hold"),
        ("shifts-two-a-port", "ports", "ring:7", "2 messages"),
        (
            "shifts-not-symmetric",
            "symmetry",
            "ring:7",
            "the claim of symmetry is wrong: step 1: node 1 does not send to node 2, although node 0 sends to node 1",
        ),
        (
            "shifts-without-rank-3",
            "symmetry",
            "ring:7",
            "the claim of symmetry is wrong: step 1: node 3 does not send to node 4, although node 0 sends to node 1",
        ),
        (
            "shifts-gone-through-twice",
            "symmetry",
            "ring:7",
            "in each step, a plan visits each requested node once, in ascending order",
        ),
    ];
    let mut found = Vec::new();
    for network in ["ring:7", "torus:8x12", "mesh:6x6"] {
        let here = expected.iter().filter(|(.., place, _)| *place == network);
        let (code, report) =
            check_on(&[network], &here.map(|(name, ..)| *name).collect::<Vec<_>>());
        assert_eq!(code, 1);
        found.extend(findings(&report));
    }
    // The misprint in phase 4 has an effect only in three dimensions, and only on large networks.
    // The first tier has a test of its row instead (`the_misprint_of_phase_4_leaves_blocks_behind`).
    let mut of_large = None;
    if tools::runs_all() {
        let (code, report) =
            check_on(&["torus:8x8x8"], &["suh-shin-3d-phase-4", "suh-shin-mended"]);
        assert_eq!(code, 1);
        found.extend(findings(&report));
        let missing = "missing in total: 131072 blocks";
        of_large = Some(("suh-shin-3d-phase-4", "delivers", "torus:8x8x8", missing));
    }
    for (algorithm, test, place, what) in expected.into_iter().chain(of_large) {
        let start = format!("fault {test} {algorithm} {place} ");
        assert!(
            found.iter().any(|f| f.starts_with(&start) && f.contains(what)),
            "{start}.. {what}: {found:#?}"
        );
    }
    let first = found.iter().find(|f| f.contains(" shifts-without-rank-3 ")).unwrap();
    assert!(first.starts_with("fault symmetry "), "{first}");
    let innocent: Vec<&String> = found.iter().filter(|f| f.contains("mended")).collect();
    assert_eq!(innocent, [""; 0]);
}

#[test]
fn names_of_bundled_algorithms_give_a_remark() {
    let dir = tempdir().unwrap();
    let macros =
        [("PLAN", "return shift(problem, host);"), ("TABLE", "wrong.name = text(\"bruck\");")];
    let Some(file) = wrong(dir.path(), "taken", &macros) else { return };
    let (code, report) = check(&file, "--topology ring:4");
    let taken = "the bundled plugin `classic` has an algorithm of this name: one hides the other";
    assert!(
        findings(&report)
            .iter()
            .any(|f| f.starts_with("remark tables bruck ") && f.ends_with(taken))
    );
    assert_eq!(code, 0);
    let new = swapmeet(&["new-plugin", "bruck"]).current_dir(dir.path()).output().unwrap();
    let message = String::from_utf8_lossy(&new.stderr).into_owned();
    assert!(message.contains("the bundled plugin `classic` has an algorithm `bruck`"), "{message}");
}

/// Each case of a hanging plugin takes the full time limit, so `check` stops after two such cases.
#[test]
fn a_plugin_that_always_hangs_is_given_up() {
    let dir = tempdir().unwrap();
    let plan = [("PLAN", "for (;;) { } return SWM_OK;")];
    let Some(file) = wrong(dir.path(), "hangs", &plan) else { return };
    let (code, report) = check(&file, &format!("{SHORT_LADDER} --timeout 0.1"));
    let time: Vec<String> =
        findings(&report).into_iter().filter(|f| f.contains(" time ")).collect();
    assert_eq!((code, time.len()), (1, 3), "{time:?}");
    assert!(time[2].starts_with("remark time wrong ring:2 given up"), "{time:?}");
}

/// The limit applies to the growth of the memory, not to the memory that the program already has.
/// The plugin requests 70 MiB, more than the limit of 64 MiB. The system takes long to provide so
/// much memory, so the plugin requests it only for blocks of 8 bytes, as in the first case, and
/// only once in each process.
#[test]
fn the_memory_limit_stops_a_plugin() {
    let dir = tempdir().unwrap();
    let eats = "static int plans; char *all; if (plans++ || host->block_bytes(host->ctx) != 8) return shift(problem, host); all = malloc(70u << 20); \
        if (!all) { host->fail(host->ctx, text(\"no memory\")); return SWM_ERROR; } \
        memset(all, 1, 70u << 20); free(all); return shift(problem, host);";
    let Some(file) = wrong(dir.path(), "eats", &[("PLAN", eats)]) else { return };
    let (code, report) = check(&file, "--topology ring:4 --memory-limit 64MiB");
    assert_eq!(code, 1);
    let found = findings(&report);
    assert!(found.iter().any(|f| f == "fault delivers wrong ring:4 error: no memory"), "{found:?}");
    let (_, report) = check(&file, "--topology ring:4");
    let fattest = report["algorithms"][0]["fattest"][0].as_u64().unwrap();
    assert!(cfg!(not(target_os = "linux")) || (70 << 20..85 << 20).contains(&fattest), "{fattest}");
}

#[test]
fn two_concurrent_plans_may_use_twice_the_memory() {
    if !tools::runs_all() {
        return;
    }
    let dir = tempdir().unwrap();
    let eats = "char *all; if (host->block_bytes(host->ctx) != 8) return shift(problem, host); all = malloc(120u << 20); \
        if (!all) { host->fail(host->ctx, text(\"no memory\")); return SWM_ERROR; } \
        for (int i = 0; i < 4; i++) memset(all, i + problem->topology->nodes, 120u << 20); free(all); return shift(problem, host);";
    let Some(file) = wrong(dir.path(), "two", &[("PLAN", eats)]) else { return };
    let (code, report) = check(&file, "--topology ring:4 --memory-limit 220MiB");
    assert_eq!((code, faults(&report)), (0, vec![]));
}

#[test]
fn the_report_is_readable() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    let text = printed(&[&["check", file.to_str().unwrap()], &words(SHORT_LADDER)[..]].concat());
    let steady: Vec<&str> =
        text.lines().filter(|l| !l.starts_with("  time ") && !l.starts_with("  memory ")).collect();
    insta::assert_snapshot!(steady.join("\n"), @r"
        ring-c 0.1.0, plugin ABI 1.2, MIT OR Apache-2.0

        c-ring (alltoall)
          verified  24 of 24 cases, every block, up to 96 nodes
          ports     1 claimed, 1 used at most

        passed: 0 faults, 0 remarks
        ");
    assert!(text.contains("  time      "), "{text}");
}

/// If an algorithm has several collectives, a finding that does not name one could not be
/// reproduced.
#[test]
fn faults_name_their_collective() {
    let dir = tempdir().unwrap();
    let all =
        [("TABLE", "wrong.collectives = 1u << SWM_GATHER | 1u << SWM_SCATTER; wrong.ports = 1;")];
    let Some(file) = wrong(dir.path(), "several", &all) else { return };
    let (_, report) = check(&file, "--topology ring:4");
    let workloads: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["workload"].as_str())
        .collect();
    assert!(
        workloads.contains(&"gather/uniform:8") && workloads.contains(&"scatter/uniform:8"),
        "{workloads:?}"
    );
    let output =
        swapmeet(&["check", file.to_str().unwrap(), "--topology", "ring:4"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("FAULT   delivers: ring:4, scatter/uniform:8: invalid: "), "{text}");
    assert!(
        text.contains("  verified  0 of 2 cases; 2 failed\n  ports     1 claimed, not measured\n"),
        "{text}"
    );
}

#[test]
fn byte_counts_and_unsupported_machines_are_reported() {
    let dir = tempdir().unwrap();
    let plan = [("PLAN", "return redistribute_and_collect(problem, host);")];
    let Some(file) = wrong(dir.path(), "amounts", &plan) else { return };
    let text = printed(&["check", file.to_str().unwrap(), "--topology", "ring:4"]);
    assert!(text.contains(", every byte of amounts, up to 4 nodes"), "{text}");
    let nothing = [("TABLE", "wrong.collectives = 1u << 20;")];
    let Some(file) = wrong(dir.path(), "nothing", &nothing) else { return };
    let (code, report) = check(&file, "--topology ring:4");
    assert_eq!(code, 1);
    assert!(
        findings(&report).iter().any(|f| f.contains("nothing was tried")),
        "{:?}",
        findings(&report)
    );
}

#[test]
fn files_that_cannot_be_checked_are_bad_usage() {
    let refused = |args: &[&str], message: &str| {
        swapmeet(args).assert().code(2).stdout("").stderr(predicate::str::contains(message));
    };
    refused(&["check", "/nowhere/at-all.so"], "/nowhere/at-all.so: no such file");
    refused(
        &["check", "/"],
        "/: is a folder, expected a plugin's file such as target/release/libmy_ring.so",
    );
    refused(&["check", "x.so", "--memory-limit", "1KiB"], "expected at least 64MiB");
    let cargo = project("Cargo.toml");
    refused(&["check", cargo.to_str().unwrap(), "--topology", "tours:3"], "did you mean `torus`?");
    let (code, report) = check(&cargo, "");
    assert_eq!(code, 1);
    assert!(
        findings(&report)[0].contains("not a library that can be loaded"),
        "{:?}",
        findings(&report)
    );
}
