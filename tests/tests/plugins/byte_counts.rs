//! Schedules of byte counts. One of them is right, and all others break a rule.

use super::run_alone;
use super::schedules::{Case, each_costs_its_own_row};
use crate::support::compile_c;
use swapmeet_results::{Status, Verified};
use tempfile::tempdir;

/// Schedules of byte counts in which each node has 1,024 bytes for each of the four nodes.
const BYTE_COUNTS: [Case; 24] = [
    (
        "redistribution_of_blocks",
        "SwmRedistribution d = redistribution_of(0, 2); return host->redistribute(host->ctx, &d);",
        "the schedule redistributes, but did not declare byte counts",
    ),
    (
        "bucket_of_blocks",
        "SwmBucket s = bucket(0, 1, 0); return one_bucket(host, &s);",
        "the schedule sends byte counts, but did not declare them",
    ),
    (
        "unknown_layout_flag",
        "SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.flags = 4; return host->layout(host->ctx, &l);",
        "the schedule's grid: it has flags that this program does not know",
    ),
    (
        "byte_counts_in_parts",
        "SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.flags = SWM_BYTE_COUNTS; l.segments = 2; return host->layout(host->ctx, &l);",
        "the schedule's grid: byte counts are not split in segments, they are redistributed",
    ),
    (
        "byte_counts_placed",
        "uint64_t v; move_byte_counts(host); for (v = 0; v < 4; v++) host->place(host->ctx, v, 3 - v, 1); return host->step(host->ctx);",
        "the schedule's grid: a schedule of byte counts needs a grid of as many nodes as the machine, without placements",
    ),
    (
        "redistribution_null",
        "move_byte_counts(host); return host->redistribute(host->ctx, 0);",
        "the plugin redistributes null",
    ),
    (
        "redistribution_size_forgotten",
        "SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host); d.size = 8; return host->redistribute(host->ctx, &d);",
        "the plugin's redistribution has a `size` below 64: set it to sizeof(SwmRedistribution)",
    ),
    (
        "redistribution_for_the_world",
        "const uint32_t t = 0; SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host); d.starts = &t; d.node_count = UINT64_MAX; return host->redistribute(host->ctx, &d);",
        "the plugin's redistribution is for over 134217728 destinations",
    ),
    (
        "redistribution_askew",
        "char t[32] = {0}; SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host); d.firsts = (const void *)(t + ((uintptr_t)t % 4 == 1 ? 2 : 1)); d.node_count = 4; return host->redistribute(host->ctx, &d);",
        "the plugin's redistribution has a table at an address that is not a multiple of 4",
    ),
    (
        "redistribution_without_buckets",
        "SwmRedistribution d = redistribution_of(0, 0); move_byte_counts(host); return host->redistribute(host->ctx, &d);",
        "after step 0: node 0 redistributes with 0 buckets, expected 1 to 65536",
    ),
    (
        "redistribution_short_table",
        "const uint32_t t[3] = {0, 1, 0}; SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host); d.starts = t; d.node_count = 3; return host->redistribute(host->ctx, &d);",
        "node 0 has 3 starts",
    ),
    (
        "redistribution_twice",
        "SwmRedistribution d = redistribution_of(1, 2); move_byte_counts(host); host->redistribute(host->ctx, &d); return host->redistribute(host->ctx, &d);",
        "node 1 redistributes again",
    ),
    (
        "bucket_before_it_is_filled",
        "SwmBucket s = bucket(0, 1, 0); move_byte_counts(host); return one_bucket(host, &s);",
        "node 0 has redistributed nothing",
    ),
    (
        "bucket_unknown",
        "SwmRedistribution d = redistribution_of(0, 2); SwmBucket s = bucket(0, 1, 2); move_byte_counts(host); host->redistribute(host->ctx, &d); return one_bucket(host, &s);",
        "selects bucket 2, but node 0 redistributed buckets 0 to 1",
    ),
    (
        "bucket_twice",
        "SwmRedistribution d = redistribution_of(0, 2); SwmBucket s = bucket(0, 1, 0); move_byte_counts(host); host->redistribute(host->ctx, &d); one_bucket(host, &s); return one_bucket(host, &s);",
        "step 3: the send of bytes from node 0 to node 1 selects bucket 0, which node 0 has already sent",
    ),
    (
        "bucket_kept",
        "SwmRedistribution d = redistribution_of(0, 2); SwmBucket s = bucket(0, 1, 1); move_byte_counts(host); host->redistribute(host->ctx, &d); one_bucket(host, &s); return SWM_OK;",
        "node 0 has not sent bucket 0",
    ),
    (
        "bucket_copied",
        "SwmBucket s = bucket(0, 1, 0); move_byte_counts(host); s.flags = SWM_COPY; return one_bucket(host, &s);",
        "the plugin's send has flags that this program does not know",
    ),
    (
        "blocks_beside_byte_counts",
        "SwmBlocks s = everything(0, 1); move_byte_counts(host); return one_step(host, &s);",
        "the schedule sends blocks, but declared byte counts",
    ),
    (
        "bytes_of_blocks",
        "const SwmByteCount a = {1, 1}; SwmBytes s = bytes(0, 1, &a, 1); return one_of_bytes(host, &s);",
        "the schedule sends byte counts, but did not declare them",
    ),
    (
        "bytes_size_forgotten",
        "SwmBytes s = bytes(0, 1, 0, 0); move_byte_counts(host); s.size = 40; return one_of_bytes(host, &s);",
        "the plugin's send has a `size` below 48: set it to sizeof(SwmBytes)",
    ),
    (
        "named_null",
        "SwmBytes s = bytes(0, 1, 0, 2); move_byte_counts(host); return one_of_bytes(host, &s);",
        "step 1: the send of bytes from node 0 to node 1 has null for its byte counts",
    ),
    (
        "named_too_many",
        "const SwmByteCount a = {1, 1}; SwmBytes s = bytes(0, 1, &a, UINT64_MAX); move_byte_counts(host); return one_of_bytes(host, &s);",
        "step 1: the send of bytes from node 0 to node 1 has over 134217728 byte counts",
    ),
    (
        "named_too_much",
        "const SwmByteCount a = {1, 1025}; SwmBytes s = bytes(0, 1, &a, 1); move_byte_counts(host); return one_of_bytes(host, &s);",
        "step 1: the send of bytes from node 0 to node 1 names 1025 bytes for node 1, but node 0 holds only 1024",
    ),
    (
        "byte_counts_astray",
        "const SwmByteCount a[2] = {{0, SWM_ALL_BYTES}, {2, SWM_ALL_BYTES}}; SwmBytes s = bytes(0, 1, a, 2); move_byte_counts(host); one_of_bytes(host, &s); return SWM_OK;",
        "node 0 still holds 1024 bytes for node 1",
    ),
];

#[test]
fn a_wrong_amount_is_invalid() {
    each_costs_its_own_row(&BYTE_COUNTS, Status::Invalid);
}

#[test]
fn byte_counts_redistributed_by_a_plugin_in_c_arrive() {
    let dir = tempdir().unwrap();
    let plan = "return redistribute_and_collect(problem, host);";
    let Some(file) =
        compile_c("tests/plugins/wrong.c", dir.path(), "redistributed", &[("PLAN", plan)])
    else {
        return;
    };
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
