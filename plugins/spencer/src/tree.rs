//! How a line of nodes is divided, again and again, around a node that has something for all of it
//! (Fig. 3.1).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | q | `q` | circuits that a directed link carries |
//! | 2q + 1 | | sections a line is divided into with all ports: q to each side and the one in the middle |
//! | q + 1 | | sections with one port: q to one side and one's own |
//!
//! Read forwards this is a broadcast or a scatter, read backwards a gather, and on short lines the
//! collection and distribution of chapter 4.

use crate::cost::Cost;
use crate::torus::Variant;
use std::collections::HashMap;

/// A circuit of a round: `from` informs `to`, which is to serve its section of `count` nodes from
/// `first` on.
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

/// What a circuit carries: of two divisions in as few rounds the one of fewer blocks is better,
/// then that of shorter circuits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    /// The same message on each, as a broadcast's do: circuits that share a link are what costs.
    Message,
    /// A message for, or from, each node of the section: a scatter, a gather, a collection.
    Bundle,
}

/// The circuits of each round that inform nodes 0 to `count` - 1 of a line from the one `at`.
///
/// With all ports that takes as many rounds as (2q+1)-fold sections need to reach from `at` to both
/// ends, which for a node in the middle is ceil(log_(2q+1) count). With one port `at` must be an
/// end or [`one_port_start`], and it takes ceil(log_(q+1) count).
pub(crate) fn divide(
    count: u64,
    at: u64,
    q: u64,
    variant: Variant,
    carries: Carries,
) -> Vec<Vec<Circuit>> {
    let mut rounds = Vec::new();
    let mut sections = vec![Section { first: 0, count, at }];
    let mut reaches = match variant {
        Variant::OnePort => Vec::new(),
        Variant::Hybrid | Variant::AllPorts => reaches(at.max(count - 1 - at), q, carries),
    }
    .into_iter();
    loop {
        let reach = reaches.next();
        let (mut circuits, mut next) = (Vec::new(), Vec::new());
        for section in sections.iter().filter(|s| s.count > 1) {
            let (left, right) = match reach {
                None => one_port(section, q),
                Some(reach) => all_ports(section, reach.handed_on),
            };
            let own_first = section.first + left;
            next.push(Section {
                first: own_first,
                count: section.count - left - right,
                at: section.at,
            });
            for (first, count, leftwards) in
                [(section.first, left, true), (section.first + section.count - right, right, false)]
            {
                for (first, count) in chunks(
                    first,
                    count,
                    reach.map_or(q, |reach| reach.circuits),
                    leftwards && reach.is_some(),
                ) {
                    let far = match reach {
                        None => count - 1,
                        Some(reach) => (count - 1).saturating_sub(reach.nodes),
                    };
                    // With one port at the near end; otherwise as near as its reach to the far end
                    // allows, so that circuits are short.
                    let to = match (reach, leftwards) {
                        (None, true) | (Some(_), false) => first + far,
                        (None, false) | (Some(_), true) => first + count - 1 - far,
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

/// What each round costs where every circuit carries a bundle of so many blocks, read forwards or
/// backwards; `place` says how far along the line a node is.
pub(crate) fn bundle_costs(
    rounds: &[Vec<Circuit>],
    place: impl Fn(u64) -> i64,
    blocks: impl Fn(&Circuit) -> f64,
) -> Vec<Cost> {
    let cost = |round: &Vec<Circuit>| {
        let costs = round.iter().map(|c| {
            // All that lead to a side share its first link.
            let shares = |d: &&Circuit| d.from == c.from && (d.to > d.from) == (c.to > c.from);
            let shared = round.iter().filter(shares).count() as f64;
            Cost {
                rounds: 1,
                links: place(c.from).abs_diff(place(c.to)),
                blocks: shared * blocks(c),
            }
        });
        costs.fold(Cost::default(), Cost::beside)
    };
    rounds.iter().map(cost).collect()
}

/// Where with one port the node is that informs a whole cycle of n, cut open: at the end of its own
/// section, so that the first circuit goes to a neighbour (elsewhere switching costs more than
/// n/2).
pub(crate) fn one_port_start(n: u64, q: u64) -> u64 {
    n.div_ceil(q + 1) - 1
}

/// `count` nodes from `first` on in near-equal chunks, at most so many, the larger ones far from
/// whoever informs them; those of no node are left out.
fn chunks(first: u64, count: u64, most: u64, leftwards: bool) -> impl Iterator<Item = (u64, u64)> {
    let pieces = most.min(count);
    let edge = move |i: u64| {
        if leftwards { count - count * (pieces - i) / pieces } else { count * i / pieces }
    };
    (0..pieces).map(move |i| (first + edge(i), edge(i + 1) - edge(i)))
}

/// After a round: how many nodes to each side of whoever is informed are still to be, and how many
/// circuits led to a side in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reach {
    circuits: u64,
    nodes: u64,
    /// The most nodes of a side that were handed on in it.
    handed_on: u64,
}

/// Blocks through the fullest link and links of the longest circuit, each summed over rounds:
/// compared in this order.
type BlocksAndLinks = (u64, u64);

/// The reach after each round for a line of which `side` nodes lie to the farther side: of the
/// divisions in the fewest rounds the cheapest.
///
/// From reach s to s' a side hands on h nodes, at least s - s', over c circuits in chunks of m =
/// ceil(h / c), none more than 2 s' + 1. As long as m > s' the farthest of them is informed s - s'
/// links away, so that all rounds together take `side` links. Bundles are smallest with h = s - s':
/// `side` blocks in all, where every c divides. A message is no longer for longer chunks, which
/// take fewer links: h is as large as it may be.
fn reaches(side: u64, q: u64, carries: Carries) -> Vec<Reach> {
    let mut rounds = 0;
    while most_reach(rounds, q) < side {
        rounds += 1;
    }
    let mut known = HashMap::new();
    let mut reaches = Vec::new();
    let mut nodes = side;
    for left in (1..=rounds).rev() {
        let (_, reach) = cheapest(nodes, left, q, carries, &mut known);
        nodes = reach.nodes;
        reaches.push(reach);
    }
    reaches
}

/// How far to each side so many rounds reach.
fn most_reach(rounds: u32, q: u64) -> u64 {
    ((2 * q + 1).saturating_pow(rounds) - 1) / 2
}

type Known = HashMap<(u64, u32), (BlocksAndLinks, Reach)>;

/// What reaching so many nodes to each side in so many rounds costs, and the reach after the first
/// of them.
fn cheapest(
    nodes: u64,
    rounds: u32,
    q: u64,
    carries: Carries,
    known: &mut Known,
) -> (BlocksAndLinks, Reach) {
    let stay = ((0, 0), Reach { circuits: 1, nodes, handed_on: 0 });
    if nodes == 0 || rounds == 0 {
        return stay;
    }
    if let Some(found) = known.get(&(nodes, rounds)) {
        return *found;
    }
    let mut best: Option<(BlocksAndLinks, Reach)> = None;
    let least = least_cost(nodes, rounds, q, carries);
    'all: for circuits in (1..=q.min(nodes)).rev() {
        let first = (nodes - circuits).div_ceil(2 * circuits + 1);
        for after in first..=most_reach(rounds - 1, q).min(nodes - 1) {
            let chunk = match carries {
                Carries::Bundle => (nodes - after).div_ceil(circuits),
                Carries::Message => (2 * after + 1).min(nodes.div_ceil(circuits)),
            };
            let blocks = if carries == Carries::Bundle { circuits * chunk } else { circuits };
            let links = nodes - after.min(chunk - 1);
            let (rest, _) = cheapest(after, rounds - 1, q, carries, known);
            let cost = (blocks + rest.0, links + rest.1);
            if best.is_none_or(|(so_far, _)| cost < so_far) {
                best = Some((cost, Reach { circuits, nodes: after, handed_on: circuits * chunk }));
            }
            if cost <= least {
                break 'all;
            }
        }
    }
    let found = best.unwrap_or(stay);
    known.insert((nodes, rounds), found);
    found
}

/// What no division goes below.
fn least_cost(nodes: u64, rounds: u32, q: u64, carries: Carries) -> BlocksAndLinks {
    (
        if carries == Carries::Bundle { nodes } else { least_circuits(2 * nodes + 1, rounds, q) },
        nodes,
    )
}

/// The fewest circuits to a side, summed over at most so many rounds, that make as many sections.
fn least_circuits(sections: u64, rounds: u32, q: u64) -> u64 {
    if sections <= 1 || rounds == 0 {
        return 0;
    }
    let holds = |c: &u64| sections.div_ceil(2 * c + 1) <= 2 * most_reach(rounds - 1, q) + 1;
    let with = |c: u64| c + least_circuits(sections.div_ceil(2 * c + 1), rounds - 1, q);
    (1..=q).filter(holds).map(with).min().unwrap_or(q)
}

/// How many nodes to the left, and to the right, are handed to others in a round in which that may
/// be so many to a side.
fn all_ports(section: &Section, most: u64) -> (u64, u64) {
    let left = section.at - section.first;
    let right = section.count - 1 - left;
    (left.min(most), right.min(most))
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

    /// Everyone is informed once, by one who was informed before, for a section that the informer
    /// served; and no link of the line carries more than q a round.
    fn check(count: u64, at: u64, q: u64, variant: Variant, carries: Carries) -> usize {
        let rounds = divide(count, at, q, variant, carries);
        let mut serves = vec![(0, 0); count as usize];
        serves[at as usize] = (0, count);
        for round in &rounds {
            let mut loads = vec![[0; 2]; count as usize];
            let before = serves.clone();
            for c in round {
                let (first, of) = before[c.from as usize];
                assert!(of > 0, "{} isn't informed yet", c.from);
                assert!(c.first >= first && c.first + c.count <= first + of);
                assert!(
                    (c.first..c.first + c.count).contains(&c.to) && serves[c.to as usize].1 == 0
                );
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
                    assert!(
                        sent.iter().all(|c| c.to > node) || sent.iter().all(|c| c.to < node),
                        "two ports"
                    );
                }
            }
        }
        assert!(serves.iter().all(|s| s.1 == 1), "{count} from {at}, q = {q}");
        rounds.len()
    }

    const CARRIED: [Carries; 2] = [Carries::Message, Carries::Bundle];

    #[test]
    fn any_line_is_informed_in_the_fewest_rounds_its_sections_allow() {
        for (q, count, carries) in
            (1..=4).flat_map(|q| (1..=130).flat_map(move |n| CARRIED.map(|c| (q, n, c))))
        {
            let rounds = |at, variant| check(count, at, q, variant, carries);
            assert_eq!(rounds(count / 2, Variant::AllPorts), rounds_needed(count, 2 * q + 1));
            for at in [0, count - 1, one_port_start(count, q)] {
                assert_eq!(rounds(at, Variant::OnePort), rounds_needed(count, q + 1));
            }
        }
    }

    #[test]
    fn with_all_ports_the_node_that_begins_may_be_anywhere() {
        for (q, count, carries) in
            (1..=3).flat_map(|q| (1..=40).flat_map(move |n| CARRIED.map(|c| (q, n, c))))
        {
            for at in 0..count {
                let needed = rounds_needed(2 * at.max(count - 1 - at) + 1, 2 * q + 1);
                assert_eq!(check(count, at, q, Variant::AllPorts, carries), needed);
            }
        }
    }

    /// Rounds, links of the longest circuits, blocks through the fullest link.
    fn cost(count: u64, at: u64, q: u64, carries: Carries) -> (u64, u64, u64) {
        let mut rounds = divide(count, at, q, Variant::AllPorts, carries);
        if carries == Carries::Message {
            rounds.iter_mut().flatten().for_each(|circuit| circuit.count = 1);
        }
        let cost: Cost =
            bundle_costs(&rounds, |node| node as i64, |c| c.count as f64).into_iter().sum();
        (cost.rounds, cost.links, cost.blocks as u64)
    }

    #[test]
    fn a_cycle_takes_little_more_than_half_of_its_links_and_blocks() {
        for (q, count) in (1..=4).flat_map(|q| (2..=200).map(move |count| (q, count))) {
            let (rounds, links, blocks) = cost(count, count / 2, q, Carries::Message);
            assert_eq!(links, count / 2, "{count}, q = {q}");
            assert!(blocks <= q * rounds, "{count}, q = {q}: {blocks} blocks");
            let (_, links, blocks) = cost(count, count / 2, q, Carries::Bundle);
            assert!(
                links <= count / 2 + 1 && blocks < count / 2 + q,
                "{count}, q = {q}: {links} links, {blocks} blocks"
            );
        }
    }

    #[test]
    fn a_cycle_of_32_with_two_channels_needs_both_in_one_round_only() {
        assert_eq!(cost(32, 16, 2, Carries::Message), (3, 16, 4));
        assert_eq!(cost(32, 16, 2, Carries::Bundle), (3, 16, 16));
    }
}
