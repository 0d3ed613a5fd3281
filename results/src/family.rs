//! Which topologies are sizes of one kind of network.

/// What a topology has in common with larger and smaller ones of its kind, which alone a curve against nodes may join: grids of as many
/// dimensions, dual-nets over the same base. A file is no size of anything: every graph is alone.
pub fn family(topology: &str) -> String {
    let (name, rest) = topology.split_once(':').unwrap_or((topology, ""));
    match (name, rest.split_once('(').and_then(|(_, base)| base.strip_suffix(')'))) {
        ("torus" | "mesh", _) => format!("{}D {name}", rest.split('x').count()),
        ("rdn", Some(base)) => format!("rdn over {base}"),
        ("graph", _) => topology.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_one_kind_are_one_family() {
        let is = |a: &str, b: &str| family(a) == family(b);
        assert!(is("torus:8x8", "torus:16x4") && is("ring:4", "ring:64") && is("fat-tree:4x3", "fat-tree:4x2"));
        assert!(!is("torus:8x8", "torus:4x4x4") && !is("torus:8x8", "mesh:8x8") && !is("torus:8", "ring:8"));
        assert_eq!([family("torus:4x4x4"), family("hypercube:7")], ["3D torus", "hypercube"]);
    }

    #[test]
    fn dual_nets_are_of_their_base_and_files_of_nothing() {
        assert_eq!(family("rdn:2(torus:5x5)"), family("rdn:1(torus:5x5)"));
        assert_ne!(family("rdn:1(ring:4)"), family("rdn:1(hypercube:2)"));
        assert_eq!(family("rdn:1(rdn:1(ring:2))"), "rdn over rdn:1(ring:2)");
        assert_ne!(family("graph:a.txt"), family("graph:b.txt"));
    }
}
