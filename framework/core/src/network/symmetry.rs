//! Symmetry groups of schedules. A group is a product of shifts and exclusive-ors, each of which
//! acts on one axis of a grid.
//!
//! Only the identity maps any node to itself. So every orbit has as many nodes as the group has
//! elements, and a count for one node of each orbit can be multiplied by the order of the group.
//! Reflections and rotations of axes map some nodes to themselves, so they are not supported.

use std::ops::Range;

/// The action of a group on one axis of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Maps every coordinate to itself.
    Fixed,
    /// Adds multiples of this period, modulo the radix of the axis.
    Shift(u64),
    /// Applies exclusive-or with multiples of this power of two.
    Xor(u64),
}

/// An axis of a grid, and the action of a group on it. Each orbit is represented by its coordinate
/// below `unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupAxis {
    /// The number of coordinates.
    pub radix: u64,
    /// The group elements on this axis are the multiples of this number. If it is the radix, the
    /// only element is 0.
    pub unit: u64,
    /// Whether an element acts by exclusive-or. If not, it acts by addition modulo the radix.
    pub xor: bool,
}

impl GroupAxis {
    /// Returns the image of a coordinate under an element.
    pub fn moved(self, coordinate: u64, element: u64) -> u64 {
        if self.xor {
            return coordinate ^ element;
        }
        let sum = coordinate + element;
        if sum >= self.radix { sum - self.radix } else { sum }
    }

    /// Returns the inverse of an element.
    pub fn inverse(self, element: u64) -> u64 {
        if self.xor || element == 0 { element } else { self.radix - element }
    }

    pub(crate) fn is_fixed(self) -> bool {
        self.unit == self.radix
    }
}

/// A group that acts on the nodes of a grid. The number of an element is that of the node to which
/// it maps node 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    axes: Vec<GroupAxis>,
    representatives: u64,
    order: u64,
}

impl Group {
    /// Creates the group that acts by these symmetries on the axes of a grid.
    pub fn new(radices: &[u64], symmetries: &[Symmetry]) -> Result<Self, String> {
        if radices.len() != symmetries.len() {
            return Err(format!(
                "it is one of {} axes, the grid has {}",
                symmetries.len(),
                radices.len()
            ));
        }
        let mut axes = Vec::with_capacity(radices.len());
        for (axis, (&radix, symmetry)) in radices.iter().zip(symmetries).enumerate() {
            let (unit, xor) = match *symmetry {
                Symmetry::Fixed => (radix, false),
                Symmetry::Shift(unit) if unit > 0 && radix % unit == 0 => (unit, false),
                Symmetry::Shift(unit) => {
                    return Err(format!(
                        "axis {axis}, of {radix}, is shifted by multiples of {unit}, which does not divide it"
                    ));
                }
                Symmetry::Xor(unit)
                    if radix.is_power_of_two() && unit.is_power_of_two() && unit <= radix =>
                {
                    (unit, true)
                }
                Symmetry::Xor(unit) => {
                    return Err(format!(
                        "axis {axis}, of {radix}, is changed by exclusive-or with multiples of {unit}; both must be powers of two, the second not above the first"
                    ));
                }
            };
            axes.push(GroupAxis { radix, unit, xor });
        }
        let representatives = axes.iter().map(|axis| axis.unit).product();
        Ok(Self { order: radices.iter().product::<u64>() / representatives, representatives, axes })
    }

    /// Returns the axes of the grid, each with the action of the group on it.
    pub fn axes(&self) -> &[GroupAxis] {
        &self.axes
    }

    /// Returns the number of orbits. An orbit is represented by its node whose coordinates are
    /// below the units of the axes.
    pub fn representatives(&self) -> u64 {
        self.representatives
    }

    /// Returns the number of elements, which is the number of nodes of each orbit.
    pub fn order(&self) -> u64 {
        self.order
    }

    /// Returns the index of a node's representative, and the element that maps the representative
    /// to the node.
    pub fn home(&self, node: u64) -> (usize, u64) {
        let (mut index, mut places, mut element) = (0, 1, 0);
        for (axis, coordinate, stride) in self.digits(node, |axis| axis.radix) {
            let (own, _) = split_off(coordinate, axis.unit);
            index += own * places;
            places *= axis.unit;
            element += (coordinate - own) * stride;
        }
        (index as usize, element)
    }

    pub(crate) fn representative(&self, index: usize) -> u64 {
        let digits = self.digits(index as u64, |axis| axis.unit);
        digits.map(|(_, digit, stride)| digit * stride).sum()
    }

    /// Splits a number into digits, starting with the last axis. Returns each digit with its axis
    /// and its stride.
    fn digits(
        &self,
        number: u64,
        radix: impl Fn(GroupAxis) -> u64,
    ) -> impl Iterator<Item = (GroupAxis, u64, u64)> {
        let (mut rest, mut stride) = (number, 1);
        self.axes.iter().rev().map(move |axis| {
            let (digit, own_stride);
            (digit, rest) = split_off(rest, radix(*axis));
            (own_stride, stride) = (stride, stride * axis.radix);
            (*axis, digit, own_stride)
        })
    }

    /// Returns the image of a node under an element.
    pub fn moved(&self, node: u64, element: u64) -> u64 {
        let (mut rest, mut image) = (element, 0);
        for (axis, coordinate, stride) in self.digits(node, |axis| axis.radix) {
            let own;
            (own, rest) = split_off(rest, axis.radix);
            image += axis.moved(coordinate, own) * stride;
        }
        image
    }

    /// Returns the inverse of an element.
    pub fn inverse(&self, element: u64) -> u64 {
        let digits = self.digits(element, |axis| axis.radix);
        digits.map(|(axis, own, stride)| axis.inverse(own) * stride).sum()
    }

    /// Returns all elements, in ascending order of the images of node 0.
    pub fn elements(&self) -> impl Iterator<Item = u64> + use<'_> {
        (0..self.order).map(|number| self.element(number))
    }

    pub(crate) fn element(&self, number: u64) -> u64 {
        let digits = self.digits(number, |axis| axis.radix / axis.unit);
        digits.map(|(axis, digit, stride)| digit * axis.unit * stride).sum()
    }

    pub(crate) fn image_of_representatives(&self, element: u64) -> Vec<Range<u64>> {
        let digits = self.digits(element, |axis| axis.radix);
        let mut ranges: Vec<_> = digits.map(|(axis, at, _)| at..at + axis.unit).collect();
        ranges.reverse();
        ranges
    }

    /// Returns generators of the group: for each axis the smallest shift, or the exclusive-or with
    /// each single bit.
    pub fn generators(&self) -> Vec<u64> {
        let (mut generators, mut stride) = (Vec::new(), 1);
        for axis in self.axes.iter().rev().filter(|axis| axis.radix > 1) {
            if axis.xor {
                let bits = std::iter::successors(Some(axis.unit), |bit| Some(bit * 2));
                generators.extend(bits.take_while(|bit| *bit < axis.radix).map(|bit| bit * stride));
            } else if !axis.is_fixed() {
                generators.push(axis.unit * stride);
            }
            stride *= axis.radix;
        }
        generators
    }

    /// Returns the largest subgroup of this form whose generators are all accepted: on each axis,
    /// its unit is as small as possible.
    pub(crate) fn subgroup(&self, accepts: impl Fn(u64) -> bool) -> Self {
        let alone = |moved: usize, unit: u64| {
            let axes = self.axes.iter().enumerate().map(|(axis, own)| GroupAxis {
                unit: if axis == moved { unit } else { own.radix },
                ..*own
            });
            Self { axes: axes.collect(), ..*self }
        };
        let axis = |(moved, own): (usize, &GroupAxis)| {
            let units = (1..=own.radix / own.unit).map(|times| times * own.unit);
            let mut units = units.filter(|unit| {
                own.radix.is_multiple_of(*unit) && (!own.xor || unit.is_power_of_two())
            });
            let unit =
                units.find(|unit| alone(moved, *unit).generators().into_iter().all(&accepts));
            GroupAxis { unit: unit.unwrap_or(own.radix), ..*own }
        };
        let axes: Vec<GroupAxis> = self.axes.iter().enumerate().map(axis).collect();
        let representatives = axes.iter().map(|axis| axis.unit).product();
        Self { axes, representatives, order: self.order * self.representatives / representatives }
    }

    pub(crate) fn commutes_with(&self, images: &[u32]) -> bool {
        self.generators().into_iter().all(|generator| {
            (0..).zip(images).all(|(node, image)| {
                let moved = images.get(self.moved(node, generator) as usize);
                moved.is_some_and(|moved| {
                    u64::from(*moved) == self.moved(u64::from(*image), generator)
                })
            })
        })
    }
}

/// Returns the remainder and the quotient. In common cases, this needs no slow division.
pub(crate) fn split_off(number: u64, radix: u64) -> (u64, u64) {
    if number < radix {
        (number, 0)
    } else if radix.is_power_of_two() {
        (number & (radix - 1), number >> radix.trailing_zeros())
    } else {
        (number % radix, number / radix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Symmetry::{Fixed, Shift, Xor};

    #[test]
    fn every_node_is_the_image_of_its_representative() {
        for (radices, symmetries) in [
            (&[6, 4][..], &[Shift(2), Shift(1)][..]),
            (&[8], &[Xor(2)]),
            (&[5, 4, 3], &[Fixed, Xor(1), Shift(3)]),
            (&[1, 7], &[Shift(1), Shift(7)]),
        ] {
            let group = Group::new(radices, symmetries).unwrap();
            let elements: Vec<u64> = group.elements().collect();
            let nodes: u64 = radices.iter().product();
            assert_eq!(
                (elements.len() as u64, group.order() * group.representatives()),
                (group.order(), nodes)
            );
            for node in 0..nodes {
                let (index, element) = group.home(node);
                assert!(elements.contains(&element) && index < group.representatives() as usize);
                assert_eq!(group.moved(group.representative(index), element), node);
                assert_eq!(group.moved(node, group.inverse(element)), group.representative(index));
            }
        }
    }

    #[test]
    fn invalid_groups_are_refused() {
        let refused = |symmetry| Group::new(&[10], &[symmetry]).unwrap_err();
        insta::assert_snapshot!(refused(Shift(4)), @"axis 0, of 10, is shifted by multiples of 4, which does not divide it");
        assert!(
            refused(Shift(0)).contains("multiples of 0")
                && refused(Xor(2)).contains("powers of two")
        );
        assert_eq!(
            Group::new(&[2, 5], &[Fixed]).unwrap_err(),
            "it is one of 1 axes, the grid has 2"
        );
    }

    #[test]
    fn a_rotation_commutes_with_shifts_and_a_reversal_does_not() {
        let shifts = Group::new(&[6], &[Shift(2)]).unwrap();
        assert!(shifts.commutes_with(&[1, 2, 3, 4, 5, 0]));
        assert!(!shifts.commutes_with(&[5, 4, 3, 2, 1, 0]));
        let xors = Group::new(&[4], &[Xor(1)]).unwrap();
        assert!(xors.commutes_with(&[3, 2, 1, 0]) && !xors.commutes_with(&[1, 2, 3, 0]));
    }
}
