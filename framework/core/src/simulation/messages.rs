//! The messages of a step, in the order in which the schedule names their ends.
//!
//! The order counts: a node of a flat machine works through its messages in it. Sends with the same
//! ends are one message, which keeps the place and the route of the first of them. Most steps have
//! each node send once, or to one node at a time; only the others are searched for equal ends, in
//! time proportional to their sends.

use crate::network::topology::Route;
use crate::simulation::listener::Interests;
use crate::simulation::step::Transfer;
use std::collections::HashMap;

/// In `earlier`: the sender has no earlier message in the step.
const NONE: u32 = u32::MAX;
/// In place of hops, which are not yet known: the message is one with an earlier one. No route is
/// as long.
const DROPPED: u32 = u32::MAX;

/// What else is known of one send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Beside {
    pub blocks: u32,
    pub after: u32,
}

/// Messages by receiver.
#[derive(Debug)]
enum Met {
    /// Where as many nodes may receive as send.
    Table(Vec<(u64, u32)>),
    /// Where only some of those that send are known.
    Map(HashMap<u32, (u64, u32)>),
}

impl Met {
    fn of(&mut self, receiver: u32) -> &mut (u64, u32) {
        match self {
            Self::Table(of) => &mut of[receiver as usize],
            Self::Map(of) => of.entry(receiver).or_insert((0, 0)),
        }
    }
}

/// Collects the messages of one step after another.
#[derive(Debug)]
pub(crate) struct Messages {
    list: Vec<Transfer>,
    /// Blocks in each message, where they are counted.
    blocks: Option<Vec<u32>>,
    /// What each message waits for, where that is followed.
    after: Option<Vec<u32>>,
    /// For each node, the step in which it last sent, and its last message then.
    last: Vec<(u64, u32)>,
    /// Whether some node sends to more than one other in this step.
    crowded: bool,
    /// In a crowded step, for each message the one that its sender named before it.
    earlier: Vec<u32>,
    /// For each receiver the search that last met it, and the message in which it did.
    met: Met,
    search: u64,
}

impl Messages {
    pub(crate) fn new(nodes: usize, interests: Interests) -> Self {
        Self {
            list: Vec::new(),
            blocks: interests.packing.then(Vec::new),
            after: interests.arrivals.then(Vec::new),
            last: vec![(0, 0); nodes],
            crowded: false,
            earlier: Vec::new(),
            met: Met::Table(Vec::new()),
            search: 0,
        }
    }

    /// The messages of so many of the nodes, which are known by number among these; their receivers
    /// may be any.
    pub(crate) fn of_some(senders: usize) -> Self {
        Self { met: Met::Map(HashMap::new()), ..Self::new(senders, Interests::FACTS) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a send to step number `step`, between two different nodes. Loads saturate only where
    /// blocks are delivered twice, which is a fault.
    pub(crate) fn add(&mut self, step: u64, sent: Transfer, beside: Beside) {
        let Transfer { from, to, load, .. } = sent;
        let last = &mut self.last[from as usize];
        let mut before = NONE;
        if last.0 == step {
            let message = &mut self.list[last.1 as usize];
            if message.to == to {
                message.load = message.load.saturating_add(load);
                if let Some(blocks) = &mut self.blocks {
                    blocks[last.1 as usize] = blocks[last.1 as usize].saturating_add(beside.blocks);
                }
                if let Some(after) = &mut self.after {
                    after[last.1 as usize] = after[last.1 as usize].max(beside.after);
                }
                return;
            }
            if !self.crowded {
                // Up to here every message is its sender's first.
                self.crowded = true;
                self.earlier.clear();
                self.earlier.resize(self.list.len(), NONE);
            }
            before = last.1;
        }
        *last = (step, self.list.len() as u32);
        if self.crowded {
            self.earlier.push(before);
        }
        self.list.push(sent);
        if let Some(blocks) = &mut self.blocks {
            blocks.push(beside.blocks);
        }
        if let Some(after) = &mut self.after {
            after.push(beside.after);
        }
    }

    /// All messages, no two with the same ends; and the blocks of each, where they are counted.
    pub(crate) fn merged(&mut self) -> (&mut [Transfer], Option<&[u32]>) {
        if std::mem::take(&mut self.crowded) {
            self.merge_equal_ends();
        }
        (&mut self.list, self.blocks.as_deref())
    }

    /// The same, to look at.
    pub(crate) fn as_slice(&self) -> &[Transfer] {
        &self.list
    }

    /// What each of them waits for; empty where that is not followed.
    pub(crate) fn after(&self) -> &[u32] {
        self.after.as_deref().unwrap_or_default()
    }

    /// Begins the next step.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        for beside in [&mut self.blocks, &mut self.after].into_iter().flatten() {
            beside.clear();
        }
        self.crowded = false;
    }

    fn merge_equal_ends(&mut self) {
        if let Met::Table(of) = &mut self.met {
            of.resize(self.last.len(), (0, 0));
        }
        let mut merged = false;
        for i in 0..self.list.len() {
            let sender = self.list[i].from;
            if self.last[sender as usize].1 as usize != i {
                continue;
            }
            // From a sender's last message back to its first: one met again is the earlier of the
            // two.
            self.search += 1;
            let mut at = i as u32;
            while at != NONE {
                let receiver = self.list[at as usize].to;
                let met = self.met.of(receiver);
                if met.0 == self.search {
                    let later = &mut self.list[met.1 as usize];
                    later.hops = DROPPED;
                    let load = later.load;
                    let first = &mut self.list[at as usize];
                    first.load = first.load.saturating_add(load);
                    if let Some(blocks) = &mut self.blocks {
                        blocks[at as usize] =
                            blocks[at as usize].saturating_add(blocks[met.1 as usize]);
                    }
                    if let Some(after) = &mut self.after {
                        after[at as usize] = after[at as usize].max(after[met.1 as usize]);
                    }
                    merged = true;
                }
                *met = (self.search, at);
                at = self.earlier[at as usize];
            }
        }
        if merged {
            for beside in [&mut self.blocks, &mut self.after].into_iter().flatten() {
                let mut stays = self.list.iter().map(|t| t.hops != DROPPED);
                beside.retain(|_| stays.next().unwrap_or(false));
            }
            self.list.retain(|t| t.hops != DROPPED);
        }
    }
}

/// The number of a route among those of a step. Schedules use few different ways, a direction each;
/// a path is seldom used twice.
pub(crate) fn number_of(routes: &mut Vec<Route>, route: &Route) -> u32 {
    const LOOK_BACK: usize = 16;
    let recent = routes.len().saturating_sub(LOOK_BACK);
    if let Some(i) = routes[recent..].iter().position(|w| w.is(route)) {
        return (recent + i) as u32 + 1;
    }
    routes.push(route.clone());
    routes.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Step after step: one message for each pair of ends, at the place and by the way of its
        /// first send, with the load of all and after all.
        #[test]
        fn equal_ends_are_one_message_at_the_place_of_the_first(
            steps in prop::collection::vec(prop::collection::vec((0_u32..5, 1_u32..5, 0_u32..3, 1_u64..9), 0..40), 1..4),
        ) {
            let mut messages = Messages::new(5, Interests { packing: true, arrivals: true, ..Interests::FACTS });
            for (number, sends) in (1..).zip(steps) {
                let (mut expected, mut latest): (Vec<Transfer>, Vec<u32>) = (Vec::new(), Vec::new());
                for (after, (from, distance, route, load)) in sends.into_iter().enumerate() {
                    let (to, after) = ((from + distance) % 5, after as u32 * 7 % 11);
                    let sent = Transfer { from, to, route, hops: 0, load };
                    messages.add(number, sent, Beside { blocks: load as u32, after });
                    match expected.iter().position(|t| (t.from, t.to) == (from, to)) {
                        Some(first) => {
                            expected[first].load += load;
                            latest[first] = latest[first].max(after);
                        }
                        None => {
                            expected.push(sent);
                            latest.push(after);
                        }
                    }
                }
                let (merged, blocks) = messages.merged();
                prop_assert_eq!(&*merged, expected.as_slice());
                let expected: Vec<u32> = expected.iter().map(|t| t.load as u32).collect();
                prop_assert_eq!(blocks, Some(expected.as_slice()), "counted as loads are");
                prop_assert_eq!(messages.after(), latest.as_slice());
                messages.clear();
            }
        }
    }
}
