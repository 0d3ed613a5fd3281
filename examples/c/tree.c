/* Broadcast by a tree: in every step, each node that has the block sends it to `fan` other nodes. */

#include <string.h>
#include <swapmeet.h>

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

/* Returns the parameter, limited to the number of nodes. */
static uint64_t fan_of(const SwmProblem *problem)
{
    const uint64_t n = problem->topology->nodes, fan = swm_number(problem, "fan", 1);

    return fan < n ? fan : n;
}

static int32_t supports(const SwmAlgorithm *algorithm, const SwmProblem *problem,
                        const SwmHost *host)
{
    (void)algorithm;
    if (fan_of(problem) == 0) {
        host->fail(host->ctx, text("`fan`: expected a whole number of at least 1"));
        return SWM_ERROR;
    }
    return SWM_OK;
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes, root = problem->root, fan = fan_of(problem);
    uint64_t have, v, k;

    (void)algorithm;
    for (have = 1; have < n; have *= fan + 1) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (v = 0; v < have; v++)
            for (k = 1; k <= fan && v + k * have < n; k++) {
                SwmBlocks send;
                memset(&send, 0, sizeof send);
                send.size = sizeof send;
                send.flags = SWM_COPY;
                send.from = (v + root) % n;
                send.to = (v + k * have + root) % n;
                if (host->send_blocks(host->ctx, &send) != SWM_OK)
                    return SWM_STOPPED;
            }
    }
    return SWM_OK;
}

SwmPlugin *swapmeet_plugin(void)
{
    static SwmParamInfo fan;
    static const SwmParamInfo *const params[] = {&fan};
    static SwmAlgorithm algorithm;
    static const SwmAlgorithm *const algorithms[] = {&algorithm};
    static SwmPlugin plugin;

    fan.size = sizeof fan;
    fan.kind = SWM_PARAM_NUMBER;
    fan.key = text("fan");
    fan.default_value = text("1");
    fan.help = text("number of sends of a node in a step, at least 1");

    algorithm.size = sizeof algorithm;
    algorithm.name = text("tree");
    algorithm.title = text("Broadcast by a tree");
    algorithm.accepts = text("any topology, any number of nodes");
    algorithm.collectives = 1u << SWM_BROADCAST;
    algorithm.params = params;
    algorithm.param_count = 1;
    algorithm.supports = supports;
    algorithm.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("tree");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
