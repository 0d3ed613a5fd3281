//! The schedule as it streams to the host: phases, steps, sends.

use crate::set::{Axis, Set};
use std::fmt;
use std::marker::PhantomData;
use swapmeet_abi::{
    SWM_BUCKET, SWM_BYTE_COUNTS, SWM_COPY, SWM_LISTED, SWM_LOCAL, SWM_LOG_INFO, SWM_OK, SWM_STRICT, SwmHost, SwmLayout,
    SwmRedistribution, SwmRoute, SwmSend, SwmStr,
};

/// So many bytes for one destination, as [`Send::byte_counts`] names them.
pub use swapmeet_abi::SwmByteCount as Amount;

/// Why there is no schedule, or no more of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The algorithm can't run on this problem; the reason is for the reader of a table.
    Unsupported(String),
    /// The plugin failed.
    Failed(String),
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
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(reason) | Self::Failed(reason) => f.write_str(reason),
            Self::Stopped => f.write_str("stopped by the host"),
        }
    }
}

impl std::error::Error for Stop {}

/// How a message should travel, where the topology's own route won't do. Dimensions are those of the topology, whatever the
/// schedule's own grid. A route that isn't there is a fault of the schedule.
///
/// ```
/// use swapmeet_sdk::{Route, Send};
/// // three hops the long way round a ring of four, and by name
/// let back = Route::signs(&[-1]);
/// let by_name = Route::path(&[3, 2, 1]);
/// let sends = [Send::new(0, 1).route(&back), Send::new(0, 1).route(&by_name)];
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

/// One send: of what `from` holds, the blocks with origin in one set and destination in another go to `to`. Until narrowed
/// down, that is everything: also the block that a node has for itself in an all-to-all, which is where it should be already.
///
/// ```
/// use swapmeet_sdk::{Send, Set};
/// // all that node 3 holds for node 7
/// let forward = Send::new(3, 4).destinations(Set::one(7));
/// // node 3's own block for node 7, which must be there
/// let own = Send::new(3, 7).origins(Set::one(3)).destinations(Set::one(7)).strict();
/// // a copy of everything, as in a broadcast
/// let tell = Send::new(3, 4).copy();
/// # let _ = (forward, own, tell);
/// ```
#[derive(Clone, Copy)]
pub struct Send<'a> {
    raw: SwmSend,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Send<'a> {
    /// All that `from` holds goes to `to`; both are nodes of the schedule's grid.
    pub const fn new(from: u64, to: u64) -> Self {
        Self {
            raw: SwmSend {
                size: size_of::<SwmSend>() as u32,
                flags: 0,
                from,
                to,
                origins: Set::ALL.raw(),
                destinations: Set::ALL.raw(),
                segments: Axis::ALL.raw(),
                route: std::ptr::null(),
                bucket: 0,
                byte_counts: std::ptr::null(),
                byte_counts_len: 0,
            },
            borrowed: PhantomData,
        }
    }

    /// Only blocks from these nodes.
    #[must_use]
    pub const fn origins(mut self, set: Set<'a>) -> Self {
        self.raw.origins = set.raw();
        self
    }

    /// Only blocks for these nodes. Not in a permutation, whose blocks are known by their origins.
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

    /// Sender and receiver may be the same: a local copy, which costs nothing.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.raw.flags |= SWM_LOCAL;
        self
    }

    /// Only bucket number `bucket` of what the sender has redistributed ([`Schedule::redistribute`]). In a schedule of byte counts.
    #[must_use]
    pub const fn bucket(mut self, bucket: u64) -> Self {
        self.raw.flags |= SWM_BUCKET;
        self.raw.bucket = bucket;
        self
    }

    /// Only these bytes for these destinations. In a schedule of byte counts.
    #[must_use]
    pub const fn byte_counts(mut self, byte_counts: &'a [Amount]) -> Self {
        self.raw.flags |= SWM_LISTED;
        self.raw.byte_counts = byte_counts.as_ptr();
        self.raw.byte_counts_len = byte_counts.len() as u64;
        self
    }

    /// Travels this way.
    #[must_use]
    pub const fn route(mut self, route: &'a Route<'a>) -> Self {
        self.raw.route = &raw const route.raw;
        self
    }
}

/// A node redistributes all it holds, element by element, like cards. Element x (from 0) of what it holds for destination d is card
/// `c = (starts[d] + x) % cycle` and goes to bucket `(first + firsts[d] + c) % buckets`. What it holds for itself is redistributed with the rest.
#[derive(Debug, Clone, Copy)]
pub struct Redistribution<'a> {
    /// Who redistributes.
    pub node: u64,
    /// How many buckets there are.
    pub buckets: u64,
    /// After how many cards the redistribution begins again; as many as there are buckets in the plain case.
    pub cycle: u64,
    /// The bucket that the first card goes to, below `buckets`.
    pub first: u64,
    /// For each destination the card its elements begin with, below `cycle`; empty for 0 everywhere.
    pub starts: &'a [u32],
    /// For each destination what is added to `first`, below `buckets`; empty for 0 everywhere.
    pub firsts: &'a [u32],
}

/// The schedule, handed to the host piece by piece. Nothing of it is kept in the plugin.
///
/// Every call returns [`Stop::Stopped`] once the host has refused one: the schedule broke a rule, or the case was stopped. Pass it on with `?`.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, Axis, Problem, Rehearsal, Schedule, Send, Set, Stop};
/// /// All-to-all in a grid of the schedule's own: along rows, then along columns.
/// struct TwoByTwo;
///
/// impl Algorithm for TwoByTwo {
///     fn about(&self) -> About {
///         About { name: "two-by-two", ..About::DEFAULT }
///     }
///
///     fn plan(&self, _: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         schedule.layout(&[2, 2], 1)?;
///         for (name, axis) in [("rows", 1), ("columns", 0)] {
///             schedule.phase(name)?;
///             schedule.step()?;
///             for v in 0..4 {
///                 let to = v ^ (2 >> axis);
///                 let mut other_side = [Axis::ALL; 2];
///                 other_side[axis] = Axis::one(to >> (1 - axis) & 1);
///                 schedule.send(&Send::new(v.into(), to.into()).destinations(Set::product(&other_side)))?;
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
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(host: &'a SwmHost) -> Self {
        Self { host }
    }

    /// Speaks of nodes in a grid of the schedule's own, row-major, and splits every block in `segments` (1 for whole). Before the first
    /// step. With as many nodes as the machine, node i of the grid runs on node i; otherwise [`Schedule::place`] each one.
    pub fn layout(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, 0)
    }

    /// Moves byte counts instead of blocks: a node holds so many bytes for each destination, whoever they come from. It may send all it has
    /// for some destinations ([`Send::destinations`]), byte counts it names ([`Send::byte_counts`]), or redistribute what it holds ([`Schedule::redistribute`]) and
    /// send bucket by bucket ([`Send::bucket`]). Speaks of nodes in a grid of the schedule's own with as many nodes as the machine, which run on
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
        // SAFETY: the function and its context come from the host's table; `layout` outlives the call.
        answer(self.host.layout.map(|f| unsafe { f(self.host.ctx, &raw const layout) }))
    }

    /// Node `virtual_node` of the grid runs on node `physical` of the machine; it has blocks of its own if it is the `home` of that node, otherwise
    /// it only passes on those of others. Every node of the machine has exactly one home.
    pub fn place(&mut self, virtual_node: u64, physical: u64, home: bool) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(self.host.place.map(|f| unsafe { f(self.host.ctx, virtual_node, physical, u32::from(home)) }))
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

    /// Adds a send to the step. A rule that selects nothing sends nothing.
    pub fn send(&mut self, send: &Send<'_>) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table; `send` borrows all it points to.
        answer(self.host.send.map(|f| unsafe { f(self.host.ctx, &raw const send.raw) }))
    }

    /// In a schedule of byte counts, between steps: a node redistributes all it holds, what has just arrived included. Each of its buckets is then to
    /// be sent once, to itself too ([`Send::local`]).
    pub fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Stop> {
        let tables = [redistribution.starts.len(), redistribution.firsts.len()];
        if tables[0] != tables[1] && tables.iter().all(|len| *len > 0) {
            return Err(Stop::failed("a redistribution has as many `starts` as `firsts`, one for each node, or none"));
        }
        let table = |values: &[u32]| if values.is_empty() { std::ptr::null() } else { values.as_ptr() };
        let raw = SwmRedistribution {
            size: size_of::<SwmRedistribution>() as u32,
            flags: 0,
            node: redistribution.node,
            buckets: redistribution.buckets,
            cycle: redistribution.cycle,
            first: redistribution.first,
            starts: table(redistribution.starts),
            firsts: table(redistribution.firsts),
            node_count: tables[0].max(tables[1]) as u64,
        };
        // SAFETY: the function and its context come from the host's table; `redistribution` outlives the call.
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
