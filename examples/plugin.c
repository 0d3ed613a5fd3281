/* A plugin in C: a broadcast along a chain of nodes, which begins at the root.
 *
 *     cc -std=c99 -shared -fPIC -I framework/abi/include -o plugin.so examples/plugin.c
 *     swapmeet check plugin.so
 */

#include <string.h>
#include <swapmeet.h>

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance;

    (void)algorithm;
    for (distance = 1; distance < n; distance++) {
        SwmBlocks send;

        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        /* Fields that stay zero have a meaning: a zero set selects all nodes, and a zero route is
         * the route that the topology chooses. */
        memset(&send, 0, sizeof send);
        send.size = sizeof send;
        send.flags = SWM_STRICT | SWM_COPY;
        send.from = (problem->root + distance - 1) % n;
        send.to = (problem->root + distance) % n;
        if (host->send_blocks(host->ctx, &send) != SWM_OK)
            return SWM_STOPPED;
    }
    return SWM_OK;
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm chain;
    static const SwmAlgorithm *const algorithms[] = {&chain};
    static SwmPlugin plugin;

    chain.size = sizeof chain;
    chain.name = text("example-chain");
    chain.title = text("Broadcast along a chain of nodes");
    chain.accepts = text("any topology, any number of nodes");
    chain.collectives = 1u << SWM_BROADCAST;
    chain.ports = 1;
    chain.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("example-c");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
