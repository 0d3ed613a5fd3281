//! Cuts of a network in which every node has the same demand for every other node. A cut is a set
//! of vertices. It gives a lower bound on the time: the demand from the set to the other vertices,
//! divided by the capacity of the links that leave the set. [`solve`](crate::solve) derives such
//! bounds from the lengths of links; the bound of a cut follows if these links have the length 1
//! and all others 0.

use crate::Links;

/// The best set of vertices so far: the one with the largest ratio of node pairs across the cut to
/// the cut's capacity.
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

    /// Returns the number of ordered pairs of nodes from inside to outside of the set, and the
    /// capacity of the links that leave the set.
    pub fn fraction(&self) -> (u128, u128) {
        let pairs = u128::from(self.size) * u128::from(u64::from(self.nodes) - self.size);
        (pairs, self.capacity as u128)
    }

    fn ratio(&self) -> f64 {
        self.pairs(self.size) / self.capacity as f64
    }

    /// Returns the length of each link: 1 if the link leaves the set, otherwise 0.
    pub fn lengths(&self) -> Vec<u32> {
        let inside = |v: &u32| self.inside[*v as usize];
        let ends = self.links.tail.iter().zip(&self.links.head);
        ends.map(|(tail, head)| u32::from(inside(tail) && !inside(head))).collect()
    }

    /// For every `k`, examines the set of the first `k` vertices of `order`. Keeps the best cut.
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

    /// Moves single vertices to the other side of the cut, until no move increases the ratio.
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
