//! The state of a schedule's data: blocks or byte counts.

use crate::delivery::boxes::BitLayout;
use crate::delivery::byte_counts::{ByteCountUnits, ByteCounts, ByteSend, Redistribution};
use crate::delivery::collective::BlockSizes;
use crate::delivery::contents::Contents;
use crate::delivery::exchange::{Exchange, OrbitExchange, TokenExchange};
use crate::delivery::fault::{Block, Fault, PlacedNode};
use crate::delivery::placement::Placement;
use std::sync::Arc;

/// The kind of data whose delivery is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proof {
    /// Each block was traced to its destination.
    #[default]
    Blocks,
    /// Bytes were traced to their destinations. The origin of bytes was not.
    ByteCounts,
    /// Each contribution was traced, and each result contains each of its contributions once.
    Contributions,
}

impl Proof {
    /// Returns the kind of proof of an exchange of blocks or tokens.
    fn of(is_reduction: bool) -> Self {
        if is_reduction { Self::Contributions } else { Self::Blocks }
    }
}

/// The holdings of all nodes, as blocks or byte counts.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Blocks, traced on every node.
    Blocks(Exchange),
    /// Blocks, traced on one node per orbit.
    Orbits(OrbitExchange),
    /// Tokens of a dispatch or a combine, traced on every node.
    Tokens(TokenExchange),
    /// Bytes per destination, with 32 bits per count.
    ByteCounts(ByteCounts<u32>),
    /// Bytes per destination, with 64 bits per count, for totals that exceed 32 bits.
    LargeByteCounts(ByteCounts<u64>),
}

/// Calls a method on the data of any variant of [`Payload`].
macro_rules! either {
    ($payload:expr, $kind:ident => $call:expr) => {
        match $payload {
            Payload::Blocks($kind) => $call,
            Payload::Orbits($kind) => $call,
            Payload::Tokens($kind) => $call,
            Payload::ByteCounts($kind) => $call,
            Payload::LargeByteCounts($kind) => $call,
        }
    };
}

impl Payload {
    /// Creates byte counts from the block sizes of a task. A count can be at most the total for one
    /// destination. Counts have 32 bits if an upper bound of this total fits.
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

    /// In a schedule of byte counts, redistributes all data that a node holds.
    pub(crate) fn redistribute(
        &mut self,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        match self {
            Self::Blocks(_) | Self::Orbits(_) | Self::Tokens(_) => Err(Fault::OutOfOrder(
                "the schedule redistributes, but did not declare byte counts",
            )),
            Self::ByteCounts(byte_counts) => byte_counts.redistribute(redistribution),
            Self::LargeByteCounts(byte_counts) => byte_counts.redistribute(redistribution),
        }
    }

    /// Executes one send of byte counts and returns its load, or `None` if it is empty.
    pub(crate) fn send_bytes(&mut self, share: &ByteSend<'_>) -> Result<Option<u64>, Fault> {
        match self {
            Self::Blocks(_) | Self::Orbits(_) | Self::Tokens(_) => {
                Err(Fault::OutOfOrder("the schedule sends byte counts, but did not declare them"))
            }
            Self::ByteCounts(byte_counts) => byte_counts.send(share),
            Self::LargeByteCounts(byte_counts) => byte_counts.send(share),
        }
    }

    /// Returns the kind of data whose delivery will be verified.
    pub(crate) fn proof(&self) -> Proof {
        match self {
            Self::Blocks(exchange) => Proof::of(exchange.sums()),
            Self::Orbits(exchange) => Proof::of(exchange.sums()),
            Self::Tokens(exchange) => Proof::of(exchange.sums()),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => Proof::ByteCounts,
        }
    }

    pub(crate) fn begin_step(&mut self) {
        either!(self, payload => payload.begin_step());
    }

    /// Ends the step: everything in flight is received.
    pub(crate) fn end_step(&mut self) -> Result<(), Fault> {
        either!(self, payload => payload.end_step())
    }

    /// Returns and clears the first redundant delivery since the previous call. In a redundant
    /// delivery, a node receives a block that it already holds, in a collective that permits this.
    /// Always `None` unless every node is planned and blocks are traced.
    pub(crate) fn take_redundant(&mut self) -> Option<(PlacedNode, Block)> {
        match self {
            Self::Blocks(exchange) => exchange.take_redundant(),
            Self::Orbits(_) | Self::Tokens(_) | Self::ByteCounts(_) | Self::LargeByteCounts(_) => {
                None
            }
        }
    }

    /// Verifies that every node holds all data that the collective requires.
    pub(crate) fn verify(&mut self) -> Result<(), Fault> {
        either!(self, payload => payload.verify())
    }

    /// Returns the number of the current step, from 1.
    pub(crate) fn step(&self) -> u64 {
        either!(self, payload => payload.step())
    }

    /// Returns the number of load units per block.
    pub(crate) fn segments(&self) -> u64 {
        either!(self, payload => payload.segments())
    }

    /// Returns whether each block is divided into one part per node.
    pub(crate) fn in_parts(&self) -> bool {
        match self {
            Self::Blocks(exchange) => exchange.in_parts(),
            Self::Orbits(exchange) => exchange.in_parts(),
            Self::Tokens(_) | Self::ByteCounts(_) | Self::LargeByteCounts(_) => false,
        }
    }

    /// Returns the load that each node of the machine, or each representative, holds.
    pub(crate) fn held(&self) -> &[u64] {
        either!(self, payload => payload.held())
    }

    /// Returns the largest load that a node held at the start or at the end of a step.
    pub(crate) fn peak(&self) -> u64 {
        either!(self, payload => payload.peak())
    }

    /// Returns the largest load that a node reduced in the step that ended last.
    pub(crate) fn most_summed(&self) -> u64 {
        match self {
            Self::Blocks(exchange) => exchange.most_summed(),
            Self::Tokens(exchange) => exchange.most_summed(),
            Self::Orbits(exchange) => exchange.most_summed(),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => 0,
        }
    }

    /// Returns, for each node of the machine or each representative, the load that it reduced in
    /// the last completed step. Empty if no node reduced anything.
    pub(crate) fn summed(&self) -> &[u64] {
        match self {
            Self::Blocks(exchange) => exchange.summed(),
            Self::Tokens(exchange) => exchange.summed(),
            Self::Orbits(exchange) => exchange.summed(),
            Self::ByteCounts(_) | Self::LargeByteCounts(_) => &[],
        }
    }

    /// Returns the last step in which the sender of the most recent send received any of the sent
    /// data; 0 if arrivals are not tracked.
    pub(crate) fn latest_arrival(&self) -> u64 {
        match self {
            Self::Blocks(exchange) => exchange.latest_arrival(),
            Self::Tokens(exchange) => exchange.latest_arrival(),
            // A listener that needs arrivals causes full planning.
            Self::Orbits(_) => 0,
            Self::ByteCounts(byte_counts) => byte_counts.latest_arrival(),
            Self::LargeByteCounts(byte_counts) => byte_counts.latest_arrival(),
        }
    }

    /// Returns the blocks that the most recent send of byte counts moved.
    pub(crate) fn byte_contents(&self) -> Contents {
        match self {
            Self::Blocks(_) | Self::Orbits(_) | Self::Tokens(_) => Contents::Nothing,
            Self::ByteCounts(byte_counts) => byte_counts.contents(),
            Self::LargeByteCounts(byte_counts) => byte_counts.contents(),
        }
    }

    /// Returns the mapping from nodes of the schedule's grid to nodes of the machine.
    pub(crate) fn placement(&self) -> &Placement {
        either!(self, payload => payload.placement())
    }

    /// Returns the layout of boxes, if every node is planned.
    pub(crate) fn layout(&self) -> Option<&BitLayout> {
        match self {
            Self::Blocks(exchange) => Some(exchange.layout()),
            Self::Orbits(_) => None,
            Self::Tokens(exchange) => Some(exchange.layout()),
            Self::ByteCounts(byte_counts) => Some(byte_counts.layout()),
            Self::LargeByteCounts(byte_counts) => Some(byte_counts.layout()),
        }
    }

    /// Returns the number of nodes on which delivery is verified.
    pub(crate) fn verified_on(&self) -> u64 {
        match self {
            Self::Orbits(exchange) => exchange.group().representatives(),
            Self::Blocks(_) | Self::Tokens(_) | Self::ByteCounts(_) | Self::LargeByteCounts(_) => {
                self.placement().machine_nodes()
            }
        }
    }
}
