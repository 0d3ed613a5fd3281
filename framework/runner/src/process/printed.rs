use crate::plugin_output::is_uninformative;
use std::collections::VecDeque;
use swapmeet_core::text::is_unsafe;

/// Received lines that have not been returned. After a line, a block of bytes may follow instead of
/// another line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// No byte before this index is a line feed.
    searched: usize,
    /// The number of bytes of the block that precedes the next line, or 0.
    block: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn expect_block(&mut self, bytes: usize) {
        (self.block, self.searched) = (bytes, 0);
    }

    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.block > 0 {
            let block = (self.bytes.len() >= self.block).then_some(self.block)?;
            self.block = 0;
            return Some(self.bytes.drain(..block).collect());
        }
        let Some(end) = self.bytes[self.searched..].iter().position(|b| *b == b'\n') else {
            self.searched = self.bytes.len();
            return None;
        };
        let line = self.bytes.drain(..=self.searched + end).collect();
        self.searched = 0;
        Some(line)
    }

    /// Returns the next complete line. If there is none, but at least `longest` bytes of an
    /// incomplete line, returns `longest` bytes of it.
    pub(crate) fn next_within(&mut self, longest: usize) -> Option<Vec<u8>> {
        self.next().or_else(|| {
            (self.bytes.len() >= longest).then(|| {
                self.searched = 0;
                self.bytes.drain(..longest).collect()
            })
        })
    }

    pub(crate) fn held(&self) -> usize {
        self.bytes.len()
    }
}

// The output of a worker. The first lines of each job are written to the log. If a case crashes the
// worker, its row contains the last line. All output is read, so that the worker is never blocked
// by a full pipe.

/// The line that ends the output of a job. Output before it belongs to this job or an earlier one.
pub(crate) const MARK: &str = "\u{1}end of job\u{1}";

#[derive(Default)]
pub(crate) struct Printed {
    bytes: Lines,
    waiting: VecDeque<String>,
    lines: u32,
    /// The last printed line that is not part of a backtrace.
    last: String,
    /// Number of marks that have arrived and for which `take_mark` has not yet returned true.
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

    /// Processes the last line when the output has ended, even if it is incomplete.
    pub(crate) fn end(&mut self) {
        let held = self.bytes.held();
        if let Some(line) = (held > 0).then(|| self.bytes.next_within(held)).flatten() {
            self.line(&line);
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        /// Maximum number of lines of a job in the log. If there is more output, the last of these
        /// lines says that the rest is omitted.
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

    pub(crate) fn begin(&mut self) {
        self.lines = 0;
        self.last.clear();
    }

    pub(crate) fn next(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }

    /// Returns whether the mark of a job has arrived. Each mark makes only one call return true.
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
    fn lines_are_complete_however_they_are_split() {
        let text = b"one\n\ntwo and a half\nthr";
        for cut in 1..text.len() {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for piece in text.chunks(cut) {
                lines.push(piece);
                found.extend(std::iter::from_fn(|| lines.next()));
            }
            assert_eq!(found, [&b"one\n"[..], b"\n", b"two and a half\n"], "pieces of {cut}");
            assert_eq!(lines.held(), 3);
        }
    }

    #[test]
    fn a_block_may_contain_line_ends() {
        for cut in 1..8 {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for piece in b"a\nb\n\nc\nd\n".chunks(cut) {
                lines.push(piece);
                while let Some(item) = lines.next() {
                    if found.is_empty() {
                        lines.expect_block(4);
                    }
                    found.push(item);
                }
            }
            assert_eq!(found, [&b"a\n"[..], b"b\n\nc", b"\n", b"d\n"], "pieces of {cut}");
        }
    }

    #[test]
    fn a_line_without_an_end_comes_in_pieces() {
        let mut lines = Lines::default();
        lines.push(b"ab\nabcdefg");
        let pieces: Vec<_> = std::iter::from_fn(|| lines.next_within(3)).collect();
        assert_eq!(pieces, [&b"ab\n"[..], b"abc", b"def"]);
    }

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
