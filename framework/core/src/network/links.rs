//! The load of directed links in a step, for steps of one message and of millions.
//!
//! Counting link by link costs a message as much as it has hops, and one may have a hundred
//! thousand. So there are three ways:
//!
//! * *Few* runs are kept as intervals and sorted by where they begin and end: nothing is touched
//!   that no message uses.
//! * Many runs on the lines of planes are *summed*: added at the first link, taken off after the
//!   last, added up along the line. That costs a message as little as it has turns, and the step a
//!   pass over the planes that it used.
//! * Many runs on links without lines are *counted* in an array that is cleared by the number of
//!   the step, not by writing zeros.
//!
//! A step begins with the first way and goes over to an array when it turns out long. A network
//! with too many links for an array (`fully-connected:100000` has 10^10) stays with the first.

mod counted;
mod few;
pub(crate) mod orbits;
mod summed;

use crate::network::topology::{Plane, Run, Topology};
use counted::Counted;
use few::Few;
use summed::Summed;

/// Counts load on directed links, step by step. A load is exact as long as all amounts of a step
/// together fit 64 bits.
#[derive(Debug)]
pub struct LinkLoad {
    planes: Vec<Plane>,
    slots: u64,
    /// The runs of the step while they are few; empty once it counts in the array.
    few: Few,
    /// More runs than this go into the array.
    most_few: usize,
    array: Option<Array>,
    in_array: bool,
    /// The planes that the step uses.
    touched: Vec<bool>,
}

#[derive(Debug)]
enum Array {
    Summed(Summed),
    Counted(Counted),
}

impl LinkLoad {
    /// Sorting a run in with others costs about as much as summing this many links, whether they
    /// have load or not.
    const LINKS_PER_RUN: u64 = 64;
    /// An array of sums is for this many links at most, with 8 bytes each: tori of 2^26 nodes.
    const MOST_SUMMED: u64 = 1 << 28;
    /// An array of counts is for this many links at most, with 16 bytes each: hypercubes of 20
    /// dimensions.
    const MOST_COUNTED: u64 = 1 << 25;
    /// Nor is it for more links a node than this, unless they are [`LinkLoad::FEW_LINKS`]: no step
    /// would use most of them.
    const MOST_COUNTED_A_NODE: u64 = 64;
    const FEW_LINKS: u64 = 1 << 20;

    /// A counter for the links of `topology`.
    pub fn new(topology: &dyn Topology) -> Self {
        let (slots, planes) = (topology.link_slots(), topology.planes().to_vec());
        let most_counted = (topology.nodes() * Self::MOST_COUNTED_A_NODE)
            .clamp(Self::FEW_LINKS, Self::MOST_COUNTED);
        let most_few = match planes.is_empty() {
            true if slots <= most_counted => 0,
            false if slots <= Self::MOST_SUMMED => (slots / Self::LINKS_PER_RUN) as usize,
            _ => usize::MAX,
        };
        let touched = vec![false; planes.len()];
        Self { planes, slots, few: Few::default(), most_few, array: None, in_array: false, touched }
    }

    /// Begins a step: no link has any load yet.
    pub fn begin(&mut self) {
        self.few.clear();
        if std::mem::take(&mut self.in_array) {
            match &mut self.array {
                Some(Array::Summed(sums)) => sums.clear(&self.planes, &self.touched),
                Some(Array::Counted(counts)) => counts.clear(),
                None => {}
            }
        }
        self.touched.fill(false);
    }

    /// Puts `amount` on every link of a run, which a route on this topology handed out.
    pub fn add(&mut self, run: Run, amount: u64) {
        if let Some(touched) = self.touched.get_mut(run.plane as usize) {
            *touched = true;
        }
        match &mut self.array {
            Some(array) if self.in_array => array.add(&self.planes, run, amount),
            _ => {
                self.few.add(run, amount);
                if self.few.len() > self.most_few {
                    self.use_array();
                }
            }
        }
    }

    /// The most load on one link since the step began.
    pub fn max(&mut self) -> u64 {
        self.choose();
        let mut max = 0;
        match &mut self.array {
            Some(Array::Summed(sums)) if self.in_array => {
                return sums.max(&self.planes, &self.touched);
            }
            Some(Array::Counted(counts)) if self.in_array => return counts.max(),
            _ => self.few.for_each_stretch(&self.planes, &mut |_, load| max = max.max(load)),
        }
        max
    }

    /// Calls `visit` with every link that has load in this step, and its load; in no particular
    /// order.
    pub fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        self.choose();
        match &mut self.array {
            Some(Array::Summed(sums)) if self.in_array => {
                sums.for_each_loaded(&self.planes, &self.touched, visit)
            }
            Some(Array::Counted(counts)) if self.in_array => counts.for_each_loaded(visit),
            _ => self.few.for_each_stretch(&self.planes, &mut |links, load| {
                links.for_each(|link| visit(link, load))
            }),
        }
    }

    /// Goes over to the array if the planes that are used are so small that a pass over them costs
    /// less than sorting.
    fn choose(&mut self) {
        if self.in_array || self.planes.is_empty() || self.slots > Self::MOST_SUMMED {
            return;
        }
        let links: u64 = self
            .planes
            .iter()
            .zip(&self.touched)
            .filter(|(_, touched)| **touched)
            .map(|(p, _)| p.links())
            .sum();
        if links < self.few.len() as u64 * Self::LINKS_PER_RUN {
            self.use_array();
        }
    }

    fn use_array(&mut self) {
        let (planes, slots) = (&self.planes, self.slots as usize);
        let array = self.array.get_or_insert_with(|| match planes.as_slice() {
            [] => Array::Counted(Counted::new(slots)),
            _ => Array::Summed(Summed::new(slots)),
        });
        self.few.drain(|run, amount| array.add(planes, run, amount));
        self.in_array = true;
    }
}

impl Array {
    #[inline]
    fn add(&mut self, planes: &[Plane], run: Run, amount: u64) {
        match self {
            Self::Summed(sums) => sums.add(planes, run, amount),
            Self::Counted(counts) => counts.add(run, amount),
        }
    }
}

#[cfg(test)]
mod tests;
