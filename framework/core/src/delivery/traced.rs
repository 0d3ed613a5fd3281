//! The interface of data whose delivery is traced through the steps of a schedule.

use crate::delivery::fault::{Block, Fault, PlacedNode};
use crate::delivery::loads::Loads;
use crate::delivery::placement::Placement;
use std::fmt::Debug;

/// The kind of data whose delivery is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proof {
    /// Each block was traced to its destination.
    #[default]
    Blocks,
    /// Bytes were traced to their destinations, but their origins were not traced.
    ByteCounts,
    /// Each contribution was traced, and each result contains each of its contributions once.
    Contributions,
}

impl Proof {
    /// Returns the kind of proof of an exchange of blocks or tokens.
    pub(crate) fn of(is_reduction: bool) -> Self {
        if is_reduction { Self::Contributions } else { Self::Blocks }
    }
}

/// The data that all nodes hold, from the first step to the last: blocks, tokens or byte counts.
/// Loads are given for each node of the machine or, in a symmetric schedule, for each
/// representative.
pub(crate) trait Traced: Debug {
    /// Returns the kind of data whose delivery will be verified.
    fn proof(&self) -> Proof;

    fn begin_step(&mut self);

    /// Ends the step: everything in flight is received.
    fn end_step(&mut self) -> Result<(), Fault>;

    /// Verifies that each node holds what the collective requires.
    fn verify(&mut self) -> Result<(), Fault>;

    /// Returns and clears the first redundant delivery since the previous call. In a redundant
    /// delivery, a node receives a block that it already holds, in a collective that permits this.
    /// Always `None` unless every node is planned and blocks are traced.
    fn take_redundant(&mut self) -> Option<(PlacedNode, Block)> {
        None
    }

    /// Returns the number of load units per block; 1 if blocks have explicit sizes, because loads
    /// are then in bytes.
    fn segments(&self) -> u64;

    /// Returns whether each block is divided into one part per node.
    fn in_parts(&self) -> bool {
        false
    }

    /// Returns the loads that nodes hold and reduce.
    fn loads(&self) -> &Loads;

    /// Returns the last step in which the sender of the most recent send received any of the sent
    /// data; 0 if it held all of the data at the start, or if arrivals are not tracked.
    fn latest_arrival(&self) -> u64;

    /// Returns the mapping from nodes of the schedule's grid to nodes of the machine.
    fn placement(&self) -> &Placement;

    /// Returns the number of nodes on which delivery is verified.
    fn verified_on(&self) -> u64 {
        self.placement().machine_nodes()
    }
}
