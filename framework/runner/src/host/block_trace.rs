//! Explains why a block was not delivered or was delivered twice. The plan is repeated while this
//! block is traced.

use std::cell::RefCell;
use std::rc::Rc;
use swapmeet_core::delivery::boxes::{Layout, Side};
use swapmeet_core::delivery::fault::{
    Block, BlockLocation, DeliveryFault, EndFault, Fault, PlacedNode,
};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};

pub(super) struct BlockTrace {
    block: Block,
    at: PlacedNode,
    /// The last step in which the block was sent, its receiver, and the plugin's label of the send.
    last: Option<(u64, PlacedNode, String)>,
    /// The plugin's label of the current send.
    label: Rc<RefCell<String>>,
}

impl BlockTrace {
    /// Returns a trace for the block of a fault: delivered twice, or never delivered and found at
    /// another node. Returns `None` for other faults.
    pub(super) fn of(fault: &Fault, label: Rc<RefCell<String>>) -> Option<Self> {
        let (block, at) = match fault {
            Fault::End(
                _,
                EndFault::NeverDelivered { block, location: BlockLocation::At(at), .. },
            ) => (block, at),
            Fault::Delivery(_, DeliveryFault::DeliveredTwice { block, node, .. }) => (block, node),
            _ => return None,
        };
        Some(Self { block: *block, at: *at, last: None, label })
    }

    /// Adds the step and the label of the send that moved the block, if there is one.
    pub(super) fn explain(self, fault: Fault) -> Fault {
        match (fault, self.last) {
            (
                Fault::End(step, EndFault::NeverDelivered { node, block, missing, nodes, .. }),
                Some((since, to, label)),
            ) if to == self.at => {
                let location = BlockLocation::AtSince(to, since);
                Fault::End(step, EndFault::NeverDelivered { node, block, location, missing, nodes })
                    .labelled(label)
            }
            (
                fault @ Fault::Delivery(_, DeliveryFault::DeliveredTwice { .. }),
                Some((_, to, label)),
            ) if to == self.at => fault.labelled(label),
            (fault, _) => fault,
        }
    }
}

impl Listener for BlockTrace {
    fn interests(&self) -> Interests {
        Interests { sends: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Sent(sent) = event else { return };
        let mut one = sent.layout.full().to_vec();
        let home = |node: Option<u64>| node.map(|node| sent.placement.home(node));
        for (side, member) in [
            (Side::Origins, home(self.block.origin)),
            (Side::Destinations, home(self.block.destination.or(self.block.part))),
            (Side::Segments, self.block.segment),
        ] {
            if let Some(member) = member.filter(|_| sent.layout.has(side)) {
                sent.layout.narrow_to(side, member, &mut one);
            }
        }
        if sent.boxes.iter().any(|boxed| sent.layout.contains(boxed, &one)) {
            self.last = Some((sent.step, sent.to, self.label.borrow().clone()));
        }
    }
}
