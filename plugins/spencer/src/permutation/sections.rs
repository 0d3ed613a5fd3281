//! Collection on a cycle: it is divided into sections, each of which is gathered in one of its
//! nodes (section 4.1.2, Fig. 4.2).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | q | `q` | circuits that a directed link carries |
//! | M / q | | nodes of a section |
//! | 2q + 1 | | nodes that one of them collects in a round, itself included; q + 1 with one port |

use crate::cost::Cost;
use crate::torus::Variant;
use crate::tree::{Carries, Circuit, bundle_costs, divide};

/// Which node of a section collects: of the two in the middle, with one port of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collectors {
    Earlier,
    Later,
    /// The one nearer to a mirror, of so many equal stretches of the cycle that begin and end at
    /// one by turns.
    Nearer(u64),
    /// Either by turns.
    Alternating,
    /// Of sections of an even number of nodes neither: the node half-way between two collectors
    /// gives a half to each, so that both sides of either are alike.
    Shared,
}

impl Collectors {
    /// Those worth trying for transpositions: a mirror lies at the cycle's first node, and in one
    /// dimension half-way round too.
    pub(super) const ALL: [Self; 6] = [
        Self::Later,
        Self::Earlier,
        Self::Alternating,
        Self::Nearer(2),
        Self::Nearer(4),
        Self::Shared,
    ];

    /// The place in section i, of `count` nodes, of so many.
    fn place(self, count: u64, i: u64, sections: u64, variant: Variant) -> u64 {
        let later = match self {
            Self::Earlier => false,
            Self::Later | Self::Shared => true,
            Self::Alternating => i % 2 == 1,
            Self::Nearer(stretches) => i * stretches / sections % 2 == 1,
        };
        match (variant, later) {
            (Variant::OnePort, false) => 0,
            (Variant::OnePort, true) => count - 1,
            (_, false) => (count - 1) / 2,
            (_, true) => count / 2,
        }
    }
}

/// A cycle in sections.
pub(super) struct Sections {
    /// What each round costs until every section is gathered, from the last, of whole blocks along
    /// one axis.
    pub costs: Vec<Cost>,
    /// The node of each section that collects.
    pub collectors: Vec<u64>,
    /// By node: the section it collects.
    section: Vec<Option<usize>>,
    /// Whether nodes half-way between collectors give a half to each.
    pub shared: bool,
    /// By node: the circuits that are to inform it, read backwards those it is collected through.
    circuits: Vec<Vec<Collecting>>,
}

/// A circuit of a collection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collecting {
    /// Its round, from the last.
    round: usize,
    pub circuit: Circuit,
    /// Which half of its far end's block goes this way, where the other goes another.
    pub half: Option<u64>,
}

impl Sections {
    /// `count` near-equal sections of a cycle of n, the first beginning with node 0.
    pub(super) fn new(
        n: u64,
        count: u64,
        q: u64,
        variant: Variant,
        collectors: Collectors,
    ) -> Self {
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
            let rounds = divide(end - first, at, q, variant, Carries::Bundle);
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
            sections.costs.iter_mut().zip(costs).for_each(|(all, own)| *all = all.beside(own));
            for (round, circuits) in rounds.into_iter().enumerate() {
                for Circuit { from, to, first: served, count } in circuits {
                    let circuit = Circuit {
                        from: first + from,
                        to: first + to,
                        first: first + served,
                        count,
                    };
                    let at = (circuit.to % n) as usize;
                    sections.circuits[at].push(Collecting { round, circuit, half: half(to) });
                }
            }
        }
        sections
    }

    /// Rounds until every section is gathered.
    pub(super) fn rounds(&self) -> usize {
        self.costs.len()
    }

    /// The section that this node of the cycle collects, if it does.
    pub(super) fn collected_by(&self, node: u64) -> Option<usize> {
        self.section[node as usize]
    }

    /// The nodes of a section: the first, and how many.
    pub(super) fn nodes(&self, section: usize) -> (u64, u64) {
        let (n, count, i) =
            (self.section.len() as u64, self.collectors.len() as u64, section as u64);
        let (first, end) = (i * n / count, (i + 1) * n / count);
        (first, end - first)
    }

    /// The circuits whose far end is this node, if any is in use in a round from the last: 0 is the
    /// last of a collection, the first of a distribution.
    pub(super) fn circuits(&self, node: u64, from_last: usize) -> impl Iterator<Item = Collecting> {
        self.circuits[node as usize]
            .iter()
            .copied()
            .filter(move |collecting| collecting.round == from_last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thesis_example_gathers_50_nodes_in_two_with_two_rounds() {
        // Fig. 4.2: a quarter of a cycle of 200 with two virtual channels.
        let sections = Sections::new(200, 8, 2, Variant::AllPorts, Collectors::Later);
        assert_eq!(sections.rounds(), 2);
        assert_eq!(sections.collectors[..2], [12, 37]);
    }

    #[test]
    fn every_node_is_collected_once_or_collects() {
        for n in 1..60 {
            for count in 1..=n {
                for variant in [Variant::OnePort, Variant::AllPorts] {
                    for collectors in Collectors::ALL {
                        let sections = Sections::new(n, count, 2, variant, collectors);
                        for node in 0..n {
                            let collects = usize::from(sections.collected_by(node).is_some());
                            let through =
                                (0..sections.rounds()).flat_map(|r| sections.circuits(node, r));
                            let halves: usize =
                                through.map(|c| if c.half.is_some() { 1 } else { 2 }).sum();
                            assert_eq!(halves + 2 * collects, 2, "{node} of {n} in {count}");
                        }
                    }
                }
            }
        }
    }
}
