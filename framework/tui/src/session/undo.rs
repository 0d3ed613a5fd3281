//! Undo of user changes.

use super::Session;
use super::selection::SelectionState;

/// The maximum number of changes that can be undone.
const MOST: usize = 100;

/// The state that can be undone: selection, baseline and sliders.
#[derive(Debug, Clone, PartialEq)]
struct Snapshot {
    picked: SelectionState,
    baseline: Option<String>,
    tried: (Vec<(&'static str, String)>, Option<u64>),
}

/// Snapshots before each change.
#[derive(Debug, Default)]
pub(super) struct Undo {
    past: Vec<Snapshot>,
    now: Option<Snapshot>,
}

impl Snapshot {
    fn of(session: &Session) -> Self {
        let (picked, tried) = (session.selection.picked(), session.what_if.changes());
        Self { picked, baseline: session.baseline.clone(), tried }
    }

    /// Returns whether only the sliders differ.
    fn slid_since(&self, other: &Self) -> bool {
        (&self.picked, &self.baseline) == (&other.picked, &other.baseline)
            && self.tried != other.tried
    }
}

impl Session {
    /// Records the changes since the last call. Consecutive movements of sliders count as one
    /// change.
    pub(crate) fn record_change(&mut self) {
        let new = Snapshot::of(self);
        let Some(old) = self.undo.now.replace(new.clone()).filter(|old| *old != new) else {
            return;
        };
        let slides_on = new.slid_since(&old)
            && self.undo.past.last().is_some_and(|before| old.slid_since(before));
        if !slides_on {
            if self.undo.past.len() >= MOST {
                self.undo.past.remove(0);
            }
            self.undo.past.push(old);
        }
    }

    /// Undoes the last change.
    pub(crate) fn undo(&mut self) {
        let Some(before) = self.undo.past.pop() else {
            return self.show_message("nothing to undo", false);
        };
        let now = Snapshot::of(self);
        let what = if before.picked != now.picked {
            "selection"
        } else if before.baseline != now.baseline {
            "baseline"
        } else {
            "sliders"
        };
        if before.picked != now.picked {
            self.selection.restore(before.picked.clone());
        }
        if before.baseline != now.baseline {
            self.baseline.clone_from(&before.baseline);
            self.analysis.is_stale = true;
        }
        if before.tried != now.tried {
            self.restore(before.tried.clone());
        }
        self.undo.now = Some(before);
        self.show_message(&format!("undone: {what}"), false);
    }
}
