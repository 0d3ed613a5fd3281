//! One- and two-dimensional grids, and planes of three-dimensional ones, as rows and columns to be
//! drawn.

use crate::session::recording::Frame;
use swapmeet_core::network::topology::{Topology, strides};

/// A plane of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lattice {
    /// How many planes there are.
    pub(crate) planes: u64,
    /// Which one it is.
    pub(crate) plane: u64,
    /// The dimension that planes are counted along, where there are three.
    pub(crate) across: usize,
    /// Rows; `None` for a line, which may be broken anywhere.
    rows: Option<u64>,
    columns: u64,
    /// How far apart in number neighbours are: from plane to plane, from row to row, from column to
    /// column.
    strides: [u64; 3],
}

/// What goes from the nodes of a plane to other planes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Across {
    /// What all links there carry.
    pub(crate) sum: u64,
    /// What the busiest of them carries.
    pub(crate) most: u64,
}

/// What the links out of a node carry, in the directions of a plane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Loads {
    /// To the next column.
    pub(crate) ahead: u64,
    /// To the column before.
    pub(crate) back: u64,
    /// To the next row.
    pub(crate) down: u64,
    /// To the row before.
    pub(crate) up: u64,
    pub(crate) across: u64,
}

impl Loads {
    /// The busiest of them.
    pub(crate) fn most(self) -> u64 {
        self.ahead.max(self.back).max(self.down).max(self.up).max(self.across)
    }

    /// Whether any carries anything.
    pub(crate) fn sends(self) -> bool {
        self.most() > 0
    }
}

impl Lattice {
    /// The plane of a torus, a mesh or a ring; `None` for what is none of them or has more
    /// dimensions. Of three, planes are counted along the first, or, `turned` once or twice, along
    /// the second or third.
    pub(crate) fn of(topology: &dyn Topology, plane: usize, turned: usize) -> Option<Self> {
        if !matches!(topology.kind(), "torus" | "mesh" | "ring") {
            return None;
        }
        // One plane has nodes in it alone: how far apart planes are is how many those are.
        let strides = strides(topology.radices());
        let (planes, rows, columns, strides) = match (topology.radices(), &*strides) {
            (&[columns], &[x]) => (1, None, columns, [columns, columns, x]),
            (&[rows, columns], &[y, x]) => (1, Some(rows), columns, [rows * columns, y, x]),
            (&[a, b, c], &[z, y, x]) => match turned % 3 {
                0 => (a, Some(b), c, [z, y, x]),
                1 => (b, Some(a), c, [y, z, x]),
                _ => (c, Some(a), b, [x, z, y]),
            },
            _ => return None,
        };
        Some(Self {
            planes,
            plane: (plane as u64).min(planes - 1),
            across: turned % 3,
            rows,
            columns,
            strides,
        })
    }

    /// The node at a place of the plane, counted row by row.
    pub(crate) fn node(&self, index: u64) -> u64 {
        let [across, down, ahead] = self.strides;
        self.plane * across + index / self.columns * down + index % self.columns * ahead
    }

    /// A node's plane, row and column.
    fn place(&self, node: u64) -> [u64; 3] {
        let sides = [self.planes, self.rows.unwrap_or(1), self.columns];
        [0, 1, 2].map(|i| node / self.strides[i] % sides[i])
    }

    /// Nodes of the plane.
    pub(crate) fn nodes(&self) -> u64 {
        self.rows.unwrap_or(1) * self.columns
    }

    /// Rows and columns where so many columns have room: a line is broken, a plane is not.
    pub(crate) fn shape(&self, room: u16) -> (u64, u64) {
        match self.rows {
            Some(rows) => (rows, self.columns),
            None => {
                let columns = self.columns.min(u64::from(room).max(1));
                (self.columns.div_ceil(columns), columns)
            }
        }
    }

    /// The node in the next column; around the edge where the row ends.
    pub(crate) fn beside(&self, index: u64) -> Option<u64> {
        let column = index % self.columns;
        (self.columns > 1).then(|| index - column + (column + 1) % self.columns)
    }

    /// The node in the next row; around the edge below the last.
    pub(crate) fn below(&self, index: u64) -> Option<u64> {
        let rows = self.rows?;
        (rows > 1).then(|| (index + self.columns) % (rows * self.columns))
    }

    /// What the links out of each node of the plane carry, and those to other planes together:
    /// bytes, or messages.
    pub(crate) fn loads(
        &self,
        topology: &dyn Topology,
        frame: &Frame,
        bytes: bool,
    ) -> (Vec<Loads>, Across) {
        let mut all = vec![Loads::default(); self.nodes() as usize];
        let mut across = Across::default();
        for load in &frame.links {
            let Some((from, to)) = topology.link_ends(load.link) else { continue };
            let (a, b) = (self.place(from), self.place(to));
            if a[0] != self.plane {
                continue;
            }
            let Some(own) = all.get_mut((a[1] * self.columns + a[2]) as usize) else { continue };
            let value = if bytes { load.load } else { load.messages };
            if a[0] != b[0] {
                across =
                    Across { sum: across.sum.saturating_add(value), most: across.most.max(value) };
            }
            let direction = direction(own, a, b);
            // In a dimension of 2, two links join the same nodes: the busier one is seen.
            *direction = value.max(*direction);
        }
        (all, across)
    }
}

/// Where a link from one place to another is counted.
fn direction(loads: &mut Loads, a: [u64; 3], b: [u64; 3]) -> &mut u64 {
    // One further, or from the last around to the first; of two, the first is ahead of nothing but
    // the second.
    let ahead = |a: u64, b: u64| b == a + 1 || (a > b + 1 && b == 0);
    if a[0] != b[0] {
        &mut loads.across
    } else if a[1] != b[1] {
        if ahead(a[1], b[1]) { &mut loads.down } else { &mut loads.up }
    } else if ahead(a[2], b[2]) {
        &mut loads.ahead
    } else {
        &mut loads.back
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::recording::Load;
    use swapmeet_core::network::links::LinkLoad;
    use swapmeet_core::network::topology::parse;

    /// What is drawn when one message goes from a node to another.
    fn message(topology: &str, from: u64, to: u64, plane: usize) -> Vec<(u64, Loads)> {
        turned(topology, from, to, plane, 0)
    }

    fn turned(
        topology: &str,
        from: u64,
        to: u64,
        plane: usize,
        turned: usize,
    ) -> Vec<(u64, Loads)> {
        let topology = parse(topology).unwrap();
        let mut links = LinkLoad::new(topology.as_ref());
        links.begin();
        topology.route(from, to, None, &mut |run| links.add(run, 1)).unwrap();
        let mut frame = Frame::default();
        links.for_each_loaded(&mut |link, messages| {
            frame.links.push(Load { link, messages, load: messages * 64 })
        });
        let lattice = Lattice::of(topology.as_ref(), plane, turned).unwrap();
        let (loads, across) = lattice.loads(topology.as_ref(), &frame, false);
        assert_eq!(across.sum, loads.iter().map(|l| l.across).sum::<u64>(), "a message alone");
        (0..).zip(loads).filter(|(_, l)| l.sends()).collect()
    }

    #[test]
    fn links_point_where_messages_go() {
        let ahead = Loads { ahead: 1, ..Loads::default() };
        let back = Loads { back: 1, ..Loads::default() };
        let (down, up) =
            (Loads { down: 1, ..Loads::default() }, Loads { up: 1, ..Loads::default() });
        assert_eq!(message("torus:4x4", 0, 1, 0), [(0, ahead)]);
        assert_eq!(message("torus:4x4", 0, 3, 0), [(0, back)], "around the edge");
        assert_eq!(message("torus:4x4", 3, 0, 0), [(3, ahead)], "around the edge");
        assert_eq!(message("torus:4x4", 0, 12, 0), [(0, up)]);
        assert_eq!(message("mesh:3x3", 0, 8, 0), [(0, ahead), (1, ahead), (2, down), (5, down)]);
        assert_eq!(message("mesh:2x2", 3, 2, 0), [(3, back)]);
        assert_eq!(message("torus:2x2", 1, 0, 0), [(1, back)], "two links, one place");
        assert_eq!(message("ring:5", 4, 0, 0), [(4, ahead)]);
    }

    #[test]
    fn planes_show_their_own_links_and_that_something_leaves_them() {
        assert_eq!(message("mesh:2x2x2", 0, 4, 0), [(0, Loads { across: 1, ..Loads::default() })]);
        assert_eq!(message("mesh:2x2x2", 0, 4, 1), []);
        assert_eq!(message("mesh:2x2x2", 4, 5, 1), [(0, Loads { ahead: 1, ..Loads::default() })]);
    }

    #[test]
    fn what_is_no_grid_has_no_lattice() {
        for spec in ["hypercube:3", "fully-connected:4", "torus:2x2x2x2"] {
            assert_eq!(Lattice::of(parse(spec).unwrap().as_ref(), 0, 0), None);
        }
    }

    #[test]
    fn planes_turn_to_every_pair_of_dimensions() {
        let (across, down) =
            (Loads { across: 1, ..Loads::default() }, Loads { down: 1, ..Loads::default() });
        let ahead = Loads { ahead: 1, ..Loads::default() };
        // From 0 to 12 is one further in the first dimension, to 4 in the second, to 1 in the
        // third.
        for (to, seen) in
            [(12, [across, down, down]), (4, [down, across, ahead]), (1, [ahead, ahead, across])]
        {
            for (times, expected) in seen.into_iter().enumerate() {
                assert_eq!(
                    turned("mesh:2x3x4", 0, to, 0, times),
                    [(0, expected)],
                    "to {to}, turned {times}"
                );
            }
        }
        let topology = parse("mesh:2x3x4").unwrap();
        for times in 0..3 {
            let planes = (0..4)
                .filter_map(|plane| Lattice::of(topology.as_ref(), plane, times))
                .filter(|l| l.plane < l.planes);
            let mut nodes: Vec<u64> =
                planes.flat_map(|l| (0..l.nodes()).map(move |index| l.node(index))).collect();
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes, (0..24).collect::<Vec<u64>>());
        }
    }
}
