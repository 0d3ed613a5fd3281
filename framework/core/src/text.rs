//! Text from plugins, workers, files and users, which may contain any characters. Each text is
//! escaped once, when it is read. Afterwards it can be printed, written and quoted anywhere.

use std::borrow::Cow;
use std::path::Path;

const EXCERPT: usize = 80;

/// The maximum number of characters of a message. A plugin's reason has at most 4,000.
const MESSAGE: usize = 5000;

/// Returns whether a character can change how the text around it is shown. These are control
/// characters, line and paragraph separators, and those that control the direction of the text.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text as one line, in which each unsafe character is replaced by a Rust escape such
/// as `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    Cow::Owned(line)
}

/// Returns a text of several lines, each of which is escaped as by [`escaped`].
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    // Most texts are ASCII. Counting bytes is vectorised, and much faster than decoding.
    let is_other = |byte: &u8| !matches!(byte, b'\n' | b' '..=b'~');
    if text.as_bytes().iter().filter(|byte| is_other(byte)).count() == 0
        || !text.contains(|c| c != '\n' && is_unsafe(c))
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(escaped).collect::<Vec<_>>().join("\n"))
}

/// Returns a path as text that can be printed.
pub fn escaped_path(path: &Path) -> String {
    escaped(&path.to_string_lossy()).into_owned()
}

/// Returns a message of at most 5,000 characters. If it is longer, its middle is removed, because
/// its end contains advice.
pub fn shortened(message: &str) -> Cow<'_, str> {
    if message.len() <= MESSAGE || message.chars().nth(MESSAGE).is_none() {
        return Cow::Borrowed(message);
    }
    let half = MESSAGE / 2;
    let first: String = message.chars().take(half).collect();
    let mut last: Vec<char> = message.chars().rev().take(half).collect();
    last.reverse();
    Cow::Owned(format!("{first} ... {}", String::from_iter(last)))
}

/// Returns the text as error messages quote it: escaped, and cut off after 80 characters.
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}...", escaped(&text[..end])),
        None => escaped(text).into_owned(),
    }
}

/// Encodes bytes in Base64 (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number =
            [16, 8, 0].iter().zip(chunk).fold(0, |n, (shift, b)| n | u32::from(*b) << shift);
        for digit in 0..4 {
            let value = number >> (18 - 6 * digit) & 63;
            text.push(if digit > chunk.len() { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors are from RFC 4648, section 10.
    #[test]
    fn base64_of_the_standard() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(texts.map(|text| base64(text.as_bytes())), expected);
    }

    #[test]
    fn unsafe_characters_are_escaped() {
        for (given, expected) in [
            ("plain, µ and 日本", "plain, µ and 日本"),
            ("two\nlines\r\t", "two\\nlines\\r\\t"),
            ("\u{1b}[31mred\0\u{9b}", "\\u{1b}[31mred\\u{0}\\u{9b}"),
            ("cod\u{202e}vsc.exe\u{2066}\u{200f}", "cod\\u{202e}vsc.exe\\u{2066}\\u{200f}"),
        ] {
            assert_eq!(escaped(given), expected);
            assert_eq!(escaped(expected), expected, "escaping twice equals escaping once");
        }
    }

    #[test]
    fn line_ends_of_several_lines_stay() {
        assert_eq!(escaped_lines("one\n\u{1b}two\n"), "one\n\\u{1b}two\n");
        assert_eq!(escaped_lines("one\ntwo"), "one\ntwo");
    }

    #[test]
    fn long_messages_keep_beginning_and_end() {
        let short = "µ".repeat(5000);
        assert_eq!(shortened(&short), short);
        let long = shortened(&format!("error: {}: give another", "µ".repeat(1 << 20))).into_owned();
        assert_eq!(long.chars().count(), 5005);
        assert!(long.starts_with("error: µµ") && long.ends_with("µµ: give another"));
        assert!(long.contains("µ ... µ"));
    }

    #[test]
    fn messages_quote_a_bounded_part() {
        assert_eq!(excerpt("a\u{1b}b"), "a\\u{1b}b");
        assert_eq!(excerpt(&"µ".repeat(80)), "µ".repeat(80));
        assert_eq!(excerpt(&"µ".repeat(1 << 20)), format!("{}...", "µ".repeat(80)));
    }
}
