//! Who holds what: for every node a short list of boxes.
//!
//! A node's boxes lie one after another in one vector, each with its count in front, so that a look
//! through them reads memory in order: with thousands of nodes that, not the arithmetic, is what a
//! send costs. (Chained slots in one arena, which move whole boxes without copying, were slower by
//! half.) A box that goes in part is split by intersection; what stays and what arrives is joined
//! with its neighbours, so that in the algorithms of the papers a list stays two or three boxes
//! long however many blocks a node holds.

use crate::delivery::boxes::{Cut, Layout, Selection};

/// Boxes of all nodes. A *record* is a box with its count of blocks in front and, before that, if
/// arrivals are followed, the step in which it came.
#[derive(Debug)]
pub(crate) struct Holdings {
    shape: Shape,
    lists: Vec<Vec<u64>>,
    scratch: Scratch,
}

/// Buffers that are kept from call to call, so that no send allocates.
#[derive(Debug)]
struct Scratch {
    inner: Vec<u64>,
    joined: Vec<u64>,
    rest: Vec<u64>,
    room: Vec<u64>,
}

impl Scratch {
    fn new(shape: Shape) -> Self {
        let record = || vec![0; shape.words];
        Self { inner: record(), joined: record(), rest: Vec::new(), room: Vec::new() }
    }
}

/// What stands where in a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Words in front of the box.
    head: usize,
    /// Words of the whole.
    words: usize,
}

impl Shape {
    /// Words of a record.
    pub(crate) fn words(self) -> usize {
        self.words
    }

    /// The box of a record.
    pub(crate) fn bits(self, record: &[u64]) -> &[u64] {
        &record[self.head..]
    }

    /// The number of blocks in a record's box.
    pub(crate) fn count(self, record: &[u64]) -> u64 {
        record[self.head - 1]
    }

    /// Whether records say when their boxes came.
    pub(crate) fn follows_arrivals(self) -> bool {
        self.head > 1
    }

    /// The latest step in which any of a record's box came; 0 if all was there at the start, or if
    /// arrivals are not followed.
    pub(crate) fn came(self, record: &[u64]) -> u64 {
        if self.follows_arrivals() { record[0] } else { 0 }
    }

    /// Notes that a record's box comes in this step.
    pub(crate) fn comes_in(self, step: u64, record: &mut [u64]) {
        if self.follows_arrivals() {
            record[0] = step;
        }
    }
}

impl Holdings {
    /// Empty lists for `nodes` nodes.
    pub(crate) fn new(layout: &Layout, nodes: usize) -> Self {
        Self::shaped(Shape { head: 1, words: layout.words() + 1 }, vec![Vec::new(); nodes])
    }

    fn shaped(shape: Shape, lists: Vec<Vec<u64>>) -> Self {
        Self { shape, lists, scratch: Scratch::new(shape) }
    }

    /// The same, with a note beside each box of the step in which it came: so far, at the start.
    #[must_use]
    pub(crate) fn following_arrivals(self) -> Self {
        let Shape { head, words } = self.shape;
        let noted = |list: Vec<u64>| {
            list.chunks_exact(words).flat_map(|record| [&[0], record].concat()).collect()
        };
        Self::shaped(
            Shape { head: head + 1, words: words + 1 },
            self.lists.into_iter().map(noted).collect(),
        )
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The boxes of a node.
    pub(crate) fn of(&self, node: u64) -> impl Iterator<Item = &[u64]> {
        self.lists[node as usize]
            .chunks_exact(self.shape.words)
            .map(|record| self.shape.bits(record))
    }

    /// What of `wanted` the node does not hold, as boxes.
    pub(crate) fn missing(&self, layout: &Layout, node: u64, wanted: &[u64]) -> Vec<Vec<u64>> {
        without(layout, vec![wanted.to_vec()], self.of(node))
    }

    /// Room for what a caller takes out, empty.
    pub(super) fn room(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.scratch.room)
    }

    /// Keeps such room for the next one.
    pub(super) fn give_back(&mut self, mut room: Vec<u64>) {
        room.clear();
        self.scratch.room = room;
    }

    /// Takes what lies within `selection` out of a node's list (or copies it, if `keep`) and hands
    /// out the records.
    pub(super) fn select(
        &mut self,
        layout: &Layout,
        node: u64,
        selection: &Selection,
        keep: bool,
        mut found: impl FnMut(&[u64]),
    ) {
        let Scratch { inner, joined, rest, .. } = &mut self.scratch;
        let (shape, list) = (self.shape, &mut self.lists[node as usize]);
        let Shape { head, words: size } = shape;
        // Nobody holds a block twice: once all that was asked for is found, the rest of the list
        // has none of it. The newest boxes are at the end and most often asked for.
        let mut wanted = selection.count();
        let mut at = list.len();
        while at > 0 && wanted > 0 {
            at -= size;
            let held = &list[at..at + size];
            match layout.cut(shape.bits(held), shape.count(held), selection, &mut inner[head..]) {
                Cut::Nothing => continue,
                Cut::Whole => {
                    wanted = wanted.saturating_sub(shape.count(held));
                    found(held);
                }
                Cut::Part(segment) => {
                    wanted = wanted.saturating_sub(segment);
                    inner[..head].copy_from_slice(&held[..head]);
                    inner[head - 1] = segment;
                    found(inner);
                    if !keep {
                        layout.subtract(
                            shape.bits(held),
                            shape.bits(inner),
                            &mut joined[head..],
                            |piece| {
                                rest.extend_from_slice(&held[..head - 1]);
                                rest.push(layout.count(piece));
                                rest.extend_from_slice(piece);
                            },
                        );
                    }
                }
            }
            if !keep {
                remove(list, at, size);
            }
        }
        self.put_back(layout, node);
    }

    /// Takes out of a node's list what is a term of the values that `bits` has terms of, and hands
    /// out the records.
    pub(super) fn take_terms(
        &mut self,
        layout: &Layout,
        node: u64,
        bits: &[u64],
        mut found: impl FnMut(&[u64]),
    ) {
        let Scratch { inner, joined, rest, .. } = &mut self.scratch;
        let (shape, list) = (self.shape, &mut self.lists[node as usize]);
        let Shape { head, words: size } = shape;
        let mut at = list.len();
        while at > 0 {
            at -= size;
            let held = &list[at..at + size];
            if !layout.terms_of(shape.bits(held), bits, &mut inner[head..]) {
                continue;
            }
            inner[..head].copy_from_slice(&held[..head]);
            inner[head - 1] = layout.count(shape.bits(inner));
            found(inner);
            if shape.count(inner) < shape.count(held) {
                layout.subtract(
                    shape.bits(held),
                    shape.bits(inner),
                    &mut joined[head..],
                    |piece| {
                        rest.extend_from_slice(&held[..head - 1]);
                        rest.push(layout.count(piece));
                        rest.extend_from_slice(piece);
                    },
                );
            }
            remove(list, at, size);
        }
        self.put_back(layout, node);
    }

    /// Adds what is left of boxes of which a part was taken.
    fn put_back(&mut self, layout: &Layout, node: u64) {
        if self.scratch.rest.is_empty() {
            return;
        }
        let rest = std::mem::take(&mut self.scratch.rest);
        for record in rest.chunks_exact(self.shape.words) {
            self.insert(layout, node, record);
        }
        self.scratch.rest = rest;
        self.scratch.rest.clear();
    }

    /// Adds a record, none of whose blocks the node holds, to the node's list, joining it with what
    /// it fits.
    pub(super) fn insert(&mut self, layout: &Layout, node: u64, record: &[u64]) {
        let new = &mut self.scratch.joined;
        let (shape, list) = (self.shape, &mut self.lists[node as usize]);
        let Shape { head, words: size } = shape;
        new.copy_from_slice(record);
        // Each join makes the box larger; a larger box may fit others, so look again until none
        // does.
        let mut at = list.len();
        while at > 0 {
            at -= size;
            let held = &list[at..at + size];
            if layout.join(&mut new[head..], shape.bits(held)) {
                new[head - 1] += shape.count(held);
                let came = shape.came(new).max(shape.came(held));
                shape.comes_in(came, new);
                remove(list, at, size);
                at = list.len();
            }
        }
        list.extend_from_slice(new);
    }

    /// Adds a box, none of whose blocks the node holds, which comes in this step.
    pub(crate) fn insert_box(&mut self, layout: &Layout, node: u64, bits: &[u64], step: u64) {
        let mut record = vec![layout.count(bits); self.shape.head];
        record.extend_from_slice(bits);
        self.shape.comes_in(step, &mut record);
        self.insert(layout, node, &record);
    }

    /// Of a box, some that the node holds already, if it does any.
    pub(super) fn overlap(&self, layout: &Layout, node: u64, arrived: &[u64]) -> Option<Vec<u64>> {
        let mut inner = vec![0; layout.words()];
        self.of(node).any(|held| layout.intersect(held, arrived, &mut inner)).then_some(inner)
    }
}

/// Blocks in the boxes of these records; segments of one block that are in several boxes count as
/// often.
pub(crate) fn blocks<'a>(
    layout: &Layout,
    shape: Shape,
    records: impl Iterator<Item = &'a [u64]>,
) -> u32 {
    let blocks =
        records.map(|record| shape.count(record) / layout.segments_of(shape.bits(record)).max(1));
    blocks.fold(0, |sum: u32, more| sum.saturating_add(u32::try_from(more).unwrap_or(u32::MAX)))
}

/// Takes the record at word `at` out of a list; the last one takes its place.
fn remove(list: &mut Vec<u64>, at: usize, size: usize) {
    let last = list.len() - size;
    list.copy_within(last.., at);
    list.truncate(last);
}

/// What is left of `boxes` when `taken` are taken out.
pub(crate) fn without<'a>(
    layout: &Layout,
    boxes: Vec<Vec<u64>>,
    taken: impl Iterator<Item = &'a [u64]>,
) -> Vec<Vec<u64>> {
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
