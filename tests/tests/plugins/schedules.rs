//! A schedule that breaks a rule affects only its own row, which states the reason.

use super::run_alone;
use crate::support::{compile_c, swapmeet, words, wrong};
use std::path::Path;
use swapmeet_results::{Status, Verified, read_records};
use swapmeet_runner::plugin::Plugin;
use tempfile::tempdir;

fn wrong_plans(file: &Path) -> Vec<(String, Status, String)> {
    let status = |word: &str| match word {
        "invalid" => Status::Invalid,
        "error" => Status::Error,
        "unsupported" => Status::Unsupported,
        other => panic!("no status is {other}"),
    };
    let plugin = Plugin::load(file).unwrap();
    let algorithms = plugin.algorithms.iter();
    algorithms.map(|a| (a.name.clone(), status(&a.paper), a.title.clone())).collect()
}

#[test]
fn each_mistake_affects_only_its_own_row() {
    let dir = tempdir().unwrap();
    let source = "tests/plugins/wrong_plans.c";
    let Some(file) = compile_c(source, dir.path(), "wrong_plans", &[]) else { return };
    let mut expected = wrong_plans(&file);
    let good = |name: &str| (name.to_owned(), Status::Ok, String::new());
    expected.insert(0, good("gen"));
    expected.push(good("pex"));
    let line =
        format!("run --out - --quiet --jobs 1 --topology ring:4 --plugin-dir {}", file.display());
    let mut args = words(&line);
    args.extend(expected.iter().flat_map(|(name, ..)| ["--algorithm", name.as_str()]));
    let output = swapmeet(&args).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
    assert_eq!(rows.len(), expected.len(), "{message}");
    for (row, (name, status, reason)) in rows.iter().zip(&expected) {
        assert_eq!((&row.algorithm, row.status), (name, *status), "{}", row.reason);
        // If `plan` gives the reason, it begins with a position, which is not in the list.
        let is_whole = *status == Status::Ok || name.starts_with("supports-");
        assert!(row.reason.contains(reason), "{name}: {}", row.reason);
        assert!(!is_whole || row.reason == *reason, "{name}: {}", row.reason);
        if *status != Status::Ok {
            assert_eq!((row.time_us, row.verified), (None, Verified::None), "{name}");
        }
    }
}

/// The host writes a list of links, or of demand, to an array of the plugin at any address. If the
/// array is too small, the host writes as many entries as fit, but returns the number of all
/// entries.
#[test]
fn lists_are_written_within_their_room() {
    let read = "char l[3 * sizeof(SwmLink) + 1], c[5 * sizeof(SwmByteCount) + 1]; uint64_t n = 0, m = 0, ends[2]; \
        SwmByteCount pair; memset(l, 9, sizeof l); memset(c, 9, sizeof c); \
        host->links(host->ctx, 1, (void *)(l + 1), 1, &n); memcpy(&ends[0], l + 1, 8); \
        if (n != 2 || ends[0] != 0 || l[1 + sizeof(SwmLink)] != 9) return SWM_ERROR; \
        host->links(host->ctx, 1, (void *)(l + 1), 3, &n); memcpy(&ends[1], l + 1 + sizeof(SwmLink), 8); \
        if (n != 2 || ends[1] != 2 || l[1 + 2 * sizeof(SwmLink)] != 9) return SWM_ERROR; \
        host->demand(host->ctx, 3, (void *)(c + 1), 4, &m); memcpy(&pair, c + 1 + 2 * sizeof pair, sizeof pair); \
        if (m != 4 || pair.destination != 2 || pair.bytes != host->block_bytes(host->ctx) || c[1 + 4 * sizeof pair] != 9) return SWM_ERROR; \
        if (host->vertices(host->ctx) != 4 || host->uniform(host->ctx) != 1) return SWM_ERROR; ";
    let dir = tempdir().unwrap();
    let plan = format!("{read} return shift(problem, host);");
    let supports = format!("{read} return SWM_OK;");
    let macros = [("PLAN", plan.as_str()), ("SUPPORTS", supports.as_str())];
    let Some(file) = wrong(dir.path(), "reads", &macros) else { return };
    let (code, row) = run_alone(&file);
    assert_eq!((code, row.status, row.steps), (0, Status::Ok, Some(3)), "{}", row.reason);
}

#[test]
fn structs_at_odd_addresses_are_read() {
    let dir = tempdir().unwrap();
    let plan = "char a[8 + 1], l[sizeof(SwmLayout) + 1], b[sizeof(SwmBlocks) + 1], p[8 + 1], r[sizeof(SwmRoute) + 1]; \
        const uint64_t n = problem->topology->nodes; uint64_t d, v; SwmLayout layout; \
        memcpy(a + 1, &n, 8); memset(&layout, 0, sizeof layout); layout.size = sizeof layout; layout.axis_count = 1; \
        layout.radices = (const void *)(a + 1); memcpy(l + 1, &layout, sizeof layout); \
        host->layout(host->ctx, (const void *)(l + 1)); \
        for (d = 1; d < n; d++) { host->step(host->ctx); for (v = 0; v < n; v++) { const uint64_t to = (v + d) % n; \
        SwmBlocks s = block(v, to, v, to); SwmRoute route = no_route(); memcpy(p + 1, &to, 8); route.path = (const void *)(p + 1); \
        route.path_len = 1; memcpy(r + 1, &route, sizeof route); if (d == 1) s.route = (const void *)(r + 1); \
        memcpy(b + 1, &s, sizeof s); host->send_blocks(host->ctx, (const void *)(b + 1)); } } return SWM_OK;";
    let Some(file) = wrong(dir.path(), "askew", &[("PLAN", plan)]) else { return };
    let (code, row) = run_alone(&file);
    assert_eq!((code, row.status, row.steps), (0, Status::Ok, Some(3)), "{}", row.reason);
}

#[test]
fn byte_counts_redistributed_by_a_plugin_in_c_arrive() {
    let dir = tempdir().unwrap();
    let plan = "return redistribute_and_collect(problem, host);";
    let Some(file) = wrong(dir.path(), "redistributed", &[("PLAN", plan)]) else { return };
    let (code, row) = run_alone(&file);
    assert_eq!(
        (code, row.status, row.verified),
        (0, Status::Ok, Verified::Amounts),
        "{}",
        row.reason
    );
    assert_eq!(
        (row.steps, row.messages, row.send_buffer_bytes),
        (Some(6), Some(24), Some(7 * 1024))
    );
}
