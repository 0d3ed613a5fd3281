//! A schedule after its first step has begun. The data of each send is put in flight immediately.
//! The messages of a step are measured when the step ends.

mod expansion;
mod sends;

use super::Task;
use crate::delivery::byte_counts::Redistribution;
use crate::delivery::fault::Fault;
use crate::delivery::payload::{Payload, Proof};
use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route};
use crate::simulation::buffers::Buffers;
use crate::simulation::listener::{ScheduleEvent, Summed};
use crate::simulation::listeners::Listeners;
use crate::simulation::messages::Messages;
use crate::simulation::step::Step;
use crate::simulation::step_statistics::{StepStatistics, SymmetricLinks};
use expansion::Expansion;
use std::sync::Arc;

/// The data that nodes hold, and the sends of the current step.
#[derive(Debug)]
pub(super) struct Running {
    topology: Arc<Network>,
    /// Whether messages of 0 bytes are skipped.
    skip_empty: bool,
    payload: Payload,
    /// The number of the current step, from 1.
    step: u64,
    reported: Reported,
    statistics: StepStatistics,
    messages: Messages,
    routes: Vec<Route>,
    buffers: Buffers,
}

/// The nodes whose messages are measured and reported.
#[derive(Debug)]
enum Reported {
    /// All nodes. The plugin plans each of them.
    All,
    /// The representatives of a symmetric schedule.
    Representatives(SymmetricLinks),
    /// All nodes of a symmetric schedule. The plugin plans only the representatives.
    Expanded(Expansion),
}

impl Reported {
    /// Returns the loads that are reported, given the loads of the planned nodes. Also returns the
    /// group that maps the reported nodes to all nodes; `None` if all nodes are reported.
    fn loads_and_group<'a>(&'a mut self, loads: &'a [u64]) -> (&'a [u64], Option<&'a Group>) {
        match self {
            Self::All => (loads, None),
            Self::Representatives(links) => (loads, Some(links.group())),
            Self::Expanded(expansion) => (expansion.expand_loads(loads), None),
        }
    }
}

impl Running {
    /// Begins a schedule. Messages are measured at `nodes` nodes, which are the representatives if
    /// `is_symmetric`.
    pub(super) fn new(
        task: &Task,
        listeners: &Listeners<'_>,
        payload: Payload,
        nodes: usize,
        is_symmetric: bool,
    ) -> Self {
        let (topology, interests) = (Arc::clone(&task.topology), listeners.interests);
        let reported = match &payload {
            Payload::Orbits(exchange) if is_symmetric => {
                let group = exchange.group().clone();
                assert_eq!(group.representatives(), nodes as u64, "other nodes are measured");
                assert_eq!(nodes as u64 * group.order(), topology.nodes(), "orbits of other nodes");
                Reported::Representatives(SymmetricLinks::new(topology.as_ref(), group))
            }
            Payload::Orbits(exchange) if exchange.group().order() > 1 => {
                Reported::Expanded(Expansion::new(exchange))
            }
            _ => Reported::All,
        };
        Self {
            statistics: StepStatistics::for_nodes(Arc::clone(&topology), nodes, interests),
            messages: if is_symmetric {
                Messages::of_some(nodes)
            } else {
                Messages::new(nodes, interests)
            },
            topology,
            skip_empty: task.skip_empty,
            payload,
            step: 0,
            reported,
            routes: Vec::new(),
            buffers: Buffers::new(nodes),
        }
    }

    pub(super) fn proof(&self) -> Proof {
        self.payload.proof()
    }

    /// Returns the number of the current step, from 1.
    pub(super) fn step(&self) -> u64 {
        self.step
    }

    pub(super) fn begin_phase(&mut self) {
        self.buffers.begin_phase();
    }

    pub(super) fn begin_step(&mut self) {
        self.step += 1;
        self.payload.begin_step();
    }

    /// Redistributes all data that a node holds. Errors unless the schedule sends byte counts.
    pub(super) fn redistribute(
        &mut self,
        listeners: &mut Listeners<'_>,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        let Payload::ByteCounts(byte_counts) = &mut self.payload else {
            return Err(Fault::OutOfOrder(
                "the schedule redistributes, but did not declare byte counts",
            ));
        };
        byte_counts.redistribute(redistribution)?;
        listeners.notify_of_send(ScheduleEvent::Redistribution(redistribution));
        Ok(())
    }

    /// Reports that every node rearranges all data that it holds.
    pub(super) fn rearrange(&self, listeners: &mut Listeners<'_>) {
        let most = self.payload.loads().held().iter().copied().max().unwrap_or(0);
        listeners.rearrangement(most, self.payload.segments());
    }

    /// Ends the step: all data in flight arrives, and the messages are measured.
    pub(super) fn end_step(&mut self, listeners: &mut Listeners<'_>) -> Result<(), Fault> {
        self.expand_sends(listeners, None);
        self.payload.end_step()?;
        if let Some((node, block)) = self.payload.take_redundant() {
            let step = self.step;
            listeners.notify(ScheduleEvent::RedundantBlock { step, node, block });
        }
        self.report_reductions(listeners);
        if !self.messages.is_empty() {
            self.measure(listeners)?;
            self.messages.clear();
        }
        self.routes.clear();
        Ok(())
    }

    /// Reports the loads that nodes have reduced in the step, if any node has reduced data.
    fn report_reductions(&mut self, listeners: &mut Listeners<'_>) {
        let Self { payload, reported, .. } = self;
        let (most, segments) = (payload.loads().most_summed(), payload.segments());
        if most == 0 {
            return;
        }
        let (of, symmetry) = reported.loads_and_group(payload.loads().all_summed());
        listeners.summed(Summed { most, of, symmetry, segments });
    }

    /// Measures the messages of the step.
    fn measure(&mut self, listeners: &mut Listeners<'_>) -> Result<(), Fault> {
        let Self { payload, reported, statistics, messages, routes, buffers, .. } = self;
        let number = self.step;
        let (merged, contents) = messages.merged(routes);
        let facts = match reported {
            Reported::All | Reported::Expanded(_) => {
                merged.iter().for_each(|t| buffers.moved(t.from, t.to, t.load));
                statistics.measure(number, merged, contents, routes)?
            }
            Reported::Representatives(links) => {
                statistics.measure_orbits(number, merged, routes, links, buffers)?
            }
        };
        facts.check(merged.len(), self.topology.link_slots());
        let (held, symmetry) = reported.loads_and_group(payload.loads().held());
        let of_all = |values: usize| [0, messages.as_slice().len()].contains(&values);
        assert!(
            of_all(statistics.inverse_bandwidth().len())
                && of_all(statistics.mean_hops().len())
                && of_all(messages.latest_arrivals().len()),
            "step {number} has values for some of its messages only"
        );
        listeners.step(&Step {
            inverse_bandwidth: statistics.inverse_bandwidth(),
            mean_hops: statistics.mean_hops(),
            busiest_links: statistics.busiest_links(),
            transfers: messages.as_slice(),
            symmetry,
            latest_arrivals: messages.latest_arrivals(),
            held,
            ..Step::of(payload.proof(), payload.segments(), number, facts, routes)
        });
        Ok(())
    }

    /// Returns the final state of the data, and the loads of buffers.
    pub(super) fn end(self) -> (Payload, Buffers) {
        (self.payload, self.buffers)
    }
}
