//! In how many turns the circuits of a crowded round can be set up.
//!
//! The fullest link's circuits over q, rounded up, is the least conceivable: five circuits of two links each around a ring of five put two on every link, but no two of
//! them that share no link leave room for a third, so that it takes three turns, not two. The least number is a colouring problem (of paths); what is counted
//! here are the turns of one real arrangement, *first fit*: circuits in the order of their length, the longest first, each in the first turn in which all
//! its links, and the ports at either end, have room.

use crate::step::{Step, Transfer};
use crate::topology::Topology;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Rounds of so many circuits times links are not arranged: [`first_fit`] says `None`.
pub(super) const MOST_CROSSINGS: u64 = 1 << 22;

/// Room for circuits in one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// On a directed link.
    pub link: u64,
    /// At a node, for those it sends, and for those it receives; `None` for as many as there are.
    pub node: Option<u64>,
}

/// What fills up: a link, or a node in one of its two roles.
#[derive(Debug, Default)]
struct Resource {
    /// Circuits in each turn.
    taken: Vec<u64>,
    /// A bit a turn: whether it is full.
    full: Vec<u64>,
}

impl Resource {
    fn take(&mut self, turn: usize, room: u64) {
        if self.taken.len() <= turn {
            self.taken.resize(turn + 1, 0);
            self.full.resize(turn / 64 + 1, 0);
        }
        self.taken[turn] += 1;
        if self.taken[turn] >= room {
            self.full[turn / 64] |= 1 << (turn % 64);
        }
    }
}

/// The turns that first fit takes for a step; `None` where there is too much to arrange.
pub(super) fn first_fit(topology: &dyn Topology, step: &Step<'_>, room: Room) -> Option<u64> {
    let crossings = step.transfers.iter().fold(0, |sum: u64, t| sum.saturating_add(t.hops.into()));
    if crossings > MOST_CROSSINGS {
        return None;
    }
    let mut circuits: Vec<&Transfer> = step.transfers.iter().collect();
    circuits.sort_unstable_by_key(|t| (Reverse(t.hops), t.from, t.to));
    let mut links: HashMap<u64, usize> = HashMap::new();
    let mut resources: Vec<(Resource, u64)> = Vec::new();
    let mut ends: HashMap<(bool, u32), usize> = HashMap::new();
    let mut needed = Vec::new();
    let mut full = Vec::new();
    let mut turns = 0;
    for t in circuits {
        needed.clear();
        let way = t.way.checked_sub(1).map(|i| &step.ways[i as usize]);
        // It was a route when the step was measured.
        let _ = topology.route(t.from.into(), t.to.into(), way, &mut |run| {
            for link in (0..run.len).map(|i| run.first + i * run.stride) {
                needed.push(*links.entry(link).or_insert_with(|| add(&mut resources, room.link)));
            }
        });
        if let Some(node) = room.node {
            for end in [(true, t.from), (false, t.to)] {
                needed.push(*ends.entry(end).or_insert_with(|| add(&mut resources, node)));
            }
        }
        full.clear();
        for resource in &needed {
            let other = &resources[*resource].0.full;
            if full.len() < other.len() {
                full.resize(other.len(), 0);
            }
            full.iter_mut().zip(other).for_each(|(set, bits): (&mut u64, _)| *set |= bits);
        }
        let word = full.iter().position(|bits| *bits != u64::MAX).unwrap_or(full.len());
        let turn = word * 64 + full.get(word).map_or(0, |bits| bits.trailing_ones() as usize);
        for resource in &needed {
            let (resource, room) = &mut resources[*resource];
            resource.take(turn, *room);
        }
        turns = turns.max(turn as u64 + 1);
    }
    Some(turns)
}

fn add(resources: &mut Vec<(Resource, u64)>, room: u64) -> usize {
    resources.push((Resource::default(), room));
    resources.len() - 1
}

#[cfg(test)]
mod tests {
    use crate::model::test_steps::price;

    fn startups(topology: &str, machine: &str, sends: &[(u32, u32, u64)]) -> (f64, String) {
        let price = price(topology, &format!("free:model=circuit,startup_us=1,{machine}"), &[sends]);
        (price.parts.startup.unwrap(), price.note.unwrap_or_default())
    }

    fn shift(nodes: u32, by: u32) -> Vec<(u32, u32, u64)> {
        (0..nodes).map(|i| (i, (i + by) % nodes, 1)).collect()
    }

    #[test]
    fn five_arcs_of_two_links_around_a_ring_of_five_take_three_turns() {
        assert_eq!(startups("ring:5", "virtual_channels=1", &shift(5, 2)).0, 3.0);
        assert_eq!(startups("ring:5", "virtual_channels=2", &shift(5, 2)), (1.0, String::new()));
        assert_eq!(startups("ring:6", "virtual_channels=1", &shift(6, 2)).0, 2.0);
        assert_eq!(startups("ring:6", "virtual_channels=1", &shift(6, 3)).0, 3.0);
    }

    #[test]
    fn ports_have_room_for_as_many_circuits_as_links_have() {
        // Two circuits share a link; all three leave one node.
        let sends = [(0, 1, 1), (0, 2, 1), (0, 7, 1)];
        assert_eq!(startups("mesh:8", "virtual_channels=1,ports=all", &sends).0, 3.0);
        assert_eq!(startups("ring:8", "virtual_channels=1,ports=all", &sends).0, 2.0);
        assert_eq!(startups("ring:8", "virtual_channels=1,ports=1", &sends).0, 3.0);
        assert_eq!(startups("ring:8", "virtual_channels=2,ports=1", &sends).0, 2.0);
    }

    #[test]
    fn what_is_too_much_to_arrange_is_said_to_take_at_least_the_fullest_links_turns() {
        // 2100 circuits over 2100 links each: more than 2^22.
        let far: Vec<_> = (0..2100).map(|i| (i, i + 2100, 1)).collect();
        let (turns, note) = startups("mesh:4200", "virtual_channels=1", &far);
        assert_eq!(turns, 2100.0);
        assert_eq!(
            note,
            "priced in turns, at least 2100 in all: up to 2100 circuits at once on a link with virtual_channels=1; a round of more than 4194304 circuits \
             times links is not arranged"
        );
        let (_, note) = startups("mesh:40", "virtual_channels=1", &[(0, 20, 1), (1, 21, 1)]);
        assert_eq!(note, "priced in turns: up to 2 circuits at once on a link with virtual_channels=1");
    }
}
