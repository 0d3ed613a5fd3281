//! Executes sends, and adds them to the messages of the step.

use super::{Reported, Running};
use crate::delivery::boxes::{BitLayout, Layout};
use crate::delivery::byte_counts::ByteSend;
use crate::delivery::contents::Contents;
use crate::delivery::exchange::{Exchange, Rule};
use crate::delivery::fault::Fault;
use crate::delivery::payload::Payload;
use crate::limits;
use crate::network::topology::Route;
use crate::simulation::listener::{EmptySend, ScheduleEvent, Sent};
use crate::simulation::listeners::Listeners;
use crate::simulation::messages::{SendNotes, number_of};
use crate::simulation::step::Transfer;

impl Running {
    /// Executes a send of blocks. The route is only stored if the send moves data.
    #[inline]
    pub(in crate::simulation) fn send(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        // Send, and determine the moved blocks if a listener needs them.
        let wants_blocks = listeners.interests.packing;
        let sent = match &mut self.payload {
            Payload::Blocks(exchange) => send_and_note(exchange, rule, wants_blocks),
            Payload::Orbits(exchange) => send_and_note(exchange, rule, wants_blocks),
            Payload::Tokens(exchange) => {
                let load = exchange.send(rule);
                // The tokens of a class count as several blocks.
                load.map(|load| (0, load.map(|load| (load, Contents::Several))))
            }
            Payload::ByteCounts(_) => {
                let message = "the schedule sends blocks, but declared byte counts";
                return Err(Fault::OutOfOrder(message));
            }
        };
        let ends = (rule.from, rule.to);
        let (first, moved) = match sent {
            Ok(sent) => sent,
            Err(fault) => {
                // Also report the sends that a full plan would execute before the fault.
                self.expand_sends(listeners, Some(rule.from));
                self.report_empty_send(listeners, ends, true);
                return Err(fault);
            }
        };
        match (&mut self.reported, moved) {
            // Case 1: the sends of all nodes are reported at the end of the step.
            (Reported::Expanded(expansion), moved) => {
                let Payload::Orbits(exchange) = &self.payload else {
                    unreachable!("only the sends of orbits are expanded");
                };
                let load = moved.map(|(load, _)| load);
                return expansion.add(exchange, rule, first, load, route, listeners);
            }
            // Case 2: no data moved.
            (_, None) => self.report_empty_send(listeners, ends, false),
            // Case 3: each node is planned.
            (Reported::All, Some((load, contents))) => {
                if listeners.interests.sends {
                    self.report_boxes(listeners, rule, first, load, route);
                }
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.add_message(listeners, ends, load, contents, route);
                self.messages.check_count(self.step, limits::FULL_STEP_MESSAGES)?;
            }
            // Case 4: only representatives are planned and reported.
            (Reported::Representatives(links), Some((load, _))) => {
                let sender = links.group().home(rule.from).0 as u32;
                self.add_representative_message(rule, sender, load, route);
            }
        }
        Ok(())
    }

    /// Reports the boxes that a send moved. They are the boxes in flight from number `first` on.
    fn report_boxes(
        &self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        first: usize,
        load: u64,
        route: Option<&Route>,
    ) {
        let joined;
        let (boxes, layout, copy) = match &self.payload {
            Payload::Blocks(exchange) => (
                exchange.in_flight(first).map(|(_, bits)| bits).collect(),
                exchange.layout(),
                exchange.copies(rule),
            ),
            Payload::Tokens(exchange) => {
                joined = exchange.sent_boxes();
                let boxes = joined.iter().map(Vec::as_slice).collect();
                (boxes, exchange.layout(), exchange.copies(rule))
            }
            Payload::Orbits(_) | Payload::ByteCounts(_) => {
                unreachable!("a listener follows sends that are traced otherwise");
            }
        };
        let sent = self.sent((rule.from, rule.to), layout);
        let sent = Sent { boxes, copy, combine: rule.combine, load, route, ..sent };
        listeners.notify_of_send(ScheduleEvent::Sent(&sent));
    }

    /// Executes a send of byte counts.
    pub(in crate::simulation) fn send_bytes(
        &mut self,
        listeners: &mut Listeners<'_>,
        send: &ByteSend<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        let ends = (send.from, send.to);
        let sent = match &mut self.payload {
            Payload::ByteCounts(byte_counts) => byte_counts.send(send),
            _ => Err(Fault::OutOfOrder("the schedule sends byte counts, but did not declare them")),
        };
        let (Ok(Some(load)), Payload::ByteCounts(byte_counts)) = (&sent, &self.payload) else {
            self.report_empty_send(listeners, ends, sent.is_err());
            return sent.map(|_| ());
        };
        let (load, contents) = (*load, byte_counts.contents());
        if listeners.interests.sends {
            listeners.notify_of_send(ScheduleEvent::ByteSend(send));
            let sent = Sent { load, route, ..self.sent(ends, byte_counts.layout()) };
            listeners.notify_of_send(ScheduleEvent::Sent(&sent));
        }
        let route = route.map_or(0, |route| number_of(&mut self.routes, route));
        self.add_message(listeners, ends, load, contents, route);
        Ok(())
    }

    /// Reports a send that moved no data.
    pub(super) fn report_empty_send(
        &self,
        listeners: &mut Listeners<'_>,
        (from, to): (u64, u64),
        is_refused: bool,
    ) {
        let placement = self.payload.placement();
        if from.max(to) < placement.grid().nodes() {
            let (from, to) = (placement.locate(from), placement.locate(to));
            let send = EmptySend { step: self.step, from, to, is_refused };
            listeners.notify(ScheduleEvent::EmptySend(send));
        }
    }

    /// Returns a [`Sent`] with the fields that all sends between two nodes of the schedule's grid
    /// have in common.
    pub(super) fn sent<'a>(&'a self, (from, to): (u64, u64), layout: &'a BitLayout) -> Sent<'a> {
        let (payload, placement) = (&self.payload, self.payload.placement());
        Sent {
            step: self.step,
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

    /// Adds the most recent send, between two nodes of the schedule's grid, to the messages of the
    /// step.
    #[inline]
    pub(super) fn add_message(
        &mut self,
        listeners: &mut Listeners<'_>,
        (from, to): (u64, u64),
        load: u64,
        contents: Contents,
        route: u32,
    ) {
        if load == 0 && self.skip_empty {
            return;
        }
        let Self { payload, messages, buffers, .. } = self;
        let (placement, step) = (payload.placement(), self.step);
        let (from, to) = (placement.physical(from) as u32, placement.physical(to) as u32);
        if from == to {
            buffers.moved(from, from, load);
            listeners.local_copy(step, from, load, payload.segments());
        } else {
            // Replace a step number that does not fit into 32 bits by the largest 32-bit number.
            let latest_arrival = u32::try_from(payload.latest_arrival()).unwrap_or(u32::MAX);
            let notes = SendNotes { contents, latest_arrival };
            messages.add(step, Transfer { from, to, route, hops: 0, load }, notes);
        }
    }

    /// Adds a send of a representative. `sender` is its index among the representatives.
    fn add_representative_message(
        &mut self,
        rule: &Rule<'_>,
        sender: u32,
        load: u64,
        route: Option<&Route>,
    ) {
        if rule.from == rule.to {
            return self.buffers.moved(sender, sender, load);
        }
        let route = route.map_or(0, |route| number_of(&mut self.routes, route));
        let transfer = Transfer { from: sender, to: rule.to as u32, route, hops: 0, load };
        self.messages.add(self.step, transfer, SendNotes::default());
    }
}

/// The load and the contents of a send; `None` if it moved no data.
type Moved = Option<(u64, Contents)>;

/// Executes a send. Returns the number of its first box in flight, and its load and contents. The
/// contents are determined only if `wants_blocks`.
#[inline]
fn send_and_note<L: Layout>(
    exchange: &mut Exchange<L>,
    rule: &Rule<'_>,
    wants_blocks: bool,
) -> Result<(usize, Moved), Fault> {
    let load = exchange.send(rule)?;
    let first = exchange.latest_box();
    let Some(load) = load else { return Ok((first, None)) };
    let contents =
        if wants_blocks { exchange.in_flight_contents(first) } else { Contents::Nothing };
    Ok((first, Some((load, contents))))
}
