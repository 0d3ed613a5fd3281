//! The exchange: what everyone holds, followed block by block through every step, and the proof
//! that all of it arrives.
//!
//! Blocks are never listed. A send takes boxes out of one node's holdings and puts them into
//! another's, and since a block that moves is in one place at a time, counting what each node holds
//! at the end proves delivery.

use crate::delivery::boxes::{Axis, Layout, NodeSet, Selection};
use crate::delivery::collective::{BlockSizes, Collective};
use crate::delivery::fault::{Block, Fault, Place};
use crate::delivery::holdings::{self, Holdings};
use crate::delivery::placement::Placement;
use arriving::Arriving;
use loads::Loads;
use std::sync::Arc;
use taking::{Refusal, Taken, Taking, Way};

mod arriving;
mod explain;
mod inventory;
mod loads;
mod taking;
mod values;

pub use inventory::Division;
pub(crate) use inventory::Inventory;

/// One send: of what `from` holds, the blocks within the sets go to `to`.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// Sender, in the schedule's grid.
    pub from: u64,
    /// Receiver, in the schedule's grid.
    pub to: u64,
    /// Where the blocks come from.
    pub origins: NodeSet<'a>,
    /// Where the blocks are to end.
    pub destinations: NodeSet<'a>,
    /// Which segments of them.
    pub segments: Axis<'a>,
    /// Every block selected must be held.
    pub strict: bool,
    /// The sender keeps what it sends.
    pub copy: bool,
    /// The receiver adds what it is sent to what it has, instead of putting it in its place.
    pub combine: bool,
    /// Sender and receiver may be the same.
    pub local: bool,
}

impl Rule<'_> {
    /// A send of everything that `from` holds. The sender keeps nothing, the receiver replaces what
    /// it has, and the two must differ.
    #[inline]
    pub fn new(from: u64, to: u64) -> Self {
        Self {
            from,
            to,
            origins: NodeSet::All,
            destinations: NodeSet::All,
            segments: Axis::All,
            strict: false,
            copy: false,
            combine: false,
            local: false,
        }
    }
}

/// Who holds what, from the first step to the last.
#[derive(Debug)]
pub struct Exchange {
    inventory: Inventory,
    holdings: Holdings,
    /// What arrives at the end of the current step.
    way: Way,
    loads: Loads,
    copied: bool,
    /// The first block that came where it was already, since somebody asked.
    redundant: Option<Box<(Place, Block)>>,
    step: u64,
    /// Of what the last send took, the latest arrival.
    after: u64,
    selection: Selection,
}

impl Exchange {
    /// Everyone holds what the collective gives them. `sizes` is `None` for uniform blocks, which
    /// are counted; with sizes, loads are bytes.
    pub fn new(
        collective: Collective,
        placement: Placement,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        /// So that what a node holds, or a message carries, fits its number.
        const MOST_LOAD: u128 = 1 << 63;
        let inventory = Inventory::new(collective, placement, division, sizes)?;
        let (layout, placement) = (&inventory.layout, &inventory.placement);
        let mut holdings = Holdings::new(layout, placement.grid().nodes() as usize);
        let (mut held, mut exists) = (vec![0; placement.machine_nodes() as usize], 0);
        for (physical, held) in (0..).zip(&mut held) {
            for bits in inventory.before(physical) {
                let load = inventory.load(
                    &bits,
                    if inventory.sums() { layout.values(&bits) } else { layout.count(&bits) },
                );
                exists += u128::from(load);
                if exists > MOST_LOAD {
                    let segments = inventory.units();
                    return Err(Fault::Refused(format!(
                        "its blocks, in {segments} segments each, add up beyond 2^63"
                    )));
                }
                *held += load;
                holdings.insert_box(layout, placement.home(physical), &bits, 0);
            }
        }
        Ok(Self {
            selection: layout.select_all(),
            inventory,
            holdings,
            way: Way::default(),
            loads: Loads::new(held),
            copied: false,
            redundant: None,
            step: 0,
            after: 0,
        })
    }

    /// The same, which notes of all that is held in which step it came ([`Exchange::after`]). To be
    /// asked for before the first step.
    #[must_use]
    pub(crate) fn following_arrivals(self) -> Self {
        Self { holdings: self.holdings.following_arrivals(), ..self }
    }

    /// Begins the next step.
    pub(crate) fn begin_step(&mut self) {
        self.step += 1;
    }

    /// Carries out one send and returns the load that went, `None` if nothing did (blocks may be of
    /// no bytes). What arrives can be sent on only after [`Exchange::end_step`].
    pub fn send(&mut self, rule: &Rule<'_>) -> Result<Option<u64>, Fault> {
        let Self { inventory, holdings, way, selection, step, .. } = self;
        let first = way.receivers.len();
        let taking = Taking { inventory, shape: holdings.shape(), step: *step };
        match taking.put(rule, holdings, selection, way) {
            Ok(Some(Taken { load, after })) => {
                let placement = &self.inventory.placement;
                self.after = after;
                self.took(
                    (placement.physical(rule.from), placement.physical(rule.to)),
                    rule.copy,
                    load,
                );
                Ok(Some(load))
            }
            Ok(None) => Ok(None),
            Err(Refusal::Broken(fault)) => Err(fault),
            Err(Refusal::NotHeld) => Err(self.not_held(rule, first)),
        }
    }

    /// A send has put a load on its way, between these nodes of the machine.
    #[inline]
    fn took(&mut self, (from, to): (u64, u64), copy: bool, load: u64) {
        self.copied |= copy;
        self.loads.moved((from, to), copy, load);
    }

    /// Ends the step: what was sent has arrived.
    pub fn end_step(&mut self) -> Result<(), Fault> {
        let Self { inventory, holdings, way, loads, copied, redundant, step, .. } = self;
        let (mut first, came) =
            (None, Arriving { inventory, shape: holdings.shape(), step: *step, copied: *copied });
        came.all(way, holdings, &mut first, &mut |settled| loads.settle(settled))?;
        *redundant = redundant.take().or(first.map(Box::new));
        // Only now is all waste off what a node holds.
        loads.end_step(way.receivers.iter().map(|node| inventory.placement.physical(*node)));
        way.clear();
        Ok(())
    }

    /// The first block since this was asked that came where it was already, and no fault.
    pub(crate) fn take_redundant(&mut self) -> Option<(Place, Block)> {
        self.redundant.take().map(|boxed| *boxed)
    }

    /// Verifies that every node holds all the blocks that it should.
    pub fn verify(&self) -> Result<(), Fault> {
        let Inventory { layout, placement, .. } = &self.inventory;
        let mut inner = vec![0; layout.words()];
        let (mut missing, mut short_nodes, mut example) = (0, 0, None);
        for physical in 0..placement.machine_nodes() {
            let node = placement.home(physical);
            let missing_before = missing;
            for wanted in self.inventory.after(physical) {
                let wanted_blocks_in = |held| {
                    if layout.intersect(held, &wanted, &mut inner) {
                        layout.count(&inner)
                    } else {
                        0
                    }
                };
                let held: u64 = self.holdings.of(node).map(wanted_blocks_in).sum();
                if held < layout.count(&wanted) {
                    missing += layout.count(&wanted) - held;
                    example.get_or_insert((node, wanted));
                }
            }
            short_nodes += u64::from(missing > missing_before);
        }
        match example {
            None => Ok(()),
            Some((node, wanted)) => Err(self.never_delivered(node, &wanted, missing, short_nodes)),
        }
    }

    /// Of what the last send took, the latest step in which any came to its sender; 0 if all was
    /// there at the start, or if arrivals are not followed.
    pub fn after(&self) -> u64 {
        self.after
    }

    /// The step under way, from 1.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Parts that blocks are cut in, segments of parts included: loads are in these. Where blocks
    /// differ in size loads are bytes, of padded parts.
    pub fn segments(&self) -> u64 {
        if self.inventory.sizes.is_some() { 1 } else { self.inventory.units() }
    }

    /// Whether blocks are cut into a part for each node.
    pub fn in_parts(&self) -> bool {
        self.inventory.division.in_parts
    }

    /// Whether what comes from different nodes is summed.
    pub fn sums(&self) -> bool {
        self.inventory.sums()
    }

    /// The most load that one node added to what it had, in the step that has ended.
    pub fn most_summed(&self) -> u64 {
        self.loads.most_summed()
    }

    /// The load that each node of the machine added to what it had, in the step that has ended;
    /// empty if none did.
    pub fn summed(&self) -> &[u64] {
        self.loads.all_summed()
    }

    /// Which node of the machine runs which node of the schedule's grid.
    pub fn placement(&self) -> &Placement {
        &self.inventory.placement
    }

    /// How boxes are laid out.
    pub fn layout(&self) -> &Layout {
        &self.inventory.layout
    }

    /// The boxes that sends of this step put on their way, from the `first` on, with their
    /// receivers.
    pub(crate) fn on_their_way(&self, first: usize) -> impl Iterator<Item = (u64, &[u64])> + Clone {
        // Cut before they are walked: a step of many sends asks for the last few again and again.
        let (shape, first) = (self.holdings.shape(), first.min(self.way.receivers.len()));
        let records = self.way.records[first * shape.words()..].chunks_exact(shape.words());
        let records = records.map(move |record| shape.bits(record));
        self.way.receivers[first..].iter().copied().zip(records)
    }

    /// Boxes that were put on their way in the step so far.
    pub(crate) fn boxes_on_their_way(&self) -> usize {
        self.way.receivers.len()
    }

    /// Blocks in the boxes from number `first` on; segments of one block that are in several boxes
    /// count as often.
    pub(crate) fn blocks_on_their_way(&self, first: usize) -> u32 {
        let shape = self.holdings.shape();
        let records = self.way.records[first * shape.words()..].chunks_exact(shape.words());
        holdings::blocks(self.layout(), shape, records)
    }

    /// Load that each node of the machine holds.
    pub fn held(&self) -> &[u64] {
        self.loads.held()
    }

    /// The most load that one node held, at the start or the end of a step.
    pub(crate) fn peak(&self) -> u64 {
        self.loads.peak()
    }
}

#[cfg(test)]
mod tests;
