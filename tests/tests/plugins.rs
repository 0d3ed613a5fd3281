//! Plugin files, right and wrong, through the real program: a plugin in C runs like any other, and whatever a file or a schedule does wrong is
//! named precisely and takes nothing else with it.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a failure here is a failed test")]

use predicates::prelude::*;
use std::path::Path;
use swapmeet_results::{Record, Status, Verified, read_records};
use swapmeet_tests::{compile_c, swapmeet};
use tempfile::tempdir;

fn rows_of(plugin: &Path, topology: &str, algorithm: &str) -> (i32, Vec<Record>) {
    let plugin = plugin.to_str().unwrap();
    let args =
        ["run", "--out", "-", "--quiet", "--plugin-dir", plugin, "--topology", topology, "--algorithm", algorithm];
    let output = swapmeet(&args).output().unwrap();
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    (output.status.code().unwrap(), rows)
}

#[test]
fn a_plugin_in_c_is_found_by_file_by_folder_and_by_variable() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    for place in [file.as_path(), dir.path()] {
        let (code, rows) = rows_of(place, "torus:3x5", "c-ring");
        assert_eq!((code, rows[0].status, rows[0].verified), (0, Status::Ok, Verified::Blocks), "{}", rows[0].reason);
        assert_eq!((rows[0].steps, rows[0].messages), (Some(14), Some(14 * 15)));
        assert_eq!((rows[0].plugin.as_str(), rows[0].plugin_version.as_str()), ("ring-c", "0.1.0"));
    }
    swapmeet(&["list", "algorithms"])
        .env("SWAPMEET_PLUGIN_PATH", dir.path())
        .assert()
        .success()
        .stdout(predicate::str::contains("c-ring"));
}

#[test]
fn a_plugin_refuses_what_it_cannot_do() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    let args = ["run", "--plugin-dir", file.to_str().unwrap(), "--topology", "ring:4", "--algorithm", "c-ring"];
    swapmeet(&args)
        .args(["--workload", "scatter/uniform:1"])
        .assert()
        .code(0)
        .stdout(predicate::str::contains("c-ring on ring:4: `c-ring` does not do `scatter`"));
}

/// What is wrong with a table, and what is said of the file (`FILE`).
const WRONG_TABLES: [(&str, &str, &str); 10] = [
    (
        "other_major",
        "plugin.head.abi_major = 7;",
        "FILE: built for plugin ABI 7.0, this swapmeet speaks 1.0: rebuild the plugin with a header or SDK of version 1.x",
    ),
    (
        "magic",
        "plugin.head.magic = 42;",
        "FILE: not a swapmeet plugin: its table begins with 0x000000000000002a, expected 0x5445454d50415753",
    ),
    ("null", "return 0;", "FILE: not a swapmeet plugin: its entry returns no table"),
    ("small", "plugin.head.size = 40;", "FILE: not a swapmeet plugin: its table has 40 bytes, expected at least 88"),
    ("empty", "plugin.algorithm_count = 0;", "FILE: not a swapmeet plugin: it has no algorithms"),
    (
        "many",
        "plugin.algorithm_count = 1000000;",
        "FILE: not a swapmeet plugin: it claims 1000000 algorithms, expected at most 1024",
    ),
    (
        "name",
        "wrong.name = text(\"Wrong Name\");",
        "FILE: not a swapmeet plugin: algorithm 0: its name is `Wrong Name`, expected lower-case letters, digits and hyphens",
    ),
    ("utf8", "plugin.version = text(\"\\xff\");", "FILE: not a swapmeet plugin: its version is not UTF-8"),
    ("no_plan", "wrong.plan = 0;", "FILE: not a swapmeet plugin: algorithm 0: `wrong` has no `plan` function"),
    ("idle", "wrong.collectives = 0;", "FILE: not a swapmeet plugin: algorithm 0: `wrong` does no collective"),
];

#[test]
fn a_wrong_table_is_an_error_when_named_and_passed_over_in_a_scan() {
    for (name, spoil, message) in WRONG_TABLES {
        let dir = tempdir().unwrap();
        let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), name, &[("TABLE", spoil)]) else { return };
        let file = file.to_str().unwrap();
        let message = message.replace("FILE", file);
        let named =
            swapmeet(&["run", "--plugin-dir", file, "--topology", "ring:4", "--algorithm", "wrong"]).output().unwrap();
        let said = String::from_utf8(named.stderr).unwrap();
        assert_eq!((named.status.code(), said.trim()), (Some(2), format!("error: {message}").as_str()), "{name}");
        let folder = dir.path().to_str().unwrap();
        swapmeet(&["list", "plugins", "--plugin-dir", folder])
            .assert()
            .success()
            .stderr(predicate::str::contains(format!("passed over {message}")));
    }
}

#[test]
fn a_later_minor_version_is_welcome() {
    let dir = tempdir().unwrap();
    let macros = [("TABLE", "plugin.head.abi_minor = 9;"), ("PLAN", "return shift(problem, host);")];
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "minor", &macros) else { return };
    assert_eq!(rows_of(&file, "ring:4", "wrong").1[0].status, Status::Ok);
}

#[test]
fn files_that_are_no_plugins_say_what_they_are() {
    let dir = tempdir().unwrap();
    let said = |path: &Path| {
        let args = ["run", "--plugin-dir", path.to_str().unwrap(), "--topology", "ring:4", "--algorithm", "gen"];
        let output = swapmeet(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let text = dir.path().join("notes.so");
    std::fs::write(&text, "not a library").unwrap();
    assert!(said(&text).contains("notes.so: not a library that can be loaded: "), "{}", said(&text));
    assert!(said(&dir.path().join("missing.so")).contains("missing.so: not a library that can be loaded: "));
    let empty = dir.path().join("empty.c");
    std::fs::write(&empty, "int nothing;\n").unwrap();
    if let Some(file) = compile_c(empty.to_str().unwrap(), dir.path(), "empty", &[]) {
        assert!(said(&file).contains("empty.so: not a swapmeet plugin: it has no symbol `swapmeet_plugin`"));
    }
}

/// What a schedule does wrong on `ring:4`, its row's status, and its reason.
const WRONG_SCHEDULES: [(&str, &str, Status, &str); 32] = [
    (
        "layout_after_place",
        "const uint64_t n = 4; host->place(host->ctx, 0, 0, 1); return lay_out(host, &n, 1);",
        Status::Invalid,
        "the schedule sets its grid after it has placed a node",
    ),
    (
        "null_radices",
        "return lay_out(host, 0, 2);",
        Status::Invalid,
        "the schedule's grid: it has null for the radices of 2 axes",
    ),
    (
        "send_without_size",
        "SwmSend s = everything(0, 1); s.size = 0; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "the plugin's send has a `size` below 104: set it to sizeof(SwmSend)",
    ),
    (
        "unknown_flags",
        "SwmSend s = everything(0, 1); s.flags = 64; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "the plugin's send has flags that this swapmeet does not know",
    ),
    (
        "phase_not_utf8",
        "return host->phase(host->ctx, text(\"\\xff\"));",
        Status::Invalid,
        "the schedule names a phase with text that is not UTF-8, or too long",
    ),
    (
        "unknown_receiver",
        "SwmSend s = everything(0, 9); host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: receiver 9 is unknown, the schedule's grid has nodes 0 to 3",
    ),
    (
        "to_itself",
        "SwmSend s = everything(1, 1); host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: node 1 sends to itself, which is no message (mark a local copy as such)",
    ),
    (
        "not_held",
        "SwmSend s = block(2, 3, 1, 3); host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: node 1 sends node 3 block 2 -> 3, which it does not hold (it is at node 2)",
    ),
    (
        "nothing_sent",
        "return SWM_OK;",
        Status::Invalid,
        "after step 0: block 1 -> 0 was never delivered to node 0 (it is at node 1); 12 blocks in all are missing, at 4 nodes",
    ),
    (
        "send_before_step",
        "SwmSend s = everything(0, 1); return host->send(host->ctx, &s);",
        Status::Invalid,
        "the schedule sends before its first step",
    ),
    (
        "goes_on_after_a_fault",
        "SwmSend s = everything(1, 1); host->step(host->ctx); host->send(host->ctx, &s); shift(problem, host); return SWM_OK;",
        Status::Invalid,
        "step 1: node 1 sends to itself, which is no message (mark a local copy as such)",
    ),
    (
        "layout_twice",
        "const uint64_t n = 4; lay_out(host, &n, 1); return lay_out(host, &n, 1);",
        Status::Invalid,
        "the schedule sets its grid twice",
    ),
    (
        "layout_late",
        "const uint64_t n = 4; host->step(host->ctx); return lay_out(host, &n, 1);",
        Status::Invalid,
        "the schedule sets its grid after its first step",
    ),
    (
        "layout_null",
        "return host->layout(host->ctx, 0);",
        Status::Invalid,
        "the schedule's grid: the plugin gives none",
    ),
    (
        "radix_0",
        "const uint64_t n = 0; return lay_out(host, &n, 1);",
        Status::Invalid,
        "the schedule's grid: axis 0 of the grid has radix 0, expected at least 1",
    ),
    (
        "huge_grid",
        "const uint64_t n[2] = {1u << 30, 1u << 30}; return lay_out(host, n, 2);",
        Status::Invalid,
        "the schedule's grid: the grid has more than 2147483648 nodes",
    ),
    (
        "many_axes",
        "const uint64_t n = 4; return lay_out(host, &n, 1000);",
        Status::Invalid,
        "the schedule's grid: it has 1000 axes, expected at most 64",
    ),
    (
        "no_places",
        "const uint64_t n = 5; lay_out(host, &n, 1); return shift(problem, host);",
        Status::Invalid,
        "the schedule's grid: it has 5 nodes and the machine 4: every node must be placed",
    ),
    (
        "place_outside",
        "return host->place(host->ctx, 0, 4, 1);",
        Status::Invalid,
        "the schedule's grid: node 0 is placed on node 4, but the grid has 4 nodes and the machine 4",
    ),
    (
        "set_kind",
        "SwmSend s = everything(0, 1); s.origins.kind = 9; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: in the send from 0 to 1, the set of origins is of an unknown kind",
    ),
    (
        "null_axes",
        "SwmSend s = everything(0, 1); s.origins.kind = SWM_AXES; s.origins.axis_count = 1; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: in the send from 0 to 1, the set of origins has null for its axes",
    ),
    (
        "axis_outside",
        "SwmAxis a; SwmSend s = everything(0, 1); memset(&a, 0, sizeof a); a.kind = SWM_RANGE; a.first = 4; a.stride = 1; a.count = 1; s.destinations.kind = SWM_AXES; s.destinations.axis_count = 1; s.destinations.axes = &a; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: in the send from 0 to 1, the set of destinations is wrong in axis 0: it starts at 4, expected below 4",
    ),
    (
        "axis_twice",
        "SwmAxis a; SwmSend s = everything(0, 1); memset(&a, 0, sizeof a); a.kind = SWM_RANGE; a.stride = 2; a.count = 3; s.destinations.kind = SWM_AXES; s.destinations.axis_count = 1; s.destinations.axes = &a; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: in the send from 0 to 1, the set of destinations is wrong in axis 0: it names a coordinate twice (3 members 2 apart, modulo 4)",
    ),
    (
        "bits_outside",
        "const uint64_t w = 16; SwmAxis a; SwmSend s = everything(0, 1); memset(&a, 0, sizeof a); a.kind = SWM_BITS; a.count = 1; a.words = &w; s.destinations.kind = SWM_AXES; s.destinations.axis_count = 1; s.destinations.axes = &a; host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: in the send from 0 to 1, the set of destinations is wrong in axis 0: it has bits set beyond coordinate 3",
    ),
    (
        "node_outside",
        "SwmSend s = block(0, 77, 0, 1); host->step(host->ctx); return host->send(host->ctx, &s);",
        Status::Invalid,
        "step 1: in the send from 0 to 1, the set of destinations names node 77 of a grid of 4 nodes",
    ),
    ("null_send", "host->step(host->ctx); return host->send(host->ctx, 0);", Status::Invalid, "the plugin sends null"),
    (
        "path_without_link",
        "const uint64_t p = 2; SwmRoute r; SwmSend s = everything(0, 2); memset(&r, 0, sizeof r); r.size = sizeof r; r.path = &p; r.path_len = 1; s.route = &r; host->step(host->ctx); host->send(host->ctx, &s); return host->step(host->ctx);",
        Status::Invalid,
        "step 1: the message from node 0 to node 2 can't be routed: ring:4 has no link from node 0 to node 2",
    ),
    (
        "signs_of_two_dimensions",
        "const int8_t d[2] = {1, 1}; SwmRoute r; SwmSend s = everything(0, 2); memset(&r, 0, sizeof r); r.size = sizeof r; r.signs = d; r.dim_count = 2; s.route = &r; host->step(host->ctx); host->send(host->ctx, &s); return host->step(host->ctx);",
        Status::Invalid,
        "step 1: the message from node 0 to node 2 can't be routed: a route on ring:4 needs a sign -1, 0 or 1 for each of 1 dimensions, got [1, 1]",
    ),
    ("unknown_code", "return 99;", Status::Error, "the plugin returned 99, expected 0 to 3"),
    ("silent_error", "return SWM_ERROR;", Status::Error, "the plugin gives no reason"),
    (
        "stopped_by_nobody",
        "return SWM_STOPPED;",
        Status::Error,
        "the plugin stopped, though the host did not ask it to",
    ),
    (
        "reason_not_utf8",
        "host->fail(host->ctx, text(\"\\xff\")); return SWM_ERROR;",
        Status::Error,
        "its reason is not UTF-8",
    ),
];

#[test]
fn a_wrong_schedule_costs_its_own_row_with_the_reason() {
    for (name, body, status, reason) in WRONG_SCHEDULES {
        let dir = tempdir().unwrap();
        let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), name, &[("PLAN", body)]) else { return };
        // a good case before and after: they are not touched
        let args = ["run", "--out", "-", "--quiet", "--plugin-dir", file.to_str().unwrap(), "--topology", "ring:4"];
        let output = swapmeet(&args)
            .args(["--algorithm", "gen", "--algorithm", "wrong", "--algorithm", "pex"])
            .output()
            .unwrap();
        let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
        let statuses: Vec<Status> = rows.iter().map(|r| r.status).collect();
        assert_eq!((statuses, rows[1].reason.as_str()), (vec![Status::Ok, status, Status::Ok], reason), "{name}");
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert_eq!((rows[1].time_us, rows[1].verified), (None, Verified::None), "{name}");
    }
}

#[test]
fn a_plugin_that_schedules_while_it_is_only_asked_is_told_so() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c(
        "tests/plugins/wrong.c",
        dir.path(),
        "early",
        &[("SUPPORTS", "host->step(host->ctx); return SWM_OK;")],
    ) else {
        return;
    };
    let (code, rows) = rows_of(&file, "ring:4", "wrong");
    assert_eq!((code, rows[0].status), (1, Status::Invalid));
    assert_eq!(rows[0].reason, "the plugin gives a schedule where it is only asked whether it can run");
}

#[test]
fn a_plan_that_never_ends_is_a_timeout() {
    let dir = tempdir().unwrap();
    let body = "for (;;) { if (host->step(host->ctx) != SWM_OK) return SWM_STOPPED; }";
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "endless", &[("PLAN", body)]) else { return };
    let args = ["run", "--out", "-", "--quiet", "--timeout", "0.2", "--plugin-dir", file.to_str().unwrap()];
    let output = swapmeet(&args).args(["--topology", "ring:4", "--algorithm", "wrong"]).output().unwrap();
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    assert_eq!((rows[0].status, rows[0].reason.as_str()), (Status::Timeout, "not done after 0.2 s"));
    assert_eq!(output.status.code(), Some(1));
}

/// A plan that asks for the block size is made again for each; one that doesn't is shared. Both give each case its own right row.
#[test]
fn a_plan_that_asks_for_the_block_size_is_not_shared() {
    let dir = tempdir().unwrap();
    // small blocks go round the ring, large ones straight
    let body = "uint64_t i, v; if (host->block_bytes(host->ctx) > 100) return shift(problem, host); \
        for (i = 1; i < 4; i++) { host->step(host->ctx); for (v = 0; v < 4; v++) { \
        SwmAxis a; SwmSend s = everything(v, (v + 1) % 4); memset(&a, 0, sizeof a); a.kind = SWM_RANGE; a.first = (uint32_t)((v + 1) % 4); \
        a.stride = 1; a.count = 3; s.destinations.kind = SWM_AXES; s.destinations.axis_count = 1; s.destinations.axes = &a; \
        host->send(host->ctx, &s); } } return SWM_OK;";
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "asks", &[("PLAN", body)]) else { return };
    let args = [
        "run",
        "--out",
        "-",
        "--quiet",
        "--plugin-dir",
        file.to_str().unwrap(),
        "--topology",
        "ring:4",
        "--algorithm",
        "wrong",
    ];
    let workloads = ["uniform:1", "uniform:1000", "uniform:2", "uniform:2000"];
    let output = swapmeet(&args).args(workloads.iter().flat_map(|w| ["--workload", w])).output().unwrap();
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    let critical: Vec<Option<u64>> = rows.iter().map(|r| r.critical_bytes).collect();
    // round the ring the messages have 3, 2 and 1 blocks, straight they have one each
    assert_eq!(critical, [Some(6), Some(3000), Some(12), Some(6000)]);
}

/// Everyone sends to everyone in one step; the machine has fewer ports than that.
#[test]
fn a_step_that_asks_more_than_a_machine_has_is_priced_in_turns() {
    let dir = tempdir().unwrap();
    let body = "uint64_t v, d; host->step(host->ctx); for (v = 0; v < 4; v++) for (d = 0; d < 4; d++) if (d != v) { \
        SwmSend s = block(v, d, v, d); host->send(host->ctx, &s); } return SWM_OK;";
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "at_once", &[("PLAN", body)]) else { return };
    let args =
        ["run", "--out", "-", "--quiet", "--plugin-dir", file.to_str().unwrap(), "--topology", "fully-connected:4"];
    let machines =
        ["free:startup_us=1,byte_us=1", "free:startup_us=1,byte_us=1,ports=2", "free:startup_us=1,byte_us=1,ports=all"];
    let output = swapmeet(&args)
        .args(["--algorithm", "wrong", "--workload", "uniform:10"])
        .args(machines.iter().flat_map(|m| ["--machine", m]))
        .output()
        .unwrap();
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    let prices: Vec<_> = rows.iter().map(|r| (r.startup_us, r.transmission_us, r.note.as_str())).collect();
    assert_eq!(
        prices,
        [
            (Some(3.0), Some(30.0), "priced in turns: up to 3 messages at once at a node with ports=1"),
            (Some(2.0), Some(15.0), "priced in turns: up to 3 messages at once at a node with ports=2"),
            (Some(1.0), Some(10.0), ""),
        ]
    );
    assert!(
        rows.iter()
            .all(|r| (r.steps, r.messages, r.max_sends, r.max_receives) == (Some(1), Some(12), Some(3), Some(3)))
    );
}
