//! Traces the number of bytes that each node holds for each destination, for algorithms that do not
//! track the origins of data.
//!
//! Some algorithms redistribute the data of a node element by element, so that all messages have
//! about the same length (Liu, Wang & Prasanna, section 3; Bader et al.). Delivery is then verified
//! only by amounts: no bytes are lost or created, and all bytes reach their destinations (`amounts`
//! in the column `verified`).
//!
//! A redistribution divides the data of a node into buckets, and each bucket is sent to a receiver.
//! To *settle* a redistribution means to add the elements of the buckets that were sent to the
//! holdings of their receivers. This is done when these holdings are needed. All redistributions
//! whose buckets have the same receivers are settled together, which takes a few operations per
//! node and destination, whatever the number of buckets. So tracing an exchange in which each of N
//! nodes has data for every node takes time proportional to N x N.

mod redistribution;

use crate::delivery::boxes::BitLayout;
use crate::delivery::collective::BlockSizes;
use crate::delivery::fault::{Count, EndFault, Fault, SendFault};
use crate::delivery::grid::Embedding;
use crate::delivery::traced::{Contents, Loads, Proof, Traced};
use crate::limits;
use redistribution::{Pattern, Redistributed, UNSENT};
use std::fmt;
use std::sync::Arc;

/// The sizes of blocks and elements in a schedule of byte counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteCountUnits {
    /// The bytes of each block, if sizes are uniform.
    pub block_bytes: u64,
    /// The bytes of one element. Elements are not divided.
    pub element_bytes: u64,
}

/// A redistribution: all data that a node holds is divided among buckets, element by element.
///
/// Element x (from 0) for destination d has the number `c = (starts[d] + x) % cycle` and is put
/// into bucket `(first + firsts[d] + c) % buckets`.
#[derive(Debug, Clone, Copy, Hash)]
pub struct Redistribution<'a> {
    /// The node that redistributes, as a node of the schedule's grid.
    pub node: u64,
    /// The number of buckets.
    pub buckets: u64,
    /// The number of different element numbers: element number `cycle - 1` is followed by 0.
    pub cycle: u64,
    /// The number of the bucket for element number 0, to which `firsts` is added.
    pub first: u64,
    /// For each destination, the number of its first element. Empty if all are 0.
    pub starts: &'a [u32],
    /// For each destination, a number that is added to `first`. Empty if all are 0.
    pub firsts: &'a [u32],
}

/// In [`ByteSelection::Listed`], stands for all bytes that the sender holds for a destination.
pub const ALL_BYTES: u64 = u64::MAX;

/// A send in a schedule of byte counts.
#[derive(Debug, Clone, Copy, Hash)]
pub struct ByteSend<'a> {
    /// The sender, as a node of the schedule's grid.
    pub from: u64,
    /// The receiver, as a node of the schedule's grid.
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
    /// Pairs of a destination and the number of bytes for it, which may be [`ALL_BYTES`].
    Listed(&'a [(u64, u64)]),
}

/// The integer type for numbers of elements: `u32` if possible, because the tables take gigabytes.
pub trait ElementCount: Copy + Default + fmt::Debug + Into<u64> {
    /// Converts a number that is known to fit into this type.
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

/// The number of elements that each node holds for each destination. The numbers in sends and loads
/// are bytes.
#[derive(Debug)]
pub(crate) struct ByteCounts<T> {
    nodes: usize,
    sizes: Option<Arc<dyn BlockSizes>>,
    units: ByteCountUnits,
    initial_bytes: u128,
    embedding: Embedding,
    layout: BitLayout,
    /// Row i has the numbers of elements that node i holds for each destination. It is empty until
    /// it is needed.
    holdings: Vec<Vec<T>>,
    unused_rows: Vec<Vec<T>>,
    /// For each node, whether it still holds its initial elements. Their row is computed when
    /// needed.
    is_initial: Vec<bool>,
    redistributed: Vec<Option<Redistributed<T>>>,
    redistributors: Vec<u32>,
    unsettled: usize,
    /// All buckets that were sent before this step are settled.
    unsettled_since: u64,
    pattern: Option<Arc<Pattern>>,
    arriving: Vec<(u32, u32, u64)>,
    receivers: Vec<u32>,
    last_receipts: Vec<u64>,
    latest_arrival: u64,
    contents: Contents,
    loads: Loads,
    step: u64,
    total_buckets: u64,
}

impl<T: ElementCount> ByteCounts<T> {
    pub(crate) fn new(
        embedding: Embedding,
        sizes: Option<Arc<dyn BlockSizes>>,
        units: ByteCountUnits,
    ) -> Result<Self, Fault> {
        let nodes = embedding.grid().nodes();
        if nodes != embedding.machine_nodes() || !embedding.is_identity() {
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
        let layout = BitLayout::new(embedding.grid().clone(), false, true, 1);
        let all: Vec<u64> = (0..nodes).collect();
        let held: Vec<u64> = match &sizes {
            Some(sizes) => all.iter().map(|from| sizes.total(&[*from], &all)).collect(),
            None => vec![units.block_bytes.saturating_mul(nodes); nodes as usize],
        };
        let initial_bytes = held.iter().map(|bytes| u128::from(*bytes)).sum();
        let nodes = nodes as usize;
        Ok(Self {
            nodes,
            embedding,
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
            contents: Contents::NOTHING,
            loads: Loads::new(held),
            step: 0,
            total_buckets: 0,
        })
    }

    fn take_holdings(&mut self, node: usize) -> Result<Vec<T>, Fault> {
        self.materialize(node)?;
        Ok(std::mem::take(&mut self.holdings[node]))
    }

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
                node: self.embedding.locate(node),
                destination,
                bytes: Count(count * element, "byte"),
                all: Count(misplaced * element, "byte"),
                nodes: Count(nodes, "node"),
            },
        ))
    }

    fn segments(&self) -> u64 {
        if self.sizes.is_some() { 1 } else { self.units.block_bytes.max(1) }
    }

    fn loads(&self) -> &Loads {
        &self.loads
    }

    /// Returns the last step in which the sender received data that it sends: data received before
    /// the send or, if a bucket is sent, before the redistribution.
    fn latest_arrival(&self) -> u64 {
        self.latest_arrival
    }

    fn embedding(&self) -> &Embedding {
        &self.embedding
    }
}

pub(crate) trait TracedBytes: Traced {
    fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Fault>;

    /// Executes one send. Returns the number of bytes, or `None` if there are none.
    fn send(&mut self, send: &ByteSend<'_>) -> Result<Option<u64>, Fault>;

    /// Returns the contents of the message. All data for one destination counts as one block. A
    /// bucket counts as several blocks, because it usually has data for several destinations.
    fn contents(&self) -> Contents;

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

pub(crate) fn start(
    embedding: Embedding,
    sizes: Option<Arc<dyn BlockSizes>>,
    units: ByteCountUnits,
) -> Result<Box<dyn TracedBytes>, Fault> {
    let largest = sizes.as_ref().map_or(units.block_bytes, |sizes| sizes.largest());
    Ok(if fits_32_bits(largest, units.element_bytes, embedding.machine_nodes()) {
        Box::new(ByteCounts::<u32>::new(embedding, sizes, units)?)
    } else {
        Box::new(ByteCounts::<u64>::new(embedding, sizes, units)?)
    })
}

fn fits_32_bits(largest_block: u64, element_bytes: u64, nodes: u64) -> bool {
    let elements = u128::from(largest_block / element_bytes.max(1)) * u128::from(nodes);
    elements <= u128::from(u32::MAX)
}

fn add<T: ElementCount>(cell: &mut T, elements: u64) {
    *cell = T::of((*cell).into() + elements);
}

impl<T: ElementCount> ByteCounts<T> {
    fn send_elements(&mut self, send: &ByteSend<'_>) -> Result<Option<u64>, Fault> {
        let (from, to) = (send.from, send.to);
        Fault::check_ends(self.step, (from, to), self.nodes as u64)?;
        if from == to && !send.local {
            return Err(Fault::Send(
                self.step,
                SendFault::SentToItself { node: self.embedding.locate(from) },
            ));
        }
        let elements = match send.what {
            ByteSelection::Bucket(bucket) => self.send_bucket(from, to, bucket)?,
            ByteSelection::Listed(byte_counts) => self.send_listed(from, to, byte_counts)?,
        };
        let bytes = elements * self.units.element_bytes;
        self.loads.moved((from, to), false, bytes);
        if elements > 0 && from != to {
            self.receivers.push(to as u32);
        }
        Ok((elements > 0).then_some(bytes))
    }

    fn send_bucket(&mut self, from: u64, to: u64, bucket: u64) -> Result<u64, Fault> {
        let step = self.step;
        let bad = |what: String| Fault::Send(step, SendFault::BadByteSend { from, to, what });
        let Some(redistributed) = &mut self.redistributed[from as usize] else {
            return Err(bad(format!(
                "selects bucket {bucket}, but node {from} has redistributed nothing"
            )));
        };
        let buckets = redistributed.sizes.len();
        let Some(receiver) =
            usize::try_from(bucket).ok().and_then(|h| redistributed.receivers.get_mut(h))
        else {
            return Err(bad(format!(
                "selects bucket {bucket}, but node {from} redistributed buckets 0 to {}",
                buckets - 1
            )));
        };
        if *receiver != UNSENT {
            return Err(bad(format!(
                "selects bucket {bucket}, which node {from} has already sent"
            )));
        }
        *receiver = to as u32;
        self.latest_arrival = redistributed.latest_arrival;
        self.contents = Contents::several(redistributed.blocks[bucket as usize].into());
        redistributed.steps[bucket as usize] = u32::try_from(step).unwrap_or(u32::MAX);
        if self.unsettled == 0 {
            self.unsettled_since = step;
        }
        self.unsettled += 1;
        Ok(redistributed.sizes[bucket as usize])
    }

    fn send_listed(
        &mut self,
        from: u64,
        to: u64,
        byte_counts: &[(u64, u64)],
    ) -> Result<u64, Fault> {
        self.settle(self.step)?;
        self.materialize(from as usize)?;
        self.latest_arrival = self.last_receipts[from as usize];
        let (step, element, nodes) = (self.step, self.units.element_bytes, self.nodes as u64);
        let bad = |what: String| Fault::Send(step, SendFault::BadByteSend { from, to, what });
        let mut sum = 0;
        self.contents = Contents::NOTHING;
        for &(destination, bytes) in byte_counts {
            if destination >= nodes {
                return Err(bad(format!(
                    "names bytes for node {destination}, the last node is {}",
                    nodes - 1
                )));
            }
            let held = &mut self.holdings[from as usize][destination as usize];
            let has: u64 = (*held).into();
            if bytes != ALL_BYTES && !bytes.is_multiple_of(element) {
                return Err(bad(format!(
                    "names {bytes} bytes for node {destination}, expected a multiple of {element}"
                )));
            }
            let elements = if bytes == ALL_BYTES { has } else { bytes / element };
            let Some(rest) = has.checked_sub(elements) else {
                let has = has * element;
                return Err(bad(format!(
                    "names {bytes} bytes for node {destination}, but node {from} holds only {has}"
                )));
            };
            *held = T::of(rest);
            sum += elements;
            if elements > 0 {
                self.contents = self.contents.and(Contents::one(0, destination, 1.0));
            }
            self.arriving.push((to as u32, destination as u32, elements));
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests;
