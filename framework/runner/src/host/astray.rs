//! Where a block went that never arrived: the plan is made again, with an eye on that block alone.

use swapmeet_core::delivery::boxes::Side;
use swapmeet_core::delivery::fault::{Block, Fault, Place, Whereabouts};
use swapmeet_core::simulation::step::{Listener, Sent, Step};

pub(super) struct Trail {
    block: Block,
    at: Place,
    /// The last step in which it was sent, and to whom.
    last: Option<(u64, Place)>,
}

impl Trail {
    /// Of the block that a fault says was never delivered, where it was found at a node; `None` for other faults.
    pub(super) fn of(fault: &Fault) -> Option<Self> {
        let Fault::NeverDelivered { block, whereabouts: Whereabouts::At(at), .. } = fault else { return None };
        Some(Self { block: *block, at: *at, last: None })
    }

    /// The same fault, with the step that took the block where it is, if one did.
    pub(super) fn explain(&self, fault: Fault) -> Fault {
        match (fault, self.last) {
            (Fault::NeverDelivered { step, node, block, missing, nodes, .. }, Some((since, to))) if to == self.at => {
                let whereabouts = Whereabouts::AtSince(to, since);
                Fault::NeverDelivered { step, node, block, whereabouts, missing, nodes }
            }
            (fault, _) => fault,
        }
    }
}

impl Listener for Trail {
    fn wants_sends(&self) -> bool {
        true
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        let mut one = sent.layout.full().to_vec();
        let home = |node: Option<u64>| node.map(|node| sent.placement.home(node));
        for (side, member) in [
            (Side::Origins, home(self.block.origin)),
            (Side::Destinations, home(self.block.destination)),
            (Side::Segments, self.block.segment),
        ] {
            if let Some(member) = member.filter(|_| sent.layout.has(side)) {
                sent.layout.narrow_to(side, member, &mut one);
            }
        }
        if sent.boxes.iter().any(|boxed| sent.layout.contains(boxed, &one)) {
            self.last = Some((sent.step, sent.to));
        }
    }

    fn step(&mut self, _: &Step<'_>) {}
}
