//! Tests of networks whose nodes have several ranks.

use super::*;
use crate::network::survey::Survey;

fn hosts(spec: &str) -> Vec<u64> {
    let net = topology(spec);
    (0..net.nodes()).map(|rank| net.host(rank)).collect()
}

#[test]
fn ranks_are_placed_in_blocks_or_cyclically() {
    assert_eq!(hosts("ring:3,ranks=2"), [0, 0, 1, 1, 2, 2]);
    assert_eq!(hosts("ring:3,ranks=2,place=cyclic"), [0, 1, 2, 0, 1, 2]);
    let mut drawn = hosts("mesh:2x2,ranks=3,place=random:4");
    assert_ne!(drawn, hosts("mesh:2x2,ranks=3"));
    drawn.sort_unstable();
    assert_eq!(drawn, hosts("mesh:2x2,ranks=3"), "as many ranks each");
    // Hilbert's curve through 2 x 2 nodes is 0, 1, 3, 2 (or its mirror image), so that the second
    // and the third pair of ranks are at neighbours.
    let along = hosts("mesh:2x2,ranks=2,place=hilbert");
    assert!(
        along.chunks(2).all(|pair| pair[0] == pair[1]) && along[2] ^ along[4] != 3,
        "{along:?}"
    );
}

/// Every topology has only one canonical spec.
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
