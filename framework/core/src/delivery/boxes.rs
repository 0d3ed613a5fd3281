//! Boxes of blocks. A box is the product of sets of coordinates, with one set for each axis.
//!
//! A box is *origins x destinations x segments*. Origins and destinations are sets of nodes, and
//! each is a product over the axes of a grid. If a collective does not distinguish its blocks by
//! origin, boxes have no origins. The same is true for destinations. The nodes of a schedule hold
//! thousands of boxes. To save memory and time, a box is therefore only a slice of elements. All
//! boxes of a schedule share a [`Layout`], which defines the meaning of the elements. There are two
//! layouts:
//!
//! - [`BitLayout`] has one bit per coordinate. It is faster if axes have at most thousands of
//!   coordinates, and it is used if every node is planned.
//! - `RunLayout` has one set per axis, stored as runs of coordinates if that is shorter. It is used
//!   for long axes, and if only one node of each symmetry orbit is planned.
//!
//! (A third layout was rejected. It described the set of each axis by a first coordinate, a stride
//! and a count. For tori it is as compact as the other two. But sets that are created by the
//! algorithm `xor` or by Bruck's algorithm need many of these triples, and intersections need
//! divisions.)

use crate::delivery::grid::Grid;
use crate::network::symmetry::{Group, split_off};
use std::fmt::Debug;
use std::ops::Range;

mod bits;
mod runs;
mod selection;
mod set;

pub use bits::BitLayout;
pub(crate) use runs::RunLayout;
pub use selection::{Axis, Cut, NodeSet, Selection};
pub use swapmeet_abi::collective::Side;

/// An element of a box. Lists of boxes also store numbers (such as counts) in elements.
pub trait Element: Debug + Clone + PartialEq {
    /// Returns an element that stores a number.
    fn from_number(number: u64) -> Self;

    /// Returns the stored number.
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
    /// The grid of the schedule, in whose coordinates sends describe sets of nodes.
    grid: Grid,
    /// Number of coordinates of each axis.
    radices: Vec<u64>,
    origins: Range<usize>,
    destinations: Range<usize>,
}

impl Axes {
    /// Creates the axes of boxes. `side` has the radices of the axes of one side, which are the
    /// same for origins and destinations. `origins` and `destinations` state whether boxes have
    /// these sides.
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

/// The meaning of the elements of a box.
///
/// All slices in these methods are boxes of the layout. A method that writes its result to `out` or
/// `scratch` requires a slice with the length of a box.
pub trait Layout: Debug {
    /// The type of the elements.
    type Element: Element;

    /// Returns the axes of a box.
    fn axes(&self) -> &Axes;

    /// Returns the box of all blocks.
    fn full(&self) -> &[Self::Element];

    /// Returns the number of blocks (or segments) in the box of all blocks, at most `u64::MAX`.
    fn full_count(&self) -> u64;

    /// Returns the number of elements that describe the origins. These are the first elements of a
    /// box.
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

    /// Writes the intersection of two boxes to `out`. Returns false if it is empty; the contents of
    /// `out` are then unspecified.
    fn intersect(
        &self,
        a: &[Self::Element],
        b: &[Self::Element],
        out: &mut [Self::Element],
    ) -> bool;

    /// Writes to `out` the blocks of `a` whose destination and segment also occur in `b`. In a
    /// reduction, these are the blocks of `a` that contribute to the same values as `b`. Returns
    /// false if there are none.
    fn terms_of(&self, a: &[Self::Element], b: &[Self::Element], out: &mut [Self::Element])
    -> bool;

    /// Divides `a` without `inner` into disjoint boxes, and calls `piece` with each of them.
    /// `inner` must be a box within `a`.
    fn subtract(
        &self,
        a: &[Self::Element],
        inner: &[Self::Element],
        scratch: &mut [Self::Element],
        piece: impl FnMut(&[Self::Element]),
    );

    /// Extends `a` by the disjoint box `b` if the union of the two is a box. Returns whether the
    /// union is a box.
    fn join(&self, a: &mut [Self::Element], b: &[Self::Element]) -> bool;

    /// Returns whether every block of `inner` is in `outer`.
    fn contains(&self, outer: &[Self::Element], inner: &[Self::Element]) -> bool;

    /// Determines which blocks of `a` are in `selection`. If only some of them are, writes these
    /// blocks to `out` as a box. `count` is the number of blocks of `a`.
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

    /// Returns where the holdings of a node are stored. The first value is the index of the list
    /// that stores the holdings of the node's orbit. The second is the group element that maps the
    /// representative of the orbit to the node.
    fn home(&self, node: u64) -> (usize, u64) {
        (node as usize, 0)
    }

    /// Returns the node whose holdings are stored in the list with this index.
    fn representative(&self, list: usize) -> u64 {
        list as u64
    }

    /// Replaces a box by its image under an element of the group.
    fn move_by(&self, _element: u64, _a: &mut [Self::Element]) {}

    /// Finds the elements of the group that map some block of `a` to the block `one`. Returns the
    /// smallest image of `node` under these elements; `None` if there is no such element.
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

    /// Returns whether boxes have this side, that is, whether blocks are distinguished by this
    /// side.
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

    /// Returns the number of nodes (or parts, or segments) on one side of a box.
    fn members_of(&self, side: Side, a: &[Self::Element]) -> u64 {
        product(self, self.axes().of_side(side), a)
    }

    /// Returns the number of segments of each block that are in a box.
    fn segments_of(&self, a: &[Self::Element]) -> u64 {
        self.members(self.segment_axis(), a)
    }

    /// Returns the box `a` with all origins. In a reduction, these are all contributions to the
    /// values to which `a` contributes.
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

    /// Returns the smallest node of one side of a box; 0 if boxes do not have this side.
    fn first_of(&self, side: Side, a: &[Self::Element]) -> u64 {
        let axes = self.axes();
        axes.of_side(side)
            .fold(0, |node, axis| node * axes.radices[axis] + self.first_coordinate(axis, a))
    }

    /// Returns the selection of all blocks.
    fn select_all(&self) -> Selection<Self::Element> {
        Selection::new(self.full(), self.full_count())
    }

    /// Narrows one side of a selection to a set of nodes. Before the call, the selection must
    /// contain all coordinates of that side. Errors if the set does not fit the grid.
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

/// Returns the number of combinations of coordinates on the given axes: the product of the sizes of
/// their sets.
fn product<L: Layout + ?Sized>(layout: &L, axes: Range<usize>, a: &[L::Element]) -> u64 {
    axes.fold(1, |product: u64, axis| product.saturating_mul(layout.members(axis, a)))
}

/// Returns `boxes` without the blocks of `taken`.
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
