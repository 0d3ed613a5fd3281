//! Upper limits for cases, files and calls. If a limit is exceeded, the error names it.
//!
//! All limits are in one table, because readers of files, the simulation and `docs/abi.md` share
//! them.

macro_rules! limits {
    ($($(#[$reason:meta])* $name:ident = $most:expr, $what:literal;)+) => {
        $(
            #[doc = concat!("The maximum number of ", $what, ".\n")]
            $(#[$reason])*
            pub const $name: u64 = $most;
        )+

        /// All limits, each with the description that `docs/abi.md` lists.
        pub const ALL: &[(&str, u64)] = &[$(($what, $name)),+];
    };
}

limits! {
    ALGORITHMS = 1024, "algorithms of a plugin";
    PARAMS = 64, "parameters of an algorithm";
    PARAM_VALUES = 64, "values of a parameter";
    /// A longer text is a sign that the plugin passed an invalid struct.
    TEXT_BYTES = 1 << 20, "bytes of a text";
    /// With this limit, node numbers fit into 32 bits.
    NODES = 1 << 31, "nodes of a topology or a grid";
    /// Every node takes at least some hundred bytes of memory.
    CASE_NODES = 1 << 26, "nodes that a case is planned for";
    /// So many messages take 1 GiB.
    STEP_MESSAGES = 1 << 25, "messages of a step that are looked at one by one, of a schedule planned for one node of each orbit";
    /// So many messages take 2 GiB, or more in asynchronous models.
    FULL_STEP_MESSAGES = 1 << 26, "messages of a step, of a schedule planned for all nodes";
    /// So many messages take 2 GiB, in addition to the memory of the model.
    MERGED_MESSAGES = 1 << 26, "messages of schedules that run at the same time";
    /// Comparing a million sends takes 0.03 to 0.1 seconds.
    COMPARED_SENDS = 1 << 20, "sends of all nodes that are compared with a claimed symmetry";
    DIMENSIONS = 32, "dimensions in a topology's spec";
    /// A larger number is a sign that the plugin passed an invalid struct.
    AXES = 64, "axes of a grid or a set, dimensions of a route";
    /// A set takes one bit for each coordinate.
    COORDINATES = 1 << 22, "coordinates of all axes of a grid together";
    /// This is twice as many as the largest grid needs.
    AXIS_WORDS = 1 << 17, "words of bits for an axis";
    /// Every set has one bit for each segment.
    SEGMENTS = 4096, "segments of a block";
    /// Every set has one bit for each class.
    TOKEN_CLASSES = 1 << 16, "classes of tokens of a node";
    /// With this limit, the total load of a step with 2^23 such sends fits into 64 bits.
    EXTRA_BYTES = 1 << 40, "extra bytes of a send";
    PATH = 1 << 24, "nodes of a path";
    /// So many links take 512 MiB.
    LINKS = 1 << 24, "links, or vertices, of a topology whose links a plugin reads";
    /// This is more than the number of nodes of any case.
    BYTE_COUNTS = 1 << 27, "byte counts of a send, destinations of a redistribution";
    BUCKETS = 1 << 16, "buckets of a redistribution, or as many as there are nodes";
    /// Elements are numbered with 32 bits.
    CYCLE = 1 << 31, "elements in a cycle of a redistribution";
    /// These are the largest tables that a case needs.
    HELD_BYTES = 8 << 30, "bytes of sets, of byte counts, or of buckets, in a case";
}
