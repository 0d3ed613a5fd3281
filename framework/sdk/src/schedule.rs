//! The schedule. A plugin passes it to the host as a sequence of calls: phases, steps and sends.

use crate::send::{Blocks, Bucket, Bytes, Redistribution};
use crate::stop::Stop;
use crate::symmetry::{Planned, Symmetry};
use swapmeet_abi::{
    SWM_BYTE_COUNTS, SWM_IN_PARTS, SWM_LOG_INFO, SWM_LOG_NOTE, SWM_OK, SwmHost, SwmLayout, SwmStr,
};

/// The schedule, which a plugin passes to the host call by call. The host refuses a call if the
/// schedule breaks a rule or if the case was stopped. From then on, every call returns
/// [`Stop::Stopped`], which the plugin should return with `?`.
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
    radices: Vec<u64>,
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(host: &'a SwmHost, radices: &[u64]) -> Self {
        Self { host, radices: radices.to_vec() }
    }

    /// Defines a grid in which the schedule numbers its nodes row-major, and splits every block
    /// into `segments` (1 for whole blocks). Call it before the first step. If the grid has as many
    /// nodes as the machine, node i of the grid runs on node i of the machine. Otherwise, call
    /// [`Schedule::place`] for each node.
    pub fn layout(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, 0)
    }

    /// Defines a grid as [`Schedule::layout`] does, and cuts every block or vector into one part
    /// for each node of the machine. Each part is split into `segments`. [`Blocks::destinations`]
    /// selects parts. This method is for collectives whose blocks do not differ by destination: an
    /// allreduce can reduce each part of the vector on a different node.
    pub fn layout_in_parts(&mut self, radices: &[u64], segments: u32) -> Result<(), Stop> {
        self.set_layout(radices, segments, SWM_IN_PARTS)
    }

    /// Makes the schedule move byte counts instead of blocks. Each node then holds a number of
    /// bytes for each destination, without their origins. A node can send as many of the bytes for
    /// each destination as it chooses ([`Schedule::send_bytes`]). Or it can sort all its data into
    /// buckets ([`Schedule::redistribute`]) and send one bucket after another
    /// ([`Schedule::send_bucket`]). The host verifies that all bytes for each destination arrive
    /// (`amounts` in `verified`).
    ///
    /// The grid `radices` must have as many nodes as the machine; `&[]` selects the topology's own
    /// grid. Call this method before the first step, and only in an all-to-all.
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
        // SAFETY: the function and its context come from the host's table; `layout` outlives it.
        check(self.host.layout.map(|f| unsafe { f(self.host.ctx, &raw const layout) }))
    }

    /// Places node `node` of the schedule's grid on node `physical` of the machine. If `home`, the
    /// blocks of the machine node start and end at this grid node; otherwise it only forwards
    /// blocks. Every node of the machine must have exactly one home.
    pub fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        check(self.host.place.map(|f| unsafe { f(self.host.ctx, node, physical, u32::from(home)) }))
    }

    /// Declares a symmetry group under which the schedule is invariant, and returns the nodes whose
    /// sends the plan must list: one node of each orbit (the set of nodes to which the symmetries
    /// map a node), or all nodes if the problem is not invariant. `axes` has one action of the
    /// group for each axis of the grid, or a single action on the node numbers.
    ///
    /// Call this method at most once, after [`Schedule::layout`] and [`Schedule::place`] and before
    /// the first step. Only planned nodes may send. In each step, iterate over them in ascending
    /// order, because the host lists messages in the order of their senders.
    ///
    /// To check the declaration, the host calls `plan` again, and this method then returns other
    /// nodes: all nodes, or the images of the nodes of the first plan under an element of the
    /// group. A plan passes the check if it sends from the nodes of [`Planned::iter`] and computes
    /// each send from its sender.
    ///
    /// ```
    /// # use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Rehearsal, Schedule, Set, Stop, Symmetry};
    /// /// Direct exchange, one distance per step: every rank does the same.
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
    /// // A rehearsal plans all nodes by default.
    /// assert_eq!(Rehearsal::on("ring", &[5]).verify(&Shift).unwrap().messages, 20);
    /// ```
    pub fn symmetric(&mut self, axes: &[Symmetry]) -> Result<Planned, Stop> {
        let nodes = [self.radices.iter().fold(1, |nodes: u64, radix| nodes.saturating_mul(*radix))];
        let radices = if axes.len() == 1 { &nodes[..] } else { &self.radices };
        if axes.len() != radices.len() {
            return Err(Stop::failed(format!(
                "a symmetry needs one action for each of the {} axes of the schedule's grid, or a single one for the node numbers; this one has {}",
                radices.len(),
                axes.len()
            )));
        }
        let (mut first, mut counts) = (vec![0; radices.len()], radices.to_vec());
        let (raw, count, host) = (axes.as_ptr().cast(), axes.len() as u64, self.host);
        // SAFETY: the functions and their context come from the host's table; all lists have one
        // entry for each axis. A host of version 1.0 lacks the first function.
        let code = unsafe {
            match (host.symmetric_from, host.symmetric) {
                (Some(f), _) => f(host.ctx, raw, count, first.as_mut_ptr(), counts.as_mut_ptr()),
                (None, Some(f)) => f(host.ctx, raw, count, counts.as_mut_ptr()),
                (None, None) => SWM_OK,
            }
        };
        check(Some(code))?;
        let planned = first.into_iter().zip(counts).map(|(first, count)| first..first + count);
        Ok(Planned::new(radices, planned.collect()))
    }

    /// Begins a phase, with its name in the publication, if it has one.
    pub fn phase(&mut self, name: &str) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table; `name` outlives it.
        check(self.host.phase.map(|f| unsafe { f(self.host.ctx, SwmStr::new(name)) }))
    }

    /// Begins a step. All sends of a step happen at the same time, and data that arrives can be
    /// forwarded only in a later step. Steps without sends are not counted.
    pub fn step(&mut self) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        check(self.host.step.map(|f| unsafe { f(self.host.ctx) }))
    }

    /// Adds a send of blocks to the step. If it selects no blocks and has no extra bytes, nothing
    /// is sent.
    pub fn send(&mut self, blocks: &Blocks<'_>) -> Result<(), Stop> {
        // SAFETY: function and context come from the host's table; `blocks` borrows its data.
        check(self.host.send_blocks.map(|f| unsafe { f(self.host.ctx, &raw const blocks.raw) }))
    }

    /// In a schedule of byte counts, adds a send of a bucket to the step. An empty bucket is not
    /// sent.
    pub fn send_bucket(&mut self, bucket: &Bucket<'_>) -> Result<(), Stop> {
        // SAFETY: function and context come from the host's table; `bucket` borrows its data.
        check(self.host.send_bucket.map(|f| unsafe { f(self.host.ctx, &raw const bucket.raw) }))
    }

    /// In a schedule of byte counts, adds a send of bytes for destinations to the step.
    pub fn send_bytes(&mut self, bytes: &Bytes<'_>) -> Result<(), Stop> {
        // SAFETY: function and context come from the host's table; `bytes` borrows its data.
        check(self.host.send_bytes.map(|f| unsafe { f(self.host.ctx, &raw const bytes.raw) }))
    }

    /// In a schedule of byte counts, makes a node sort all the data that it holds into buckets.
    /// This happens between the current step, whose data is included, and the next one. Each bucket
    /// of the node must then be sent once ([`Schedule::send_bucket`]), also the bucket for the node
    /// itself.
    pub fn redistribute(&mut self, how: &Redistribution<'_>) -> Result<(), Stop> {
        let raw = how.raw()?;
        // SAFETY: the function and its context come from the host's table; `how` outlives the call.
        check(self.host.redistribute.map(|f| unsafe { f(self.host.ctx, &raw const raw) }))
    }

    /// Writes a line to standard error while cases run, for readers of the results. Plugins must
    /// not print to standard output.
    pub fn log(&self, line: &str) {
        log(self.host, SWM_LOG_INFO, line);
    }

    /// Writes a line to the log and to the column `note` of the rows. It is for facts without which
    /// a row would be misleading, such as that another run may produce another schedule.
    pub fn note(&self, line: &str) {
        log(self.host, SWM_LOG_NOTE, line);
    }

    /// Makes every node rearrange all its data before the next step. The next send must follow a
    /// call of [`Schedule::step`].
    pub fn rearrange(&mut self) -> Result<(), Stop> {
        // SAFETY: the function and its context come from the host's table.
        check(self.host.rearrange.map(|f| unsafe { f(self.host.ctx) }))
    }
}

pub(crate) fn log(host: &SwmHost, level: u32, line: &str) {
    if let Some(log) = host.log {
        // SAFETY: the function and its context come from the host's table; `line` outlives it.
        unsafe { log(host.ctx, level, SwmStr::new(line)) };
    }
}

fn check(code: Option<i32>) -> Result<(), Stop> {
    match code {
        Some(SWM_OK) => Ok(()),
        Some(_) => Err(Stop::Stopped),
        None => Err(Stop::host_too_old()),
    }
}
