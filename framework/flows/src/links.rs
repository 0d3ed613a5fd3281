/// The number that means "no vertex" or "no link".
pub const NONE: u32 = u32::MAX;

/// Directed links, sorted by the vertex that they leave (compressed sparse rows).
#[derive(Debug, Clone)]
pub struct Links {
    /// The links out of vertex `v` have the numbers `first[v]..first[v + 1]`.
    pub first: Vec<u32>,
    pub tail: Vec<u32>,
    pub head: Vec<u32>,
}

impl Default for Links {
    fn default() -> Self {
        Self { first: vec![0], tail: Vec::new(), head: Vec::new() }
    }
}

impl Links {
    /// Adds a link that leaves the current vertex, which is the vertex after all completed ones.
    pub fn push(&mut self, head: u32) {
        self.tail.push(self.vertices() as u32);
        self.head.push(head);
    }

    /// Completes the current vertex. All links that leave it must have been added before.
    pub fn end_vertex(&mut self) {
        self.first.push(self.head.len() as u32);
    }

    pub fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    pub fn count(&self) -> usize {
        self.head.len()
    }

    pub fn out(&self, vertex: usize) -> std::ops::Range<usize> {
        self.first[vertex] as usize..self.first[vertex + 1] as usize
    }

    /// Returns the reversed links, and for each of them the number of the original link.
    pub fn reversed(&self) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        order.sort_by_key(|link| self.head[*link as usize]);
        let mut first = vec![0; self.first.len()];
        self.head.iter().for_each(|head| first[*head as usize + 1] += 1);
        (1..first.len()).for_each(|vertex| first[vertex] += first[vertex - 1]);
        let pick = |ends: &[u32]| order.iter().map(|link| ends[*link as usize]).collect();
        (Self { first, tail: pick(&self.head), head: pick(&self.tail) }, order)
    }
}
