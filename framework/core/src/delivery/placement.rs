//! Which node of the machine runs which node of the schedule's grid.

use crate::delivery::fault::{Fault, Place};
use crate::delivery::grid::Grid;

const NOBODY: u32 = u32::MAX;

/// A grid whose nodes run on the machine's. Each node of the machine has one *owner* in the grid, whose blocks are the node's own; the
/// other nodes of the grid are guests that only pass on blocks of others.
#[derive(Debug, Clone)]
pub struct Placement {
    grid: Grid,
    machine_nodes: u64,
    /// `None` while node i runs on node i and owns its blocks.
    table: Option<Table>,
}

#[derive(Debug, Clone)]
struct Table {
    /// Host of each node of the grid.
    real: Vec<u32>,
    /// Owner of each node of the machine.
    owner: Vec<u32>,
}

impl Placement {
    /// Node i of the grid runs on node i, once [`Placement::place`] says nothing else.
    pub fn new(grid: Grid, machine_nodes: u64) -> Self {
        Self { grid, machine_nodes, table: None }
    }

    /// The schedule's grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Nodes of the machine.
    pub fn machine_nodes(&self) -> u64 {
        self.machine_nodes
    }

    /// Node `logical` runs on node `real`.
    pub fn place(&mut self, logical: u64, real: u64, owner: bool) -> Result<(), Fault> {
        let (nodes, machine_nodes) = (self.grid.nodes(), self.machine_nodes);
        if logical >= nodes || real >= machine_nodes {
            return Err(Fault::BadGrid(format!(
                "node {logical} is placed on node {real}, but the grid has {nodes} nodes and the machine {machine_nodes}"
            )));
        }
        let table = self.table.get_or_insert_with(|| Table {
            real: vec![NOBODY; nodes as usize],
            owner: vec![NOBODY; machine_nodes as usize],
        });
        let host = &mut table.real[logical as usize];
        if *host != NOBODY {
            return Err(Fault::BadGrid(format!("node {logical} is placed twice, on nodes {host} and {real}")));
        }
        *host = real as u32;
        if owner {
            let known = &mut table.owner[real as usize];
            if *known != NOBODY {
                return Err(Fault::BadGrid(format!(
                    "node {real} of the machine has two owners, nodes {known} and {logical}"
                )));
            }
            *known = logical as u32;
        }
        Ok(())
    }

    /// Checks that every node has its place and every node of the machine its owner.
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
        if let Some(logical) = table.real.iter().position(|r| *r == NOBODY) {
            return Err(Fault::BadGrid(format!("node {logical} is placed nowhere")));
        }
        if let Some(real) = table.owner.iter().position(|o| *o == NOBODY) {
            return Err(Fault::BadGrid(format!("node {real} of the machine has no owner")));
        }
        Ok(())
    }

    /// Whether node i runs on node i.
    pub fn is_identity(&self) -> bool {
        self.table.is_none()
    }

    /// The host of a node of the grid.
    pub fn real(&self, logical: u64) -> u64 {
        self.table.as_ref().map_or(logical, |t| u64::from(t.real[logical as usize]))
    }

    /// The owner of a node of the machine.
    pub fn owner(&self, real: u64) -> u64 {
        self.table.as_ref().map_or(real, |t| u64::from(t.owner[real as usize]))
    }

    /// Both numbers of a node of the grid.
    pub fn locate(&self, logical: u64) -> Place {
        Place { logical, real: self.real(logical) }
    }
}
