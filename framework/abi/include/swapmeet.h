// swapmeet.h: everything a plugin needs to know. Generated from framework/abi; do not edit.
//
// A plugin is a shared library that exports one function,
//
//     SwmPlugin *swapmeet_plugin(void);
//
// which returns a table that stays for the life of the process. The table names algorithms; an algorithm's `plan` function is called with a
// problem and a table of functions of the host, and tells the host its schedule: step(), then send_blocks() for each send of the step, and so on.
// Every host function takes host->ctx first. One that returns anything but SWM_OK wants you to return SWM_STOPPED at once.
// Fill in `size` of every struct that has one with sizeof; set what you don't use to zero. Text is a pointer and a length, UTF-8.
// Nothing may unwind into the host: in C++ catch every exception before it leaves a function of yours (a panic in Go or Rust likewise). Link
// C++ with its own runtime or with the compiler's driver (c++), and export the function below as extern "C", which including this header does.

#ifndef SWAPMEET_H
#define SWAPMEET_H

#include <stddef.h>
#include <stdint.h>

// `"SWAPMEET"` in ASCII, first byte lowest: the first eight bytes of every plugin's table.
#define SWM_MAGIC 6072335870940239699

// Plugins and hosts of different major versions refuse each other.
#define SWM_ABI_MAJOR 1

// Grows when fields are appended; never a reason to refuse.
#define SWM_ABI_MINOR 0

// `SwmLayout.flags`: the schedule moves byte counts, not blocks. A node then holds so many bytes for each destination, whoever they come
// from, and may redistribute them element by element; delivery is proved by following the bytes for each destination.
#define SWM_BYTE_COUNTS 1

// `SwmLayout.flags`: every block, or vector, is cut into one part for each node of the machine, and `destinations` of a send name parts by those
// nodes; for collectives whose blocks have no destination to be told apart by. Each part is then split in `segments`.
#define SWM_IN_PARTS 2

// `SwmSymmetry.kind`: the group leaves the axis as it is.
#define SWM_FIXED 0

// `SwmSymmetry.kind`: the group adds the multiples of `unit`, modulo the radix, which `unit` divides.
#define SWM_SHIFT 1

// `SwmSymmetry.kind`: the group takes the exclusive-or with the multiples of `unit`; `unit` and the radix are powers of two.
#define SWM_XOR 2

// What `supports` and `plan` return when all went well.
#define SWM_OK 0

// The algorithm can't run on this problem; the reason was given with `SwmHost.fail`.
#define SWM_UNSUPPORTED 1

// The plugin failed; the reason was given with `SwmHost.fail`.
#define SWM_ERROR 2

// The host refused a call (the schedule broke a rule, or the case was stopped); the plugin should return this at once.
#define SWM_STOPPED 3

// The plugin hands on a schedule from elsewhere, and that breaks a rule which the host can't see; which, was said with `SwmHost.fail`.
#define SWM_INVALID 4

// Level for `SwmHost.log`: the line is shown behind `warning: `.
#define SWM_LOG_WARN 1

// Level for `SwmHost.log`: the line is shown as it is.
#define SWM_LOG_INFO 2

// `SwmParamInfo.kind`: any text.
#define SWM_PARAM_TEXT 0

// `SwmParamInfo.kind`: a whole number, from 0 on.
#define SWM_PARAM_NUMBER 1

// `SwmParamInfo.kind`: one of the words in `values`.
#define SWM_PARAM_CHOICE 2

// `SwmParamInfo.kind`: the path of a regular file, which the algorithm reads while it plans. The host reads it, too: its digest stands in the row.
#define SWM_PARAM_FILE 3

// Every node has a block for every node: complete exchange, all-to-all personalized communication.
#define SWM_ALLTOALL 0

// The root has one block, which everyone is to have.
#define SWM_BROADCAST 1

// The root has a block for everyone.
#define SWM_SCATTER 2

// Everyone has a block for the root.
#define SWM_GATHER 3

// Everyone has a block that everyone is to have: all-to-all broadcast, gossip.
#define SWM_ALLGATHER 4

// Every node has one block for one other, no two for the same.
#define SWM_PERMUTATION 5

// Every node has a vector, whose sum the root is to have. In this and the two below a node holds one value of every segment, which sums what is
// *contributed* to it by the origins of the blocks in it; sends take values as a whole, and `SWM_COMBINE` says whether they are added to the receiver's.
#define SWM_REDUCE 6

// Every node has a term for every node's result; each is to have the sum of those for it.
#define SWM_REDUCE_SCATTER 7

// Every node has a vector, whose sum everyone is to have.
#define SWM_ALLREDUCE 8

// `SwmBlocks.flags`: every block selected must be held; without it the selection is a rule over whatever is held.
#define SWM_STRICT 1

// `SwmBlocks.flags`: the sender keeps what it sends (broadcast, allgather).
#define SWM_COPY 2

// `SwmBlocks.flags`, in reductions: the receiver adds what it is sent to the values that it has, in which none of the same contributions may be.
// Without it what is sent takes their place, and must have all their contributions in it. Where the receiver has nothing, both are the same.
#define SWM_COMBINE 8

// Flags of any send: `from` may equal `to`; such a send is a local copy and costs nothing.
#define SWM_LOCAL 4

// `SwmByteCount.bytes`: all that the sender holds for the destination, outside of buckets.
#define SWM_ALL_BYTES UINT64_MAX

// A set of every coordinate, or of every node.
#define SWM_ALL 0

// `SwmAxis`: `first`, `first + stride`, .. (`count` of them), each modulo the axis's radix.
#define SWM_RANGE 1

// `SwmAxis`: the coordinates whose bits are set in `words`.
#define SWM_BITS 2

// `SwmSet`: the single node `node`.
#define SWM_NODE 1

// `SwmSet`: the product of `axes`.
#define SWM_AXES 2

// The first 24 bytes of a plugin's table: frozen for ever, read before anything else.
typedef struct SwmHead {
    // `SWM_MAGIC`: what the host knows a table by.
    uint64_t magic;
    // `SWM_ABI_MAJOR` of the header the plugin was built with.
    uint32_t abi_major;
    // `SWM_ABI_MINOR` of the header the plugin was built with.
    uint32_t abi_minor;
    // Size of the whole table.
    uint32_t size;
    // Zero; there for alignment, and for later.
    uint32_t reserved;
} SwmHead;

// Text: UTF-8, not NUL-terminated. `ptr` may be null when `len` is 0.
typedef struct SwmStr {
    // The first of the `len` bytes.
    const uint8_t *ptr;
    // Length in bytes, not in characters.
    size_t len;
} SwmStr;

// A parameter that an algorithm takes.
typedef struct SwmParamInfo {
    // Size of this struct.
    uint32_t size;
    // `SWM_PARAM_TEXT`, `SWM_PARAM_NUMBER`, `SWM_PARAM_CHOICE` or `SWM_PARAM_FILE`.
    uint32_t kind;
    // Its key: lower case, digits and hyphens.
    struct SwmStr key;
    // What it is when not given; empty if that depends on the problem, as `help` then says.
    struct SwmStr default_value;
    // One line: meaning, values.
    struct SwmStr help;
    // The words that a `SWM_PARAM_CHOICE` may be, its default among them. Others never reach the algorithm; `swapmeet check` tries each.
    const struct SwmStr *values;
    // How many words there are.
    uint64_t value_count;
} SwmParamInfo;

// What connects the nodes.
typedef struct SwmTopology {
    // Size of this struct.
    uint32_t size;
    // Axes of the topology's own grid.
    uint32_t dim_count;
    // The family: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, ..
    struct SwmStr kind;
    // The whole spec in canonical form, such as `torus:16x16`: for messages. What it says is in the other fields, none need take it apart.
    struct SwmStr spec;
    // Nodes, numbered from 0.
    uint64_t nodes;
    // Radix of each axis; nodes are numbered row-major, the last axis fastest.
    const uint64_t *dims;
    // Of a dual-net, what a cluster is at the lowest level, which is none itself; null for other topologies.
    const struct SwmTopology *base;
    // Of a dual-net, how many levels there are above the base, whatever way they are nested in its spec; else 0.
    uint64_t levels;
} SwmTopology;

// A parameter as the user gave it: `variant` and `lean` in `rdn-alltoall:variant=lean`.
typedef struct SwmParam {
    // Before the equals sign.
    struct SwmStr key;
    // After the equals sign, as the user wrote it.
    struct SwmStr value;
} SwmParam;

// What is to be done, but for what a plugin has to ask for (`SwmHost.block_bytes` and its neighbours).
typedef struct SwmProblem {
    // Size of this struct.
    uint32_t size;
    // Which collective: `SWM_ALLTOALL` or another of its row.
    uint32_t collective;
    // What connects the nodes.
    const struct SwmTopology *topology;
    // The root of a broadcast, scatter, gather or reduce; else 0.
    uint64_t root;
    // The parameters that the user gave; those left out are not among them.
    const struct SwmParam *params;
    // How many parameters there are.
    uint64_t param_count;
    // Which permutation, such as `transpose-2d`; else empty.
    struct SwmStr permutation;
} SwmProblem;

// The grid in which a schedule speaks of nodes, when the topology's own won't do.
typedef struct SwmLayout {
    // Size of this struct.
    uint32_t size;
    // Axes of the grid; 0 for the topology's own.
    uint32_t axis_count;
    // Radix of each axis; nodes are numbered row-major, the last axis fastest.
    const uint64_t *radices;
    // Segments into which every block is split; 0 and 1 mean whole.
    uint32_t segments;
    // 0 for a schedule of whole blocks, `SWM_BYTE_COUNTS` for one of byte counts, `SWM_IN_PARTS` for one of parts of blocks.
    uint32_t flags;
} SwmLayout;

// A subset of the coordinates of one axis of the grid. Zero is every coordinate.
typedef struct SwmAxis {
    // `SWM_ALL`, `SWM_RANGE` or `SWM_BITS`.
    uint32_t kind;
    // Zero; there for alignment, and for later.
    uint32_t reserved;
    // First coordinate of a range; below the axis's radix.
    uint64_t first;
    // Distance between members of a range; at least 1.
    uint64_t stride;
    // Members of a range (cyclic; no coordinate may come up twice), or words in `words`.
    uint64_t count;
    // Bit `c % 64` of word `c / 64` is coordinate `c`.
    const uint64_t *words;
} SwmAxis;

// A set of nodes of the schedule's grid.
typedef struct SwmSet {
    // `SWM_ALL`, `SWM_NODE` or `SWM_AXES`.
    uint32_t kind;
    // As many as the grid has, when `kind` is `SWM_AXES`.
    uint32_t axis_count;
    // The one node, when `kind` is `SWM_NODE`.
    uint64_t node;
    // One subset an axis.
    const struct SwmAxis *axes;
} SwmSet;

// How a message should travel, where the topology's own route won't do. Dimensions are those of the topology.
typedef struct SwmRoute {
    // Size of this struct.
    uint32_t size;
    // Length of `signs` and of `order` where they are not null.
    uint32_t dim_count;
    // For each dimension 1 (plus), -1 (minus) or 0 (the shorter way); null for all 0.
    const int8_t *signs;
    // The dimensions in the order in which they are travelled; null for the topology's own order.
    const uint32_t *order;
    // The nodes passed through, the receiver last, each a neighbour of the one before; null for a route by dimensions.
    const uint64_t *path;
    // How many nodes `path` has.
    uint64_t path_len;
} SwmRoute;

// A send of blocks (`SwmHost.send_blocks`): of what `from` holds, the blocks with origin in `origins` and destination in `destinations` go
// to `to`.
typedef struct SwmBlocks {
    // Size of this struct.
    uint32_t size;
    // `SWM_STRICT` | `SWM_COPY` | `SWM_LOCAL` | `SWM_COMBINE`.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // Where the blocks come from. In an all-to-all every node also has a block for itself, which is where it should be from the start and may
    // stay there: a strict send of everything a node holds takes it along. In a reduction `SWM_ALL`: a sum goes as a whole.
    struct SwmSet origins;
    // Where the blocks go. In a permutation `SWM_ALL`: its blocks are known by their origins. With `SWM_IN_PARTS`, which parts of them.
    struct SwmSet destinations;
    // Which segments of each block, where blocks are split (`SwmLayout.segments`).
    struct SwmAxis segments;
    // Null for the topology's own route. A path in it wins over signs and order.
    const struct SwmRoute *route;
    // What the plugin calls this send, such as the place in a file that it was read from: faults say it. Empty for nothing.
    struct SwmStr label;
} SwmBlocks;

// A node sorts all it holds into buckets, element by element. Element x (from 0) of what it holds for destination d has number
// `e = (starts[d] + x) % cycle` and goes to bucket `(first + firsts[d] + e) % buckets`. Buckets are then sent one by one
// (`SwmHost.send_bucket`). What the node holds for itself is redistributed with the rest.
typedef struct SwmRedistribution {
    // Size of this struct.
    uint32_t size;
    // Zero; there for alignment, and for later.
    uint32_t flags;
    // The node of the schedule's grid that redistributes what it holds.
    uint64_t node;
    // How many buckets there are.
    uint64_t buckets;
    // After how many elements the round begins again; as many as there are buckets in the plain case.
    uint64_t cycle;
    // The bucket that the first element goes to, below `buckets`.
    uint64_t first;
    // For each destination the number its elements begin with, below `cycle`; null for 0 everywhere.
    const uint32_t *starts;
    // For each destination what is added to `first`, below `buckets`; null for 0 everywhere.
    const uint32_t *firsts;
    // Length of `starts` and of `firsts` where they are not null: the nodes.
    uint64_t node_count;
} SwmRedistribution;

// A send of one bucket of what `from` has redistributed (`SwmHost.send_bucket`), in a schedule of byte counts.
typedef struct SwmBucket {
    // Size of this struct.
    uint32_t size;
    // 0, or `SWM_LOCAL` where `from` and `to` are the same.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // The bucket, counted from 0, below `SwmRedistribution.buckets` of the sender's last redistribution.
    uint64_t bucket;
    // Null for the topology's own route. A path in it wins over signs and order.
    const struct SwmRoute *route;
} SwmBucket;

// So many bytes for one destination.
typedef struct SwmByteCount {
    // The node that the bytes are to end at.
    uint64_t destination;
    // How many: a multiple of the element's size (`SwmHost.element_bytes`), or `SWM_ALL_BYTES`.
    uint64_t bytes;
} SwmByteCount;

// A send of so many bytes for each of some destinations (`SwmHost.send_bytes`), in a schedule of byte counts; what is in buckets isn't touched.
typedef struct SwmBytes {
    // Size of this struct.
    uint32_t size;
    // 0, or `SWM_LOCAL` where `from` and `to` are the same.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // A byte count for each destination that anything goes for.
    const struct SwmByteCount *counts;
    // How many byte counts there are.
    uint64_t count;
    // Null for the topology's own route. A path in it wins over signs and order.
    const struct SwmRoute *route;
} SwmBytes;

// How a group moves the coordinates of one axis of the schedule's grid (`SwmHost.symmetric`). Zero leaves them as they are.
typedef struct SwmSymmetry {
    // `SWM_FIXED`, `SWM_SHIFT` or `SWM_XOR`.
    uint32_t kind;
    // Zero.
    uint32_t reserved;
    // The period of a shift, the lowest bit of an exclusive-or.
    uint64_t unit;
} SwmSymmetry;

// What a plugin may ask of the host. Each function takes `ctx` first; those that return `int32_t` return `SWM_OK` or `SWM_STOPPED`.
//
// Sizes and machine parameters are asked for rather than given: a schedule whose making did not ask for the block size is
// the same for every block size, and the host then prices many cases from one run of it.
typedef struct SwmHost {
    // Size of this struct.
    uint32_t size;
    // Zero; there for alignment, and for later.
    uint32_t reserved;
    // The host's own; handed back in every call.
    void *ctx;
    // Says why the plugin is about to return `SWM_UNSUPPORTED`, `SWM_ERROR` or `SWM_INVALID`.
    void (*fail)(void *ctx, struct SwmStr reason);
    // A line for the log; `level` is `SWM_LOG_WARN` or `SWM_LOG_INFO`.
    void (*log)(void *ctx, uint32_t level, struct SwmStr line);
    // Bytes of each block when sizes are uniform, else the largest block.
    uint64_t (*block_bytes)(void *ctx);
    // Bytes of the block from node `from` to node `to` of the machine; `from` and `to` may be the same, for what a node has for itself.
    uint64_t (*pair_bytes)(void *ctx, uint64_t from, uint64_t to);
    // Messages a node may send, and receive, at a time; `UINT64_MAX` for all links at once.
    uint64_t (*ports)(void *ctx);
    // Circuits a directed link carries at a time.
    uint64_t (*virtual_channels)(void *ctx);
    // Bytes of the unit that is redistributed; block sizes are multiples of it.
    uint64_t (*element_bytes)(void *ctx);
    // For a permutation, the node of the machine that node `from` has its block for; `from` itself for other collectives.
    uint64_t (*destination)(void *ctx, uint64_t from);
    // The machine's start-up of a message in microseconds (alpha), 0 if it has none. This and the two below are for choosing among forms that the
    // algorithm declares, not for making up a schedule machine by machine.
    double (*startup_us)(void *ctx);
    // The machine's time per link of a route in microseconds, 0 if it has none.
    double (*hop_us)(void *ctx);
    // The machine's time per byte of a message in microseconds (beta), 0 if it has none.
    double (*byte_us)(void *ctx);
    // Sets the grid and the segments of blocks; before the first step, once.
    int32_t (*layout)(void *ctx, const struct SwmLayout *layout);
    // Says which node of the machine runs node `node` of the grid, and whether it is that one's home, where its own blocks are (`home` 1), or a
    // virtual node that only passes on what others have (`home` 0). After `layout`, before the first step; needed for every node when the grid
    // has not as many nodes as the machine, and for none when it has.
    int32_t (*place)(void *ctx, uint64_t node, uint64_t physical, uint32_t home);
    // Begins a phase: a name for a run of steps.
    int32_t (*phase)(void *ctx, struct SwmStr name);
    // Begins a step: what follows happens at once, and what arrives can be sent on only in a later step.
    int32_t (*step)(void *ctx);
    // Adds a send of blocks to the current step.
    int32_t (*send_blocks)(void *ctx, const struct SwmBlocks *send);
    // Every node rearranges all it holds, once, between two steps.
    int32_t (*rearrange)(void *ctx);
    // In a schedule of byte counts, between steps: a node sorts all it holds into buckets, what has just arrived included.
    int32_t (*redistribute)(void *ctx, const struct SwmRedistribution *redistribution);
    // In a schedule of byte counts, adds a send of a bucket to the current step.
    int32_t (*send_bucket)(void *ctx, const struct SwmBucket *send);
    // In a schedule of byte counts, adds a send of so many bytes for each of some destinations to the current step.
    int32_t (*send_bytes)(void *ctx, const struct SwmBytes *send);
    // Says under which group the schedule is invariant, and asks for whom to plan; after `layout` and `place`, before the first step, once. The
    // group is the product of what it does to each axis of the grid, or, given one axis alone, does this to the nodes' numbers: whatever one of its elements does to the
    // nodes of every send and to the members of its sets makes another send of the same step. The host writes to `planned`, for each axis, how many coordinates it is to plan
    // for, from 0 on: `unit` of them where one node of each orbit will do, the radix where it wants everyone. Only nodes with such coordinates send from then on, in ascending order, each all that it sends in a step;
    // what the others do follows from the group. A plugin that never calls it plans for everyone.
    int32_t (*symmetric)(void *ctx, const struct SwmSymmetry *axes, uint64_t axis_count, uint64_t *planned);
} SwmHost;

// One algorithm of a plugin.
typedef struct SwmAlgorithm {
    // Size of this struct.
    uint32_t size;
    // Zero; there for alignment, and for later.
    uint32_t reserved;
    // The name users type: lower case, digits and hyphens.
    struct SwmStr name;
    // One line for lists.
    struct SwmStr title;
    // Where it was published.
    struct SwmStr paper;
    // On what it runs, in words.
    struct SwmStr accepts;
    // Bit `1 << SWM_ALLTOALL`, .. for each collective it does.
    uint64_t collectives;
    // The parameters it takes, in the order in which specs name them: pointers, so that `SwmParamInfo` can grow.
    const struct SwmParamInfo *const *params;
    // How many parameters there are.
    uint64_t param_count;
    // The plugin's own: the host hands the table back and never looks at it.
    const void *user;
    // Whether it can run; asked before `plan`. Null if it always can.
    int32_t (*supports)(const struct SwmAlgorithm *algorithm,
                        const struct SwmProblem *problem,
                        const struct SwmHost *host);
    // Gives the schedule, step by step. Null, with no name, where the plugin failed at describing the algorithm: `title` then says why, and
    // the host refuses the plugin with it.
    int32_t (*plan)(const struct SwmAlgorithm *algorithm, const struct SwmProblem *problem, const struct SwmHost *host);
    // The most messages that a node sends, and the most that it receives, in one step: 1 for a one-port algorithm, `UINT64_MAX`
    // for one that uses all links, 0 where the plugin doesn't say. `swapmeet check` holds the schedules to it.
    uint64_t ports;
} SwmAlgorithm;

// A plugin's table: who it is and what it offers.
typedef struct SwmPlugin {
    // What is frozen: versions and size.
    struct SwmHead head;
    // The plugin's name: lower case, digits and hyphens.
    struct SwmStr name;
    // Its version, such as `0.1.0`.
    struct SwmStr version;
    // Its licence, an SPDX expression.
    struct SwmStr licence;
    // Pointers, so that `SwmAlgorithm` can grow.
    const struct SwmAlgorithm *const *algorithms;
    // How many algorithms there are.
    uint64_t algorithm_count;
} SwmPlugin;

// The type of `swapmeet_plugin`, the one symbol a plugin exports. The table must stay for the life of the process; nobody writes to it.
typedef struct SwmPlugin *(*SwmEntry)(void);

// Either answers whether the algorithm can run, or gives its schedule. Returns `SWM_OK`, `SWM_UNSUPPORTED`, `SWM_ERROR`,
// `SWM_STOPPED` or `SWM_INVALID`.
typedef int32_t (*SwmRun)(const struct SwmAlgorithm *algorithm,
                          const struct SwmProblem *problem,
                          const struct SwmHost *host);

#endif  /* SWAPMEET_H */

#ifdef __cplusplus
extern "C" {
#endif

// The one function a plugin exports. Its table is read only, but not declared const, so that cgo can export it (//export swapmeet_plugin).
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
SwmPlugin *swapmeet_plugin(void);

#ifdef __cplusplus
}
#endif
