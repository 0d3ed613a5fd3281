//! Tests of the specs of networks, and of the messages for invalid specs.

use super::*;

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
    insta::assert_snapshot!(spec_error("torus:8x8,failed=0-1"), @"topology `torus:8x8,failed=0-1`: unknown key `failed`, expected one of down, slow, faults, slow-links, ranks, place, routing [failed]");
    insta::assert_snapshot!(spec_error("groups:2x4,outside=2"), @"topology `groups:2x4,outside=2`: unknown key `outside`, expected one of inside, inside_hop, nics, down, slow, faults, slow-links, ranks, place, routing [outside]");
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
