//! A document as `trace --format json` prints it, taken in while it is printed: a line is the head,
//! an event or the outcome.

use super::{Event, Head, Outcome, Reader};
use serde::Deserialize;
use std::io::{self, Write};

/// Hands a printed document on to a reader, line by line. What the reader refuses fails the write.
pub struct Lines<'a> {
    reader: &'a mut dyn Reader,
    line: Vec<u8>,
    outcome: Option<Outcome>,
}

impl<'a> Lines<'a> {
    /// Nothing printed yet.
    pub fn new(reader: &'a mut dyn Reader) -> Self {
        Self { reader, line: Vec::new(), outcome: None }
    }

    /// What came of the schedule, once it is printed.
    pub fn outcome(self) -> Option<Outcome> {
        self.outcome
    }

    fn take(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let text = std::str::from_utf8(&line).map_err(io::Error::other)?;
        if let Some(head) = text.strip_prefix("{\"schedule\":") {
            let head: Head = parsed(head.strip_suffix(',').unwrap_or(head))?;
            return head.check().and_then(|()| self.reader.head(head)).map_err(io::Error::other);
        }
        if let Some(outcome) = text.strip_prefix("\"outcome\":") {
            self.outcome = parsed(outcome.strip_suffix('}').unwrap_or(outcome))?;
            return Ok(());
        }
        if matches!(text, "\"events\":[" | "],") {
            return Ok(());
        }
        let event: Event = parsed(text.strip_prefix(',').unwrap_or(text))?;
        self.reader.event(event).map_err(io::Error::other)
    }
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> io::Result<T> {
    serde_json::from_str(text).map_err(io::Error::other)
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().position(|b| *b == b'\n') {
            Some(end) => {
                self.line.extend_from_slice(&bytes[..end]);
                self.take()?;
                Ok(end + 1)
            }
            None => {
                self.line.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
