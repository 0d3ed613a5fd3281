//! Measures steps of which only the messages of the representatives (one node of each orbit) are
//! known.

use super::{Ends, StepStatistics, bad_route, too_much};
use crate::delivery::fault::Fault;
use crate::limits;
use crate::network::links::orbits::{OrbitLinkLoad, OrbitTimes};
use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route};
use crate::simulation::buffers::Buffers;
use crate::simulation::step::{BandwidthTimes, StepFacts, Transfer};
use std::sync::Arc;

/// A counter of the messages and loads of all nodes on all links, given only the messages of the
/// representatives.
#[derive(Debug)]
pub(in crate::simulation) struct SymmetricLinks {
    group: Group,
    links: OrbitLinkLoad,
    /// Measures the messages of all nodes, for steps that cannot be counted by orbits.
    all_nodes: Option<Box<StepStatistics>>,
    expanded: Vec<Transfer>,
    routes: Vec<Route>,
}

impl SymmetricLinks {
    pub(in crate::simulation) fn new(topology: &Network, group: Group) -> Self {
        let links = OrbitLinkLoad::new(topology, &group);
        Self { group, links, all_nodes: None, expanded: Vec::new(), routes: Vec::new() }
    }

    pub(in crate::simulation) fn group(&self) -> &Group {
        &self.group
    }

    /// Fills `expanded` with the messages of all nodes, and `routes` with their routes.
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
                // Each element of the group maps a requested path to a different path, so each
                // image is a new route.
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
    /// Measures one step, given the messages of the representatives (one node of each orbit). The
    /// sender of each message is given as an index among the representatives, and is replaced by
    /// its node number. The traffic of nodes and buffers is measured for the
    /// representatives.
    ///
    /// Multiplexed loads, the contents of messages and the busiest links are not measured. Models
    /// that need these values read all messages
    /// ([`Detail::AllNodes`](crate::simulation::listener::Detail)).
    pub(in crate::simulation) fn measure_orbits(
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

        // Count the traffic of nodes, buffers and loads.
        for t in messages.iter_mut() {
            let sender = t.from;
            t.from = group.representative(sender as usize) as u32;
            // The representative of the receiver's orbit receives an image of this message. The
            // sender of the image is `from`.
            let (receiver, element) = group.home(t.to.into());
            let from = group.moved(t.from.into(), group.inverse(element)) as u32;
            let receiver = receiver as u32;
            self.count_ends(Ends { sender, to: t.to, receiver, from }, t.load, &mut facts);
            buffers.moved(sender, receiver, t.load);
            let all = t.load.checked_mul(order).and_then(|all| facts.total_load.checked_add(all));
            facts.total_load = all.ok_or_else(|| too_much(number))?;
            facts.max_load = facts.max_load.max(t.load);
        }
        facts.max_injected_load = facts.max_node_load;

        // Count links by orbits, if the topology and the routes permit this.
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

        // Otherwise measure all messages one by one.
        symmetric.expand(number, messages, routes)?;
        let (topology, interests) = (&self.topology, self.interests);
        let all_nodes = symmetric
            .all_nodes
            .get_or_insert_with(|| Box::new(Self::new(Arc::clone(topology), interests)));
        all_nodes.measure(number, &mut symmetric.expanded, None, &symmetric.routes)
    }
}
