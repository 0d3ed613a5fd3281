//! Errors in user input, with their position in a file or flag.

use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pub value: String,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    pub source: String,
    pub content: std::sync::Arc<str>,
    pub span: Range<usize>,
    pub is_file: bool,
}

impl Text {
    pub fn flag(flag: &str, value: &str) -> Self {
        let place = Place {
            source: flag.to_owned(),
            content: value.into(),
            span: 0..value.len(),
            is_file: false,
        };
        Self { value: value.to_owned(), place }
    }

    pub fn error(&self, message: impl Into<String>) -> InputError {
        InputError { place: self.place.clone(), message: message.into(), help: None }
    }

    /// Returns an error that marks `len` bytes from byte `at` on. If the text was expanded from a
    /// range, marks all of it.
    pub fn error_at(&self, at: usize, len: usize, message: impl Into<String>) -> InputError {
        if !self.place.content[self.place.span.clone()].contains(&self.value) {
            return self.error(message);
        }
        let mut place = self.place.clone();
        // In a file, the span includes the quotes. Bytes can be counted, because valid specs
        // contain no escape sequences.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    pub place: Place,
    pub message: String,
    pub help: Option<String>,
}

impl InputError {
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the similar names in `near` as help. If there are none, adds `otherwise`.
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
