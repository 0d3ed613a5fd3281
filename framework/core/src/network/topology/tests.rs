//! Tests of the properties of all topologies, and of the routes of each family.

use super::*;
use crate::network::topology::adjacency::Adjacency;
use proptest::prelude::*;
use std::collections::BTreeSet;

mod automorphisms;
mod damage;
mod families;
mod folded;
mod placement;
mod ranks;
mod routing;
mod specs;
mod switches;

/// Small topologies, with odd and even sides and sides of 1, 2 and 3.
const SIDES: &str = "
    torus:1 torus:2 torus:3 torus:8 torus:1x4 torus:2x2 torus:2x3x1 torus:3x4 torus:5x4
    torus:2x4x3 mesh:1 mesh:2 mesh:3 mesh:1x5 mesh:2x2 mesh:3x4 mesh:4x3x2 mesh:2x1x3
    ring:1 ring:2 ring:3 ring:7 ring:8 hypercube:0 hypercube:1 hypercube:2 hypercube:4
    fully-connected:1 fully-connected:2 fully-connected:3 fully-connected:6
    fat-tree:2x1 fat-tree:2x3 fat-tree:3x2 fat-tree:4x2
    rdn:1(ring:1) rdn:1(ring:3) rdn:1(hypercube:2) rdn:1(torus:2x3) rdn:2(ring:2)
    rdn:1(rdn:1(ring:2)) rdn:1(fat-tree:3x1) rdn:1(fat-tree:2x2) rdn:1(rdn:1(fat-tree:2x1))
    rdn:2(fat-tree:2x1) torus:3x4x5 mesh:3x3x3
    torus:4x3o torus:2ox3 torus:1ox4 torus:2ox4x1o torus:5x2x3o
    twisted-torus:2x4 twisted-torus:4x8 twisted-torus:3x6 twisted-torus:2x4x2
    twisted-torus:4x4x8 twisted-torus:6x3x6 twisted-torus:2x2x2x4
    hyperx:1 hyperx:2,nodes=3 hyperx:4x3,nodes=2 hyperx:2x3x1x2
    dragonfly:1x1x1 dragonfly:1x1x3 dragonfly:1x4x2 dragonfly:2x1x1 dragonfly:5x1x2
    dragonfly:9x4x1 dragonfly:7x4x2 dragonfly:6x2x1 dragonfly:3x5x1
    slim-fly:3 slim-fly:4,nodes=2 slim-fly:5 slim-fly:7 slim-fly:8 slim-fly:9
    jellyfish:2x1x1 jellyfish:8x3x2 jellyfish:15x4x1,seed=7 jellyfish:6x5x1,seed=3
    groups:1x1 groups:1x4 groups:3x1 groups:3x4,inside=9 groups:3x4,nics=2 groups:1x3,nics=5 torus:3x4,place=random:5
    hyperx:3x2,nodes=2,place=random:1 mesh:4x4,place=hilbert
    tofu:1x2ox1 mesh:2x3x2,place=fold:4x3 torus:4x2x3,place=fold:7x3
    tofu:2x1x2o,place=fold:4x2x4
";

/// Returns the specs of small topologies: [`SIDES`] and the example of every family.
pub(crate) fn small() -> impl Iterator<Item = &'static str> {
    let examples =
        families().iter().map(|family| family.example).filter(|example| !example.is_empty());
    SIDES.split_whitespace().chain(examples)
}

fn topology(spec: &str) -> Arc<Network> {
    parse(spec).unwrap()
}

fn runs(
    topology: &Network,
    from: u64,
    to: u64,
    route: Option<&Route>,
) -> Result<(u64, Vec<Run>), RouteError> {
    let mut runs = Vec::new();
    let hops = topology.route(from, to, route, &mut |run| runs.push(run))?;
    Ok((hops, runs))
}

/// Returns the links of a route, in the order in which a message crosses them. Checks that each
/// link starts at the vertex at which the previous link ends, and that the route has as many links
/// as hops.
fn crossed(
    topology: &Network,
    from: u64,
    to: u64,
    route: Option<&Route>,
) -> Result<Vec<u64>, RouteError> {
    let (hops, runs) = runs(topology, from, to, route)?;
    let (mut at, mut links) = (from, Vec::new());
    for run in runs {
        let mut run: Vec<u64> = run.links().collect();
        if topology.link_ends(run[0]).unwrap().0 != at {
            run.reverse();
        }
        for link in run {
            let (leaves, enters) = topology.link_ends(link).unwrap();
            assert_eq!(leaves, at, "{} from {from} to {to}: link {link}", topology.spec());
            at = enters;
            links.push(link);
        }
    }
    assert_eq!((at, links.len() as u64), (to, hops));
    Ok(links)
}

/// Returns the vertices on a route.
fn nodes_passed(
    topology: &Network,
    from: u64,
    to: u64,
    route: Option<&Route>,
) -> Result<Vec<u64>, RouteError> {
    let links = crossed(topology, from, to, route)?;
    let entered = links.into_iter().map(|link| topology.link_ends(link).unwrap().1);
    Ok(std::iter::once(from).chain(entered).collect())
}

/// Returns the vertices on the route between two nodes of a network.
fn passed(spec: &str, from: u64, to: u64, route: Option<&Route>) -> Vec<u64> {
    nodes_passed(topology(spec).as_ref(), from, to, route).unwrap()
}

/// Returns, for each link of a network, the vertex that it leaves and the vertex that it enters.
fn ends(net: &Network) -> impl Iterator<Item = (u64, u64)> {
    (0..net.link_slots()).filter_map(|link| net.link_ends(link))
}

/// Returns all pairs of the numbers below n.
fn pairs(n: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)))
}

/// Searches the links for the shortest paths from a node to every node.
fn distances(topology: &Network, from: u64) -> Vec<u64> {
    let hops = Adjacency::of(topology).unwrap().hops_from(from);
    hops[..topology.nodes() as usize].iter().map(|hops| u64::from(*hops)).collect()
}

fn signs(signs: &[i8]) -> Route {
    Route { signs: signs.to_vec(), ..Route::default() }
}

fn order(order: &[u32]) -> Route {
    Route { order: order.to_vec(), ..Route::default() }
}

fn path(path: &[u64]) -> Route {
    Route { path: path.to_vec(), ..Route::default() }
}

/// Returns the link from a vertex to a neighbour.
pub(super) fn link_between(net: &Network, from: u64, to: u64) -> Option<Run> {
    runs(net, from, to, Some(&path(&[to]))).ok().map(|(_, runs)| runs[0])
}

fn route_error(spec: &str, from: u64, to: u64, route: &Route) -> String {
    runs(topology(spec).as_ref(), from, to, Some(route)).unwrap_err().to_string()
}

#[test]
fn routes_are_shortest_paths() {
    for spec in small() {
        let topology = topology(spec);
        let mut diameter = 0;
        for from in 0..topology.nodes() {
            let shortest = distances(topology.as_ref(), from);
            for to in 0..topology.nodes() {
                let hops =
                    nodes_passed(topology.as_ref(), from, to, None).unwrap().len() as u64 - 1;
                // Routes in a dragonfly never use a third group, although a path through a third
                // group may be shorter.
                let detour =
                    topology.kind() == "dragonfly" && hops == 5 && shortest[to as usize] == 4;
                assert!(detour || hops == shortest[to as usize], "{spec} from {from} to {to}");
                diameter = diameter.max(shortest[to as usize]);
            }
        }
        assert_eq!(topology.diameter(), diameter, "{spec}");
    }
}

#[test]
fn links_of_a_plane_are_in_node_order_and_runs_stay_on_a_line() {
    for spec in small() {
        let topology = topology(spec);
        let planes = topology.planes();
        let numbered: u64 = planes.iter().map(Plane::links).sum();
        assert!(planes.is_empty() || numbered == topology.link_slots(), "{spec}");
        for plane in planes {
            for node in 0..topology.nodes() {
                // If ranks are placed, links are sorted by the network's nodes and not by ranks.
                let placed = spec.contains(",place=");
                let leaves = topology.link_ends(plane.offset + node).map_or(node, |(from, _)| from);
                assert!(placed || leaves == node, "{spec}");
            }
        }
        for (from, to) in pairs(topology.nodes()) {
            for run in runs(topology.as_ref(), from, to, None).unwrap().1 {
                let Some(plane) = planes.get(run.plane as usize) else { continue };
                let line = |link: u64| (link - plane.offset) / (plane.radix * plane.stride);
                assert!(run.first >= plane.offset && run.stride == plane.stride, "{spec}: {run:?}");
                assert_eq!(
                    line(run.first),
                    line(run.first + (run.len - 1) * run.stride),
                    "{spec}: {run:?}"
                );
            }
        }
    }
}

#[test]
fn the_ends_of_links_are_all_vertices() {
    for spec in small() {
        let topology = topology(spec);
        let linked: BTreeSet<u64> =
            ends(topology.as_ref()).flat_map(|(from, to)| [from, to]).collect();
        let vertices = topology.nodes() + topology.switches();
        assert!(vertices == 1 || linked.into_iter().eq(0..vertices), "{spec}");
    }
}

#[test]
fn all_link_numbers_are_below_link_slots() {
    for spec in small() {
        let topology = topology(spec);
        for link in topology.link_slots()..topology.link_slots() + 100 {
            assert_eq!(topology.link_ends(link), None, "{spec}: link {link}");
        }
    }
}

/// Returns the smallest number of links that leave a set of `side` nodes. Tries every such set,
/// which is feasible for few nodes.
fn fewest_links_out_of(topology: &Network, side: u64) -> u64 {
    let links: Vec<(u64, u64)> = ends(topology).collect();
    let inside = |set: u64, node: u64| set >> node & 1 == 1;
    (0..1_u64 << topology.nodes())
        .filter(|set| u64::from(set.count_ones()) == side)
        .map(|set| {
            links.iter().filter(|(from, to)| inside(set, *from) && !inside(set, *to)).count() as u64
        })
        .min()
        .unwrap()
}

#[test]
fn bisections_agree_with_an_exhaustive_search() {
    // Leave out networks with switches, because a division of the nodes does not determine the side
    // of each switch.
    let few_nodes = |spec: &&str| topology(spec).nodes() <= 16 && topology(spec).switches() == 0;
    for spec in small().filter(few_nodes) {
        let topology = topology(spec);
        let Some(cut) = topology.bisection() else {
            assert_eq!(topology.nodes(), 1, "{spec}");
            continue;
        };
        assert!(cut.side <= topology.nodes() / 2, "{spec}");
        assert!(cut.links >= fewest_links_out_of(topology.as_ref(), cut.side), "{spec}");
        if cut.exact {
            assert_eq!(
                (cut.side, cut.links),
                (topology.nodes() / 2, fewest_links_out_of(topology.as_ref(), cut.side)),
                "{spec}"
            );
        }
    }
}

#[test]
fn distance_sums_agree_with_searches() {
    for spec in small() {
        let topology = topology(spec);
        let nodes = topology.nodes();
        let sum = |from| distances(topology.as_ref(), from).iter().sum::<u64>();
        let sums: Vec<u64> = (0..nodes).map(sum).collect();
        match topology.distance_sum() {
            Some(sum) => assert!(sums.iter().all(|s| *s == sum), "{spec}: {sum}, not {sums:?}"),
            None => assert!(
                spec.starts_with("mesh")
                    || topology.kind() == "mixed-torus"
                    || sums.iter().any(|s| *s != sums[0])
                    || ["jellyfish", "dragonfly", "folded"].contains(&topology.kind()),
                "{spec}"
            ),
        }
    }
}

#[test]
fn bisections_of_known_networks() {
    let cut = |spec: &str| topology(spec).bisection().map(|c| (c.side, c.links, c.exact));
    assert_eq!(cut("torus:16x16"), Some((128, 32, true)));
    assert_eq!(cut("torus:4x8x6"), Some((96, 48, true)));
    assert_eq!(cut("mesh:8x16"), Some((64, 8, true)));
    assert_eq!(cut("torus:4x2"), Some((4, 4, true)));
    assert_eq!(cut("torus:5x5"), Some((10, 10, false)));
    assert_eq!(cut("torus:5x4"), Some((8, 8, false)));
    assert_eq!(cut("ring:2"), Some((1, 2, true)));
    assert_eq!(cut("ring:7"), Some((3, 2, true)));
    assert_eq!(cut("mesh:7"), Some((3, 1, true)));
    assert_eq!(cut("hypercube:7"), Some((64, 64, true)));
    assert_eq!(cut("fully-connected:7"), Some((3, 12, true)));
    // For these cuts, Theorem 1 of Li, Peng & Chu gives 32, 8192 and 313 links. The program finds a
    // smaller cut for the second network.
    assert_eq!(cut("rdn:1(hypercube:3)"), Some((64, 32, false)));
    assert_eq!(cut("rdn:2(hypercube:3)"), Some((16384, 4096, false)));
    assert_eq!(cut("rdn:1(torus:5x5)"), Some((625, 313, false)));
    assert_eq!(cut("torus:1x1"), None);
    assert_eq!(cut("hypercube:0"), None);
}

/// Returns the message of a spec's error, and the part of the spec at which the error points.
fn spec_error(spec: &str) -> String {
    let error = parse(spec).unwrap_err();
    let spot = error
        .text
        .get(error.at..error.at + error.len)
        .map_or(String::new(), |spot| format!(" [{spot}]"));
    format!("{error}{spot}")
}

/// Returns the text of [`spec_error`] without the quoted spec at its start.
fn reason(spec: &str) -> String {
    spec_error(spec).split_once("`: ").unwrap().1.to_owned()
}

/// A regular graph of degree 3 that is not symmetric: two halves joined by a single edge between 0
/// and 5.
const BRIDGE: &str = "0 1\n0 2\n1 3\n1 4\n2 3\n2 4\n3 4\n5 6\n5 7\n6 8\n6 9\n7 8\n7 9\n8 9\n0 5\n";

#[test]
fn eccentricities_agree_with_routes() {
    let specs = "
        torus:4x5 mesh:4x5 ring:7 hypercube:4 fully-connected:6 fat-tree:2x3 rdn:2(ring:3)
        rdn:1(fat-tree:2x2) torus:4x5ox2o twisted-torus:4x8 hyperx:3x4,nodes=2 slim-fly:4
        jellyfish:9x4x2,seed=5 groups:3x2 tofu:3x1ox1 tofu:2ox1x2,place=fold:3x2x4
        graph:bridge rdn:1(graph:bridge)
    ";
    for spec in specs.split_whitespace() {
        let topology = parse_with(spec, &|_| Ok(BRIDGE.to_owned())).unwrap();
        for from in 0..topology.nodes() {
            let hops = |to| topology.route(from, to, None, &mut |_| {}).unwrap();
            assert_eq!(
                (0..topology.nodes()).map(hops).max(),
                Some(topology.eccentricity(from)),
                "{spec}: {from}"
            );
            assert!(topology.eccentricity(from) <= topology.diameter(), "{spec}: {from}");
        }
    }
    let bridge = parse_with("graph:bridge", &|_| Ok(BRIDGE.to_owned())).unwrap();
    assert_eq!([0, 8].map(|node| bridge.eccentricity(node)), [3, 5]);
}

#[test]
fn a_million_nodes_need_no_tables() {
    let torus = topology("torus:1024x1024");
    assert_eq!(
        std::mem::size_of_val(torus.radices()) + std::mem::size_of_val(torus.planes()),
        2 * 8 + 4 * 32
    );
    assert_eq!(runs(torus.as_ref(), 0, 1024 * 500 + 500, None).unwrap().1.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    /// A torus has a route for any signs and order. Its length in each dimension is the distance in
    /// one of the two directions.
    #[test]
    fn a_torus_has_routes_of_any_directions_and_order(
        dims in prop::collection::vec(1_u64..7, 1..5),
        ends in (any::<u64>(), any::<u64>()),
        routes in prop::collection::vec((-1_i8..=1, any::<u32>()), 4),
    ) {
        let sides = dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let torus = topology(&format!("torus:{sides}"));
        let (from, to) = (ends.0 % torus.nodes(), ends.1 % torus.nodes());
        let mut order: Vec<u32> = (0..dims.len() as u32).collect();
        order.sort_by_key(|d| routes[*d as usize].1);
        let signs: Vec<i8> = routes.iter().take(dims.len()).map(|w| w.0).collect();
        let route = Route { signs: signs.clone(), order, path: Vec::new() };
        let passed = nodes_passed(&torus, from, to, Some(&route)).unwrap();
        let grid = crate::delivery::grid::Grid::new(&dims).unwrap();
        let (a, b) = (grid.coordinates(from), grid.coordinates(to));
        let hops: u64 = (0..dims.len()).map(|d| {
            let ahead = (b[d] + dims[d] - a[d]) % dims[d];
            let back = (dims[d] - ahead) % dims[d];
            match signs[d] { 1 => ahead, -1 => back, _ => ahead.min(back) }
        }).sum();
        prop_assert_eq!(passed.len() as u64 - 1, hops);
        // If a route requests these nodes as its path, it passes exactly these nodes.
        let named = Route { path: passed[1..].to_vec(), ..Route::default() };
        if from != to {
            prop_assert_eq!(nodes_passed(&torus, from, to, Some(&named)).unwrap(), passed);
        }
    }

    /// No text makes the parser panic, and the printed spec of a topology parses to the same
    /// topology.
    #[test]
    fn any_text_is_parsed_or_refused(text in "(torus|mesh|ring|tofu|hypercube|fully-connected|fat-tree|twisted-torus|hyperx|dragonfly|slim-fly|jellyfish|groups|x)?:?[0-9xo,:= ()-]{0,7}(,nodes=[0-9]{1,2})?(,place=fold:[0-9x]{1,4})?") {
        match parse(&text) {
            Ok(topology) => prop_assert_eq!(parse(&topology.spec()).unwrap().spec(), topology.spec()),
            Err(error) => prop_assert!(error.at <= text.len()),
        }
    }
}
