//! Parses the lines of results in the output of benchmarks. Lines of this kind begin with a number.

use super::{ParseError, error_at};
use swapmeet_core::text::excerpt;

/// The numbers of a line. The first number is an integer, and the remaining numbers are times.
pub(crate) struct NumericLine<'a> {
    line: usize,
    words: Vec<&'a str>,
}

impl<'a> NumericLine<'a> {
    /// Parses a line that begins with a digit; `None` for any other line.
    pub(crate) fn parse(line: usize, text: &'a str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.first()?.starts_with(|c: char| c.is_ascii_digit()).then_some(Self { line, words })
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, at: usize) -> Option<&'a str> {
        self.words.get(at).copied()
    }

    pub(crate) fn whole(&self, at: usize, name: &str) -> Result<u64, ParseError> {
        self.parsed(at, name, "a whole number")
    }

    /// Returns the time at this index of the line. A time must be finite and not negative.
    pub(crate) fn time(&self, at: usize, name: &str) -> Result<f64, ParseError> {
        let time: f64 = self.parsed(at, name, "a time")?;
        if time.is_finite() && time >= 0.0 {
            return Ok(time);
        }
        Err(error_at(self.line, format!("{name} is `{time}`, expected a time")))
    }

    fn parsed<T: std::str::FromStr>(
        &self,
        at: usize,
        name: &str,
        expected: &str,
    ) -> Result<T, ParseError> {
        let word = self.word(at).ok_or_else(|| {
            error_at(self.line, format!("{name} is missing, expected {expected}"))
        })?;
        word.parse().map_err(|_| {
            error_at(self.line, format!("{name} is `{}`, expected {expected}", excerpt(word)))
        })
    }
}
