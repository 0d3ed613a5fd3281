//! Sends and their images under a group, one by one.

use super::follow::Disproof;
use super::record::{Rehearsed, RehearsedSend};
use swapmeet_abi::{SWM_FIXED, SWM_SHIFT, SWM_XOR, SwmSymmetry};

/// A group that acts on the nodes of a grid.
pub(super) struct Orbits {
    /// For each axis its radix, what the group's elements are multiples of, and whether by
    /// exclusive-or.
    axes: Vec<(u64, u64, bool)>,
}

impl Orbits {
    /// What a plugin says, or why it makes no sense.
    pub(super) fn new(radices: &[u64], axes: &[SwmSymmetry]) -> Result<Self, String> {
        if radices.len() != axes.len() {
            return Err(format!(
                "a symmetry of {} axes, in a grid of {}",
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
        Ok(Self { axes: radices.iter().zip(axes).map(read).collect::<Result<_, _>>()? })
    }

    /// Coordinates of the representatives on each axis.
    pub(super) fn units(&self) -> Vec<u64> {
        self.axes.iter().map(|(_, unit, _)| *unit).collect()
    }

    /// What all nodes of the sender's orbit send if this one sends that.
    pub(super) fn images(&self, send: &RehearsedSend) -> Result<Vec<RehearsedSend>, String> {
        if self.coordinates(send.from).iter().zip(&self.axes).any(|(c, (_, unit, _))| c >= unit) {
            return Err(format!("node {} sends, which is not planned for", send.from));
        }
        let elements =
            self.axes.iter().fold(vec![Vec::new()], |elements: Vec<Vec<u64>>, (radix, unit, _)| {
                let multiples = || (0..*radix).step_by(*unit as usize);
                elements
                    .iter()
                    .flat_map(|e| multiples().map(move |m| [&e[..], &[m]].concat()))
                    .collect()
            });
        Ok(elements.iter().map(|element| self.image(send, element)).collect())
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

/// Finds what is different, step by step, whatever the order of sends.
pub(super) fn compare(by_orbits: &Rehearsed, everyone: &Rehearsed) -> Result<(), Disproof> {
    let (a, b) = (by_orbits.steps.len() as u64, everyone.steps.len() as u64);
    if a != b {
        let what = format!(
            "is the last one where one node of each orbit is planned for, and step {b} where everyone is"
        );
        return Err(Disproof::Wrong { step: a, what });
    }
    for (step, (by_orbits, everyone)) in (1..).zip(by_orbits.steps.iter().zip(&everyone.steps)) {
        let mut left: Vec<&RehearsedSend> = everyone.sends.iter().collect();
        left.sort_by_key(|send| send.from);
        for send in &by_orbits.sends {
            let first = left.partition_point(|other| other.from < send.from);
            let mut same = left[first..].iter().take_while(|other| other.from == send.from);
            let Some(at) = same.position(|other| *other == send) else {
                let (from, to) = (send.from, send.to);
                let what = format!(
                    "node {from} should send node {to} what follows from another's send, but sends otherwise"
                );
                return Err(Disproof::Wrong { step, what });
            };
            left.remove(first + at);
        }
        if let Some(RehearsedSend { from, to, .. }) = left.first() {
            let what = format!("node {from} sends node {to} what follows from no other's send");
            return Err(Disproof::Wrong { step, what });
        }
    }
    Ok(())
}
