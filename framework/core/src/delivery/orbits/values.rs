//! Sums: of a segment, or a part, a node holds one value, the contributions in which are the
//! origins of its boxes ([`crate::delivery::exchange`] says more).

use super::boxes::{Cube, Narrowed, common, count, cut, insert, without};
use super::exchange::{Arrived, OrbitExchange};
use super::set::Set;
use crate::delivery::fault::Fault;
use smallvec::SmallVec;
use std::collections::BTreeSet;

impl OrbitExchange {
    /// The load of a box: blocks, or values that it has terms of.
    pub(super) fn load(&self, cube: &Cube) -> u64 {
        count(if self.sums() { &cube[self.origins.end..] } else { cube })
    }

    /// Values in a selection, held by anybody or not.
    pub(super) fn values_selected(&self, narrowed: &Narrowed) -> u64 {
        let set = |axis: usize| {
            narrowed.iter().find(|(other, _)| *other == axis).map(|(_, set)| set.count())
        };
        let axes = self.origins.end..self.radices.len();
        axes.fold(1, |all: u64, axis| all.saturating_mul(set(axis).unwrap_or(self.radices[axis])))
    }

    /// Of how many values boxes have terms, each counted once.
    pub(super) fn load_of_values(&self, cubes: &[Cube]) -> u64 {
        let mut load = 0;
        for (i, cube) in cubes.iter().enumerate() {
            let earlier: Vec<Cube> =
                cubes[..i].iter().map(|cube| self.with_all_origins(cube)).collect();
            load += match earlier[..] {
                [] => self.load(cube),
                _ => {
                    let rest = without(vec![self.with_all_origins(cube)], &earlier, &self.radices);
                    rest.iter().map(|cube| self.load(cube)).sum()
                }
            };
        }
        load
    }

    /// The box of all terms of the same values.
    pub(super) fn with_all_origins(&self, cube: &Cube) -> Cube {
        let mut whole = cube.clone();
        for axis in self.origins.clone() {
            whole[axis] = Set::full(self.radices[axis]);
        }
        whole
    }

    /// What the sends of the step bring a representative arrives, send by send, in the order of
    /// senders: that in which everyone would be planned for.
    pub(super) fn values_arrive(&mut self, index: usize) -> Result<(), Fault> {
        let mut arrived = std::mem::take(&mut self.terms[index]);
        // Where every node is its own orbit, it is sent what it is in the order in which the
        // schedule says so.
        let in_orbits = self.group.order() > 1;
        for order in if in_orbits { self.other_orders(&arrived) } else { BTreeSet::new() } {
            // It is another node of the orbit that is sent the same in this order, which may break
            // a rule.
            let state = (self.held[index].clone(), self.loads[index], self.summed[index]);
            order.into_iter().try_for_each(|i| self.value_arrives(index, &arrived[i]))?;
            (self.held[index], self.loads[index], self.summed[index]) = state;
        }
        if in_orbits {
            arrived.sort_by_key(|arrived| arrived.from);
        }
        arrived.drain(..).try_for_each(|arrived| self.value_arrives(index, &arrived))?;
        self.terms[index] = arrived;
        Ok(())
    }

    /// In what orders nodes of the orbit are sent this, where that makes a difference: where
    /// something takes the place of what else is sent in the same step.
    fn other_orders(&self, arrived: &[Arrived]) -> BTreeSet<Vec<usize>> {
        let meet = |a: &Cube, b: &Cube| {
            let mut values = a.iter().zip(b).zip(&self.radices).skip(self.origins.end);
            values.all(|((a, b), radix)| !a.and(b, *radix).is_empty())
        };
        let clash = |(a, b): (&Arrived, &Arrived)| {
            let equal = |one: &Cube, other: &Cube| !a.combine && !b.combine && one == other;
            let meets =
                |one: &Cube| b.cubes.iter().any(|other| !equal(one, other) && meet(one, other));
            !(a.combine && b.combine) && a.cubes.iter().any(meets)
        };
        let mut pairs =
            arrived.iter().enumerate().flat_map(|(i, a)| arrived[..i].iter().map(move |b| (a, b)));
        if !pairs.any(clash) {
            return BTreeSet::new();
        }
        let order = |element| {
            let mut order: Vec<usize> = (0..arrived.len()).collect();
            order.sort_by_key(|i| self.group.moved(arrived[*i].from, element));
            order
        };
        self.group.elements().map(order).collect()
    }

    fn value_arrives(&mut self, index: usize, arrived: &Arrived) -> Result<(), Fault> {
        let mut meeting = Vec::new();
        for cube in &arrived.cubes {
            self.take_terms(index, cube, &mut meeting);
        }
        self.loads[index] += self.load_of_values(&arrived.cubes);
        if !meeting.is_empty() {
            let load = self.load_of_values(&meeting);
            // Either way one value is where two were.
            self.loads[index] -= load;
            if arrived.combine {
                self.none_counted_twice(index, &meeting, &arrived.cubes)?;
                self.summed[index] += load;
            } else {
                self.none_lost(index, &meeting, &arrived.cubes)?;
                meeting.clear();
            }
        }
        for cube in arrived.cubes.iter().cloned().chain(meeting) {
            insert(&mut self.held[index], cube, &self.radices);
        }
        Ok(())
    }

    /// Takes out of what a representative holds what is a term of the values that `cube` has terms
    /// of.
    fn take_terms(&mut self, index: usize, cube: &Cube, meeting: &mut Vec<Cube>) {
        let values: SmallVec<[(usize, Set); 4]> =
            cube.iter().cloned().enumerate().skip(self.origins.end).collect();
        let (held, radices) = (&mut self.held[index], &self.radices);
        let (mut at, mut rests) = (held.len(), SmallVec::<[Cube; 2]>::new());
        while at > 0 {
            at -= 1;
            if let Some((terms, rest)) = cut(&held[at], &values, radices) {
                held.swap_remove(at);
                meeting.push(terms);
                rests.extend(rest);
            }
        }
        rests.into_iter().for_each(|rest| insert(held, rest, radices));
    }

    /// That no contribution is in both of what a representative has and what it is sent.
    fn none_counted_twice(
        &self,
        index: usize,
        held: &[Cube],
        arriving: &[Cube],
    ) -> Result<(), Fault> {
        // As long as nothing was copied, every contribution is in one place.
        if !self.copied {
            return Ok(());
        }
        let both = held
            .iter()
            .find_map(|one| arriving.iter().find_map(|other| common(one, other, &self.radices)));
        both.map_or(Ok(()), |both| Err(self.counted_twice(index, &both)))
    }

    /// That every contribution in what a representative has is in what it is sent instead, too.
    fn none_lost(&self, index: usize, held: &[Cube], arriving: &[Cube]) -> Result<(), Fault> {
        let lost = without(held.to_vec(), arriving, &self.radices);
        lost.first().map_or(Ok(()), |lost| Err(self.replaced(index, lost)))
    }
}
