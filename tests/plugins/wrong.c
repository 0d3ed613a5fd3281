/* A plugin with one error, which the test chooses by macros: TABLE is code that corrupts the
   tables, and SUPPORTS and PLAN are the bodies of the two functions. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <swapmeet.h>

#ifndef SUPPORTS
#define SUPPORTS return SWM_OK;
#endif
#ifndef PLAN
#define PLAN return SWM_OK;
#endif
#ifndef TABLE
#define TABLE
#endif

/* Each plugin uses only some of the functions below. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

/* Returns a send of all blocks that node `from` has. */
static SwmBlocks everything(uint64_t from, uint64_t to)
{
    SwmBlocks send;
    memset(&send, 0, sizeof send);
    send.size = sizeof send;
    send.from = from;
    send.to = to;
    return send;
}

/* Returns a send of the block origin -> destination. The sender must have this block. */
static SwmBlocks block(uint64_t origin, uint64_t destination, uint64_t from, uint64_t to)
{
    SwmBlocks send = everything(from, to);
    send.flags = SWM_STRICT;
    send.origins.kind = SWM_NODE;
    send.origins.node = origin;
    send.destinations.kind = SWM_NODE;
    send.destinations.node = destination;
    return send;
}

/* Adds a step with a single send, and starts the next step. */
static int32_t one_step(const SwmHost *host, const SwmBlocks *send)
{
    if (host->step(host->ctx) != SWM_OK || host->send_blocks(host->ctx, send) != SWM_OK)
        return SWM_STOPPED;
    return host->step(host->ctx);
}

static SwmAxis range(uint64_t first, uint64_t stride, uint64_t count)
{
    SwmAxis axis;
    memset(&axis, 0, sizeof axis);
    axis.kind = SWM_RANGE;
    axis.first = first;
    axis.stride = stride;
    axis.count = count;
    return axis;
}

static SwmAxis bits(const void *words, uint64_t count)
{
    SwmAxis axis;
    memset(&axis, 0, sizeof axis);
    axis.kind = SWM_BITS;
    axis.count = count;
    axis.words = (const uint64_t *)words;
    return axis;
}

/* Sends the blocks with destinations in the product of `count` axes from node 0 to node 1. */
static int32_t send_to_set(const SwmHost *host, const SwmAxis *axes, uint32_t count)
{
    SwmBlocks send = everything(0, 1);
    send.destinations.kind = SWM_AXES;
    send.destinations.axis_count = count;
    send.destinations.axes = axes;
    return one_step(host, &send);
}

static SwmRoute no_route(void)
{
    SwmRoute route;
    memset(&route, 0, sizeof route);
    route.size = sizeof route;
    return route;
}

/* Sends from node 0 to node 2, which are not neighbours on a ring of four, by the given route. */
static int32_t send_by(const SwmHost *host, const SwmRoute *route)
{
    SwmBlocks send = everything(0, 2);
    send.route = route;
    return one_step(host, &send);
}

static int32_t send_by_path(const SwmHost *host, const uint64_t *path, uint64_t nodes)
{
    SwmRoute route = no_route();
    route.path = path;
    route.path_len = nodes;
    return send_by(host, &route);
}

static int32_t lay_out(const SwmHost *host, const uint64_t *radices, uint32_t axes)
{
    SwmLayout layout;
    memset(&layout, 0, sizeof layout);
    layout.size = sizeof layout;
    layout.axis_count = axes;
    layout.radices = radices;
    return host->layout(host->ctx, &layout);
}

/* Declares a schedule of byte counts. */
static int32_t move_byte_counts(const SwmHost *host)
{
    SwmLayout layout;
    memset(&layout, 0, sizeof layout);
    layout.size = sizeof layout;
    layout.flags = SWM_BYTE_COUNTS;
    return host->layout(host->ctx, &layout);
}

/* A redistribution with default parameters. */
static SwmRedistribution redistribution_of(uint64_t node, uint64_t buckets)
{
    SwmRedistribution redistribution;
    memset(&redistribution, 0, sizeof redistribution);
    redistribution.size = sizeof redistribution;
    redistribution.node = node;
    redistribution.buckets = buckets;
    redistribution.cycle = buckets;
    return redistribution;
}

static SwmBucket bucket(uint64_t from, uint64_t to, uint64_t number)
{
    SwmBucket send;
    memset(&send, 0, sizeof send);
    send.size = sizeof send;
    send.flags = SWM_LOCAL;
    send.from = from;
    send.to = to;
    send.bucket = number;
    return send;
}

static int32_t one_bucket(const SwmHost *host, const SwmBucket *send)
{
    if (host->step(host->ctx) != SWM_OK || host->send_bucket(host->ctx, send) != SWM_OK)
        return SWM_STOPPED;
    return host->step(host->ctx);
}

static SwmBytes bytes(uint64_t from, uint64_t to, const SwmByteCount *counts, uint64_t count)
{
    SwmBytes send;
    memset(&send, 0, sizeof send);
    send.size = sizeof send;
    send.from = from;
    send.to = to;
    send.counts = counts;
    send.count = count;
    return send;
}

static int32_t one_of_bytes(const SwmHost *host, const SwmBytes *send)
{
    if (host->step(host->ctx) != SWM_OK || host->send_bytes(host->ctx, send) != SWM_OK)
        return SWM_STOPPED;
    return host->step(host->ctx);
}

/* Each node sends to each other node all its bytes for that node. A step uses one distance. */
static int32_t collect(uint64_t n, const SwmHost *host)
{
    uint64_t distance, node;
    for (distance = 1; distance < n; distance++) {
        host->step(host->ctx);
        for (node = 0; node < n; node++) {
            SwmByteCount all;
            SwmBytes send = bytes(node, (node + distance) % n, &all, 1);
            all.destination = send.to;
            all.bytes = SWM_ALL_BYTES;
            if (host->send_bytes(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    }
    return SWM_OK;
}

/* All nodes redistribute their data, beginning with the bucket `first`. Then each node sends to
   each other node the data for that node. */
static int32_t redistribute_and_collect_from(const SwmProblem *problem, const SwmHost *host, uint64_t first)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance, node;
    move_byte_counts(host);
    for (node = 0; node < n; node++) {
        SwmRedistribution redistribution = redistribution_of(node, n);
        redistribution.first = first;
        host->redistribute(host->ctx, &redistribution);
    }
    for (distance = 1; distance <= n; distance++) {
        host->step(host->ctx);
        for (node = 0; node < n; node++) {
            SwmBucket send = bucket(node, (node + distance) % n, (node + distance) % n);
            host->send_bucket(host->ctx, &send);
        }
    }
    return collect(n, host);
}

static int32_t redistribute_and_collect(const SwmProblem *problem, const SwmHost *host)
{
    return redistribute_and_collect_from(problem, host, 0);
}

/* First, data for nodes two or more positions ahead is sent to the next node and back. Then all
   data is sent to its destination. */
static int32_t there_and_back(const SwmProblem *problem, const SwmHost *host, uint64_t farther)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t node;
    int back;
    move_byte_counts(host);
    for (back = 0; back <= 1; back++) {
        host->step(host->ctx);
        for (node = 0; node < n; node++) {
            const uint64_t next = (node + 1) % n;
            SwmByteCount amount;
            SwmBytes send = bytes(back ? next : node, back ? node : next, &amount, 1);
            amount.destination = (node + 2 + farther) % n;
            amount.bytes = host->block_bytes(host->ctx);
            host->send_bytes(host->ctx, &send);
        }
    }
    return collect(n, host);
}

/* A correct schedule, in which a step uses one distance. If `route` is given, messages use it. */
static int32_t shift_by(const SwmProblem *problem, const SwmHost *host, const SwmRoute *route, uint32_t flags)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance, node;
    for (distance = 1; distance < n; distance++) {
        host->step(host->ctx);
        for (node = 0; node < n; node++) {
            SwmBlocks send = block(node, (node + distance) % n, node, (node + distance) % n);
            send.route = route;
            send.flags |= flags;
            if (host->send_blocks(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    }
    return SWM_OK;
}

static int32_t shift(const SwmProblem *problem, const SwmHost *host)
{
    return shift_by(problem, host, 0, 0);
}

/* Like `shift`, but blocks are copied, so that all nodes keep their blocks. */
static int32_t keeping(const SwmProblem *problem, const SwmHost *host)
{
    return shift_by(problem, host, 0, SWM_COPY);
}

/* Like `shift` in two dimensions, with routes that use dimension `first` first. */
static int32_t shift_in_order(const SwmProblem *problem, const SwmHost *host, uint32_t first)
{
    SwmRoute route = no_route();
    uint32_t order[2];
    order[0] = first;
    order[1] = 1 - first;
    route.dim_count = 2;
    route.order = order;
    return shift_by(problem, host, &route, 0);
}

/* A second correct schedule, in which the distances are in descending order. */
static int32_t backwards(const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance, node;
    for (distance = n - 1; distance > 0; distance--) {
        host->step(host->ctx);
        for (node = 0; node < n; node++) {
            SwmBlocks send = block(node, (node + distance) % n, node, (node + distance) % n);
            if (host->send_blocks(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    }
    return SWM_OK;
}

/* Sends all messages in a single step. */
static int32_t at_once(const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance, node;
    host->step(host->ctx);
    for (distance = 1; distance < n; distance++)
        for (node = 0; node < n; node++) {
            SwmBlocks send = block(node, (node + distance) % n, node, (node + distance) % n);
            if (host->send_blocks(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    return SWM_OK;
}

static int32_t supports(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    SUPPORTS
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    PLAN
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm wrong;
    static const SwmAlgorithm *algorithms[] = {&wrong};
    static SwmPlugin plugin;

    wrong.size = sizeof wrong;
    wrong.name = text("wrong");
    wrong.collectives = 1u << SWM_ALLTOALL;
    wrong.supports = supports;
    wrong.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("wrong");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    TABLE
    return &plugin;
}
