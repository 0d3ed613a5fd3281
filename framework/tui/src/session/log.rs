//! The log: messages of plugins and of the program.

use std::time::Duration;

const MOST: usize = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct LogLine {
    pub(crate) at: Duration,
    pub(crate) text: String,
    pub(crate) is_warning: bool,
    /// What the message is about, such as a case. Messages with the same text are counted.
    about: String,
    count: usize,
}

impl LogLine {
    pub(crate) fn in_words(&self) -> String {
        let about = if self.about.is_empty() { String::new() } else { format!("{}: ", self.about) };
        match self.count {
            1 => format!("{about}{}", self.text),
            count => format!("{about}{} (and {} more like this)", self.text, count - 1),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Vec<LogLine>,
    dropped: usize,
    /// The number of lines when the user last looked at the log.
    read: usize,
}

impl Log {
    /// Adds a message about something, such as a case, or counts it if the log already has the
    /// text.
    pub(crate) fn add(&mut self, at: Duration, about: &str, text: &str, is_warning: bool) {
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
        };
        let (about, text) = (plain(about), plain(text));
        if !about.is_empty()
            && let Some(line) =
                self.lines.iter_mut().find(|line| !line.about.is_empty() && line.text == text)
        {
            line.count += 1;
            return;
        }
        if self.lines.len() >= MOST {
            self.lines.drain(..MOST / 10);
            self.dropped += MOST / 10;
        }
        self.lines.push(LogLine { at, text, is_warning, about, count: 1 });
    }

    pub(crate) fn lines(&self) -> &[LogLine] {
        &self.lines
    }

    pub(crate) fn mark_read(&mut self) {
        self.read = self.written();
    }

    pub(crate) fn unread(&self) -> usize {
        self.written() - self.read
    }

    pub(crate) fn written(&self) -> usize {
        self.dropped + self.lines.len()
    }
}
