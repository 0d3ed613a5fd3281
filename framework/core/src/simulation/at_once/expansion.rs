//! What all nodes do in a step, where the schedule says what one node of each orbit does: told node
//! by node, as the plan for everyone has it.
//!
//! Planning and proof stay those of representatives. Whoever reads more than facts sees one step at
//! a time written out: sends in the order of their senders, and of each sender in its own, since a
//! plan goes through the nodes that it is asked for once a step.

use super::AtOnce;
use crate::delivery::boxes::BitLayout;
use crate::delivery::exchange::{OrbitExchange, Rule, SentBoxes};
use crate::delivery::fault::Fault;
use crate::delivery::payload::Payload;
use crate::limits;
use crate::network::topology::Route;
use crate::simulation::listener::Sent;
use crate::simulation::listeners::Listeners;
use crate::simulation::messages::number_of;

/// What representatives did in the step under way.
#[derive(Debug)]
pub(super) struct Expansion {
    sends: Vec<RepresentativeSend>,
    routes: Vec<Route>,
    layout: BitLayout,
    /// What each node holds.
    held: Vec<u64>,
    /// What each has added to what it had.
    summed: Vec<u64>,
}

/// A send of a representative.
#[derive(Debug)]
struct RepresentativeSend {
    /// The sender's number among representatives.
    sender: u32,
    to: u64,
    copy: bool,
    combine: bool,
    /// Segments of blocks; `None` where the send put nothing on its way.
    load: Option<u64>,
    /// Blocks, where they are counted.
    blocks: u32,
    /// What went, where somebody looks at it.
    sent: SentBoxes,
    /// The route's number in the list, plus one.
    route: u32,
}

impl Expansion {
    pub(super) fn new(exchange: &OrbitExchange) -> Self {
        Self {
            sends: Vec::new(),
            routes: Vec::new(),
            layout: exchange.expanded_layout(),
            held: Vec::new(),
            summed: Vec::new(),
        }
    }

    /// What each node of the machine holds, as far as it was written out last.
    pub(super) fn held(&self) -> &[u64] {
        &self.held
    }

    /// What each node of the machine has added to what it had, as far as it was written out last.
    pub(super) fn summed(&self) -> &[u64] {
        &self.summed
    }

    /// A representative sends; `put` says what, if anything.
    pub(super) fn done(
        &mut self,
        exchange: &OrbitExchange,
        rule: &Rule<'_>,
        first: usize,
        load: Option<u64>,
        route: Option<&Route>,
        listeners: &Listeners<'_>,
    ) -> Result<(), Fault> {
        let order = exchange.group().order();
        if (self.sends.len() as u64).saturating_mul(order) >= limits::STEP_MESSAGES {
            return Err(Fault::Refused(format!(
                "step {} has more than {} messages, the most that are looked at one by one where one node of each orbit is planned for",
                exchange.step(),
                limits::STEP_MESSAGES
            )));
        }
        let sender = exchange.group().home(rule.from).0 as u32;
        let route = match (load, route) {
            (Some(_), Some(route)) => {
                self.routes.push(route.clone());
                self.routes.len() as u32
            }
            _ => 0,
        };
        self.sends.push(RepresentativeSend {
            sender,
            to: rule.to,
            copy: rule.copy,
            combine: rule.combine,
            load,
            blocks: if load.is_some() && (listeners.interests.sends || listeners.interests.packing)
            {
                exchange.in_flight_blocks(first)
            } else {
                0
            },
            sent: if load.is_some() && listeners.interests.sends {
                exchange.sent_boxes(first)
            } else {
                SentBoxes::default()
            },
            route,
        });
        Ok(())
    }
}

impl AtOnce {
    /// Tells what all nodes do in the step, or all up to the `last`.
    pub(super) fn write_out(&mut self, listeners: &mut Listeners<'_>, last: Option<u64>) {
        let Payload::Orbits(exchange) = &self.payload else { return };
        let Some(mut expansion) = self.expansion.take() else { return };
        let (group, nodes) = (exchange.group().clone(), exchange.placement().machine_nodes());
        expansion.sends.sort_by_key(|send| send.sender);
        let first =
            |sender: u64| expansion.sends.partition_point(|send| u64::from(send.sender) < sender);
        let firsts: Vec<usize> = (0..=group.representatives()).map(first).collect();
        let idle = expansion.sends.is_empty();
        for node in (0..last.map_or(nodes, |last| last + 1)).take_while(|_| !idle) {
            let (index, element) = group.home(node);
            for send in &expansion.sends[firsts[index]..firsts[index + 1]] {
                let route = (send.route as usize)
                    .checked_sub(1)
                    .map(|i| moved(&expansion.routes[i], |path| group.moved(path, element)));
                let ends = (node, group.moved(send.to, element));
                self.write_out_one(
                    listeners,
                    ends,
                    send,
                    element,
                    &expansion.layout,
                    route.as_ref(),
                );
            }
        }
        expansion.sends.clear();
        expansion.routes.clear();
        self.expansion = Some(expansion);
    }

    fn write_out_one(
        &mut self,
        listeners: &mut Listeners<'_>,
        ends: (u64, u64),
        send: &RepresentativeSend,
        element: u64,
        layout: &BitLayout,
        route: Option<&Route>,
    ) {
        let Some(load) = send.load else {
            // Nothing was refused.
            return drop(self.unsent(listeners, ends, None));
        };
        if let (true, Payload::Orbits(exchange)) = (listeners.interests.sends, &self.payload) {
            let boxes = exchange.expand(&send.sent, element, layout);
            let boxes = boxes.iter().map(Vec::as_slice).collect();
            let RepresentativeSend { copy, combine, .. } = *send;
            listeners.sent(&Sent { boxes, copy, combine, load, route, ..self.sent(ends, layout) });
        }
        let route = route.map_or(0, |route| number_of(&mut self.routes, route));
        self.count(listeners, ends, load, send.blocks, route);
    }

    /// Writes out what each node holds.
    pub(super) fn write_out_held(&mut self) {
        if let (Some(expansion), Payload::Orbits(exchange)) = (&mut self.expansion, &self.payload) {
            of_all(exchange, exchange.held(), &mut expansion.held);
        }
    }

    /// Writes out what each node has added to what it had.
    pub(super) fn write_out_summed(&mut self) {
        if let (Some(expansion), Payload::Orbits(exchange)) = (&mut self.expansion, &self.payload) {
            of_all(exchange, exchange.summed(), &mut expansion.summed);
        }
    }
}

/// For each node of the machine what its representative has.
fn of_all(exchange: &OrbitExchange, of_representatives: &[u64], of_nodes: &mut Vec<u64>) {
    let group = exchange.group();
    of_nodes.clear();
    of_nodes.extend(
        (0..exchange.placement().machine_nodes())
            .map(|node| of_representatives[group.home(node).0]),
    );
}

/// A route whose path, if it names one, goes over other nodes.
fn moved(route: &Route, node: impl Fn(u64) -> u64) -> Route {
    Route { path: route.path.iter().map(|on| node(*on)).collect(), ..route.clone() }
}
