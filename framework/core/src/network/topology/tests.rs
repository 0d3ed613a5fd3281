//! Tests of the properties and routes of all topologies, then of single families and options.

use super::automorphisms::{CoordinatePermutation, Orbits, image_of_node};
use super::*;
use crate::network::multipath::MultipathLoad;
use crate::network::survey::Survey;
use crate::network::symmetry::{Group, Symmetry};
use crate::network::topology::adjacency::Adjacency;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Small topologies, with odd and even sides, among them 1, 2 and 3.
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

/// Checks that each link of a route begins where the previous link ends, and that the number of
/// links is the reported number of hops.
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

fn passed(spec: &str, from: u64, to: u64, route: Option<&Route>) -> Vec<u64> {
    nodes_passed(topology(spec).as_ref(), from, to, route).unwrap()
}

fn ends(net: &Network) -> impl Iterator<Item = (u64, u64)> {
    (0..net.link_slots()).filter_map(|link| net.link_ends(link))
}

fn pairs(n: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)))
}

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
                // In a dragonfly, a path through a third group may be shorter than the route, which
                // never uses a third group.
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
    // Only networks without switches are tested, because a division of the nodes does not determine
    // the sides of the switches.
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
    // Theorem 1 of Li, Peng & Chu gives 32, 8192 and 313 links. The second of these cuts is not a
    // smallest cut.
    assert_eq!(cut("rdn:1(hypercube:3)"), Some((64, 32, false)));
    assert_eq!(cut("rdn:2(hypercube:3)"), Some((16384, 4096, false)));
    assert_eq!(cut("rdn:1(torus:5x5)"), Some((625, 313, false)));
    assert_eq!(cut("torus:1x1"), None);
    assert_eq!(cut("hypercube:0"), None);
}

fn spec_error(spec: &str) -> String {
    let error = parse(spec).unwrap_err();
    let spot = error
        .text
        .get(error.at..error.at + error.len)
        .map_or(String::new(), |spot| format!(" [{spot}]"));
    format!("{error}{spot}")
}

fn reason(spec: &str) -> String {
    spec_error(spec).split_once("`: ").unwrap().1.to_owned()
}

/// A regular graph of degree 3 that is not symmetric: two halves joined by the edge 0-5.
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
        let route = Route { signs: signs.clone(), order, ..Route::default() };
        let passed = nodes_passed(&torus, from, to, Some(&route)).unwrap();
        let grid = crate::delivery::grid::Grid::new(&dims).unwrap();
        let (a, b) = (grid.coordinates(from), grid.coordinates(to));
        let hops: u64 = (0..dims.len()).map(|d| {
            let ahead = (b[d] + dims[d] - a[d]) % dims[d];
            let back = (dims[d] - ahead) % dims[d];
            match signs[d] { 1 => ahead, -1 => back, _ => ahead.min(back) }
        }).sum();
        prop_assert_eq!(passed.len() as u64 - 1, hops);
        let named = Route { path: passed[1..].to_vec(), ..Route::default() };
        if from != to {
            prop_assert_eq!(nodes_passed(&torus, from, to, Some(&named)).unwrap(), passed);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "(torus|mesh|ring|tofu|hypercube|fully-connected|fat-tree|twisted-torus|hyperx|dragonfly|slim-fly|jellyfish|groups|x)?:?[0-9xo,:= ()-]{0,7}(,nodes=[0-9]{1,2})?(,place=fold:[0-9x]{1,4})?") {
        match parse(&text) {
            Ok(topology) => prop_assert_eq!(parse(&topology.spec()).unwrap().spec(), topology.spec()),
            Err(error) => prop_assert!(error.at <= text.len()),
        }
    }
}

#[test]
fn specs_have_one_canonical_form() {
    for spec in small() {
        assert_eq!(topology(spec).spec(), spec);
        let (name, rest) = spec.split_once(':').unwrap();
        let mixed = name == "torus" && rest.split(',').next().unwrap().contains('o');
        let kind = match spec.contains(",place=fold:") {
            true => "folded",
            false if mixed => "mixed-torus",
            false => name,
        };
        assert_eq!(topology(spec).kind(), kind);
    }
    assert_eq!(topology("torus:4ox3o").spec(), "mesh:4x3");
    assert_eq!(topology("hyperx:4,nodes=1").spec(), "hyperx:4");
    assert_eq!(topology("jellyfish:8x3x2,seed=0").spec(), "jellyfish:8x3x2");
    assert_eq!(topology("groups:2x4,inside=1.0").spec(), "groups:2x4");
    assert_eq!(topology("torus:016x8").spec(), "torus:16x8");
}

#[test]
fn every_family_has_an_example() {
    for family in families() {
        if family.syntax.ends_with(":FILE") {
            let square = |_: &str| Ok("0 1\n1 2\n2 3\n3 0".to_owned());
            assert_eq!(parse_with("graph:square", &square).unwrap().kind(), family.name);
            continue;
        }
        let example = topology(family.example);
        assert_eq!((example.kind(), example.spec().as_str()), (family.name, family.example));
        assert!(family.syntax.starts_with(&format!("{}:", family.name)), "{}", family.syntax);
    }
}

#[test]
fn invalid_specs_are_explained() {
    insta::assert_snapshot!(spec_error(""), @"topology ``: the name is missing, expected `name` or `name:arguments`");
    insta::assert_snapshot!(spec_error("torus"), @"topology `torus`: expected dimensions, as in `16x16` [torus]");
    insta::assert_snapshot!(spec_error("torus:"), @"topology `torus:`: nothing after the colon, expected arguments [:]");
    insta::assert_snapshot!(spec_error("torus16x16"), @"topology `torus16x16`: unknown name `torus16x16`; did you mean `torus`? [torus16x16]");
    insta::assert_snapshot!(spec_error("tors:4x4"), @"topology `tors:4x4`: unknown name `tors`; did you mean `torus`? [tors]");
    insta::assert_snapshot!(spec_error("torus:16x0"), @"topology `torus:16x0`: dimension 2 is 0, expected a whole number from 1 on [0]");
    insta::assert_snapshot!(spec_error("torus:16xa"), @"topology `torus:16xa`: dimension 2 is `a`, expected a whole number from 1 on [a]");
    insta::assert_snapshot!(spec_error("torus:16x"), @"topology `torus:16x`: dimension 2 is missing [x]");
    insta::assert_snapshot!(spec_error("torus:16x-4"), @"topology `torus:16x-4`: dimension 2 is `-4`, expected a whole number from 1 on [-4]");
    insta::assert_snapshot!(spec_error("torus:16,16"), @"topology `torus:16,16`: one argument too many, expected dimensions, as in `16x16` [16]");
    insta::assert_snapshot!(spec_error("torus:8x8,failed=0-1"), @"topology `torus:8x8,failed=0-1`: unknown key `failed`, expected one of down, slow, faults, slow-links, ranks, place, routing, mesh [failed]");
    insta::assert_snapshot!(spec_error("groups:2x4,outside=2"), @"topology `groups:2x4,outside=2`: unknown key `outside`, expected one of inside, inside_hop, nics, reduce, down, slow, faults, slow-links, ranks, place, routing, mesh [outside]");
    insta::assert_snapshot!(spec_error("torus:65536x65536"), @"topology `torus:65536x65536`: over 2147483648 nodes, the most that a topology may have [65536x65536]");
    insta::assert_snapshot!(spec_error("torus:99999999999999999999"), @"topology `torus:99999999999999999999`: dimension 1 is too large [99999999999999999999]");
    insta::assert_snapshot!(spec_error(&format!("mesh:1{}", "x1".repeat(32))), @"topology `mesh:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1`: over 32 dimensions, the most that a topology may have [1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1]");
    insta::assert_snapshot!(spec_error("torus:4ox0"), @"topology `torus:4ox0`: dimension 2 is 0, expected a whole number from 1 on [0]");
    insta::assert_snapshot!(spec_error("torus:4oxo"), @"topology `torus:4oxo`: dimension 2 is missing [o]");
    insta::assert_snapshot!(spec_error("mesh:4x4o"), @"topology `mesh:4x4o`: dimension 2 is `4o`, expected a whole number from 1 on [4o]");
    insta::assert_snapshot!(spec_error("ring:4x5"), @"topology `ring:4x5`: a ring has one dimension; for more write `torus:` [4x5]");
    insta::assert_snapshot!(spec_error("ring:n=5"), @"topology `ring:n=5`: expected a number of nodes, as in `ring:200` [n=5]");
    insta::assert_snapshot!(spec_error("hypercube:32"), @"topology `hypercube:32`: expected a number of dimensions from 0 to 31, found `32` [32]");
    insta::assert_snapshot!(spec_error("hypercube:2x2"), @"topology `hypercube:2x2`: expected a number of dimensions from 0 to 31, found `2x2` [2x2]");
    insta::assert_snapshot!(spec_error("fully-connected:0"), @"topology `fully-connected:0`: expected a number of nodes from 1 to 4194304, found `0` [0]");
    insta::assert_snapshot!(spec_error("fully-connected:10000000000"), @"topology `fully-connected:10000000000`: expected a number of nodes from 1 to 4194304, found `10000000000` [10000000000]");
}

#[test]
fn networks_of_one_kind_are_one_kind() {
    let is = |a: &str, b: &str| kind(a) == kind(b);
    assert!(
        is("torus:8x8", "torus:16x4")
            && is("ring:4", "ring:64")
            && is("fat-tree:4x3", "fat-tree:4x2")
    );
    assert!(
        !is("torus:8x8", "torus:4x4x4") && !is("torus:8x8", "mesh:8x8") && !is("torus:8", "ring:8")
    );
    assert_eq!([kind("torus:4x4x4"), kind("hypercube:7")], ["3D torus", "hypercube"]);
    assert!(
        is("torus:8x4o", "torus:16x8o")
            && !is("torus:8x4o", "torus:8ox4")
            && !is("torus:8x4o", "torus:8x4")
    );
    assert!(
        is("hyperx:4x4,nodes=2", "hyperx:8x8,nodes=2") && !is("hyperx:4x4,nodes=2", "hyperx:4x4")
    );
    assert!(
        is("torus:4x4,place=hilbert", "torus:8x8,place=hilbert")
            && is("torus:4x4,faults=2", "torus:8x8,faults=2")
            && !is("torus:4x4,faults=2", "torus:4x4")
            && !is("torus:4x4,place=hilbert", "torus:4x4")
    );
    assert!(
        is("torus:4x4,ranks=2", "torus:8x8,ranks=2")
            && !is("torus:4x4,ranks=2", "torus:4x4,ranks=4")
    );
    assert!(is("slim-fly:5", "slim-fly:7") && !is("groups:2x8,inside=9", "groups:2x8"));
}

#[test]
fn dual_nets_belong_to_their_base_and_graphs_to_themselves() {
    assert_eq!(kind("rdn:2(torus:5x5)"), kind("rdn:1(torus:5x5)"));
    assert_ne!(kind("rdn:1(ring:4)"), kind("rdn:1(hypercube:2)"));
    assert_eq!(kind("rdn:1(rdn:1(ring:2))"), "rdn over rdn:1(ring:2)");
    assert_ne!(kind("graph:a.txt"), kind("graph:b.txt"));
}

#[test]
fn routes_follow_the_row_first() {
    assert_eq!(passed("mesh:4x6", 1, 15, None), [1, 2, 3, 9, 15]);
    assert_eq!(passed("torus:4x6", 1, 23, None), [1, 0, 5, 23]);
    assert_eq!(passed("torus:4x6", 1, 15, Some(&order(&[0, 1]))), [1, 7, 13, 14, 15]);
    assert_eq!(passed("hypercube:3", 0, 5, None), [0, 1, 5]);
}

#[test]
fn ties_on_a_ring_use_the_plus_direction_by_default() {
    let ring = topology("ring:4");
    assert_eq!(nodes_passed(ring.as_ref(), 3, 1, None).unwrap(), [3, 0, 1]);
    assert_eq!(nodes_passed(ring.as_ref(), 3, 1, Some(&signs(&[0]))).unwrap(), [3, 0, 1]);
    assert_eq!(nodes_passed(ring.as_ref(), 3, 1, Some(&signs(&[-1]))).unwrap(), [3, 2, 1]);
}

#[test]
fn a_sign_can_request_the_longer_path() {
    let torus = topology("torus:4x6");
    assert_eq!(
        nodes_passed(torus.as_ref(), 0, 7, Some(&signs(&[0, -1]))).unwrap(),
        [0, 5, 4, 3, 2, 1, 7]
    );
    assert_eq!(
        nodes_passed(torus.as_ref(), 0, 1, Some(&signs(&[1, 1]))).unwrap(),
        [0, 1],
        "nothing moves along the column"
    );
    assert_eq!(nodes_passed(torus.as_ref(), 9, 9, Some(&signs(&[-1, 1]))).unwrap(), [9]);
}

#[test]
fn a_torus_side_of_two_has_two_links_in_each_direction() {
    let link = |spec: &str, route: &Route| {
        runs(topology(spec).as_ref(), 0, 1, Some(route)).unwrap().1[0].first
    };
    assert_ne!(link("torus:2", &signs(&[1])), link("torus:2", &signs(&[-1])));
    assert_eq!(link("torus:2", &signs(&[1])), link("torus:2", &Route::default()));
    let along = |sign: i8| Route { path: vec![1], ..signs(&[sign]) };
    assert_eq!(link("torus:2", &along(-1)), link("torus:2", &signs(&[-1])));
    assert_eq!(link("torus:2", &along(0)), link("torus:2", &signs(&[1])));
    let links = |spec: &str| {
        (0..topology(spec).link_slots()).filter(|l| topology(spec).link_ends(*l).is_some()).count()
    };
    assert_eq!((links("torus:2"), links("mesh:2"), links("torus:1")), (4, 2, 0));
}

#[test]
fn a_path_names_the_nodes_of_a_route() {
    let around = [1, 5, 4, 0, 3];
    assert_eq!(passed("torus:4x4", 0, 3, Some(&path(&around))), [0, 1, 5, 4, 0, 3]);
    assert_eq!(passed("hypercube:2", 0, 3, Some(&path(&[2, 3]))), [0, 2, 3]);
    assert_eq!(passed("fully-connected:5", 0, 3, Some(&path(&[4, 3]))), [0, 4, 3]);
}

#[test]
fn invalid_routes_are_explained() {
    let error = route_error;
    insta::assert_snapshot!(error("mesh:4x6", 2, 5, &signs(&[0, -1])), @"a route on mesh:4x6 needs a direction that leads to the receiver, got sign -1 in dimension 1, from coordinate 2 to 5");
    insta::assert_snapshot!(error("torus:4x6", 2, 5, &signs(&[1])), @"a route on torus:4x6 needs a sign -1, 0 or 1 for each of 2 dimensions, got [1]");
    insta::assert_snapshot!(error("torus:4x6", 2, 5, &signs(&[1, 2])), @"a route on torus:4x6 needs a sign -1, 0 or 1 for each of 2 dimensions, got [1, 2]");
    insta::assert_snapshot!(error("torus:4x6", 2, 5, &order(&[1, 1])), @"a route on torus:4x6 needs each of dimensions 0 to 1 once, got [1, 1]");
    insta::assert_snapshot!(error("torus:4x6", 2, 5, &order(&[0])), @"a route on torus:4x6 needs each of dimensions 0 to 1 once, got [0]");
    insta::assert_snapshot!(error("torus:4x6", 2, 5, &path(&[3, 4])), @"a route on torus:4x6 needs a path that ends at node 5, got one that ends at node 4");
    insta::assert_snapshot!(error("torus:4x6", 2, 5, &path(&[3, 5])), @"torus:4x6 has no link from node 3 to node 5");
    insta::assert_snapshot!(error("mesh:4x6", 5, 0, &path(&[0])), @"mesh:4x6 has no link from node 5 to node 0");
    insta::assert_snapshot!(error("mesh:4x6", 5, 0, &path(&[u64::MAX, 0])), @"mesh:4x6 has no link from node 5 to node 18446744073709551615");
    insta::assert_snapshot!(error("hypercube:3", 0, 3, &path(&[3])), @"hypercube:3 has no link from node 0 to node 3");
    insta::assert_snapshot!(error("hypercube:3", 0, 3, &signs(&[0, 1, 1])), @"hypercube:3 has no dimensions to choose a direction in");
    insta::assert_snapshot!(error("fully-connected:4", 0, 3, &signs(&[1])), @"fully-connected:4 has no dimensions to choose a direction in");
    insta::assert_snapshot!(error("fully-connected:4", 0, 3, &path(&[0, 3])), @"fully-connected:4 has no link from node 0 to node 0");
}

#[test]
fn invalid_fat_trees_are_explained() {
    insta::assert_snapshot!(reason("fat-tree:4"), @"expected links down per switch and levels, as in `fat-tree:4x3`, found `4` [4]");
    insta::assert_snapshot!(reason("fat-tree:1x3"), @"expected at least 2 links down per switch, found `1x3` [1x3]");
    insta::assert_snapshot!(reason("fat-tree:4x0"), @"dimension 2 is 0, expected a whole number from 1 on [0]");
    insta::assert_snapshot!(reason("fat-tree:10x12"), @"expected at most 2147483648 nodes, which are links down to the power of levels, found `10x12` [10x12]");
    let route = signs(&[1, 1]);
    insta::assert_snapshot!(route_error("fat-tree:2x2", 0, 3, &route), @"fat-tree:2x2 has no dimensions to choose a direction in");
}

/// Theorem 1 of Li, Peng & Chu: with k levels and a base of n0 nodes, degree d0 and diameter D0,
/// there are `(2 n0)^(2^k) / 2` nodes, degree `d0 + k` and diameter `2^k D0 + 2^(k+1) - 2`.
#[test]
fn recursive_dual_nets_have_the_sizes_of_theorem_1() {
    let of = |spec: &str| {
        let net = topology(spec);
        (net.nodes(), net.degree(), net.diameter())
    };
    assert_eq!(of("rdn:1(torus:5x5)"), (1250, Some(5), 10));
    assert_eq!(of("rdn:1(torus:3x3x3)"), (1458, Some(7), 8));
    assert_eq!(of("rdn:2(torus:5x5)"), (3_125_000, Some(6), 22));
    assert_eq!(of("rdn:2(torus:3x3x3)"), (4_251_528, Some(8), 18));
    assert_eq!(of("rdn:1(hypercube:3)"), (128, Some(4), 8));
    assert_eq!(of("rdn:2(hypercube:3)"), (32_768, Some(5), 18));
    // Theorem 1 gives cuts of 313, 781,250, 1,062,882 and 8,192 links, but from the second level
    // on, there are smaller cuts. In the paper's example, node (1, 1, 2) of a dual-net with a base
    // of 3 nodes has the number 14, and its cross-edge leads to (0, 2, 1).
    let cut = |spec: &str| topology(spec).bisection().unwrap().links;
    assert_eq!((cut("rdn:1(torus:5x5)"), cut("rdn:2(torus:5x5)")), (313, 391_250));
    assert_eq!((cut("rdn:2(torus:3x3x3)"), cut("rdn:2(hypercube:3)")), (532_170, 4_096));
    let net = topology("rdn:1(ring:3)");
    assert_eq!(nodes_passed(net.as_ref(), 14, 7, None), Ok(vec![14, 7]));
    assert_eq!(topology("rdn:2(torus:5x5)").radices(), [2, 2, 5, 5, 5, 5, 2, 5, 5, 5, 5]);
}

/// In a dual-net whose base is a ring of 5, node (t, c, x) has the number `25 t + 5 c + x`.
#[test]
fn a_path_through_a_dual_net_names_neighbours() {
    let net = topology("rdn:1(ring:5)");
    let route = path(&[2, 35, 36, 7]);
    assert_eq!(nodes_passed(net.as_ref(), 1, 7, Some(&route)).unwrap(), [1, 2, 35, 36, 7]);
    let no_link = "rdn:1(ring:5) has no link from node 1 to node";
    assert_eq!(route_error("rdn:1(ring:5)", 1, 3, &path(&[3])), format!("{no_link} 3"));
    assert_eq!(route_error("rdn:1(ring:5)", 1, 35, &path(&[35])), format!("{no_link} 35"));
    assert_eq!(route_error("rdn:1(ring:5)", 1, 6, &path(&[6])), format!("{no_link} 6"));
}

#[test]
fn errors_in_dual_nets_have_positions() {
    insta::assert_snapshot!(reason("rdn:2(torus:5x0)"), @"dimension 2 is 0, expected a whole number from 1 on [0]");
    insta::assert_snapshot!(reason("rdn:2(tours:5x5)"), @"unknown name `tours`; did you mean `torus`? [tours]");
    insta::assert_snapshot!(reason("rdn:0(ring:3)"), @"expected a number of levels from 1 on, found `0` [0]");
    insta::assert_snapshot!(reason("rdn:3(torus:5x5)"), @"3 levels make more than 2147483648 nodes, the most that a topology may have [3]");
    insta::assert_snapshot!(reason("rdn:1(mesh:3x3)"), @"a base must be regular, and in `mesh:3x3` some nodes have more links than others [mesh:3x3]");
    insta::assert_snapshot!(reason("rdn:2"), @"expected levels and a base, as in `rdn:1(hypercube:3)`, found `2` [2]");
    insta::assert_snapshot!(reason("rdn:2(ring:3"), @"the parenthesis is never closed [(]");
    insta::assert_snapshot!(reason("rdn:2(ring:3)x"), @"expected the closing parenthesis at the end [x]");
    assert!(reason("rdn:1(rdn:1(mesh:3))").ends_with("[mesh:3]"));
}

/// If every node sends to the node that is the same distance further in node numbers, no two
/// messages share a link.
#[test]
fn fat_tree_routes_lead_up_and_down_and_shifts_share_no_link() {
    let tree = topology("fat-tree:2x3");
    // Nodes are 0 to 7. The switches of the levels are 8 to 11, 12 to 15 and 16 to 19.
    assert_eq!(nodes_passed(tree.as_ref(), 0, 1, None), Ok(vec![0, 8, 1]));
    assert_eq!(nodes_passed(tree.as_ref(), 0, 3, None), Ok(vec![0, 8, 13, 9, 3]));
    assert_eq!(nodes_passed(tree.as_ref(), 0, 5, None), Ok(vec![0, 8, 13, 17, 15, 10, 5]));
    assert_eq!(tree.bisection(), Some(Bisection { side: 4, links: 4, exact: true }));
    for spec in ["fat-tree:2x4", "fat-tree:3x3", "fat-tree:4x2"] {
        let tree = topology(spec);
        let mut load = crate::network::links::LinkLoad::new(tree.as_ref());
        for distance in 1..tree.nodes() {
            load.begin();
            for from in 0..tree.nodes() {
                tree.route(from, (from + distance) % tree.nodes(), None, &mut |run| {
                    load.add(run, 1);
                })
                .unwrap();
            }
            assert_eq!(load.max(), 1, "{spec}, {distance} on");
        }
    }
}

fn coordinates(node: u64, [x, y, z]: [u64; 3]) -> [u64; 6] {
    let mut rest = node;
    let mut next = |size: u64| {
        let coordinate = rest % size;
        rest /= size;
        coordinate
    };
    let [b, c, a] = [3, 2, 2].map(&mut next);
    let [x, y, z] = [x, y, z].map(&mut next);
    [x, y, z, a, b, c]
}

/// The published order of dimensions is B, C, A, X, Y, Z. Each hop is a step along a ring, or
/// between the ends of a line of two nodes.
#[test]
fn routes_in_tofu_follow_the_published_order_of_dimensions() {
    let [x, y, z, a, b, c] = [0, 1, 2, 3, 4, 5];
    let units = [3, 2, 4];
    let sizes = [3, 2, 4, 2, 3, 2];
    let tofu = topology("tofu:3x2x4");
    for from in (0..tofu.nodes()).step_by(7) {
        for to in 0..tofu.nodes() {
            let (mut at, there) = (coordinates(from, units), coordinates(to, units));
            let mut expected = vec![at];
            for dimension in [b, c, a, x, y, z] {
                let size = sizes[dimension];
                let ahead = (there[dimension] + size - at[dimension]) % size;
                while at[dimension] != there[dimension] {
                    let step = if 2 * ahead <= size { 1 } else { size - 1 };
                    at[dimension] = (at[dimension] + step) % size;
                    expected.push(at);
                }
            }
            let passed = nodes_passed(tofu.as_ref(), from, to, None).unwrap();
            let passed: Vec<_> = passed.into_iter().map(|v| coordinates(v, units)).collect();
            assert_eq!(passed, expected, "from {from} to {to}");
        }
    }
}

/// K had 24 x 18 x 16 units with 82,944 compute nodes, Fugaku has 24 x 23 x 24 units with 158,976.
/// A router has ten links: two along each of X, Y, Z and B, and one along each of A and C.
#[test]
fn tofu_has_the_published_numbers_of_nodes_and_links() {
    let [k, fugaku] = ["tofu:24x18x16", "tofu:24x23x24"].map(topology);
    assert_eq!((k.nodes(), fugaku.nodes(), fugaku.degree()), (82_944, 158_976, Some(10)));
    assert_eq!(fugaku.diameter(), 12 + 11 + 12 + 3);
}

#[test]
fn neighbours_of_a_folded_torus_are_neighbours_in_the_network() {
    for (network, shape) in [
        ("tofu:4x3x4", [8, 6, 8]),
        ("tofu:4ox3ox4o", [8, 6, 8]),
        ("tofu:2x2x2", [4, 6, 4]),
        ("tofu:2ox2ox2o", [4, 4, 4]),
        ("mesh:2x4x2x4x4", [8, 8, 4]),
    ] {
        let [a, b, c] = shape;
        let folded = topology(&format!("{network},place=fold:{a}x{b}x{c}"));
        let open = if network.starts_with("mesh") { 2 } else { 3 };
        assert_eq!((folded.nodes(), folded.radices()), (a * b * c, &shape[..]));
        let strides = [b * c, c, 1];
        for rank in 0..folded.nodes() {
            for axis in 0..open {
                let c = rank / strides[axis] % shape[axis];
                let next = rank - c * strides[axis] + (c + 1) % shape[axis] * strides[axis];
                let hops = folded.route(rank, next, None, &mut |_| {});
                assert_eq!(hops, Ok(1), "{network}: {rank} to {next}");
            }
        }
    }
}

#[test]
fn impossible_folds_are_explained() {
    insta::assert_snapshot!(reason("tofu:2x2x2,place=fold:16x16"), @"place: expected a shape whose sides are at most products of different dimensions of 2x2x2x2x2x3, found `fold:16x16` [fold:16x16]");
    insta::assert_snapshot!(reason("tofu:2x2x2,place=fold:4y4"), @"place: expected fold:SHAPE, as in `fold:8x8x8`, found `fold:4y4` [fold:4y4]");
    insta::assert_snapshot!(reason("tofu:2x2x2,ranks=2,place=fold:4x4"), @"place: expected one rank per node with fold:SHAPE, found `fold:4x4` [fold:4x4]");
    insta::assert_snapshot!(reason("hypercube:4,place=fold:4x4"), @"place: expected a torus, mesh, ring or tofu to fold a shape into, found `fold:4x4` [fold:4x4]");
    insta::assert_snapshot!(reason("torus:5000,place=fold:5000"), @"place: expected at most 16777216 nodes and sides of at most 4096, found `fold:5000` [fold:5000]");
    insta::assert_snapshot!(reason("tofu:4x4"), @"expected numbers of units along X, Y and Z, as in `tofu:4x3x4`, found `4x4` [4x4]");
    insta::assert_snapshot!(reason("tofu:1000x1000x1000"), @"expected at most 178956970 units of 12 nodes, found `1000x1000x1000` [1000x1000x1000]");
}

fn sizes(spec: &str) -> (u64, u64, u64) {
    let net = topology(spec);
    (net.nodes(), net.switches(), net.diameter())
}

fn mean_hops(spec: &str) -> f64 {
    Survey::of(topology(spec).as_ref()).mean_hops.unwrap().0
}

fn links_to_switches(spec: &str) -> Vec<u64> {
    let net = topology(spec);
    let mut out = vec![0; net.switches() as usize];
    for (from, to) in ends(net.as_ref()) {
        if from >= net.nodes() && to >= net.nodes() {
            out[(from - net.nodes()) as usize] += 1;
        }
    }
    out
}

fn all_have(spec: &str, links: u64) {
    assert!(links_to_switches(spec).iter().all(|out| *out == links), "{spec}");
}

#[test]
fn every_link_between_switches_can_be_part_of_a_path() {
    for spec in small().filter(|spec| {
        topology(spec).switches() > 0 && !spec.contains("place=") && !spec.starts_with("rdn")
    }) {
        let net = topology(spec);
        for (from, to) in ends(net.as_ref()) {
            let run = link_between(&net, from, to).unwrap_or_else(|| panic!("{spec}: {from} {to}"));
            assert_eq!((net.link_ends(run.first), run.len), (Some((from, to)), 1), "{spec}");
        }
        let linked = pairs(net.nodes() + net.switches());
        let linked = linked.filter(|(from, to)| link_between(&net, *from, *to).is_some()).count();
        let distinct: BTreeSet<_> = ends(net.as_ref()).collect();
        assert_eq!(linked, distinct.len(), "{spec}");
    }
    let there_and_back =
        nodes_passed(topology("fat-tree:2x2").as_ref(), 0, 3, Some(&path(&[4, 7, 5, 3])));
    assert_eq!(there_and_back, Ok(vec![0, 4, 7, 5, 3]));
    let gap = nodes_passed(topology("fat-tree:2x2").as_ref(), 0, 3, Some(&path(&[4, 5, 3])));
    insta::assert_snapshot!(gap.unwrap_err().to_string(), @"fat-tree:2x2 has no link from node 4 to node 5");
}

/// Kim et al.: each group of a dragonfly has a routers, each with p nodes and h global links. If `a
/// = 2p = 2h`, there are `a h + 1` groups. If 33 groups are cut into 16 and 17, each pair of groups
/// on different sides is joined by a link, so the cut has 16 x 17 links.
#[test]
fn balanced_dragonflies_have_the_sizes_of_the_paper() {
    assert_eq!(sizes("dragonfly:9x4x2"), (72, 36, 3 + 2));
    assert_eq!(sizes("dragonfly:33x8x4"), (1056, 264, 3 + 2));
    all_have("dragonfly:9x4x2", 3 + 2);
    all_have("dragonfly:33x8x4", 7 + 4);
    assert_eq!(
        topology("dragonfly:33x8x4").bisection(),
        Some(Bisection { side: 512, links: 272, exact: false })
    );
    // The global links of router 0 of group 0, which has node 0, lead to groups 1 and 2. The link
    // from group 0 to group 8 leaves router 3, and leads to router 0 of group 8, which has nodes 64
    // to 71.
    let net = topology("dragonfly:9x4x2");
    let router = |group: u64, router: u64| 72 + 4 * group + router;
    assert_eq!(
        nodes_passed(net.as_ref(), 0, 70, None),
        Ok(vec![0, router(0, 0), router(0, 3), router(8, 0), router(8, 3), 70])
    );
    assert_eq!(
        nodes_passed(net.as_ref(), 0, 8, None),
        Ok(vec![0, router(0, 0), router(1, 3), router(1, 0), 8])
    );
}

#[test]
fn every_two_groups_of_a_dragonfly_have_one_link() {
    for spec in ["dragonfly:9x4x2", "dragonfly:7x4x1", "dragonfly:6x2x1", "dragonfly:5x1x1"] {
        let net = topology(spec);
        let group = |vertex: u64| (vertex - net.nodes()) / net.radices()[1];
        let mut across: Vec<(u64, u64)> = ends(net.as_ref())
            .filter(|(a, b)| *a.min(b) >= net.nodes())
            .map(|(a, b)| (group(a), group(b)))
            .filter(|(a, b)| a != b)
            .collect();
        across.sort_unstable();
        let groups = net.radices()[0];
        assert!(across.into_iter().eq(pairs(groups).filter(|(a, b)| a != b)), "{spec}");
    }
}

/// Besta & Hoefler: for q = 4 w + d, there are 2 q^2 routers with (3 q - d) / 2 links each, and two
/// routers are at most two hops apart. q = 19 gives 722 routers with 29 links. With 15 nodes per
/// router, there are 10,830 nodes. q = 5 gives the graph of Hoffman & Singleton, the largest with
/// degree 7 and diameter 2.
#[test]
fn slim_flies_have_the_sizes_of_the_paper() {
    assert_eq!(sizes("slim-fly:19"), (722, 722, 2 + 2));
    assert_eq!(sizes("slim-fly:19,nodes=15"), (10_830, 722, 2 + 2));
    assert_eq!(sizes("slim-fly:5"), (50, 50, 2 + 2));
    for q in [3_i64, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19] {
        let d = if q % 4 == 3 { -1 } else { q % 4 };
        all_have(&format!("slim-fly:{q}"), ((3 * q - d) / 2) as u64);
    }
    assert_eq!(mean_hops("slim-fly:5"), (7.0 * 3.0 + 42.0 * 4.0) / 49.0);
}

/// Ahn et al.: a route has at most as many hops as there are dimensions. A switch has S - 1 links
/// in a dimension of size S. A cut that halves a dimension cuts `S^2 / 4` links of each line.
#[test]
fn a_hyperx_has_the_sizes_of_the_paper() {
    assert_eq!(sizes("hyperx:8x8,nodes=8"), (512, 64, 2 + 2));
    all_have("hyperx:8x8,nodes=8", 14);
    all_have("hyperx:4x3x2", 3 + 2 + 1);
    assert_eq!(
        topology("hyperx:8x8,nodes=8").bisection(),
        Some(Bisection { side: 256, links: 128, exact: false })
    );
    assert_eq!(
        topology("hyperx:4x8,nodes=9").bisection(),
        Some(Bisection { side: 144, links: 32, exact: false })
    );
    let hypercube: Vec<u64> = (0..16)
        .map(|to| topology("hypercube:4").route(0, to, None, &mut |_| {}).unwrap())
        .collect();
    let of_switches: Vec<u64> = (0..16)
        .map(|to| {
            topology("hyperx:2x2x2x2").route(0, to, None, &mut |_| {}).unwrap().saturating_sub(2)
        })
        .collect();
    assert_eq!(hypercube, of_switches);
    assert_eq!(passed("hyperx:4x3", 0, 11, None), [0, 12, 14, 23, 11]);
}

/// From a switch, at most 10 of the 199 others are one hop away, at most 90 are two hops away, and
/// the rest at least three, so the mean is at least 2.447. The means of random graphs are close to
/// this bound (Singla et al.).
#[test]
fn jellyfish_are_regular_and_as_short_as_random_graphs_are() {
    for seed in 0..5 {
        let spec = format!("jellyfish:200x10x1,seed={seed}");
        all_have(&spec, 10);
        let mean = mean_hops(&spec) - 2.0;
        assert!(((10.0 + 2.0 * 90.0 + 3.0 * 99.0) / 199.0..2.65).contains(&mean), "{spec}: {mean}");
    }
    let drawn = |seed: u64| {
        let net = topology(&format!("jellyfish:20x4x1,seed={seed}"));
        ends(net.as_ref()).collect::<Vec<_>>()
    };
    assert_ne!(drawn(1), drawn(2));
    assert_eq!(drawn(1), drawn(1));
}

/// Jouppi et al. give the gain of the twist for an all-to-all: the largest link load without the
/// twist, divided by the largest load with it. It is 1.745 on 4x4x8 and 1.391 on 4x8x8. Without the
/// twist, links along the long dimension have the largest load. With the twist, the hops are shared
/// equally by all directions.
#[test]
fn a_twisted_torus_gains_as_much_as_tpu_v4() {
    for (sides, gain) in [("4x4x8", 1.745), ("4x8x8", 1.391)] {
        let twisted = topology(&format!("twisted-torus:{sides}"));
        let (nodes, links) = (twisted.nodes() as f64, twisted.degree().unwrap() as f64);
        let busiest = nodes * 2.0 / 2.0;
        let shared = twisted.distance_sum().unwrap() as f64 / links;
        assert!((busiest / shared - gain).abs() < 0.0005, "{sides}: {}", busiest / shared);
    }
    assert_eq!(topology("twisted-torus:4x4x8").diameter(), 6, "and of the torus 8");
    // In the minus direction of the first dimension, node 0 has a closing link. It leads to
    // coordinate 3, and because of the twist also moves by half of the long side.
    let net = topology("twisted-torus:4x4x8");
    assert_eq!(nodes_passed(net.as_ref(), 0, 3 * 32 + 4, None), Ok(vec![0, 3 * 32 + 4]));
}

#[test]
fn all_routes_between_groups_have_two_hops() {
    let net = topology("groups:3x4,inside=9");
    assert_eq!(nodes_passed(net.as_ref(), 0, 3, None), Ok(vec![0, 12, 3]));
    assert_eq!(nodes_passed(net.as_ref(), 0, 4, None), Ok(vec![0, 15, 4]));
    assert_eq!(net.bandwidths(), Some((1.0, 9.0)));
    let bandwidths = |to| {
        let mut found = Vec::new();
        net.route(0, to, None, &mut |run| found.push(net.bandwidth(run.first))).unwrap();
        found
    };
    assert_eq!((bandwidths(3), bandwidths(4)), (vec![9.0, 9.0], vec![1.0, 1.0]));
    assert_eq!(
        topology("groups:4x8").bisection(),
        Some(Bisection { side: 16, links: 16, exact: false })
    );
}

#[test]
fn invalid_switch_networks_are_explained() {
    let message = |spec: &str| parse(spec).unwrap_err().message;
    insta::assert_snapshot!(message("slim-fly:6"), @"expected a prime power q from 3 to 1024, of the form 4w - 1, 4w or 4w + 1, found `6`");
    insta::assert_snapshot!(message("slim-fly:15"), @"expected a prime power q (near: 13, 16), found `15`");
    insta::assert_snapshot!(message("slim-fly:x"), @"expected a prime power q, as in `slim-fly:19`, found `x`");
    insta::assert_snapshot!(message("slim-fly:5,node=2"), @"unknown key `node`");
    insta::assert_snapshot!(message("slim-fly:19,nodes=0"), @"nodes: expected a whole number from 1 on, found `0`");
    insta::assert_snapshot!(message("slim-fly:19,nodes=9000000"), @"722 switches with 9000000 nodes each: over 2147483648 nodes, the most that a topology may have");
    insta::assert_snapshot!(message("slim-fly"), @"expected a prime power q, as in `slim-fly:19`");
    insta::assert_snapshot!(message("hyperx:nodes=4"), @"expected first switches along each dimension, as in `8x8`");
    insta::assert_snapshot!(message("hyperx:4x0"), @"dimension 2 is 0, expected a whole number from 1 on");
    insta::assert_snapshot!(message("dragonfly:9x4"), @"expected groups, routers per group and nodes per router, as in `dragonfly:33x8x4`, found `9x4`");
    insta::assert_snapshot!(message("dragonfly:1000x2x1"), @"expected at most 256 routers per group and 256 global links per router, found `1000x2x1`");
    insta::assert_snapshot!(message("dragonfly:9x4x2,nodes=3"), @"unknown key `nodes`, expected one of down, slow, faults, slow-links, ranks, place, routing, mesh");
    insta::assert_snapshot!(message("jellyfish:5x3x1"), @"expected fewer links per switch than switches, at least 2 if there are more than two switches, and an even number of link ends, found `5x3x1`");
    insta::assert_snapshot!(message("jellyfish:10x1x1"), @"expected fewer links per switch than switches, at least 2 if there are more than two switches, and an even number of link ends, found `10x1x1`");
    insta::assert_snapshot!(message("jellyfish:9000x4x1"), @"expected at most 8192 switches, found `9000x4x1`");
    insta::assert_snapshot!(message("twisted-torus:4x4x4"), @"expected sides of a and of 2a, at least one of each, with a of at least 2, as in `4x4x8`, found `4x4x4`");
    insta::assert_snapshot!(message("twisted-torus:4x4x12"), @"expected sides of a and of 2a, at least one of each, with a of at least 2, as in `4x4x8`, found `4x4x12`");
    insta::assert_snapshot!(message("twisted-torus:2048x4096"), @"expected at most 8 short sides and 4194304 nodes, found `2048x4096`");
    insta::assert_snapshot!(message("groups:4"), @"expected groups and ranks of each, as in `groups:16x8`, found `4`");
    insta::assert_snapshot!(message("groups:4x4,inside=0"), @"inside: expected a bandwidth from 0.000001 to 1000000, where links across groups have 1, found `0`");
}

const SWITCHED: &str = "
    dragonfly:5x2x3 dragonfly:9x4x1 dragonfly:1x4x2 hyperx:4x3x2,nodes=2 slim-fly:5,nodes=2
    slim-fly:7 fat-tree:3x3 fat-tree:2x5 fat-tree:6x1 groups:3x4,inside=9,inside_hop=0.5
";

fn links(network: &Network, from: u64, to: u64) -> Vec<u64> {
    let mut links = crossed(network, from, to, None).unwrap();
    links.sort_unstable();
    links
}

/// Each permutation of the coordinates of one axis that `image_of_node` accepts maps routes to
/// routes, and links to links of the same bandwidth and latency.
#[test]
fn accepted_permutations_map_routes_to_routes() {
    let mut moved_axes = 0;
    for spec in small().chain(SWITCHED.split_whitespace()) {
        let network = topology(spec);
        let network = network.as_ref();
        let Some(automorphisms) = network.automorphisms() else { continue };
        let (axes, radices) = (automorphisms.axes(), network.radices());
        assert_eq!(axes.len(), radices.len(), "{spec}");
        for ((axis, symmetry), &radix) in axes.iter().enumerate().zip(radices) {
            let rotated = |at: u64| (at + 1) % radix;
            let exchanged = |at: u64| if at < 2 { 1 - at } else { at };
            let permutations: [(&dyn Fn(u64) -> u64, _); 2] = [
                (&rotated, *symmetry != AxisSymmetry::Fixed),
                (
                    &exchanged,
                    *symmetry == AxisSymmetry::Permutations
                        || radix == 2 && *symmetry == AxisSymmetry::Rotations,
                ),
            ];
            for (permutation, is_known) in permutations.into_iter().filter(|_| radix > 1) {
                let image = |of: usize, at: u64| if of == axis { permutation(at) } else { at };
                let node = |node: u64| image_of_node(radices, node, &image);
                let found = CoordinatePermutation::of(network, &node);
                assert_eq!(found.is_some(), is_known, "{spec}, axis {axis}");
                let Some(found) = found else { continue };
                moved_axes += 1;
                let link = |link: u64| automorphisms.image_of_link(link, &image);
                for (from, to) in pairs(network.nodes()) {
                    let mut images: Vec<u64> =
                        links(network, from, to).into_iter().map(link).collect();
                    images.sort_unstable();
                    assert_eq!(images, links(network, node(from), node(to)), "{spec} {axis}");
                }
                let orbits = Orbits::of_links(network, &[found]);
                let mut in_orbits = 0;
                for own in (0..network.link_slots()).filter(|l| network.link_ends(*l).is_some()) {
                    let to = link(own);
                    assert_eq!(orbits.orbit(own), orbits.orbit(to), "{spec} {axis}");
                    if let Some((from, port)) = automorphisms.port(own) {
                        assert_eq!(network.link_ends(own).unwrap().0, from, "{spec}");
                        assert!(port < network.link_slots() / network.nodes(), "{spec}");
                        assert_eq!(
                            automorphisms.port(to),
                            Some((node(from), port)),
                            "{spec} {axis}"
                        );
                    }
                    let speed = |link| (network.bandwidth(link), network.latency(link));
                    assert_eq!(speed(own), speed(to), "{spec} {axis}");
                    in_orbits += u64::from(orbits.first(orbits.orbit(own)) == own)
                        * orbits.size(orbits.orbit(own));
                }
                let exist = |l: &u64| network.link_ends(*l).is_some();
                assert_eq!(in_orbits, (0..network.link_slots()).filter(exist).count() as u64);
            }
        }
    }
    assert!(moved_axes > 60, "{moved_axes}");
}

/// The last value of each row is the order of the largest subgroup of the given symmetries that
/// consists of automorphisms, found by hand.
#[test]
fn shifts_that_carry_are_no_automorphisms() {
    use Symmetry::{Fixed, Shift, Xor};
    for (spec, radices, symmetries, order) in [
        // A shift of ranks by a multiple of a group's size does not carry into another axis.
        ("dragonfly:5x2x3", &[30][..], &[Shift(1)][..], 5),
        ("dragonfly:5x2x3", &[5, 2, 3], &[Shift(1), Shift(1), Shift(1)], 15),
        ("dragonfly:4x2x2", &[16], &[Xor(1)], 2),
        ("fat-tree:3x3", &[27], &[Shift(1)], 3),
        ("fat-tree:4x2", &[16], &[Xor(1)], 16),
        ("hyperx:4x3,nodes=2", &[24], &[Shift(1)], 4),
        ("hyperx:4x4", &[16], &[Xor(2)], 8),
        ("slim-fly:5", &[50], &[Shift(1)], 1),
        ("slim-fly:5", &[10, 5], &[Fixed, Shift(1)], 5),
        ("slim-fly:4", &[32], &[Xor(1)], 1),
        ("groups:3x4,inside=9", &[12], &[Shift(2)], 3),
        ("fully-connected:6", &[6], &[Shift(2)], 3),
        ("jellyfish:8x3x2", &[8, 2], &[Shift(1), Shift(1)], 2),
        ("torus:4x6", &[24], &[Shift(1)], 4),
        ("mesh:4x6", &[24], &[Shift(6)], 1),
        ("rdn:1(hypercube:2)", &[2, 4, 4], &[Xor(1), Xor(1), Xor(1)], 2),
        ("dragonfly:5x2x3,place=random:1", &[30], &[Shift(6)], 1),
        ("dragonfly:5x2x3,routing=valiant", &[30], &[Shift(6)], 1),
        ("dragonfly:5x2x3,slow=0-30:0.5", &[30], &[Shift(6)], 1),
    ] {
        let (network, group) = (topology(spec), Group::new(radices, symmetries).unwrap());
        let is_known = |generator| {
            CoordinatePermutation::of(network.as_ref(), &|node| group.moved(node, generator))
                .is_some()
        };
        assert_eq!(group.subgroup(is_known).order(), order, "{spec} {symmetries:?}");
    }
}

fn links_without(net: &Network, down: &BTreeSet<(u64, u64)>) -> Vec<(u64, u64, u64)> {
    let all = (0..net.link_slots()).filter_map(|link| Some((link, net.link_ends(link)?)));
    let all = all.map(|(link, (from, to))| (link, from, to));
    all.filter(|(_, from, to)| !down.contains(&(*from, *to))).collect()
}

fn hops_to(links: &[(u64, u64, u64)], vertices: u64, to: u64) -> Vec<u64> {
    let mut before = vec![Vec::new(); vertices as usize];
    links.iter().for_each(|(_, from, end)| before[*end as usize].push(*from));
    let mut hops = vec![u64::MAX; vertices as usize];
    hops[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(at) = queue.pop_front() {
        for &from in &before[at as usize] {
            if hops[from as usize] == u64::MAX {
                hops[from as usize] = hops[at as usize] + 1;
                queue.push_back(from);
            }
        }
    }
    hops
}

fn listed(arguments: &str, key: &str) -> BTreeSet<(u64, u64)> {
    let mut pairs = BTreeSet::new();
    let lists = arguments.split(',').filter_map(|arg| arg.strip_prefix(key)?.strip_prefix('='));
    for item in lists.flat_map(|list| list.split('+')) {
        let link = item.split(':').next().unwrap();
        let (from, to) = link.split_once(['-', '~']).unwrap();
        let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
        pairs.insert((from, to));
        if link.contains('-') {
            pairs.insert((to, from));
        }
    }
    pairs
}

/// If the intact route has a failed link, the route is the path of a naive breadth-first search: of
/// the links that lead nearer to the receiver, each vertex uses the one with the lowest number.
#[test]
fn routes_avoid_failed_links_on_shortest_paths() {
    let mut tested = 0;
    for spec in small().filter(|spec| !spec.contains("place=")) {
        let intact = topology(spec);
        let (nodes, vertices) = (intact.nodes(), intact.nodes() + intact.switches());
        // In a tree, every failed link disconnects a node, so trees with failed links are refused.
        for faults in [1, 2, 4] {
            let Ok(net) = parse(&format!("{spec},faults={faults}:{}", spec.len())) else {
                continue;
            };
            let drawn = net.damage().unwrap().drawn();
            let down = listed(drawn, "down");
            assert_eq!(down.len(), 2 * faults, "{spec}: {drawn}");
            let links = links_without(intact.as_ref(), &down);
            let left: BTreeSet<u64> = links.iter().map(|(number, ..)| *number).collect();
            let hops: Vec<Vec<u64>> = (0..nodes).map(|to| hops_to(&links, vertices, to)).collect();
            let mut links_of = vec![Vec::new(); vertices as usize];
            links.iter().for_each(|link| links_of[link.1 as usize].push(link));
            for (from, to) in pairs(nodes) {
                let own = crossed(intact.as_ref(), from, to, None).unwrap();
                let found = crossed(net.as_ref(), from, to, None).unwrap();
                if own.iter().all(|link| left.contains(link)) {
                    assert_eq!(own, found, "{spec},{drawn} from {from} to {to}");
                    continue;
                }
                let (mut at, mut expected) = (from, Vec::new());
                while at != to {
                    let nearer = links_of[at as usize].iter().find(|(_, _, enters)| {
                        hops[to as usize][*enters as usize] < hops[to as usize][at as usize]
                    });
                    expected.push(nearer.unwrap().0);
                    at = nearer.unwrap().2;
                }
                assert_eq!(expected, found, "{spec},{drawn} from {from} to {to}");
                tested += 1;
            }
            let all = || hops.iter().map(|hops| &hops[..nodes as usize]);
            let farthest = |hops: &[u64]| hops.iter().copied().max().unwrap();
            assert_eq!(net.diameter(), all().map(farthest).max().unwrap(), "{spec},{drawn}");
            let sum: u64 = all().flatten().sum();
            assert_eq!(net.hops_of_all_pairs(), Some(sum.into()), "{spec},{drawn}");
            assert_eq!(net.max_links(), links.len() as u64);
            assert_eq!(links_without(net.as_ref(), &BTreeSet::new()), links);
            for node in 0..nodes {
                let out = links.iter().filter(|(_, from, _)| *from == node).count() as u64;
                assert_eq!(net.links_from(node), Some(out), "{spec},{drawn}: {node}");
                assert_eq!(net.eccentricity(node), farthest(all().nth(node as usize).unwrap()));
            }
        }
    }
    assert!(tested > 2000, "{tested}");
}

#[test]
fn a_failed_link_of_a_ring_turns_messages_around() {
    let ring = topology("ring:8,down=1-0");
    assert_eq!(ring.spec(), "ring:8,down=0-1");
    assert_eq!(nodes_passed(ring.as_ref(), 0, 1, None).unwrap(), [0, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(nodes_passed(ring.as_ref(), 7, 2, None).unwrap(), [7, 6, 5, 4, 3, 2]);
    assert_eq!(nodes_passed(ring.as_ref(), 1, 3, None).unwrap(), [1, 2, 3]);
    assert_eq!((ring.diameter(), ring.kind(), ring.degree()), (7, "ring", None));
    // The requested route from 0 to 4 leads in the plus direction, but its first link has failed.
    let forth = signs(&[1]);
    assert_eq!(nodes_passed(ring.as_ref(), 0, 4, Some(&forth)).unwrap(), [0, 7, 6, 5, 4]);
    assert_eq!(nodes_passed(ring.as_ref(), 1, 4, Some(&forth)).unwrap(), [1, 2, 3, 4]);
    assert_eq!(nodes_passed(ring.as_ref(), 1, 7, Some(&path(&[0, 7]))).unwrap()[1], 2);
}

#[test]
fn a_one_way_failure_affects_one_direction() {
    let ring = topology("ring:6,down=0~1");
    assert_eq!(nodes_passed(ring.as_ref(), 0, 1, None).unwrap(), [0, 5, 4, 3, 2, 1]);
    assert_eq!(nodes_passed(ring.as_ref(), 1, 0, None).unwrap(), [1, 0]);
    assert_eq!((ring.links_from(0), ring.degree(), ring.eccentricity(0)), (None, None, 3));
    assert_eq!((ring.diameter(), ring.max_links()), (5, 11));
    assert_eq!(topology("ring:6,down=0~1+1~0").spec(), "ring:6,down=0-1");
}

#[test]
fn a_failed_trunk_is_all_of_its_parallel_links() {
    let racks = "switch 4 5 6\n0 4\n1 4\n2 5\n3 5\n4 5 x3\n4 6\n5 6\n";
    let net = parse_with("graph:racks,down=4-5", &|_| Ok(racks.to_owned())).unwrap();
    assert_eq!(nodes_passed(net.as_ref(), 0, 2, None).unwrap(), [0, 4, 6, 5, 2]);
    assert_eq!(net.max_links(), 2 * 6);
    assert_eq!(topology("torus:2x3,down=0-3").max_links(), 24 - 4, "a side of two has two links");
}

#[test]
fn slow_links_have_a_fraction_of_their_bandwidth() {
    let net = topology("groups:2x2,inside=4,slow=0-4:0.5+6~2:0.25");
    let of = |from, to| net.bandwidth(link_between(&net, from, to).unwrap().first);
    assert_eq!([of(0, 4), of(4, 0), of(1, 4)], [2.0, 2.0, 4.0]);
    assert_eq!([of(6, 2), of(2, 6)], [0.25, 1.0]);
    assert_eq!((net.bandwidths(), net.diameter()), (Some((0.25, 4.0)), 2));
    assert_eq!(net.spec(), "groups:2x2,inside=4,slow=0-4:0.5+6~2:0.25");
    assert_eq!(topology("ring:5,slow=0-1:1").bandwidths(), None);
}

#[test]
fn samples_depend_only_on_the_seed() {
    for (random, fixed) in [
        ("torus:4x4,faults=3", "torus:4x4,faults=3:SEED"),
        ("hyperx:3x3,nodes=2,slow-links=4:0.5", "hyperx:3x3,nodes=2,slow-links=4:0.5:SEED"),
        ("torus:4x4,place=random", "torus:4x4,place=random:SEED"),
        ("mesh:3x3,ranks=2,place=random", "mesh:3x3,ranks=2,place=random:SEED"),
        ("torus:4x4,faults=2,place=random", "torus:4x4,faults=2:SEED,place=random:SEED"),
        ("torus:4x4,faults=2,ranks=2", "torus:4x4,faults=2:SEED,ranks=2"),
        ("torus:4x4,faults=2,routing=ecmp", "torus:4x4,faults=2:SEED,routing=ecmp"),
    ] {
        let ends = |net: &Network| {
            (0..net.link_slots()).map(|link| net.link_ends(link)).collect::<Vec<_>>()
        };
        let mut patterns = Vec::new();
        for seed in [1, 3, 77] {
            let (drawn, given) =
                (topology(random).sample(seed).unwrap(), fixed.replace("SEED", &seed.to_string()));
            let given = topology(&given);
            assert_eq!(drawn.spec(), random);
            let text = |net: &Network| net.damage().map(|damage| damage.drawn().to_owned());
            assert_eq!(text(drawn.as_ref()), text(given.as_ref()), "{random}");
            assert_eq!(ends(drawn.as_ref()), ends(given.as_ref()), "{random}");
            assert_eq!(drawn.diameter(), given.diameter(), "{random}");
            let node = |net: &Network| {
                (0..net.nodes()).map(|rank| net.physical_node(rank)).collect::<Vec<_>>()
            };
            assert_eq!(node(drawn.as_ref()), node(given.as_ref()), "{random}");
            patterns.push((text(drawn.as_ref()), ends(drawn.as_ref()), node(drawn.as_ref())));
            assert!(random.contains("ecmp") || given.sample(seed).is_none(), "{random}");
            assert!(is_random(random) && is_random(&given.spec()) == given.sample(seed).is_some());
        }
        assert!(patterns[0] != patterns[1] && patterns[1] != patterns[2], "{random}: {patterns:?}");
    }
}

/// The links that fail with `faults=K` also fail with `faults=K+1`. With the largest permitted
/// number, the remaining links form a tree.
#[test]
fn more_faults_include_fewer_and_never_disconnect() {
    let mut before = BTreeSet::new();
    for count in 0..=10 {
        let net = topology(&format!("torus:3x3,faults={count}:5"));
        let down = listed(net.damage().unwrap().drawn(), "down");
        assert!(down.is_superset(&before) && down.len() == 2 * count);
        let links = links_without(topology("torus:3x3").as_ref(), &down);
        assert!(hops_to(&links, 9, 0).iter().all(|hops| *hops < 9));
        before = down;
    }
    for seed in 0..20 {
        let net = topology(&format!("hyperx:3,nodes=2,faults=1:{seed}"));
        let drawn = listed(net.damage().unwrap().drawn(), "down");
        assert!(drawn.iter().all(|(a, b)| *a >= 6 && *b >= 6), "{drawn:?}");
    }
    let net = topology("ring:5,down=0-1,slow=1-2:0.5,slow-links=3:0.25:9");
    assert_eq!(net.damage().unwrap().drawn(), "slow=0-4:0.25+2-3:0.25+3-4:0.25");
}

#[test]
fn arguments_in_any_order_have_one_canonical_form() {
    let spec = |text: &str| topology(text).spec();
    assert_eq!(
        spec("torus:4x4,routing=minimal,ranks=2,slow=5-4:0.50,down=3-2+1~0+0-4"),
        "torus:4x4,down=0-4+1~0+2-3,slow=4-5:0.5,ranks=2"
    );
    assert_eq!(
        spec("torus:4x4,slow-links=01:0.50:07,faults=02,place=random"),
        "torus:4x4,faults=2,slow-links=1:0.5:7,place=random"
    );
}

#[test]
fn invalid_links_are_explained() {
    insta::assert_snapshot!(reason("torus:4x4,down=0-1+0-5"), @"down: torus:4x4 has no link from 0 to 5; `swapmeet list topologies --describe torus:4x4` lists the links [0-5]");
    insta::assert_snapshot!(reason("fat-tree:2x2,slow=0-99:0.5"), @"slow: fat-tree:2x2 has no link from 0 to 99; `swapmeet list topologies --describe fat-tree:2x2` lists the links [0-99]");
    insta::assert_snapshot!(reason("ring:8,down=3-4+0-7"), @"down: node 4 is cut off from node 0: no path is left from node 0 to node 4 [3-4+0-7]");
    insta::assert_snapshot!(reason("ring:5,down=0-4+0-1"), @"down: node 0 is cut off from node 1: no path is left from node 0 to node 1 [0-4+0-1]");
    insta::assert_snapshot!(reason("fat-tree:2x2,down=4~1"), @"down: node 1 is cut off from node 0: no path is left from node 0 to node 1 [4~1]");
    insta::assert_snapshot!(reason("fat-tree:2x2,down=1~4"), @"down: node 1 is cut off from node 0: no path is left from node 1 to node 0 [1~4]");
    insta::assert_snapshot!(reason("ring:8,down=3"), @"down: expected links as in `3-4+7-8` (`3~4`: only the direction from 3 to 4), found `3` [3]");
    for value in ["0-1", "0-1:0", "0-1:1.5", "0-1:nan", "0-1:-1"] {
        assert_eq!(
            reason(&format!("ring:8,slow={value}")),
            format!(
                "slow: expected links and the fraction of the bandwidth that is left, as in `3-4:0.5+7-8:0.1`, found `{value}` [{value}]"
            )
        );
    }
    insta::assert_snapshot!(reason("ring:8,down=0-1,slow=1-0:0.5"), @"slow: the link 1-0:0.5 is also listed in `down=` [1-0:0.5]");
    insta::assert_snapshot!(reason("ring:8,faults=2"), @"faults: expected K or K:SEED, where at most 1 of the 8 links fail so that all vertices stay connected, found `2` [2]");
    for value in ["x", "1:y", ":1"] {
        assert_eq!(
            reason(&format!("ring:8,faults={value}")),
            format!(
                "faults: expected K or K:SEED, where at most 1 of the 8 links fail so that all vertices stay connected, found `{value}` [{value}]"
            )
        );
    }
    insta::assert_snapshot!(reason("ring:8,slow-links=9:0.5"), @"slow-links: expected K:FRACTION or K:FRACTION:SEED with at most 8 links and a fraction above 0 and up to 1, as in `2:0.5`, found `9:0.5` [9:0.5]");
    insta::assert_snapshot!(reason("torus:100x100,down=0-1"), @"down: expected a network of at most 8192 vertices and 4194304 links to find routes around failed links, found `0-1` [0-1]");
    insta::assert_snapshot!(reason("torus:4x4,down=0-1,place=fold:16"), @"place: expected a network without failed and slow links to fold a shape into, found `fold:16` [fold:16]");
    insta::assert_snapshot!(reason("ring:8,slow=0-1:0.5,routing=ecmp"), @"routing: expected minimal: other routings need links of equal bandwidth and latency, found `ecmp` [ecmp]");
}

#[test]
fn ecmp_divides_messages_among_the_paths_that_are_left() {
    let net = topology("torus:3x3,down=0-1,routing=ecmp");
    for seed in 0..10 {
        let drawn = net.sample(seed).unwrap();
        assert_eq!(nodes_passed(drawn.as_ref(), 0, 1, None).unwrap(), [0, 2, 1]);
    }
    // Two paths of two hops lead from 0 to 4, but a link of the path over node 1 has failed.
    let mut loads = std::collections::BTreeMap::new();
    net.random_routing().unwrap().expected(&mut [(0, 4, 8)].into_iter(), &mut |link, _, load| {
        loads.insert(net.link_ends(link).unwrap(), load);
    });
    assert_eq!(loads.into_iter().collect::<Vec<_>>(), [((0, 3), 8.0), ((3, 4), 8.0)]);
}

/// Expected hops and loads are those of a naive breadth-first search: each vertex divides a message
/// equally among the links that lead nearer to the receiver.
#[test]
fn ecmp_on_dragonflies_has_the_hops_and_loads_of_a_naive_search() {
    let (mut shorter, mut divided) = (0, 0);
    for spec in
        ["dragonfly:3x2x2", "dragonfly:5x4x1", "dragonfly:4x3x2,down=24-25", "dragonfly:6x3x1"]
    {
        let (net, own) = (topology(&format!("{spec},routing=ecmp")), topology(spec));
        let routing = net.random_routing().unwrap();
        let links = links_without(own.as_ref(), &BTreeSet::new());
        let vertices = own.nodes() + own.switches();
        for to in 0..own.nodes() {
            let hops = hops_to(&links, vertices, to);
            for from in (0..own.nodes()).filter(|from| *from != to) {
                let nearest = hops[from as usize];
                assert_eq!(routing.expected_hops(from, to), nearest as f64, "{spec}: {from}-{to}");
                shorter += u64::from(own.route(from, to, None, &mut |_| {}).unwrap() > nearest);
                let (mut share, mut expected) = (vec![0.0; vertices as usize], BTreeMap::new());
                share[from as usize] = 1.0;
                for distance in (1..=nearest).rev() {
                    for at in (0..vertices as usize).filter(|at| hops[*at] == distance) {
                        let nearer = |end: &u64| hops[*end as usize] + 1 == distance;
                        let next = || {
                            let own = links.iter().filter(|(_, leaves, _)| *leaves == at as u64);
                            own.filter(|(.., end)| nearer(end))
                        };
                        let each = share[at] / next().count() as f64;
                        for (link, _, end) in next().filter(|_| each > 0.0) {
                            expected.insert(*link, each);
                            share[*end as usize] += each;
                        }
                    }
                }
                divided += u64::from(expected.values().any(|share| *share < 1.0));
                let mut found = BTreeMap::new();
                let mut message = [(from, to, 8)].into_iter();
                routing.expected(&mut message, &mut |link, messages, load| {
                    assert_eq!(load, 8.0 * messages);
                    *found.entry(link).or_default() += messages;
                });
                assert_eq!(found, expected, "{spec}: {from}-{to}");
            }
        }
    }
    assert!(shorter > 0 && divided > 0, "{shorter} shorter paths, {divided} divided messages");
}

#[test]
fn the_smallest_cut_counts_the_weaker_direction() {
    use crate::network::survey::Survey;
    let links = |spec: &str| Survey::of(topology(spec).as_ref()).bisection.unwrap().0;
    assert_eq!(links("ring:6"), 2);
    for one_way in ["ring:6,down=0~1", "ring:6,down=1~0", "ring:6,down=5~4", "ring:7,down=5~4"] {
        assert_eq!(links(one_way), 1, "{one_way}");
    }
}

#[test]
fn failed_orbits_of_links_are_invariant() {
    let by_row = |node: u64| node / 4 * 4 + (node + 1) % 4;
    let invariant = |spec: &str| topology(spec).damage_is_invariant(&by_row);
    assert!(invariant("torus:4x4") && invariant("torus:4x4,faults=0"));
    assert!(invariant("torus:4x4,down=0-4+1-5+2-6+3-7"));
    assert!(invariant("torus:4x4,slow=0-4:0.5+1-5:0.5+2-6:0.5+3-7:0.5"));
    assert!(!invariant("torus:4x4,slow=0-4:0.5+1-5:0.5+2-6:0.5+3-7:0.25"));
    assert!(!invariant("torus:4x4,down=0-4"));
    assert!(!invariant("hyperx:4x4,down=16-17"), "a permutation of nodes does not move switches");
    // Rank r is on node 15 - r, so a shift of the ranks is a shift of the nodes in the other
    // direction.
    let reversed = |spec: &str| {
        let order = (0..16).rev().map(|node| node.to_string()).collect::<Vec<_>>().join("\n");
        parse_with(&format!("{spec},place=file:p"), &|_| Ok(order.clone())).unwrap()
    };
    assert!(reversed("torus:4x4,down=0-4+1-5+2-6+3-7").damage_is_invariant(&by_row));
    assert!(!reversed("torus:4x4,down=0-4").damage_is_invariant(&by_row));
}

/// The reported bridges are those that a naive search finds. With symmetry, each reported link
/// represents its orbit.
#[test]
fn single_faults_are_all_links_and_know_bridges() {
    for spec in
        ["mesh:5", "mesh:2x3", "fat-tree:2x2", "hyperx:3,nodes=2", "ring:5,down=0-1", "groups:2x2"]
    {
        let net = topology(spec);
        let vertices = net.nodes() + net.switches();
        let faults = single_faults(net.as_ref(), false).unwrap();
        assert_eq!(2 * faults.len(), links_without(net.as_ref(), &BTreeSet::new()).len());
        for SingleFault { ends: (a, b), disconnects, .. } in faults {
            let links = links_without(net.as_ref(), &BTreeSet::from([(a, b), (b, a)]));
            let hops = hops_to(&links, vertices, 0);
            let is_cut = hops[..net.nodes() as usize].contains(&u64::MAX);
            assert_eq!(disconnects, is_cut, "{spec}: {a}-{b}");
        }
    }
    for (spec, orbits, links) in [
        ("torus:4x8", 2, 64),
        ("torus:2x3x5", 3, 15 + 30 + 30),
        ("hypercube:4", 4, 32),
        ("fully-connected:6", 1, 15),
        ("ring:7", 1, 7),
        ("mesh:3x3", 12, 12),
        ("torus:4x4,place=random:1", 2, 32),
    ] {
        let faults = single_faults(topology(spec).as_ref(), true).unwrap();
        let images: u64 = faults.iter().map(|fault| fault.images).sum();
        assert_eq!((faults.len(), images), (orbits, links), "{spec}");
    }
}

fn with_file(spec: &str, content: &str) -> Result<Arc<Network>, SpecError> {
    parse_with(spec, &|_| Ok(content.to_owned()))
}

#[test]
fn ranks_along_hilberts_curve_are_neighbours() {
    for spec in ["mesh:2x2", "mesh:8x8", "mesh:4x4x4", "mesh:2x2x2x2", "mesh:16", "mesh:1x1"] {
        let net = topology(&format!("{spec},place=hilbert"));
        for rank in 1..net.nodes() {
            assert_eq!(net.route(rank - 1, rank, None, &mut |_| {}), Ok(1), "{spec}: {rank}");
        }
    }
}

#[test]
fn routes_between_placed_ranks_are_those_of_their_nodes() {
    let ring = topology("ring:5");
    let placed = with_file("ring:5,place=file:p", "3 1 # two\n4, 0\n2").unwrap();
    assert_eq!(placed.spec(), "ring:5,place=file:p");
    let node = [3, 1, 4, 0, 2];
    for (from, to) in pairs(5) {
        let own = runs(ring.as_ref(), node[from as usize], node[to as usize], None);
        assert_eq!(runs(placed.as_ref(), from, to, None), own);
    }
    assert_eq!(nodes_passed(placed.as_ref(), 3, 0, Some(&path(&[2, 0]))), Ok(vec![3, 2, 0]));
    let error = runs(placed.as_ref(), 3, 0, Some(&path(&[0]))).unwrap_err().to_string();
    assert_eq!(error, "ring:5,place=file:p has no link from node 3 to node 0");
}

#[test]
fn invalid_placements_are_explained() {
    insta::assert_snapshot!(reason("ring:4,place=here"), @"place: expected block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE, found `here` [here]");
    insta::assert_snapshot!(reason("ring:4,place=random:x"), @"place: expected block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE, found `random:x` [random:x]");
    insta::assert_snapshot!(reason("mesh:4x8,place=hilbert"), @"place: expected block, cyclic, random, random:SEED or file:FILE: hilbert is for sides that are all the same power of two, found `hilbert` [hilbert]");
    assert!(reason("rdn:1(ring:3,place=random:1)").contains("one argument too many"));
    insta::assert_snapshot!(reason("torus:4x0,place=random:1"), @"dimension 2 is 0, expected a whole number from 1 on [0]");
    let listed = |content: &str| with_file("ring:3,place=file:p", content).unwrap_err().message;
    insta::assert_snapshot!(listed("0 1"), @"p: 2 nodes, expected one for each of 3 ranks");
    insta::assert_snapshot!(listed("0 1\n1"), @"p: line 2: node 1 is listed twice, expected one rank per node");
    insta::assert_snapshot!(listed("0 3"), @"p: line 1: `3` is not a node, expected a number from 0 to 2");
}

fn physical_nodes(spec: &str) -> Vec<u64> {
    let net = topology(spec);
    (0..net.nodes()).map(|rank| net.physical_node(rank)).collect()
}

#[test]
fn ranks_are_placed_in_blocks_or_cyclically() {
    assert_eq!(physical_nodes("ring:3,ranks=2"), [0, 0, 1, 1, 2, 2]);
    assert_eq!(physical_nodes("ring:3,ranks=2,place=cyclic"), [0, 1, 2, 0, 1, 2]);
    let mut drawn = physical_nodes("mesh:2x2,ranks=3,place=random:4");
    assert_ne!(drawn, physical_nodes("mesh:2x2,ranks=3"));
    drawn.sort_unstable();
    assert_eq!(drawn, physical_nodes("mesh:2x2,ranks=3"), "as many ranks each");
    // Hilbert's curve visits the nodes in the order 0, 1, 3, 2 or a mirror image of it, so each two
    // successive nodes on it are neighbours.
    let along = physical_nodes("mesh:2x2,ranks=2,place=hilbert");
    assert!(
        along.chunks(2).all(|pair| pair[0] == pair[1]) && along[2] ^ along[4] != 3,
        "{along:?}"
    );
}

#[test]
fn default_arguments_are_omitted_from_specs() {
    let spec = |spec: &str| topology(spec).spec();
    for usual in [
        "ring:4,ranks=1",
        "ring:4,place=block",
        "ring:4,ranks=1,place=cyclic",
        "ring:4,place=cyclic",
    ] {
        assert_eq!(spec(usual), "ring:4");
    }
    assert_eq!(spec("ring:4,ranks=02,place=block"), "ring:4,ranks=2");
    assert_eq!(spec("ring:4,place=random:07,ranks=2"), "ring:4,ranks=2,place=random:7");
    assert_eq!(spec("hyperx:2x2,nodes=3,ranks=2"), "hyperx:2x2,nodes=3,ranks=2");
}

#[test]
fn routes_between_ranks_are_routes_between_their_nodes() {
    let (ring, shared) = (topology("ring:5"), topology("ring:5,ranks=3,place=cyclic"));
    assert_eq!((shared.kind(), shared.nodes(), shared.radices()), ("ranks", 15, &[3, 5][..]));
    for (from, to) in pairs(15) {
        assert_eq!(
            runs(shared.as_ref(), from, to, None),
            runs(ring.as_ref(), from % 5, to % 5, None)
        );
    }
    let sum =
        |rank| (0..15).map(|to| shared.route(rank, to, None, &mut |_| {}).unwrap()).sum::<u64>();
    assert_eq!(shared.distance_sum(), Some(sum(0)));
    assert_eq!(shared.hops_of_all_pairs(), Some((0..15).map(|rank| u128::from(sum(rank))).sum()));
    assert_eq!(
        Survey::of(shared.as_ref()),
        Survey::of(ring.as_ref()),
        "the network is that of the nodes"
    );
}

#[test]
fn invalid_ranks_are_explained() {
    let expected =
        "ranks: expected the number of ranks of each node, a whole number from 1 on, found `0` [0]";
    assert_eq!(reason("ring:4,ranks=0"), expected);
    assert_eq!(reason("ring:4,ranks=x,place=block"), expected.replace('0', "x"));
    insta::assert_snapshot!(reason("ring:4,ranks=9999999999"), @"ranks: expected a network of at most 16777216 ranks to place ranks on, found `9999999999` [9999999999]");
    assert!(reason("rdn:1(ring:3,ranks=2)").contains("one argument too many"));
    let listed = |content: &str| {
        parse_with("ring:2,ranks=2,place=file:p", &|_| Ok(content.to_owned()))
            .map(|_| ())
            .unwrap_err()
            .message
    };
    insta::assert_snapshot!(listed("0 1 0"), @"p: 3 nodes, expected one for each of 4 ranks");
    insta::assert_snapshot!(listed("0 0\n0 1"), @"p: line 2: node 0 is listed 3 times, expected 2 ranks per node");
}

fn expected(spec: &str, messages: &[(u64, u64)]) -> HashMap<(u64, u64), f64> {
    let net = topology(spec);
    let mut on = HashMap::new();
    let mut messages = messages.iter().map(|(from, to)| (*from, *to, 10));
    net.random_routing().unwrap().expected(&mut messages, &mut |link, messages, load| {
        assert!((load - 10.0 * messages).abs() < 1e-9);
        *on.entry(net.link_ends(link).unwrap()).or_default() += messages;
    });
    on
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.max(1.0)
}

/// Valiant & Brebner: for any permutation of the nodes, each half of a route is a route between two
/// random nodes. It loads links of complete graphs by `1/n`, and links of hypercubes by 1/2.
#[test]
fn valiant_routing_loads_links_equally_for_any_permutation() {
    let shift: Vec<_> = (0..6).map(|node| (node, (node + 1) % 6)).collect();
    let on = expected("fully-connected:6,routing=valiant", &shift);
    assert!(on.len() == 30 && on.values().all(|messages| *messages == 2.0 / 6.0), "{on:?}");
    for flip in [0b1111, 0b0101, 0b1000] {
        let permuted: Vec<_> = (0..16).map(|node| (node, node ^ flip)).collect();
        let on = expected("hypercube:4,routing=valiant", &permuted);
        assert!(on.len() == 64 && on.values().all(|messages| *messages == 1.0), "{on:?}");
    }
    let net = topology("fully-connected:6,routing=valiant");
    assert_eq!(
        net.random_routing().unwrap().expected_hops(0, 3),
        2.0 * 5.0 / 6.0,
        "the sixth node is the sender, or the receiver"
    );
}

/// A message between two nodes of a router leaves the router, unless this router is drawn as
/// intermediate vertex. In this dragonfly of three groups of two routers, its probability is 1/6.
#[test]
fn intermediate_vertices_are_switches_if_there_are_any() {
    let net = topology("dragonfly:3x2x2,routing=valiant");
    let base = topology("dragonfly:3x2x2");
    let between = |router: u64| {
        base.route(0, 2 * router, None, &mut |_| {}).unwrap().saturating_sub(2) as f64
    };
    let mean: f64 = (0..6).map(|router| 2.0 * between(router)).sum::<f64>() / 6.0;
    assert!(close(net.random_routing().unwrap().expected_hops(0, 1), 2.0 + mean));
    assert!(close(
        expected("dragonfly:3x2x2,routing=valiant", &[(0, 1)]).values().sum(),
        2.0 + mean
    ));
}

#[test]
fn shortest_paths_share_messages_equally() {
    let on = expected("torus:4x4,routing=ecmp", &[(0, 5)]);
    assert_eq!(on, [((0, 1), 0.5), ((0, 4), 0.5), ((1, 5), 0.5), ((4, 5), 0.5)].into());
    assert_eq!(expected("ring:4,routing=ecmp", &[(0, 2)]).len(), 4);
    assert_eq!(expected("mesh:3x3,routing=ecmp", &[(0, 2)]), [((0, 1), 1.0), ((1, 2), 1.0)].into());
}

#[test]
fn ecmp_of_all_pairs_agrees_with_multipath_load() {
    for spec in [
        "torus:4x4",
        "mesh:3x4",
        "hypercube:3",
        "slim-fly:3",
        "dragonfly:4x3x1",
        "twisted-torus:2x4",
        "fat-tree:2x2",
    ] {
        let net = topology(spec);
        let all: Vec<_> = pairs(net.nodes()).collect();
        let on = expected(&format!("{spec},routing=ecmp"), &all);
        let busiest = on.values().copied().fold(0.0, f64::max);
        assert!(
            close(busiest, MultipathLoad::of_all_to_all(net.as_ref()).unwrap().max_load),
            "{spec}"
        );
    }
}

#[test]
fn random_routes_have_the_expected_mean_load() {
    const SEEDS: u64 = 600;
    for spec in [
        "torus:3x4,routing=ecmp",
        "torus:3x4,routing=valiant",
        "hyperx:3x3,nodes=2,routing=valiant",
        "ring:6,ranks=2,routing=valiant",
        "jellyfish:6x3x1,routing=ecmp",
    ] {
        let net = topology(spec);
        let (from, to) = (0, net.nodes() - 1);
        let mut found: HashMap<(u64, u64), f64> = HashMap::new();
        for seed in 0..SEEDS {
            let drawn = net.sample(seed).unwrap();
            let mut at = None;
            let hops = drawn.route(from, to, None, &mut |run| {
                for link in run.links() {
                    let ends = drawn.link_ends(link).unwrap();
                    // A run in the minus direction begins with its lowest link, which the route
                    // crosses last.
                    assert!(run.len > 1 || at.is_none_or(|at| at == ends.0), "{spec}");
                    at = if run.len > 1 { None } else { Some(ends.1) };
                    *found.entry(ends).or_default() += 1.0 / SEEDS as f64;
                }
            });
            assert_eq!(
                hops,
                drawn.route(from, to, None, &mut |_| {}),
                "{spec}: the same once more"
            );
        }
        let expected = expected(spec, &[(from, to)]);
        for (link, share) in &expected {
            let seen = found.get(link).copied().unwrap_or(0.0);
            assert!((seen - share).abs() < 0.1, "{spec}: {link:?} has {seen} and not {share}");
        }
        assert!(found.keys().all(|link| expected.contains_key(link)), "{spec}");
    }
}

#[test]
fn routing_is_the_last_argument_of_a_spec() {
    let spec = |spec: &str| topology(spec).spec();
    assert_eq!(spec("torus:4x4,routing=minimal"), "torus:4x4");
    assert_eq!(
        spec("ring:4,routing=ecmp,place=cyclic,ranks=2"),
        "ring:4,ranks=2,place=cyclic,routing=ecmp"
    );
    insta::assert_snapshot!(reason("ring:4,routing=fast"), @"routing: expected minimal, valiant or ecmp, found `fast` [fast]");
    insta::assert_snapshot!(reason("groups:2x4,inside=9,routing=ecmp"), @"routing: expected minimal: other routings need links of equal bandwidth and latency, found `ecmp` [ecmp]");
    insta::assert_snapshot!(reason("groups:2x4,routing=valiant"), @"routing: expected minimal: there is only one route between two ranks, found `valiant` [valiant]");
    insta::assert_snapshot!(reason("torus:100x100,routing=valiant"), @"routing: expected minimal: other routings are for networks of at most 8192 vertices and 4194304 links, found `valiant` [valiant]");
    assert!(reason("rdn:1(ring:3,routing=ecmp)").contains("one argument too many"));
}
