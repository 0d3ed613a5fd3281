//! What a representative's send took, as the boxes that nodes of its orbit send.

use super::boxes::{Cube, count};
use super::exchange::OrbitExchange;
use super::set::Set;
use crate::delivery::boxes::{Layout, Side};
use std::collections::BTreeMap;
use std::ops::Range;

/// What one send took, as its sender had it.
#[derive(Debug, Default)]
pub(crate) struct Taken(Vec<Cube>);

impl OrbitExchange {
    /// What the last send took.
    pub(crate) fn taken(&self) -> Taken {
        Taken(self.taken.clone())
    }

    /// Blocks in what the last send took; segments of one block that are in several boxes count as
    /// often.
    pub(crate) fn blocks_taken(&self) -> u32 {
        let blocks =
            self.taken.iter().map(|cube| count(cube) / cube[cube.len() - 1].count().max(1));
        blocks.fold(0, |sum: u32, more| sum.saturating_add(u32::try_from(more).unwrap_or(u32::MAX)))
    }

    /// How boxes of the schedule's own grid are laid out.
    pub(crate) fn layout(&self) -> Layout {
        let (origins, destinations) = (!self.origins.is_empty(), !self.destinations.is_empty());
        Layout::new(self.placement.grid().clone(), origins, destinations, self.division.segments)
    }

    /// What the image of the sender under an element sends, as boxes of the schedule's own grid.
    pub(crate) fn boxes(&self, taken: &Taken, element: u64, layout: &Layout) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        for cube in &taken.0 {
            let cube = self.moved(cube, element);
            let mut boxes = vec![layout.full().to_vec()];
            for (side, axes) in
                [(Side::Origins, &self.origins), (Side::Destinations, &self.destinations)]
            {
                let products = self.products(&cube, axes);
                let narrowed = boxes.iter().flat_map(|outer| {
                    products.iter().map(|product| {
                        let mut inner = outer.clone();
                        let axes = product.iter().enumerate();
                        axes.for_each(|(axis, set)| {
                            layout.narrow_axis(side, axis, set.iter().copied(), &mut inner)
                        });
                        inner
                    })
                });
                boxes = narrowed.collect();
            }
            let last = cube.len() - 1;
            for bits in &mut boxes {
                layout.narrow_axis(
                    Side::Segments,
                    0,
                    members(&cube[last], self.radices[last]),
                    bits,
                );
            }
            all.append(&mut boxes);
        }
        all
    }

    /// One side of a box as products of coordinates of the schedule's own grid; one product of no
    /// axes where blocks aren't told apart by the side.
    fn products(&self, cube: &Cube, axes: &Range<usize>) -> Vec<Vec<Vec<u64>>> {
        let own = self.placement.grid();
        let sets = axes.clone().map(|axis| members(&cube[axis], self.radices[axis]).collect());
        if axes.is_empty() || own == &self.grid {
            return vec![sets.collect()];
        }
        // The group acts on the nodes' numbers.
        let nodes: Vec<u64> = sets.flatten().collect();
        let coordinates: Vec<Vec<u64>> =
            nodes.into_iter().map(|node| own.coordinates(node)).collect();
        products(&coordinates.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

fn members(set: &Set, radix: u64) -> impl Iterator<Item = u64> {
    (0..radix).filter(|c| set.contains(*c))
}

/// Points as products of coordinates: those whose first coordinates go with the same rests are one.
fn products(points: &[&[u64]]) -> Vec<Vec<Vec<u64>>> {
    if points.iter().all(|point| point.is_empty()) {
        return vec![Vec::new()];
    }
    let mut rests: BTreeMap<u64, Vec<&[u64]>> = BTreeMap::new();
    for (first, rest) in points.iter().filter_map(|point| point.split_first()) {
        rests.entry(*first).or_default().push(rest);
    }
    let mut alike: Vec<(Vec<u64>, Vec<&[u64]>)> = Vec::new();
    for (first, rest) in rests {
        match alike.iter_mut().find(|(_, other)| *other == rest) {
            Some((firsts, _)) => firsts.push(first),
            None => alike.push((vec![first], rest)),
        }
    }
    let of_one = |(firsts, rest): (Vec<u64>, Vec<&[u64]>)| {
        products(&rest)
            .into_iter()
            .map(move |product| [vec![firsts.clone()], product].concat())
            .collect::<Vec<_>>()
    };
    alike.into_iter().flat_map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_as_few_products_as_their_rows_have_shapes() {
        let points =
            |of: &[[u64; 2]]| products(&of.iter().map(<[u64; 2]>::as_slice).collect::<Vec<_>>());
        assert_eq!(points(&[[0, 1], [0, 2], [2, 1], [2, 2]]), [[vec![0, 2], vec![1, 2]]]);
        assert_eq!(points(&[[0, 3], [1, 0], [1, 1]]), [[vec![0], vec![3]], [vec![1], vec![0, 1]]]);
    }
}
