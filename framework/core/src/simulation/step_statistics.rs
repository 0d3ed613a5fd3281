//! Measures a step: messages, loads, hops, ports, and the load of every directed link.

mod orbits;
mod port;

use crate::delivery::fault::{Fault, SendFault};
use crate::network::links::LinkLoad;
use crate::network::topology::{Route, RouteError, Run, Topology};
use crate::simulation::listener::Interests;
use crate::simulation::step::{BandwidthTimes, Expected, StepFacts, Transfer};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) use orbits::Orbits;
use port::Port;

/// Between whom a message goes: the places of both ends in the tables, and whom each of them meets.
#[derive(Debug, Clone, Copy)]
struct Ends {
    sender: u32,
    to: u32,
    receiver: u32,
    from: u32,
}

/// Measures steps on one topology.
#[derive(Debug)]
pub(crate) struct StepStatistics {
    topology: Arc<dyn Topology>,
    links: LinkLoad,
    ports: Vec<Port>,
    step: u64,
    interests: Interests,
    /// What each node has sent and received in messages of more than one block; cleared after each
    /// step.
    packed: Vec<u64>,
    /// Messages and time of links, those of which no other has more of both.
    busiest_links: Vec<(u64, f64)>,
    /// For each transfer of the step the sum of one over the bandwidths on its way; empty where all
    /// links are alike.
    inverse_bandwidth: Vec<f64>,
    /// For each transfer of the step the hops that are expected; empty unless routes are drawn.
    mean_hops: Vec<f64>,
    /// For each rank the node whose ports it has; empty where each has its own.
    hosts: Vec<u32>,
}

impl StepStatistics {
    /// For steps on `topology`; what takes a look at every link of every route is measured only if
    /// wanted.
    pub(crate) fn new(topology: Arc<dyn Topology>, interests: Interests) -> Self {
        let nodes = topology.nodes() as usize;
        Self::of(topology, nodes, interests)
    }

    /// The same for schedules of which only what so many nodes do is looked at.
    pub(super) fn of(topology: Arc<dyn Topology>, nodes: usize, interests: Interests) -> Self {
        let links = LinkLoad::new(topology.as_ref());
        let ports = vec![Port::default(); nodes];
        let ranks = if topology.node_network().is_some() { topology.nodes() } else { 0 };
        let hosts = (0..ranks).map(|rank| topology.host(rank) as u32).collect();
        Self {
            topology,
            links,
            ports,
            step: 0,
            interests,
            packed: vec![0; if interests.packing { nodes } else { 0 }],
            busiest_links: Vec::new(),
            inverse_bandwidth: Vec::new(),
            mean_hops: Vec::new(),
            hosts,
        }
    }

    /// For each transfer of the last step the sum over its links of one over their bandwidths;
    /// empty where all have the machine's.
    pub(crate) fn inverse_bandwidth(&self) -> &[f64] {
        &self.inverse_bandwidth
    }

    /// For each transfer of the last step the hops that are expected of it; empty unless routes are
    /// drawn.
    pub(crate) fn mean_hops(&self) -> &[f64] {
        &self.mean_hops
    }

    /// As [`crate::simulation::step::Step::busiest_links`] of the last step.
    pub(crate) fn busiest_links(&self) -> &[(u64, f64)] {
        &self.busiest_links
    }

    /// Measures one step; fills in each transfer's hops. `number` is the schedule's own number of
    /// the step, for messages; `blocks` says of how many blocks each transfer is, where that is
    /// counted.
    pub(crate) fn measure(
        &mut self,
        number: u64,
        transfers: &mut [Transfer],
        blocks: Option<&[u32]>,
        routes: &[Route],
    ) -> Result<StepFacts, Fault> {
        self.step += 1;
        let load = transfers.first().map_or(0, |t| t.load);
        let (mut facts, alike) = self.measure_one_by_one(number, transfers, routes)?;
        facts.max_injected_load = self.most_injected(transfers).unwrap_or(facts.max_node_load);
        if self.interests.multiplexing {
            facts.max_multiplexed_load = Some(match facts.max_link_messages {
                0 | 1 => facts.max_load.into(),
                f if alike => u128::from(f) * u128::from(load),
                _ => self.most_multiplexed(number, transfers, routes)?,
            });
        }
        facts.max_link_load = match facts.max_link_messages {
            0 | 1 => facts.max_load,
            f if alike => f.saturating_mul(load),
            _ => self.heaviest_link(number, transfers, routes)?,
        };
        if let Some(blocks) = blocks {
            facts.max_packed_load = Some(self.most_packed(transfers, blocks));
        }
        if self.interests.busiest_links {
            self.find_busiest_links(number, transfers, routes, alike, &facts)?;
        }
        if self.topology.bandwidths().is_some() {
            facts.bandwidth_times = Some(self.bandwidth_times(number, transfers, routes)?);
        }
        self.mean_hops.clear();
        if self.topology.random_routing().is_some() {
            facts.expected = Some(self.expect(transfers));
        }
        if self.topology.latencies().is_some() {
            facts.max_latency = Some(self.most_latency(number, transfers, routes)?);
        }
        Ok(facts)
    }

    /// What is looked at message by message: the facts, and whether all loads are alike.
    fn measure_one_by_one(
        &mut self,
        number: u64,
        transfers: &mut [Transfer],
        routes: &[Route],
    ) -> Result<(StepFacts, bool), Fault> {
        self.links.begin();
        let mut facts = StepFacts { messages: transfers.len() as u64, ..StepFacts::default() };
        let mut alike = true;
        let load = transfers.first().map_or(0, |t| t.load);
        for t in transfers.iter_mut() {
            let links = &mut self.links;
            let hops =
                along(self.topology.as_ref(), number, t, routes, &mut |run| links.add(run, 1))?;
            t.hops = hops as u32;
            alike &= t.load == load;
            facts.max_load = facts.max_load.max(t.load);
            facts.total_load =
                facts.total_load.checked_add(t.load).ok_or_else(|| too_much(number))?;
            facts.max_hops = facts.max_hops.max(hops);
            facts.load_hops += u128::from(t.load) * u128::from(hops);
            let [from, to] =
                [t.from, t.to].map(|rank| self.hosts.get(rank as usize).copied().unwrap_or(rank));
            self.count_ports(Ends { sender: from, to, receiver: to, from }, t.load, &mut facts);
        }
        facts.max_link_messages = self.links.max();
        Ok((facts, alike))
    }

    /// What is expected where routes are drawn; the busiest links are named by that, if wanted.
    fn expect(&mut self, transfers: &[Transfer]) -> Expected {
        let topology = Arc::clone(&self.topology);
        let Some(drawn) = topology.random_routing() else { return Expected::default() };
        let mut on: HashMap<u64, (f64, f64)> = HashMap::new();
        // A send that names its way has it: what it puts on links is no draw.
        let mut messages =
            transfers.iter().filter(|t| t.route == 0).map(|t| (t.from.into(), t.to.into(), t.load));
        drawn.expected(&mut messages, &mut |link, messages, load| {
            let sums = on.entry(link).or_default();
            *sums = (sums.0 + messages, sums.1 + load);
        });
        let mut most = Expected::default();
        for t in transfers {
            let hops = if t.route == 0 {
                drawn.expected_hops(t.from.into(), t.to.into())
            } else {
                t.hops.into()
            };
            self.mean_hops.push(hops);
            most.hops = most.hops.max(hops);
        }
        for (messages, load) in on.values() {
            (most.messages, most.load) = (most.messages.max(*messages), most.load.max(*load));
        }
        most
    }

    /// What the costliest route is made of, in hops of the machine's: one more walk, needed only
    /// where links cost unlike.
    fn most_latency(
        &self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
    ) -> Result<f64, Fault> {
        let mut most = 0.0_f64;
        for t in transfers {
            let mut sum = 0.0;
            along(self.topology.as_ref(), number, t, routes, &mut |run| {
                sum += links_of(run).map(|link| self.topology.latency(link)).sum::<f64>();
            })?;
            most = most.max(sum);
        }
        Ok(most)
    }

    #[inline]
    fn count_ports(&mut self, ends: Ends, load: u64, facts: &mut StepFacts) {
        self.ports[ends.sender as usize].sends(self.step, ends.to, load, facts);
        self.ports[ends.receiver as usize].receives(self.step, ends.from, load, facts);
    }

    /// The most that one node sends, or receives, over links; `None` where all that it sends goes
    /// over some.
    fn most_injected(&self, transfers: &[Transfer]) -> Option<u64> {
        let mut loads: HashMap<(u32, bool), u64> = HashMap::new();
        for t in transfers.iter().filter(|t| t.hops > 0) {
            for (rank, out) in [(t.from, true), (t.to, false)] {
                *loads.entry((*self.hosts.get(rank as usize)?, out)).or_default() += t.load;
            }
        }
        loads.into_values().max().or((!self.hosts.is_empty()).then_some(0))
    }

    /// The most that one node gathers to send and scatters when received: messages of more than one
    /// block.
    fn most_packed(&mut self, transfers: &[Transfer], blocks: &[u32]) -> u64 {
        let packed =
            || transfers.iter().zip(blocks).filter(|(_, blocks)| **blocks > 1).map(|(t, _)| t);
        let mut most = 0;
        for t in packed() {
            for node in [t.from, t.to] {
                let sum = &mut self.packed[node as usize];
                *sum = sum.saturating_add(t.load);
                most = most.max(*sum);
            }
        }
        packed().for_each(|t| {
            [t.from, t.to].into_iter().for_each(|node| self.packed[node as usize] = 0)
        });
        most
    }

    /// Links that may be the busiest, whatever a message and a byte cost: no other has more
    /// messages and takes longer for their bytes.
    fn find_busiest_links(
        &mut self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
        alike: bool,
        facts: &StepFacts,
    ) -> Result<(), Fault> {
        self.busiest_links.clear();
        if self.topology.bandwidths().is_none() && (alike || facts.max_link_messages <= 1) {
            self.busiest_links.push((facts.max_link_messages, facts.max_link_load as f64));
            return Ok(());
        }
        let mut links: Vec<(u64, f64)> =
            self.on_links(number, transfers, routes)?.into_values().collect();
        links.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let mut longest = f64::NEG_INFINITY;
        for (messages, time) in links {
            if time > longest {
                longest = time;
                self.busiest_links.push((messages, time));
            }
        }
        Ok(())
    }

    /// Messages on each link, and what it takes for their bytes, in loads at the machine's
    /// bandwidth.
    fn on_links(
        &self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
    ) -> Result<HashMap<u64, (u64, f64)>, Fault> {
        let mut on: HashMap<u64, (u64, f64)> = HashMap::new();
        for t in transfers {
            along(self.topology.as_ref(), number, t, routes, &mut |run| {
                for link in links_of(run) {
                    let (messages, time) = on.entry(link).or_default();
                    *messages += 1;
                    *time += t.load as f64 / self.topology.bandwidth(link);
                }
            })?;
        }
        Ok(on)
    }

    /// The most, over all messages, of a message's load times the most messages on a link of its
    /// route.
    fn most_multiplexed(
        &mut self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
    ) -> Result<u128, Fault> {
        let mut messages: HashMap<u64, u64> = HashMap::new();
        self.links.for_each_loaded(&mut |link, load| {
            messages.insert(link, load);
        });
        let mut most = 0;
        for t in transfers {
            let mut shared = 1;
            along(self.topology.as_ref(), number, t, routes, &mut |run| {
                for link in links_of(run) {
                    shared = shared.max(messages.get(&link).copied().unwrap_or(0));
                }
            })?;
            most = most.max(u128::from(t.load) * u128::from(shared));
        }
        Ok(most)
    }

    /// What bandwidths make of the step: two more walks, needed only where they differ.
    fn bandwidth_times(
        &mut self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
    ) -> Result<BandwidthTimes, Fault> {
        let topology = Arc::clone(&self.topology);
        let each_link = |t: &Transfer, visit: &mut dyn FnMut(u64)| {
            along(topology.as_ref(), number, t, routes, &mut |run| {
                links_of(run).for_each(&mut *visit)
            })
        };
        let mut on: HashMap<u64, (u64, u64)> = HashMap::new();
        for t in transfers {
            each_link(t, &mut |link| {
                let (messages, load) = on.entry(link).or_default();
                *messages += 1;
                *load = load.saturating_add(t.load);
            })?;
        }
        let links = on.iter().map(|(link, (_, load))| *load as f64 / topology.bandwidth(*link));
        let mut bandwidth_times = BandwidthTimes {
            message: 0.0,
            link: links.fold(0.0, f64::max),
            multiplexed: 0.0,
            node: 0.0,
        };
        let mut at_node: HashMap<(u32, bool), f64> = HashMap::new();
        self.inverse_bandwidth.clear();
        for t in transfers {
            let (mut sum, mut slowest, mut shared) = (0.0, 0.0_f64, 0.0_f64);
            each_link(t, &mut |link| {
                let each = 1.0 / topology.bandwidth(link);
                sum += each;
                slowest = slowest.max(each);
                shared =
                    shared.max(on.get(&link).map_or(0, |(messages, _)| *messages) as f64 * each);
            })?;
            // Between two ranks of a node there is no link: the machine's bandwidth.
            if t.hops == 0 {
                (sum, slowest) = (1.0, 1.0);
            }
            self.inverse_bandwidth.push(sum);
            let alone = t.load as f64 * slowest;
            bandwidth_times.message = bandwidth_times.message.max(alone);
            let host = |rank: u32| self.hosts.get(rank as usize).copied().unwrap_or(rank);
            for end in [(host(t.from), true), (host(t.to), false)] {
                let sum = at_node.entry(end).or_default();
                *sum += alone;
                bandwidth_times.node = bandwidth_times.node.max(*sum);
            }
            bandwidth_times.multiplexed = bandwidth_times.multiplexed.max(t.load as f64 * shared);
        }
        Ok(bandwidth_times)
    }

    /// The most load on one link: a second walk, needed only where links are shared by messages of
    /// different length.
    fn heaviest_link(
        &mut self,
        number: u64,
        transfers: &[Transfer],
        routes: &[Route],
    ) -> Result<u64, Fault> {
        self.links.begin();
        for t in transfers {
            let links = &mut self.links;
            along(self.topology.as_ref(), number, t, routes, &mut |run| links.add(run, t.load))?;
        }
        Ok(self.links.max())
    }
}

/// Visits a message's route, run by run; its hops.
#[inline]
fn along(
    topology: &dyn Topology,
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

fn links_of(run: Run) -> impl Iterator<Item = u64> {
    (0..run.len).map(move |i| run.first + i * run.stride)
}

/// Whatever is summed within a step, on a link or at a node, is a part of all its messages.
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
