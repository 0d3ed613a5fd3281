//! The layout of a grid on the screen. A grid with one to three dimensions is divided into planes,
//! and a plane into rows and columns.

use super::view::Quantity;
use crate::session::recording::Frame;
use swapmeet_core::network::topology::{Network, strides};

/// One plane of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lattice {
    pub(crate) planes: u64,
    pub(crate) plane: u64,
    /// The dimension along which the planes of a three-dimensional grid are stacked. The other two
    /// dimensions become rows and columns.
    pub(crate) across: usize,
    /// `None` for a one-dimensional grid, which can be broken into rows of any length.
    rows: Option<u64>,
    columns: u64,
    /// The difference between the index of a node and that of its neighbour in the next plane, in
    /// the next row, and in the next column.
    strides: [u64; 3],
}

/// The load on the links that lead from one plane to other planes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InterPlaneLoad {
    pub(crate) sum: u64,
    /// The maximum over the links.
    pub(crate) most: u64,
}

/// The loads on the outgoing links of a node: to the next and the previous column, to the next and
/// the previous row, and to other planes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Loads {
    pub(crate) ahead: u64,
    pub(crate) back: u64,
    pub(crate) down: u64,
    pub(crate) up: u64,
    pub(crate) across: u64,
}

impl Loads {
    /// Returns the value of all directions together: the maximum load, or the communicator.
    pub(super) fn joined(self, quantity: Quantity) -> u64 {
        let all = [self.ahead, self.back, self.down, self.up, self.across];
        all.into_iter().fold(0, |a, b| quantity.joined(a, b))
    }

    pub(crate) fn sends(self) -> bool {
        self != Self::default()
    }
}

impl Lattice {
    /// Creates a plane of a torus, mesh or ring with up to three dimensions; `None` for other
    /// topologies. In three dimensions, `turned` is the index of the dimension along which the
    /// planes are stacked.
    pub(crate) fn of(topology: &Network, plane: usize, turned: usize) -> Option<Self> {
        if !matches!(topology.kind(), "torus" | "mesh" | "ring") {
            return None;
        }
        // The first stride is the distance between planes. It is not used if there is only one
        // plane.
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

    /// Returns the node at an index, which counts the nodes of the plane row by row.
    pub(crate) fn node(&self, index: u64) -> u64 {
        let [across, down, ahead] = self.strides;
        self.plane * across + index / self.columns * down + index % self.columns * ahead
    }

    /// Returns the plane, the row and the column of a node.
    fn place(&self, node: u64) -> [u64; 3] {
        let sides = [self.planes, self.rows.unwrap_or(1), self.columns];
        [0, 1, 2].map(|i| node / self.strides[i] % sides[i])
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.rows.unwrap_or(1) * self.columns
    }

    /// Returns the number of rows and the number of columns when `room` screen columns are
    /// available. Only a one-dimensional grid depends on `room`, because it is broken into rows.
    pub(crate) fn shape(&self, room: u16) -> (u64, u64) {
        match self.rows {
            Some(rows) => (rows, self.columns),
            None => {
                let columns = self.columns.min(u64::from(room).max(1));
                (self.columns.div_ceil(columns), columns)
            }
        }
    }

    /// Returns the index of the node in the next column; the first column follows the last one.
    pub(crate) fn next_column(&self, index: u64) -> Option<u64> {
        let column = index % self.columns;
        (self.columns > 1).then(|| index - column + (column + 1) % self.columns)
    }

    /// Returns the index of the node in the next row; the first row follows the last one.
    pub(crate) fn next_row(&self, index: u64) -> Option<u64> {
        let rows = self.rows?;
        (rows > 1).then(|| (index + self.columns) % (rows * self.columns))
    }

    /// Returns the load on the outgoing links of each node of the plane, and the load on links to
    /// other planes, as values of the quantity.
    pub(super) fn loads(
        &self,
        topology: &Network,
        frame: &Frame,
        quantity: Quantity,
    ) -> (Vec<Loads>, InterPlaneLoad) {
        let mut all = vec![Loads::default(); self.nodes() as usize];
        let mut across = InterPlaneLoad::default();
        for (number, load) in frame.links.iter().enumerate() {
            let Some((from, to)) = topology.link_ends(load.link) else { continue };
            let (a, b) = (self.place(from), self.place(to));
            if a[0] != self.plane {
                continue;
            }
            let Some(own) = all.get_mut((a[1] * self.columns + a[2]) as usize) else { continue };
            let value = quantity.of_link(frame, number);
            if a[0] != b[0] {
                across = InterPlaneLoad {
                    sum: across.sum.saturating_add(value),
                    most: quantity.joined(across.most, value),
                };
            }
            let direction = direction(own, a, b);
            // Several links may have the same direction: the links to both neighbouring planes, and
            // two links that connect the same nodes in a dimension of size 2. Show the largest
            // load.
            *direction = quantity.joined(value, *direction);
        }
        (all, across)
    }
}

/// Returns the field of `loads` that belongs to a link from position `a` to position `b`.
fn direction(loads: &mut Loads, a: [u64; 3], b: [u64; 3]) -> &mut u64 {
    // A link leads ahead if it leads to the next position or, around the edge, from the last to the
    // first position. In a dimension of size 2, a link from the second to the first position could
    // be ahead or back; it counts as back.
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

    /// Returns the loads that one message causes: the nodes of the plane whose outgoing links carry
    /// a load, each with these loads.
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
            frame.links.push(Load { link, messages, load: messages * 64 });
        });
        let lattice = Lattice::of(topology.as_ref(), plane, turned).unwrap();
        let (loads, across) = lattice.loads(topology.as_ref(), &frame, Quantity::Messages);
        assert_eq!(across.sum, loads.iter().map(|l| l.across).sum::<u64>(), "a message alone");
        (0..).zip(loads).filter(|(_, l)| l.sends()).collect()
    }

    #[test]
    fn links_show_the_direction_of_messages() {
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
    fn planes_show_their_links_and_outgoing_loads() {
        assert_eq!(message("mesh:2x2x2", 0, 4, 0), [(0, Loads { across: 1, ..Loads::default() })]);
        assert_eq!(message("mesh:2x2x2", 0, 4, 1), []);
        assert_eq!(message("mesh:2x2x2", 4, 5, 1), [(0, Loads { ahead: 1, ..Loads::default() })]);
    }

    #[test]
    fn only_grids_have_a_lattice() {
        for spec in ["hypercube:3", "fully-connected:4", "torus:2x2x2x2"] {
            assert_eq!(Lattice::of(parse(spec).unwrap().as_ref(), 0, 0), None);
        }
    }

    #[test]
    fn planes_turn_to_every_pair_of_dimensions() {
        let (across, down) =
            (Loads { across: 1, ..Loads::default() }, Loads { down: 1, ..Loads::default() });
        let ahead = Loads { ahead: 1, ..Loads::default() };
        // Node 0 has three neighbours: node 12 in the first dimension, node 4 in the second, and
        // node 1 in the third.
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
