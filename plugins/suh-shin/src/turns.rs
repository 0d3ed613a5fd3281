//! An exchange where a node may be home to others: those of the last submesh live one submesh back, so that a home can have two partners. Such a step is done in
//! turns: messages in the order of sender and receiver, each in the first turn in which its sender, its receiver and all its links are free.

use crate::network::{Kind, Network};
use crate::post::{Move, Post};
use std::collections::HashSet;
use swapmeet_sdk::Stop;

/// A move of an exchange step, and the nodes of the machine between which it is.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    along: Move,
    from: u64,
    to: u64,
}

impl Exchange {
    pub(crate) fn new(network: &Network, along: Move) -> Self {
        let [from, to] = if network.is_padded() {
            [along.from, along.to].map(|node| network.physical(node))
        } else {
            [along.from, along.to]
        };
        Self { along, from, to }
    }

    /// The links that it crosses: the node each leaves, the axis, the way.
    fn links(&self, network: &Network) -> impl Iterator<Item = Resource> {
        let (axis, machine) = (self.along.axis, &network.machine);
        let way = match network.kind {
            Kind::Torus => self.along.way,
            Kind::Mesh => {
                if self.to > self.from {
                    1
                } else {
                    -1
                }
            }
        };
        let to = self.to;
        std::iter::successors(Some(self.from), move |node| Some(machine.shift(*node, axis, way.into())))
            .take_while(move |node| *node != to)
            .map(move |node| Resource::Link(node, axis, way))
    }
}

/// What a message takes of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Resource {
    Sender(u64),
    Receiver(u64),
    Link(u64, usize, i8),
}

/// Carries out one exchange step in as many turns as it takes.
pub(crate) fn carry_out(network: &Network, mut exchanges: Vec<Exchange>, post: &mut Post<'_, '_>) -> Result<(), Stop> {
    let (mut turns, mut count) = (vec![0; exchanges.len()], 1);
    if network.is_padded() {
        // The sort is stable: sends with the same ends, which are one message, stay in the order of the grid.
        exchanges.sort_by_key(|e| (e.from, e.to));
        (turns, count) = first_fit(network, &exchanges);
    }
    for turn in 0..count {
        post.schedule.step()?;
        exchanges.iter().zip(&turns).filter(|(_, at)| **at == turn).try_for_each(|(e, _)| post.send(&e.along))?;
    }
    Ok(())
}

/// The turn of each send, and the number of turns. Copies within a node need nothing and go first.
fn first_fit(network: &Network, sorted: &[Exchange]) -> (Vec<usize>, usize) {
    let mut turns: Vec<HashSet<Resource>> = vec![HashSet::new()];
    let mut assigned = Vec::with_capacity(sorted.len());
    for message in sorted.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
        let e = &message[0];
        let mut takes = Vec::new();
        if e.from != e.to {
            takes.extend([Resource::Sender(e.from), Resource::Receiver(e.to)]);
            takes.extend(e.links(network));
        }
        let free = |turn: &HashSet<Resource>| takes.iter().all(|resource| !turn.contains(resource));
        let chosen = turns.iter().position(free).unwrap_or(turns.len());
        if chosen == turns.len() {
            turns.push(HashSet::new());
        }
        turns[chosen].extend(takes);
        assigned.extend(std::iter::repeat_n(chosen, message.len()));
    }
    (assigned, turns.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::network;
    use crate::post::Destinations;

    /// The turns of sends along a line of a 1 x 10 torus, by their ends in the padded grid.
    fn turns(ends: &[(u64, u64)]) -> (Vec<usize>, usize) {
        let network = network(Kind::Torus, &[1, 10]);
        let mut exchanges: Vec<Exchange> = ends
            .iter()
            .map(|&(from, to)| {
                let [a, b] = [from, to].map(|v| network.home(1, v));
                let blocks = Destinations::Places { first: 0, count: 4 };
                Exchange::new(&network, Move { from, to, axis: 1, way: if a < b { 1 } else { -1 }, blocks })
            })
            .collect();
        exchanges.sort_by_key(|e| (e.from, e.to));
        first_fit(&network, &exchanges)
    }

    #[test]
    fn a_turn_has_room_for_what_shares_neither_ends_nor_links() {
        assert_eq!(turns(&[(0, 2), (2, 0), (4, 6), (6, 4)]), (vec![0, 0, 0, 0], 1), "nothing is shared");
        // 10 lives on 6: in the order of senders 4 -> 6, 6 -> 4, 6 -> 8, 8 -> 6.
        assert_eq!(turns(&[(4, 6), (6, 4), (8, 10), (10, 8)]), (vec![0, 0, 1, 1], 2), "a home with two partners");
        assert_eq!(turns(&[(0, 2), (1, 3)]), (vec![0, 1], 2), "a link is shared");
        assert_eq!(turns(&[(6, 8), (10, 8), (10, 6)]), (vec![0, 0, 0], 1), "one message, and a copy");
    }
}
