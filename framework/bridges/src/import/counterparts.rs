//! The counterparts of the algorithms of a measured library: algorithms of this project that send
//! the same messages.

/// An algorithm of a library, with the algorithm of this project that sends the same messages.
#[derive(Debug)]
pub struct Counterpart {
    /// The name of the collective in this project.
    pub collective: &'static str,
    /// The name of the algorithm in the library. A pattern with one `*` stands for several
    /// algorithms that have no counterpart.
    pub library: &'static str,
    /// The algorithm of this project; `None` if no algorithm sends the same messages.
    pub ours: Option<&'static str>,
    /// Returns whether the library sends these messages for a number of ranks and a number of bytes
    /// in the buffer.
    applies: fn(ranks: u64, buffer_bytes: u64) -> bool,
    /// The reason for this counterpart, or the reason why there is none.
    pub why: &'static str,
}

const ALWAYS: fn(u64, u64) -> bool = |_, _| true;

/// The smallest buffer size, in bytes, for which measured times have no counterpart. With buffers
/// of this size, measured ring algorithms take twice as long per byte as with smaller buffers. No
/// model of a network predicts this.
pub const TOO_LARGE: u64 = 512 << 20;

const fn same(
    collective: &'static str,
    library: &'static str,
    ours: &'static str,
    why: &'static str,
) -> Counterpart {
    Counterpart { collective, library, ours: Some(ours), applies: ALWAYS, why }
}

const fn none(collective: &'static str, library: &'static str, why: &'static str) -> Counterpart {
    Counterpart { collective, library, ours: None, applies: ALWAYS, why }
}

/// The algorithms that PICO measured on Fugaku. `default-*` are algorithms of Fujitsu's MPI, which
/// is based on Open MPI's component `coll/tuned`. `*-MPI-*` are PICO's own algorithms, which call
/// MPI.
pub static COUNTERPARTS: &[Counterpart] = &[
    same(
        "alltoall",
        "default-pairwise",
        "gen",
        "Open MPI shifts cyclically: in step k, rank r sends to r + k",
    ),
    same("alltoall", "default-modified-bruck", "bruck", ""),
    same("alltoall", "BRUCK-LOG-MPI-0-1", "bruck", "another implementation of the same messages"),
    Counterpart {
        applies: |ranks, _| ranks <= 512,
        ..same(
            "alltoall",
            "default-linear",
            "linear",
            "up to 512 ranks; its times on 64x64 equal those of pairwise",
        )
    },
    none("alltoall", "default-linear-sync", "the number of outstanding requests is not published"),
    none("alltoall", "BINE-LOG-MPI-0-1", "its messages over MPI are not recorded here"),
    same("allgather", "default-ring", "ring", ""),
    same("allgather", "default-neighbor", "neighbour-allgather", ""),
    same("allgather", "default-bruck", "bruck", ""),
    same("allgather", "default-recursive-doubling", "recursive-doubling-allgather", ""),
    none(
        "allgather",
        "default-linear",
        "a gather followed by a broadcast, not a linear all-gather",
    ),
    none("allgather", "default-gtbc", "a gather followed by a broadcast"),
    same(
        "allgather",
        "BINE-VEC_DOUBLING_CONT_PERMUTE-MPI-0-1",
        "bine-allgather:ports=1",
        "at the end, it copies all blocks into the order of ranks",
    ),
    none(
        "allgather",
        "BINE-VEC_DOUBLING_CONT_SEND-MPI-0-1",
        "an additional first step sends each block to another rank",
    ),
    same("allreduce", "default-recursive_doubling", "recursive-doubling-allreduce", ""),
    Counterpart {
        applies: |ranks, bytes| bytes >= 4 * ranks,
        ..same(
            "allreduce",
            "default-ring",
            "ring-allreduce",
            "if each rank has at least one element of 4 bytes",
        )
    },
    none("allreduce", "default-segmented_ring", "the size of its segments is not published"),
    none("allreduce", "default-basic_linear", "a linear reduction followed by a linear broadcast"),
    none(
        "allreduce",
        "default-nonoverlapping",
        "a reduction followed by a broadcast, both chosen by the library",
    ),
    none("allreduce", "default-rdbc", "a reduction followed by a broadcast, both of Fujitsu"),
    same("broadcast", "default-pipeline", "chain-broadcast:segments=1", "a chain without segments"),
    same(
        "broadcast",
        "default-binomial",
        "binomial-broadcast:order=near",
        "Open MPI sends to near children first",
    ),
    none(
        "broadcast",
        "default-basic-linear",
        "the root has several messages in flight; how many is not published",
    ),
    none("broadcast", "default-chain", "the number of chains is not published"),
    none("broadcast", "default-*binary-tree", "its segments are not published"),
    same("scatter", "default-binomial", "binomial-scatter", ""),
    none(
        "scatter",
        "default-basic-linear",
        "the root has several messages in flight; how many is not published",
    ),
    none("scatter", "default-use-bcast", "a broadcast of the whole buffer"),
    same("gather", "default-binomial", "binomial-gather", ""),
    none(
        "gather",
        "default-basic-linear",
        "the root has several messages in flight; how many is not published",
    ),
    none(
        "gather",
        "default-linear-sync",
        "two segments with a message of synchronisation; their sizes are not published",
    ),
    none("gather", "default-simple", "not published"),
    same("reduce-scatter", "default-ring", "ring-reduce-scatter", ""),
    same("reduce-scatter", "default-recursive-halving", "recursive-halving-reduce-scatter", ""),
    same(
        "reduce-scatter",
        "BINE-VEC_HALVING_CONT_PERMUTE-MPI-0-1",
        "bine-reduce-scatter:ports=1",
        "it first copies all blocks into the order in which they are sent",
    ),
    none(
        "reduce-scatter",
        "default-non-overlapping",
        "a reduction followed by a scatter, both chosen by the library",
    ),
    Counterpart {
        applies: |_, bytes| bytes <= 8 << 20,
        ..same(
            "reduce",
            "default-pipeline",
            "chain-reduce:segments=1",
            "a chain without segments, up to 8 MiB",
        )
    },
    none("reduce", "default-binomial", "its segments are not published"),
    none("reduce", "default-chain", "the number of chains is not published"),
    none(
        "reduce",
        "default-linear",
        "the root has several messages in flight; how many is not published",
    ),
    none("reduce", "default-*binary", "its segments are not published"),
    none("*", "default-default", "the library chooses the algorithm"),
    none("*", "BINE-*-MPI-*", "their messages over MPI are not recorded here"),
    none(
        "*",
        "*-UTOFU-*",
        "another software layer (uTofu), which also uses several interfaces at a time",
    ),
    none(
        "*",
        "default-trix*, trinaryx*, bintree*, 3dtorus*, blacc*, crp, doublespread",
        "algorithms of Fujitsu that are not published",
    ),
];

/// The algorithms that PICO measured on LUMI. `*_mpich` are algorithms of Cray MPICH. `*_over` are
/// PICO's own algorithms, which call MPI.
pub static LUMI_COUNTERPARTS: &[Counterpart] = &[
    same("allgather", "brucks_mpich", "bruck", ""),
    same("allgather", "k_bruck_over", "bruck", "its radix is 2"),
    same("allgather", "recursive_doubling_mpich", "recursive-doubling-allgather", ""),
    same("allgather", "ring_mpich", "ring", ""),
    same("allgather", "ring_over", "ring", "another implementation of the same messages"),
    none("allgather", "sparbit_over", "it sends each block as a message of its own"),
    none("allgather", "bine_block_by_block_over*", "it sends each block as a message of its own"),
    none("allgather", "bine_2_blocks_over", "it splits messages whose blocks are in two places"),
    none(
        "allgather",
        "bine_send_remap_over",
        "an additional first step sends each block to another rank",
    ),
    same("allreduce", "bine_bdw_remap_over", "bine-allreduce", ""),
    same("allreduce", "bine_lat_over", "bine-allreduce:variant=whole", ""),
    same("allreduce", "rabenseifner_over", "rabenseifner-allreduce", ""),
    same("allreduce", "recursive_doubling_over", "recursive-doubling-allreduce", ""),
    Counterpart {
        applies: |ranks, bytes| bytes >= 4 * ranks,
        ..same(
            "allreduce",
            "ring_over",
            "ring-allreduce",
            "if each rank has at least one element of 4 bytes",
        )
    },
    none(
        "allreduce",
        "recursive_doubling_mpich, rabenseifner_mpich",
        "Cray MPICH does not always use the requested algorithm: in most jobs the times are those of its default",
    ),
    none("allreduce", "bine_bdw_remap_segmented*", "it overlaps segments with their reduction"),
    none("allreduce", "bine_bdw_static_over", "its messages are not recorded here"),
    same("reduce", "binomial_mpich", "binomial-reduce", ""),
    same("reduce", "bine_lat_over", "bine-reduce", ""),
    none("reduce", "bine_bdw_over, rabenseifner_mpich", "a reduce-scatter followed by a gather"),
    same("reduce-scatter", "recursive_halving_mpich", "recursive-halving-reduce-scatter", ""),
    same(
        "reduce-scatter",
        "recursive_halving_over",
        "recursive-halving-reduce-scatter",
        "another implementation of the same messages",
    ),
    same("reduce-scatter", "ring_over", "ring-reduce-scatter", ""),
    none("reduce-scatter", "pairwise_mpich", "no algorithm of this project sends these messages"),
    none(
        "reduce-scatter",
        "recursive_doubling_mpich",
        "no algorithm of this project sends these messages",
    ),
    none(
        "reduce-scatter",
        "bine_block_by_block_any_even",
        "it sends each block as a message of its own",
    ),
    none("*", "default_mpich, non_blocking_mpich", "the library chooses the algorithm"),
];

/// Returns the algorithm of this project that sends the messages of a measurement; `None` if there
/// is none. `bytes` is the size of the larger buffer of a rank.
pub fn counterpart(
    collective: &str,
    library: &str,
    ranks: u64,
    buffer_bytes: u64,
) -> Option<&'static str> {
    let mut all = COUNTERPARTS.iter().chain(LUMI_COUNTERPARTS);
    let found = all.find(|row| row.collective == collective && row.library == library)?;
    let applies = buffer_bytes < TOO_LARGE && (found.applies)(ranks, buffer_bytes);
    found.ours.filter(|_| applies)
}
