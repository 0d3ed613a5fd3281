//! The log: messages of plugins and of the program.

use std::time::Duration;

const MOST: usize = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct LogLine {
    pub(crate) at: Duration,
    pub(crate) text: String,
    pub(crate) is_warning: bool,
}

/// The log. It keeps only the latest lines.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Vec<LogLine>,
    dropped: usize,
    /// The number of lines that had been written when the user last looked at the log.
    read: usize,
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

    pub(crate) fn mark_read(&mut self) {
        self.read = self.written();
    }

    /// Returns the number of lines that were written since the user last looked at the log.
    pub(crate) fn unread(&self) -> usize {
        self.written() - self.read
    }

    pub(crate) fn written(&self) -> usize {
        self.dropped + self.lines.len()
    }
}
