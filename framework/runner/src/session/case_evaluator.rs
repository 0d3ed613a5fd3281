//! The evaluator of one case, with a time limit of its own. It calculates the time of the case
//! while the schedule is planned, which is done once for several cases. Evaluators of event-driven
//! models may take far longer than planning. They can pause ([`Evaluator::pause_at`]) in three
//! situations:
//! - The case has reached its time limit. The time of planning and of its own evaluator count.
//! - During planning, an evaluator takes far longer than planning and all other evaluators
//!   together. Its case is set aside and planned again later, so that the other cases can end.
//! - After planning, the evaluators run in turns, so that quick cases are reported early.

use crate::defect;
use crate::group_clock::GroupClock;
use crate::process::shared::record_pricing;
use std::cell::Cell;
use std::time::{Duration, Instant};
use swapmeet_core::cost::model::{Evaluator, ModelKind};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};

pub(super) struct SharedPlan {
    pub clock: GroupClock,
    /// The time limit of a case. It is the same for all cases of the plan.
    pub limit: Option<Duration>,
    /// Whether evaluators that take too long are set aside, so that their cases are planned again.
    pub sets_aside: bool,
    pub listening: Cell<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Listening,
    SetAside,
    TimedOut,
    /// An assertion failed in this evaluator. The other cases of the plan continue.
    Failed(String),
}

pub(super) struct CaseEvaluator<'a> {
    evaluator: Box<dyn Evaluator>,
    plan: &'a SharedPlan,
    pub can_pause: bool,
    pub state: State,
    pub spent: Duration,
}

impl<'a> CaseEvaluator<'a> {
    pub(super) fn new(mut evaluator: Box<dyn Evaluator>, plan: &'a SharedPlan) -> Self {
        let can_pause = evaluator.pause_at(None);
        Self { evaluator, plan, can_pause, state: State::Listening, spent: Duration::ZERO }
    }

    /// Returns the evaluator of the model. It must have processed the whole schedule.
    pub(super) fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.evaluator.as_mut()
    }

    pub(super) fn timeout_message(&self, model: &ModelKind) -> String {
        let limit = self.plan.limit.unwrap_or_default().as_secs_f64();
        let spent = self.spent.as_secs_f64();
        format!("not done after {limit} s, {spent:.1} s of it in the model `{model}`")
    }

    fn left(&self) -> Option<Duration> {
        let used = self.plan.clock.planning() + self.spent;
        self.plan.limit.map(|limit| limit.saturating_sub(used))
    }

    /// Returns how long the evaluator may still run before it is set aside, or `None` if it is
    /// never set aside.
    fn time_until_deferred(&self) -> Option<Duration> {
        /// An evaluator is not set aside before it has taken this time, because planning again
        /// would cost more.
        const LEAST: Duration = Duration::from_secs(1);
        /// An evaluator is set aside when its own time exceeds this multiple of the time that
        /// planning and all other evaluators have taken together.
        const MOST: u32 = 4;
        let can_wait = self.plan.sets_aside && self.plan.listening.get() > 1;
        let others = || self.plan.clock.elapsed().saturating_sub(self.spent);
        can_wait.then(|| LEAST.max(others() * MOST).saturating_sub(self.spent))
    }

    /// Calls `work`. If an assertion fails in it, the evaluator is not used afterwards.
    fn call(&mut self, work: impl FnOnce(&mut dyn Evaluator)) {
        if let Err(defect) = defect::catch(|| work(self.evaluator.as_mut())) {
            self.state = State::Failed(defect);
        }
    }

    /// Calls `work`. The evaluator pauses when it has run for `most`, or at its time limit. Returns
    /// the time that `work` took.
    fn work(&mut self, most: Option<Duration>, work: impl FnOnce(&mut dyn Evaluator)) -> Duration {
        let started = Instant::now();
        let most = most.into_iter().chain(self.left()).min();
        self.evaluator.pause_at(most.and_then(|most| started.checked_add(most)));
        self.call(work);
        let took = started.elapsed();
        self.spent += took;
        self.plan.clock.add_priced(took);
        // This time does not count towards the time limit that the parent process enforces.
        record_pricing(took);
        if self.state == State::Listening && self.left().is_some_and(|left| left.is_zero()) {
            self.state = State::TimedOut;
        }
        took
    }

    /// After the end of the schedule, lets the evaluator continue for at most the time `most`.
    /// Returns whether the evaluator has ended.
    pub(super) fn advance(&mut self, most: Duration) -> bool {
        let mut is_done = !self.can_pause;
        if self.can_pause && self.state == State::Listening {
            self.work(Some(most), |evaluator| is_done = evaluator.advance());
            if is_done {
                self.state = State::Listening;
                self.evaluator.pause_at(None);
            }
        }
        is_done || matches!(self.state, State::TimedOut | State::Failed(_))
    }
}

impl Listener for CaseEvaluator<'_> {
    fn interests(&self) -> Interests {
        self.evaluator.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if self.state != State::Listening {
            return;
        }
        if !self.can_pause || !matches!(event, ScheduleEvent::Step(_) | ScheduleEvent::Summed(_)) {
            self.call(|evaluator| evaluator.notify(event));
        } else {
            let most = self.time_until_deferred();
            let took = self.work(most, |evaluator| evaluator.notify(event));
            if self.state == State::Listening && most.is_some_and(|most| took >= most) {
                self.state = State::SetAside;
            }
        }
        if self.state != State::Listening {
            self.plan.listening.set(self.plan.listening.get() - 1);
        }
    }
}
