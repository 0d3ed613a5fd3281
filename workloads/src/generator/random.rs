//! Draws that are the same on every platform and with every version of any library.

use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// One of many independent streams of ChaCha8 with a seed.
pub(super) struct Stream(ChaCha8Rng);

impl Stream {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        rng.set_word_pos(0);
        Self(rng)
    }

    /// A number in (0, 1): 53 random bits, in the middle of their interval, so that it is never 0
    /// and never 1.
    pub(super) fn fraction(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A number below another: a draw scaled down, not a library's way, which may change with its
    /// version.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// The numbers below n in random order.
    pub(super) fn shuffled(&mut self, n: u64) -> Vec<u64> {
        let mut numbers: Vec<u64> = (0..n).collect();
        for last in (1..numbers.len()).rev() {
            let at = self.below(last as u64 + 1) as usize;
            numbers.swap(last, at);
        }
        numbers
    }
}
