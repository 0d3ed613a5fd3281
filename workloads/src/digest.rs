//! Digests of input files, which identify the content of a file. A spec has only its name.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputDigest {
    /// The name of the file, as in the spec.
    pub file: String,
    pub digest: String,
}

impl InputDigest {
    pub fn new(file: &str, content: &str) -> Self {
        Self { file: file.to_owned(), digest: digest(content.as_bytes()) }
    }
}

/// Returns `sha256:` and the first 32 hexadecimal digits (128 bits) of the SHA-256 digest. Versions
/// up to 0.2 had 12 digits, which could be forged within a minute.
pub fn digest(content: &[u8]) -> String {
    written(&Sha256::digest(content))
}

/// Returns the digest and the number of bytes of a content, which may be larger than the memory.
pub fn stream_digest(mut content: impl Read) -> io::Result<(String, u64)> {
    let (mut hash, mut length, mut part) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        match content.read(&mut part) {
            Ok(0) => return Ok((written(&hash.finalize()), length)),
            Ok(count) => {
                hash.update(&part[..count]);
                length += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn written(hash: &[u8]) -> String {
    let digits: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_begin_as_those_of_sha256sum() {
        assert_eq!(
            InputDigest::new("m.csv", "abc").digest,
            "sha256:ba7816bf8f01cfea414140de5dae2223"
        );
        assert_eq!(digest(b""), "sha256:e3b0c44298fc1c149afbf4c8996fb924");
    }
}
