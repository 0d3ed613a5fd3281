//! A schedule that is carried out as it comes: a send goes into the exchange at once, and what
//! moved is measured where the step ends.

mod expansion;
mod sends;

use super::Task;
use crate::delivery::byte_counts::Redistribution;
use crate::delivery::exchange::OrbitExchange;
use crate::delivery::fault::Fault;
use crate::delivery::payload::{Payload, Proof};
use crate::network::topology::{Route, Topology};
use crate::simulation::buffers::Buffers;
use crate::simulation::listener::{ScheduleEvent, Summed};
use crate::simulation::listeners::Listeners;
use crate::simulation::messages::Messages;
use crate::simulation::step::Step;
use crate::simulation::step_statistics::{Orbits, StepStatistics};
use expansion::Expansion;
use std::sync::Arc;

/// Who holds what, and what the step under way has so far.
#[derive(Debug)]
pub(super) struct AtOnce {
    topology: Arc<dyn Topology>,
    /// Whether a message of no bytes is none.
    skip_empty: bool,
    payload: Payload,
    statistics: StepStatistics,
    /// Where one node of each orbit is planned for and facts of steps are all that is read.
    orbits: Option<Orbits>,
    /// Where one node of each orbit is planned for and somebody reads what all nodes do.
    expansion: Option<Expansion>,
    messages: Messages,
    routes: Vec<Route>,
    buffers: Buffers,
}

impl AtOnce {
    /// Everyone is planned for, so many nodes.
    pub(super) fn new(
        task: &Task,
        listeners: &Listeners<'_>,
        payload: Payload,
        nodes: usize,
    ) -> Self {
        Self {
            topology: Arc::clone(&task.topology),
            skip_empty: task.skip_empty,
            payload,
            statistics: StepStatistics::for_nodes(
                Arc::clone(&task.topology),
                nodes,
                listeners.interests,
            ),
            orbits: None,
            expansion: None,
            messages: Messages::new(nodes, listeners.interests),
            routes: Vec::new(),
            buffers: Buffers::new(nodes),
        }
    }

    /// So many representatives are planned for, and looked at.
    pub(super) fn of_representatives(
        task: &Task,
        listeners: &Listeners<'_>,
        exchange: OrbitExchange,
        representatives: usize,
    ) -> Self {
        let orbits = Orbits::new(task.topology.as_ref(), exchange.group().clone());
        Self {
            orbits: Some(orbits),
            messages: Messages::of_some(representatives),
            ..Self::new(task, listeners, Payload::Orbits(exchange), representatives)
        }
    }

    /// Representatives are planned for, and what all the nodes do is looked at.
    pub(super) fn written_out(
        task: &Task,
        listeners: &Listeners<'_>,
        exchange: OrbitExchange,
        nodes: usize,
    ) -> Self {
        let expansion = Some(Expansion::new(&exchange));
        Self { expansion, ..Self::new(task, listeners, Payload::Orbits(exchange), nodes) }
    }

    pub(super) fn proof(&self) -> Proof {
        self.payload.proof()
    }

    /// The step under way, from 1.
    pub(super) fn step(&self) -> u64 {
        self.payload.step()
    }

    pub(super) fn begin_phase(&mut self) {
        self.buffers.begin_phase();
    }

    pub(super) fn begin_step(&mut self) {
        self.payload.begin_step();
    }

    /// In a schedule of byte counts, a node redistributes all it holds.
    pub(super) fn redistribute(
        &mut self,
        listeners: &mut Listeners<'_>,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        self.payload.redistribute(redistribution)?;
        listeners.notify_of_send(ScheduleEvent::Redistribution(redistribution));
        Ok(())
    }

    /// Every node rearranges all it holds.
    pub(super) fn rearrange(&self, listeners: &mut Listeners<'_>) {
        listeners.rearrangement(
            self.payload.held().iter().copied().max().unwrap_or(0),
            self.payload.segments(),
        );
    }

    /// What was sent in the step has arrived, and is measured.
    pub(super) fn end_step(&mut self, listeners: &mut Listeners<'_>) -> Result<(), Fault> {
        self.write_out(listeners, None);
        self.payload.end_step()?;
        let (number, segments) = (self.payload.step(), self.payload.segments());
        if let Some((node, block)) = self.payload.take_redundant() {
            listeners.redundant_block(number, node, block);
        }
        let most = self.payload.most_summed();
        if most > 0 {
            self.write_out_summed();
            let of = self.expansion.as_ref().map_or(self.payload.summed(), Expansion::summed);
            listeners.summed(Summed {
                most,
                of,
                symmetry: self.orbits.as_ref().map(Orbits::group),
                segments,
            });
        }
        if !self.messages.is_empty() {
            self.write_out_held();
            self.measure(listeners)?;
            self.messages.clear();
        }
        self.routes.clear();
        Ok(())
    }

    /// Measures the messages of the step.
    fn measure(&mut self, listeners: &mut Listeners<'_>) -> Result<(), Fault> {
        let Self { payload, statistics, orbits, messages, routes, buffers, .. } = self;
        let number = payload.step();
        let (merged, blocks) = messages.merged();
        let facts = match orbits {
            None => {
                merged.iter().for_each(|t| buffers.moved(t.from, t.to, t.load));
                statistics.measure(number, merged, blocks, routes)?
            }
            Some(orbits) => statistics.measure_orbits(number, merged, routes, orbits, buffers)?,
        };
        listeners.step(&Step {
            inverse_bandwidth: statistics.inverse_bandwidth(),
            mean_hops: statistics.mean_hops(),
            busiest_links: statistics.busiest_links(),
            transfers: messages.as_slice(),
            symmetry: orbits.as_ref().map(Orbits::group),
            latest_arrivals: messages.after(),
            held: self.expansion.as_ref().map_or(payload.held(), Expansion::held),
            ..Step::of(payload.proof(), payload.segments(), number, facts, routes)
        });
        Ok(())
    }

    /// Who holds what in the end, and what went through buffers.
    pub(super) fn end(self) -> (Payload, Buffers) {
        (self.payload, self.buffers)
    }
}
