use swapmeet_core::network::topology::families;

/// Returns the topologies on which every algorithm is tested. The list begins with small ones. It
/// includes the example of each family, and sizes at which algorithms typically fail:
/// - one node, which has nothing to send;
/// - a ring of two nodes, in which each node is the neighbour of the other on both sides;
/// - odd, prime and uneven sizes, at which halves and quarters differ;
/// - odd, prime and uneven sizes, which have no equal halves or quarters;
pub fn ladder() -> Vec<&'static str> {
    let known =
        |example: &&str| example.is_empty() || SMALL.contains(example) || LARGE.contains(example);
    let examples = families().iter().map(|family| family.example).filter(|example| !known(example));
    SMALL.iter().copied().chain(examples).chain(LARGE.iter().copied()).collect()
}

const SMALL: &[&str] = &[
    "fully-connected:1",
    "ring:1",
    "torus:1x1",
    "mesh:1x1",
    "hypercube:0",
    "fully-connected:2",
    "ring:2",
    "torus:1x2",
    "mesh:2x1",
    "hypercube:1",
    "ring:3",
    "ring:4",
    "mesh:2x2",
    "torus:2x3",
    "mesh:3x2",
    "hypercube:2",
    "fully-connected:5",
    // Prime and odd sizes.
    "ring:13",
    "torus:3x5",
    "torus:7x7",
    "mesh:5x9",
    "mesh:1x11",
    "fully-connected:17",
    "torus:3x4x5",
    "mesh:3x3x3",
    // Even sizes that are not powers of two.
    "torus:6x10",
    "mesh:4x5",
    "mesh:6x6",
    "torus:8x12",
    "torus:12x12",
    "mesh:4x6x4",
    "rdn:1(ring:3)",
    "rdn:1(torus:2x3)",
    "fat-tree:3x3",
    // A constant that is right only for the example of a family is wrong at these sizes.
    "groups:2x5",
    "groups:5x3,inside=9",
    "dragonfly:2x3x1",
    "dragonfly:4x3x2",
    "hyperx:2x3",
    "hyperx:5x2,nodes=3",
    "slim-fly:3",
    "slim-fly:4,nodes=2",
    "jellyfish:6x3x1,seed=2",
    "jellyfish:8x4x3,seed=3",
    "twisted-torus:2x4",
    "twisted-torus:3x3x6",
    "tofu:1x1x1",
    "tofu:1x2x1",
    "fat-tree:2x4",
    // In these networks, switches add and copy data.
    "groups:1x4,reduce=switch",
    "groups:3x2,reduce=switch",
    "fat-tree:2x2,reduce=switch",
];

const LARGE: &[&str] = &[
    "ring:16",
    "fully-connected:16",
    "torus:4x4",
    "torus:8x8",
    "mesh:4x8",
    "torus:4x4x4",
    "torus:4x4x4x4",
    "hypercube:4",
    "hypercube:6",
    "fat-tree:4x2",
    "rdn:1(hypercube:2)",
    "torus:8x8x8",
    "torus:32x16",
    "mesh:24x20",
    "hypercube:9",
    "rdn:1(hypercube:4)",
    "fully-connected:331",
    "ring:360",
];

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::network::topology::parse;

    #[test]
    fn every_family_has_three_sizes() {
        let kinds: Vec<&str> = ladder().iter().map(|spec| parse(spec).unwrap().kind()).collect();
        for family in families().iter().filter(|family| family.name != "graph") {
            let sizes = kinds.iter().filter(|kind| **kind == family.name).count();
            assert!(sizes >= 3, "{}: {sizes}", family.name);
        }
    }

    /// The family `graph` has no example, because its topologies are files of the user.
    #[test]
    fn every_rung_is_a_topology_and_every_family_is_there() {
        let kinds: Vec<&str> = ladder().iter().map(|spec| parse(spec).unwrap().kind()).collect();
        let absent: Vec<&str> =
            families().iter().map(|f| f.name).filter(|name| !kinds.contains(name)).collect();
        assert_eq!(absent, ["graph"]);
    }
}
