//! Undo of the selection, the baseline and the sliders.

use super::Session;
use super::chosen::ChosenState;
use super::trial::Changes;

const MOST: usize = 100;

/// The state that undo restores.
#[derive(Debug, Clone, PartialEq)]
struct Snapshot {
    chosen: ChosenState,
    baseline: Option<String>,
    sliders: Changes,
}

#[derive(Debug, Default)]
pub(super) struct Undo {
    past: Vec<Snapshot>,
    /// The states that undo has replaced, the last one at the end.
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
    /// Records a change since the last call, if there is one. Consecutive changes of sliders are
    /// one change.
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

    /// Undoes the last change, or redoes the change that was undone last.
    pub(crate) fn undo(&mut self, redoes: bool) {
        let Undo { past, future, .. } = &mut self.undo;
        let (from, verb, done) =
            if redoes { (future, "redo", "redone") } else { (past, "undo", "undone") };
        let Some(wanted) = from.pop() else {
            return self.show_message(&format!("nothing to {verb}"), false);
        };
        let (now, mut what) = (Snapshot::new(self), "sliders");
        self.trial.changes = wanted.sliders.clone();
        if wanted.baseline != now.baseline {
            self.baseline.clone_from(&wanted.baseline);
            (self.analysis.is_stale, what) = (true, "baseline");
        }
        if wanted.chosen != now.chosen {
            self.chosen.restore(wanted.chosen.clone());
            what = "selection";
        }
        self.undo.now = Some(wanted);
        let to = if redoes { &mut self.undo.past } else { &mut self.undo.future };
        to.push(now);
        self.show_message(&format!("{done}: {what}"), false);
    }
}
