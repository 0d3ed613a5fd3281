//! Boxes with one bit per coordinate.

use super::{Axes, Axis, Cut, Layout, Selection, Side, strided};
use crate::delivery::grid::Grid;
use crate::network::symmetry::split_off;

/// A layout with one bit per coordinate. Several short axes can share a word of 64 bits.
#[derive(Debug, Clone)]
pub struct BitLayout {
    axes: Axes,
    fields: Vec<Field>,
    full: Vec<u64>,
    full_count: u64,
    origin_words: usize,
    /// Whether each axis is within a single word. If so, a box is empty if and only if one of its
    /// words is 0.
    is_simple: bool,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    word: usize,
    words: usize,
    shift: u32,
    radix: u32,
    mask: u64,
}

impl Field {
    fn range(&self) -> std::ops::Range<usize> {
        self.word..self.word + self.words
    }

    fn is_empty(&self, a: &[u64]) -> bool {
        if self.words == 1 {
            a[self.word] & self.mask == 0
        } else {
            a[self.range()].iter().all(|word| *word == 0)
        }
    }

    #[inline]
    fn members(&self, a: &[u64]) -> u64 {
        if self.words == 1 {
            u64::from((a[self.word] & self.mask).count_ones())
        } else {
            a[self.range()].iter().map(|word| u64::from(word.count_ones())).sum()
        }
    }

    #[inline]
    fn clear(&self, out: &mut [u64]) {
        if self.words == 1 { out[self.word] &= !self.mask } else { out[self.range()].fill(0) }
    }

    #[inline]
    fn insert(&self, coordinate: u64, out: &mut [u64]) {
        let bit = u64::from(self.shift) + coordinate;
        out[self.word + (bit / 64) as usize] |= 1 << (bit % 64);
    }

    #[inline]
    fn contains(&self, coordinate: u64, a: &[u64]) -> bool {
        let bit = u64::from(self.shift) + coordinate;
        a[self.word + (bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn coordinates(self, a: &[u64]) -> impl Iterator<Item = u64> {
        a[self.range()].iter().enumerate().flat_map(move |(number, word)| {
            let mut left = word & self.mask;
            std::iter::from_fn(move || {
                let bit = u64::from(left.trailing_zeros());
                let is_set = left != 0;
                left &= left.wrapping_sub(1);
                is_set.then(|| number as u64 * 64 + bit - u64::from(self.shift))
            })
        })
    }

    fn insert_run(&self, first: u32, count: u32, out: &mut [u64]) {
        let (mut bit, mut left) = (self.shift + first, count);
        while left > 0 {
            let (word, low) = ((bit / 64) as usize, bit % 64);
            let here = left.min(64 - low);
            out[self.word + word] |= (u64::MAX >> (64 - here)) << low;
            bit += here;
            left -= here;
        }
    }

    #[inline]
    fn copy(&self, from: &[u64], to: &mut [u64]) {
        if self.words == 1 {
            to[self.word] = to[self.word] & !self.mask | from[self.word] & self.mask;
        } else {
            to[self.range()].copy_from_slice(&from[self.range()]);
        }
    }
}

impl BitLayout {
    /// Creates the layout. `origins` and `destinations` state whether boxes have these sides.
    pub fn new(grid: Grid, origins: bool, destinations: bool, segments: u32) -> Self {
        let side = grid.radices().to_vec();
        let axes = Axes::new(grid, &side, origins, destinations, segments);
        let (mut fields, mut next, mut origin_words) = (Vec::new(), (0_usize, 0_u32), 0);
        for (axis, &radix) in axes.radices.iter().enumerate() {
            let radix = u32::try_from(radix).unwrap_or(u32::MAX);
            let starts_side = axis == axes.destinations.start || axis == axes.destinations.end;
            if next.1 > 0 && (starts_side || next.1 + radix.min(64) > 64 || radix > 64) {
                next = (next.0 + 1, 0);
            }
            if axis == axes.origins.end {
                origin_words = next.0;
            }
            let words = radix.div_ceil(64) as usize;
            let mask = if words > 1 { u64::MAX } else { (u64::MAX >> (64 - radix)) << next.1 };
            fields.push(Field { word: next.0, words, shift: next.1, radix, mask });
            next = if words > 1 { (next.0 + words, 0) } else { (next.0, next.1 + radix) };
        }
        let words = if next.1 > 0 { next.0 + 1 } else { next.0 };
        let is_simple = fields.iter().all(|field| field.words == 1);
        let mut full = vec![0; words];
        fields.iter().for_each(|field| field.insert_run(0, field.radix, &mut full));
        let mut layout = Self { axes, fields, full, full_count: 0, origin_words, is_simple };
        layout.full_count = layout.count(&layout.full);
        layout
    }

    pub(crate) fn has_node(&self, side: Side, node: u64, a: &[u64]) -> bool {
        let mut rest = node;
        self.fields[self.axes.of_side(side)].iter().rev().all(|field| {
            let coordinate;
            (coordinate, rest) = split_off(rest, u64::from(field.radix));
            field.contains(coordinate, a)
        })
    }

    pub(crate) fn segments_in(&self, a: &[u64]) -> impl Iterator<Item = u64> {
        self.fields[self.segment_axis()].coordinates(a)
    }

    /// Sets the coordinates of one axis. `axis` is the number of the axis on its side of the box.
    pub(crate) fn set_coordinates(
        &self,
        side: Side,
        axis: usize,
        coordinates: &[u64],
        out: &mut [u64],
    ) {
        let field = &self.fields[self.axes.of_side(side).start + axis];
        field.clear(out);
        coordinates.iter().for_each(|coordinate| field.insert(*coordinate, out));
    }
}

impl Layout for BitLayout {
    type Element = u64;

    fn axes(&self) -> &Axes {
        &self.axes
    }

    fn full(&self) -> &[u64] {
        &self.full
    }

    fn full_count(&self) -> u64 {
        self.full_count
    }

    fn origin_elements(&self) -> usize {
        self.origin_words
    }

    #[inline]
    fn members(&self, axis: usize, a: &[u64]) -> u64 {
        self.fields[axis].members(a)
    }

    fn count(&self, a: &[u64]) -> u64 {
        self.fields.iter().fold(1, |product: u64, f| product.saturating_mul(f.members(a)))
    }

    fn coordinates(&self, axis: usize, a: &[u64]) -> Vec<u64> {
        let field = &self.fields[axis];
        let mut coordinates = Vec::with_capacity(field.members(a) as usize);
        field.coordinates(a).for_each(|coordinate| coordinates.push(coordinate));
        coordinates
    }

    fn first_coordinate(&self, axis: usize, a: &[u64]) -> u64 {
        self.fields[axis].coordinates(a).next().unwrap_or(0)
    }

    fn set_axis(&self, axis: usize, set: Axis<'_>, out: &mut [u64]) {
        let f = &self.fields[axis];
        f.clear(out);
        match set {
            Axis::All => f.insert_run(0, f.radix, out),
            Axis::Range { first, stride, count } if stride == 1 || count == 1 => {
                let straight = count.min(f.radix - first);
                f.insert_run(first, straight, out);
                f.insert_run(0, count - straight, out);
            }
            Axis::Range { first, stride, count } => {
                strided(first, stride, count, f.radix.into()).for_each(|c| f.insert(c, out));
            }
            Axis::Bits(words) => {
                for (out, word) in out[f.range()].iter_mut().zip(words) {
                    *out |= word << f.shift;
                }
            }
        }
    }

    fn set_coordinate(&self, axis: usize, coordinate: u64, out: &mut [u64]) {
        self.fields[axis].clear(out);
        self.fields[axis].insert(coordinate, out);
    }

    fn narrow_to(&self, side: Side, node: u64, out: &mut [u64]) {
        let mut rest = node;
        for field in self.fields[self.axes.of_side(side)].iter().rev() {
            let coordinate;
            (coordinate, rest) = split_off(rest, u64::from(field.radix));
            field.clear(out);
            field.insert(coordinate, out);
        }
    }

    fn intersect(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
        let mut least = u64::MAX;
        for ((a, b), out) in a.iter().zip(b).zip(out.iter_mut()) {
            *out = a & b;
            least = least.min(*out);
        }
        // This test comes first, because most pairs of boxes are disjoint, and most of these have a
        // word without common bits.
        if self.is_simple && least == 0 {
            return false;
        }
        !self.fields.iter().any(|field| field.is_empty(out))
    }

    fn terms_of(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
        // Destinations are compared before segments, because most pairs of boxes have no common
        // destination.
        for field in &self.fields[self.axes.origins.end..] {
            let mut common = 0;
            for i in field.range() {
                out[i] = a[i] & b[i];
                common |= out[i] & field.mask;
            }
            if common == 0 {
                return false;
            }
        }
        let first = self.origin_words;
        out[..first].copy_from_slice(&a[..first]);
        true
    }

    fn subtract(
        &self,
        a: &[u64],
        inner: &[u64],
        scratch: &mut [u64],
        mut piece: impl FnMut(&[u64]),
    ) {
        // Create a piece for each axis on which `a` and `inner` differ. On earlier axes, the piece
        // has the coordinates of `inner`. On this axis, it has those of `a` that are not in
        // `inner`. On later axes, it has those of `a`.
        let mut is_first = true;
        for (axis, field) in self.fields.iter().enumerate() {
            if same_words(&a[field.range()], &inner[field.range()], field.mask) {
                continue;
            }
            scratch.copy_from_slice(a);
            if !std::mem::take(&mut is_first) {
                self.fields[..axis].iter().for_each(|before| before.copy(inner, scratch));
            }
            for i in field.range() {
                scratch[i] &= !(inner[i] & field.mask);
            }
            piece(scratch);
        }
    }

    fn join(&self, a: &mut [u64], b: &[u64]) -> bool {
        // This test comes first, because most pairs of boxes of a node in a reduction differ in
        // origins and also on other axes, so they cannot be joined.
        let (origins, others) = (0..self.origin_words, self.origin_words..a.len());
        if !self.is_simple
            && differ(&a[others.clone()], &b[others])
            && differ(&a[origins.clone()], &b[origins])
        {
            return false;
        }
        let Some(first) = a.iter().zip(b).position(|(a, b)| a != b) else { return true };
        // Boxes that differ in several words differ on several axes, so their union is not a box.
        if self.is_simple && !same_words(&a[first + 1..], &b[first + 1..], u64::MAX) {
            return false;
        }
        let bit = (a[first] ^ b[first]).trailing_zeros();
        let is_first_difference = |f: &&Field| {
            if f.words == 1 {
                f.word == first && f.mask >> bit & 1 == 1
            } else {
                f.range().contains(&first)
            }
        };
        let Some(field) = self.fields.iter().find(is_first_difference) else { return false };
        let is_box = (a[first] ^ b[first]) & !field.mask == 0
            && same_words(&a[field.range().end..], &b[field.range().end..], u64::MAX);
        if is_box {
            for i in field.range() {
                a[i] |= b[i];
            }
        }
        is_box
    }

    fn contains(&self, outer: &[u64], inner: &[u64]) -> bool {
        outer.iter().zip(inner).all(|(outer, inner)| inner & !outer == 0)
    }

    fn cut(&self, a: &[u64], count: u64, selection: &Selection<u64>, out: &mut [u64]) -> Cut {
        let selected = selection.elements();
        let mut is_whole = true;
        for &axis in selection.narrowed() {
            let f = &self.fields[axis];
            let (mut any, mut lost) = (0, 0);
            for (word, selected) in a[f.range()].iter().zip(&selected[f.range()]) {
                any |= word & f.mask & selected;
                lost |= word & f.mask & !selected;
            }
            if any == 0 {
                return Cut::Nothing;
            }
            is_whole &= lost == 0;
        }
        if is_whole {
            return Cut::Whole;
        }
        out.copy_from_slice(a);
        // A single division, by the product of the set sizes, is faster than one for each axis.
        let (mut kept, mut of) = (1, 1);
        for &axis in selection.narrowed() {
            let f = &self.fields[axis];
            of *= self.members(axis, out);
            for (word, selected) in out[f.range()].iter_mut().zip(&selected[f.range()]) {
                *word &= selected | !f.mask;
            }
            kept *= self.members(axis, out);
        }
        Cut::Part(count / of * kept)
    }
}

/// Returns whether any words differ. All words are compared, because a branch after each word would
/// often be mispredicted.
#[inline]
fn differ(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) != 0
}

/// Compares word by word. A vector load would have to wait for the stores of boxes that have just
/// been written.
#[inline]
fn same_words(a: &[u64], b: &[u64], mask: u64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a ^ b) & mask == 0)
}
