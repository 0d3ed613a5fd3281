//! Messages on standard error. If they cannot be written, the program continues.

use crate::streams;
use std::fmt::Arguments;
use std::io::Write;
use swapmeet_core::text::{is_unsafe, shortened};

macro_rules! say {
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Prints a line with a single write, so that lines of several processes do not mix.
pub(crate) fn line(text: Arguments<'_>) {
    written(&visible(&shortened(&text.to_string())));
}

pub(crate) fn styled(text: &str) {
    written(text);
}

fn written(text: &str) {
    let _ = streams::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Replaces control characters, which could change the terminal, by others of the same length.
pub(crate) fn visible(text: &str) -> String {
    let shown = |c: char| !is_unsafe(c) || matches!(c, '\n' | '\t');
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if shown(c) {
            out.push(c);
        } else {
            (0..c.len_utf8()).for_each(|_| out.push('?'));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(visible("a\u{1b}[31mb\u{9b}c\r\n\td\u{7}é"), "a?[31mb??c?\n\td?é");
        assert_eq!(visible("a\u{202e}b"), "a???b");
    }
}
