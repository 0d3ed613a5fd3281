//! The cycle is divided into sections, and the data of each section is collected in one of its
//! nodes, the collector (section 4.1.2, Fig. 4.2).
//!
//! | symbol | meaning |
//! | --- | --- |
//! | M | number of adjacent diagonals whose data uses the same link |
//! | M / q | number of nodes of a section |
//! | 2q + 1 | nodes whose blocks one node collects in the first round; q + 1 with one port |

use crate::cost::Cost;
use crate::torus::Variant;
use crate::tree::{Circuit, Payload, bundle_costs, divide};

/// The rule for the collector of a section. The collector is the middle node or, if the number of
/// nodes is even, one of the two middle nodes, the candidates. With one port, the candidates are
/// the two end nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collectors {
    Earlier,
    Later,
    /// The candidate that is nearer to a mirror. The cycle is divided into this number of equal
    /// ranges. Mirrors lie at the start of the first range and at every second boundary after it.
    Nearer(u64),
    Alternating,
    /// The later candidate. If all sections have the same even number of nodes, each section's
    /// first node sends half of its block to the collector of this section, and half to that of the
    /// section before.
    Shared,
}

impl Collectors {
    /// The rules that are tried for transpositions. A mirror lies at the cycle's first node. In one
    /// dimension, a second one lies half a cycle away.
    pub const ALL: [Self; 6] = [
        Self::Later,
        Self::Earlier,
        Self::Alternating,
        Self::Nearer(2),
        Self::Nearer(4),
        Self::Shared,
    ];

    fn place(self, count: u64, i: u64, sections: u64, variant: Variant) -> u64 {
        let later = match self {
            Self::Earlier => false,
            Self::Later | Self::Shared => true,
            Self::Alternating => i % 2 == 1,
            Self::Nearer(parts) => i * parts / sections % 2 == 1,
        };
        match (variant, later) {
            (Variant::OnePort, false) => 0,
            (Variant::OnePort, true) => count - 1,
            (_, false) => (count - 1) / 2,
            (_, true) => count / 2,
        }
    }
}

pub struct Sections {
    /// The costs of rounds that collect whole blocks along one axis, the last round first.
    pub costs: Vec<Cost>,
    pub collectors: Vec<u64>,
    section: Vec<Option<usize>>,
    pub shared: bool,
    /// The circuits that end at each node in the distribution; the collection reverses them.
    circuits: Vec<Vec<CollectionCircuit>>,
}

/// A circuit of the distribution, which leads from a collector or an intermediate node to the far
/// end. The collection uses it in reverse.
#[derive(Debug, Clone, Copy)]
pub struct CollectionCircuit {
    /// The round of the collection, counted backwards from the last round.
    round: usize,
    pub circuit: Circuit,
    /// If the block of the far node is halved, the half that the circuit carries.
    pub half: Option<u64>,
}

impl Sections {
    pub fn new(n: u64, count: u64, q: u64, variant: Variant, collectors: Collectors) -> Self {
        let size = n / count;
        let all_ports = variant != Variant::OnePort;
        let shared = collectors == Collectors::Shared
            && all_ports
            && n.is_multiple_of(count)
            && size.is_multiple_of(2);
        let mut sections = Self {
            costs: Vec::new(),
            collectors: Vec::with_capacity(count as usize),
            section: vec![None; n as usize],
            shared,
            circuits: vec![Vec::new(); n as usize],
        };
        for i in 0..count {
            let (first, end) = (i * n / count, (i + 1) * n / count + u64::from(shared));
            let at = collectors.place(end - first, i, count, variant);
            sections.section[(first + at) as usize] = Some(i as usize);
            sections.collectors.push(first + at);
            let rounds = divide(end - first, at, q, variant, Payload::Bundle);
            let half = |node: u64| {
                if shared && node == 0 { Some(1) } else { (shared && node == size).then_some(0) }
            };
            let blocks = |c: &Circuit| {
                let halves = [0, size]
                    .into_iter()
                    .filter(|end| (c.first..c.first + c.count).contains(end))
                    .count();
                c.count as f64 - if shared { halves as f64 / 2.0 } else { 0.0 }
            };
            let costs = bundle_costs(&rounds, |node| node as i64, blocks);
            sections.costs.resize(sections.costs.len().max(costs.len()), Cost::default());
            sections.costs.iter_mut().zip(costs).for_each(|(all, own)| *all = all.parallel(own));
            for (round, circuits) in rounds.into_iter().enumerate() {
                for Circuit { from, to, first: served, count } in circuits {
                    let circuit = Circuit {
                        from: first + from,
                        to: first + to,
                        first: first + served,
                        count,
                    };
                    let at = (circuit.to % n) as usize;
                    sections.circuits[at].push(CollectionCircuit {
                        round,
                        circuit,
                        half: half(to),
                    });
                }
            }
        }
        sections
    }

    pub fn rounds(&self) -> usize {
        self.costs.len()
    }

    pub fn collected_by(&self, node: u64) -> Option<usize> {
        self.section[node as usize]
    }

    pub(super) fn nodes(&self, section: usize) -> (u64, u64) {
        let (n, count, i) =
            (self.section.len() as u64, self.collectors.len() as u64, section as u64);
        let (first, end) = (i * n / count, (i + 1) * n / count);
        (first, end - first)
    }

    /// Returns the circuits of a round whose far end is `node`. Round 0 is the last of the
    /// collection and the first of the distribution.
    pub fn circuits(&self, node: u64, from_last: usize) -> impl Iterator<Item = CollectionCircuit> {
        self.circuits[node as usize]
            .iter()
            .copied()
            .filter(move |collecting| collecting.round == from_last)
    }
}
