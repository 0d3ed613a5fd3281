//! Requested routes of messages, and the runs of links that a route consists of.

use super::Properties;

/// A straight section of a route: `len` links with the numbers `first`, `first + stride`, etc. If a
/// route wraps around at the end of a line, it has two runs on this line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The lowest link number of the run, also if the route crosses its links in descending order.
    pub first: u64,
    /// The distance between successive links of the run, in link numbers.
    pub stride: u64,
    /// The number of links of the run, at least 1.
    pub len: u64,
    /// The index of the plane that contains the run; 0 if the topology has no planes.
    pub plane: u32,
}

impl Run {
    pub(super) fn link(number: u64) -> Self {
        Self { first: number, stride: 1, len: 1, plane: 0 }
    }

    pub(super) fn in_planes(number: u64, planes: &[Plane]) -> Self {
        let has_link = |p: &Plane| (p.offset..p.offset + p.links()).contains(&number);
        let plane = planes.iter().position(has_link).unwrap_or(0);
        let stride = planes.get(plane).map_or(1, |plane| plane.stride);
        Self { first: number, stride, len: 1, plane: plane as u32 }
    }

    /// Returns the numbers of the links of the run.
    pub fn links(self) -> impl Iterator<Item = u64> {
        (0..self.len).map(move |i| self.first + i * self.stride)
    }
}

/// A plane: all links along one axis in one direction. They form lines, and consecutive lines form
/// blocks: the link with the number `offset + (o * radix + c) * stride + i` leaves coordinate `c`
/// of line `i` of block `o`. The load of long runs is summed along lines, not link by link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// The lowest link number of the plane.
    pub offset: u64,
    /// The number of blocks of lines. Each block has `radix * stride` links.
    pub outer: u64,
    /// The number of coordinates in a line.
    pub radix: u64,
    /// The distance between the link numbers of neighbours on a line.
    pub stride: u64,
}

impl Plane {
    /// Returns the number of link numbers in the plane.
    pub fn links(&self) -> u64 {
        self.outer * self.radix * self.stride
    }
}

/// A requested route. `signs` and `order` have one entry for each dimension, or are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Route {
    /// The direction in each dimension: 1 for plus, -1 for minus, and 0 for the shorter path (plus
    /// if both are equally long). If the list is empty, all directions are 0.
    pub signs: Vec<i8>,
    /// The order in which the message crosses the dimensions. If the list is empty, it is the
    /// topology's own order (the last dimension first).
    pub order: Vec<u32>,
    /// The nodes and switches of the path; the receiver is the last one. If the list is empty, the
    /// route is determined by `signs` and `order`. With a path, `signs` only select one of two
    /// links between the same nodes, and `order` has no effect.
    pub path: Vec<u64>,
    /// The switch that adds or copies the data of the send; `None` if no switch does.
    pub switch: Option<Switch>,
    /// The links of the route that the message uses, or `None` if it uses all links. On the other
    /// links, another message of the step carries the sum or the copy.
    pub section: Option<Section>,
}

/// A switch that takes part in a send, as a vertex of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// Adds the values of all sends of the step with the same switch, receiver and selected data.
    /// One message carries the sum to the receiver.
    Reducer(u64),
    /// Copies the data of all sends of the step with the same switch, sender and selected data. One
    /// message carries the data to the switch.
    Multicaster(u64),
}

impl Switch {
    /// Returns the vertex of the switch.
    pub fn vertex(self) -> u64 {
        match self {
            Self::Reducer(vertex) | Self::Multicaster(vertex) => vertex,
        }
    }
}

/// A part of a route: `links` of its links, after the first `skipped` ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Section {
    /// The number of links before the section.
    pub skipped: u64,
    /// The number of links of the section.
    pub links: u64,
    /// The number of links of the whole route.
    pub of: u64,
}

impl Route {
    /// Compares the entries of lists one by one. A vector load would have to wait for the stores of
    /// entries that have just been written.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.signs.iter().eq(&other.signs)
            && self.order.iter().eq(&other.order)
            && self.path.iter().eq(&other.path)
            && self.switch == other.switch
            && self.section == other.section
    }

    /// Returns whether the message begins at its sender. If not, a switch copies the data for it.
    pub fn leaves_sender(&self) -> bool {
        self.section.is_none_or(|section| section.skipped == 0)
    }

    /// Returns whether the message ends at its receiver. If not, a switch adds its data.
    pub fn reaches_receiver(&self) -> bool {
        self.section.is_none_or(|section| section.skipped + section.links == section.of)
    }
}

/// The reason why a route does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// A direction is requested, but the topology has no dimensions.
    #[error("{topology} has no dimensions to choose a direction in")]
    NoDimensions {
        /// The topology's spec, in canonical form.
        topology: String,
    },
    /// One of the lists of a [`Route`] has the wrong length, or an entry out of range.
    #[error("a route on {topology} needs {expected}, got {got}")]
    Malformed {
        /// The topology's spec, in canonical form.
        topology: String,
        /// The expected form of a route.
        expected: String,
        /// The entries of the requested route.
        got: String,
    },
    /// There is no link between two successive nodes of a path.
    #[error("{topology} has no link from node {from} to node {to}")]
    NoLink {
        /// The topology's spec, in canonical form.
        topology: String,
        /// The vertex of the path at which the missing link would start.
        from: u64,
        /// The next vertex of the path.
        to: u64,
    },
}

pub(super) fn walk_path(
    topology: &Properties,
    (from, to): (u64, u64),
    path: &[u64],
    link: impl Fn(u64, u64) -> Option<Run>,
    visit: &mut dyn FnMut(Run),
) -> Result<u64, RouteError> {
    if path.last() != Some(&to) {
        return Err(RouteError::Malformed {
            topology: topology.spec.clone(),
            expected: format!("a path that ends at node {to}"),
            got: format!("one that ends at node {}", path.last().unwrap_or(&from)),
        });
    }
    let mut at = from;
    for &next in path {
        let run = (next < topology.nodes + topology.switches).then(|| link(at, next)).flatten();
        visit(run.ok_or_else(|| RouteError::NoLink {
            topology: topology.spec.clone(),
            from: at,
            to: next,
        })?);
        at = next;
    }
    Ok(path.len() as u64)
}
