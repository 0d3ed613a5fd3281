/* A plugin for version 1.0 of the plugin ABI, compiled with the header of that version. It is a
   direct exchange in which a step uses one distance. It claims that all shifts of the ranks leave
   the schedule unchanged. If SILENT is the number of a rank, that rank sends nothing, and the claim
   is wrong. */
#include "swapmeet.h"
#include <string.h>

#ifndef SILENT
#define SILENT UINT64_MAX
#endif

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

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t planned, distance, me;
    SwmSymmetry shift;

    (void)algorithm;
    memset(&shift, 0, sizeof shift);
    shift.kind = SWM_SHIFT;
    shift.unit = 1;
    if (host->symmetric(host->ctx, &shift, 1, &planned) != SWM_OK)
        return SWM_STOPPED;
    for (distance = 1; distance < n; distance++) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (me = 0; me < planned; me++) {
            SwmBlocks send;
            if (me == SILENT)
                continue;
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
    return SWM_OK;
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm algorithm;
    static const SwmAlgorithm *const algorithms[] = {&algorithm};
    static SwmPlugin plugin;

    algorithm.size = sizeof algorithm;
    algorithm.name = text("shift");
    algorithm.title = text("To the rank 1, 2, 3, etc. further on");
    algorithm.accepts = text("any topology, any number of nodes");
    algorithm.collectives = 1u << SWM_ALLTOALL;
    algorithm.ports = 1;
    algorithm.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("version-1-0");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
