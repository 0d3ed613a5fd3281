//! Traffic of others on the same links.

/// Bytes that go from rank to rank beside a schedule: each flow begins at the beginning, and ends
/// when its bytes are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    ranks: u64,
    flows: Vec<(u32, u32, u64)>,
}

impl Background {
    /// Among so many ranks, of these bytes from one to another. What a rank has for itself crosses
    /// no link.
    pub fn new(ranks: u64, bytes: impl Fn(u64, u64) -> u64) -> Self {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let flow = |(from, to)| (from as u32, to as u32, bytes(from, to));
        Self {
            ranks,
            flows: pairs.map(flow).filter(|(from, to, bytes)| from != to && *bytes > 0).collect(),
        }
    }

    /// How many ranks it is for.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// Its flows: from, to, bytes.
    pub fn flows(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.flows.iter().copied()
    }
}
