/* A plugin that does one thing wrong, chosen when it is compiled: TABLE spoils the tables, SUPPORTS and PLAN are the functions' bodies. */

#include <string.h>
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

/* Each part uses some of these. */
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

/* All that `from` holds. */
static SwmSend everything(uint64_t from, uint64_t to)
{
    SwmSend send;
    memset(&send, 0, sizeof send);
    send.size = sizeof send;
    send.from = from;
    send.to = to;
    return send;
}

/* The one block origin -> destination, which must be held. */
static SwmSend block(uint64_t origin, uint64_t destination, uint64_t from, uint64_t to)
{
    SwmSend send = everything(from, to);
    send.flags = SWM_STRICT;
    send.origins.kind = SWM_NODE;
    send.origins.node = origin;
    send.destinations.kind = SWM_NODE;
    send.destinations.node = destination;
    return send;
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

/* A right schedule: one distance a step. */
static int32_t shift(const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance, node;
    for (distance = 1; distance < n; distance++) {
        host->step(host->ctx);
        for (node = 0; node < n; node++) {
            SwmSend send = block(node, (node + distance) % n, node, (node + distance) % n);
            if (host->send(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
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

const SwmPlugin *swapmeet_plugin(void)
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
