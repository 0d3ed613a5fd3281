//! The cycles for a rotation by 90 degrees (Fig. 4.12 a): concentric squares about the centre of
//! the torus and about its corner.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | N | `4 * side` | number of nodes of a cycle: 4, 12, 20, and so on up to 4n - 4 |
//!
//! The rotation of (x, y) to (y, -x) has two fixed points. One is the centre. The other is the
//! corner, where the torus closes, half a row and half a column away from the centre. There are n/2
//! squares about each of the two. Every node lies on one square about the centre and on one about
//! the corner. No two cycles share a link: if two squares share a row, together they use its n
//! links, each once.

#[derive(Debug, Clone)]
pub struct Square {
    /// The nodes, clockwise from a corner of the square. The rotation maps each node to the node
    /// `side` positions further.
    pub nodes: Vec<(u64, u64)>,
    /// The number of links of one side, a quarter of the square (N/4).
    pub side: usize,
    /// 0 for the centre of the torus, 1 for its corner.
    pub about: usize,
    /// Number of the square among the squares with the same centre, from 1 for the smallest.
    pub number: usize,
}

impl Square {
    pub fn all(n: u64) -> Vec<Self> {
        let half = n / 2;
        (0..2).flat_map(|about| (1..=half).map(move |number| Self::new(n, about, number))).collect()
    }

    fn new(n: u64, about: u64, number: u64) -> Self {
        let half = n / 2;
        let side = 2 * number - 1;
        let (low, high) = (half - number, half + number - 1);
        let shift = about * half;
        let position = |(x, y): (u64, u64)| ((x + shift) % n, (y + shift) % n);
        let right = (0..side).map(|i| (high, high - i));
        let bottom = (0..side).map(|i| (high - i, low));
        let left = (0..side).map(|i| (low, low + i));
        let top = (0..side).map(|i| (low + i, high));
        let nodes = right.chain(bottom).chain(left).chain(top).map(position).collect();
        Self { nodes, side: side as usize, about: about as usize, number: number as usize }
    }

    pub fn node(&self, position: i64) -> (u64, u64) {
        self.nodes[position.rem_euclid(self.nodes.len() as i64) as usize]
    }
}
