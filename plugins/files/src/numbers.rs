use swapmeet_sdk::Axis;

pub(crate) enum Numbers {
    Run(u64, u64),
    Bits(Vec<u64>),
}

impl Numbers {
    pub(crate) fn new(bits: &[u64]) -> Self {
        let list: Vec<u64> = (0..)
            .zip(bits)
            .flat_map(|(at, word)| {
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * at + bit)
            })
            .collect();
        match (list.first(), list.last()) {
            (Some(first), Some(last)) if last - first + 1 == list.len() as u64 => {
                Self::Run(*first, list.len() as u64)
            }
            _ => Self::Bits(bits.to_vec()),
        }
    }

    pub(crate) fn axis(&self) -> Axis<'_> {
        match self {
            Self::Run(first, count) => Axis::range(*first, *count),
            Self::Bits(words) => Axis::bits(words),
        }
    }
}
