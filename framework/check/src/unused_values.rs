//! Values of a reduction that a node receives and never uses: another value replaces them before the
//! node has sent them.

use std::collections::HashMap;
use swapmeet_core::delivery::boxes::{BitLayout, Layout};
use swapmeet_core::delivery::fault::PlacedNode;
use swapmeet_core::simulation::listener::Sent;

/// The values that nodes have received and not sent since.
#[derive(Default)]
pub(crate) struct UnusedValues {
    /// The layout of boxes; `None` before the first send.
    layout: Option<BitLayout>,
    /// For each node of the schedule's grid, the values that it has received and not sent, as boxes
    /// with all origins.
    unused: HashMap<u64, Vec<Vec<u64>>>,
    /// The values that are received at the end of the step.
    arriving: Vec<Arriving>,
}

/// The values of a send.
struct Arriving {
    step: u64,
    from: PlacedNode,
    to: PlacedNode,
    combine: bool,
    values: Vec<Vec<u64>>,
}

impl UnusedValues {
    /// Adds a send of a reduction.
    pub(crate) fn sent(&mut self, sent: &Sent<'_>) {
        self.layout.get_or_insert_with(|| sent.layout.clone());
        let mut values: Vec<Vec<u64>> =
            sent.boxes.iter().map(|boxed| sent.layout.with_all_origins(boxed)).collect();
        values.dedup();
        self.remove(sent.from, &values);
        let (step, from, to, combine) = (sent.step, sent.from, sent.to, sent.combine);
        self.arriving.push(Arriving { step, from, to, combine, values });
    }

    /// Ends a step: the receivers get the values that were sent in it. Calls `found` with the step,
    /// the sender and the receiver of each send that replaces an unused value.
    pub(crate) fn end_step(&mut self, mut found: impl FnMut(u64, PlacedNode, PlacedNode)) {
        for arriving in std::mem::take(&mut self.arriving) {
            let Arriving { step, from, to, combine, values } = arriving;
            // If the receiver combines the values, its old value is used: it is part of the new
            // one.
            let is_unused = self.remove(to, &values);
            if is_unused && !combine {
                found(step, from, to);
            }
            self.unused.entry(to.virtual_node).or_default().extend(values);
        }
    }

    /// Removes the unused boxes of a node that overlap with `values`. Returns whether there were
    /// any.
    fn remove(&mut self, node: PlacedNode, values: &[Vec<u64>]) -> bool {
        let Self { layout: Some(layout), unused, .. } = self else { return false };
        let Some(unused) = unused.get_mut(&node.virtual_node) else { return false };
        let (before, mut common) = (unused.len(), layout.full().to_vec());
        unused
            .retain(|held| !values.iter().any(|value| layout.intersect(held, value, &mut common)));
        unused.len() < before
    }
}
