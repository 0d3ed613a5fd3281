//! A deterministic generator of random numbers (xorshift; G. Marsaglia, 2003).

#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The sequences of seeds that differ by 1 are unrelated.
    pub fn new(seed: u64) -> Self {
        // The generator requires a state that is not 0.
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self::with_state((mixed ^ (mixed >> 31)) | 1)
    }

    /// Creates a generator with this state, which must not be 0.
    pub const fn with_state(state: u64) -> Self {
        Self(state)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a random number less than `most`, which must not be 0.
    pub fn below(&mut self, most: usize) -> usize {
        (((self.bits() >> 32) * most as u64) >> 32) as usize
    }

    /// Returns a number that is at least 0 and less than 1.
    pub fn fraction(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u64 << 24) as f32
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
