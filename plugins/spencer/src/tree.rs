//! How a line of nodes is divided, again and again, around a node that has something for all of it (Fig. 3.1).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | q | `q` | circuits that a directed link carries |
//! | 2q + 1 | | sections a line is divided into with all ports: q to each side and the one in the middle |
//! | q + 1 | | sections with one port: q to one side and one's own |
//!
//! Read forwards this is a broadcast or a scatter, read backwards a gather, and on short lines the collection and distribution of chapter 4.

use crate::torus::Variant;

/// A circuit of a round: `from` informs `to`, which is to serve its section of `count` nodes from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Circuit {
    pub from: u64,
    pub to: u64,
    pub first: u64,
    pub count: u64,
}

/// A section of a line, and where in it the node is that serves it.
#[derive(Debug, Clone, Copy)]
struct Section {
    first: u64,
    count: u64,
    at: u64,
}

/// The circuits of each round that inform nodes 0 to `count` - 1 of a line from the one `at`.
///
/// With all ports that takes as many rounds as (2q+1)-fold sections need to reach from `at` to both ends, which for a node in the middle is
/// ceil(log_(2q+1) count). With one port `at` must be an end or [`one_port_start`], and it takes ceil(log_(q+1) count).
pub(crate) fn divide(count: u64, at: u64, q: u64, variant: Variant) -> Vec<Vec<Circuit>> {
    let mut rounds = Vec::new();
    let mut sections = vec![Section { first: 0, count, at }];
    loop {
        let (mut circuits, mut next) = (Vec::new(), Vec::new());
        for section in sections.iter().filter(|s| s.count > 1) {
            let (left, right) = match variant {
                Variant::OnePort => one_port(section, q),
                Variant::Hybrid | Variant::AllPorts => all_ports(section, q),
            };
            let own_first = section.first + left;
            next.push(Section { first: own_first, count: section.count - left - right, at: section.at });
            for (first, count, leftwards) in
                [(section.first, left, true), (section.first + section.count - right, right, false)]
            {
                for (first, count) in chunks(first, count, q) {
                    let to = match (variant, leftwards) {
                        (Variant::OnePort, true) => first + count - 1,
                        (Variant::OnePort, false) => first,
                        _ => first + count / 2,
                    };
                    circuits.push(Circuit { from: section.at, to, first, count });
                    next.push(Section { first, count, at: to });
                }
            }
        }
        if circuits.is_empty() {
            return rounds;
        }
        rounds.push(circuits);
        sections = next;
    }
}

/// Where with one port the node is that informs a whole cycle of n, cut open: at the end of its own section, so that the first circuit goes to a neighbour
/// (elsewhere switching costs more than n/2).
pub(crate) fn one_port_start(n: u64, q: u64) -> u64 {
    n.div_ceil(q + 1) - 1
}

/// `count` nodes from `first` on in q near-equal chunks; those of no node are left out.
fn chunks(first: u64, count: u64, q: u64) -> impl Iterator<Item = (u64, u64)> {
    let pieces = q.min(count);
    (0..pieces).map(move |i| {
        let (a, b) = (count * i / pieces, count * (i + 1) / pieces);
        (first + a, b - a)
    })
}

/// How many nodes to the left, and to the right, are handed to others in this round.
fn all_ports(section: &Section, q: u64) -> (u64, u64) {
    let sections = 2 * q + 1;
    let left = section.at - section.first;
    let right = section.count - 1 - left;
    // `reach` nodes to each side are served in the rounds after this one, by whoever is in the middle of them.
    let mut most = 1;
    while (most * sections - 1) / 2 < left.max(right) {
        most *= sections;
    }
    let reach = (most - 1) / 2;
    let even = section.count.div_ceil(sections);
    let keep = |side: u64, share: u64| share.clamp(side.saturating_sub(q * most), reach.min(side));
    (left - keep(left, even / 2), right - keep(right, (even - 1) / 2))
}

/// As [`all_ports`], from an end of the section to the other side; from elsewhere, to the right.
fn one_port(section: &Section, q: u64) -> (u64, u64) {
    let left = section.at - section.first;
    let right = section.count - 1 - left;
    let hand_on = section.count - section.count.div_ceil(q + 1);
    match (left, right) {
        (0, _) => (0, hand_on),
        (_, 0) => (hand_on, 0),
        (_, right) => (0, right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds_needed(count: u64, sections: u64) -> usize {
        let (mut reach, mut rounds) = (1, 0);
        while reach < count {
            reach *= sections;
            rounds += 1;
        }
        rounds
    }

    /// Everyone is informed once, by one who was informed before, for a section that the informer served; and no link of the line carries more than q a round.
    fn check(count: u64, at: u64, q: u64, variant: Variant) -> usize {
        let rounds = divide(count, at, q, variant);
        let mut serves = vec![(0, 0); count as usize];
        serves[at as usize] = (0, count);
        for round in &rounds {
            let mut loads = vec![[0; 2]; count as usize];
            let before = serves.clone();
            for c in round {
                let (first, of) = before[c.from as usize];
                assert!(of > 0, "{} isn't informed yet", c.from);
                assert!(c.first >= first && c.first + c.count <= first + of);
                assert!((c.first..c.first + c.count).contains(&c.to) && serves[c.to as usize].1 == 0);
                serves[c.to as usize] = (c.first, c.count);
                for link in c.from.min(c.to)..c.from.max(c.to) {
                    loads[link as usize][usize::from(c.to > c.from)] += 1;
                }
                let own = &mut serves[c.from as usize];
                // What is handed on lies at one end of what is served.
                if c.first > c.from {
                    own.1 = own.1.min(c.first - own.0);
                } else {
                    let end = own.0 + own.1;
                    own.0 = own.0.max(c.first + c.count);
                    own.1 = end - own.0;
                }
            }
            assert!(loads.iter().flatten().all(|load| *load <= q), "{count} from {at}, q = {q}");
            if variant == Variant::OnePort {
                for node in 0..count {
                    let sent: Vec<&Circuit> = round.iter().filter(|c| c.from == node).collect();
                    assert!(sent.iter().all(|c| c.to > node) || sent.iter().all(|c| c.to < node), "two ports");
                }
            }
        }
        assert!(serves.iter().all(|s| s.1 == 1), "{count} from {at}, q = {q}");
        rounds.len()
    }

    #[test]
    fn any_line_is_informed_in_the_fewest_rounds_its_sections_allow() {
        for q in 1..=4 {
            for count in 1..=130 {
                assert_eq!(check(count, count / 2, q, Variant::AllPorts), rounds_needed(count, 2 * q + 1));
                assert_eq!(check(count, 0, q, Variant::OnePort), rounds_needed(count, q + 1));
                assert_eq!(check(count, count - 1, q, Variant::OnePort), rounds_needed(count, q + 1));
                assert_eq!(check(count, one_port_start(count, q), q, Variant::OnePort), rounds_needed(count, q + 1));
            }
        }
    }

    #[test]
    fn with_all_ports_the_node_that_begins_may_be_anywhere() {
        for q in 1..=3 {
            for count in 1..=40 {
                for at in 0..count {
                    let farther = at.max(count - 1 - at);
                    assert_eq!(check(count, at, q, Variant::AllPorts), rounds_needed(2 * farther + 1, 2 * q + 1));
                }
            }
        }
    }
}
