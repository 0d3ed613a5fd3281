//! Boxes of blocks.
//!
//! A box is a product of sets: *origins x destinations x segments*. Origins and destinations are
//! sets of nodes, each of which is a product over the axes of a grid. If a collective does not
//! distinguish its blocks by origin or by destination, boxes do not have this set. As there are
//! thousands of boxes, a box is only a slice of elements, whose meaning is given by the [`Layout`]
//! of the schedule. There are two layouts:
//!
//! - [`BitLayout`] has one bit per coordinate. It is faster on axes of at most thousands of
//!   coordinates, and is used if every node is planned.
//! - `RunLayout` has one set per axis, stored as runs of consecutive coordinates if this takes less
//!   memory. It is used for long axes, and if only one node of each symmetry orbit is planned.
//!
//! A third layout, with a first coordinate, a stride and a count for each axis, was rejected. It is
//! as compact as `RunLayout` for tori, but sets of the algorithm `xor` or of Bruck's algorithm need
//! many such triples, and intersections need divisions.

mod bits;
mod runs;
mod set;

use crate::delivery::grid::Grid;
use crate::network::symmetry::{Group, split_off};
pub use bits::BitLayout;
pub(crate) use runs::RunLayout;
use std::fmt::Debug;
use std::ops::Range;
pub use swapmeet_abi::collective::Side;

/// A subset of the coordinates of one axis.
#[derive(Debug, Clone, Copy, Hash)]
pub enum Axis<'a> {
    /// All coordinates of the axis.
    All,
    /// An arithmetic sequence `first`, `first + stride`, etc., modulo the radix of the axis.
    Range {
        /// The first coordinate, below the radix.
        first: u32,
        /// The difference between consecutive coordinates.
        stride: u32,
        /// The number of coordinates. The sequence must not contain a coordinate twice.
        count: u32,
    },
    /// A bit set in words of 64 bits, the lowest coordinates first.
    Bits(&'a [u64]),
}

fn strided(first: u32, stride: u32, count: u32, radix: u64) -> impl Iterator<Item = u64> {
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

/// A box with the selected blocks, and the axes on which it is smaller than the box of all blocks
/// (usually one axis). Only these axes are compared when boxes are searched for selected blocks.
#[derive(Debug, Clone)]
pub struct Selection<E = u64> {
    elements: Vec<E>,
    narrowed: Vec<usize>,
    count: u64,
}

impl<E: Element> Selection<E> {
    fn new(full: &[E], count: u64) -> Self {
        Self { elements: full.to_vec(), narrowed: Vec::new(), count }
    }

    /// Returns the selection as a box.
    pub fn elements(&self) -> &[E] {
        &self.elements
    }

    /// Returns the number of selected blocks or segments, whether or not the sender holds them.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn narrowed(&self) -> &[usize] {
        &self.narrowed
    }

    pub(crate) fn widen<L: Layout<Element = E> + ?Sized>(&mut self, layout: &L) {
        if !self.narrowed.is_empty() {
            self.narrowed.clear();
            self.elements.clone_from_slice(layout.full());
        }
        self.count = layout.full_count();
    }

    fn narrow<L>(&mut self, layout: &L, side: Side, set: NodeSet<'_>)
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

    /// Narrows an axis to `set`, which must be valid. Multiplies `kept` by the size of the set, and
    /// `of` by the radix of the axis.
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

    fn replace<L: Layout<Element = E>>(&mut self, layout: &L, axis: usize, element: E) {
        self.elements[axis] = element;
        self.narrowed.push(axis);
        self.count = layout.count(&self.elements);
    }

    fn scale<L: Layout<Element = E> + ?Sized>(&mut self, layout: &L, kept: u64, of: u64) {
        if layout.full_count() == u64::MAX {
            // `full_count` is `u64::MAX` because the real number of blocks is larger, so
            // multiplying the count by `kept / of` would give a wrong result.
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
    /// Only this number of blocks of the box is selected.
    Part(u64),
}

fn wraps_onto_itself(radix: u32, stride: u32, count: u32) -> bool {
    // The sequence returns to its first coordinate after `radix / gcd(radix, stride)` coordinates.
    let (mut a, mut b) = (radix, stride);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    count > radix / a
}

/// An element of a box. In a list of boxes, an element can also store a number, such as a count.
pub trait Element: Debug + Clone + PartialEq {
    /// Returns an element that stores a number.
    fn from_number(number: u64) -> Self;

    /// Returns the number that an element stores.
    fn number(&self) -> u64;
}

impl Element for u64 {
    fn from_number(number: u64) -> Self {
        number
    }

    fn number(&self) -> u64 {
        *self
    }
}

/// The axes of boxes: those of the origins, then those of the destinations, then the segments.
#[derive(Debug, Clone)]
pub struct Axes {
    grid: Grid,
    radices: Vec<u64>,
    origins: Range<usize>,
    destinations: Range<usize>,
}

impl Axes {
    fn new(grid: Grid, side: &[u64], origins: bool, destinations: bool, segments: u32) -> Self {
        let origins = 0..if origins { side.len() } else { 0 };
        let destinations = origins.end..origins.end + if destinations { side.len() } else { 0 };
        let sides = usize::from(!origins.is_empty()) + usize::from(!destinations.is_empty());
        let mut radices = if side.is_empty() { Vec::new() } else { side.repeat(sides) };
        radices.push(u64::from(segments.max(1)));
        Self { grid, radices, origins, destinations }
    }

    fn of_side(&self, side: Side) -> Range<usize> {
        match side {
            Side::Origins => self.origins.clone(),
            Side::Destinations => self.destinations.clone(),
            Side::Segments => self.destinations.end..self.radices.len(),
        }
    }
}

/// The meaning of the elements of a box. All slices of elements, such as `out` and `scratch`, have
/// the length of a box.
pub trait Layout: Debug {
    /// The type of the elements.
    type Element: Element;

    /// Returns the axes of a box.
    fn axes(&self) -> &Axes;

    /// Returns the box of all blocks.
    fn full(&self) -> &[Self::Element];

    /// Returns the number of all blocks (or segments), at most `u64::MAX`.
    fn full_count(&self) -> u64;

    /// Returns how many of the first elements of a box are for the origins.
    fn origin_elements(&self) -> usize;

    /// Returns the number of coordinates in the set of an axis.
    fn members(&self, axis: usize, a: &[Self::Element]) -> u64;

    /// Returns the coordinates in the set of an axis, in ascending order.
    fn coordinates(&self, axis: usize, a: &[Self::Element]) -> Vec<u64>;

    /// Returns the smallest coordinate in the set of an axis; 0 if the set is empty.
    fn first_coordinate(&self, axis: usize, a: &[Self::Element]) -> u64;

    /// Replaces the set of an axis of `out` by `set`, which must pass `Axis::check`.
    fn set_axis(&self, axis: usize, set: Axis<'_>, out: &mut [Self::Element]);

    /// Replaces the set of an axis of `out` by one coordinate.
    fn set_coordinate(&self, axis: usize, coordinate: u64, out: &mut [Self::Element]);

    /// Writes the intersection to `out`. Returns false, with an unspecified `out`, if it is empty.
    fn intersect(
        &self,
        a: &[Self::Element],
        b: &[Self::Element],
        out: &mut [Self::Element],
    ) -> bool;

    /// Writes to `out` the blocks of `a` whose destination and segment are in `b`. In a reduction,
    /// these blocks contribute to the values of `b`. Returns false if there are none.
    fn terms_of(&self, a: &[Self::Element], b: &[Self::Element], out: &mut [Self::Element])
    -> bool;

    /// Divides the blocks of `a` that are not in `inner` into disjoint boxes, and passes each of
    /// these to `piece`. The box `inner` must be within `a`.
    fn subtract(
        &self,
        a: &[Self::Element],
        inner: &[Self::Element],
        scratch: &mut [Self::Element],
        piece: impl FnMut(&[Self::Element]),
    );

    /// If the union of `a` and the disjoint box `b` is a box, sets `a` to it and returns true.
    fn join(&self, a: &mut [Self::Element], b: &[Self::Element]) -> bool;

    /// Returns whether every block of `inner` is in `outer`.
    fn contains(&self, outer: &[Self::Element], inner: &[Self::Element]) -> bool;

    /// Determines which of the `count` blocks of `a` are in `selection`. If only some are, writes
    /// them to `out` as a box.
    fn cut(
        &self,
        a: &[Self::Element],
        count: u64,
        selection: &Selection<Self::Element>,
        out: &mut [Self::Element],
    ) -> Cut;

    /// Returns the group under which the schedule is invariant; `None` if every node is planned.
    fn group(&self) -> Option<&Group> {
        None
    }

    /// Returns the index of the list with the holdings of the node's representative, and the group
    /// element that maps the representative to the node.
    fn home(&self, node: u64) -> (usize, u64) {
        (node as usize, 0)
    }

    /// Returns the node whose holdings are in the list with this index.
    fn representative(&self, list: usize) -> u64 {
        list as u64
    }

    /// Replaces a box by its image under an element of the group.
    fn move_by(&self, _element: u64, _a: &mut [Self::Element]) {}

    /// Of the group elements that map a block of `a` to the block `one`, each maps `node` to a
    /// node. Returns the smallest of these nodes, or `None` if there are no such elements.
    fn least_image(&self, node: u64, a: &[Self::Element], one: &[Self::Element]) -> Option<u64> {
        self.contains(a, one).then_some(node)
    }

    /// Returns the grid of the schedule.
    fn grid(&self) -> &Grid {
        &self.axes().grid
    }

    /// Returns the number of elements of a box.
    fn elements(&self) -> usize {
        self.full().len()
    }

    /// Returns the number of segments per block.
    fn segments(&self) -> u64 {
        self.axes().radices.last().copied().unwrap_or(1)
    }

    /// Returns the axis of the segments.
    fn segment_axis(&self) -> usize {
        self.axes().radices.len() - 1
    }

    /// Returns whether boxes have a set for this side, so that blocks are distinguished by it.
    fn has(&self, side: Side) -> bool {
        !self.axes().of_side(side).is_empty()
    }

    /// Returns the number of blocks (or segments of blocks) in a box.
    fn count(&self, a: &[Self::Element]) -> u64 {
        product(self, 0..self.axes().radices.len(), a)
    }

    /// Returns the number of values of a reduction to which the blocks of a box contribute.
    fn values(&self, a: &[Self::Element]) -> u64 {
        product(self, self.axes().origins.end..self.axes().radices.len(), a)
    }

    /// Returns the number of nodes (or parts, or segments) in the set on one side of a box.
    fn members_of(&self, side: Side, a: &[Self::Element]) -> u64 {
        product(self, self.axes().of_side(side), a)
    }

    /// Returns the number of segments of each block that are in a box.
    fn segments_of(&self, a: &[Self::Element]) -> u64 {
        self.members(self.segment_axis(), a)
    }

    /// Returns `a` extended to all origins. In a reduction, these are all contributions to the
    /// values of `a`.
    fn with_all_origins(&self, a: &[Self::Element]) -> Vec<Self::Element> {
        let first = self.origin_elements();
        [&self.full()[..first], &a[first..]].concat()
    }

    /// Narrows one side of a box to one node (or part, or segment).
    fn narrow_to(&self, side: Side, node: u64, out: &mut [Self::Element]) {
        let (axes, mut rest) = (self.axes(), node);
        for axis in axes.of_side(side).rev() {
            let coordinate;
            (coordinate, rest) = split_off(rest, axes.radices[axis]);
            self.set_coordinate(axis, coordinate, out);
        }
    }

    /// Returns, for each axis of one side of a box, the coordinates in its set.
    fn coordinates_of(&self, side: Side, a: &[Self::Element]) -> Vec<Vec<u64>> {
        self.axes().of_side(side).map(|axis| self.coordinates(axis, a)).collect()
    }

    /// Returns the nodes (or parts, or segments) of one side of a box, in ascending order.
    fn nodes_of(&self, side: Side, a: &[Self::Element]) -> Vec<u64> {
        let axes = self.axes();
        let mut of_side = axes.of_side(side);
        let mut nodes = of_side.next().map_or_else(|| vec![0], |axis| self.coordinates(axis, a));
        for axis in of_side {
            let (radix, coordinates) = (axes.radices[axis], self.coordinates(axis, a));
            let mut next = Vec::with_capacity(nodes.len() * coordinates.len());
            for node in nodes {
                next.extend(coordinates.iter().map(|c| node * radix + c));
            }
            nodes = next;
        }
        nodes
    }

    /// Returns the smallest node on one side of a box, or 0 if boxes do not have this side.
    fn first_of(&self, side: Side, a: &[Self::Element]) -> u64 {
        let axes = self.axes();
        axes.of_side(side)
            .fold(0, |node, axis| node * axes.radices[axis] + self.first_coordinate(axis, a))
    }

    /// Returns the selection of all blocks.
    fn select_all(&self) -> Selection<Self::Element> {
        Selection::new(self.full(), self.full_count())
    }

    /// Narrows one side of a selection to a set of nodes. This side must not have been narrowed
    /// before. Errors if the set does not fit the grid.
    fn narrow(
        &self,
        side: Side,
        set: NodeSet<'_>,
        selection: &mut Selection<Self::Element>,
    ) -> Result<(), String> {
        set.check(self.grid())?;
        selection.narrow(self, side, set);
        Ok(())
    }
}

fn product<L: Layout + ?Sized>(layout: &L, axes: Range<usize>, a: &[L::Element]) -> u64 {
    axes.fold(1, |product: u64, axis| product.saturating_mul(layout.members(axis, a)))
}

pub(crate) fn without<'a, L: Layout>(
    layout: &L,
    boxes: Vec<Vec<L::Element>>,
    taken: impl IntoIterator<Item = &'a [L::Element]>,
) -> Vec<Vec<L::Element>>
where
    L::Element: 'a,
{
    let (mut inner, mut scratch) = (layout.full().to_vec(), layout.full().to_vec());
    taken.into_iter().fold(boxes, |boxes, taken| {
        let mut rest = Vec::new();
        for b in boxes {
            if layout.intersect(&b, taken, &mut inner) {
                layout.subtract(&b, &inner, &mut scratch, |piece| rest.push(piece.to_vec()));
            } else {
                rest.push(b);
            }
        }
        rest
    })
}

#[cfg(test)]
mod tests;
