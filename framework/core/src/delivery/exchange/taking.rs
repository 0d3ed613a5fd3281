//! What one send takes out of what its sender holds.

use super::Rule;
use super::inventory::Inventory;
use crate::delivery::boxes::{NodeSet, Selection, Side};
use crate::delivery::fault::{Fault, SendFault};
use crate::delivery::holdings::{Holdings, Shape};

/// What sends of a step have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taking<'a> {
    pub inventory: &'a Inventory,
    pub shape: Shape,
    pub step: u64,
}

/// What a send took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub load: u64,
    /// The latest step in which any of it came to the sender; 0 if arrivals are not followed.
    pub after: u64,
}

/// What sends put on their way, in their order.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Receivers, and their records one after another.
    pub receivers: Vec<u64>,
    pub records: Vec<u64>,
    /// Where values are summed: for each send that took anything its first record, and whether it
    /// is to be combined.
    pub sends: Vec<(usize, bool)>,
}

impl Way {
    /// In how many units it arrives: where values are summed what one send took is one, elsewhere
    /// each record.
    #[inline]
    pub(super) fn units(&self, sums: bool) -> usize {
        if sums { self.sends.len() } else { self.receivers.len() }
    }

    pub(super) fn clear(&mut self) {
        self.receivers.clear();
        self.records.clear();
        self.sends.clear();
    }
}

/// Why a send is none.
#[derive(Debug)]
pub(super) enum Refusal {
    /// This rule is broken.
    Broken(Fault),
    /// The sender has not all that it is to send. Where the rest is, whoever knows all nodes can
    /// say.
    NotHeld,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault)
    }
}

impl Taking<'_> {
    /// Puts on its way what a rule says; `None` if that is nothing. What was refused is on its way,
    /// too, as far as it goes.
    #[inline]
    pub(super) fn put(
        &self,
        rule: &Rule<'_>,
        holdings: &mut Holdings,
        selection: &mut Selection,
        way: &mut Way,
    ) -> Result<Option<Taken>, Refusal> {
        let first = way.receivers.len();
        let taken = self.take(rule, holdings, selection, &mut way.records);
        way.receivers.resize(way.records.len() / self.shape.words(), rule.to);
        if let Ok(Some(_)) = taken
            && self.inventory.sums()
        {
            way.sends.push((first, rule.combine));
        }
        taken
    }

    /// Takes what a rule selects out of its sender's boxes and adds the records to `taken`. Returns
    /// `None` if the sender holds none of it.
    #[inline]
    fn take(
        &self,
        rule: &Rule<'_>,
        holdings: &mut Holdings,
        selection: &mut Selection,
        taken: &mut Vec<u64>,
    ) -> Result<Option<Taken>, Refusal> {
        self.check(rule)?;
        if let Err((side, what)) = self.select(rule, selection) {
            let fault = SendFault::BadSet { from: rule.from, to: rule.to, side, what };
            return Err(Fault::Send(self.step, fault).into());
        }
        let (inventory, shape, first) = (self.inventory, self.shape, taken.len());
        // What stays within a node of the machine came when it came there.
        let placement = &inventory.placement;
        let stays = shape.follows_arrivals()
            && placement.physical(rule.from) == placement.physical(rule.to);
        let (mut count, mut after) = (0, 0);
        holdings.select(&inventory.layout, rule.from, selection, rule.copy, |record| {
            let at = taken.len();
            taken.extend_from_slice(record);
            count += shape.count(record);
            after = after.max(shape.came(record));
            if !stays {
                shape.comes_in(self.step, &mut taken[at..]);
            }
        });
        let boxes = || taken[first..].chunks_exact(shape.words()).map(|record| shape.bits(record));
        if inventory.sums() {
            let (values, load) = inventory.values(boxes());
            let lacks = rule.strict && values < inventory.layout.values(selection.bits());
            return if lacks {
                Err(Refusal::NotHeld)
            } else {
                Ok((values > 0).then_some(Taken { load, after }))
            };
        }
        if rule.strict && count < selection.count() {
            return Err(Refusal::NotHeld);
        }
        if count == 0 {
            return Ok(None);
        }
        let load = match inventory.sizes {
            Some(_) => boxes().map(|bits| inventory.load(bits, 0)).sum(),
            None => count,
        };
        Ok(Some(Taken { load, after }))
    }

    #[inline]
    fn check(&self, rule: &Rule<'_>) -> Result<(), Fault> {
        let Self { inventory, step, .. } = *self;
        let nodes = inventory.layout.grid().nodes();
        for (role, node) in [("sender", rule.from), ("receiver", rule.to)] {
            if node >= nodes {
                return Err(Fault::Send(
                    step,
                    SendFault::UnknownNode { role, node, last: nodes - 1 },
                ));
            }
        }
        if rule.from == rule.to && !rule.local {
            let node = inventory.placement.locate(rule.from);
            return Err(Fault::Send(step, SendFault::SentToItself { node }));
        }
        if rule.combine && !inventory.sums() {
            return Err(Fault::COMBINES_NOTHING);
        }
        Ok(())
    }

    /// Narrows the selection to a rule's sets. `Err` says which set is wrong, and how.
    #[inline]
    fn select(
        &self,
        rule: &Rule<'_>,
        selection: &mut Selection,
    ) -> Result<(), (&'static str, String)> {
        let Inventory { layout, collective, division, .. } = self.inventory;
        let kind = collective.kind();
        layout.widen(selection);
        for (name, side, set) in [
            ("origins", Side::Origins, rule.origins),
            ("destinations", Side::Destinations, rule.destinations),
        ] {
            if let NodeSet::All = set {
                continue;
            }
            let is_part = side == Side::Destinations && division.in_parts;
            let refused = if is_part { None } else { kind.refuses(side) };
            let narrowed = refused.map_or_else(|| layout.narrow(side, set, selection), Err);
            narrowed.map_err(|what| (name, what))?;
        }
        layout.narrow_segments(rule.segments, selection).map_err(|what| ("segments", what))
    }
}
