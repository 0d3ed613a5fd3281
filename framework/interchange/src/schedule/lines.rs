//! Parses the output of `trace --format json` while it is printed. Each line is the header, an
//! event or the outcome.

use super::{DocumentEvent, EventHandler, Header, Outcome};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// Maximum length of a line in bytes. Every event is one line. The longest events are sends that
/// list all destinations.
const MAX_LINE_BYTES: usize = 64 << 20;

/// A writer that parses a document line by line while the document is written to it, and passes the
/// contents to a handler. If the handler returns an error, the write fails.
pub struct LineParser<'a> {
    reader: &'a mut dyn EventHandler,
    /// The beginning of a line whose end has not been written yet.
    line: Vec<u8>,
    outcome: Option<Outcome>,
}

impl<'a> LineParser<'a> {
    /// Creates a parser for a document. The first write must begin with the first line of the
    /// document.
    pub fn new(reader: &'a mut dyn EventHandler) -> Self {
        Self { reader, line: Vec::new(), outcome: None }
    }

    /// Returns the outcome of the schedule. Call it after the whole document was written.
    pub fn outcome(self) -> Option<Outcome> {
        self.outcome
    }

    fn take(&mut self, text: &str) -> io::Result<()> {
        if let Some(head) = text.strip_prefix("{\"schedule\":") {
            let head: Header = parsed(head.strip_suffix(',').unwrap_or(head))?;
            head.check().map_err(io::Error::other)?;
            return self.reader.head(head).map_err(io::Error::other);
        }
        if let Some(outcome) = text.strip_prefix("\"outcome\":") {
            self.outcome = parsed(outcome.strip_suffix('}').unwrap_or(outcome))?;
            return Ok(());
        }
        if matches!(text, "\"events\":[" | "],") {
            return Ok(());
        }
        let event: DocumentEvent = parsed(text.strip_prefix(',').unwrap_or(text))?;
        self.reader.event(event).map_err(io::Error::other)
    }
}

fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> io::Result<T> {
    serde_json::from_str(text).map_err(io::Error::other)
}

impl Write for LineParser<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Case 1: there is no complete line. Store its beginning.
        let Some(end) = bytes.iter().rposition(|b| *b == b'\n') else {
            if self.line.len() + bytes.len() > MAX_LINE_BYTES {
                let limit = MAX_LINE_BYTES >> 20;
                return Err(io::Error::other(format!("a line of more than {limit} MiB")));
            }
            self.line.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        // Case 2: there are complete lines. Parse them without copying each of them.
        let mut lines = Cow::Borrowed(&bytes[..end]);
        if !self.line.is_empty() {
            let begin = std::mem::take(&mut self.line);
            lines = Cow::Owned([begin.as_slice(), &lines].concat());
        }
        let lines = std::str::from_utf8(&lines).map_err(io::Error::other)?;
        lines.split('\n').try_for_each(|line| self.take(line))?;
        Ok(end + 1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
