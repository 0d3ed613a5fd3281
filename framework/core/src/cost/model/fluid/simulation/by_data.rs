//! The simulation with `order=data`: each rank sends its messages one after another, each as soon
//! as its data and a port are available. Late ranks are also here, with all orders.
//!
//! Events only record what they make available, and *touch* their ranks. When all events of the
//! present time have been processed, the touched ranks continue. A rank therefore reduces all data
//! that arrives at the same time together, and the order of these arrivals does not matter.

use super::super::in_flight::InFlight;
use super::Simulation;
use crate::cost::kind::Kind;
use crate::cost::model::asynchronous::data_order::Next;
use crate::cost::model::asynchronous::engine::{Progress, RankModel};
use crate::cost::model::clock::Clock;
use crate::cost::model::ticks::Ticks;
use crate::cost::model::time_space::{RankClock, TimeLine};

/// A message that waits until its receiver, which is late, enters the schedule.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldMessage {
    from: usize,
    to: usize,
    step: u64,
    /// The index of the message among the sends of its sender.
    index: u32,
    /// The time at which its sender posted it.
    posted: Clock<Ticks>,
}

impl Simulation {
    /// Records an event that may let a rank continue.
    pub(super) fn touch(&mut self, rank: usize, event: Clock<Ticks>) {
        let r = &mut self.ranks[rank];
        r.reach(event);
        if !std::mem::replace(&mut r.is_touched, true) {
            self.touched.push(rank);
        }
    }

    /// Lets all touched ranks continue: they reduce the data that has arrived, and begin their next
    /// sends.
    pub(super) fn continue_touched(&mut self) {
        for rank in std::mem::take(&mut self.touched) {
            self.ranks[rank].is_touched = false;
            self.reduce_arrived(rank);
            self.send_by_data(rank);
        }
    }

    /// Posts the rank's next send. The message starts immediately, because its receiver has posted
    /// all receives at the start. If the receiver is late, the message starts when the receiver
    /// enters.
    pub(super) fn post_by_data(&mut self, rank: usize) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else {
            unreachable!("only order=data sends by data");
        };
        let Next::Send(step, index) = order.next(rank, steps) else {
            unreachable!("rank {rank} has begun a send whose data is not available");
        };
        order.sent(rank);
        let to = steps.current(step).sends(rank)[index as usize].to as usize;
        let r = &mut self.ranks[rank];
        (r.is_starting, r.sending) = (false, r.sending + 1);
        let posted = *r.clock;
        if self.is_late(to) {
            self.held.push(HeldMessage { from: rank, to, step, index, posted });
        } else {
            self.start_message(rank, step, index, posted.max(self.ranks[to].entered));
        }
    }

    /// Begins the rank's next sends whose data is available, as far as it has ports.
    pub(super) fn send_by_data(&mut self, rank: usize) {
        while !self.ranks[rank].is_starting
            && let Some((step, index)) = self.progress.next_send(rank)
        {
            let r = &mut self.ranks[rank];
            if u64::from(r.sending) >= self.machine.ports.count() {
                return;
            }
            (r.is_starting, r.clock) = (true, RankClock::beginning(r.ended));
            if self.machine.has_startups() {
                self.begin_startup(rank, step, index);
            } else {
                self.post_by_data(rank);
            }
        }
    }

    /// Completes a message of a step at its sender and its receiver.
    pub(super) fn arrive_by_data(
        &mut self,
        [from, to]: [usize; 2],
        step: u64,
        message: &InFlight,
        arrival: Clock<Ticks>,
    ) {
        // A rank does not wait for a message during a start-up.
        for rank in [from, to] {
            if !self.ranks[rank].is_starting {
                self.end_wait(rank, message, arrival);
            }
        }
        self.progress.steps.received(step, to);
        self.ranks[from].sending -= 1;
        self.touch(from, arrival);
        self.touch(to, arrival);
    }

    /// Begins to reduce all data that has arrived.
    fn reduce_arrived(&mut self, rank: usize) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else {
            unreachable!("only order=data reduces at arrivals");
        };
        let bytes = order.begin_reduction(rank, steps);
        if bytes > 0.0
            && !self.begin_reduction(rank, bytes, self.ranks[rank].ended)
            && let Some(order) = &mut self.progress.data_order
        {
            order.end_reduction(rank);
        }
    }

    /// Returns whether a rank is late and has not entered yet.
    pub(super) fn is_late(&self, rank: usize) -> bool {
        self.late.get(rank).is_some_and(|at| *at > 0)
    }

    /// Lets a late rank enter the schedule. It posts its sends and receives now.
    pub(super) fn enter_late(&mut self, rank: usize) {
        self.late[rank] = 0;
        let r = &mut self.ranks[rank];
        r.clock.wait_until(
            self.now,
            Kind::Peer,
            &mut TimeLine::of(&mut self.progress.record, rank),
        );
        let entered = *r.clock;
        r.entered = entered;
        if self.progress.data_order.is_none() {
            r.reach(entered);
            return self.enter_step(rank);
        }
        self.touch(rank, entered);
        let held: Vec<HeldMessage> = self.held.extract_if(.., |held| held.to == rank).collect();
        for HeldMessage { from, step, index, posted, .. } in held {
            self.start_message(from, step, index, entered.max(posted));
        }
    }
}
