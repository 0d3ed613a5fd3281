//! Explains a fault of delivery: repeats the plan and traces the block that was lost or delivered
//! twice.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use swapmeet_core::delivery::boxes::{Layout, Side};
use swapmeet_core::delivery::collective::{Blocks, Collective};
use swapmeet_core::delivery::fault::{
    Block, BlockLocation, DeliveryFault, EndFault, Fault, PlacedNode,
};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent, Sent};

pub(super) struct BlockTrace {
    collective: Collective,
    block: Block,
    at: PlacedNode,
    last: Option<TracedSend>,
    /// In a reduction, has an entry for some nodes that need the value in the end: the first send
    /// that delivered the value to the node without the contribution of the traced block. The entry
    /// is removed when this contribution arrives at the node, or when the node sends the value on
    /// without keeping a copy.
    incomplete: BTreeMap<u64, TracedSend>,
    label: Rc<RefCell<String>>,
}

struct TracedSend {
    step: u64,
    from: PlacedNode,
    to: PlacedNode,
    label: String,
}

impl BlockTrace {
    /// Returns a trace if the block was delivered twice, or if it was never delivered but another
    /// node holds it.
    pub(super) fn for_fault(
        fault: &Fault,
        collective: &Collective,
        label: Rc<RefCell<String>>,
    ) -> Option<Self> {
        let (block, at) = match fault {
            Fault::End(
                _,
                EndFault::NeverDelivered { block, location: BlockLocation::At(at), .. },
            ) => (block, at),
            Fault::Delivery(_, DeliveryFault::DeliveredTwice { block, node, .. }) => (block, node),
            _ => return None,
        };
        let (block, at, collective) = (*block, *at, collective.clone());
        Some(Self { collective, block, at, last: None, incomplete: BTreeMap::new(), label })
    }

    /// Adds to the fault the step and the label of a send: the last send that moved the block or,
    /// in a reduction, the first send that delivered a value without the block's contribution.
    pub(super) fn explain(self, fault: Fault) -> Fault {
        let last = self.last.filter(|last| last.to == self.at);
        let first = self.incomplete.into_values().min_by_key(|send| send.step);
        match fault {
            Fault::End(step, EndFault::NeverDelivered { node, block, missing, nodes, .. }) => {
                let location = match &last {
                    Some(last) => BlockLocation::AtSince(last.to, last.step),
                    None => BlockLocation::At(self.at),
                };
                if let Some(TracedSend { step, from, to, label }) = first {
                    let fault =
                        DeliveryFault::PassedOn { from, to, block, location, missing, nodes };
                    return Fault::Delivery(step, fault).labelled(label);
                }
                Fault::End(step, EndFault::NeverDelivered { node, block, location, missing, nodes })
                    .labelled(last.map(|last| last.label).unwrap_or_default())
            }
            fault => match last {
                Some(last) => fault.labelled(last.label),
                None => fault,
            },
        }
    }

    /// Updates `incomplete` after a send of a value. `has` is true if the value includes the
    /// contribution of the traced block.
    fn follow_value(&mut self, sent: &Sent<'_>, has: bool, traced: impl FnOnce() -> TracedSend) {
        if !sent.copy {
            self.incomplete.remove(&sent.from.virtual_node);
        }
        let PlacedNode { virtual_node, physical } = sent.to;
        let is_required = match self.collective.required(physical) {
            Blocks::None | Blocks::From(_) | Blocks::ReceivedBy(_) => false,
            Blocks::All => true,
            Blocks::For(node) => self.block.destination == Some(node),
        };
        if has {
            self.incomplete.remove(&virtual_node);
        } else if !sent.combine && is_required && sent.embedding.home(physical) == virtual_node {
            self.incomplete.entry(virtual_node).or_insert_with(traced);
        }
    }
}

impl Listener for BlockTrace {
    fn interests(&self) -> Interests {
        Interests { sends: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Sent(sent) = event else { return };
        // `one` is a box that contains only the traced block. `value` is the box of the value to
        // which this block contributes.
        let mut one = sent.layout.full().to_vec();
        let home = |node: Option<u64>| node.map(|node| sent.embedding.home(node));
        for (side, member) in [
            (Side::Origins, home(self.block.origin)),
            (Side::Destinations, home(self.block.destination.or(self.block.part))),
            (Side::Segments, self.block.segment.or(self.block.token)),
        ] {
            if let Some(member) = member.filter(|_| sent.layout.has(side)) {
                sent.layout.narrow_to(side, member, &mut one);
            }
        }
        let has = sent.boxes.iter().any(|boxed| sent.layout.contains(boxed, &one));
        let label = Rc::clone(&self.label);
        let traced = || TracedSend {
            step: sent.step,
            from: sent.from,
            to: sent.to,
            label: label.borrow().clone(),
        };
        let value = sent.layout.with_all_origins(&one);
        let mut part = value.clone();
        if self.block.is_summed
            && sent.boxes.iter().any(|boxed| sent.layout.intersect(boxed, &value, &mut part))
        {
            self.follow_value(sent, has, traced);
        }
        if has {
            self.last = Some(traced());
        }
    }
}
