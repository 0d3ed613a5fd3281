//! Measures a step: messages, loads and hops, the traffic of every node and of every link.
//!
//! Routes are expensive to compute, so every route is computed once per step and updates all
//! counters. Routes are computed a second time only for values that depend on the final number of
//! messages on each link, if a listener requests them and they do not follow from the counters.

use crate::delivery::fault::{Fault, SendFault};
use crate::delivery::traced::Contents;
use crate::limits;
use crate::network::links::LinkLoad;
use crate::network::links::orbits::{OrbitLinkLoad, OrbitTimes};
use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route, RouteError, Run};
use crate::simulation::listener::Interests;
use crate::simulation::step::{BandwidthTimes, Expected, StepFacts, Transfer};
use std::collections::HashMap;
use std::sync::Arc;

/// The ends of a message. `sender` and `receiver` are indices in the table of nodes, `from` and
/// `to` are nodes.
#[derive(Debug, Clone, Copy)]
struct Ends {
    sender: u32,
    to: u32,
    receiver: u32,
    from: u32,
}

/// The number of messages on a link, and the time of their loads at its bandwidth.
#[derive(Debug, Default)]
struct LinkUse {
    messages: u64,
    time: f64,
}

#[derive(Debug)]
pub(crate) struct StepStatistics {
    topology: Arc<Network>,
    interests: Interests,
    step: u64,
    link_messages: LinkLoad,
    link_loads: Option<LinkLoad>,
    traffic: Vec<NodeTraffic>,
    hosts: Vec<u32>,
    /// For each node, the load and the number of blocks in messages of several blocks; 0 between
    /// steps.
    packed: Vec<(u64, f64)>,
    busiest_links: Vec<(u64, f64)>,
    inverse_bandwidth: Vec<f64>,
    mean_hops: Vec<f64>,
    /// The messages, routes and facts of the last step. The facts are `None` if they cannot be
    /// reused.
    last: (Vec<Transfer>, Vec<Route>, Option<StepFacts>),
}

impl StepStatistics {
    pub(crate) fn new(topology: Arc<Network>, interests: Interests) -> Self {
        let nodes = topology.nodes() as usize;
        Self::for_nodes(topology, nodes, interests)
    }

    pub(super) fn for_nodes(topology: Arc<Network>, nodes: usize, interests: Interests) -> Self {
        let ranks = if topology.shares_nodes() { topology.nodes() } else { 0 };
        Self {
            interests,
            step: 0,
            link_messages: LinkLoad::new(topology.as_ref()),
            link_loads: None,
            traffic: vec![NodeTraffic::default(); nodes],
            hosts: (0..ranks).map(|rank| topology.physical_node(rank) as u32).collect(),
            packed: vec![(0, 0.0); if interests.packing { nodes } else { 0 }],
            busiest_links: Vec::new(),
            inverse_bandwidth: Vec::new(),
            mean_hops: Vec::new(),
            last: (Vec::new(), Vec::new(), None),
            topology,
        }
    }

    pub(crate) fn inverse_bandwidth(&self) -> &[f64] {
        &self.inverse_bandwidth
    }

    pub(crate) fn mean_hops(&self) -> &[f64] {
        &self.mean_hops
    }

    pub(crate) fn busiest_links(&self) -> &[(u64, f64)] {
        &self.busiest_links
    }

    /// Measures one step, and sets the hops of each transfer. Errors have its `number`.
    pub(crate) fn measure(
        &mut self,
        number: u64,
        transfers: &mut [Transfer],
        contents: Option<&[Contents]>,
        routes: &[Route],
    ) -> Result<StepFacts, Fault> {
        // Many schedules repeat a step. The facts of the last step are reused for the same
        // messages.
        let same =
            |(own, last): (&Transfer, &Transfer)| Transfer { hops: last.hops, ..*own } == *last;
        if let (last, on, Some(facts)) = &self.last
            && contents.is_none()
            && last.len() == transfers.len()
            && transfers.iter().zip(last).all(same)
            && routes == on
        {
            transfers.copy_from_slice(last);
            return Ok(*facts);
        }
        self.last.2 = None;
        self.step += 1;
        let load = transfers.first().map_or(0, |t| t.load);
        let equal_loads = transfers.iter().all(|t| t.load == load);
        let has_bandwidths = self.topology.bandwidths().is_some();

        // The first walk counts messages and loads. If no messages share a link, or all loads are
        // equal, the largest load of a link follows from the counts.
        let mut facts = self.walk(number, transfers, equal_loads, routes)?;
        let on_link = facts.max_link_messages;
        facts.max_link_load = match &mut self.link_loads {
            _ if on_link <= 1 && self.hosts.is_empty() => facts.max_load,
            _ if on_link <= 1 => {
                let on_links = transfers.iter().filter(|t| t.hops > 0);
                on_links.map(|t| t.load).max().unwrap_or(0)
            }
            Some(loads) if !equal_loads => loads.max(),
            _ => on_link.saturating_mul(load),
        };
        facts.max_injected_load = self.max_injected_load(transfers).unwrap_or(facts.max_node_load);

        // The second walk finds the loads of shared links that do not follow from the first walk.
        let Interests { multiplexing, busiest_links, .. } = self.interests;
        let mut multiplexed = u128::from(facts.max_load.max(on_link.saturating_mul(load)));
        self.busiest_links.clear();
        if (multiplexing || busiest_links) && (has_bandwidths || !equal_loads && on_link > 1) {
            multiplexed = self.walk_shared_links(number, transfers, routes, &mut facts)?;
        } else if busiest_links {
            self.busiest_links.push((on_link, facts.max_link_load as f64));
        }
        facts.max_multiplexed_load = multiplexing.then_some(multiplexed);

        if let Some(contents) = contents {
            let (load, blocks) = self.max_packed(transfers, contents, routes);
            (facts.max_packed_load, facts.max_packed_blocks) = (Some(load), Some(blocks));
        }
        self.mean_hops.clear();
        if self.topology.random_routing().is_some() {
            facts.expected = Some(self.expected(number, transfers, routes)?);
        }
        if contents.is_none() {
            self.last.0.clear();
            self.last.0.extend_from_slice(transfers);
            self.last.1 = routes.to_vec();
            self.last.2 = Some(facts);
        }
        Ok(facts)
    }

    fn walk(
        &mut self,
        number: u64,
        transfers: &mut [Transfer],
        equal_loads: bool,
        routes: &[Route],
    ) -> Result<StepFacts, Fault> {
        let topology = Arc::clone(&self.topology);
        let has_latencies = topology.latencies().is_some();
        let has_bandwidths = topology.bandwidths().is_some();
        let is_plain = equal_loads && !has_latencies && !has_bandwidths;
        self.inverse_bandwidth.clear();
        self.link_messages.begin();
        if !equal_loads {
            self.link_loads.get_or_insert_with(|| LinkLoad::new(topology.as_ref())).begin();
        }
        let mut facts = StepFacts { messages: transfers.len() as u64, ..StepFacts::default() };
        let mut max_latency = 0.0_f64;
        let mut times = BandwidthTimes { message: 0.0, link: 0.0, multiplexed: 0.0, node: 0.0 };
        let mut node_times: HashMap<(u32, bool), f64> = HashMap::new();
        for t in transfers.iter_mut() {
            facts.total_load =
                facts.total_load.checked_add(t.load).ok_or_else(|| too_much(number))?;
            let (mut latency, mut inverse_bandwidth, mut slowest) = (0.0, 0.0, 0.0_f64);
            let (link_messages, link_loads) = (&mut self.link_messages, &mut self.link_loads);
            let mut count_all = |run: Run| {
                link_messages.add(run, 1);
                if !equal_loads && let Some(loads) = link_loads {
                    loads.add(run, t.load);
                }
                if has_latencies {
                    latency += run.links().map(|link| topology.latency(link)).sum::<f64>();
                }
                if has_bandwidths {
                    for link in run.links() {
                        let inverse = 1.0 / topology.bandwidth(link);
                        inverse_bandwidth += inverse;
                        slowest = slowest.max(inverse);
                    }
                }
            };
            let hops = if is_plain {
                along(topology.as_ref(), number, t, routes, &mut |run| link_messages.add(run, 1))?
            } else {
                along(topology.as_ref(), number, t, routes, &mut count_all)?
            };

            t.hops = hops as u32;
            facts.max_load = facts.max_load.max(t.load);
            facts.max_hops = facts.max_hops.max(hops);
            facts.load_hops += u128::from(t.load) * u128::from(hops);
            max_latency = max_latency.max(latency);

            let [from, to] = [t.from, t.to].map(|rank| self.host(rank));
            let uses_ends = t.ends(routes);
            let ends = Ends { sender: from, to, receiver: to, from };
            self.count_ends(ends, uses_ends, t.load, &mut facts);

            // A message within a node uses no link, so it has the machine's bandwidth.
            if has_bandwidths {
                if hops == 0 {
                    (inverse_bandwidth, slowest) = (1.0, 1.0);
                }
                self.inverse_bandwidth.push(inverse_bandwidth);
                let alone = t.load as f64 * slowest;
                times.message = times.message.max(alone);
                let ends = [(from, true), (to, false)].into_iter().zip(uses_ends);
                for (end, _) in ends.filter(|(_, is_used)| *is_used) {
                    let sum = node_times.entry(end).or_default();
                    *sum += alone;
                    times.node = times.node.max(*sum);
                }
            }
        }
        facts.max_link_messages = self.link_messages.max();
        facts.max_latency = has_latencies.then_some(max_latency);
        if has_bandwidths {
            let load = transfers.first().map_or(0, |t| t.load);
            let mut visit = |link, load: u64| {
                times.link = times.link.max(load as f64 / topology.bandwidth(link));
            };
            match &mut self.link_loads {
                Some(loads) if !equal_loads => loads.for_each_loaded(&mut visit),
                _ => self.link_messages.for_each_loaded(&mut |link, on| visit(link, on * load)),
            }
            times.multiplexed = times.message;
            facts.bandwidth_times = Some(times);
        }
        Ok(facts)
    }

    /// Computes every route again, after the messages on each link have been counted. Returns the
    /// largest product of a message's load and the number of messages on a link of its route.
    fn walk_shared_links(
        &mut self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
        facts: &mut StepFacts,
    ) -> Result<u128, Fault> {
        let mut links: HashMap<u64, LinkUse> = HashMap::new();
        self.link_messages.for_each_loaded(&mut |link, messages| {
            links.insert(link, LinkUse { messages, time: 0.0 });
        });
        let topology = self.topology.as_ref();
        let Interests { multiplexing, busiest_links, .. } = self.interests;
        let (mut multiplexed, mut multiplexed_time) = (0, 0.0_f64);
        for t in transfers {
            let (mut shared, mut shared_time) = (1, 0.0_f64);
            along(topology, number, t, routes, &mut |run| {
                for link in run.links() {
                    let on_link = links.entry(link).or_default();
                    let bandwidth = topology.bandwidth(link);
                    if multiplexing {
                        shared = shared.max(on_link.messages);
                        shared_time = shared_time.max(on_link.messages as f64 * (1.0 / bandwidth));
                    }
                    if busiest_links {
                        on_link.time += t.load as f64 / bandwidth;
                    }
                }
            })?;
            multiplexed = multiplexed.max(u128::from(t.load) * u128::from(shared));
            multiplexed_time = multiplexed_time.max(t.load as f64 * shared_time);
        }
        if let Some(times) = facts.bandwidth_times.as_mut().filter(|_| multiplexing) {
            times.multiplexed = multiplexed_time;
        }
        if busiest_links {
            self.find_busiest_links(links.into_values());
        }
        Ok(multiplexed)
    }

    /// Stores the links that may be the most expensive. A link is left out if another link has at
    /// least as many messages and as much time.
    fn find_busiest_links(&mut self, links: impl Iterator<Item = LinkUse>) {
        let mut links: Vec<LinkUse> = links.collect();
        links.sort_unstable_by(|a, b| b.messages.cmp(&a.messages).then(b.time.total_cmp(&a.time)));
        let mut longest = f64::NEG_INFINITY;
        for LinkUse { messages, time } in links {
            if time > longest {
                longest = time;
                self.busiest_links.push((messages, time));
            }
        }
    }

    /// Returns the largest expected values, and appends the expected hops of each transfer to
    /// `self.mean_hops`. Without random routes, returns zeros and appends nothing.
    fn expected(
        &mut self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
    ) -> Result<Expected, Fault> {
        let topology = Arc::clone(&self.topology);
        let Some(random) = topology.random_routing() else { return Ok(Expected::default()) };
        let mut links: HashMap<u64, (f64, f64)> = HashMap::new();
        let mut count = |link, messages, load| {
            let sums = links.entry(link).or_default();
            *sums = (sums.0 + messages, sums.1 + load);
        };
        let is_random = |t: &&Transfer| t.route == 0;
        let mut messages =
            transfers.iter().filter(is_random).map(|t| (t.from.into(), t.to.into(), t.load));
        random.expected(&mut messages, &mut count);
        for t in transfers.iter().filter(|t| !is_random(t)) {
            along(topology.as_ref(), number, t, routes, &mut |run| {
                run.links().for_each(|link| count(link, 1.0, t.load as f64));
            })?;
        }
        let mut most = Expected::default();
        for t in transfers {
            let hops = if is_random(&t) {
                random.expected_hops(t.from.into(), t.to.into())
            } else {
                t.hops.into()
            };
            self.mean_hops.push(hops);
            most.hops = most.hops.max(hops);
        }
        for (messages, load) in links.values() {
            (most.messages, most.load) = (most.messages.max(*messages), most.load.max(*load));
        }
        Ok(most)
    }

    #[inline]
    fn host(&self, rank: u32) -> u32 {
        self.hosts.get(rank as usize).copied().unwrap_or(rank)
    }

    #[inline]
    fn count_ends(&mut self, ends: Ends, [out, into]: [bool; 2], load: u64, facts: &mut StepFacts) {
        if out {
            self.traffic[ends.sender as usize].sends(self.step, ends.to, load, facts);
        }
        if into {
            self.traffic[ends.receiver as usize].receives(self.step, ends.from, load, facts);
        }
    }

    fn max_injected_load(&self, transfers: &[Transfer]) -> Option<u64> {
        let mut loads: HashMap<(u32, bool), u64> = HashMap::new();
        for t in transfers.iter().filter(|t| t.hops > 0) {
            for (rank, out) in [(t.from, true), (t.to, false)] {
                *loads.entry((*self.hosts.get(rank as usize)?, out)).or_default() += t.load;
            }
        }
        loads.into_values().max().or((!self.hosts.is_empty()).then_some(0))
    }

    fn max_packed(
        &mut self,
        transfers: &[Transfer],
        contents: &[Contents],
        routes: &[Route],
    ) -> (u64, f64) {
        let packed = || {
            let messages = transfers.iter().zip(contents);
            messages.filter_map(|(t, contents)| Some((t, contents.rearranged()?)))
        };
        let mut most: (u64, f64) = (0, 0.0);
        for (t, blocks) in packed() {
            let ends = [t.from, t.to].into_iter().zip(t.ends(routes));
            for (node, _) in ends.filter(|(_, is_used)| *is_used) {
                let sum = &mut self.packed[node as usize];
                *sum = (sum.0.saturating_add(t.load), sum.1 + blocks);
                most = (most.0.max(sum.0), most.1.max(sum.1));
            }
        }
        packed().for_each(|(t, _)| {
            [t.from, t.to].into_iter().for_each(|node| self.packed[node as usize] = (0, 0.0));
        });
        most
    }
}

#[inline]
fn along(
    topology: &Network,
    number: u64,
    t: &Transfer,
    routes: &[Route],
    visit: &mut dyn FnMut(Run),
) -> Result<u64, Fault> {
    let route = t.route.checked_sub(1).map(|i| &routes[i as usize]);
    topology
        .route(t.from.into(), t.to.into(), route, visit)
        .map_err(|source| bad_route(number, t, source))
}

fn too_much(step: u64) -> Fault {
    Fault::Refused(format!(
        "step {step}: its messages, copies among them, add up beyond 2^64 bytes or segments of blocks"
    ))
}

pub(super) fn bad_route(step: u64, t: &Transfer, source: RouteError) -> Fault {
    Fault::Send(step, SendFault::BadRoute { from: u64::from(t.from), to: u64::from(t.to), source })
}

#[derive(Debug, Clone, Copy, Default)]
struct NodeTraffic {
    step: u64,
    sends: u32,
    receives: u32,
    /// The only node with which this node exchanges messages. Invalid if `several_partners` is set.
    partner: u32,
    several_partners: bool,
    sent: u64,
    received: u64,
}

impl NodeTraffic {
    #[inline]
    fn add_partner(&mut self, step: u64, node: u32) {
        if self.step != step {
            *self = Self { step, ..Self::default() };
        }
        self.several_partners |= self.sends + self.receives > 0 && self.partner != node;
        self.partner = node;
    }

    #[inline]
    fn sends(&mut self, step: u64, to: u32, load: u64, facts: &mut StepFacts) {
        self.add_partner(step, to);
        self.sends += 1;
        self.sent += load;
        facts.one_directional |= self.one_directional();
        facts.max_sends = facts.max_sends.max(u64::from(self.sends));
        facts.max_node_load = facts.max_node_load.max(self.sent);
    }

    #[inline]
    fn receives(&mut self, step: u64, from: u32, load: u64, facts: &mut StepFacts) {
        self.add_partner(step, from);
        self.receives += 1;
        self.received += load;
        facts.one_directional |= self.one_directional();
        facts.max_receives = facts.max_receives.max(u64::from(self.receives));
        facts.max_node_load = facts.max_node_load.max(self.received);
    }

    fn one_directional(&self) -> bool {
        self.several_partners && self.sends > 0 && self.receives > 0
    }
}

#[derive(Debug)]
pub(super) struct SymmetricLinks {
    group: Group,
    links: OrbitLinkLoad,
    all_nodes: Option<Box<StepStatistics>>,
    expanded: Vec<Transfer>,
    routes: Vec<Route>,
}

impl SymmetricLinks {
    pub(super) fn new(topology: &Network, group: Group) -> Self {
        let links = OrbitLinkLoad::new(topology, &group);
        Self { group, links, all_nodes: None, expanded: Vec::new(), routes: Vec::new() }
    }

    pub(super) fn group(&self) -> &Group {
        &self.group
    }

    fn expand(
        &mut self,
        number: u64,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<(), Fault> {
        let order = self.group.order();
        if (messages.len() as u64).saturating_mul(order) > limits::STEP_MESSAGES {
            return Err(Fault::Refused(format!(
                "step {number} has {} messages that would have to be counted one by one, at most {} can be",
                messages.len() as u128 * u128::from(order),
                limits::STEP_MESSAGES
            )));
        }
        self.expanded.clear();
        self.routes.clear();
        self.routes.extend_from_slice(routes);
        for element in self.group.elements() {
            let moved = |node: u32| self.group.moved(node.into(), element);
            for t in messages {
                // The images of a requested path are different paths, so each image is a new route.
                let mut route = t.route;
                let path = route
                    .checked_sub(1)
                    .map(|i| &routes[i as usize])
                    .filter(|route| !route.path.is_empty());
                if let Some(own) = path.filter(|_| element > 0) {
                    let path =
                        own.path.iter().map(|node| self.group.moved(*node, element)).collect();
                    self.routes.push(Route { path, ..own.clone() });
                    route = self.routes.len() as u32;
                }
                let (from, to) = (moved(t.from) as u32, moved(t.to) as u32);
                self.expanded.push(Transfer { from, to, route, ..*t });
            }
        }
        Ok(())
    }
}

impl StepStatistics {
    /// Measures one step, given the messages of the representatives. The sender of a message is an
    /// index among the representatives, and is replaced by the node with this index. The traffic of
    /// nodes and buffers is that of the representatives.
    ///
    /// Multiplexed loads, contents and the busiest links are not measured. Models that need these
    /// read all messages ([`Detail::AllNodes`](crate::simulation::listener::Detail)).
    pub(super) fn measure_orbits(
        &mut self,
        number: u64,
        messages: &mut [Transfer],
        routes: &[Route],
        symmetric: &mut SymmetricLinks,
        buffers: &mut Buffers,
    ) -> Result<StepFacts, Fault> {
        self.step += 1;
        let group = &symmetric.group;
        let order = group.order();
        let mut facts =
            StepFacts { messages: messages.len() as u64 * order, ..StepFacts::default() };

        for t in messages.iter_mut() {
            let sender = t.from;
            t.from = group.representative(sender as usize) as u32;
            // The representative of the receiver receives an image of this message from `from`.
            let (receiver, element) = group.home(t.to.into());
            let from = group.moved(t.from.into(), group.inverse(element)) as u32;
            let receiver = receiver as u32;
            let ends = Ends { sender, to: t.to, receiver, from };
            self.count_ends(ends, [true; 2], t.load, &mut facts);
            buffers.moved(sender, receiver, t.load);
            let all = t.load.checked_mul(order).and_then(|all| facts.total_load.checked_add(all));
            facts.total_load = all.ok_or_else(|| too_much(number))?;
            facts.max_load = facts.max_load.max(t.load);
        }
        facts.max_injected_load = facts.max_node_load;

        let counted = symmetric.links.count(self.topology.as_ref(), messages, routes);
        let counted = counted.map_err(|(i, source)| bad_route(number, &messages[i], source))?;
        if let Some(counted) = counted {
            facts.max_link_messages = counted.max_messages;
            facts.max_link_load = counted.max_load;
            facts.max_hops = counted.max_hops;
            assert_eq!(counted.hops.len(), messages.len(), "hops of other messages");
            facts.load_hops =
                messages.iter().zip(&counted.hops).map(|(t, hops)| u128::from(t.load) * hops).sum();
            if let Some(OrbitTimes { latency, message, link, node }) = counted.times {
                facts.max_latency = self.topology.latencies().map(|_| latency);
                let times = BandwidthTimes { message, link, multiplexed: message, node };
                facts.bandwidth_times = self.topology.bandwidths().map(|_| times);
            }
            return Ok(facts);
        }

        symmetric.expand(number, messages, routes)?;
        let (topology, interests) = (&self.topology, self.interests);
        let all_nodes = symmetric
            .all_nodes
            .get_or_insert_with(|| Box::new(Self::new(Arc::clone(topology), interests)));
        all_nodes.measure(number, &mut symmetric.expanded, None, &symmetric.routes)
    }
}

/// The loads that a node has sent and received in the phase `phase`. In a later phase, they count
/// as 0.
#[derive(Debug, Clone, Copy, Default)]
struct NodeBuffers {
    phase: u32,
    /// The high bits of the sums that do not fit into `low`.
    carried: [u16; 2],
    low: [u64; 2],
}

impl NodeBuffers {
    const SENT: usize = 0;
    const RECEIVED: usize = 1;

    /// Adds a load to one of the sums and returns the new sum. 128-bit integers would double the
    /// size of the table, and reading the table takes most of the computing time.
    #[inline]
    fn add(&mut self, phase: u32, which: usize, load: u64) -> u128 {
        if self.phase != phase {
            *self = Self { phase, ..Self::default() };
        }
        let (low, carry) = self.low[which].overflowing_add(load);
        self.low[which] = low;
        self.carried[which] = self.carried[which].saturating_add(carry.into());
        u128::from(self.carried[which]) << 64 | u128::from(low)
    }
}

#[derive(Debug)]
pub(super) struct Buffers {
    nodes: Vec<NodeBuffers>,
    phase: u32,
    most: (u128, u128),
}

impl Buffers {
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes: vec![NodeBuffers::default(); nodes], phase: 0, most: (0, 0) }
    }

    pub(super) fn begin_phase(&mut self) {
        self.phase += 1;
    }

    #[inline]
    pub(super) fn moved(&mut self, from: u32, to: u32, load: u64) {
        self.sent(from, load);
        self.received(to, load);
    }

    #[inline]
    pub(super) fn sent(&mut self, from: u32, load: u64) {
        let sent = self.nodes[from as usize].add(self.phase, NodeBuffers::SENT, load);
        self.most.0 = self.most.0.max(sent);
    }

    #[inline]
    pub(super) fn received(&mut self, to: u32, load: u64) {
        let received = self.nodes[to as usize].add(self.phase, NodeBuffers::RECEIVED, load);
        self.most.1 = self.most.1.max(received);
    }

    pub(super) fn most(&self) -> (u128, u128) {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::parse;

    fn facts(topology: &str, ends: &[(u32, u32)]) -> StepFacts {
        let mut transfers: Vec<Transfer> = ends
            .iter()
            .map(|&(from, to)| Transfer { from, to, route: 0, hops: 0, load: 1 })
            .collect();
        StepStatistics::new(parse(topology).unwrap(), Interests::FACTS)
            .measure(1, &mut transfers, None, &[])
            .unwrap()
    }

    #[test]
    fn one_directional_is_sending_to_one_node_and_receiving_from_another() {
        let one_directional = |ends: &[(u32, u32)]| facts("ring:4", ends).one_directional;
        assert!(one_directional(&[(0, 1), (1, 2)]));
        assert!(one_directional(&[(1, 2), (0, 1)]));
        assert!(!one_directional(&[(0, 1), (1, 0), (2, 3), (3, 2)]));
        assert!(one_directional(&[(0, 1), (1, 0), (2, 1)]));
        assert!(one_directional(&[(2, 1), (0, 1), (1, 0)]));
        assert!(!one_directional(&[(0, 1), (0, 2), (0, 3)]));
        assert!(!one_directional(&[(1, 0), (2, 0), (3, 0)]));
        assert!(one_directional(&[(0, 1), (0, 2), (3, 0)]));
        assert!(one_directional(&[(3, 0), (0, 1), (0, 2)]));
    }

    fn measure(loads: [u64; 2]) -> Result<StepFacts, Fault> {
        let send = |from, load| Transfer { from, to: 3, route: 0, hops: 0, load };
        let mut transfers = [send(0, loads[0]), send(1, loads[1])];
        let interests = Interests { multiplexing: true, ..Interests::FACTS };
        StepStatistics::new(parse("mesh:4").unwrap(), interests).measure(
            7,
            &mut transfers,
            None,
            &[],
        )
    }

    #[test]
    fn loads_over_hops_and_on_shared_links_are_exact_beyond_64_bits() {
        let half = 1 << 62;
        let facts = measure([half, half]).unwrap();
        assert_eq!((facts.total_load, facts.max_link_load), (1 << 63, 1 << 63));
        assert_eq!((facts.load_hops, facts.max_multiplexed_load), (5 << 62, Some(1 << 63)));
        let facts = measure([u64::MAX - 1, 1]).unwrap();
        assert_eq!(facts.load_hops, 3 * u128::from(u64::MAX - 1) + 2);
        assert_eq!(facts.max_multiplexed_load, Some(2 * u128::from(u64::MAX - 1)));
    }

    #[test]
    fn a_step_with_a_load_beyond_64_bits_is_refused() {
        insta::assert_snapshot!(measure([u64::MAX, 1]).unwrap_err().to_string(), @"step 7: its messages, copies among them, add up beyond 2^64 bytes or segments of blocks");
    }

    #[test]
    fn packed_load_is_that_of_messages_of_several_blocks() {
        let send = |from, to, load| Transfer { from, to, route: 0, hops: 0, load };
        let interests = Interests { packing: true, ..Interests::FACTS };
        let mut statistics = StepStatistics::new(parse("ring:4").unwrap(), interests);
        for _ in 0..2 {
            let mut transfers = [send(0, 1, 5), send(1, 2, 7), send(2, 0, 100)];
            let several = Contents::several;
            let contents = [several(2.0), several(3.5), Contents::one(2, 0, 1.0)];
            let facts = statistics.measure(1, &mut transfers, Some(&contents), &[]).unwrap();
            assert_eq!(
                (facts.max_packed_load, facts.max_packed_blocks),
                (Some(12), Some(5.5)),
                "the load of node 1; the message of one block is not packed"
            );
        }
    }

    #[test]
    fn links_are_busiest_by_messages_or_by_bytes() {
        let send = |from, to, load| Transfer { from, to, route: 0, hops: 0, load };
        let interests = Interests { busiest_links: true, ..Interests::FACTS };
        let mut statistics = StepStatistics::new(parse("mesh:6").unwrap(), interests);
        let mut transfers = [send(0, 1, 1000), send(3, 5, 1), send(4, 5, 1), send(2, 3, 1)];
        statistics.measure(1, &mut transfers, None, &[]).unwrap();
        assert_eq!(statistics.busiest_links(), [(2, 2.0), (1, 1000.0)]);
    }

    #[test]
    fn sums_of_a_phase_are_exact_beyond_64_bits() {
        let mut buffers = Buffers::new(4);
        buffers.begin_phase();
        (0..5).for_each(|_| buffers.moved(0, 3, u64::MAX));
        buffers.moved(3, 3, 7);
        let most = 5 * u128::from(u64::MAX);
        assert_eq!(buffers.most(), (most, most + 7));
        buffers.begin_phase();
        buffers.moved(0, 0, u64::MAX);
        assert_eq!(buffers.most(), (most, most + 7), "a phase begins with empty buffers");
    }
}
