//! The grid of a schedule, and its embedding in the machine. For example, Suh & Shin use a grid of
//! *virtual* nodes with sides that are multiples of four. Several virtual nodes can run on one
//! *physical* node.

use crate::delivery::fault::{BlockLocation, Fault, PlacedNode};
use crate::limits;

/// A grid of nodes, such as 4 x 8, which are numbered in row-major order. The radix of an axis is
/// its number of coordinates.
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

    /// Returns the number of nodes.
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

const NONE: u32 = u32::MAX;

/// A grid of virtual nodes, each of which runs on a physical node of the machine. The *home* of a
/// physical node is the virtual node that holds its initial and required blocks. All other virtual
/// nodes on it only forward blocks.
#[derive(Debug, Clone)]
pub struct Embedding {
    grid: Grid,
    machine_nodes: u64,
    table: Option<Table>,
}

#[derive(Debug, Clone)]
struct Table {
    physical: Vec<u32>,
    home: Vec<u32>,
}

impl Embedding {
    /// Returns the identity, in which node i of the grid runs on node i of the machine.
    pub fn new(grid: Grid, machine_nodes: u64) -> Self {
        Self { grid, machine_nodes, table: None }
    }

    /// Returns the grid of virtual nodes.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(crate) fn machine_nodes(&self) -> u64 {
        self.machine_nodes
    }

    /// Places a virtual node on a physical node. If `home`, the virtual node becomes the physical
    /// node's home. Errors if one of the nodes does not exist, if the virtual node is already
    /// placed, or if the physical node already has a home.
    pub fn place(&mut self, virtual_node: u64, physical: u64, home: bool) -> Result<(), Fault> {
        let (nodes, machine_nodes) = (self.grid.nodes(), self.machine_nodes);
        if virtual_node >= nodes || physical >= machine_nodes {
            return Err(Fault::BadGrid(format!(
                "node {virtual_node} is placed on node {physical}, but the grid has {nodes} nodes and the machine {machine_nodes}"
            )));
        }
        let table = self.table.get_or_insert_with(|| Table {
            physical: vec![NONE; nodes as usize],
            home: vec![NONE; machine_nodes as usize],
        });
        let runs_on = &mut table.physical[virtual_node as usize];
        if *runs_on != NONE {
            return Err(Fault::BadGrid(format!(
                "node {virtual_node} is placed twice, on nodes {runs_on} and {physical}"
            )));
        }
        *runs_on = physical as u32;
        if home {
            let known = &mut table.home[physical as usize];
            if *known != NONE {
                return Err(Fault::BadGrid(format!(
                    "node {physical} of the machine has two homes, nodes {known} and {virtual_node}"
                )));
            }
            *known = virtual_node as u32;
        }
        Ok(())
    }

    /// Errors if a virtual node is not placed or a physical node has no home.
    pub fn check(&self) -> Result<(), Fault> {
        let Some(table) = &self.table else {
            if self.grid.nodes() == self.machine_nodes {
                return Ok(());
            }
            return Err(Fault::BadGrid(format!(
                "it has {} nodes and the machine {}: every node must be placed",
                self.grid.nodes(),
                self.machine_nodes
            )));
        };
        if let Some(virtual_node) = table.physical.iter().position(|r| *r == NONE) {
            return Err(Fault::BadGrid(format!("node {virtual_node} is not placed")));
        }
        if let Some(physical) = table.home.iter().position(|o| *o == NONE) {
            return Err(Fault::BadGrid(format!("node {physical} of the machine has no home")));
        }
        Ok(())
    }

    /// Returns whether node i of the grid runs on node i of the machine.
    pub fn is_identity(&self) -> bool {
        self.table.is_none()
    }

    /// Returns the physical node that runs a virtual node.
    pub fn physical(&self, virtual_node: u64) -> u64 {
        self.table.as_ref().map_or(virtual_node, |t| u64::from(t.physical[virtual_node as usize]))
    }

    /// Returns the home of a physical node.
    pub fn home(&self, physical: u64) -> u64 {
        self.table.as_ref().map_or(physical, |t| u64::from(t.home[physical as usize]))
    }

    pub(crate) fn locate(&self, virtual_node: u64) -> PlacedNode {
        PlacedNode { virtual_node, physical: self.physical(virtual_node) }
    }

    /// Returns the location of a block, given the first node that receives it and the first node
    /// that holds it.
    pub(crate) fn location(
        &self,
        receiver: Option<u64>,
        holder: Option<u64>,
        destination: Option<u64>,
    ) -> BlockLocation {
        match (receiver, holder) {
            (Some(node), _) => BlockLocation::Arriving(self.locate(node)),
            (None, Some(node)) if destination == holder => {
                BlockLocation::Delivered(self.locate(node))
            }
            (None, Some(node)) => BlockLocation::At(self.locate(node)),
            (None, None) => BlockLocation::Nowhere,
        }
    }
}
