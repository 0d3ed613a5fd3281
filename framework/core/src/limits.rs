//! How much of anything there may be. Beyond a limit the case, the file or the call is refused with
//! a message that names it.
//!
//! One table, so that what a reader checks, what the exchange can hold and what `docs/abi.md` says
//! are the same numbers.

macro_rules! limits {
    ($($(#[$doc:meta])+ $name:ident = $most:expr, $what:literal;)+) => {
        $($(#[$doc])+ pub const $name: u64 = $most;)+

        /// Every limit with what it is a limit of, in words, as `docs/abi.md` lists them.
        pub const ALL: &[(&str, u64)] = &[$(($what, $name)),+];
    };
}

limits! {
    /// A plugin's table claims no more algorithms.
    ALGORITHMS = 1024, "algorithms of a plugin";
    /// Nor an algorithm's more parameters.
    PARAMS = 64, "parameters of an algorithm";
    /// Nor a choice among more words than a reader would go through.
    PARAM_VALUES = 64, "values of a parameter";
    /// Longer texts are a sign of a wrong struct.
    TEXT_BYTES = 1 << 20, "bytes of a text";
    /// Node numbers fit 32 bits with room to spare.
    NODES = 1 << 31, "nodes of a topology or a grid";
    /// Every node takes some hundred bytes however little it does: beyond this a case would take
    /// the memory of the machine that runs it.
    CASE_NODES = 1 << 26, "nodes that a case is planned for";
    /// With what is kept of each while the step is looked at, 1 GiB.
    STEP_MESSAGES = 1 << 25, "messages of a step that are looked at one by one, of a schedule planned for one node of each orbit";
    /// A topology written as numbers joined by `x` has no more of them.
    DIMENSIONS = 32, "dimensions in a topology's spec";
    /// No topology has more axes; a larger count is a sign of a wrong struct.
    AXES = 64, "axes of a grid or a set, dimensions of a route";
    /// A set is as many bits as its axes have coordinates.
    COORDINATES = 1 << 22, "coordinates of all axes of a grid together";
    /// Twice what the largest grid has.
    AXIS_WORDS = 1 << 17, "words of bits for an axis";
    /// Parts share a field of the sets with nothing else, but each is a bit of every set.
    SEGMENTS = 4096, "segments of a block";
    /// The longest path a message may name.
    PATH = 1 << 24, "nodes of a path";
    /// More than any case has nodes.
    BYTE_COUNTS = 1 << 27, "byte counts of a send, destinations of a redistribution";
    /// A redistribution of more buckets is seldom meant, unless there are more nodes.
    BUCKETS = 1 << 16, "buckets of a redistribution, or as many as there are nodes";
    /// Elements are numbered with 32 bits.
    CYCLE = 1 << 31, "elements in a cycle of a redistribution";
    /// Sets of two boxes a node, which the least fragmented schedules need; byte counts for every
    /// destination at every node; buckets.
    HELD_BYTES = 8 << 30, "bytes of sets, of byte counts, or of buckets, in a case";
}
