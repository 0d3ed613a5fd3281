//! Traces the blocks of every node through all steps of a schedule and verifies their delivery.
//!
//! Blocks are never listed one by one. A node's holdings are a list of boxes (products of sets of
//! origins, destinations and segments). A send moves boxes from one node's holdings to another's. A
//! block that is moved, not copied, is in one place at a time. So verification only has to count
//! the required blocks that each node holds at the end.
//!
//! # Symmetric schedules
//!
//! Suppose that the schedule is invariant under a group of permutations of the nodes. Then only one
//! node of each orbit, its *representative*, is planned: only its sends are executed, and only its
//! holdings are stored. If representative r sends a set D of blocks to node t, then g(r) sends g(D)
//! to g(t) for each element g of the group. Let s be the representative of t's orbit, and h the
//! element that maps s to t. The image of the send under the inverse of h has receiver s. So s
//! receives the image of D under the inverse of h. In full planning, each node is its own orbit.

use crate::delivery::boxes::{Axis, BitLayout, Layout, NodeSet, RunLayout, Selection};
use crate::delivery::collective::{BlockSizes, Collective};
use crate::delivery::contents::Contents;
use crate::delivery::fault::{Block, Count, Fault, PlacedNode};
use crate::delivery::grid::Grid;
use crate::delivery::holdings::Holdings;
use crate::delivery::loads::Loads;
use crate::delivery::placement::Placement;
use crate::delivery::traced::{Proof, Traced};
use crate::network::symmetry::{Group, Symmetry};
use std::sync::Arc;

mod arrivals;
mod expansion;
mod explain;
mod inventory;
mod reductions;
mod sends;
mod symmetric;
mod tokens;

pub(crate) use expansion::SentBoxes;
pub use inventory::Division;
pub(crate) use inventory::Inventory;
pub(crate) use tokens::TokenExchange;

/// A send. It moves or copies blocks from one node to another. Three sets (origins, destinations
/// and segments) select the blocks.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// Sender, as a node of the schedule's grid.
    pub from: u64,
    /// Receiver, as a node of the schedule's grid.
    pub to: u64,
    /// The origins of the blocks to send.
    pub origins: NodeSet<'a>,
    /// The destinations of the blocks to send.
    pub destinations: NodeSet<'a>,
    /// The segments to send of each block.
    pub segments: Axis<'a>,
    /// Whether the sender must hold every selected block. If a block is missing, the send is a
    /// fault.
    pub strict: bool,
    /// Whether the sender keeps the blocks.
    pub copy: bool,
    /// Whether the receiver combines the received values with its own values. If not, the received
    /// values replace its own values.
    pub combine: bool,
    /// Whether sender and receiver may be the same node.
    pub local: bool,
    /// Bytes that the message carries in addition to the blocks, such as padding. No node holds
    /// them afterwards. Must be 0 if all blocks have the same size, because loads are then in
    /// blocks.
    pub extra_bytes: u64,
}

impl Rule<'_> {
    /// Creates a send of everything that `from` holds. The sender keeps nothing, received values
    /// replace the receiver's values, and the two nodes must differ.
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
            extra_bytes: 0,
        }
    }

    /// Selects the block from node `origin` to node `destination`, which the sender must hold.
    #[must_use]
    pub fn of_block(self, origin: u64, destination: u64) -> Self {
        let (origins, destinations) = (NodeSet::One(origin), NodeSet::One(destination));
        Self { origins, destinations, strict: true, ..self }
    }
}

/// The holdings of all nodes, or of one node per orbit, from the first step to the last.
#[derive(Debug)]
pub(crate) struct Exchange<L: Layout = BitLayout> {
    inventory: Inventory<L>,
    holdings: Holdings<L::Element>,
    /// Boxes sent in the current step, which are received at the end of the step.
    in_flight: InFlight<L::Element>,
    loads: Loads,
    /// The load of all planned nodes before the first step.
    initial_load: u128,
    /// Whether any send so far was a copy. Without copies, no node can receive a block that it
    /// already holds.
    has_copies: bool,
    /// The first permitted redundant delivery (of a block to a node that already holds the block)
    /// since the last call of [`Traced::take_redundant`].
    redundant: Option<Box<(PlacedNode, Block)>>,
    step: u64,
    latest_arrival: u64,
    /// Buffer for the blocks that the current send selects.
    selection: Selection<L::Element>,
    /// Buffer for the records of the receiver's own values, while received values are combined with
    /// them.
    own_values: Vec<L::Element>,
}

/// The boxes sent in a step, in the order of the sends.
#[derive(Debug)]
struct InFlight<E> {
    /// The receiver of each box.
    receivers: Vec<u64>,
    /// The records of the boxes, one after the other. A record is a box, preceded by its number of
    /// blocks.
    records: Vec<E>,
    /// The sends of a reduction. The receiver processes all values of a send together. Empty for
    /// other collectives.
    sends: Vec<ReductionSend>,
    /// Index of the first box of the most recent send.
    latest: usize,
    /// Minimum length of `records` at which boxes for the same receiver are joined to save memory.
    join_from: usize,
}

/// A send of a reduction.
#[derive(Debug, Clone, Copy)]
struct ReductionSend {
    /// Index of the first box of the send.
    first: usize,
    from: u64,
    combine: bool,
}

impl Exchange {
    /// Creates the state before the first step, in which each node holds its initial blocks of the
    /// collective.
    ///
    /// `sizes` is `None` for blocks of uniform size. Loads are then in blocks, otherwise in bytes.
    pub(crate) fn new(
        collective: Collective,
        placement: Placement,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        placement.check()?;
        let layout = Inventory::layout(&collective, division, &placement);
        Inventory::check_memory(&layout)?;
        Self::start(Inventory::new(collective, placement, division, sizes, layout))
    }

    /// Enables [`Traced::latest_arrival`]: each box records the step in which it was received.
    /// Must be called before the first step.
    #[must_use]
    pub(crate) fn with_arrival_tracking(self) -> Self {
        Self { holdings: self.holdings.with_arrival_tracking(), ..self }
    }
}

/// An exchange that stores the holdings of one node per orbit.
pub(crate) type OrbitExchange = Exchange<RunLayout>;

impl OrbitExchange {
    /// Creates the state of a schedule that is invariant under `group`. Node i of the grid must run
    /// on node i of the machine.
    pub(crate) fn of_orbits(
        collective: Collective,
        placement: Placement,
        division: Division,
        group: Group,
    ) -> Result<Self, Fault> {
        placement.check()?;
        let radices: Vec<u64> = group.axes().iter().map(|axis| axis.radix).collect();
        Grid::new(&radices).map_err(Fault::BadSymmetry)?;
        let [by_origin, by_destination] = division.distinguishes(collective.kind());
        let grid = placement.grid().clone();
        let layout = RunLayout::new(grid, group, by_origin, by_destination, division.segments);
        Self::start(Inventory::new(collective, placement, division, None, layout))
    }

    /// Returns the group under which the schedule is invariant.
    pub(crate) fn group(&self) -> &Group {
        self.inventory.layout.orbit_group()
    }

    /// Creates the state of a fully planned schedule, in which each node is its own orbit.
    pub(crate) fn of_all_nodes(
        collective: Collective,
        placement: Placement,
        division: Division,
    ) -> Result<Self, Fault> {
        let radices = placement.grid().radices();
        let group = Group::new(radices, &vec![Symmetry::Fixed; radices.len()])
            .map_err(Fault::BadSymmetry)?;
        Self::of_orbits(collective, placement, division, group)
    }
}

impl<L: Layout> Exchange<L> {
    fn start(inventory: Inventory<L>) -> Result<Self, Fault> {
        let (layout, placement) = (&inventory.layout, &inventory.placement);
        let (lists, order) = match layout.group() {
            Some(group) => (group.representatives(), group.order()),
            None => (placement.grid().nodes(), 1),
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
                holdings.insert_box(layout, layout.home(placement.home(node)).0, &a, 0);
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

    /// Asserts that the loads of nodes are those of the boxes that they hold, and that no load was
    /// lost or created.
    fn check_loads(&self) {
        let Inventory { sizes, placement, .. } = &self.inventory;
        let held = self.loads.held();
        // A reduction combines loads, and a copy adds to them.
        if !self.sums() && !self.has_copies {
            let total: u128 = held.iter().map(|load| u128::from(*load)).sum();
            assert_eq!(total, self.initial_load, "loads were lost or created");
        }
        // If sizes are explicit, or if a box of contributions stands for one value, the load of a
        // box takes long to compute.
        if !self.sums() && sizes.is_none() {
            let mut of_boxes = vec![0; held.len()];
            let format = self.holdings.format();
            for list in 0..self.holdings.lists() {
                let records = self.holdings.records(list).chunks_exact(format.elements());
                of_boxes[placement.physical(list as u64) as usize] +=
                    records.map(|record| format.count(record)).sum::<u64>();
            }
            assert!(of_boxes == held, "the loads of nodes are not those of their boxes");
        }
    }

    /// Returns the index in [`Loads::held`] of the node whose holdings are stored in this list.
    fn account(&self, list: usize) -> u64 {
        self.inventory.placement.physical(list as u64)
    }

    /// Adds to a fault of a representative the number of further nodes in its orbit, which have the
    /// same fault.
    fn for_orbit(&self, fault: Fault) -> Fault {
        match (&fault, self.inventory.layout.group()) {
            (Fault::Delivery(..), Some(group)) if group.order() > 1 => {
                Fault::ForOrbit(Box::new(fault), Count(group.order() - 1, "other node"))
            }
            _ => fault,
        }
    }

    /// Returns the number of the current step, from 1.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Returns whether the sender of a rule keeps what it sends.
    pub(crate) fn copies(&self, rule: &Rule<'_>) -> bool {
        self.inventory.copies(rule)
    }

    /// Returns whether the collective is a reduction.
    pub(crate) fn sums(&self) -> bool {
        self.inventory.sums()
    }

    /// Returns the memory layout of boxes.
    pub(crate) fn layout(&self) -> &L {
        &self.inventory.layout
    }

    /// Returns the boxes sent in this step and their receivers, starting with box number `first`.
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

    /// Returns the number of the first box of the most recent send. The boxes of earlier sends may
    /// have changed their numbers, because some of them were joined.
    pub(crate) fn latest_box(&self) -> usize {
        self.in_flight.latest
    }

    /// Returns the blocks in the boxes in flight, starting with box number `first`.
    pub(crate) fn in_flight_contents(&self, first: usize) -> Contents {
        let boxes = self.in_flight(first);
        boxes.fold(Contents::Nothing, |all, (_, a)| all.and(self.inventory.contents(a)))
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
        // Update the peak load after the receipt, because the receipt subtracts redundant
        // deliveries from the loads.
        let placement = &self.inventory.placement;
        self.loads.end_step(in_flight.receivers.iter().map(|list| placement.physical(*list)));
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
            let list = layout.home(self.inventory.placement.home(node)).0;
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
                // Counts of 2^64 and more blocks are not exact.
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

    /// Returns the number of load units per block. If blocks have explicit sizes, loads are in
    /// bytes and the number is 1. Otherwise it is the number of parts times the number of segments.
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

    fn placement(&self) -> &Placement {
        &self.inventory.placement
    }

    fn verified_on(&self) -> u64 {
        self.inventory.planned_nodes()
    }
}

#[cfg(test)]
mod tests;
