/* A plugin with many algorithms, each of which misbehaves in a different way. The damage must stay
   within the process of the plugin. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swapmeet.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#pragma GCC diagnostic ignored "-Wreturn-type"
#endif

static SwmStr text(const char *s)
{
    SwmStr out;
    out.ptr = (const uint8_t *)s;
    out.len = strlen(s);
    return out;
}

/* A correct schedule: one distance in each step. */
static int32_t shift(const SwmProblem *problem, const SwmHost *host)
{
    const uint64_t n = problem->topology->nodes;
    uint64_t distance, node;
    for (distance = 1; distance < n; distance++) {
        if (host->step(host->ctx) != SWM_OK)
            return SWM_STOPPED;
        for (node = 0; node < n; node++) {
            SwmBlocks send;
            memset(&send, 0, sizeof send);
            send.size = sizeof send;
            send.flags = SWM_STRICT;
            send.from = node;
            send.to = (node + distance) % n;
            send.origins.kind = SWM_NODE;
            send.origins.node = node;
            send.destinations.kind = SWM_NODE;
            send.destinations.node = send.to;
            if (host->send_blocks(host->ctx, &send) != SWM_OK)
                return SWM_STOPPED;
        }
    }
    return SWM_OK;
}

static volatile int sink;

/* The name of the plugin. */
#ifndef NAME
#define NAME "torture"
#endif

/* If LARGE is defined, the plugin is too large for workers with a small memory limit. */
#ifdef LARGE
static char large[1 << 30];
#define FIRST_BYTE large[0]
#else
#define FIRST_BYTE 0
#endif

static int deep(int n)
{
    volatile char frame[4096];
    frame[n % 4096] = (char)n;
    return deep(n + 1) + frame[(n + 1) % 4096];
}

#define ALGORITHM(NAME, BODY)                                                                                                 \
    static int32_t plan_##NAME(const SwmAlgorithm *algorithm, const SwmProblem *problem, const SwmHost *host)                 \
    {                                                                                                                         \
        BODY                                                                                                                  \
    }

ALGORITHM(segfault, *(volatile int *)8 = 1; return SWM_OK;)
ALGORITHM(aborts, abort();)
ALGORITHM(divides, volatile int zero = 0; sink = 1 / zero; raise(SIGFPE); return SWM_OK;)
ALGORITHM(overflows, sink = deep(0); return SWM_OK;)
ALGORITHM(exits, exit(0);)
ALGORITHM(exits_three, _exit(3);)
ALGORITHM(loops, for (;;) sink++;)
ALGORITHM(sleeps, for (;;) sleep(1000);)
ALGORITHM(stops, raise(SIGSTOP); for (;;) sleep(1);)
ALGORITHM(ignores, signal(SIGTERM, SIG_IGN); signal(SIGINT, SIG_IGN); signal(SIGALRM, SIG_IGN); for (;;) sleep(1);)
ALGORITHM(eats, for (;;) { char *p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); })
ALGORITHM(kills_group, kill(0, SIGKILL); for (;;) sleep(1);)
ALGORITHM(closes, int fd; for (fd = 0; fd < 1024; fd++) close(fd); shift(problem, host); return SWM_OK;)
ALGORITHM(forks, if (fork() == 0) { for (;;) sleep(1000); } abort();)
/* Sleeps forever. If forking is permitted, a forked process also sleeps forever. */
ALGORITHM(lingers, if (fork() >= 0) { for (;;) sleep(1000); } for (;;) sleep(1000);)
ALGORITHM(falls, host->step(host->ctx); host->step(host->ctx); *(volatile int *)8 = 1; return SWM_OK;)
ALGORITHM(dawdles, host->step(host->ctx); host->step(host->ctx); host->step(host->ctx); for (;;) sleep(1000);)
ALGORITHM(garbles, int fd; for (fd = 3; fd < 64; fd++) { if (write(fd, "{\"Row\":1}\n", 10) < 0) continue; } return shift(problem, host);)
/* The forked process leaves the worker's process group, does not end with the worker, and prints
   for half a minute. If nothing has stopped it by then, it creates the file SWAPMEET_TORTURE_MARK. The worker
   ends after the first print, or at once if it cannot fork. */
ALGORITHM(outlives, int printed[2]; char byte; pid_t child; if (pipe(printed) != 0) return SWM_ERROR; child = fork(); if (child == 0) {
    const char *mark = getenv("SWAPMEET_TORTURE_MARK");
    int i;
    prctl(PR_SET_PDEATHSIG, 0);
    setsid();
    for (i = 0; i < 3000; i++) {
        if (write(1, "still here\n", 11) < 0 || write(printed[1], "", 1) < 0)
            _exit(0);
        usleep(10000);
    }
    if (mark != NULL)
        fclose(fopen(mark, "w"));
    _exit(0);
} if (child > 0 && read(printed[0], &byte, 1) != 1) return SWM_ERROR; abort();)
ALGORITHM(floods, int fd; char junk[4096]; memset(junk, 'x', sizeof junk); for (;;) for (fd = 3; fd < 64; fd++) { if (write(fd, junk, sizeof junk) < 0) continue; })
ALGORITHM(pesters, int fd; for (;;) for (fd = 3; fd < 64; fd++) { if (write(fd, "{\"Of\":[1,{\"Case\":{\"Progress\":{\"case\":0,\"steps\":1,\"messages\":1}}}]}\n", 67) < 0) continue; })
ALGORITHM(babbles, for (;;) puts("noise");)
ALGORITHM(lies, return FIRST_BYTE;)
ALGORITHM(odd_answer, return 12345;)
ALGORITHM(fails, host->fail(host->ctx, text("on purpose")); return SWM_ERROR;)
ALGORITHM(goes_on, static char reason[60000]; SwmStr s; size_t i; for (i = 0; i < sizeof reason; i++) reason[i] = "and on "[i % 7]; s.ptr = (const uint8_t *)reason; s.len = sizeof reason; host->fail(host->ctx, s); return SWM_ERROR;)
/* These two algorithms do no harm, so their cases must succeed. */
ALGORITHM(prints, int i; for (i = 0; i < 20000; i++) { puts("1,2,3,ok"); fputs("noise\n", stderr); } fflush(stdout); return shift(problem, host);)
ALGORITHM(wanders, if (chdir("/") != 0) abort(); close(0); close(1); close(2); signal(SIGPIPE, SIG_DFL); return shift(problem, host);)

/* The cases of these algorithms succeed, but they change the state of the process. */
#if defined(__x86_64__)
ALGORITHM(rounds, _mm_setcsr((_mm_getcsr() & ~0x6000u) | 0x4000u); return shift(problem, host);)
#else
ALGORITHM(rounds, return shift(problem, host);)
#endif
ALGORITHM(limits, struct rlimit few; few.rlim_cur = 8; few.rlim_max = 8; setrlimit(RLIMIT_NOFILE, &few); return shift(problem, host);)
ALGORITHM(alarms, alarm(1); return shift(problem, host);)
ALGORITHM(blocks, sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); return shift(problem, host);)
static const SwmHost *held;
static void *late(void *nothing)
{
    usleep(300000);
    for (;;)
        held->step(held->ctx);
    return nothing;
}
ALGORITHM(threads, pthread_t thread; held = host; pthread_create(&thread, NULL, late, NULL); return shift(problem, host);)
/* Writes a forged row to every descriptor. Its case does not belong to the worker's job. */
ALGORITHM(forges, int fd; for (fd = 3; fd < 64; fd++) dprintf(fd, "{\"Of\":[1,{\"Case\":{\"Finished\":{\"case\":7,\"record\":{\"Ok\":[]}}}}]}\n"); return shift(problem, host);)

/* Writes a message to every descriptor: the case failed, for a reason with unsafe characters. */
ALGORITHM(escapes, int fd; for (fd = 3; fd < 64; fd++) dprintf(fd, "{\"Of\":[1,{\"Case\":{\"Finished\":{\"case\":0,\"record\":{\"Err\":\"a\\u001b[31m\\u0000\\r\\u202e\"}}}}]}\n"); return shift(problem, host);)
/* Writes a message of 250 MB to a descriptor. It pretends to be a value of an observer. */
static int swell(int fd)
{
    static char zeros[1 << 20];
    const char *head = "{\"Of\":[1,{\"Case\":{\"Observed\":{\"value\":[0";
    size_t i;
    int part;
    for (i = 0; i < sizeof zeros; i++)
        zeros[i] = ",0"[i % 2];
    if (write(fd, head, strlen(head)) < 0)
        return -1;
    for (part = 0; part < 250; part++) {
        size_t done = 0;
        while (done < sizeof zeros) {
            ssize_t count = write(fd, zeros + done, sizeof zeros - done);
            if (count < 0)
                return -1;
            done += (size_t)count;
        }
    }
    return (int)write(fd, "]}}}]}\n", 7);
}
ALGORITHM(swells, int fd; for (fd = 3; fd < 64; fd++) if (swell(fd) < 0) continue; return shift(problem, host);)
/* Announces an observer's text of 250 MB. */
ALGORITHM(announces, int fd; for (fd = 3; fd < 64; fd++) dprintf(fd, "{\"Of\":[1,{\"ObservedText\":{\"bytes\":250000000}}]}\n"); return shift(problem, host);)

/* The first step is correct. In the second step, node 0 sends a block that it no longer has. */
static int32_t block(const SwmHost *host, uint64_t from, uint64_t to)
{
    SwmBlocks send;
    memset(&send, 0, sizeof send);
    send.size = sizeof send;
    send.flags = SWM_STRICT;
    send.from = from;
    send.to = to;
    send.origins.kind = SWM_NODE;
    send.origins.node = from;
    send.destinations.kind = SWM_NODE;
    send.destinations.node = from + 1;
    return host->send_blocks(host->ctx, &send);
}
ALGORITHM(repeats, host->step(host->ctx); block(host, 0, 1); host->step(host->ctx); block(host, 2, 3); block(host, 0, 1); return SWM_OK;)

/* Each of these algorithms tries to use a resource that no schedule needs. If it succeeds, the
   algorithm fails with a reason that says so. */
#define COULD(WHAT)                                                                                                           \
    do {                                                                                                                      \
        host->fail(host->ctx, text("could " WHAT));                                                                           \
        return SWM_ERROR;                                                                                                     \
    } while (0)
ALGORITHM(writes, FILE *f = fopen(getenv("SWAPMEET_TORTURE_MARK"), "w"); if (f != NULL) { fclose(f); COULD("write a file"); } return shift(problem, host);)
ALGORITHM(cuts, if (truncate(getenv("SWAPMEET_TORTURE_SECRET"), 0) == 0) COULD("cut a file off"); return shift(problem, host);)
ALGORITHM(removes, if (unlink(getenv("SWAPMEET_TORTURE_SECRET")) == 0) COULD("remove a file"); return shift(problem, host);)
ALGORITHM(reads, FILE *f = fopen(getenv("SWAPMEET_TORTURE_SECRET"), "r"); if (f != NULL) { fclose(f); COULD("read a file"); } return shift(problem, host);)
ALGORITHM(connects, if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0) COULD("open a socket"); return shift(problem, host);)
ALGORITHM(signals, if (kill(getppid(), 0) == 0) COULD("signal the program"); return shift(problem, host);)
ALGORITHM(starts, if (system("exit 0") == 0) COULD("start a program"); return shift(problem, host);)

ALGORITHM(begets, pid_t child = fork(); if (child == 0) _exit(0); if (child > 0) COULD("start a process"); return shift(problem, host);)

/* A secret variable of the program, and files of /proc that show more than this process. */
ALGORITHM(environment, if (getenv("TORTURE_TOKEN") != NULL) COULD("read a variable"); return shift(problem, host);)
static int can_read(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f != NULL)
        fclose(f);
    return f != NULL;
}
ALGORITHM(peeks, char own[64]; snprintf(own, sizeof own, "/proc/self/task/%d/environ", (int)getpid()); if (can_read(own) || can_read("/proc/self/environ") || can_read("/proc/self/net/tcp") || can_read("/proc/self/net/unix") || can_read("/proc/self/mountinfo") || can_read("/proc/self/cgroup")) COULD("read what is not its own"); return shift(problem, host);)
/* Starts a thread that has descriptors of its own, which are not counted with those of the process. */
static int nothing(void *unused)
{
    return 0;
}
ALGORITHM(separates, static char stack[1 << 16]; if (clone(nothing, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL) >= 0) COULD("start a thread with its own descriptors"); return shift(problem, host);)

/* Resource limits, not the sandbox, prevent the next two. */
ALGORITHM(pipes, static int ends[1024][2]; int count = 0; while (count < 1024 && pipe(ends[count]) == 0) count++; if (count > 128) COULD("open more than 128 pipes"); while (count-- > 0) { close(ends[count][0]); close(ends[count][1]); } return shift(problem, host);)
/* Opens the memory that the worker shares with the program again, and makes it larger. */
ALGORITHM(reopens, char line[512]; FILE *maps = fopen("/proc/self/maps", "r"); while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char path[600];
    int fd;
    if (strstr(line, "memfd:progress") == NULL)
        continue;
    *strchr(line, ' ') = '\0';
    snprintf(path, sizeof path, "/proc/self/map_files/%s", line);
    fd = open(path, O_RDWR);
    if (fd >= 0 && pwrite(fd, line, 1, 1 << 26) == 1)
        COULD("fill shared memory");
} return shift(problem, host);)
/* Starts threads until it cannot. They sleep, or use a core. */
static void *waits(void *spins)
{
    while (spins != NULL)
        sink++;
    sleep(1000);
    return NULL;
}
static void breed(void *spins)
{
    pthread_attr_t small;
    pthread_t thread;
    int i;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (i = 0; i < 1000; i++)
        if (pthread_create(&thread, &small, waits, spins) != 0)
            break;
}
ALGORITHM(breeds, breed(NULL); sleep(1000); return shift(problem, host);)
ALGORITHM(spins, breed(&held); sleep(1000); return shift(problem, host);)
/* Writes a reply of the test to every descriptor. */
ALGORITHM(invents, int fd; for (fd = 3; fd < 64; fd++) dprintf(fd, "%s\n", getenv("SWAPMEET_TORTURE_REPLY")); return shift(problem, host);)
/* Threads call the functions of boundary 1.1 during the plan and after it has returned. */
static void *haunt(void *unused)
{
    for (;;) {
        SwmLink links[4];
        SwmByteCount demand[4];
        SwmSymmetry axis;
        uint64_t numbers[4], first = 0, count;
        memset(&axis, 0, sizeof axis);
        held->vertices(held->ctx);
        held->uniform(held->ctx);
        held->shares_routes(held->ctx);
        held->links(held->ctx, 1, links, 4, &count);
        held->demand(held->ctx, 1, demand, 4, &count);
        held->token_bytes(held->ctx, 1, numbers, 4, &count);
        held->token_receivers(held->ctx, 1, 0, numbers, 4, &count);
        held->symmetric_from(held->ctx, &axis, 1, &first, numbers);
    }
    return unused;
}
ALGORITHM(haunts, pthread_t thread; int i; held = host; for (i = 0; i < 2; i++) pthread_create(&thread, NULL, haunt, NULL); usleep(50000); return shift(problem, host);)
/* Keeps 300 MiB. */
ALGORITHM(keeps, static char *kept; kept = malloc(300 << 20); if (kept == NULL) abort(); memset(kept, 1, 300 << 20); return shift(problem, host);)

typedef int32_t (*Plan)(const SwmAlgorithm *, const SwmProblem *, const SwmHost *);

static const struct {
    const char *name;
    Plan plan;
} ALL[] = {
    {"segfault", plan_segfault},   {"aborts", plan_aborts},           {"divides", plan_divides}, {"overflows", plan_overflows},
    {"exits", plan_exits},         {"exits-three", plan_exits_three}, {"loops", plan_loops},     {"sleeps", plan_sleeps},
    {"stops", plan_stops},         {"ignores", plan_ignores},         {"eats", plan_eats},       {"kills-group", plan_kills_group},
    {"closes", plan_closes},       {"forks", plan_forks},             {"garbles", plan_garbles}, {"lies", plan_lies},
    {"outlives", plan_outlives},   {"floods", plan_floods},           {"pesters", plan_pesters}, {"babbles", plan_babbles},
    {"odd-answer", plan_odd_answer}, {"fails", plan_fails},     {"goes-on", plan_goes_on},
            {"prints", plan_prints},   {"wanders", plan_wanders},
    {"rounds", plan_rounds},       {"limits", plan_limits},           {"alarms", plan_alarms},   {"blocks", plan_blocks},
    {"threads", plan_threads},     {"forges", plan_forges},
    {"escapes", plan_escapes},     {"swells", plan_swells}, {"announces", plan_announces},
    {"repeats", plan_repeats},     {"lingers", plan_lingers},         {"falls", plan_falls},     {"dawdles", plan_dawdles},
    {"begets", plan_begets},
    {"environment", plan_environment}, {"peeks", plan_peeks},         {"separates", plan_separates},
    {"pipes", plan_pipes},         {"reopens", plan_reopens},
    {"breeds", plan_breeds},       {"spins", plan_spins},             {"keeps", plan_keeps},
    {"invents", plan_invents},     {"haunts", plan_haunts},
    {"writes", plan_writes},       {"cuts", plan_cuts},               {"removes", plan_removes}, {"reads", plan_reads},
    {"connects", plan_connects},   {"signals", plan_signals},         {"starts", plan_starts},
};

enum { COUNT = sizeof ALL / sizeof ALL[0] };

SwmPlugin *swapmeet_plugin(void)
{
    static SwmAlgorithm algorithms[COUNT];
    static const SwmAlgorithm *pointers[COUNT];
    static SwmPlugin plugin;
    int i;

    for (i = 0; i < COUNT; i++) {
        algorithms[i].size = sizeof algorithms[i];
        algorithms[i].name = text(ALL[i].name);
        algorithms[i].collectives = 1u << SWM_ALLTOALL;
        algorithms[i].plan = ALL[i].plan;
        pointers[i] = &algorithms[i];
    }
    plugin.head.magic = SWM_MAGIC;
    plugin.head.abi_major = SWM_ABI_MAJOR;
    plugin.head.abi_minor = SWM_ABI_MINOR;
    plugin.head.size = sizeof plugin;
    plugin.name = text(NAME);
    plugin.version = text("0.1.0");
    plugin.licence = text("MIT");
    plugin.algorithms = pointers;
    plugin.algorithm_count = COUNT;
    return &plugin;
}
