//! Tests of the placement of ranks on nodes.

use super::*;

fn with_file(spec: &str, content: &str) -> Result<Arc<Network>, SpecError> {
    parse_with(spec, &|_| Ok(content.to_owned()))
}

/// Hilbert's curve leads from neighbour to neighbour and through every node.
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
    // Ranks 0 to 4 are at nodes 3, 1, 4, 0, 2.
    let placed = with_file("ring:5,place=file:p", "3 1 # two\n4, 0\n2").unwrap();
    assert_eq!(placed.spec(), "ring:5,place=file:p");
    let node = [3, 1, 4, 0, 2];
    for (from, to) in pairs(5) {
        let own = runs(ring.as_ref(), node[from as usize], node[to as usize], None);
        assert_eq!(runs(placed.as_ref(), from, to, None), own);
    }
    // Rank 3 is at node 0. Its neighbours 1 and 4 are the nodes of ranks 1 and 2.
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
