//! Fingerprints: hashes that distinguish values without storing the values.

use std::hash::{BuildHasher, Hash, RandomState};

/// A hash of 128 bits. The probability that any two of 10^9 values have the same hash is 10^-20.
pub(super) type Fingerprint = [u64; 2];

/// Two hash functions with random keys, so that nobody can construct two values with the same hash.
#[derive(Default)]
pub(super) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    pub(super) fn of(&self, value: &impl Hash) -> Fingerprint {
        [self.0[0].hash_one(value), self.0[1].hash_one(value)]
    }
}
