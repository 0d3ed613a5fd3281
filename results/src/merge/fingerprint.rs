//! Fingerprints, which distinguish values without storing them.

use std::hash::{BuildHasher, Hash, RandomState};

/// A hash of 128 bits. Among 10^9 values, the probability of a collision is 10^-20.
pub(super) type Fingerprint = [u64; 2];

/// Two hashers with random keys, so that nobody can construct colliding values.
#[derive(Default)]
pub(super) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    pub(super) fn of(&self, value: &impl Hash) -> Fingerprint {
        [self.0[0].hash_one(value), self.0[1].hash_one(value)]
    }
}
