//! The messages of a step, in the order in which the schedule first sends them.
//!
//! In the model `flat`, a node processes its messages in this order. Sends with the same sender,
//! receiver and requested route form one message, at the position of the first of them.
//!
//! In most steps, each node sends to only one receiver and on one route, and its sends are merged
//! immediately. Other steps require a search, which takes time proportional to the number of sends
//! (times the number of routes between two nodes).

use crate::delivery::fault::Fault;
use crate::delivery::traced::Contents;
use crate::network::topology::Route;
use crate::simulation::listener::Interests;
use crate::simulation::step::Transfer;
use std::collections::HashMap;

const NONE: u32 = u32::MAX;
/// The [`Transfer::hops`] of a message that was merged into an earlier one. No route is this long.
const MERGED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SendNotes {
    pub contents: Contents,
    pub latest_arrival: u32,
}

#[derive(Debug)]
struct MessageNotes {
    contents: Option<Vec<Contents>>,
    latest_arrivals: Option<Vec<u32>>,
}

impl MessageNotes {
    fn push(&mut self, notes: SendNotes) {
        if let Some(contents) = &mut self.contents {
            contents.push(notes.contents);
        }
        if let Some(arrivals) = &mut self.latest_arrivals {
            arrivals.push(notes.latest_arrival);
        }
    }

    fn join(&mut self, message: usize, notes: SendNotes) {
        if let Some(contents) = &mut self.contents {
            contents[message] = contents[message].and(notes.contents);
        }
        if let Some(arrivals) = &mut self.latest_arrivals {
            arrivals[message] = arrivals[message].max(notes.latest_arrival);
        }
    }

    fn join_later(&mut self, message: usize, later: usize) {
        let contents = self.contents.as_ref().map(|all| all[later]).unwrap_or_default();
        let latest_arrival = self.latest_arrivals.as_ref().map_or(0, |all| all[later]);
        self.join(message, SendNotes { contents, latest_arrival });
    }

    fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        if let Some(contents) = &mut self.contents {
            let mut message = 0..;
            contents.retain(|_| message.next().is_some_and(&stays));
        }
        if let Some(arrivals) = &mut self.latest_arrivals {
            let mut message = 0..;
            arrivals.retain(|_| message.next().is_some_and(&stays));
        }
    }

    fn clear(&mut self) {
        self.contents.iter_mut().for_each(Vec::clear);
        self.latest_arrivals.iter_mut().for_each(Vec::clear);
    }
}

/// For each receiver, the last search that found a message to it, and the index of this message.
#[derive(Debug)]
enum LastFound {
    Table(Vec<(u64, u32)>),
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

#[derive(Debug)]
pub(crate) struct Messages {
    list: Vec<Transfer>,
    notes: MessageNotes,
    last: Vec<(u64, u32)>,
    has_several_messages: bool,
    earlier: Vec<u32>,
    /// During a search, for each message, the next message with the same sender and receiver.
    other_route: Vec<u32>,
    last_found: LastFound,
    search: u64,
}

impl Messages {
    pub(crate) fn new(nodes: usize, interests: Interests) -> Self {
        Self {
            list: Vec::new(),
            notes: MessageNotes {
                contents: interests.packing.then(Vec::new),
                latest_arrivals: interests.arrivals.then(Vec::new),
            },
            last: vec![(0, 0); nodes],
            has_several_messages: false,
            earlier: Vec::new(),
            other_route: Vec::new(),
            last_found: LastFound::Table(Vec::new()),
            search: 0,
        }
    }

    pub(crate) fn of_some(senders: usize) -> Self {
        let last_found = LastFound::Map(HashMap::new());
        Self { last_found, ..Self::new(senders, Interests::FACTS) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[inline]
    pub(crate) fn check_count(&self, step: u64, most: u64) -> Result<(), Fault> {
        if self.list.len() as u64 <= most {
            return Ok(());
        }
        Err(Fault::Refused(format!(
            "step {step} has more than {most} messages, which are held in memory until the step ends: an algorithm with several steps, such as pairwise, has fewer in each"
        )))
    }

    /// Adds a send. If a load is too large, it becomes the largest number. Only a double delivery,
    /// which is a fault, can cause this.
    pub(crate) fn add(&mut self, step: u64, sent: Transfer, notes: SendNotes) {
        let last = &mut self.last[sent.from as usize];
        let mut before = NONE;
        if last.0 == step {
            // Case 1: the sender's last message has the same receiver and route. Join the two.
            let message = &mut self.list[last.1 as usize];
            if (message.to, message.route) == (sent.to, sent.route) {
                message.load = message.load.saturating_add(sent.load);
                return self.notes.join(last.1 as usize, notes);
            }
            // Case 2: the receiver or the route differs. `earlier` links the messages of each
            // sender.
            if !self.has_several_messages {
                self.has_several_messages = true;
                self.earlier.clear();
                self.earlier.resize(self.list.len(), NONE);
            }
            before = last.1;
        }
        *last = (step, self.list.len() as u32);
        if self.has_several_messages {
            self.earlier.push(before);
        }
        self.list.push(sent);
        self.notes.push(notes);
    }

    pub(crate) fn merged(&mut self, routes: &[Route]) -> (&mut [Transfer], Option<&[Contents]>) {
        if std::mem::take(&mut self.has_several_messages) {
            self.merge_equal_ends(routes);
        }
        (&mut self.list, self.notes.contents.as_deref())
    }

    pub(crate) fn as_slice(&self) -> &[Transfer] {
        &self.list
    }

    pub(crate) fn latest_arrivals(&self) -> &[u32] {
        self.notes.latest_arrivals.as_deref().unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.notes.clear();
        self.has_several_messages = false;
    }

    fn merge_equal_ends(&mut self, routes: &[Route]) {
        let Self { list, notes, last, earlier, other_route, last_found, search, .. } = self;
        if let LastFound::Table(found) = last_found {
            found.resize(last.len(), (0, 0));
        }
        other_route.resize(list.len(), NONE);
        let mut any_merged = false;
        for i in 0..list.len() {
            let sender = list[i].from;
            if last[sender as usize].1 as usize != i {
                continue;
            }
            // Visit the messages of a sender from last to first. The visited messages to the same
            // receiver form a chain.
            *search += 1;
            let mut at = i as u32;
            while at != NONE {
                let first = at as usize;
                at = earlier[first];
                let found = last_found.of(list[first].to);
                let head = if found.0 == *search { found.1 } else { NONE };
                *found = (*search, first as u32);
                other_route[first] = head;
                // Merge a later message on the same route into this one, and remove it from the
                // chain.
                let (mut before, mut later) = (first, head);
                while later != NONE && !is_same_route(&list[first], &list[later as usize], routes) {
                    (before, later) = (later as usize, other_route[later as usize]);
                }
                if later != NONE {
                    let later = later as usize;
                    other_route[before] = other_route[later];
                    list[later].hops = MERGED;
                    list[first].load = list[first].load.saturating_add(list[later].load);
                    notes.join_later(first, later);
                    any_merged = true;
                }
            }
        }
        if any_merged {
            notes.retain(|message| list[message].hops != MERGED);
            list.retain(|t| t.hops != MERGED);
        }
    }
}

fn is_same_route(one: &Transfer, other: &Transfer, routes: &[Route]) -> bool {
    let route = |t: &Transfer| t.route.checked_sub(1).map(|i| &routes[i as usize]);
    one.route == other.route
        || route(one).zip(route(other)).is_some_and(|(one, other)| one.is(other))
}

/// Returns the number, from 1, of a route in the list of a step. If the route is new, it is added.
/// It is only compared with the newest routes, because schedules seldom use a path twice.
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

    #[test]
    fn too_many_messages_are_refused() {
        let mut messages = Messages::new(3, Interests::FACTS);
        let mut send = |to| {
            let sent = Transfer { from: 0, to, route: 0, hops: 0, load: 1 };
            messages.add(1, sent, SendNotes::default());
            messages.check_count(1, 1).map_err(|refused| refused.to_string())
        };
        assert_eq!(send(1), Ok(()));
        assert_eq!(
            send(2).unwrap_err(),
            "step 1 has more than 1 messages, which are held in memory until the step ends: an algorithm with several steps, such as pairwise, has fewer in each"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        /// Routes 2 and 3 are equal.
        #[test]
        fn sends_with_equal_ends_and_routes_form_one_message(
            steps in prop::collection::vec(prop::collection::vec((0_u32..5, 1_u32..5, 0_u32..4, 1_u64..9), 0..40), 1..4),
        ) {
            let signs = [vec![1], vec![-1], vec![-1]];
            let routes = signs.map(|signs| Route { signs, ..Route::default() });
            let mut messages = Messages::new(5, Interests { packing: true, arrivals: true, ..Interests::FACTS });
            for (number, sends) in (1..).zip(steps) {
                let mut expected: Vec<(Transfer, Contents, u32)> = Vec::new();
                for (step, (from, distance, route, load)) in (1..).zip(sends) {
                    let to = (from + distance) % 5;
                    let latest_arrival = step * 7 % 11;
                    let sent = Transfer { from, to, route, hops: 0, load };
                    let contents = Contents::one(load, 0, load as f64);
                    messages.add(number, sent, SendNotes { contents, latest_arrival });
                    let ends = |t: &Transfer| (t.from, t.to, t.route.min(2));
                    match expected.iter_mut().find(|(t, ..)| ends(t) == ends(&sent)) {
                        Some((first, all, latest)) => {
                            first.load += load;
                            *all = all.and(contents);
                            *latest = latest_arrival.max(*latest);
                        }
                        None => expected.push((sent, contents, latest_arrival)),
                    }
                }
                let (merged, contents) = messages.merged(&routes);
                let transfers: Vec<Transfer> = expected.iter().map(|(t, ..)| *t).collect();
                prop_assert_eq!(&*merged, transfers.as_slice());
                let all: Vec<Contents> = expected.iter().map(|(_, all, _)| *all).collect();
                prop_assert_eq!(contents, Some(all.as_slice()));
                let latest: Vec<u32> = expected.iter().map(|(.., latest)| *latest).collect();
                prop_assert_eq!(messages.latest_arrivals(), latest.as_slice());
                messages.clear();
            }
        }
    }
}
