use super::set::Set;
use super::{Axes, Axis, BitLayout, Cut, Element, Layout, NodeSet, Selection, Side};
use crate::delivery::grid::Grid;
use crate::network::symmetry::Group;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// A layout with one set per axis. It is used if only one node of each orbit of a group is planned.
#[derive(Debug)]
pub(crate) struct RunLayout {
    axes: Axes,
    group: Group,
    /// Whether the group acts on node numbers, so that each side of a box is a single axis.
    acts_on_numbers: bool,
    full: Vec<Set>,
    full_count: u64,
}

impl Element for Set {
    fn from_number(number: u64) -> Self {
        Self::Word(number)
    }

    fn number(&self) -> u64 {
        if let Self::Word(number) = self { *number } else { 0 }
    }
}

impl RunLayout {
    pub(crate) fn new(
        grid: Grid,
        group: Group,
        origins: bool,
        destinations: bool,
        segments: u32,
    ) -> Self {
        let radices: Vec<u64> = group.axes().iter().map(|axis| axis.radix).collect();
        let acts_on_numbers = grid.radices() != radices;
        let axes = Axes::new(grid, &radices, origins, destinations, segments);
        let full: Vec<Set> = axes.radices.iter().map(|radix| Set::full(*radix)).collect();
        let mut layout = Self { axes, group, acts_on_numbers, full_count: 0, full };
        layout.full_count = layout.count(&layout.full);
        layout
    }

    pub(crate) fn orbit_group(&self) -> &Group {
        &self.group
    }

    /// Passes numbers to `word` that describe the image of a set of nodes under a group element.
    /// The set of all nodes has no numbers, and a single node has one. Errors if the set does not
    /// fit the grid.
    pub(crate) fn describe(
        &self,
        set: NodeSet<'_>,
        element: u64,
        mut word: impl FnMut(u64),
    ) -> Result<(), String> {
        set.check(self.grid())?;
        let axes = self.group.axes();
        let sets: SmallVec<[Set; 4]> = match set {
            NodeSet::All => return Ok(()),
            NodeSet::One(node) => {
                word(self.group.moved(node, element));
                return Ok(());
            }
            NodeSet::Axes(sets) if self.acts_on_numbers => {
                smallvec![Set::of_product(sets, self.grid())]
            }
            NodeSet::Axes(sets) => {
                sets.iter().zip(axes).map(|(set, axis)| Set::of(*set, axis.radix)).collect()
            }
        };
        let sets = || sets.iter().zip(axes);
        if sets().all(|(set, axis)| set.count() == axis.radix) {
            return Ok(());
        }
        if sets().all(|(set, _)| set.count() == 1) {
            let node = sets().fold(0, |node, (set, axis)| node * axis.radix + set.first());
            word(self.group.moved(node, element));
            return Ok(());
        }
        let mut rest = element;
        for (number, (set, axis)) in sets().enumerate().rev() {
            word(1 << 63 | number as u64);
            match rest % axis.radix {
                0 => set.each_word(&mut word),
                own => set.moved(*axis, own).each_word(&mut word),
            }
            rest /= axis.radix;
        }
        Ok(())
    }

    /// Describes a set of segments, as [`Self::describe`] does for nodes. Errors if there are no
    /// such segments.
    pub(crate) fn describe_segments(
        &self,
        set: Axis<'_>,
        word: impl FnMut(u64),
    ) -> Result<(), String> {
        set.check(self.segments()).map_err(|what| format!("is wrong: it {what}"))?;
        let set = Set::of(set, self.segments());
        if set.count() < self.segments() {
            set.each_word(word);
        }
        Ok(())
    }

    pub(crate) fn as_bits(&self, a: &[Set], layout: &BitLayout) -> Vec<Vec<u64>> {
        let mut boxes = vec![layout.full().to_vec()];
        let sides = [Side::Origins, Side::Destinations, Side::Segments];
        for side in sides.into_iter().filter(|side| self.has(*side)) {
            let products = self.products(side, a);
            boxes = boxes
                .iter()
                .flat_map(|outer| {
                    products.iter().map(|product| narrowed(layout, side, product, outer))
                })
                .collect();
        }
        boxes
    }

    fn products(&self, side: Side, a: &[Set]) -> Vec<Vec<Vec<u64>>> {
        let coordinates = self.coordinates_of(side, a);
        if side == Side::Segments || !self.acts_on_numbers {
            return vec![coordinates];
        }
        let points: Vec<Vec<u64>> =
            coordinates.concat().into_iter().map(|node| self.grid().coordinates(node)).collect();
        products(&points.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

impl Layout for RunLayout {
    type Element = Set;

    fn axes(&self) -> &Axes {
        &self.axes
    }

    fn full(&self) -> &[Set] {
        &self.full
    }

    fn full_count(&self) -> u64 {
        self.full_count
    }

    fn origin_elements(&self) -> usize {
        self.axes.origins.end
    }

    fn members(&self, axis: usize, a: &[Set]) -> u64 {
        a[axis].count()
    }

    fn coordinates(&self, axis: usize, a: &[Set]) -> Vec<u64> {
        (0..self.axes.radices[axis]).filter(|c| a[axis].contains(*c)).collect()
    }

    fn first_coordinate(&self, axis: usize, a: &[Set]) -> u64 {
        (0..self.axes.radices[axis]).find(|c| a[axis].contains(*c)).unwrap_or(0)
    }

    fn set_axis(&self, axis: usize, set: Axis<'_>, out: &mut [Set]) {
        let radix = self.axes.radices[axis];
        out[axis] = Set::of(set, radix);
    }

    fn set_coordinate(&self, axis: usize, coordinate: u64, out: &mut [Set]) {
        out[axis] = Set::one(self.axes.radices[axis], coordinate);
    }

    fn intersect(&self, a: &[Set], b: &[Set], out: &mut [Set]) -> bool {
        a.iter().zip(b).zip(out).zip(&self.axes.radices).all(|(((a, b), out), radix)| {
            *out = a.and(b, *radix);
            !out.is_empty()
        })
    }

    fn terms_of(&self, a: &[Set], b: &[Set], out: &mut [Set]) -> bool {
        let first = self.axes.origins.end;
        for axis in first..a.len() {
            out[axis] = a[axis].and(&b[axis], self.axes.radices[axis]);
            if out[axis].is_empty() {
                return false;
            }
        }
        out[..first].clone_from_slice(&a[..first]);
        true
    }

    fn subtract(
        &self,
        a: &[Set],
        inner: &[Set],
        scratch: &mut [Set],
        mut piece: impl FnMut(&[Set]),
    ) {
        for axis in (0..a.len()).filter(|axis| a[*axis] != inner[*axis]) {
            scratch[..axis].clone_from_slice(&inner[..axis]);
            scratch[axis] = a[axis].minus(&inner[axis], self.axes.radices[axis]);
            scratch[axis + 1..].clone_from_slice(&a[axis + 1..]);
            piece(scratch);
        }
    }

    fn join(&self, a: &mut [Set], b: &[Set]) -> bool {
        let mut differing = (0..a.len()).filter(|axis| a[*axis] != b[*axis]);
        let (first, second) = (differing.next(), differing.next());
        if let (Some(axis), None) = (first, second) {
            a[axis] = a[axis].or(&b[axis], self.axes.radices[axis]);
        }
        second.is_none()
    }

    fn contains(&self, outer: &[Set], inner: &[Set]) -> bool {
        let mut axes = outer.iter().zip(inner).zip(&self.axes.radices);
        axes.all(|((outer, inner), radix)| inner.minus(outer, *radix).is_empty())
    }

    fn cut(&self, a: &[Set], _count: u64, selection: &Selection<Set>, out: &mut [Set]) -> Cut {
        let mut is_whole = true;
        for &axis in selection.narrowed() {
            out[axis] = a[axis].and(&selection.elements()[axis], self.axes.radices[axis]);
            if out[axis].is_empty() {
                return Cut::Nothing;
            }
            is_whole &= out[axis] == a[axis];
        }
        if is_whole {
            return Cut::Whole;
        }
        for axis in (0..a.len()).filter(|axis| !selection.narrowed().contains(axis)) {
            out[axis].clone_from(&a[axis]);
        }
        Cut::Part(self.count(out))
    }

    fn group(&self) -> Option<&Group> {
        Some(&self.group)
    }

    fn home(&self, node: u64) -> (usize, u64) {
        self.group.home(node)
    }

    fn representative(&self, list: usize) -> u64 {
        self.group.representative(list)
    }

    fn move_by(&self, element: u64, a: &mut [Set]) {
        if element == 0 {
            return;
        }
        let axes = self.group.axes();
        let last = a.len() - 1;
        for side in a[..last].chunks_mut(axes.len().max(1)) {
            let mut rest = element;
            for (set, axis) in side.iter_mut().zip(axes).rev() {
                *set = set.moved(*axis, rest % axis.radix);
                rest /= axis.radix;
            }
        }
    }

    fn least_image(&self, node: u64, a: &[Set], one: &[Set]) -> Option<u64> {
        let first = |axis: usize| self.first_coordinate(axis, one);
        let last = a.len() - 1;
        if !a[last].contains(first(last)) {
            return None;
        }
        let (mut rest, mut stride, mut image) = (node, 1, 0);
        for (number, acting) in self.group.axes().iter().enumerate().rev() {
            let own = rest % acting.radix;
            rest /= acting.radix;
            let sides = [&self.axes.origins, &self.axes.destinations];
            let sides = sides.into_iter().filter(|side| !side.is_empty());
            let axes: Vec<(usize, u64)> =
                sides.map(|side| side.start + number).map(|axis| (axis, first(axis))).collect();
            let is_in_box = |element: &u64| {
                let back = acting.inverse(*element);
                axes.iter().all(|(axis, c)| a[*axis].contains(acting.moved(*c, back)))
            };
            let elements = (0..acting.radix / acting.unit).map(|multiple| multiple * acting.unit);
            let images = elements.filter(is_in_box).map(|element| acting.moved(own, element));
            image += images.min()? * stride;
            stride *= acting.radix;
        }
        Some(image)
    }

    fn narrow(
        &self,
        side: Side,
        set: NodeSet<'_>,
        selection: &mut Selection<Set>,
    ) -> Result<(), String> {
        set.check(self.grid())?;
        match set {
            NodeSet::Axes(sets) if self.acts_on_numbers && self.has(side) => {
                let numbers = Set::of_product(sets, self.grid());
                selection.replace(self, self.axes.of_side(side).start, numbers);
            }
            _ => selection.narrow(self, side, set),
        }
        Ok(())
    }
}

fn narrowed(layout: &BitLayout, side: Side, product: &[Vec<u64>], outer: &[u64]) -> Vec<u64> {
    let mut inner = outer.to_vec();
    for (axis, coordinates) in product.iter().enumerate() {
        layout.set_coordinates(side, axis, coordinates, &mut inner);
    }
    inner
}

/// Divides points into products of sets. Two values of the first coordinate are in the same product
/// if they occur with the same combinations of the remaining coordinates.
fn products(points: &[&[u64]]) -> Vec<Vec<Vec<u64>>> {
    if points.iter().all(|point| point.is_empty()) {
        return vec![Vec::new()];
    }
    let mut remaining: BTreeMap<u64, Vec<&[u64]>> = BTreeMap::new();
    for (first, rest) in points.iter().filter_map(|point| point.split_first()) {
        remaining.entry(*first).or_default().push(rest);
    }
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
