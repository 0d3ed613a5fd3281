/* c-ring: all-to-all on a ring, in plain C. With blocks of m bytes it takes
 * (n - 1) alpha + n (n - 1)/2 m beta.
 *
 * There are n - 1 steps. In each step, every node sends all its blocks to the next node, except the
 * blocks whose destination is the node itself. After step s a node has two kinds of blocks: those
 * that have reached their destination here, and those whose origin is s nodes before this node and
 * which must be sent on.
 *
 * The schedule uses a grid of one axis, whatever the topology. The blocks that a node sends are
 * those whose destination is in the range of n - 1 coordinates that begins at the next node. */

#include <string.h>
#include <swapmeet.h>

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

static int32_t supports(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    (void)algorithm;
    if (problem->collective != SWM_ALLTOALL) {
        host->fail(host->ctx, text("supports only all-to-all"));
        return SWM_UNSUPPORTED;
    }
    if (problem->topology->nodes > UINT32_MAX) {
        host->fail(host->ctx, text("more nodes than one axis can have"));
        return SWM_UNSUPPORTED;
    }
    return SWM_OK;
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    SwmLayout layout;
    uint64_t step, node;

    (void)algorithm;
    memset(&layout, 0, sizeof layout);
    layout.size = sizeof layout;
    layout.axis_count = 1;
    layout.radices = &n;
    layout.segments = 1;
    if (host->layout(host->ctx, &layout) != SWM_OK)
        return SWM_STOPPED;

    for (step = 1; step < n; step++) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (node = 0; node < n; node++) {
            SwmAxis others;
            SwmBlocks send;

            memset(&others, 0, sizeof others);
            others.kind = SWM_RANGE;
            others.first = (node + 1) % n;
            others.stride = 1;
            others.count = n - 1;

            /* Fields that stay zero have a meaning: a zero set selects all nodes, and a zero route
             * is the route that the topology chooses. */
            memset(&send, 0, sizeof send);
            send.size = sizeof send;
            send.from = node;
            send.to = (node + 1) % n;
            send.destinations.kind = SWM_AXES;
            send.destinations.axis_count = 1;
            send.destinations.axes = &others;
            if (host->send_blocks(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    }
    return SWM_OK;
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm ring;
    static const SwmAlgorithm *const algorithms[] = {&ring};
    static SwmPlugin plugin;

    ring.size = sizeof ring;
    ring.name = text("c-ring");
    ring.title = text("All-to-all by passing everything to the next node");
    ring.accepts = text("any topology, any number of nodes");
    ring.collectives = 1u << SWM_ALLTOALL;
    ring.ports = 1;
    ring.supports = supports;
    ring.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("ring-c");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
