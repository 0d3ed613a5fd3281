//! What the user is told, on standard error. Nobody listening any more, or a full disk behind it,
//! is no reason to stop.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Says a line, formatted as by `println!`.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Says a line, in one write, so that lines of several processes don't mix.
pub(crate) fn line(text: Arguments<'_>) {
    written(&visible(&text.to_string()));
}

/// Says a text that has colours of ours.
pub(crate) fn styled(text: &str) {
    written(text);
}

fn written(text: &str) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// A text without what would make a terminal do more than show it: names of files and specs may
/// hold anything. As many bytes as before.
pub(crate) fn visible(text: &str) -> String {
    let shown = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
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
    fn a_terminal_is_told_nothing_but_text() {
        assert_eq!(visible("a\u{1b}[31mb\u{9b}c\r\n\td\u{7}é"), "a?[31mb??c?\n\td?é");
    }
}
