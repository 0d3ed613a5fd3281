//! Lines of numbers between lines of something else, as benchmarks print them.

use super::{Wrong, wrong};

/// The numbers of a line: a whole one, then times.
pub(crate) struct Cells<'a> {
    line: usize,
    words: Vec<&'a str>,
}

impl<'a> Cells<'a> {
    /// Of a line that begins with a digit; `None` of any other.
    pub(crate) fn of(line: usize, text: &'a str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.first()?.starts_with(|c: char| c.is_ascii_digit()).then_some(Self { line, words })
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, at: usize) -> Option<&'a str> {
        self.words.get(at).copied()
    }

    /// The whole number at a place.
    pub(crate) fn whole(&self, at: usize, name: &str) -> Result<u64, Wrong> {
        self.parsed(at, name, "a whole number")
    }

    /// The time at a place: finite, not negative.
    pub(crate) fn time(&self, at: usize, name: &str) -> Result<f64, Wrong> {
        let time: f64 = self.parsed(at, name, "a time")?;
        if time.is_finite() && time >= 0.0 {
            return Ok(time);
        }
        Err(wrong(self.line, format!("{name} is `{time}`, expected a time")))
    }

    fn parsed<T: std::str::FromStr>(
        &self,
        at: usize,
        name: &str,
        expected: &str,
    ) -> Result<T, Wrong> {
        let word = self
            .word(at)
            .ok_or_else(|| wrong(self.line, format!("{name} is missing, expected {expected}")))?;
        word.parse()
            .map_err(|_| wrong(self.line, format!("{name} is `{word}`, expected {expected}")))
    }
}
