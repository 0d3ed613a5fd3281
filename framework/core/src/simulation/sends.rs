//! Sends on their way from the schedule to messages, at once.

use super::{Kept, Simulation, State};
use crate::delivery::byte_counts::{Share, What};
use crate::delivery::exchange::Rule;
use crate::delivery::fault::Fault;
use crate::delivery::orbits::Put;
use crate::delivery::payload::Payload;
use crate::network::topology::Route;
use crate::simulation::messages::Beside;
use crate::simulation::step::{LocalCopy, Sent, Transfer, Unsent};

impl Simulation<'_> {
    /// Adds a send of blocks to the step. Where there are threads, what is wrong with it may be said by a later call.
    pub fn send(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> Result<(), Fault> {
        if let (State::Ahead(ahead), true) = (&mut self.state, self.in_step) {
            return if ahead.send(rule, route) { self.hand_over(true) } else { Ok(()) };
        }
        match self.in_step()? {
            Payload::Blocks(_) => self.send_at_once(rule, route),
            Payload::Orbits(_) => self.send_of_all(rule, route),
            Payload::ByteCounts(_) | Payload::LargeByteCounts(_) => {
                Err(Fault::OutOfOrder("the schedule sends blocks, but said that it moves byte counts"))
            }
        }
    }

    /// Carries out a send. Its `route` gets a number once it is known that something goes there.
    #[inline]
    fn send_at_once(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> Result<(), Fault> {
        let looked_at = self.watched || self.kept.blocks;
        let State::Running(payload) = &mut self.state else { return Ok(()) };
        let Payload::Blocks(exchange) = &mut **payload else { return Ok(()) };
        let before = if looked_at { exchange.boxes_on_their_way() } else { 0 };
        match exchange.send(rule) {
            Ok(Some(load)) => {
                let blocks = if looked_at { exchange.blocks_on_their_way(before) } else { 0 };
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.sent((rule.from, rule.to), Kept { copy: rule.copy, combine: rule.combine }, before, load, route);
                self.count((rule.from, rule.to), load, blocks, route);
                Ok(())
            }
            nothing => self.unsent((rule.from, rule.to), nothing.err()),
        }
    }

    /// Adds a send of byte counts to the step.
    pub fn send_shares(&mut self, share: &Share<'_>, route: Option<&Route>) -> Result<(), Fault> {
        match self.in_step()?.send_shares(share) {
            Ok(Some(load)) => {
                self.listeners.iter_mut().filter(|l| l.wants_sends()).for_each(|l| l.share(share));
                // Where data comes from is forgotten: what is for one node lies together, what a bucket holds is for many.
                let blocks = match share.what {
                    What::Bucket(_) => u32::MAX,
                    What::Listed(destinations) => u32::try_from(destinations.len()).unwrap_or(u32::MAX),
                };
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.sent((share.from, share.to), Kept::default(), 0, load, route);
                self.count((share.from, share.to), load, blocks, route);
                Ok(())
            }
            nothing => self.unsent((share.from, share.to), nothing.err()),
        }
    }

    /// Nothing was put on its way, perhaps because a rule was broken.
    pub(super) fn unsent(&mut self, (from, to): (u64, u64), fault: Option<Fault>) -> Result<(), Fault> {
        if let State::Running(payload) = &self.state
            && from.max(to) < payload.placement().grid().nodes()
        {
            let placement = payload.placement();
            let (from, to) = (placement.locate(from), placement.locate(to));
            let unsent = Unsent { step: payload.step(), from, to, is_refused: fault.is_some() };
            self.listeners.iter_mut().for_each(|listener| listener.unsent(&unsent));
        }
        fault.map_or(Ok(()), Err)
    }

    fn in_step(&mut self) -> Result<&mut Payload, Fault> {
        match &mut self.state {
            State::Running(payload) if self.in_step => Ok(payload),
            // Whose sends of blocks are queued.
            State::Ahead(_) if self.in_step => {
                Err(Fault::OutOfOrder("the schedule sends byte counts, but did not say that it moves them"))
            }
            State::Running(_) | State::Ahead(_) => Err(Fault::OutOfOrder(
                "the schedule sends between steps: a new one must begin after a phase's name, a redistribution or a rearrangement",
            )),
            State::Open { .. } => Err(Fault::OutOfOrder("the schedule sends before its first step")),
        }
    }

    /// Tells who wants to know what one send put on its way, boxes from number `before` on.
    #[inline]
    fn sent(&mut self, (from, to): (u64, u64), kept: Kept, before: usize, load: u64, route: u32) {
        if !self.watched {
            return;
        }
        let State::Running(payload) = &self.state else { return };
        let Some(layout) = payload.layout() else { return };
        let boxes = match &**payload {
            Payload::Blocks(exchange) => exchange.on_their_way(before).map(|(_, b)| b).collect(),
            Payload::Orbits(_) | Payload::ByteCounts(_) | Payload::LargeByteCounts(_) => Vec::new(),
        };
        let sent = Sent {
            step: payload.step(),
            after: payload.after(),
            from: payload.placement().locate(from),
            to: payload.placement().locate(to),
            proof: payload.proof(),
            boxes,
            layout,
            placement: payload.placement(),
            topology: self.task.topology.as_ref(),
            copy: kept.copy,
            combine: kept.combine,
            in_parts: payload.in_parts(),
            segments: payload.segments(),
            load,
            route: route.checked_sub(1).map(|number| &self.routes[number as usize]),
        };
        for listener in self.listeners.iter_mut().filter(|l| l.wants_sends()) {
            listener.sent(&sent);
        }
    }

    /// What the last send put on its way, from one node of the schedule's grid to another, becomes a message, or part of one.
    #[inline]
    pub(super) fn count(&mut self, (from, to): (u64, u64), load: u64, blocks: u32, route: u32) {
        let State::Running(payload) = &self.state else { return };
        if load == 0 && self.task.skip_empty {
            return;
        }
        let (placement, after, step) = (payload.placement(), payload.after(), payload.step());
        let (from, to) = (placement.physical(from) as u32, placement.physical(to) as u32);
        if from != to {
            // Of more steps than 32 bits count the latest is waited for, which is no less.
            let after = u32::try_from(after).unwrap_or(u32::MAX);
            let sent = Transfer { from, to, route, hops: 0, load };
            return self.messages.add(step, sent, Beside { blocks, after });
        }
        self.buffers.moved(from, from, load);
        let (segments, phase_number) = (payload.segments(), self.phase_number);
        let copy = LocalCopy { node: from, load, segments, phase_number, schedule_step: step };
        self.listeners.iter_mut().for_each(|listener| listener.local_copy(copy));
    }

    /// A representative sends, and with it all nodes of its orbit.
    fn send_of_all(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> Result<(), Fault> {
        let State::Running(payload) = &mut self.state else { return Ok(()) };
        let Payload::Orbits(exchange) = &mut **payload else { return Ok(()) };
        let sent = exchange.send(rule);
        match (&mut self.expansion, sent) {
            (Some(expansion), Ok(put)) => expansion.done(exchange, rule, put, route, self.watched, self.kept.blocks),
            (Some(_), Err(fault)) => {
                self.refused_of_all(rule);
                Err(fault)
            }
            (None, Ok(Some(put))) if self.orbits.is_some() => self.sent_by_all(rule, put, route),
            (None, Ok(Some(put))) => {
                let blocks = if self.kept.blocks { exchange.blocks_taken() } else { 0 };
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.count((rule.from, rule.to), put.load, blocks, route);
                Ok(())
            }
            (None, nothing) => self.unsent((rule.from, rule.to), nothing.err()),
        }
    }

    /// A representative put a load on its way, and with it all nodes of its orbit theirs.
    fn sent_by_all(&mut self, rule: &Rule<'_>, put: Put, route: Option<&Route>) -> Result<(), Fault> {
        let sender = put.sender as u32;
        if rule.from == rule.to {
            self.buffers.moved(sender, sender, put.load);
            return Ok(());
        }
        let route = route.map_or(0, |route| number_of(&mut self.routes, route));
        let State::Running(payload) = &self.state else { return Ok(()) };
        let sent = Transfer { from: sender, to: rule.to as u32, route, hops: 0, load: put.load };
        self.messages.add(payload.step(), sent, Beside::default());
        Ok(())
    }
}

/// The number of a route among those of a step. Schedules use few different ways, a direction each; a path is seldom used twice.
pub(super) fn number_of(routes: &mut Vec<Route>, route: &Route) -> u32 {
    const LOOK_BACK: usize = 16;
    let recent = routes.len().saturating_sub(LOOK_BACK);
    if let Some(i) = routes[recent..].iter().position(|w| w.is(route)) {
        return (recent + i) as u32 + 1;
    }
    routes.push(route.clone());
    routes.len() as u32
}
