/* A plugin with one algorithm for each entry of wrong_plans.h. The paper of an algorithm is the expected
   status, and its title is the expected reason. */

#include <swapmeet.h>

static const SwmAlgorithm *const *entries(uint64_t *count);

#define TABLE plugin.algorithms = entries(&plugin.algorithm_count);
#include "wrong.c"

#define FUNCTION(name, ...) \
    static int32_t name(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host) \
    { \
        __VA_ARGS__ \
    }
#define IN_PLAN(status, name, reason, ...) FUNCTION(case_##name, __VA_ARGS__)
#define IN_SUPPORTS(status, name, reason, ...) FUNCTION(case_##name, __VA_ARGS__)
#include "wrong_plans.h"
#undef IN_PLAN
#undef IN_SUPPORTS

static const struct {
    const char *status, *name, *reason;
    int32_t (*supports)(const SwmAlgorithm *, const SwmProblem *, const SwmHost *);
    int32_t (*plan)(const SwmAlgorithm *, const SwmProblem *, const SwmHost *);
} cases[] = {
#define IN_PLAN(status, name, reason, ...) {#status, #name, reason, supports, case_##name},
#define IN_SUPPORTS(status, name, reason, ...) {#status, #name, reason, case_##name, plan},
#include "wrong_plans.h"
};

#define COUNT (sizeof cases / sizeof cases[0])

static const SwmAlgorithm *const *entries(uint64_t *count)
{
    static SwmAlgorithm tables[COUNT];
    static const SwmAlgorithm *algorithms[COUNT];
    /* Names of algorithms have hyphens instead of underscores. */
    static char names[COUNT][64];
    size_t i, letter;

    for (i = 0; i < COUNT; i++) {
        strcpy(names[i], cases[i].name);
        for (letter = 0; names[i][letter]; letter++)
            if (names[i][letter] == '_')
                names[i][letter] = '-';
        tables[i].size = sizeof tables[i];
        tables[i].name = text(names[i]);
        tables[i].title = text(cases[i].reason);
        tables[i].paper = text(cases[i].status);
        tables[i].collectives = 1u << SWM_ALLTOALL;
        tables[i].supports = cases[i].supports;
        tables[i].plan = cases[i].plan;
        algorithms[i] = &tables[i];
    }
    *count = COUNT;
    return algorithms;
}
