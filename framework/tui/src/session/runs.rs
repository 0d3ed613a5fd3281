//! How cases come to run: prepared from what is selected, begun, stopped; and how what happens to
//! them comes in. None of it makes the screen wait.

pub use super::batch::RowSink;
use super::batch::{Batch, Event};
use super::queue::Prepared;
use super::what_if::WhatIf;
use super::{Session, is_failure};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use swapmeet_results::{Record, Status, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::worker::Workers;

/// What runs, and where its rows go.
pub(crate) struct Runs {
    /// Whether the picture is held still: what happens meanwhile is held back.
    pub(crate) frozen: bool,
    held_back: Vec<Event>,
    batch: Option<Batch>,
    /// Cases on their way, from what is selected or from files.
    preparing: Option<Receiver<(Coming, Result<Prepared, String>)>>,
    /// Batches that were told to end, and write what they have: nobody waits for them but the
    /// session's end.
    ending: Vec<Batch>,
    pub(super) workers: Workers,
    rows: Option<RowSink>,
    /// The file that those rows are in.
    pub(crate) out: Option<PathBuf>,
    /// Whether all rows on screen were saved to some other file.
    pub(crate) saved: bool,
    /// Remarks of rows that the log has.
    remarks: HashSet<String>,
    some_failed: bool,
    unwritten: Option<String>,
}

/// How cases that are being prepared come to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coming {
    /// They are all there is to be on it.
    Anew,
    /// Beside those that are there.
    More,
    /// With their rows, which are in files.
    Opened,
}

impl Runs {
    pub(super) fn new(workers: Workers, rows: Option<RowSink>, out: Option<PathBuf>) -> Self {
        Self {
            frozen: false,
            held_back: Vec::new(),
            batch: None,
            preparing: None,
            ending: Vec::new(),
            workers,
            rows,
            out,
            saved: false,
            remarks: HashSet::new(),
            some_failed: false,
            unwritten: None,
        }
    }

    pub(super) fn is_moving(&self) -> bool {
        self.batch.is_some() || self.preparing.is_some()
    }

    /// Events that came while the picture was held still.
    pub(crate) fn held_back(&self) -> usize {
        self.held_back.len()
    }

    /// Whether some case went wrong, seen or not.
    pub(crate) fn some_failed(&self) -> bool {
        let failed =
            |event: &Event| matches!(event, Event::Finished(_, record) if is_failure(record));
        self.some_failed || self.held_back.iter().any(failed)
    }

    /// The first row that could not be written, and why.
    pub(crate) fn unwritten(&self) -> Option<&str> {
        self.unwritten.as_deref()
    }
}

impl Session {
    /// Runs what it is to begin with, but for what has its row.
    pub(super) fn begin_with(&mut self, cases: Vec<Case>, found: Vec<Option<Record>>) {
        self.runs.some_failed = found.iter().flatten().any(is_failure);
        let count = found.iter().flatten().count();
        self.begin(Prepared::new(cases, Vec::new()).with_found(found));
        if count > 0 {
            self.note(&format!("{} of an earlier run taken up", units::count(count, "row")), false);
        }
    }

    fn begin(&mut self, prepared: Prepared) {
        let focused =
            self.focus.and_then(|at| self.queue.rows().get(at)).map(|row| Arc::clone(&row.key));
        let new = self.queue.enqueue(prepared, self.now);
        self.focus =
            focused.and_then(|key| self.queue.rows().iter().position(|row| row.key == key));
        self.analysis.is_stale = true;
        if new.is_empty() {
            return self.tell(
                "nothing to add: every case that is picked has its row; R runs them again",
                false,
            );
        }
        let text = format!("{} to run", units::count(new.len(), "case"));
        self.note(&text, false);
        self.tell(&text, false);
        let batch = Batch::start(new, self.runs.workers.clone(), self.runs.rows.clone());
        if let Some(before) = self.runs.batch.replace(batch) {
            before.cancel();
            self.runs.ending.push(before);
        }
    }

    /// Starts anew with what is selected.
    pub(crate) fn run(&mut self) {
        self.prepare(Coming::Anew);
    }

    /// Runs what is selected and not on screen yet.
    pub(crate) fn add(&mut self) {
        if self.queue.is_busy() {
            return self.tell("cases are running: wait, or stop them with x", true);
        }
        self.prepare(Coming::More);
    }

    /// Makes cases of what is selected.
    fn prepare(&mut self, coming: Coming) {
        let (selection, registry) = (self.selection.clone(), Arc::clone(&self.registry));
        let known = if coming == Coming::Anew { Vec::new() } else { self.queue.known() };
        self.prepare_with(coming, move || {
            selection.cases(&registry).map(|cases| Prepared::new(cases, known))
        });
    }

    /// Shows rows of files.
    pub(super) fn open(&mut self, records: Vec<Record>) {
        self.runs.some_failed = records.iter().any(is_failure);
        let registry = Arc::clone(&self.registry);
        self.prepare_with(Coming::Opened, move || Ok(Prepared::opened(records, &registry)));
    }

    /// Makes cases in a thread of its own.
    fn prepare_with(
        &mut self,
        coming: Coming,
        make: impl FnOnce() -> Result<Prepared, String> + Send + 'static,
    ) {
        let (sender, receiver) = channel();
        // A session that has ended meanwhile wants no cases.
        let work = move || drop(sender.send((coming, make())));
        match std::thread::Builder::new().name("preparation".to_owned()).spawn(work) {
            Ok(_) => self.runs.preparing = Some(receiver),
            Err(error) => self.tell(&format!("no thread to prepare cases in: {error}"), true),
        }
    }

    /// Runs the cases that were prepared; true if there is something new to draw.
    pub(super) fn take_prepared(&mut self) -> bool {
        let Some(result) = self.runs.preparing.as_ref().map(Receiver::try_recv) else {
            return false;
        };
        if matches!(result, Err(TryRecvError::Empty)) {
            return false;
        }
        self.runs.preparing = None;
        match result {
            Ok((Coming::Anew, Ok(prepared))) => {
                self.forget();
                self.begin(prepared);
            }
            Ok((Coming::More, Ok(prepared))) => self.begin(prepared),
            Ok((Coming::Opened, Ok(prepared))) => {
                let text = format!("{} opened", units::count(prepared.len(), "row"));
                self.queue.enqueue(prepared, self.now);
                (self.analysis.is_stale, self.runs.saved) = (true, true);
                self.note(&text, false);
                self.tell(&text, false);
            }
            Ok((_, Err(reason))) => self.tell(&reason, true),
            Err(_) => self.tell("the picked cases can't be prepared", true),
        }
        true
    }

    /// Forgets all rows. To let go of many takes a while: that is for another thread, or, if there
    /// is none to be had, for this one.
    fn forget(&mut self) {
        let (rows, held_back) = (self.queue.clear(), std::mem::take(&mut self.runs.held_back));
        (self.focus, self.recording, self.group) = (None, None, 0);
        (self.what_if, self.beside) = (WhatIf::default(), None);
        drop(std::thread::Builder::new().spawn(move || drop((rows, held_back))));
    }

    /// Stops the cases that run and begins no more.
    pub(crate) fn stop(&mut self) {
        match &self.runs.batch {
            Some(batch) if self.queue.is_busy() => {
                batch.cancel();
                self.tell("stopping: what runs is given up, no case begins any more", false);
            }
            _ => self.tell("nothing runs", false),
        }
    }

    /// Whether cases are still to run.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.runs.batch.is_some() && self.queue.is_busy()
    }

    /// Takes in what happened to cases; true if anything did.
    pub(super) fn take_events(&mut self) -> bool {
        /// Events taken in for one picture: the rest is for the next.
        const AT_ONCE: usize = 20_000;
        let mut news = false;
        for _ in 0..AT_ONCE {
            let Some(event) = self.runs.batch.as_ref().and_then(Batch::try_next) else { break };
            let done = matches!(event, Event::Done);
            if self.runs.frozen {
                self.runs.held_back.push(event);
            } else {
                self.apply(event);
            }
            news = true;
            if done {
                let over = self.runs.batch.take();
                self.runs.ending.extend(over);
            }
        }
        self.runs.ending.retain(|batch| !batch.is_over());
        news
    }

    /// Lets the picture move again.
    pub(crate) fn thaw(&mut self) {
        self.runs.frozen = false;
        for event in std::mem::take(&mut self.runs.held_back) {
            self.apply(event);
        }
    }

    fn apply(&mut self, event: Event) {
        match &event {
            Event::Log(text) => {
                if text.starts_with("error: writing") && self.runs.unwritten.is_none() {
                    self.runs.unwritten = Some(text.clone());
                    self.tell(text, true);
                }
                self.note(text, true);
            }
            Event::Finished(_, record) => {
                self.runs.some_failed |= is_failure(record);
                self.runs.saved = false;
                self.analysis.is_stale = true;
                self.note_remarks(record);
            }
            Event::Done => self.tell_outcome(),
            Event::Started(_) | Event::Progress(..) => {}
        }
        self.queue.apply(event, self.now);
    }

    /// What a row says in words goes into the log. What can't be done can't for most workloads and
    /// machines, and is said once.
    fn note_remarks(&mut self, record: &Record) {
        let case = match record.status {
            Status::Unsupported => format!("{} on {}", record.algorithm, record.topology),
            _ => self.queue.in_words(record),
        };
        for remark in [&record.reason, &record.note].into_iter().filter(|remark| !remark.is_empty())
        {
            let text = format!("{case}: {remark}");
            if self.runs.remarks.insert(text.clone()) {
                self.note(&text, record.status != Status::Ok);
            }
        }
    }

    fn tell_outcome(&mut self) {
        // What waits or runs even now was stopped.
        self.queue.stop();
        let tally = self.queue.tally();
        let count =
            |n: usize, word: &str| if n > 0 { format!(", {n} {word}") } else { String::new() };
        let left_out = count(tally.unsupported, "unsupported");
        let (bad, stopped) = (count(tally.failed, "failed"), count(tally.stopped, "stopped"));
        let text =
            format!("done: {} verified{left_out}{bad}{stopped}", units::count(tally.ok, "case"));
        self.tell(&text, tally.failed > 0);
        self.note(&text, tally.failed > 0);
    }
}
