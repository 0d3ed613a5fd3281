/* A plugin for version 1.1 of the plugin ABI, compiled with the header of that version. It is a
   direct exchange in which a step uses one distance. It uses functions of version 1.1: it refuses
   networks in which node 0 has no links, and plans any node of an orbit. */
#include "swapmeet.h"
#include <string.h>

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

static SwmSet one(uint64_t node)
{
    SwmSet set;
    memset(&set, 0, sizeof set);
    set.kind = SWM_NODE;
    set.node = node;
    return set;
}

static int32_t supports(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    uint64_t count = 0;

    (void)algorithm;
    (void)problem;
    if (host->size < sizeof *host || host->links(host->ctx, 0, NULL, 0, &count) != SWM_OK)
        return SWM_STOPPED;
    if (count > 0)
        return SWM_OK;
    host->fail(host->ctx, text("node 0 has no links"));
    return SWM_UNSUPPORTED;
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t first, planned, distance, me;
    SwmSymmetry shift;

    (void)algorithm;
    memset(&shift, 0, sizeof shift);
    shift.kind = SWM_SHIFT;
    shift.unit = 1;
    if (host->symmetric_from(host->ctx, &shift, 1, &first, &planned) != SWM_OK)
        return SWM_STOPPED;
    for (distance = 1; distance < n; distance++) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (me = first; me < first + planned; me++) {
            SwmBlocks send;
            memset(&send, 0, sizeof send);
            send.size = sizeof send;
            send.from = me;
            send.to = (me + distance) % n;
            send.origins = one(me);
            send.destinations = one(send.to);
            send.flags = SWM_STRICT;
            if (host->send_blocks(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    }
    host->log(host->ctx, SWM_LOG_NOTE, text("planned by version 1.1"));
    return SWM_OK;
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm algorithm;
    static const SwmAlgorithm *const algorithms[] = {&algorithm};
    static SwmPlugin plugin;

    algorithm.size = sizeof algorithm;
    algorithm.name = text("spread");
    algorithm.title = text("To the rank 1, 2, 3, etc. further on");
    algorithm.accepts = text("networks in which node 0 has a link");
    algorithm.collectives = 1u << SWM_ALLTOALL;
    algorithm.ports = 1;
    algorithm.supports = supports;
    algorithm.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("version-1-1");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
