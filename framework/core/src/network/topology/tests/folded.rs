//! Tests of the Tofu network, and of logical tori that are folded into networks.

use super::*;

/// Returns the coordinates X, Y, Z, A, B, C of a node. Nodes are numbered in row-major order of Z,
/// Y, X, A, C, B.
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

/// A naive routing in the published order of dimensions: B, C, A, X, Y, Z. Each hop is one step
/// along a ring, or from one end of a line of two nodes to the other.
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

/// K had 24 x 18 x 16 units with 82,944 compute nodes, and Fugaku has 24 x 23 x 24 units with
/// 158,976 nodes. A router has ten links: two along each of X, Y, Z and B, and one along each of A
/// and C.
#[test]
fn tofu_has_the_published_numbers_of_nodes_and_links() {
    let [k, fugaku] = ["tofu:24x18x16", "tofu:24x23x24"].map(topology);
    assert_eq!((k.nodes(), fugaku.nodes(), fugaku.degree()), (82_944, 158_976, Some(10)));
    assert_eq!(fugaku.diameter(), 12 + 11 + 12 + 3);
}

/// Neighbours of the logical torus are neighbours in the network. In these networks, the paths are
/// closed.
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
