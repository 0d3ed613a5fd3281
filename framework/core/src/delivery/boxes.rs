//! Boxes of blocks: products of per-axis coordinate subsets, packed into words.
//!
//! A box is *origins x destinations x segments*, each of them a product over the axes of the
//! schedule's grid. Every axis is a field of bits, one bit a coordinate; small fields share a word
//! (a 20-dimensional hypercube's node set is 40 bits), large ones get words of their own (a side of
//! 128 takes two). One layout serves all boxes of an exchange, so that a box is just
//! `layout.words()` words.
//!
//! Rejected: (first, stride, count) triples an axis. They are as small on tori, but sets that `xor`
//! and Bruck's algorithm make fall apart into many of them, a triple an axis costs 240 bytes on the
//! hypercube, and their intersection needs a division.

use crate::delivery::grid::Grid;

mod selection;

pub use selection::{Axis, Cut, NodeSet, Selection};

/// One axis within a box.
#[derive(Debug, Clone, Copy)]
struct Field {
    /// Its first word of those of a box.
    word: usize,
    /// Words taken: 1 if `mask` says it all.
    words: usize,
    /// Lowest bit in the first word.
    shift: u32,
    /// How many coordinates there are.
    radix: u32,
    /// Its bits in its one word; all ones for fields of several words.
    mask: u64,
}

/// Which side of a box a set describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where blocks come from.
    Origins,
    /// The nodes where blocks are to end.
    Destinations,
    /// Which segments of the blocks.
    Segments,
}

/// How boxes of an exchange are laid out in words.
#[derive(Debug, Clone)]
pub struct Layout {
    grid: Grid,
    fields: Vec<Field>,
    origins: std::ops::Range<usize>,
    destinations: std::ops::Range<usize>,
    segments: std::ops::Range<usize>,
    /// Every bit of every field.
    full: Vec<u64>,
    full_count: u64,
    /// For each word, whether it belongs to one field alone that has other words too: only there a
    /// zero word is no empty field.
    simple: bool,
}

impl Layout {
    /// A layout over `grid`; sides that a collective doesn't tell blocks apart by are left out.
    pub fn new(grid: Grid, origins: bool, destinations: bool, segments: u32) -> Self {
        let mut fields = Vec::new();
        let mut next = (0_usize, 0_u32); // word, bit
        let mut side = |radices: &[u64], fields: &mut Vec<Field>| {
            let start = fields.len();
            if next.1 > 0 {
                next = (next.0 + 1, 0);
            }
            for &radix in radices {
                let radix = u32::try_from(radix).unwrap_or(u32::MAX);
                if radix > 64 {
                    if next.1 > 0 {
                        next = (next.0 + 1, 0);
                    }
                    let words = radix.div_ceil(64) as usize;
                    fields.push(Field { word: next.0, words, shift: 0, radix, mask: u64::MAX });
                    next = (next.0 + words, 0);
                } else {
                    if next.1 + radix > 64 {
                        next = (next.0 + 1, 0);
                    }
                    let mask = (u64::MAX >> (64 - radix)) << next.1;
                    fields.push(Field { word: next.0, words: 1, shift: next.1, radix, mask });
                    next.1 += radix;
                }
            }
            start..fields.len()
        };
        let origins = if origins { side(grid.radices(), &mut fields) } else { 0..0 };
        let destinations = if destinations { side(grid.radices(), &mut fields) } else { 0..0 };
        // A box always has a word, even where blocks differ in nothing: segments are always there.
        let segments = side(&[u64::from(segments.max(1))], &mut fields);
        let words = if next.1 > 0 { next.0 + 1 } else { next.0 };
        let simple = fields.iter().all(|f| f.words == 1);
        let mut layout = Self {
            grid,
            fields,
            origins,
            destinations,
            segments,
            full: vec![0; words],
            full_count: 0,
            simple,
        };
        let mut full = std::mem::take(&mut layout.full);
        for index in 0..layout.fields.len() {
            layout.fill(index, &mut full);
        }
        layout.full_count = layout.count(&full);
        layout.full = full;
        layout
    }

    /// Words of a box.
    pub fn words(&self) -> usize {
        self.full.len()
    }

    /// The grid whose coordinates the fields are.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Segments that blocks are split in.
    pub fn segments(&self) -> u64 {
        u64::from(self.fields[self.segments.start].radix)
    }

    /// Whether blocks are told apart by `side`.
    pub fn has(&self, side: Side) -> bool {
        !self.range(side).is_empty()
    }

    /// The box of everything.
    pub fn full(&self) -> &[u64] {
        &self.full
    }

    fn range(&self, side: Side) -> std::ops::Range<usize> {
        match side {
            Side::Origins => self.origins.clone(),
            Side::Destinations => self.destinations.clone(),
            Side::Segments => self.segments.clone(),
        }
    }

    fn fill(&self, index: usize, out: &mut [u64]) {
        let f = self.fields[index];
        if f.words == 1 {
            out[f.word] |= f.mask;
            return;
        }
        for (i, word) in out[f.word..f.word + f.words].iter_mut().enumerate() {
            let bits = (f.radix - i as u32 * 64).min(64);
            *word = u64::MAX >> (64 - bits);
        }
    }

    fn clear(&self, index: usize, out: &mut [u64]) {
        let f = self.fields[index];
        if f.words == 1 { out[f.word] &= !f.mask } else { out[f.word..f.word + f.words].fill(0) }
    }

    fn insert(&self, index: usize, coordinate: u64, out: &mut [u64]) {
        let f = self.fields[index];
        let bit = u64::from(f.shift) + coordinate;
        out[f.word + (bit / 64) as usize] |= 1 << (bit % 64);
    }

    /// Narrows `side` of `out` down to the one node (or part) `node`.
    pub fn narrow_to(&self, side: Side, node: u64, out: &mut [u64]) {
        let mut rest = node;
        for index in self.range(side).rev() {
            let radix = u64::from(self.fields[index].radix);
            self.clear(index, out);
            // Most axes are as long as a power of two, by which dividing is quick.
            let (coordinate, more) = match radix.is_power_of_two() {
                true => (rest & (radix - 1), rest >> radix.trailing_zeros()),
                false => (rest % radix, rest / radix),
            };
            self.insert(index, coordinate, out);
            rest = more;
        }
    }

    /// Narrows one axis of `side` of `out` down to these coordinates.
    pub(crate) fn narrow_axis(
        &self,
        side: Side,
        axis: usize,
        members: impl IntoIterator<Item = u64>,
        out: &mut [u64],
    ) {
        let index = self.range(side).start + axis;
        self.clear(index, out);
        members.into_iter().for_each(|member| self.insert(index, member, out));
    }

    fn field_is_empty(&self, f: &Field, bits: &[u64]) -> bool {
        if f.words == 1 {
            bits[f.word] & f.mask == 0
        } else {
            bits[f.word..f.word + f.words].iter().all(|w| *w == 0)
        }
    }

    /// Writes the intersection of two boxes to `out`; false (and `out` is garbage) if it is empty.
    pub(crate) fn intersect(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
        let mut any = u64::MAX;
        for ((a, b), out) in a.iter().zip(b).zip(out.iter_mut()) {
            *out = a & b;
            any = any.min(*out);
        }
        // Where every field fits a word, a zero word is an empty field: most misses end here.
        if self.simple && any == 0 {
            return false;
        }
        !self.fields.iter().any(|f| self.field_is_empty(f, out))
    }

    /// Blocks (or segments of blocks) in a box.
    pub fn count(&self, a: &[u64]) -> u64 {
        self.fields.iter().fold(1, |product: u64, f| product.saturating_mul(self.members(f, a)))
    }

    /// Words in front of a box that say where its blocks come from: what follows them says which
    /// values they are terms of.
    pub(crate) fn origin_words(&self) -> usize {
        self.origins
            .end
            .checked_sub(1)
            .map_or(0, |last| self.fields[last].word + self.fields[last].words)
    }

    /// Values that the blocks of a box are terms of.
    pub fn values(&self, a: &[u64]) -> u64 {
        self.fields[self.origins.end..]
            .iter()
            .fold(1, |product: u64, f| product.saturating_mul(self.members(f, a)))
    }

    /// Writes to `out` those blocks of `a` that are terms of values which `b` has blocks of, too;
    /// false if there are none.
    pub(crate) fn terms_of(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> bool {
        let first = self.origin_words();
        for i in first..a.len() {
            out[i] = a[i] & b[i];
        }
        if self.fields[self.origins.end..].iter().any(|f| self.field_is_empty(f, out)) {
            return false;
        }
        out[..first].copy_from_slice(&a[..first]);
        true
    }

    /// The box of all blocks that are terms of the same values as those of `a`.
    pub(crate) fn with_all_origins(&self, a: &[u64]) -> Vec<u64> {
        let first = self.origin_words();
        [&self.full[..first], &a[first..]].concat()
    }

    /// Destinations of the blocks in a box.
    pub(crate) fn destinations_of(&self, a: &[u64]) -> u64 {
        self.fields[self.destinations.clone()].iter().map(|f| self.members(f, a)).product()
    }

    /// Segments of blocks in a box.
    pub(crate) fn segments_of(&self, a: &[u64]) -> u64 {
        self.members(&self.fields[self.segments.start], a)
    }

    fn members(&self, f: &Field, a: &[u64]) -> u64 {
        if f.words == 1 {
            u64::from((a[f.word] & f.mask).count_ones())
        } else {
            a[f.word..f.word + f.words].iter().map(|w| u64::from(w.count_ones())).sum()
        }
    }

    /// Hands out boxes that together are `a` without `inner`, which must be a box within `a`.
    /// `scratch` is overwritten.
    pub(crate) fn subtract(
        &self,
        a: &[u64],
        inner: &[u64],
        scratch: &mut [u64],
        mut piece: impl FnMut(&[u64]),
    ) {
        // Axis by axis: what differs in this axis, agrees with `inner` in those before and is as
        // `a` in those after.
        let mut is_first = true;
        for (index, f) in self.fields.iter().enumerate() {
            let range = f.word..f.word + f.words;
            if same_words(&a[range.clone()], &inner[range], f.mask) {
                continue;
            }
            scratch.copy_from_slice(a);
            // Up to the first that differs both are alike.
            if !std::mem::take(&mut is_first) {
                for before in &self.fields[..index] {
                    copy_field(before, inner, scratch);
                }
            }
            for i in f.word..f.word + f.words {
                scratch[i] &= !(inner[i] & f.mask);
            }
            piece(scratch);
        }
    }

    /// Whether two boxes that have no block in common are one box together; then `a` becomes it.
    pub fn join(&self, a: &mut [u64], b: &[u64]) -> bool {
        let Some(first) = a.iter().zip(b).position(|(a, b)| a != b) else { return true };
        // Most boxes differ in several words. Where no field has several, that is enough to know.
        if self.simple && !same_words(&a[first + 1..], &b[first + 1..], u64::MAX) {
            return false;
        }
        let bit = (a[first] ^ b[first]).trailing_zeros();
        let Some(f) = self.fields.iter().find(|f| {
            if f.words == 1 {
                f.word == first && f.mask >> bit & 1 == 1
            } else {
                (f.word..f.word + f.words).contains(&first)
            }
        }) else {
            return false;
        };
        let alike_elsewhere = if f.words == 1 {
            (a[first] ^ b[first]) & !f.mask == 0
                && same_words(&a[first + 1..], &b[first + 1..], u64::MAX)
        } else {
            same_words(&a[f.word + f.words..], &b[f.word + f.words..], u64::MAX)
        };
        if alike_elsewhere {
            for i in f.word..f.word + f.words {
                a[i] |= b[i];
            }
        }
        alike_elsewhere
    }

    /// Whether every block of `inner` is in `outer`.
    pub fn contains(&self, outer: &[u64], inner: &[u64]) -> bool {
        outer.iter().zip(inner).all(|(o, i)| i & !o == 0)
    }

    /// The members of one side of a box, in ascending order.
    pub fn nodes_of(&self, side: Side, a: &[u64]) -> Vec<u64> {
        let mut nodes = vec![0_u64];
        for f in &self.fields[self.range(side)] {
            let coordinates = coordinates(f, a);
            nodes = nodes
                .iter()
                .flat_map(|n| coordinates.iter().map(move |c| n * u64::from(f.radix) + c))
                .collect();
        }
        nodes
    }

    /// The lowest member of one side of a box; 0 if blocks aren't told apart by it.
    pub(crate) fn first_of(&self, side: Side, a: &[u64]) -> u64 {
        self.fields[self.range(side)].iter().fold(0, |node, f| {
            let first = if f.words == 1 {
                u64::from(((a[f.word] & f.mask) >> f.shift).trailing_zeros())
            } else {
                let words = &a[f.word..f.word + f.words];
                let i = words.iter().position(|w| *w != 0).unwrap_or(0);
                i as u64 * 64 + u64::from(words[i].trailing_zeros())
            };
            node * u64::from(f.radix) + first
        })
    }

    /// The coordinates of one side of a box, axis by axis.
    pub fn coordinates_of(&self, side: Side, a: &[u64]) -> Vec<Vec<u64>> {
        self.fields[self.range(side)].iter().map(|f| coordinates(f, a)).collect()
    }
}

/// Whether words agree within `mask`. Word by word: boxes were often written a moment ago, and a
/// wide comparison would wait for that.
fn same_words(a: &[u64], b: &[u64], mask: u64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a ^ b) & mask == 0)
}

fn copy_field(f: &Field, from: &[u64], to: &mut [u64]) {
    if f.words == 1 {
        to[f.word] = to[f.word] & !f.mask | from[f.word] & f.mask;
    } else {
        to[f.word..f.word + f.words].copy_from_slice(&from[f.word..f.word + f.words]);
    }
}

fn coordinates(f: &Field, a: &[u64]) -> Vec<u64> {
    (0..u64::from(f.radix))
        .filter(|c| {
            let bit = u64::from(f.shift) + c;
            a[f.word + (bit / 64) as usize] >> (bit % 64) & 1 == 1
        })
        .collect()
}

#[cfg(test)]
mod tests;
