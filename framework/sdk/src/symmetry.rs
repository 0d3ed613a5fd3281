//! Symmetry groups of a schedule, and the nodes whose sends a plan has to list.

use std::ops::Range;
use swapmeet_abi::{SWM_FIXED, SWM_SHIFT, SWM_XOR, SwmSymmetry};

/// The action of a group on the coordinates of one axis
/// ([`Schedule::symmetric`](crate::Schedule::symmetric)).
///
/// ```
/// use swapmeet_sdk::Symmetry;
/// // The group adds 0, 4, 8, etc. to the coordinates, modulo the radix.
/// let submeshes = Symmetry::shift(4);
/// // The group flips any of the bits from bit 2 (value 4) on.
/// let high_bits = Symmetry::xor(4);
/// let all = [submeshes, high_bits, Symmetry::NONE];
/// # let _ = all;
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Symmetry(SwmSymmetry);

impl Symmetry {
    /// The group leaves every coordinate of the axis unchanged.
    pub const NONE: Self = Self(SwmSymmetry { kind: SWM_FIXED, reserved: 0, unit: 0 });

    /// The group adds multiples of `unit`, which must divide the radix, modulo the axis's radix.
    pub const fn shift(unit: u64) -> Self {
        Self(SwmSymmetry { kind: SWM_SHIFT, reserved: 0, unit })
    }

    /// The group combines the coordinate with multiples of `unit` by exclusive-or. Both `unit` and
    /// the radix must be powers of two.
    pub const fn xor(unit: u64) -> Self {
        Self(SwmSymmetry { kind: SWM_XOR, reserved: 0, unit })
    }
}

/// The nodes whose sends a plan lists, in ascending order. They are all nodes, or the node with the
/// lowest coordinates of each orbit. To check the symmetry, the host also plans the images of these
/// nodes under an element of the group. Iterate over the planned nodes once in each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    coordinates: Vec<Range<u64>>,
    /// For each axis, its planned coordinates and its *stride*, the difference between the numbers
    /// of neighbours. If all coordinates of an axis are planned, the axis is joined with the axis
    /// before it.
    axes: Vec<(Range<u64>, u64)>,
    has_all_nodes: bool,
}

impl Planned {
    pub(crate) fn new(radices: &[u64], coordinates: Vec<Range<u64>>) -> Self {
        let mut axes: Vec<(Range<u64>, u64)> = Vec::new();
        let (mut stride, mut whole, mut has_all_nodes) = (1, true, true);
        for (radix, range) in radices.iter().zip(&coordinates).rev() {
            match axes.last_mut() {
                Some((inner, _)) if whole => {
                    *inner = range.start * inner.end..range.end * inner.end;
                }
                _ => axes.push((range.clone(), stride)),
            }
            whole = *range == (0..*radix);
            has_all_nodes &= whole;
            stride *= radix;
        }
        axes.reverse();
        Self { coordinates, axes, has_all_nodes }
    }

    /// Returns the number of planned nodes.
    pub fn len(&self) -> u64 {
        self.axes.iter().map(|(range, _)| range.end - range.start).product()
    }

    /// Returns false, because there is always a planned node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all nodes are planned.
    pub fn is_everyone(&self) -> bool {
        self.has_all_nodes
    }

    /// Returns the planned coordinates of an axis, which need not start at 0. A plan can use them
    /// to prepare a table with one entry for each. Panics if there is no such axis.
    pub fn coordinates(&self, axis: usize) -> Range<u64> {
        self.coordinates[axis].clone()
    }

    /// Returns whether a node is planned.
    pub fn contains(&self, node: u64) -> bool {
        let mut rest = node;
        self.axes.iter().all(|(range, stride)| {
            let coordinate = rest / stride;
            rest %= stride;
            range.contains(&coordinate)
        })
    }

    /// Returns the planned nodes in ascending order.
    pub fn iter(&self) -> PlannedNodes<'_> {
        let run = self.axes.last().map_or(1, |(range, _)| range.end - range.start);
        PlannedNodes { axes: &self.axes, next: 0, end: 0, runs: 0..self.len() / run.max(1) }
    }
}

impl<'a> IntoIterator for &'a Planned {
    type Item = u64;
    type IntoIter = PlannedNodes<'a>;

    fn into_iter(self) -> PlannedNodes<'a> {
        self.iter()
    }
}

/// Iterator over the planned nodes.
#[derive(Debug, Clone)]
pub struct PlannedNodes<'a> {
    axes: &'a [(Range<u64>, u64)],
    next: u64,
    /// The number after the last node of the current range of consecutive nodes.
    end: u64,
    runs: std::ops::Range<u64>,
}

impl Iterator for PlannedNodes<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.next == self.end {
            let mut rest = self.runs.next()?;
            let Some(((last, _), before)) = self.axes.split_last() else { return Some(0) };
            let mut first = 0;
            for (range, stride) in before.iter().rev() {
                let count = range.end - range.start;
                first += (range.start + rest % count) * stride;
                rest /= count;
            }
            (self.next, self.end) = (first + last.start, first + last.end);
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_coordinates_below_the_counts_are_planned() {
        let planned = Planned::new(&[3, 4, 5], vec![0..2, 0..4, 0..2]);
        let expected: Vec<u64> = (0..60).filter(|node| node / 20 < 2 && node % 5 < 2).collect();
        assert_eq!(planned.iter().collect::<Vec<_>>(), expected);
        assert_eq!((0..60).filter(|node| planned.contains(*node)).collect::<Vec<_>>(), expected);
        assert_eq!((planned.len(), planned.is_everyone()), (16, false));
    }

    /// The planned nodes are the images of the nodes with the lowest coordinates under a shift by
    /// (2, 0, 2). One axis is joined with the axis before it.
    #[test]
    fn planned_coordinates_may_start_anywhere() {
        let planned = Planned::new(&[4, 3, 6], vec![2..4, 0..3, 2..4]);
        let expected: Vec<u64> =
            (0..72).filter(|node| node / 18 >= 2 && (2..4).contains(&(node % 6))).collect();
        assert_eq!(planned.iter().collect::<Vec<_>>(), expected);
        assert_eq!((0..72).filter(|node| planned.contains(*node)).collect::<Vec<_>>(), expected);
        assert_eq!((planned.len(), planned.coordinates(2)), (12, 2..4));
        let planned = Planned::new(&[4, 3], vec![1..2, 0..3]);
        assert!(planned.iter().eq(3..6) && planned.contains(3) && !planned.contains(6));
    }

    #[test]
    fn all_nodes_are_one_run() {
        let planned = Planned::new(&[3, 4, 5], vec![0..3, 0..4, 0..5]);
        assert!(planned.iter().eq(0..60) && planned.is_everyone());
        assert_eq!(planned.axes, [(0..60, 1)]);
        assert!((0..60).all(|node| planned.contains(node)));
        assert!(Planned::new(&[], Vec::new()).iter().eq(0..1));
    }
}
