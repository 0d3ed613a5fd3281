//! What a schedule moves: blocks, followed one by one, or byte counts.

use crate::delivery::boxes::{BitLayout, Layout};
use crate::delivery::byte_counts::{ByteCountUnits, ByteCounts, ByteSend, Redistribution};
use crate::delivery::collective::BlockSizes;
use crate::delivery::exchange::{Exchange, OrbitExchange};
use crate::delivery::fault::{Block, Fault, PlacedNode};
use crate::delivery::placement::Placement;
use std::sync::Arc;

/// How delivery was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proof {
    /// Every block was followed to its destination.
    #[default]
    Blocks,
    /// The bytes for each destination were followed to it.
    ByteCounts,
    /// Every contribution was followed into the sums, and is in each of them once.
    Contributions,
}

impl Proof {
    /// What can be proved of blocks that are followed.
    pub(crate) fn of<L: Layout>(exchange: &Exchange<L>) -> Self {
        if exchange.sums() { Self::Contributions } else { Self::Blocks }
    }
}

/// The state of an exchange of either kind.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Blocks, every one followed to its destination.
    Blocks(Exchange),
    /// Blocks, every one followed to its destination on one node of each orbit.
    Orbits(OrbitExchange),
    /// Bytes for each destination, in narrow numbers.
    ByteCounts(ByteCounts<u32>),
    /// The same in wide ones, where narrow ones could overflow.
    LargeByteCounts(ByteCounts<u64>),
}

/// Calls the same method of either kind.
macro_rules! either {
    ($payload:expr, $kind:ident => $call:expr) => {
        match $payload {
            Payload::Blocks($kind) => $call,
            Payload::Orbits($kind) => $call,
            Payload::ByteCounts($kind) => $call,
            Payload::LargeByteCounts($kind) => $call,
        }
    };
}

impl Payload {
    /// Byte counts, as the workload gives them. Nobody can hold more for a node than all have for
    /// it together.
    pub(crate) fn byte_counts(
        placement: Placement,
        sizes: Option<Arc<dyn BlockSizes>>,
        units: ByteCountUnits,
    ) -> Result<Self, Fault> {
        let largest =
            sizes.as_ref().map_or(units.block_bytes, |s| s.largest()) / units.element_bytes.max(1);
        let most = u128::from(largest) * u128::from(placement.machine_nodes());
        Ok(if most <= u128::from(u32::MAX) {
            Self::ByteCounts(ByteCounts::new(placement, sizes, units)?)
        } else {
            Self::LargeByteCounts(ByteCounts::new(placement, sizes, units)?)
        })
    }

    /// A node redistributes all it holds.
    pub(crate) fn redistribute(
        &mut self,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        match self {
            Self::Blocks(_) | Self::Orbits(_) => Err(Fault::OutOfOrder(
                "the schedule redistributes, but did not say that it moves byte counts",
            )),
            Self::ByteCounts(byte_counts) => byte_counts.redistribute(redistribution),
            Self::LargeByteCounts(byte_counts) => byte_counts.redistribute(redistribution),
        }
    }

    /// Carries out one send of byte counts; the load that went, if any did.
    pub(crate) fn send_bytes(&mut self, share: &ByteSend<'_>) -> Result<Option<u64>, Fault> {
        match self {
            Self::Blocks(_) | Self::Orbits(_) => Err(Fault::OutOfOrder(
                "the schedule sends byte counts, but did not say that it moves them",
            )),
            Self::ByteCounts(byte_counts) => byte_counts.send(share),
            Self::LargeByteCounts(byte_counts) => byte_counts.send(share),
        }
    }

    /// What delivery can be proved of.
    pub(crate) fn proof(&self) -> Proof {
        match self {
            Self::Blocks(exchange) => Proof::of(exchange),
            Self::Orbits(exchange) => Proof::of(exchange),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => Proof::ByteCounts,
        }
    }

    /// Begins the next step.
    pub(crate) fn begin_step(&mut self) {
        either!(self, payload => payload.begin_step());
    }

    /// Ends the step: what was sent has arrived.
    pub(crate) fn end_step(&mut self) -> Result<(), Fault> {
        either!(self, payload => payload.end_step())
    }

    /// The first block of the step that has ended which came where it was already, and no fault;
    /// where blocks are followed node by node.
    pub(crate) fn take_redundant(&mut self) -> Option<(PlacedNode, Block)> {
        match self {
            Self::Blocks(exchange) => exchange.take_redundant(),
            Self::Orbits(_) | Self::ByteCounts(_) | Self::LargeByteCounts(_) => None,
        }
    }

    /// Verifies that every node holds all that it should.
    pub(crate) fn verify(&mut self) -> Result<(), Fault> {
        either!(self, payload => payload.verify())
    }

    /// The step under way, from 1.
    pub(crate) fn step(&self) -> u64 {
        either!(self, payload => payload.step())
    }

    /// Parts of the unit in which loads are counted.
    pub(crate) fn segments(&self) -> u64 {
        either!(self, payload => payload.segments())
    }

    /// Whether blocks are cut into a part for each node.
    pub(crate) fn in_parts(&self) -> bool {
        match self {
            Self::Blocks(exchange) => exchange.in_parts(),
            Self::Orbits(exchange) => exchange.in_parts(),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => false,
        }
    }

    /// Load that each node of the machine holds, or each representative.
    pub(crate) fn held(&self) -> &[u64] {
        either!(self, payload => payload.held())
    }

    /// The most load that one node held at the end of a step.
    pub(crate) fn peak(&self) -> u64 {
        either!(self, payload => payload.peak())
    }

    /// The most load that one node added to what it had, in the step that has ended.
    pub(crate) fn most_summed(&self) -> u64 {
        match self {
            Self::Blocks(exchange) => exchange.most_summed(),
            Self::Orbits(exchange) => exchange.most_summed(),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => 0,
        }
    }

    /// The load that each node of the machine, or each representative, added to what it had, in the
    /// step that has ended; empty if none did.
    pub(crate) fn summed(&self) -> &[u64] {
        match self {
            Self::Blocks(exchange) => exchange.summed(),
            Self::Orbits(exchange) => exchange.summed(),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => &[],
        }
    }

    /// Of what the last send took, the latest step in which any came to its sender, as far as
    /// arrivals are followed.
    pub(crate) fn latest_arrival(&self) -> u64 {
        match self {
            Self::Blocks(exchange) => exchange.latest_arrival(),
            // Who asks for arrivals has everyone planned for.
            Self::Orbits(_) => 0,
            Self::ByteCounts(byte_counts) => byte_counts.latest_arrival(),
            Self::LargeByteCounts(byte_counts) => byte_counts.latest_arrival(),
        }
    }

    /// Which node of the machine runs which node of the schedule's grid.
    pub(crate) fn placement(&self) -> &Placement {
        either!(self, payload => payload.placement())
    }

    /// How sets are laid out, where all nodes are followed.
    pub(crate) fn layout(&self) -> Option<&BitLayout> {
        match self {
            Self::Blocks(exchange) => Some(exchange.layout()),
            Self::Orbits(_) => None,
            Self::ByteCounts(byte_counts) => Some(byte_counts.layout()),
            Self::LargeByteCounts(byte_counts) => Some(byte_counts.layout()),
        }
    }

    /// Nodes that are followed.
    pub(crate) fn verified_on(&self) -> u64 {
        match self {
            Self::Orbits(exchange) => exchange.group().representatives(),
            Self::Blocks(_) | Self::ByteCounts(_) | Self::LargeByteCounts(_) => {
                self.placement().machine_nodes()
            }
        }
    }
}
