//! Reads files that users name. A file is read as a whole, up to a maximum size.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use swapmeet_core::spec::format_size;

/// The maximum size of a file in bytes. Some kinds of files have a lower limit.
pub const MAX_BYTES: u64 = 512 << 20;

/// Reads a regular file of at most `most` bytes. The file must be regular because worker processes
/// read it again. `expected` describes its content in error messages.
pub fn read_regular(path: &Path, most: u64, expected: &str) -> Result<String, String> {
    // To open a pipe would wait for a program that writes to it.
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(format!("is a folder or a device, expected {expected}"));
    }
    read_bounded(path, most, expected)
}

/// Reads at most `most` bytes of text from a file, pipe or device. `expected` is as in
/// [`read_regular`].
pub fn read_bounded(path: &Path, most: u64, expected: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unread)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > most {
        return Err(format!("holds more than {}, expected {expected}", format_size(most)));
    }
    String::from_utf8(bytes).map_err(|e| {
        format!(
            "is not text (UTF-8) from byte {} on, expected {expected}",
            e.utf8_error().valid_up_to()
        )
    })
}

/// Returns the files whose names match `name`, sorted. Only the last part of the path may contain a
/// `*`.
pub fn files(name: &str) -> Result<Vec<PathBuf>, String> {
    let Some((before, after)) = name.split_once('*') else { return Ok(vec![PathBuf::from(name)]) };
    if after.contains(['*', '/']) {
        return Err("expected a single `*`, in the name of the file, as in `DIR/*.csv`".to_owned());
    }
    let (folder, before) =
        before.rsplit_once('/').map_or((".", before), |(folder, before)| (folder, before));
    let folder = if folder.is_empty() { "/" } else { folder };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let file = entry.map_err(unread)?.file_name().to_string_lossy().into_owned();
        if file.len() >= before.len() + after.len()
            && file.starts_with(before)
            && file.ends_with(after)
        {
            names.push(file);
        }
    }
    names.sort_unstable();
    if names.is_empty() {
        return Err("no file matches, expected one for each repetition".to_owned());
    }
    let in_folder = |file: String| {
        if name.contains('/') { Path::new(folder).join(file) } else { PathBuf::from(file) }
    };
    Ok(names.into_iter().map(in_folder).collect())
}

pub fn folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty());
    name.contains('*').then(|| folder.unwrap_or(Path::new(".")).to_path_buf())
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
fn unread(error: io::Error) -> String {
    format!("can't be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "abcd").unwrap();
        assert_eq!(read_regular(&file, 4, "letters"), Ok("abcd".to_owned()));
        assert_eq!(
            read_regular(&file, 3, "letters").unwrap_err(),
            "holds more than 3, expected letters"
        );
        std::fs::write(&file, b"ab\xff").unwrap();
        assert_eq!(
            read_regular(&file, 4, "letters").unwrap_err(),
            "is not text (UTF-8) from byte 2 on, expected letters"
        );
    }

    #[test]
    fn devices_and_endless_files_are_refused() {
        let refused = |path: &str| read_regular(Path::new(path), 1 << 20, "letters").unwrap_err();
        assert_eq!(refused("/dev/zero"), "is a folder or a device, expected letters");
        assert_eq!(refused("/"), "is a folder or a device, expected letters");
        assert!(refused("/no/such/file").starts_with("can't be read: "));
        let endless = read_bounded(Path::new("/dev/zero"), 1 << 20, "letters");
        assert_eq!(endless.unwrap_err(), "holds more than 1MiB, expected letters");
    }
}
