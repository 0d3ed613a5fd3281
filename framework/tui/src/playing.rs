//! A schedule that plays: which is walked, and which of its steps is shown.

use crate::app::App;
use crate::model::frames::Recording;
use crate::ui::Panel;
use std::sync::Arc;
use std::time::Duration;

impl App {
    /// Plays the schedule, or pauses it.
    pub(crate) fn toggle_play(&mut self) {
        let Some(recording) = &self.recording else { return self.want_recording() };
        let at_end = self.ui.player.step + 1 >= recording.steps();
        if at_end && !self.ui.player.plays && !recording.is_walking() {
            self.go_to_step(0);
        }
        self.ui.player.plays = !self.ui.player.plays;
        self.ui.player.since = self.now;
    }

    /// Moves the schedule on when it is time; true if it moved.
    pub(crate) fn play(&mut self) -> bool {
        let player = self.ui.player;
        let Some(recording) = &self.recording else { return false };
        if !player.plays || recording.frame(player.step).is_none() {
            return false;
        }
        let due = ((self.now.saturating_sub(player.since)).as_secs_f64() * player.speed) as usize;
        let last = recording.steps().saturating_sub(1);
        if due == 0 {
            return false;
        }
        if player.step >= last {
            if !recording.is_walking() {
                self.ui.player.plays = false;
            }
            return !self.ui.player.plays;
        }
        self.go_to_step((player.step + due).min(last));
        true
    }

    /// Shows a step; one outside the window is walked again.
    pub(crate) fn go_to_step(&mut self, step: usize) {
        let Some(recording) = &self.recording else { return };
        let step = step.min(recording.steps().saturating_sub(1));
        self.ui.player.step = step;
        self.ui.player.since = self.now;
        let to_come = recording.is_walking() && step >= recording.from;
        if recording.frame(step).is_none() && !to_come {
            self.record_from(step.saturating_sub(1));
        }
    }

    /// Walks the schedule of the case in focus, if a panel wants it and it doesn't take long.
    pub(crate) fn want_recording(&mut self) {
        /// What anybody waits for without having asked.
        const UNASKED: Duration = Duration::from_secs(1);
        if !matches!(self.ui.panel, Panel::Network | Panel::Details)
            && !matches!(self.ui.companion, Panel::Network | Panel::Details)
        {
            return;
        }
        let Some((_, row)) = self.focused() else { return };
        let same = |recording: &Recording| {
            // Machines and sizes are no part of a schedule; the key says more than is needed, but is sure.
            recording.key == row.key
        };
        if self.recording.as_ref().is_some_and(same) {
            return;
        }
        let quick = row.record().and_then(|r| r.plan_ms).is_some_and(|ms| ms < UNASKED.as_secs_f64() * 1e3);
        self.recording = None;
        (self.ui.player.step, self.ui.player.plays, self.ui.player.plane) = (0, false, 0);
        self.ui.player.turned = 0;
        if quick {
            self.record_from(0);
        }
    }

    /// Walks the schedule of the case in focus; frames are kept from a step on.
    pub(crate) fn record_from(&mut self, step: usize) {
        let Some((_, row)) = self.focused() else { return };
        self.recording = Some(Recording::start(&row.case, Arc::clone(&row.key), step));
    }
}
