//! Finds values of a reduction that a node receives and never uses. A value is unused if another
//! value replaces it before the node has sent it.

use std::collections::HashMap;
use swapmeet_core::delivery::boxes::{BitLayout, Layout};
use swapmeet_core::delivery::fault::PlacedNode;
use swapmeet_core::simulation::listener::Sent;

/// For each node, the values that it has received and has not sent since then.
#[derive(Default)]
pub(crate) struct UnusedValues {
    /// The layout of boxes (products of a set of origins, a set of destinations and a set of
    /// segments); `None` before the first send.
    layout: Option<BitLayout>,
    /// For each node of the schedule's grid, the values that it has received and not sent, as boxes
    /// that contain all origins.
    unused: HashMap<u64, Vec<Vec<u64>>>,
    arriving: Vec<Arriving>,
}

struct Arriving {
    step: u64,
    from: PlacedNode,
    to: PlacedNode,
    combine: bool,
    values: Vec<Vec<u64>>,
}

impl UnusedValues {
    pub(crate) fn sent(&mut self, sent: &Sent<'_>) {
        self.layout.get_or_insert_with(|| sent.layout.clone());
        let mut values: Vec<Vec<u64>> =
            sent.boxes.iter().map(|boxed| sent.layout.with_all_origins(boxed)).collect();
        values.dedup();
        self.remove(sent.from, &values);
        let (step, from, to, combine) = (sent.step, sent.from, sent.to, sent.combine);
        self.arriving.push(Arriving { step, from, to, combine, values });
    }

    /// Ends a step, so that the receivers get the values that were sent in it. Calls `found` for
    /// each send that replaces an unused value, with the step, the sender and the receiver of this
    /// send.
    pub(crate) fn end_step(&mut self, mut found: impl FnMut(u64, PlacedNode, PlacedNode)) {
        for arriving in std::mem::take(&mut self.arriving) {
            let Arriving { step, from, to, combine, values } = arriving;
            // If the receiver adds the new values to its old value, the sum contains the old value,
            // which is therefore used.
            let is_unused = self.remove(to, &values);
            if is_unused && !combine {
                found(step, from, to);
            }
            self.unused.entry(to.virtual_node).or_default().extend(values);
        }
    }

    /// Removes the unused boxes of a node that overlap with `values`. Returns whether there were
    /// such boxes.
    fn remove(&mut self, node: PlacedNode, values: &[Vec<u64>]) -> bool {
        let Self { layout: Some(layout), unused, .. } = self else { return false };
        let Some(unused) = unused.get_mut(&node.virtual_node) else { return false };
        let (before, mut common) = (unused.len(), layout.full().to_vec());
        unused
            .retain(|held| !values.iter().any(|value| layout.intersect(held, value, &mut common)));
        unused.len() < before
    }
}
