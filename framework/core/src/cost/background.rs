//! Background traffic: other programs' messages on the same links.

/// Flows between ranks in addition to a schedule. Every flow starts at time 0 and ends when its
/// bytes have arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    ranks: u64,
    flows: Vec<(u32, u32, u64)>,
}

impl Background {
    /// Creates flows among `ranks` ranks; `bytes` returns the bytes from one rank to another. Bytes
    /// from a rank to itself cross no link and are ignored.
    pub fn new(ranks: u64, bytes: impl Fn(u64, u64) -> u64) -> Self {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let flow = |(from, to)| (from as u32, to as u32, bytes(from, to));
        Self {
            ranks,
            flows: pairs.map(flow).filter(|(from, to, bytes)| from != to && *bytes > 0).collect(),
        }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// Returns the flows: sender, receiver, bytes.
    pub fn flows(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.flows.iter().copied()
    }
}
