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

// The first eight bytes of every plugin's table: `"SWAPMEET"` in ASCII, with the first letter in
// the lowest byte.
#define SWM_MAGIC 6072335870940239699

// Major version of the ABI. Plugins and hosts of different major versions refuse each other.
#define SWM_ABI_MAJOR 1

// Minor version of the ABI, which grows when fields are appended. All minor versions work
// together.
#define SWM_ABI_MINOR 2

// `SwmLayout.flags`: the schedule moves byte counts instead of blocks. Each node then holds a
// number of bytes for each destination, without their origins. A node may redistribute its bytes
// in units of one element (`SwmHost.element_bytes`). The host verifies that all bytes for each
// destination arrive there.
#define SWM_BYTE_COUNTS 1

// `SwmLayout.flags`: every block (in a reduction, every vector) is cut into one part for each
// node of the machine. `SwmBlocks.destinations` then selects parts by these nodes. Each part is
// split into `segments`. Use this flag only for collectives whose blocks are not distinguished by
// their destinations, such as broadcast and allreduce.
#define SWM_IN_PARTS 2

// `SwmSymmetry.kind`: the symmetries do not change the coordinates of the axis.
#define SWM_FIXED 0

// `SwmSymmetry.kind`: the symmetries add any multiple of `unit` to a coordinate, modulo the
// radix of the axis. `unit` must divide the radix.
#define SWM_SHIFT 1

// `SwmSymmetry.kind`: the symmetries map a coordinate to its exclusive-or with any multiple of
// `unit`. `unit` and the radix of the axis must be powers of two.
#define SWM_XOR 2

// Return value of `supports`, of `plan` and of the host's functions: success.
#define SWM_OK 0

// Return value of `supports` and `plan`: the algorithm cannot run on this problem, for the reason
// that the plugin has given with `SwmHost.fail`.
#define SWM_UNSUPPORTED 1

// Return value of `supports` and `plan`: the plugin failed, for the reason given with
// `SwmHost.fail`.
#define SWM_ERROR 2

// Return value of the host's functions: the host refused the call, because the schedule broke a
// rule or because the case was stopped. `supports` or `plan` should then immediately return this
// value.
#define SWM_STOPPED 3

// Return value of `supports` and `plan`: a schedule from another source breaks a rule that the
// host cannot check. The plugin has named the rule with `SwmHost.fail`.
#define SWM_INVALID 4

// Level for `SwmHost.log`: the line is shown with the prefix `warning: `.
#define SWM_LOG_WARN 1

// Level for `SwmHost.log`: the line is shown unchanged.
#define SWM_LOG_INFO 2

// Level for `SwmHost.log`, since version 1.1: the line is shown unchanged, and the column
// `note` of the row contains it, too. A host of version 1.0 only shows it.
#define SWM_LOG_NOTE 3

// `SwmParamInfo.kind`: any text.
#define SWM_PARAM_TEXT 0

// `SwmParamInfo.kind`: a whole number of at least 0.
#define SWM_PARAM_NUMBER 1

// `SwmParamInfo.kind`: one of the words in `values`.
#define SWM_PARAM_CHOICE 2

// `SwmParamInfo.kind`: the path of a regular file, which the algorithm reads while it plans.
// The host writes the digest of the file to the row of the case.
#define SWM_PARAM_FILE 3

// Every node has a block for every node. Other names are complete exchange and all-to-all
// personalized communication.
#define SWM_ALLTOALL 0

// The root has one block, which every node is to receive.
#define SWM_BROADCAST 1

// The root has a block for every node.
#define SWM_SCATTER 2

// Every node has a block for the root, which is to receive all blocks.
#define SWM_GATHER 3

// Every node has a block that every node is to receive (all-to-all broadcast, gossip).
#define SWM_ALLGATHER 4

// Every node has one block for one node, and no two nodes have a block for the same node.
#define SWM_PERMUTATION 5

// Every node has a vector, and the root is to receive the sum of all vectors. In this collective
// and the next two, a node holds at most one value for each segment: the sum of the contributions
// of some origins. A send takes whole values. `SWM_COMBINE` tells whether a sent value is added
// to the receiver's value.
#define SWM_REDUCE 6

// Every node has one term for the result of every node, and each node is to receive the sum of all
// terms for its result.
#define SWM_REDUCE_SCATTER 7

// Every node has a vector, and every node is to receive the sum of all vectors.
#define SWM_ALLREDUCE 8

// Since 1.1. Every node has tokens, and each token goes to a set of nodes. Nodes may copy and
// forward tokens, but no node may receive a token twice. Tokens of one node with the same set form
// a class (`SwmHost.token_receivers`), a segment of the node's block: a send selects tokens by
// origins and segments. The sender always keeps a copy.
#define SWM_DISPATCH 9

// Since 1.1. Every node has tokens. Each node of a token's set has a partial result of the token,
// and the node of the token is to receive the sum of these results. A send selects sums by
// destinations (the nodes of the tokens) and segments (their classes).
#define SWM_COMBINE_TOKENS 10

// `SwmBlocks.flags`: the sender must hold every selected block. Without this flag, the send
// takes those of the selected blocks that the sender holds.
#define SWM_STRICT 1

// `SwmBlocks.flags`: the sender keeps the data that it sends, as in broadcast and allgather.
#define SWM_COPY 2

// `SwmBlocks.flags`, in reductions: the receiver adds each received value to its own value of
// the same segment, if it has one. The two values must not contain the contribution of the same
// origin. Without this flag, the received value replaces the receiver's value, and must contain
// all of its contributions.
#define SWM_COMBINE 8

// A flag of every kind of send: `from` may equal `to`. Such a send is a local copy and takes no
// time.
#define SWM_LOCAL 4

// `SwmByteCount.bytes`: all bytes that the sender holds for the destination, except the bytes
// that a redistribution has put into buckets.
#define SWM_ALL_BYTES UINT64_MAX

// `SwmAxis.kind` or `SwmSet.kind`: every coordinate of the axis, or every node.
#define SWM_ALL 0

// `SwmAxis.kind`: the `count` coordinates `first`, `first + stride`, etc., modulo the axis's
// radix.
#define SWM_RANGE 1

// `SwmAxis.kind`: the coordinates whose bits are set in `words`.
#define SWM_BITS 2

// `SwmSet.kind`: the single node `node`.
#define SWM_NODE 1

// `SwmSet.kind`: the product of `axes`.
#define SWM_AXES 2

// The first 24 bytes of a plugin's table, whose layout never changes. The host reads them first.
typedef struct SwmHead {
    // `SWM_MAGIC`, by which the host recognizes a table.
    uint64_t magic;
    // `SWM_ABI_MAJOR` of the header with which the plugin was built.
    uint32_t abi_major;
    // `SWM_ABI_MINOR` of the header with which the plugin was built.
    uint32_t abi_minor;
    // Size of the whole table in bytes.
    uint32_t size;
    // Reserved; must be zero.
    uint32_t reserved;
} SwmHead;

// A text in UTF-8, without a NUL at its end. `ptr` may be null if `len` is 0.
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
    // The value if the user gives none. Empty if that value depends on the problem, as `help`
    // explains.
    struct SwmStr default_value;
    // One line of help: the meaning and the possible values.
    struct SwmStr help;
    // The words of a `SWM_PARAM_CHOICE`, including its default. The host refuses all other words
    // before it calls the algorithm. `swapmeet check` tests the algorithm with each word.
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
    // The spec of the topology in canonical form, such as `torus:16x16`, for use in messages.
    struct SwmStr spec;
    // Number of nodes. They are numbered from 0.
    uint64_t nodes;
    // The radix (number of coordinates) of each axis. Nodes are numbered row-major: the last axis
    // varies fastest.
    const uint64_t *dims;
    // For a dual-net, the topology of a cluster at the lowest level, which is not a dual-net
    // itself. Null for other topologies.
    const struct SwmTopology *base;
    // For a dual-net, the number of levels above `base`, with those of nested dual-nets; otherwise
    // 0.
    uint64_t levels;
} SwmTopology;

// A parameter that the user gave: `rdn-alltoall:variant=lean` has the key `variant` and the value
// `lean`.
typedef struct SwmParam {
    // The text before the equals sign.
    struct SwmStr key;
    // The text after the equals sign, unchanged.
    struct SwmStr value;
} SwmParam;

// The problem to solve. A plugin requests all further data, such as block sizes, with functions of
// the host, such as `SwmHost.block_bytes`.
typedef struct SwmProblem {
    // Size of this struct in bytes.
    uint32_t size;
    // The collective: one of the constants from `SWM_ALLTOALL` to `SWM_COMBINE_TOKENS`.
    uint32_t collective;
    // The network that connects the nodes.
    const struct SwmTopology *topology;
    // Root of a broadcast, scatter, gather or reduce; 0 for other collectives.
    uint64_t root;
    // The parameters that the user gave.
    const struct SwmParam *params;
    // Number of entries of `params`.
    uint64_t param_count;
    // Name of the permutation, such as `transpose-2d`; empty for other collectives.
    struct SwmStr permutation;
} SwmProblem;

// The grid in which a schedule numbers its nodes, if not the topology's own grid.
typedef struct SwmLayout {
    // Size of this struct in bytes.
    uint32_t size;
    // Number of axes of the grid; 0 for the topology's own grid.
    uint32_t axis_count;
    // The radix (number of coordinates) of each axis. Nodes are numbered row-major: the last axis
    // varies fastest.
    const uint64_t *radices;
    // Number of segments into which every block is split. 0 and 1 both mean whole blocks.
    uint32_t segments;
    // 0 for a schedule of whole blocks, `SWM_BYTE_COUNTS` or `SWM_IN_PARTS`.
    uint32_t flags;
} SwmLayout;

// A subset of the coordinates of one axis of the grid. A struct of zeros selects every coordinate.
typedef struct SwmAxis {
    // `SWM_ALL`, `SWM_RANGE` or `SWM_BITS`.
    uint32_t kind;
    // Reserved; must be zero.
    uint32_t reserved;
    // First coordinate of a range, below the axis's radix.
    uint64_t first;
    // Distance between consecutive members of a range, at least 1.
    uint64_t stride;
    // For a range, the number of its members. A range wraps around at the end of the axis, but no
    // coordinate may occur twice. For a bit set, the number of entries of `words`.
    uint64_t count;
    // The bit set. Coordinate `c` is a member if bit `c % 64` of word `c / 64` is set.
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

// The route of a message that does not take the topology's own route. A route is given by `path`,
// or by `signs` and `order`. If a path is given, `signs` only select one of the parallel links of
// a torus dimension of size 2. Dimensions are those of the topology, even if the schedule defines
// another grid.
typedef struct SwmRoute {
    // Size of this struct in bytes.
    uint32_t size;
    // Number of entries of `signs` and of `order`, if these are not null.
    uint32_t dim_count;
    // The direction in each dimension: 1 for plus, -1 for minus, or 0 for the shorter direction.
    // Null means 0 in every dimension.
    const int8_t *signs;
    // The dimensions in the order in which the message crosses them; null for the topology's own
    // order.
    const uint32_t *order;
    // The nodes of the route after the sender. Each node is a neighbour of the node before it, and
    // the last node is the receiver. Null for a route by dimensions. Since 1.1, the path may lead
    // over switches, whose numbers follow those of the nodes.
    const uint64_t *path;
    // Number of entries of `path`.
    uint64_t path_len;
} SwmRoute;

// A send of blocks (`SwmHost.send_blocks`). It selects the blocks that `from` holds and that
// have an origin in `origins` and a destination in `destinations`. These blocks are sent to `to`.
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
    // It is at its destination from the start and may stay there, but a strict send of all blocks
    // that start at a node includes it. In a reduction, `origins` must be `SWM_ALL`, because a
    // sum is sent with the contributions of all its origins.
    struct SwmSet origins;
    // The destinations of the selected blocks. With `SWM_IN_PARTS`, the nodes whose parts of the
    // blocks are selected. In a permutation without parts, `destinations` must be `SWM_ALL`,
    // because its blocks are distinguished by their origins.
    struct SwmSet destinations;
    // The selected segments of each block, if blocks are split into segments
    // (`SwmLayout.segments`).
    struct SwmAxis segments;
    // The route; null for the topology's own route.
    const struct SwmRoute *route;
    // The plugin's name for this send in error messages, such as its position in an input file. It
    // may be empty.
    struct SwmStr label;
    // Since 1.1: bytes that the message carries in addition to the blocks, such as padding, or the
    // sizes of blocks. The message is then sent even if no block is selected. It must be 0 if all
    // blocks have the same size, because the host then counts blocks instead of bytes.
    uint64_t extra_bytes;
    // Since 1.2, in reductions: the switch that adds the sent values, as a vertex
    // (`SwmHost.vertices`); 0 for none, because vertex 0 is a node. The switch adds the values
    // of all sends of the step with the same reducer, receiver and selected blocks, and the receiver
    // gets one message with the sum. A node that contributes to its own sum sends its value to
    // itself, over the switch. The send needs `SWM_STRICT` and `SWM_COMBINE`, and its route must
    // pass the switch. If the routes of these sends meet at switches before it, these also add.
    // The schedule may claim no symmetry.
    uint64_t reducer;
    // Since 1.2: the switch that copies the sent blocks, as a vertex; 0 for none. The switch copies
    // the blocks of all sends of the step with the same multicaster, sender and selected blocks, and
    // the sender sends one message. The send needs `SWM_STRICT` and, in collectives where a send
    // could move its blocks, `SWM_COPY`. Its route must pass the switch. If the routes of these
    // sends part at switches after it, these also copy. A send has at most one of `reducer` and
    // `multicaster`, and the schedule may claim no symmetry.
    uint64_t multicaster;
} SwmBlocks;

// A redistribution. A node sorts all the data that it holds, also that for itself, into buckets,
// element by element. Element x (counted from 0) of the data for destination d has the number `e =
// (starts[d] + x) % cycle`. It is put into bucket `(first + firsts[d] + e) % buckets`. The buckets
// are then sent one by one (`SwmHost.send_bucket`).
typedef struct SwmRedistribution {
    // Size of this struct in bytes.
    uint32_t size;
    // Reserved; must be zero.
    uint32_t flags;
    // The node of the schedule's grid that redistributes its data.
    uint64_t node;
    // Number of buckets.
    uint64_t buckets;
    // The number of elements after which the numbers `e` start again at 0; usually `buckets`.
    uint64_t cycle;
    // The bucket, below `buckets`, of an element with number 0 whose destination has no offset in
    // `firsts`.
    uint64_t first;
    // For each destination, the number of its first element, below `cycle`. Null means zeros.
    const uint32_t *starts;
    // For each destination, an offset below `buckets` that is added to `first`. Null means zeros.
    const uint32_t *firsts;
    // Number of entries of `starts` and of `firsts`, if not null. It must be the number of nodes.
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
    // Number of the bucket, counted from 0, below `SwmRedistribution.buckets` of the sender's
    // last redistribution.
    uint64_t bucket;
    // The route; null for the topology's own route.
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

// A send of a number of bytes for each listed destination (`SwmHost.send_bytes`), in a schedule
// of byte counts. It does not send bytes that are in buckets.
typedef struct SwmBytes {
    // Size of this struct in bytes.
    uint32_t size;
    // 0, or `SWM_LOCAL` where `from` and `to` are the same node.
    uint32_t flags;
    // Sender, a node of the schedule's grid.
    uint64_t from;
    // Receiver, a node of the schedule's grid.
    uint64_t to;
    // One entry for each destination for which the message has bytes.
    const struct SwmByteCount *counts;
    // Number of entries of `counts`.
    uint64_t count;
    // The route; null for the topology's own route.
    const struct SwmRoute *route;
} SwmBytes;

// The action of a symmetry group on the coordinates of one axis of the schedule's grid
// (`SwmHost.symmetric`). A struct of zeros leaves the coordinates unchanged.
typedef struct SwmSymmetry {
    // `SWM_FIXED`, `SWM_SHIFT` or `SWM_XOR`.
    uint32_t kind;
    // Reserved; must be zero.
    uint32_t reserved;
    // For `SWM_SHIFT`, the smallest shift, of which all shifts are multiples. For `SWM_XOR`,
    // the value of the lowest bit that may change.
    uint64_t unit;
} SwmSymmetry;

// A directed link of the network, among the links that leave one vertex (`SwmHost.links`).
typedef struct SwmLink {
    // The vertex to which the link leads.
    uint64_t to;
    // The bandwidth of the link, divided by the machine's bandwidth of a link.
    double bandwidth;
    // The latency of the link, divided by the machine's time per link (`SwmHost.hop_us`).
    double latency;
} SwmLink;

// The functions of the host that a plugin may call. Each takes `ctx` as its first argument. Those
// that return `int32_t` return `SWM_OK` or `SWM_STOPPED`.
//
// The problem does not contain block sizes and machine parameters. A plugin requests them with
// these functions, so that the host knows on which of them the schedule depends. A schedule that
// was planned without requesting the block size is used for every block size.
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
    // Writes a line to the log with the level `SWM_LOG_WARN`, `SWM_LOG_INFO` or
    // `SWM_LOG_NOTE`.
    void (*log)(void *ctx, uint32_t level, struct SwmStr line);
    // Returns the size of each block in bytes, or of the largest if blocks differ in size.
    uint64_t (*block_bytes)(void *ctx);
    // Returns the number of bytes of the block from node `from` to node `to` of the machine, which
    // may be the same.
    uint64_t (*pair_bytes)(void *ctx, uint64_t from, uint64_t to);
    // Returns the port limit of the machine: the number of messages that a node may send, and may
    // receive, at the same time. `UINT64_MAX` means all links of the node. The promise of an
    // algorithm is `SwmAlgorithm.ports`.
    uint64_t (*ports)(void *ctx);
    // Returns the number of circuits that a directed link carries at the same time.
    uint64_t (*virtual_channels)(void *ctx);
    // Returns the size of one element in bytes, of which block sizes are multiples. A
    // redistribution moves whole elements (`SwmHost.redistribute`).
    uint64_t (*element_bytes)(void *ctx);
    // In a permutation, returns the node of the machine that receives the block of node `from`. In
    // other collectives, returns `from`.
    uint64_t (*destination)(void *ctx, uint64_t from);
    // Returns the start-up time of a message in microseconds (alpha), 0 if the machine has none.
    // Use this function, `hop_us` and `byte_us` only to choose among variants that the user can
    // also select with a parameter of the algorithm.
    double (*startup_us)(void *ctx);
    // Returns the time per link of a route in microseconds, 0 if the machine has none.
    double (*hop_us)(void *ctx);
    // Returns the time per byte of a message in microseconds (beta), 0 if the machine has none.
    double (*byte_us)(void *ctx);
    // Sets the grid of the schedule and the number of segments of each block. Call it at most
    // once, before the first step.
    int32_t (*layout)(void *ctx, const struct SwmLayout *layout);
    // Places node `node` of the schedule's grid on node `physical` of the machine. If `home` is 1,
    // the blocks of the machine node start and end at this grid node. If `home` is 0, the grid
    // node is virtual: it only forwards blocks of other nodes. If the grid and the machine have
    // different numbers of nodes, call this function once for every node of the grid, after
    // `layout` and before the first step. Otherwise do not call it.
    int32_t (*place)(void *ctx, uint64_t node, uint64_t physical, uint32_t home);
    // Begins a phase: a named sequence of steps.
    int32_t (*phase)(void *ctx, struct SwmStr name);
    // Begins a step. All sends of a step happen at the same time; data that arrives in a step can
    // be sent on only in a later step.
    int32_t (*step)(void *ctx);
    // Adds a send of blocks to the current step.
    int32_t (*send_blocks)(void *ctx, const struct SwmBlocks *send);
    // Makes every node rearrange all the data that it holds. Call it between two steps.
    int32_t (*rearrange)(void *ctx);
    // In a schedule of byte counts, makes a node sort all the data that it holds into buckets,
    // including the data that arrived in the last step. Call it between two steps.
    int32_t (*redistribute)(void *ctx, const struct SwmRedistribution *redistribution);
    // In a schedule of byte counts, adds a send of a bucket to the current step.
    int32_t (*send_bucket)(void *ctx, const struct SwmBucket *send);
    // In a schedule of byte counts, adds a send of a number of bytes for each listed destination.
    int32_t (*send_bytes)(void *ctx, const struct SwmBytes *send);
    // Declares a group of symmetries under which the schedule is invariant, and returns which
    // nodes the plugin must plan. Call it at most once, after `layout` and `place` and before the
    // first step.
    //
    // The group is the product of one action for each axis of the grid. If `axis_count` is 1, the
    // action applies to the node numbers. The schedule is invariant if each symmetry maps each
    // send (its sender, its receiver and the members of its sets) to a send of the same step. The
    // orbit of a node is the set of nodes to which the symmetries map it.
    //
    // For each axis, the host writes to `planned` the number of coordinates to plan, from 0 on:
    // `SwmSymmetry.unit` (the radix on an axis of kind `SWM_FIXED`) if it is enough to plan
    // one node of each orbit, otherwise the radix. After this call, only nodes with these
    // coordinates may send. In each step, the plugin lists them in ascending order, each with all
    // of its sends. Without this call, a plugin plans all nodes.
    int32_t (*symmetric)(void *ctx,
                         const struct SwmSymmetry *axes,
                         uint64_t axis_count,
                         uint64_t *planned);
    // Since 1.1. Does the same as `SwmHost.symmetric`, for a plugin that can plan any node of
    // an orbit. Such a plugin should call this function if it is not null.
    //
    // For each axis, the host writes to `first` the first coordinate to plan, and to `planned` the
    // number of coordinates to plan from there on. `first` is a multiple of the axis's `unit`: 0
    // if the host requests the nodes that `symmetric` would name, another if it checks the
    // declared symmetry by planning other nodes of the orbits. After this call, only nodes with
    // these coordinates may send. Both lists have room for one value for each axis.
    int32_t (*symmetric_from)(void *ctx,
                              const struct SwmSymmetry *axes,
                              uint64_t axis_count,
                              uint64_t *first,
                              uint64_t *planned);
    // Since 1.1. Returns the number of vertices of the network. The nodes of the problem have the
    // lowest numbers. All other vertices count as switches, which have no data of their own. If
    // several ranks share a node of the machine, the nodes of the problem are the ranks, which
    // have no links. The nodes of the machine then count as switches, with the next numbers.
    uint64_t (*vertices)(void *ctx);
    // Since 1.1. Reads the directed links that leave a vertex. The host writes at most `room`
    // links to `links`, in ascending order of the vertices to which they lead, with parallel links
    // listed separately, and the number of all of them to `count`.
    int32_t (*links)(void *ctx,
                     uint64_t vertex,
                     struct SwmLink *links,
                     uint64_t room,
                     uint64_t *count);
    // Since 1.1. Returns 1 if all blocks have the same size, and 0 otherwise. This does not count
    // as a request for block sizes, because a schedule for blocks of one size is valid for every
    // size.
    uint32_t (*uniform)(void *ctx);
    // Since 1.1. Reads the demand of node `from` of the machine: the nodes that must receive data
    // which starts at `from`, each with its number of bytes. Receivers of 0 bytes are left out.
    // The node itself is listed if it has a block for itself. In a reduction, the receivers are
    // the nodes that need results, and each number is the size of one term of a sum. The host
    // writes at most `room` pairs to `demand`, in ascending order of the receivers, and the number
    // of all pairs to `count`.
    int32_t (*demand)(void *ctx,
                      uint64_t from,
                      struct SwmByteCount *demand,
                      uint64_t room,
                      uint64_t *count);
    // Since 1.1. Reads the classes of the tokens of a node, in a dispatch or a combine. The host
    // writes the total bytes of at most `room` classes to `bytes`, in the order of their numbers,
    // and the number of all classes of the node to `count`. The number of segments of a block is
    // the largest number of classes of a node, at least 1.
    int32_t (*token_bytes)(void *ctx, uint64_t node, uint64_t *bytes, uint64_t room, uint64_t *count);
    // Since 1.1. Reads the receivers of a class of the tokens of a node, which can include the
    // node. The host writes at most `room` nodes to `receivers`, in ascending order, and the
    // number of all to `count`.
    int32_t (*token_receivers)(void *ctx,
                               uint64_t node,
                               uint64_t token_class,
                               uint64_t *receivers,
                               uint64_t room,
                               uint64_t *count);
    // Since 1.1. Returns 1 if a message crosses all links of its route at once and shares each of
    // them with other messages, and 0 if it occupies them alone or is stored by each node on its
    // route. If 1, a message is at least as fast as messages between neighbours that forward its
    // data.
    uint32_t (*shares_routes)(void *ctx);
    // Since 1.2. Returns 1 if a vertex is a switch that can add and copy the data of sends
    // (`SwmBlocks.reducer`, `SwmBlocks.multicaster`), and 0 otherwise.
    uint32_t (*can_reduce)(void *ctx, uint64_t vertex);
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
    // Supported topologies and sizes, as a text for users.
    struct SwmStr accepts;
    // The sum of `1 << c` for each supported collective `c`, such as `1 << SWM_ALLTOALL`.
    uint64_t collectives;
    // The parameters of the algorithm, in the order in which specs name them. The list has
    // pointers so that `SwmParamInfo` can grow.
    const struct SwmParamInfo *const *params;
    // Number of entries of `params`.
    uint64_t param_count;
    // Data of the plugin. The host never reads it.
    const void *user;
    // Tells whether the algorithm can run on a problem. The host calls this function before
    // `plan`. Null if the algorithm can always run.
    int32_t (*supports)(const struct SwmAlgorithm *algorithm,
                        const struct SwmProblem *problem,
                        const struct SwmHost *host);
    // Passes the schedule to the host, step by step. If `plan` is null and `name` is empty, the
    // plugin failed while it described the algorithm. The host then refuses the plugin and shows
    // `title` as the reason.
    int32_t (*plan)(const struct SwmAlgorithm *algorithm,
                    const struct SwmProblem *problem,
                    const struct SwmHost *host);
    // The port promise of the algorithm: the largest number of messages that a node sends, or
    // receives, in one step. The value is `UINT64_MAX` for an algorithm that may use all links of a
    // node in the same step, and 0 for no promise. `swapmeet check` compares the schedules with
    // it. The port limit of the machine is `SwmHost.ports`.
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
    // Licence of the plugin, as an SPDX expression.
    struct SwmStr licence;
    // The algorithms. The list has pointers so that `SwmAlgorithm` can grow.
    const struct SwmAlgorithm *const *algorithms;
    // Number of entries of `algorithms`.
    uint64_t algorithm_count;
} SwmPlugin;

// The type of `swapmeet_plugin`, the only symbol that a plugin exports. The table must stay valid
// for the life of the process. The host never writes to it.
typedef struct SwmPlugin *(*SwmEntry)(void);

// The type of `supports` and `plan` of an algorithm. Both return `SWM_OK`, `SWM_UNSUPPORTED`,
// `SWM_ERROR`, `SWM_STOPPED` or `SWM_INVALID`.
typedef int32_t (*SwmRun)(const struct SwmAlgorithm *algorithm,
                          const struct SwmProblem *problem,
                          const struct SwmHost *host);

#endif  /* SWAPMEET_H */

#ifndef SWM_NUMBER
#define SWM_NUMBER

// Returns the value of a parameter whose kind is SWM_PARAM_NUMBER, or `otherwise` if the user gave
// none. The host has checked that the value is a whole number; one above UINT64_MAX gives
// UINT64_MAX. Other values need a check of the algorithm, for instance of 0 before a division.
static inline uint64_t swm_number(const SwmProblem *problem, const char *key, uint64_t otherwise)
{
    uint64_t i, value = 0;
    size_t k;

    for (i = 0; i < problem->param_count; i++) {
        const SwmParam *param = &problem->params[i];

        for (k = 0; k < param->key.len && key[k] != 0 && (uint8_t)key[k] == param->key.ptr[k]; k++) {
        }
        if (k < param->key.len || key[k] != 0)
            continue;
        for (k = 0; k < param->value.len; k++) {
            const uint64_t digit = (uint64_t)(param->value.ptr[k] - (uint8_t)'0');

            if (digit > 9)
                return otherwise;
            if (value > (UINT64_MAX - digit) / 10)
                return UINT64_MAX;
            value = 10 * value + digit;
        }
        return param->value.len > 0 ? value : otherwise;
    }
    return otherwise;
}

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

#endif  /* SWM_NUMBER */
