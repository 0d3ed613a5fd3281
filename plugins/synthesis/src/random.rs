//! A deterministic generator of random numbers (xorshift; G. Marsaglia, 2003).

pub(crate) struct Random(u64);

impl Random {
    /// Makes a generator. Neighbouring seeds give unrelated sequences.
    pub(crate) fn new(seed: u64) -> Self {
        // The generator requires a state that is not 0.
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number less than `most`, which must not be 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        (((self.next() >> 32) * most as u64) >> 32) as usize
    }

    /// Returns a number that is at least 0 and less than 1.
    pub(crate) fn fraction(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
