//! Mixed-radix numbering: nodes as coordinates, row-major, the last axis fastest.

use crate::limits;

/// A mixed-radix grid of nodes, such as 4 x 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    radices: Vec<u64>,
    nodes: u64,
}

impl Grid {
    /// A grid with these radices; `Err` says what is wrong with them.
    pub fn new(radices: &[u64]) -> Result<Self, String> {
        let mut nodes = 1_u64;
        for (axis, &radix) in radices.iter().enumerate() {
            if radix == 0 {
                return Err(format!("axis {axis} of the grid has radix 0, expected at least 1"));
            }
            nodes = nodes
                .checked_mul(radix)
                .filter(|n| *n <= limits::NODES)
                .ok_or_else(|| format!("the grid has more than {} nodes", limits::NODES))?;
        }
        if radices.iter().sum::<u64>() > limits::COORDINATES {
            return Err(format!(
                "the grid's axes have over {} coordinates together; split the longest in two",
                limits::COORDINATES
            ));
        }
        Ok(Self { radices: radices.to_vec(), nodes })
    }

    /// Radix of each axis.
    pub fn radices(&self) -> &[u64] {
        &self.radices
    }

    /// How many nodes it has: the product of its radices.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The coordinates of a node.
    pub fn coordinates(&self, node: u64) -> Vec<u64> {
        let mut rest = node;
        let mut coordinates = vec![0; self.radices.len()];
        for (c, radix) in coordinates.iter_mut().zip(&self.radices).rev() {
            *c = rest % radix;
            rest /= radix;
        }
        coordinates
    }
}
