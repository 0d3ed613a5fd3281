//! The playback of a schedule, which determines the displayed step.

use crate::session::recording::{FrameSelection, Recording};
use crate::session::{Request, Requests, Session};
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(super) struct Playback {
    /// The index of the displayed step, from 0.
    pub(super) step: usize,
    pub(super) plays: bool,
    /// Whether to display the newest step while the schedule is being simulated.
    pub(super) follows: bool,
    /// The speed in steps per second.
    pub(super) speed: f64,
    /// The session time at which the displayed step was first shown.
    since: Duration,
}

impl Default for Playback {
    fn default() -> Self {
        Self { step: 0, plays: false, follows: false, speed: 2.0, since: Duration::ZERO }
    }
}

impl Playback {
    pub(super) fn toggle(&mut self, session: &Session) -> Requests {
        self.follows = false;
        let Some(recording) = session.schedule() else { return vec![Request::WantSchedule] };
        let at_end = self.step + 1 >= recording.step_count();
        let requests = match at_end && !self.plays && !recording.is_growing() {
            true => self.go_to(0, session),
            false => Requests::new(),
        };
        self.plays = !self.plays;
        self.since = session.now;
        requests
    }

    /// Advances to the next step if the displayed step has been visible for long enough. Returns
    /// whether the displayed step has changed.
    pub(super) fn tick(&mut self, session: &Session) -> (bool, Requests) {
        let none = Requests::new();
        let Some(recording) = session.schedule() else { return (false, none) };
        if self.follows {
            let newest = recording.newest();
            self.follows = recording.is_growing();
            return (std::mem::replace(&mut self.step, newest) != newest, none);
        }
        let due = (session.now.saturating_sub(self.since).as_secs_f64() * self.speed) as usize;
        if !self.plays || recording.frame(self.step).is_none() || due == 0 {
            return (false, none);
        }
        let last = recording.step_count().saturating_sub(1);
        if self.step >= last {
            self.plays = recording.is_growing();
            return (!self.plays, none);
        }
        (true, self.go_to((self.step + due).min(last), session))
    }

    /// Displays a step. If its data is not recorded, the schedule is simulated again.
    pub(super) fn go_to(&mut self, step: usize, session: &Session) -> Requests {
        let Some(recording) = session.schedule() else { return Requests::new() };
        let step = step.min(recording.step_count().saturating_sub(1));
        (self.step, self.follows) = (step, false);
        self.since = session.now;
        if recording.frame(step).is_none() && !recording.is_to_come(step) {
            return vec![Request::Record(FrameSelection::From(step.saturating_sub(1)))];
        }
        Requests::new()
    }

    pub(super) fn go_to_end(&mut self, last: bool, session: &Session) -> Requests {
        let steps = session.schedule().map_or(0, Recording::step_count);
        self.go_to(if last { steps.saturating_sub(1) } else { 0 }, session)
    }
}
