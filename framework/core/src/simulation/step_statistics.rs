//! Measures a step: messages, loads and hops, the traffic of every node, and the load of every
//! directed link.
//!
//! Routes are expensive to compute. So every route is computed only once per step, and updates all
//! counters. Some values depend on the final number of messages on each link of a route. If a
//! listener requests these values, and they do not follow from the counters, every route is
//! computed a second time.

mod node_traffic;
mod symmetric;

use crate::delivery::contents::Contents;
use crate::delivery::fault::{Fault, SendFault};
use crate::network::links::LinkLoad;
use crate::network::topology::{Network, Route, RouteError, Run};
use crate::simulation::listener::Interests;
use crate::simulation::step::{BandwidthTimes, Expected, StepFacts, Transfer};
use std::collections::HashMap;
use std::sync::Arc;

use node_traffic::NodeTraffic;
pub(super) use symmetric::SymmetricLinks;

/// The two ends of a message. `sender` and `receiver` are indices into the table of nodes. `to` is
/// the node to which the sender sends, and `from` is the node from which the receiver receives.
#[derive(Debug, Clone, Copy)]
struct Ends {
    sender: u32,
    to: u32,
    receiver: u32,
    from: u32,
}

/// The number of messages on a link, and the time that their loads take. The unit of time is the
/// time that one unit of load takes at the machine's bandwidth.
#[derive(Debug, Default)]
struct LinkUse {
    messages: u64,
    time: f64,
}

/// The measurements of one step at a time, for the steps of a schedule on one topology.
#[derive(Debug)]
pub(crate) struct StepStatistics {
    topology: Arc<Network>,
    interests: Interests,
    step: u64,
    /// The number of messages on each link in the current step.
    link_messages: LinkLoad,
    /// The load on each link; used for steps in which messages have different loads.
    link_loads: Option<LinkLoad>,
    /// The traffic of each node.
    traffic: Vec<NodeTraffic>,
    /// For each rank, its node. Empty if ranks do not share nodes.
    hosts: Vec<u32>,
    /// For each node, the load that it sends and receives in messages of several blocks. All
    /// entries are 0 between steps.
    packed: Vec<u64>,
    busiest_links: Vec<(u64, f64)>,
    inverse_bandwidth: Vec<f64>,
    mean_hops: Vec<f64>,
    /// The messages, routes and facts of the last step. The facts are `None` if they cannot be
    /// reused.
    last: (Vec<Transfer>, Vec<Route>, Option<StepFacts>),
}

impl StepStatistics {
    /// Creates statistics of the messages that all nodes of `topology` send.
    pub(crate) fn new(topology: Arc<Network>, interests: Interests) -> Self {
        let nodes = topology.nodes() as usize;
        Self::for_nodes(topology, nodes, interests)
    }

    /// Creates statistics of a schedule in which only `nodes` nodes send messages.
    pub(super) fn for_nodes(topology: Arc<Network>, nodes: usize, interests: Interests) -> Self {
        let ranks = if topology.shares_nodes() { topology.nodes() } else { 0 };
        Self {
            interests,
            step: 0,
            link_messages: LinkLoad::new(topology.as_ref()),
            link_loads: None,
            traffic: vec![NodeTraffic::default(); nodes],
            hosts: (0..ranks).map(|rank| topology.physical_node(rank) as u32).collect(),
            packed: vec![0; if interests.packing { nodes } else { 0 }],
            busiest_links: Vec::new(),
            inverse_bandwidth: Vec::new(),
            mean_hops: Vec::new(),
            last: (Vec::new(), Vec::new(), None),
            topology,
        }
    }

    /// Returns, for each transfer of the last step, the sum of `1 / bandwidth` of its links. Empty
    /// if all links have the machine's bandwidth.
    pub(crate) fn inverse_bandwidth(&self) -> &[f64] {
        &self.inverse_bandwidth
    }

    /// Returns, for each transfer of the last step, its expected hops; empty unless routes are
    /// random.
    pub(crate) fn mean_hops(&self) -> &[f64] {
        &self.mean_hops
    }

    /// Returns the [`crate::simulation::step::Step::busiest_links`] of the last step.
    pub(crate) fn busiest_links(&self) -> &[(u64, f64)] {
        &self.busiest_links
    }

    /// Measures one step, and sets the hops of each transfer. `number` is the number of the step as
    /// the schedule counts steps, for error messages. `contents` has the contents of each transfer,
    /// if a listener needs them.
    pub(crate) fn measure(
        &mut self,
        number: u64,
        transfers: &mut [Transfer],
        contents: Option<&[Contents]>,
        routes: &[Route],
    ) -> Result<StepFacts, Fault> {
        // Many schedules repeat a step. If the messages are the same as in the last step, reuse its
        // facts.
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
        // equal, the largest load of a link follows from the number of messages.
        let mut facts = self.walk(number, transfers, equal_loads, routes)?;
        let on_link = facts.max_link_messages;
        facts.max_link_load = match &mut self.link_loads {
            _ if on_link <= 1 && self.hosts.is_empty() => facts.max_load,
            // A message between ranks of the same node uses no link.
            _ if on_link <= 1 => {
                let on_links = transfers.iter().filter(|t| t.hops > 0);
                on_links.map(|t| t.load).max().unwrap_or(0)
            }
            Some(loads) if !equal_loads => loads.max(),
            _ => on_link.saturating_mul(load),
        };
        facts.max_injected_load = self.max_injected_load(transfers).unwrap_or(facts.max_node_load);

        // The second walk finds the loads of shared links, if they do not follow from the counts of
        // the first walk.
        let Interests { multiplexing, busiest_links, .. } = self.interests;
        let mut multiplexed = u128::from(facts.max_load.max(on_link.saturating_mul(load)));
        self.busiest_links.clear();
        if (multiplexing || busiest_links) && (has_bandwidths || !equal_loads && on_link > 1) {
            multiplexed = self.walk_shared_links(number, transfers, routes, &mut facts)?;
        } else if busiest_links {
            self.busiest_links.push((on_link, facts.max_link_load as f64));
        }
        facts.max_multiplexed_load = multiplexing.then_some(multiplexed);

        // Measure the values that need no routes.
        if let Some(contents) = contents {
            facts.max_packed_load = Some(self.max_packed_load(transfers, contents));
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

    /// Computes every route once. Counts messages and loads on links and at nodes. Sums the
    /// latencies and bandwidths of routes, if links differ in these.
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
        // Most steps only need the number of messages on each link.
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

            // Update the facts about loads and hops.
            t.hops = hops as u32;
            facts.max_load = facts.max_load.max(t.load);
            facts.max_hops = facts.max_hops.max(hops);
            facts.load_hops += u128::from(t.load) * u128::from(hops);
            max_latency = max_latency.max(latency);

            // Count the traffic of nodes. The ranks of one node are counted together.
            let [from, to] = [t.from, t.to].map(|rank| self.host(rank));
            self.count_ends(Ends { sender: from, to, receiver: to, from }, t.load, &mut facts);

            // Add the times at the bandwidths of links. A message between two ranks of one node
            // uses no link, so it has the machine's bandwidth.
            if has_bandwidths {
                if hops == 0 {
                    (inverse_bandwidth, slowest) = (1.0, 1.0);
                }
                self.inverse_bandwidth.push(inverse_bandwidth);
                let alone = t.load as f64 * slowest;
                times.message = times.message.max(alone);
                for end in [(from, true), (to, false)] {
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
    /// largest product of a message's load and the number of messages on a link of its route. Also
    /// sets [`BandwidthTimes::multiplexed`] and finds the busiest links, if listeners request
    /// these.
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

    /// Stores the links that may be the most expensive ones for some prices of a message and of a
    /// byte. A link is left out if another link has at least as many messages and needs at least as
    /// much time for their bytes.
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

    /// Returns the largest expected values of the step if routes are random. Also appends the
    /// expected hops of each transfer to `self.mean_hops`, which must be empty before the call. If
    /// routes are not random, returns the default, which consists of zeros, and appends nothing.
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
        // A message with a requested route takes it with certainty.
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

    /// Returns the node on which a rank runs.
    #[inline]
    fn host(&self, rank: u32) -> u32 {
        self.hosts.get(rank as usize).copied().unwrap_or(rank)
    }

    #[inline]
    fn count_ends(&mut self, ends: Ends, load: u64, facts: &mut StepFacts) {
        self.traffic[ends.sender as usize].sends(self.step, ends.to, load, facts);
        self.traffic[ends.receiver as usize].receives(self.step, ends.from, load, facts);
    }

    /// Returns the largest load that one node sends or receives over links. Returns `None` if no
    /// two ranks share a node, because all messages then use links.
    fn max_injected_load(&self, transfers: &[Transfer]) -> Option<u64> {
        let mut loads: HashMap<(u32, bool), u64> = HashMap::new();
        for t in transfers.iter().filter(|t| t.hops > 0) {
            for (rank, out) in [(t.from, true), (t.to, false)] {
                *loads.entry((*self.hosts.get(rank as usize)?, out)).or_default() += t.load;
            }
        }
        loads.into_values().max().or((!self.hosts.is_empty()).then_some(0))
    }

    /// Returns the largest packed load of a node: the total load of messages of several blocks,
    /// which the node packs before sending or unpacks after arrival.
    fn max_packed_load(&mut self, transfers: &[Transfer], contents: &[Contents]) -> u64 {
        let is_packed = |(_, contents): &(&Transfer, &Contents)| **contents == Contents::Several;
        let packed = || transfers.iter().zip(contents).filter(is_packed).map(|(t, _)| t);
        let mut most = 0;
        for t in packed() {
            for node in [t.from, t.to] {
                let sum = &mut self.packed[node as usize];
                *sum = sum.saturating_add(t.load);
                most = most.max(*sum);
            }
        }
        packed().for_each(|t| {
            [t.from, t.to].into_iter().for_each(|node| self.packed[node as usize] = 0);
        });
        most
    }
}

/// Calls `visit` with every run of links on a message's route. Returns its hops.
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

/// Returns the fault of a step whose total load does not fit into 64 bits. No other sum of loads in
/// a step is larger than the total load.
fn too_much(step: u64) -> Fault {
    Fault::Refused(format!(
        "step {step}: its messages, copies among them, add up beyond 2^64 bytes or segments of blocks"
    ))
}

fn bad_route(step: u64, t: &Transfer, source: RouteError) -> Fault {
    Fault::Send(step, SendFault::BadRoute { from: u64::from(t.from), to: u64::from(t.to), source })
}

#[cfg(test)]
mod tests;
