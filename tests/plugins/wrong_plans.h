/* One plugin with an algorithm for each mistake on a ring of four nodes: the status that its row must
   have, the name, the reason in the row, and the body of `plan` or of `supports`. The reason is a part of
   the row's reason for `plan`, and all of it for `supports`. Unit tests of the core check the exact texts of
   the core's messages. */

/* Sends with wrong senders or receivers, or at the wrong time. */
IN_PLAN(invalid, unknown_receiver, "receiver 9 is unknown",
    SwmBlocks s = everything(0, 9); return one_step(host, &s);)
IN_PLAN(invalid, unknown_sender, "sender 18446744073709551615 is unknown",
    SwmBlocks s = everything(UINT64_MAX, 1); return one_step(host, &s);)
IN_PLAN(invalid, to_itself, "node 1 sends to itself",
    SwmBlocks s = everything(1, 1); return one_step(host, &s);)
IN_PLAN(invalid, not_held, "node 1 sends node 3 block 2 -> 3",
    SwmBlocks s = block(2, 3, 1, 3); return one_step(host, &s);)
IN_PLAN(invalid, nothing_sent, "after step 0: block 1 -> 0 was never delivered",
    return SWM_OK;)
IN_PLAN(invalid, one_too_few, "after step 3: block 1 -> 3 was never delivered",
    uint64_t d, v; for (d = 1; d < 4; d++) { host->step(host->ctx); for (v = 0; v < 4;
    v++) if (d != 2 || v != 1) { SwmBlocks s = block(v, (v + d) % 4, v, (v + d) % 4);
    host->send_blocks(host->ctx, &s); } } return SWM_OK;)
IN_PLAN(invalid, astray,
    "after step 2: block 1 -> 0 was never delivered to node 0 (it is at node 2 since step 1); missing in total: 12 blocks at 4 nodes",
    SwmBlocks s = block(1, 0, 1, 2); one_step(host, &s); return SWM_OK;)
IN_PLAN(invalid, labelled, "(it is at node 2) [line 7]",
    SwmBlocks s = block(2, 3, 1, 3); s.label = text("line 7"); return one_step(host, &s);)
IN_PLAN(invalid, labelled_astray, "at 4 nodes [line 7]",
    SwmBlocks s = block(1, 0, 1, 2); s.label = text("line 7"); one_step(host, &s); return SWM_OK;)
IN_PLAN(invalid, labelled_twice, "node 1 already holds it [line 8]",
    SwmBlocks s = block(0, 1, 0, 1); s.flags |= SWM_COPY; s.label = text("line 7"); one_step(host, &s);
    s.label = text("line 8"); one_step(host, &s); return SWM_OK;)
IN_PLAN(invalid, before_a_step, "the schedule sends before its first step",
    SwmBlocks s = everything(0, 1); return host->send_blocks(host->ctx, &s);)
IN_PLAN(invalid, after_a_rearrangement,
    "the schedule sends between steps: a new one must begin after a phase's name, a redistribution or a rearrangement",
    SwmBlocks s = everything(0, 1); host->step(host->ctx); host->rearrange(host->ctx);
    return host->send_blocks(host->ctx, &s);)
IN_PLAN(invalid, goes_on_after_a_fault, "node 1 sends to itself",
    SwmBlocks s = everything(1, 1); one_step(host, &s); shift(problem, host); return SWM_OK;)
IN_PLAN(invalid, null, "the plugin sends null",
    host->step(host->ctx); return host->send_blocks(host->ctx, 0);)
IN_PLAN(invalid, size_forgotten, "the plugin's send has a `size` below 136: set it to sizeof(SwmBlocks)",
    SwmBlocks s = everything(0, 1); s.size = 0; return one_step(host, &s);)
IN_PLAN(invalid, unknown_flag, "the plugin's send has flags that this program does not know",
    SwmBlocks s = everything(0, 1); s.flags = 64; return one_step(host, &s);)

/* Wrong grids, placements and phases. */
IN_PLAN(invalid, layout_twice, "the schedule sets its grid twice",
    const uint64_t n = 4; lay_out(host, &n, 1); return lay_out(host, &n, 1);)
IN_PLAN(invalid, layout_late, "the schedule sets its grid after its first step",
    const uint64_t n = 4; host->step(host->ctx); return lay_out(host, &n, 1);)
IN_PLAN(invalid, layout_after_place, "the schedule sets its grid after it has placed a node",
    const uint64_t n = 4; host->place(host->ctx, 0, 1, 1); return lay_out(host, &n, 1);)
IN_PLAN(invalid, layout_null, "the schedule's grid: the plugin gives none",
    return host->layout(host->ctx, 0);)
IN_PLAN(invalid, layout_size_forgotten, "the schedule's grid: its `size` is below 24: set it to sizeof(SwmLayout)",
    const uint64_t n = 4; SwmLayout l; memset(&l, 0, sizeof l); l.axis_count = 1; l.radices = &n;
    return host->layout(host->ctx, &l);)
IN_PLAN(invalid, null_radices, "the schedule's grid: it has null for the radices of 2 axes",
    return lay_out(host, 0, 2);)
IN_PLAN(invalid, radix_0, "axis 0 of the grid has radix 0",
    const uint64_t n = 0; return lay_out(host, &n, 1);)
IN_PLAN(invalid, huge_grid, "the schedule's grid: the grid has more than 2147483648 nodes",
    const uint64_t n[2] = {1u << 30, 1u << 30}; return lay_out(host, n, 2);)
IN_PLAN(invalid, long_axis,
    "the schedule's grid: the grid's axes have over 4194304 coordinates together; split the longest in two",
    const uint64_t n = 1u << 31; return lay_out(host, &n, 1);)
IN_PLAN(invalid, many_axes, "the schedule's grid: it has 1000 axes, expected at most 64",
    const uint64_t n = 4; return lay_out(host, &n, 1000);)
IN_PLAN(invalid, many_parts, "the schedule's grid: blocks are to be split in 5000 segments, expected at most 4096",
    SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.segments = 5000;
    return host->layout(host->ctx, &l);)
IN_PLAN(invalid, no_places, "the schedule's grid: it has 5 nodes and the machine 4: every node must be placed",
    const uint64_t n = 5; lay_out(host, &n, 1); return shift(problem, host);)
IN_PLAN(invalid, one_place_missing, "the schedule's grid: node 4 is not placed",
    const uint64_t n = 5; uint64_t v; lay_out(host, &n, 1); for (v = 0; v < 4;
    v++) host->place(host->ctx, v, v, 1); return shift(problem, host);)
IN_PLAN(invalid, placed_twice, "the schedule's grid: node 0 is placed twice, on nodes 0 and 1",
    host->place(host->ctx, 0, 0, 1); return host->place(host->ctx, 0, 1, 1);)
IN_PLAN(invalid, two_owners, "the schedule's grid: node 0 of the machine has two homes, nodes 0 and 1",
    host->place(host->ctx, 0, 0, 1); return host->place(host->ctx, 1, 0, 1);)
IN_PLAN(invalid, no_owner, "the schedule's grid: node 0 of the machine has no home",
    uint64_t v; for (v = 0; v < 4; v++) host->place(host->ctx, v, v, v > 0); return shift(problem, host);)
IN_PLAN(invalid, placed_outside,
    "the schedule's grid: node 0 is placed on node 4, but the grid has 4 nodes and the machine 4",
    return host->place(host->ctx, 0, 4, 1);)
IN_PLAN(invalid, placed_late, "the schedule places a node after its first step",
    host->step(host->ctx); return host->place(host->ctx, 0, 0, 1);)
IN_PLAN(invalid, phase_not_utf8,
    "the schedule names a phase with text that is null, not UTF-8, or longer than 1 MiB",
    host->phase(host->ctx, text("\xff")); return shift(problem, host);)

/* Wrong sets of origins, destinations and segments. */
IN_PLAN(invalid, kind, "step 1: in the send from 0 to 1, the set of origins is of an unknown kind",
    SwmBlocks s = everything(0, 1); s.origins.kind = 9; return one_step(host, &s);)
IN_PLAN(invalid, null_axes, "step 1: in the send from 0 to 1, the set of origins has null for its axes",
    SwmBlocks s = everything(0, 1); s.origins.kind = SWM_AXES; s.origins.axis_count = 1;
    return one_step(host, &s);)
IN_PLAN(invalid, too_many_axes, "step 1: in the send from 0 to 1, the set of destinations has over 64 axes",
    SwmAxis a = range(0, 1, 1); return send_to_set(host, &a, UINT32_MAX);)
IN_PLAN(invalid, other_axes_than_the_grid,
    "step 1: in the send from 0 to 1, the set of destinations has 2 axes, the grid has 1",
    SwmAxis a[2]; a[0] = a[1] = range(0, 1, 1); return send_to_set(host, a, 2);)
IN_PLAN(invalid, node_outside,
    "step 1: in the send from 0 to 1, the set of destinations names node 77 of a grid of 4 nodes",
    SwmBlocks s = block(0, 77, 0, 1); return one_step(host, &s);)
IN_PLAN(invalid, axis_kind,
    "step 1: in the send from 0 to 1, the set of destinations has an axis of an unknown kind",
    SwmAxis a = range(0, 1, 1); a.kind = 9; return send_to_set(host, &a, 1);)
IN_PLAN(invalid, range_outside, "axis 0: it starts at 4",
    SwmAxis a = range(4, 1, 1); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, range_of_none, "axis 0: it has 0 members",
    SwmAxis a = range(0, 1, 0); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, range_without_stride, "axis 0: it has 2 members 0 apart",
    SwmAxis a = range(0, 0, 2); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, range_twice, "(3 members 2 apart, modulo 4)",
    SwmAxis a = range(0, 2, 3); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, bits_null,
    "step 1: in the send from 0 to 1, the set of destinations has an axis with null for its bits",
    SwmAxis a = bits(0, 1); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, bits_too_long,
    "step 1: in the send from 0 to 1, the set of destinations has an axis with over 131072 words of bits",
    const uint64_t w = 1; SwmAxis a = bits(&w, UINT32_MAX); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, bits_askew,
    "step 1: in the send from 0 to 1, the set of destinations has an axis whose bits are at an address that is not a multiple of 8",
    const uint64_t w[2] = {0, 0}; SwmAxis a = bits((const char *)w + 1, 1); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, bits_of_other_length, "axis 0: it has 2 words",
    const uint64_t w[2] = {1, 0}; SwmAxis a = bits(w, 2); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, bits_outside, "beyond coordinate 3",
    const uint64_t w = 16; SwmAxis a = bits(&w, 1); return send_to_set(host, &a, 1);)
IN_PLAN(invalid, parts_of_whole_blocks, "the set of segments is wrong",
    SwmBlocks s = everything(0, 1); s.segments = range(3, 1, 1); return one_step(host, &s);)

/* Wrong routes from node 0 to node 2. */
IN_PLAN(invalid, path_without_link,
    "step 1: the message from node 0 to node 2 can't be routed: ring:4 has no link from node 0 to node 2",
    const uint64_t p = 2; return send_by_path(host, &p, 1);)
IN_PLAN(invalid, path_to_nowhere,
    "step 1: the message from node 0 to node 2 can't be routed: ring:4 has no link from node 0 to node 18446744073709551615",
    const uint64_t p[2] = {UINT64_MAX, 2}; return send_by_path(host, p, 2);)
IN_PLAN(invalid, path_to_another, "got one that ends at node 1",
    const uint64_t p = 1; return send_by_path(host, &p, 1);)
IN_PLAN(invalid, path_too_long, "the plugin's route has a path of over 16777216 nodes",
    const uint64_t p = 2; return send_by_path(host, &p, UINT64_MAX);)
IN_PLAN(invalid, signs_of_two_dimensions, "1 dimensions, got [1, 1]",
    const int8_t d[2] = {1, 1}; SwmRoute r = no_route(); r.signs = d; r.dim_count = 2; return send_by(host, &r);)
IN_PLAN(invalid, sign_of_two, "1 dimensions, got [2]",
    const int8_t d = 2; SwmRoute r = no_route(); r.signs = &d; r.dim_count = 1; return send_by(host, &r);)
IN_PLAN(invalid, order, "once, got [5]",
    const uint32_t o = 5; SwmRoute r = no_route(); r.order = &o; r.dim_count = 1; return send_by(host, &r);)
IN_PLAN(invalid, many_dimensions, "the plugin's route has over 64 dimensions",
    const int8_t d = 1; SwmRoute r = no_route(); r.signs = &d; r.dim_count = UINT32_MAX;
    return send_by(host, &r);)
IN_PLAN(invalid, route_size_forgotten, "the plugin's route has a `size` below 40: set it to sizeof(SwmRoute)",
    SwmRoute r = no_route(); r.size = 0; return send_by(host, &r);)

/* Wrong arguments of the functions that read links and demand. */
IN_PLAN(invalid, links_of_nobody, "the plugin reads the links of a vertex that does not exist",
    SwmLink l; uint64_t n; host->links(host->ctx, 4, &l, 1, &n); return SWM_OK;)
IN_PLAN(invalid, links_of_the_last_number, "the plugin reads the links of a vertex that does not exist",
    SwmLink l; uint64_t n; host->links(host->ctx, UINT64_MAX, &l, 1, &n); return SWM_OK;)
IN_PLAN(invalid, links_into_null, "the plugin reads links, but gives null for them or for their number",
    uint64_t n; host->links(host->ctx, 0, 0, 2, &n); return SWM_OK;)
IN_PLAN(invalid, links_without_number, "the plugin reads links, but gives null for them or for their number",
    SwmLink l[2]; host->links(host->ctx, 0, l, 2, 0); return SWM_OK;)
IN_PLAN(invalid, demand_of_nobody, "the plugin reads the demand of a node that does not exist",
    SwmByteCount c; uint64_t n; host->demand(host->ctx, 4, &c, 1, &n); return SWM_OK;)
IN_PLAN(invalid, demand_into_null, "the plugin reads demand, but gives null for it or for its length",
    uint64_t n; host->demand(host->ctx, 0, 0, UINT64_MAX, &n); return SWM_OK;)
IN_PLAN(invalid, demand_without_length, "the plugin reads demand, but gives null for it or for its length",
    host->demand(host->ctx, 0, 0, 0, 0); return SWM_OK;)

/* Schedules of byte counts. Each node has 1,024 bytes for each of the four nodes. */
IN_PLAN(invalid, redistribution_of_blocks, "the schedule redistributes, but did not declare byte counts",
    SwmRedistribution d = redistribution_of(0, 2); return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, bucket_of_blocks, "the schedule sends byte counts, but did not declare them",
    SwmBucket s = bucket(0, 1, 0); return one_bucket(host, &s);)
IN_PLAN(invalid, unknown_layout_flag, "the schedule's grid: it has flags that this program does not know",
    SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.flags = 4; return host->layout(host->ctx, &l);)
IN_PLAN(invalid, byte_counts_in_parts,
    "the schedule's grid: byte counts are not split in segments, they are redistributed",
    SwmLayout l; memset(&l, 0, sizeof l); l.size = sizeof l; l.flags = SWM_BYTE_COUNTS; l.segments = 2;
    return host->layout(host->ctx, &l);)
IN_PLAN(invalid, byte_counts_placed,
    "the schedule's grid: a schedule of byte counts needs a grid of as many nodes as the machine, without placements",
    uint64_t v; move_byte_counts(host); for (v = 0; v < 4; v++) host->place(host->ctx, v, 3 - v, 1);
    return host->step(host->ctx);)
IN_PLAN(invalid, redistribution_null, "the plugin redistributes null",
    move_byte_counts(host); return host->redistribute(host->ctx, 0);)
IN_PLAN(invalid, redistribution_size_forgotten,
    "the plugin's redistribution has a `size` below 64: set it to sizeof(SwmRedistribution)",
    SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host); d.size = 8;
    return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, redistribution_for_the_world, "the plugin's redistribution is for over 134217728 destinations",
    const uint32_t t = 0; SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host); d.starts = &t;
    d.node_count = UINT64_MAX; return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, redistribution_askew,
    "the plugin's redistribution has a table at an address that is not a multiple of 4",
    char t[32] = {0}; SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host);
    d.firsts = (const void *)(t + ((uintptr_t)t % 4 == 1 ? 2 : 1)); d.node_count = 4;
    return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, redistribution_without_buckets,
    "after step 0: node 0 redistributes with 0 buckets, expected 1 to 65536",
    SwmRedistribution d = redistribution_of(0, 0); move_byte_counts(host);
    return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, redistribution_short_table, "node 0 has 3 starts",
    const uint32_t t[3] = {0, 1, 0}; SwmRedistribution d = redistribution_of(0, 2); move_byte_counts(host);
    d.starts = t; d.node_count = 3; return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, redistribution_twice, "node 1 redistributes again",
    SwmRedistribution d = redistribution_of(1, 2); move_byte_counts(host); host->redistribute(host->ctx, &d);
    return host->redistribute(host->ctx, &d);)
IN_PLAN(invalid, bucket_before_it_is_filled, "node 0 has redistributed nothing",
    SwmBucket s = bucket(0, 1, 0); move_byte_counts(host); return one_bucket(host, &s);)
IN_PLAN(invalid, bucket_unknown, "selects bucket 2, but node 0 redistributed buckets 0 to 1",
    SwmRedistribution d = redistribution_of(0, 2); SwmBucket s = bucket(0, 1, 2); move_byte_counts(host);
    host->redistribute(host->ctx, &d); return one_bucket(host, &s);)
IN_PLAN(invalid, bucket_twice,
    "step 3: the send of bytes from node 0 to node 1 selects bucket 0, which node 0 has already sent",
    SwmRedistribution d = redistribution_of(0, 2); SwmBucket s = bucket(0, 1, 0); move_byte_counts(host);
    host->redistribute(host->ctx, &d); one_bucket(host, &s); return one_bucket(host, &s);)
IN_PLAN(invalid, bucket_kept, "node 0 has not sent bucket 0",
    SwmRedistribution d = redistribution_of(0, 2); SwmBucket s = bucket(0, 1, 1); move_byte_counts(host);
    host->redistribute(host->ctx, &d); one_bucket(host, &s); return SWM_OK;)
IN_PLAN(invalid, bucket_copied, "the plugin's send has flags that this program does not know",
    SwmBucket s = bucket(0, 1, 0); move_byte_counts(host); s.flags = SWM_COPY; return one_bucket(host, &s);)
IN_PLAN(invalid, blocks_beside_byte_counts, "the schedule sends blocks, but declared byte counts",
    SwmBlocks s = everything(0, 1); move_byte_counts(host); return one_step(host, &s);)
IN_PLAN(invalid, bytes_of_blocks, "the schedule sends byte counts, but did not declare them",
    const SwmByteCount a = {1, 1}; SwmBytes s = bytes(0, 1, &a, 1); return one_of_bytes(host, &s);)
IN_PLAN(invalid, bytes_size_forgotten, "the plugin's send has a `size` below 48: set it to sizeof(SwmBytes)",
    SwmBytes s = bytes(0, 1, 0, 0); move_byte_counts(host); s.size = 40; return one_of_bytes(host, &s);)
IN_PLAN(invalid, named_null, "step 1: the send of bytes from node 0 to node 1 has null for its byte counts",
    SwmBytes s = bytes(0, 1, 0, 2); move_byte_counts(host); return one_of_bytes(host, &s);)
IN_PLAN(invalid, named_too_many, "step 1: the send of bytes from node 0 to node 1 has over 134217728 byte counts",
    const SwmByteCount a = {1, 1}; SwmBytes s = bytes(0, 1, &a, UINT64_MAX); move_byte_counts(host);
    return one_of_bytes(host, &s);)
IN_PLAN(invalid, named_too_much,
    "step 1: the send of bytes from node 0 to node 1 names 1025 bytes for node 1, but node 0 holds only 1024",
    const SwmByteCount a = {1, 1025}; SwmBytes s = bytes(0, 1, &a, 1); move_byte_counts(host);
    return one_of_bytes(host, &s);)
IN_PLAN(invalid, byte_counts_astray, "node 0 still holds 1024 bytes for node 1",
    const SwmByteCount a[2] = {{0, SWM_ALL_BYTES}, {2, SWM_ALL_BYTES}}; SwmBytes s = bytes(0, 1, a, 2);
    move_byte_counts(host); one_of_bytes(host, &s); return SWM_OK;)

/* Return values of `plan` that are invalid or report an error. */
IN_PLAN(error, unknown_code, "the plugin returned 99, expected 0 to 4",
    return 99;)
IN_PLAN(error, negative_code, "the plugin returned -2147483648, expected 0 to 4",
    return INT32_MIN;)
IN_PLAN(error, with_a_reason, "out of luck",
    host->fail(host->ctx, text("out of luck")); return SWM_ERROR;)
IN_PLAN(error, without_a_reason, "the plugin gives no reason",
    return SWM_ERROR;)
IN_PLAN(error, with_an_empty_reason, "the plugin gives no reason",
    host->fail(host->ctx, text("")); return SWM_ERROR;)
IN_PLAN(error, stopped_with_a_blank, "the plugin returned SWM_STOPPED, although no call was refused",
    host->fail(host->ctx, text(" ")); return SWM_STOPPED;)
IN_PLAN(error, stopped_by_nobody, "the plugin returned SWM_STOPPED, although no call was refused",
    return SWM_STOPPED;)
IN_PLAN(error, reason_null, "its reason is null, but has a length",
    SwmStr s = {0, 5}; host->fail(host->ctx, s); return SWM_ERROR;)
IN_PLAN(error, reason_not_utf8, "its reason is not UTF-8",
    host->fail(host->ctx, text("\xff")); return SWM_ERROR;)
IN_PLAN(error, reason_too_long, "its reason is longer than 1 MiB",
    SwmStr t = text("x"); t.len = SIZE_MAX; host->fail(host->ctx, t); return SWM_ERROR;)

/* A plugin that reads schedules of other programs must be able to report a fault in a schedule as
   invalid, because the fault is not an error of the plugin itself. */
IN_PLAN(invalid, found, "line 3: nobody receives",
    host->fail(host->ctx, text("line 3: nobody receives")); return SWM_INVALID;)
IN_PLAN(invalid, found_nothing, "the plugin gives no reason",
    return SWM_INVALID;)

/* Calls that `supports` must not make. */
IN_SUPPORTS(invalid, supports_with_step,
    "the plugin gives a schedule where it is only requested whether it can run",
    host->step(host->ctx); return SWM_OK;)
IN_SUPPORTS(invalid, supports_with_grid,
    "the plugin gives a schedule where it is only requested whether it can run",
    const uint64_t n = 4; lay_out(host, &n, 1); return SWM_OK;)
IN_SUPPORTS(invalid, supports_with_place,
    "the plugin gives a schedule where it is only requested whether it can run",
    host->place(host->ctx, 0, 0, 1); return SWM_OK;)
IN_SUPPORTS(invalid, supports_with_phase,
    "the plugin gives a schedule where it is only requested whether it can run",
    host->phase(host->ctx, text("early")); return SWM_OK;)
IN_SUPPORTS(invalid, supports_with_rearrangement,
    "the plugin gives a schedule where it is only requested whether it can run",
    host->rearrange(host->ctx); return SWM_OK;)
IN_SUPPORTS(invalid, supports_with_send,
    "the plugin gives a schedule where it is only requested whether it can run",
    SwmBlocks s = everything(0, 1); host->send_blocks(host->ctx, &s); return SWM_OK;)
IN_SUPPORTS(invalid, supports_with_redistribution,
    "the plugin gives a schedule where it is only requested whether it can run",
    SwmRedistribution d = redistribution_of(0, 1); host->redistribute(host->ctx, &d); return SWM_OK;)

/* If `supports` says that the problem is unsupported, this is not a failure, whether it gives a reason
   or not. Any other result of `supports` is a failure. */
IN_SUPPORTS(unsupported, supports_refuses_with_a_reason, "only at full moon",
    host->fail(host->ctx, text("only at full moon")); return SWM_UNSUPPORTED;)
IN_SUPPORTS(unsupported, supports_refuses_without_a_reason, "the plugin gives no reason",
    return SWM_UNSUPPORTED;)
IN_SUPPORTS(unsupported, supports_refuses_with_an_empty_reason, "the plugin gives no reason",
    host->fail(host->ctx, text("")); return SWM_UNSUPPORTED;)
IN_SUPPORTS(error, supports_fails, "no moon",
    host->fail(host->ctx, text("no moon")); return SWM_ERROR;)
IN_SUPPORTS(error, supports_returns_an_unknown_code, "the plugin returned 5, expected 0 to 4",
    return 5;)
