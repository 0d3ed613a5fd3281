//! Collection on a cycle: it is divided into sections, each of which is gathered in one of its nodes (section 4.1.2, Fig. 4.2).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | q | `q` | circuits that a directed link carries |
//! | M / q | | nodes of a section |
//! | 2q + 1 | | nodes that one of them collects in a round, itself included; q + 1 with one port |

use crate::torus::Variant;
use crate::tree::{Carries, Circuit, divide};

/// Which node of a section collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collectors {
    /// The one in the middle; with one port, the first.
    Middle,
    /// One beside it where that makes them even and odd by turns, as 2-dimensional transpositions want it: a cycle of theirs passes every other diagonal.
    Alternating,
}

/// A cycle in sections.
pub(super) struct Sections {
    /// Rounds until every section is gathered.
    pub rounds: usize,
    /// The node of each section that collects.
    pub collectors: Vec<u64>,
    /// By node: the section it collects.
    section: Vec<Option<usize>>,
    /// By node: the circuit that is to inform it, read backwards the one it is collected through; and its round, from the last.
    circuits: Vec<Option<(usize, Circuit)>>,
}

impl Sections {
    /// `count` near-equal sections of a cycle of n, the first beginning with node 0.
    pub fn new(n: u64, count: u64, q: u64, variant: Variant, collectors: Collectors) -> Self {
        let mut sections = Self {
            rounds: 0,
            collectors: Vec::with_capacity(count as usize),
            section: vec![None; n as usize],
            circuits: vec![None; n as usize],
        };
        for i in 0..count {
            let (first, end) = (i * n / count, (i + 1) * n / count);
            let at = place(first, end - first, i, variant, collectors);
            sections.section[(first + at) as usize] = Some(i as usize);
            sections.collectors.push(first + at);
            let rounds = divide(end - first, at, q, variant, Carries::Bundle);
            sections.rounds = sections.rounds.max(rounds.len());
            for (round, circuits) in rounds.into_iter().enumerate() {
                for Circuit { from, to, first: served, count } in circuits {
                    let circuit = Circuit { from: first + from, to: first + to, first: first + served, count };
                    sections.circuits[circuit.to as usize] = Some((round, circuit));
                }
            }
        }
        sections
    }

    /// The section that this node of the cycle collects, if it does.
    pub fn collected_by(&self, node: u64) -> Option<usize> {
        self.section[node as usize]
    }

    /// The nodes of a section: the first, and how many.
    pub fn nodes(&self, section: usize) -> (u64, u64) {
        let (n, count, i) = (self.section.len() as u64, self.collectors.len() as u64, section as u64);
        let (first, end) = (i * n / count, (i + 1) * n / count);
        (first, end - first)
    }

    /// The circuit whose far end is this node, if it is in use in a round from the last: 0 is the last of a collection, the first of a distribution.
    pub fn circuit(&self, node: u64, from_last: usize) -> Option<Circuit> {
        self.circuits[node as usize].filter(|(round, _)| *round == from_last).map(|(_, circuit)| circuit)
    }
}

/// The collector's place in a section.
fn place(first: u64, count: u64, i: u64, variant: Variant, collectors: Collectors) -> u64 {
    let (usual, beside) = match variant {
        Variant::OnePort => (0, count - 1),
        _ => (count / 2, (count / 2).saturating_sub(1)),
    };
    let wanted = |at: u64| (first + at) % 2 == i % 2;
    match collectors {
        Collectors::Alternating if !wanted(usual) && wanted(beside) => beside,
        _ => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thesis_example_gathers_50_nodes_in_two_with_two_rounds() {
        // Fig. 4.2: a quarter of a cycle of 200 with two virtual channels.
        let sections = Sections::new(200, 8, 2, Variant::AllPorts, Collectors::Middle);
        assert_eq!(sections.rounds, 2);
        assert_eq!(sections.collectors[..2], [12, 37]);
    }

    #[test]
    fn every_node_is_collected_once_or_collects() {
        for n in 1..60 {
            for count in 1..=n {
                for variant in [Variant::OnePort, Variant::AllPorts] {
                    for collectors in [Collectors::Middle, Collectors::Alternating] {
                        let sections = Sections::new(n, count, 2, variant, collectors);
                        for node in 0..n {
                            let collects = sections.collected_by(node).is_some();
                            let through = (0..sections.rounds).filter(|r| sections.circuit(node, *r).is_some());
                            assert_eq!(through.count() + usize::from(collects), 1, "{node} of {n} in {count}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn alternating_collectors_are_even_and_odd_by_turns() {
        for variant in [Variant::OnePort, Variant::AllPorts] {
            let sections = Sections::new(48, 8, 2, variant, Collectors::Alternating);
            assert!(sections.collectors.iter().enumerate().all(|(i, c)| *c % 2 == i as u64 % 2));
        }
    }
}
