//! Communicators: sets of ranks that run the same collective at the same time.
//!
//! The digits of rank numbers have names ([`Mesh`]). Digits with the same name form an axis. A
//! communicator is a set of ranks that differ only in the digits of some axes. In MPI,
//! `MPI_Comm_split` creates it, with the other digits as colour and these digits as key. Other
//! programs call it a process group.
//!
//! A plugin plans for one communicator. It sees the *view*, a network whose nodes are the *members*
//! of the communicator. All communicators run images of this schedule. Only the data of one
//! communicator is traced, but the messages of all communicators share the links of the network.

use super::mesh::Mesh;
use super::topology::{self, Network, Route, RouteError};
use super::transfer::Transfer;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Communicators that have the same view and run images of one schedule. A rank is in at most one.
#[derive(Debug)]
pub struct Communicators {
    network: Arc<Network>,
    view: Arc<Network>,
    size: usize,
    ranks: Vec<u32>,
    places: Vec<Option<(u32, u32)>>,
    /// For each dimension of the view, the dimension of the network to which it corresponds. Empty
    /// if the view has no routes with directions.
    dimensions: Vec<usize>,
}

impl Communicators {
    /// Creates the communicators over axes of the network's mesh, such as `ep` or `dp+cp`, or over
    /// `size:K` (K consecutive ranks each). An error is the rest of a sentence about the workload.
    pub fn over(over: &str, network: &Arc<Network>) -> Result<Self, String> {
        let spec = network.spec();
        let (mesh, axes) = match over.strip_prefix("size:") {
            Some(size) => {
                let ranks = network.nodes();
                let size = size.parse().ok().filter(|size: &u64| *size >= 1).ok_or_else(|| {
                    format!("is over `{over}`, expected a number of ranks, as in `size:64`")
                })?;
                if !ranks.is_multiple_of(size) {
                    return Err(format!(
                        "is over communicators of {size} ranks, which do not divide the {ranks} ranks of `{spec}`"
                    ));
                }
                (Mesh::of_size(size, ranks), "member")
            }
            None => {
                let mesh = network.mesh().ok_or_else(|| {
                    let others = network.nodes();
                    format!(
                        "is over the axis `{over}`, but `{spec}` has no axes: name them, as in `mesh={over}:8/other:-1` ({others} ranks)"
                    )
                })?;
                (mesh.clone(), over)
            }
        };
        let (ranks, size) = mesh.members(axes)?;
        let view = view_of(network, &ranks[..size]);
        Ok(Self::new(network, ranks, size, view))
    }

    /// Creates communicators from lists of ranks. Those with the same view are in one entry of the
    /// result or, if `apart`, each has an entry of its own. Errors as [`Communicators::over`] does.
    pub fn listed(
        lists: &[Vec<u32>],
        network: &Arc<Network>,
        apart: bool,
    ) -> Result<Vec<Self>, String> {
        let nodes = network.nodes();
        if let Some(rank) = lists.iter().flatten().find(|rank| u64::from(**rank) >= nodes) {
            return Err(format!(
                "lists rank {rank}, expected numbers from 0 to {}, the ranks of `{}`",
                nodes - 1,
                network.spec()
            ));
        }
        type Kind = (Arc<Network>, Vec<usize>);
        let mut kinds: Vec<(Kind, Vec<u32>, usize)> = Vec::new();
        for list in lists {
            let view = view_of(network, list);
            let is_same = |((other, dimensions), _, size): &&mut (Kind, Vec<u32>, usize)| {
                *size == list.len() && other.spec() == view.0.spec() && *dimensions == view.1
            };
            match kinds.iter_mut().find(is_same).filter(|_| !apart) {
                Some((_, ranks, _)) => ranks.extend(list),
                None => kinds.push((view, list.clone(), list.len())),
            }
        }
        let kind = |(view, ranks, size)| Self::new(network, ranks, size, view);
        Ok(kinds.into_iter().map(kind).collect())
    }

    fn new(
        network: &Arc<Network>,
        ranks: Vec<u32>,
        size: usize,
        (view, dimensions): (Arc<Network>, Vec<usize>),
    ) -> Self {
        let mut places = vec![None; network.nodes() as usize];
        for (at, rank) in ranks.iter().enumerate() {
            places[*rank as usize] = Some(((at / size) as u32, (at % size) as u32));
        }
        Self { network: Arc::clone(network), view, size, ranks, places, dimensions }
    }

    /// Returns the network that contains all communicators.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Returns the network that a plugin sees, whose nodes are the members of a communicator.
    pub fn view(&self) -> &Arc<Network> {
        &self.view
    }

    /// Returns whether there is one communicator of all ranks, in their order. Its view is then the
    /// network itself.
    pub fn is_whole(&self) -> bool {
        is_whole(&self.network, &self.ranks[..self.size])
    }

    /// Returns whether every rank of the network is in a communicator.
    pub fn has_all_ranks(&self) -> bool {
        self.ranks.len() == self.places.len()
    }

    /// If a rank is in a communicator, returns the communicator and the rank's number among its
    /// members.
    pub fn place(&self, rank: u64) -> Option<(u64, u64)> {
        self.places[rank as usize].map(|(of, member)| (of.into(), member.into()))
    }

    fn place_of_member(&self, rank: u64) -> (u64, u64) {
        let place = self.place(rank);
        place.unwrap_or_else(|| unreachable!("rank {rank} is in no communicator"))
    }

    /// Returns the number of members of a communicator.
    pub fn size(&self) -> u64 {
        self.size as u64
    }

    /// Returns the number of communicators.
    pub fn count(&self) -> u64 {
        (self.ranks.len() / self.size) as u64
    }

    /// Returns the communicator of a rank, which must be in a communicator.
    pub fn of(&self, rank: u64) -> u64 {
        self.place_of_member(rank).0
    }

    /// Returns the number of a rank among the members of its communicator. The rank must be in one.
    pub fn member(&self, rank: u64) -> u64 {
        self.place_of_member(rank).1
    }

    /// Returns the rank of a member of a communicator.
    pub fn rank(&self, communicator: u64, member: u64) -> u64 {
        self.ranks[communicator as usize * self.size + member as usize].into()
    }

    /// Returns the ranks of each communicator, in the order of its members.
    pub fn all(&self) -> impl Iterator<Item = &[u32]> {
        self.ranks.chunks_exact(self.size)
    }

    pub(crate) fn repeat<T: Copy + Default>(&self, of_members: &[T]) -> Vec<T> {
        assert_eq!(of_members.len(), self.size, "a value for each member");
        let value = |(_, member): (u32, u32)| of_members[member as usize];
        self.places.iter().map(|place| place.map(value).unwrap_or_default()).collect()
    }

    /// Given the messages of one communicator, returns the messages of all communicators and their
    /// routes. An error is the index of a message whose route does not exist, and the reason.
    pub(crate) fn expand(
        &self,
        of_one: &[Transfer],
        routes: &[Route],
    ) -> Result<(Vec<Transfer>, Vec<Route>), (usize, RouteError)> {
        let mut all = Vec::with_capacity(of_one.len() * self.count() as usize);
        let mut found = Vec::new();
        let mut numbers: HashMap<Route, u32> = HashMap::new();
        for (communicator, ranks) in (0..).zip(self.all()) {
            for (at, t) in of_one.iter().enumerate() {
                let mut route = t.route;
                if let Some(i) = t.route.checked_sub(1) {
                    let moved = self.route(communicator, t.from.into(), &routes[i as usize]);
                    let moved = moved.map_err(|error| (at, error))?;
                    route = *numbers.entry(moved).or_insert_with_key(|moved| {
                        found.push(moved.clone());
                        found.len() as u32
                    });
                }
                let [from, to] = [t.from, t.to].map(|member| ranks[member as usize]);
                all.push(Transfer { from, to, route, ..*t });
            }
        }
        Ok((all, found))
    }

    /// Given the route in the view of a message from member `from`, returns its route in the
    /// network. A path in the view becomes a path along the network's own routes between the
    /// members on it. Errors if the network has no such route.
    pub fn route(&self, communicator: u64, from: u64, route: &Route) -> Result<Route, RouteError> {
        if self.is_whole() {
            return Ok(route.clone());
        }
        let all = self.network.radices().len();
        let mut signs = Vec::new();
        if !route.signs.is_empty() {
            signs = vec![0; all];
            self.dimensions.iter().zip(&route.signs).for_each(|(to, sign)| signs[*to] = *sign);
        }
        let mut order: Vec<u32> = Vec::new();
        if !route.order.is_empty() {
            order = route.order.iter().map(|d| self.dimensions[*d as usize] as u32).collect();
            let is_other = |dimension: &usize| !self.dimensions.contains(dimension);
            order.extend((0..all).filter(is_other).map(|dimension| dimension as u32));
        }
        let mut path = Vec::new();
        let mut from = self.rank(communicator, from);
        // Only the members on the path are used, because the switches of a view are not vertices of
        // the network.
        for member in route.path.iter().filter(|vertex| **vertex < self.size()) {
            let to = self.rank(communicator, *member);
            let mut links = Vec::new();
            self.network.route(from, to, None, &mut |run| {
                links.extend(run.links().filter_map(|link| self.network.link_ends(link)));
            })?;
            // A run lists its links in ascending order, also if the route crosses them in
            // descending order.
            let mut at = self.network.endpoint(from);
            while let Some(next) = links.iter().position(|(leaves, _)| *leaves == at) {
                at = links.swap_remove(next).1;
                path.push(at);
            }
            from = to;
        }
        Ok(Route { signs, order, path, ..Route::default() })
    }
}

fn is_whole(network: &Network, members: &[u32]) -> bool {
    members.len() as u64 == network.nodes() && members.is_sorted()
}

fn view_of(network: &Arc<Network>, members: &[u32]) -> (Arc<Network>, Vec<usize>) {
    match is_whole(network, members) {
        true => (network.without_mesh(), Vec::new()),
        false => view(network, members),
    }
}

/// If the members are all nodes with certain coordinates, in the order of the network, returns a
/// smaller network of the same family. Otherwise returns a complete graph. If routes of the view
/// have directions, also returns the network's dimension for each dimension of the view.
fn view(network: &Network, members: &[u32]) -> (Arc<Network>, Vec<usize>) {
    let complete = || (parsed(&format!("fully-connected:{}", members.len())), Vec::new());
    if members.len() == 1 || !network.is_intact() {
        return complete();
    }
    let radices = network.radices();
    let Some(axes) = covered(radices, members) else { return complete() };
    let is_whole = |(axis, count): &(usize, u64)| radices[*axis] == *count;
    let sides: Vec<String> = axes.iter().map(|(_, count)| count.to_string()).collect();
    let sides = sides.join("x");
    let all: Vec<usize> = axes.iter().map(|(axis, _)| *axis).collect();
    match network.kind() {
        "ring" | "torus" if axes.iter().all(is_whole) => {
            let family = if axes.len() == 1 { "ring" } else { "torus" };
            (parsed(&format!("{family}:{sides}")), all)
        }
        "mesh" if axes.iter().all(is_whole) => (parsed(&format!("mesh:{sides}")), all),
        "hypercube" => (parsed(&format!("hypercube:{}", axes.len())), Vec::new()),
        "fat-tree"
            if axes.iter().all(is_whole)
                && all.iter().copied().eq(radices.len() - all.len()..radices.len()) =>
        {
            (parsed(&format!("fat-tree:{}x{}", radices[0], axes.len())), Vec::new())
        }
        // The switches of the members form whole lines. The members are either all nodes of these
        // switches or one node of each.
        "hyperx" if axes.iter().all(is_whole) && axes[0].0 + 1 < radices.len() => {
            let nodes =
                if all.last() == Some(&(radices.len() - 1)) { axes.len() - 1 } else { axes.len() };
            let dims: Vec<String> = axes[..nodes].iter().map(|(_, n)| n.to_string()).collect();
            let nodes = axes.get(nodes).map_or(1, |(_, nodes)| *nodes);
            (parsed(&format!("hyperx:{},nodes={nodes}", dims.join("x"))), Vec::new())
        }
        "groups" if all.last() == Some(&1) => {
            let groups = if axes.len() == 2 { axes[0].1 } else { 1 };
            let ranks = axes[axes.len() - 1].1;
            let spec = network.spec();
            // The switches of a view do not represent those of the network, so they cannot reduce.
            let is_own =
                |argument: &&str| !["mesh=", "reduce="].iter().any(|key| argument.starts_with(key));
            let own: Vec<&str> = spec.split(',').skip(1).filter(is_own).collect();
            let own: String = own.iter().map(|argument| format!(",{argument}")).collect();
            (parsed(&format!("groups:{groups}x{ranks}{own}")), Vec::new())
        }
        _ => complete(),
    }
}

fn parsed(spec: &str) -> Arc<Network> {
    topology::parse(spec).unwrap_or_else(|error| unreachable!("a view is a valid network: {error}"))
}

/// If the members are all combinations of consecutive coordinates in row-major order, returns the
/// axes in which members differ, each with its number of coordinates.
fn covered(radices: &[u64], members: &[u32]) -> Option<Vec<(usize, u64)>> {
    let strides = topology::strides(radices);
    let at = |rank: u32, axis: usize| u64::from(rank) / strides[axis] % radices[axis];
    let mut axes = Vec::new();
    for axis in 0..radices.len() {
        let values: BTreeSet<u64> = members.iter().map(|rank| at(*rank, axis)).collect();
        let (first, last) = (*values.first()?, *values.last()?);
        if last - first + 1 != values.len() as u64 {
            return None;
        }
        if values.len() > 1 {
            axes.push((axis, values.len() as u64));
        }
    }
    let product: u64 = axes.iter().map(|(_, count)| count).product();
    let number = |rank: u32| {
        axes.iter().fold(0, |number, (axis, count)| {
            number * count + (at(rank, *axis) - at(members[0], *axis))
        })
    };
    let in_order = (0..).zip(members).all(|(position, rank)| {
        axes.iter().all(|(axis, _)| at(*rank, *axis) >= at(members[0], *axis))
            && number(*rank) == position
    });
    (product == members.len() as u64 && in_order).then_some(axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(spec: &str, axes: &str) -> Communicators {
        Communicators::over(axes, &parsed(spec)).unwrap_or_else(|e| panic!("{spec}, {axes}: {e}"))
    }

    #[test]
    fn the_view_is_the_smaller_network_of_the_family() {
        for (spec, axes, view) in [
            ("torus:8x4,mesh=dp:8/ep:4", "ep", "ring:4"),
            ("torus:8x4,mesh=dp:8/ep:4", "dp", "ring:8"),
            ("torus:8x4x2,mesh=dp:8/ep:8", "ep", "torus:4x2"),
            ("torus:8x4,mesh=dp:4/ep:8", "dp", "fully-connected:4"),
            ("torus:8x4,mesh=dp:4/ep:8", "ep", "fully-connected:8"),
            ("torus:4x4,mesh=a:4/b:4", "b+a", "fully-connected:16"),
            ("rdn:1(ring:3),faults=1:3,mesh=a:6/b:3", "a+b", "rdn:1(ring:3),faults=1:3"),
            ("torus:4x4,faults=1:3,mesh=a:4/b:4", "b", "fully-connected:4"),
            ("ring:8", "size:4", "fully-connected:4"),
            ("ring:8", "size:8", "ring:8"),
            ("mesh:4x6,mesh=a:4/b:6", "b", "mesh:6"),
            ("hypercube:5,mesh=a:4/b:8", "b", "hypercube:3"),
            ("hypercube:5,mesh=a:4/b:8", "a", "hypercube:2"),
            ("fat-tree:4x3,mesh=a:4/b:16", "b", "fat-tree:4x2"),
            ("fat-tree:4x3,mesh=a:4/b:16", "a", "fully-connected:4"),
            ("hyperx:3x4,nodes=2,mesh=a:3/b:8", "b", "hyperx:4,nodes=2"),
            ("hyperx:3x4,nodes=2,mesh=a:12/b:2", "b", "fully-connected:2"),
            ("groups:4x8,inside=9,mesh=node:4/gpu:8", "gpu", "groups:1x8,inside=9"),
            ("groups:4x8,mesh=a:2/b:2/gpu:8", "b+gpu", "groups:2x8"),
            ("groups:4x8,mesh=node:4/gpu:8", "node", "fully-connected:4"),
            ("dragonfly:3x2x2,mesh=a:3/b:4", "b", "fully-connected:4"),
        ] {
            assert_eq!(over(spec, axes).view().spec(), view, "{spec}, {axes}");
        }
    }

    /// Each route between two members in the network is the image of their route in the view.
    #[test]
    fn routes_of_the_view_are_routes_of_the_network() {
        let communicators = over("torus:4x5x3,mesh=a:4/b:5/c:3", "a+c");
        let (network, view) = (communicators.network(), communicators.view());
        let vertices = |network: &Network, from: u64, to: u64, route: Option<&Route>| {
            let mut links = Vec::new();
            let hops = network.route(from, to, route, &mut |run| {
                links.extend(run.links().filter_map(|link| network.link_ends(link)));
            });
            let (hops, mut at, mut all) = (hops.unwrap(), from, Vec::new());
            while let Some(next) = links.iter().position(|(leaves, _)| *leaves == at) {
                at = links.swap_remove(next).1;
                all.push(at);
            }
            assert_eq!(all.len() as u64, hops);
            all
        };
        let requests = [
            Route::default(),
            Route { signs: vec![-1, 1], ..Route::default() },
            Route { order: vec![1, 0], ..Route::default() },
            Route { path: vec![1, 4, 7, 6], ..Route::default() },
        ];
        for request in &requests {
            let (from, to) = (0, 6);
            let in_view = vertices(view, from, to, Some(request));
            for (communicator, ranks) in (0..).zip(communicators.all()) {
                let moved = communicators.route(communicator, from, request).unwrap();
                let [from, to] = [from, to].map(|member| u64::from(ranks[member as usize]));
                let image: Vec<u64> =
                    in_view.iter().map(|member| ranks[*member as usize].into()).collect();
                assert_eq!(vertices(network, from, to, Some(&moved)), image, "{request:?}");
            }
        }
    }

    #[test]
    fn communicators_that_do_not_exist_are_explained() {
        let why = |spec: &str, axes: &str| Communicators::over(axes, &parsed(spec)).unwrap_err();
        assert_eq!(
            why("torus:4x4", "ep"),
            "is over the axis `ep`, but `torus:4x4` has no axes: name them, as in `mesh=ep:8/other:-1` (16 ranks)"
        );
        assert_eq!(
            why("ring:6", "size:4"),
            "is over communicators of 4 ranks, which do not divide the 6 ranks of `ring:6`"
        );
        assert!(why("ring:6,mesh=a:2/b:3", "c").contains("the axes are a, b"));
    }
}
