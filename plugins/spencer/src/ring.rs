//! Gossip and multi-scatter on a plain cycle of p nodes: who sends what to which neighbour in a
//! round (sections 3.4 and 3.5).

/// A range of nodes of a cycle.
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

    /// Whether it has node `i` of `p`.
    pub(crate) fn contains(self, i: u64, p: u64) -> bool {
        (i + p - self.first) % p < self.count
    }
}

/// What a node sends to one of its neighbours: blocks from some for some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub forwards: bool,
    pub origins: Span,
    pub destinations: Span,
}

/// How a plain cycle is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Neighbours exchange over every other edge, one colour a round (one port; an even number of
    /// nodes).
    Pairs,
    /// Everyone sends forwards: where one port has an odd number of nodes to serve, which can't all
    /// be paired.
    OneWay,
    /// Everyone sends to both neighbours (all ports).
    BothWays,
}

impl Method {
    /// Rounds on a cycle of p.
    pub(crate) fn rounds(self, p: u64) -> u64 {
        match self {
            Self::OneWay => p - 1,
            Self::Pairs | Self::BothWays => p / 2,
        }
    }

    /// What node `x` of `p` sends in `round`, from 1, in a gossip or else a multi-scatter.
    /// `colour`: cycles of even and of odd colour begin with different edges.
    pub(crate) fn moves(self, p: u64, round: u64, x: u64, colour: u64, gossip: bool) -> Vec<Move> {
        match (self, gossip) {
            (Self::Pairs, true) => vec![gossip_pairs(p, round, x, colour)],
            (Self::Pairs, false) => vec![scatter_pairs(p, round, x, colour)],
            (Self::OneWay, true) => vec![passes_on(p, round, x, true)],
            (Self::OneWay, false) => {
                vec![Move { forwards: true, origins: Span::ALL, destinations: all_but(p, x) }]
            }
            (Self::BothWays, true) => {
                // What comes to the node opposite from one side needn't come from the other.
                let both = 2 * round < p;
                (0..=usize::from(both)).map(|way| passes_on(p, round, x, way == 0)).collect()
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

/// The node that is so many before x, as seen in the direction of travel.
fn behind(p: u64, x: u64, distance: u64, forwards: bool) -> u64 {
    if forwards { (x + p - distance) % p } else { (x + distance) % p }
}

/// "it passes the message it received from its left neighbour to its right neighbour", and the
/// other way round.
fn passes_on(p: u64, round: u64, x: u64, forwards: bool) -> Move {
    Move {
        forwards,
        origins: Span::one(behind(p, x, round - 1, forwards)),
        destinations: Span::ALL,
    }
}

/// Which of its edges a node uses in a round: edge x leads from node x to the next.
fn uses_next_edge(round: u64, x: u64, colour: u64) -> bool {
    (x + colour + round - 1).is_multiple_of(2)
}

/// One message in the first round, then the two newest.
fn gossip_pairs(p: u64, round: u64, x: u64, colour: u64) -> Move {
    let forwards = uses_next_edge(round, x, colour);
    let newest = |distance| behind(p, x, distance, forwards);
    let origins = match round {
        1 => Span::one(x),
        // Two neighbours, the first of them in the order of numbers.
        _ if forwards => Span { first: newest(round - 1), count: 2 },
        _ => Span { first: newest(round - 2), count: 2 },
    };
    Move { forwards, origins, destinations: Span::ALL }
}

/// Half of its messages, those for the nodes on that side; then the other half; and what came in
/// goes on.
fn scatter_pairs(p: u64, round: u64, x: u64, colour: u64) -> Move {
    let forwards = uses_next_edge(round, x, colour);
    let half = p / 2;
    let destinations = match round {
        1 if forwards => Span { first: (x + 1) % p, count: half },
        1 => Span { first: (x + p - half) % p, count: half },
        _ => all_but(p, x),
    };
    Move { forwards, origins: Span::ALL, destinations }
}

/// Half of its messages out of each port, then what came in goes on the same way. The node opposite
/// is served forwards.
fn scatter_both(p: u64, round: u64, x: u64, forwards: bool) -> Option<Move> {
    let reach = if forwards { p / 2 } else { (p - 1) / 2 };
    let count = reach.checked_sub(round - 1).filter(|c| *c > 0)?;
    let first = if forwards { (x + 1) % p } else { (x + p - count) % p };
    Some(Move {
        forwards,
        origins: Span::one(behind(p, x, round - 1, forwards)),
        destinations: Span { first, count },
    })
}
