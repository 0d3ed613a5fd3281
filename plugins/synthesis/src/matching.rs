//! Chooses as many links as possible that carry data in a step, such that no node sends or receives
//! over more links than it has ports.

use crate::network::LinkGraph;
use swapmeet_flows::Links;

pub(crate) struct Matching {
    ports: u64,
    into: Links,
    of_link: Vec<u32>,
    pub chosen: Vec<bool>,
    sent: Vec<u64>,
    received: Vec<u64>,
    /// For each node, the number of the last search that has visited it.
    mark: Vec<u32>,
    search: u32,
}

impl Matching {
    pub(crate) fn new(network: &LinkGraph, ports: u64) -> Self {
        let (into, of_link) = network.links.reversed();
        Self {
            ports,
            into,
            of_link,
            chosen: vec![false; network.links.count()],
            sent: vec![0; network.nodes],
            received: vec![0; network.nodes],
            mark: vec![0; network.nodes],
            search: 0,
        }
    }

    /// Chooses the links of a step. `left` has the remaining loads of the sending ports, and then
    /// those of the receiving ports. The most loaded ports get links first. Later searches
    /// (augmenting paths) may change the link of a port, but never leave the port without one.
    pub(crate) fn choose(&mut self, network: &LinkGraph, waiting: &[bool], left: &[f32]) {
        self.chosen.fill(false);
        self.sent.fill(0);
        self.received.fill(0);
        let nodes = network.nodes;
        let mut order: Vec<usize> = (0..2 * nodes).collect();
        order.sort_by(|a, b| left[*b].total_cmp(&left[*a]));
        for round in 1..=self.ports {
            for &port in &order {
                self.search += 1;
                if port < nodes {
                    if self.sent[port] < round {
                        self.send_from(network, waiting, left, port);
                    }
                } else if self.received[port - nodes] < round {
                    self.receive_at(network, waiting, port - nodes);
                }
            }
        }
    }

    /// Finds a link for one more message of a node. Other senders may exchange their links for
    /// this.
    fn send_from(
        &mut self,
        network: &LinkGraph,
        waiting: &[bool],
        left: &[f32],
        from: usize,
    ) -> bool {
        let free = |link: &usize| waiting[*link] && !self.chosen[*link];
        let mut links: Vec<usize> = network.links.out(from).filter(free).collect();
        let need = |link: &usize| left[network.nodes + network.links.head[*link] as usize];
        links.sort_by(|a, b| need(b).total_cmp(&need(a)));
        for link in links {
            let to = network.links.head[link] as usize;
            if std::mem::replace(&mut self.mark[to], self.search) == self.search {
                continue;
            }
            if self.received[to] < self.ports {
                self.received[to] += 1;
            } else {
                // No port of the receiver is free. Let another sender to this receiver use a
                // different link.
                let other = self.into.out(to).map(|back| self.of_link[back] as usize);
                let others: Vec<usize> = other.filter(|other| self.chosen[*other]).collect();
                let moved = others.into_iter().find(|other| {
                    let sender = network.links.tail[*other] as usize;
                    self.send_from(network, waiting, left, sender)
                });
                let Some(other) = moved else { continue };
                self.chosen[other] = false;
                self.sent[network.links.tail[other] as usize] -= 1;
            }
            self.chosen[link] = true;
            self.sent[from] += 1;
            return true;
        }
        false
    }

    fn receive_at(&mut self, network: &LinkGraph, waiting: &[bool], to: usize) -> bool {
        let links: Vec<usize> = self.into.out(to).map(|back| self.of_link[back] as usize).collect();
        for link in links {
            let from = network.links.tail[link] as usize;
            if !waiting[link]
                || self.chosen[link]
                || std::mem::replace(&mut self.mark[from], self.search) == self.search
            {
                continue;
            }
            if self.sent[from] < self.ports {
                self.sent[from] += 1;
            } else {
                let others: Vec<usize> =
                    network.links.out(from).filter(|other| self.chosen[*other]).collect();
                let moved = others.into_iter().find(|other| {
                    self.receive_at(network, waiting, network.links.head[*other] as usize)
                });
                let Some(other) = moved else { continue };
                self.chosen[other] = false;
                self.received[network.links.head[other] as usize] -= 1;
            }
            self.chosen[link] = true;
            self.received[to] += 1;
            return true;
        }
        false
    }
}
