//! Grids whose axes may have different radices. Nodes are numbered in row-major order: the
//! coordinate of the last axis changes fastest.

use crate::limits;

/// A grid of nodes, such as 4 x 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    radices: Vec<u64>,
    nodes: u64,
}

impl Grid {
    /// Returns the grid with these radices. Errors if a radix is 0 or the grid exceeds a limit.
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

    /// Returns the number of coordinates of each axis.
    pub fn radices(&self) -> &[u64] {
        &self.radices
    }

    /// Returns the number of nodes, which is the product of the radices.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the coordinates of a node.
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
