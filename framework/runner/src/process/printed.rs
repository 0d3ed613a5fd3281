//! The output that a worker prints. The first lines of each job are kept for the log, and the last
//! line is kept for the row of a case that crashes the worker.
//!
//! All output is read, so that a full pipe never blocks the worker.

use super::lines::Lines;
use crate::plugin_output::is_uninformative;
use std::collections::VecDeque;
use swapmeet_core::text::is_unsafe;

/// The line that a worker prints at the end of a job. All output before this line belongs to this
/// job or to an earlier one.
pub(crate) const MARK: &str = "\u{1}end of job\u{1}";

/// The part of a worker's output that is kept.
#[derive(Default)]
pub(crate) struct Printed {
    bytes: Lines,
    /// Lines for the log that have not been returned yet.
    waiting: VecDeque<String>,
    /// Number of lines printed during the job.
    lines: u32,
    /// The last printed line that is not part of a backtrace.
    last: String,
    /// Number of marks that have arrived and that `take_mark` has not used up.
    marks: u32,
}

impl Printed {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        /// Maximum length of a line. Longer lines are split.
        const LONGEST: usize = 4096;
        self.bytes.push(bytes);
        while let Some(line) = self.bytes.next_within(LONGEST) {
            self.line(&line);
        }
    }

    /// Processes the incomplete last line when the output has ended.
    pub(crate) fn end(&mut self) {
        let held = self.bytes.held();
        if let Some(line) = (held > 0).then(|| self.bytes.next_within(held)).flatten() {
            self.line(&line);
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        /// Maximum number of lines of one job in the log. The last of them is the note that further
        /// output is omitted.
        const MOST: u32 = 20;
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end();
        let (text, is_mark) =
            text.strip_suffix(MARK).map_or((text, false), |before| (before, true));
        let line: String = text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect();
        if is_mark {
            self.marks = self.marks.saturating_add(1);
            if line.is_empty() {
                return;
            }
        }
        self.lines = self.lines.saturating_add(1);
        match self.lines {
            lines if lines < MOST => self.waiting.push_back(line.clone()),
            MOST => self.waiting.push_back("(further output is omitted)".to_owned()),
            _ => {}
        }
        if !is_uninformative(&line) {
            self.last = line;
        }
    }

    /// Resets the counts and the last line for a new job.
    pub(crate) fn begin(&mut self) {
        self.lines = 0;
        self.last.clear();
    }

    /// Returns the next line for the log.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }

    /// Returns whether the mark of a job has arrived. Each call that returns true uses up one mark.
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
        assert_eq!((kept.len(), kept[19].as_str()), (20, "(further output is omitted)"));
        assert_eq!(printed.last_words(), "line 999999");
    }
}
