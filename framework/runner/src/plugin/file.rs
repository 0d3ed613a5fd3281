//! The files of plugins. The digest of its file identifies the build of a plugin.

use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};
use swapmeet_core::spec::format_size;
use swapmeet_workloads::file::MAX_BYTES;
use swapmeet_workloads::stream_digest;

/// Metadata that changes when a file is replaced or overwritten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    place: (u64, u64),
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn from_metadata(m: &Metadata) -> Self {
        Self {
            place: (m.dev(), m.ino()),
            len: m.len(),
            modified: (m.mtime(), m.mtime_nsec()),
            changed: (m.ctime(), m.ctime_nsec()),
        }
    }

    /// Returns the metadata of a file. The type of the file is checked before it is opened, because
    /// opening a pipe would block.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_file() {
            Ok(Self::from_metadata(&metadata))
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    }

    pub(crate) fn place(&self) -> (u64, u64) {
        self.place
    }

    /// Returns whether the last change was longer ago than the resolution of timestamps. A further
    /// change would then have another timestamp.
    pub(crate) fn is_settled(&self) -> bool {
        const TICK: Duration = Duration::from_secs(2);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let settled = now.saturating_sub(TICK).as_secs();
        u64::try_from(self.changed.0).is_ok_and(|secs| secs < settled)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownDigest<'a> {
    pub(crate) stamp: &'a Stamp,
    pub(crate) digest: &'a str,
}

/// Returns the digest and the metadata of a regular file. If the metadata equals that of `known`,
/// the file is not read, and the known digest is returned.
pub(crate) fn digest_of(
    path: &Path,
    known: Option<KnownDigest<'_>>,
) -> io::Result<(String, Stamp)> {
    let stamp = Stamp::at(path)?;
    if let Some(known) = known.filter(|known| *known.stamp == stamp) {
        return Ok((known.digest.to_owned(), stamp));
    }
    let file = File::open(path)?;
    let stamp = Stamp::from_metadata(&file.metadata()?);
    let (digest, length) = stream_digest(file.take(MAX_BYTES + 1))?;
    if length > MAX_BYTES {
        let limit = format_size(MAX_BYTES);
        return Err(io::Error::other(format!("the file holds more than {limit}")));
    }
    Ok((digest, stamp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_workloads::digest;

    /// The known digest in this test is wrong. If it is returned, the file was not read.
    #[test]
    fn a_file_is_read_again_only_if_it_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("plugin.so");
        std::fs::write(&file, "abc").unwrap();
        let (read, stamp) = digest_of(&file, None).unwrap();
        assert_eq!(read, digest(b"abc"));
        let known = Some(KnownDigest { stamp: &stamp, digest: "as it was" });
        assert_eq!(digest_of(&file, known).unwrap(), ("as it was".to_owned(), stamp.clone()));
        std::fs::write(&file, "abcd").unwrap();
        assert_eq!(digest_of(&file, known).unwrap().0, digest(b"abcd"), "written over");
        let other = dir.path().join("other.so");
        std::fs::write(&other, "abc").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert_eq!(
            digest_of(&file, known).unwrap().0,
            digest(b"abc"),
            "another has taken its place"
        );
        assert!(digest_of(Path::new("/dev/null"), known).is_err());
    }
}
