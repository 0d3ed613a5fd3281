//! What is said of a schedule that breaks a rule: which block, and where in its orbit it is
//! instead.

use super::boxes::{Cube, Narrowed, without};
use super::exchange::OrbitExchange;
use super::set::Set;
use crate::delivery::exchange::Rule;
use crate::delivery::fault::{Block, Count, DeliveryFault, EndFault, Fault, Place, Whereabouts};
use std::ops::Range;

impl OrbitExchange {
    /// A strict send of more than what was `taken`, which is all that the sender has of it.
    pub(super) fn not_held(&self, rule: &Rule<'_>, narrowed: &Narrowed, taken: &[Cube]) -> Fault {
        let mut selection: Cube = self.radices.iter().map(|radix| Set::full(*radix)).collect();
        for (axis, set) in narrowed {
            selection[*axis] = set.clone();
        }
        // Blocks of which a sum has some are all in it, as far as sends look at them.
        let taken: Vec<Cube> = match self.sums() {
            true => taken.iter().map(|cube| self.with_all_origins(cube)).collect(),
            false => taken.to_vec(),
        };
        let lacks = without(vec![selection.clone()], &taken, &self.radices);
        let mut one = self.first_of(lacks.first().unwrap_or(&selection));
        let mut block = self.block(&one);
        if self.sums() {
            // What is not held is the sum: where it is, the sender's own contribution to it shows.
            block.origin = None;
            one.splice(self.origins.clone(), self.grid.coordinates(rule.from));
        }
        self.for_all(Fault::Delivery(
            self.step,
            DeliveryFault::NotHeld {
                from: self.placement.locate(rule.from),
                to: self.placement.locate(rule.to),
                block,
                whereabouts: self.whereabouts(&one),
            },
        ))
    }

    /// A sum with a contribution that the representative's own value has.
    pub(super) fn counted_twice(&self, index: usize, both: &Cube) -> Fault {
        let block = self.block(&self.first_of(both));
        self.for_all(Fault::Delivery(
            self.step,
            DeliveryFault::CountedTwice { node: self.place(index), block },
        ))
    }

    /// A value replaced by one without a contribution of its own.
    pub(super) fn replaced(&self, index: usize, lost: &Cube) -> Fault {
        let block = self.block(&self.first_of(lost));
        self.for_all(Fault::Delivery(
            self.step,
            DeliveryFault::Replaced { node: self.place(index), block },
        ))
    }

    /// A block that came to a representative that has it.
    pub(super) fn delivered_twice(&self, index: usize, overlap: &Cube) -> Fault {
        let block = self.block(&self.first_of(overlap));
        self.for_all(Fault::Delivery(
            self.step,
            DeliveryFault::DeliveredTwice { node: self.place(index), block },
        ))
    }

    /// A representative that lacks a box at the end; so many blocks are missing at so many
    /// representatives.
    pub(super) fn never_delivered(
        &self,
        index: usize,
        lack: &Cube,
        missing: u64,
        lacking: u64,
    ) -> Fault {
        let one = self.first_of(lack);
        let order = self.group.order();
        Fault::End(
            self.step,
            EndFault::NeverDelivered {
                node: self.place(index),
                block: self.block(&one),
                whereabouts: self.whereabouts(&one),
                missing: Count(
                    missing.saturating_mul(order),
                    if self.sums() { "contribution" } else { "block" },
                ),
                nodes: Count(lacking * order, "node"),
            },
        )
    }

    /// What is wrong at a representative is wrong at its whole orbit.
    fn for_all(&self, fault: Fault) -> Fault {
        let others = self.group.order() - 1;
        if others == 0 {
            fault
        } else {
            Fault::ForOrbit(Box::new(fault), Count(others, "other node"))
        }
    }

    fn place(&self, index: usize) -> Place {
        self.placement.locate(self.group.representative(index))
    }

    /// The coordinates of a box's first block, axis by axis.
    fn first_of(&self, cube: &Cube) -> Vec<u64> {
        cube.iter().map(Set::first).collect()
    }

    fn node(&self, axes: &Range<usize>, coordinates: &[u64]) -> Option<u64> {
        let node = axes.clone().fold(0, |node, axis| node * self.radices[axis] + coordinates[axis]);
        (!axes.is_empty()).then_some(node)
    }

    fn block(&self, one: &[u64]) -> Block {
        let segment = one.last().copied().filter(|_| self.division.segments > 1);
        let (origin, place) = (self.node(&self.origins, one), self.node(&self.destinations, one));
        let in_parts = self.in_parts();
        let (destination, part) = (place.filter(|_| !in_parts), place.filter(|_| in_parts));
        Block { origin, destination, segment, part, is_summed: self.sums() }
    }

    /// Who holds a block: of all nodes the first, for a representative holds for its orbit the
    /// images of what it holds.
    fn whereabouts(&self, one: &[u64]) -> Whereabouts {
        let first = |lists: &[Vec<Cube>]| {
            let held = lists
                .iter()
                .enumerate()
                .flat_map(|(index, list)| list.iter().map(move |cube| (index, cube)));
            held.filter_map(|(index, cube)| self.holder(index, cube, one)).min()
        };
        let terms = self
            .terms
            .iter()
            .map(|sends| sends.iter().flat_map(|sent| sent.cubes.iter().cloned()).collect());
        let terms: Vec<Vec<Cube>> = terms.collect();
        if let Some(node) = first(&self.arriving).into_iter().chain(first(&terms)).min() {
            return Whereabouts::Arriving(self.placement.locate(node));
        }
        let destination = self.node(&self.destinations, one).filter(|_| !self.in_parts());
        match first(&self.held) {
            Some(node) if destination == Some(node) => {
                Whereabouts::Delivered(self.placement.locate(node))
            }
            Some(node) => Whereabouts::At(self.placement.locate(node)),
            None => Whereabouts::Nowhere,
        }
    }

    /// The least node of a representative's orbit that holds a block, if `cube` is what the
    /// representative holds: there is one if some element takes a block of the box to it, and
    /// elements are looked for axis by axis.
    fn holder(&self, index: usize, cube: &Cube, one: &[u64]) -> Option<u64> {
        let last = one.len() - 1;
        if !cube[last].contains(one[last]) {
            return None;
        }
        let own = self.grid.coordinates(self.group.representative(index));
        let mut node = 0;
        for (axis, (acting, own)) in self.group.axes().iter().zip(own).enumerate() {
            let fits = |element: &u64| {
                [&self.origins, &self.destinations].into_iter().filter(|side| !side.is_empty()).all(
                    |side| {
                        cube[side.start + axis].contains(
                            acting.moved(one[side.start + axis], acting.inverse(*element)),
                        )
                    },
                )
            };
            let elements = (0..acting.radix / acting.unit).map(|multiple| multiple * acting.unit);
            let coordinate =
                elements.filter(fits).map(|element| acting.moved(own, element)).min()?;
            node = node * acting.radix + coordinate;
        }
        Some(node)
    }
}
