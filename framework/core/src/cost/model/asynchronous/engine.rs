//! The engine that the models `loggp` and `fluid` share. In these models every rank has its own
//! clock.
//!
//! The engine knows where each rank is in the schedule. A model decides when messages are sent and
//! received ([`RankModel`]).
//!
//! 1. A rank *enters* a step. The model starts the rank's sends and matches its receives.
//! 2. The model reports each send and each receive that is *complete*.
//! 3. When all sends and receives of the step are complete, the rank reduces the received data.
//!    Then it enters the next step.
//!
//! With `order=data`, ranks do not enter steps. The model starts each send as soon as its data is
//! available ([`DataOrder`]).
//!
//! The steps of a schedule become known one by one. Events are processed only while no rank waits
//! for a step that is not known yet. Otherwise this step could add an event whose time is earlier
//! than that of an event that has been processed.

use super::data_order::{DataOrder, Next};
use super::event_limit::EventLimit;
use super::noise::Noise;
use super::repetition::{Repetition, State};
use super::{Order, Steps};
use crate::cost::kind::{Kind, Times};
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator, RankTimes};
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent, Summed};
use crate::simulation::step::Step;
use std::time::Instant;

/// The position of a rank in the schedule. With `order=data`, [`DataOrder`] stores the positions
/// instead.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    /// The current step, which may not be known yet.
    pub step: u64,
    /// The number of the step's sends that the rank has made or posted.
    pub sent: usize,
    /// The number of the step's sends and receives that are not complete.
    pub pending: usize,
}

/// The progress of all ranks through a schedule.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub steps: Steps,
    /// Whether a step has been added but the ranks that wait for it have not been resumed.
    has_new_step: bool,
    pub ranks: Vec<Position>,
    /// The positions of the ranks with `order=data`; `None` with other orders.
    pub data_order: Option<DataOrder>,
    pub noise: Noise,
    pub events: EventLimit,
    /// The record of how each rank spends its time, if requested.
    pub record: Option<Box<TimeSpace>>,
    pub repetition: Repetition,
}

impl Progress {
    pub(crate) fn new(
        ranks: usize,
        order: Order,
        unit_bytes: f64,
        noise: Noise,
        max_events: u64,
    ) -> Self {
        Self {
            steps: Steps::new(ranks, unit_bytes),
            has_new_step: false,
            ranks: vec![Position::default(); ranks],
            data_order: (order == Order::Data).then(|| DataOrder::new(ranks)),
            noise,
            events: EventLimit::new(max_events),
            record: None,
            repetition: Repetition::default(),
        }
    }

    /// Adds the positions of all ranks to `state`, relative to the last known step. Returns `false`
    /// if no step may be skipped, because the further simulation depends on more than positions and
    /// times.
    pub(crate) fn add_state(&self, state: &mut State) -> bool {
        for Position { step, sent, pending } in &self.ranks {
            state.add_number(self.steps.known() - step);
            state.add_number(*sent as u64);
            state.add_number(*pending as u64);
        }
        let Self { data_order, noise, record, .. } = self;
        data_order.is_none() && noise.is_none() && record.is_none()
    }

    /// Ends the rank's current step, so that its position is the next step.
    pub(crate) fn leave_step(&mut self, rank: usize) {
        self.steps.leave(self.ranks[rank].step);
        self.ranks[rank].step += 1;
    }

    /// Returns the step and the index of the rank's next send, if the data of this send is
    /// available. If the known steps have no further send of the rank, the rank waits for a further
    /// step. Only for `order=data`.
    pub(crate) fn next_send(&mut self, rank: usize) -> Option<(u64, u32)> {
        let order = self.data_order.as_mut()?;
        if order.waits(rank) {
            return None;
        }
        let next = order.next(rank, &mut self.steps);
        if let (Some(record), Next::Send(..) | Next::Blocked) = (&mut self.record, next) {
            record.enter(rank, order.step(rank));
        }
        match next {
            Next::Send(step, index) => return Some((step, index)),
            Next::Blocked => {}
            Next::Unknown => {
                order.wait(rank);
                self.steps.wait();
            }
        }
        None
    }

    /// Returns whether the known steps have no further send of the rank. Only for `order=data`.
    pub(crate) fn has_no_known_send(&self, rank: usize) -> bool {
        let order = self.data_order.as_ref();
        order.is_some_and(|order| self.steps.get(order.step(rank)).is_none())
    }
}

/// A model in which ranks have their own clocks. The model determines when each message is sent and
/// received.
pub(crate) trait RankModel: Send {
    /// The model's name.
    const NAME: &'static str;

    fn progress(&self) -> &Progress;

    fn progress_mut(&mut self) -> &mut Progress;

    /// Adds the next step of the schedule to [`Progress::steps`].
    fn add_step(&mut self, step: &Step<'_>);

    /// Adds data that ranks reduce at the end of the step that will be added next.
    fn add_sums(&mut self, summed: Summed<'_>) {
        self.progress_mut().steps.sum(summed);
    }

    /// Returns the state of the simulation, so that equal steps can be skipped. The state has all
    /// values on which the further simulation depends; times and numbers of steps are relative to
    /// the present. Returns `None` if the further simulation depends on something else.
    fn state(&self) -> Option<State> {
        None
    }

    /// Starts the sends of the step that the rank has entered. Matches the rank's receives with
    /// messages that are posted or have arrived already.
    fn start_step(&mut self, rank: usize);

    /// Returns whether the rank is late and has not entered the schedule yet. If so, this function
    /// also schedules an event at which the rank enters.
    fn delays_entry(&mut self, _rank: usize) -> bool {
        false
    }

    /// Starts the rank's next send if its data is available. Only for `order=data`.
    fn resume(&mut self, rank: usize);

    /// Reduces the data that the rank received in its step, when all sends and receives of the step
    /// are complete. `is_empty` is true if the rank has no sends and no receives in this step.
    /// Returns whether the rank can enter the next step immediately. If not, the model calls
    /// [`RankModel::next_step`] later.
    fn finish_step(&mut self, rank: usize, is_empty: bool) -> bool;

    /// Processes the next event. Returns `false` if no event is left.
    fn process_event(&mut self) -> bool;

    /// Returns whether all events of the known steps can be processed before the next step is
    /// known. This is possible if no event depends on a later step.
    fn drains_each_step(&self) -> bool {
        false
    }

    /// Returns the reason why the model cannot compute the cost, if there is one.
    fn refusal(&self) -> Option<&String> {
        None
    }

    /// Returns the time of the last event in µs. The time of skipped steps is included.
    fn now_us(&self) -> f64;

    /// Executes the reductions after the last step. Returns the critical path of the schedule, and
    /// the times at which its ranks end. Errors if the model cannot represent these times.
    fn finish(&mut self) -> Result<(Times, Option<RankTimes>), String>;

    /// Returns whether the simulation is folded: only one rank of each symmetry orbit is simulated.
    fn is_folded(&self) -> bool {
        false
    }

    /// Starts a time-space record.
    fn start_record(&mut self, record: TimeSpace) {
        self.progress_mut().record = Some(Box::new(record));
    }

    /// Returns the finished time-space record; `None` if no record was started.
    fn take_record(&mut self) -> Option<TimeSpace> {
        self.progress_mut().record.take().map(|record| record.finish())
    }

    /// Enters the next step in which the rank sends or receives. If no known step has a message of
    /// the rank, the rank waits for a further step.
    fn enter_step(&mut self, rank: usize) {
        loop {
            let progress = self.progress_mut();
            let position = &mut progress.ranks[rank];
            let Some(step) = progress.steps.enter(position.step) else { return };
            let pending = step.sends(rank).len() + step.receives(rank).len();
            (position.sent, position.pending) = (0, pending);
            if let Some(record) = &mut progress.record {
                record.enter(rank, position.step);
            }
            if pending > 0 {
                self.start_step(rank);
                return;
            }
            if !self.finish_step(rank, true) {
                return;
            }
            self.progress_mut().leave_step(rank);
        }
    }

    /// Ends the rank's step and enters the next.
    fn next_step(&mut self, rank: usize) {
        self.progress_mut().leave_step(rank);
        self.enter_step(rank);
    }

    /// Records that a send or receive of the rank's step is complete. Ends the step if all of the
    /// rank's sends and receives are complete.
    fn complete(&mut self, rank: usize) {
        let position = &mut self.progress_mut().ranks[rank];
        position.pending -= 1;
        if position.pending == 0 && self.finish_step(rank, false) {
            self.next_step(rank);
        }
    }

    /// Returns whether the model cannot compute the cost, or a limit has been reached.
    fn is_stopped(&self) -> bool {
        let Progress { events, steps, .. } = self.progress();
        self.refusal().is_some() || events.reached() || steps.limit_reached()
    }

    /// Processes events until a rank waits for the next step. Then adds this step, unless it is
    /// skipped. The events of the new step are processed by the next call of [`RankModel::run`].
    /// The events of the last step are therefore processed after the simulation has freed the
    /// memory of the schedule.
    fn step(&mut self, step: &Step<'_>) {
        self.run(false);
        if !self.is_stopped() && !self.progress().events.is_paused() && !self.skips(step) {
            self.add_step(step);
            self.progress_mut().has_new_step = true;
        }
    }

    /// Returns whether the next step is skipped, because it is equal to the previous step and the
    /// simulation is in a steady state.
    fn skips(&mut self, step: &Step<'_>) -> bool {
        let Progress { repetition, steps, .. } = self.progress_mut();
        if repetition.count(step, steps.next_sums()) {
            // Ranks that are behind may still be in steps of an earlier sequence. The state can
            // repeat until they reach the present sequence, so it is compared only after that.
            let Progress { repetition, steps, .. } = self.progress();
            let is_uniform = repetition.includes(steps.known() - steps.first());
            let state = if is_uniform { self.state() } else { None };
            self.progress_mut().repetition.compare(state);
        }
        let Progress { repetition, steps, .. } = self.progress_mut();
        let skips = repetition.skips();
        if skips {
            steps.clear_next_sums();
        }
        skips
    }

    /// Resumes all ranks that wait for the step that was added last.
    fn wake_ranks(&mut self) {
        let Progress { steps, ranks, data_order, .. } = self.progress_mut();
        let by_data = data_order.is_some();
        if let Some(order) = data_order {
            order.wake();
        }
        for rank in steps.wake_ranks(by_data, ranks.iter().map(|rank| rank.step)) {
            if self.delays_entry(rank) {
                continue;
            }
            if by_data { self.resume(rank) } else { self.enter_step(rank) }
        }
    }

    /// Processes events until a rank waits for a step that is not known yet. With `to_the_end`,
    /// processes all remaining events. Pauses at the deadline of [`Evaluator::pause_at`].
    fn run(&mut self, to_the_end: bool) {
        if !self.is_stopped() && std::mem::take(&mut self.progress_mut().has_new_step) {
            self.wake_ranks();
        }
        let drains = to_the_end || self.drains_each_step();
        while !self.is_stopped()
            && !self.progress_mut().events.check_clock()
            && (drains || self.progress().steps.no_rank_waits())
            && self.process_event()
        {}
    }
}

impl<M: RankModel> Listener for M {
    fn interests(&self) -> Interests {
        let detail = if self.is_folded() { Detail::Representatives } else { Detail::AllNodes };
        let arrivals = self.progress().data_order.is_some();
        Interests { detail, arrivals, ..Interests::FACTS }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) if !self.is_stopped() => self.add_sums(summed),
            _ => {}
        }
    }
}

impl<M: RankModel> Evaluator for M {
    fn cost(&mut self) -> Result<Cost, String> {
        self.progress().steps.check_limit(M::NAME)?;
        self.run(true);
        if let Some(why) = self.refusal() {
            return Err(why.clone());
        }
        let Progress { events, steps, repetition, .. } = self.progress();
        let first = steps.first() + repetition.skipped().steps;
        events.check_limit(M::NAME, self.now_us(), first)?;
        let (path, ranks) = self.finish()?;
        let parts = path.parts(|kind| match kind {
            Kind::Rearrangement => false,
            Kind::Reduction => self.progress().steps.has_sums(),
            _ => true,
        });
        Ok(Cost { parts, ranks, ..Cost::default() })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        self.progress_mut().events.pause_at(deadline);
        true
    }

    fn is_paused(&self) -> bool {
        self.progress().events.is_paused()
    }

    fn advance(&mut self) -> bool {
        self.run(true);
        !self.progress().events.is_paused()
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.start_record(record);
        Ok(())
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.take_record()
    }
}
