//! The cases that `check` tries: networks, sizes, parameters, and repeated problems.

use super::*;

const WITH_A_PARAMETER: &str = "static SwmParamInfo way; \
    static const SwmParamInfo *params[] = {&way}; way.size = sizeof way; \
    way.key = text(\"way\"); way.help = text(\"?\"); wrong.params = params; \
    wrong.param_count = 1;";

/// The two schedules have the same messages over different links.
#[test]
fn other_routes_are_another_schedule() {
    let dir = tempdir().unwrap();
    let plan =
        [("PLAN", "static uint32_t calls; return shift_in_order(problem, host, calls++ % 2);")];
    let Some(file) = wrong(dir.path(), "order", &plan) else { return };
    let (code, report) = check(&file, "--topology torus:3x3");
    let found = findings(&report);
    let repeats = "fault repeats wrong torus:3x3 the second time the same problem gives another schedule: \
        in step 1 node 0 sends node 1 other data, or by another route";
    assert!(code == 1 && found.iter().any(|f| f == repeats), "{found:#?}");
}

/// The plugin keeps state from one problem to the next. Each of its schedules is right for some
/// problem. If a problem is repeated immediately, it gives the same schedule. Only a different
/// problem in between reveals the state.
#[test]
fn state_kept_between_problems_is_found() {
    let dir = tempdir().unwrap();
    let nodes = "uint64_t nodes = problem->topology->nodes;";
    for (name, plan, what) in [
        (
            "keeps_the_last_size",
            "static uint64_t last; int first = !last || last == nodes; last = nodes; \
             return first ? shift(problem, host) : backwards(problem, host);",
            "after other problems in one process the same problem gives another schedule: from step 1 on",
        ),
        (
            "keeps_the_first_size",
            "static uint64_t first; if (!first) first = nodes; \
             return first == nodes ? shift(problem, host) : backwards(problem, host);",
            "after other problems in one process the same problem gives another schedule: from step 1 on",
        ),
        (
            "keeps_the_first_table",
            "static uint64_t table; if (!table) table = nodes; if (table < nodes) { host->fail(host->ctx, text(\"table\")); return SWM_ERROR; } \
             return shift(problem, host);",
            "after other problems in one process the same problem is error (table), alone ok",
        ),
    ] {
        let plan = format!("{nodes} {plan}");
        let Some(file) = wrong(dir.path(), name, &[("PLAN", &plan)]) else { return };
        let (code, report) = check(&file, SHORT_LADDER);
        let found = faults(&report);
        assert!(
            matches!(&found[..], [one] if one.starts_with("fault repeats wrong ") && one.contains(what)),
            "{found:#?}"
        );
        assert_eq!(code, 1, "{name}");
    }
}

#[test]
fn special_cases_are_tried_on_large_machines_if_there_are_no_small_ones() {
    let dir = tempdir().unwrap();
    let plan = "return host->block_bytes(host->ctx) ? shift(problem, host) : SWM_OK;";
    let Some(file) = wrong(dir.path(), "no_zero", &[("PLAN", plan)]) else { return };
    let large = "--topology ring:81 --topology ring:80 --topology ring:100";
    let (code, report) = check(&file, large);
    let found = findings(&report);
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("fault delivers wrong ring:80 ") && f.contains("block 1 -> 0")),
        "{found:#?}"
    );
    assert_eq!(code, 1);
}

/// Not every permutation reveals the mistake: a reflection is its own inverse, and so is a
/// translation by one if all sides are 2.
#[test]
fn an_inverted_permutation_is_found_on_the_default_machines() {
    let dir = tempdir().unwrap();
    let plan = "const uint64_t n = problem->topology->nodes; uint64_t v; host->step(host->ctx); \
        for (v = 0; v < n; v++) { const uint64_t to = host->destination(host->ctx, v); SwmBlocks s = everything(to, v); \
        s.flags = SWM_LOCAL; s.origins.kind = SWM_NODE; s.origins.node = to; host->send_blocks(host->ctx, &s); } return SWM_OK;";
    let macros = [("PLAN", plan), ("TABLE", "wrong.collectives = 1u << SWM_PERMUTATION;")];
    let Some(file) = wrong(dir.path(), "inverse", &macros) else { return };
    let (code, report) = check(&file, "--topology ring:7 --topology hypercube:6");
    let found = faults(&report);
    let first = found.first().unwrap();
    assert!(code == 1 && first.starts_with("fault delivers wrong ring:7 invalid: "), "{found:#?}");
    assert!(
        found.iter().all(|f| !f.contains("hypercube:6 invalid") || f.contains("shear")),
        "{found:#?}"
    );
}

#[test]
fn special_cases_are_tried_on_an_odd_machine_too() {
    let dir = tempdir().unwrap();
    let plan = "return problem->topology->nodes == 15 && host->ports(host->ctx) == 2 ? SWM_OK : shift(problem, host);";
    let Some(file) = wrong(dir.path(), "odd", &[("PLAN", plan)]) else { return };
    let (code, report) = check(&file, SHORT_LADDER);
    let found = faults(&report);
    assert!(
        matches!(&found[..], [one] if one.starts_with("fault delivers wrong torus:3x5, ports=2")),
        "{found:#?}"
    );
    assert_eq!(code, 1);
}

#[test]
fn everything_a_plugin_can_request_is_varied() {
    let dir = tempdir().unwrap();
    for (name, asks, place) in [
        ("elements", "host->element_bytes(host->ctx) == 8", "ring:4"),
        ("ports", "host->ports(host->ctx) == 2", "ring:4, ports=2"),
        ("channels", "host->virtual_channels(host->ctx) == 2", "ring:4, virtual_channels=2"),
    ] {
        let plan = format!("return {asks} ? SWM_OK : shift(problem, host);");
        let Some(file) = wrong(dir.path(), name, &[("PLAN", &plan)]) else { return };
        let (_, report) = check(&file, "--topology ring:4");
        let found = faults(&report);
        assert!(
            matches!(&found[..], [one] if one.starts_with(&format!("fault delivers wrong {place}"))),
            "{found:#?}"
        );
    }
}

#[test]
fn algorithms_can_be_checked_with_parameters() {
    let dir = tempdir().unwrap();
    let macros = [
        ("PLAN", "return problem->param_count ? SWM_OK : shift(problem, host);"),
        ("TABLE", WITH_A_PARAMETER),
    ];
    let Some(file) = wrong(dir.path(), "way", &macros) else { return };
    assert_eq!(check(&file, "--topology ring:4").0, 0);
    let given = "--topology ring:4 --algorithm wrong --algorithm wrong:way=back";
    let (code, report) = check(&file, given);
    let found = faults(&report);
    assert!(
        found.iter().all(|f| f.starts_with("fault delivers wrong:way=back ring:4")),
        "{found:#?}"
    );
    assert_eq!((code, report["algorithms"].as_array().unwrap().len()), (1, 2));
    for (spec, message) in [
        ("wrogn", "did you mean `wrong`?"),
        ("wrong:wya=1", "did you mean `way`?"),
        ("wrong:", "nothing after the colon"),
    ] {
        let refused = swapmeet(&["check", file.to_str().unwrap(), "--algorithm", spec]);
        { refused }.assert().code(2).stdout("").stderr(predicate::str::contains(message));
    }
}

/// If every network refuses a parameter, the user has misspelled it.
#[test]
fn a_parameter_that_is_refused_everywhere_is_bad_usage() {
    let dir = tempdir().unwrap();
    let plan = "if (!problem->param_count) return shift(problem, host); \
        host->fail(host->ctx, text(\"`way=bakc`: expected forth or back\")); return SWM_ERROR;";
    let macros = [("PLAN", plan), ("TABLE", WITH_A_PARAMETER)];
    let Some(file) = wrong(dir.path(), "misprint", &macros) else { return };
    let refused = swapmeet(&["check", file.to_str().unwrap(), "--algorithm", "wrong:way=bakc"]);
    let message = "--algorithm: `wrong:way=bakc`: `way=bakc`: expected forth or back";
    { refused }.assert().code(2).stdout("").stderr(predicate::str::contains(message));
}

/// The schedule contains constants for one size, so the algorithm refuses all others.
#[test]
fn an_algorithm_that_accepts_one_machine_gets_a_remark() {
    let dir = tempdir().unwrap();
    let plan = "if (problem->topology->nodes != 12) { host->fail(host->ctx, text(\"12 nodes\")); \
        return SWM_UNSUPPORTED; } return shift(problem, host);";
    let Some(file) = wrong(dir.path(), "one_size", &[("PLAN", plan)]) else { return };
    let only = "remark delivers wrong groups:3x4 this is the only one of 3 machines that it accepts, so it may contain constants that fit this size; name others with --topology";
    let remarks = |topologies: [&str; 3]| {
        let (code, report) =
            check(&file, &topologies.map(|name| format!("--topology {name}")).join(" "));
        let found = findings(&report);
        assert_eq!(code, 0, "{found:#?}");
        found.iter().any(|finding| finding == only)
    };
    assert!(remarks(["groups:3x4", "groups:2x5", "groups:5x3"]));
    assert!(!remarks(["groups:3x4", "groups:2x5", "ring:12"]));
}
