//! The execution of a send. It checks the rule, removes the selected boxes from the sender's
//! holdings and puts them in flight.

use super::{Exchange, InFlight, ReductionSend, Rule};
use crate::delivery::boxes::{Layout, NodeSet, Selection, Side};
use crate::delivery::exchange::Inventory;
use crate::delivery::fault::{Fault, SendFault};
use crate::limits;

impl<E> InFlight<E> {
    pub(super) const fn new() -> Self {
        Self {
            receivers: Vec::new(),
            records: Vec::new(),
            sends: Vec::new(),
            latest: 0,
            join_from: JOIN_FROM,
        }
    }

    pub(super) fn clear(&mut self) {
        self.receivers.clear();
        self.records.clear();
        self.sends.clear();
        self.join_from = JOIN_FROM;
    }
}

/// Boxes for the same receiver are joined if the boxes in flight have at least this number of
/// elements, which take 32 MiB or more.
const JOIN_FROM: usize = 1 << 22;

impl<L: Layout> Exchange<L> {
    /// Executes one send. Returns its load, including extra bytes, or `None` if the sender holds
    /// none of the selected blocks and there are no extra bytes. (The load can be 0, because blocks
    /// may be empty.) The receiver can forward the blocks from the next step on.
    #[inline]
    pub(crate) fn send(&mut self, rule: &Rule<'_>) -> Result<Option<u64>, Fault> {
        self.inventory.check(rule, self.step)?;
        if self.in_flight.records.len() >= self.in_flight.join_from {
            self.join_in_flight();
        }
        self.inventory.select(rule, self.step, &mut self.selection)?;
        let Self { inventory, holdings, in_flight, selection, .. } = self;

        // Put the selected boxes in flight. Data that stays on the same node of the machine keeps
        // its arrival step.
        let (format, placement) = (holdings.format(), &inventory.placement);
        let (first, start) = (in_flight.receivers.len(), in_flight.records.len());
        in_flight.latest = first;
        let is_within_node = format.tracks_arrivals()
            && placement.physical(rule.from) == placement.physical(rule.to);
        let (mut count, mut latest_arrival, step) = (0_u64, 0, self.step);
        let list = inventory.layout.home(rule.from).0;
        let records = &mut in_flight.records;
        let copy = inventory.copies(rule);
        holdings.select(&inventory.layout, list, selection, copy, |record| {
            let at = records.len();
            records.extend_from_slice(record);
            count += format.count(record);
            latest_arrival = latest_arrival.max(format.arrival(record));
            if !is_within_node {
                format.set_arrival(step, &mut records[at..]);
            }
        });
        in_flight.receivers.resize(records.len() / format.elements(), rule.to);

        // Determine the load. It is in bytes if blocks have explicit sizes. Otherwise it is in
        // blocks, or in values of a reduction.
        let boxes = || format.boxes(&in_flight.records[start..]);
        let (found, wanted, load) = if inventory.sums() {
            let (values, load) = inventory.values(&boxes());
            (values, inventory.layout.values(selection.elements()), load)
        } else if inventory.sizes.is_some() {
            let records = in_flight.records[start..].chunks_exact(format.elements());
            let loads = records.map(|r| inventory.load(format.box_of(r), format.count(r)));
            (count, selection.count(), loads.sum())
        } else {
            (count, selection.count(), count)
        };
        if rule.strict && found < wanted {
            let fault = self.not_held(rule, first);
            return Err(self.for_orbit(fault));
        }
        if found == 0 {
            self.latest_arrival = 0;
            return Ok(Some(rule.extra_bytes).filter(|extra| *extra > 0));
        }
        if inventory.sums() {
            in_flight.sends.push(ReductionSend { first, from: rule.from, combine: rule.combine });
        }
        let account = |node| placement.physical(inventory.layout.home(node).0 as u64);
        self.loads.moved((account(rule.from), account(rule.to)), copy, load);
        self.latest_arrival = latest_arrival;
        self.has_copies |= copy;
        Ok(Some(load + rule.extra_bytes))
    }
}

impl<L: Layout> Inventory<L> {
    /// Errors if loads are not in bytes, or if there are so many extra bytes that the total load of
    /// a step could exceed 64 bits.
    fn check_extra_bytes(&self, rule: &Rule<'_>, step: u64) -> Result<(), Fault> {
        let what = if self.sizes.is_none() {
            "has extra bytes, but all blocks have the same size and are counted".to_owned()
        } else if rule.extra_bytes > limits::EXTRA_BYTES {
            format!("has {} extra bytes, over {}", rule.extra_bytes, limits::EXTRA_BYTES)
        } else {
            return Ok(());
        };
        let (from, to) = (rule.from, rule.to);
        Err(Fault::Send(step, SendFault::BadExtraBytes { from, to, what }))
    }

    /// Errors if a send of step `step` is not permitted, whatever blocks the nodes hold.
    #[inline]
    pub(super) fn check(&self, rule: &Rule<'_>, step: u64) -> Result<(), Fault> {
        let Self { layout, placement, .. } = self;
        let nodes = layout.grid().nodes();
        Fault::check_ends(step, (rule.from, rule.to), nodes)?;
        if rule.from == rule.to && !rule.local {
            let node = placement.locate(rule.from);
            return Err(Fault::Send(step, SendFault::SentToItself { node }));
        }
        if rule.combine && !self.sums() {
            return Err(Fault::COMBINES_NOTHING);
        }
        if rule.extra_bytes > 0 {
            self.check_extra_bytes(rule, step)?;
        }
        let (list, element) = layout.home(rule.from);
        if element != 0 {
            let representative = layout.representative(list);
            let fault = SendFault::NotPlanned { from: rule.from, representative };
            return Err(Fault::Send(step, fault));
        }
        Ok(())
    }

    /// Sets `selection` to the blocks that the sets of a rule select. Errors if a set is invalid.
    #[inline]
    pub(super) fn select(
        &self,
        rule: &Rule<'_>,
        step: u64,
        selection: &mut Selection<L::Element>,
    ) -> Result<(), Fault> {
        let Self { layout, collective, division, .. } = self;
        let invalid = |side, what| {
            Fault::Send(step, SendFault::BadSet { from: rule.from, to: rule.to, side, what })
        };
        selection.widen(layout);
        for (name, side, set) in [
            ("origins", Side::Origins, rule.origins),
            ("destinations", Side::Destinations, rule.destinations),
        ] {
            if let NodeSet::All = set {
                continue;
            }
            let refused = division.set_error(collective.kind(), side);
            let narrowed = refused.map_or_else(|| layout.narrow(side, set, selection), Err);
            narrowed.map_err(|what| invalid(name, what))?;
        }
        selection.narrow_segments(layout, rule.segments).map_err(|what| invalid("segments", what))
    }
}
