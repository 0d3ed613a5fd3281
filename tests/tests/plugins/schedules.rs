//! Schedules that break a rule. Each of them affects only its own row, which states the reason.

use super::run_alone;
use crate::support::{compile_c, swapmeet, words};
use swapmeet_results::{Status, Verified, read_records};
use tempfile::tempdir;

/// A case: its name, the body of `plan` on `ring:4`, and the reason in the row, whose status is
/// `invalid`. Unit tests of the core check the exact texts of the core's messages.
pub(crate) type Case = (&'static str, &'static str, &'static str);

/// Sends with wrong senders or receivers, or at the wrong time.
const SENDS: [Case; 16] = [
    (
        "unknown_receiver",
        "SwmBlocks s = everything(0, 9); return one_step(host, &s);",
        "receiver 9 is unknown",
    ),
    (
        "unknown_sender",
        "SwmBlocks s = everything(UINT64_MAX, 1); return one_step(host, &s);",
        "sender 18446744073709551615 is unknown",
    ),
    (
        "to_itself",
        "SwmBlocks s = everything(1, 1); return one_step(host, &s);",
        "node 1 sends to itself",
    ),
    (
        "not_held",
        "SwmBlocks s = block(2, 3, 1, 3); return one_step(host, &s);",
        "node 1 sends node 3 block 2 -> 3",
    ),
    ("nothing_sent", "return SWM_OK;", "after step 0: block 1 -> 0 was never delivered"),
    (
        "one_too_few",
        "uint64_t d, v; for (d = 1; d < 4; d++) { host->step(host->ctx); for (v = 0; v < 4; v++) if (d != 2 || v != 1) { \
         SwmBlocks s = block(v, (v + d) % 4, v, (v + d) % 4); host->send_blocks(host->ctx, &s); } } return SWM_OK;",
        "after step 3: block 1 -> 3 was never delivered",
    ),
    (
        "astray",
        "SwmBlocks s = block(1, 0, 1, 2); one_step(host, &s); return SWM_OK;",
        "after step 2: block 1 -> 0 was never delivered to node 0 (it is at node 2 since step 1); missing in total: 12 blocks at 4 nodes",
    ),
    (
        "labelled",
        "SwmBlocks s = block(2, 3, 1, 3); s.label = text(\"line 7\"); return one_step(host, &s);",
        "(it is at node 2) [line 7]",
    ),
    (
        "labelled_astray",
        "SwmBlocks s = block(1, 0, 1, 2); s.label = text(\"line 7\"); one_step(host, &s); return SWM_OK;",
        "at 4 nodes [line 7]",
    ),
    (
        "labelled_twice",
        "SwmBlocks s = block(0, 1, 0, 1); s.flags |= SWM_COPY; s.label = text(\"line 7\"); one_step(host, &s); s.label = text(\"line 8\"); \
         one_step(host, &s); return SWM_OK;",
        "node 1 already holds it [line 8]",
    ),
    (
        "before_a_step",
        "SwmBlocks s = everything(0, 1); return host->send_blocks(host->ctx, &s);",
        "the schedule sends before its first step",
    ),
    (
        "after_a_rearrangement",
        "SwmBlocks s = everything(0, 1); host->step(host->ctx); host->rearrange(host->ctx); return host->send_blocks(host->ctx, &s);",
        "the schedule sends between steps: a new one must begin after a phase's name, a redistribution or a rearrangement",
    ),
    (
        "goes_on_after_a_fault",
        "SwmBlocks s = everything(1, 1); one_step(host, &s); shift(problem, host); return SWM_OK;",
        "node 1 sends to itself",
    ),
    (
        "null",
        "host->step(host->ctx); return host->send_blocks(host->ctx, 0);",
        "the plugin sends null",
    ),
    (
        "size_forgotten",
        "SwmBlocks s = everything(0, 1); s.size = 0; return one_step(host, &s);",
        "the plugin's send has a `size` below 136: set it to sizeof(SwmBlocks)",
    ),
    (
        "unknown_flag",
        "SwmBlocks s = everything(0, 1); s.flags = 64; return one_step(host, &s);",
        "the plugin's send has flags that this program does not know",
    ),
];

/// Wrong grids, placements and phases.
const GRIDS: [Case; 19] = [
    (
        "layout_twice",
        "const uint64_t n = 4; lay_out(host, &n, 1); return lay_out(host, &n, 1);",
        "the schedule sets its grid twice",
    ),
    (
        "layout_late",
        "const uint64_t n = 4; host->step(host->ctx); return lay_out(host, &n, 1);",
        "the schedule sets its grid after its first step",
    ),
    (
        "layout_after_place",
        "const uint64_t n = 4; host->place(host->ctx, 0, 1, 1); return lay_out(host, &n, 1);",
        "the schedule sets its grid after it has placed a node",
    ),
    (
        "layout_null",
        "return host->layout(host->ctx, 0);",
        "the schedule's grid: the plugin gives none",
    ),
    (
        "layout_size_forgotten",
        "const uint64_t n = 4; SwmLayout l; memset(&l, 0, sizeof l); l.axis_count = 1; l.radices = &n; return host->layout(host->ctx, &l);",
        "the schedule's grid: its `size` is below 24: set it to sizeof(SwmLayout)",
    ),
    (
        "null_radices",
        "return lay_out(host, 0, 2);",
        "the schedule's grid: it has null for the radices of 2 axes",
    ),
    (
        "radix_0",
        "const uint64_t n = 0; return lay_out(host, &n, 1);",
        "axis 0 of the grid has radix 0",
    ),
    (
        "huge_grid",
        "const uint64_t n[2] = {1u << 30, 1u << 30}; return lay_out(host, n, 2);",
        "the schedule's grid: the grid has more than 2147483648 nodes",
    ),
    (
        "long_axis",
        "const uint64_t n = 1u << 31; return lay_out(host, &n, 1);",
        "the schedule's grid: the grid's axes have over 4194304 coordinates together; split the longest in two",
    ),
    (
        "many_axes",
        "const uint64_t n = 4; return lay_out(host, &n, 1000);",
        "the schedule's grid: it has 1000 axes, expected at most 64",
    ),
    (
        "many_parts",
        "SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.segments = 5000; return host->layout(host->ctx, &l);",
        "the schedule's grid: blocks are to be split in 5000 segments, expected at most 4096",
    ),
    (
        "no_places",
        "const uint64_t n = 5; lay_out(host, &n, 1); return shift(problem, host);",
        "the schedule's grid: it has 5 nodes and the machine 4: every node must be placed",
    ),
    (
        "one_place_missing",
        "const uint64_t n = 5; uint64_t v; lay_out(host, &n, 1); for (v = 0; v < 4; v++) host->place(host->ctx, v, v, 1); \
         return shift(problem, host);",
        "the schedule's grid: node 4 is not placed",
    ),
    (
        "placed_twice",
        "host->place(host->ctx, 0, 0, 1); return host->place(host->ctx, 0, 1, 1);",
        "the schedule's grid: node 0 is placed twice, on nodes 0 and 1",
    ),
    (
        "two_owners",
        "host->place(host->ctx, 0, 0, 1); return host->place(host->ctx, 1, 0, 1);",
        "the schedule's grid: node 0 of the machine has two homes, nodes 0 and 1",
    ),
    (
        "no_owner",
        "uint64_t v; for (v = 0; v < 4; v++) host->place(host->ctx, v, v, v > 0); return shift(problem, host);",
        "the schedule's grid: node 0 of the machine has no home",
    ),
    (
        "placed_outside",
        "return host->place(host->ctx, 0, 4, 1);",
        "the schedule's grid: node 0 is placed on node 4, but the grid has 4 nodes and the machine 4",
    ),
    (
        "placed_late",
        "host->step(host->ctx); return host->place(host->ctx, 0, 0, 1);",
        "the schedule places a node after its first step",
    ),
    (
        "phase_not_utf8",
        "host->phase(host->ctx, text(\"\\xff\")); return shift(problem, host);",
        "the schedule names a phase with text that is null, not UTF-8, or longer than 1 MiB",
    ),
];

/// Wrong sets of origins, destinations and parts.
const SETS: [Case; 16] = [
    (
        "kind",
        "SwmBlocks s = everything(0, 1); s.origins.kind = 9; return one_step(host, &s);",
        "step 1: in the send from 0 to 1, the set of origins is of an unknown kind",
    ),
    (
        "null_axes",
        "SwmBlocks s = everything(0, 1); s.origins.kind = SWM_AXES; s.origins.axis_count = 1; return one_step(host, &s);",
        "step 1: in the send from 0 to 1, the set of origins has null for its axes",
    ),
    (
        "too_many_axes",
        "SwmAxis a = range(0, 1, 1); return send_to_set(host, &a, UINT32_MAX);",
        "step 1: in the send from 0 to 1, the set of destinations has over 64 axes",
    ),
    (
        "other_axes_than_the_grid",
        "SwmAxis a[2]; a[0] = a[1] = range(0, 1, 1); return send_to_set(host, a, 2);",
        "step 1: in the send from 0 to 1, the set of destinations has 2 axes, the grid has 1",
    ),
    (
        "node_outside",
        "SwmBlocks s = block(0, 77, 0, 1); return one_step(host, &s);",
        "step 1: in the send from 0 to 1, the set of destinations names node 77 of a grid of 4 nodes",
    ),
    (
        "axis_kind",
        "SwmAxis a = range(0, 1, 1); a.kind = 9; return send_to_set(host, &a, 1);",
        "step 1: in the send from 0 to 1, the set of destinations has an axis of an unknown kind",
    ),
    (
        "range_outside",
        "SwmAxis a = range(4, 1, 1); return send_to_set(host, &a, 1);",
        "axis 0: it starts at 4",
    ),
    (
        "range_of_none",
        "SwmAxis a = range(0, 1, 0); return send_to_set(host, &a, 1);",
        "axis 0: it has 0 members",
    ),
    (
        "range_without_stride",
        "SwmAxis a = range(0, 0, 2); return send_to_set(host, &a, 1);",
        "axis 0: it has 2 members 0 apart",
    ),
    (
        "range_twice",
        "SwmAxis a = range(0, 2, 3); return send_to_set(host, &a, 1);",
        "(3 members 2 apart, modulo 4)",
    ),
    (
        "bits_null",
        "SwmAxis a = bits(0, 1); return send_to_set(host, &a, 1);",
        "step 1: in the send from 0 to 1, the set of destinations has an axis with null for its bits",
    ),
    (
        "bits_too_long",
        "const uint64_t w = 1; SwmAxis a = bits(&w, UINT32_MAX); return send_to_set(host, &a, 1);",
        "step 1: in the send from 0 to 1, the set of destinations has an axis with over 131072 words of bits",
    ),
    (
        "bits_askew",
        "const uint64_t w[2] = {0, 0}; SwmAxis a = bits((const char *)w + 1, 1); return send_to_set(host, &a, 1);",
        "step 1: in the send from 0 to 1, the set of destinations has an axis whose bits are at an address that is not a multiple of 8",
    ),
    (
        "bits_of_other_length",
        "const uint64_t w[2] = {1, 0}; SwmAxis a = bits(w, 2); return send_to_set(host, &a, 1);",
        "axis 0: it has 2 words",
    ),
    (
        "bits_outside",
        "const uint64_t w = 16; SwmAxis a = bits(&w, 1); return send_to_set(host, &a, 1);",
        "beyond coordinate 3",
    ),
    (
        "parts_of_whole_blocks",
        "SwmBlocks s = everything(0, 1); s.segments = range(3, 1, 1); return one_step(host, &s);",
        "the set of segments is wrong",
    ),
];

/// Wrong routes from node 0 to node 2.
const ROUTES: [Case; 9] = [
    (
        "path_without_link",
        "const uint64_t p = 2; return send_by_path(host, &p, 1);",
        "step 1: the message from node 0 to node 2 can't be routed: ring:4 has no link from node 0 to node 2",
    ),
    (
        "path_to_nowhere",
        "const uint64_t p[2] = {UINT64_MAX, 2}; return send_by_path(host, p, 2);",
        "step 1: the message from node 0 to node 2 can't be routed: ring:4 has no link from node 0 to node 18446744073709551615",
    ),
    (
        "path_to_another",
        "const uint64_t p = 1; return send_by_path(host, &p, 1);",
        "got one that ends at node 1",
    ),
    (
        "path_too_long",
        "const uint64_t p = 2; return send_by_path(host, &p, UINT64_MAX);",
        "the plugin's route has a path of over 16777216 nodes",
    ),
    (
        "signs_of_two_dimensions",
        "const int8_t d[2] = {1, 1}; SwmRoute r = no_route(); r.signs = d; r.dim_count = 2; return send_by(host, &r);",
        "1 dimensions, got [1, 1]",
    ),
    (
        "sign_of_two",
        "const int8_t d = 2; SwmRoute r = no_route(); r.signs = &d; r.dim_count = 1; return send_by(host, &r);",
        "1 dimensions, got [2]",
    ),
    (
        "order",
        "const uint32_t o = 5; SwmRoute r = no_route(); r.order = &o; r.dim_count = 1; return send_by(host, &r);",
        "once, got [5]",
    ),
    (
        "many_dimensions",
        "const int8_t d = 1; SwmRoute r = no_route(); r.signs = &d; r.dim_count = UINT32_MAX; return send_by(host, &r);",
        "the plugin's route has over 64 dimensions",
    ),
    (
        "size_forgotten",
        "SwmRoute r = no_route(); r.size = 0; return send_by(host, &r);",
        "the plugin's route has a `size` below 40: set it to sizeof(SwmRoute)",
    ),
];

/// Wrong arguments of the functions that read links and demand.
const READS: [Case; 7] = [
    (
        "links_of_nobody",
        "SwmLink l; uint64_t n; host->links(host->ctx, 4, &l, 1, &n); return SWM_OK;",
        "the plugin reads the links of a vertex that does not exist",
    ),
    (
        "links_of_the_last_number",
        "SwmLink l; uint64_t n; host->links(host->ctx, UINT64_MAX, &l, 1, &n); return SWM_OK;",
        "the plugin reads the links of a vertex that does not exist",
    ),
    (
        "links_into_null",
        "uint64_t n; host->links(host->ctx, 0, 0, 2, &n); return SWM_OK;",
        "the plugin reads links, but gives null for them or for their number",
    ),
    (
        "links_without_number",
        "SwmLink l[2]; host->links(host->ctx, 0, l, 2, 0); return SWM_OK;",
        "the plugin reads links, but gives null for them or for their number",
    ),
    (
        "demand_of_nobody",
        "SwmByteCount c; uint64_t n; host->demand(host->ctx, 4, &c, 1, &n); return SWM_OK;",
        "the plugin reads the demand of a node that does not exist",
    ),
    (
        "demand_into_null",
        "uint64_t n; host->demand(host->ctx, 0, 0, UINT64_MAX, &n); return SWM_OK;",
        "the plugin reads demand, but gives null for it or for its length",
    ),
    (
        "demand_without_length",
        "host->demand(host->ctx, 0, 0, 0, 0); return SWM_OK;",
        "the plugin reads demand, but gives null for it or for its length",
    ),
];

/// Return values of `plan` that are invalid or report an error. The status of the row is `error`.
const ANSWERS: [Case; 10] = [
    ("unknown_code", "return 99;", "the plugin returned 99, expected 0 to 4"),
    ("negative_code", "return INT32_MIN;", "the plugin returned -2147483648, expected 0 to 4"),
    (
        "with_a_reason",
        "host->fail(host->ctx, text(\"out of luck\")); return SWM_ERROR;",
        "out of luck",
    ),
    ("without_a_reason", "return SWM_ERROR;", "the plugin gives no reason"),
    (
        "with_an_empty_reason",
        "host->fail(host->ctx, text(\"\")); return SWM_ERROR;",
        "the plugin gives no reason",
    ),
    (
        "stopped_with_a_blank",
        "host->fail(host->ctx, text(\" \")); return SWM_STOPPED;",
        "the plugin returned SWM_STOPPED, although no call was refused",
    ),
    (
        "stopped_by_nobody",
        "return SWM_STOPPED;",
        "the plugin returned SWM_STOPPED, although no call was refused",
    ),
    (
        "reason_null",
        "SwmStr s = {0, 5}; host->fail(host->ctx, s); return SWM_ERROR;",
        "its reason is null, but has a length",
    ),
    (
        "reason_not_utf8",
        "host->fail(host->ctx, text(\"\\xff\")); return SWM_ERROR;",
        "its reason is not UTF-8",
    ),
    (
        "reason_too_long",
        "SwmStr t = text(\"x\"); t.len = SIZE_MAX; host->fail(host->ctx, t); return SWM_ERROR;",
        "its reason is longer than 1 MiB",
    ),
];

/// Runs each case between two good cases, which must not be affected.
pub(crate) fn each_costs_its_own_row(cases: &[Case], status: Status) {
    for (name, plan, reason) in cases {
        let dir = tempdir().unwrap();
        let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), name, &[("PLAN", plan)])
        else {
            return;
        };
        let line = format!("run --out - --quiet --plugin-dir {} --topology ring:4", file.display());
        let args = words(&line);
        let output = swapmeet(&args)
            .args(["--algorithm", "gen", "--algorithm", "wrong", "--algorithm", "pex"])
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(1),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let rows = read_records("rows", &String::from_utf8(output.stdout).unwrap()).unwrap();
        let statuses: Vec<Status> = rows.iter().map(|r| r.status).collect();
        assert_eq!(statuses, [Status::Ok, status, Status::Ok], "{name}");
        assert!(rows[1].reason.contains(reason), "{name}: {}", rows[1].reason);
        assert_eq!((rows[1].time_us, rows[1].verified), (None, Verified::None), "{name}");
    }
}

#[test]
fn a_wrong_send_is_invalid() {
    each_costs_its_own_row(&SENDS, Status::Invalid);
}

#[test]
fn a_wrong_grid_is_invalid() {
    each_costs_its_own_row(&GRIDS, Status::Invalid);
}

#[test]
fn a_wrong_set_is_invalid() {
    each_costs_its_own_row(&SETS, Status::Invalid);
}

#[test]
fn a_wrong_route_is_invalid() {
    each_costs_its_own_row(&ROUTES, Status::Invalid);
}

#[test]
fn a_wrong_read_is_invalid() {
    each_costs_its_own_row(&READS, Status::Invalid);
}

/// The host writes a list of links, or of demand, to an array of the plugin, which may be at any
/// address. If the array is too small, the host writes only as many entries as fit, but returns the
/// number of all entries. Links can also be read in `supports`.
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
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "reads", &macros) else {
        return;
    };
    let (code, row) = run_alone(&file);
    assert_eq!((code, row.status, row.steps), (0, Status::Ok, Some(3)), "{}", row.reason);
}

#[test]
fn a_plugin_that_fails_is_an_error() {
    each_costs_its_own_row(&ANSWERS, Status::Error);
}

/// The host checks the values in structs and arrays, but accepts any address of them.
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
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "askew", &[("PLAN", plan)])
    else {
        return;
    };
    let (code, row) = run_alone(&file);
    assert_eq!((code, row.status, row.steps), (0, Status::Ok, Some(3)), "{}", row.reason);
}

#[test]
fn sends_during_supports_are_refused() {
    let calls = [
        "host->step(host->ctx);",
        "const uint64_t n = 4; lay_out(host, &n, 1);",
        "host->place(host->ctx, 0, 0, 1);",
        "host->phase(host->ctx, text(\"early\"));",
        "host->rearrange(host->ctx);",
        "SwmBlocks s = everything(0, 1); host->send_blocks(host->ctx, &s);",
        "SwmRedistribution d = redistribution_of(0, 1); host->redistribute(host->ctx, &d);",
    ];
    for (i, call) in calls.iter().enumerate() {
        let dir = tempdir().unwrap();
        let body = format!("{call} return SWM_OK;");
        let Some(file) = compile_c(
            "tests/plugins/wrong.c",
            dir.path(),
            &format!("early{i}"),
            &[("SUPPORTS", body.as_str())],
        ) else {
            return;
        };
        let (code, row) = run_alone(&file);
        assert_eq!((code, row.status), (1, Status::Invalid), "{call}");
        assert_eq!(
            row.reason, "the plugin gives a schedule where it is only requested whether it can run",
            "{call}"
        );
    }
}

/// If `supports` says that the problem is unsupported, this is not a failure, whether it gives a
/// reason or not. Any other result of `supports` is a failure.
#[test]
fn the_result_of_supports_decides_the_status() {
    let cases = [
        (
            "host->fail(host->ctx, text(\"only at full moon\")); return SWM_UNSUPPORTED;",
            0,
            "only at full moon",
        ),
        ("return SWM_UNSUPPORTED;", 0, "the plugin gives no reason"),
        (
            "host->fail(host->ctx, text(\"\")); return SWM_UNSUPPORTED;",
            0,
            "the plugin gives no reason",
        ),
        ("host->fail(host->ctx, text(\"no moon\")); return SWM_ERROR;", 1, "no moon"),
        ("return 5;", 1, "the plugin returned 5, expected 0 to 4"),
    ];
    for (i, (body, code, reason)) in cases.into_iter().enumerate() {
        let dir = tempdir().unwrap();
        let name = format!("asked{i}");
        let Some(file) =
            compile_c("tests/plugins/wrong.c", dir.path(), &name, &[("SUPPORTS", body)])
        else {
            return;
        };
        let status = if code == 0 { Status::Unsupported } else { Status::Error };
        let (exit, row) = run_alone(&file);
        assert_eq!((exit, row.status, row.reason.as_str()), (code, status, reason), "{body}");
    }
}

/// A plugin that reads schedules of other programs must be able to report a fault in a schedule as
/// `invalid`, because the fault is not an error of the plugin itself.
#[test]
fn a_schedule_reported_as_broken_is_invalid() {
    let cases = [
        (
            "found",
            "host->fail(host->ctx, text(\"line 3: nobody receives\")); return SWM_INVALID;",
            "line 3: nobody receives",
        ),
        ("found_nothing", "return SWM_INVALID;", "the plugin gives no reason"),
    ];
    each_costs_its_own_row(&cases, Status::Invalid);
}
