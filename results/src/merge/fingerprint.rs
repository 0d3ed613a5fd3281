//! Values told apart without keeping them.

use std::hash::{BuildHasher, Hash, RandomState};

/// 128 bits: of a thousand million values no two have the same, but for one chance in 10^20.
pub(super) type Fingerprint = [u64; 2];

/// Two hashes with keys of their own, drawn anew each time: nobody can prepare two values that look
/// the same.
#[derive(Default)]
pub(super) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    pub(super) fn of(&self, value: &impl Hash) -> Fingerprint {
        [self.0[0].hash_one(value), self.0[1].hash_one(value)]
    }
}
