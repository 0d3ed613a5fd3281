//! Traces the number of bytes for each destination, for algorithms that do not track where data
//! comes from.
//!
//! Some algorithms redistribute the data of a node element by element, so that all messages have
//! about the same length (Liu, Wang & Prasanna, section 3; Bader et al.). In their schedules a node
//! holds a number of bytes for each destination. Verification ensures that no bytes are lost or
//! created, and that all bytes reach their destination. The column `verified` of the results then
//! has the value `amounts`.
//!
//! A redistribution divides the data of a node into buckets. Each bucket is then sent to a
//! receiver. At first, the redistribution and these receivers are only recorded. The table of
//! holdings, which has a number of elements for each node and destination, stays unchanged. To
//! *settle* a redistribution means to add the elements of all received buckets to the holdings of
//! their receivers. This happens only when the holdings of a receiver are needed. Redistributions
//! whose buckets have the same receivers are settled together. Settling takes a few operations per
//! node and destination, and this number does not depend on the number of buckets. So tracing an
//! exchange in which each of N nodes has data for every node takes time proportional to N x N.

use crate::delivery::boxes::BitLayout;
use crate::delivery::collective::BlockSizes;
use crate::delivery::contents::Contents;
use crate::delivery::fault::{Count, EndFault, Fault};
use crate::delivery::loads::Loads;
use crate::delivery::placement::Placement;
use crate::delivery::traced::{Proof, Traced};
use crate::limits;
use pattern::Pattern;
use redistributing::Redistributed;
use std::fmt;
use std::sync::Arc;

mod pattern;
mod redistributing;
mod sending;

/// The sizes of blocks and of elements in a schedule of byte counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteCountUnits {
    /// Bytes of each block, if sizes are uniform.
    pub block_bytes: u64,
    /// Bytes of one element. Elements are not divided.
    pub element_bytes: u64,
}

/// A redistribution: all data that a node holds is divided among buckets, element by element.
///
/// Element x (from 0) for destination d has number `c = (starts[d] + x) % cycle` and is put into
/// bucket `(first + firsts[d] + c) % buckets`.
#[derive(Debug, Clone, Copy, Hash)]
pub struct Redistribution<'a> {
    /// The node that redistributes, as a node of the schedule's grid.
    pub node: u64,
    /// Number of buckets.
    pub buckets: u64,
    /// The modulus of element numbers: after `cycle - 1` they start again at 0.
    pub cycle: u64,
    /// The bucket of element number 0, before `firsts` is added.
    pub first: u64,
    /// For each destination, the number of its first element. Empty if all are 0.
    pub starts: &'a [u32],
    /// For each destination, a number that is added to `first`. Empty if all are 0.
    pub firsts: &'a [u32],
}

/// A special count in [`ByteSelection::Listed`]: all bytes that the sender holds for a destination.
pub const ALL_BYTES: u64 = u64::MAX;

/// A send in a schedule of byte counts, given as numbers of bytes for destinations.
#[derive(Debug, Clone, Copy, Hash)]
pub struct ByteSend<'a> {
    /// Sender, as a node of the schedule's grid.
    pub from: u64,
    /// Receiver, as a node of the schedule's grid.
    pub to: u64,
    /// Whether sender and receiver may be the same node.
    pub local: bool,
    /// The bytes to send.
    pub what: ByteSelection<'a>,
}

/// A selection of bytes that a node holds.
#[derive(Debug, Clone, Copy, Hash)]
pub enum ByteSelection<'a> {
    /// A bucket of the sender's last redistribution.
    Bucket(u64),
    /// Pairs of a destination and its number of bytes, which may be [`ALL_BYTES`].
    Listed(&'a [(u64, u64)]),
}

/// The integer type of a number of elements. In a large exchange, the table of these numbers takes
/// gigabytes, and reading the table is most of the cost. So `u32` is used if all totals fit, and
/// `u64` otherwise.
pub trait ElementCount: Copy + Default + fmt::Debug + Into<u64> {
    /// Converts a number of elements that is known to fit into this type.
    fn of(elements: u64) -> Self;
}

impl ElementCount for u32 {
    fn of(elements: u64) -> Self {
        Self::try_from(elements).expect("the number of elements fits into 32 bits")
    }
}

impl ElementCount for u64 {
    fn of(elements: u64) -> Self {
        elements
    }
}

/// The number of elements that each node holds for each destination. Data is stored as numbers of
/// elements. Sends and loads are in bytes, which are multiples of
/// [`ByteCountUnits::element_bytes`].
#[derive(Debug)]
pub(crate) struct ByteCounts<T> {
    nodes: usize,
    sizes: Option<Arc<dyn BlockSizes>>,
    units: ByteCountUnits,
    /// The number of bytes of all nodes before the first step.
    initial_bytes: u128,
    placement: Placement,
    layout: BitLayout,
    /// The rows of the table of holdings. Row i has the number of elements that node i holds for
    /// each destination. The row is empty if the node holds nothing, or if the row has not been
    /// needed yet.
    holdings: Vec<Vec<T>>,
    /// Rows that are free for reuse.
    unused_rows: Vec<Vec<T>>,
    /// For each node, whether it still holds exactly its initial elements. The row of such a node
    /// in `holdings` is computed only when it is needed.
    is_initial: Vec<bool>,
    redistributed: Vec<Option<Redistributed<T>>>,
    /// Nodes with a redistribution of which some buckets are not settled.
    redistributors: Vec<u32>,
    /// Number of sent buckets that are not settled: their elements have not been added to the
    /// holdings of their receivers yet.
    unsettled: usize,
    /// The first step that may have sent buckets which are not settled. All buckets that were sent
    /// in earlier steps are settled.
    unsettled_since: u64,
    /// The pattern of the most recent redistribution, for reuse: the nodes of a phase usually
    /// redistribute with the same pattern.
    pattern: Option<Arc<Pattern>>,
    /// The elements that listed sends of the current step move, as (receiver, destination, number
    /// of elements). They are added to the holdings of their receivers at the end of the step.
    arriving: Vec<(u32, u32, u64)>,
    receivers: Vec<u32>,
    /// For each node, the last step in which it received any data.
    last_receipts: Vec<u64>,
    /// The step that [`Traced::latest_arrival`] returns for the most recent send.
    latest_arrival: u64,
    /// The blocks of the most recent send.
    contents: Contents,
    /// The loads of the nodes, in bytes.
    loads: Loads,
    step: u64,
    /// Total number of buckets of the redistributions that are stored.
    total_buckets: u64,
}

impl<T: ElementCount> ByteCounts<T> {
    /// Creates the state before the first step, in which each node holds its blocks of the
    /// workload. Errors if the counts exceed a limit, or if a node of the schedule's grid is placed
    /// on a machine node with another number.
    pub(crate) fn new(
        placement: Placement,
        sizes: Option<Arc<dyn BlockSizes>>,
        units: ByteCountUnits,
    ) -> Result<Self, Fault> {
        // Check the placement and the limits.
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
        // Sum the bytes of each node. The rows of the table of holdings are computed later, when
        // they are needed.
        let layout = BitLayout::new(placement.grid().clone(), false, true, 1);
        let all: Vec<u64> = (0..nodes).collect();
        let held: Vec<u64> = match &sizes {
            Some(sizes) => all.iter().map(|from| sizes.total(&[*from], &all)).collect(),
            None => vec![units.block_bytes.saturating_mul(nodes); nodes as usize],
        };
        let initial_bytes = held.iter().map(|bytes| u128::from(*bytes)).sum();
        let nodes = nodes as usize;
        Ok(Self {
            nodes,
            placement,
            sizes,
            units: ByteCountUnits { element_bytes: units.element_bytes.max(1), ..units },
            initial_bytes,
            layout,
            holdings: vec![Vec::new(); nodes],
            unused_rows: Vec::new(),
            is_initial: vec![true; nodes],
            redistributed: (0..nodes).map(|_| None).collect(),
            redistributors: Vec::new(),
            unsettled: 0,
            unsettled_since: 0,
            pattern: None,
            arriving: Vec::new(),
            receivers: Vec::new(),
            last_receipts: vec![0; nodes],
            latest_arrival: 0,
            contents: Contents::Nothing,
            loads: Loads::new(held),
            step: 0,
            total_buckets: 0,
        })
    }

    /// Removes all elements that a node holds. Returns their number for each destination.
    fn take_holdings(&mut self, node: usize) -> Result<Vec<T>, Fault> {
        self.materialize(node)?;
        Ok(std::mem::take(&mut self.holdings[node]))
    }

    /// Computes a node's row in the table of holdings, unless the row has already been computed.
    fn materialize(&mut self, node: usize) -> Result<(), Fault> {
        if !self.holdings[node].is_empty() {
            return Ok(());
        }
        let mut row = self.unused_rows.pop().unwrap_or_default();
        row.clear();
        if std::mem::take(&mut self.is_initial[node]) {
            row.reserve_exact(self.nodes);
            for to in 0..self.nodes {
                row.push(T::of(self.initial_elements(node, to)?));
            }
        } else {
            row.resize(self.nodes, T::default());
        }
        self.holdings[node] = row;
        Ok(())
    }

    /// Returns the elements that `from` holds for `to` at the start. Errors if the block is not a
    /// multiple of the element size.
    fn initial_elements(&self, from: usize, to: usize) -> Result<u64, Fault> {
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
}

impl<T: ElementCount> Traced for ByteCounts<T> {
    fn proof(&self) -> Proof {
        Proof::ByteCounts
    }

    fn begin_step(&mut self) {
        self.step += 1;
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        let mut arriving = std::mem::take(&mut self.arriving);
        for (to, destination, elements) in arriving.drain(..) {
            self.materialize(to as usize)?;
            add(&mut self.holdings[to as usize][destination as usize], elements);
        }
        self.arriving = arriving;
        for receiver in &self.receivers {
            self.last_receipts[*receiver as usize] = self.step;
        }
        self.loads.end_step(self.receivers.drain(..).map(u64::from));
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Fault> {
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
        assert_eq!(self.unsettled, 0, "sent buckets that have reached nobody");
        let (mut misplaced, mut nodes, mut first) = (0_u64, 0_u64, None);
        let mut delivered = 0_u128;
        for node in 0..self.nodes {
            self.materialize(node)?;
            let held = std::mem::take(&mut self.holdings[node]);
            delivered += u128::from(held[node].into());
            let held = held.into_iter().map(Into::<u64>::into);
            let others = held.enumerate().filter(|(d, count)| *d != node && *count > 0);
            let mut any = false;
            for (destination, count) in others {
                any = true;
                misplaced += count;
                first.get_or_insert((node as u64, destination as u64, count));
            }
            nodes += u64::from(any);
        }
        let element = self.units.element_bytes;
        let all = (delivered + u128::from(misplaced)) * u128::from(element);
        assert_eq!(all, self.initial_bytes, "bytes were lost or created");
        let Some((node, destination, count)) = first else { return Ok(()) };
        Err(Fault::End(
            self.step,
            EndFault::MisplacedBytes {
                node: self.placement.locate(node),
                destination,
                bytes: Count(count * element, "byte"),
                all: Count(misplaced * element, "byte"),
                nodes: Count(nodes, "node"),
            },
        ))
    }

    /// Returns the number of load units per block, which is the block size because loads are in
    /// bytes; 1 if blocks have explicit sizes.
    fn segments(&self) -> u64 {
        if self.sizes.is_some() { 1 } else { self.units.block_bytes.max(1) }
    }

    fn loads(&self) -> &Loads {
        &self.loads
    }

    /// Because the origin of bytes is not tracked, a send depends on all data that the sender may
    /// have put into it. For a bucket, this is all data that the sender received before the
    /// redistribution. For listed bytes, it is all data that the sender received before the send.
    fn latest_arrival(&self) -> u64 {
        self.latest_arrival
    }

    fn placement(&self) -> &Placement {
        &self.placement
    }
}

/// The operations on the data of a schedule that sends byte counts.
pub(crate) trait TracedBytes: Traced {
    /// Divides all data that a node holds among buckets.
    fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Fault>;

    /// Executes one send and returns the number of sent bytes, or `None` if no bytes are sent.
    fn send(&mut self, send: &ByteSend<'_>) -> Result<Option<u64>, Fault>;

    /// Returns the contents of the most recent send. All data for one destination counts as one
    /// block, because its origins are not tracked. The contents of a bucket are always
    /// [`Contents::Several`], because the data in a bucket usually has several destinations.
    fn contents(&self) -> Contents;

    /// Returns the layout of sets of destinations.
    fn layout(&self) -> &BitLayout;
}

impl<T: ElementCount> TracedBytes for ByteCounts<T> {
    fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Fault> {
        self.redistribute_elements(redistribution)
    }

    fn send(&mut self, send: &ByteSend<'_>) -> Result<Option<u64>, Fault> {
        self.send_elements(send)
    }

    fn contents(&self) -> Contents {
        self.contents
    }

    fn layout(&self) -> &BitLayout {
        &self.layout
    }
}

/// Creates the byte counts before the first step. Counts have 32 bits if the total number of
/// elements for one destination is certain to fit.
pub(crate) fn start(
    placement: Placement,
    sizes: Option<Arc<dyn BlockSizes>>,
    units: ByteCountUnits,
) -> Result<Box<dyn TracedBytes>, Fault> {
    let largest = sizes.as_ref().map_or(units.block_bytes, |sizes| sizes.largest());
    Ok(if fits_32_bits(largest, units.element_bytes, placement.machine_nodes()) {
        Box::new(ByteCounts::<u32>::new(placement, sizes, units)?)
    } else {
        Box::new(ByteCounts::<u64>::new(placement, sizes, units)?)
    })
}

/// Returns whether the number of elements that a node holds for one destination fits into 32 bits.
fn fits_32_bits(largest_block: u64, element_bytes: u64, nodes: u64) -> bool {
    let elements = u128::from(largest_block / element_bytes.max(1)) * u128::from(nodes);
    elements <= u128::from(u32::MAX)
}

fn add<T: ElementCount>(cell: &mut T, elements: u64) {
    *cell = T::of((*cell).into() + elements);
}

#[cfg(test)]
mod tests;
