//! What a worker prints: a few lines of each job for the log, and the last one for the row of a
//! case that took the worker with it.
//!
//! All of it is read, so that a full pipe never stops a worker, and little is kept, so that
//! printing without end costs nothing.

use super::lines::Lines;
use crate::plugin_output::is_backtrace;
use std::collections::VecDeque;

/// What a worker prints when a job is done: all that came before is of that job, or an earlier one.
pub(crate) const MARK: &str = "\u{1}end of job\u{1}";

/// What came from the pipe that a worker prints to.
#[derive(Default)]
pub(crate) struct Printed {
    bytes: Lines,
    /// Lines for the log, not taken yet.
    waiting: VecDeque<String>,
    /// Lines printed during the job.
    lines: u32,
    /// The last of them that says anything.
    last: String,
    /// Marks that nobody has waited for.
    marks: u32,
}

impl Printed {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        /// A line is what ends in a line feed, in whatever encoding, or is very long.
        const LONGEST: usize = 4096;
        self.bytes.push(bytes);
        while let Some(line) = self.bytes.next_within(LONGEST) {
            self.line(&line);
        }
    }

    /// No more will come.
    pub(crate) fn end(&mut self) {
        let held = self.bytes.held();
        if let Some(line) = (held > 0).then(|| self.bytes.next_within(held)).flatten() {
            self.line(&line);
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        /// Lines of a job that anybody wants to see.
        const MOST: u32 = 20;
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end();
        let (text, is_mark) =
            text.strip_suffix(MARK).map_or((text, false), |before| (before, true));
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if is_mark {
            self.marks = self.marks.saturating_add(1);
            if line.is_empty() {
                return;
            }
        }
        self.lines = self.lines.saturating_add(1);
        match self.lines {
            lines if lines < MOST => self.waiting.push_back(line.clone()),
            MOST => self.waiting.push_back("(what more is printed is left out)".to_owned()),
            _ => {}
        }
        if !is_backtrace(&line) {
            self.last = line;
        }
    }

    /// A new job begins.
    pub(crate) fn begin(&mut self) {
        self.lines = 0;
        self.last.clear();
    }

    /// The next line for the log.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }

    /// Whether all that was printed during a job has come; once for each job.
    pub(crate) fn take_mark(&mut self) -> bool {
        let marked = self.marks > 0;
        self.marks = self.marks.saturating_sub(1);
        marked
    }

    pub(crate) fn last_words(&self) -> &str {
        &self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_lines_are_twenty_and_the_last() {
        let mut printed = Printed::default();
        for i in 0..1_000_000 {
            printed.push(format!("line {i}\n").as_bytes());
        }
        let kept: Vec<String> = std::iter::from_fn(|| printed.next()).collect();
        assert_eq!((kept.len(), kept[19].as_str()), (20, "(what more is printed is left out)"));
        assert_eq!(printed.last_words(), "line 999999");
    }
}
