//! A schedule after its first step has begun. The data of each send is put in flight immediately.
//! At the end of each step, the statistics of its messages are computed: loads, hops, and the traffic
//! of nodes and links.

use super::Task;
use crate::delivery::boxes::{BitLayout, Layout};
use crate::delivery::byte_counts::{ByteSend, Redistribution, TracedBytes};
use crate::delivery::exchange::{
    Exchange, InSwitch, OrbitExchange, Rule, SentBoxes, TokenExchange,
};
use crate::delivery::fault::Fault;
use crate::delivery::traced::{Contents, Proof, Traced};
use crate::limits;
use crate::network::communicators::Communicators;
use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route, Switch};
use crate::simulation::in_switch::SwitchGroups;
use crate::simulation::listener::{EmptySend, Listeners, ScheduleEvent, Sent, Summed};
use crate::simulation::messages::{Messages, SendNotes, number_of};
use crate::simulation::step::{Step, Transfer};
use crate::simulation::step_statistics::{Buffers, StepStatistics, SymmetricLinks, bad_route};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

const COMMUNICATORS_IN_SWITCH: Fault = Fault::OutOfOrder(
    "the schedule has a send whose reducer or multicaster is a switch, which is only possible in one communicator of all ranks",
);
const TOKENS_IN_SWITCH: Fault = Fault::OutOfOrder(
    "the schedule has a send whose reducer or multicaster is a switch, which is only possible with blocks",
);

#[derive(Debug)]
pub(super) enum Payload {
    /// Blocks, traced on every node as bits.
    Blocks(Exchange),
    /// Blocks, traced on one node per orbit as runs.
    Orbits(OrbitExchange),
    /// Tokens, traced on every node.
    Tokens(TokenExchange),
    /// The bytes for each destination, traced on every node.
    ByteCounts(Box<dyn TracedBytes>),
}

impl Deref for Payload {
    type Target = dyn Traced;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Blocks(exchange) => exchange,
            Self::Orbits(exchange) => exchange,
            Self::Tokens(exchange) => exchange,
            Self::ByteCounts(byte_counts) => byte_counts.as_ref(),
        }
    }
}

impl DerefMut for Payload {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Blocks(exchange) => exchange,
            Self::Orbits(exchange) => exchange,
            Self::Tokens(exchange) => exchange,
            Self::ByteCounts(byte_counts) => byte_counts.as_mut(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Running {
    topology: Arc<Network>,
    communicators: Option<Arc<Communicators>>,
    skip_empty: bool,
    payload: Payload,
    step: u64,
    reported: Reported,
    statistics: StepStatistics,
    messages: Messages,
    routes: Vec<Route>,
    switch_groups: SwitchGroups,
    buffers: Buffers,
}

#[derive(Debug)]
enum Reported {
    All,
    Representatives(SymmetricLinks),
    /// All nodes of a symmetric schedule, of which the plugin plans only the representatives.
    Expanded(Expansion),
}

impl Reported {
    /// Returns the loads of the reported nodes, and the group that maps them to all nodes, if
    /// needed.
    fn loads_and_group<'a>(&'a mut self, loads: &'a [u64]) -> (&'a [u64], Option<&'a Group>) {
        match self {
            Self::All => (loads, None),
            Self::Representatives(links) => (loads, Some(links.group())),
            Self::Expanded(expansion) => (expansion.expand_loads(loads), None),
        }
    }
}

impl Running {
    /// `nodes` is the number of measured nodes: all, or the representatives if `is_symmetric`.
    pub(super) fn new(
        task: &Task,
        listeners: &Listeners<'_>,
        payload: Payload,
        nodes: usize,
        is_symmetric: bool,
    ) -> Self {
        let (topology, interests) = (Arc::clone(&task.topology), listeners.interests);
        let reported = match &payload {
            Payload::Orbits(exchange) if is_symmetric => {
                let group = exchange.group().clone();
                assert_eq!(group.representatives(), nodes as u64, "other nodes are measured");
                assert_eq!(nodes as u64 * group.order(), topology.nodes(), "orbits of other nodes");
                Reported::Representatives(SymmetricLinks::new(topology.as_ref(), group))
            }
            Payload::Orbits(exchange) if exchange.group().order() > 1 => {
                Reported::Expanded(Expansion::new(exchange))
            }
            _ => Reported::All,
        };
        Self {
            statistics: match &task.communicators {
                Some(all) => StepStatistics::new(Arc::clone(all.network()), interests),
                None => StepStatistics::for_nodes(Arc::clone(&topology), nodes, interests),
            },
            communicators: task.communicators.clone(),
            messages: if is_symmetric {
                Messages::of_some(nodes)
            } else {
                Messages::new(nodes, interests)
            },
            topology,
            skip_empty: task.skip_empty,
            payload,
            step: 0,
            reported,
            routes: Vec::new(),
            switch_groups: SwitchGroups::default(),
            buffers: Buffers::new(nodes),
        }
    }

    pub(super) fn proof(&self) -> Proof {
        self.payload.proof()
    }

    pub(super) fn step(&self) -> u64 {
        self.step
    }

    pub(super) fn begin_phase(&mut self) {
        self.buffers.begin_phase();
    }

    pub(super) fn begin_step(&mut self) {
        self.step += 1;
        self.payload.begin_step();
    }

    pub(super) fn redistribute(
        &mut self,
        listeners: &mut Listeners<'_>,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        let Payload::ByteCounts(byte_counts) = &mut self.payload else {
            return Err(Fault::OutOfOrder(
                "the schedule redistributes, but did not declare byte counts",
            ));
        };
        byte_counts.redistribute(redistribution)?;
        listeners.notify_of_send(ScheduleEvent::Redistribution(redistribution));
        Ok(())
    }

    pub(super) fn rearrange(&self, listeners: &mut Listeners<'_>) {
        let most = self.payload.loads().held().iter().copied().max().unwrap_or(0);
        listeners.rearrangement(most, self.payload.segments());
    }

    pub(super) fn end_step(&mut self, listeners: &mut Listeners<'_>) -> Result<(), Fault> {
        self.expand_sends(listeners, None);
        self.payload.end_step()?;
        if let Some((node, block)) = self.payload.take_redundant() {
            let step = self.step;
            listeners.notify(ScheduleEvent::RedundantBlock { step, node, block });
        }
        self.report_reductions(listeners);
        if !self.messages.is_empty() {
            self.measure(listeners)?;
            self.messages.clear();
        }
        self.routes.clear();
        self.switch_groups.end_step();
        Ok(())
    }

    fn report_reductions(&mut self, listeners: &mut Listeners<'_>) {
        let Self { payload, reported, .. } = self;
        let (most, segments) = (payload.loads().most_summed(), payload.segments());
        if most == 0 {
            return;
        }
        let (of, symmetry) = reported.loads_and_group(payload.loads().all_summed());
        let of_all = self.communicators.as_ref().map(|all| all.repeat(of));
        let of = of_all.as_deref().unwrap_or(of);
        listeners.summed(Summed { most, of, symmetry, segments });
    }

    fn measure(&mut self, listeners: &mut Listeners<'_>) -> Result<(), Fault> {
        if let Some(communicators) = self.communicators.clone() {
            return self.measure_all(listeners, &communicators);
        }
        let Self { payload, reported, statistics, messages, routes, buffers, .. } = self;
        let number = self.step;
        let (merged, contents) = messages.merged(routes);
        let facts = match reported {
            Reported::All | Reported::Expanded(_) => {
                for t in merged.iter() {
                    let [out, into] = t.ends(routes).map(|uses_node| u64::from(uses_node) * t.load);
                    buffers.sent(t.from, out);
                    buffers.received(t.to, into);
                }
                statistics.measure(number, merged, contents, routes)?
            }
            Reported::Representatives(links) => {
                statistics.measure_orbits(number, merged, routes, links, buffers)?
            }
        };
        facts.check(merged.len(), self.topology.link_slots());
        let (held, symmetry) = reported.loads_and_group(payload.loads().held());
        let of_all = |values: usize| [0, messages.as_slice().len()].contains(&values);
        assert!(
            of_all(statistics.inverse_bandwidth().len())
                && of_all(statistics.mean_hops().len())
                && of_all(messages.latest_arrivals().len()),
            "step {number} has values for some of its messages only"
        );
        listeners.step(&Step {
            inverse_bandwidth: statistics.inverse_bandwidth(),
            mean_hops: statistics.mean_hops(),
            busiest_links: statistics.busiest_links(),
            transfers: messages.as_slice(),
            symmetry,
            latest_arrivals: messages.latest_arrivals(),
            held,
            ..Step::of(payload.proof(), payload.segments(), number, facts, routes)
        });
        Ok(())
    }

    fn measure_all(
        &mut self,
        listeners: &mut Listeners<'_>,
        communicators: &Communicators,
    ) -> Result<(), Fault> {
        let Self { payload, reported, statistics, messages, routes, buffers, .. } = self;
        let number = self.step;
        let (merged, contents) = messages.merged(routes);
        merged.iter().for_each(|t| buffers.moved(t.from, t.to, t.load));
        let (mut all, routes) = communicators
            .expand(merged, routes)
            .map_err(|(at, error)| bad_route(number, &merged[at], error))?;
        let count = communicators.count() as usize;
        let contents = contents.map(|contents| contents.repeat(count));
        let facts = statistics.measure(number, &mut all, contents.as_deref(), &routes)?;
        facts.check(all.len(), communicators.network().link_slots());
        let (held, symmetry) = reported.loads_and_group(payload.loads().held());
        assert!(symmetry.is_none(), "the messages of all members are measured");
        listeners.step(&Step {
            inverse_bandwidth: statistics.inverse_bandwidth(),
            mean_hops: statistics.mean_hops(),
            busiest_links: statistics.busiest_links(),
            transfers: &all,
            latest_arrivals: &messages.latest_arrivals().repeat(count),
            held: &communicators.repeat(held),
            ..Step::of(payload.proof(), payload.segments(), number, facts, &routes)
        });
        Ok(())
    }

    pub(super) fn end(self) -> (Payload, Buffers) {
        (self.payload, self.buffers)
    }
}

impl Running {
    #[inline]
    pub(super) fn send(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        if let Some((route, switch)) = route.and_then(|route| Some((route, route.switch?))) {
            return self.send_in_switch(listeners, rule, route, switch);
        }
        self.send_to_node(listeners, rule, route)
    }

    fn send_in_switch(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: &Route,
        switch: Switch,
    ) -> Result<(), Fault> {
        if self.communicators.is_some() {
            return Err(COMMUNICATORS_IN_SWITCH);
        }
        let copies = match (&self.payload, &self.reported) {
            (Payload::Blocks(exchange), Reported::All) => exchange.copies(rule),
            (Payload::Orbits(exchange), Reported::All) => exchange.copies(rule),
            (Payload::Orbits(_), _) => return Err(Fault::SYMMETRIC_IN_SWITCH),
            _ => return Err(TOKENS_IN_SWITCH),
        };
        let embedding = self.payload.embedding();
        Fault::check_ends(self.step, (rule.from, rule.to), embedding.grid().nodes())?;
        let ends = (embedding.physical(rule.from), embedding.physical(rule.to));
        let (topology, step) = (Arc::clone(&self.topology), self.step);
        let (rules, route) = ((rule, copies), (route, switch));
        let route = self.switch_groups.add(topology.as_ref(), step, rules, ends, route)?;
        let place = if route.reaches_receiver() { InSwitch::First } else { InSwitch::Joined };
        let rule = Rule { in_switch: place, ..*rule };
        self.send_to_node(listeners, &rule, Some(&route))
    }

    #[inline]
    fn send_to_node(
        &mut self,
        listeners: &mut Listeners<'_>,
        rule: &Rule<'_>,
        route: Option<&Route>,
    ) -> Result<(), Fault> {
        let wants_blocks = listeners.interests.packing;
        let sent = match &mut self.payload {
            Payload::Blocks(exchange) => send_and_note(exchange, rule, wants_blocks),
            Payload::Orbits(exchange) => send_and_note(exchange, rule, wants_blocks),
            Payload::Tokens(exchange) => {
                let load = exchange.send(rule);
                // The blocks of tokens are not counted, only their bytes, because no measurement
                // has a time for each token.
                load.map(|load| (0, load.map(|load| (load, Contents::several(0.0)))))
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
                // Also report the sends that would be executed before the fault if all nodes were
                // planned.
                self.expand_sends(listeners, Some(rule.from));
                self.report_empty_send(listeners, ends, true);
                return Err(fault);
            }
        };
        match (&mut self.reported, moved) {
            // The sends of all nodes are reported at the end of the step.
            (Reported::Expanded(expansion), moved) => {
                let Payload::Orbits(exchange) = &self.payload else {
                    unreachable!("only the sends of orbits are expanded");
                };
                let load = moved.map(|(load, _)| load);
                return expansion.add(exchange, rule, first, load, route, listeners);
            }
            (_, None) => self.report_empty_send(listeners, ends, false),
            (Reported::All, Some((load, contents))) => {
                if listeners.interests.sends {
                    self.report_boxes(listeners, rule, first, load, route);
                }
                let route = route.map_or(0, |route| number_of(&mut self.routes, route));
                self.add_message(listeners, ends, load, contents, route);
                self.messages.check_count(self.step, limits::FULL_STEP_MESSAGES)?;
            }
            // Only representatives are planned and reported.
            (Reported::Representatives(links), Some((load, _))) => {
                let sender = links.group().home(rule.from).0 as u32;
                self.add_representative_message(rule, sender, load, route);
            }
        }
        Ok(())
    }

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

    pub(super) fn send_bytes(
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

    fn report_empty_send(
        &self,
        listeners: &mut Listeners<'_>,
        (from, to): (u64, u64),
        is_refused: bool,
    ) {
        let embedding = self.payload.embedding();
        if from.max(to) < embedding.grid().nodes() {
            let (from, to) = (embedding.locate(from), embedding.locate(to));
            let send = EmptySend { step: self.step, from, to, is_refused };
            listeners.notify(ScheduleEvent::EmptySend(send));
        }
    }

    fn sent<'a>(&'a self, (from, to): (u64, u64), layout: &'a BitLayout) -> Sent<'a> {
        let (payload, embedding) = (&self.payload, self.payload.embedding());
        Sent {
            step: self.step,
            latest_arrival: payload.latest_arrival(),
            from: embedding.locate(from),
            to: embedding.locate(to),
            proof: payload.proof(),
            boxes: Vec::new(),
            layout,
            embedding,
            topology: self.topology.as_ref(),
            copy: false,
            combine: false,
            in_parts: payload.in_parts(),
            segments: payload.segments(),
            load: 0,
            route: None,
        }
    }

    #[inline]
    fn add_message(
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
        let (embedding, step) = (payload.embedding(), self.step);
        let (from, to) = (embedding.physical(from) as u32, embedding.physical(to) as u32);
        let uses_links = from != to
            || route.checked_sub(1).is_some_and(|i| self.routes[i as usize].switch.is_some());
        if !uses_links {
            buffers.moved(from, from, load);
            match &self.communicators {
                None => listeners.local_copy(step, from, load, payload.segments()),
                Some(all) => all.all().for_each(|ranks| {
                    listeners.local_copy(step, ranks[from as usize], load, payload.segments());
                }),
            }
        } else {
            let latest_arrival = u32::try_from(payload.latest_arrival()).unwrap_or(u32::MAX);
            let notes = SendNotes { contents, latest_arrival };
            messages.add(step, Transfer { from, to, route, hops: 0, load }, notes);
        }
    }

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

type Moved = Option<(u64, Contents)>;

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
        if wants_blocks { exchange.in_flight_contents(first) } else { Contents::NOTHING };
    Ok((first, Some((load, contents))))
}

/// The expansion of a symmetric schedule for listeners that read all nodes. It stores the sends of
/// the representatives in the current step. At the end of the step, these sends and all of their
/// images are reported in the order of full planning, which is by sender.
#[derive(Debug)]
struct Expansion {
    group: Group,
    sends: Vec<RepresentativeSend>,
    routes: Vec<Route>,
    layout: BitLayout,
    loads: Vec<u64>,
}

#[derive(Debug)]
struct RepresentativeSend {
    sender: u32,
    to: u64,
    copy: bool,
    combine: bool,
    load: Option<u64>,
    /// The contents, which are the same for all images of the send.
    contents: Contents,
    boxes: SentBoxes,
    /// The route in `Expansion::routes`, counted from 1; 0 for the topology's own route.
    route: u32,
}

impl Expansion {
    fn new(exchange: &OrbitExchange) -> Self {
        Self {
            group: exchange.group().clone(),
            sends: Vec::new(),
            routes: Vec::new(),
            layout: exchange.expanded_layout(),
            loads: Vec::new(),
        }
    }

    fn expand_loads(&mut self, of_representatives: &[u64]) -> &[u64] {
        let nodes = self.group.representatives() * self.group.order();
        self.loads.clear();
        self.loads.extend((0..nodes).map(|node| of_representatives[self.group.home(node).0]));
        &self.loads
    }

    fn add(
        &mut self,
        exchange: &OrbitExchange,
        rule: &Rule<'_>,
        first: usize,
        load: Option<u64>,
        route: Option<&Route>,
        listeners: &Listeners<'_>,
    ) -> Result<(), Fault> {
        let order = self.group.order();
        if (self.sends.len() as u64).saturating_mul(order) >= limits::STEP_MESSAGES {
            return Err(Fault::Refused(format!(
                "step {} has more than {} messages, the most that a model can read one by one if one node of each orbit is planned",
                exchange.step(),
                limits::STEP_MESSAGES
            )));
        }
        let route = route.filter(|_| load.is_some()).map_or(0, |route| {
            self.routes.push(route.clone());
            self.routes.len() as u32
        });
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
                Contents::NOTHING
            },
            boxes: if follows_boxes { exchange.sent_boxes(first) } else { SentBoxes::default() },
            route,
        });
        Ok(())
    }
}

impl Running {
    fn expand_sends(&mut self, listeners: &mut Listeners<'_>, last: Option<u64>) {
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
        sends.sort_by_key(|send| send.sender);
        let first = |sender: u64| sends.partition_point(|send| u64::from(send.sender) < sender);
        let firsts: Vec<usize> = (0..=group.representatives()).map(first).collect();
        let nodes = self.payload.embedding().machine_nodes();
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

fn moved(route: &Route, node: impl Fn(u64) -> u64) -> Route {
    Route { path: route.path.iter().map(|on| node(*on)).collect(), ..route.clone() }
}
