//! The time of one communicator without the others, on the same network and machine.

use super::kind::Parts;
use super::model::time_space::TimeSpace;
use super::model::{Cost, Evaluator};
use crate::network::topology::Network;
use crate::simulation::listener::{Interests, Listener, ScheduleEvent, Summed};
use crate::simulation::step::{Step, StepFacts, Transfer};
use crate::simulation::step_statistics::StepStatistics;
use std::sync::Arc;
use std::time::Instant;

/// An evaluator that gets only the messages of the first communicator.
pub struct Alone {
    evaluator: Box<dyn Evaluator>,
    is_first: Vec<bool>,
    statistics: StepStatistics,
}

impl Alone {
    /// `first` are the ranks of the first communicator.
    pub fn new(evaluator: Box<dyn Evaluator>, network: &Arc<Network>, first: &[u32]) -> Self {
        let statistics = StepStatistics::new(Arc::clone(network), evaluator.interests());
        let mut is_first = vec![false; network.nodes() as usize];
        first.iter().for_each(|rank| is_first[*rank as usize] = true);
        Self { evaluator, is_first, statistics }
    }

    /// Returns the time in µs. An error is the reason why the model has no cost.
    pub fn time_us(&mut self) -> Result<f64, String> {
        Ok(self.evaluator.cost()?.parts.total())
    }

    fn is_first(&self, rank: u64) -> bool {
        self.is_first[rank as usize]
    }

    fn step(&mut self, step: &Step<'_>) {
        let own = |t: &Transfer| self.is_first(t.from.into());
        let mut transfers: Vec<Transfer> = step.transfers.iter().copied().filter(own).collect();
        let arrivals = step.transfers.iter().zip(step.latest_arrivals);
        let arrivals: Vec<u32> = arrivals.filter(|(t, _)| own(t)).map(|(_, at)| *at).collect();
        let facts = self.statistics.measure(step.schedule_step, &mut transfers, None, step.routes);
        let facts = facts.unwrap_or_else(|fault| {
            unreachable!("these messages were measured before, together with others: {fault}")
        });
        let StepFacts { max_packed_load, max_packed_blocks, .. } = step.facts;
        self.evaluator.notify(ScheduleEvent::Step(&Step {
            transfers: &transfers,
            latest_arrivals: &arrivals,
            inverse_bandwidth: self.statistics.inverse_bandwidth(),
            mean_hops: self.statistics.mean_hops(),
            busiest_links: self.statistics.busiest_links(),
            facts: StepFacts { max_packed_load, max_packed_blocks, ..facts },
            ..*step
        }));
    }
}

impl Listener for Alone {
    fn interests(&self) -> Interests {
        self.evaluator.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) => {
                let own = |(rank, load)| if self.is_first(rank) { load } else { 0 };
                let of: Vec<u64> = (0..).zip(summed.of.iter().copied()).map(own).collect();
                self.evaluator.notify(ScheduleEvent::Summed(Summed { of: &of, ..summed }));
            }
            ScheduleEvent::LocalCopy(copy) if !self.is_first(copy.node.into()) => {}
            ScheduleEvent::Communicators(_)
            | ScheduleEvent::Phase(_)
            | ScheduleEvent::Rearrangement { .. }
            | ScheduleEvent::LocalCopy(_)
            | ScheduleEvent::Redistribution(_)
            | ScheduleEvent::ByteSend(_)
            | ScheduleEvent::Sent(_)
            | ScheduleEvent::EmptySend(_)
            | ScheduleEvent::RedundantBlock { .. } => self.evaluator.notify(event),
        }
    }
}

/// An evaluator of all communicators, and one of the first, for the same case.
pub struct WithAlone {
    all: Box<dyn Evaluator>,
    alone: Alone,
}

impl WithAlone {
    /// Joins two evaluators of the same case.
    pub fn new(all: Box<dyn Evaluator>, alone: Alone) -> Self {
        Self { all, alone }
    }
}

impl Listener for WithAlone {
    fn interests(&self) -> Interests {
        self.all.interests().union(self.alone.interests())
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.all.notify(event);
        self.alone.notify(event);
    }
}

impl Evaluator for WithAlone {
    fn cost(&mut self) -> Result<Cost, String> {
        let alone = self.alone.time_us()?;
        Ok(Cost { alone_us: Some(alone), ..self.all.cost()? })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        self.all.pause_at(deadline) | self.alone.evaluator.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.all.is_paused() || self.alone.evaluator.is_paused()
    }

    fn advance(&mut self) -> bool {
        self.all.advance() && self.alone.evaluator.advance()
    }

    fn parts_so_far(&self) -> Option<Parts> {
        self.all.parts_so_far()
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.all.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.all.time_space()
    }
}
