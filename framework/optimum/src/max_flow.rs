//! Maximum flow from one vertex to another. Amounts are whole numbers, and the method is that of
//! blocking flows (Dinic, 1970).

use swapmeet_flows::{Links, NONE};

/// A network with residual capacities, which remain after the flow so far. Link `i` has two arcs:
/// arc `2 i` in its direction, and arc `2 i + 1` in the opposite direction.
#[derive(Debug)]
pub(crate) struct MaxFlow {
    first: Vec<u32>,
    arcs: Vec<u32>,
    head: Vec<u32>,
    residual: Vec<u128>,
    /// For each vertex, its distance from the source over arcs that are not full; [`NONE`] if it
    /// cannot be reached.
    level: Vec<u32>,
    /// For each vertex, the position in `arcs` of the arc that is tried next.
    next: Vec<u32>,
}

impl MaxFlow {
    pub(crate) fn new(links: &Links) -> Self {
        let (vertices, count) = (links.vertices(), links.count());
        let head: Vec<u32> =
            links.head.iter().zip(&links.tail).flat_map(|(head, tail)| [*head, *tail]).collect();
        let tail = |arc: u32| head[arc as usize ^ 1] as usize;
        let mut first = vec![0; vertices + 1];
        (0..2 * count as u32).for_each(|arc| first[tail(arc) + 1] += 1);
        for v in 0..vertices {
            first[v + 1] += first[v];
        }
        let (mut place, mut arcs) = (first.clone(), vec![0; 2 * count]);
        for arc in 0..2 * count as u32 {
            let place = &mut place[tail(arc)];
            arcs[*place as usize] = arc;
            *place += 1;
        }
        let next = first.clone();
        Self { first, arcs, residual: vec![0; head.len()], head, level: vec![NONE; vertices], next }
    }

    /// Returns the largest flow from `from` to `to`. `capacity` returns the capacity of each link.
    pub(crate) fn find(&mut self, capacity: impl Fn(usize) -> u128, from: u32, to: u32) -> u128 {
        for link in 0..self.residual.len() / 2 {
            self.residual[2 * link] = capacity(link);
            self.residual[2 * link + 1] = 0;
        }
        let mut flow = 0;
        while self.find_levels(from, to) {
            self.next.copy_from_slice(&self.first);
            loop {
                let found = self.augment(from, to);
                if found == 0 {
                    break;
                }
                flow += found;
            }
        }
        flow
    }

    /// Returns whether a vertex is on the source's side of the smallest cut. Call this method after
    /// [`MaxFlow::find`].
    pub(crate) fn is_with_source(&self, vertex: u32) -> bool {
        self.level[vertex as usize] != NONE
    }

    /// Computes `level`. Returns whether the target can be reached.
    fn find_levels(&mut self, from: u32, to: u32) -> bool {
        self.level.fill(NONE);
        self.level[from as usize] = 0;
        let mut queue = vec![from];
        let mut at = 0;
        while let Some(&vertex) = queue.get(at) {
            at += 1;
            for arc in self.arcs_of(vertex) {
                let arc = self.arcs[arc as usize];
                let head = self.head[arc as usize];
                if self.residual[arc as usize] > 0 && self.level[head as usize] == NONE {
                    self.level[head as usize] = self.level[vertex as usize] + 1;
                    queue.push(head);
                }
            }
        }
        self.level[to as usize] != NONE
    }

    fn arcs_of(&self, vertex: u32) -> std::ops::Range<u32> {
        self.first[vertex as usize]..self.first[vertex as usize + 1]
    }

    /// Finds a path on which each arc leads to the next level, and sends as much as possible along
    /// this path. Returns the amount; 0 if there is no further path.
    fn augment(&mut self, from: u32, to: u32) -> u128 {
        let mut path: Vec<u32> = Vec::new();
        let mut vertex = from;
        while vertex != to {
            let end = self.first[vertex as usize + 1];
            let step = (self.next[vertex as usize]..end).find(|at| {
                let arc = self.arcs[*at as usize];
                let head = self.head[arc as usize];
                self.residual[arc as usize] > 0
                    && self.level[head as usize] == self.level[vertex as usize] + 1
            });
            self.next[vertex as usize] = step.unwrap_or(end);
            match step {
                Some(at) => {
                    path.push(self.arcs[at as usize]);
                    vertex = self.head[self.arcs[at as usize] as usize];
                }
                None => {
                    let Some(arc) = path.pop() else { return 0 };
                    vertex = self.head[arc as usize ^ 1];
                    self.next[vertex as usize] += 1;
                }
            }
        }
        let most = path.iter().map(|arc| self.residual[*arc as usize]).min().unwrap_or(0);
        for arc in path {
            self.residual[arc as usize] -= most;
            self.residual[arc as usize ^ 1] += most;
        }
        most
    }
}
