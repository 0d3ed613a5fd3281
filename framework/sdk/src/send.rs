//! What a step sends: blocks, buckets, bytes, each by a route of its own where it asks for one.

#[cfg(doc)]
use crate::schedule::Schedule;
use crate::set::{Axis, Set};
use crate::stop::Stop;
use std::marker::PhantomData;
use swapmeet_abi::{
    SWM_COMBINE, SWM_COPY, SWM_LOCAL, SWM_STRICT, SwmBlocks, SwmBucket, SwmBytes,
    SwmRedistribution, SwmRoute, SwmStr,
};

/// So many bytes for one destination, as [`Bytes`] counts them;
/// [`SWM_ALL_BYTES`](swapmeet_abi::SWM_ALL_BYTES) of them are all there are.
pub use swapmeet_abi::SwmByteCount as ByteCount;

/// How a message should travel, where the topology's own route won't do. Dimensions are those of
/// the topology, whatever the schedule's own grid. A route that isn't there is a fault of the
/// schedule.
///
/// ```
/// use swapmeet_sdk::{Blocks, Route};
/// // three hops the long way round a ring of four, and by name
/// let back = Route::signs(&[-1]);
/// let by_name = Route::path(&[3, 2, 1]);
/// let sends = [Blocks::new(0, 1).route(&back), Blocks::new(0, 1).route(&by_name)];
/// // in two dimensions: minus along the second, and that first
/// let columns_first = Route::signs_in_order(&[0, -1], &[1, 0]);
/// # let _ = (sends, columns_first);
/// ```
#[derive(Clone, Copy)]
pub struct Route<'a> {
    raw: SwmRoute,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Route<'a> {
    const EMPTY: SwmRoute = SwmRoute {
        size: size_of::<SwmRoute>() as u32,
        dim_count: 0,
        signs: std::ptr::null(),
        order: std::ptr::null(),
        path: std::ptr::null(),
        path_len: 0,
    };

    /// For each dimension 1 (plus), -1 (minus) or 0 (the shorter way, plus at a tie).
    pub const fn signs(signs: &'a [i8]) -> Self {
        Self {
            raw: SwmRoute { signs: signs.as_ptr(), dim_count: signs.len() as u32, ..Self::EMPTY },
            borrowed: PhantomData,
        }
    }

    /// As [`Route::signs`], travelling the dimensions in `order`. Both must have one entry a
    /// dimension.
    pub const fn signs_in_order(signs: &'a [i8], order: &'a [u32]) -> Self {
        assert!(signs.len() == order.len());
        Self {
            raw: SwmRoute {
                signs: signs.as_ptr(),
                order: order.as_ptr(),
                dim_count: signs.len() as u32,
                ..Self::EMPTY
            },
            borrowed: PhantomData,
        }
    }

    /// The nodes passed through, the receiver last, each a neighbour of the one before.
    pub const fn path(nodes: &'a [u64]) -> Self {
        Self {
            raw: SwmRoute { path: nodes.as_ptr(), path_len: nodes.len() as u64, ..Self::EMPTY },
            borrowed: PhantomData,
        }
    }
}

/// A send of blocks: of what `from` holds, the blocks with origin in one set and destination in
/// another go to `to`. Until narrowed down, that is everything: also the block that a node has for
/// itself in an all-to-all, which is where it should be already.
///
/// ```
/// use swapmeet_sdk::{Blocks, Set};
/// // all that node 3 holds for node 7
/// let forward = Blocks::new(3, 4).destinations(Set::one(7));
/// // node 3's own block for node 7, which must be there
/// let own = Blocks::new(3, 7).origins(Set::one(3)).destinations(Set::one(7)).strict();
/// // a copy of everything, as in a broadcast
/// let tell = Blocks::new(3, 4).copy();
/// # let _ = (forward, own, tell);
/// ```
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    pub(crate) raw: SwmBlocks,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Blocks<'a> {
    /// All that `from` holds goes to `to`; both are nodes of the schedule's grid.
    pub const fn new(from: u64, to: u64) -> Self {
        Self {
            raw: SwmBlocks {
                size: size_of::<SwmBlocks>() as u32,
                flags: 0,
                from,
                to,
                origins: Set::ALL.raw(),
                destinations: Set::ALL.raw(),
                segments: Axis::ALL.raw(),
                route: std::ptr::null(),
                label: SwmStr::EMPTY,
            },
            borrowed: PhantomData,
        }
    }

    /// Only blocks from these nodes. Not in a reduction, which sends sums as a whole.
    #[must_use]
    pub const fn origins(mut self, set: Set<'a>) -> Self {
        self.raw.origins = set.raw();
        self
    }

    /// Only blocks for these nodes; or, of a schedule that cuts blocks into parts
    /// ([`Schedule::layout_in_parts`]), only these parts of them. Else not in a permutation, whose
    /// blocks are known by their origins.
    #[must_use]
    pub const fn destinations(mut self, set: Set<'a>) -> Self {
        self.raw.destinations = set.raw();
        self
    }

    /// Only these segments of each block ([`Schedule::layout`]).
    #[must_use]
    pub const fn segments(mut self, segments: Axis<'a>) -> Self {
        self.raw.segments = segments.raw();
        self
    }

    /// Every block selected must be held: the host fails the schedule otherwise.
    #[must_use]
    pub const fn strict(mut self) -> Self {
        self.raw.flags |= SWM_STRICT;
        self
    }

    /// The sender keeps what it sends (broadcast, allgather).
    #[must_use]
    pub const fn copy(mut self) -> Self {
        self.raw.flags |= SWM_COPY;
        self
    }

    /// In a reduction, the receiver adds what it is sent to what it has; without this, what it is
    /// sent takes the place of what it has.
    #[must_use]
    pub const fn combine(mut self) -> Self {
        self.raw.flags |= SWM_COMBINE;
        self
    }

    /// Sender and receiver may be the same: a local copy, which costs nothing.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.raw.flags |= SWM_LOCAL;
        self
    }

    /// Travels by `route` instead of the topology's own.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }

    /// What this send is called in faults: the place in a file that it was read from, a step of the
    /// paper.
    #[must_use]
    pub const fn label(mut self, label: &'a str) -> Self {
        self.raw.label = SwmStr::new(label);
        self
    }
}

/// A send of one bucket of what `from` has redistributed ([`Schedule::redistribute`]).
#[derive(Clone, Copy)]
pub struct Bucket<'a> {
    pub(crate) raw: SwmBucket,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Bucket<'a> {
    /// Bucket number `bucket` of `from` goes to `to`, which may be the same node: that is a local
    /// copy, and no message.
    pub const fn new(from: u64, to: u64, bucket: u64) -> Self {
        let size = size_of::<SwmBucket>() as u32;
        let raw = SwmBucket { size, flags: SWM_LOCAL, from, to, bucket, route: std::ptr::null() };
        Self { raw, borrowed: PhantomData }
    }

    /// Travels by `route` instead of the topology's own.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }
}

/// A send of so many bytes for each of some destinations, in a schedule of byte counts.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    pub(crate) raw: SwmBytes,
    borrowed: PhantomData<&'a [ByteCount]>,
}

impl<'a> Bytes<'a> {
    /// These bytes, of what `from` holds outside of buckets, go to `to`; both are nodes of the
    /// schedule's grid.
    pub const fn new(from: u64, to: u64, counts: &'a [ByteCount]) -> Self {
        let size = size_of::<SwmBytes>() as u32;
        let (count, counts) = (counts.len() as u64, counts.as_ptr());
        let raw = SwmBytes { size, flags: 0, from, to, counts, count, route: std::ptr::null() };
        Self { raw, borrowed: PhantomData }
    }

    /// Sender and receiver may be the same: a local copy, which costs nothing.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.raw.flags |= SWM_LOCAL;
        self
    }

    /// Travels by `route` instead of the topology's own.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }
}

/// A node sorts all it holds into buckets, element by element. Element x (from 0) of what it holds
/// for destination d has number `e = (starts[d] + x) % cycle` and goes to bucket `(first +
/// firsts[d] + e) % buckets`. What it holds for itself is redistributed with the rest.
#[derive(Debug, Clone, Copy)]
pub struct Redistribution<'a> {
    /// The node of the schedule's grid that redistributes what it holds.
    pub node: u64,
    /// How many buckets there are.
    pub buckets: u64,
    /// After how many elements the round begins again; as many as there are buckets in the plain
    /// case.
    pub cycle: u64,
    /// The bucket that the first element goes to, below `buckets`.
    pub first: u64,
    /// For each destination the number its elements begin with, below `cycle`; empty for 0
    /// everywhere.
    pub starts: &'a [u32],
    /// For each destination what is added to `first`, below `buckets`; empty for 0 everywhere.
    pub firsts: &'a [u32],
}

impl Redistribution<'_> {
    /// As the host reads it.
    pub(crate) fn raw(&self) -> Result<SwmRedistribution, Stop> {
        let tables = [self.starts.len(), self.firsts.len()];
        if tables[0] != tables[1] && tables.iter().all(|len| *len > 0) {
            return Err(Stop::failed(
                "a redistribution has as many `starts` as `firsts`, one for each node, or none",
            ));
        }
        let table =
            |values: &[u32]| if values.is_empty() { std::ptr::null() } else { values.as_ptr() };
        Ok(SwmRedistribution {
            size: size_of::<SwmRedistribution>() as u32,
            flags: 0,
            node: self.node,
            buckets: self.buckets,
            cycle: self.cycle,
            first: self.first,
            starts: table(self.starts),
            firsts: table(self.firsts),
            node_count: tables[0].max(tables[1]) as u64,
        })
    }
}
