//! Symmetry groups of a schedule, and the nodes that a plan has to list.

use swapmeet_abi::{SWM_FIXED, SWM_SHIFT, SWM_XOR, SwmSymmetry};

/// The action of a symmetry group on the coordinates of one axis
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

    /// The group adds the multiples of `unit`, which must divide the axis's radix.
    pub const fn shift(unit: u64) -> Self {
        Self(SwmSymmetry { kind: SWM_SHIFT, reserved: 0, unit })
    }

    /// The group takes the exclusive-or with the multiples of `unit`. Both `unit` and the axis's
    /// radix must be powers of two.
    pub const fn xor(unit: u64) -> Self {
        Self(SwmSymmetry { kind: SWM_XOR, reserved: 0, unit })
    }
}

/// The nodes to plan, in ascending order. Iterate over it once in each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// For each axis the number of planned coordinates and the distance between neighbours. An axis
    /// whose coordinates are all planned is merged with the axis before it.
    axes: Vec<(u64, u64)>,
    everyone: bool,
}

impl Planned {
    pub(crate) fn new(radices: &[u64], planned: &[u64]) -> Self {
        let mut axes: Vec<(u64, u64)> = Vec::new();
        let (mut stride, mut whole) = (1, true);
        for (radix, count) in radices.iter().zip(planned).rev() {
            match axes.last_mut() {
                Some((counts, _)) if whole => *counts *= count,
                _ => axes.push((*count, stride)),
            }
            whole = count == radix;
            stride *= radix;
        }
        axes.reverse();
        Self { everyone: radices == planned, axes }
    }

    /// Returns the number of planned nodes.
    pub fn len(&self) -> u64 {
        self.axes.iter().map(|(count, _)| count).product()
    }

    /// Returns whether there are no planned nodes, which is never the case.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all nodes are planned.
    pub fn is_everyone(&self) -> bool {
        self.everyone
    }

    /// Returns whether a node is planned.
    pub fn contains(&self, node: u64) -> bool {
        let mut rest = node;
        self.axes.iter().all(|(count, stride)| {
            let coordinate = rest / stride;
            rest %= stride;
            coordinate < *count
        })
    }

    /// Returns the planned nodes in ascending order.
    pub fn iter(&self) -> PlannedNodes<'_> {
        let run = self.axes.last().map_or(1, |(count, _)| *count);
        PlannedNodes { axes: &self.axes, next: 0, end: run, runs: 1..self.len() / run.max(1) }
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
    axes: &'a [(u64, u64)],
    /// The rest of the current run of consecutive nodes: `next..end`.
    next: u64,
    end: u64,
    /// Indices of the runs of consecutive nodes that follow.
    runs: std::ops::Range<u64>,
}

impl Iterator for PlannedNodes<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.next == self.end {
            let (mut rest, (last, before)) = (self.runs.next()?, self.axes.split_last()?);
            self.next = 0;
            for (count, stride) in before.iter().rev() {
                self.next += rest % count * stride;
                rest /= count;
            }
            self.end = self.next + last.0;
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
        let planned = Planned::new(&[3, 4, 5], &[2, 4, 2]);
        let expected: Vec<u64> = (0..60).filter(|node| node / 20 < 2 && node % 5 < 2).collect();
        assert_eq!(planned.iter().collect::<Vec<_>>(), expected);
        assert_eq!((0..60).filter(|node| planned.contains(*node)).collect::<Vec<_>>(), expected);
        assert_eq!((planned.len(), planned.is_everyone()), (16, false));
    }

    #[test]
    fn all_nodes_are_one_run() {
        let planned = Planned::new(&[3, 4, 5], &[3, 4, 5]);
        assert!(planned.iter().eq(0..60) && planned.is_everyone());
        assert_eq!(planned.axes, [(60, 1)]);
        assert!((0..60).all(|node| planned.contains(node)));
        assert!(Planned::new(&[], &[]).iter().eq(0..1));
    }
}
