//! The images of sends under the elements of a symmetry group, each computed individually.

use super::follow::Disproof;
use super::record::{Rehearsed, RehearsedSend};
use std::ops::Range;
use swapmeet_abi::{SWM_FIXED, SWM_SHIFT, SWM_XOR, SwmSymmetry};

pub(super) struct Orbits {
    /// For each axis: its radix, the unit whose multiples are the elements of the group on this
    /// axis, and whether an element acts by exclusive-or (true) or by addition (false).
    axes: Vec<(u64, u64, bool)>,
    planned: Vec<Range<u64>>,
}

impl Orbits {
    /// Reads the group that a plugin declares. The error describes why it is not a group of the
    /// grid. The planned nodes are the images of the first node of each orbit under the element of
    /// the group with the number `element`, or under the last element if there are fewer.
    pub(super) fn new(
        radices: &[u64],
        axes: &[SwmSymmetry],
        element: usize,
    ) -> Result<Self, String> {
        if radices.len() != axes.len() {
            return Err(format!(
                "a symmetry of {} axes in a grid of {} axes",
                axes.len(),
                radices.len()
            ));
        }
        let read = |(radix, axis): (&u64, &SwmSymmetry)| match axis.kind {
            SWM_FIXED => Ok((*radix, *radix, false)),
            SWM_SHIFT if axis.unit > 0 && radix % axis.unit == 0 => Ok((*radix, axis.unit, false)),
            SWM_XOR
                if radix.is_power_of_two()
                    && axis.unit.is_power_of_two()
                    && axis.unit <= *radix =>
            {
                Ok((*radix, axis.unit, true))
            }
            _ => Err(format!(
                "an axis of {radix} has no symmetry of kind {} by multiples of {}",
                axis.kind, axis.unit
            )),
        };
        let axes = radices.iter().zip(axes).map(read).collect::<Result<_, _>>()?;
        let mut orbits = Self { axes, planned: Vec::new() };
        let elements = orbits.elements();
        let first = &elements[element.min(elements.len() - 1)];
        orbits.planned =
            first.iter().zip(&orbits.axes).map(|(first, axis)| *first..first + axis.1).collect();
        Ok(orbits)
    }

    pub(super) fn planned(&self) -> &[Range<u64>] {
        &self.planned
    }

    /// Returns all elements. An element has, for each axis, a number that it adds to the coordinate
    /// or combines with it by exclusive-or.
    fn elements(&self) -> Vec<Vec<u64>> {
        self.axes.iter().fold(vec![Vec::new()], |elements, (radix, unit, _)| {
            let multiples = || (0..*radix).step_by(*unit as usize);
            elements
                .iter()
                .flat_map(|e: &Vec<u64>| multiples().map(move |m| [&e[..], &[m]].concat()))
                .collect()
        })
    }

    /// Returns the images of a send: the sends of all nodes in the sender's orbit.
    pub(super) fn images(&self, send: &RehearsedSend) -> Result<Vec<RehearsedSend>, String> {
        if self.coordinates(send.from).iter().zip(&self.planned).any(|(c, own)| !own.contains(c)) {
            return Err(format!("node {} sends, but is not planned", send.from));
        }
        Ok(self.elements().iter().map(|element| self.image(send, element)).collect())
    }

    fn image(&self, send: &RehearsedSend, element: &[u64]) -> RehearsedSend {
        let node = |node: &u64| self.moved(*node, element);
        let set = |nodes: &[u64]| {
            let mut nodes: Vec<u64> = nodes.iter().map(node).collect();
            nodes.sort_unstable();
            nodes
        };
        let mut image = send.clone();
        (image.from, image.to) = (node(&send.from), node(&send.to));
        (image.origins, image.destinations) = (set(&send.origins), set(&send.destinations));
        image.route.path = send.route.path.iter().map(node).collect();
        image
    }

    fn coordinates(&self, mut node: u64) -> Vec<u64> {
        let mut coordinates: Vec<u64> = Vec::new();
        for (radix, ..) in self.axes.iter().rev() {
            coordinates.insert(0, node % radix);
            node /= radix;
        }
        coordinates
    }

    fn moved(&self, node: u64, element: &[u64]) -> u64 {
        let moves = self.coordinates(node).into_iter().zip(element).zip(&self.axes);
        moves.fold(0, |node, ((c, e), (radix, _, xor))| {
            node * radix + if *xor { c ^ e } else { (c + e) % radix }
        })
    }
}

/// Compares steps. The order of the sends in a step does not matter. The error is the first
/// difference.
pub(super) fn compare(by_orbits: &Rehearsed, full: &Rehearsed) -> Result<(), Disproof> {
    let (a, b) = (by_orbits.steps.len() as u64, full.steps.len() as u64);
    if a != b {
        let what = format!("is the last one of the plan by orbits; the full plan has {b} steps");
        return Err(Disproof::Wrong { step: a, what });
    }
    for (step, (by_orbits, full)) in (1..).zip(by_orbits.steps.iter().zip(&full.steps)) {
        let mut unmatched: Vec<&RehearsedSend> = full.sends.iter().collect();
        unmatched.sort_by_key(|send| send.from);
        for send in &by_orbits.sends {
            let first = unmatched.partition_point(|other| other.from < send.from);
            let mut same = unmatched[first..].iter().take_while(|other| other.from == send.from);
            let Some(at) = same.position(|other| *other == send) else {
                let (from, to) = (send.from, send.to);
                let what = format!(
                    "node {from} does not send node {to} the image of a planned node's send"
                );
                return Err(Disproof::Wrong { step, what });
            };
            unmatched.remove(first + at);
        }
        if let Some(RehearsedSend { from, to, .. }) = unmatched.first() {
            let what = format!(
                "node {from} sends node {to} something that is not the image of a planned node's send"
            );
            return Err(Disproof::Wrong { step, what });
        }
    }
    Ok(())
}
