//! Gossip and multi-scatter on a plain cycle of p nodes: the sends of each node in each round
//! (sections 3.4 and 3.5).

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

    /// Returns whether the range contains node `i` of `p`.
    pub(crate) fn contains(self, i: u64, p: u64) -> bool {
        (i + p - self.first) % p < self.count
    }
}

/// A send to a neighbour: the blocks with these origins and destinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingSend {
    pub forwards: bool,
    pub origins: Span,
    pub destinations: Span,
}

/// The schedule on a plain cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Neighbours exchange over every other edge; the edges have two colours, and a round uses one
    /// colour (one port, even number of nodes).
    Pairs,
    /// All nodes send forwards. This is for one port and an odd number of nodes, which cannot all
    /// be paired.
    OneWay,
    /// All nodes send to both neighbours (all ports).
    BothWays,
}

impl Method {
    /// Returns the number of rounds on a cycle of p nodes.
    pub(crate) fn rounds(self, p: u64) -> u64 {
        match self {
            Self::OneWay => p - 1,
            Self::Pairs | Self::BothWays => p / 2,
        }
    }

    /// Returns the sends of node `x` of `p` in `round`, from 1, of a gossip or a multi-scatter.
    /// Cycles of even `colour` and of odd `colour` begin with different edges.
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
                // In the last round of an even cycle, the opposite node needs the block from one
                // side only.
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

/// Returns the node at `distance` before x, seen in the direction of travel.
fn behind(p: u64, x: u64, distance: u64, forwards: bool) -> u64 {
    if forwards { (x + p - distance) % p } else { (x + distance) % p }
}

/// Passes on the message received from the node behind to the next node, in either direction of
/// travel. In the words of the thesis: "it passes the message it received from its left neighbour
/// to its right neighbour".
fn pass_on(p: u64, round: u64, x: u64, forwards: bool) -> RingSend {
    RingSend {
        forwards,
        origins: Span::one(behind(p, x, round - 1, forwards)),
        destinations: Span::ALL,
    }
}

/// Returns whether a node uses edge x in a round, which leads from node x to the next node;
/// otherwise it uses edge x - 1.
fn uses_next_edge(round: u64, x: u64, colour: u64) -> bool {
    (x + colour + round - 1).is_multiple_of(2)
}

/// Sends one message in the first round, and the two newest messages in each further round.
fn gossip_pairs(p: u64, round: u64, x: u64, colour: u64) -> RingSend {
    let forwards = uses_next_edge(round, x, colour);
    let newest = |distance| behind(p, x, distance, forwards);
    let origins = match round {
        1 => Span::one(x),
        // The newest messages are of two neighbours; `first` is the lower one.
        _ if forwards => Span { first: newest(round - 1), count: 2 },
        _ => Span { first: newest(round - 2), count: 2 },
    };
    RingSend { forwards, origins, destinations: Span::ALL }
}

/// Sends half of the node's messages to one side in the first round, the other half in the second;
/// received messages are passed on.
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

/// Sends half of the node's messages through each port; received messages are passed on in the same
/// direction. The message for the opposite node is sent forwards.
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
