//! The sets that a send names, and the selection of blocks by these sets.

use super::{Element, Layout, Side};
use crate::delivery::grid::Grid;

/// A subset of the coordinates of one axis.
#[derive(Debug, Clone, Copy, Hash)]
pub enum Axis<'a> {
    /// All coordinates of the axis.
    All,
    /// An arithmetic sequence `first`, `first + stride`, etc., modulo the radix of the axis.
    Range {
        /// The first coordinate, below the radix.
        first: u32,
        /// The difference between consecutive coordinates, at least 1 if there are several.
        stride: u32,
        /// Number of coordinates. They must be distinct.
        count: u32,
    },
    /// A bit set in words of 64 bits, the lowest coordinates first. The coordinates whose bits are
    /// 1 are in the subset.
    Bits(&'a [u64]),
}

/// Returns the coordinates of [`Axis::Range`] on an axis with this radix.
pub(super) fn strided(
    first: u32,
    stride: u32,
    count: u32,
    radix: u64,
) -> impl Iterator<Item = u64> {
    let stride = u64::from(stride) % radix;
    let next =
        move |c: &u64| Some(if c + stride >= radix { c + stride - radix } else { c + stride });
    std::iter::successors(Some(first.into()), next).take(count as usize)
}

/// A set of nodes of the schedule's grid.
#[derive(Debug, Clone, Copy, Hash)]
pub enum NodeSet<'a> {
    /// All nodes of the grid.
    All,
    /// One node of the grid.
    One(u64),
    /// The product of one subset per axis.
    Axes(&'a [Axis<'a>]),
}

impl NodeSet<'_> {
    /// Errors if the set does not fit the grid.
    pub(crate) fn check(&self, grid: &Grid) -> Result<(), String> {
        match self {
            Self::All => Ok(()),
            Self::One(node) if *node < grid.nodes() => Ok(()),
            Self::One(node) => {
                Err(format!("names node {node} of a grid of {} nodes", grid.nodes()))
            }
            Self::Axes(axes) if axes.len() != grid.radices().len() => {
                Err(format!("has {} axes, the grid has {}", axes.len(), grid.radices().len()))
            }
            Self::Axes(axes) => {
                for (number, (axis, radix)) in axes.iter().zip(grid.radices()).enumerate() {
                    axis.check(*radix)
                        .map_err(|what| format!("is wrong in axis {number}: it {what}"))?;
                }
                Ok(())
            }
        }
    }
}

impl Axis<'_> {
    /// Errors if the set is not a valid subset of `radix` coordinates.
    pub(crate) fn check(&self, radix: u64) -> Result<(), String> {
        match *self {
            Axis::All => Ok(()),
            Axis::Range { first, stride, count } => {
                if u64::from(first) >= radix {
                    return Err(format!("starts at {first}, expected below {radix}"));
                }
                if count == 0 || (count > 1 && stride == 0) {
                    return Err(format!(
                        "has {count} members {stride} apart, expected at least one, at least 1 apart"
                    ));
                }
                let span = u64::from(count - 1) * u64::from(stride);
                if u64::from(count) > radix
                    || (span >= radix && wraps_onto_itself(radix as u32, stride, count))
                {
                    return Err(format!(
                        "names a coordinate twice ({count} members {stride} apart, modulo {radix})"
                    ));
                }
                Ok(())
            }
            Axis::Bits(words) => {
                let expected = radix.div_ceil(64);
                if words.len() as u64 != expected {
                    return Err(format!("has {} words of bits, expected {expected}", words.len()));
                }
                let spare = (expected * 64 - radix) as u32;
                if words[words.len() - 1].leading_zeros() < spare {
                    return Err(format!("has bits set beyond coordinate {}", radix - 1));
                }
                if words.iter().all(|w| *w == 0) {
                    return Err("is empty".to_owned());
                }
                Ok(())
            }
        }
    }
}

/// A box of the selected blocks, and a list of the axes on which it may lack coordinates.
#[derive(Debug, Clone)]
pub struct Selection<E = u64> {
    elements: Vec<E>,
    narrowed: Vec<usize>,
    count: u64,
}

impl<E: Element> Selection<E> {
    pub(super) fn new(full: &[E], count: u64) -> Self {
        Self { elements: full.to_vec(), narrowed: Vec::new(), count }
    }

    /// Returns the selection as a box.
    pub fn elements(&self) -> &[E] {
        &self.elements
    }

    /// Returns the number of blocks (or segments of blocks) in the selection, including blocks that
    /// the sender does not hold.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the axes on which the selection may lack some coordinates.
    pub(super) fn narrowed(&self) -> &[usize] {
        &self.narrowed
    }

    /// Resets the selection to all blocks.
    pub(crate) fn widen<L: Layout<Element = E> + ?Sized>(&mut self, layout: &L) {
        if !self.narrowed.is_empty() {
            self.narrowed.clear();
            self.elements.clone_from_slice(layout.full());
        }
        self.count = layout.full_count();
    }

    /// Narrows one side of the selection to a valid set. Before the call, the selection must have
    /// all coordinates of that side.
    pub(super) fn narrow<L>(&mut self, layout: &L, side: Side, set: NodeSet<'_>)
    where
        L: Layout<Element = E> + ?Sized,
    {
        let axes = layout.axes().of_side(side);
        match set {
            NodeSet::All => {}
            NodeSet::One(_) if axes.is_empty() => {}
            NodeSet::One(node) => {
                self.narrowed.extend(axes);
                layout.narrow_to(side, node, &mut self.elements);
                self.scale(layout, 1, layout.grid().nodes());
            }
            NodeSet::Axes(sets) => {
                let (mut kept, mut of) = (1, 1);
                for (axis, set) in axes.zip(sets) {
                    self.narrow_axis(layout, axis, *set, &mut kept, &mut of);
                }
                self.scale(layout, kept, of);
            }
        }
    }

    /// Narrows the segments. Errors if the set does not fit the number of segments per block.
    pub(crate) fn narrow_segments<L>(&mut self, layout: &L, set: Axis<'_>) -> Result<(), String>
    where
        L: Layout<Element = E>,
    {
        set.check(layout.segments()).map_err(|what| format!("is wrong: it {what}"))?;
        let (mut kept, mut of) = (1, 1);
        self.narrow_axis(layout, layout.segment_axis(), set, &mut kept, &mut of);
        self.scale(layout, kept, of);
        Ok(())
    }

    /// Narrows an axis to a valid set. Multiplies `kept` by the number of coordinates in the set,
    /// and `of` by the number of coordinates of the axis.
    fn narrow_axis<L: Layout<Element = E> + ?Sized>(
        &mut self,
        layout: &L,
        axis: usize,
        set: Axis<'_>,
        kept: &mut u64,
        of: &mut u64,
    ) {
        if let Axis::All = set {
            return;
        }
        layout.set_axis(axis, set, &mut self.elements);
        self.narrowed.push(axis);
        *kept *= layout.members(axis, &self.elements);
        *of *= layout.axes().radices[axis];
    }

    /// Replaces the element of an axis, in a layout that has one element per axis.
    pub(super) fn replace<L: Layout<Element = E>>(&mut self, layout: &L, axis: usize, element: E) {
        self.elements[axis] = element;
        self.narrowed.push(axis);
        self.count = layout.count(&self.elements);
    }

    /// Updates the number of blocks after some axes were narrowed. The narrowed axes had `of`
    /// combinations of coordinates before, and now have `kept` combinations.
    fn scale<L: Layout<Element = E> + ?Sized>(&mut self, layout: &L, kept: u64, of: u64) {
        if layout.full_count() == u64::MAX {
            // The number of all blocks is saturated at `u64::MAX`, so a division of the count would
            // be wrong.
            self.count = layout.count(&self.elements);
        } else if kept < of {
            self.count = self.count / of * kept;
        }
    }
}

/// The selected part of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// No block of the box is selected.
    Nothing,
    /// All blocks of the box are selected.
    Whole,
    /// This number of blocks is selected.
    Part(u64),
}

/// Returns whether a sequence of `count` coordinates with this stride, modulo `radix`, contains a
/// coordinate twice.
fn wraps_onto_itself(radix: u32, stride: u32, count: u32) -> bool {
    // The sequence returns to its first coordinate after `radix / gcd(radix, stride)` coordinates.
    let (mut a, mut b) = (radix, stride);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    count > radix / a
}
