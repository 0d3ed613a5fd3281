//! Tests of the routes and sizes of each family, and of errors in requested routes and specs.

use super::*;

#[test]
fn routes_follow_the_row_first() {
    // In a 4 x 6 grid, node (row, column) is 6 row + column.
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
/// the number of nodes is `(2 n0)^(2^k) / 2`, the degree `d0 + k` and the diameter `2^k D0 +
/// 2^(k+1) - 2`. Their Table I has further sizes.
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
    // For the links of a smallest cut, Theorem 1 gives 313, 781,250, 1,062,882 and 8,192. From the
    // second level on, there are smaller cuts than these. In the paper's example, node (1, 1, 2) of
    // a dual-net with a base of 3 nodes has the number 14, and its cross-edge leads to (0, 2, 1).
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

/// The tree has 8 nodes. A route leads up as far as necessary, and then down to the destination. If
/// all nodes send at the same distance, no two messages share a link.
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
