//! Bad input, with the place where it stands: every error about a file, a flag or a spec ends here.

use std::fmt;
use std::ops::Range;

/// Text that the user wrote, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub value: String,
    pub place: Place,
}

/// Where a text stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or the flag.
    pub source: String,
    /// All of the file, or the flag's value.
    pub content: std::sync::Arc<str>,
    /// Which bytes of it are meant.
    pub span: Range<usize>,
    /// Whether it is a file, whose lines count.
    pub is_file: bool,
}

impl Text {
    /// The value of a flag.
    pub fn flag(flag: &str, value: &str) -> Self {
        let place = Place {
            source: flag.to_owned(),
            content: value.into(),
            span: 0..value.len(),
            is_file: false,
        };
        Self { value: value.to_owned(), place }
    }

    /// An error about all of this text.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        InputError { place: self.place.clone(), message: message.into(), help: None }
    }

    /// An error about `len` bytes of this text, from byte `at`; about all of it where it is not as
    /// the user wrote it, but one of a range.
    pub fn error_at(&self, at: usize, len: usize, message: impl Into<String>) -> InputError {
        if !self.place.content[self.place.span.clone()].contains(&self.value) {
            return self.error(message);
        }
        let mut place = self.place.clone();
        // In a file the span takes in the quotes; escapes would shift what follows, but no spec has
        // any.
        let quote = usize::from(
            place.is_file && place.content[place.span.clone()].starts_with(['"', '\'']),
        );
        let start = (place.span.start + quote + at).min(place.span.end);
        let end = (start + len.max(1)).min(place.span.end).max(start);
        let whole = |i: usize| place.content.is_char_boundary(i);
        if whole(start) && whole(end) {
            place.span = start..end;
        }
        InputError { place, message: message.into(), help: None }
    }
}

/// Something the user wrote that can't be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
    pub help: Option<String>,
}

impl InputError {
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With near matches, if there are any; else with `otherwise`, if that says anything.
    #[must_use]
    pub fn near(self, near: &[String], otherwise: &str) -> Self {
        match near {
            [] if otherwise.is_empty() => self,
            [] => self.help(otherwise),
            near => {
                let names: Vec<String> = near.iter().map(|n| format!("`{n}`")).collect();
                self.help(format!("did you mean {}?", names.join(" or ")))
            }
        }
    }

    /// Line and column from 1, where the place is in a file.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        self.place.is_file.then(|| {
            let before = &self.place.content[..self.place.span.start];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            (line, column)
        })
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place.source)?;
        if let Some((line, column)) = self.line_and_column() {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for InputError {}
