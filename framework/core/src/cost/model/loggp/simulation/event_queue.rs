//! A priority queue of events, in which the earliest event is first.
//!
//! Ranks that do the same work have events at the same times. These events are usually added to the
//! queue in the order in which they are removed later. The queue therefore has a list for each kind
//! of event. An event that is not earlier than the last event of its list is appended to this list,
//! which is faster than a heap. All other events are in a heap.

use super::{Event, EventKind};
use crate::cost::model::clock::Ticks;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Debug, Clone, Default)]
pub(super) struct EventQueue {
    /// For each kind of event, a list of events, sorted in the order of their processing.
    lists: [VecDeque<Event>; 4],
    heap: BinaryHeap<Reverse<Event>>,
}

impl EventQueue {
    pub(super) fn push(&mut self, event: Event) {
        let list = &mut self.lists[match event.kind {
            EventKind::Send => 0,
            EventKind::Arrival(_) => 1,
            EventKind::Retry(_) => 2,
            EventKind::EndStep => 3,
        }];
        // Events are compared field by field. The times are compared by `<` and `<=`, because a
        // test for equality would be slow: the compiler would load a time with one vector
        // instruction, and the processor cannot forward the two 64-bit stores of a new time to this
        // load.
        let rest = |event: &Event| (event.sequence, event.rank, event.kind);
        let precedes =
            |last: &Event| last.at < event.at || last.at <= event.at && rest(last) <= rest(&event);
        if list.back().is_none_or(precedes) {
            list.push_back(event);
        } else {
            self.heap.push(Reverse(event));
        }
    }

    /// Returns the time of the earliest event.
    pub(super) fn first_time(&self) -> Option<Ticks> {
        let of_lists = self.lists.iter().filter_map(|list| Some(list.front()?.at));
        of_lists.chain(self.heap.peek().map(|Reverse(event)| event.at)).min()
    }

    /// Removes the earliest event.
    pub(super) fn pop(&mut self) -> Option<Event> {
        let first = self.lists.iter_mut().filter(|list| !list.is_empty());
        let first = first.min_by(|a, b| a.front().cmp(&b.front()));
        match (first, self.heap.peek()) {
            (Some(list), Some(Reverse(other))) if list.front() > Some(other) => {
                self.heap.pop().map(|Reverse(event)| event)
            }
            (Some(list), _) => list.pop_front(),
            (None, _) => self.heap.pop().map(|Reverse(event)| event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        /// Events leave the queue in the same order as a binary heap, also if other events are
        /// added between removals.
        #[test]
        fn events_leave_in_the_order_of_a_heap(
            actions in prop::collection::vec((0_u128..6, 0_u32..4, prop::bool::ANY), 1..60),
        ) {
            let (mut queue, mut heap) = (EventQueue::default(), BinaryHeap::new());
            for ((at, kind, is_pop), sequence) in actions.into_iter().zip(0..) {
                if is_pop {
                    prop_assert_eq!(queue.pop(), heap.pop().map(|Reverse(event)| event));
                }
                let kind = match kind {
                    0 => EventKind::Send,
                    1 => EventKind::Arrival(kind),
                    2 => EventKind::Retry(kind),
                    _ => EventKind::EndStep,
                };
                let event = Event { at, sequence, rank: 0, kind };
                queue.push(event);
                heap.push(Reverse(event));
            }
            while let Some(Reverse(event)) = heap.pop() {
                prop_assert_eq!(queue.pop(), Some(event));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
