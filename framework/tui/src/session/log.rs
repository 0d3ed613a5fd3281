//! What plugins and the program had to say.

use std::time::Duration;

/// Lines of a plugin that can't stop talking.
const MOST: usize = 10_000;

/// A line of the log.
#[derive(Debug, Clone)]
pub(crate) struct LogLine {
    /// When, in the session's time.
    pub(crate) at: Duration,
    pub(crate) text: String,
    pub(crate) is_warning: bool,
}

/// The last lines of the log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Vec<LogLine>,
    /// How many lines there were before the first of these.
    dropped: usize,
}

impl Log {
    pub(crate) fn add(&mut self, at: Duration, text: &str, is_warning: bool) {
        if self.lines.len() >= MOST {
            self.lines.drain(..MOST / 10);
            self.dropped += MOST / 10;
        }
        let text = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.lines.push(LogLine { at, text, is_warning });
    }

    pub(crate) fn lines(&self) -> &[LogLine] {
        &self.lines
    }

    /// How many lines there were in all.
    pub(crate) fn written(&self) -> usize {
        self.dropped + self.lines.len()
    }
}
