//! Upper limits of cases, files and calls. If a limit is exceeded, the case, file or call is
//! refused with a message that names the limit.
//!
//! All limits are in one table, so that readers, the simulation and `docs/abi.md` use the same
//! numbers.

macro_rules! limits {
    ($($(#[$doc:meta])+ $name:ident = $most:expr, $what:literal;)+) => {
        $($(#[$doc])+ pub const $name: u64 = $most;)+

        /// All limits, each with the description that `docs/abi.md` lists.
        pub const ALL: &[(&str, u64)] = &[$(($what, $name)),+];
    };
}

limits! {
    /// The maximum number of algorithms in the table of a plugin.
    ALGORITHMS = 1024, "algorithms of a plugin";
    /// The maximum number of parameters of an algorithm.
    PARAMS = 64, "parameters of an algorithm";
    /// The maximum number of words that a parameter with a fixed set of values may have.
    PARAM_VALUES = 64, "values of a parameter";
    /// The maximum length of a text of a plugin. A longer text is a sign that the plugin passed an
    /// invalid struct.
    TEXT_BYTES = 1 << 20, "bytes of a text";
    /// The maximum number of nodes. Node numbers then fit 32 bits.
    NODES = 1 << 31, "nodes of a topology or a grid";
    /// The maximum number of nodes that are planned. Every node takes at least some hundred bytes,
    /// so that more nodes would exhaust the memory of the computer.
    CASE_NODES = 1 << 26, "nodes that a case is planned for";
    /// The maximum number of messages of a step that are examined one by one, in a schedule of
    /// which only one node of each symmetry orbit is planned. This number of messages takes 1 GiB.
    STEP_MESSAGES = 1 << 25, "messages of a step that are looked at one by one, of a schedule planned for one node of each orbit";
    /// The maximum number of messages in one step of a full plan. So many messages take 2 GiB of
    /// memory, or more in asynchronous models.
    FULL_STEP_MESSAGES = 1 << 26, "messages of a step, of a schedule planned for all nodes";
    /// The maximum number of sends of a full plan that is compared with a claimed symmetry.
    /// Comparing a million sends takes 0.03 to 0.1 seconds.
    COMPARED_SENDS = 1 << 20, "sends of all nodes that are compared with a claimed symmetry";
    /// The maximum number of dimensions in the spec of a topology.
    DIMENSIONS = 32, "dimensions in a topology's spec";
    /// The maximum number of axes of a grid. A larger number is a sign that the plugin passed an
    /// invalid struct.
    AXES = 64, "axes of a grid or a set, dimensions of a route";
    /// The maximum total number of coordinates of all axes of a grid. A set takes one bit for each
    /// coordinate.
    COORDINATES = 1 << 22, "coordinates of all axes of a grid together";
    /// The maximum number of words that hold the bits of one axis: twice as many as the largest
    /// grid needs.
    AXIS_WORDS = 1 << 17, "words of bits for an axis";
    /// The maximum number of segments of a block. Every set has one bit for each segment.
    SEGMENTS = 4096, "segments of a block";
    /// The maximum number of classes of tokens of a node. Every set has one bit for each class.
    TOKEN_CLASSES = 1 << 16, "classes of tokens of a node";
    /// The maximum number of extra bytes of a send. The total load of a step then fits into 64 bits
    /// even with 2^23 such sends. A step with a larger total load is refused.
    EXTRA_BYTES = 1 << 40, "extra bytes of a send";
    /// The maximum number of nodes on the path of a message.
    PATH = 1 << 24, "nodes of a path";
    /// The maximum number of links that a plugin can read. So many links take 512 MiB.
    LINKS = 1 << 24, "links, or vertices, of a topology whose links a plugin reads";
    /// The maximum number of byte counts of a send, which is greater than the number of nodes of
    /// any case.
    BYTE_COUNTS = 1 << 27, "byte counts of a send, destinations of a redistribution";
    /// The maximum number of buckets of a redistribution. If there are more nodes than this, the
    /// maximum is the number of nodes.
    BUCKETS = 1 << 16, "buckets of a redistribution, or as many as there are nodes";
    /// The maximum length of a cycle of elements, because elements are numbered with 32 bits.
    CYCLE = 1 << 31, "elements in a cycle of a redistribution";
    /// The maximum number of bytes of the largest table of a case. It is the table of the sets of
    /// blocks that nodes hold (two boxes for each node), of the byte counts for every destination
    /// at every node, or of the buckets.
    HELD_BYTES = 8 << 30, "bytes of sets, of byte counts, or of buckets, in a case";
}
