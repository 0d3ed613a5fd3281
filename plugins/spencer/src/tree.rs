//! Repeated division of a line into sections, around a node that has data for all of it (Fig. 3.1).
//!
//! | symbol | meaning |
//! | --- | --- |
//! | 2q + 1 | number of sections of a line with all ports: q on each side, and the middle section |
//! | q + 1 | number of sections with one port: q on one side, and the section of the node that has the data |

use crate::cost::Cost;
use crate::torus::Variant;
use std::collections::HashMap;

/// A circuit after which `to` is responsible for the `count` nodes from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Circuit {
    pub from: u64,
    pub to: u64,
    pub first: u64,
    pub count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    first: u64,
    count: u64,
    at: u64,
}

/// Determines the cost of divisions with equally many rounds: first the blocks on the most loaded
/// link, then the lengths of circuits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// The same message (a broadcast). The blocks of a link are its circuits.
    Message,
    /// One block for, or from, each node of the section (a scatter, gather or collection).
    Bundle,
}

/// Returns for each round the circuits that inform the nodes 0 to `count` - 1 of a line, of which
/// `at` has the data. With all ports, there are as many rounds as `at` needs to reach both ends,
/// from the middle ceil(log_(2q+1) count). With one port, `at` is an end or [`one_port_start`], and
/// there are ceil(log_(q+1) count) rounds.
pub(crate) fn divide(
    count: u64,
    at: u64,
    q: u64,
    variant: Variant,
    payload: Payload,
) -> Vec<Vec<Circuit>> {
    let mut rounds = Vec::new();
    let mut sections = vec![Section { first: 0, count, at }];
    let mut reaches = match variant {
        Variant::OnePort => Vec::new(),
        Variant::Hybrid | Variant::AllPorts => reaches(at.max(count - 1 - at), q, payload),
    }
    .into_iter();
    loop {
        let reach = reaches.next();
        let (mut circuits, mut next) = (Vec::new(), Vec::new());
        for section in sections.iter().filter(|s| s.count > 1) {
            let (left, right) = match reach {
                None => one_port(section, q),
                Some(reach) => all_ports(section, reach.passed_on),
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
                    // The receiver is at the near end of its chunk (one port), or as near as still
                    // reaches the far end (all ports), so that circuits are short.
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

/// Returns the costs of the rounds of bundles in reverse order. `place` is a position on the line,
/// `blocks` those of a circuit.
pub(crate) fn bundle_costs(
    rounds: &[Vec<Circuit>],
    place: impl Fn(u64) -> i64,
    blocks: impl Fn(&Circuit) -> f64,
) -> Vec<Cost> {
    let cost = |round: &Vec<Circuit>| {
        let costs = round.iter().map(|c| {
            // Circuits from a node to the same side share the first link on that side.
            let shares = |d: &&Circuit| d.from == c.from && (d.to > d.from) == (c.to > c.from);
            let shared = round.iter().filter(shares).count() as f64;
            Cost {
                rounds: 1,
                links: place(c.from).abs_diff(place(c.to)),
                blocks: shared * blocks(c),
            }
        });
        costs.fold(Cost::default(), Cost::parallel)
    };
    rounds.iter().map(cost).collect()
}

/// Returns where the data starts if a cycle of n nodes is cut open and informed through one port:
/// at the last node of the first section, because circuits from an end would be longer in total.
pub(crate) fn one_port_start(n: u64, q: u64) -> u64 {
    n.div_ceil(q + 1) - 1
}

/// Divides `count` nodes from `first` on into at most `most` chunks of nearly equal size, the
/// larger ones farther from the informing node.
fn chunks(first: u64, count: u64, most: u64, leftwards: bool) -> impl Iterator<Item = (u64, u64)> {
    let pieces = most.min(count);
    let edge = move |i: u64| {
        if leftwards { count - count * (pieces - i) / pieces } else { count * i / pieces }
    };
    (0..pieces).map(move |i| (first + edge(i), edge(i + 1) - edge(i)))
}

/// The *reach* is the largest number of nodes on one side for which a node is still responsible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reach {
    circuits: u64,
    nodes: u64,
    /// The most nodes of one side that a node passed on in this round.
    passed_on: u64,
}

/// Sums over rounds, in this order: blocks on the most loaded link, links of the longest circuit.
type BlocksAndLinks = (u64, u64);

/// Returns the reach after each round, for the cheapest division with the fewest rounds. Before the
/// first round, it is `side`, the longer side of the line; after the last, it is 0.
///
/// A round that reduces the reach from s to s' makes c nodes on each side responsible for chunks of
/// m nodes. [`cheapest`] tries all c and s' with only one value of m:
/// * bundles: the smallest, m = ceil((s - s') / c). If c divides s - s' in every round, the bundles
///   of all rounds have `side` blocks in total.
/// * messages: the largest, m = min(2 s' + 1, ceil(s / c)), because longer chunks need fewer links.
///   A node in the middle of its chunk has a reach of s'.
///
/// As long as m > s', the farthest newly responsible node is s - s' links away, so the longest
/// circuits have `side` links in total.
fn reaches(side: u64, q: u64, payload: Payload) -> Vec<Reach> {
    let mut rounds = 0;
    while most_reach(rounds, q) < side {
        rounds += 1;
    }
    let mut known = HashMap::new();
    let mut reaches = Vec::new();
    let mut nodes = side;
    for left in (1..=rounds).rev() {
        let (_, reach) = cheapest(nodes, left, q, payload, &mut known);
        nodes = reach.nodes;
        reaches.push(reach);
    }
    reaches
}

fn most_reach(rounds: u32, q: u64) -> u64 {
    ((2 * q + 1).saturating_pow(rounds) - 1) / 2
}

type Known = HashMap<(u64, u32), (BlocksAndLinks, Reach)>;

/// Returns the lowest cost of reaching `nodes` nodes on each side, and the first reach.
fn cheapest(
    nodes: u64,
    rounds: u32,
    q: u64,
    payload: Payload,
    known: &mut Known,
) -> (BlocksAndLinks, Reach) {
    let stay = ((0, 0), Reach { circuits: 1, nodes, passed_on: 0 });
    if nodes == 0 || rounds == 0 {
        return stay;
    }
    if let Some(found) = known.get(&(nodes, rounds)) {
        return *found;
    }
    let mut best: Option<(BlocksAndLinks, Reach)> = None;
    let least = least_cost(nodes, rounds, q, payload);
    'all: for circuits in (1..=q.min(nodes)).rev() {
        let first = (nodes - circuits).div_ceil(2 * circuits + 1);
        for after in first..=most_reach(rounds - 1, q).min(nodes - 1) {
            let chunk = match payload {
                Payload::Bundle => (nodes - after).div_ceil(circuits),
                Payload::Message => (2 * after + 1).min(nodes.div_ceil(circuits)),
            };
            let blocks = if payload == Payload::Bundle { circuits * chunk } else { circuits };
            let links = nodes - after.min(chunk - 1);
            let (rest, _) = cheapest(after, rounds - 1, q, payload, known);
            let cost = (blocks + rest.0, links + rest.1);
            if best.is_none_or(|(so_far, _)| cost < so_far) {
                best = Some((cost, Reach { circuits, nodes: after, passed_on: circuits * chunk }));
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

fn least_cost(nodes: u64, rounds: u32, q: u64, payload: Payload) -> BlocksAndLinks {
    (
        if payload == Payload::Bundle { nodes } else { least_circuits(2 * nodes + 1, rounds, q) },
        nodes,
    )
}

/// Returns the fewest circuits to one side, over all rounds, that divide a line into `sections`.
fn least_circuits(sections: u64, rounds: u32, q: u64) -> u64 {
    if sections <= 1 || rounds == 0 {
        return 0;
    }
    let holds = |c: &u64| sections.div_ceil(2 * c + 1) <= 2 * most_reach(rounds - 1, q) + 1;
    let with = |c: u64| c + least_circuits(sections.div_ceil(2 * c + 1), rounds - 1, q);
    (1..=q).filter(holds).map(with).min().unwrap_or(q)
}

fn all_ports(section: &Section, most: u64) -> (u64, u64) {
    let left = section.at - section.first;
    let right = section.count - 1 - left;
    (left.min(most), right.min(most))
}

/// A node at an end passes on nodes at the opposite end, any other node those at the right end.
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

    /// Every node is informed once, by an informed node that was responsible for it, and no link
    /// carries more than q circuits in a round.
    fn check(count: u64, at: u64, q: u64, variant: Variant, payload: Payload) -> usize {
        let rounds = divide(count, at, q, variant, payload);
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

    const PAYLOADS: [Payload; 2] = [Payload::Message, Payload::Bundle];

    #[test]
    fn every_line_takes_the_fewest_rounds() {
        for (q, count, payload) in
            (1..=4).flat_map(|q| (1..=130).flat_map(move |n| PAYLOADS.map(|c| (q, n, c))))
        {
            let rounds = |at, variant| check(count, at, q, variant, payload);
            assert_eq!(rounds(count / 2, Variant::AllPorts), rounds_needed(count, 2 * q + 1));
            for at in [0, count - 1, one_port_start(count, q)] {
                assert_eq!(rounds(at, Variant::OnePort), rounds_needed(count, q + 1));
            }
        }
    }

    #[test]
    fn all_ports_may_begin_at_any_node() {
        for (q, count, payload) in
            (1..=3).flat_map(|q| (1..=40).flat_map(move |n| PAYLOADS.map(|c| (q, n, c))))
        {
            for at in 0..count {
                let needed = rounds_needed(2 * at.max(count - 1 - at) + 1, 2 * q + 1);
                assert_eq!(check(count, at, q, Variant::AllPorts, payload), needed);
            }
        }
    }

    fn cost(count: u64, at: u64, q: u64, payload: Payload) -> (u64, u64, u64) {
        let mut rounds = divide(count, at, q, Variant::AllPorts, payload);
        if payload == Payload::Message {
            rounds.iter_mut().flatten().for_each(|circuit| circuit.count = 1);
        }
        let cost: Cost =
            bundle_costs(&rounds, |node| node as i64, |c| c.count as f64).into_iter().sum();
        (cost.rounds, cost.links, cost.blocks as u64)
    }

    #[test]
    fn a_cycle_takes_about_half_of_its_links_and_blocks() {
        for (q, count) in (1..=4).flat_map(|q| (2..=200).map(move |count| (q, count))) {
            let (rounds, links, blocks) = cost(count, count / 2, q, Payload::Message);
            assert_eq!(links, count / 2, "{count}, q = {q}");
            assert!(blocks <= q * rounds, "{count}, q = {q}: {blocks} blocks");
            let (_, links, blocks) = cost(count, count / 2, q, Payload::Bundle);
            assert!(
                links <= count / 2 + 1 && blocks < count / 2 + q,
                "{count}, q = {q}: {links} links, {blocks} blocks"
            );
        }
    }

    #[test]
    fn a_cycle_of_32_uses_both_channels_in_one_round() {
        assert_eq!(cost(32, 16, 2, Payload::Message), (3, 16, 4));
        assert_eq!(cost(32, 16, 2, Payload::Bundle), (3, 16, 16));
    }
}
