//! Plugins with one mistake each, compiled from one file in C.

use super::*;

/// A wrong plugin: its name, the macros for `wrong.c`, the beginning of the expected finding, and a
/// text in it.
type Wrong = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

const WRONG: [Wrong; 27] = [
    (
        "crashes",
        &[("PLAN", "return *(volatile int32_t *)8;")],
        "fault survives wrong ring:4 ",
        "its process was killed by signal 11 (SIGSEGV)",
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
        "its process ended with exit status 0, without an answer",
    ),
    (
        "hangs",
        &[(
            "PLAN",
            "SwmBlocks s = everything(0, 1), t = everything(1, 2); one_step(host, &s); one_step(host, &t); for (;;) { } return SWM_OK;",
        )],
        "fault time wrong ring:4 ",
        "not done after 0.3 s; it was in step 4, and it ignores the host: killed",
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
        // Both schedules have the same number of messages between the same nodes.
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
        "divides_by_a_parameter",
        &[
            (
                "PLAN",
                "return 8 / (int32_t)swm_number(problem, \"way\", 2) ? shift(problem, host) : shift(problem, host);",
            ),
            (
                "TABLE",
                "static SwmParamInfo way; static const SwmParamInfo *params[] = {&way}; way.size = sizeof way; way.kind = SWM_PARAM_NUMBER; way.key = text(\"way\"); way.default_value = text(\"2\"); way.help = text(\"?\"); \
              wrong.params = params; wrong.param_count = 1;",
            ),
        ],
        "fault survives wrong ring:4, way=0 ",
        "its process was killed by signal 8 (SIGFPE)",
    ),
    (
        "shifts_by_a_large_parameter",
        &[
            (
                "PLAN",
                "return swm_number(problem, \"way\", 2) >> 63 ? SWM_OK : shift(problem, host);",
            ),
            (
                "TABLE",
                "static SwmParamInfo way; static const SwmParamInfo *params[] = {&way}; way.size = sizeof way; way.kind = SWM_PARAM_NUMBER; way.key = text(\"way\"); way.default_value = text(\"2\"); way.help = text(\"?\"); \
              wrong.params = params; wrong.param_count = 1;",
            ),
        ],
        "fault delivers wrong ring:4, way=18446744073709551615 ",
        "invalid: after step 0: block 1 -> 0 was never delivered",
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
        "writes_to_files",
        &[(
            "PLAN",
            "int file; for (file = 3; file < 64; file++) if (write(file, \"x\", 1) < 0) continue; return shift(problem, host);",
        )],
        "fault survives wrong ring:4 ",
        "writes to files that it did not open",
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
        // Node 1 has already sent its own contribution. It then adds the contribution of node 2 to
        // it, and never sends the sum.
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
        "built for plugin ABI 9.2, but this program supports 1.2",
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
        let Some(file) = wrong(dir.path(), name, &macros) else { return };
        // This plugin counts its processes in a file, which the sandbox would prevent.
        let confined = if name == "depends_on_the_process" { "--no-sandbox" } else { "" };
        // Only plugins that hang need a short limit. A slow computer exceeds it otherwise.
        let timeout = if contains.contains("0.3 s") { 0.3 } else { 30.0 };
        let args = format!("--topology ring:4 --timeout {timeout} {confined}");
        let (code, report) = check(&file, &args);
        let found = findings(&report);
        assert!(
            found.iter().any(|f| f.starts_with(start) && f.contains(contains)),
            "{name}: {found:#?}"
        );
        // Only faults give the exit status 1. The remark about calls after a refused call is
        // reported together with a fault, the refused call itself.
        let is_wrong = start.starts_with("fault") || name == "goes_on_after_a_refusal";
        assert_eq!(code, i32::from(is_wrong), "{name}");
    }
}

/// In an earlier version, the note about the sandbox was also printed after other crashes.
#[test]
fn the_sandbox_is_named_only_if_it_refused_a_call() {
    let dir = tempdir().unwrap();
    let note = |name: &str, plan: &str| {
        let file = wrong(dir.path(), name, &[("PLAN", plan)])?;
        let check = swapmeet(&["check", file.to_str().unwrap(), "--topology", "ring:4"]).output();
        let check = check.unwrap();
        assert_eq!(check.status.code(), Some(1), "{name}");
        Some(String::from_utf8_lossy(&check.stderr).into_owned())
    };
    let Some(crash) = note("crash", "return *(volatile int32_t *)8;") else { return };
    assert_eq!(crash, "");
    let refused = [
        ("fork", "if (fork() < 0) abort(); return shift(problem, host);"),
        (
            "opens",
            "if (!fopen(\"/etc/hostname-of-swapmeet\", \"w\")) { host->fail(host->ctx, text(\"/etc: Permission denied\")); return SWM_ERROR; } return shift(problem, host);",
        ),
    ];
    for (name, plan) in refused {
        let Some(text) = note(name, plan) else { return };
        assert!(
            text.starts_with("note: the sandbox has refused a system call: "),
            "{name}: {text}"
        );
    }
}
