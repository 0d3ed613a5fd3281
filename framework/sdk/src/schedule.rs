//! The schedule as it streams to the host: phases, steps, sends.

use crate::send::{Blocks, Bucket, Bytes, Redistribution};
use crate::stop::Stop;
use crate::symmetry::{Planned, Symmetry};
use swapmeet_abi::{
    SWM_BYTE_COUNTS, SWM_IN_PARTS, SWM_LOG_INFO, SWM_OK, SwmHost, SwmLayout, SwmStr,
};

/// The schedule, handed to the host piece by piece. Nothing of it is kept in the plugin.
///
/// Every call returns [`Stop::Stopped`] once the host has refused one: the schedule broke a rule,
/// or the case was stopped. Pass it on with `?`.
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

    /// Speaks of nodes in a grid of the schedule's own, row-major, and splits every block in
    /// `segments` (1 for whole). Before the first step. With as many nodes as the machine, node i
    /// of the grid runs on node i; otherwise [`Schedule::place`] each one.
    pub fn layout(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, 0)
    }

    /// As [`Schedule::layout`], with every block or vector cut into one part for each node of the
    /// machine, which sends name by [`Blocks::destinations`]; each part is then split in
    /// `segments`. For collectives whose blocks are not told apart by destination: what one part of
    /// a vector is to an allreduce, a node's result is to a reduce-scatter.
    pub fn layout_in_parts(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, SWM_IN_PARTS)
    }

    /// Moves byte counts instead of blocks: a node holds so many bytes for each destination,
    /// whoever they come from. It may send bytes that it counts ([`Schedule::send_bytes`]), or
    /// redistribute all it holds ([`Schedule::redistribute`]) and send bucket by bucket
    /// ([`Schedule::send_bucket`]). Speaks of nodes in a grid of the schedule's own with as many
    /// nodes as the machine, which run on the nodes of the same number; `&[]` is the topology's
    /// own. Before the first step, in an all-to-all.
    ///
    /// What is proved is that the bytes for each destination all end there: rows say `verified:
    /// amounts`.
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
        // SAFETY: the function and its context come from the host's table; `layout` outlives the
        // call.
        answer(self.host.layout.map(|f| unsafe { f(self.host.ctx, &raw const layout) }))
    }

    /// Node `node` of the grid runs on node `physical` of the machine. If it is that one's `home`,
    /// the machine node's own blocks are there; otherwise it is a virtual node, which only passes
    /// on those of others. Every node of the machine has exactly one home.
    pub fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(
            self.host.place.map(|f| unsafe { f(self.host.ctx, node, physical, u32::from(home)) }),
        )
    }

    /// Says that the schedule is invariant under a group, which does this to each axis of its grid,
    /// and asks for whom to plan: for one node of each orbit, or for everyone where the problem
    /// breaks the symmetry. Once, after [`Schedule::layout`] and [`Schedule::place`], before the
    /// first step. What nodes send that are not planned for follows from the group: only those
    /// planned for may send, and a plan goes through them once a step, so that whoever wants all
    /// messages gets them in the order of their senders.
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
            // SAFETY: the function and its context come from the host's table; both lists have an
            // entry an axis.
            let code = unsafe {
                symmetric(
                    self.host.ctx,
                    axes.as_ptr().cast(),
                    axes.len() as u64,
                    planned.as_mut_ptr(),
                )
            };
            answer(Some(code))?;
        }
        Ok(Planned::new(radices, &planned))
    }

    /// Begins a phase, by the paper's name for it.
    pub fn phase(&mut self, name: &str) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table; `name` outlives the
        // call.
        answer(self.host.phase.map(|f| unsafe { f(self.host.ctx, SwmStr::new(name)) }))
    }

    /// Begins a step: its sends happen at once; what arrives can be sent on only in a later step.
    /// Steps in which nothing is sent don't count.
    pub fn step(&mut self) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(self.host.step.map(|f| unsafe { f(self.host.ctx) }))
    }

    /// Adds a send of blocks to the step. A rule that selects nothing sends nothing.
    pub fn send(&mut self, blocks: &Blocks<'_>) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table; `blocks` borrows all it
        // points to.
        answer(self.host.send_blocks.map(|f| unsafe { f(self.host.ctx, &raw const blocks.raw) }))
    }

    /// In a schedule of byte counts, adds a send of a bucket to the step. An empty one sends
    /// nothing.
    pub fn send_bucket(&mut self, bucket: &Bucket<'_>) -> Result<(), Stop> {
        // SAFETY: as above.
        answer(self.host.send_bucket.map(|f| unsafe { f(self.host.ctx, &raw const bucket.raw) }))
    }

    /// In a schedule of byte counts, adds a send of so many bytes for each of some destinations to
    /// the step.
    pub fn send_bytes(&mut self, bytes: &Bytes<'_>) -> Result<(), Stop> {
        // SAFETY: as above.
        answer(self.host.send_bytes.map(|f| unsafe { f(self.host.ctx, &raw const bytes.raw) }))
    }

    /// In a schedule of byte counts, between steps: a node sorts all it holds into buckets, what
    /// has just arrived included. Each of its buckets is then to be sent once
    /// ([`Schedule::send_bucket`]), to itself too.
    pub fn redistribute(&mut self, how: &Redistribution<'_>) -> Result<(), Stop> {
        let raw = how.raw()?;
        // SAFETY: the function and its context come from the host's table; `how` outlives the call.
        answer(self.host.redistribute.map(|f| unsafe { f(self.host.ctx, &raw const raw) }))
    }

    /// A line for the log, shown on standard error while cases run: for what a reader of the row
    /// should know. Standard output is the program's.
    pub fn log(&self, line: &str) {
        log(self.host, line);
    }

    /// Every node rearranges all it holds, once, before the next step. Begin a new step for what is
    /// sent after it.
    pub fn rearrange(&mut self) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        answer(self.host.rearrange.map(|f| unsafe { f(self.host.ctx) }))
    }
}

/// Says a line to whoever runs the case.
pub(crate) fn log(host: &SwmHost, line: &str) {
    if let Some(log) = host.log {
        // SAFETY: the function and its context come from the host's table; `line` outlives the
        // call.
        unsafe { log(host.ctx, SWM_LOG_INFO, SwmStr::new(line)) };
    }
}

fn answer(code: Option<i32>) -> Result<(), Stop> {
    match code {
        Some(SWM_OK) => Ok(()),
        Some(_) => Err(Stop::Stopped),
        None => {
            Err(Stop::failed("the host is older than this plugin and lacks a function it needs"))
        }
    }
}
