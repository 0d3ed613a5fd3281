//! Background traffic: other programs' messages on the same links.

/// Messages of other programs between pairs of ranks, sent while the schedule runs. Each message is
/// a flow: it starts at time 0 and ends when all of its bytes have arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    ranks: u64,
    /// The sender, the receiver and the bytes of each flow.
    flows: Vec<(u32, u32, u64)>,
}

impl Background {
    /// Creates flows among `ranks` ranks. `bytes(from, to)` returns the number of bytes that rank
    /// `from` sends to rank `to`. Bytes from a rank to itself cross no link and are ignored.
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

    /// Returns the flows as (sender, receiver, bytes).
    pub fn flows(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.flows.iter().copied()
    }
}
