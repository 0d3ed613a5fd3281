//! Cuts of a network, if every node has the same demand for every other node.
//! A cut is a set of vertices, and gives a lower bound on the time: the demand across it, divided
//! by the capacity of the links that leave the set. It is the bound that follows from lengths (see
//! [`solve`](crate::solve)) of 1 for these links, and 0 for all others.

use crate::Links;

/// The set of vertices with the largest ratio so far of pairs across the cut to its capacity.
#[derive(Debug)]
pub struct BestCut<'a> {
    links: &'a Links,
    capacities: &'a [u64],
    /// The reversed links, and for each of them the number of the original link.
    into: (Links, Vec<u32>),
    nodes: u32,
    inside: Vec<bool>,
    size: u64,
    capacity: i64,
}

impl<'a> BestCut<'a> {
    /// Starts with the empty set. Vertices below `nodes` are nodes, all others are switches.
    pub fn new(links: &'a Links, capacities: &'a [u64], nodes: u32) -> Self {
        let (into, inside) = (links.reversed(), vec![false; links.vertices()]);
        Self { links, capacities, into, nodes, inside, size: 0, capacity: 1 }
    }

    /// Returns the number of pairs of nodes across the cut, and the capacity of the cut.
    pub fn fraction(&self) -> (u128, u128) {
        let pairs = u128::from(self.size) * u128::from(u64::from(self.nodes) - self.size);
        (pairs, self.capacity as u128)
    }

    fn ratio(&self) -> f64 {
        self.pairs(self.size) / self.capacity as f64
    }

    /// The length of a link is 1 if it leaves the set, otherwise 0.
    pub fn lengths(&self) -> Vec<u32> {
        let inside = |v: &u32| self.inside[*v as usize];
        let ends = self.links.tail.iter().zip(&self.links.head);
        ends.map(|(tail, head)| u32::from(inside(tail) && !inside(head))).collect()
    }

    /// Examines sets of the first `k` vertices of `order`, for every `k`, and keeps the best cut.
    pub fn try_prefixes(&mut self, order: &[u32]) {
        let (mut inside, mut size, mut capacity) = (vec![false; self.inside.len()], 0, 0);
        let (mut best, mut length) = (self.ratio(), 0);
        for (k, &vertex) in order.iter().enumerate() {
            capacity += self.change(&inside, vertex);
            inside[vertex as usize] = true;
            size += u64::from(vertex < self.nodes);
            if capacity > 0 && self.pairs(size) / capacity as f64 > best {
                (best, length) = (self.pairs(size) / capacity as f64, k + 1);
                (self.size, self.capacity) = (size, capacity);
            }
        }
        if length > 0 {
            self.inside.fill(false);
            order[..length].iter().for_each(|vertex| self.inside[*vertex as usize] = true);
        }
    }

    /// Moves single vertices to the other side of the cut, as long as a move increases the ratio.
    pub fn improve(&mut self) {
        let mut moved = self.size > 0;
        while std::mem::take(&mut moved) {
            for vertex in 0..self.inside.len() as u32 {
                let was_inside = std::mem::take(&mut self.inside[vertex as usize]);
                let change = self.change(&self.inside, vertex);
                let is_node = u64::from(vertex < self.nodes);
                let (size, capacity) = if was_inside {
                    (self.size - is_node, self.capacity - change)
                } else {
                    (self.size + is_node, self.capacity + change)
                };
                let better = capacity > 0
                    && self.pairs(size) / capacity as f64 > self.ratio() * (1.0 + 1e-12);
                self.inside[vertex as usize] = was_inside != better;
                if better {
                    (self.size, self.capacity, moved) = (size, capacity, true);
                }
            }
        }
    }

    fn pairs(&self, size: u64) -> f64 {
        size as f64 * (u64::from(self.nodes) - size) as f64
    }

    fn change(&self, inside: &[bool], vertex: u32) -> i64 {
        let capacity = |link: usize| self.capacities[link] as i64;
        let (into, of_link) = &self.into;
        let out = self.links.out(vertex as usize);
        let out = out.filter(|link| !inside[self.links.head[*link] as usize]).map(capacity);
        let entering = into.out(vertex as usize).filter(|back| inside[into.head[*back] as usize]);
        let entering = entering.map(|back| capacity(of_link[back] as usize));
        out.sum::<i64>() - entering.sum::<i64>()
    }
}
