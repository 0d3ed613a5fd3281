//! Computes the boxes that all nodes of an orbit send, for listeners that observe every send of a
//! symmetric schedule.

use super::{Inventory, OrbitExchange};
use crate::delivery::boxes::{BitLayout, Layout, RunLayout, Side};
use std::collections::BTreeMap;

type RunElement = <RunLayout as Layout>::Element;

/// The boxes of one send of a representative.
#[derive(Debug, Default)]
pub(crate) struct SentBoxes(Vec<Vec<RunElement>>);

impl OrbitExchange {
    /// Returns the boxes sent in this step, starting with box number `first`.
    pub(crate) fn sent_boxes(&self, first: usize) -> SentBoxes {
        SentBoxes(self.in_flight(first).map(|(_, a)| a.to_vec()).collect())
    }

    /// Returns the layout of expanded boxes, which is the layout of full planning.
    pub(crate) fn expanded_layout(&self) -> BitLayout {
        let Inventory { collective, division, placement, .. } = &self.inventory;
        Inventory::layout(collective, *division, placement)
    }

    /// Returns the boxes that another node of the sender's orbit sends: the images of the boxes in
    /// `sent` under an element of the group, in the layout `expanded`.
    pub(crate) fn expand(
        &self,
        sent: &SentBoxes,
        element: u64,
        expanded: &BitLayout,
    ) -> Vec<Vec<u64>> {
        let layout = &self.inventory.layout;
        let mut all = Vec::new();
        for a in &sent.0 {
            let mut image = a.clone();
            layout.move_by(element, &mut image);
            let mut boxes = vec![expanded.full().to_vec()];
            for side in [Side::Origins, Side::Destinations, Side::Segments] {
                if layout.has(side) {
                    let products = self.products(side, &image);
                    boxes = boxes
                        .iter()
                        .flat_map(|outer| {
                            products.iter().map(|product| narrowed(expanded, side, product, outer))
                        })
                        .collect();
                }
            }
            all.append(&mut boxes);
        }
        all
    }

    /// Returns one side of a box as products of sets of coordinates of the schedule's grid.
    fn products(&self, side: Side, a: &[RunElement]) -> Vec<Vec<Vec<u64>>> {
        let layout = &self.inventory.layout;
        let coordinates = layout.coordinates_of(side, a);
        if side == Side::Segments || !layout.acts_on_numbers() {
            return vec![coordinates];
        }
        let points: Vec<Vec<u64>> =
            coordinates.concat().into_iter().map(|node| layout.grid().coordinates(node)).collect();
        products(&points.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// Returns `outer` with one side replaced by a product of sets of coordinates.
fn narrowed(layout: &BitLayout, side: Side, product: &[Vec<u64>], outer: &[u64]) -> Vec<u64> {
    let mut inner = outer.to_vec();
    for (axis, coordinates) in product.iter().enumerate() {
        layout.set_coordinates(side, axis, coordinates, &mut inner);
    }
    inner
}

/// Divides points into products of sets of coordinates. Two values of the first coordinate are in
/// the same product if they occur with the same values of the remaining coordinates.
fn products(points: &[&[u64]]) -> Vec<Vec<Vec<u64>>> {
    if points.iter().all(|point| point.is_empty()) {
        return vec![Vec::new()];
    }
    // For each value of the first coordinate, collect the remaining coordinates of its points.
    let mut remaining: BTreeMap<u64, Vec<&[u64]>> = BTreeMap::new();
    for (first, rest) in points.iter().filter_map(|point| point.split_first()) {
        remaining.entry(*first).or_default().push(rest);
    }
    // Group values of the first coordinate that have the same remaining coordinates.
    let mut groups: Vec<(Vec<u64>, Vec<&[u64]>)> = Vec::new();
    for (first, rest) in remaining {
        match groups.iter_mut().find(|(_, other)| *other == rest) {
            Some((firsts, _)) => firsts.push(first),
            None => groups.push((vec![first], rest)),
        }
    }
    let of_group = |(firsts, rest): (Vec<u64>, Vec<&[u64]>)| {
        products(&rest)
            .into_iter()
            .map(move |product| [vec![firsts.clone()], product].concat())
            .collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_partitioned_into_few_products() {
        let points =
            |of: &[[u64; 2]]| products(&of.iter().map(<[u64; 2]>::as_slice).collect::<Vec<_>>());
        assert_eq!(points(&[[0, 1], [0, 2], [2, 1], [2, 2]]), [[vec![0, 2], vec![1, 2]]]);
        assert_eq!(points(&[[0, 3], [1, 0], [1, 1]]), [[vec![0], vec![3]], [vec![1], vec![0, 1]]]);
    }
}
