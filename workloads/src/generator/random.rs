//! Random numbers that are the same on every platform and with every version of the libraries.

use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// A stream of random numbers from ChaCha8. There are many independent streams for each seed.
pub(super) struct Stream(ChaCha8Rng);

impl Stream {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        rng.set_word_pos(0);
        Self(rng)
    }

    /// Returns the middle of one of 2^53 equal parts of (0, 1), so the result is never 0 or 1.
    pub(super) fn fraction(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Scales 64 random bits to the range from 0 to `n - 1`. A function of a library could give
    /// other results in a later version.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    pub(super) fn shuffled(&mut self, n: u64) -> Vec<u64> {
        let mut numbers: Vec<u64> = (0..n).collect();
        for last in (1..numbers.len()).rev() {
            let at = self.below(last as u64 + 1) as usize;
            numbers.swap(last, at);
        }
        numbers
    }
}
