//! The boxes that each node holds.
//!
//! All boxes of a node are in one vector, so that a search reads memory in order. With thousands of
//! nodes, memory access is most of the cost of a send. Linked lists in one arena were tried, too,
//! in which boxes are moved without copying them. They took 1.5 times as long.
//!
//! If a send selects only some blocks of a box, the box is split. The remainder, and each box that
//! arrives, is joined with another box of the node if their union is a box. For the published
//! algorithms, a node therefore has only two or three boxes, however many blocks it holds.

use crate::delivery::boxes::{Cut, Element, Layout, Selection, without};

/// The lists of boxes of all nodes. A *record* consists of the number of blocks of a box and the
/// box itself. If arrivals are tracked, a record begins with the step in which the box arrived, and
/// only boxes that arrived in the same step are joined.
#[derive(Debug)]
pub(crate) struct Holdings<E> {
    format: RecordFormat,
    lists: Vec<Vec<E>>,
    /// For each list, the arrival steps of its records; empty if arrivals are not tracked.
    /// Searching this list for a step reads much less memory than searching the records.
    arrivals: Vec<Vec<u32>>,
    /// A record of blocks that are removed from a box. This buffer and the next two are reused, to
    /// avoid allocations.
    inner: Vec<E>,
    joined: Vec<E>,
    remainder: Vec<E>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordFormat {
    /// The elements before the box: its number of blocks and, if tracked, its arrival step.
    head: usize,
    elements: usize,
}

impl RecordFormat {
    pub(crate) fn elements(self) -> usize {
        self.elements
    }

    pub(crate) fn box_of<E>(self, record: &[E]) -> &[E] {
        &record[self.head..]
    }

    pub(crate) fn box_of_mut<E>(self, record: &mut [E]) -> &mut [E] {
        &mut record[self.head..]
    }

    pub(crate) fn count<E: Element>(self, record: &[E]) -> u64 {
        record[self.head - 1].number()
    }

    pub(crate) fn tracks_arrivals(self) -> bool {
        self.head > 1
    }

    pub(crate) fn arrival<E: Element>(self, record: &[E]) -> u64 {
        if self.tracks_arrivals() { record[0].number() } else { 0 }
    }

    fn arrivals<E: Element>(self, records: &[E]) -> Vec<u32> {
        records.chunks_exact(self.elements).map(|record| self.arrival(record) as u32).collect()
    }

    pub(crate) fn set_arrival<E: Element>(self, step: u64, record: &mut [E]) {
        if self.tracks_arrivals() {
            record[0] = E::from_number(step);
        }
    }

    pub(crate) fn boxes<E>(self, records: &[E]) -> impl Iterator<Item = &[E]> + Clone {
        records.chunks_exact(self.elements).map(move |record| self.box_of(record))
    }
}

impl<E: Element> Holdings<E> {
    pub(crate) fn new<L: Layout<Element = E>>(layout: &L, lists: usize) -> Self {
        let format = RecordFormat { head: 1, elements: layout.elements() + 1 };
        Self::with_format(format, vec![Vec::new(); lists])
    }

    fn with_format(format: RecordFormat, lists: Vec<Vec<E>>) -> Self {
        let record = vec![E::from_number(0); format.elements];
        let tracked = if format.tracks_arrivals() { &lists[..] } else { &[] };
        let arrivals = tracked.iter().map(|list| format.arrivals(list)).collect();
        let (inner, joined) = (record.clone(), record);
        Self { format, lists, arrivals, inner, joined, remainder: Vec::new() }
    }

    pub(crate) fn without_boxes(&self) -> Self {
        Self::with_format(self.format, vec![Vec::new(); self.lists.len()])
    }

    #[must_use]
    pub(crate) fn with_arrival_tracking(self) -> Self {
        let RecordFormat { head, elements } = self.format;
        let extended = |list: Vec<E>| {
            let records = list.chunks_exact(elements);
            records.flat_map(|record| [&[E::from_number(0)], record].concat()).collect()
        };
        Self::with_format(
            RecordFormat { head: head + 1, elements: elements + 1 },
            self.lists.into_iter().map(extended).collect(),
        )
    }

    pub(crate) fn format(&self) -> RecordFormat {
        self.format
    }

    pub(crate) fn lists(&self) -> usize {
        self.lists.len()
    }

    pub(crate) fn of(&self, list: usize) -> impl Iterator<Item = &[E]> {
        self.format.boxes(&self.lists[list])
    }

    pub(crate) fn records(&self, list: usize) -> &[E] {
        &self.lists[list]
    }

    pub(crate) fn set_records(&mut self, list: usize, records: Vec<E>) {
        if let Some(arrivals) = self.arrivals.get_mut(list) {
            *arrivals = self.format.arrivals(&records);
        }
        self.lists[list] = records;
    }

    pub(crate) fn select<L: Layout<Element = E>>(
        &mut self,
        layout: &L,
        list: usize,
        selection: &Selection<E>,
        keep: bool,
        mut found: impl FnMut(&[E]),
    ) {
        let Self { format, lists, arrivals, inner, joined, remainder } = self;
        let (RecordFormat { head, elements }, records) = (*format, &mut lists[list]);
        // A node holds no block twice, so the search ends when as many blocks as selected are
        // found. It starts at the end, because the newest boxes are most likely to be selected.
        let mut wanted = selection.count();
        let mut at = records.len();
        while at > 0 && wanted > 0 {
            at -= elements;
            let record = &records[at..at + elements];
            let (held, count) = (&record[head..], format.count(record));
            match layout.cut(held, count, selection, &mut inner[head..]) {
                Cut::Nothing => continue,
                Cut::Whole => {
                    wanted = wanted.saturating_sub(count);
                    found(record);
                }
                Cut::Part(part) => {
                    wanted = wanted.saturating_sub(part);
                    inner[..head].clone_from_slice(&record[..head]);
                    inner[head - 1] = E::from_number(part);
                    found(inner);
                    if !keep {
                        split(layout, *format, record, inner, joined, remainder);
                    }
                }
            }
            if !keep {
                remove(records, arrivals.get_mut(list), at, elements);
            }
        }
        self.reinsert_remainder(layout, list);
    }

    /// Removes all contributions to the values of the box `values`, and passes the records of these
    /// contributions to `found`.
    pub(crate) fn take_terms<L: Layout<Element = E>>(
        &mut self,
        layout: &L,
        list: usize,
        values: &[E],
        mut found: impl FnMut(&[E]),
    ) {
        let Self { format, lists, arrivals, inner, joined, remainder } = self;
        let (RecordFormat { head, elements }, records) = (*format, &mut lists[list]);
        let mut at = records.len();
        while at > 0 {
            at -= elements;
            let record = &records[at..at + elements];
            if !layout.terms_of(&record[head..], values, &mut inner[head..]) {
                continue;
            }
            inner[..head].clone_from_slice(&record[..head]);
            inner[head - 1] = E::from_number(layout.count(&inner[head..]));
            found(inner);
            split(layout, *format, record, inner, joined, remainder);
            remove(records, arrivals.get_mut(list), at, elements);
        }
        self.reinsert_remainder(layout, list);
    }

    fn reinsert_remainder<L: Layout<Element = E>>(&mut self, layout: &L, list: usize) {
        if self.remainder.is_empty() {
            return;
        }
        let mut remainder = std::mem::take(&mut self.remainder);
        for record in remainder.chunks_exact(self.format.elements) {
            self.insert(layout, list, record);
        }
        remainder.clear();
        self.remainder = remainder;
    }

    pub(crate) fn insert<L: Layout<Element = E>>(&mut self, layout: &L, list: usize, record: &[E]) {
        let Self { format, lists, arrivals, joined, .. } = self;
        let (RecordFormat { head, elements }, records) = (*format, &mut lists[list]);
        let (arrival, mut arrivals) = (format.arrival(record) as u32, arrivals.get_mut(list));
        joined.clone_from_slice(record);
        // After each join, all records are tried again, because the larger box may be joinable with
        // one that was tried before.
        let mut at = records.len();
        while at > 0 {
            at -= elements;
            if let Some(arrivals) = &arrivals {
                let Some(last) = last_index(&arrivals[..=at / elements], arrival) else { break };
                at = last * elements;
            }
            let held = &records[at..at + elements];
            if layout.join(&mut joined[head..], &held[head..]) {
                let count = format.count(joined) + format.count(held);
                joined[head - 1] = E::from_number(count);
                remove(records, arrivals.as_deref_mut(), at, elements);
                at = records.len();
            }
        }
        records.extend_from_slice(joined);
        if let Some(arrivals) = arrivals {
            arrivals.push(arrival);
        }
    }

    pub(crate) fn insert_box<L: Layout<Element = E>>(
        &mut self,
        layout: &L,
        list: usize,
        a: &[E],
        step: u64,
    ) {
        let mut record = vec![E::from_number(layout.count(a)); self.format.head];
        record.extend_from_slice(a);
        self.format.set_arrival(step, &mut record);
        self.insert(layout, list, &record);
    }

    pub(crate) fn overlap<L: Layout<Element = E>>(
        &self,
        layout: &L,
        list: usize,
        a: &[E],
    ) -> Option<Vec<E>> {
        let mut inner = a.to_vec();
        self.of(list).any(|held| layout.intersect(held, a, &mut inner)).then_some(inner)
    }

    pub(crate) fn missing<L: Layout<Element = E>>(
        &self,
        layout: &L,
        list: usize,
        a: &[E],
    ) -> Vec<Vec<E>> {
        without(layout, vec![a.to_vec()], self.of(list))
    }
}

fn split<L: Layout>(
    layout: &L,
    format: RecordFormat,
    record: &[L::Element],
    inner: &[L::Element],
    scratch: &mut [L::Element],
    remainder: &mut Vec<L::Element>,
) {
    let head = format.head;
    layout.subtract(&record[head..], &inner[head..], &mut scratch[head..], |piece| {
        remainder.extend_from_slice(&record[..head - 1]);
        remainder.push(L::Element::from_number(layout.count(piece)));
        remainder.extend_from_slice(piece);
    });
}

fn last_index(arrivals: &[u32], step: u32) -> Option<usize> {
    // All steps of a block are compared, because the compiler then uses vector instructions.
    const BLOCK: usize = 16;
    let differs = |block: &[u32]| block.iter().fold(true, |all, other| all & (*other != step));
    let mut end = arrivals.len();
    while end >= BLOCK && differs(&arrivals[end - BLOCK..end]) {
        end -= BLOCK;
    }
    arrivals[..end].iter().rposition(|other| *other == step)
}

fn remove<E>(records: &mut Vec<E>, arrivals: Option<&mut Vec<u32>>, at: usize, elements: usize) {
    let last = records.len() - elements;
    if at < last {
        let (before, removed) = records.split_at_mut(last);
        before[at..at + elements].swap_with_slice(removed);
    }
    records.truncate(last);
    if let Some(arrivals) = arrivals {
        arrivals.swap_remove(at / elements);
    }
}
