/* Allreduce by a ring: 2 (n - 1) alpha + 2 (n - 1)/n m beta + (n - 1)/n m gamma. */

#include <string.h>
#include <swapmeet.h>

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

/* Each planned node sends to the next node the part with the number of the node that is `back`
 * positions before it. */
static int32_t round_of(const SwmHost *host, uint64_t n, const uint64_t planned[2], uint64_t back,
                        uint32_t flags)
{
    uint64_t me;

    if (host->step(host->ctx) != SWM_OK)
        return SWM_STOPPED;
    for (me = planned[0]; me < planned[0] + planned[1]; me++) {
        SwmBlocks send;
        memset(&send, 0, sizeof send);
        send.size = sizeof send;
        send.from = me;
        send.to = (me + 1) % n;
        send.destinations.kind = SWM_NODE;
        send.destinations.node = (me + n - back) % n;
        send.flags = SWM_STRICT | flags;
        if (host->send_blocks(host->ctx, &send) != SWM_OK)
            return SWM_STOPPED;
    }
    return SWM_OK;
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t planned[2], step; /* the first planned node, and the number of planned nodes */
    SwmLayout layout;
    SwmSymmetry shift;

    (void)algorithm;
    memset(&layout, 0, sizeof layout);
    layout.size = sizeof layout;
    layout.radices = &n;
    layout.axis_count = 1;
    layout.segments = 1;
    layout.flags = SWM_IN_PARTS;
    memset(&shift, 0, sizeof shift);
    shift.kind = SWM_SHIFT;
    shift.unit = 1;
    if (host->layout(host->ctx, &layout) != SWM_OK)
        return SWM_STOPPED;
    if (host->symmetric_from(host->ctx, &shift, 1, &planned[0], &planned[1]) != SWM_OK)
        return SWM_STOPPED;
    /* First, each part travels around the ring and every node adds its contribution. Then each sum
       travels around the ring and every node keeps a copy. */
    for (step = 1; step < n; step++)
        if (round_of(host, n, planned, step, SWM_COMBINE) != SWM_OK)
            return SWM_STOPPED;
    for (step = 0; step + 1 < n; step++)
        if (round_of(host, n, planned, step, SWM_COPY) != SWM_OK)
            return SWM_STOPPED;
    return SWM_OK;
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm algorithm;
    static const SwmAlgorithm *const algorithms[] = {&algorithm};
    static SwmPlugin plugin;

    algorithm.size = sizeof algorithm;
    algorithm.name = text("sum");
    algorithm.title = text("Allreduce on a ring: add all contributions, then distribute the sums");
    algorithm.accepts = text("any topology, any number of nodes");
    algorithm.collectives = 1u << SWM_ALLREDUCE;
    algorithm.ports = 1;
    algorithm.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("sum");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
