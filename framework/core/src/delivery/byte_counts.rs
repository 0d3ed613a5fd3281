//! The second kind of exchange: byte counts instead of blocks.
//!
//! Some algorithms forget where data comes from: they redistribute what they hold element by
//! element, so that every message is about as long as every other (Liu, Wang & Prasanna, section 3;
//! Bader et al.). There a node holds *so many bytes for each destination*, and what is proved is
//! that none are lost or made on the way and that all end where they should: `verified` is then
//! `amounts`.
//!
//! A node's holdings are one number a destination. What a node redistributed stays with it as it
//! was, with a note of who got which bucket; only when a receiver needs to know what it holds are
//! the notes settled, for all nodes that share their receivers together. That costs a few
//! operations a node and destination, however many buckets there are: an exchange of a full matrix
//! takes time in proportion to its N x N entries.

use crate::delivery::boxes::BitLayout;
use crate::delivery::collective::BlockSizes;
use crate::delivery::fault::{Count, EndFault, Fault, PlacedNode};
use crate::delivery::placement::Placement;
use crate::limits;
use pattern::Pattern;
use redistributing::Redistributed;
use std::fmt;
use std::sync::Arc;

mod pattern;
mod redistributing;
mod sending;

/// How big things are, which a schedule of byte counts depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteCountUnits {
    /// Bytes of each block when sizes are uniform.
    pub block_bytes: u64,
    /// Bytes of the unit that is redistributed.
    pub element_bytes: u64,
}

/// A node redistributes all it holds, element by element, over buckets. Element x (from 0) of what
/// it holds for destination d has number `c = (starts[d] + x) % cycle` and goes to bucket `(first +
/// firsts[d] + c) % buckets`.
#[derive(Debug, Clone, Copy, Hash)]
pub struct Redistribution<'a> {
    /// The node of the schedule's grid that redistributes what it holds.
    pub node: u64,
    /// How many buckets there are.
    pub buckets: u64,
    /// How many numbers there are before they begin again at 0.
    pub cycle: u64,
    /// The bucket that number 0 goes to.
    pub first: u64,
    /// For each destination the number its elements begin with; empty for 0 everywhere.
    pub starts: &'a [u32],
    /// For each destination what is added to `first`; empty for 0 everywhere.
    pub firsts: &'a [u32],
}

/// In [`ByteSelection::Listed`]: all that the sender holds for a destination.
pub const ALL_BYTES: u64 = u64::MAX;

/// One send of byte counts.
#[derive(Debug, Clone, Copy, Hash)]
pub struct ByteSend<'a> {
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// Sender and receiver may be the same.
    pub local: bool,
    /// A bucket, or so many bytes for each of some destinations.
    pub what: ByteSelection<'a>,
}

/// What a send of byte counts takes.
#[derive(Debug, Clone, Copy, Hash)]
pub enum ByteSelection<'a> {
    /// A bucket of what was redistributed.
    Bucket(u64),
    /// So many bytes for each of these destinations, or [`ALL_BYTES`].
    Listed(&'a [(u64, u64)]),
}

/// A number of elements for one destination. Narrow where all that anybody can hold for one
/// destination fits: the table of a large exchange is gigabytes, and going through it is what costs
/// time.
pub trait Cell: Copy + Default + fmt::Debug + Into<u64> {
    /// From a number that is known to fit.
    fn of(elements: u64) -> Self;
}

impl Cell for u32 {
    fn of(elements: u64) -> Self {
        elements as Self
    }
}

impl Cell for u64 {
    fn of(elements: u64) -> Self {
        elements
    }
}

/// Who holds how much for whom.
#[derive(Debug)]
pub(crate) struct ByteCounts<T> {
    nodes: usize,
    sizes: Option<Arc<dyn BlockSizes>>,
    units: ByteCountUnits,
    placement: Placement,
    layout: BitLayout,
    /// Elements that each node holds for each destination; empty for none at all.
    holdings: Vec<Vec<T>>,
    /// Holdings no longer needed, whose memory is.
    spare: Vec<Vec<T>>,
    /// Whether a node's holdings still are what it started with, and not written down yet.
    untouched: Vec<bool>,
    redistributed: Vec<Option<Redistributed<T>>>,
    /// Nodes with something redistributed.
    redistributors: Vec<u32>,
    /// Buckets sent whose receivers don't know yet what is in them.
    unsettled: usize,
    /// No such bucket was sent before this step.
    unsettled_since: u64,
    /// The pattern last used: nodes of one phase redistribute alike.
    pattern: Option<Arc<Pattern>>,
    /// What arrives at the end of the step: receiver, destination, elements.
    arriving: Vec<(u32, u32, u64)>,
    receivers: Vec<u32>,
    /// The last step in which each node received something.
    last_receipts: Vec<u64>,
    /// That of the last send's sender, before it had what it sent.
    latest_arrival: u64,
    /// Bytes that each node holds.
    held: Vec<u64>,
    peak: u64,
    step: u64,
    /// Words that buckets take.
    buckets: u64,
}

impl<T: Cell> ByteCounts<T> {
    /// Everyone holds what the workload gives them. Block sizes must be multiples of the element.
    pub(crate) fn new(
        placement: Placement,
        sizes: Option<Arc<dyn BlockSizes>>,
        units: ByteCountUnits,
    ) -> Result<Self, Fault> {
        let nodes = placement.grid().nodes();
        if nodes != placement.machine_nodes() || !placement.is_identity() {
            return Err(Fault::BadGrid("a schedule of byte counts needs a grid of as many nodes as the machine, without placements".to_owned()));
        }
        if nodes.saturating_mul(nodes) > limits::HELD_BYTES / size_of::<T>() as u64 {
            return Err(Fault::Refused(format!(
                "byte counts for each of {nodes} destinations at {nodes} nodes need {} GiB, more than the limit of {} GiB",
                nodes.saturating_mul(nodes).saturating_mul(size_of::<T>() as u64) >> 30,
                limits::HELD_BYTES >> 30
            )));
        }
        if u128::from(units.block_bytes) * u128::from(nodes) * u128::from(nodes)
            > u128::from(u64::MAX / 2)
        {
            return Err(Fault::Refused(format!(
                "blocks of {} bytes among {nodes} nodes add up beyond 2^63 bytes",
                units.block_bytes
            )));
        }
        let layout = BitLayout::new(placement.grid().clone(), false, true, 1);
        let all: Vec<u64> = (0..nodes).collect();
        let held: Vec<u64> = match &sizes {
            Some(sizes) => all.iter().map(|from| sizes.total(&[*from], &all)).collect(),
            None => vec![units.block_bytes.saturating_mul(nodes); nodes as usize],
        };
        let nodes = nodes as usize;
        Ok(Self {
            nodes,
            placement,
            sizes,
            units: ByteCountUnits { element_bytes: units.element_bytes.max(1), ..units },
            layout,
            holdings: vec![Vec::new(); nodes],
            spare: Vec::new(),
            untouched: vec![true; nodes],
            redistributed: (0..nodes).map(|_| None).collect(),
            redistributors: Vec::new(),
            unsettled: 0,
            unsettled_since: 0,
            pattern: None,
            arriving: Vec::new(),
            receivers: Vec::new(),
            last_receipts: vec![0; nodes],
            latest_arrival: 0,
            peak: held.iter().copied().max().unwrap_or(0),
            held,
            step: 0,
            buckets: 0,
        })
    }

    /// Begins the next step.
    pub(crate) fn begin_step(&mut self) {
        self.step += 1;
    }

    /// All that a node holds, by destination; it holds nothing any more.
    fn take_all(&mut self, node: usize) -> Result<Vec<T>, Fault> {
        self.write_down(node)?;
        Ok(std::mem::take(&mut self.holdings[node]))
    }

    /// Makes sure that a node's holdings are in the table.
    fn write_down(&mut self, node: usize) -> Result<(), Fault> {
        if !self.holdings[node].is_empty() {
            return Ok(());
        }
        let mut row = self.spare.pop().unwrap_or_default();
        row.clear();
        if std::mem::take(&mut self.untouched[node]) {
            row.reserve_exact(self.nodes);
            for to in 0..self.nodes {
                row.push(T::of(self.elements(node, to)?));
            }
        } else {
            row.resize(self.nodes, T::default());
        }
        self.holdings[node] = row;
        Ok(())
    }

    /// What `from` has for `to` in the beginning.
    fn elements(&self, from: usize, to: usize) -> Result<u64, Fault> {
        let bytes =
            self.sizes.as_ref().map_or(self.units.block_bytes, |s| s.bytes(from as u64, to as u64));
        let element = self.units.element_bytes;
        if element == 1 {
            return Ok(bytes);
        }
        if bytes.is_multiple_of(element) {
            return Ok(bytes / element);
        }
        Err(Fault::Refused(format!(
            "node {from} has {bytes} bytes for node {to}, which is not a multiple of the element size of {element} bytes"
        )))
    }

    /// Ends the step: what was sent has arrived.
    pub(crate) fn end_step(&mut self) -> Result<(), Fault> {
        let mut arriving = std::mem::take(&mut self.arriving);
        for (to, destination, elements) in arriving.drain(..) {
            self.write_down(to as usize)?;
            add(&mut self.holdings[to as usize][destination as usize], elements);
        }
        self.arriving = arriving;
        for receiver in self.receivers.drain(..) {
            self.peak = self.peak.max(self.held[receiver as usize]);
            self.last_receipts[receiver as usize] = self.step;
        }
        Ok(())
    }

    /// Proves that all bytes are where they should be.
    pub(crate) fn verify(&mut self) -> Result<(), Fault> {
        self.settle(self.step + 1)?;
        let unsent = self
            .redistributors
            .iter()
            .filter_map(|n| Some((*n, self.redistributed[*n as usize].as_ref()?.first_unsent()?)));
        if let Some((node, bucket)) = unsent.min() {
            return Err(Fault::End(
                self.step,
                EndFault::BucketUnsent { node: u64::from(node), bucket },
            ));
        }
        let (mut astray, mut nodes, mut first) = (0_u64, 0_u64, None);
        for node in 0..self.nodes {
            self.write_down(node)?;
            let held = std::mem::take(&mut self.holdings[node]);
            let held = held.into_iter().map(Into::<u64>::into);
            let others = held.enumerate().filter(|(d, byte_count)| *d != node && *byte_count > 0);
            let mut any = false;
            for (destination, byte_count) in others {
                any = true;
                astray += byte_count;
                first.get_or_insert((node as u64, destination as u64, byte_count));
            }
            nodes += u64::from(any);
        }
        let Some((node, destination, byte_count)) = first else { return Ok(()) };
        let element = self.units.element_bytes;
        Err(Fault::End(
            self.step,
            EndFault::MisplacedBytes {
                node: place(node),
                destination,
                bytes: Count(byte_count * element, "byte"),
                all: Count(astray * element, "byte"),
                nodes: Count(nodes, "node"),
            },
        ))
    }

    /// The last step in which the last send's sender received anything before it had what it sent:
    /// before the redistribution, if that is a bucket; 0 if it received nothing. Where bytes come
    /// from is forgotten: they may be of that step or of any earlier one.
    pub(crate) fn latest_arrival(&self) -> u64 {
        self.latest_arrival
    }

    /// The step under way, from 1.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Who runs what: every node itself.
    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// How sets of destinations are laid out.
    pub(crate) fn layout(&self) -> &BitLayout {
        &self.layout
    }

    /// What loads are to be divided by to be in blocks, where those are counted: loads are bytes.
    pub(crate) fn segments(&self) -> u64 {
        if self.sizes.is_some() { 1 } else { self.units.block_bytes.max(1) }
    }

    /// Bytes that each node holds.
    pub(crate) fn held(&self) -> &[u64] {
        &self.held
    }

    /// The most bytes that one node held at the end of a step.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}

fn add<T: Cell>(cell: &mut T, elements: u64) {
    *cell = T::of((*cell).into() + elements);
}

/// In a schedule of byte counts every node runs on its own.
fn place(node: u64) -> PlacedNode {
    PlacedNode { virtual_node: node, physical: node }
}

#[cfg(test)]
mod tests;
