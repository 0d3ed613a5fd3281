//! Traces the blocks of every node through all steps of a schedule and verifies their delivery.
//!
//! A node's holdings are a list of boxes (products of sets of origins, destinations and segments),
//! which sends move to other nodes. If blocks are moved without being copied, each block is in one
//! place at any time. Then it is enough to count the required blocks that each node holds at the
//! end.
//!
//! # Symmetric schedules
//!
//! If a group of permutations of the nodes leaves the schedule unchanged, only one node of each
//! orbit is planned. It is the *representative* of the orbit: only its sends are executed, and only
//! its holdings are stored. If representative r sends a set D of blocks to node t, then g(r) sends
//! g(D) to g(t) for each element g of the group. Let s be the representative of t's orbit, h the
//! element that maps s to t, and g the inverse of h. Then g(t) is s, so s receives g(D). In full
//! planning, each node is an orbit by itself.

mod inventory;
mod tokens;

use crate::delivery::boxes::{
    Axis, BitLayout, Layout, NodeSet, RunLayout, Selection, Side, without,
};
use crate::delivery::collective::{BlockSizes, Collective, RedundantDelivery};
use crate::delivery::fault::{
    Block, BlockLocation, Count, DeliveryFault, EndFault, Fault, PlacedNode, SendFault,
};
use crate::delivery::grid::{Embedding, Grid};
use crate::delivery::holdings::Holdings;
use crate::delivery::traced::{Contents, Loads, Proof, Traced};
use crate::limits;
use crate::network::symmetry::{Group, Symmetry};
pub use inventory::Division;
pub(crate) use inventory::Inventory;
use std::collections::BTreeSet;
use std::sync::Arc;
pub(crate) use tokens::TokenExchange;

/// A send, which moves or copies blocks from one node to another. Sets of origins, destinations and
/// segments select the blocks.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// The sender, as a node of the schedule's grid.
    pub from: u64,
    /// The receiver, as a node of the schedule's grid.
    pub to: u64,
    /// The origins of the selected blocks.
    pub origins: NodeSet<'a>,
    /// The destinations of the selected blocks.
    pub destinations: NodeSet<'a>,
    /// The selected segments of the selected blocks.
    pub segments: Axis<'a>,
    /// Whether a selected block that the sender does not hold is a fault.
    pub strict: bool,
    /// Whether the sender keeps the blocks.
    pub copy: bool,
    /// Whether the receiver combines the received values of a reduction with its own values.
    /// Otherwise, received values replace its own.
    pub combine: bool,
    /// Whether sender and receiver may be the same node.
    pub local: bool,
    /// The part of a switch in this send.
    pub in_switch: InSwitch,
    /// Bytes that the message has in addition to the blocks, such as padding. The receiver does not
    /// store them. Must be 0 if loads are counted in blocks, which is the case if all blocks have
    /// the same size.
    pub extra_bytes: u64,
}

/// What a switch does with the data of a send, in a reduction or a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InSwitch {
    /// No switch adds or copies the data.
    #[default]
    None,
    /// A switch adds or copies the data, and the message with the sum or the copy reaches the
    /// receiver. In a reduction, the receiver combines the sum with its own data.
    First,
    /// A later send of a reduction to the same receiver. Its message ends at a switch, which adds
    /// the data to that of an earlier send. The receiver combines only the sum, so this send does
    /// not count as one that the receiver reduces.
    Joined,
}

impl Rule<'_> {
    /// Creates a send of everything that `from` holds to the node `to`, which must be different.
    /// The sender keeps nothing.
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
            in_switch: InSwitch::None,
            extra_bytes: 0,
        }
    }

    /// Selects the block with this origin and this destination. The sender must hold it.
    #[must_use]
    pub fn of_block(self, origin: u64, destination: u64) -> Self {
        let (origins, destinations) = (NodeSet::One(origin), NodeSet::One(destination));
        Self { origins, destinations, strict: true, ..self }
    }
}

#[derive(Debug)]
pub(crate) struct Exchange<L: Layout = BitLayout> {
    inventory: Inventory<L>,
    holdings: Holdings<L::Element>,
    in_flight: InFlight<L::Element>,
    loads: Loads,
    initial_load: u128,
    /// Whether any send so far was a copy. If not, no node can receive a block twice.
    has_copies: bool,
    redundant: Option<Box<(PlacedNode, Block)>>,
    step: u64,
    latest_arrival: u64,
    selection: Selection<L::Element>,
    own_values: Vec<L::Element>,
}

#[derive(Debug)]
struct InFlight<E> {
    receivers: Vec<u64>,
    records: Vec<E>,
    sends: Vec<ReductionSend>,
    latest: usize,
    /// From this length of `records` on, boxes for the same receiver are joined to save memory.
    join_from: usize,
}

#[derive(Debug, Clone, Copy)]
struct ReductionSend {
    first: usize,
    from: u64,
    combine: bool,
    in_switch: bool,
}

impl Exchange {
    /// `sizes` is `None` if all blocks have the same size and loads are counted in blocks.
    pub(crate) fn new(
        collective: Collective,
        embedding: Embedding,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        embedding.check()?;
        let layout = Inventory::layout(&collective, division, &embedding);
        Inventory::check_memory(&layout)?;
        Self::start(Inventory::new(collective, embedding, division, sizes, layout))
    }

    #[must_use]
    pub(crate) fn with_arrival_tracking(self) -> Self {
        Self { holdings: self.holdings.with_arrival_tracking(), ..self }
    }
}

pub(crate) type OrbitExchange = Exchange<RunLayout>;

impl OrbitExchange {
    pub(crate) fn of_orbits(
        collective: Collective,
        embedding: Embedding,
        division: Division,
        group: Group,
    ) -> Result<Self, Fault> {
        embedding.check()?;
        let radices: Vec<u64> = group.axes().iter().map(|axis| axis.radix).collect();
        Grid::new(&radices).map_err(Fault::BadSymmetry)?;
        let [by_origin, by_destination] = division.distinguishes(collective.kind());
        let grid = embedding.grid().clone();
        let layout = RunLayout::new(grid, group, by_origin, by_destination, division.segments);
        Self::start(Inventory::new(collective, embedding, division, None, layout))
    }

    pub(crate) fn group(&self) -> &Group {
        self.inventory.layout.orbit_group()
    }

    pub(crate) fn of_all_nodes(
        collective: Collective,
        embedding: Embedding,
        division: Division,
    ) -> Result<Self, Fault> {
        let radices = embedding.grid().radices();
        let group = Group::new(radices, &vec![Symmetry::Fixed; radices.len()])
            .map_err(Fault::BadSymmetry)?;
        Self::of_orbits(collective, embedding, division, group)
    }
}

impl<L: Layout> Exchange<L> {
    fn start(inventory: Inventory<L>) -> Result<Self, Fault> {
        let (layout, embedding) = (&inventory.layout, &inventory.embedding);
        let (lists, order) = match layout.group() {
            Some(group) => (group.representatives(), group.order()),
            None => (embedding.grid().nodes(), 1),
        };
        let mut holdings = Holdings::new(layout, lists as usize);
        let planned = inventory.planned_nodes();
        let (mut held, mut total) = (vec![0; planned as usize], 0);
        for (number, held) in (0..).zip(&mut held) {
            let node = layout.representative(number);
            for a in inventory.initial(node) {
                let count = if inventory.sums() { layout.values(&a) } else { layout.count(&a) };
                let load = inventory.load(&a, count);
                total += u128::from(load) * u128::from(order);
                inventory.check_total(total)?;
                *held += load;
                holdings.insert_box(layout, layout.home(embedding.home(node)).0, &a, 0);
            }
        }
        Ok(Self {
            selection: layout.select_all(),
            inventory,
            holdings,
            in_flight: InFlight::new(),
            initial_load: held.iter().map(|load| u128::from(*load)).sum(),
            loads: Loads::new(held),
            has_copies: false,
            redundant: None,
            step: 0,
            latest_arrival: 0,
            own_values: Vec::new(),
        })
    }

    fn check_loads(&self) {
        let Inventory { sizes, embedding, .. } = &self.inventory;
        let held = self.loads.held();
        // A reduction decreases the total load that nodes hold, and a copy increases it.
        if !self.sums() && !self.has_copies {
            let total: u128 = held.iter().map(|load| u128::from(*load)).sum();
            assert_eq!(total, self.initial_load, "loads were lost or created");
        }
        if !self.sums() && sizes.is_none() {
            let mut of_boxes = vec![0; held.len()];
            let format = self.holdings.format();
            for list in 0..self.holdings.lists() {
                let records = self.holdings.records(list).chunks_exact(format.elements());
                of_boxes[embedding.physical(list as u64) as usize] +=
                    records.map(|record| format.count(record)).sum::<u64>();
            }
            assert!(of_boxes == held, "the loads of nodes are not those of their boxes");
        }
    }

    fn account(&self, list: usize) -> u64 {
        self.inventory.embedding.physical(list as u64)
    }

    fn for_orbit(&self, fault: Fault) -> Fault {
        match (&fault, self.inventory.layout.group()) {
            (Fault::Delivery(..), Some(group)) if group.order() > 1 => {
                Fault::ForOrbit(Box::new(fault), Count(group.order() - 1, "other node"))
            }
            _ => fault,
        }
    }

    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    pub(crate) fn copies(&self, rule: &Rule<'_>) -> bool {
        self.inventory.copies(rule)
    }

    pub(crate) fn sums(&self) -> bool {
        self.inventory.sums()
    }

    pub(crate) fn layout(&self) -> &L {
        &self.inventory.layout
    }

    pub(crate) fn in_flight(
        &self,
        first: usize,
    ) -> impl Iterator<Item = (u64, &[L::Element])> + Clone {
        let receivers = self.in_flight.receivers[first..].iter().copied();
        receivers.zip(self.holdings.format().boxes(self.in_flight_records(first)))
    }

    fn in_flight_records(&self, first: usize) -> &[L::Element] {
        &self.in_flight.records[first * self.holdings.format().elements()..]
    }

    pub(crate) fn latest_box(&self) -> usize {
        self.in_flight.latest
    }

    pub(crate) fn in_flight_contents(&self, first: usize) -> Contents {
        let boxes = self.in_flight(first).map(|(_, a)| a);
        let add = |all: Contents, a: &[L::Element]| all.and(self.inventory.contents(a));
        if !self.inventory.sums() {
            return boxes.fold(Contents::NOTHING, add);
        }
        let values = self.inventory.all_contributions(boxes);
        values.iter().map(Vec::as_slice).fold(Contents::NOTHING, add)
    }
}

impl<L: Layout> Traced for Exchange<L> {
    fn proof(&self) -> Proof {
        Proof::of(self.sums())
    }

    fn begin_step(&mut self) {
        self.step += 1;
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        let mut in_flight = std::mem::replace(&mut self.in_flight, InFlight::new());
        let received = self.receive(&mut in_flight);
        let embedding = &self.inventory.embedding;
        self.loads.end_step(in_flight.receivers.iter().map(|list| embedding.physical(*list)));
        in_flight.clear();
        self.in_flight = in_flight;
        received.map_err(|fault| self.for_orbit(fault))
    }

    fn verify(&mut self) -> Result<(), Fault> {
        self.check_loads();
        let layout = &self.inventory.layout;
        let (mut missing_blocks, mut incomplete_nodes, mut example) = (0_u64, 0, None);
        let mut common = layout.full().to_vec();
        for number in 0..self.inventory.planned_nodes() as usize {
            let node = layout.representative(number);
            let list = layout.home(self.inventory.embedding.home(node)).0;
            let before = missing_blocks;
            for required in self.inventory.required(node) {
                // The boxes that a node holds are disjoint, so no block is counted twice.
                let mut held_blocks = 0;
                for held in self.holdings.of(list) {
                    if layout.intersect(held, &required, &mut common) {
                        held_blocks += layout.count(&common);
                    }
                }
                let all_blocks = layout.count(&required);
                let is_possible = held_blocks <= all_blocks || layout.full_count() == u64::MAX;
                assert!(is_possible, "a node holds a block twice");
                let missing = all_blocks.wrapping_sub(held_blocks);
                if missing > 0 {
                    missing_blocks += missing;
                    example.get_or_insert((list, required));
                }
            }
            incomplete_nodes += u64::from(missing_blocks > before);
        }
        let Some((list, required)) = example else { return Ok(()) };
        let order = layout.group().map_or(1, Group::order);
        let missing = missing_blocks.saturating_mul(order);
        Err(self.never_delivered(list, &required, missing, incomplete_nodes * order))
    }

    fn take_redundant(&mut self) -> Option<(PlacedNode, Block)> {
        let redundant = self.redundant.take().map(|boxed| *boxed);
        redundant.filter(|_| self.inventory.layout.group().is_none())
    }

    /// Returns the number of load units per block. It is 1 for explicit sizes, because their loads
    /// are in bytes.
    fn segments(&self) -> u64 {
        if self.inventory.sizes.is_some() { 1 } else { self.inventory.units() }
    }

    fn in_parts(&self) -> bool {
        self.inventory.division.in_parts
    }

    fn loads(&self) -> &Loads {
        &self.loads
    }

    fn latest_arrival(&self) -> u64 {
        self.latest_arrival
    }

    fn embedding(&self) -> &Embedding {
        &self.inventory.embedding
    }

    fn verified_on(&self) -> u64 {
        self.inventory.planned_nodes()
    }
}

impl<E> InFlight<E> {
    const fn new() -> Self {
        Self {
            receivers: Vec::new(),
            records: Vec::new(),
            sends: Vec::new(),
            latest: 0,
            join_from: JOIN_FROM,
        }
    }

    fn clear(&mut self) {
        self.receivers.clear();
        self.records.clear();
        self.sends.clear();
        self.join_from = JOIN_FROM;
    }
}

/// The length of `records` from which boxes are joined. So many elements take at least 32 MiB.
const JOIN_FROM: usize = 1 << 22;

impl<L: Layout> Exchange<L> {
    /// Removes the selected boxes from the sender's holdings and puts them in flight. Returns the
    /// load of the message, including extra bytes, or `None` if the message is empty.
    #[inline]
    pub(crate) fn send(&mut self, rule: &Rule<'_>) -> Result<Option<u64>, Fault> {
        self.inventory.check(rule, self.step)?;
        if self.in_flight.records.len() >= self.in_flight.join_from {
            self.join_in_flight();
        }
        self.inventory.select(rule, self.step, &mut self.selection)?;
        let Self { inventory, holdings, in_flight, selection, .. } = self;

        let (format, embedding) = (holdings.format(), &inventory.embedding);
        let (first, start) = (in_flight.receivers.len(), in_flight.records.len());
        in_flight.latest = first;
        let is_within_node = format.tracks_arrivals()
            && embedding.physical(rule.from) == embedding.physical(rule.to)
            && rule.in_switch == InSwitch::None;
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
            in_flight.sends.push(ReductionSend {
                first,
                from: rule.from,
                combine: rule.combine,
                in_switch: rule.in_switch == InSwitch::Joined,
            });
        }
        let account = |node| embedding.physical(inventory.layout.home(node).0 as u64);
        self.loads.moved((account(rule.from), account(rule.to)), copy, load);
        self.latest_arrival = latest_arrival;
        self.has_copies |= copy;
        Ok(Some(load + rule.extra_bytes))
    }
}

impl<L: Layout> Inventory<L> {
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

    #[inline]
    fn check(&self, rule: &Rule<'_>, step: u64) -> Result<(), Fault> {
        let Self { layout, embedding, .. } = self;
        let nodes = layout.grid().nodes();
        Fault::check_ends(step, (rule.from, rule.to), nodes)?;
        if rule.from == rule.to && !rule.local && rule.in_switch == InSwitch::None {
            let node = embedding.locate(rule.from);
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

    #[inline]
    fn select(
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

impl<L: Layout> Exchange<L> {
    fn receive(&mut self, in_flight: &mut InFlight<L::Element>) -> Result<(), Fault> {
        if self.inventory.layout.group().is_some() {
            self.move_to_representatives(in_flight);
        }
        if self.sums() {
            return self.receive_values(in_flight);
        }
        let elements = self.holdings.format().elements();
        let records = in_flight.records.chunks_exact(elements);
        for (receiver, record) in in_flight.receivers.iter().zip(records) {
            if self.has_copies {
                self.insert_new(*receiver as usize, record)?;
            } else {
                self.holdings.insert(&self.inventory.layout, *receiver as usize, record);
            }
        }
        Ok(())
    }

    /// To save memory, joins boxes in flight that have the same receiver, except in reductions and
    /// in symmetric schedules. After a copy, boxes are not joined, because a block that arrives
    /// twice is only detected if it is in separate boxes.
    fn join_in_flight(&mut self) {
        let Self { inventory: Inventory { layout, .. }, holdings, in_flight, .. } = self;
        let elements = holdings.format().elements();
        if !self.has_copies && in_flight.sends.is_empty() && layout.group().is_none() {
            let mut joined = holdings.without_boxes();
            let records = in_flight.records.chunks_exact(elements);
            for (receiver, record) in in_flight.receivers.iter().zip(records) {
                joined.insert(layout, *receiver as usize, record);
            }
            in_flight.clear();
            for list in 0..joined.lists() {
                in_flight.records.extend_from_slice(joined.records(list));
                in_flight.receivers.resize(in_flight.records.len() / elements, list as u64);
            }
        }
        in_flight.join_from = in_flight.join_from.max(2 * in_flight.records.len());
    }

    /// Adds a record to a list, without the blocks that the list already has. Depending on the
    /// collective, such a block is counted as redundant or is a fault.
    fn insert_new(&mut self, list: usize, record: &[L::Element]) -> Result<(), Fault> {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let received = format.box_of(record);
        let Some(overlap) = self.holdings.overlap(layout, list, received) else {
            self.holdings.insert(layout, list, record);
            return Ok(());
        };
        let (node, block) = (self.place(list), self.inventory.first_block(&overlap));
        if self.inventory.collective.kind().redundant_delivery == RedundantDelivery::Fault {
            return Err(Fault::Delivery(self.step, DeliveryFault::DeliveredTwice { node, block }));
        }
        let mut redundant = self.inventory.load(received, format.count(record));
        for new in self.holdings.missing(layout, list, received) {
            redundant -= self.inventory.load(&new, layout.count(&new));
            self.holdings.insert_box(layout, list, &new, format.arrival(record));
        }
        self.loads.discarded(self.account(list), redundant);
        self.redundant.get_or_insert_with(|| Box::new((node, block)));
        Ok(())
    }

    fn place(&self, list: usize) -> PlacedNode {
        self.inventory.embedding.locate(self.inventory.layout.representative(list))
    }
}

// Reductions: a value is the sum of the contributions of some origins to one segment of a result.
// The origins of a box are the contributions that its values contain.
//
// A node holds at most one value of each segment. A send moves whole values, each of which is as
// long as one contribution. The receiver combines a received value with its own value, or replaces
// its own value. Combining must not count a contribution twice, and replacing must not lose one. So
// a value with all contributions has each of them exactly once. If an algorithm needs two values of
// a segment on one node of the machine, it places two nodes of its own grid on this node.

impl<L: Layout> Exchange<L> {
    fn receive_values(&mut self, in_flight: &InFlight<L::Element>) -> Result<(), Fault> {
        if self.inventory.layout.group().is_some_and(|group| group.order() > 1) {
            return self.receive_values_by_sender(in_flight);
        }
        (0..in_flight.sends.len()).try_for_each(|send| self.receive_send(in_flight, send, true))
    }

    fn receive_send(
        &mut self,
        in_flight: &InFlight<L::Element>,
        send: usize,
        counts: bool,
    ) -> Result<(), Fault> {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let received = in_flight.records_of(send, format.elements());
        let list = in_flight.receivers[in_flight.sends[send].first] as usize;
        let mut own = std::mem::take(&mut self.own_values);
        own.clear();
        for record in format.boxes(received) {
            self.holdings.take_terms(layout, list, record, |held| own.extend_from_slice(held));
        }
        let checked = if own.is_empty() {
            Ok(())
        } else {
            let (_, load) = self.inventory.values(&format.boxes(&own));
            let account = self.account(list);
            // The loads still count both values, but only the sum or the received value remains.
            if counts {
                self.loads.discarded(account, load);
            }
            if in_flight.sends[send].combine {
                if counts && !in_flight.sends[send].in_switch {
                    self.loads.summed(account, load);
                }
                self.check_not_counted_twice(list, &own, received)
            } else {
                let checked = self.check_nothing_lost(list, &own, received);
                own.clear();
                checked
            }
        };
        // Store the received values, and the receiver's own values if they were not replaced. A sum
        // of all contributions is stored as one box, because later sends use it. Joining boxes in
        // pairs could leave several boxes.
        let layout = &self.inventory.layout;
        let complete = (!own.is_empty())
            .then(|| format.boxes(received).chain(format.boxes(&own)))
            .and_then(|both| self.inventory.complete_values(&both));
        if let Some(complete) = complete {
            let arrival = format.arrival(received);
            complete.iter().for_each(|a| self.holdings.insert_box(layout, list, a, arrival));
        } else {
            received
                .chunks_exact(format.elements())
                .chain(own.chunks_exact(format.elements()))
                .for_each(|record| self.holdings.insert(layout, list, record));
        }
        self.own_values = own;
        checked
    }

    fn check_not_counted_twice(
        &self,
        list: usize,
        own: &[L::Element],
        received: &[L::Element],
    ) -> Result<(), Fault> {
        // Before the first copy, each contribution is in only one value.
        if !self.has_copies {
            return Ok(());
        }
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let mut both = layout.full().to_vec();
        let mut pairs = format.boxes(own).flat_map(|a| format.boxes(received).map(move |b| (a, b)));
        if !pairs.any(|(a, b)| layout.intersect(a, b, &mut both)) {
            return Ok(());
        }
        let (node, block) = (self.place(list), self.inventory.first_block(&both));
        Err(Fault::Delivery(self.step, DeliveryFault::CountedTwice { node, block }))
    }

    fn check_nothing_lost(
        &self,
        list: usize,
        own: &[L::Element],
        received: &[L::Element],
    ) -> Result<(), Fault> {
        let format = self.holdings.format();
        let own = format.boxes(own).map(<[L::Element]>::to_vec).collect();
        let lost = without(&self.inventory.layout, own, format.boxes(received));
        let Some(lost) = lost.first() else { return Ok(()) };
        let (node, block) = (self.place(list), self.inventory.first_block(lost));
        Err(Fault::Delivery(self.step, DeliveryFault::Replaced { node, block }))
    }
}

impl<E> InFlight<E> {
    fn records_of(&self, send: usize, elements: usize) -> &[E] {
        let end = self.sends.get(send + 1).map_or(self.receivers.len(), |next| next.first);
        &self.records[self.sends[send].first * elements..end * elements]
    }
}

impl<L: Layout> Exchange<L> {
    /// Replaces each receiver in flight by its representative, and each box by its image under the
    /// group element that maps the receiver to the representative.
    fn move_to_representatives(&self, in_flight: &mut InFlight<L::Element>) {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let group = layout.group().expect("a symmetric exchange has a group");
        for send in &mut in_flight.sends {
            let element = layout.home(in_flight.receivers[send.first]).1;
            send.from = group.moved(send.from, group.inverse(element));
        }
        let records = in_flight.records.chunks_exact_mut(format.elements());
        for (receiver, record) in in_flight.receivers.iter_mut().zip(records) {
            let (list, element) = layout.home(*receiver);
            layout.move_by(group.inverse(element), format.box_of_mut(record));
            *receiver = list as u64;
        }
    }

    fn receive_values_by_sender(&mut self, in_flight: &InFlight<L::Element>) -> Result<(), Fault> {
        let key = |send: &usize| {
            let reduction = in_flight.sends[*send];
            (in_flight.receivers[reduction.first], reduction.from)
        };
        let mut sends: Vec<usize> = (0..in_flight.sends.len()).collect();
        sends.sort_by_key(key);
        for sends in sends.chunk_by(|a, b| key(a).0 == key(b).0) {
            // The other nodes of the orbit may receive the images of these values in other orders,
            // so the other orders are checked, too.
            let list = key(&sends[0]).0 as usize;
            for order in self.other_orders(in_flight, sends) {
                let records = self.holdings.records(list).to_vec();
                order.into_iter().try_for_each(|send| self.receive_send(in_flight, send, false))?;
                self.holdings.set_records(list, records);
            }
            sends.iter().try_for_each(|send| self.receive_send(in_flight, *send, true))?;
        }
        Ok(())
    }

    /// Returns all orders in which nodes of the orbit receive the images of these sends. Returns no
    /// orders if none of the sends replaces values that another of them replaces or adds to,
    /// because the order then makes no difference.
    fn other_orders(
        &self,
        in_flight: &InFlight<L::Element>,
        sends: &[usize],
    ) -> BTreeSet<Vec<usize>> {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let mut common = layout.full().to_vec();
        let mut conflict = |a: usize, b: usize| {
            let is_replaced = [a, b].map(|send| !in_flight.sends[send].combine);
            let boxes = |send| format.boxes(in_flight.records_of(send, format.elements()));
            let mut pairs = boxes(a).flat_map(|one| boxes(b).map(move |other| (one, other)));
            is_replaced != [false; 2]
                && pairs.any(|(one, other)| {
                    (is_replaced != [true; 2] || one != other)
                        && layout.terms_of(one, other, &mut common)
                })
        };
        let mut pairs =
            sends.iter().enumerate().flat_map(|(i, a)| sends[..i].iter().map(move |b| (*a, *b)));
        if !pairs.any(|(a, b)| conflict(a, b)) {
            return BTreeSet::new();
        }
        let in_order = |group: &Group, element| {
            let mut order = sends.to_vec();
            order.sort_by_key(|send| group.moved(in_flight.sends[*send].from, element));
            order
        };
        let orders = |group: &Group| group.elements().map(|e| in_order(group, e)).collect();
        layout.group().map_or_else(BTreeSet::new, orders)
    }
}

impl<L: Layout> Exchange<L> {
    fn not_held(&self, rule: &Rule<'_>, first: usize) -> Fault {
        let layout = &self.inventory.layout;
        // A send moves whole values, so a value is not missing if any contribution to it is in
        // flight.
        let sent =
            |a: &[L::Element]| if self.sums() { layout.with_all_origins(a) } else { a.to_vec() };
        let sent: Vec<_> = self.in_flight(first).map(|(_, a)| sent(a)).collect();
        let selected = self.selection.elements().to_vec();
        let missing = without(layout, vec![selected.clone()], sent.iter().map(Vec::as_slice));
        let mut missing = missing.into_iter().next().unwrap_or(selected);
        let mut block = self.inventory.first_block(&missing);
        if self.sums() {
            // A sum is sent as a whole, so the fault names no origin. The sender's own contribution
            // determines the location that the fault reports.
            block.origin = None;
            layout.narrow_to(Side::Origins, rule.from, &mut missing);
        }
        Fault::Delivery(
            self.step,
            DeliveryFault::NotHeld {
                from: self.inventory.embedding.locate(rule.from),
                to: self.inventory.embedding.locate(rule.to),
                block,
                location: self.location(&missing),
            },
        )
    }

    /// Returns the fault of a node that lacks blocks of the box `required`. `missing` is the total
    /// number of missing blocks, and `nodes` is the number of nodes that lack blocks.
    fn never_delivered(
        &self,
        list: usize,
        required: &[L::Element],
        missing: u64,
        nodes: u64,
    ) -> Fault {
        let boxes = self.holdings.missing(&self.inventory.layout, list, required);
        let first = boxes.first().map_or(required, Vec::as_slice);
        Fault::End(
            self.step,
            EndFault::NeverDelivered {
                node: self.place(list),
                block: self.inventory.first_block(first),
                location: self.location(first),
                missing: Count(missing, if self.sums() { "contribution" } else { "block" }),
                nodes: Count(nodes, "node"),
            },
        )
    }

    fn location(&self, a: &[L::Element]) -> BlockLocation {
        let (layout, embedding) = (&self.inventory.layout, &self.inventory.embedding);
        let mut one = a.to_vec();
        for side in [Side::Origins, Side::Destinations, Side::Segments] {
            if layout.has(side) {
                layout.narrow_to(side, layout.first_of(side, a), &mut one);
            }
        }
        let image = |(node, a)| layout.least_image(node, a, &one);
        let has_destination = layout.has(Side::Destinations) && !self.inventory.division.in_parts;
        let destination = has_destination.then(|| layout.first_of(Side::Destinations, a));
        let holders = (0..self.holdings.lists()).flat_map(|list| {
            let node = layout.representative(list);
            self.holdings.of(list).map(move |a| (node, a))
        });
        let receiver = self.in_flight(0).filter_map(image).min();
        embedding.location(receiver, holders.filter_map(image).min(), destination)
    }
}

#[derive(Debug, Default)]
pub(crate) struct SentBoxes(Vec<Vec<<RunLayout as Layout>::Element>>);

impl OrbitExchange {
    pub(crate) fn sent_boxes(&self, first: usize) -> SentBoxes {
        SentBoxes(self.in_flight(first).map(|(_, a)| a.to_vec()).collect())
    }

    pub(crate) fn expanded_layout(&self) -> BitLayout {
        let Inventory { collective, division, embedding, .. } = &self.inventory;
        Inventory::layout(collective, *division, embedding)
    }

    pub(crate) fn expand(
        &self,
        sent: &SentBoxes,
        element: u64,
        expanded: &BitLayout,
    ) -> Vec<Vec<u64>> {
        let layout = &self.inventory.layout;
        let images = sent.0.iter().cloned().map(|mut image| {
            layout.move_by(element, &mut image);
            layout.as_bits(&image, expanded)
        });
        images.flatten().collect()
    }
}

#[cfg(test)]
mod tests;
