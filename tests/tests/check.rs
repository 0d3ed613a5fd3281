//! Runs `swapmeet check` on plugins with a known mistake. The test that is responsible for a
//! mistake must find it, and plugins without a mistake must have no findings.

use crate::support::{compile_c, swapmeet};
use predicates::prelude::*;
use serde_json::Value;
use std::path::Path;
use swapmeet_tests::{build, project};
use tempfile::tempdir;

mod tried;

/// Returns exit status and report of `swapmeet check FILE ARGS --format json`.
fn check(file: &Path, args: &[&str]) -> (i32, Value) {
    let output = swapmeet(&["check", file.to_str().unwrap(), "--format", "json"])
        .args(args)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

/// Formats every finding as `severity test algorithm place what`.
fn findings(report: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let all = report["findings"].as_array().unwrap().iter();
    all.map(|f| {
        ["severity", "test", "algorithm", "place", "what"].map(|key| text(f, key)).join(" ")
    })
    .collect()
}

/// Returns the findings whose severity is `fault`.
fn faults(report: &Value) -> Vec<String> {
    findings(report).into_iter().filter(|finding| finding.starts_with("fault ")).collect()
}

/// Small networks of every kind, on which wrong rules usually have an effect.
const SHORT_LADDER: [&str; 16] = [
    "--topology",
    "fully-connected:1",
    "--topology",
    "ring:2",
    "--topology",
    "ring:7",
    "--topology",
    "torus:4x4",
    "--topology",
    "torus:8x12",
    "--topology",
    "torus:3x5",
    "--topology",
    "mesh:6x6",
    "--topology",
    "hypercube:4",
];

/// Networks of at most 16 nodes.
const SMALL_LADDER: [&str; 14] = [
    "--topology",
    "fully-connected:1",
    "--topology",
    "ring:2",
    "--topology",
    "ring:7",
    "--topology",
    "torus:4x4",
    "--topology",
    "torus:3x5",
    "--topology",
    "mesh:3x3",
    "--topology",
    "hypercube:3",
];

/// Additional sizes of networks that some algorithms require. Without them, these algorithms would
/// run on a single network, which gives a remark.
const SPECIAL_SIZES: [&str; 12] = [
    "--topology",
    "torus:4x4x8",
    "--topology",
    "rdn:1(hypercube:2)",
    "--topology",
    "rdn:1(ring:3)",
    "--topology",
    "hypercube:3",
    "--topology",
    "torus:2x2",
    "--topology",
    "ring:1",
];

#[test]
fn the_bundled_plugins_pass() {
    let mut plugins = 0;
    for entry in std::fs::read_dir(build()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("libswapmeet_plugin_")
            && name.ends_with(std::env::consts::DLL_EXTENSION)
        {
            // A search for schedules takes more than the limit of 10 s on hundreds of nodes,
            // because the check plans every schedule several times.
            let topologies = match name.contains("synthesis") {
                true => SMALL_LADDER.to_vec(),
                false => [&SHORT_LADDER[..], &SPECIAL_SIZES].concat(),
            };
            let (code, report) = check(&path, &topologies);
            // On odd sizes, some schedules have empty rounds on purpose. This gives a remark, which
            // is left out here.
            let found: Vec<String> =
                findings(&report).into_iter().filter(|f| !f.starts_with("remark waste ")).collect();
            assert_eq!((code, found), (0, vec![]), "{name}");
            plugins += 1;
        }
    }
    assert!(plugins >= 4, "{plugins} bundled plugins");
}

/// The misprinted rules of the papers must fail, and their corrections must pass. Both share all
/// code except the rule.
#[test]
fn misprinted_rules_fail_and_corrected_ones_pass() {
    let file = build().join(format!("libmisprints.{}", std::env::consts::DLL_EXTENSION));
    // The misprint in phase 4 has an effect only in three dimensions, and only on large networks.
    let algorithms = ["--algorithm", "suh-shin-3d-phase-4", "--algorithm", "suh-shin-mended"];
    let large = [&["--topology", "torus:8x8x8"], &algorithms[..]].concat();
    let [(code, report), (code_3d, report_3d)] =
        [&SHORT_LADDER[..], &large].map(|args| check(&file, args));
    assert_eq!((code, code_3d), (1, 1));
    let found = [findings(&report), findings(&report_3d)].concat();
    let expected = [
        ("suh-shin-3d-phase-4", "delivers", "torus:8x8x8", "missing in total: 131072 blocks"),
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
    for (algorithm, test, place, what) in expected {
        let start = format!("fault {test} {algorithm} {place} ");
        assert!(
            found.iter().any(|f| f.starts_with(&start) && f.contains(what)),
            "{start}.. {what}: {found:#?}"
        );
    }
    // If a claim of symmetry is wrong, the first finding of the algorithm must say so.
    let first = found.iter().find(|f| f.contains(" shifts-without-rank-3 ")).unwrap();
    assert!(first.starts_with("fault symmetry "), "{first}");
    let innocent: Vec<&String> = found.iter().filter(|f| f.contains("mended")).collect();
    assert_eq!(innocent, [""; 0]);
    for examined in report["algorithms"].as_array().unwrap() {
        let mended = examined["algorithm"].as_str().unwrap().ends_with("mended");
        assert!(!mended || examined["verified"].as_u64().unwrap() >= 8, "{examined}");
    }
}

/// A wrong plugin: its name, the macros for `wrong.c`, the beginning of the expected finding, and a
/// text that the finding must contain.
type Wrong = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

const WRONG: [Wrong; 24] = [
    (
        "crashes",
        &[("PLAN", "return *(volatile int32_t *)8;")],
        "fault survives wrong ring:4 ",
        "signal 11 (segmentation fault), before its first step was done",
    ),
    (
        "crashes_when_loaded",
        &[("TABLE", "plugin.name.len = *(volatile size_t *)8;")],
        "fault survives   when it is loaded",
        "signal 11",
    ),
    (
        "ends_the_process",
        &[("PLAN", "exit(0); return SWM_OK;")],
        "fault survives wrong ring:4 ",
        "the plugin ended the process, with exit status 0, before its first step was done",
    ),
    (
        "hangs",
        &[(
            "PLAN",
            "SwmBlocks s = everything(0, 1), t = everything(1, 2); one_step(host, &s); one_step(host, &t); for (;;) { } return SWM_OK;",
        )],
        "fault time wrong ring:4 ",
        "not done after 0.3 s, after step 2, and it ignores the host: killed",
    ),
    (
        "never_ends",
        &[(
            "PLAN",
            "for (;;) if (host->step(host->ctx) != SWM_OK) return SWM_STOPPED; return SWM_OK;",
        )],
        "fault time wrong ring:4 ",
        "not done after 0.3 s",
    ),
    (
        "gives_nothing",
        &[],
        "fault delivers wrong ring:4 ",
        "invalid: after step 0: block 1 -> 0 was never delivered",
    ),
    (
        "counts_its_calls",
        &[(
            "PLAN",
            "static int calls; if (calls++ % 2) return backwards(problem, host); return shift(problem, host);",
        )],
        "fault repeats wrong ring:4 ",
        "the second time the same problem gives another schedule: in step 1 node 0 sends to node 3, where the first time in step 1 node 0 sends to node 1",
    ),
    (
        // The first and the second schedule have the same number of messages between the same
        // nodes.
        "takes_what_is_for_another",
        &[("PLAN", "static uint32_t calls; return there_and_back(problem, host, calls++ % 2);")],
        "fault repeats wrong ring:4 ",
        "the second time the same problem gives another schedule",
    ),
    (
        "redistributes_another_way",
        &[(
            "PLAN",
            "static uint32_t calls; return redistribute_and_collect_from(problem, host, calls++ % 2);",
        )],
        "fault repeats wrong ring:4 ",
        "the second time the same problem gives another schedule",
    ),
    (
        "fails_the_second_time",
        &[("PLAN", "static int calls; return calls++ ? SWM_ERROR : shift(problem, host);")],
        "fault repeats wrong ring:4 ",
        "the second time the same problem is error",
    ),
    (
        "depends_on_the_process",
        &[(
            "PLAN",
            "static long run; if (!run) { FILE *runs = fopen(FOLDER \"/runs\", \"a\"); fputc('x', runs); run = ftell(runs); fclose(runs); } \
                 return run % 2 ? backwards(problem, host) : shift(problem, host);",
        )],
        "fault repeats wrong ring:4 ",
        "in another process the same problem gives another schedule: from step 1 on",
    ),
    (
        "more_ports_than_claimed",
        &[("PLAN", "return at_once(problem, host);"), ("TABLE", "wrong.ports = 2;")],
        "fault ports wrong ring:4 ",
        "in step 1 node 0 sends 3 messages, to 1, 2, 3: 2 claimed",
    ),
    (
        "more_ports_than_one_unsaid",
        &[("PLAN", "return at_once(problem, host);")],
        "remark ports wrong ring:4 ",
        "in step 1 node 0 sends 3 messages, to 1, 2, 3, but the machine has one port: they run in rounds; if this is intended, declare it in `ports`",
    ),
    (
        "another_default",
        &[
            (
                "PLAN",
                "return problem->param_count ? backwards(problem, host) : shift(problem, host);",
            ),
            (
                "TABLE",
                "static SwmParamInfo way; static const SwmParamInfo *params[] = {&way}; way.size = sizeof way; way.key = text(\"way\"); way.default_value = text(\"forth\"); way.help = text(\"?\"); \
              wrong.params = params; wrong.param_count = 1;",
            ),
        ],
        "fault defaults wrong ring:4, way=forth ",
        "`forth` is named as the default of `way`, but giving it makes another schedule",
    ),
    (
        "closes_files",
        &[(
            "PLAN",
            "int file; for (file = 3; file < 64; file++) close(file); return shift(problem, host);",
        )],
        "fault survives wrong ring:4 ",
        "closes files that it did not open",
    ),
    (
        "prints",
        &[("PLAN", "puts(\"here I am\"); return shift(problem, host);")],
        "remark quiet wrong ring:4 ",
        "prints on standard output: `here I am`; the host's log function is for that",
    ),
    (
        "sends_nothing",
        &[(
            "PLAN",
            "SwmBlocks idle = everything(0, 1); idle.origins.kind = SWM_NODE; idle.origins.node = 2; one_step(host, &idle); return shift(problem, host);",
        )],
        "remark waste wrong ring:4 ",
        "in step 1, sending to node 1, node 0 selects nothing that it holds",
    ),
    (
        "keeps_what_it_sends",
        &[("PLAN", "return keeping(problem, host);")],
        "remark waste wrong ring:4 ",
        "in step 1, sending to node 1, node 0 keeps a copy of what it sends, although the data can only be in one place; 11 such sends more",
    ),
    (
        "sends_again_what_is_there",
        &[
            (
                "PLAN",
                "uint64_t n = problem->topology->nodes; uint64_t i; for (i = 1; i <= n; i++) { SwmBlocks send = everything(problem->root, \
                 (problem->root + (i < n ? i : 1)) % n); send.flags = SWM_COPY; host->step(host->ctx); host->send_blocks(host->ctx, &send); } return SWM_OK;",
            ),
            ("TABLE", "wrong.collectives = 1u << SWM_BROADCAST;"),
        ],
        "remark waste wrong ring:4 ",
        "in step 4 node 1 is sent the root's block, and receives what it already has",
    ),
    (
        // Node 1 has already sent its own contribution when it adds the contribution of node 2 to
        // it. It never sends the sum.
        "makes_a_sum_for_nothing",
        &[
            (
                "PLAN",
                "uint64_t n = problem->topology->nodes; uint64_t i; SwmBlocks send; for (i = 1; i < n; i++) { send = everything(i, 0); send.flags = \
                 SWM_COPY | SWM_COMBINE; host->step(host->ctx); host->send_blocks(host->ctx, &send); } if (n > 2) { send.from = 2; send.to = 1; \
                 host->step(host->ctx); host->send_blocks(host->ctx, &send); } for (i = 1; i < n; i++) { send = everything(0, i); send.flags = \
                 SWM_COPY; host->step(host->ctx); host->send_blocks(host->ctx, &send); } return SWM_OK;",
            ),
            ("TABLE", "wrong.collectives = 1u << SWM_ALLREDUCE;"),
        ],
        "remark waste wrong ring:4 ",
        "in step 5, sending to node 1, node 0 replaces a value that the receiver has received and not used",
    ),
    (
        "goes_on_after_a_refusal",
        &[(
            "PLAN",
            "SwmBlocks bad = everything(0, 9); one_step(host, &bad); return shift(problem, host);",
        )],
        "remark heeds wrong ring:4 ",
        "it makes 2 calls after a refused one",
    ),
    (
        "refuses_everything",
        &[("SUPPORTS", "host->fail(host->ctx, text(\"not today\")); return SWM_UNSUPPORTED;")],
        "fault delivers wrong alltoall ",
        "refused on every machine tried (not today); name others with --topology",
    ),
    (
        "wrong_tables",
        &[("TABLE", "plugin.head.abi_major = 9;")],
        "fault tables   ",
        "built for plugin ABI 9.1, but this program supports 1.1",
    ),
    (
        "wrong_version",
        &[("TABLE", "plugin.version = text(\"new\");")],
        "fault tables   ",
        "the version is `new`, expected one such as 0.1.0",
    ),
];

#[test]
fn every_wrong_plugin_is_found_and_none_ends_check() {
    let dir = tempdir().unwrap();
    for (name, macros, start, contains) in WRONG {
        let folder = format!("{:?}", dir.path());
        let macros = [macros, &[("FOLDER", folder.as_str())]].concat();
        let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), name, &macros) else {
            return;
        };
        // This plugin counts its processes in a file, which the sandbox would prevent.
        let confined: &[&str] = match name {
            "depends_on_the_process" => &["--no-sandbox"],
            _ => &[],
        };
        let args = [&["--topology", "ring:4", "--timeout", "0.3"], confined].concat();
        let (code, report) = check(&file, &args);
        let found = findings(&report);
        assert!(
            found.iter().any(|f| f.starts_with(start) && f.contains(contains)),
            "{name}: {found:#?}"
        );
        // If a plugin makes a further call after the host refused one, this is reported in addition
        // to the fault.
        let is_wrong = start.starts_with("fault") || name == "goes_on_after_a_refusal";
        assert_eq!(code, i32::from(is_wrong), "{name}");
    }
}

#[test]
fn names_of_bundled_algorithms_give_a_remark() {
    let dir = tempdir().unwrap();
    let macros =
        [("PLAN", "return shift(problem, host);"), ("TABLE", "wrong.name = text(\"bruck\");")];
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "taken", &macros) else {
        return;
    };
    let (code, report) = check(&file, &["--topology", "ring:4"]);
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

/// Each case of a hanging plugin takes the full time limit, so `check` stops after two cases
/// without an end.
#[test]
fn a_plugin_that_always_hangs_is_given_up() {
    let dir = tempdir().unwrap();
    let plan = [("PLAN", "for (;;) { } return SWM_OK;")];
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "hangs", &plan) else { return };
    let (code, report) = check(&file, &[&SHORT_LADDER[..], &["--timeout", "0.1"]].concat());
    let time: Vec<String> =
        findings(&report).into_iter().filter(|f| f.contains(" time ")).collect();
    assert_eq!((code, time.len()), (1, 3), "{time:?}");
    assert!(time[2].starts_with("remark time wrong ring:2 given up"), "{time:?}");
}

/// The limit applies to the growth of the memory, not to the memory that the program already has.
/// The plugin uses the memory only for blocks of 8 bytes, which are those of the first case, because
/// the system takes long to provide so much memory.
#[test]
fn the_memory_limit_stops_a_plugin() {
    let dir = tempdir().unwrap();
    let eats = "char *all; if (host->block_bytes(host->ctx) != 8) return shift(problem, host); all = malloc(120u << 20); \
        if (!all) { host->fail(host->ctx, text(\"no memory\")); return SWM_ERROR; } \
        memset(all, 1, 120u << 20); free(all); return shift(problem, host);";
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "eats", &[("PLAN", eats)])
    else {
        return;
    };
    let (code, report) = check(&file, &["--topology", "ring:4", "--memory-limit", "110MiB"]);
    assert_eq!(code, 1);
    let found = findings(&report);
    assert!(found.iter().any(|f| f == "fault delivers wrong ring:4 error: no memory"), "{found:?}");
    let (_, report) = check(&file, &["--topology", "ring:4"]);
    let fattest = report["algorithms"][0]["fattest"][0].as_u64().unwrap();
    assert!(
        cfg!(not(target_os = "linux")) || (120 << 20..135 << 20).contains(&fattest),
        "{fattest}"
    );
}

/// Two plans are made at the same time. Each of them stays within the limit, so there is no
/// finding.
#[test]
fn two_concurrent_plans_may_use_twice_the_memory() {
    let dir = tempdir().unwrap();
    let eats = "char *all; if (host->block_bytes(host->ctx) != 8) return shift(problem, host); all = malloc(120u << 20); \
        if (!all) { host->fail(host->ctx, text(\"no memory\")); return SWM_ERROR; } \
        for (int i = 0; i < 4; i++) memset(all, i + problem->topology->nodes, 120u << 20); free(all); return shift(problem, host);";
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "two", &[("PLAN", eats)])
    else {
        return;
    };
    let (code, report) = check(&file, &["--topology", "ring:4", "--memory-limit", "220MiB"]);
    assert_eq!((code, faults(&report)), (0, vec![]));
}

#[test]
fn the_report_is_readable() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    let output = swapmeet(&["check", file.to_str().unwrap()]).args(SHORT_LADDER).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let steady: Vec<&str> =
        text.lines().filter(|l| !l.starts_with("  time ") && !l.starts_with("  memory ")).collect();
    insta::assert_snapshot!(steady.join("\n"), @r"
        ring-c 0.1.0, plugin ABI 1.1, MIT OR Apache-2.0

        c-ring (alltoall)
          verified  24 of 24 cases, every block, up to 96 nodes
          ports     1 claimed, 1 used at most

        passed: 0 faults, 0 remarks
        ");
    assert!(text.contains("  time      "), "{text}");
}

/// A finding must name the collective and its size. Otherwise a user could not reproduce it for an
/// algorithm with several collectives.
#[test]
fn faults_name_their_collective() {
    let dir = tempdir().unwrap();
    let all =
        [("TABLE", "wrong.collectives = 1u << SWM_GATHER | 1u << SWM_SCATTER; wrong.ports = 1;")];
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "several", &all) else {
        return;
    };
    let (_, report) = check(&file, &["--topology", "ring:4"]);
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
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "amounts", &plan) else {
        return;
    };
    let output =
        swapmeet(&["check", file.to_str().unwrap(), "--topology", "ring:4"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(", every byte of amounts, up to 4 nodes"), "{text}");
    let nothing = [("TABLE", "wrong.collectives = 1u << 20;")];
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "nothing", &nothing) else {
        return;
    };
    let (code, report) = check(&file, &["--topology", "ring:4"]);
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
    let (code, report) = check(&cargo, &[]);
    assert_eq!(code, 1);
    assert!(
        findings(&report)[0].contains("not a library that can be loaded"),
        "{:?}",
        findings(&report)
    );
}
