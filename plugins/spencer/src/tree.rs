//! Repeated division of a line into sections. One node of the line has the data for all of it (Fig.
//! 3.1).
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
pub struct Circuit {
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

/// The content of circuits. Divisions with equally many rounds are compared by the blocks on the
/// most loaded link, and then by the lengths of circuits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// The same message (a broadcast). Each circuit on a link counts as one block.
    Message,
    /// One block for, or from, each node of the section (a scatter, gather or collection).
    Bundle,
}

/// Returns, for each round, the circuits that inform the nodes 0 to `count` - 1 of a line. At
/// first, only the node `at` has the data.
///
/// With all ports, the number of rounds depends on how far `at` is from the ends. From the middle,
/// it is ceil(log_(2q+1) count). With one port, `at` must be an end or [`one_port_start`], and
/// there are ceil(log_(q+1) count) rounds.
pub fn divide(
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
                    // With one port, the receiver is the near end of its chunk, so that circuits
                    // are short. With all ports, it is as near as possible while its reach still
                    // includes the far end.
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

/// Returns the cost of each round, which is the same if the circuits are used in reverse. `place`
/// returns a position on the line, and `blocks` the number of blocks of a circuit.
pub fn bundle_costs(
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

/// A cycle of n nodes is cut open to a line, on which one node with one port informs the others.
/// Returns the best position of this node: the last one of the first of q + 1 sections. In the
/// first round, the node keeps this section for itself. If it were at an end of the line, circuits
/// would be longer in total.
pub fn one_port_start(n: u64, q: u64) -> u64 {
    n.div_ceil(q + 1) - 1
}

/// Divides `count` nodes from `first` on into at most `most` chunks of nearly equal size. The
/// larger chunks are farther from the informing node.
fn chunks(first: u64, count: u64, most: u64, leftwards: bool) -> impl Iterator<Item = (u64, u64)> {
    let pieces = most.min(count);
    let edge = move |i: u64| {
        if leftwards { count - count * (pieces - i) / pieces } else { count * i / pieces }
    };
    (0..pieces).map(move |i| (first + edge(i), edge(i + 1) - edge(i)))
}

/// The *reach* of a node is the largest number of nodes on one side of it that it still has to
/// inform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reach {
    circuits: u64,
    nodes: u64,
    /// The largest number of nodes of one side that a node passed on to others in this round.
    passed_on: u64,
}

/// Sums over rounds, in this order: blocks on the most loaded link, links of the longest circuit.
type BlocksAndLinks = (u64, u64);

/// Returns the reach after each round, for the cheapest division with the fewest rounds. Before the
/// first round, it is `side`, the longer side of the line; after the last, it is 0.
///
/// A round that reduces the reach from s to s' makes c nodes on each side responsible for chunks of
/// m nodes. [`cheapest`] tries all c and s', each with only one value of m:
/// * For bundles, it is the smallest: m = ceil((s - s') / c). If c divides s - s' in every round,
///   the bundles of all rounds have `side` blocks in total.
/// * For messages, it is the largest: m = min(2 s' + 1, ceil(s / c)), because circuits to longer
///   chunks need fewer links. A node in the middle of its chunk has a reach of s'.
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

/// Returns the lowest cost of informing `nodes` nodes on each side, and the reach after the first
/// round.
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

/// Returns the lowest number of circuits to one side, summed over all rounds, that divide a line
/// into `sections`.
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

/// Returns the numbers of nodes to the left and right that a node passes on. A node at an end
/// passes on nodes at the opposite end. Any other node passes on those at the right end.
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
