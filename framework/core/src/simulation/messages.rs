//! The messages of a step, in the order in which the schedule first names their ends.
//!
//! The order matters: a node of the model `flat` processes its messages in it. Sends with the same
//! ends form one message, which has the place and the route of the first of them. In most steps
//! each node sends once, or to one node at a time. Only the other steps are searched for equal
//! ends, in time proportional to their sends.

use crate::network::topology::Route;
use crate::simulation::listener::Interests;
use crate::simulation::step::Transfer;
use std::collections::HashMap;

/// A value of `earlier`: the sender has no earlier message in the step.
const NONE: u32 = u32::MAX;
/// A value of a message's hops, which are not known yet: the message was merged into an earlier
/// one. No route is this long.
const MERGED: u32 = u32::MAX;

/// Further properties of a send, which are only kept if a listener needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SendNotes {
    /// The number of blocks.
    pub blocks: u32,
    /// The latest step in which any of the data arrived at its sender.
    pub latest_arrival: u32,
}

/// For each receiver the last search that found a message to it, and that message.
#[derive(Debug)]
enum LastFound {
    /// By number, if any node may receive.
    Table(Vec<(u64, u32)>),
    /// By a map, if the senders are only some of the nodes.
    Map(HashMap<u32, (u64, u32)>),
}

impl LastFound {
    fn of(&mut self, receiver: u32) -> &mut (u64, u32) {
        match self {
            Self::Table(found) => &mut found[receiver as usize],
            Self::Map(found) => found.entry(receiver).or_insert((0, 0)),
        }
    }
}

/// Collects the messages of one step after the other.
#[derive(Debug)]
pub(crate) struct Messages {
    list: Vec<Transfer>,
    /// The number of blocks of each message, if a listener needs it.
    blocks: Option<Vec<u32>>,
    /// The latest arrival of the data of each message, if a listener needs it.
    latest_arrivals: Option<Vec<u32>>,
    /// For each node the last step in which it sent, and its last message in that step.
    last: Vec<(u64, u32)>,
    /// Whether some node sends to more than one receiver in this step.
    has_several_receivers: bool,
    /// For each message, the previous message of its sender; only filled if
    /// `has_several_receivers`.
    earlier: Vec<u32>,
    last_found: LastFound,
    search: u64,
}

impl Messages {
    pub(crate) fn new(nodes: usize, interests: Interests) -> Self {
        Self {
            list: Vec::new(),
            blocks: interests.packing.then(Vec::new),
            latest_arrivals: interests.arrivals.then(Vec::new),
            last: vec![(0, 0); nodes],
            has_several_receivers: false,
            earlier: Vec::new(),
            last_found: LastFound::Table(Vec::new()),
            search: 0,
        }
    }

    /// Collects the messages of this number of senders only, which are given by an index. Their
    /// receivers may be any nodes.
    pub(crate) fn of_some(senders: usize) -> Self {
        let last_found = LastFound::Map(HashMap::new());
        Self { last_found, ..Self::new(senders, Interests::FACTS) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a send between two different nodes to step number `step`. Loads saturate only if blocks
    /// are delivered twice, which is a fault.
    pub(crate) fn add(&mut self, step: u64, sent: Transfer, notes: SendNotes) {
        let last = &mut self.last[sent.from as usize];
        let mut before = NONE;
        if last.0 == step {
            // Case 1: the sender's last message has the same receiver. Join the two.
            let message = &mut self.list[last.1 as usize];
            if message.to == sent.to {
                message.load = message.load.saturating_add(sent.load);
                let at = last.1 as usize;
                return self.join_notes(at, notes);
            }
            // Case 2: another receiver. From now on remember each sender's earlier messages; so far
            // there are none.
            if !self.has_several_receivers {
                self.has_several_receivers = true;
                self.earlier.clear();
                self.earlier.resize(self.list.len(), NONE);
            }
            before = last.1;
        }
        *last = (step, self.list.len() as u32);
        if self.has_several_receivers {
            self.earlier.push(before);
        }
        self.list.push(sent);
        if let Some(blocks) = &mut self.blocks {
            blocks.push(notes.blocks);
        }
        if let Some(arrivals) = &mut self.latest_arrivals {
            arrivals.push(notes.latest_arrival);
        }
    }

    /// Adds the notes of a send to those of an earlier message.
    fn join_notes(&mut self, message: usize, notes: SendNotes) {
        if let Some(blocks) = &mut self.blocks {
            blocks[message] = blocks[message].saturating_add(notes.blocks);
        }
        if let Some(arrivals) = &mut self.latest_arrivals {
            arrivals[message] = arrivals[message].max(notes.latest_arrival);
        }
    }

    /// Returns all messages, no two with the same ends, and the number of blocks of each if these
    /// are counted.
    pub(crate) fn merged(&mut self) -> (&mut [Transfer], Option<&[u32]>) {
        if std::mem::take(&mut self.has_several_receivers) {
            self.merge_equal_ends();
        }
        (&mut self.list, self.blocks.as_deref())
    }

    /// Returns the messages as [`Messages::merged`] has left them.
    pub(crate) fn as_slice(&self) -> &[Transfer] {
        &self.list
    }

    /// Returns the latest arrival of each message's data; empty if these are not followed.
    pub(crate) fn latest_arrivals(&self) -> &[u32] {
        self.latest_arrivals.as_deref().unwrap_or_default()
    }

    /// Begins the next step.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        for notes in [&mut self.blocks, &mut self.latest_arrivals].into_iter().flatten() {
            notes.clear();
        }
        self.has_several_receivers = false;
    }

    /// Merges messages with the same ends, also those between which their sender has named other
    /// receivers.
    fn merge_equal_ends(&mut self) {
        if let LastFound::Table(found) = &mut self.last_found {
            found.resize(self.last.len(), (0, 0));
        }
        let mut any_merged = false;
        for i in 0..self.list.len() {
            let sender = self.list[i].from;
            if self.last[sender as usize].1 as usize != i {
                continue;
            }
            // Go from a sender's last message back to its first. If a receiver is found again, the
            // message found now is the earlier of the two.
            self.search += 1;
            let mut at = i as u32;
            while at != NONE {
                let receiver = self.list[at as usize].to;
                let found = self.last_found.of(receiver);
                let (is_again, later) = (found.0 == self.search, found.1 as usize);
                *found = (self.search, at);
                let first = at as usize;
                at = self.earlier[first];
                if is_again {
                    self.list[later].hops = MERGED;
                    let load = self.list[later].load;
                    self.list[first].load = self.list[first].load.saturating_add(load);
                    let note = |notes: &Option<Vec<u32>>| notes.as_ref().map_or(0, |n| n[later]);
                    let (blocks, latest_arrival) =
                        (note(&self.blocks), note(&self.latest_arrivals));
                    self.join_notes(first, SendNotes { blocks, latest_arrival });
                    any_merged = true;
                }
            }
        }
        if any_merged {
            for notes in [&mut self.blocks, &mut self.latest_arrivals].into_iter().flatten() {
                let mut stays = self.list.iter().map(|t| t.hops != MERGED);
                notes.retain(|_| stays.next().unwrap_or(false));
            }
            self.list.retain(|t| t.hops != MERGED);
        }
    }
}

/// Returns the number of a route in the list of a step, from 1, and adds the route if it is new.
/// Schedules use few different routes, one for each direction, and seldom use a path twice, so that
/// only the newest routes are compared.
pub(crate) fn number_of(routes: &mut Vec<Route>, route: &Route) -> u32 {
    const LOOK_BACK: usize = 16;
    let recent = routes.len().saturating_sub(LOOK_BACK);
    if let Some(i) = routes[recent..].iter().position(|other| other.is(route)) {
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
        /// In each of several steps, the sends between two ends form one message, with the place
        /// and route of the first send, the load of all, and the latest arrival of any.
        #[test]
        fn sends_with_equal_ends_form_one_message(
            steps in prop::collection::vec(prop::collection::vec((0_u32..5, 1_u32..5, 0_u32..3, 1_u64..9), 0..40), 1..4),
        ) {
            let mut messages = Messages::new(5, Interests { packing: true, arrivals: true, ..Interests::FACTS });
            for (number, sends) in (1..).zip(steps) {
                let (mut expected, mut latest): (Vec<Transfer>, Vec<u32>) = (Vec::new(), Vec::new());
                for (after, (from, distance, route, load)) in sends.into_iter().enumerate() {
                    let (to, after) = ((from + distance) % 5, after as u32 * 7 % 11);
                    let sent = Transfer { from, to, route, hops: 0, load };
                    messages.add(number, sent, SendNotes { blocks: load as u32, latest_arrival: after });
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
                prop_assert_eq!(blocks, Some(expected.as_slice()), "as many blocks as load");
                prop_assert_eq!(messages.latest_arrivals(), latest.as_slice());
                messages.clear();
            }
        }
    }
}
