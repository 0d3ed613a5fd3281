//! Suh & Shin, "All-to-All Personalized Communication in Multidimensional Torus and Mesh Networks",
//! for sizes that need no virtual nodes.

use crate::directions::direction;
use crate::network::{NetworkKind, PaddedNetwork};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Problem, Route, Schedule, Set, Stop};

/// The misprint of the paper that the algorithm follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misprint {
    Nothing,
    /// 3D torus, Phase 4: a send along x tests y mod 4, and a send along y tests x mod 4.
    OtherAxisIn3d,
    /// 2D mesh, Phase 3, Step 2: sends along r use the groups of Step 1, which distinguish columns.
    GroupsOfStep1,
    /// 2D torus, Fig. 5, Phase 3: sends along r test the number of the column.
    ColumnInFigure5,
    /// 2D torus, section 3.1.3: the data array has a column for each number of hops.
    HopsInsteadOfColumns,
}

pub(crate) struct SuhShin {
    pub name: &'static str,
    pub misprint: Misprint,
}

impl Algorithm for SuhShin {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: "Suh & Shin, with one rule as printed",
            accepts: "torus with sides that are multiples of 4, mesh with even sides",
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let network = network(problem)?;
        let fits = match self.misprint {
            Misprint::Nothing => true,
            Misprint::OtherAxisIn3d => {
                network.kind == NetworkKind::Torus && network.axes.len() == 3
            }
            Misprint::GroupsOfStep1 => network.kind == NetworkKind::Mesh && network.axes.len() == 2,
            Misprint::ColumnInFigure5 | Misprint::HopsInsteadOfColumns => {
                network.kind == NetworkKind::Torus && network.axes.len() == 2
            }
        };
        if fits { Ok(()) } else { Err(Stop::unsupported("this rule is for other networks")) }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let network = network(problem)?;
        let n = network.axes.len();
        for phase in 1..=n {
            self.ring_phase(&network, phase, schedule)?;
        }
        if network.kind == NetworkKind::Torus {
            for j in 1..=n {
                self.exchange(&network, 2, |x| direction(network.kind, x, j).0, schedule)?;
            }
        }
        for j in 0..n {
            self.exchange(&network, 1, |_| j, schedule)?;
        }
        Ok(())
    }
}

fn network(problem: &Problem<'_>) -> Result<PaddedNetwork, Stop> {
    let network = PaddedNetwork::new(problem)?;
    if network.nodes.has_virtual_nodes() {
        Err(Stop::unsupported("no virtual nodes here"))
    } else {
        Ok(network)
    }
}

impl SuhShin {
    fn ring_phase(
        &self,
        network: &PaddedNetwork,
        phase: usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let q = network.submesh;
        let longest = network.nodes.machine().radices().iter().copied().max().unwrap_or(0);
        for s in 1..longest / q {
            schedule.step()?;
            network.each_node(|x, node| {
                let (k, way) = direction(network.kind, x, phase);
                let size = network.nodes.machine().radix(network.axes[k]);
                if s >= size / q {
                    return Ok(());
                }
                let ahead =
                    |by: u64| if way > 0 { (x[k] + by) % size } else { (x[k] + size - by) % size };
                let (there, count) = (ahead(q), size - q * s);
                // The first coordinate of the cyclic range of destinations whose blocks are sent.
                let first = match (self.misprint == Misprint::HopsInsteadOfColumns, way > 0) {
                    (true, true) => there,
                    (true, false) => ahead(q + count - 1),
                    (false, true) => there - there % q,
                    (false, false) => (there - there % q + size + q - count) % size,
                };
                let way = if network.kind == NetworkKind::Torus { way } else { 0 };
                send(network, schedule, node, (k, there, way), Axis::range(first, count))
            })?;
        }
        Ok(())
    }

    /// Adds a step in which each node `x` exchanges blocks along dimension `along(x)`.
    fn exchange(
        &self,
        network: &PaddedNetwork,
        distance: u64,
        along: impl Fn(&[u64]) -> usize,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        schedule.step()?;
        network.each_node(|x, node| {
            let k = along(x);
            let size = network.nodes.machine().radix(network.axes[k]);
            let up = x[self.tested(k, distance)] % (2 * distance) < distance;
            let there = match (up, network.kind) {
                (true, NetworkKind::Torus) => (x[k] + distance) % size,
                (false, NetworkKind::Torus) => (x[k] + size - distance) % size,
                (true, NetworkKind::Mesh) => x[k] + distance,
                (false, NetworkKind::Mesh) => x[k].wrapping_sub(distance),
            };
            if there >= size {
                // With the printed rule, the receiver would be outside the mesh.
                return Ok(());
            }
            let near = there - there % distance;
            let mut places = vec![0_u64; (size as usize).div_ceil(64)];
            let q = network.submesh;
            for v in (0..size).filter(|v| (near % q..near % q + distance).contains(&(v % q))) {
                places[v as usize / 64] |= 1 << (v % 64);
            }
            let way = match (network.kind, up) {
                (NetworkKind::Mesh, _) => 0,
                (NetworkKind::Torus, true) => 1,
                (NetworkKind::Torus, false) => -1,
            };
            send(network, schedule, node, (k, there, way), Axis::bits(&places))
        })
    }

    /// Returns the dimension whose coordinate gives the direction of a send along dimension `k`.
    fn tested(&self, k: usize, distance: u64) -> usize {
        match (self.misprint, k) {
            (Misprint::OtherAxisIn3d, 0 | 1) if distance == 2 => 1 - k,
            (Misprint::ColumnInFigure5, 1) if distance == 2 => 0,
            (Misprint::GroupsOfStep1, 1) => 0,
            _ => k,
        }
    }
}

/// Sends the blocks of these coordinates to the node with coordinate `there` in dimension `k`.
fn send(
    network: &PaddedNetwork,
    schedule: &mut Schedule<'_>,
    node: u64,
    (k, there, way): (usize, u64, i8),
    subset: Axis<'_>,
) -> Result<(), Stop> {
    let axis = network.axes[k];
    let mut destinations = vec![Axis::ALL; network.axes.len()];
    destinations[axis] = subset;
    let mut signs = vec![0; network.axes.len()];
    signs[axis] = way;
    let route = Route::signs(&signs);
    schedule.send(
        &Blocks::new(node, network.nodes.machine().moved(node, axis, there))
            .destinations(Set::product(&destinations))
            .route(&route),
    )
}
