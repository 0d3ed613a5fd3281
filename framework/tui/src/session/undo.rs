//! What a key changed, and how it was before.

use super::Session;
use super::selection::Picked;

/// Changes that can be taken back.
const MOST: usize = 100;

/// All that keys change and that is worth taking back: what is picked, what is compared with, what
/// is tried.
#[derive(Debug, Clone, PartialEq)]
struct Snapshot {
    picked: Picked,
    baseline: Option<String>,
    tried: (Vec<(&'static str, String)>, Option<u64>),
}

/// How it was before each change.
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

    /// The slider alone that differs.
    fn slid_since(&self, other: &Self) -> bool {
        (&self.picked, &self.baseline) == (&other.picked, &other.baseline)
            && self.tried != other.tried
    }
}

impl Session {
    /// Takes note of what has changed since this was asked last. A slider that is moved on and on
    /// is one change.
    pub(crate) fn note_change(&mut self) {
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

    /// Takes the last change back.
    pub(crate) fn undo(&mut self) {
        let Some(before) = self.undo.past.pop() else {
            return self.tell("nothing to take back", false);
        };
        let now = Snapshot::of(self);
        let what = if before.picked != now.picked {
            "what was picked"
        } else if before.baseline != now.baseline {
            "what others are compared with"
        } else {
            "the sliders"
        };
        if before.picked != now.picked {
            self.selection.take_back(before.picked.clone());
        }
        if before.baseline != now.baseline {
            self.baseline.clone_from(&before.baseline);
            self.analysis.is_stale = true;
        }
        if before.tried != now.tried {
            self.take_back(before.tried.clone());
        }
        self.undo.now = Some(before);
        self.tell(&format!("taken back: {what}"), false);
    }
}
