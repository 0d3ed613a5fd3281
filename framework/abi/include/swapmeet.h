// swapmeet.h: the interface between Swapmeet and a plugin. Generated from framework/abi; do not edit.
//
// A plugin is a shared library that exports one function,
//
//     SwmPlugin *swapmeet_plugin(void);
//
// which returns a table that stays valid for the life of the process. The table names algorithms.
// The host calls an algorithm's `plan` function with a problem and with a table of host functions.
// `plan` passes its schedule to the host by calling step() for each step and send_blocks() for each
// send of that step.
//
// Rules:
// - Pass host->ctx as the first argument of every host function.
// - If a host function returns a code other than SWM_OK, return SWM_STOPPED at once.
// - Set the field `size` of every struct that has one to its sizeof; set unused fields to zero.
// - A text is a pointer and a length in bytes, in UTF-8.
// - No exception or panic may leave a function of the plugin. In C++, catch every exception; in Go
//   and Rust, catch every panic.
// - Link C++ with its own runtime or with the compiler's driver (c++), and export swapmeet_plugin as
//   extern "C". Including this header declares it so.

#ifndef SWAPMEET_H
#define SWAPMEET_H

#include <stddef.h>
#include <stdint.h>

// `"SWAPMEET"` in ASCII, first byte lowest: the first eight bytes of every plugin's table.
#define SWM_MAGIC 6072335870940239699

// Major version of the ABI. Plugins and hosts of different major versions refuse each other.
#define SWM_ABI_MAJOR 1

// Minor version of the ABI. It grows when fields are appended; a difference is never a reason to
// refuse.
#define SWM_ABI_MINOR 1

// `SwmLayout.flags`: the schedule moves byte counts instead of blocks. Each node then holds a
// number of bytes for each destination, without regard to their origin, and may redistribute them
// element by element. The host verifies delivery by following the bytes for each destination.
#define SWM_BYTE_COUNTS 1

// `SwmLayout.flags`: every block, or vector, is cut into one part for each node of the machine,
// and `destinations` of a send selects parts by those nodes. This is for collectives whose blocks
// are not distinguished by destination. Each part is then split into `segments`.
#define SWM_IN_PARTS 2

// `SwmSymmetry.kind`: the group leaves the coordinates of the axis unchanged.
#define SWM_FIXED 0

// `SwmSymmetry.kind`: the group adds the multiples of `unit`, modulo the radix. `unit` must
// divide the radix.
#define SWM_SHIFT 1

// `SwmSymmetry.kind`: the group takes the exclusive-or with the multiples of `unit`. `unit` and
// the radix must be powers of two.
#define SWM_XOR 2

// Return value of `supports` and `plan`: success.
#define SWM_OK 0

// The algorithm cannot run on this problem. The plugin has given the reason with
// `SwmHost.fail`.
#define SWM_UNSUPPORTED 1

// The plugin failed. It has given the reason with `SwmHost.fail`.
#define SWM_ERROR 2

// The host refused a call because the schedule broke a rule or because the case was stopped. The
// plugin should return this value at once.
#define SWM_STOPPED 3

// The plugin passes on a schedule from another source, and that schedule breaks a rule which the
// host cannot check. The plugin has named the rule with `SwmHost.fail`.
#define SWM_INVALID 4

// Level for `SwmHost.log`: the line is shown with the prefix `warning: `.
#define SWM_LOG_WARN 1

// Level for `SwmHost.log`: the line is shown unchanged.
#define SWM_LOG_INFO 2

// `SwmParamInfo.kind`: any text.
#define SWM_PARAM_TEXT 0

// `SwmParamInfo.kind`: a whole number of at least 0.
#define SWM_PARAM_NUMBER 1

// `SwmParamInfo.kind`: one of the words in `values`.
#define SWM_PARAM_CHOICE 2

// `SwmParamInfo.kind`: the path of a regular file, which the algorithm reads while it plans.
// The host reads it too, and writes its digest to the row.
#define SWM_PARAM_FILE 3

// Every node has a block for every node: complete exchange, all-to-all personalized communication.
#define SWM_ALLTOALL 0

// The root has one block, which every node is to receive.
#define SWM_BROADCAST 1

// The root has a block for every node.
#define SWM_SCATTER 2

// Every node has a block for the root.
#define SWM_GATHER 3

// Every node has a block that every node is to receive: all-to-all broadcast, gossip.
#define SWM_ALLGATHER 4

// Every node has one block for one other node, and no two nodes have one for the same node.
#define SWM_PERMUTATION 5

// Every node has a vector, and the root is to receive the sum of all vectors. In this collective
// and the next two, a node holds one value for each segment: the sum of the contributions of some
// origins. Sends take values as a whole, and `SWM_COMBINE` tells whether they are added to the
// receiver's values.
#define SWM_REDUCE 6

// Every node has a term for the result of every node, and each node is to receive the sum of the
// terms for its result.
#define SWM_REDUCE_SCATTER 7

// Every node has a vector, and every node is to receive the sum of all vectors.
#define SWM_ALLREDUCE 8

// `SwmBlocks.flags`: the sender must hold every selected block. Without this flag the send
// takes those selected blocks that the sender holds.
#define SWM_STRICT 1

// `SwmBlocks.flags`: the sender keeps what it sends (broadcast, allgather).
#define SWM_COPY 2

// `SwmBlocks.flags`, in reductions: the receiver adds the values that it receives to its own
// values. No contribution may be contained in both. Without this flag the received values replace
// the receiver's values, and must contain all contributions of these. If the receiver has no
// value, both give the same result.
#define SWM_COMBINE 8

// Flag of any send: `from` may equal `to`. Such a send is a local copy and costs nothing.
#define SWM_LOCAL 4

// `SwmByteCount.bytes`: all bytes that the sender holds for the destination, except those in
// buckets.
#define SWM_ALL_BYTES UINT64_MAX

// `SwmAxis`, `SwmSet`: every coordinate of the axis, or every node.
#define SWM_ALL 0

// `SwmAxis`: the `count` coordinates `first`, `first + stride`, etc., each modulo the axis's
// radix.
#define SWM_RANGE 1

// `SwmAxis`: the coordinates whose bits are set in `words`.
#define SWM_BITS 2

// `SwmSet`: the single node `node`.
#define SWM_NODE 1

// `SwmSet`: the product of `axes`.
#define SWM_AXES 2

// The first 24 bytes of a plugin's table. Their layout never changes, and the host reads them
// before anything else.
typedef struct SwmHead {
    // `SWM_MAGIC`, which identifies a table.
    uint64_t magic;
    // `SWM_ABI_MAJOR` of the header the plugin was built with.
    uint32_t abi_major;
    // `SWM_ABI_MINOR` of the header the plugin was built with.
    uint32_t abi_minor;
    // Size of the whole table in bytes.
    uint32_t size;
    // Reserved; must be zero.
    uint32_t reserved;
} SwmHead;

// A text: UTF-8, not NUL-terminated. `ptr` may be null when `len` is 0.
typedef struct SwmStr {
    // Pointer to the first of the `len` bytes.
    const uint8_t *ptr;
    // Length in bytes, not in characters.
    size_t len;
} SwmStr;

// A parameter that an algorithm takes.
typedef struct SwmParamInfo {
    // Size of this struct in bytes.
    uint32_t size;
    // `SWM_PARAM_TEXT`, `SWM_PARAM_NUMBER`, `SWM_PARAM_CHOICE` or `SWM_PARAM_FILE`.
    uint32_t kind;
    // Key of the parameter: lower-case letters, digits and hyphens.
    struct SwmStr key;
    // Value where the user gives none. Empty if that value depends on the problem; `help` then
    // explains it.
    struct SwmStr default_value;
    // One line of help: the meaning and the possible values.
    struct SwmStr help;
    // The words of a `SWM_PARAM_CHOICE`, including its default. The host refuses all other words
    // before it calls the algorithm. `swapmeet check` tries each word.
    const struct SwmStr *values;
    // Number of entries of `values`.
    uint64_t value_count;
} SwmParamInfo;

// The network that connects the nodes.
typedef struct SwmTopology {
    // Size of this struct in bytes.
    uint32_t size;
    // Number of axes of the topology's own grid.
    uint32_t dim_count;
    // Family of the topology: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, etc.
    struct SwmStr kind;
    // The whole spec in canonical form, such as `torus:16x16`, for use in messages. The other
    // fields contain all its information, so that no plugin has to parse it.
    struct SwmStr spec;
    // Number of nodes. They are numbered from 0.
    uint64_t nodes;
    // Radix of each axis. Nodes are numbered row-major: the last axis varies fastest.
    const uint64_t *dims;
    // For a dual-net, the topology of a cluster at the lowest level, which is not a dual-net
    // itself. Null for other topologies.
    const struct SwmTopology *base;
    // For a dual-net, the number of levels above the base, however they are nested in its spec. 0
    // for other topologies.
    uint64_t levels;
} SwmTopology;

// A parameter given by the user: `variant` and `lean` in `rdn-alltoall:variant=lean`.
typedef struct SwmParam {
    // The text before the equals sign.
    struct SwmStr key;
    // The text after the equals sign, unchanged.
    struct SwmStr value;
} SwmParam;

// The problem to solve. A plugin requests all further data, such as block sizes, with the
// functions of the host (`SwmHost.block_bytes` and those after it).
typedef struct SwmProblem {
    // Size of this struct in bytes.
    uint32_t size;
    // The collective: `SWM_ALLTOALL` or one of the constants after it.
    uint32_t collective;
    // The network that connects the nodes.
    const struct SwmTopology *topology;
    // Root of a broadcast, scatter, gather or reduce; 0 for other collectives.
    uint64_t root;
    // The parameters that the user gave. Parameters that were left out are not listed.
    const struct SwmParam *params;
    // Number of entries of `params`.
    uint64_t param_count;
    // Name of the permutation, such as `transpose-2d`; empty for other collectives.
    struct SwmStr permutation;
} SwmProblem;

// The grid in which a schedule numbers its nodes, where it is not the topology's own grid.
typedef struct SwmLayout {
    // Size of this struct in bytes.
    uint32_t size;
    // Number of axes of the grid; 0 for the topology's own grid.
    uint32_t axis_count;
    // Radix of each axis. Nodes are numbered row-major: the last axis varies fastest.
    const uint64_t *radices;
    // Number of segments into which every block is split; 0 and 1 both mean whole blocks.
    uint32_t segments;
    // 0 for a schedule of whole blocks, `SWM_BYTE_COUNTS` for a schedule of byte counts,
    // `SWM_IN_PARTS` for a schedule of parts of blocks.
    uint32_t flags;
} SwmLayout;

// A subset of the coordinates of one axis of the grid. All zero selects every coordinate.
typedef struct SwmAxis {
    // `SWM_ALL`, `SWM_RANGE` or `SWM_BITS`.
    uint32_t kind;
    // Reserved; must be zero.
    uint32_t reserved;
    // First coordinate of a range, below the axis's radix.
    uint64_t first;
    // Distance between consecutive members of a range, at least 1.
    uint64_t stride;
    // Number of members of a range (which wraps around; no coordinate may occur twice), or number
    // of entries of `words`.
    uint64_t count;
    // The bit set: bit `c % 64` of word `c / 64` is coordinate `c`.
    const uint64_t *words;
} SwmAxis;

// A set of nodes of the schedule's grid.
typedef struct SwmSet {
    // `SWM_ALL`, `SWM_NODE` or `SWM_AXES`.
    uint32_t kind;
    // Number of axes of the grid, when `kind` is `SWM_AXES`.
    uint32_t axis_count;
    // The node, when `kind` is `SWM_NODE`.
    uint64_t node;
    // One subset for each axis, when `kind` is `SWM_AXES`.
    const struct SwmAxis *axes;
} SwmSet;

// The route of a message, where it is not the topology's own. Dimensions are those of the
// topology.
typedef struct SwmRoute {
    // Size of this struct in bytes.
    uint32_t size;
    // Length of `signs` and of `order`, where these are not null.
    uint32_t dim_count;
    // For each dimension 1 (plus), -1 (minus) or 0 (the shorter direction); null for all 0.
    const int8_t *signs;
    // The dimensions in the order in which the message crosses them; null for the topology's own
    // order.
    const uint32_t *order;
    // The nodes after the sender, ending with the receiver, each a neighbour of the node before
    // it; null for a route by dimensions.
    const uint64_t *path;
    // Number of entries of `path`.
    uint64_t path_len;
} SwmRoute;

// A send of blocks (`SwmHost.send_blocks`). Of the blocks that `from` holds, those with an
// origin in `origins` and a destination in `destinations` are sent to `to`.
typedef struct SwmBlocks {
    // Size of this struct in bytes.
    uint32_t size;
    // `SWM_STRICT` | `SWM_COPY` | `SWM_LOCAL` | `SWM_COMBINE`.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // The origins of the selected blocks. In an all-to-all every node also has a block for itself.
    // That block is at its destination from the start and may stay there; a strict send of all the
    // blocks of a node includes it. In a reduction this must be `SWM_ALL`, because sums are sent
    // as a whole.
    struct SwmSet origins;
    // The destinations of the selected blocks. In a permutation this must be `SWM_ALL`, because
    // its blocks are distinguished by their origins. With `SWM_IN_PARTS` it selects parts of the
    // blocks.
    struct SwmSet destinations;
    // The selected segments of each block, where blocks are split (`SwmLayout.segments`).
    struct SwmAxis segments;
    // The route; null for the topology's own route. A path takes precedence over signs and order.
    const struct SwmRoute *route;
    // The plugin's name for this send, such as its position in an input file. Error messages
    // include it. Empty for none.
    struct SwmStr label;
} SwmBlocks;

// A node sorts all the data that it holds into buckets, element by element. Element x (from 0) of
// the data for destination d has the number `e = (starts[d] + x) % cycle` and is put into bucket
// `(first + firsts[d] + e) % buckets`. The buckets are then sent one by one
// (`SwmHost.send_bucket`). Data that the node holds for itself is redistributed too.
typedef struct SwmRedistribution {
    // Size of this struct in bytes.
    uint32_t size;
    // Reserved; must be zero.
    uint32_t flags;
    // The node of the schedule's grid that redistributes its data.
    uint64_t node;
    // Number of buckets.
    uint64_t buckets;
    // Number of elements after which the numbering starts again; equal to `buckets` in the simple
    // case.
    uint64_t cycle;
    // The bucket of the first element, below `buckets`.
    uint64_t first;
    // For each destination the number of its first element, below `cycle`; null for 0 everywhere.
    const uint32_t *starts;
    // For each destination an offset added to `first`, below `buckets`; null for 0 everywhere.
    const uint32_t *firsts;
    // Number of entries of `starts` and of `firsts`, where these are not null: the number of
    // nodes.
    uint64_t node_count;
} SwmRedistribution;

// A send of one bucket of the sender's last redistribution (`SwmHost.send_bucket`), in a
// schedule of byte counts.
typedef struct SwmBucket {
    // Size of this struct in bytes.
    uint32_t size;
    // 0, or `SWM_LOCAL` where `from` and `to` are the same node.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // Number of the bucket, from 0, below `SwmRedistribution.buckets` of the sender's last
    // redistribution.
    uint64_t bucket;
    // The route; null for the topology's own route. A path takes precedence over signs and order.
    const struct SwmRoute *route;
} SwmBucket;

// A number of bytes for one destination.
typedef struct SwmByteCount {
    // The destination of the bytes.
    uint64_t destination;
    // The number of bytes: a multiple of the element size (`SwmHost.element_bytes`), or
    // `SWM_ALL_BYTES`.
    uint64_t bytes;
} SwmByteCount;

// A send of a given number of bytes for each of some destinations (`SwmHost.send_bytes`), in a
// schedule of byte counts. Bytes in buckets are not affected.
typedef struct SwmBytes {
    // Size of this struct in bytes.
    uint32_t size;
    // 0, or `SWM_LOCAL` where `from` and `to` are the same node.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // A byte count for each destination that the message has bytes for.
    const struct SwmByteCount *counts;
    // Number of entries of `counts`.
    uint64_t count;
    // The route; null for the topology's own route. A path takes precedence over signs and order.
    const struct SwmRoute *route;
} SwmBytes;

// The action of a symmetry group on the coordinates of one axis of the schedule's grid
// (`SwmHost.symmetric`). All zero leaves them unchanged.
typedef struct SwmSymmetry {
    // `SWM_FIXED`, `SWM_SHIFT` or `SWM_XOR`.
    uint32_t kind;
    // Reserved; must be zero.
    uint32_t reserved;
    // Period of a shift, or lowest bit of an exclusive-or.
    uint64_t unit;
} SwmSymmetry;

// A directed link of the network, in a list of the links that leave one vertex
// (`SwmHost.links`).
typedef struct SwmLink {
    // The vertex to which the link leads.
    uint64_t to;
    // The bandwidth, as a multiple of the machine's bandwidth of a link.
    double bandwidth;
    // The latency, as a multiple of the machine's time per link.
    double latency;
} SwmLink;

// The functions of the host that a plugin may call. Each function takes `ctx` as its first
// argument. Functions that return `int32_t` return `SWM_OK` or `SWM_STOPPED`.
//
// A plugin requests sizes and machine parameters instead of receiving them with the problem. A
// schedule that was planned without requesting the block size is the same for every block size,
// and the host then computes the times of many cases from one plan.
typedef struct SwmHost {
    // Size of this struct in bytes.
    uint32_t size;
    // Reserved; zero.
    uint32_t reserved;
    // Opaque pointer of the host; pass it as the first argument of every call.
    void *ctx;
    // Gives the reason for the `SWM_UNSUPPORTED`, `SWM_ERROR` or `SWM_INVALID` that the
    // plugin is about to return.
    void (*fail)(void *ctx, struct SwmStr reason);
    // Writes a line to the log. `level` is `SWM_LOG_WARN` or `SWM_LOG_INFO`.
    void (*log)(void *ctx, uint32_t level, struct SwmStr line);
    // Returns the size of each block in bytes. Where sizes differ, it returns the size of the
    // largest block.
    uint64_t (*block_bytes)(void *ctx);
    // Returns the bytes of the block from node `from` to node `to` of the machine. `from` and `to`
    // may be the same node: the block that a node has for itself.
    uint64_t (*pair_bytes)(void *ctx, uint64_t from, uint64_t to);
    // Returns the port limit of the machine: the number of messages that a node may send, and may
    // receive, at the same time. `UINT64_MAX` means all links at once. The promise of an algorithm
    // is `SwmAlgorithm.ports`.
    uint64_t (*ports)(void *ctx);
    // Returns the number of circuits that a directed link carries at the same time.
    uint64_t (*virtual_channels)(void *ctx);
    // Returns the size in bytes of one element, the unit of redistribution. Block sizes are
    // multiples of it.
    uint64_t (*element_bytes)(void *ctx);
    // Returns, in a permutation, the node of the machine that receives the block of node `from`.
    // In other collectives it returns `from`.
    uint64_t (*destination)(void *ctx, uint64_t from);
    // Returns the start-up time of a message in microseconds (alpha), 0 if the machine has none.
    // Use this function and the next two to choose among forms that the algorithm declares as a
    // parameter, not to build a different schedule for each machine.
    double (*startup_us)(void *ctx);
    // Returns the time per link of a route in microseconds, 0 if the machine has none.
    double (*hop_us)(void *ctx);
    // Returns the time per byte of a message in microseconds (beta), 0 if the machine has none.
    double (*byte_us)(void *ctx);
    // Sets the grid of the schedule and the number of segments of each block. Call it at most
    // once, before the first step.
    int32_t (*layout)(void *ctx, const struct SwmLayout *layout);
    // Places node `node` of the schedule's grid on node `physical` of the machine. With `home` 1
    // the blocks of the machine node start and end at this grid node. With `home` 0 the grid node
    // is virtual: it only passes on blocks of other nodes. Call it after `layout` and before the
    // first step, for every node of a grid whose node count differs from that of the machine;
    // otherwise do not call it.
    int32_t (*place)(void *ctx, uint64_t node, uint64_t physical, uint32_t home);
    // Begins a phase: a named sequence of steps.
    int32_t (*phase)(void *ctx, struct SwmStr name);
    // Begins a step. All sends of a step happen at the same time; data that arrives in a step can
    // be sent on only in a later step.
    int32_t (*step)(void *ctx);
    // Adds a send of blocks to the current step.
    int32_t (*send_blocks)(void *ctx, const struct SwmBlocks *send);
    // Every node rearranges all the data that it holds, once, between two steps.
    int32_t (*rearrange)(void *ctx);
    // In a schedule of byte counts, between steps: a node sorts all the data that it holds into
    // buckets, including the data that arrived in the last step.
    int32_t (*redistribute)(void *ctx, const struct SwmRedistribution *redistribution);
    // In a schedule of byte counts, adds a send of a bucket to the current step.
    int32_t (*send_bucket)(void *ctx, const struct SwmBucket *send);
    // In a schedule of byte counts, adds to the current step a send of a given number of bytes for
    // each of some destinations.
    int32_t (*send_bytes)(void *ctx, const struct SwmBytes *send);
    // Declares a group under which the schedule is invariant, and reads which nodes to plan. Call
    // it at most once, after `layout` and `place` and before the first step.
    //
    // The group is the product of one action for each axis of the grid. If `axis_count` is 1, the
    // action applies to the node numbers. Invariant means: if an element of the group is applied
    // to the sender and the receiver of a send and to the members of its sets, the result is
    // another send of the same step.
    //
    // The host writes to `planned`, for each axis, how many coordinates to plan, counted from 0.
    // The count is `unit` where one node of each orbit is enough, and the radix where the host
    // wants all nodes. From then on only nodes with such coordinates may send. The plugin lists
    // them in ascending order, each with all its sends of the step; the host derives the sends of
    // all other nodes from the group. A plugin that never calls this function plans all nodes.
    int32_t (*symmetric)(void *ctx,
                         const struct SwmSymmetry *axes,
                         uint64_t axis_count,
                         uint64_t *planned);
    // Since 1.1. As `SwmHost.symmetric`, for a plugin that can plan any node of an orbit. Use it
    // instead of `symmetric` if it is not null.
    //
    // The host writes to `first`, for each axis, the first coordinate to plan, and to `planned` how
    // many to plan from there on. `first` is a multiple of the axis's `unit`: 0 for the nodes that
    // `symmetric` would name, or another one where the host compares the claim with what other
    // nodes of the orbits plan. From then on only nodes with coordinates from `first` to
    // `first + planned - 1` may send. Both lists have room for one value for each axis.
    int32_t (*symmetric_from)(void *ctx,
                              const struct SwmSymmetry *axes,
                              uint64_t axis_count,
                              uint64_t *first,
                              uint64_t *planned);
    // Since 1.1. Returns the number of vertices of the network. The nodes have the lowest numbers.
    // All other vertices are switches, which have no data of their own. If several ranks share a
    // node of the machine, the ranks are the nodes of the problem and have no links, and the nodes
    // of the machine are listed like switches, before the switches.
    uint64_t (*vertices)(void *ctx);
    // Since 1.1. Reads the directed links that leave a vertex. The host writes at most `room` links
    // to `links`, in ascending order of their ends, and the number of all links of the vertex to
    // `count`. Parallel links to the same vertex are listed separately.
    int32_t (*links)(void *ctx,
                     uint64_t vertex,
                     struct SwmLink *links,
                     uint64_t room,
                     uint64_t *count);
    // Since 1.1. Returns 1 if all blocks have the same size, and 0 otherwise. A schedule for blocks
    // of the same size is valid for every size, so this is not a request for the sizes.
    uint32_t (*uniform)(void *ctx);
    // Since 1.1. Reads the demand of node `from` of the machine: the nodes that are to receive data
    // which starts at `from`, each with its number of bytes. Receivers of 0 bytes are left out. The
    // node itself is listed if it has a block for itself. In a reduction, the receivers are the
    // nodes of the results, and the bytes are those of a term. The host writes at most `room` pairs
    // to `demand`, in ascending order of the receivers, and the number of all pairs to `count`.
    int32_t (*demand)(void *ctx,
                      uint64_t from,
                      struct SwmByteCount *demand,
                      uint64_t room,
                      uint64_t *count);
} SwmHost;

// One algorithm of a plugin.
typedef struct SwmAlgorithm {
    // Size of this struct in bytes.
    uint32_t size;
    // Reserved; must be zero.
    uint32_t reserved;
    // Name that users type: lower-case letters, digits and hyphens.
    struct SwmStr name;
    // Short description for lists, at most about 60 characters.
    struct SwmStr title;
    // Publication: authors, title, year.
    struct SwmStr paper;
    // Supported topologies and sizes, in words.
    struct SwmStr accepts;
    // Supported collectives: the sum of `1 << SWM_ALLTOALL` and so on.
    uint64_t collectives;
    // The parameters of the algorithm, in the order in which specs name them. They are pointers so
    // that `SwmParamInfo` can grow.
    const struct SwmParamInfo *const *params;
    // Number of entries of `params`.
    uint64_t param_count;
    // Data of the plugin. The host never reads it.
    const void *user;
    // Tells whether the algorithm can run on a problem; the host calls it before `plan`. Null if
    // the algorithm can always run.
    int32_t (*supports)(const struct SwmAlgorithm *algorithm,
                        const struct SwmProblem *problem,
                        const struct SwmHost *host);
    // Gives the schedule, step by step. A null pointer together with an empty `name` means that
    // the plugin failed while it described the algorithm. The host then refuses the plugin and
    // shows `title` as the reason.
    int32_t (*plan)(const struct SwmAlgorithm *algorithm,
                    const struct SwmProblem *problem,
                    const struct SwmHost *host);
    // The port promise of the algorithm: the largest number of messages that a node sends, and the
    // largest number that it receives, in one step. 1 for a one-port algorithm, `UINT64_MAX` for an
    // algorithm that uses all links, 0 for no promise. `swapmeet check` checks the schedules
    // against it. The port limit of the machine is `SwmHost.ports`.
    uint64_t ports;
} SwmAlgorithm;

// The table of a plugin: its name, its version and its algorithms.
typedef struct SwmPlugin {
    // Magic number, versions and size.
    struct SwmHead head;
    // Name of the plugin: lower-case letters, digits and hyphens.
    struct SwmStr name;
    // Version of the plugin, such as `0.1.0`.
    struct SwmStr version;
    // Licence of the plugin, an SPDX expression.
    struct SwmStr licence;
    // The algorithms. They are pointers so that `SwmAlgorithm` can grow.
    const struct SwmAlgorithm *const *algorithms;
    // Number of entries of `algorithms`.
    uint64_t algorithm_count;
} SwmPlugin;

// The type of `swapmeet_plugin`, the only symbol that a plugin exports. The table must stay valid
// for the life of the process. The host never writes to it.
typedef struct SwmPlugin *(*SwmEntry)(void);

// The type of `supports`, which tells whether the algorithm can run, and of `plan`, which gives
// its schedule. Both return `SWM_OK`, `SWM_UNSUPPORTED`, `SWM_ERROR`, `SWM_STOPPED` or
// `SWM_INVALID`.
typedef int32_t (*SwmRun)(const struct SwmAlgorithm *algorithm,
                          const struct SwmProblem *problem,
                          const struct SwmHost *host);

#endif  /* SWAPMEET_H */

#ifdef __cplusplus
extern "C" {
#endif

// The only function that a plugin exports. Its table is read-only. It is not declared const, so that
// cgo can export it (//export swapmeet_plugin).
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
SwmPlugin *swapmeet_plugin(void);

#ifdef __cplusplus
}
#endif
