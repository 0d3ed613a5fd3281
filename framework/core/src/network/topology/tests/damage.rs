//! Tests of networks with failed and slow links.

use super::*;
use std::collections::{BTreeMap, VecDeque};

/// Returns the links of a network, each as (number, from, to), except the links that lead from one
/// vertex of a pair in `down` to the other. This naive list shares no code with the routes of the
/// program.
fn links_without(net: &Network, down: &BTreeSet<(u64, u64)>) -> Vec<(u64, u64, u64)> {
    let all = (0..net.link_slots()).filter_map(|link| Some((link, net.link_ends(link)?)));
    let all = all.map(|(link, (from, to))| (link, from, to));
    all.filter(|(_, from, to)| !down.contains(&(*from, *to))).collect()
}

/// Returns the hops from every vertex to a destination, found by a naive breadth-first search.
fn hops_to(links: &[(u64, u64, u64)], vertices: u64, to: u64) -> Vec<u64> {
    let mut hops = vec![u64::MAX; vertices as usize];
    hops[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(at) = queue.pop_front() {
        for (_, from, _) in links.iter().filter(|(.., end)| *end == at) {
            if hops[*from as usize] == u64::MAX {
                hops[*from as usize] = hops[at as usize] + 1;
                queue.push_back(*from);
            }
        }
    }
    hops
}

/// Reads the pairs of vertices of the arguments `down=` and `slow=`.
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

/// In every family, the route is that of the intact network if no link of it has failed. Otherwise
/// it is the path that a naive breadth-first search finds, where each vertex uses, among its links
/// that lead nearer to the receiver, the link with the lowest number.
#[test]
fn routes_avoid_failed_links_on_shortest_paths() {
    let mut tested = 0;
    for spec in small().filter(|spec| !spec.contains("place=")) {
        let intact = topology(spec);
        let (nodes, vertices) = (intact.nodes(), intact.nodes() + intact.switches());
        // In a tree, every failed link cuts a node off, so the spec is refused.
        for faults in [1, 2, 4] {
            let Ok(net) = parse(&format!("{spec},faults={faults}:{}", spec.len())) else {
                continue;
            };
            let drawn = net.damage().unwrap().drawn();
            let down = listed(drawn, "down");
            assert_eq!(down.len(), 2 * faults, "{spec}: {drawn}");
            let links = links_without(intact.as_ref(), &down);
            let hops: Vec<Vec<u64>> = (0..nodes).map(|to| hops_to(&links, vertices, to)).collect();
            for (from, to) in pairs(nodes) {
                let own = crossed(intact.as_ref(), from, to, None).unwrap();
                let found = crossed(net.as_ref(), from, to, None).unwrap();
                let is_left = |link: &u64| links.iter().any(|(number, ..)| number == link);
                if own.iter().all(is_left) {
                    assert_eq!(own, found, "{spec},{drawn} from {from} to {to}");
                    continue;
                }
                let (mut at, mut expected) = (from, Vec::new());
                while at != to {
                    let nearer = links.iter().find(|(_, leaves, enters)| {
                        *leaves == at
                            && hops[to as usize][*enters as usize] < hops[to as usize][at as usize]
                    });
                    expected.push(nearer.unwrap().0);
                    at = nearer.unwrap().2;
                }
                assert_eq!(expected, found, "{spec},{drawn} from {from} to {to}");
                tested += 1;
            }
            // Compare the properties of the network with the distances of the same search.
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
    // The route from 0 to 4 in the positive direction is requested, but its first link has failed.
    let forth = signs(&[1]);
    assert_eq!(nodes_passed(ring.as_ref(), 0, 4, Some(&forth)).unwrap(), [0, 7, 6, 5, 4]);
    assert_eq!(nodes_passed(ring.as_ref(), 1, 4, Some(&forth)).unwrap(), [1, 2, 3, 4]);
    // A requested path over a failed link is replaced, too.
    assert_eq!(nodes_passed(ring.as_ref(), 1, 7, Some(&path(&[0, 7]))).unwrap()[1], 2);
}

#[test]
fn a_one_way_failure_affects_one_direction() {
    let ring = topology("ring:6,down=0~1");
    assert_eq!(nodes_passed(ring.as_ref(), 0, 1, None).unwrap(), [0, 5, 4, 3, 2, 1]);
    assert_eq!(nodes_passed(ring.as_ref(), 1, 0, None).unwrap(), [1, 0]);
    // Lower bounds need a number of links that holds in both directions. Node 0 has no such number.
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

/// The same seed selects the same links, whether a repetition of the case or the spec sets it.
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
            let host =
                |net: &Network| (0..net.nodes()).map(|rank| net.host(rank)).collect::<Vec<_>>();
            assert_eq!(host(drawn.as_ref()), host(given.as_ref()), "{random}");
            patterns.push((text(drawn.as_ref()), ends(drawn.as_ref()), host(drawn.as_ref())));
            assert!(random.contains("ecmp") || given.sample(seed).is_none(), "{random}");
            assert!(is_random(random) && is_random(&given.spec()) == given.sample(seed).is_some());
        }
        assert!(patterns[0] != patterns[1] && patterns[1] != patterns[2], "{random}: {patterns:?}");
    }
}

/// With the same seed, the links that fail for a count of K also fail for a count of K + 1. The
/// largest possible number of failed links leaves a spanning tree.
#[test]
fn more_faults_include_fewer_and_never_disconnect() {
    let mut before = BTreeSet::new();
    // A torus of 3 x 3 has 18 links, and a spanning tree of it has 8.
    for count in 0..=10 {
        let net = topology(&format!("torus:3x3,faults={count}:5"));
        let down = listed(net.damage().unwrap().drawn(), "down");
        assert!(down.is_superset(&before) && down.len() == 2 * count);
        let links = links_without(topology("torus:3x3").as_ref(), &down);
        assert!(hops_to(&links, 9, 0).iter().all(|hops| *hops < 9));
        before = down;
    }
    // Every drawn link is between two switches, because a failure of a node's only link would cut
    // the node off.
    for seed in 0..20 {
        let net = topology(&format!("hyperx:3,nodes=2,faults=1:{seed}"));
        let drawn = listed(net.damage().unwrap().drawn(), "down");
        assert!(drawn.iter().all(|(a, b)| *a >= 6 && *b >= 6), "{drawn:?}");
    }
    // The argument `slow-links=` draws only links that have not failed and are not yet slow.
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

/// With `routing=ecmp`, a message uses only shortest paths over the links that are left.
#[test]
fn ecmp_divides_messages_among_the_paths_that_are_left() {
    let net = topology("torus:3x3,down=0-1,routing=ecmp");
    // The paths 0-2-1, 0-3-4-1 etc. lead from 0 to 1. Only the first one has two hops.
    for seed in 0..10 {
        let drawn = net.sample(seed).unwrap();
        assert_eq!(nodes_passed(drawn.as_ref(), 0, 1, None).unwrap(), [0, 2, 1]);
    }
    // Two paths of two hops lead from 0 to 4, but the path over node 1 has failed.
    let mut loads = std::collections::BTreeMap::new();
    net.random_routing().unwrap().expected(&mut [(0, 4, 8)].into_iter(), &mut |link, _, load| {
        loads.insert(net.link_ends(link).unwrap(), load);
    });
    assert_eq!(loads.into_iter().collect::<Vec<_>>(), [((0, 3), 8.0), ((3, 4), 8.0)]);
}

/// On a dragonfly, the family's own route may take more hops than a shortest path. The expected
/// hops and loads of `routing=ecmp` are those of a naive breadth-first search: each vertex divides
/// the message equally among its links that lead nearer to the receiver.
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
                // Pass the message on, from the farthest vertices to the nearest ones.
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

/// A cut into halves has fewer links in the direction in which a link has failed.
#[test]
fn the_smallest_cut_counts_the_weaker_direction() {
    use crate::network::survey::Survey;
    let links = |spec: &str| Survey::of(topology(spec).as_ref()).bisection.unwrap().0;
    assert_eq!(links("ring:6"), 2);
    for one_way in ["ring:6,down=0~1", "ring:6,down=1~0", "ring:6,down=5~4", "ring:7,down=5~4"] {
        assert_eq!(links(one_way), 1, "{one_way}");
    }
}

/// In a torus, a shift along a dimension maps each line to itself, and all links of the line to
/// links of the same line.
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
    // Rank r is on node 15 - r, so the shift of ranks is a shift of nodes in the other direction.
    let reversed = |spec: &str| {
        let order = (0..16).rev().map(|node| node.to_string()).collect::<Vec<_>>().join("\n");
        parse_with(&format!("{spec},place=file:p"), &|_| Ok(order.clone())).unwrap()
    };
    assert!(reversed("torus:4x4,down=0-4+1-5+2-6+3-7").damage_is_invariant(&by_row));
    assert!(!reversed("torus:4x4,down=0-4").damage_is_invariant(&by_row));
}

/// A link disconnects ranks if a naive search finds a node without a path. With symmetry, one link
/// stands for all links of its orbit, and the orbits together contain all links.
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
