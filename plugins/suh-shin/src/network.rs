//! The network as the paper numbers it, padded to the sizes that the paper accepts.

use swapmeet_sdk::Stop;

/// What closes the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Wrap-around links.
    Torus,
    /// Nothing.
    Mesh,
}

impl Kind {
    /// Side of the submeshes whose nodes are all in different groups.
    pub const fn submesh(self) -> u32 {
        match self {
            Self::Torus => 4,
            Self::Mesh => 2,
        }
    }
}

/// One dimension of the paper.
#[derive(Debug, Clone)]
pub struct Dimension {
    /// Which axis of the grid it is.
    pub axis: usize,
    /// N, as the machine has it.
    pub size: u32,
    /// N with virtual nodes.
    pub padded: u32,
    /// Side of a submesh.
    pub submesh: u32,
    /// Distance between neighbours in the numbering of the padded grid.
    pub stride: u64,
    /// The same in the machine's numbering.
    pub real_stride: u64,
}

/// A torus or mesh; dimensions in the paper's order.
#[derive(Debug, Clone)]
pub struct Network {
    /// Torus or mesh.
    pub kind: Kind,
    /// x1 first.
    pub dimensions: Vec<Dimension>,
}

impl Network {
    /// The network whose axes have these sizes; `Err` says why the algorithm can't run on it.
    pub fn new(kind: Kind, sizes: &[u64]) -> Result<Self, Stop> {
        if sizes.len() < 2 {
            return Err(Stop::unsupported(
                "needs 2 or more dimensions: four classes of nodes go in four directions, and a line has two",
            ));
        }
        let submesh = kind.submesh();
        let too_large = || Stop::unsupported(format!("padded to multiples of {submesh}, the grid is too large"));
        let mut dimensions = Vec::new();
        let (mut stride, mut real_stride) = (1_u64, 1_u64);
        for (axis, &size) in sizes.iter().enumerate().rev() {
            let size = u32::try_from(size).map_err(|_| too_large())?;
            let padded = size.checked_next_multiple_of(submesh).ok_or_else(too_large)?;
            dimensions.push(Dimension { axis, size, padded, submesh, stride, real_stride });
            stride = stride.checked_mul(u64::from(padded)).ok_or_else(too_large)?;
            real_stride = real_stride.checked_mul(u64::from(size)).ok_or_else(too_large)?;
        }
        // In 2D the paper's first dimension is c, the last axis; in more, x is the first axis.
        if sizes.len() > 2 {
            dimensions.reverse();
        }
        Ok(Self { kind, dimensions })
    }

    /// Whether there are virtual nodes.
    pub fn is_padded(&self) -> bool {
        self.dimensions.iter().any(|d| d.padded != d.size)
    }

    /// Nodes of the machine.
    pub fn real_nodes(&self) -> u64 {
        self.dimensions.iter().map(|d| u64::from(d.size)).product()
    }

    /// Nodes of the padded grid.
    pub fn nodes(&self) -> u64 {
        self.dimensions.iter().map(|d| u64::from(d.padded)).product()
    }

    /// Sides of the grid in which sets are named, first axis first: each axis of the padded grid as a submesh and a place
    /// in it. The paper's sets are products of just these (the node groups are those of the places), which makes them
    /// several times smaller than with one long axis; the nodes' numbers are the same.
    pub fn radices(&self) -> Vec<u64> {
        let mut radices = vec![0; 2 * self.dimensions.len()];
        for d in &self.dimensions {
            radices[2 * d.axis] = u64::from(d.padded / d.submesh);
            radices[2 * d.axis + 1] = u64::from(d.submesh);
        }
        radices
    }

    /// Calls `visit` with x1 .. xn and the number of each node of the padded grid, in the order of the numbers.
    pub fn each_node(&self, mut visit: impl FnMut(&[u32], u64) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut fastest_first: Vec<usize> = (0..self.dimensions.len()).collect();
        fastest_first.sort_by_key(|k| std::cmp::Reverse(self.dimensions[*k].axis));
        let mut x = vec![0; self.dimensions.len()];
        for node in 0..self.nodes() {
            visit(&x, node)?;
            for &k in &fastest_first {
                x[k] += 1;
                if x[k] < self.dimensions[k].padded {
                    break;
                }
                x[k] = 0;
            }
        }
        Ok(())
    }
}

impl Dimension {
    /// The node reached from `node` at `here` by going to `there`.
    pub fn moved(&self, node: u64, here: u32, there: u32) -> u64 {
        node - u64::from(here) * self.stride + u64::from(there) * self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_first_in_two_dimensions_and_the_first_axis_in_three() {
        let axes = |sizes: &[u64]| -> Vec<usize> {
            Network::new(Kind::Torus, sizes).unwrap().dimensions.iter().map(|d| d.axis).collect()
        };
        assert_eq!(axes(&[8, 12]), [1, 0]);
        assert_eq!(axes(&[8, 12, 16]), [0, 1, 2]);
    }

    #[test]
    fn sides_are_padded_to_whole_submeshes() {
        assert_eq!(Network::new(Kind::Torus, &[1, 4, 9]).unwrap().radices(), [1, 4, 1, 4, 3, 4]);
        assert_eq!(Network::new(Kind::Mesh, &[1, 4, 9]).unwrap().radices(), [1, 2, 2, 2, 5, 2]);
        assert!(!Network::new(Kind::Mesh, &[6, 8]).unwrap().is_padded());
    }

    #[test]
    fn nodes_are_visited_in_the_order_of_their_numbers() {
        let network = Network::new(Kind::Mesh, &[2, 4]).unwrap();
        let mut visited = Vec::new();
        network
            .each_node(|x, node| {
                visited.push((x[1], x[0], node));
                Ok(())
            })
            .unwrap();
        assert_eq!(visited[..5], [(0, 0, 0), (0, 1, 1), (0, 2, 2), (0, 3, 3), (1, 0, 4)]);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        let reason = |sizes: &[u64]| Network::new(Kind::Torus, sizes).unwrap_err().to_string();
        assert_eq!(
            reason(&[16]),
            "needs 2 or more dimensions: four classes of nodes go in four directions, and a line has two"
        );
        assert_eq!(reason(&[u64::MAX, 2]), "padded to multiples of 4, the grid is too large");
        assert_eq!(reason(&[u64::from(u32::MAX), 2]), "padded to multiples of 4, the grid is too large");
        assert_eq!(reason(&[2; 64]), "padded to multiples of 4, the grid is too large");
    }
}
