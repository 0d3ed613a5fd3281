//! The cycles for a rotation by 90 degrees (Fig. 4.12 a): concentric squares about the centre of
//! the torus and about its corner.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | N | `4 * side` | number of nodes of a cycle: 4, 12, 20, and so on up to 4n - 4 |
//!
//! The rotation of (x, y) to (y, -x) has two fixed points: the centre, and the corner, half a row
//! and half a column away, where the torus closes. There are n/2 squares about each. Every node
//! lies on one square about the centre and on one about the corner. No two cycles share a link: if
//! two squares share a row, together they use its n links, each once.

#[derive(Debug, Clone)]
pub struct Square {
    /// Clockwise from a corner. The rotation maps each node to the one `side` positions further.
    pub nodes: Vec<(u64, u64)>,
    /// Links of one side, a quarter of the square (N/4).
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_node_is_on_two_squares_and_every_link_on_one() {
        for n in [2, 4, 6, 8, 12, 20] {
            let rings = Square::all(n);
            let mut met = vec![0; (n * n) as usize];
            let mut links = HashSet::new();
            for ring in &rings {
                for position in 0..ring.nodes.len() as i64 {
                    let (x, y) = ring.node(position);
                    met[(x * n + y) as usize] += 1;
                    assert_eq!(
                        ring.node(position + ring.side as i64),
                        (y, n - 1 - x),
                        "a quarter on is the image"
                    );
                    let next = ring.node(position + 1);
                    let ahead = |a: u64, b: u64| (b + n - a) % n;
                    let (dx, dy) = (ahead(x, next.0), ahead(y, next.1));
                    assert!(
                        [(1, 0), (n - 1, 0), (0, 1), (0, n - 1)].contains(&(dx, dy)),
                        "{position} and the next aren't neighbours"
                    );
                    assert!(n == 2 || links.insert(((x, y), next)), "n = {n}");
                }
            }
            assert!(met.iter().all(|times| *times == 2), "n = {n}");
        }
    }
}
