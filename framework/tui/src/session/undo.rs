//! Undo of the user's changes.

use super::Session;
use super::chosen::ChosenState;
use super::trial::Changes;

const MOST: usize = 100;

/// The state that undo restores: the selection, the baseline and the sliders.
#[derive(Debug, Clone, PartialEq)]
struct Snapshot {
    chosen: ChosenState,
    baseline: Option<String>,
    sliders: Changes,
}

/// The current state, and a snapshot of the state before each change.
#[derive(Debug, Default)]
pub(super) struct Undo {
    past: Vec<Snapshot>,
    /// The states that redo can restore, because undo has replaced them. The state that was
    /// replaced last is at the end.
    future: Vec<Snapshot>,
    now: Option<Snapshot>,
}

impl Snapshot {
    fn new(session: &Session) -> Self {
        let (chosen, sliders) = (session.chosen.state().clone(), session.trial.changes.clone());
        Self { chosen, baseline: session.baseline.clone(), sliders }
    }

    fn only_sliders_differ(&self, other: &Self) -> bool {
        (&self.chosen, &self.baseline) == (&other.chosen, &other.baseline)
            && self.sliders != other.sliders
    }
}

impl Session {
    /// If the state has changed since the last call, records one change. Consecutive changes of
    /// sliders are combined in one change.
    pub(crate) fn record_change(&mut self) {
        let new = Snapshot::new(self);
        let Some(old) = self.undo.now.replace(new.clone()).filter(|old| *old != new) else {
            return;
        };
        self.undo.future.clear();
        let continues = new.only_sliders_differ(&old)
            && self.undo.past.last().is_some_and(|before| old.only_sliders_differ(before));
        if !continues {
            if self.undo.past.len() >= MOST {
                self.undo.past.remove(0);
            }
            self.undo.past.push(old);
        }
    }

    pub(crate) fn undo(&mut self) {
        let Some(before) = self.undo.past.pop() else {
            return self.show_message("nothing to undo", false);
        };
        let now = Snapshot::new(self);
        let what = self.return_to(&before, &now);
        self.undo.future.push(now);
        self.show_message(&format!("undone: {what}"), false);
    }

    pub(crate) fn redo(&mut self) {
        let Some(after) = self.undo.future.pop() else {
            return self.show_message("nothing to redo", false);
        };
        let now = Snapshot::new(self);
        let what = self.return_to(&after, &now);
        self.undo.past.push(now);
        self.show_message(&format!("redone: {what}"), false);
    }

    /// Restores a state. Returns which part of the state has changed.
    fn return_to(&mut self, wanted: &Snapshot, now: &Snapshot) -> &'static str {
        if wanted.chosen != now.chosen {
            self.chosen.restore(wanted.chosen.clone());
        }
        if wanted.baseline != now.baseline {
            self.baseline.clone_from(&wanted.baseline);
            self.analysis.is_stale = true;
        }
        if wanted.sliders != now.sliders {
            self.trial.change(wanted.sliders.clone());
        }
        self.undo.now = Some(wanted.clone());
        if wanted.chosen != now.chosen {
            "selection"
        } else if wanted.baseline != now.baseline {
            "baseline"
        } else {
            "sliders"
        }
    }
}
