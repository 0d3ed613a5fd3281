//! The expansion of a symmetric schedule. Only one node of each orbit, its representative, is
//! planned and traced, but a listener reads the sends or messages of all nodes.
//!
//! The sends of a step are reported in ascending order of their senders. The sends of a node are in
//! the order of its representative's sends. This is also the order of a full plan, which visits
//! each node once per step.

use super::{Reported, Running};
use crate::delivery::boxes::BitLayout;
use crate::delivery::contents::Contents;
use crate::delivery::exchange::{OrbitExchange, Rule, SentBoxes};
use crate::delivery::fault::Fault;
use crate::delivery::payload::Payload;
use crate::limits;
use crate::network::symmetry::Group;
use crate::network::topology::Route;
use crate::simulation::listener::{ScheduleEvent, Sent};
use crate::simulation::listeners::Listeners;
use crate::simulation::messages::number_of;

/// The sends of representatives in the current step.
#[derive(Debug)]
pub(super) struct Expansion {
    group: Group,
    sends: Vec<RepresentativeSend>,
    routes: Vec<Route>,
    /// The layout of the boxes that are reported.
    layout: BitLayout,
    /// A buffer for the loads of all nodes.
    loads: Vec<u64>,
}

/// A send of a representative.
#[derive(Debug)]
struct RepresentativeSend {
    /// The sender's index among the representatives.
    sender: u32,
    to: u64,
    copy: bool,
    combine: bool,
    /// The load; `None` if the send moved no data.
    load: Option<u64>,
    /// The contents, if a listener needs them. All images of the send use the same contents. This
    /// is correct because contents are only compared, and the images of equal blocks are equal.
    contents: Contents,
    /// The boxes that moved, if a listener reads single sends.
    boxes: SentBoxes,
    /// The index of the route in `Expansion::routes`, plus 1; 0 for the topology's own route.
    route: u32,
}

impl Expansion {
    pub(super) fn new(exchange: &OrbitExchange) -> Self {
        Self {
            group: exchange.group().clone(),
            sends: Vec::new(),
            routes: Vec::new(),
            layout: exchange.expanded_layout(),
            loads: Vec::new(),
        }
    }

    /// Returns the loads of all nodes, given the loads of the representatives.
    pub(super) fn expand_loads(&mut self, of_representatives: &[u64]) -> &[u64] {
        let nodes = self.group.representatives() * self.group.order();
        self.loads.clear();
        self.loads.extend((0..nodes).map(|node| of_representatives[self.group.home(node).0]));
        &self.loads
    }

    /// Adds a send of a representative, whose boxes in flight begin with number `first`.
    pub(super) fn add(
        &mut self,
        exchange: &OrbitExchange,
        rule: &Rule<'_>,
        first: usize,
        load: Option<u64>,
        route: Option<&Route>,
        listeners: &Listeners<'_>,
    ) -> Result<(), Fault> {
        // All images of the sends are reported at the end of the step. Limit the number of images.
        let order = self.group.order();
        if (self.sends.len() as u64).saturating_mul(order) >= limits::STEP_MESSAGES {
            return Err(Fault::Refused(format!(
                "step {} has more than {} messages, the most that a model can read one by one if one node of each orbit is planned",
                exchange.step(),
                limits::STEP_MESSAGES
            )));
        }
        // A send that moved no data needs no route.
        let route = route.filter(|_| load.is_some()).map_or(0, |route| {
            self.routes.push(route.clone());
            self.routes.len() as u32
        });
        // Store the blocks that moved, if a listener needs them.
        let interests = listeners.interests;
        let wants_blocks = load.is_some() && interests.packing;
        let follows_boxes = load.is_some() && interests.sends;
        self.sends.push(RepresentativeSend {
            sender: self.group.home(rule.from).0 as u32,
            to: rule.to,
            copy: rule.copy,
            combine: rule.combine,
            load,
            contents: if wants_blocks {
                exchange.in_flight_contents(first)
            } else {
                Contents::Nothing
            },
            boxes: if follows_boxes { exchange.sent_boxes(first) } else { SentBoxes::default() },
            route,
        });
        Ok(())
    }
}

impl Running {
    /// Reports the sends of all nodes in the step, if only representatives are planned. With
    /// `last`, only the sends of nodes up to `last` are reported.
    pub(super) fn expand_sends(&mut self, listeners: &mut Listeners<'_>, last: Option<u64>) {
        // Move the expansion out of `self`, because reporting a send borrows the remaining fields.
        let mut expansion = match std::mem::replace(&mut self.reported, Reported::All) {
            Reported::Expanded(expansion) => expansion,
            other => return self.reported = other,
        };
        if !expansion.sends.is_empty() {
            self.report_sends(listeners, &mut expansion, last);
        }
        expansion.sends.clear();
        expansion.routes.clear();
        self.reported = Reported::Expanded(expansion);
    }

    fn report_sends(
        &mut self,
        listeners: &mut Listeners<'_>,
        expansion: &mut Expansion,
        last: Option<u64>,
    ) {
        let Expansion { group, sends, routes, layout, .. } = expansion;
        // Sort the sends by representative.
        sends.sort_by_key(|send| send.sender);
        let first = |sender: u64| sends.partition_point(|send| u64::from(send.sender) < sender);
        let firsts: Vec<usize> = (0..=group.representatives()).map(first).collect();
        let nodes = self.payload.placement().machine_nodes();
        for node in 0..last.map_or(nodes, |last| nodes.min(last.saturating_add(1))) {
            let (index, element) = group.home(node);
            for send in &sends[firsts[index]..firsts[index + 1]] {
                let route = (send.route as usize)
                    .checked_sub(1)
                    .map(|i| moved(&routes[i], |node| group.moved(node, element)));
                let ends = (node, group.moved(send.to, element));
                self.report_send(listeners, ends, send, element, layout, route.as_ref());
            }
        }
    }

    /// Reports the image of a representative's send under one element of the group.
    fn report_send(
        &mut self,
        listeners: &mut Listeners<'_>,
        ends: (u64, u64),
        send: &RepresentativeSend,
        element: u64,
        layout: &BitLayout,
        route: Option<&Route>,
    ) {
        let Some(load) = send.load else {
            return self.report_empty_send(listeners, ends, false);
        };
        if let (true, Payload::Orbits(exchange)) = (listeners.interests.sends, &self.payload) {
            let boxes = exchange.expand(&send.boxes, element, layout);
            let boxes = boxes.iter().map(Vec::as_slice).collect();
            let RepresentativeSend { copy, combine, .. } = *send;
            let sent = Sent { boxes, copy, combine, load, route, ..self.sent(ends, layout) };
            listeners.notify_of_send(ScheduleEvent::Sent(&sent));
        }
        let route = route.map_or(0, |route| number_of(&mut self.routes, route));
        self.add_message(listeners, ends, load, send.contents, route);
    }
}

/// Returns a route in which each node of the path, if there is a path, is replaced by another node.
fn moved(route: &Route, node: impl Fn(u64) -> u64) -> Route {
    Route { path: route.path.iter().map(|on| node(*on)).collect(), ..route.clone() }
}
