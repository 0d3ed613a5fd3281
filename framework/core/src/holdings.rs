//! Who holds what: for every node a short list of boxes, all in one arena.
//!
//! Boxes of all nodes live in slots of equal size in one vector, chained by node. A box that moves whole changes chain without being
//! copied; a box that moves in part is split by intersection, and what arrives is joined with its neighbours again, so that in
//! the algorithms of the papers a node's list stays two or three boxes long however many blocks it holds.

use crate::boxes::{Cut, Layout, Selection};

const NONE: u32 = u32::MAX;

/// Boxes of all nodes.
#[derive(Debug)]
pub struct Holdings {
    words: usize,
    bits: Vec<u64>,
    /// Blocks in each slot's box.
    counts: Vec<u64>,
    next: Vec<u32>,
    free: u32,
    heads: Vec<u32>,
    // Kept from call to call, so that no send allocates.
    inner: Vec<u64>,
    scratch: Vec<u64>,
    rest: Vec<u64>,
}

/// A box taken from a node's list, on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(u32);

impl Holdings {
    /// Empty lists for `nodes` nodes.
    pub fn new(layout: &Layout, nodes: usize) -> Self {
        let words = layout.words();
        Self {
            words,
            bits: Vec::new(),
            counts: Vec::new(),
            next: Vec::new(),
            free: NONE,
            heads: vec![NONE; nodes],
            inner: vec![0; words],
            scratch: vec![0; words],
            rest: Vec::new(),
        }
    }

    fn range(&self, slot: u32) -> std::ops::Range<usize> {
        let at = slot as usize * self.words;
        at..at + self.words
    }

    /// The box in a slot.
    pub fn get(&self, slot: Slot) -> &[u64] {
        &self.bits[self.range(slot.0)]
    }

    /// Puts a box of `count` blocks aside in a slot of its own.
    pub fn store(&mut self, bits: &[u64], count: u64) -> Slot {
        if self.free == NONE {
            let slot = self.next.len() as u32;
            self.bits.extend_from_slice(bits);
            self.counts.push(count);
            self.next.push(NONE);
            return Slot(slot);
        }
        let slot = self.free;
        self.free = self.next[slot as usize];
        let range = self.range(slot);
        self.bits[range].copy_from_slice(bits);
        self.counts[slot as usize] = count;
        Slot(slot)
    }

    /// Blocks in the box in a slot.
    pub fn count(&self, slot: Slot) -> u64 {
        self.counts[slot.0 as usize]
    }

    /// Gives a slot back.
    pub fn discard(&mut self, slot: Slot) {
        self.next[slot.0 as usize] = self.free;
        self.free = slot.0;
    }

    /// The boxes of a node.
    pub fn of(&self, node: u64) -> impl Iterator<Item = &[u64]> {
        let mut at = self.heads[node as usize];
        std::iter::from_fn(move || {
            if at == NONE {
                return None;
            }
            let bits = &self.bits[self.range(at)];
            at = self.next[at as usize];
            Some(bits)
        })
    }

    /// Takes what lies within `selection` out of a node's list (or copies it, if `keep`) and hands out the boxes with their counts.
    pub fn select(
        &mut self,
        layout: &Layout,
        node: u64,
        selection: &Selection,
        keep: bool,
        mut found: impl FnMut(Slot, u64),
    ) {
        let mut inner = std::mem::take(&mut self.inner);
        let mut rest = std::mem::take(&mut self.rest);
        let mut before = NONE;
        let mut at = self.heads[node as usize];
        // Nobody holds a block twice: once all that was asked for is found, the rest of the list has none of it.
        let mut wanted = selection.count();
        while at != NONE && wanted > 0 {
            let after = self.next[at as usize];
            let (range, held) = (self.range(at), self.counts[at as usize]);
            let cut = layout.cut(&self.bits[range.clone()], held, selection, &mut inner);
            let count = match cut {
                Cut::Nothing => {
                    before = at;
                    at = after;
                    continue;
                }
                Cut::Whole => held,
                Cut::Part(count) => count,
            };
            wanted = wanted.saturating_sub(count);
            if keep {
                if cut == Cut::Whole {
                    inner.copy_from_slice(&self.bits[range]);
                }
                let slot = self.store(&inner, count);
                found(slot, count);
                before = at;
                at = after;
                continue;
            }
            if before == NONE { self.heads[node as usize] = after } else { self.next[before as usize] = after }
            if cut != Cut::Whole {
                // What goes keeps the slot; what stays is put back below, joined with what it now fits.
                let scratch = &mut self.scratch;
                layout.subtract(&self.bits[range.clone()], &inner, scratch, |piece| rest.extend_from_slice(piece));
                self.bits[range].copy_from_slice(&inner);
                self.counts[at as usize] = count;
            }
            found(Slot(at), count);
            at = after;
        }
        self.inner = inner;
        for piece in rest.chunks_exact(self.words) {
            let slot = self.store(piece, layout.count(piece));
            self.insert(layout, node, slot);
        }
        rest.clear();
        self.rest = rest;
    }

    /// Adds a box, none of whose blocks the node holds, to the node's list, joining it with what it fits.
    pub fn insert(&mut self, layout: &Layout, node: u64, slot: Slot) {
        let Slot(mut new) = slot;
        // Each join makes the box larger; a larger box may fit others, so look again until none does.
        'again: loop {
            let mut before = NONE;
            let mut at = self.heads[node as usize];
            while at != NONE {
                let after = self.next[at as usize];
                let (old, new_bits) = self.pair(at, new);
                if layout.join(old, new_bits) {
                    if before == NONE { self.heads[node as usize] = after } else { self.next[before as usize] = after }
                    self.counts[at as usize] += self.counts[new as usize];
                    self.discard(Slot(new));
                    new = at;
                    continue 'again;
                }
                before = at;
                at = after;
            }
            break;
        }
        self.next[new as usize] = self.heads[node as usize];
        self.heads[node as usize] = new;
    }

    /// Two different slots' boxes, the first to be written.
    fn pair(&mut self, a: u32, b: u32) -> (&mut [u64], &[u64]) {
        let (ra, rb) = (self.range(a), self.range(b));
        if ra.start < rb.start {
            let (low, high) = self.bits.split_at_mut(rb.start);
            (&mut low[ra], &high[..self.words])
        } else {
            let (low, high) = self.bits.split_at_mut(ra.start);
            (&mut high[..self.words], &low[rb])
        }
    }

    /// Of the box in `slot`, what the node holds already: the number of such blocks and, if any, one box of them.
    pub fn already(&self, layout: &Layout, node: u64, slot: Slot) -> (u64, Option<Vec<u64>>) {
        let mut inner = vec![0; self.words];
        let (mut count, mut one) = (0, None);
        for held in self.of(node) {
            if layout.intersect(held, self.get(slot), &mut inner) {
                count += layout.count(&inner);
                one.get_or_insert_with(|| inner.clone());
            }
        }
        (count, one)
    }

    /// What of `wanted` the node does not hold, as boxes.
    pub fn missing(&self, layout: &Layout, node: u64, wanted: &[u64]) -> Vec<Vec<u64>> {
        without(layout, vec![wanted.to_vec()], self.of(node))
    }
}

/// What is left of `boxes` when `taken` are taken out.
pub fn without<'a>(layout: &Layout, boxes: Vec<Vec<u64>>, taken: impl Iterator<Item = &'a [u64]>) -> Vec<Vec<u64>> {
    let (mut inner, mut scratch) = (vec![0; layout.words()], vec![0; layout.words()]);
    taken.fold(boxes, |boxes, held| {
        let mut rest = Vec::new();
        for b in boxes {
            if layout.intersect(&b, held, &mut inner) {
                layout.subtract(&b, &inner, &mut scratch, |piece| rest.push(piece.to_vec()));
            } else {
                rest.push(b);
            }
        }
        rest
    })
}
