//! Tests of networks of switches and of twisted tori: sizes from the literature, and errors.

use super::*;
use crate::network::survey::Survey;

/// Returns the numbers of nodes and switches, and the diameter.
fn sizes(spec: &str) -> (u64, u64, u64) {
    let net = topology(spec);
    (net.nodes(), net.switches(), net.diameter())
}

/// Returns the mean distance between two different nodes, found by a search.
fn mean_hops(spec: &str) -> f64 {
    Survey::of(topology(spec).as_ref()).mean_hops.unwrap().0
}

/// Returns for each switch the number of its links to other switches.
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

/// A path of a requested route may lead over switches, except in a dual-net of clusters with
/// switches.
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

/// Kim et al.: a dragonfly has groups of a routers, each with p nodes and h global links. If `a =
/// 2p = 2h`, there are `a h + 1` groups; p = 2 gives 72 nodes and p = 4 gives 1,056. Routes have at
/// most three hops between routers, one of them global. There are 16 x 17 links between the two
/// halves of 33 groups.
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
    // Node 0 is at router 0 of group 0, whose global links lead to groups 1 and 2. The link to
    // group 8 is at router 3 of group 0. It leads to router 0 of group 8, whose nodes are 64 to 71.
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

/// Both directions of a link between groups join the same two groups, and there is one link between
/// every two groups.
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

/// Besta & Hoefler: for q = 4 w + d, there are 2 q^2 routers with (3 q - d) / 2 links, and at most
/// two hops between them. q = 19 gives 722 routers with 29 links and, with 15 nodes each, 10,830
/// nodes. q = 5 is the graph of Hoffman & Singleton: with degree 7, no graph of diameter 2 has more
/// than its 50 vertices.
#[test]
fn slim_flies_have_the_sizes_of_the_paper() {
    assert_eq!(sizes("slim-fly:19"), (722, 722, 2 + 2));
    assert_eq!(sizes("slim-fly:19,nodes=15"), (10_830, 722, 2 + 2));
    assert_eq!(sizes("slim-fly:5"), (50, 50, 2 + 2));
    for q in [3_i64, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19] {
        let d = if q % 4 == 3 { -1 } else { q % 4 };
        all_have(&format!("slim-fly:{q}"), ((3 * q - d) / 2) as u64);
    }
    // From a router, 7 routers are one hop away and 42 are two hops away. The links of the sender
    // and the receiver add two hops.
    assert_eq!(mean_hops("slim-fly:5"), (7.0 * 3.0 + 42.0 * 4.0) / 49.0);
}

/// Ahn et al.: a route has at most as many hops as there are dimensions. A switch has S - 1 links
/// in each dimension of size S. A cut into halves that divides a dimension of size S cuts `S^2 / 4`
/// links of each line.
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

/// There are 200 switches with 10 links each. From a switch, at most 10 other switches are one hop
/// away and at most 90 are two hops away. The remaining 99 are at least three hops away, so the
/// mean is at least 2.447. As Singla et al. show, random graphs are close to this bound.
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

/// Jouppi et al. give the gain of the twist for an all-to-all: 1.745 on 4x4x8 and 1.391 on 4x8x8.
/// It is the ratio of the largest link loads without and with the twist. In the untwisted torus,
/// the long ring has the largest load: with 8 nodes, a message has 2 hops on average, half of them
/// in each direction. In the twisted torus, all directions share all hops equally.
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
    // In 4x4x8, the closing link of node 0 in the minus direction of the first dimension leads to
    // coordinate 3 of this dimension, and also moves by half of the long side.
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
    insta::assert_snapshot!(message("dragonfly:9x4x2,nodes=3"), @"unknown key `nodes`, expected one of down, slow, faults, slow-links, ranks, place, routing");
    insta::assert_snapshot!(message("jellyfish:5x3x1"), @"expected fewer links per switch than switches, at least 2 if there are more than two switches, and an even number of link ends, found `5x3x1`");
    insta::assert_snapshot!(message("jellyfish:10x1x1"), @"expected fewer links per switch than switches, at least 2 if there are more than two switches, and an even number of link ends, found `10x1x1`");
    insta::assert_snapshot!(message("jellyfish:9000x4x1"), @"expected at most 8192 switches, found `9000x4x1`");
    insta::assert_snapshot!(message("twisted-torus:4x4x4"), @"expected sides of a and of 2a, at least one of each, with a of at least 2, as in `4x4x8`, found `4x4x4`");
    insta::assert_snapshot!(message("twisted-torus:4x4x12"), @"expected sides of a and of 2a, at least one of each, with a of at least 2, as in `4x4x8`, found `4x4x12`");
    insta::assert_snapshot!(message("twisted-torus:2048x4096"), @"expected at most 8 short sides and 4194304 nodes, found `2048x4096`");
    insta::assert_snapshot!(message("groups:4"), @"expected groups and ranks of each, as in `groups:16x8`, found `4`");
    insta::assert_snapshot!(message("groups:4x4,inside=0"), @"inside: expected a bandwidth from 0.000001 to 1000000, where links across groups have 1, found `0`");
}
