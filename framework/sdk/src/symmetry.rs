//! Groups that map a schedule onto itself, and whom a plan is asked for.

use swapmeet_abi::{SWM_FIXED, SWM_SHIFT, SWM_XOR, SwmSymmetry};

/// What a group does to the coordinates of one axis
/// ([`Schedule::symmetric`](crate::Schedule::symmetric)).
///
/// ```
/// use swapmeet_sdk::Symmetry;
/// // 0, 4, 8, .. may be added to every coordinate, round the axis
/// let submeshes = Symmetry::shift(4);
/// // of every coordinate the bits from 2 (value 4) on may be turned over
/// let high_bits = Symmetry::xor(4);
/// let all = [submeshes, high_bits, Symmetry::NONE];
/// # let _ = all;
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Symmetry(SwmSymmetry);

impl Symmetry {
    /// Leaves every coordinate of the axis where it is.
    pub const NONE: Self = Self(SwmSymmetry { kind: SWM_FIXED, reserved: 0, unit: 0 });

    /// Adds any multiple of `unit`, which divides the axis's radix.
    pub const fn shift(unit: u64) -> Self {
        Self(SwmSymmetry { kind: SWM_SHIFT, reserved: 0, unit })
    }

    /// Takes the exclusive-or with any multiple of `unit`; both `unit` and the axis's radix are
    /// powers of two.
    pub const fn xor(unit: u64) -> Self {
        Self(SwmSymmetry { kind: SWM_XOR, reserved: 0, unit })
    }
}

/// The nodes to plan for, in ascending order: go through it once a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// For each axis how many coordinates, and how far apart neighbours are. Axes that are planned
    /// for as a whole are one with the axis before.
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

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.axes.iter().map(|(count, _)| count).product()
    }

    /// Whether there are none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every node is planned for.
    pub fn is_everyone(&self) -> bool {
        self.everyone
    }

    /// Whether a node is one of them.
    pub fn contains(&self, node: u64) -> bool {
        let mut rest = node;
        self.axes.iter().all(|(count, stride)| {
            let coordinate = rest / stride;
            rest %= stride;
            coordinate < *count
        })
    }

    /// The nodes to plan for, in rising order.
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

/// Goes through the nodes to plan for.
#[derive(Debug, Clone)]
pub struct PlannedNodes<'a> {
    axes: &'a [(u64, u64)],
    /// The run of nodes under way, on the last axis.
    next: u64,
    end: u64,
    /// Numbers of the runs to come.
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
    fn nodes_with_coordinates_below_what_is_asked_for_are_planned_for() {
        let planned = Planned::new(&[3, 4, 5], &[2, 4, 2]);
        let expected: Vec<u64> = (0..60).filter(|node| node / 20 < 2 && node % 5 < 2).collect();
        assert_eq!(planned.iter().collect::<Vec<_>>(), expected);
        assert_eq!((0..60).filter(|node| planned.contains(*node)).collect::<Vec<_>>(), expected);
        assert_eq!((planned.len(), planned.is_everyone()), (16, false));
    }

    #[test]
    fn everyone_is_one_run() {
        let planned = Planned::new(&[3, 4, 5], &[3, 4, 5]);
        assert!(planned.iter().eq(0..60) && planned.is_everyone());
        assert_eq!(planned.axes, [(60, 1)]);
        assert!((0..60).all(|node| planned.contains(node)));
        assert!(Planned::new(&[], &[]).iter().eq(0..1));
    }
}
