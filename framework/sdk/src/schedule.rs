//! The schedule as it streams to the host: phases, steps, sends.

use crate::set::{Axis, Set};
use crate::symmetry::{Planned, Symmetry};
use std::fmt;
use std::marker::PhantomData;
use swapmeet_abi::{
    SWM_BYTE_COUNTS, SWM_COMBINE, SWM_COPY, SWM_IN_PARTS, SWM_LOCAL, SWM_LOG_INFO, SWM_OK, SWM_STRICT, SwmBlocks,
    SwmBucket, SwmBytes, SwmHost, SwmLayout, SwmRedistribution, SwmRoute, SwmStr,
};

/// So many bytes for one destination, as [`Bytes`] counts them; [`SWM_ALL_BYTES`](swapmeet_abi::SWM_ALL_BYTES) of them are all there are.
pub use swapmeet_abi::SwmByteCount as ByteCount;

/// Why there is no schedule, or no more of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The algorithm can't run on this problem; the reason is for the reader of a table.
    Unsupported(String),
    /// The plugin failed at what it should be able to do; the row's `reason` says this.
    Failed(String),
    /// The schedule comes from elsewhere, a file, and breaks a rule that the host can't see; the row's `reason` says this.
    Invalid(String),
    /// The host refused a call: the schedule broke a rule, or the case was stopped. Pass it on with `?`.
    Stopped,
}

impl Stop {
    /// The algorithm can't run on this problem, because of `reason`.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// The plugin failed, because of `reason`.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(reason.into())
    }

    /// The schedule that was read breaks a rule: `reason`.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid(reason.into())
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(reason) | Self::Failed(reason) | Self::Invalid(reason) => f.write_str(reason),
            Self::Stopped => f.write_str("stopped by the host"),
        }
    }
}

impl std::error::Error for Stop {}

/// How a message should travel, where the topology's own route won't do. Dimensions are those of the topology, whatever the
/// schedule's own grid. A route that isn't there is a fault of the schedule.
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

    /// As [`Route::signs`], travelling the dimensions in `order`. Both must have one entry a dimension.
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

/// A send of blocks: of what `from` holds, the blocks with origin in one set and destination in another go to `to`. Until narrowed
/// down, that is everything: also the block that a node has for itself in an all-to-all, which is where it should be already.
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
    raw: SwmBlocks,
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

    /// Only blocks for these nodes; or, of a schedule that cuts blocks into parts ([`Schedule::layout_in_parts`]), only these parts of them. Else not in a
    /// permutation, whose blocks are known by their origins.
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

    /// In a reduction, the receiver adds what it is sent to what it has; without this, what it is sent takes the place of what it has.
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

    /// What this send is called in faults: the place in a file that it was read from, a step of the paper.
    #[must_use]
    pub const fn label(mut self, label: &'a str) -> Self {
        self.raw.label = SwmStr::new(label);
        self
    }
}

/// A send of one bucket of what `from` has redistributed ([`Schedule::redistribute`]).
#[derive(Clone, Copy)]
pub struct Bucket<'a> {
    raw: SwmBucket,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Bucket<'a> {
    /// Bucket number `bucket` of `from` goes to `to`, which may be the same node: that is a local copy, and no message.
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
    raw: SwmBytes,
    borrowed: PhantomData<&'a [ByteCount]>,
}

impl<'a> Bytes<'a> {
    /// These bytes, of what `from` holds outside of buckets, go to `to`; both are nodes of the schedule's grid.
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

/// A node sorts all it holds into buckets, element by element. Element x (from 0) of what it holds for destination d has number
/// `e = (starts[d] + x) % cycle` and goes to bucket `(first + firsts[d] + e) % buckets`. What it holds for itself is redistributed with the rest.
#[derive(Debug, Clone, Copy)]
pub struct Redistribution<'a> {
    /// The node of the schedule's grid that redistributes what it holds.
    pub node: u64,
    /// How many buckets there are.
    pub buckets: u64,
    /// After how many elements the round begins again; as many as there are buckets in the plain case.
    pub cycle: u64,
    /// The bucket that the first element goes to, below `buckets`.
    pub first: u64,
    /// For each destination the number its elements begin with, below `cycle`; empty for 0 everywhere.
    pub starts: &'a [u32],
    /// For each destination what is added to `first`, below `buckets`; empty for 0 everywhere.
    pub firsts: &'a [u32],
}

/// The schedule, handed to the host piece by piece. Nothing of it is kept in the plugin.
///
/// Every call returns [`Stop::Stopped`] once the host has refused one: the schedule broke a rule, or the case was stopped. Pass it on with `?`.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Grid, Problem, Rehearsal, Schedule, Set, Stop};
/// /// All-to-all in a grid of the schedule's own: along rows, then along columns.
/// struct TwoByTwo;
///
/// impl Algorithm for TwoByTwo {
///     fn about(&self) -> About {
///         About { name: "two-by-two", ..About::DEFAULT }
///     }
///
///     fn plan(&self, _: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         let grid = Grid::new(&[2, 2])?;
///         schedule.layout(grid.radices(), 1)?;
///         for (name, axis) in [("rows", 1), ("columns", 0)] {
///             schedule.phase(name)?;
///             schedule.step()?;
///             for me in 0..grid.nodes() {
///                 let to = grid.shift(me, axis, 1);
///                 let mut other_side = [Axis::ALL; 2];
///                 other_side[axis] = Axis::one(grid.coordinate(to, axis));
///                 schedule.send(&Blocks::new(me, to).destinations(Set::product(&other_side)))?;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let steps = Rehearsal::on("ring", &[4]).plan(&TwoByTwo).unwrap();
/// assert_eq!(steps[0].sends[0].destinations, [1, 3]);
/// assert_eq!((steps[1].phase.as_str(), &steps[1].sends[3].destinations[..]), ("columns", &[0, 1][..]));
/// ```
pub struct Schedule<'a> {
    host: &'a SwmHost,
    /// Of the grid in which the schedule speaks of nodes.
    radices: Vec<u64>,
}

impl<'a> Schedule<'a> {
    /// A schedule in the topology's own grid, of these radices.
    pub(crate) fn new(host: &'a SwmHost, radices: &[u64]) -> Self {
        Self { host, radices: radices.to_vec() }
    }

    /// Speaks of nodes in a grid of the schedule's own, row-major, and splits every block in `segments` (1 for whole). Before the first
    /// step. With as many nodes as the machine, node i of the grid runs on node i; otherwise [`Schedule::place`] each one.
    pub fn layout(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, 0)
    }

    /// As [`Schedule::layout`], with every block or vector cut into one part for each node of the machine, which sends name by
    /// [`Blocks::destinations`]; each part is then split in `segments`. For collectives whose blocks are not told apart by destination: what one part of a
    /// vector is to an allreduce, a node's result is to a reduce-scatter.
    pub fn layout_in_parts(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, SWM_IN_PARTS)
    }

    /// Moves byte counts instead of blocks: a node holds so many bytes for each destination, whoever they come from. It may send bytes that it
    /// counts ([`Schedule::send_bytes`]), or redistribute all it holds ([`Schedule::redistribute`]) and send bucket by bucket
    /// ([`Schedule::send_bucket`]). Speaks of nodes in a grid of the schedule's own with as many nodes as the machine, which run on
    /// the nodes of the same number; `&[]` is the topology's own. Before the first step, in an all-to-all.
    ///
    /// What is proved is that the bytes for each destination all end there: rows say `verified: amounts`.
    pub fn move_byte_counts(&mut self, radices: &[u64]) -> Result<(), Stop> {
        self.set_layout(radices, 1, SWM_BYTE_COUNTS)
    }

    fn set_layout(&mut self, radices: &[u64], segments: u32, flags: u32) -> Result<(), Stop> {
        let layout = SwmLayout {
            size: size_of::<SwmLayout>() as u32,
            axis_count: radices.len() as u32,
            radices: radices.as_ptr(),
            segments,
            flags,
        };
        if !radices.is_empty() {
            self.radices = radices.to_vec();
        }
        // SAFETY: the function and its context come from the host's table; `layout` outlives the call.
        answer(self.host.layout.map(|f| unsafe { f(self.host.ctx, &raw const layout) }))
    }

    /// Node `node` of the grid runs on node `physical` of the machine. If it is that one's `home`, the machine node's own blocks are there;
    /// otherwise it is a virtual node, which only passes on those of others. Every node of the machine has exactly one home.
    pub fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(self.host.place.map(|f| unsafe { f(self.host.ctx, node, physical, u32::from(home)) }))
    }

    /// Says that the schedule is invariant under a group, which does this to each axis of its grid, and asks for whom to plan: for one node of each
    /// orbit, or for everyone where the problem breaks the symmetry. Once, after [`Schedule::layout`] and
    /// [`Schedule::place`], before the first step. What nodes send that are not planned for follows from the group: only those planned for may send, and a plan goes through
    /// them once a step, so that whoever wants all messages gets them in the order of their senders.
    ///
    /// One symmetry alone, whatever the grid, says what the group does to the nodes' numbers.
    ///
    /// ```
    /// # use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Rehearsal, Schedule, Set, Stop, Symmetry};
    /// /// Direct exchange, a distance a step: the same seen from every rank.
    /// struct Shift;
    ///
    /// impl Algorithm for Shift {
    ///     fn about(&self) -> About {
    ///         About { name: "shift", ..About::DEFAULT }
    ///     }
    ///
    ///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    ///         let n = problem.topology().nodes();
    ///         let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
    ///         for distance in 1..n {
    ///             schedule.step()?;
    ///             for me in &planned {
    ///                 let to = (me + distance) % n;
    ///                 schedule.send(&Blocks::new(me, to).origins(Set::one(me)).destinations(Set::one(to)).strict())?;
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    /// // A rehearsal has everyone planned for.
    /// assert_eq!(Rehearsal::on("ring", &[5]).verify(&Shift).unwrap().messages, 20);
    /// ```
    pub fn symmetric(&mut self, axes: &[Symmetry]) -> Result<Planned, Stop> {
        let nodes = [self.radices.iter().fold(1, |nodes: u64, radix| nodes.saturating_mul(*radix))];
        let radices = if axes.len() == 1 { &nodes[..] } else { &self.radices };
        if axes.len() != radices.len() {
            return Err(Stop::failed(format!(
                "a symmetry says what happens to each of the {} axes of the schedule's grid, or to the nodes' numbers; this one has {}",
                radices.len(),
                axes.len()
            )));
        }
        let mut planned = radices.to_vec();
        if let Some(symmetric) = self.host.symmetric {
            // SAFETY: the function and its context come from the host's table; both lists have an entry an axis.
            let code =
                unsafe { symmetric(self.host.ctx, axes.as_ptr().cast(), axes.len() as u64, planned.as_mut_ptr()) };
            answer(Some(code))?;
        }
        Ok(Planned::new(radices, &planned))
    }

    /// Begins a phase, by the paper's name for it.
    pub fn phase(&mut self, name: &str) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table; `name` outlives the call.
        answer(self.host.phase.map(|f| unsafe { f(self.host.ctx, SwmStr::new(name)) }))
    }

    /// Begins a step: its sends happen at once; what arrives can be sent on only in a later step. Steps in which nothing is sent
    /// don't count.
    pub fn step(&mut self) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(self.host.step.map(|f| unsafe { f(self.host.ctx) }))
    }

    /// Adds a send of blocks to the step. A rule that selects nothing sends nothing.
    pub fn send(&mut self, blocks: &Blocks<'_>) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table; `blocks` borrows all it points to.
        answer(self.host.send_blocks.map(|f| unsafe { f(self.host.ctx, &raw const blocks.raw) }))
    }

    /// In a schedule of byte counts, adds a send of a bucket to the step. An empty one sends nothing.
    pub fn send_bucket(&mut self, bucket: &Bucket<'_>) -> Result<(), Stop> {
        // SAFETY: as above.
        answer(self.host.send_bucket.map(|f| unsafe { f(self.host.ctx, &raw const bucket.raw) }))
    }

    /// In a schedule of byte counts, adds a send of so many bytes for each of some destinations to the step.
    pub fn send_bytes(&mut self, bytes: &Bytes<'_>) -> Result<(), Stop> {
        // SAFETY: as above.
        answer(self.host.send_bytes.map(|f| unsafe { f(self.host.ctx, &raw const bytes.raw) }))
    }

    /// In a schedule of byte counts, between steps: a node sorts all it holds into buckets, what has just arrived included. Each of its buckets is
    /// then to be sent once ([`Schedule::send_bucket`]), to itself too.
    pub fn redistribute(&mut self, how: &Redistribution<'_>) -> Result<(), Stop> {
        let tables = [how.starts.len(), how.firsts.len()];
        if tables[0] != tables[1] && tables.iter().all(|len| *len > 0) {
            return Err(Stop::failed("a redistribution has as many `starts` as `firsts`, one for each node, or none"));
        }
        let table = |values: &[u32]| if values.is_empty() { std::ptr::null() } else { values.as_ptr() };
        let raw = SwmRedistribution {
            size: size_of::<SwmRedistribution>() as u32,
            flags: 0,
            node: how.node,
            buckets: how.buckets,
            cycle: how.cycle,
            first: how.first,
            starts: table(how.starts),
            firsts: table(how.firsts),
            node_count: tables[0].max(tables[1]) as u64,
        };
        // SAFETY: the function and its context come from the host's table; `how` outlives the call.
        answer(self.host.redistribute.map(|f| unsafe { f(self.host.ctx, &raw const raw) }))
    }

    /// A line for the log, shown on standard error while cases run: for what a reader of the row should know. Standard output is the program's.
    pub fn log(&self, line: &str) {
        log(self.host, line);
    }

    /// Every node rearranges all it holds, once, before the next step. Begin a new step for what is sent after it.
    pub fn rearrange(&mut self) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(self.host.rearrange.map(|f| unsafe { f(self.host.ctx) }))
    }
}

/// Says a line to whoever runs the case.
pub(crate) fn log(host: &SwmHost, line: &str) {
    if let Some(log) = host.log {
        // SAFETY: the function and its context come from the host's table; `line` outlives the call.
        unsafe { log(host.ctx, SWM_LOG_INFO, SwmStr::new(line)) };
    }
}

fn answer(code: Option<i32>) -> Result<(), Stop> {
    match code {
        Some(SWM_OK) => Ok(()),
        Some(_) => Err(Stop::Stopped),
        None => Err(Stop::failed("the host is older than this plugin and lacks a function it needs")),
    }
}
