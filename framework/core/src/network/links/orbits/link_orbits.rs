//! Links orbit by orbit, where the group takes every route to a route.

use super::OrbitCounts;
use crate::network::symmetry::Group;
use crate::network::topology::{Regularity, Route, RouteError, Run, Topology};
use crate::network::transfer::Transfer;

/// How links fall into orbits, and the load of each orbit's links.
#[derive(Debug)]
pub(super) struct LinkOrbits {
    numbering: Numbering,
    order: u64,
    loads: Vec<u64>,
}

#[derive(Debug)]
enum Numbering {
    /// On a torus a link is known by its plane and the node that it leaves, coordinates modulo
    /// these periods; a period goes with its dimension's side.
    Torus { sides: Vec<u64>, periods: Vec<u64>, nodes: u64 },
    /// On a hypercube by the node that it leaves, without the bits that the group changes, and its
    /// dimension.
    Hypercube { dims: u64, kept: u64 },
    /// Between each two nodes there is a link of their own.
    Complete,
    /// Of two halves that are exchanged by the place within the half, links within one and links
    /// from one to the other.
    Halves { within: u64, half: u64 },
}

impl LinkOrbits {
    /// `None` where the group takes some route to what is none.
    pub(super) fn new(topology: &dyn Topology, group: &Group) -> Option<Self> {
        let (numbering, cells) = match topology.regularity() {
            Regularity::Torus(sides) => {
                let periods = periods(sides, group)?;
                let cells = periods.iter().product::<u64>() * 2 * sides.len() as u64;
                (
                    Numbering::Torus { sides: sides.to_vec(), periods, nodes: topology.nodes() },
                    cells,
                )
            }
            Regularity::Hypercube(dims) => {
                let periods = periods(&vec![2; dims as usize], group)?;
                let kept =
                    periods.iter().fold(0, |kept, period| kept << 1 | u64::from(*period == 2));
                // Cells of changed bits stay empty: numbers are those of links, up to the highest
                // bit that is kept.
                let cells = (kept + 1) * u64::from(dims);
                (Numbering::Hypercube { dims: dims.into(), kept }, cells)
            }
            Regularity::Complete => (Numbering::Complete, 0),
            Regularity::Halves { within } => {
                let half = topology.nodes() / 2;
                // Nothing else than the halves is exchanged.
                periods(&[2, half], group).filter(|periods| *periods == [1, half])?;
                (Numbering::Halves { within, half }, within + half)
            }
            Regularity::Mesh(_) | Regularity::Irregular => return None,
        };
        /// More orbits of links are not worth a table: hardly anything is symmetric.
        const MOST_CELLS: u64 = 1 << 26;
        (cells <= MOST_CELLS).then(|| Self {
            numbering,
            order: group.order(),
            loads: vec![0; cells as usize],
        })
    }

    pub(super) fn count(
        &mut self,
        topology: &dyn Topology,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<OrbitCounts, (usize, RouteError)> {
        let mut counts = OrbitCounts::default();
        let hops = &mut counts.hops;
        counts.max_messages = self.fill(topology, messages, routes, |_| 1, |own| hops.push(own))?;
        counts.max_hops = hops.iter().copied().max().unwrap_or(0) as u64;
        hops.iter_mut().for_each(|hops| *hops *= u128::from(self.order));
        Ok(counts)
    }

    /// The most load on one link.
    pub(super) fn max_load(
        &mut self,
        topology: &dyn Topology,
        messages: &[Transfer],
        routes: &[Route],
    ) -> Result<u64, (usize, RouteError)> {
        self.fill(topology, messages, routes, |t| t.load, |_| {})
    }

    fn fill(
        &mut self,
        topology: &dyn Topology,
        messages: &[Transfer],
        routes: &[Route],
        amount: impl Fn(&Transfer) -> u64,
        mut hops: impl FnMut(u128),
    ) -> Result<u64, (usize, RouteError)> {
        self.loads.fill(0);
        // A message has its link to itself where every two nodes have one.
        let mut most = if let Numbering::Complete = self.numbering {
            messages.iter().map(&amount).max().unwrap_or(0)
        } else {
            0
        };
        for (i, t) in messages.iter().enumerate() {
            let (numbering, loads) = (&self.numbering, &mut self.loads);
            let route = t.route.checked_sub(1).map(|i| &routes[i as usize]);
            let add = &mut |run: Run| {
                numbering.for_each_orbit(run, |cell, links| {
                    loads[cell] = loads[cell].saturating_add(links.saturating_mul(amount(t)));
                    most = most.max(loads[cell]);
                });
            };
            hops(
                topology
                    .route(t.from.into(), t.to.into(), route, add)
                    .map_err(|source| (i, source))?
                    .into(),
            );
        }
        Ok(most)
    }
}

impl Numbering {
    /// Calls `visit` with each orbit that a run has links of, and with how many.
    fn for_each_orbit(&self, run: Run, mut visit: impl FnMut(usize, u64)) {
        match self {
            Self::Complete => {}
            Self::Halves { within, half } => {
                for i in 0..run.len {
                    let link = run.first + i * run.stride;
                    let cell = match link.checked_sub(2 * within) {
                        None => link % within,
                        Some(node) => within + node % half,
                    };
                    visit(cell as usize, 1);
                }
            }
            Self::Hypercube { dims, kept } => {
                for i in 0..run.len {
                    let link = run.first + i * run.stride;
                    visit(
                        ((link / dims) & kept) as usize * *dims as usize + (link % dims) as usize,
                        1,
                    );
                }
            }
            Self::Torus { sides, periods, nodes } => {
                let along = (run.plane / 2) as usize;
                let (mut rest, mut cell, mut weight) = (run.first % nodes, 0, 1);
                let (mut from, mut step) = (0, 0);
                for d in (0..sides.len()).rev() {
                    let coordinate = rest % sides[d] % periods[d];
                    rest /= sides[d];
                    if d == along {
                        (from, step) = (coordinate, weight);
                    } else {
                        cell += coordinate * weight;
                    }
                    weight *= periods[d];
                }
                let (plane, period) = (u64::from(run.plane) * weight, periods[along]);
                for i in 0..run.len.min(period) {
                    let at = (from + i) % period * step;
                    visit((plane + cell + at) as usize, (run.len - i).div_ceil(period));
                }
            }
        }
    }
}

/// The period of each dimension, if the group only rotates dimensions as a whole. A dimension must
/// be some consecutive axes of the schedule's grid, of which only the first may be moved: a shift
/// of a lower one would not carry. A shift by multiples of a period is one of the part above the
/// period, an exclusive-or moves each of its bits.
fn periods(sides: &[u64], group: &Group) -> Option<Vec<u64>> {
    // Sides of the parts, the last first, and whether they are moved.
    let mut parts: Vec<(u64, bool)> = Vec::new();
    for axis in group.axes() {
        if axis.xor {
            parts.extend((0..(axis.radix / axis.unit).ilog2()).map(|_| (2, true)));
        } else {
            parts.push((axis.radix / axis.unit, true));
        }
        parts.push((axis.unit, false));
    }
    parts.retain(|(side, _)| *side > 1);
    parts.reverse();
    let mut periods = Vec::with_capacity(sides.len());
    for &side in sides {
        let (mut left, mut period) = (side, side);
        while left > 1 {
            let (part, moved) = parts.pop()?;
            if moved && (left != side || left % part > 0) {
                return None;
            }
            if left % part == 0 {
                left /= part;
            } else if part % left == 0 {
                parts.push((part / left, false));
                // The rest of it is a part of the next dimension.
                left = 1;
            } else {
                return None;
            }
            if moved {
                period = left;
            }
        }
        periods.push(period);
    }
    Some(periods)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};

    fn of(sides: &[u64], radices: &[u64], symmetries: &[Symmetry]) -> Option<Vec<u64>> {
        periods(sides, &Group::new(radices, symmetries).unwrap())
    }

    #[test]
    fn dimensions_may_be_rotated_as_a_whole() {
        assert_eq!(of(&[16, 16], &[16, 16], &[Shift(4), Fixed]), Some(vec![4, 16]));
        assert_eq!(
            of(&[16, 16], &[4, 4, 4, 4], &[Shift(1), Fixed, Shift(2), Fixed]),
            Some(vec![4, 8])
        );
        assert_eq!(of(&[200], &[200], &[Shift(1)]), Some(vec![1]));
        assert_eq!(of(&[4, 6], &[24], &[Shift(6)]), Some(vec![1, 6]));
        assert_eq!(of(&[2, 2, 2], &[8], &[Xor(2)]), Some(vec![1, 1, 2]));
        assert_eq!(of(&[8], &[8], &[Xor(4)]), Some(vec![4]));
    }

    #[test]
    fn what_carries_from_one_dimension_to_another_rotates_none() {
        assert_eq!(of(&[4, 6], &[24], &[Shift(1)]), None);
        assert_eq!(of(&[4, 6], &[24], &[Shift(3)]), None);
        assert_eq!(of(&[8], &[8], &[Xor(2)]), None);
        assert_eq!(of(&[8], &[2, 4], &[Fixed, Shift(1)]), None);
        assert_eq!(of(&[2, 2], &[4], &[Shift(1)]), None);
    }
}
