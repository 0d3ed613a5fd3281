//! A step measured by many threads: each routes some of the messages, then each counts some of the links, and looks at some of the nodes.

use super::{Buffers, Port, StepStatistics, bad_route, route_of, too_much};
use crate::delivery::fault::Fault;
use crate::executor::{each, share};
use crate::network::links::together::{Bins, Division, Turn};
use crate::network::topology::Route;
use crate::simulation::step::{StepFacts, Transfer};

/// What a thread that routes messages finds; on cache lines of its own, for each message writes to it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Crew {
    bins: Bins,
    facts: StepFacts,
    /// Whether the loads add up to a number at all, and are alike.
    adds_up: bool,
    alike: bool,
}

/// Some nodes that follow each other.
#[repr(align(128))]
struct Nodes<'a> {
    first: usize,
    ports: &'a mut [Port],
    buffers: &'a mut [Buffers],
    facts: StepFacts,
    most_buffered: (u128, u128),
}

/// So many messages are routed before what they change is counted: it takes some dozen bytes a turn.
const ROUTED_AT_ONCE: usize = 1 << 16;

/// A step's messages, some at a time.
fn turns(transfers: &mut [Transfer]) -> impl Iterator<Item = (Turn, &mut [Transfer])> {
    let last = transfers.len().div_ceil(ROUTED_AT_ONCE) - 1;
    let turn = move |number| Turn { is_first: number == 0, is_last: number == last };
    transfers.chunks_mut(ROUTED_AT_ONCE).enumerate().map(move |(number, some)| (turn(number), some))
}

impl StepStatistics {
    /// How a step of so many messages is divided; `None` for one that one thread looks at sooner.
    pub(super) fn division(&mut self, messages: usize) -> Option<Division> {
        let threads = self.executor.threads();
        // Ranks that share a node share its ports: whoever looks at one of them would look at another's.
        if threads == 1 || messages < self.executor.fewest() || !self.hosts.is_empty() {
            return None;
        }
        self.links.division(messages, threads)
    }

    /// As [`StepStatistics::measure_one_by_one`].
    pub(super) fn measure_together(
        &mut self,
        number: u64,
        division: Division,
        transfers: &mut [Transfer],
        routes: &[Route],
    ) -> Result<(StepFacts, bool), Fault> {
        let load = transfers.first().map_or(0, |t| t.load);
        let mut facts = StepFacts { messages: transfers.len() as u64, ..StepFacts::default() };
        let mut alike = true;
        self.links.begin_together();
        for (turn, some) in turns(transfers) {
            facts.max_link_messages = self.route_some(number, (division, turn), some, routes, &|_| 1)?;
            for crew in &self.crews {
                let own = &crew.facts;
                alike &= crew.alike && own.max_load == load;
                facts.max_load = facts.max_load.max(own.max_load);
                facts.max_hops = facts.max_hops.max(own.max_hops);
                facts.load_hops += own.load_hops;
                let sum = facts.total_load.checked_add(own.total_load).filter(|_| crew.adds_up);
                facts.total_load = sum.ok_or_else(|| too_much(number))?;
            }
        }
        self.look_at_nodes(transfers, &mut facts);
        Ok((facts, alike))
    }

    /// As [`StepStatistics::heaviest_link`].
    pub(super) fn heaviest_together(
        &mut self,
        number: u64,
        division: Division,
        transfers: &mut [Transfer],
        routes: &[Route],
    ) -> Result<u64, Fault> {
        self.links.begin_together();
        let mut most = 0;
        for (turn, some) in turns(transfers) {
            most = self.route_some(number, (division, turn), some, routes, &|t| t.load)?;
        }
        Ok(most)
    }

    /// Routes some messages, fills in their hops, and adds to each link that one crosses what it weighs; the most on a link, after the last. As many crews as
    /// have messages are left.
    fn route_some(
        &mut self,
        number: u64,
        (division, turn): (Division, Turn),
        transfers: &mut [Transfer],
        routes: &[Route],
        weight: &(dyn Fn(&Transfer) -> u64 + Sync),
    ) -> Result<u64, Fault> {
        let (topology, planes, executor) = (self.topology.as_ref(), self.links.planes(), self.executor.as_ref());
        let each_gets = share(transfers.len(), executor.threads());
        self.crews.resize_with(transfers.len().div_ceil(each_gets), Crew::default);
        let parts = transfers.chunks_mut(each_gets).zip(&mut self.crews);
        let mut parts: Vec<_> = parts.map(|(transfers, crew)| (transfers, crew, Ok(()))).collect();
        each(executor, &mut parts, |(transfers, Crew { bins, facts, adds_up, alike }, outcome)| {
            bins.clear(division);
            (*facts, *adds_up, *alike) = (StepFacts::default(), true, true);
            let load = transfers.first().map_or(0, |t| t.load);
            for t in transfers.iter_mut() {
                let amount = weight(t);
                let mut add = |run| bins.add(division, planes, run, amount);
                match topology.route(u64::from(t.from), u64::from(t.to), route_of(t, routes), &mut add) {
                    Ok(hops) => {
                        t.hops = hops as u32;
                        *alike &= t.load == load;
                        facts.max_load = facts.max_load.max(t.load);
                        facts.max_hops = facts.max_hops.max(hops);
                        facts.load_hops += u128::from(t.load) * u128::from(hops);
                        let (sum, over) = facts.total_load.overflowing_add(t.load);
                        facts.total_load = sum;
                        *adds_up &= !over;
                    }
                    Err(source) => {
                        *outcome = Err(bad_route(number, t, source));
                        return;
                    }
                }
            }
        });
        parts.into_iter().try_for_each(|(_, _, outcome)| outcome)?;
        let bins: Vec<&Bins> = self.crews.iter().map(|crew| &crew.bins).collect();
        Ok(self.links.add_all(division, &bins, turn, executor))
    }

    /// Ports and buffers. Everyone goes through all messages, and looks at the ends among some nodes.
    fn look_at_nodes(&mut self, transfers: &[Transfer], facts: &mut StepFacts) {
        let (step, phase, executor) = (self.step, self.phase, self.executor.as_ref());
        let each_gets = share(self.ports.len(), executor.threads());
        let nodes = self.ports.chunks_mut(each_gets).zip(self.buffers.chunks_mut(each_gets));
        let nodes = (0..).step_by(each_gets).zip(nodes).map(|(first, (ports, buffers))| Nodes {
            first,
            ports,
            buffers,
            facts: StepFacts::default(),
            most_buffered: (0, 0),
        });
        let mut all: Vec<Nodes<'_>> = nodes.collect();
        each(executor, &mut all, |nodes| {
            for t in transfers {
                let sender = (t.from as usize).wrapping_sub(nodes.first);
                if let Some(port) = nodes.ports.get_mut(sender) {
                    port.sends(step, t.to, t.load, &mut nodes.facts);
                    let sent = nodes.buffers[sender].add(phase, Buffers::SENT, t.load);
                    nodes.most_buffered.0 = nodes.most_buffered.0.max(sent);
                }
                let receiver = (t.to as usize).wrapping_sub(nodes.first);
                if let Some(port) = nodes.ports.get_mut(receiver) {
                    port.receives(step, t.from, t.load, &mut nodes.facts);
                    let received = nodes.buffers[receiver].add(phase, Buffers::RECEIVED, t.load);
                    nodes.most_buffered.1 = nodes.most_buffered.1.max(received);
                }
            }
        });
        for Nodes { facts: own, most_buffered, .. } in all {
            facts.max_sends = facts.max_sends.max(own.max_sends);
            facts.max_receives = facts.max_receives.max(own.max_receives);
            facts.max_node_load = facts.max_node_load.max(own.max_node_load);
            facts.one_directional |= own.one_directional;
            self.most_buffered.0 = self.most_buffered.0.max(most_buffered.0);
            self.most_buffered.1 = self.most_buffered.1.max(most_buffered.1);
        }
    }
}
