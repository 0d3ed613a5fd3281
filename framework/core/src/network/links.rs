//! The load of directed links in a step. A step may have a single message or millions of messages.
//!
//! If loads were always counted link by link, each message would cost as many operations as it has
//! hops, which may be a hundred thousand. So there are three counters. All of them count the
//! [`Run`]s of routes. A run consists of successive links of a route whose numbers have a constant
//! difference.
//!
//! * `Intervals` sorts the first and last links of a few runs. It visits no link without load. So
//!   it also works for networks with too many links for an array (`fully-connected:100000` has
//!   10^10).
//! * `LineSums` counts many runs on topologies with [`Plane`]s, whose links form lines. It adds the
//!   amount of a run at its first link, subtracts it after its last link, and sums along the lines
//!   at the end of the step.
//! * `Counters` counts many runs on other topologies. It has an array with one counter for each
//!   link, and adds to the counter of every link of a run.
//!
//! [`LinkLoad`] starts each step with `Intervals`. It changes to `LineSums` or `Counters` as soon
//! as there are so many runs that these are faster.

mod counters;
mod intervals;
mod line_sums;
pub(crate) mod orbits;

use crate::network::topology::{Network, Plane, Run};
use counters::Counters;
use intervals::Intervals;
use line_sums::LineSums;
use std::sync::Arc;

/// The load of directed links, counted step by step. Loads are exact if the sum of all amounts of a
/// step fits into 64 bits.
#[derive(Debug)]
pub struct LinkLoad {
    planes: Arc<[Plane]>,
    slots: u64,
    /// The runs of the step while there are few of them. Empty after the loads have moved to the
    /// array of line sums or counters.
    intervals: Intervals,
    /// The maximum number of runs that are kept as intervals. With more runs, the loads move to the
    /// array of line sums or counters.
    most_intervals: usize,
    array: Option<Array>,
    in_array: bool,
}

#[derive(Debug)]
enum Array {
    LineSums(LineSums),
    Counters(Counters),
}

/// A counter of link loads.
trait Counter {
    /// Starts a step, in which no link has any load yet.
    fn clear(&mut self);
    /// Returns the largest load of a link in this step.
    fn max(&mut self) -> u64;
    /// Calls `visit` with every link that has load, and its load, in no particular order.
    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64));
}

impl LinkLoad {
    /// The number of links whose loads are summed in about the same time as one run is sorted.
    const LINKS_PER_RUN: u64 = 64;
    /// The maximum number of links for which loads are stored as [`LineSums`]. With 8 bytes per
    /// link, the array takes at most 2 GiB. This is enough for a two-dimensional torus of 2^26
    /// nodes.
    const MAX_SUMMED: u64 = 1 << 28;
    /// The maximum number of links for which an array of counters is used. With 16 bytes per link,
    /// the array takes at most 512 MiB. This is enough for a hypercube of 20 dimensions.
    const MAX_COUNTED: u64 = 1 << 25;
    /// The maximum number of links per node for which an array of more than [`Self::FEW_LINKS`]
    /// counters is used. With more links per node, most links have no load in a step, and an array
    /// would waste memory.
    const MAX_COUNTED_A_NODE: u64 = 64;
    const FEW_LINKS: u64 = 1 << 20;

    /// Creates a counter for the links of `topology`.
    pub fn new(topology: &Network) -> Self {
        let (slots, planes) = (topology.link_slots(), Arc::from(topology.planes()));
        let most_counted =
            (topology.nodes() * Self::MAX_COUNTED_A_NODE).clamp(Self::FEW_LINKS, Self::MAX_COUNTED);
        let most_intervals = match topology.planes().is_empty() {
            true if slots <= most_counted => 0,
            false if slots <= Self::MAX_SUMMED => (slots / Self::LINKS_PER_RUN) as usize,
            _ => usize::MAX,
        };
        let intervals = Intervals::new(Arc::clone(&planes));
        Self { planes, slots, intervals, most_intervals, array: None, in_array: false }
    }

    /// Starts a step, in which no link has any load yet.
    pub fn begin(&mut self) {
        self.counter().clear();
        self.in_array = false;
    }

    /// Adds `amount` to every link of a run. A route on this topology must have reported the run.
    pub fn add(&mut self, run: Run, amount: u64) {
        match &mut self.array {
            Some(array) if self.in_array => array.add(run, amount),
            _ => {
                self.intervals.add(run, amount);
                if self.intervals.len() > self.most_intervals {
                    self.use_array();
                }
            }
        }
    }

    /// Returns the largest load of a link since the step began.
    pub fn max(&mut self) -> u64 {
        self.choose();
        self.counter().max()
    }

    /// Calls `visit` with every link that has load in this step, and its load, in no particular
    /// order.
    pub fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        self.choose();
        self.counter().for_each_loaded(visit);
    }

    /// Returns the counter that has the loads of this step.
    fn counter(&mut self) -> &mut dyn Counter {
        match &mut self.array {
            Some(Array::LineSums(sums)) if self.in_array => sums,
            Some(Array::Counters(counters)) if self.in_array => counters,
            _ => &mut self.intervals,
        }
    }

    /// Moves the loads to line sums if the topology has planes, and if a sum over all links of the
    /// planes that contain runs is faster than sorting the runs.
    fn choose(&mut self) {
        if self.in_array || self.planes.is_empty() || self.slots > Self::MAX_SUMMED {
            return;
        }
        if self.intervals.links_in_planes() < self.intervals.len() as u64 * Self::LINKS_PER_RUN {
            self.use_array();
        }
    }

    fn use_array(&mut self) {
        let (planes, slots) = (&self.planes, self.slots as usize);
        let array = self.array.get_or_insert_with(|| match planes.is_empty() {
            true => Array::Counters(Counters::new(slots)),
            false => Array::LineSums(LineSums::new(Arc::clone(planes), slots)),
        });
        self.intervals.drain(|run, amount| array.add(run, amount));
        self.in_array = true;
    }
}

impl Array {
    #[inline]
    fn add(&mut self, run: Run, amount: u64) {
        match self {
            Self::LineSums(sums) => sums.add(run, amount),
            Self::Counters(counters) => counters.add(run, amount),
        }
    }
}

#[cfg(test)]
mod tests;
