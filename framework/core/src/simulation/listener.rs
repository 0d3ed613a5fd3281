//! The interface between the simulation and its listeners, such as cost models and traces.

use crate::delivery::boxes::BitLayout;
use crate::delivery::byte_counts::{ByteSend, Redistribution};
use crate::delivery::fault::{Block, PlacedNode};
use crate::delivery::grid::Embedding;
use crate::delivery::traced::Proof;
use crate::network::communicators::Communicators;
use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route};
use crate::simulation::step::{Step, Totals};
use std::sync::Arc;

/// A consumer of the events of a schedule.
pub trait Listener {
    /// Handles one event. Events arrive in the schedule's order.
    fn notify(&mut self, event: ScheduleEvent<'_>);

    /// Returns the measurements and events that this listener needs. They must not change during a
    /// schedule.
    fn interests(&self) -> Interests {
        Interests::SCHEDULE
    }
}

/// How much detail of a schedule a listener needs. The simulation may report more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only the facts of steps ([`StepFacts`](super::step::StepFacts)).
    Facts,
    /// The facts and messages of each step ([`Step::transfers`]). These can be the messages of the
    /// planned nodes, with the group that maps them to those of all nodes ([`Step::symmetry`]).
    Representatives,
    /// The whole schedule of all nodes: messages in their order, the load of each node, and local
    /// copies. A plan for one node of each orbit is expanded one step at a time.
    AllNodes,
}

/// The measurements and events that a listener needs. All but the facts of steps
/// ([`StepFacts`](super::step::StepFacts)) are reported only on request, because they take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interests {
    /// How much detail the listener needs.
    pub detail: Detail,
    /// Whether [`ScheduleEvent::Sent`], `ByteSend` and `Redistribution` are reported.
    pub sends: bool,
    /// Whether arrivals are tracked: [`Step::latest_arrivals`] and [`Sent::latest_arrival`].
    pub arrivals: bool,
    /// Whether [`StepFacts::max_multiplexed_load`](super::step::StepFacts) is measured.
    pub multiplexing: bool,
    /// Whether [`StepFacts::max_packed_load`](super::step::StepFacts) is measured.
    pub packing: bool,
    /// Whether [`Step::busiest_links`] is measured.
    pub busiest_links: bool,
    /// Whether schedules that are planned one after another are reported as one merged schedule
    /// ([`merged`](super::merged)).
    pub merged: bool,
}

impl Interests {
    /// Only the facts of steps.
    pub const FACTS: Self = Self {
        detail: Detail::Facts,
        sends: false,
        arrivals: false,
        multiplexing: false,
        packing: false,
        busiest_links: false,
        merged: false,
    };

    /// The whole schedule of all nodes, step by step, without single sends.
    pub const SCHEDULE: Self = Self { detail: Detail::AllNodes, ..Self::FACTS };

    /// Returns everything that at least one of two listeners needs.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            detail: self.detail.max(other.detail),
            sends: self.sends | other.sends,
            arrivals: self.arrivals | other.arrivals,
            multiplexing: self.multiplexing | other.multiplexing,
            packing: self.packing | other.packing,
            busiest_links: self.busiest_links | other.busiest_links,
            merged: self.merged | other.merged,
        }
    }
}

/// One event of a schedule.
#[derive(Debug, Clone, Copy)]
pub enum ScheduleEvent<'a> {
    /// The schedule of these communicators begins. The nodes in its events are members of these
    /// communicators. Reported only if communicators have different schedules.
    Communicators(&'a Arc<Communicators>),
    /// A phase begins.
    Phase(&'a str),
    /// Every node rearranges all data that it holds.
    Rearrangement {
        /// The largest load of a node.
        most: u64,
        /// The number of segments of a block; `most` counts segments.
        segments: u64,
    },
    /// A node sends data to itself through its buffers, which is not a message. Precedes the
    /// [`ScheduleEvent::Step`] of the step, if there is one.
    LocalCopy(LocalCopy),
    /// A node has redistributed its data. Only reported for [`Interests::sends`].
    Redistribution(&'a Redistribution<'a>),
    /// A node has sent these byte counts. The [`ScheduleEvent::Sent`] of the same send follows.
    /// Only reported for [`Interests::sends`].
    ByteSend(&'a ByteSend<'a>),
    /// A send has moved data. Only reported for [`Interests::sends`].
    Sent(&'a Sent<'a>),
    /// A send has moved no data.
    EmptySend(EmptySend),
    /// A node has received a block that it already held. Only the first one of a step is reported.
    RedundantBlock {
        /// The number of the step, as the schedule counts steps.
        step: u64,
        /// The receiver.
        node: PlacedNode,
        /// The block that the receiver already held.
        block: Block,
    },
    /// Nodes have combined received data with their own. Precedes the [`ScheduleEvent::Step`] of
    /// the step, if there is one.
    Summed(Summed<'a>),
    /// A step has ended in which at least one message was sent.
    Step(&'a Step<'a>),
}

/// The loads that nodes combine with their own data (reduce) in one step.
#[derive(Debug, Clone, Copy)]
pub struct Summed<'a> {
    /// The largest load of a node.
    pub most: u64,
    /// The load of each node, or of each planned node ([`Detail::Representatives`]).
    pub of: &'a [u64],
    /// The group that maps the planned nodes to all nodes; `None` if `of` lists all nodes.
    pub symmetry: Option<&'a Group>,
    /// The number of segments of a block; loads count segments.
    pub segments: u64,
}

/// Data that a node sends to itself.
#[derive(Debug, Clone, Copy)]
pub struct LocalCopy {
    /// The node of the machine.
    pub node: u32,
    /// The load: blocks or bytes, as for messages.
    pub load: u64,
    /// The number of segments of a block; the load counts segments.
    pub segments: u64,
    /// The number of the phase, from 1.
    pub phase_number: u32,
    /// The number of the step as the schedule counts steps, from 1.
    pub schedule_step: u64,
}

/// A send that moved no data: the sender holds none of the selected data, or the send broke a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptySend {
    /// The number of the step as the schedule counts steps, from 1.
    pub step: u64,
    /// The sender.
    pub from: PlacedNode,
    /// The receiver.
    pub to: PlacedNode,
    /// Whether the send broke a rule, which ends the schedule.
    pub is_refused: bool,
}

/// One send that moved data.
#[derive(Debug)]
pub struct Sent<'a> {
    /// The number of the step as the schedule counts steps, from 1, with steps without messages.
    pub step: u64,
    /// The latest step in which any of the sent data arrived at its sender; 0 if the sender had all
    /// of the data from the start. Tracked only for [`Interests::arrivals`].
    pub latest_arrival: u64,
    /// The sender.
    pub from: PlacedNode,
    /// The receiver.
    pub to: PlacedNode,
    /// The kind of data. With [`Proof::ByteCounts`], loads are in bytes and there are no boxes.
    pub proof: Proof,
    /// The blocks that moved, as boxes.
    pub boxes: Vec<&'a [u64]>,
    /// The layout of the boxes.
    pub layout: &'a BitLayout,
    /// The embedding of the schedule's grid in the machine.
    pub embedding: &'a Embedding,
    /// The network.
    pub topology: &'a Network,
    /// Whether the sender keeps the sent data.
    pub copy: bool,
    /// Whether the receiver combines the received data with its own data.
    pub combine: bool,
    /// Whether each block is divided into one part for each node. Destinations are then parts.
    pub in_parts: bool,
    /// The number of pieces of a block, which is its parts times the segments of a part. Loads
    /// count pieces.
    pub segments: u64,
    /// The load of all boxes.
    pub load: u64,
    /// The requested route; `None` for the topology's own route.
    pub route: Option<&'a Route>,
}

impl Sent<'_> {
    /// Returns whether a node of the machine sends to itself and no switch adds or copies the data.
    pub fn is_local(&self) -> bool {
        self.from.physical == self.to.physical && self.route.is_none_or(|r| r.switch.is_none())
    }
}

pub(super) struct Listeners<'a> {
    all: Vec<&'a mut dyn Listener>,
    pub interests: Interests,
    phase: String,
    phase_number: u32,
    totals: Totals,
}

impl<'a> Listeners<'a> {
    pub(super) fn new(all: Vec<&'a mut dyn Listener>) -> Self {
        let interests = all.iter().map(|l| l.interests()).fold(Interests::FACTS, Interests::union);
        Self { all, interests, phase: String::new(), phase_number: 0, totals: Totals::default() }
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    pub(super) fn read_all_nodes(&self) -> bool {
        self.interests.detail == Detail::AllNodes
    }

    pub(super) fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.all.iter_mut().for_each(|listener| listener.notify(event));
    }

    pub(super) fn notify_of_send(&mut self, event: ScheduleEvent<'_>) {
        let follow_sends = self.all.iter_mut().filter(|listener| listener.interests().sends);
        follow_sends.for_each(|listener| listener.notify(event));
    }

    pub(super) fn phase(&mut self, name: &str) {
        self.phase.clear();
        self.phase.push_str(name);
        self.phase_number += 1;
        self.notify(ScheduleEvent::Phase(name));
    }

    pub(super) fn rearrangement(&mut self, most: u64, segments: u64) {
        self.totals.rearrangements += 1;
        self.notify(ScheduleEvent::Rearrangement { most, segments });
    }

    pub(super) fn local_copy(&mut self, schedule_step: u64, node: u32, load: u64, segments: u64) {
        let phase_number = self.phase_number;
        let copy = LocalCopy { node, load, segments, phase_number, schedule_step };
        self.notify(ScheduleEvent::LocalCopy(copy));
    }

    pub(super) fn summed(&mut self, summed: Summed<'_>) {
        self.totals.critical_summed += u128::from(summed.most);
        self.notify(ScheduleEvent::Summed(summed));
    }

    pub(super) fn step(&mut self, step: &Step<'_>) {
        self.totals.add(&step.facts);
        let Self { phase, phase_number, totals, all, .. } = self;
        let step = Step { number: totals.steps, phase, phase_number: *phase_number, ..*step };
        all.iter_mut().for_each(|listener| listener.notify(ScheduleEvent::Step(&step)));
    }
}
