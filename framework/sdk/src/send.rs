//! The sends of a step (of blocks, buckets or byte counts), their routes, and redistributions.

use crate::set::{Axis, Set};
use crate::stop::Stop;
use std::marker::PhantomData;
use swapmeet_abi::{
    SWM_COMBINE, SWM_COPY, SWM_LOCAL, SWM_STRICT, SwmBlocks, SwmBucket, SwmBytes,
    SwmRedistribution, SwmRoute, SwmStr,
};

/// A number of bytes for one destination of [`Bytes`].
/// [`SWM_ALL_BYTES`](swapmeet_abi::SWM_ALL_BYTES) stands for all bytes that the sender holds for
/// the destination.
pub use swapmeet_abi::SwmByteCount as ByteCount;

/// A route that a message takes instead of the topology's own route. Dimensions are those of the
/// topology, even if the schedule defines another grid. If the route does not exist, the schedule
/// fails.
///
/// ```
/// use swapmeet_sdk::{Blocks, Route};
/// // Two ways to name the same route, which has three hops in the longer direction of a ring of
/// // four: by the direction, and by the nodes after the sender.
/// let back = Route::signs(&[-1]);
/// let by_name = Route::path(&[3, 2, 1]);
/// let sends = [Blocks::new(0, 1).route(&back), Blocks::new(0, 1).route(&by_name)];
/// // A route in two dimensions: first along the second dimension in direction minus, then along
/// // the first dimension in the shorter direction.
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

    /// Makes a route with this direction in each dimension: 1 (plus), -1 (minus) or 0 (the shorter
    /// direction, or plus if both directions are equally long).
    pub const fn signs(signs: &'a [i8]) -> Self {
        Self {
            raw: SwmRoute { signs: signs.as_ptr(), dim_count: signs.len() as u32, ..Self::EMPTY },
            borrowed: PhantomData,
        }
    }

    /// Makes a route as [`Route::signs`] does. It crosses the dimensions in the order of the list
    /// `order`. Both lists have one entry for each dimension.
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

    /// Makes a route from a list of the nodes and switches after the sender, which ends with the
    /// receiver. Each must be a neighbour of the one before it. Switches are numbered as in
    /// [`Problem::links`](crate::Problem::links).
    pub const fn path(nodes: &'a [u64]) -> Self {
        Self {
            raw: SwmRoute { path: nodes.as_ptr(), path_len: nodes.len() as u64, ..Self::EMPTY },
            borrowed: PhantomData,
        }
    }

    /// Makes a route as [`Route::path`] does. The directions, as in [`Route::signs`], select one of
    /// two links between the same nodes.
    pub const fn path_with_signs(nodes: &'a [u64], signs: &'a [i8]) -> Self {
        let mut route = Self::path(nodes);
        (route.raw.signs, route.raw.dim_count) = (signs.as_ptr(), signs.len() as u32);
        route
    }
}

/// A send of the blocks that `from` holds and that have an origin in one set and a destination in
/// another. Without restrictions, the send selects all blocks that `from` holds. In an all-to-all,
/// these include the block of the node for itself.
///
/// ```
/// use swapmeet_sdk::{Blocks, Set};
/// // All blocks for node 7 that node 3 holds.
/// let forward = Blocks::new(3, 4).destinations(Set::one(7));
/// // Node 3's own block for node 7, which must be there.
/// let own = Blocks::new(3, 7).origins(Set::one(3)).destinations(Set::one(7)).strict();
/// // A copy of everything, as in a broadcast.
/// let copy = Blocks::new(3, 4).copy();
/// # let _ = (forward, own, copy);
/// ```
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    pub(crate) raw: SwmBlocks,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Blocks<'a> {
    /// Makes a send of all blocks that `from` holds. Other methods can restrict it. Both nodes are
    /// those of the schedule's grid.
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
                extra_bytes: 0,
                reducer: 0,
                multicaster: 0,
            },
            borrowed: PhantomData,
        }
    }

    /// Makes the send of a direct exchange: the block of `from` for `to`, which `from` must still
    /// hold.
    pub const fn direct(from: u64, to: u64) -> Self {
        Self::new(from, to).origins(Set::one(from)).destinations(Set::one(to)).strict()
    }

    /// Selects only blocks with these origins. This is not allowed in reductions, because a sum
    /// cannot be sent without some of its terms.
    #[must_use]
    pub const fn origins(mut self, set: Set<'a>) -> Self {
        self.raw.origins = set.raw();
        self
    }

    /// Selects only blocks with these destinations or, in a schedule that cuts blocks into parts
    /// ([`Schedule::layout_in_parts`](crate::Schedule::layout_in_parts)), the parts of these nodes.
    /// This is not allowed in a permutation without parts, because its blocks are distinguished by
    /// their origins.
    #[must_use]
    pub const fn destinations(mut self, set: Set<'a>) -> Self {
        self.raw.destinations = set.raw();
        self
    }

    /// Selects only these segments of each block ([`Schedule::layout`](crate::Schedule::layout)).
    #[must_use]
    pub const fn segments(mut self, segments: Axis<'a>) -> Self {
        self.raw.segments = segments.raw();
        self
    }

    /// Makes the schedule fail unless the sender holds every selected block.
    #[must_use]
    pub const fn strict(mut self) -> Self {
        self.raw.flags |= SWM_STRICT;
        self
    }

    /// Makes the sender keep the blocks that it sends, as in a broadcast or an allgather.
    #[must_use]
    pub const fn copy(mut self) -> Self {
        self.raw.flags |= SWM_COPY;
        self
    }

    /// In a reduction, makes the receiver add the received values to its own values, instead of
    /// replacing them.
    #[must_use]
    pub const fn combine(mut self) -> Self {
        self.raw.flags |= SWM_COMBINE;
        self
    }

    /// Allows sender and receiver to be the same node: a local copy, which takes no time.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.raw.flags |= SWM_LOCAL;
        self
    }

    /// Sends the message by `route` instead of the topology's own route.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }

    /// Adds bytes that are not part of any block, such as padding or sizes. The message is then
    /// sent even if no block is selected. Extra bytes are refused if
    /// [`Problem::is_uniform`](crate::Problem::is_uniform), because the host then counts blocks
    /// instead of bytes.
    #[must_use]
    pub const fn extra_bytes(mut self, bytes: u64) -> Self {
        self.raw.extra_bytes = bytes;
        self
    }

    /// In a reduction, lets a switch ([`Problem::can_reduce`](crate::Problem::can_reduce)) add the
    /// values. The send must be strict and combined. The switch adds the values of all sends of the
    /// step with the same reducer, receiver and selected blocks. The receiver gets one message with
    /// the sum, and adds the sum to its own value. A node that contributes to its own sum sends its
    /// value to itself, over the switch.
    ///
    /// ```
    /// # use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Rehearsal, Schedule, Stop};
    /// /// Switch 3 adds the vectors of all nodes, and copies the sum to all nodes.
    /// struct InSwitch;
    ///
    /// impl Algorithm for InSwitch {
    ///     fn about(&self) -> About {
    ///         About { name: "in-switch", collectives: &[Collective::AllReduce], ..About::DEFAULT }
    ///     }
    ///
    ///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    ///         let nodes = 0..problem.topology().nodes();
    ///         schedule.step()?;
    ///         for from in nodes.clone() {
    ///             schedule.send(&Blocks::new(from, 0).strict().combine().reducer(3))?;
    ///         }
    ///         schedule.step()?;
    ///         for to in nodes {
    ///             schedule.send(&Blocks::new(0, to).strict().copy().multicaster(3))?;
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let star: Vec<_> = (0..3).flat_map(|node| [(node, 3, 1.0), (3, node, 1.0)]).collect();
    /// let problem = Rehearsal::on("groups", &[1, 3]).links(&star).reducing(&[3]);
    /// let proved = problem.collective(Collective::AllReduce, 0).verify(&InSwitch).unwrap();
    /// // Node 0 receives one message in the first step, and sends one in the second.
    /// assert_eq!((proved.max_receives, proved.max_sends, proved.summed_bytes), (1, 1, 0));
    /// ```
    #[must_use]
    pub const fn reducer(mut self, switch: u64) -> Self {
        self.raw.reducer = switch;
        self
    }

    /// Lets a switch copy the blocks for several receivers. The send must be strict. In collectives
    /// in which a send could move its blocks, it must also be a copy. All sends of the step with
    /// the same multicaster, sender and selected blocks are one message to the switch
    /// ([`Blocks::reducer`]).
    #[must_use]
    pub const fn multicaster(mut self, switch: u64) -> Self {
        self.raw.multicaster = switch;
        self
    }

    /// Sets the name of this send in error messages, such as its position in an input file.
    #[must_use]
    pub const fn label(mut self, label: &'a str) -> Self {
        self.raw.label = SwmStr::new(label);
        self
    }
}

/// A send of a bucket of the sender's data
/// ([`Schedule::redistribute`](crate::Schedule::redistribute)).
#[derive(Clone, Copy)]
pub struct Bucket<'a> {
    pub(crate) raw: SwmBucket,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Bucket<'a> {
    /// Makes a send of a bucket from node `from` to node `to`. If they are the same node, it is a
    /// local copy.
    pub const fn new(from: u64, to: u64, bucket: u64) -> Self {
        let size = size_of::<SwmBucket>() as u32;
        let raw = SwmBucket { size, flags: SWM_LOCAL, from, to, bucket, route: std::ptr::null() };
        Self { raw, borrowed: PhantomData }
    }

    /// Sends the message by `route` instead of the topology's own route.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }
}

/// In a schedule of byte counts, a send with a number of bytes for each of its destinations.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    pub(crate) raw: SwmBytes,
    borrowed: PhantomData<&'a [ByteCount]>,
}

impl<'a> Bytes<'a> {
    /// Makes a send of these bytes between nodes of the schedule's grid. Bytes in buckets are not
    /// sent.
    pub const fn new(from: u64, to: u64, counts: &'a [ByteCount]) -> Self {
        let size = size_of::<SwmBytes>() as u32;
        let (count, counts) = (counts.len() as u64, counts.as_ptr());
        let raw = SwmBytes { size, flags: 0, from, to, counts, count, route: std::ptr::null() };
        Self { raw, borrowed: PhantomData }
    }

    /// Allows sender and receiver to be the same node: a local copy, which takes no time.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.raw.flags |= SWM_LOCAL;
        self
    }

    /// Sends the message by `route` instead of the topology's own route.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }
}

/// A redistribution, in which a node sorts all the data that it holds, including the data for
/// itself, into buckets. Element x (counted from 0) for destination d has the number `e =
/// (starts[d] + x) % cycle`. It is put into bucket `(first + firsts[d] + e) % buckets`.
#[derive(Debug, Clone, Copy)]
pub struct Redistribution<'a> {
    /// The node of the schedule's grid that redistributes its data.
    pub node: u64,
    /// Number of buckets.
    pub buckets: u64,
    /// Number of elements after which the numbers of the elements start again at 0; usually
    /// `buckets`.
    pub cycle: u64,
    /// The bucket of an element with the number 0, if its destination has no offset; less than
    /// `buckets`.
    pub first: u64,
    /// For each destination, the number of its first element, less than `cycle`. Empty means zeros.
    pub starts: &'a [u32],
    /// For each destination, an offset that is added to `first`, less than `buckets`. Empty means
    /// zeros.
    pub firsts: &'a [u32],
}

impl Redistribution<'_> {
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
