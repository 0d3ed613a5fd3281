//! Files that users name: read whole, but neither without end nor from what gives its text but once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use swapmeet_core::spec::format_size;

/// The text of a regular file of at most `most` bytes that is to hold `expected`. Workers read it again, so that a pipe or a device won't do.
pub fn read_regular(path: &Path, most: u64, expected: &str) -> Result<String, String> {
    // Asked before it is opened: a pipe would wait for whoever writes to it.
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(format!("is a folder or a device, expected {expected}"));
    }
    read_bounded(path, most, expected)
}

/// The text of at most `most` bytes of a file of any kind that is to hold `expected`.
pub fn read_bounded(path: &Path, most: u64, expected: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unread)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > most {
        return Err(format!("holds more than {}, expected {expected}", format_size(most)));
    }
    String::from_utf8(bytes)
        .map_err(|e| format!("is no text (UTF-8) from byte {} on, expected {expected}", e.utf8_error().valid_up_to()))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
fn unread(error: io::Error) -> String {
    format!("can't be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound_and_not_beyond() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "abcd").unwrap();
        assert_eq!(read_regular(&file, 4, "letters"), Ok("abcd".to_owned()));
        assert_eq!(read_regular(&file, 3, "letters").unwrap_err(), "holds more than 3, expected letters");
        std::fs::write(&file, b"ab\xff").unwrap();
        assert_eq!(
            read_regular(&file, 4, "letters").unwrap_err(),
            "is no text (UTF-8) from byte 2 on, expected letters"
        );
    }

    #[test]
    fn what_is_no_file_or_has_no_end_is_refused() {
        let refused = |path: &str| read_regular(Path::new(path), 1 << 20, "letters").unwrap_err();
        assert_eq!(refused("/dev/zero"), "is a folder or a device, expected letters");
        assert_eq!(refused("/"), "is a folder or a device, expected letters");
        assert!(refused("/no/such/file").starts_with("can't be read: "));
        let endless = read_bounded(Path::new("/dev/zero"), 1 << 20, "letters");
        assert_eq!(endless.unwrap_err(), "holds more than 1MiB, expected letters");
    }
}
