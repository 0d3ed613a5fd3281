//! Right and wrong plugin files, with the real program. A mistake in a file or a schedule is
//! reported precisely and does not affect other rows.

use crate::support::{compile_c, rows, swapmeet, swapmeet_process, words, wrong};
use predicates::prelude::*;
use std::path::Path;
use swapmeet_results::{Record, Status, Verified, read_records};
use tempfile::tempdir;

mod abi_doc;
mod collectives;
mod header;
mod list;
mod loading;
mod new_plugin;
mod schedules;
mod sized;
mod tables;
mod version_1_0;
mod version_1_1;

fn rows_of(plugin: &Path, topology: &str, algorithm: &str) -> (i32, Vec<Record>) {
    let plugin = plugin.to_str().unwrap();
    let line = format!(
        "run --out - --quiet --plugin-dir {plugin} --topology {topology} --algorithm {algorithm} --machine paragon"
    );
    let args = words(&line);
    let output = swapmeet(&args).output().unwrap();
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    (output.status.code().unwrap(), rows)
}

/// Returns the exit status and the row of a run of the algorithm of `wrong.c` on a ring of four
/// nodes.
fn run_alone(plugin: &Path) -> (i32, Record) {
    let (code, mut rows) = rows_of(plugin, "ring:4", "wrong");
    assert_eq!(rows.len(), 1);
    (code, rows.remove(0))
}

#[test]
fn a_plugin_in_c_is_found_by_file_by_folder_and_by_variable() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    let by_name = |place: &Path| rows_of(place, "ring:7", "c-ring");
    let by_variable = || {
        let args =
            ["run", "--out", "-", "--quiet", "--topology", "ring:7", "--algorithm", "c-ring"];
        let output =
            swapmeet_process(&args).env("SWAPMEET_PLUGIN_PATH", dir.path()).output().unwrap();
        let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
        (output.status.code().unwrap(), rows)
    };
    for (code, rows) in [by_name(&file), by_name(dir.path()), by_variable()] {
        assert_eq!(
            (code, rows[0].status, rows[0].verified),
            (0, Status::Ok, Verified::Blocks),
            "{}",
            rows[0].reason
        );
        assert_eq!((rows[0].steps, rows[0].messages), (Some(6), Some(6 * 7)));
        assert_eq!((rows[0].plugin.as_str(), rows[0].plugin_version.as_str()), ("ring-c", "0.1.0"));
    }
}

#[test]
fn the_ring_in_c_runs_on_any_machine() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    for (topology, n) in
        [("fully-connected:1", 1), ("fully-connected:2", 2), ("torus:3x5", 15), ("hypercube:5", 32)]
    {
        let (code, rows) = rows_of(&file, topology, "c-ring");
        assert_eq!(
            (code, rows[0].verified),
            (0, Verified::Blocks),
            "{topology}: {}",
            rows[0].reason
        );
        assert_eq!(
            (rows[0].steps, rows[0].messages),
            (Some(n - 1), Some((n - 1) * n)),
            "{topology}"
        );
    }
}

#[test]
fn a_plugin_refuses_unsupported_problems() {
    let dir = tempdir().unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    let line = format!("run --plugin-dir {} --topology ring:4 --algorithm c-ring", file.display());
    let args = words(&line);
    swapmeet(&args).args(["--workload", "scatter/uniform:1"]).assert().code(0).stdout(
        predicate::str::contains(
            "c-ring on ring:4: `c-ring` does not implement `scatter`, only workloads `alltoall/..`",
        ),
    );
}

#[test]
fn a_plan_that_never_ends_is_a_timeout() {
    let dir = tempdir().unwrap();
    let body = "for (;;) { if (host->step(host->ctx) != SWM_OK) return SWM_STOPPED; }";
    let Some(file) = wrong(dir.path(), "endless", &[("PLAN", body)]) else { return };
    let case = "run --out - --quiet --timeout 0.2 --topology ring:4 --algorithm wrong --plugin-dir";
    let output = swapmeet(&words(case)).arg(&file).output().unwrap();
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    let expected = "not done after 0.2 s; it was in step ";
    assert!(
        rows[0].status == Status::Timeout && rows[0].reason.starts_with(expected),
        "{}",
        rows[0].reason
    );
    assert_eq!(output.status.code(), Some(1));
}

/// A plan that requests the block size is made again for each size. All other plans are made once
/// for all sizes.
#[test]
fn a_plan_that_requests_the_block_size_is_not_shared() {
    let dir = tempdir().unwrap();
    // Small blocks travel around the ring, and large ones are sent directly.
    let body = "uint64_t i, v; if (host->block_bytes(host->ctx) > 100) return shift(problem, host); \
        for (i = 1; i < 4; i++) { host->step(host->ctx); for (v = 0; v < 4; v++) { \
        SwmAxis a = range((v + 1) % 4, 1, 3); SwmBlocks s = everything(v, (v + 1) % 4); s.destinations.kind = SWM_AXES; s.destinations.axis_count = 1; s.destinations.axes = &a; \
        host->send_blocks(host->ctx, &s); } } return SWM_OK;";
    let Some(file) = wrong(dir.path(), "asks", &[("PLAN", body)]) else { return };
    let cases = "--topology ring:4 --algorithm wrong --workload uniform:1 --workload uniform:1000 \
        --workload uniform:2 --workload uniform:2000 --plugin-dir";
    let rows = rows(&[words(cases), vec![file.to_str().unwrap()]].concat());
    let critical: Vec<Option<u128>> = rows.iter().map(|r| r.critical_bytes).collect();
    assert_eq!(critical, [Some(6), Some(3000), Some(12), Some(6000)]);
}

/// The network crosses the last dimension first. A schedule that requests another order may be
/// faster, but not every machine can be programmed to use it. So the row states the request, and no
/// text of the plugin can be mistaken for this note of the host.
#[test]
fn a_row_names_requested_routes_and_the_author_of_a_note() {
    let dir = tempdir().unwrap();
    let body = |first: u32, note: &str| {
        format!(
            "if (sizeof \"{note}\" > 1) host->log(host->ctx, SWM_LOG_NOTE, text(\"{note}\")); \
             return shift_in_order(problem, host, {first});"
        )
    };
    let routes = "messages take routes that the schedule requests, not those of the network";
    let proved = "proved optimal; compared on all nodes";
    for (name, first, note, expected) in [
        ("same", 1, "", String::new()),
        ("other", 0, "", routes.to_owned()),
        ("same-noted", 1, proved, format!("plugin: {proved}")),
        ("other-noted", 0, proved, format!("{routes}; plugin: {proved}")),
    ] {
        let body = body(first, note);
        let Some(file) = wrong(dir.path(), name, &[("PLAN", &body)]) else { return };
        let (code, rows) = rows_of(&file, "mesh:3x3", "wrong");
        let row = &rows[0];
        assert_eq!((code, row.status, &row.note), (0, Status::Ok, &expected), "{}", row.reason);
    }
}

#[test]
fn a_step_beyond_the_ports_of_the_machine_is_run_in_rounds() {
    let dir = tempdir().unwrap();
    let body = "uint64_t v, d; host->step(host->ctx); for (v = 0; v < 4; v++) for (d = 0; d < 4; d++) if (d != v) { \
        SwmBlocks s = block(v, d, v, d); host->send_blocks(host->ctx, &s); } return SWM_OK;";
    let Some(file) = wrong(dir.path(), "at_once", &[("PLAN", body)]) else { return };
    let cases = "--topology fully-connected:4 --algorithm wrong --workload uniform:10 \
        --machine free:startup_us=1,byte_us=1 --machine free:startup_us=1,byte_us=1,ports=2 \
        --machine free:startup_us=1,byte_us=1,ports=all --plugin-dir";
    let rows = rows(&[words(cases), vec![file.to_str().unwrap()]].concat());
    let prices: Vec<_> =
        rows.iter().map(|r| (r.startup_us, r.transmission_us, r.note.as_str())).collect();
    let note = |ports: u64| {
        format!("run in rounds: up to 3 simultaneous messages at a node with ports={ports}")
    };
    let expected = [
        (Some(3.0), Some(30.0), &*note(1)),
        (Some(2.0), Some(15.0), &*note(2)),
        (Some(1.0), Some(10.0), ""),
    ];
    assert_eq!(prices, expected);
    assert!(rows.iter().all(|r| (r.steps, r.messages, r.max_sends, r.max_receives)
        == (Some(1), Some(12), Some(3), Some(3))));
}
