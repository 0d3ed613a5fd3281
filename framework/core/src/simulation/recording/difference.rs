//! Finds the first difference between the sends of the representatives and the sends of other
//! nodes.

use super::{LAST_STEP, Recorded, RecordedSend, Recording};
use crate::delivery::boxes::Layout;
use std::collections::BTreeMap;

impl Recording {
    /// Compares this recording with `other`. This recording has the sends of the representatives,
    /// and `other` has the sends of other nodes. Returns the number of the first step that differs.
    pub fn first_different_step(&self, other: &Self) -> Option<u64> {
        let sum = |of: &Self, step: usize| of.sums.get(step).copied().unwrap_or(0);
        (0..self.sums.len().max(other.sums.len()))
            .find(|step| sum(self, *step).wrapping_mul(other.factors) != sum(other, *step))
            .map(|step| step as u64)
    }

    /// Returns whether two recordings have the same grid, the same group and the same number of
    /// segments per block.
    pub fn has_layout_of(&self, other: &Self) -> bool {
        self.group() == other.group()
            && self.layout.grid().radices() == other.layout.grid().radices()
            && self.layout.segments() == other.layout.segments()
    }

    /// Describes the first difference between the stored sends of this recording, which are those
    /// of the representatives, and the stored sends of `other`. Nodes are compared in ascending
    /// order. The sends of a node are compared in the order of its representative's sends.
    pub fn describe_difference(&self, other: &Self) -> String {
        // Sort the sends by their senders.
        let (mut expected, mut own): (BTreeMap<u64, Vec<_>>, BTreeMap<u64, Vec<_>>) =
            Default::default();
        self.kept.iter().for_each(|send| expected.entry(send.from).or_default().push(send));
        other.kept.iter().for_each(|send| own.entry(send.from).or_default().push(send));
        // Compare each node with its representative.
        let group = self.group();
        let step = match self.what.kept_step {
            Some(LAST_STEP) => format!("after step {}", LAST_STEP - 1),
            step => format!("step {}", step.unwrap_or(0)),
        };
        let differs = other.recorded_nodes().into_iter().find_map(|node| {
            let (index, element) = group.home(node);
            let representative = group.representative(index);
            let expected = expected.get(&representative).map_or(&[][..], Vec::as_slice);
            let own = own.get(&node).map_or(&[][..], Vec::as_slice);
            let image = |to| group.moved(to, element);
            difference((representative, expected), (node, own), image)
        });
        match differs {
            Some(what) => format!("{step}: {what}"),
            None => format!("{step}: not all nodes rearrange their data the same number of times"),
        }
    }

    /// Returns the recorded nodes in ascending order.
    fn recorded_nodes(&self) -> Vec<u64> {
        let group = self.group();
        match self.what.nodes {
            Recorded::AllNodes => (0..self.layout.grid().nodes()).collect(),
            Recorded::Image(_) => {
                let representatives = 0..group.representatives() as usize;
                let image = |index| group.moved(group.representative(index), self.element);
                let mut nodes: Vec<u64> = representatives.map(image).collect();
                nodes.sort_unstable();
                nodes
            }
        }
    }
}

/// Returns the first difference between the sends of a representative and the sends of a node in
/// its orbit. `image` maps each receiver of the representative's sends to the expected receiver of
/// the node's send.
fn difference(
    (representative, expected): (u64, &[&RecordedSend]),
    (node, own): (u64, &[&RecordedSend]),
    image: impl Fn(u64) -> u64,
) -> Option<String> {
    let mut unmatched = own.to_vec();
    for send in expected {
        let same = unmatched.iter().position(|own| own.fingerprint == send.fingerprint);
        if let Some(same) = same {
            unmatched.remove(same);
            continue;
        }
        let to = image(send.to);
        return Some(if unmatched.iter().any(|own| own.to == to) {
            format!(
                "node {node} sends node {to} something other than the image of what node {representative} sends node {}",
                send.to
            )
        } else {
            format!(
                "node {node} does not send to node {to}, although node {representative} sends to node {}",
                send.to
            )
        });
    }
    let extra = unmatched.first()?;
    Some(if expected.iter().any(|send| send.to == extra.mapped_to) {
        format!(
            "node {node} sends to node {} more often than node {representative} to node {}",
            extra.to, extra.mapped_to
        )
    } else {
        format!(
            "node {node} sends to node {}, although node {representative} does not send to node {}",
            extra.to, extra.mapped_to
        )
    })
}
