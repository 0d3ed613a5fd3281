//! Pseudorandom numbers that are the same on every platform, and specs that draw from them.

use crate::spec::Spec;

/// The pseudorandom number generator SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, *Fast
/// Splittable Pseudorandom Number Generators*, OOPSLA 2014).
#[derive(Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator whose numbers are determined by `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `n - 1`: the next 64 bits, scaled down.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }
}

/// Returns whether a spec has random properties without a seed of their own, so that
/// [`Topology::sample`](super::Topology::sample) draws them from the seed of the repetition. The
/// spec need not be valid, and files are not read.
///
/// ```
/// use swapmeet_core::network::topology::is_random;
/// assert!(is_random("torus:4x4,faults=2") && !is_random("torus:4x4,faults=2:7"));
/// ```
pub fn is_random(spec: &str) -> bool {
    let Ok(spec) = Spec::parse("topology", spec) else { return false };
    let colons = |text: &str| text.matches(':').count();
    spec.args().iter().any(|arg| match arg.key() {
        Some("faults") => colons(arg.value()) == 0,
        Some("slow-links") => colons(arg.value()) == 1,
        Some("place") => arg.value() == "random",
        Some("routing") => arg.value() != "minimal",
        _ => false,
    })
}
