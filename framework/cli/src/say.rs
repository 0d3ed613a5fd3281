//! What the user is told, on standard error. Nobody listening any more, or a full disk behind it, is no reason to stop.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Says a line, formatted as by `println!`.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Says a line, in one write, so that lines of several processes don't mix.
pub(crate) fn line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
