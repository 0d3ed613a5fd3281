//! What a worker prints: a few lines of each job for the log, and the last one for the row of a case that took the worker with it.
//!
//! A thread reads all of it, so that a full pipe never stops a worker, and keeps little, so that printing without end costs nothing.

use crate::words::is_backtrace;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a worker prints when a job is done: all that came before is of that job, or an earlier one.
pub(super) const MARK: &str = "\u{1}end of job\u{1}";

/// The end of the pipe that a worker prints to.
pub(super) struct Printed(Arc<Shared>);

#[derive(Default)]
struct Shared {
    heard: Mutex<Heard>,
    changed: Condvar,
}

#[derive(Default)]
struct Heard {
    /// Lines for the log, not taken yet.
    waiting: VecDeque<String>,
    /// Lines printed during the job.
    lines: u32,
    /// The last of them that says anything.
    last: String,
    /// Marks that nobody has waited for.
    marks: u32,
    /// Nobody holds the other end any more.
    ended: bool,
    /// Nobody listens any more.
    unwanted: bool,
}

impl Printed {
    /// Reads a pipe until its other end is closed or nobody listens.
    pub(super) fn read(pipe: PipeReader) -> Self {
        /// A line is what ends in a line feed, in whatever encoding, or is very long.
        const LONGEST: u64 = 4096;
        let shared = Arc::new(Shared::default());
        let teller = Arc::clone(&shared);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            let mut line = Vec::new();
            while matches!(reader.by_ref().take(LONGEST).read_until(b'\n', &mut line), Ok(n) if n > 0) {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end();
                let (text, is_mark) = text.strip_suffix(MARK).map_or((text, false), |before| (before, true));
                let text = text.chars().map(visible).collect();
                line.clear();
                if !teller.hear(text, is_mark) {
                    // The worker is no more: whoever else prints here was started by a plugin, and is told by the closed pipe.
                    return;
                }
            }
            teller.lock().ended = true;
            teller.changed.notify_all();
        });
        Self(shared)
    }

    /// A new job begins.
    pub(super) fn begin(&self) {
        let mut heard = self.0.lock();
        heard.lines = 0;
        heard.last.clear();
    }

    /// The next line for the log.
    pub(super) fn next(&self) -> Option<String> {
        self.0.lock().waiting.pop_front()
    }

    /// Waits until all that was printed during a job has come; false if the worker doesn't say so, because a plugin has closed or moved its output.
    pub(super) fn wait_for_mark(&self) -> bool {
        const ENOUGH: Duration = Duration::from_secs(1);
        let heard = self.0.changed.wait_timeout_while(self.0.lock(), ENOUGH, |heard| heard.marks == 0);
        let mut heard = heard.unwrap_or_else(PoisonError::into_inner).0;
        let marked = heard.marks > 0;
        heard.marks = heard.marks.saturating_sub(1);
        marked
    }

    /// The last line of a worker that has ended. It may be on its way still, and a process that the plugin started may print for ever.
    pub(super) fn last_words(&self) -> String {
        const ENOUGH: Duration = Duration::from_millis(200);
        let heard = self.0.changed.wait_timeout_while(self.0.lock(), ENOUGH, |heard| !heard.ended);
        heard.unwrap_or_else(PoisonError::into_inner).0.last.clone()
    }
}

impl Drop for Printed {
    fn drop(&mut self) {
        self.0.lock().unwanted = true;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line has come; whether more are wanted.
    fn hear(&self, line: String, is_mark: bool) -> bool {
        /// Lines of a job that anybody wants to see.
        const MOST: u32 = 20;
        let mut heard = self.lock();
        if is_mark {
            heard.marks = heard.marks.saturating_add(1);
            self.changed.notify_all();
            if line.is_empty() {
                return !heard.unwanted;
            }
        }
        heard.lines = heard.lines.saturating_add(1);
        match heard.lines {
            lines if lines < MOST => heard.waiting.push_back(line.clone()),
            MOST => heard.waiting.push_back("(what more is printed is left out)".to_owned()),
            _ => {}
        }
        if !is_backtrace(&line) {
            heard.last = line;
        }
        !heard.unwanted
    }
}

fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}
