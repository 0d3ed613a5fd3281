//! What a file said when it was read, in a word: a spec names only the file.

use sha2::{Digest, Sha256};

/// A file that a spec names, and the digest of what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputDigest {
    /// The file, as the spec names it.
    pub file: String,
    /// The digest: see [`digest`].
    pub digest: String,
}

impl InputDigest {
    /// Of a file of this content.
    pub fn new(file: &str, content: &str) -> Self {
        Self { file: file.to_owned(), digest: digest(content.as_bytes()) }
    }
}

/// `sha256:..`, the digest cut to twelve digits: enough to tell contents apart that were not made
/// to be alike.
pub fn digest(content: &[u8]) -> String {
    let digits: String =
        Sha256::digest(content).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_as_sha256sum_says() {
        assert_eq!(InputDigest::new("m.csv", "abc").digest, "sha256:ba7816bf8f01");
        assert_eq!(digest(b""), "sha256:e3b0c44298fc");
    }
}
