/* All-to-all along the rows, then along the columns, of a square that may be larger than the
 * machine.
 *
 *   n        number of nodes of the machine
 *   a        side of the square: the smallest number with a * a >= n
 *   (r, c)   row and column of a node of the square, number r * a + c */

#include <string.h>
#include <swapmeet.h>

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

static uint64_t side(uint64_t n)
{
    uint64_t a = 1;
    while (a * a < n)
        a++;
    return a;
}

/* The grid is an a x a square. Its first n nodes are placed on the nodes of the machine. The others
 * are virtual nodes, which are placed on the first nodes of the machine. */
static int32_t lay_out(const SwmHost *host, uint64_t a, uint64_t n)
{
    const uint64_t radices[2] = {a, a};
    SwmLayout layout;
    uint64_t v;

    memset(&layout, 0, sizeof layout);
    layout.size = sizeof layout;
    layout.axis_count = 2;
    layout.radices = radices;
    if (host->layout(host->ctx, &layout) != SWM_OK)
        return SWM_STOPPED;
    for (v = 0; v < a * a; v++)
        if (host->place(host->ctx, v, v % n, v < n) != SWM_OK)
            return SWM_STOPPED;
    return SWM_OK;
}

/* Sends all blocks whose destination has the coordinate `to` on this axis (0: row, 1: column). An
 * axis that is zero selects all coordinates. */
static int32_t pass_on(const SwmHost *host, uint64_t from, uint64_t receiver, int axis,
                       uint64_t to)
{
    SwmAxis axes[2];
    SwmBlocks send;

    memset(axes, 0, sizeof axes);
    axes[axis].kind = SWM_RANGE;
    axes[axis].first = to;
    axes[axis].stride = 1;
    axes[axis].count = 1;

    memset(&send, 0, sizeof send);
    send.size = sizeof send;
    send.flags = SWM_LOCAL;
    send.from = from;
    send.to = receiver;
    send.destinations.kind = SWM_AXES;
    send.destinations.axis_count = 2;
    send.destinations.axes = axes;
    return host->send_blocks(host->ctx, &send);
}

static int32_t plan(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes, a = side(n);
    uint64_t distance, r, c;

    (void)algorithm;
    if (lay_out(host, a, n) != SWM_OK)
        return SWM_STOPPED;
    host->phase(host->ctx, text("rows"));
    for (distance = 1; distance < a; distance++) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (r = 0; r < a; r++)
            for (c = 0; c < a; c++) {
                const uint64_t to = (c + distance) % a;
                if (pass_on(host, r * a + c, r * a + to, 1, to) != SWM_OK)
                    return SWM_STOPPED;
            }
    }
    host->phase(host->ctx, text("columns"));
    for (distance = 1; distance < a; distance++) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (r = 0; r < a; r++)
            for (c = 0; c < a; c++) {
                const uint64_t to = (r + distance) % a;
                if (pass_on(host, r * a + c, to * a + c, 0, to) != SWM_OK)
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
    algorithm.name = text("square");
    algorithm.title = text("All-to-all along rows, then along columns, of a square");
    algorithm.accepts = text("any topology, any number of nodes");
    algorithm.collectives = 1u << SWM_ALLTOALL;
    algorithm.ports = 2;
    algorithm.plan = plan;

    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text("square");
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT OR Apache-2.0");
    plugin.algorithms = algorithms;
    plugin.algorithm_count = 1;
    return &plugin;
}
