//! Virtual nodes: how sizes that are no multiple of four (mesh: two) run on the machine there is.
//!
//! The paper gives them one sentence: add virtual nodes. Which node does their work, over which links, and what it
//! costs is left open. Here each dimension is padded at its end, and a virtual coordinate folds back to the one a
//! submesh earlier:
//!
//! * In a ring phase guest and host are in the same class. They send the same way to the same node, as one message, and
//!   the step from the one to the other is a local copy, so the phase takes no more steps than at the padded size. The
//!   ring is closed by one move that is longer or shorter than the others.
//! * In an exchange the guests of the last submesh live one submesh back, so that a host can have two partners. Such a
//!   step is done in turns: messages in the order of sender and receiver, each in the first turn in which its sender,
//!   its receiver and all its links are free.
//!
//! Rejected: all guests of a line on its last node. That is simpler, but then one node works for up to three others,
//! and the ring phases have to take turns too.

use crate::network::{Dimension, Kind, Network};
use crate::post::{Move, Post};
use std::collections::HashSet;
use std::iter::repeat_n;
use swapmeet_sdk::{Axis, Schedule, Stop};

impl Dimension {
    /// The coordinate of the machine that does the work of coordinate `v` of the padded grid: the one in the same group
    /// a submesh earlier. A side shorter than a submesh has none; there it is one of the same parity.
    pub fn host(&self, v: u32) -> u32 {
        let back = if self.size >= self.submesh { self.submesh } else { 2 };
        let mut v = v;
        while v >= self.size {
            v = v.saturating_sub(back);
        }
        v
    }

    /// The node of the machine reached from `node` when the coordinate of the padded grid goes from `here` to `there`.
    pub fn real_moved(&self, node: u64, here: u32, there: u32) -> u64 {
        node - u64::from(self.host(here)) * self.real_stride + u64::from(self.host(there)) * self.real_stride
    }

    /// The way of an exchange in a torus: the shorter one between the hosts, `inside` (that of the padded grid) where
    /// both are as short, 0 if one node hosts both.
    pub fn way(&self, here: u32, there: u32, inside: i8) -> i8 {
        let (from, to) = (self.host(here), self.host(there));
        let up = if to >= from { to - from } else { to + (self.size - from) };
        if up == 0 {
            return 0;
        }
        match up.cmp(&(self.size - up)) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => inside,
            std::cmp::Ordering::Greater => -1,
        }
    }

    /// Whether any blocks are at coordinate `v` when those from coordinates `reach` apart have been brought together,
    /// and those for a submesh of side `reach` are still together: some such origin and some such destination must be
    /// real.
    pub fn passes_on(&self, v: u32, reach: u32) -> bool {
        v % reach < self.size && v - v % reach < self.size
    }
}

/// The node of the machine that does the work of the node at `x`.
pub fn real(network: &Network, x: &[u32]) -> u64 {
    x.iter().zip(&network.dimensions).map(|(&v, d)| u64::from(d.host(v)) * d.real_stride).sum()
}

/// Tells the host who runs the padded grid. Virtual nodes own no blocks.
pub fn place(network: &Network, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    network.each_node(|x, node| {
        let owner = x.iter().zip(&network.dimensions).all(|(&v, d)| v < d.size);
        schedule.place(node, real(network, x), owner)
    })
}

/// A send of an exchange step that is to have its turn.
#[derive(Clone, Copy)]
pub struct Pending {
    /// The node of the machine that sends.
    pub real_from: u64,
    /// The node of the machine that receives.
    pub real_to: u64,
    /// The dimension of the move.
    pub dimension: usize,
    /// The move in the padded grid.
    pub along: Move,
    /// The places of a submesh along it that the blocks are for.
    pub places: Axis<'static>,
}

/// Carries out one exchange step in as many turns as it takes.
pub fn in_turns(network: &Network, mut pending: Vec<Pending>, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    // The sort is stable: sends with the same ends, which are one message, stay in the order of the grid.
    pending.sort_by_key(|p| (p.real_from, p.real_to));
    let (turns, count) = first_fit(network, &pending);
    for turn in 0..count {
        post.step()?;
        for (p, _) in pending.iter().zip(&turns).filter(|(_, t)| **t == turn) {
            post.send_to_places(&p.along, p.places)?;
        }
    }
    Ok(())
}

/// A directed link: the node it leaves, the dimension, whether it goes up.
type Link = (u64, usize, bool);

/// What the messages of a turn take.
#[derive(Default)]
struct Turn {
    senders: HashSet<u64>,
    receivers: HashSet<u64>,
    links: HashSet<Link>,
}

/// The turn of each send, and the number of turns. Copies within a node need nothing and go first.
fn first_fit(network: &Network, sorted: &[Pending]) -> (Vec<usize>, usize) {
    let mut turns: Vec<Turn> = vec![Turn::default()];
    let mut assigned = Vec::with_capacity(sorted.len());
    for message in sorted.chunk_by(|a, b| (a.real_from, a.real_to) == (b.real_from, b.real_to)) {
        let Some(p) = message.first() else { continue };
        let mut chosen = 0;
        if p.real_from != p.real_to {
            let links: Vec<Link> = links(network, p).collect();
            let free = |t: &Turn| {
                !t.senders.contains(&p.real_from)
                    && !t.receivers.contains(&p.real_to)
                    && links.iter().all(|link| !t.links.contains(link))
            };
            chosen = turns.iter().position(free).unwrap_or(turns.len());
            if chosen == turns.len() {
                turns.push(Turn::default());
            }
            let turn = &mut turns[chosen];
            turn.senders.insert(p.real_from);
            turn.receivers.insert(p.real_to);
            turn.links.extend(links);
        }
        assigned.extend(repeat_n(chosen, message.len()));
    }
    (assigned, turns.len())
}

/// The links that a message crosses: the node each leaves, the dimension, the way.
fn links(network: &Network, p: &Pending) -> impl Iterator<Item = Link> {
    let d = &network.dimensions[p.dimension];
    let size = u64::from(d.size);
    let at = |node: u64| node / d.real_stride % size;
    let (from, to) = (at(p.real_from), at(p.real_to));
    let up = match network.kind {
        Kind::Torus => p.along.way > 0,
        Kind::Mesh => to > from,
    };
    let hops = if up { (to + size - from) % size } else { (from + size - to) % size };
    let (first, stride, dimension) = (p.real_from - from * d.real_stride, d.real_stride, p.dimension);
    (0..hops).map(move |hop| {
        let c = if up { (from + hop) % size } else { (from + size - hop) % size };
        (first + c * stride, dimension, up)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimension(kind: Kind, size: u32) -> Dimension {
        Network::new(kind, &[1, u64::from(size)]).unwrap().dimensions[0].clone()
    }

    fn hosts(kind: Kind, size: u32) -> Vec<u32> {
        let d = dimension(kind, size);
        (0..d.padded).map(|v| d.host(v)).collect()
    }

    #[test]
    fn guests_fold_back_one_submesh() {
        assert_eq!(hosts(Kind::Torus, 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 7]);
        assert_eq!(hosts(Kind::Torus, 5), [0, 1, 2, 3, 4, 1, 2, 3]);
        assert_eq!(hosts(Kind::Mesh, 5), [0, 1, 2, 3, 4, 3]);
        assert_eq!(hosts(Kind::Mesh, 6), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn sides_below_a_submesh_fold_to_the_same_parity() {
        assert_eq!(hosts(Kind::Torus, 3), [0, 1, 2, 1]);
        assert_eq!(hosts(Kind::Torus, 2), [0, 1, 0, 1]);
        assert_eq!(hosts(Kind::Torus, 1), [0, 0, 0, 0]);
        assert_eq!(hosts(Kind::Mesh, 1), [0, 0]);
    }

    #[test]
    fn exchanges_go_the_shorter_way_between_hosts() {
        let way = |size, here, there| dimension(Kind::Torus, size).way(here, there, if here < there { 1 } else { -1 });
        assert_eq!((way(4, 0, 2), way(4, 2, 0)), (1, -1), "as short both ways: stays inside the submesh");
        assert_eq!((way(10, 8, 10), way(10, 10, 8)), (-1, 1), "10 lives on 6");
        assert_eq!((way(3, 0, 2), way(3, 2, 0)), (-1, 1), "round the end");
        assert_eq!(way(3, 1, 3), 0, "a copy");
    }

    /// Sends along a line of a 1 x 10 torus, by their ends in the padded grid.
    fn turns(ends: &[(u32, u32)]) -> (Vec<usize>, usize) {
        let network = Network::new(Kind::Torus, &[1, 10]).unwrap();
        let d = &network.dimensions[0];
        let mut pending: Vec<Pending> = ends
            .iter()
            .map(|&(from, to)| Pending {
                real_from: u64::from(d.host(from)),
                real_to: u64::from(d.host(to)),
                dimension: 0,
                along: Move { from: from.into(), to: to.into(), axis: d.axis, way: d.way(from, to, 1) },
                places: Axis::ALL,
            })
            .collect();
        pending.sort_by_key(|p| (p.real_from, p.real_to));
        first_fit(&network, &pending)
    }

    #[test]
    fn what_shares_nothing_goes_at_once() {
        assert_eq!(turns(&[(0, 2), (2, 0), (4, 6), (6, 4)]), (vec![0, 0, 0, 0], 1));
    }

    #[test]
    fn a_host_with_two_partners_takes_two_turns() {
        // 10 is a guest on 6: in the order of senders 4 -> 6, 6 -> 4, 6 -> 8, 8 -> 6.
        assert_eq!(turns(&[(4, 6), (6, 4), (8, 10), (10, 8)]), (vec![0, 0, 1, 1], 2));
    }

    #[test]
    fn messages_that_share_a_link_take_two_turns() {
        assert_eq!(turns(&[(0, 2), (1, 3)]), (vec![0, 1], 2));
    }

    #[test]
    fn equal_ends_are_one_message_and_copies_are_none() {
        assert_eq!(turns(&[(6, 8), (10, 8), (10, 6)]), (vec![0, 0, 0], 1));
    }
}
