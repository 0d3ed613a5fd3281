//! Measures steps of which only the messages of one node of each orbit are known.

use super::{Ends, StepStatistics, bad_route, too_much};
use crate::delivery::fault::Fault;
use crate::limits;
use crate::network::links::orbits::OrbitLinkLoad;
use crate::network::symmetry::Group;
use crate::network::topology::{Route, Topology};
use crate::simulation::buffers::Buffers;
use crate::simulation::step::{StepFacts, Transfer};
use std::sync::Arc;

/// Whose images the messages are, and how these are counted.
#[derive(Debug)]
pub(in crate::simulation) struct Orbits {
    group: Group,
    links: OrbitLinkLoad,
    /// Of the nodes of the machine, for steps that are expanded.
    everyone: Option<Box<StepStatistics>>,
    expanded: Vec<Transfer>,
    routes: Vec<Route>,
}

impl Orbits {
    pub(in crate::simulation) fn new(topology: &dyn Topology, group: Group) -> Self {
        let links = OrbitLinkLoad::new(topology, &group);
        Self { group, links, everyone: None, expanded: Vec::new(), routes: Vec::new() }
    }

    pub(in crate::simulation) fn group(&self) -> &Group {
        &self.group
    }

    /// Writes out what all nodes send, orbit by orbit.
    fn expand(
        &mut self,
        number: u64,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<(), Fault> {
        let order = self.group.order();
        if (messages.len() as u64).saturating_mul(order) > limits::STEP_MESSAGES {
            return Err(Fault::Refused(format!(
                "step {number} has {} messages that would have to be looked at one by one, at most {} may",
                messages.len() as u128 * u128::from(order),
                limits::STEP_MESSAGES
            )));
        }
        self.routes.clear();
        self.routes.extend_from_slice(routes);
        for element in self.group.elements() {
            let moved = |node: u32| self.group.moved(node.into(), element);
            for t in messages {
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
    /// Measures one step by the messages of representatives, which come with the number of their
    /// sender among these and leave with its node. What is said of ports and buffers is said of
    /// representatives.
    ///
    /// Multiplexed loads, blocks of messages and the busiest links two ways are asked for by those
    /// who look at every message anyway, as circuits do, whose rounds are arranged: they read the
    /// schedule written out, and no step of it comes here.
    pub(in crate::simulation) fn measure_orbits(
        &mut self,
        number: u64,
        messages: &mut [Transfer],
        routes: &[Route],
        orbits: &mut Orbits,
        buffers: &mut Buffers,
    ) -> Result<StepFacts, Fault> {
        self.step += 1;
        let order = orbits.group.order();
        let mut facts =
            StepFacts { messages: messages.len() as u64 * order, ..StepFacts::default() };
        for t in messages.iter_mut() {
            let sender = t.from;
            t.from = orbits.group.representative(sender as usize) as u32;
            // Who sends to the receiver's representative as this one does to the receiver.
            let (receiver, element) = orbits.group.home(t.to.into());
            let from = orbits.group.moved(t.from.into(), orbits.group.inverse(element)) as u32;
            self.count_ports(
                Ends { sender, to: t.to, receiver: receiver as u32, from },
                t.load,
                &mut facts,
            );
            buffers.moved(sender, receiver as u32, t.load);
            let all = t.load.checked_mul(order).and_then(|all| facts.total_load.checked_add(all));
            facts.total_load = all.ok_or_else(|| too_much(number))?;
            facts.max_load = facts.max_load.max(t.load);
        }
        facts.max_injected_load = facts.max_node_load;
        orbits.expanded.clear();
        let counted = orbits.links.count(self.topology.as_ref(), messages, routes);
        let counted = counted.map_err(|(i, source)| bad_route(number, &messages[i], source))?;
        if let Some((counted, max_link_load)) = counted {
            facts.max_link_messages = counted.max_messages;
            facts.max_link_load = max_link_load;
            facts.max_hops = counted.max_hops;
            facts.load_hops =
                messages.iter().zip(&counted.hops).map(|(t, hops)| u128::from(t.load) * hops).sum();
            return Ok(facts);
        }
        orbits.expand(number, messages, routes)?;
        let (topology, interests) = (&self.topology, self.interests);
        let everyone = orbits
            .everyone
            .get_or_insert_with(|| Box::new(Self::new(Arc::clone(topology), interests)));
        everyone.measure(number, &mut orbits.expanded, None, &orbits.routes)
    }
}
