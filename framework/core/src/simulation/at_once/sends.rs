//! Sends on their way from the schedule to messages, at once.

use super::AtOnce;
use crate::delivery::boxes::BitLayout;
use crate::delivery::byte_counts::{ByteSelection, ByteSend};
use crate::delivery::exchange::Rule;
use crate::delivery::fault::Fault;
use crate::delivery::payload::Payload;
use crate::network::topology::Route;
use crate::simulation::listener::{EmptySend, ScheduleEvent, Sent};
use crate::simulation::listeners::Listeners;
use crate::simulation::messages::{Beside, number_of};
use crate::simulation::step::Transfer;

impl AtOnce {
    /// Carries out a send of blocks.
    #[inline]
    pub(in crate::simulation) fn send(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        match &self.payload {
            Payload::Blocks(_) => self.send_blocks(listeners, rule, route),
            Payload::Orbits(_) => self.send_of_all(listeners, rule, route),
            Payload::ByteCounts(_) | Payload::LargeByteCounts(_) => {
                Err(Fault::OutOfOrder("the schedule sends blocks, but declared byte counts"))
            }
        }
    }

    /// Carries out a node's send. Its `route` gets a number once it is known that something goes
    /// there.
    #[inline]
    fn send_blocks(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        let looked_at = listeners.interests.sends || listeners.interests.packing;
        let Payload::Blocks(exchange) = &mut self.payload else { return Ok(()) };
        let before = if looked_at { exchange.in_flight_boxes() } else { 0 };
        match exchange.send(rule) {
            Ok(Some(load)) => {
                let blocks = if looked_at { exchange.in_flight_blocks(before) } else { 0 };
                if listeners.interests.sends {
                    self.watched(listeners, rule, before, load, route);
                }
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.count(listeners, (rule.from, rule.to), load, blocks, route);
                Ok(())
            }
            nothing => self.unsent(listeners, (rule.from, rule.to), nothing.err()),
        }
    }

    /// Shows what a node's send put on its way: boxes from number `before` on.
    fn watched(
        &self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        before: usize,
        load: u64,
        route: Option<&Route>,
    ) {
        let Payload::Blocks(exchange) = &self.payload else { return };
        let boxes = exchange.in_flight(before).map(|(_, b)| b).collect();
        let (copy, combine) = (rule.copy, rule.combine);
        let any = self.sent((rule.from, rule.to), exchange.layout());
        listeners.sent(&Sent { boxes, copy, combine, load, route, ..any });
    }

    /// Carries out a send of byte counts.
    pub(in crate::simulation) fn send_bytes(
        &mut self,
        listeners: &mut Listeners<'_>,
        share: &ByteSend<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        let ends = (share.from, share.to);
        match self.payload.send_bytes(share) {
            Ok(Some(load)) => {
                if let (true, Some(layout)) = (listeners.interests.sends, self.payload.layout()) {
                    listeners.notify_of_send(ScheduleEvent::ByteSend(share));
                    listeners.sent(&Sent { load, route, ..self.sent(ends, layout) });
                }
                // Where data comes from is forgotten: what is for one node lies together, what a
                // bucket holds is for many.
                let blocks = match share.what {
                    ByteSelection::Bucket(_) => u32::MAX,
                    ByteSelection::Listed(destinations) => {
                        u32::try_from(destinations.len()).unwrap_or(u32::MAX)
                    }
                };
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.count(listeners, ends, load, blocks, route);
                Ok(())
            }
            nothing => self.unsent(listeners, ends, nothing.err()),
        }
    }

    /// Nothing was put on its way, perhaps because a rule was broken.
    pub(super) fn unsent(
        &self,
        listeners: &mut Listeners<'_>,
        (from, to): (u64, u64),
        fault: Option<Fault>,
    ) -> Result<(), Fault> {
        let placement = self.payload.placement();
        if from.max(to) < placement.grid().nodes() {
            let (from, to) = (placement.locate(from), placement.locate(to));
            listeners.empty_send(EmptySend {
                step: self.payload.step(),
                from,
                to,
                is_refused: fault.is_some(),
            });
        }
        fault.map_or(Ok(()), Err)
    }

    /// What there is to know of any send from one node of the schedule's grid to another.
    pub(super) fn sent<'a>(&'a self, (from, to): (u64, u64), layout: &'a BitLayout) -> Sent<'a> {
        let (payload, placement) = (&self.payload, self.payload.placement());
        Sent {
            step: payload.step(),
            latest_arrival: payload.latest_arrival(),
            from: placement.locate(from),
            to: placement.locate(to),
            proof: payload.proof(),
            boxes: Vec::new(),
            layout,
            placement,
            topology: self.topology.as_ref(),
            copy: false,
            combine: false,
            in_parts: payload.in_parts(),
            segments: payload.segments(),
            load: 0,
            route: None,
        }
    }

    /// What the last send put on its way, from one node of the schedule's grid to another, becomes
    /// a message, or part of one.
    #[inline]
    pub(super) fn count(
        &mut self,
        listeners: &mut Listeners<'_>,
        (from, to): (u64, u64),
        load: u64,
        blocks: u32,
        route: u32,
    ) {
        if load == 0 && self.skip_empty {
            return;
        }
        let Self { payload, messages, buffers, .. } = self;
        let (placement, step) = (payload.placement(), payload.step());
        let (from, to) = (placement.physical(from) as u32, placement.physical(to) as u32);
        if from != to {
            // Of more steps than 32 bits count the latest is waited for, which is no less.
            let after = u32::try_from(payload.latest_arrival()).unwrap_or(u32::MAX);
            return messages.add(
                step,
                Transfer { from, to, route, hops: 0, load },
                Beside { blocks, after },
            );
        }
        buffers.moved(from, from, load);
        listeners.local_copy(step, from, load, payload.segments());
    }

    /// A representative sends, and with it all nodes of its orbit.
    fn send_of_all(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        let Payload::Orbits(exchange) = &mut self.payload else { return Ok(()) };
        let first = exchange.in_flight_boxes();
        let sent = exchange.send(rule);
        match (&mut self.expansion, sent) {
            (Some(expansion), Ok(load)) => {
                expansion.done(exchange, rule, first, load, route, listeners)
            }
            (Some(_), Err(fault)) => {
                // What a plan for everyone would have done before.
                self.write_out(listeners, Some(rule.from));
                self.unsent(listeners, (rule.from, rule.to), Some(fault))
            }
            (None, Ok(Some(load))) if self.orbits.is_some() => {
                let sender = exchange.group().home(rule.from).0 as u32;
                self.sent_by_all(rule, sender, load, route);
                Ok(())
            }
            (None, Ok(Some(load))) => {
                let blocks =
                    if listeners.interests.packing { exchange.in_flight_blocks(first) } else { 0 };
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.count(listeners, (rule.from, rule.to), load, blocks, route);
                Ok(())
            }
            (None, nothing) => self.unsent(listeners, (rule.from, rule.to), nothing.err()),
        }
    }

    /// A representative put a load on its way, and with it all nodes of its orbit theirs.
    fn sent_by_all(&mut self, rule: &Rule<'_>, sender: u32, load: u64, route: Option<&Route>) {
        if rule.from == rule.to {
            self.buffers.moved(sender, sender, load);
            return;
        }
        let route = route.map_or(0, |route| number_of(&mut self.routes, route));
        let sent = Transfer { from: sender, to: rule.to as u32, route, hops: 0, load };
        self.messages.add(self.payload.step(), sent, Beside::default());
    }
}
