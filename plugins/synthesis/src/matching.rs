//! The links of a step on a machine with few ports: a largest set of links, of which no node sends
//! over more than it has ports, or receives over more.

use crate::network::Network;

/// Chooses the links of one step after another.
pub(crate) struct Matching {
    ports: u64,
    into: Network,
    of_link: Vec<u32>,
    /// Whether each link is chosen in the current step.
    pub chosen: Vec<bool>,
    sent: Vec<u64>,
    received: Vec<u64>,
    /// The number of the last search that reached each node.
    mark: Vec<u32>,
    search: u32,
}

impl Matching {
    pub(crate) fn new(network: &Network, ports: u64) -> Self {
        let (into, of_link) = network.reversed();
        Self {
            ports,
            into,
            of_link,
            chosen: vec![false; network.links()],
            sent: vec![0; network.nodes],
            received: vec![0; network.nodes],
            mark: vec![0; network.nodes],
            search: 0,
        }
    }

    /// Chooses among the links with waiting data. `left` is the remaining load of each node's ports:
    /// first of all ports for sending, and then of all ports for receiving. Nodes with the most left
    /// are served first, and a node that has been served is not dropped again, because paths of
    /// alternating links keep served nodes served.
    pub(crate) fn choose(&mut self, network: &Network, waiting: &[bool], left: &[f32]) {
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

    /// Finds a link for one more message of a sender, and moves other messages if necessary. Returns
    /// whether there is one.
    fn send_from(
        &mut self,
        network: &Network,
        waiting: &[bool],
        left: &[f32],
        from: usize,
    ) -> bool {
        let free = |link: &usize| waiting[*link] && !self.chosen[*link];
        let mut links: Vec<usize> = network.out(from).filter(free).collect();
        let need = |link: &usize| left[network.nodes + network.head[*link] as usize];
        links.sort_by(|a, b| need(b).total_cmp(&need(a)));
        for link in links {
            let to = network.head[link] as usize;
            if std::mem::replace(&mut self.mark[to], self.search) == self.search {
                continue;
            }
            if self.received[to] < self.ports {
                self.received[to] += 1;
            } else {
                // Another sender can give up its message to this node if it finds another link.
                let other = self.into.out(to).map(|back| self.of_link[back] as usize);
                let others: Vec<usize> = other.filter(|other| self.chosen[*other]).collect();
                let moved = others.into_iter().find(|other| {
                    let sender = network.tail[*other] as usize;
                    self.send_from(network, waiting, left, sender)
                });
                let Some(other) = moved else { continue };
                self.chosen[other] = false;
                self.sent[network.tail[other] as usize] -= 1;
            }
            self.chosen[link] = true;
            self.sent[from] += 1;
            return true;
        }
        false
    }

    /// Finds a link for one more message of a receiver, as [`Matching::send_from`].
    fn receive_at(&mut self, network: &Network, waiting: &[bool], to: usize) -> bool {
        let links: Vec<usize> = self.into.out(to).map(|back| self.of_link[back] as usize).collect();
        for link in links {
            let from = network.tail[link] as usize;
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
                    network.out(from).filter(|other| self.chosen[*other]).collect();
                let moved = others
                    .into_iter()
                    .find(|other| self.receive_at(network, waiting, network.head[*other] as usize));
                let Some(other) = moved else { continue };
                self.chosen[other] = false;
                self.received[network.head[other] as usize] -= 1;
            }
            self.chosen[link] = true;
            self.received[to] += 1;
            return true;
        }
        false
    }
}
