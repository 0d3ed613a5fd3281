//! Gossip and multi-scatter on an undivided cycle of p nodes (sections 3.4 and 3.5).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    first: u64,
    count: u64,
}

impl Span {
    const ALL: Self = Self { first: 0, count: u64::MAX };

    fn one(node: u64) -> Self {
        Self { first: node, count: 1 }
    }

    pub(crate) fn contains(self, i: u64, p: u64) -> bool {
        (i + p - self.first) % p < self.count
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingSend {
    pub forwards: bool,
    pub origins: Span,
    pub destinations: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Neighbours exchange in pairs (one port, even number of nodes). Each round uses the edges of
    /// one of two alternating colours.
    Pairs,
    /// All nodes send forwards only, because an odd number of nodes has no pairs (one port).
    OneWay,
    BothWays,
}

impl Method {
    pub(crate) fn rounds(self, p: u64) -> u64 {
        match self {
            Self::OneWay => p - 1,
            Self::Pairs | Self::BothWays => p / 2,
        }
    }

    /// Returns the sends of a node in a round. The first round is 1. The parity of `colour` selects
    /// its edges.
    pub(crate) fn sends(
        self,
        p: u64,
        round: u64,
        x: u64,
        colour: u64,
        gossip: bool,
    ) -> Vec<RingSend> {
        match (self, gossip) {
            (Self::Pairs, true) => vec![gossip_pairs(p, round, x, colour)],
            (Self::Pairs, false) => vec![scatter_pairs(p, round, x, colour)],
            (Self::OneWay, true) => vec![pass_on(p, round, x, true)],
            (Self::OneWay, false) => {
                vec![RingSend { forwards: true, origins: Span::ALL, destinations: all_but(p, x) }]
            }
            (Self::BothWays, true) => {
                let directions = if 2 * round < p { &[true, false][..] } else { &[true] };
                directions.iter().map(|forwards| pass_on(p, round, x, *forwards)).collect()
            }
            (Self::BothWays, false) => {
                [true, false].into_iter().filter_map(|f| scatter_both(p, round, x, f)).collect()
            }
        }
    }
}

fn all_but(p: u64, x: u64) -> Span {
    Span { first: (x + 1) % p, count: p - 1 }
}

fn behind(p: u64, x: u64, distance: u64, forwards: bool) -> u64 {
    if forwards { (x + p - distance) % p } else { (x + distance) % p }
}

/// In either direction, "it passes the message it received from its left neighbour to its right
/// neighbour".
fn pass_on(p: u64, round: u64, x: u64, forwards: bool) -> RingSend {
    RingSend {
        forwards,
        origins: Span::one(behind(p, x, round - 1, forwards)),
        destinations: Span::ALL,
    }
}

/// Returns whether node x uses edge x, which leads to the next node. Otherwise, it uses edge x - 1.
fn uses_next_edge(round: u64, x: u64, colour: u64) -> bool {
    (x + colour + round - 1).is_multiple_of(2)
}

/// In the first round, a node sends its block; in each further round, the two blocks received last.
fn gossip_pairs(p: u64, round: u64, x: u64, colour: u64) -> RingSend {
    let forwards = uses_next_edge(round, x, colour);
    let newest = |distance| behind(p, x, distance, forwards);
    let origins = match round {
        1 => Span::one(x),
        _ if forwards => Span { first: newest(round - 1), count: 2 },
        _ => Span { first: newest(round - 2), count: 2 },
    };
    RingSend { forwards, origins, destinations: Span::ALL }
}

/// In the first round, a node sends half of its blocks to one neighbour; in the second round, it
/// sends the other half to the other neighbour. After that, it passes on received blocks.
fn scatter_pairs(p: u64, round: u64, x: u64, colour: u64) -> RingSend {
    let forwards = uses_next_edge(round, x, colour);
    let half = p / 2;
    let destinations = match round {
        1 if forwards => Span { first: (x + 1) % p, count: half },
        1 => Span { first: (x + p - half) % p, count: half },
        _ => all_but(p, x),
    };
    RingSend { forwards, origins: Span::ALL, destinations }
}

/// Initially, a node sends half of its blocks in each direction. Then it passes on received blocks.
/// The block for the opposite node is sent forwards.
fn scatter_both(p: u64, round: u64, x: u64, forwards: bool) -> Option<RingSend> {
    let reach = if forwards { p / 2 } else { (p - 1) / 2 };
    let count = reach.checked_sub(round - 1).filter(|c| *c > 0)?;
    let first = if forwards { (x + 1) % p } else { (x + p - count) % p };
    Some(RingSend {
        forwards,
        origins: Span::one(behind(p, x, round - 1, forwards)),
        destinations: Span { first, count },
    })
}
