//! How cases come to run: prepared from what is picked, begun, stopped. None of it makes the screen wait.

use super::{App, many};
use crate::engine::Batch;
use crate::model::queue::Prepared;
use crate::ui::Panel;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

impl App {
    /// Runs new cases.
    pub(super) fn begin(&mut self, prepared: Prepared) {
        let focused = self.focus.and_then(|at| self.queue.rows().get(at)).map(|row| Arc::clone(&row.key));
        let new = self.queue.enqueue(prepared, self.now);
        self.focus = focused.and_then(|key| self.queue.rows().iter().position(|row| row.key == key));
        self.stale = true;
        if new.is_empty() {
            return self.tell("nothing to add: every case that is picked has its row; R runs them again", false);
        }
        let text = format!("{} to run", many(new.len(), "case"));
        self.tell_log(&text, false);
        self.tell(&text, false);
        if self.ui.panel == Panel::Explore {
            self.tell(&format!("{text}; 2 shows them"), false);
        }
        if let Some(before) = self.batch.replace(Batch::start(new, self.place.clone(), self.rows.clone())) {
            before.cancel();
            self.ending.push(before);
        }
    }

    /// Starts anew with what is picked.
    pub(crate) fn run(&mut self) {
        self.prepare(true);
    }

    /// Runs what is picked and not on screen yet.
    pub(crate) fn add(&mut self) {
        if self.queue.is_busy() {
            return self.tell("cases are running: wait, or stop them with x", true);
        }
        self.prepare(false);
    }

    /// Makes cases of what is picked, in a thread of its own.
    fn prepare(&mut self, anew: bool) {
        let (sender, receiver) = channel();
        let (picks, registry) = (self.picks.clone(), Arc::clone(&self.registry));
        let known = if anew { Vec::new() } else { self.queue.known() };
        let work = move || {
            let prepared = picks.cases(&registry).map(|cases| Prepared::new(cases, known));
            // A session that has ended meanwhile wants no cases.
            drop(sender.send((anew, prepared)));
        };
        match std::thread::Builder::new().name("preparation".to_owned()).spawn(work) {
            Ok(_) => self.preparing = Some(receiver),
            Err(error) => self.tell(&format!("no thread to prepare cases in: {error}"), true),
        }
    }

    /// Runs the cases that were prepared; true if there is something new to draw.
    pub(super) fn take_prepared(&mut self) -> bool {
        let Some(result) = self.preparing.as_ref().map(Receiver::try_recv) else { return false };
        if matches!(result, Err(TryRecvError::Empty)) {
            return false;
        }
        self.preparing = None;
        match result {
            Ok((anew, Ok(prepared))) => {
                if anew {
                    self.forget();
                }
                self.begin(prepared);
            }
            Ok((_, Err(reason))) => self.tell(&reason, true),
            Err(_) => self.tell("the picked cases can't be prepared", true),
        }
        true
    }

    /// Forgets all rows. To let go of many takes a while: that is for another thread, or, if there is none to be had, for this one.
    fn forget(&mut self) {
        let (rows, held_back) = (self.queue.clear(), std::mem::take(&mut self.held_back));
        (self.focus, self.recording) = (None, None);
        self.ui.cursors = [0; 8];
        drop(std::thread::Builder::new().spawn(move || drop((rows, held_back))));
    }

    /// Stops the cases that run and begins no more.
    pub(crate) fn stop(&mut self) {
        match &self.batch {
            Some(batch) if self.queue.is_busy() => {
                batch.cancel();
                self.tell("stopping: what runs is given up, no case begins any more", false);
            }
            _ => self.tell("nothing runs", false),
        }
    }
}
