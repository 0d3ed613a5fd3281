//! The way of a message: as it is asked for, and as it is handed out.

use super::Topology;

/// A straight stretch of a route: links `first`, `first + stride`, .. (`len` of them). Runs never
/// wrap around; a route that does is handed out as two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The lowest link of the stretch, whichever way it is travelled.
    pub first: u64,
    /// Distance between neighbouring links of the stretch, in link numbers.
    pub stride: u64,
    /// Links in it; at least 1.
    pub len: u64,
    /// Which of [`Topology::planes`] it lies in; 0 where there are none.
    pub plane: u32,
}

impl Run {
    /// One link of a topology without planes.
    pub(super) fn link(number: u64) -> Self {
        Self { first: number, stride: 1, len: 1, plane: 0 }
    }
}

/// How a message should travel. `signs` and `order` have an entry a dimension of the topology, or
/// none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Route {
    /// For each dimension 1 (plus), -1 (minus) or 0 (the shorter way, plus at a tie); empty for all
    /// 0.
    pub signs: Vec<i8>,
    /// The order in which dimensions are travelled; empty for the topology's own (last dimension
    /// first).
    pub order: Vec<u32>,
    /// The nodes passed through, the receiver last; empty for a route by dimensions. Signs then
    /// only choose between two links that join the same nodes, and the order means nothing.
    pub path: Vec<u64>,
}

impl Route {
    /// Whether both are the same. Entry by entry: a way was written byte by byte a moment ago, and
    /// a wide comparison would wait for that.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.signs.iter().eq(&other.signs)
            && self.order.iter().eq(&other.order)
            && self.path.iter().eq(&other.path)
    }
}

/// Why there is no such route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The topology has no directions of that kind.
    #[error("{topology} has no dimensions to choose a direction in")]
    NoDimensions {
        /// The topology's spec, in canonical form.
        topology: String,
    },
    /// A list of the wrong length or with an entry out of range.
    #[error("a route on {topology} needs {expected}, got {got}")]
    Malformed {
        /// The topology's spec, in canonical form.
        topology: String,
        /// What a route there looks like.
        expected: String,
        /// What was asked for.
        got: String,
    },
    /// No link between two nodes that follow each other on a path.
    #[error("{topology} has no link from node {from} to node {to}")]
    NoLink {
        /// The topology's spec, in canonical form.
        topology: String,
        /// A node of the path.
        from: u64,
        /// The one after it.
        to: u64,
    },
}

/// The hops of what is asked for on a topology without directions to choose, where only a path can
/// be; `None` if it leaves the choice to the topology.
pub(super) fn explicit_route(
    topology: &dyn Topology,
    (from, to): (u64, u64),
    route: Option<&Route>,
    link: impl Fn(u64, u64) -> Option<Run>,
    visit: &mut dyn FnMut(Run),
) -> Result<Option<u64>, RouteError> {
    match route {
        Some(route) if !route.path.is_empty() => {
            walk_path(topology, from, to, &route.path, link, visit).map(Some)
        }
        Some(route) if !route.signs.is_empty() || !route.order.is_empty() => {
            Err(RouteError::NoDimensions { topology: topology.spec() })
        }
        _ => Ok(None),
    }
}

/// Walks a path that names its nodes, for topologies whose links are easily found; `link` finds the
/// run from one node to the next.
pub(super) fn walk_path(
    topology: &dyn Topology,
    from: u64,
    to: u64,
    path: &[u64],
    link: impl Fn(u64, u64) -> Option<Run>,
    visit: &mut dyn FnMut(Run),
) -> Result<u64, RouteError> {
    if path.last() != Some(&to) {
        return Err(RouteError::Malformed {
            topology: topology.spec(),
            expected: format!("a path that ends at node {to}"),
            got: format!("one that ends at node {}", path.last().unwrap_or(&from)),
        });
    }
    let mut at = from;
    for &next in path {
        let run = (next < topology.nodes()).then(|| link(at, next)).flatten();
        visit(run.ok_or_else(|| RouteError::NoLink {
            topology: topology.spec(),
            from: at,
            to: next,
        })?);
        at = next;
    }
    Ok(path.len() as u64)
}
