//! Schedules of amounts: one that is right, and those that break rules.

use super::run_alone;
use super::schedules::{Case, each_costs_its_own_row};
use crate::support::compile_c;
use swapmeet_results::{Status, Verified};
use tempfile::tempdir;

/// Amounts instead of blocks; each node has 1,024 bytes for each of the four nodes.
const AMOUNTS: [Case; 27] = [
    (
        "deal_of_blocks",
        "SwmDeal d = deal_of(0, 2); return host->deal(host->ctx, &d);",
        "the schedule deals, but did not say that it moves amounts",
    ),
    (
        "hand_of_blocks",
        "SwmSend s = hand(0, 1, 0); return one_step(host, &s);",
        "the plugin's send is of amounts, but the schedule did not say that it moves them",
    ),
    (
        "unknown_layout_flag",
        "SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.flags = 2; return host->layout(host->ctx, &l);",
        "the schedule's grid: it has flags that this swapmeet does not know",
    ),
    (
        "amounts_in_parts",
        "SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.flags = SWM_AMOUNTS; l.parts = 2; return host->layout(host->ctx, &l);",
        "the schedule's grid: amounts are not split in parts, they are dealt out",
    ),
    (
        "amounts_placed",
        "uint64_t v; move_amounts(host); for (v = 0; v < 4; v++) host->place(host->ctx, v, 3 - v, 1); return host->step(host->ctx);",
        "the schedule's grid: a schedule of amounts runs each node on its own, expected a grid of as many nodes as the machine, none placed",
    ),
    ("deal_null", "move_amounts(host); return host->deal(host->ctx, 0);", "the plugin deals null"),
    (
        "deal_size_forgotten",
        "SwmDeal d = deal_of(0, 2); move_amounts(host); d.size = 8; return host->deal(host->ctx, &d);",
        "the plugin's deal has a `size` below 64: set it to sizeof(SwmDeal)",
    ),
    (
        "deal_for_the_world",
        "const uint32_t t = 0; SwmDeal d = deal_of(0, 2); move_amounts(host); d.starts = &t; d.node_count = UINT64_MAX; return host->deal(host->ctx, &d);",
        "the plugin's deal is for over 134217728 destinations",
    ),
    (
        "deal_askew",
        "char t[32] = {0}; SwmDeal d = deal_of(0, 2); move_amounts(host); d.firsts = (const void *)(t + ((uintptr_t)t % 4 == 1 ? 2 : 1)); d.node_count = 4; return host->deal(host->ctx, &d);",
        "the plugin's deal has a table at an address that is no multiple of 4",
    ),
    (
        "deal_without_hands",
        "SwmDeal d = deal_of(0, 0); move_amounts(host); return host->deal(host->ctx, &d);",
        "after step 0: node 0 deals with 0 hands, expected 1 to 65536",
    ),
    (
        "deal_short_table",
        "const uint32_t t[3] = {0, 1, 0}; SwmDeal d = deal_of(0, 2); move_amounts(host); d.starts = t; d.node_count = 3; return host->deal(host->ctx, &d);",
        "after step 0: node 0 has 3 starts, expected one for each of 4 nodes",
    ),
    (
        "deal_twice",
        "SwmDeal d = deal_of(1, 2); move_amounts(host); host->deal(host->ctx, &d); return host->deal(host->ctx, &d);",
        "after step 0: node 1 deals again, but has not sent hand 0 of its last deal",
    ),
    (
        "hand_before_the_deal",
        "SwmSend s = hand(0, 1, 0); move_amounts(host); return one_step(host, &s);",
        "step 1: what node 0 sends node 1 is hand 0 of a deal, but node 0 has dealt nothing",
    ),
    (
        "hand_unknown",
        "SwmDeal d = deal_of(0, 2); SwmSend s = hand(0, 1, 2); move_amounts(host); host->deal(host->ctx, &d); return one_step(host, &s);",
        "step 1: what node 0 sends node 1 is hand 2, but node 0 dealt hands 0 to 1",
    ),
    (
        "hand_twice",
        "SwmDeal d = deal_of(0, 2); SwmSend s = hand(0, 1, 0); move_amounts(host); host->deal(host->ctx, &d); one_step(host, &s); return one_step(host, &s);",
        "step 3: what node 0 sends node 1 is hand 0, which node 0 has sent already",
    ),
    (
        "hand_kept",
        "SwmDeal d = deal_of(0, 2); SwmSend s = hand(0, 1, 1); move_amounts(host); host->deal(host->ctx, &d); one_step(host, &s); return SWM_OK;",
        "after step 2: node 0 has not sent hand 0 of what it dealt",
    ),
    (
        "amounts_copied",
        "SwmSend s = everything(0, 1); move_amounts(host); s.flags = SWM_COPY; return one_step(host, &s);",
        "the plugin's send is strict or a copy, which amounts can't be",
    ),
    (
        "amounts_of_an_origin",
        "SwmSend s = block(7777, 1, 0, 1); move_amounts(host); s.flags = 0; return one_step(host, &s);",
        "the plugin's send of amounts names origins: a schedule of amounts forgets where data comes from",
    ),
    (
        "part_of_an_amount",
        "SwmSend s = everything(0, 1); move_amounts(host); s.parts = range(0, 1, 0); return one_step(host, &s);",
        "the plugin's send of amounts names parts, which only blocks have",
    ),
    (
        "hand_without_its_flag",
        "SwmSend s = hand(0, 1, 2); move_amounts(host); s.flags = 0; return one_step(host, &s);",
        "the plugin's send names a hand without SWM_HAND",
    ),
    (
        "amounts_without_their_flag",
        "const SwmAmount a = {1, 1}; SwmSend s = everything(0, 1); move_amounts(host); s.amounts = &a; s.amount_count = 1; return one_step(host, &s);",
        "the plugin's send names amounts without SWM_NAMED",
    ),
    (
        "amounts_beside_blocks",
        "SwmSend s = everything(0, 1); s.amount_count = 9; return one_step(host, &s);",
        "the plugin's send names amounts without SWM_NAMED",
    ),
    (
        "hand_and_named",
        "SwmSend s = hand(0, 1, 0); move_amounts(host); s.flags |= SWM_NAMED; return one_step(host, &s);",
        "the plugin's send is a hand and named amounts at once",
    ),
    (
        "named_null",
        "SwmSend s = everything(0, 1); move_amounts(host); s.flags = SWM_NAMED; s.amount_count = 2; return one_step(host, &s);",
        "step 1: what node 0 sends node 1 has null for its amounts",
    ),
    (
        "named_too_many",
        "const SwmAmount a = {1, 1}; SwmSend s = everything(0, 1); move_amounts(host); s.flags = SWM_NAMED; s.amounts = &a; s.amount_count = UINT64_MAX; return one_step(host, &s);",
        "step 1: what node 0 sends node 1 has over 134217728 amounts",
    ),
    (
        "named_too_much",
        "const SwmAmount a = {1, 1025}; SwmSend s = everything(0, 1); move_amounts(host); s.flags = SWM_NAMED; s.amounts = &a; s.amount_count = 1; return one_step(host, &s);",
        "step 1: what node 0 sends node 1 names 1025 bytes for node 1, but node 0 holds only 1024",
    ),
    (
        "amounts_astray",
        "SwmSend s = everything(0, 1); move_amounts(host); one_step(host, &s); return SWM_OK;",
        "after step 2: node 1 still has 2048 bytes for node 0; 12288 bytes in all are not at their destination, at 3 nodes",
    ),
];

#[test]
fn a_wrong_amount_is_invalid() {
    each_costs_its_own_row(&AMOUNTS, Status::Invalid);
}

#[test]
fn amounts_dealt_by_a_plugin_in_c_arrive() {
    let dir = tempdir().unwrap();
    let plan = "return deal_and_collect(problem, host);";
    let Some(file) = compile_c("tests/plugins/wrong.c", dir.path(), "dealt", &[("PLAN", plan)]) else { return };
    let (code, row) = run_alone(&file);
    assert_eq!((code, row.status, row.verified), (0, Status::Ok, Verified::Amounts), "{}", row.reason);
    assert_eq!((row.steps, row.messages, row.send_buffer_bytes), (Some(6), Some(24), Some(7 * 1024)));
}
